"""Read what is said to the offer of a quiz and to the quiz: only what clearly answers it, and nothing else.

Whoever sits there may be in pain or afraid. So every list is closed (``reaction_phrases/messages.yaml``, `checking`),
and an option is meant only where most of its own words are said, in its order, and no word that it has not. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.interview.reading.vocabulary import near
from bot.talk.messages import checking, in_trouble, made_of, picks
from bot.text import words

MOST_SAID = 12  # words of a message that answers the offer or the quiz
SHORTEST = 4  # letters of a word that can tell options apart, or may be bent
_ENDING = re.compile(r"(?:en|et|st|te|er|es|em|ed|ing|[etns])$")
_CLAUSE = re.compile(r"[.,;:!?\n–—]+")
_PARTICLES = frozenset({"ab", "an", "auf", "aus", "ein", "mit", "vor", "weg", "zu", "los", "nach"})
_THUMBS = str.maketrans({"👍": " ja ", "👌": " ja ", "👎": " nein "})
_KIND_SIGNS = frozenset("🙂😊😀😃😄😅😉🙏☺")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that tells something, and whether it is denied; `forms`: how else it may be said in one word."""

    text: str
    denied: bool
    forms: tuple[str, ...] = ()

    @property
    def tells(self) -> bool:
        """Whether it may tell options apart: complaints name parts of the body, too."""
        return len(self.text) >= SHORTEST and not checking()["body"].fullmatch(self.text)

    def is_said_by(self, said: _Word) -> bool:
        return said.denied == self.denied and any(_alike(said.text, form) for form in (self.text, *self.forms))


def signs_are_kind(text: str) -> bool:
    """Say whether no sign in a message tells of anything: beside "ja 😭" more is said than yes."""
    signs = (sign for sign in text.translate(_THUMBS) if unicodedata.category(sign) == "So")
    return _KIND_SIGNS.issuperset(signs)


def agrees_to_check(text: str) -> bool:
    """Say whether a whole message agrees to a check that was just offered: "ok", "von mir aus"."""
    return _consists_of(text, "agreed")


def declines_check(text: str) -> bool:
    """Say whether a whole message wants no check: "keine Lust", "nein, ich mag keine Tests"."""
    return _consists_of(text, "no", "declined", beside=("no_tails",))


def finds_unclear(text: str) -> bool:
    """Say whether a whole message says that the answer was not explained well, or that nothing was understood."""
    return _consists_of(text, "unclear", beside=("no",))


def skips_check(text: str) -> bool:
    """Say whether a whole message does not know, or goes on: "weis nich", "überspringen"."""
    return _consists_of(text.replace("?", " "), "unknown")


def asks_check_again(text: str) -> bool:
    """Say whether a whole message wants the open question once more: "Was war die Frage nochmal?"."""
    said = words(text)
    return len(said) <= MOST_SAID and bool(checking()["repeat"].fullmatch(" ".join(said)))


def labelled(text: str) -> int | None:
    """Return which option a whole message names by its number or letter, from 1: "b)", "ich glaub 3"; None for none."""
    said = words(text)
    while 1 < len(said) <= MOST_SAID and checking()["after_label"].fullmatch(said[-1]):
        said = said[:-1]
    is_short = 0 < len(said) <= MOST_SAID and len(said[-1]) == 1
    if not is_short or not all(checking()["label"].fullmatch(word) for word in said[:-1]):
        return None
    if said[-1].isdecimal():
        return int(said[-1])
    return "abcdefghi".find(said[-1]) + 1 or None


def is_label(text: str) -> bool:
    """Say whether a message is one letter or number, or "Antwort x"."""
    said = words(text)
    return labelled(text) is not None or (len(said) == 1 and (len(said[0]) == 1 or (picks(text) or 0) > 0))


def meant(text: str, options: Sequence[str]) -> int | None:
    """Return which option typed words mean, from 1; None where they are no clear answer.

    One word is enough where it says something that one option alone has. A word that denies must stand where it stands
    in the option; parts of the body and what hurts never decide.
    """
    said = list(_telling(text))
    if "?" in text or not said or in_trouble(text):
        return None
    owned = [list(_telling(each)) for each in options]
    fitting = [place for place, own in enumerate(owned, 1) if _within(said, own)]
    if len(fitting) != 1 or _asks(text, options[fitting[0] - 1]):
        return None
    own = owned[fitting[0] - 1]
    told = sum(word.tells for word in said)
    enough = told > 1 and 2 * told >= sum(word.tells for word in own)
    return fitting[0] if enough or _is_one_word(said) else None


def beside_yes_or_no(text: str) -> str:
    """Return what a message says behind a "yes", "no" or thanks at its beginning; all of it where it has none.

    "No" alone is cut off in front of a mark only: "no feeling in my arm" begins with another one.
    """
    left, opened = text, False
    while (end := _opening(left)) is not None:
        left, opened = left[end:].lstrip(" ,.;:!-–—()…"), True
    if opened:
        first, _, rest = left.partition(" ")
        left = rest if checking()["joining"].fullmatch(" ".join(words(first))) and words(rest) else left
    return left if words(left) else text


def _opening(text: str) -> int | None:
    """Return where the longest known opening of a text ends; None where it has none, or is nothing else."""
    spans = [match.end() for match in re.finditer(r"\w+", text)][:3]
    for end in reversed(spans):
        said, after = " ".join(words(text[:end])), text[end : end + 1]
        is_no = said == "no" and after not in tuple(",.;:!-–—")
        if checking()["opening"].fullmatch(said) and not is_no:
            return end
    return None


def _consists_of(text: str, *names: str, beside: Sequence[str] = ()) -> bool:
    """Say whether a message is made of phrases of lists, and of others beside at least one of them."""
    if "?" in text:
        return False
    said, forms = words(text.translate(_THUMBS)), checking()
    around = [forms[name] for name in (*beside, "polite")]
    if not 0 < len(said) <= MOST_SAID:
        return False
    return made_of(said, *(forms[name] for name in names), *around) and not made_of(said, *around)


def _telling(text: str) -> Iterator[_Word]:
    """Yield the words of a text that tell something, each with what is denied of it, in order."""
    forms = checking()
    for clause in _CLAUSE.split(text):
        said = words(clause)
        particle = said[-1] if said and said[-1] in _PARTICLES else ""
        kept = [word for word in said if forms["negating"].fullmatch(word) or not forms["filler"].fullmatch(word)]
        told = [word for word in kept if not forms["negating"].fullmatch(word)]
        denied = _denied(kept)
        for place, word in enumerate(told or kept[:1]):
            yield _Word(word, place in denied, (particle + word,) if particle else ())


def _denied(kept: Sequence[str]) -> set[int]:
    """Return which of the words that deny nothing are denied: the one behind a negation, else the one before it."""
    found, place, open_ = set[int](), -1, False
    for word in kept:
        if checking()["negating"].fullmatch(word):
            open_ = True
            continue
        place += 1
        if open_:
            found.add(place)
        open_ = False
    return found | {max(place, 0)} if open_ else found


def _within(said: Sequence[_Word], own: Sequence[_Word]) -> bool:
    """Say whether all words that are said stand in an option, in its order."""
    left = iter(own)
    return all(any(word.is_said_by(one) for word in left) for one in said)


def _is_one_word(said: Sequence[_Word]) -> bool:
    first, *more = said
    return first.tells and not first.denied and all(word.text in _PARTICLES for word in more)


def _asks(text: str, option: str) -> bool:
    """Say whether a message may ask; "dort, wo die Bilder gemacht wurden" may be what the option says."""
    own = words(option)
    found = list(checking()["asking"].finditer(" ".join(words(text))))
    return any(not match.start() or match[0] not in own for match in found)


def _alike(one: str, other: str) -> bool:
    """Say whether two words are one, as it may be bent or misspelt; "nässt" and "lässt" are two."""
    if one == other or min(len(one), len(other)) < SHORTEST:
        return one == other
    stems = _stem(one), _stem(other)
    return stems[0] == stems[1] or bool(near(stems[0], {stems[1]}) or near(one, {other}))


def _stem(word: str) -> str:
    shorter = _ENDING.sub("", word)
    return shorter if len(shorter) >= SHORTEST else word
