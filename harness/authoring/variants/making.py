"""The way of drafted texts, from the voices' prompts to what a curator decides: draft, sift, check blind. Pure."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot import Pair
from harness.authoring.variants.asking import BESIDE, BY_PATIENT, Draft, Kind, Patient, Prompting
from harness.authoring.variants.plan import BATCH
from harness.authoring.variants.queue import Queued, Verdict
from harness.authoring.variants.sifting import Dropped, Sieve
from harness.authoring.variants.voices import Voice
from harness.authoring.working import Ask, Work, advance, ask_all
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import AGAIN


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a work.

    Attributes:
        drafted: Texts that were written.
        dropped: Those that were rejected, and why.
        queued: The others, with what the blind check says of each.
    """

    drafted: int
    dropped: Sequence[Dropped]
    queued: Sequence[Queued]


@dataclass(frozen=True)
class Drafting:
    """Texts of some pairs, written by some voices.

    Attributes:
        prompting: Makes the prompts.
        voices: Who writes. Every voice writes for every pair; what thresholds are set on is written for every patient,
            by one voice after the other.
        pairs: For which is written.
        patients: Who asks what thresholds are set on.
        skipped: Ids of drafts that are done without.
    """

    prompting: Prompting
    voices: Sequence[Voice]
    pairs: Sequence[Pair]
    patients: Sequence[Patient] = ()
    skipped: Collection[str] = field(default_factory=frozenset)

    def identity(self, encoder: str) -> dict[str, str]:
        """Return what the prompts depend on: not the variants that the catalog has, since they grow by this work."""
        prompting = self.prompting
        asked = [
            (pair.id, pair.question, pair.answer, pair.facets, tuple(prompting.neighbours[pair.id]))
            for pair in prompting.catalog.pairs
        ]
        voices = [(voice.id, voice.impersonation, voice.mixed_with) for voice in self.voices]
        return {
            "work": prompting.kind,
            "catalog": prompting.catalog.name,
            "language": prompting.catalog.language,
            "pairs": ", ".join(pair.id for pair in self.pairs),
            "voices": ", ".join(voice.id for voice in self.voices),
            "patients": ", ".join(patient.id for patient in self.patients),
            "per prompt": str(prompting.count),
            "exam": prompting.about,
            "texts": hashlib.sha256(repr((asked, voices, self.patients)).encode()).hexdigest()[:16],
            "prompts": prompting.texts.hash,
            "encoder": encoder,
        }

    def drafts(self) -> list[Ask[list[Draft]]]:
        """Return the prompts of all drafts."""
        if self.prompting.kind not in BY_PATIENT:
            asks = [self.prompting.draft(voice, pair) for voice in self.voices for pair in self.pairs]
        else:
            place = {pair.id: number for number, pair in enumerate(self.prompting.catalog.pairs)}
            asks = [
                self.prompting.draft(self.voices[(place[pair.id] + number) % len(self.voices)], pair, patient)
                for number, patient in enumerate(self.patients)
                for pair in self.pairs
            ]
        return [one for one in asks if one.id not in self.skipped]

    def without_unanswered(self, known: Mapping[str, ModelAnswer]) -> Drafting:
        """Return the same work without the drafts that wait for an answer."""

        def drafting() -> Work[object]:
            return (yield from ask_all(self.drafts()))

        waiting = advance(drafting(), known).waiting
        return replace(self, skipped={*self.skipped, *(one.id.partition(AGAIN)[0] for one in waiting)})

    def all(self, sieve: Sieve) -> Work[Made]:
        """Draft, reject what must not be learned from, and have the rest checked by calls that do not know the intent.

        The batches of the check are shuffled, and named by what they hold: where a text comes or goes, its batch is
        asked anew, and no answer is taken for that of another.
        """
        drafted = yield from ask_all(self.drafts())
        written = [draft for drafts in drafted for draft in drafts or ()]
        kept, dropped = sieve.sift(written)
        shuffled = sorted(kept, key=lambda draft: draft.id)
        random.Random(hashlib.sha256(b"blind").digest()).shuffle(shuffled)
        batches = [shuffled[start : start + BATCH] for start in range(0, len(shuffled), BATCH)]
        said = yield from ask_all([self.prompting.check(batch) for batch in batches])
        found: dict[str, tuple[str, ...]] = {}
        for each in said:
            found.update(each or {})
        return Made(len(written), dropped, [_queued(self.prompting.kind, draft, found) for draft in kept])


def _queued(kind: Kind, draft: Draft, found: Mapping[str, tuple[str, ...]]) -> Queued:
    pairs = found.get(draft.id)
    verdict: Verdict
    if pairs is None:
        verdict = "unchecked"
    elif kind in BESIDE:
        verdict = "answered" if pairs else "agreed"
    elif not pairs:
        verdict = "drift"
    else:
        verdict = "agreed" if pairs[0] == draft.pair else "move?"
    return Queued(
        id=draft.id,
        text=draft.text,
        pair=draft.pair,
        voice=draft.voice,
        facet=draft.facet,
        stratum=draft.stratum,
        patient=draft.patient,
        verdict=verdict,
        answered_by=pairs or (),
    )
