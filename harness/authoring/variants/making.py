"""The way of drafted texts, from the voices' prompts to what a curator decides. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot import Pair
from harness.authoring.variants.asking import Draft, Patient, Prompting
from harness.authoring.variants.voices import Voice
from harness.authoring.working import Ask, Work, ask_all


@dataclass(frozen=True)
class Drafting:
    """Texts of some pairs, written by some voices.

    Attributes:
        prompting: Makes the prompts.
        voices: Who writes. Every voice writes for every pair; calibration questions are written for every patient, by
            one voice after the other.
        pairs: For which is written.
        patients: Of calibration questions.
    """

    prompting: Prompting
    voices: Sequence[Voice]
    pairs: Sequence[Pair]
    patients: Sequence[Patient] = ()

    def drafts(self) -> list[Ask[list[Draft]]]:
        """Return the prompts of all drafts."""
        if self.prompting.kind != "calibration":
            return [self.prompting.draft(voice, pair) for voice in self.voices for pair in self.pairs]
        place = {pair.id: number for number, pair in enumerate(self.prompting.catalog.pairs)}
        return [
            self.prompting.draft(self.voices[(place[pair.id] + number) % len(self.voices)], pair, patient)
            for number, patient in enumerate(self.patients)
            for pair in self.pairs
        ]

    def all(self) -> Work[list[Any]]:
        """Draft."""
        drafted = yield from ask_all(self.drafts())
        return [draft for drafts in drafted for draft in drafts or ()]
