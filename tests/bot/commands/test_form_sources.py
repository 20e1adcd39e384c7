"""What comes to a form from outside: value sets from a terminology server, the launch context from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.catalog.fhir_files import read_launch
from bot.commands.main import app, assemble
from bot.errors import BadData
from bot.handover.handover import Context, export_of
from bot.interview.values.fhir_json import dump
from bot.interview_wiring import with_value_sets
from bot.settings import FhirAccess, Settings
from bot.talk.interviewing import House, Interviewer, launch_of
from bot.wiring import make_history
from tests.bot.adapters.test_sql_interviews import keep_in
from tests.bot.interview.resources import Json, form, item, said
from tests.bot.interview.walk.engine_steps import formula
from tests.terminology_service import BASE, Service, running

PATIENT: Json = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Muster", "given": ["Anna"]}],
    "gender": "female",
}
ASKED = form(
    item("food", "choice", text="Which food?", answerValueSet=BASE + "food"),
    item("sex", "string", text="Sex?", extension=[formula("initialExpression", "%patient.gender")]),
    item(
        "pregnant",
        "boolean",
        text="Pregnant?",
        extension=[formula("enableWhenExpression", "%patient.gender = 'female'")],
    ),
)
NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assemble()
    monkeypatch.setenv("KLARTEXT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("KLARTEXT_SEAL_KEY", "0123456789" * 3)


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as found:
        yield found


def write(path: Path, content: Any) -> str:
    path.write_text(content if isinstance(content, str) else dump(content), encoding="utf-8")
    return str(path)


def interview(tmp_path: Path, answers: str, *more: str, asked: Json = ASKED) -> tuple[Result, Json]:
    out = tmp_path / "r.json"
    files = ["--questionnaire", write(tmp_path / "q.json", asked), "--answers", write(tmp_path / "a.txt", answers)]
    result = CliRunner().invoke(app, ["interview", *files, "--out", str(out), "--lang", "en", *more])
    return result, json.loads(out.read_text()) if out.exists() else {}


def answers_in(made: Json) -> Json:
    return {each["linkId"]: each["answer"] for each in made.get("item", [])}


def test_without_either_the_interview_says_what_it_could_not_ask(tmp_path: Path) -> None:
    result, made = interview(tmp_path, "sex\tfemale\npregnant\tno")

    lines = [line for line in result.stderr.splitlines() if line.startswith("klartext: ")]
    assert [line.split(": ")[1] for line in lines] == ["food (Which food?)", "Questionnaire", "pregnant (Pregnant?)"]
    assert (made["status"], list(answers_in(made)), "subject" in made) == ("completed", ["sex", "pregnant"], False)


def test_value_sets_come_from_a_terminology_server_and_the_validator_asks_there_too(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, made = interview(tmp_path, "food\tMilk", "--terminology-server", service.url)

    assert "food" not in result.stderr
    assert answers_in(made)["food"][0]["valueCoding"]["code"] == "m"
    asked = len(service.asked)
    monkeypatch.setenv("KLARTEXT_TERMINOLOGY_SERVER", service.url)
    wrong = {**made, "item": [said("food", {"valueCoding": {"system": "http://example.org/codes", "code": "x"}})]}
    checked = [
        CliRunner().invoke(
            app, ["fhir", "validate", "--questionnaire", str(tmp_path / "q.json"), write(tmp_path / "x", each)]
        )
        for each in (made, wrong)
    ]
    assert [each.exit_code for each in checked] == [0, 1]
    assert len(service.asked) == asked, "what was fetched a moment ago is not asked for again"


def test_a_server_that_is_away_is_one_clear_line_and_the_rest_is_asked(tmp_path: Path) -> None:
    with running() as gone:
        pass

    result, made = interview(tmp_path, "sex\tfemale", "--terminology-server", gone.url)

    assert f"klartext: {BASE}food: the terminology server does not give it: it cannot be reached" in result.stderr
    assert made["status"] == "completed"


def test_an_address_that_cannot_be_used_ends_in_one_line(tmp_path: Path) -> None:
    result, _ = interview(tmp_path, "sex\tfemale", "--terminology-server", "http://tx.example.org")

    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_formulas_know_the_patient_and_the_response_is_about_them_by_id_and_never_by_name(tmp_path: Path) -> None:
    patient = write(tmp_path / "p.json", PATIENT)

    result, made = interview(tmp_path, "sex\tyes\npregnant\tno", "--patient", patient)

    assert "%patient" not in result.stderr
    assert "female" in result.stdout
    assert made["subject"] == {"reference": "Patient/p1"}
    assert "Muster" not in dump(made)
    male, made = interview(tmp_path, "sex\tyes", "--patient", write(tmp_path / "m.json", {**PATIENT, "gender": "male"}))
    assert "Pregnant?" not in male.stdout
    assert made["status"] == "completed"


CONTEXT = {
    "name": "context",
    "part": [{"name": "name", "valueString": "patient"}, {"name": "content", "resource": PATIENT}],
}


@pytest.mark.parametrize(
    "document",
    [
        {"patient": PATIENT},
        {"resourceType": "Parameters", "parameter": [{"name": "patient", "resource": PATIENT}]},
        {"resourceType": "Parameters", "parameter": [CONTEXT]},
    ],
    ids=["names", "Parameters", "populate"],
)
def test_the_launch_context_is_read_in_three_ways(tmp_path: Path, document: Json) -> None:
    assert read_launch(None, Path(write(tmp_path / "l.json", document))) == {"patient": PATIENT}


@pytest.mark.parametrize(
    "document", [{}, {"patient": {}}, {"a b": PATIENT}, PATIENT, {"resourceType": "Parameters"}, "[]", "no"]
)
def test_a_launch_context_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, document: Any) -> None:
    with pytest.raises(BadData, match=r"l\.json: ") as caught:
        read_launch(None, Path(write(tmp_path / "l.json", document)))
    assert "Muster" not in str(caught.value)


def test_what_is_no_patient_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="no Patient"):
        read_launch(Path(write(tmp_path / "p.json", {"resourceType": "Person"})), None)


def test_an_interview_keeps_its_launch_context_and_its_value_sets(tmp_path: Path, service: Service) -> None:
    settings = replace(Settings.from_environment(), terminology_url=service.url)
    notes: list[str] = []
    document = with_value_sets(settings, ASKED, tell=notes.append)
    records = SqlRecords.in_folder(tmp_path)
    interviews = SqlInterviews(records.engine)
    first = Interviewer(dump(document), interviews, "c1", House(launch={"patient": PATIENT}))
    first.start("en", at=NOW)
    change = first.change(at=NOW)
    assert change is not None
    keep_in(records, change.interview)

    again = Interviewer("{}", interviews, "c1")
    again.reopen(at=NOW)

    stored = interviews.interview("c1")
    assert stored is not None
    assert launch_of(stored) == {"patient": PATIENT}
    assert notes == []
    assert len(again.form.by_link_id["food"].options) == 3
    assert again.form.gaps == ()
    assert again.session is not None
    made = export_of(make_history(replace(settings, data=tmp_path)), "c1", Context(FhirAccess()), stored).interview
    assert made is not None
    assert "Muster" not in dump(made.response)
