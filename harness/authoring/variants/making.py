"""The way of drafted texts, from the voices' prompts to what a curator decides: draft, sift, check blind. Pure."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot import Pair
from harness.authoring.variants.asking import BESIDE, BY_PATIENT, Draft, Kind, Patient, Prompting
from harness.authoring.variants.borrowing import Borrowed
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
        beyond: Others that no pair takes any more.
    """

    drafted: int
    dropped: Sequence[Dropped]
    queued: Sequence[Queued]
    beyond: int = 0


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
        """Draft, reject what must not be learned from, and have the rest checked blind."""
        drafted = yield from ask_all(self.drafts())
        return (yield from _checked(self.prompting, [draft for drafts in drafted for draft in drafts or ()], sieve))


@dataclass(frozen=True)
class Borrowing:
    """Variants of another catalog, for some pairs of this one.

    Attributes:
        prompting: Makes the prompts of the blind check; its count is how many texts a pair takes at most.
        matching: The pair of the other catalog, by the pair of this one.
        borrowed: What may be taken.
    """

    prompting: Prompting
    matching: Mapping[str, str]
    borrowed: Borrowed

    def identity(self) -> dict[str, str]:
        """Return what the prompts depend on: not the variants that the catalog has, since they grow by this work."""
        prompting = self.prompting
        answered = [(pair.id, pair.question, pair.short_answer, pair.facets) for pair in prompting.catalog.pairs]
        taken = [(draft.id, draft.voice) for draft in self.borrowed.drafts]
        return {
            "work": prompting.kind,
            "catalog": prompting.catalog.name,
            "language": prompting.catalog.language,
            "borrowed from": self.borrowed.source,
            "pairs": ", ".join(one if one == two else f"{one}={two}" for one, two in self.matching.items()),
            "a pair": str(prompting.count),
            "exam": prompting.about,
            "texts": hashlib.sha256(repr((answered, taken)).encode()).hexdigest()[:16],
            "prompts": prompting.texts.hash,
        }

    def all(self, sieve: Sieve) -> Work[Made]:
        """Reject what must not be learned from, take the first of each pair, and have them checked blind."""
        return (yield from _checked(self.prompting, self.borrowed.drafts, sieve, most=self.prompting.count))


def _checked(prompting: Prompting, written: Sequence[Draft], sieve: Sieve, *, most: int | None = None) -> Work[Made]:
    """Reject texts, and have the rest, of each pair the first `most`, checked by calls that do not know the intent.

    The batches of the check are shuffled, and named by what they hold: where a text comes or goes, its batch is
    asked anew, and no answer is taken for that of another.
    """
    kept, dropped = sieve.sift(written)
    beyond = 0
    if most is not None:
        places = Counter[str]()
        first = []
        for draft in kept:
            places[draft.pair] += 1
            if places[draft.pair] <= most:
                first.append(draft)
        kept, beyond = first, len(kept) - len(first)
    shuffled = sorted(kept, key=lambda draft: draft.id)
    random.Random(hashlib.sha256(b"blind").digest()).shuffle(shuffled)
    batches = [shuffled[start : start + BATCH] for start in range(0, len(shuffled), BATCH)]
    said = yield from ask_all([prompting.check(batch) for batch in batches])
    found: dict[str, tuple[str, ...]] = {}
    for each in said:
        found.update(each or {})
    return Made(len(written), dropped, [_queued(prompting.kind, draft, found) for draft in kept], beyond)


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
        kind=draft.kind,
        source=draft.source,
    )
