"""Amounts that a form calculates: the interview completes with them, and the validator has nothing to say."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.commands.main import app, assemble
from bot.interview.values.fhir_json import dump
from tests.bot.interview.resources import CORE, UCUM, Json, amount, form, item
from tests.bot.interview.walk.engine_steps import formula


@pytest.fixture(autouse=True)
def _installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assemble()
    monkeypatch.setenv("KLARTEXT_DATA", str(tmp_path / "data"))


def unit(code: str, display: str) -> Json:
    return {"url": CORE + "questionnaire-unitOption", "valueCoding": {"system": UCUM, "code": code, "display": display}}


def limit(which: str, value: int, code: str) -> Json:
    name = f"{which}Quantity"
    return {
        "url": f"http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-{name}",
        "valueQuantity": amount(value, code),
    }


WEIGHT, HEIGHT = (f"%resource.item.where(linkId='{name}').answer.value" for name in ("weight", "height"))


def computed(link_id: str, expression: str, *more: Json) -> Json:
    return item(
        link_id, "quantity", text=link_id, readOnly=True, extension=[formula("calculatedExpression", expression), *more]
    )


ASKED = form(
    item("weight", "quantity", text="Weight?", extension=[unit("kg", "Kilogramm")]),
    item("height", "quantity", text="Height?", extension=[unit("m", "m")]),
    computed("double", f"{WEIGHT} * 2", unit("kg", "Kilogramm"), limit("min", 10000, "g"), limit("max", 500, "kg")),
    computed("free", f"{WEIGHT} * 2"),
    computed("grams", f"({WEIGHT} + 500 'g').toQuantity('g')", limit("max", 200, "kg")),
    computed("bmi", f"({WEIGHT} / ({HEIGHT} * {HEIGHT})).round(1)", unit("kg/m2", "kg/m²"), limit("min", 5, "kg/m2")),
    computed("span", "1 month + 1 week", unit("d", "Tage"), limit("max", 6, "wk")),
    computed("course", "2 * 1 month", unit("mo", "mo")),
    computed("share", "5 'mg' / 10 'mg'", limit("max", 1, "1")),
)  # fmt: skip
EXPECTED = {
    "double": amount(140, "kg", "Kilogramm"),
    "free": amount(140, "kg", "Kilogramm"),
    "grams": amount(70500, "g"),
    "bmi": amount("22.9", "kg/m2", "kg/m²"),
    "span": amount(37, "d", "Tage"),
    "course": amount(2, "mo"),
    "share": amount("0.5", "1"),
}


def test_an_interview_with_computed_amounts_completes_and_is_valid(tmp_path: Path) -> None:
    form_file, answers, out = (tmp_path / name for name in ("q.json", "a.txt", "r.json"))
    form_file.write_text(dump(ASKED), encoding="utf-8")
    answers.write_text("weight\t70 kg\nheight\t1.75 m\n", encoding="utf-8")
    files = ["--questionnaire", str(form_file), "--answers", str(answers), "--out", str(out), "--lang", "en"]

    talked = CliRunner().invoke(app, ["interview", *files])
    checked = CliRunner().invoke(app, ["fhir", "validate", str(out), "--questionnaire", str(form_file), "--json"])

    made: Json = json.loads(out.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Decimal)
    found: dict[str, Any] = {each["linkId"]: each["answer"][0]["valueQuantity"] for each in made["item"]}
    assert (talked.exit_code, made["status"]) == (0, "completed")
    assert {name: found.get(name) for name in EXPECTED} == EXPECTED
    assert checked.exit_code == 0
    issues = [issue for outcome in _outcomes(json.loads(checked.stdout)) for issue in outcome["issue"]]
    assert [issue["details"]["text"] for issue in issues if issue["severity"] in {"error", "warning"}] == []


def _outcomes(told: Json) -> list[Json]:
    return [each["resource"] for each in told["entry"]] if "entry" in told else [told]
