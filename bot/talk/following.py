"""What is said after an answer of another exam was shown: it is about that answer, under that exam's name.

"Easier", "again", "so may I?" and what else leans on it never get what this exam says of the same matter: that may be
the opposite. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from bot.sentences.reply import Content, Interface, OtherExam, Part, Reply, as_of_other_exam
from bot.talk.context import hear
from bot.talk.dialogue import State, explain_easier, show_again, wants_easier
from bot.talk.messages import ails, asks_on, nothing_asked, refuses, short_reaction, small_talk
from bot.talk.neighbours import LEANS, Said, beside, not_now, pairs_of, unsaid
from bot.talk.reaction import Reaction
from bot.talk.withholding import Decided

EASY_COMMANDS = ("/easy", "/einfach")
# What is said of an answer, whichever exam's it is; all else is said by the exam that the conversation is about.
_OF_ANSWERS = (
    *("easy_intro", "easy_missing", "short_intro", "shorter_missing", "same_intro", "again_intro", "whole_answer"),
    *("more_missing", "all_right", "sample_label"),
)


def follow(said: Said, state: State, language: str) -> Reaction | None:
    """React to what is said after another exam's answer; None where this exam has to react to it."""
    own, text = said.own, said.text
    exam, pair_id, asked = state.beside
    other = own.others.get(exam)
    if other is None or language not in other.languages or (said.named.meant and not said.named.hinted):
        return None
    if pair_id not in other.learned(language) or said.is_emergency:
        return None
    there = State(language, last_pair=pair_id, last_question=asked, simple=state.simple)
    catalog, sample = other.catalog(language), other.sample
    after, response = replace(state, language=language, complaint=None), None
    if text.strip().lower() in EASY_COMMANDS or wants_easier(there, text):
        parts = _theirs(exam, explain_easier(there, catalog, sample=sample))
        after = replace(after, simple="asked" if state.simple == "wished" else state.simple or "wished")
    else:
        kind = short_reaction(text)
        reacts = kind not in (None, "announcement") or any(
            each(text) is not None for each in (small_talk, nothing_asked, refuses)
        )
        if reacts or text.startswith("/") or ails(text):
            return None
        mine = own.answer(text, language)
        if mine.decision == "urgent" or mine.level is not None or mine.fixed is not None or mine.also or mine.too_long:
            return None
        heard = hear(other, there, text, language)
        parts, response = _theirs(exam, heard.reply), heard.response
        leans = asks_on(text) or other.context(language).stands_alone(text) < LEANS
        if response is None:
            # More is the whole answer; further questions of that exam are not offered here.
            parts = parts or _theirs(exam, show_again(there, "whole_answer", catalog, sample=sample))
        elif not (leans or response.pair_id == pair_id) or (response.decision, response.level, response.also) != (
            "answered",
            None,
            (),
        ):
            if mine.decision != "answered" or mine.pair_id != pair_id:
                return None
            parts = _theirs(exam, show_again(there, "again_intro", catalog, sample=sample))
            response = replace(response, decision="answered", pair_id=pair_id)
    shown = next((part.pair_id for part in parts if isinstance(part, OtherExam)), None)
    if (shown or pair_id) not in pairs_of(other, language):
        still = replace(state, language=language, elsewhere=(exam, pair_id), pending=asked)
        # What is asked next is asked of this exam again where the chat of that one is closed: that must be no wall.
        return Reaction(not_now(said, exam, still), unsaid(still) if other.is_closed else still)
    if shown is None:
        return Reaction(Reply(language, parts), after)
    reply = Reply(language, (own.sentence("exam_from", exam, language), *parts))
    if response is None:
        return Reaction(reply, after)
    decided = Decided(language, response.question, "answered", shown, response.score, catalog.ref)
    return Reaction(reply, beside(after, exam, shown, asked if shown == pair_id else response.question), decided)


def _theirs(exam: str, reply: Reply) -> tuple[Part, ...]:
    """Return what a reply of another exam says of its answers, as that exam's."""
    found = list[Part]()
    for part in reply.parts:
        if isinstance(part, Content):
            found.append(as_of_other_exam(exam, part))
        elif isinstance(part, Interface) and part.key.startswith(_OF_ANSWERS):
            found.append(part)
    return tuple(found)
