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
from bot.matching.text import sanitise
from bot.ports import Records, StoredTurn
from bot.reply import Reply, guard, interface, safe_reply
from bot.response import Response

log = logging.getLogger("klartext")


class Conversation:
    """One patient's turns, in order. Every reply passes the guard; every turn is stored before its reply is shown."""

    def __init__(self, assistant: Assistant, records: Records, state: State, id_: str) -> None:
        self._assistant = assistant
        self._records = records
        self._state = state
        self._id = id_
        self._last_turn: int | None = None

    @classmethod
    def begin(cls, assistant: Assistant, records: Records, *, id_: str, language: str | None = None) -> Conversation:
        """Begin a conversation in a language of the catalog, the first one by default."""
        first = language or next(lang for lang in assistant.languages if lang in LANGUAGES)
        return cls(assistant, records, State(first), id_)

    @property
    def language(self) -> str:
        return self._state.language

    def welcome(self) -> Reply:
        """Say who is answering, and what to do in an emergency."""
        keys = ("welcome", "emergency_notice", "sample_label", "help")
        shown = [key for key in keys if key != "sample_label" or self._assistant.sample]
        return self._guarded(Reply(self.language, tuple(interface(self.language, key) for key in shown)))

    def turn(self, text: str, *, at: datetime) -> Reply:
        """Take one turn of the patient and return the reply."""
        reply, self._state = self._react(text, at)
        return self._guarded(reply)

    def _react(self, text: str, at: datetime) -> tuple[Reply, State]:
        state = self._state
        catalog = self._assistant.catalog(state.language)
        command = text.strip().lower()
        if not sanitise(text).text:
            return Reply(state.language, (interface(state.language, "empty"),)), state
        if command in ("/help", "/hilfe", "/?"):
            return Reply(state.language, (interface(state.language, "help"),)), state
        if command in ("/easy", "/einfach"):
            return explain_easier(state, catalog, sample=self._assistant.sample), state
        if command.split()[0] in ("/flag", "/melden"):
            return self._flag(at), state
        talk = small_talk(text)
        if talk is not None:
            keys = ("help", "emergency_notice") if talk == "help" else (talk,)
            return Reply(state.language, tuple(interface(state.language, key) for key in keys)), state
        if says_no_emergency(state, text) and state.held_back is not None:
            reply, after = self._answer(state, state.held_back.question, at, ignore_flags=True)
            # "Why?" must not bring the same alarm again.
            return reply, replace(after, last_question=None)
        pick = chosen(state, text, catalog)
        if pick is None:
            return self._answer(state, with_context(state, text), at)
        if pick.pair_id is None:
            return none_chosen(state)
        reply, after = show_pair(state, pick.pair_id, catalog, sample=self._assistant.sample)
        self._last_turn = self._records.add_turn(self._stored_choice(text, pick.pair_id, at))
        return reply, after

    def _answer(self, state: State, text: str, at: datetime, *, ignore_flags: bool = False) -> tuple[Reply, State]:
        language = self._assistant.detect(text, fallback=state.language)
        response = self._assistant.answer(text, language, ignore_flags=ignore_flags)
        self._last_turn = self._records.add_turn(self._stored(response, at))
        return respond(state, response, self._assistant.catalog(language))

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

    def _guarded(self, reply: Reply) -> Reply:
        try:
            return guard(reply, self._assistant.catalog(reply.language), shown=self._assistant.shown(reply.language))
        except GuardViolation as error:
            log.error("reply refused by the guard: %s", error)  # holds no text
            return safe_reply(reply.language)
