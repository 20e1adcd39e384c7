"""A conversation with one patient: the dialogue rules, the guard and the records around the assistant."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime

from bot.assistant import Assistant
from bot.dialogue import (
    State,
    chosen,
    explain_easier,
    none_chosen,
    respond,
    says_no_emergency,
    show_pair,
    small_talk,
    with_context,
)
from bot.errors import GuardViolation
from bot.interface_texts import LANGUAGES
from bot.interview.interview import Turn
from bot.interview.listening import question_like
from bot.interview.parsing import Read, read_command, read_yes_no
from bot.interviewing import Interviewer
from bot.matching.text import sanitise
from bot.ports import Records, StoredTurn
from bot.reply import Reply, guard, interface, safe_reply
from bot.response import Response

# How sure the assistant must be to take a message for a question that does not look like one.
SURE = 0.9

log = logging.getLogger("klartext")


class Conversation:
    """One patient's turns, in order. Every reply passes the guard; every turn is stored before its reply is shown."""

    def __init__(
        self, assistant: Assistant, records: Records, state: State, id_: str, interviewer: Interviewer | None = None
    ) -> None:
        self._assistant = assistant
        self._records = records
        self._state = state
        self._id = id_
        self._last_turn: int | None = None
        self._interviewer = interviewer
        self._offered = False
        self._alarmed = False

    @classmethod
    def begin(
        cls,
        assistant: Assistant,
        records: Records,
        *,
        id_: str,
        language: str | None = None,
        interviewer: Interviewer | None = None,
    ) -> Conversation:
        """Begin a conversation in a language of the catalog, the first one by default."""
        first = language or next(lang for lang in assistant.languages if lang in LANGUAGES)
        return cls(assistant, records, State(first), id_, interviewer)

    @property
    def language(self) -> str:
        return self._state.language

    def welcome(self) -> Reply:
        """Say who is answering, and what to do in an emergency."""
        keys = ("welcome", "emergency_notice", "sample_label", "help")
        shown = [key for key in keys if key != "sample_label" or self._assistant.sample]
        return self._guarded(Reply(self.language, tuple(interface(self.language, key) for key in shown)))

    def offer(self, *, at: datetime) -> Reply | None:
        """Offer the questions of the radiology team, or go on with them; None where there are none."""
        if self._interviewer is None:
            return None
        if self._interviewer.begun:
            return self._guarded(self._start(at))
        self._offered = True
        choices = (interface(self.language, "yes"), interface(self.language, "no"))
        return self._guarded(Reply(self.language, (interface(self.language, "interview_offer"),), choices))

    def turn(self, text: str, *, at: datetime) -> Reply:
        """Take one turn of the patient and return the reply."""
        reply, self._state = self._react(text, at)
        return self._guarded(reply)

    def _react(self, text: str, at: datetime) -> tuple[Reply, State]:
        shortcut = self._shortcut(text, at)
        if shortcut is not None:
            return shortcut, self._state
        if self._interviewer is not None and self._interviewer.is_asking:
            return self._interviewing(self._interviewer, text, at)
        offered, self._offered = self._offered, False
        begun = self._about_interview(text, at, offered=offered)
        return (begun, self._state) if begun is not None else self._question(text, at)

    def _shortcut(self, text: str, at: datetime) -> Reply | None:
        """Return the reply to an empty turn, or to one of the commands that begin with a slash."""
        state, command = self._state, text.strip().lower()
        asking = self._interviewer is not None and self._interviewer.is_asking
        if not sanitise(text).text:
            return None if asking else Reply(state.language, (interface(state.language, "empty"),))
        if command in ("/help", "/hilfe", "/?"):
            return self._then_question(Reply(state.language, (interface(state.language, "help"),)), at)
        if command in ("/easy", "/einfach"):
            catalog = self._assistant.catalog(state.language)
            return self._then_question(explain_easier(state, catalog, sample=self._assistant.sample), at)
        if command.split()[0] in ("/flag", "/melden"):
            return self._then_question(self._flag(at), at)
        return self._start(at) if command == "/interview" else None

    def _question(self, text: str, at: datetime) -> tuple[Reply, State]:
        """Take a turn that is not about the interview."""
        state = self._state
        talk = small_talk(text)
        if talk is not None:
            keys = ("help", "emergency_notice") if talk == "help" else (talk,)
            return Reply(state.language, tuple(interface(state.language, key) for key in keys)), state
        if says_no_emergency(state, text) and state.held_back is not None:
            reply, after = self._answer(state, state.held_back.question, at, ignore_flags=True)
            # "Why?" must not bring the same alarm again.
            return reply, replace(after, last_question=None)
        picked = self._picked(text, at)
        return picked if picked is not None else self._answer(state, with_context(state, text), at)

    def _picked(self, text: str, at: datetime) -> tuple[Reply, State] | None:
        """Take a pick from what was offered; None when the turn is something else."""
        state = self._state
        catalog = self._assistant.catalog(state.language)
        pick = chosen(state, text, catalog)
        if pick is None:
            return None
        if pick.pair_id is None:
            return none_chosen(state)
        reply, after = show_pair(state, pick.pair_id, catalog, sample=self._assistant.sample)
        self._last_turn = self._records.add_turn(self._stored_choice(text, pick.pair_id, at))
        return reply, after

    def _waved_aside(self, text: str) -> tuple[Reply, State] | None:
        """Take "no" to questions that were offered: it must not be taken for an answer to the form."""
        said = read_yes_no(text, language=self.language) if self._state.choices else None
        return none_chosen(self._state) if isinstance(said, Read) and not said.remainder else None

    def _answer(
        self, state: State, text: str, at: datetime, *, ignore_flags: bool = False, language: str | None = None
    ) -> tuple[Reply, State]:
        language = language or self._assistant.detect(text, fallback=state.language)
        response = self._assistant.answer(text, language, ignore_flags=ignore_flags)
        return self._respond(state, response, at)

    def _respond(self, state: State, response: Response, at: datetime) -> tuple[Reply, State]:
        self._last_turn = self._records.add_turn(self._stored(response, at))
        return respond(state, response, self._assistant.catalog(response.lang))

    def _flag(self, at: datetime) -> Reply:
        if self._last_turn is None:
            return Reply(self.language, (interface(self.language, "nothing_to_flag"),))
        self._records.flag(self._last_turn, "wrong", at=at)
        return Reply(self.language, (interface(self.language, "flagged"),))

    def _stored(self, response: Response, at: datetime) -> StoredTurn:
        return StoredTurn(
            conversation=self._id,
            at=at,
            language=response.lang,
            question=sanitise(response.question).text,
            decision=response.decision,
            pair_id=response.pair_id,
            score=response.score,
            catalog=response.catalog,
        )

    def _stored_choice(self, text: str, pair_id: str, at: datetime) -> StoredTurn:
        return StoredTurn(
            conversation=self._id,
            at=at,
            language=self.language,
            question=sanitise(text).text,
            decision="answered",
            pair_id=pair_id,
            score=1.0,
            catalog=self._assistant.catalog(self.language).ref,
        )

    def _start(self, at: datetime) -> Reply:
        """Begin the interview, or go on with it."""
        if self._interviewer is None:
            return Reply(self.language, (interface(self.language, "interview_none"),))
        turn = self._interviewer.start(self.language, at=at)
        self._state = State(turn.reply.language, last_pair=self._state.last_pair)
        self._offered = False
        return turn.reply

    def _about_interview(self, text: str, at: datetime, *, offered: bool) -> Reply | None:
        """Return the reply to what was offered, or to "let us go on"; None when the turn is something else."""
        who = self._interviewer
        if who is None:
            return None
        command = read_command(text, language=self.language)
        if who.is_paused and command is not None and command.kind == "resume":
            return self._start(at)
        agreed = {"1": True, "2": False}.get(text.strip()) if offered else None
        said = read_yes_no(text, language=self.language) if offered and agreed is None else None
        if isinstance(said, Read) and not said.remainder:
            agreed = said.answers[0].value is True
        if agreed is None:
            return None
        return self._start(at) if agreed else Reply(self.language, (interface(self.language, "interview_declined"),))

    def _interviewing(self, who: Interviewer, text: str, at: datetime) -> tuple[Reply, State]:
        """Take a turn while questions are asked: red flags first, then what was offered, then the form."""
        asked, session, state = who.interview(at), who.session, self._state
        if session is None:
            return self._question(text, at)
        rest = State(session.language, last_pair=state.last_pair, last_question=state.last_question)
        if says_no_emergency(state, text) and state.held_back is not None:
            text = state.held_back.question
        else:
            urgent = self._assistant.red_flag(
                text, fallback=session.language, rules_only=asked.says_just_an_answer(session, text)
            )
            alarmed, self._alarmed = self._alarmed, urgent is not None
            if urgent is not None:
                return self._answer(rest, text, at, language=urgent)
            if alarmed and isinstance(read_yes_no(text, language=session.language), Read):
                # "No" was said to the emergency, not to the form.
                return asked.again(session).reply, rest
            picked = self._picked(text, at) or self._waved_aside(text)
            if picked is not None:
                return self._then_question(picked[0], at), picked[1]
        turn = asked.turn(session, text)
        if turn.aside != "no":
            return self._aside(who, turn, text, at)
        who.keep(turn, text, at=at)
        return turn.reply, rest

    def _aside(self, who: Interviewer, turn: Turn, text: str, at: datetime) -> tuple[Reply, State]:
        """Answer a question in between, and put the open question again; what nobody can answer goes to the form."""
        language, asked = turn.session.language, who.interview(at)
        state = State(language, last_pair=self._state.last_pair, last_question=self._state.last_question)
        talk = small_talk(text)
        if talk in ("greeting", "thanks"):
            return _joined(Reply(language, (interface(language, talk),)), turn.reply), state
        heard_in = self._assistant.detect(text, fallback=language)
        response = self._assistant.answer(text, heard_in)
        if _helps(response, text):
            reply, after = self._respond(state, response, at)
            if response.decision != "answered":
                return reply, after  # choices of two kinds would be mixed up: the question comes again after the pick
            return self._then_question(reply, at), after
        if turn.aside == "clear":
            self._last_turn = self._records.add_turn(self._stored(response, at))
        after_all = asked.not_answered(turn.session, text)
        who.keep(after_all, text, at=at)
        declined = interface(language, "declined")
        parts = (declined if part == interface(language, "no_pairs") else part for part in after_all.reply.parts)
        return replace(after_all.reply, parts=tuple(parts)), state

    def _then_question(self, reply: Reply, at: datetime) -> Reply:
        """Put the open question of the interview after a reply."""
        who = self._interviewer
        if who is None or not who.is_asking or who.session is None or reply.choices:
            return reply
        if who.session.language != reply.language:
            who.speak(reply.language)  # the patient has gone on in another language
        return _joined(reply, who.interview(at).again(who.session).reply)

    def _guarded(self, reply: Reply) -> Reply:
        try:
            catalog, shown = self._assistant.catalog(reply.language), self._assistant.shown(reply.language)
            return guard(reply, catalog, shown=shown, heard=self._interviewer.heard if self._interviewer else None)
        except GuardViolation as error:
            log.error("reply refused by the guard: %s", error)  # holds no text
            return safe_reply(reply.language)


def _joined(reply: Reply, question: Reply) -> Reply:
    return Reply(question.language, (*reply.parts, *question.parts), question.choices)


def _helps(response: Response, text: str) -> bool:
    """Say whether what the assistant has to say is shown; a message that does not look like a question needs more."""
    asks = question_like(text, response.lang) != "no"
    # Numbers and dates are answers that did not fit, rather than questions.
    sure = response.score >= SURE and not any(character.isdigit() for character in text)
    return (
        response.decision == "urgent"
        or (response.decision == "answered" and (asks or sure))
        or (response.decision == "clarify" and asks)
    )
