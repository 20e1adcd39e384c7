"""Hear red flags in what a patient writes: in all of it, and in what stands beside "I don't know" and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.assistant import Assistant
from bot.talk.messages import (
    CLOSED,
    MARGIN,
    ONE_WORD_MARGIN,
    all_beside_silence,
    chest_pressure,
    heavy_bleeding,
    short_reaction,
)
from bot.text import words

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


def _told_in(assistant: Assistant, text: str, raised: str) -> str:
    """Return the language to answer in: that of the rule, unless the message is plainly in another.

    "Adrenaline" in an English sentence raises a German rule; whoever wrote it reads English.
    """
    if assistant.foreign(text) is not None:
        return raised
    margin = ONE_WORD_MARGIN if len(text.split()) == 1 else MARGIN
    return assistant.detect(text, fallback=raised, margin=margin)
