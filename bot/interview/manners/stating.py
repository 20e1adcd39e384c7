"""Sentences that tell what is in or on somebody, was done to them, or what they work, in words that no list has. Pure.

A list of devices always ends somewhere: "ich hab ein Nevro" names what nobody listed. So the sentence counts, not the
name: who has, wears, swallowed or got something that is none of the things that everybody has (`everyday`) may tell
what matters. The words are a form's (`decision-words`), in all its languages together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.interview.manners.terms import NO_TERMS, Terms
from bot.text import words

MIN_LETTERS = 3  # of a word that says something
MOST_WORDS_OF_MINE = 7  # of "my Inspire for sleep": a longer sentence that opens like that tells something else
MOST_NAMING = 5  # words of "Nanostim im Herz", which has no verb
MIN_PERFECT, MOST_AFTER_PERFECT = 6, 3  # letters of a participle, and how far from the end it stands
NEAR = 3  # words from "im" to the part of the body
# German perfect: "ich hab gut geschlafen" tells of something done, not of something had.
_PERFECT = re.compile(r"(?:\w+)?ge\w+(?:t|en)|(?:ver|be|er|zer|ent|ueber)\w{2,}(?:t|en)|\w+iert")


_MADE_OF = ("telling", "opening", "having")
_BREAKS = re.compile(r"[,.;!?()\n]+|\s[-–—]+\s")


def _terms(listed: Mapping[str, Sequence[str]], name: str) -> list[list[str]]:
    return [words(term) for text in listed.get(name, ()) for term in text.split(",")]


@dataclass(frozen=True, slots=True)
class Statements:
    """The words of such sentences.

    Attributes:
        telling: What such a sentence has in it: "ich trage", "dringelassen", "forgot to say".
        opening: What it begins with: "Vergessen: Barostim".
        having: How one says that one has something: "ich hab", "I have".
        past: What makes something else of it: "I have been".
        doing: How one says that something was done to one; with `done`, what it was: "mir wurde", "verschlossen".
        done: See `doing`.
        places: "in", "behind"; with `parts`, where something is.
        parts: Parts of the body.
        sitting: Words of what is somewhere: "steckt", "still".
        mine: "mein", "my".
        everyday: Words of what everybody has, does and feels: "Frage", "Termin", "Angst".
        plain: All words that say nothing by themselves.
    """

    telling: Terms = NO_TERMS
    opening: Terms = NO_TERMS
    having: Terms = NO_TERMS
    past: Terms = NO_TERMS
    doing: Terms = NO_TERMS
    done: Terms = NO_TERMS
    places: frozenset[str] = frozenset()
    parts: Terms = NO_TERMS
    sitting: frozenset[str] = frozenset()
    mine: frozenset[str] = frozenset()
    everyday: Terms = NO_TERMS
    plain: frozenset[str] = frozenset()

    @classmethod
    def of(cls, listed: Mapping[str, Sequence[str]], plain: frozenset[str]) -> Statements:
        """Read lists by what they are called in a form; `plain`: the words that say nothing by themselves."""

        def terms(name: str) -> Terms:
            return Terms.of(listed.get(name, ()))

        def only(name: str) -> frozenset[str]:
            return frozenset(word for text in listed.get(name, ()) for word in words(text))

        return cls(
            terms("telling"),
            terms("opening"),
            terms("having"),
            terms("past"),
            terms("doing"),
            terms("done"),
            only("places"),
            terms("parts"),
            only("sitting"),
            only("mine"),
            terms("everyday"),
            # What such sentences are made of: but for single words, like "geschluckt", which say enough.
            plain | {word for name in _MADE_OF for term in _terms(listed, name) if len(term) > 1 for word in term},
        )

    def tell(self, text: str) -> bool:
        """Say whether a message tells of something in, on or done to somebody, or of their work."""
        said = words(text)
        if said and self._unknown(said) and self.opening.length_at(said, 0):
            return True
        return any(self._tells(words(piece)) for piece in _BREAKS.split(text))

    def _tells(self, said: Sequence[str]) -> bool:
        unknown = self._unknown(said)
        return bool(unknown) and (
            self.telling.within(said)
            or self._has(said, unknown)
            or (self.doing.within(said) and any(self.done.length_at(said, place) for place in unknown))
            or self._is_somewhere(said, unknown)
            or self._is_mine(said, unknown)
        )

    def is_part(self, said: Sequence[str], place: int) -> bool:
        """Say whether a part of the body is named at a place."""
        return place < len(said) and self.parts.length_at(said, place) > 0

    def _unknown(self, said: Sequence[str]) -> list[int]:
        """Return the places of the words that are neither of everyday life nor of any sentence."""
        found, place = list[int](), 0
        while place < len(said):
            step = self.everyday.length_at(said, place)
            plain = said[place] in self.plain or said[place].isdecimal() or len(said[place]) < MIN_LETTERS
            found += [] if step or plain or self._opens(said, place) else [place]
            place += step or 1
        return found

    def _opens(self, said: Sequence[str], place: int) -> bool:
        """Say whether a word is one of those that such sentences are made of."""
        word = said[place]
        return word in self.places or word in self.sitting or word in self.mine

    def _has(self, said: Sequence[str], unknown: Sequence[int]) -> bool:
        """Say whether somebody has something: "ich hab noch ein Nevro", not "ich hab gut geschlafen"."""
        ends = [word for word in said[-MOST_AFTER_PERFECT:] if len(word) >= MIN_PERFECT and _PERFECT.fullmatch(word)]
        if any(not self.done.length_at([word], 0) for word in ends):
            return False
        for place in range(len(said)):
            length = self.having.length_at(said, place)
            if length and place + length < len(said) and not self.past.length_at(said, place + length):
                return unknown[-1] >= place + length
        return False

    def _is_somewhere(self, said: Sequence[str], unknown: Sequence[int]) -> bool:
        """Say whether something is at a part of the body: "im Finger steckt noch ein Stachel", "Nanostim im Herz"."""
        for place, word in enumerate(said):
            there = [at for at in range(place + 1, place + 1 + NEAR) if self.is_part(said, at)]
            if word not in self.places or not there:
                continue
            others = [at for at in unknown if at not in there]
            named = len(said) <= MOST_NAMING and others[:1] == [0]
            if others and (named or not self.sitting.isdisjoint(said)):
                return True
        return False

    def _is_mine(self, said: Sequence[str], unknown: Sequence[int]) -> bool:
        """Say whether a message names something of one's own, and hardly more: "mein Eversense"."""
        first = next((place for place, word in enumerate(said) if word in self.mine), None)
        opens = first is not None and all(word in self.plain for word in said[:first])
        names = opens and self.sitting.isdisjoint(said)
        return names and len(said) <= MOST_WORDS_OF_MINE and first is not None and unknown[0] - first in (1, 2)


NO_STATEMENTS = Statements()
