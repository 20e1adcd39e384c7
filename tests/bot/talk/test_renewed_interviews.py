"""Interviews that were begun with an earlier version of the questions go on with the later one: in a real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot import Assistant
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.catalog.fhir_files import shipped_migrations
from bot.handover.handover import Context, Handover, export_of
from bot.interview.values.fhir_json import dump
from bot.interview.walk.filling import Filling
from bot.interview_wiring import Interviewers
from bot.ports import StoredConversation, StoredInterview
from bot.sentences.reply import SENTENCES, Reply
from bot.settings import FhirAccess, Settings
from bot.talk.conversation import Conversation
from bot.talk.interviewing import House, Interviewer, asked_form, session_of
from tests.bot.interview.chat import mammography

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
TOMORROW = NOW + timedelta(days=2)
BEFORE = json.loads((Path(__file__).parents[2] / "data" / "mammography-history-2026.1.json").read_text("utf-8"))
MIGRATIONS = shipped_migrations("mammography-history")
DE = SENTENCES["de"]
# What a patient says on the earlier version, to where she stops: the question is open what was done to her breast.
BEGUN = ("/interview", "ja", "52", "nein", "nein", "nein", "nein")
Open = Callable[..., Conversation]


@pytest.fixture
def interviews(records: SqlRecords) -> SqlInterviews:
    return SqlInterviews(records.engine)


@pytest.fixture
def outbox(records: SqlRecords) -> SqlOutbox:
    return SqlOutbox(records.engine)


@pytest.fixture
def handover(records: SqlRecords, outbox: SqlOutbox) -> Handover:
    access = FhirAccess(url="http://localhost/fhir")
    return Handover("c1", Context(access, ()), records, outbox)


@pytest.fixture
def open_chat(small: Assistant, records: SqlRecords, interviews: SqlInterviews) -> Open:
    """Open the conversation as a new process would, with the questions that the service asks."""

    def open_(form: Any, *, migrations: Any = MIGRATIONS, hand_over: Any = None, at: datetime = NOW) -> Conversation:
        opened = StoredConversation("c1", at, "de", "terminal")
        who = Interviewer(dump(form), interviews, "c1", House(hand_over, migrations=migrations))
        return Conversation.open(small, records, opened, interviewer=who)

    return open_


def say(chat: Conversation, *texts: str, at: datetime = NOW) -> Reply:
    return [chat.turn(said, at=at) for said in texts][-1]


def texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


def stored(interviews: SqlInterviews) -> StoredInterview:
    found = interviews.interview("c1")
    assert found is not None
    return found


def answers(interviews: SqlInterviews) -> dict[str, list[Any]]:
    """What stands in the interview as it is stored, by linkId: codes and values."""
    who = Interviewer(dump(mammography()), interviews, "c1")
    who.reopen(at=TOMORROW)
    assert who.session is not None
    filling: Filling = who.session.filling
    found: dict[str, list[Any]] = {}
    for path, given in filling.answers.items():
        found.setdefault(path[-1][0], []).extend(
            each.value["code"] if isinstance(each.value, dict) else each.value for each in given
        )
    return found


def test_a_running_interview_goes_on_with_the_later_version_when_it_is_resumed(
    open_chat: Open, interviews: SqlInterviews
) -> None:
    say(open_chat(BEFORE), *BEGUN)
    before = stored(interviews)

    reply = open_chat(mammography()).turn("/interview", at=TOMORROW)

    said = texts(reply)
    assert said[0] == DE["renewed"]
    assert said[1].startswith("Dürfen wir Ihre Antworten speichern und lesen, um")
    assert said[2].startswith("Haben Sie an Brust oder Achsel etwas bemerkt")
    assert said[3].startswith("Haben oder hatten Sie selbst Krebs")
    assert said[-1] == said[1]  # the consent is what is open
    now = stored(interviews)
    assert now.events[: len(before.events)] == before.events
    assert (now.form, json.loads(asked_form(now))["version"]) == (before.form, "2026.2")
    assert answers(interviews) == {"age": [52], "interpreter": [False], "mammogram-before": ["373067005"]}


def test_only_what_is_new_or_asked_again_is_asked(open_chat: Open, interviews: SqlInterviews) -> None:
    say(open_chat(BEFORE), *BEGUN)
    chat = open_chat(mammography())
    say(chat, "/interview", "ja", at=TOMORROW)
    for _ in range(60):
        if chat.stage == "summary":
            break
        assert not [each for each in texts(say(chat, "überspringen", at=TOMORROW)) if each.startswith("Wie alt")]

    assert say(chat, "ja", at=TOMORROW)
    assert answers(interviews)["age"] == [52]


def test_an_answer_that_comes_first_is_taken_on_the_earlier_version_and_kept(
    open_chat: Open, interviews: SqlInterviews
) -> None:
    say(open_chat(BEFORE), *BEGUN[:-4])
    chat = open_chat(mammography())

    reply = say(chat, "ja", at=NOW)  # the page still shows: Brauchen Sie jemanden, der für Sie übersetzt?

    assert texts(reply)[0] == DE["renewed"]
    assert answers(interviews) == {"age": [52], "interpreter": [True]}
    assert json.loads(asked_form(stored(interviews)))["version"] == "2026.2"


@pytest.mark.parametrize("said", ["Tut das weh?", "danke", "112"])
def test_a_question_or_a_thanks_in_between_leaves_it_on_the_earlier_version(
    open_chat: Open, interviews: SqlInterviews, said: str
) -> None:
    say(open_chat(BEFORE), *BEGUN)
    events = stored(interviews).events

    open_chat(mammography()).turn(said, at=NOW)

    assert stored(interviews).events[: len(events)] == events
    assert json.loads(asked_form(stored(interviews)))["version"] in ("2026.1", "2026.2")


def test_an_alarm_comes_before_the_later_version(open_chat: Open, interviews: SqlInterviews) -> None:
    say(open_chat(BEFORE), *BEGUN)

    reply = say(open_chat(mammography()), "ich will mich umbringen", at=NOW)

    assert DE["renewed"] not in texts(reply)
    assert json.loads(asked_form(stored(interviews)))["version"] == "2026.1"


def test_nobody_agrees_to_the_summary_of_an_earlier_version(open_chat: Open, interviews: SqlInterviews) -> None:
    chat = open_chat(BEFORE)
    say(chat, "/interview", "ja", "70")
    to_summary(chat, NOW)

    reply = say(open_chat(mammography()), "ja", at=NOW)

    assert texts(reply)[0] == DE["renewed"]
    assert session_of(stored(interviews)).status == "in-progress"


def test_a_killed_process_loses_nothing_of_a_renewed_interview(open_chat: Open, interviews: SqlInterviews) -> None:
    say(open_chat(BEFORE), *BEGUN)
    say(open_chat(mammography()), "/interview", "ja", "Früherkennung", at=TOMORROW)
    before = answers(interviews)

    again = open_chat(mammography())

    assert before["reason"] == ["reason-screening"]
    assert texts(say(again, "/interview", at=TOMORROW))[0] == DE["resumed"]
    assert answers(interviews) == before


def test_without_a_migration_an_interview_keeps_the_form_that_it_began_with(
    open_chat: Open, interviews: SqlInterviews
) -> None:
    say(open_chat(BEFORE), *BEGUN)

    reply = say(open_chat(mammography(), migrations=()), "/interview", at=TOMORROW)

    assert texts(reply)[0] == DE["resumed"]
    assert json.loads(asked_form(stored(interviews)))["version"] == "2026.1"


@pytest.mark.parametrize("version", ["2026.0", "2027.1"])
def test_a_migration_is_for_its_own_versions_only(open_chat: Open, version: str) -> None:
    say(open_chat({**BEFORE, "version": version}), *BEGUN)

    assert texts(say(open_chat(mammography()), "/interview", at=TOMORROW))[0] == DE["resumed"]


def test_after_a_no_what_was_answered_before_is_deleted(
    open_chat: Open, interviews: SqlInterviews, records: SqlRecords
) -> None:
    say(open_chat(BEFORE), *BEGUN[:3])
    say(open_chat(mammography()), "/interview", at=TOMORROW)
    assert "52" in " ".join(stored(interviews).events)

    say(open_chat(mammography()), "nein", at=TOMORROW)

    assert answers(interviews) == {"consent": [False]}
    left = stored(interviews)
    assert not [event for event in left.events if "52" in event]
    with records.engine.connect() as connection:
        rows = connection.execute(text("SELECT event FROM interview_events")).scalars().all()
    assert len(rows) == len(left.events) < 6
    assert json.loads(left.form)["version"] == "2026.2"
    assert say(open_chat(mammography()), "ja", at=TOMORROW)  # and can still be agreed to
    assert session_of(stored(interviews)).status == "completed"


def completed(open_chat: Open, handover: Handover) -> None:
    """A woman of seventy answers the earlier version, and agrees to the summary."""
    chat = open_chat(BEFORE, hand_over=handover.finished)
    say(chat, "/interview", "ja", "70")
    to_summary(chat, NOW)
    say(chat, "ja")


def to_summary(chat: Conversation, at: datetime) -> None:
    for _ in range(80):
        if chat.stage == "summary":
            return
        say(chat, "überspringen", at=at)
    pytest.fail("no end")


def corrected(open_chat: Open, handover: Handover) -> tuple[Conversation, Reply]:
    """She corrects her age when the service asks the later version; the reply is what that came to."""
    chat = open_chat(mammography(), hand_over=handover.finished)
    assert "Wie alt sind Sie?" in texts(say(chat, "Antwort 2 ändern", at=TOMORROW))
    return chat, say(chat, "71", at=TOMORROW)


def test_a_completed_interview_stays_as_it_is_until_it_is_corrected(
    open_chat: Open, interviews: SqlInterviews, handover: Handover
) -> None:
    completed(open_chat, handover)

    again = open_chat(mammography(), hand_over=handover.finished)
    assert texts(say(again, "/interview", at=TOMORROW))[0] == DE["done_already"]
    assert json.loads(asked_form(stored(interviews)))["version"] == "2026.1"

    again, reply = corrected(open_chat, handover)
    assert texts(reply)[0] == DE["renewed"]
    assert answers(interviews)["age"] == [71]

    say(again, "ja", "Früherkennung", at=TOMORROW)
    to_summary(again, TOMORROW)
    say(again, "ja", at=TOMORROW)
    assert session_of(stored(interviews)).status == "amended"


def test_an_export_knows_what_was_sent_on_the_earlier_version(
    open_chat: Open, interviews: SqlInterviews, handover: Handover, outbox: SqlOutbox
) -> None:
    completed(open_chat, handover)
    again, _ = corrected(open_chat, handover)
    say(again, "ja", "Früherkennung", at=TOMORROW)
    to_summary(again, TOMORROW)
    say(again, "ja", at=TOMORROW)

    found = export_of(handover.history, "c1", handover.context, stored(interviews))

    assert found.interview is not None
    versions = [each.response["questionnaire"] for each in (*found.earlier, found.interview)]
    assert [str(each).rpartition("|")[2] for each in versions] == ["2026.1", "2026.2"]
    assert [each.response["status"] for each in (*found.earlier, found.interview)] == ["completed", "amended"]
    bundles = [json.loads(entry.bundle) for entry in outbox.entries("c1")]
    sent = [
        entry["resource"]["questionnaire"]
        for bundle in bundles
        for entry in bundle["entry"]
        if entry["resource"]["resourceType"] == "QuestionnaireResponse"
    ]
    assert [each.rpartition("|")[2] for each in sent] == ["2026.1", "2026.2"]


def test_after_a_no_to_an_amendment_what_was_sent_is_taken_back_and_then_deleted(
    open_chat: Open, interviews: SqlInterviews, handover: Handover, outbox: SqlOutbox
) -> None:
    completed(open_chat, handover)
    again, _ = corrected(open_chat, handover)

    say(again, "nein", at=TOMORROW)
    assert len(session_of(stored(interviews)).past) > 0  # it is not yet known whether she means it
    say(again, "ja", at=TOMORROW)

    assert answers(interviews) == {"consent": [False]}
    assert not [event for event in stored(interviews).events if "70" in event or "71" in event]
    assert len(outbox.entries("c1")) == 2
    last = json.loads(outbox.entries("c1")[-1].bundle)
    responses = [
        each["resource"] for each in last["entry"] if each["resource"]["resourceType"] == "QuestionnaireResponse"
    ]
    assert [[item["linkId"] for item in each["item"]] for each in responses] == [["consent"]]


def test_to_look_at_a_completed_interview_and_agree_again_changes_nothing(
    open_chat: Open, interviews: SqlInterviews, handover: Handover, outbox: SqlOutbox
) -> None:
    completed(open_chat, handover)
    again = open_chat(mammography(), hand_over=handover.finished)

    say(again, "/interview", "ja", "/interview", at=TOMORROW)

    assert json.loads(asked_form(stored(interviews)))["version"] == "2026.1"
    assert session_of(stored(interviews)).status == "completed"


def test_the_service_takes_the_migrations_beside_its_questionnaire(
    small: Assistant, records: SqlRecords, tmp_path: Path
) -> None:
    own = tmp_path / "own.json"
    own.write_text(dump(mammography()), encoding="utf-8")
    (tmp_path / "own.migration.yaml").write_text("questionnaire: x\nfrom: '1'\nto: '2'\n", encoding="utf-8")
    settings = Settings(tmp_path)

    shipped = Interviewers.open(settings, small, exam="mammography", records=records)
    site = Interviewers.open(settings, small, exam="mammography", questionnaire=own, records=records)
    (tmp_path / "own.migration.yaml").unlink()
    without = Interviewers.open(settings, small, exam="mammography", questionnaire=own, records=records)

    assert [(each.earlier, each.later) for each in shipped.migrations] == [("2026.1", "2026.2")]
    assert [(each.earlier, each.later) for each in site.migrations] == [("1", "2")]
    assert list(without.migrations) == []
