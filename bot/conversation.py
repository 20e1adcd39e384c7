"""A conversation with one patient: the dialogue rules, the guard and the records around the assistant."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from bot.assistant import Assistant
from bot.dialogue import (
    State,
    chosen,
    emergency,
    explain_easier,
    none_chosen,
    offered,
    respond,
    says_emergency,
    says_no_emergency,
    show_pair,
    small_talk,
    with_context,
)
from bot.errors import BadData, GuardViolation, NoSuchChoice
from bot.interface_texts import LANGUAGES
from bot.kept import read_state, write_reply, write_state
from bot.matching.text import sanitise
from bot.ports import Exchange, Records, StoredConversation, StoredFlag, StoredTurn
from bot.reply import Reply, guard, interface, safe_reply
from bot.response import Response

log = logging.getLogger("klartext")


@dataclass(frozen=True, slots=True)
class Message:
    """What a patient sends in one turn: a text, or the number of an offered choice.

    Attributes:
        turn_id: The client's name for it; a resend has the same.
        text: What was written; empty when a choice was taken.
        choice: From 1; None when text was sent.
    """

    turn_id: str
    text: str = ""
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn that was taken: what is stored of it, and what the patient gets."""

    turn: StoredTurn
    reply: Reply


@dataclass(frozen=True, slots=True)
class Reaction:
    """What the rules make of a message: the reply, the state after it, and the decision if it was a question."""

    reply: Reply
    after: State
    decided: StoredTurn | None = None


def first_language(assistant: Assistant) -> str:
    """Return the language in which patients are greeted when nobody asked for another."""
    return next(language for language in assistant.languages if language in LANGUAGES)


class Conversation:
    """One patient's turns, in order. Every reply passes the guard; every turn is stored before its reply is shown."""

    def __init__(self, assistant: Assistant, records: Records, id_: str, state: State, number: int) -> None:
        self._assistant = assistant
        self._records = records
        self._id = id_
        self._state = state
        self._number = number

    @classmethod
    def begin(cls, assistant: Assistant, records: Records, opened: StoredConversation) -> Conversation:
        """Begin and store a conversation; raise AlreadyStored when its id is in use."""
        records.begin(opened)
        return cls(assistant, records, opened.id, State(opened.language), 0)

    @classmethod
    def resume(cls, assistant: Assistant, records: Records, opened: StoredConversation) -> Conversation:
        """Go on with a conversation from what is stored of it: nothing else is remembered."""
        last = records.last_turn(opened.id)
        if last is None or last.exchange is None:
            return cls(assistant, records, opened.id, State(opened.language), 0)
        shown = {language: assistant.shown(language) for language in assistant.languages}
        try:
            state = read_state(last.exchange.state, shown=shown)
        except BadData as error:  # nobody must be locked out by what an older version stored
            log.error("begun anew: %s", error)
            state = State(opened.language)
        return cls(assistant, records, opened.id, state, last.exchange.number)

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
        return self.take(Message(uuid.uuid4().hex, text), at=at).reply

    def take(self, message: Message, *, at: datetime) -> Taken:
        """Take one turn, store it, and return it with the reply.

        Raises:
            NoSuchChoice: The message takes a choice that is not on offer.
            AlreadyStored: Another request stored this turn, or one in its place, first.
            Erased: The conversation was deleted meanwhile.
        """
        text = message.text if message.choice is None else self._choice(message.choice)
        reaction = self._react(text, at)
        reply = self._guarded(reaction.reply)
        after = replace(reaction.after, last_turn=message.turn_id) if reaction.decided else reaction.after
        exchange = Exchange(
            number=self._number + 1,
            turn_id=message.turn_id,
            said=sanitise(text).text,
            reply=write_reply(reply),
            state=write_state(after),
            choice=message.choice,
        )
        turn = replace(reaction.decided or self._talk(text, at), exchange=exchange)
        self._records.add_turn(turn)
        self._state, self._number = after, exchange.number
        return Taken(turn, reply)

    def _choice(self, number: int) -> str:
        choices = offered(self._state, self._assistant.catalog(self.language))
        if not 1 <= number <= len(choices):
            raise NoSuchChoice("This choice is not on offer any more.")
        return choices[number - 1].text

    def _react(self, text: str, at: datetime) -> Reaction:
        state = self._state
        catalog = self._assistant.catalog(state.language)
        command = text.strip().lower()
        if not sanitise(text).text:
            return self._fixed("empty")
        if command in ("/help", "/hilfe", "/?"):
            return self._fixed("help")
        if command in ("/easy", "/einfach"):
            return Reaction(explain_easier(state, catalog, sample=self._assistant.sample), state)
        if command.split()[0] in ("/flag", "/melden"):
            return self._flag(at)
        talk = small_talk(text)
        if talk is not None:
            return self._fixed(*(("help", "emergency_notice") if talk == "help" else (talk,)))
        if says_emergency(state, text):
            return Reaction(emergency(state), state, replace(self._talk(text, at), decision="urgent"))
        if says_no_emergency(state, text) and state.held_back is not None:
            reaction = self._answer(state.held_back, at, ignore_flags=True)
            # "Why?" must not bring the same alarm again.
            return replace(reaction, after=replace(reaction.after, last_question=None))
        pick = chosen(state, text, catalog)
        if pick is None:
            return self._answer(with_context(state, text), at)
        if pick.pair_id is None:
            return Reaction(*none_chosen(state))
        reply, after = show_pair(state, pick.pair_id, catalog, sample=self._assistant.sample)
        return Reaction(reply, after, self._picked(text, pick.pair_id, at))

    def _fixed(self, *keys: str) -> Reaction:
        return Reaction(Reply(self.language, tuple(interface(self.language, key) for key in keys)), self._state)

    def _answer(self, text: str, at: datetime, *, ignore_flags: bool = False) -> Reaction:
        language = self._assistant.detect(text, fallback=self.language)
        response = self._assistant.answer(text, language, ignore_flags=ignore_flags)
        reply, after = respond(self._state, response, self._assistant.catalog(language))
        return Reaction(reply, after, self._decided(response, at))

    def _flag(self, at: datetime) -> Reaction:
        if self._state.last_turn is None:
            return self._fixed("nothing_to_flag")
        # Before the turn that asks for it is stored: sent again, the same complaint changes nothing.
        self._records.flag(self._id, StoredFlag(self._state.last_turn, "wrong", "", at))
        return self._fixed("flagged")

    def _decided(self, response: Response, at: datetime) -> StoredTurn:
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

    def _picked(self, text: str, pair_id: str, at: datetime) -> StoredTurn:
        return replace(self._talk(text, at), decision="answered", pair_id=pair_id, score=1.0)

    def _talk(self, text: str, at: datetime) -> StoredTurn:
        return StoredTurn(
            conversation=self._id,
            at=at,
            language=self.language,
            question=sanitise(text).text,
            decision="talk",
            pair_id=None,
            score=0.0,
            catalog=self._assistant.catalog(self.language).ref,
        )

    def _guarded(self, reply: Reply) -> Reply:
        try:
            return guard(reply, self._assistant.catalog(reply.language), shown=self._assistant.shown(reply.language))
        except GuardViolation as error:
            log.error("reply refused by the guard: %s", error)  # holds no text
            return safe_reply(reply.language)
