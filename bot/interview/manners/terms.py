"""Words and phrases as a form lists them, to be found in what somebody says. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.text import words

_NUMBER = "0"  # what stands in a phrase for any number, written as "#"


@dataclass(frozen=True, slots=True)
class Terms:
    """Words and phrases, by commas; `*` for any letters before or after a word, `#` for a number in a phrase.

    Attributes:
        exact: Whole words.
        starts: What words begin with; `ends` what they end with; `parts` what is anywhere in them.
        phrases: Several words in a row, by the first; whether the last may go on.
    """

    exact: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], bool], ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, listed: Sequence[str]) -> Terms:
        """Read terms as a form lists them."""
        kinds: dict[tuple[bool, bool], set[str]] = {
            (before, after): set() for before in (False, True) for after in (False, True)
        }
        phrases: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
        for term in (each.strip() for text in listed for each in text.split(",")):
            folded = tuple(words(term.replace("#", f" {_NUMBER} ")))
            if len(folded) > 1:
                phrases.setdefault(folded[0], []).append((folded, term.endswith("*")))
            elif folded:
                kinds[term.startswith("*"), term.endswith("*")].add(folded[0])
        return cls(
            frozenset(kinds[False, False]),
            tuple(kinds[False, True]),
            tuple(kinds[True, False]),
            tuple(kinds[True, True]),
            {first: tuple(several) for first, several in phrases.items()},
        )

    def length_at(self, said: Sequence[str], place: int) -> int:
        """Return how many words from a place on are one of the terms, the longest; 0 where none is."""
        word = said[place]
        phrases = (*self.phrases.get(word, ()), *(self.phrases.get(_NUMBER, ()) if word.isdecimal() else ()))
        longest = max((len(phrase) for phrase, open_ in phrases if _fits(phrase, open_, said, place)), default=0)
        single = (
            word in self.exact
            or word.startswith(self.starts)
            or word.endswith(self.ends)
            or any(part in word for part in self.parts)
        )
        return longest or int(single)

    def within(self, said: Sequence[str]) -> bool:
        """Say whether any of the terms occurs."""
        return any(self.length_at(said, place) for place in range(len(said)))


NO_TERMS = Terms()


def _fits(phrase: Sequence[str], open_: bool, said: Sequence[str], place: int) -> bool:
    there = said[place : place + len(phrase)]
    if len(there) < len(phrase):
        return False
    *firsts, last = [
        found == wanted or (wanted == _NUMBER and found.isdecimal())
        for found, wanted in zip(there, phrase, strict=True)
    ]
    return all(firsts) and (last or (open_ and there[-1].startswith(phrase[-1])))
