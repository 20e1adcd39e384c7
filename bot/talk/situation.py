"""What a message tells of the situation of whoever writes it, and what of that is still known later.

They want simple words, cannot telephone, or say that help is on its way. The words are data
(``messages.yaml`` and ``reactions.yaml`` of each language); who has little of it is known by
``bot.matching.simple_words``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.catalog.site import Fact
from bot.interview.manners.listening import question_like
from bot.languages.files import cached, joint, load
from bot.matching.simple_words import LIKELY, SURE, plainness
from bot.talk.dialogue import Simple, State
from bot.text import fold

MOST_IN_HASTE = 14  # words
_PARTS = re.compile(r"(?<=[.!?;])\s+|[,:–—]\s+|\s-\s")


def simplicity(state: State, text: str) -> Simple:
    """Return what somebody's own words say of simple ones: they ask for them, or have little of the language.

    One message is enough where it is sure, two in a row where they are likely.
    """
    if state.simple not in ("", "maybe", "wished"):
        return state.simple
    little = plainness(text, state.language)
    if wants_simple(text, state.language) or little >= SURE or (little >= LIKELY and state.simple == "maybe"):
        return "asked"
    if state.simple == "wished":
        return "wished"
    return "maybe" if little >= LIKELY else ""


def wants_simple(text: str, language: str) -> bool:
    """Say whether somebody asks for simple words, or tells that they have little of the language."""
    return _simple(language).search(fold(text)) is not None and not _of_others(text)


def without_wish(text: str, language: str) -> tuple[str, ...] | None:
    """Return what a message with the wish for simple words says beside it: its parts that ask, then all of it."""
    if not wants_simple(text, language):
        return None
    parts = [part for part in _PARTS.split(text) if not wants_simple(part, language)]
    asking = [part for part in parts if question_like(part, language) != "no"]
    rest = " ".join(word for word in _simple(language).sub(" ", fold(text)).split() if word != "qqq")
    return tuple(dict.fromkeys((*asking, f"{rest}?")))


def asks_for_whole(text: str) -> bool:
    """Say whether a whole message asks for the usual answers again."""
    return fold(text) in _whole()


def cannot_telephone(text: str) -> bool:
    """Say whether somebody tells that they cannot telephone."""
    return _any("written").search(fold(text)) is not None


def wants_person(text: str) -> bool:
    """Say whether a short message asks for a person now, or tells that somebody needs one to get out of a room."""
    said = fold(text)
    if len(said.split()) > MOST_IN_HASTE or _any("not_a_person").search(said):
        return False
    return _any("person").search(said) is not None


def help_comes(text: str) -> bool:
    """Say whether a short message tells that help is on its way, or there."""
    said = fold(text)
    if "?" in text or len(said.split()) > MOST_IN_HASTE or _any("doubted").search(said):
        return False
    return _any("help_comes").search(said) is not None


@cached
def _simple(language: str) -> re.Pattern[str]:
    return _pattern(load(language, "reactions.yaml").get("simple") or ())


@cached
def _whole() -> frozenset[str]:
    return frozenset(joint("messages.yaml")["situation"]["whole"])


def fact_named(text: str) -> Fact | None:
    """Return what of the place a short message is about by its words: when it is open, or that data shall go."""
    said = fold(text)
    if len(said.split()) > MOST_IN_HASTE:
        return None
    if _any("hours").search(said):
        return "hours"
    return "privacy" if _any("deleting").search(said) else None


def _of_others(text: str) -> bool:
    """Say whether a message tells of somebody else that they have little of the language."""
    return _any("of_others").search(fold(text)) is not None


_NAMES = ("of_others", "hours", "deleting", "written", "help_comes", "doubted", "person", "not_a_person")


@cached
def _situation() -> dict[str, re.Pattern[str]]:
    listed = joint("messages.yaml")["situation"]
    return {name: _pattern(listed[name]) for name in _NAMES}


def _any(name: str) -> re.Pattern[str]:
    return _situation()[name]


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b" if phrases else r"(?!)")
