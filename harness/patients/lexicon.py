"""What words a language has, and which of them are jargon: the word lists behind the measures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from spellchecker import SpellChecker

from bot import data_folder, words
from harness.files import Record, read_record

SHORTEST_PART = 4  # of a German compound; with three letters many typing errors would count as compounds
LINKS = ("", "s", "n", "en", "es", "er", "e")
COMPOUNDING = ("de", "nl")
# Many words belong to both languages ("Baby", "Port"), and word lists hold stray foreign ones (the English one "la").
# A word counts as foreign when its share of the other language's texts is this many times larger. Set by looking at the
# words of the recorded suites: "Baby" has a ratio of 24, "Hand" 79; "after" 368, "la" 352.
FOREIGN_RATIO = 250
_APOSTROPHES = str.maketrans("", "", "'’‘`´")


class _WordsFile(Record):
    jargon: list[str]
    known: list[str]


@dataclass(frozen=True)
class Lexicon:
    """The words of one language, and of the one that its speakers are most likely to mix in.

    All words are folded as `tokens` folds them.

    Attributes:
        language: Two letters.
        own: How often each word of the language was counted.
        other: The same for the other language.
        known: Words of the language that its list lacks.
        jargon: Patterns of words that lay people do not use.
    """

    language: str
    own: dict[str, int]
    other: dict[str, int]
    known: frozenset[str]
    jargon: re.Pattern[str]
    _kinds: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def _scale(self) -> float:
        """Words counted in this language for each one counted in the other."""
        return sum(self.own.values()) / max(1, sum(self.other.values()))

    def kind(self, token: str) -> str:
        """Return ``own``, ``foreign``, ``unknown``, or ``number`` for what holds a digit."""
        if token not in self._kinds:
            self._kinds[token] = self._kind(token)
        return self._kinds[token]

    def _kind(self, token: str) -> str:
        if any(mark.isdigit() for mark in token):
            return "number"
        if token in self.known or len(token) == 1:
            return "own"
        here, there = self.own.get(token, 0), self.other.get(token, 0)
        if here and there * self._scale < FOREIGN_RATIO * here:
            return "own"
        if there:
            return "foreign"
        return "own" if self._compound(token) or self.jargon.fullmatch(token) else "unknown"

    def _compound(self, token: str) -> bool:
        """Whether a word is put together of known ones, as German does: Brust-drüsen-gewebe."""
        if self.language not in COMPOUNDING:
            return False
        for cut in range(SHORTEST_PART, len(token) - SHORTEST_PART + 1):
            head, rest = token[:cut], token[cut:]
            if not self._part(head):
                continue
            if self._part(rest) or self._compound(rest):
                return True
        return False

    def _part(self, text: str) -> bool:
        stems = (text.removesuffix(link) for link in LINKS if text.endswith(link))
        return any(len(stem) >= SHORTEST_PART and (stem in self.own or stem in self.known) for stem in stems)

    def jargon_words(self, tokens: Iterable[str]) -> int:
        """Count the words that belong to a technical term; a term of two words counts twice."""
        return sum(match[0].count(" ") + 1 for match in self.jargon.finditer(" ".join(tokens)))


def tokens(text: str) -> list[str]:
    """Return the folded words of a text; "don't" is one word, "BI-RADS" are two."""
    return words(text.translate(_APOSTROPHES))


@lru_cache(maxsize=8)
def load_lexicon(language: str, other: str) -> Lexicon:
    """Load the word lists of a language and of the one that may be mixed in.

    Raises:
        BadData: There is no word list of ours for the language, or it is broken.
    """
    ours = _read(language)
    known = frozenset(token for word in ours.known for token in tokens(word))
    counted = dict(_counted(other))
    if (_folder() / f"{other}.yaml").is_file():
        # Words that the other list lacks are common ones, of which we merely have no count.
        counted |= {token: 1 for word in _read(other).known for token in tokens(word) if token not in counted}
    return Lexicon(language, _counted(language), counted, known, _pattern(ours.jargon))


def _folder() -> Path:
    return data_folder("vignettes") / "words"


def _read(language: str) -> _WordsFile:
    path = _folder() / f"{language}.yaml"
    missing = f"There is no word list for {language!r}. Write {path} after the German one."
    return read_record(path, _WordsFile, missing, invalid=f"The word list {path} is not valid: {{reason}}. Mend it.")


def _pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """Compile terms to one pattern over folded words with single spaces between; longer terms win."""
    parts = sorted((term.lower() for term in terms), key=len, reverse=True)
    any_of = "|".join(re.escape(part).replace(r"\ ", " ").replace(r"\*", "[^ ]*") for part in parts)
    return re.compile(rf"(?<![^ ])(?:{any_of})(?![^ ])")


@lru_cache(maxsize=8)
def _counted(language: str) -> dict[str, int]:
    """Return how often each word was counted, folded."""
    counted: dict[str, int] = {}
    frequencies = SpellChecker(language=language, distance=1).word_frequency.dictionary
    for word, count in frequencies.items():
        folded = word if word.isascii() and "'" not in word else word.translate(_FOLDING)
        counted[folded] = max(count, counted.get(folded, 0))
    return counted


def _folding() -> dict[int, str]:
    """What `bot.fold` does to letters, as a table: folding half a million words one by one takes seconds."""
    table = {ord(mark): "" for mark in "'’‘`´"} | {ord("ß"): "ss", ord("æ"): "ae", ord("œ"): "oe", ord("ø"): "oe"}
    for code in range(0xC0, 0x250):
        base = unicodedata.normalize("NFD", chr(code))[0]
        table.setdefault(code, base)
    return table | {ord(mark): f"{base}e" for mark, base in zip("äöü", "aou", strict=True)}


_FOLDING = _folding()
