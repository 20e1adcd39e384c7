"""Reject drafted texts that must not be learned from: copies, names of people, other languages, odd lengths. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from bot import MAX_CHARACTERS, LanguageDetector, NearCopies, words
from harness.authoring.variants.asking import Draft
from harness.authoring.variants.taken import Taken
from harness.generation.parse import LANGUAGE_MARGIN, MIN_WORDS_LANGUAGE

Reason = Literal[
    "too short",
    "too long",
    "name of a person",
    "other language",
    "example of the prompt",
    "kept out",
    "in the catalog",
    "near copy of another",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
FEWEST_LETTERS, MOST_WORDS = 3, 160  # one word may be all that somebody types
NamesIn = Callable[[str], Iterator[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A draft that was rejected, and why."""

    draft: Draft
    reason: Reason


@dataclass(frozen=True)
class Sieve:
    """Rejects drafts.

    Attributes:
        language: In which they must be.
        detector: Tells languages apart; None: nobody looks.
        mixing: Voices that fall into other languages.
        names_in: Finds names of people; None: nobody looks.
        examples: Of the prompts.
        taken: What must not be copied.
    """

    language: str
    detector: LanguageDetector | None
    mixing: Collection[str]
    names_in: NamesIn | None
    examples: Sequence[str]
    taken: Taken

    def sift(self, drafts: Sequence[Draft]) -> tuple[list[Draft], list[Dropped]]:
        """Return the drafts that are left, of near copies the first, and those that are not."""
        known = NearCopies()
        labelled: tuple[tuple[Reason, Sequence[str]], ...] = (
            ("example of the prompt", self.examples),
            ("kept out", self.taken.kept_out),
            ("in the catalog", self.taken.catalog),
        )
        for reason, texts in labelled:
            for text in texts:
                known.add(text, reason)
        kept, dropped = [], []
        for draft in drafts:
            why = self._flaw(draft)
            if why is None and (copied := known.find(draft.text)) is not None:
                why = next(reason for reason in REASONS if reason == copied.label)
            if why is not None:
                dropped.append(Dropped(draft, why))
                continue
            known.add(draft.text, "near copy of another")
            kept.append(draft)
        return kept, dropped

    def _flaw(self, draft: Draft) -> Reason | None:
        """Return what is wrong with a text by itself."""
        said = words(draft.text)
        if len("".join(said)) < FEWEST_LETTERS:
            return "too short"
        if len(said) > MOST_WORDS or len(draft.text) > MAX_CHARACTERS:
            return "too long"
        if self.detector is not None and draft.voice not in self.mixing and len(said) >= MIN_WORDS_LANGUAGE:
            found = self.detector.detect(draft.text, fallback=self.language, margin=LANGUAGE_MARGIN)
            if found != self.language:
                return "other language"
        if self.names_in is not None and any(True for _ in self.names_in(draft.text)):
            return "name of a person"
        return None


def counted_reasons(dropped: Sequence[Dropped]) -> dict[Reason, int]:
    """Return how many drafts were rejected for each reason, in the order of `Reason`."""
    counts = Counter(each.reason for each in dropped)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}
