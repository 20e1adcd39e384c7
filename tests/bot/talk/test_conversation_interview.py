"""Questions of the radiology team and of the patient in one conversation: a real catalog, a real database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.errors import BadData, UserFixable
from bot.interview.values.fhir_json import dump
from bot.interview.walk.engine import Engine
from bot.interview.walk.filling import Event, Filling
from bot.ports import StoredConversation, StoredInterview
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import SENTENCES, Reply
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from tests.bot.interview.resources import Json, form, item
from tests.conftest import examples
from tests.shipped_texts import SAID

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
DE, EN = SENTENCES["de"], SENTENCES["en"]
PAIN = "Tut die Untersuchung weh? (pain, de)"
FORM = form(
    item("consent", "boolean", text="Einverstanden?"),
    item("age", "integer", text="Wie alt?"),
    item("note", "text", text="Was noch?"),
    title="Fragen",
)
Say = Callable[..., Reply]


def _opened(id_: str = "c1") -> StoredConversation:
    return StoredConversation(id_, NOW, "de", "terminal")


@pytest.fixture
def interviews(records: SqlRecords) -> SqlInterviews:
    return SqlInterviews(records.engine)


@pytest.fixture
def open_chat(small: Assistant, records: SqlRecords, interviews: SqlInterviews) -> Callable[..., Conversation]:
    """Open a conversation, as a new process would."""

    def open_(questionnaire: Json = FORM, id_: str = "c1") -> Conversation:
        return Conversation.open(
            small, records, _opened(id_), interviewer=Interviewer(dump(questionnaire), interviews, id_)
        )

    return open_


@pytest.fixture
def conversation(open_chat: Callable[..., Conversation]) -> Conversation:
    return open_chat()


@pytest.fixture
def say(conversation: Conversation) -> Say:
    """Say several things; return the last reply."""

    def say_(*texts: str, at: datetime = NOW) -> Reply:
        return [conversation.turn(said, at=at) for said in texts][-1]

    return say_


def texts(reply: Reply | None) -> list[str]:
    assert reply is not None
    return [part.text for part in reply.parts]


def stored(interviews: SqlInterviews) -> StoredInterview:
    found = interviews.interview("c1")
    assert found is not None
    return found


def test_the_questions_are_offered_after_the_welcome_and_begin_with_yes(conversation: Conversation, say: Say) -> None:
    assert texts(conversation.offer(at=NOW)) == [DE["interview_offer"]]

    assert texts(say("ja gern")) == ["Fragen", DE["interview_begin"], DE["progress"].format(number=1, total=3),
                                     "Einverstanden?"]  # fmt: skip


@pytest.mark.parametrize("no", ["nein", "2", "nein danke"])
def test_who_does_not_want_to_begin_may_do_so_later(conversation: Conversation, say: Say, no: str) -> None:
    conversation.offer(at=NOW)

    assert texts(say(no)) == [DE["interview_declined"]]
    assert "Einverstanden?" in texts(say("/interview"))


@pytest.mark.parametrize("thanks", ["ok danke", "passt, danke", "Right. Thanks."])
def test_thanks_after_the_offer_begin_nothing(conversation: Conversation, say: Say, thanks: str) -> None:
    conversation.offer(at=NOW)

    assert "Einverstanden?" not in texts(say(thanks))


@pytest.mark.parametrize("yes", ["ja danke", "ja bitte", "gerne"])
def test_a_polite_yes_to_the_offer_begins(conversation: Conversation, say: Say, yes: str) -> None:
    conversation.offer(at=NOW)

    assert "Einverstanden?" in texts(say(yes))


def test_a_question_instead_of_an_answer_to_the_offer_is_answered(
    conversation: Conversation, say: Say, interviews: SqlInterviews
) -> None:
    conversation.offer(at=NOW)

    assert texts(say("tut das weh?"))[0] == PAIN
    assert "Einverstanden?" not in texts(say("ja"))
    assert interviews.interview("c1") is None


def test_without_questions_nothing_is_offered(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.open(small, records, _opened())

    assert conversation.offer(at=NOW) is None
    assert texts(conversation.turn("/interview", at=NOW)) == [DE["interview_none"]]


def test_a_question_in_between_is_answered_from_the_pairs_and_the_open_one_comes_again(
    say: Say, records: SqlRecords
) -> None:
    reply = say("/interview", "ja", "tut das weh?")

    assert texts(reply) == [PAIN, DE["sample_label"], DE["on_with"], "Wie alt?"]
    assert texts(say("48"))[-1] == "Was noch?"
    assert [turn.turn.pair_id for turn in records.kept("c1")] == ["pain"]


def test_easier_words_and_reports_are_possible_in_between(say: Say, records: SqlRecords) -> None:
    assert texts(say("/interview", "ja", "tut das weh?", "/easy"))[-2:] == [DE["on_with"], "Wie alt?"]
    assert texts(say("/flag"))[0] == DE["flagged"]
    assert [turn.question for turn in records.open_questions()] == ["tut das weh?"]


def test_an_unclear_question_offers_pairs_first_and_then_goes_on(say: Say) -> None:
    reply = say("/interview", "ja", "dauer und kosten?")
    assert [choice.text for choice in reply.choices][-1] == DE["none_of_these"]

    assert texts(say("2"))[0] == "Wie lange dauert die Untersuchung? (duration, de)"
    assert texts(say("dauer und kosten?", "3"))[-2:] == [DE["on_with"], "Wie alt?"]
    assert texts(say("48"))[-1] == "Was noch?"


def test_no_to_the_questions_offered_is_no_answer_to_the_form(say: Say, interviews: SqlInterviews) -> None:
    reply = say("/interview", "dauer und kosten?", "nein")

    assert texts(reply) == [DE["none_chosen"], DE["on_with"], "Einverstanden?"]
    assert stored(interviews).events == ()


def test_a_number_that_does_not_fit_is_no_question(say: Say) -> None:
    assert texts(say("/interview", "Zeit 3")) == [DE["why_yes_no"], "Einverstanden?"]


def test_a_question_without_a_checked_answer_is_noted_and_the_open_one_comes_again(
    shipped: Assistant, records: SqlRecords, interviews: SqlInterviews
) -> None:
    question = "Wie wird morgen das Wetter in Konstanz?"
    conversation = Conversation.open(shipped, records, _opened(), interviewer=Interviewer(dump(FORM), interviews, "c1"))
    for said in ("/interview", "ja"):
        conversation.turn(said, at=NOW)

    assert shipped.site is not None
    whom_to_call = shipped.site.text("phone", "de")
    assert texts(conversation.turn(question, at=NOW)) == [SAID["de"]["declined"], whom_to_call, "Wie alt?"]
    assert [turn.question for turn in records.open_questions()] == [question]

    # Where there is room for anything, it may be meant for the team.
    conversation.turn("48", at=NOW)
    assert texts(conversation.turn(question, at=NOW)) == [DE["as_answer"].format(answer=f"„{question}“")]
    conversation.turn("ja", at=NOW)
    assert question in stored(interviews).events[-1]


def test_thanks_are_returned(say: Say) -> None:
    assert texts(say("/interview", "ja", "danke")) == [DE["thanks"], DE["on_with"], "Wie alt?"]


@pytest.mark.parametrize("before", [(), ("ja",), ("ja", "48"), ("ja", "48", "Nichts Besonderes.")])
def test_a_red_flag_interrupts_before_the_form_reads_anything(
    before: tuple[str, ...], say: Say, interviews: SqlInterviews
) -> None:
    say("/interview", *before)
    events = stored(interviews).events

    assert texts(say("Ich kriege keine Luft")) == [INTERFACE_TEXTS["de"]["urgent"]]
    assert stored(interviews).events == events


def test_a_red_flag_in_another_language_interrupts_too(say: Say) -> None:
    assert texts(say("/interview", "ja", "I can't breathe")) == [INTERFACE_TEXTS["en"]["urgent"]]


def test_a_german_sign_in_an_english_message_is_answered_in_english(say: Say) -> None:
    said = texts(say("/interview", "ja", "they had to give me adrenaline because I could not breathe last time"))

    assert INTERFACE_TEXTS["de"]["urgent"] not in said


def test_no_after_a_red_flag_is_no_answer_to_the_form(say: Say, interviews: SqlInterviews) -> None:
    say("/interview", "Ich kriege keine Luft")

    assert "Einverstanden?" in texts(say("nein"))
    assert stored(interviews).events == ()
    assert texts(say("nein"))[-1] == "Wie alt?"


def test_what_may_be_the_heart_is_asked_about_and_then_read_by_the_form(say: Say, interviews: SqlInterviews) -> None:
    say("/interview", "ja", "48")
    assert texts(say("Druck auf der Brust")) == [DE["urgent_chest_pain"], DE["chest_question"]]
    assert len(stored(interviews).events) == 2

    say(DE["chest_breast"])

    assert "Druck auf der Brust" in stored(interviews).events[-1]


@pytest.mark.parametrize("command", ["/help", "/easy", "/flag", "/staff"])
def test_a_command_leaves_the_way_out_of_an_alarm_open(say: Say, command: str) -> None:
    """The first choice must not become an answer to the form, such as "yes"."""
    say("/interview", "Druck auf der Brust")

    after = say(command)
    assert texts(after)[-1] == DE["is_emergency"]
    assert [part.text for part in after.choices] == [DE["chest_breast"]]
    assert DE["calmed_breast"] in texts(say(after.choices[0].text))


def test_an_answer_that_the_form_lists_is_read_once_it_is_no_emergency(open_chat: Callable[..., Conversation]) -> None:
    listed = [{"valueString": "Ich kriege keine Luft"}, {"valueString": "Nichts davon"}]
    conversation = open_chat(
        form(item("q", "choice", text="Was ist?", answerOption=listed), item("r", "string", text="R?"))
    )
    conversation.turn("/interview", at=NOW)

    assert texts(conversation.turn("Ich kriege keine Luft", at=NOW)) == [DE["urgent"], DE["is_emergency"]]
    assert texts(conversation.turn("nein", at=NOW))[-1] == "R?"


def test_after_a_pause_questions_are_answered_and_the_interview_goes_on_on_request(say: Say) -> None:
    assert texts(say("/interview", "ja", "Pause")) == [DE["paused"]]
    assert texts(say("tut das weh?")) == [PAIN, DE["sample_label"]]

    assert texts(say("weitermachen")) == [DE["resumed"], DE["progress"].format(number=2, total=3), "Wie alt?"]


def test_another_process_goes_on_where_the_patient_stopped(say: Say, open_chat: Callable[..., Conversation]) -> None:
    say("/interview", "ja")

    again = open_chat()

    assert texts(again.offer(at=NOW + timedelta(days=2)))[-1] == "Wie alt?"
    assert texts(again.turn("48", at=NOW + timedelta(days=2)))[-1] == "Was noch?"


def test_a_read_back_is_still_open_in_another_process(say: Say, open_chat: Callable[..., Conversation]) -> None:
    say("/interview", "ja", "ungefähr fünfzig")

    again = open_chat()
    assert texts(again.offer(at=NOW))[-1] == DE["read_back"].format(answer="50")
    assert texts(again.turn("ja", at=NOW))[-1] == "Was noch?"


def test_an_interview_goes_on_with_the_form_it_began_with(say: Say, open_chat: Callable[..., Conversation]) -> None:
    say("/interview", "ja")

    again = open_chat(form(item("other", "string", text="Etwas anderes?")))

    assert texts(again.offer(at=NOW))[-1] == "Wie alt?"


def test_a_finished_interview_can_be_corrected(say: Say, interviews: SqlInterviews) -> None:
    assert texts(say("/interview", "ja", "48", "überspringen", "ja")) == [DE["completed"]]
    assert '"status":"completed"' in stored(interviews).head
    assert texts(say("tut das weh?")) == [PAIN, DE["sample_label"]]  # the conversation goes on

    assert DE["done_already"] in texts(say("/interview"))
    assert texts(say("2", "49", "ja")) == [DE["completed"]]
    assert '"status":"amended"' in stored(interviews).head


def test_yes_and_no_are_understood_in_the_other_language_too(open_chat: Callable[..., Conversation]) -> None:
    translated = {"url": "http://hl7.org/fhir/StructureDefinition/translation", "extension": [
        {"url": "lang", "valueCode": "en"}, {"url": "content", "valueString": "Agreed?"}]}  # fmt: skip
    asked = form(
        item("consent", "boolean", text="Einverstanden?", _text={"extension": [translated]}),
        item("note", "text", text="Was noch?"),
        language="de",
    )
    conversation = open_chat(asked)
    conversation.turn("/interview", at=NOW)
    conversation.turn("Who pays for it?", at=NOW)

    assert texts(conversation.turn("ja", at=NOW))[-1] == "Was noch?"


GROUPED = form(
    item(
        "part",
        "group",
        item("first", "date", text="Wann zuerst?"),
        item("last", "date", text="Wann zuletzt?"),
        text="Teil",
    ),
    item("end", "boolean", text="Noch etwas?"),
)


@pytest.fixture
def checking(open_chat: Callable[..., Conversation]) -> Conversation:
    """A conversation in which two answers wait to be confirmed."""
    conversation = open_chat(GROUPED, "waits")
    for text_ in ("/interview", "am 3. März 75", "am 4. Mai 80"):
        reply = conversation.turn(text_, at=NOW)
    assert DE["check"] in [part.text for part in reply.parts]
    return conversation


def test_a_question_in_between_leaves_what_waits_to_be_confirmed_open(checking: Conversation) -> None:
    reply = checking.turn("Tut die Untersuchung weh?", at=NOW)

    texts = [part.text for part in reply.parts]
    assert PAIN.split(" (", maxsplit=1)[0] not in texts
    assert any("pain" in getattr(part, "pair_id", "") for part in reply.parts)
    assert DE["check"] in texts
    assert "Noch etwas?" in [part.text for part in checking.turn("ja", at=NOW).parts]


def test_an_alarm_confirms_nothing(checking: Conversation, interviews: SqlInterviews) -> None:
    checking.turn("Ich bekomme keine Luft", at=NOW)

    stored = interviews.interview("waits")
    assert stored is not None
    assert not any('"Given"' in event for event in stored.events)


def test_yes_in_the_other_language_confirms_too(checking: Conversation) -> None:
    assert "Noch etwas?" in [part.text for part in checking.turn("yes", at=NOW).parts]


def test_the_interview_begins_when_it_is_asked_for_in_words(say: Say) -> None:
    assert texts(say("Fragebogen ausfüllen"))[-1] == "Einverstanden?"


@pytest.mark.parametrize("word", ["weiter", "weitermachen"])
def test_a_paused_interview_goes_on_on_request(say: Say, word: str) -> None:
    say("/interview", "ja", "Pause", "tut das weh?")

    assert texts(say(word))[-1] == "Wie alt?"


def test_every_answer_is_on_disk_before_the_next_question(
    small: Assistant, tmp_path_factory: pytest.TempPathFactory
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('kept') / 'kept.db'}"
    real = SqlRecords.open(url)
    conversation = Conversation.open(
        small, real, _opened(), interviewer=Interviewer(dump(FORM), SqlInterviews(real.engine), "c1")
    )
    on_disk: list[int] = []

    for said in ("/interview", "ja", "ungefähr 48", "ja", "Ich bin zum ersten Mal hier."):
        conversation.turn(said, at=NOW)
        engine = create_engine(url)  # another connection: it sees committed rows only
        with engine.connect() as connection:
            on_disk.append(len(connection.execute(text("select 1 from interview_events")).all()))
        engine.dispose()

    real.close()
    assert on_disk == [0, 1, 1, 2, 3]


def test_who_goes_on_in_another_window_is_told(say: Say, open_chat: Callable[..., Conversation]) -> None:
    say("/interview", "ja")
    other = open_chat()
    other.offer(at=NOW)
    other.turn("48", at=NOW)

    with pytest.raises(BadData, match="another window"):
        say("49")


def test_the_interview_goes_on_in_the_language_of_a_question_in_between(
    open_chat: Callable[..., Conversation],
) -> None:
    translated = {"url": "http://hl7.org/fhir/StructureDefinition/translation", "extension": [
        {"url": "lang", "valueCode": "en"}, {"url": "content", "valueString": "How old?"}]}  # fmt: skip
    asked = form(item("age", "integer", text="Wie alt?", _text={"extension": [translated]}), language="de")
    conversation = open_chat(asked)
    conversation.turn("/interview", at=NOW)

    reply = conversation.turn("Who pays for it?", at=NOW)

    assert reply.language == "en"
    assert texts(reply)[-2:] == [EN["on_with"], "How old?"]


def test_a_form_that_cannot_be_asked_is_refused_when_the_chat_opens(open_chat: Callable[..., Conversation]) -> None:
    with pytest.raises(UserFixable, match="nothing of it can be asked"):
        open_chat(form(item("q", "hologram", text="?")))


@examples(12, 40)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=()), max_size=30)
        | st.sampled_from(
            ["1", "2", "ja", "nein", "/easy", "/flag", "/interview", "/help", "zurück", "Pause", "weitermachen",
             "ungefähr 48", "tut das weh?", "dauer und kosten?", "Druck auf der Brust", "does it hurt?", "ja bitte"]
        ),
        max_size=8,
    ),
    st.booleans(),
)  # fmt: skip
def test_any_turns_get_a_reply_that_passes_the_guard(
    small: Assistant, records: SqlRecords, turns: list[str], offered: bool
) -> None:
    id_ = f"any-{len(turns)}-{hash(tuple(turns))}-{offered}"
    conversation = Conversation.open(
        small, records, _opened(id_), interviewer=Interviewer(dump(FORM), SqlInterviews(records.engine), id_)
    )
    if offered:
        conversation.offer(at=NOW)

    replies: list[Any] = [conversation.turn(turn, at=NOW) for turn in turns]

    for reply in replies:
        assert reply.parts
        assert reply.parts[0].text not in (DE["safe"], EN["safe"])


@pytest.mark.parametrize("said", ["Ende", "quit", "/quit", "Tschüss", "goodbye", "beenden", "stopp"])
def test_who_wants_to_stop_pauses_the_questions_in_whatever_language(said: str, say: Say) -> None:
    assert texts(say("/interview", "ja", "44", said)) == [DE["paused"]]
    assert DE["resumed"] in texts(say("weiter"))


def test_who_asks_what_the_program_can_do_is_told_how_to_answer(say: Say) -> None:
    assert texts(say("/interview", "was kannst du?"))[0] == DE["how_to"]


def test_a_conversation_goes_on_from_its_stored_state_without_replaying_what_happened(
    open_chat: Callable[..., Conversation], say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    say("/interview", "ja")
    monkeypatch.setattr(Engine, "replay", lambda *_: pytest.fail("events were replayed"))

    again = open_chat()
    assert "Was noch?" in texts(again.turn("61", at=NOW))


@pytest.mark.parametrize("later", [timedelta(days=1), timedelta(0)])
def test_a_state_of_another_day_or_a_damaged_one_is_worked_out_anew(
    small: Assistant,
    records: SqlRecords,
    open_chat: Callable[..., Conversation],
    say: Say,
    monkeypatch: pytest.MonkeyPatch,
    later: timedelta,
) -> None:
    say("/interview", "ja")
    replayed: list[int] = []
    replay = Engine.replay

    def counted(engine: Engine, events: Iterable[Event]) -> Filling:
        replayed.append(1)
        return replay(engine, events)

    monkeypatch.setattr(Engine, "replay", counted)
    if not later:
        with records.engine.begin() as connection:
            head = connection.execute(text("SELECT head FROM interviews")).scalar_one()
            damaged = head.replace('"filling":{', '"filling":{"nonsense":[],', 1)
            assert damaged != head
            connection.execute(text("UPDATE interviews SET head = :head"), {"head": damaged})

    opened = replace(_opened(), begun=NOW + later)
    interviewer = Interviewer(dump(FORM), SqlInterviews(records.engine), "c1")
    again = Conversation.open(small, records, opened, interviewer=interviewer)

    assert "Was noch?" in texts(again.turn("61", at=NOW + later))
    assert replayed
