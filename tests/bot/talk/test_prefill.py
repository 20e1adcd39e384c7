"""What a patient answered before is proposed again, with where it is from, and counts once they say yes to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from bot import Assistant, UserFixable
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.interview_wiring import Interviewers
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, Reply
from bot.settings import Settings
from bot.talk.conversation import Conversation
from bot.talk.interviewing import House, Interviewer, parsed
from bot.talk.prefill import known_before
from tests.bot.interview.resources import Json, form, item

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
DE = SENTENCES["de"]
Open = Callable[..., Conversation]


def asked(**changes: Json) -> Json:
    """The form; `changes` by linkId."""
    place = item("place", "string", text="Wo war das?", enableWhen=[{"question": "before", "operator": "=", "answerBoolean": True}])  # fmt: skip
    items = {
        "consent": item("consent", "boolean", text="Einverstanden?"),
        "age": item("age", "integer", text="Wie alt?", required=True),
        "before": item("before", "boolean", text="Schon einmal?"),
        "place": place,
        "thinner": item("thinner", "boolean", text="Blutverdünner?"),
        "when": item("when", "date", text="Wann?"),
    }
    return form(*(items | changes).values(), url="https://klartext.example/fhir/Questionnaire/again")


@pytest.fixture
def open_chat(small: Assistant, records: SqlRecords) -> Open:
    """Open a conversation of a patient with the questions put by a house that proposes what is known."""
    interviews = SqlInterviews(records.engine)

    def open_(
        id_: str, patient: str | None = "P-1", questionnaire: Json | None = None, at: datetime = NOW
    ) -> Conversation:
        begun = StoredConversation(id_, at, "de", "terminal", patient=patient)
        house = House(known=partial(known_before, interviews, id_, patient))
        interviewer = Interviewer(dump(questionnaire or asked()), interviews, id_, house)
        return Conversation.open(small, records, begun, interviewer=interviewer)

    return open_


def say(conversation: Conversation, *texts: str, at: datetime = NOW) -> Reply:
    replies = [conversation.turn(text, at=at) for text in texts]
    return replies[-1]


def told(conversation: Conversation, *texts: str) -> list[str]:
    return [part.text for part in say(conversation, *texts).parts]


def first_time(open_chat: Open, *, to_the_end: bool = True) -> None:
    first = open_chat("first")
    say(first, "/interview", "ja", "51", "ja", "Klinik am See", "nein", "2024")
    if to_the_end:
        say(first, "ja")


def test_what_was_agreed_to_before_is_proposed_and_counts_only_after_a_yes(
    open_chat: Open, records: SqlRecords
) -> None:
    first_time(open_chat)
    again = open_chat("again")

    assert not any("letzten" in text for text in told(again, "/interview", "ja"))  # the age is asked anew
    assert DE["proposal_earlier_yes_no"].format(answer="Ja") in told(again, "52")
    stored = SqlInterviews(records.engine).interview("again")
    assert stored is not None
    assert not any("before" in event for event in stored.events)
    assert DE["proposal_earlier"].format(answer="„Klinik am See“") in told(
        again, "ja"
    )  # what depends on it is asked now
    assert DE["proposal_earlier"].format(answer="2024") in told(again, "ja", "nein")
    summary = told(again, "2026")
    assert any("2026" in text for text in summary)
    assert not any("2024" in text for text in summary)


def test_a_no_is_never_proposed(open_chat: Open) -> None:
    first_time(open_chat)

    shown = told(open_chat("again"), "/interview", "ja", "52", "ja", "ja")

    assert "Blutverdünner?" in shown
    assert not any("letzten" in text for text in shown)


@pytest.mark.parametrize("patient", [None, "P-2"])
def test_nothing_is_proposed_to_anybody_else(open_chat: Open, patient: str | None) -> None:
    first_time(open_chat)

    assert not any("letzten" in text for text in told(open_chat("again", patient), "/interview", "ja", "52"))


def test_what_was_not_agreed_to_is_not_proposed(open_chat: Open) -> None:
    first_time(open_chat, to_the_end=False)

    assert not any("letzten" in text for text in told(open_chat("again"), "/interview", "ja", "52"))


@pytest.mark.parametrize(
    "changed",
    [item("before", "boolean", text="Schon einmal anderswo?"), item("before", "string", text="Schon einmal?")],
    ids=["another text", "another type"],
)
def test_a_question_that_has_changed_is_asked_anew(open_chat: Open, changed: Json) -> None:
    first_time(open_chat)
    later = asked(before=changed, place=item("place", "string", text="Wo war das?"))

    again = open_chat("again", questionnaire=later)

    assert not any("letzten" in text for text in told(again, "/interview", "ja", "52"))


def test_it_is_known_to_another_process_until_the_end_and_then_forgotten(open_chat: Open, records: SqlRecords) -> None:
    first_time(open_chat)
    say(open_chat("again"), "/interview", "ja", "52")

    resumed = open_chat("again", at=NOW + timedelta(days=1))
    assert DE["proposal_earlier"].format(answer="„Klinik am See“") in told(resumed, "ja")
    say(resumed, "ja", "nein", "2026", "ja")

    stored = SqlInterviews(records.engine).interview("again")
    assert stored is not None
    assert "known" not in parsed(stored.head)


def test_it_is_off_unless_a_site_says_yes() -> None:
    assert not Settings.from_environment({}).prefill
    assert Settings.from_environment({"KLARTEXT_PREFILL": "yes"}).prefill
    with pytest.raises(UserFixable, match=r"KLARTEXT_PREFILL is 'on'\. Set it to one of: yes, no\."):
        Settings.from_environment({"KLARTEXT_PREFILL": "on"})


@pytest.mark.parametrize(("said", "proposed"), [("yes", True), ("no", False)])
def test_the_service_proposes_where_the_site_says_so(
    small: Assistant, records: SqlRecords, tmp_path: Path, said: str, proposed: bool
) -> None:
    environ = {"KLARTEXT_DATABASE_URL": str(records.engine.url), "KLARTEXT_PREFILL": said}
    settings = Settings.from_environment(environ, data=tmp_path)
    path = tmp_path / "form.json"
    path.write_text(dump(asked()), encoding="utf-8")
    interviewers = Interviewers.open(settings, small, exam="small", questionnaire=path, records=records)

    def open_(id_: str) -> Conversation:
        begun = StoredConversation(id_, NOW, "de", "terminal", patient="P-1")
        return Conversation.open(small, records, begun, interviewer=interviewers.of(id_))

    say(open_("first"), "/interview", "ja", "51", "ja", "Klinik am See", "nein", "2024", "ja")

    assert any("letzten" in text for text in told(open_("again"), "/interview", "ja", "52")) is proposed
