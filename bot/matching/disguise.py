"""Read disguised letters: lookalikes of other scripts, digits for letters, letters spaced out, split or stretched.

People do this to get past filters, and keyboards, fonts and copied text do it by accident. What comes out is only used
to look for emergencies: nothing here changes what is stored or answered. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from itertools import pairwise, product
from math import log
from pathlib import Path

import regex

from bot.text import words

MAX_READINGS = 6
LONGEST_WORD = 40  # letters; longer ones are no words
LONG_COMPOUND = 20  # letters, from which on a piece is hardly one word
RUN_TOGETHER = (11, 400)  # letters of a piece of text that may hold several words
UNKNOWN_LETTER = -2.5  # log-likelihood of a letter in a word that is not known
OTHER_LETTERS = 0.5  # share of a text, from which on nobody can say what it means
FEW_LETTERS = 6  # "1 2 3" is no word
MOST_RUNS = 4  # of drawn out letters in a word; more are taken as one letter each
MOST_LETTERS = 8_000  # of a text that is read in other ways; what is longer is no message in disguise

_LATIN = regex.compile(r"\p{Script=Latin}")
_DIGITS = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "@": "a", "$": "s", "€": "e"}
)
_LEET = re.compile(r"[^\W\d_][0134578@$€!|]|[0134578@$€|][^\W\d_]")
# Three or more single letters or pairs of letters in a row, whatever stands between them.
_SPELLED = re.compile(
    r"(?<![^\W_])[^\W_]{1,2}(?:[^\w\s'’]{0,3}[\s_][^\w\s'’]{0,3}[^\W_]{1,2}|[^\w\s'’]{1,3}[^\W_]{1,2}|_[^\W_]{1,2}){3,}(?![^\W_])"
)
_INNER = re.compile(r"(?<=[^\W\d_])[^\w\s'’,;:!?]{1,3}(?=[^\W\d_])|(?<=[^\W\d_])_+(?=[^\W\d_])")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_SQUARED = {start + offset: chr(97 + offset) for start in (0x1F150, 0x1F170, 0x1F1E6) for offset in range(26)}


@dataclass(frozen=True)
class Speller:
    """Finds the words in letters that are written without spaces.

    Attributes:
        counts: How often each folded word occurs in texts of the language.
    """

    counts: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Speller:
        return cls(Counter(word for text in texts for word in words(text)))

    @cached_property
    def _weights(self) -> dict[str, float]:
        total = self.counts.total() or 1
        return {word: log(count / total) for word, count in self.counts.items()}

    def unstretched(self, text: str) -> str:
        """Return a text in which no letter is drawn out: of "voooomiiit", the spelling that is a known word."""
        return " ".join(self._short(piece) if _STRETCHED.search(piece) else piece for piece in text.split())

    def _short(self, piece: str) -> str:
        once = _STRETCHED.sub(r"\1", piece)
        runs = [run[1] for run in _STRETCHED.finditer(piece)][:MOST_RUNS]
        for lengths in product((1, 2), repeat=len(runs)):
            spelt = piece
            for run, length in zip(_STRETCHED.finditer(piece), lengths, strict=False):
                spelt = spelt.replace(run[0], run[1] * length)
            spelt = _STRETCHED.sub(r"\1", spelt)
            if "".join(words(spelt)) in self.counts:
                return spelt
        return once

    def split(self, letters: str) -> str:
        """Return the likeliest words that the letters make; runs of unknown letters stay together."""
        known, unknown = self._weights, log(0.1 / (self.counts.total() or 1))
        weight, start = [0.0], [0]
        for end in range(1, len(letters) + 1):
            best, begin = -1e18, end - 1
            for first in range(max(0, end - LONGEST_WORD), end):
                likely = known.get(letters[first:end])
                total = weight[first] + (unknown + UNKNOWN_LETTER * (end - first) if likely is None else likely)
                if total > best:
                    best, begin = total, first
            weight.append(best)
            start.append(begin)
        cuts, end = [len(letters)], len(letters)
        while end:
            end = start[end]
            cuts.append(end)
        cuts.reverse()
        return " ".join(letters[first:last] for first, last in pairwise(cuts))


def plain_letters(text: str) -> str:
    """Return a text with lookalikes of Latin letters as Latin letters, and marks inside words left out."""
    return "".join(_lookalikes().get(mark, mark) for mark in text)


def is_spelt_out(text: str) -> bool:
    """Say whether most of a text is single letters: "H i l f e"."""
    pieces = text.split()
    return 2 * sum(len(piece) == 1 for piece in pieces) > len(pieces) > FEW_LETTERS


def is_other_script(text: str) -> bool:
    """Say whether a text is written in other letters than Latin ones."""
    letters = [mark for mark in text if mark.isalpha()]
    others = sum(not _LATIN.match(mark) for mark in letters)
    return others > OTHER_LETTERS * len(letters)


def readings(text: str, speller: Speller) -> tuple[str, ...]:
    """Return what else a sanitised text may say, without the text itself; empty for text that is written plainly.

    Args:
        text: Sanitised text.
        speller: Of the language in which it is read.
    """
    if len(text) > MOST_LETTERS:
        return ()
    plain = plain_letters(unescape(text))
    found = [plain]
    ways = (_digits_as_letters, _joined, lambda said: _spelled_out(said, speller), speller.unstretched)
    for undo in (*ways, lambda said: _run_together(said, speller)):
        found = list(dict.fromkeys([*found, *(undo(said) for said in found)]))
    # With two letters left, then with one: "hilffffe", "kommmmt".
    found += [_STRETCHED.sub(r"\1\1", plain)]
    return tuple(other for other in dict.fromkeys(found) if other != text)[:MAX_READINGS]


def _digits_as_letters(text: str) -> str:
    return " ".join(_as_letters(piece) if _LEET.search(piece) else piece for piece in text.split())


def _as_letters(piece: str) -> str:
    return piece.replace("!", "i").replace("|", "l").translate(_DIGITS)


def _run_together(text: str, speller: Speller) -> str:
    """Cut what is too long for a word into words: "ikriegekeineluft"."""
    least, most = RUN_TOGETHER
    return " ".join(
        _cut_up("".join(words(piece)), speller) if least <= len(piece) <= most else piece for piece in text.split()
    )


def _cut_up(letters: str, speller: Speller) -> str:
    """Return the words that letters make. What could be a long word must be cut into several known ones."""
    cut = speller.split(letters)
    pieces = cut.split()
    sure = len(pieces) >= 3 and all(piece in speller.counts for piece in pieces)
    return cut if sure or len(letters) >= LONG_COMPOUND else letters


def _joined(text: str) -> str:
    return _INNER.sub("", text)


def _spelled_out(text: str, speller: Speller) -> str:
    def together(run: re.Match[str]) -> str:
        # Pairs of letters are words, too ("so", "in"): only a run that is mostly single letters is spelt out.
        pieces = words(run[0])
        if sum(len(piece) == 1 for piece in pieces) * 2 < len(pieces):
            return run[0]
        return speller.split("".join(pieces))

    return _SPELLED.sub(together, text)


@lru_cache(maxsize=1)
def _lookalikes() -> dict[str, str]:
    lines = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines if not line.startswith("#"))
    table = {mark: letter for letter, marks in pairs for mark in marks}
    return table | {chr(code): letter for code, letter in _SQUARED.items()}
