"""Put the sentence that says so in the place of every text that may not be shown now. Pure.

What a message means is decided as if nothing was stopped: only so is the question of a withdrawn pair recognised, in
whatever place of a conversation, and no other answer comes instead. What would have been shown of it is taken out here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from bot.sentences.reply import Content, Interface, Part, Reply, interface
from bot.talk.dialogue import State

# Sentences that mean nothing without the text behind them, and without the questions below them.
_BEFORE_TEXTS = (
    *("easy_intro", "short_intro", "same_intro", "again_intro", "whole_answer", "shorter_missing"),
    *("simple_intro", "sample_label"),
)
_BEFORE_CHOICES = ("clarify", "more_intro", "language_last")


@dataclass(frozen=True, slots=True)
class Decided:
    """What a message came to, as it is kept; `bot.ports.StoredTurn` says what the fields mean."""

    language: str
    question: str
    decision: str
    pair_id: str | None
    score: float
    catalog: str


def withhold(reply: Reply, after: State, held: Collection[str]) -> tuple[Reply, State]:
    """Return a reply without texts of the pairs that are held back, and the state that offers none of them.

    What the conversation was about stays known, so that who asks on about it is told the same.
    """
    if not any(_is_of(part, held) for part in (*reply.parts, *reply.choices)):
        return reply, after
    choices = tuple(part for part in reply.choices if not _is_of(part, held))
    if not any(isinstance(part, Content) for part in choices) and choices != reply.choices:
        choices = ()  # "none of these" of nothing
    left = [part for part in reply.parts if not _is_of(part, held)]
    idle = () if any(isinstance(part, Content) for part in left) else _BEFORE_TEXTS
    idle = idle if choices else (*idle, *_BEFORE_CHOICES)
    told, parts = interface(reply.language, "withheld"), list[Part]()
    for part in reply.parts:
        if told not in parts and (_is_of(part, held) or _begins(part, (*_BEFORE_TEXTS, *_BEFORE_CHOICES))):
            parts.append(told)
        if not (_is_of(part, held) or _begins(part, idle)):
            parts.append(part)
    parts = parts if told in parts else [told, *parts]
    offered = tuple(pair_id for pair_id in after.choices if pair_id not in held)
    return Reply(reply.language, tuple(parts), choices), replace(after, choices=offered, folded=False)


def without_answer(decided: Decided, told: Reply, held: Collection[str]) -> Decided:
    """Return a decision as the patient gets it: an answer that is held back, or choices all of which are, is none."""
    if decided.decision == "answered" and decided.pair_id in held:
        return replace(decided, decision="declined", pair_id=None)
    if decided.decision == "clarify" and not told.choices:
        return replace(decided, decision="declined")
    return decided


def _is_of(part: Part, held: Collection[str]) -> bool:
    return isinstance(part, Content) and part.pair_id in held


def _begins(part: Part, keys: tuple[str, ...]) -> bool:
    return isinstance(part, Interface) and part.key.startswith(keys)
