"""Reject drafted texts that must not be learned from: copies, names of people, other languages, odd lengths. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from bot import MAX_CHARACTERS, LanguageDetector, NearCopies, words
from harness.authoring.variants.asking import Draft
from harness.authoring.variants.taken import Taken
from harness.generation.parse import LANGUAGE_MARGIN, MIN_WORDS_LANGUAGE

Reason = Literal[
    "no text",
    "too short",
    "too long",
    "name of a person",
    "number or address of a person",
    "markup",
    "other language",
    "example of the prompt",
    "kept out",
    "in the catalog",
    "near copy of another",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
L = TypeVar("L", bound=str)
FEWEST_LETTERS, MOST_WORDS = 3, 160  # one word may be all that somebody types
PersonalIn = Callable[[str], Sequence[str]]
NAME = "name"  # of what is personal; other kinds are numbers, dates of birth and addresses of all sorts
FEWEST_WORDS, SMALL = 3, 3  # of a copy that has one small word more or less; letters of a small word
DENYING = frozenset({"no", "not", "nie", "nor", "non", "pas", "kei", "ned", "net"})  # small, and turn a sentence round
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|&(?:[a-z]+|#\d+);|\]\(")
# "Dr. Favre", "Mme Sandrine Favre": in whatever language, also where there are no lists of names.
_TITLED = re.compile(
    r"\b(?:Dr|Prof|Frau|Herrn?|Mme|Mmes|Mlle|Monsieur|Madame|Mrs?|Ms|Docteure?|Doctor)\b\.?"
    r"(?: (?:Dr|med|Prof)\b\.?)* (?:[A-ZÄÖÜÉÈ][\w'’-]+)"
)
_SPELT = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o"})


@dataclass(frozen=True, slots=True)
class Dropped:
    """A draft that was rejected, and why."""

    draft: Draft
    reason: Reason


class Copies(Generic[L]):
    """Texts that a draft must not copy, each with a label: near copies, and what differs by umlauts or one small word.

    Stricter than `NearCopies` alone, which also judges what people have collected: a draft is cheap.
    """

    def __init__(self) -> None:
        self._near = NearCopies()
        self._labels: dict[str, L] = {}
        self._spelt: dict[tuple[str, ...], L] = {}
        self._shortened: dict[tuple[str, ...], L] = {}

    def add(self, text: str, label: L) -> None:
        self._near.add(text, label)
        self._labels[label] = label
        spelt = _plain_words(text)
        self._spelt.setdefault(spelt, label)
        for shorter in _without_a_small_word(spelt):
            self._shortened.setdefault(shorter, label)

    def find(self, text: str) -> L | None:
        """Return the label of what a text is a copy of."""
        if (copied := self._near.find(text)) is not None:
            return self._labels[copied.label]
        spelt = _plain_words(text)
        same = self._spelt.get(spelt) or self._shortened.get(spelt)
        return same or next(
            (self._spelt[shorter] for shorter in _without_a_small_word(spelt) if shorter in self._spelt), None
        )


def _plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text without accents; umlauts as one letter, however they were typed."""
    said = (unicodedata.normalize("NFD", word.translate(_SPELT)) for word in words(text))
    return tuple("".join(mark for mark in word if not unicodedata.combining(mark)) for word in said)


def _without_a_small_word(said: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words without one that says little."""
    if len(said) > FEWEST_WORDS:
        for place, word in enumerate(said):
            if len(word) <= SMALL and word.isalpha() and word not in DENYING:
                yield said[:place] + said[place + 1 :]


@dataclass(frozen=True)
class Sieve:
    """Rejects drafts.

    Attributes:
        language: In which they must be.
        detector: Tells languages apart; None: nobody looks.
        mixing: Voices that fall into other languages.
        personal_in: Finds what tells of one person, by kind, in the order of the text; None: nobody looks.
        examples: Of the prompts.
        taken: What must not be copied.
    """

    language: str
    detector: LanguageDetector | None
    mixing: Collection[str]
    personal_in: PersonalIn | None
    examples: Sequence[str]
    taken: Taken

    def sift(self, drafts: Sequence[Draft]) -> tuple[list[Draft], list[Dropped]]:
        """Return the drafts that are left, of near copies the first, and those that are not."""
        known = Copies[Reason]()
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
            if why is None:
                why = known.find(draft.text)
            if why is not None:
                dropped.append(Dropped(draft, why))
                continue
            known.add(draft.text, "near copy of another")
            kept.append(draft)
        return kept, dropped

    def _flaw(self, draft: Draft) -> Reason | None:
        """Return what is wrong with a text by itself."""
        said = words(draft.text)
        if not draft.text:
            return "no text"
        if len("".join(said)) < FEWEST_LETTERS:
            return "too short"
        if len(said) > MOST_WORDS or len(draft.text) > MAX_CHARACTERS:
            return "too long"
        if self.detector is not None and draft.voice not in self.mixing and len(said) >= MIN_WORDS_LANGUAGE:
            found = self.detector.detect(draft.text, fallback=self.language, margin=LANGUAGE_MARGIN)
            if found != self.language:
                return "other language"
        if _MARKUP.search(draft.text):
            return "markup"
        if self.personal_in is not None and (kinds := self.personal_in(draft.text)):
            return "name of a person" if NAME in kinds else "number or address of a person"
        return None


def unfit_in(text: str) -> list[Reason]:
    """Return what a text for patients must not hold: markup, and a person's name behind a title."""
    found: tuple[tuple[Reason, re.Pattern[str]], ...] = (("markup", _MARKUP), ("name of a person", _TITLED))
    return [reason for reason, pattern in found if pattern.search(text)]


def counted_reasons(dropped: Sequence[Dropped]) -> dict[Reason, int]:
    """Return how many drafts were rejected for each reason, in the order of `Reason`."""
    counts = Counter(each.reason for each in dropped)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}
