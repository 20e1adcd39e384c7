"""From the first word of a patient to the FHIR server: interviews and questions, finished, corrected, or left."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot import Assistant, Settings
from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.errors import BadData, UserFixable
from bot.handover.bundle import make_bundle
from bot.handover.handover import Context, Handover, before_of, export_of, hand_over_rest
from bot.handover.outbox import push
from bot.interview.manners.session import Said
from bot.interview.manners.turn import Turn
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import dump
from bot.interview.walk.filling import Given
from bot.interview_wiring import Interviewers
from bot.ports import StoredConversation
from bot.sentences.reply import Reply
from bot.settings import FhirAccess
from bot.talk.conversation import Conversation
from bot.talk.interviewing import House, Interviewer
from tests.bot.handover.exports import EXTRACT, NOW, Json, entries, form, resources
from tests.bot.handover.fhir_process import fhir_process, stored
from tests.conftest import Run

WEIGHT: Json = {
    "linkId": "weight",
    "type": "integer",
    "text": "Wie viel wiegen Sie?",
    "required": True,
    "code": [{"system": "http://loinc.org", "code": "29463-7"}],
    "extension": [{"url": EXTRACT, "valueBoolean": True}],
}
ASKED = form(WEIGHT, {"linkId": "note", "type": "text", "text": "Noch etwas?"}, language="de")

OPENED = StoredConversation("c1", NOW, "de", "terminal")


class Visit:
    """A patient with an interview, an outbox, and a clock that moves on by a minute a turn."""

    def __init__(
        self, assistant: Assistant, records: SqlRecords, *, access: FhirAccess | None = None, asked: Json = ASKED
    ) -> None:
        self.records = records
        self.interviews = SqlInterviews(records.engine)
        self.outbox = SqlOutbox(records.engine)
        catalogs = tuple(assistant.catalog(language) for language in assistant.languages)
        context = Context(access or FhirAccess(url="http://127.0.0.1:9/fhir"), catalogs)
        self.handover = Handover("c1", context, records, self.outbox)
        self.at = NOW
        interviewer = Interviewer(dump(asked), self.interviews, "c1", House(self.handover.finished))
        self.conversation = Conversation.open(assistant, records, OPENED, interviewer=interviewer)

    def say(self, *turns: str) -> Reply:
        reply = Reply("de", ())
        for said in turns:
            self.at += timedelta(minutes=1)
            reply = self.conversation.turn(said, at=self.at)
        return reply

    def leave(self) -> None:
        self.at += timedelta(minutes=1)
        hand_over_rest(self.handover, self.interviews, at=self.at)

    def waiting(self) -> list[Json]:
        """Return the Bundles in the outbox."""
        with self.records.engine.connect() as connection:
            rows = connection.execute(text("select bundle from outbox order by id")).all()
        return [json.loads(row[0]) for row in rows]


@pytest.fixture
def visit(small: Assistant, records: SqlRecords) -> Visit:
    return Visit(small, records)


def _kinds(bundle: Json) -> list[str]:
    return [entry["resource"]["resourceType"] for entry in bundle["entry"]]


def _response(bundle: Json) -> Json:
    return next(
        entry["resource"] for entry in bundle["entry"] if entry["resource"]["resourceType"] == "QuestionnaireResponse"
    )


def test_agreeing_to_the_summary_puts_the_conversation_into_the_outbox(visit: Visit) -> None:
    visit.say("tut das weh?", "/interview", "70")
    assert visit.waiting() == []

    visit.say("nein", "ja")

    (bundle,) = visit.waiting()
    assert _response(bundle)["status"] == "completed"
    assert _kinds(bundle) == [
        "QuestionnaireResponse",
        "Observation",
        "Communication",
        "Communication",
        "Provenance",
        "AuditEvent",
    ]


def test_staff_are_told_of_a_required_question_that_the_chat_cannot_ask(small: Assistant, records: SqlRecords) -> None:
    unknown = {"linkId": "scan", "type": "hologram", "text": "Ihr Hologramm?", "required": True}
    visit = Visit(small, records, asked=form(WEIGHT, unknown, language="de"))

    visit.say("/interview", "70", "ja")

    (bundle,) = visit.waiting()
    assert _response(bundle)["status"] == "in-progress"
    tasks = [entry["resource"] for entry in bundle["entry"] if entry["resource"]["resourceType"] == "Task"]
    assert [task["reasonCode"]["text"] for task in tasks] == ["Item scan: the chat cannot ask it"]


def test_leaving_right_after_adds_nothing(visit: Visit) -> None:
    visit.say("/interview", "70", "nein", "ja")

    visit.leave()

    assert len(visit.waiting()) == 1


def test_questions_after_the_interview_follow_when_the_patient_leaves(visit: Visit) -> None:
    visit.say("/interview", "70", "nein", "ja", "dauer und kosten?")

    visit.leave()

    _, later = visit.waiting()
    assert "Communication" in _kinds(later)
    assert "Task" in _kinds(later)
    assert _response(later)["status"] == "completed"


def test_a_conversation_without_an_interview_is_handed_over_when_the_patient_leaves(visit: Visit) -> None:
    visit.say("tut das weh?")

    visit.leave()
    visit.leave()

    (bundle,) = visit.waiting()
    assert _kinds(bundle) == ["Communication", "Communication", "Provenance", "AuditEvent"]
    answers = [entry["resource"].get("payload") for entry in bundle["entry"][:2]]
    assert answers[1] == [{"contentString": "Tut die Untersuchung weh? (pain, de)"}]


def test_an_interview_that_is_broken_off_is_in_progress_and_nothing_is_drawn_from_it(visit: Visit) -> None:
    visit.say("/interview", "70")

    visit.leave()

    (bundle,) = visit.waiting()
    assert _response(bundle)["status"] == "in-progress"
    assert "Observation" not in _kinds(bundle)


def test_a_patient_who_says_nothing_leaves_nothing(visit: Visit) -> None:
    visit.leave()

    assert visit.waiting() == []


def test_if_the_outbox_fails_the_turn_is_not_half_stored(visit: Visit) -> None:
    visit.say("/interview", "70", "nein")
    with visit.records.engine.begin() as connection:
        full = "create trigger full before insert on outbox begin select raise(abort, 'the disk is full'); end"
        connection.execute(text(full))

    with pytest.raises(BadData, match="Open it again"):
        visit.say("ja")

    kept = visit.interviews.interview("c1")
    assert kept is not None
    assert '"finished"' not in kept.head


def test_answers_are_kept_even_if_no_bundle_can_be_made_of_them(
    small: Assistant, records: SqlRecords, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(SqlOutbox):
        def last_put(self, conversation: str) -> Any:
            raise RuntimeError("Geheimnis")

    visit = Visit(small, records)
    broken = replace(visit.handover, outbox=Broken(records.engine))
    interviewer = Interviewer(dump(ASKED), visit.interviews, "c1", House(broken.finished))
    visit.conversation = Conversation.open(small, records, OPENED, interviewer=interviewer)

    with caplog.at_level(logging.ERROR, logger="klartext"):
        visit.say("/interview", "70", "nein", "ja")

    kept = visit.interviews.interview("c1")
    assert kept is not None
    assert '"finished"' in kept.head
    assert "not handed over: RuntimeError" in caplog.text
    assert "Geheimnis" not in caplog.text


@pytest.fixture
def server() -> Iterator[str]:
    with fhir_process() as url:
        yield url


@pytest.mark.parametrize("ids", ["server", "client"])
def test_a_correction_reaches_the_server(ids: Any, small: Assistant, records: SqlRecords, server: str) -> None:
    visit = Visit(small, records, access=FhirAccess(url=server, ids=ids))
    fhir = HttpFhirServer(FhirAccess(url=server))
    visit.say("tut das weh?", "/interview", "70", "nein", "ja")
    assert push(visit.outbox, fhir, clock=lambda: visit.at).waiting == 0

    _correct(visit)
    assert push(visit.outbox, fhir, clock=lambda: visit.at).waiting == 0

    fhir.close()
    (made,) = stored(server, "QuestionnaireResponse")
    assert made["status"] == "amended"
    (observation,) = stored(server, "Observation")
    assert (observation["status"], observation["valueInteger"]) == ("amended", 72)
    assert len(stored(server, "Communication")) == 2
    assert len(stored(server, "Provenance")) == 2


def _correct(visit: Visit) -> None:
    """The patient comes back, changes the weight and agrees again."""
    kept = visit.interviews.interview("c1")
    assert kept is not None
    interviewer = Interviewer(dump(ASKED), visit.interviews, "c1", House(visit.handover.finished))
    interviewer.start("de", at=visit.at)
    assert interviewer.session is not None
    asked = interviewer.interview(visit.at)
    before = interviewer.session
    event = Given((("weight", 0),), (Answer("integer", 72),))
    opened = asked.open(replace(before, events=(*before.events, event)))
    changed = replace(opened, talk=replace(opened.talk, phase="summary"))
    visit.at += timedelta(hours=1)
    _keep(visit, interviewer, Turn(changed, Said("de", ())))
    visit.at += timedelta(minutes=1)
    _keep(visit, interviewer, asked.turn(changed, "ja"))


def _keep(visit: Visit, interviewer: Interviewer, turn: Turn) -> None:
    interviewer.take(turn)
    change = interviewer.change(at=visit.at)
    assert change is not None
    asked = visit.records.last_turn("c1")
    assert asked is not None
    assert asked.exchange is not None
    place = replace(asked.exchange, number=asked.exchange.number + 1, turn_id=visit.at.isoformat())
    visit.records.add_turn(replace(asked, at=visit.at, decision="talk", exchange=place), interview=change)
    interviewer.stored(change)


def test_an_export_is_the_same_whenever_it_is_made(visit: Visit) -> None:
    visit.say("tut das weh?", "/interview", "70", "nein", "ja")
    context = visit.handover.context

    def export() -> Json:
        kept = visit.interviews.interview("c1")
        return dict(make_bundle(export_of(visit.records, "c1", context, kept)).bundle)

    assert export() == export()
    assert export()["timestamp"] == "2026-11-01T12:05:00.000Z"


def test_an_export_after_a_correction_corrects_what_was_sent(visit: Visit) -> None:
    visit.say("tut das weh?", "/interview", "70", "nein", "ja")
    _correct(visit)

    found = export_of(visit.records, "c1", Context(FhirAccess()), visit.interviews.interview("c1"))
    before = before_of(found)
    made = make_bundle(found, before, complete=True)

    assert before is not None
    assert (before.status, found.status) == ("completed", "amended")
    requests = {each["resource"]["resourceType"]: each["request"] for each in entries(made)}
    (observation,) = resources(made, "Observation")
    assert (observation["status"], observation["valueInteger"]) == ("amended", 72)
    for kind in ("QuestionnaireResponse", "Observation"):
        assert requests[kind]["method"] == "PUT"
        assert requests[kind]["url"].startswith(f"{kind}?identifier=")
    assert requests["Communication"]["method"] == "POST"


def test_an_unknown_conversation_is_told(records: SqlRecords) -> None:
    with pytest.raises(BadData, match="There is no conversation 'c9'"):
        export_of(records, "c9", Context(FhirAccess()))


def test_a_patient_has_an_identifier_in_the_configured_system(visit: Visit) -> None:
    visit.say("tut das weh?")
    known = Context(FhirAccess(patient_system="https://clinic.example/patients"), (), "4711")

    exported = export_of(visit.records, "c1", known)

    assert exported.patient == {
        "type": "Patient",
        "identifier": {"system": "https://clinic.example/patients", "value": "4711"},
    }
    assert exported.exchanges[0].answer == ""
    with pytest.raises(UserFixable, match="KLARTEXT_FHIR_PATIENT_SYSTEM is not set"):
        export_of(visit.records, "c1", Context(FhirAccess(), (), "4711"))


def _kept(folder: Path, small: Assistant) -> None:
    records = SqlRecords.in_folder(folder)
    visit = Visit(small, records)
    visit.say("tut das weh?", "dauer und kosten?")
    visit.leave()
    records.close()


def test_export_writes_a_bundle_that_only_its_owner_may_read(
    klartext: Run, tmp_path: Path, small: Assistant, small_folder: Path
) -> None:
    _kept(tmp_path, small)
    out = tmp_path / "bundle.json"

    done = klartext("fhir", "export", "c1", "--out", out, "--catalog", small_folder, "--data", tmp_path)

    assert done.returncode == 0, done.stderr
    assert _kinds(json.loads(out.read_bytes())).count("Communication") == 3
    assert out.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["export", "c9", "--out", "{out}"], "There is no conversation 'c9'"),
        (["export", "c1", "--out", "/no/such/folder/b.json"], "Choose another `--out`"),
        (["export", "c1", "--out", "{out}", "--patient", "4711"], "KLARTEXT_FHIR_PATIENT_SYSTEM is not set"),
        (["push"], "No FHIR server is set"),
        (["push", "--server", "http://fhir.example.org"], "is not encrypted"),
    ],
)
def test_bad_usage_is_told_in_one_line(
    args: list[str], error: str, klartext: Run, tmp_path: Path, small: Assistant
) -> None:
    _kept(tmp_path, small)

    done = klartext("fhir", *(arg.format(out=tmp_path / "b.json") for arg in args), "--data", tmp_path)

    assert done.returncode == 2
    assert error in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == 1


def test_credentials_are_not_shown_to_another_server(klartext: Run, tmp_path: Path) -> None:
    environ = {"KLARTEXT_FHIR_URL": "https://fhir.example.org", "KLARTEXT_FHIR_CLIENT_SECRET": "geheim"}

    done = klartext("fhir", "push", "--server", "http://127.0.0.1:9/fhir", "--data", tmp_path, environ=environ)

    assert done.returncode == 2
    assert b"are not shown to another server" in done.stderr
    assert b"geheim" not in done.stderr


def test_push_sends_and_its_exit_code_tells_whether_something_waits(
    klartext: Run, tmp_path: Path, small: Assistant, server: str
) -> None:
    _kept(tmp_path, small)
    push_: Callable[[str], Any] = lambda url: klartext("fhir", "push", "--server", url, "--data", tmp_path)  # noqa: E731

    away = push_(server.replace("/fhir", "/nowhere"))
    there = push_(server)
    again = push_(server)

    assert (away.returncode, away.stdout) == (1, b"0 sent, 1 waiting\n")
    assert away.stderr == b"not taken: no FHIR endpoint (404)\n"
    assert (there.returncode, there.stdout) == (0, b"1 sent, 0 waiting\n")
    assert (again.returncode, again.stdout) == (0, b"0 sent, 0 waiting\n")
    assert len(stored(server, "Communication")) == 3


@pytest.mark.parametrize(("environ", "expected"), [({}, 0), ({"KLARTEXT_FHIR_URL": "https://fhir.example.org"}, 1)])
def test_a_chat_is_kept_for_a_server_only_if_one_is_set(
    environ: dict[str, str], expected: int, klartext: Run, tmp_path: Path, small_folder: Path
) -> None:
    asked = b"tut die Untersuchung weh?\n/quit\n"

    database = f"sqlite:///{tmp_path / 'records.db'}"
    done = klartext(
        "chat", "--catalog", small_folder, stdin=asked, environ={**environ, "KLARTEXT_DATABASE_URL": database}
    )

    assert done.returncode == 0, done.stderr
    records = SqlRecords.open(database)
    assert SqlOutbox(records.engine).waiting() == expected
    records.close()


def test_the_patient_of_a_link_is_named_in_what_is_handed_over(small: Assistant, tmp_path: Path) -> None:
    access = FhirAccess(url="http://127.0.0.1:9/fhir", patient_system="urn:hospital")
    settings = Settings(data=tmp_path, fhir=access)
    records = SqlRecords.in_folder(tmp_path)
    for id_, patient in (("known", "P-4711"), ("unknown", None)):
        records.begin(replace(OPENED, id=id_, patient=patient))
    interviewers = Interviewers.open(settings, small, exam="small", records=records)

    named = {id_: interviewers.handover(id_) for id_ in ("known", "unknown", "never")}

    assert {id_: made.context.patient_id for id_, made in named.items() if made} == {
        "known": "P-4711",
        "unknown": "",
        "never": "",
    }
    records.close()


def test_who_ends_a_conversation_leaves_its_questions_in_the_outbox(small: Assistant, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, fhir=FhirAccess(url="http://127.0.0.1:9/fhir"))
    records = SqlRecords.in_folder(tmp_path)
    Conversation.begin(small, records, OPENED).turn("tut das weh?", at=NOW)
    interviewers = Interviewers.open(settings, small, exam="small", records=records)

    for _ in range(2):
        interviewers.left("c1", at=NOW)
    interviewers.left("never", at=NOW)

    assert interviewers.outbox.waiting() == 1
    records.close()


def test_a_conversation_ends_even_if_it_cannot_be_handed_over(
    small: Assistant, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(data=tmp_path, fhir=FhirAccess(url="http://127.0.0.1:9/fhir"))
    records = SqlRecords.in_folder(tmp_path)
    Conversation.begin(small, records, replace(OPENED, patient="P-4711")).turn("tut das weh?", at=NOW)

    with caplog.at_level(logging.ERROR):
        Interviewers.open(settings, small, exam="small", records=records).left("c1", at=NOW)

    assert "conversation not handed over: UserFixable" in caplog.text
    assert "P-4711" not in caplog.text
    records.close()
