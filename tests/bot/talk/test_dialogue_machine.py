"""Any dialogue at all: nothing is lost or doubled, there is always an answer, and help and stop always work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.errors import NoSuchChoice, Reused
from bot.interview.values.fhir_json import dump
from bot.ports import FlagReason, StoredConversation, StoredFlag
from bot.sentences.reply import Interface, Reply, shows_alarm
from bot.talk.conversation import Message, Taken
from bot.talk.interviewing import Interviewer
from bot.talk.reception import Reception
from bot.testing import HOSTILE_TEXTS
from bot.text import sanitise
from tests.bot.interview.resources import form, item

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
FORM = dump(
    form(
        item("consent", "boolean", text="Einverstanden?"),
        item("age", "integer", text="Wie alt?"),
        item("when", "date", text="Wann zuletzt?"),
        item("note", "text", text="Was noch?", repeats=True),
        title="Fragen",
    )
)
QUESTIONS = (
    "tut das weh?",
    "was kostet das?",
    "dauer und kosten?",
    "does it hurt?",
    "warum?",
    "Druck auf der Brust",
    "Ich kriege keine Luft",
    "/easy",
    "/flag",
    "danke",
)
ANSWERS = ("ja", "nein", "44", "März 2020", "weiß nicht", "nichts", "yes", "12", "zurück", "weiter", "Pause", "ändern")
HELP = ("help", "Hilfe", "/help", "HILFE!", "was kannst du?")
STOP = ("stop", "Stopp!", "Ende", "beenden", "quit", "/quit", "end", "Tschüss", "goodbye")
HELPED = {"help", "how_to", "help_plain"}
# Said again, it is said in other words.
STOPPED = {"stop", "stop_again", "paused", "goodbye", "goodbye_again", "goodbye_third", "call_somebody"}


def _keys(reply: Reply) -> set[str]:
    return {part.key for part in reply.parts if isinstance(part, Interface)}


class Dialogue(RuleBasedStateMachine):
    """One patient, and what the patient was answered."""

    def __init__(self, assistant: Assistant, records: SqlRecords) -> None:
        super().__init__()
        self._assistant = assistant
        self._records = records
        self._interviews = SqlInterviews(records.engine)
        self._now = NOW
        self._sent: list[tuple[Message, Taken]] = []
        self._events: tuple[str, ...] = ()
        self._flags: set[tuple[str, FlagReason]] = set()
        self._reception = self._begun()
        self._opened: StoredConversation | None = None

    def _begun(self) -> Reception:
        return Reception(
            self._assistant,
            SqlRecords(self._records.engine),
            lambda: self._now,
            interviewer=lambda id_: Interviewer(FORM, self._interviews, id_),
        )

    @property
    def _stored(self) -> StoredConversation:
        assert self._opened is not None
        return self._opened

    def _take(self, text: str = "", choice: int | None = None) -> Reply:
        message = Message(f"t{len(self._sent)}", text, choice)
        self._now += timedelta(minutes=1)
        taken = self._reception.take(self._stored, message)
        self._sent.append((message, taken))
        assert taken.reply.parts, "nothing was answered"
        assert "safe" not in _keys(taken.reply), "the guard refused a reply"
        return taken.reply

    @initialize(language=st.sampled_from(("de", "en", None)))
    def begin(self, language: str | None) -> None:
        opened = self._reception.open(channel="api", language=language, consented=True)
        assert opened.welcome.parts
        self._opened = opened.conversation

    @rule(text=st.sampled_from(QUESTIONS))
    def ask(self, text: str) -> None:
        self._take(text)

    @rule(texts=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4))
    def answer(self, texts: list[str]) -> None:
        for text in texts:
            self._take(text)

    @rule(text=st.sampled_from(("/interview", "weitermachen", "continue")))
    def interview(self, text: str) -> None:
        self._take(text)

    @rule(text=st.text(max_size=40) | st.sampled_from(sorted(HOSTILE_TEXTS.values())))
    def say_anything(self, text: str) -> None:
        self._take(text)

    @rule(number=st.integers(1, 5))
    def choose(self, number: int) -> None:
        try:
            self._take(choice=number)
        except NoSuchChoice:
            assert not self._sent or number > len(self._sent[-1][1].reply.choices)

    @rule(text=st.sampled_from(HELP))
    def ask_for_help(self, text: str) -> None:
        reply = self._take(text)
        assert _keys(reply) & HELPED or shows_alarm(reply)  # an alarm stands until it is called off

    @rule(text=st.sampled_from(STOP))
    def stop(self, text: str) -> None:
        reply = self._take(text)
        assert _keys(reply) & STOPPED or shows_alarm(reply)

    @rule()
    def restart(self) -> None:
        self._reception = self._begun()

    @rule()
    def sleep_on_it(self) -> None:
        self._now += timedelta(days=1)

    @precondition(lambda self: self._sent)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        message, taken = data.draw(st.sampled_from(self._sent))
        assert self._reception.take(self._stored, message) == taken

    @precondition(lambda self: self._sent)
    @rule(data=st.data())
    def send_another_under_its_name(self, data: st.DataObject) -> None:
        message, _ = data.draw(st.sampled_from(self._sent))
        with pytest.raises(Reused):
            self._reception.take(self._stored, Message(message.turn_id, "Ich habe noch eine ganz andere Frage"))

    @precondition(lambda self: self._sent)
    @rule(data=st.data(), reason=st.sampled_from(("wrong", "complicated")))
    def complain(self, data: st.DataObject, reason: FlagReason) -> None:
        message, _ = data.draw(st.sampled_from(self._sent))
        self._reception.flag(self._stored.id, StoredFlag(message.turn_id, reason, "", self._now))
        self._flags.add((message.turn_id, reason))

    @invariant()
    def nothing_is_lost_doubled_or_out_of_order(self) -> None:
        if self._opened is None:
            return
        found = self._reception.transcript(self._opened.id)
        assert found == [taken for _, taken in self._sent]
        for number, (turn, (message, _)) in enumerate(zip(found, self._sent, strict=True), 1):
            exchange = turn.turn.exchange
            assert exchange is not None
            assert (exchange.number, exchange.turn_id, exchange.choice) == (number, message.turn_id, message.choice)
            assert message.choice is not None or exchange.said == sanitise(message.text).text

    @invariant()
    def the_interview_only_grows(self) -> None:
        stored = self._interviews.interview(self._opened.id) if self._opened else None
        events = stored.events if stored else ()
        assert events[: len(self._events)] == self._events
        self._events = events

    @invariant()
    def complaints_are_kept(self) -> None:
        if self._opened is not None:
            kept = {(flag.turn_id, flag.reason) for flag in self._records.flags(self._opened.id)}
            assert kept >= self._flags


def test_any_dialogue_at_all(small: Assistant, records: SqlRecords) -> None:
    def machine() -> Dialogue:
        return Dialogue(small, records)

    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=25))  # type: ignore[arg-type]
