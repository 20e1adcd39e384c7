"""Hear red flags in what a patient writes: in all of it, and in what stands beside "I don't know" and the like."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.assistant import Assistant
from bot.languages.files import cached, joint
from bot.talk.messages import (
    CLOSED,
    MARGIN,
    ONE_WORD_MARGIN,
    all_beside_silence,
    calls_off,
    calms,
    chest_pressure,
    heavy_bleeding,
    short_reaction,
)
from bot.text import fold, words

MOST_COMING_BACK = 14  # words of who says that what was called off is back
MOST_ANSWERING = 3  # words of what may be an answer, or an assent, and turns to nothing else

_COMING_BACK = ("surely_back", "back", "not_back")
_HAPPENING = ("happens", "not_happening", "dangers")
_FORGETTING = frozenset({"vergessen", "vergisst", "vergesslich", "forgot", "forgotten", "forget", "forgets"})


@dataclass(frozen=True, slots=True)
class RedFlag:
    """A red flag that was heard: the language that it was raised in, and the words that raised it."""

    language: str
    words: str


def red_flag_in(
    assistant: Assistant,
    text: str,
    fallback: str,
    *,
    rules_only: bool = False,
    calm: Callable[[str], bool] = lambda said: False,
) -> RedFlag | None:
    """Return the red flag that a message raises, as a whole or by what it says beside "I don't know" and the like.

    The "not" of "I don't know" must not call off what is said with it. Nor must it make more of what would be calm by
    itself; `calm` says of which words that is known. What is raised in a language that the catalog lacks is answered
    in `fallback`.
    """
    beside = tuple(dict.fromkeys(all_beside_silence(text)))
    # What was learned takes "I don't know" itself for a sign of danger: only what stands beside it may be one. To have
    # forgotten is one itself.
    parted = bool(beside) and any(each in text for each in beside) and _FORGETTING.isdisjoint(words(text))
    pieces = ((each, rules_only or calm(each) or short_reaction(each) in CLOSED) for each in beside)
    hasty = ((plain, True) for each in (*beside, text) if (plain := heavy_bleeding(each) or chest_pressure(each)))
    heard_in = (*pieces, (text, rules_only or parted), *hasty)
    found = ((assistant.red_flag(each, fallback=fallback, rules_only=only), each) for each, only in heard_in)
    raised = next(((language, each) for language, each in found if language is not None), None)
    return RedFlag(_told_in(assistant, text, raised[0]), raised[1]) if raised is not None else None


def is_back(text: str) -> bool:
    """Say whether a message, shortly after an alarm was called off, tells that it is one all the same.

    "jetzt wieder", "no wait, it hurts now": words that mean nothing of the kind at any other time.
    """
    said = fold(text)
    if "?" in text or not 0 < len(said.split()) <= MOST_COMING_BACK:
        return False
    surely, back, calm = _coming_back()
    if surely.search(said):
        return True
    return bool(back.search(said)) and not calm.search(said) and not calls_off(text) and not calms(text)


def happens_after(asked: str | None, text: str) -> bool:
    """Say whether a message tells that what was asked about before, a danger, happens now.

    "Can contrast cause an allergy?", and then "that's happening to me now": neither is a red flag by itself.
    """
    said = fold(text)
    if asked is None or "?" in text or len(said.split()) > MOST_COMING_BACK:
        return False
    happens, otherwise, dangers = _happening()
    return bool(happens.search(said) and not otherwise.search(said) and dangers.search(fold(asked)))


def goes_on(text: str, *, asks: bool) -> bool:
    """Say whether a message turns to something else: more than a word of assent, a number, or "I don't know"."""
    return asks or (len(words(text)) > MOST_ANSWERING and short_reaction(text) is None)


def asks_whom_to_call(text: str) -> bool:
    """Say whether a message asks for a number to call: while an alarm is open, that is the emergency's."""
    return bool(_calling().search(fold(text)))


@cached
def _coming_back() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    listed = joint("messages.yaml")["all_clear"]
    surely, back, calm = (re.compile(rf"\b(?:{'|'.join(listed[name])})\b") for name in _COMING_BACK)
    return surely, back, calm


@cached
def _happening() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    listed = joint("messages.yaml")["all_clear"]
    happens, otherwise, dangers = (re.compile(rf"\b(?:{'|'.join(listed[name])})\b") for name in _HAPPENING)
    return happens, otherwise, dangers


@cached
def _calling() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(joint('messages.yaml')['all_clear']['calling'])})\b")


def _told_in(assistant: Assistant, text: str, raised: str) -> str:
    """Return the language to answer in: that of the rule, unless the message is plainly in another.

    "Adrenaline" in an English sentence raises a German rule; whoever wrote it reads English.
    """
    if assistant.foreign(text) is not None:
        return raised
    margin = ONE_WORD_MARGIN if len(text.split()) == 1 else MARGIN
    return assistant.detect(text, fallback=raised, margin=margin)
