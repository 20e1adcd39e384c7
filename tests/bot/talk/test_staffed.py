"""A conversation that staff have taken: the program is silent, nothing reaches the form, and emergencies alarm."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, Interface, Reply, SiteText
from bot.staff.desk import Desk
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from tests.bot.interview.resources import form, item

NOW = datetime(2026, 11, 23, 10, 30, tzinfo=UTC)
DE, EN = SENTENCES["de"], SENTENCES["en"]
FORM = dump(
    form(
        item("consent", "boolean", text="Einverstanden?"),
        item("age", "integer", text="Wie alt?"),
        title="Fragen",
    )
)


class Chat:
    """A patient whose every message finds the conversation anew in the database, and the calls of it."""

    def __init__(self, assistant: Assistant, records: SqlRecords) -> None:
        self.assistant, self.records = assistant, records
        self.calls, self.interviews = SqlCalls(records.engine), SqlInterviews(records.engine)
        self.opened = StoredConversation("c", NOW, "de", "api")
        records.begin(self.opened)

    def look(self) -> Conversation:
        who = Interviewer(FORM, self.interviews, "c")
        talk = Conversation.resume(self.assistant, self.records, self.opened, at=NOW, interviewer=who)
        return talk.staffed(Desk(self.calls))

    def say(self, *texts: str) -> Reply:
        return [self.look().turn(text, at=NOW) for text in texts][-1]

    def take(self) -> None:
        self.say("/staff")
        self.calls.take("c", "Anna", at=NOW)

    def hand_back(self) -> None:
        self.calls.hand_back("c", "Anna", at=NOW)

    @property
    def events(self) -> tuple[str, ...]:
        stored = self.interviews.interview("c")
        return stored.events if stored is not None else ()

    @property
    def state(self) -> tuple[str, str, bool]:
        call = self.calls.call("c")
        assert call is not None
        return call.state, call.kind, call.since is not None


@pytest.fixture
def chat(small: Assistant, records: SqlRecords) -> Chat:
    return Chat(small, records)


def _texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


# The first question is open, the second, the summary.
STAGES = [["/interview"], ["/interview", "ja"], ["/interview", "ja", "48"]]


@pytest.mark.parametrize("said", [["ja"], ["48", "nein", "zurück", "/interview", "/easy", "Tut das weh?", "1"]])
@pytest.mark.parametrize("before", STAGES)
def test_nothing_said_to_staff_reaches_the_form_or_is_answered(chat: Chat, before: list[str], said: list[str]) -> None:
    chat.say(*before)
    chat.take()
    events = chat.events

    assert {tuple(_texts(chat.say(text))) for text in said} == {(DE["staff_reads"],)}
    chat.hand_back()

    assert chat.events == events
    assert chat.look().stage == "paused"


@pytest.mark.parametrize("before", STAGES)
def test_a_word_to_what_staff_asked_is_no_answer_to_the_form_after_handing_back(chat: Chat, before: list[str]) -> None:
    asked = _texts(chat.say(*before))[-1]
    chat.take()
    events = chat.events
    chat.hand_back()

    chat.say("ja")

    assert chat.events == events
    assert _texts(chat.say("/interview"))[-1] == asked


def test_what_staff_have_not_touched_goes_on_as_before(chat: Chat) -> None:
    chat.say("/interview", "/staff")
    events = chat.events
    chat.calls.acknowledge("c", "Anna", at=NOW)

    chat.say("ja")

    assert len(chat.events) > len(events)


def test_an_alarm_is_raised_confirmed_and_called_off_while_staff_write(chat: Chat) -> None:
    chat.take()

    assert _texts(chat.say("Ich kriege keine Luft"))[0] == DE["urgent"]
    assert chat.state == ("taken", "urgent", True)
    waiting = chat.say("Hallo?")
    assert (_texts(waiting), [each.text for each in waiting.choices]) == ([DE["staff_reads"]], [DE["no_emergency"]])
    assert _texts(chat.say("ja"))[0] == DE["urgent"]
    assert _texts(chat.say(DE["no_emergency"])) == [
        DE["look_today"],
        DE["calmed"],
    ]  # without the answer that the program would give
    assert _texts(chat.say("Tut das weh?")) == [DE["staff_reads"]]


def test_who_calls_again_while_a_person_should_be_writing_is_heard(chat: Chat) -> None:
    chat.take()

    reply = chat.say("/staff")

    assert _texts(reply) == [DE["staff_is_called"]]
    call = chat.calls.call("c")
    assert call is not None
    assert (call.state, call.pressing, call.unanswered, call.at_once) == ("taken", "asked", 1, True)


def test_each_message_to_who_has_taken_the_call_waits_for_an_answer_and_a_switch_of_language_does_not(
    chat: Chat,
) -> None:
    chat.take()
    chat.say("Hallo?", "Sind Sie da?", "/english")

    call = chat.calls.call("c")
    assert call is not None
    assert (call.unanswered, call.since, call.language) == (2, NOW, "en")
    assert _texts(chat.say("ok")) == [EN["staff_reads"]]
    chat.hand_back()  # what is only unanswered is no obstacle


def test_the_program_follows_who_goes_on_in_another_language_while_staff_write(chat: Chat) -> None:
    chat.take()

    assert _texts(chat.say("/english")) == [EN["language_switched"], EN["staff_reads"]]
    assert _texts(chat.say("Tut die Untersuchung weh und wie lange dauert das Ganze?")) == [DE["staff_reads"]]
    call = chat.calls.call("c")
    assert call is not None
    assert call.language == "de"


@pytest.mark.parametrize(("seen", "told"), [(True, "staff_seen"), (False, "staff_unseen")])
def test_who_asks_whether_anybody_is_there_is_told_how_the_call_stands(chat: Chat, seen: bool, told: str) -> None:
    chat.say("/staff")
    if seen:
        chat.calls.acknowledge("c", "Anna", at=NOW)

    assert _texts(chat.say("Hallo? Ist da jemand?")) == [DE[told]]
    assert _texts(chat.say("Wer gewinnt die Wahl?"))[0] == DE[told]


def test_who_asks_whether_anybody_is_there_is_asked_the_open_question_again(chat: Chat) -> None:
    asked = _texts(chat.say("/interview", "/staff"))[-1]

    texts = _texts(chat.say("Ist da jemand?"))

    assert (texts[0], texts[-1]) == (DE["staff_unseen"], asked)


def test_a_red_flag_calls_staff_and_says_what_it_always_says(chat: Chat) -> None:
    reply = chat.say("Ich kriege keine Luft")

    assert _texts(reply)[0] == DE["urgent"]
    assert chat.state == ("waiting", "urgent", True)


@pytest.mark.parametrize("again", ["Ich kriege keine Luft", "ja, es ist schlimm", "ich kriege immer noch keine luft"])
@pytest.mark.parametrize("closes", [True, False])
def test_every_alarm_that_is_said_again_after_staff_have_gone_calls_them_again(
    chat: Chat, closes: bool, again: str
) -> None:
    chat.say("Ich kriege keine Luft")
    if closes:
        chat.calls.acknowledge("c", "Anna", at=NOW)
    else:
        chat.calls.take("c", "Anna", at=NOW)
    chat.hand_back()
    assert chat.state == ("returned", "urgent", False)

    for _ in range(2):
        reply = chat.say(again)
        assert DE["urgent"] in _texts(reply)
        call = chat.calls.call("c")
        assert call is not None
        assert (call.state, call.kind, call.pressing, call.again) == ("waiting", "urgent", "urgent", True)
        chat.calls.acknowledge("c", "Anna", at=NOW)
        chat.hand_back()


def test_the_same_alarm_again_waits_for_who_has_taken_the_call(chat: Chat) -> None:
    chat.say("Ich kriege keine Luft")
    chat.calls.take("c", "Anna", at=NOW)

    chat.say("Ich kriege keine Luft")

    call = chat.calls.call("c")
    assert call is not None
    assert (call.state, call.pressing) == ("taken", "urgent")


def test_what_somebody_held_who_is_gone_waits_again_and_a_yes_to_them_is_no_answer_to_the_form(chat: Chat) -> None:
    chat.say("/interview")
    chat.take()
    events = chat.events
    assert chat.calls.let_go("Berta", at=NOW) == []

    assert chat.calls.let_go("anna", at=NOW) == ["c"]

    call = chat.calls.call("c")
    assert call is not None
    assert (call.state, call.name, call.pressing, call.told, call.again) == ("waiting", "", "asked", 0, True)
    assert chat.calls.actions("c")[-1].what == "away"
    chat.say("ja")
    assert chat.events == events


def test_who_leaves_an_emergency_stays_first_until_somebody_closes_it(chat: Chat) -> None:
    for id_ in ("d", "e"):
        chat.records.begin(StoredConversation(id_, NOW, "de", "api", secret_hash="x"))
    other = StoredConversation("d", NOW, "de", "api")
    talk = Conversation.resume(chat.assistant, chat.records, other, at=NOW).staffed(Desk(chat.calls))
    talk.turn("Ich kriege keine Luft", at=NOW)
    chat.say("Ich kriege keine Luft")  # has no secret: whoever had it has left
    chat.calls.acknowledge("c", "Anna", at=NOW)
    chat.calls.acknowledge("d", "Anna", at=NOW)

    left, there = chat.calls.open()

    assert (left.conversation, left.is_unresolved, there.is_unresolved) == ("c", True, False)


ASKS = [
    "ich will mit mensch reden bitte", "HOLEN SIE ENDLICH JEMANDEN", "bitte jemand vom personal holen", "frau sprechen bitte",
    "I need to talk to a human", "ich bin in kabine 3 komme nicht raus", "can someone please come", "I am stuck in the cubicle",
]  # fmt: skip
ASKS_OTHERWISE = [
    "Kann ich nach der Untersuchung mit einem Menschen sprechen?", "darf ich mit jemandem über das ergebnis reden",
    "kann ich meine frau mitbringen", "can I talk to somebody after the scan?", "wer macht die untersuchung, eine frau?",
    "ich komme nicht aus dem bett raus", "kann mich jemand abholen?",
]  # fmt: skip


@pytest.mark.parametrize("said", ASKS)
def test_who_asks_for_a_person_in_words_has_called_one(chat: Chat, said: str) -> None:
    reply = chat.say(said)

    assert _texts(reply)[0] in (DE["staff_is_called"], EN["staff_is_called"])
    assert chat.state == ("waiting", "asked", True)


@pytest.mark.parametrize("said", ASKS_OTHERWISE)
def test_who_asks_when_a_person_can_be_spoken_to_has_called_none(chat: Chat, said: str) -> None:
    chat.say(said)

    assert chat.calls.call("c") is None


def test_who_asks_for_a_person_in_an_emergency_is_told_what_to_do_in_one(chat: Chat) -> None:
    reply = chat.say("holen sie jemanden, ich kriege keine luft")

    assert _texts(reply)[0] == DE["urgent"]
    assert chat.state == ("waiting", "urgent", True)


def test_where_nobody_reads_calls_asking_for_a_person_is_a_question_as_ever(
    small: Assistant, records: SqlRecords
) -> None:
    talk = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "terminal"))

    assert DE["staff_called"] not in _texts(talk.turn("ich will mit einem menschen reden", at=NOW))


def test_who_cannot_telephone_is_offered_to_be_written_to(small: Assistant, records: SqlRecords) -> None:
    records.begin(StoredConversation("c", NOW, "de", "page", secret_hash="x"))
    talk = Conversation.open(small, records, StoredConversation("c", NOW, "de", "page")).staffed(
        Desk(SqlCalls(records.engine))
    )

    assert _texts(talk.turn("ich bin gehörlos", at=NOW)) == [DE["staff_writes_page"]]
    for said in ("/staff", "ist da jemand?"):
        keys = [part.fact for part in talk.turn(said, at=NOW).parts if isinstance(part, SiteText)]
        assert "phone" not in keys


def test_nothing_friendly_stands_below_an_alarm_that_is_said_again(shipped: Assistant, records: SqlRecords) -> None:
    records.begin(StoredConversation("c", NOW, "de", "page", secret_hash="x"))
    talk = Conversation.open(shipped, records, StoredConversation("c", NOW, "de", "page")).staffed(
        Desk(SqlCalls(records.engine))
    )
    talk.turn("ich will nicht mehr leben", at=NOW)

    for said in ("ich mache es heute abend", "nein. es hat keinen sinn mehr"):
        keys = [part.key for part in talk.turn(said, at=NOW).parts if isinstance(part, Interface)]
        assert keys
        assert all(key.startswith("urgent") for key in keys)


def test_without_a_desk_nobody_is_called(small: Assistant, records: SqlRecords) -> None:
    talk = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "terminal"))

    assert _texts(talk.turn("/staff", at=NOW)) == [DE["staff_called"]]
    assert SqlCalls(records.engine).call("c") is None
