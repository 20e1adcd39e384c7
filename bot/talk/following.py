"""What is said after an answer of another exam was shown: it is about that answer, under that exam's name.

"Easier", "again", "so may I?" and what else leans on it never get what this exam says of the same matter: that may be
the opposite. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.assistant import Assistant
from bot.response import Response
from bot.sentences.reply import Content, Interface, OtherExam, Part, Reply, as_of_other_exam
from bot.talk.context import hear
from bot.talk.dialogue import State, explain_easier, show_again, wants_easier
from bot.talk.messages import ails, asks_on, nothing_asked, refuses, short_reaction, small_talk

EASY_COMMANDS = ("/easy", "/einfach")
LEANS = 0.5  # how likely a message is to stand alone, below which it is taken to be about the answer before
# What is said of an answer, whichever exam's it is; all else is said by the exam that the conversation is about.
_OF_ANSWERS = (
    *("easy_intro", "easy_missing", "short_intro", "shorter_missing", "same_intro", "again_intro", "whole_answer"),
    *("more_missing", "all_right", "sample_label"),
)


@dataclass(frozen=True, slots=True)
class Followed:
    """What a message comes to after another exam's answer.

    Attributes:
        parts: What to show of it, the exam's name not included.
        response: The decision; None where nothing was asked.
        simple: Whether the patient wants easy answers.
    """

    parts: tuple[Part, ...]
    response: Response | None = None
    simple: bool = False

    @property
    def shows(self) -> str | None:
        """The pair whose text is shown; None where it is only a sentence."""
        return next((part.pair_id for part in self.parts if isinstance(part, OtherExam)), None)


def follow(own: Assistant, other: Assistant, state: State, text: str, language: str) -> Followed | None:
    """Return what a message after another exam's answer comes to there; None where this exam has to react to it."""
    exam, pair_id, asked = state.beside
    there = State(language, last_pair=pair_id, last_question=asked, simple=state.simple)
    catalog, sample = other.catalog(language), other.sample
    if text.strip().lower() in EASY_COMMANDS or wants_easier(there, text):
        return Followed(_theirs(exam, explain_easier(there, catalog, sample=sample)), simple=True)
    kind = short_reaction(text)
    reacts = kind not in (None, "announcement") or any(each(text) is not None for each in _REACTIONS)
    if reacts or text.startswith("/") or ails(text):
        return None
    mine = own.answer(text, language)
    if mine.decision == "urgent" or mine.level is not None or mine.fixed is not None or mine.also or mine.too_long:
        return None
    heard = hear(other, there, text, language)
    said = heard.response
    if said is None:
        # More is the whole answer; further questions of that exam are not offered here.
        parts = _theirs(exam, heard.reply) or _theirs(exam, show_again(there, "whole_answer", catalog, sample=sample))
        return Followed(parts)
    if said.decision == "answered" and said.level is None and not said.also:
        leans = asks_on(text) or other.context(language).stands_alone(text) < LEANS
        if leans or said.pair_id == pair_id:
            return Followed(_theirs(exam, heard.reply), said)
    if mine.decision == "answered" and mine.pair_id == pair_id:
        again = show_again(there, "again_intro", catalog, sample=sample)
        return Followed(_theirs(exam, again), replace(said, decision="answered", pair_id=pair_id))
    return None


_REACTIONS: tuple[Callable[[str], str | None], ...] = (small_talk, nothing_asked, refuses)


def _theirs(exam: str, reply: Reply) -> tuple[Part, ...]:
    """Return what a reply of another exam says of its answers, as that exam's."""
    found = list[Part]()
    for part in reply.parts:
        if isinstance(part, Content):
            found.append(as_of_other_exam(exam, part))
        elif isinstance(part, Interface) and part.key.startswith(_OF_ANSWERS):
            found.append(part)
    return tuple(found)
