"""`klartext fhir validate` keeps its contract: one outcome per file, in order, and the exit code says the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.commands.main import app, assemble
from bot.interview.values.fhir_json import dump
from tests.bot.interview.resources import URL, coding, form, item, response, said, value_set

MAX_VALUE = "http://hl7.org/fhir/StructureDefinition/maxValue"
FORM = form(item("a", "integer", required=True))
GOOD = response(said("a", {"valueInteger": 3}))
BAD = response(said("a", {"valueString": "drei"}))


@pytest.fixture(autouse=True)
def _commands() -> None:
    assemble()


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def put(name: str, document: Any) -> str:
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else dump(document), encoding="utf-8")
        return str(path)

    return put


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["fhir", "validate", *arguments])


def outcomes(result: Result) -> list[list[str]]:
    """Return the severities of each OperationOutcome, in order."""
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert {outcome["resourceType"] for outcome in found} == {"OperationOutcome"}
    return [[issue["severity"] for issue in outcome["issue"]] for outcome in found]


def test_each_file_gets_one_outcome_in_order_and_any_error_exits_with_1(write: Any) -> None:
    questionnaire, good, bad = write("q.json", FORM), write("good.json", GOOD), write("bad.json", BAD)

    result = run("--questionnaire", questionnaire, "--json", good, bad, questionnaire)

    assert result.exit_code == 1
    assert outcomes(result) == [["information"], ["error"], ["information"]]


def test_without_errors_the_exit_code_is_0(write: Any) -> None:
    result = run("--questionnaire", write("q.json", FORM), write("good.json", GOOD))

    assert result.exit_code == 0
    assert "good.json: valid" in result.stdout


def test_the_table_names_severity_place_and_rule_but_not_the_answer(write: Any) -> None:
    result = run("--questionnaire", write("q.json", FORM), write("bad.json", BAD))

    assert result.exit_code == 1
    assert "1 error" in result.stdout
    assert "item[0].answer[0]" in result.stdout
    assert "drei" not in result.stdout


def test_defects_of_the_questionnaire_do_not_change_the_exit_code_for_the_response(write: Any) -> None:
    broken = write("q.json", {**FORM, "status": "nonsense"})

    result = run("--questionnaire", broken, "--json", write("good.json", GOOD))

    assert result.exit_code == 0
    assert outcomes(result) == [["information"]]
    assert "1 errors" in result.stdout


def test_a_questionnaire_that_cannot_be_found_is_a_warning(write: Any) -> None:
    result = run("--json", write("r.json", {**GOOD, "questionnaire": "http://example.org/elsewhere"}))

    assert result.exit_code == 0
    assert outcomes(result) == [["warning"]]


@pytest.mark.parametrize(("version", "expected"), [("|2.0", ["error"]), ("|1.0", ["warning"]), ("", ["error"])])
def test_a_version_that_is_named_must_be_the_one_at_hand(write: Any, version: str, expected: list[str]) -> None:
    questionnaire = write("q.json", {**FORM, "version": "2.0"})

    result = run("--json", "--questionnaire", questionnaire, write("bad.json", {**BAD, "questionnaire": URL + version}))

    assert outcomes(result) == [expected]


def test_a_questionnaire_without_a_version_stands_for_any(write: Any) -> None:
    result = run(
        "--json", "--questionnaire", write("q.json", FORM), write("r.json", {**BAD, "questionnaire": URL + "|7"})
    )

    assert outcomes(result) == [["error"]]


def test_the_questionnaire_of_a_response_may_be_among_the_files(write: Any) -> None:
    result = run("--json", write("bad.json", BAD), write("q.json", FORM))

    assert result.exit_code == 1
    assert outcomes(result)[0] == ["error"]


def test_the_questionnaire_of_a_response_may_be_contained_in_it(write: Any) -> None:
    inside = {**{name: value for name, value in FORM.items() if name != "url"}, "id": "q"}

    result = run("--json", write("bad.json", {**BAD, "questionnaire": "#q", "contained": [inside]}))

    assert outcomes(result) == [["error"]]


def test_the_questionnaire_of_a_response_may_be_shipped(write: Any) -> None:
    shipped = "https://klartext.example/fhir/Questionnaire/mammography-history"

    result = run("--json", write("r.json", response(said("no-such-item"), questionnaire=shipped)))

    assert result.exit_code == 1
    assert "The Questionnaire has no item 'no-such-item'" in result.stdout


def test_a_questionnaire_without_an_address_is_used_when_it_is_named(write: Any) -> None:
    nameless = {name: value for name, value in FORM.items() if name != "url"}

    result = run("--json", "--questionnaire", write("q.json", nameless), write("bad.json", BAD))

    assert outcomes(result) == [["error"]]


def test_value_sets_are_taken_from_files_and_folders(write: Any, tmp_path: Path) -> None:
    (tmp_path / "terms").mkdir()
    write("terms/vs.json", value_set({"system": "http://s", "concept": [{"code": "a"}]}))
    questionnaire = write("q.json", form(item("a", "choice", answerValueSet="http://example.org/vs")))
    answers = write("r.json", response(said("a", coding("b", system="http://s"))))

    without = run("--json", "--questionnaire", questionnaire, answers)
    with_folder = run("--json", "--questionnaire", questionnaire, "--terminology", str(tmp_path / "terms"), answers)

    assert outcomes(without) == [["warning"]]
    assert outcomes(with_folder) == [["error"]]


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"resourceType": "Patient"}, "Patient is neither"),
        ({"resourceType": 3}, "no FHIR resource"),
        ([], "no FHIR resource"),
        ("null", "no FHIR resource"),
        ('"\\ud800"', "no FHIR resource"),
    ],
)
def test_json_that_is_neither_kind_of_resource_is_an_error_that_names_it(write: Any, document: Any, named: str) -> None:
    result = run("--json", write("x.json", document))

    assert result.exit_code == 1
    assert outcomes(result) == [["error"]]
    assert named in result.stdout


@pytest.mark.parametrize(
    ("arguments", "told", "error"),
    [
        (["{missing}"], 1, "No such file"),
        (["{text}"], 1, "not JSON"),
        (["{empty}"], 1, "not JSON"),
        (["{deep}"], 1, "nested deeper"),
        (["{nan}"], 1, "NaN"),
        (["--questionnaire", "{missing}", "{good}"], 0, "No such file"),
        (["--questionnaire", "{good}", "{good}"], 0, "no Questionnaire"),
        (["--questionnaire", "{list}", "{good}"], 0, "no Questionnaire"),
        (["--terminology", "{text}", "{good}"], 0, "not JSON"),
        (["{good}", "{text}"], 2, "not JSON"),
        ([], 0, "Missing argument"),
    ],
)
def test_usage_errors_exit_with_2_and_one_clear_line(
    write: Any, tmp_path: Path, arguments: list[str], told: int, error: str
) -> None:
    files = {
        "missing": str(tmp_path / "nowhere.json"),
        "text": write("text.json", "no json"),
        "empty": write("empty.json", ""),
        "deep": write("deep.json", "[" * 100_000),
        "nan": write("nan.json", '{"a": NaN}'),
        "good": write("good.json", GOOD),
        "list": write("list.json", []),
    }

    result = run("--json", *(argument.format(**files) for argument in arguments))

    assert result.exit_code == 2
    assert error in result.stderr
    assert len(result.stderr.splitlines()) == 1 or "Usage" in result.stderr
    # A file that cannot be read has an outcome among those of the others; a wrong option stops before all.
    assert [each["resourceType"] for each in map(json.loads, result.stdout.splitlines())] == ["OperationOutcome"] * told
    assert "Traceback" not in result.stderr


def test_text_that_no_terminal_can_show_is_escaped(write: Any) -> None:
    odd = {**GOOD, "item": [{"linkId": "\ud800[bold]"}]}
    answers = write("r.json", json.dumps(odd))
    questionnaire = write("q.json", FORM)

    table = run("--questionnaire", questionnaire, answers)
    as_json = run("--json", "--questionnaire", questionnaire, answers)

    assert (table.exit_code, as_json.exit_code) == (1, 1)
    assert "[bold]" in table.stdout
    # Half a character, an unknown item, and the missing one.
    assert outcomes(as_json) == [["error", "error", "error"]]


def test_a_response_to_another_questionnaire_than_the_one_given_is_an_error(write: Any) -> None:
    other = write("r.json", {**GOOD, "questionnaire": "http://example.org/Questionnaire/other"})

    result = run("--json", "--questionnaire", write("q.json", FORM), other)

    assert result.exit_code == 1
    assert outcomes(result) == [["error"]]
    assert URL in result.stdout
    assert "http://example.org/Questionnaire/other" in result.stdout


def test_findings_name_the_item_and_lead_to_the_value(write: Any) -> None:
    asked = form(item("age", "integer", extension=[{"url": MAX_VALUE, "valueInteger": 120}]))
    questionnaire, answers = write("q.json", asked), write("r.json", response(said("age", {"valueInteger": 130})))

    table = run("--questionnaire", questionnaire, answers)
    issue = json.loads(run("--json", "--questionnaire", questionnaire, answers).stdout)["issue"][0]

    assert "'age'" in table.stdout
    assert issue["expression"] == ["QuestionnaireResponse.item[0].answer[0].value.ofType(integer)"]
    assert [each["valueString"] for each in issue["extension"]] == ["age"]


@pytest.mark.parametrize("unusable", ['{"resourceType": ', "{} {}", '{"a": -Infinity}', "NaN"])
def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_checked(write: Any, unusable: str) -> None:
    form_file, good, bad = write("q.json", FORM), write("good.json", GOOD), write("bad.json", BAD)

    result = run("--questionnaire", form_file, "--json", good, write("broken\nfile.json", unusable), bad)

    assert result.exit_code == 2
    assert outcomes(result) == [["information"], ["fatal"], ["error"]]
    assert len(result.stderr.splitlines()) == 1
    assert "broken\\nfile.json" in result.stderr


@pytest.mark.parametrize("number", ["1e999999999999999999999", "-7E-99999999999999999999"])
def test_a_number_beyond_all_measure_is_refused_where_it_stands(write: Any, number: str) -> None:
    questionnaire = write("q.json", form(item("a", "decimal")))
    answers = dump(response(said("a", {"valueDecimal": 3}))).replace('"valueDecimal":3', f'"valueDecimal":{number}')

    result = run("--json", "--questionnaire", questionnaire, write("far.json", answers))

    assert result.exit_code == 1
    assert outcomes(result) == [["error"]]
    assert "a number out of range" in result.stdout


def test_a_file_that_is_not_there_gets_an_outcome_too(write: Any, tmp_path: Path) -> None:
    result = run("--questionnaire", write("q.json", FORM), str(tmp_path / "gone.json"), write("good.json", GOOD))

    assert result.exit_code == 2
    assert "good.json: valid" in result.stdout
    assert "gone.json" in result.stderr


def fhirpath(source: str, name: str = "sdc-questionnaire-calculatedExpression", language: str = "text/fhirpath") -> Any:
    url = f"http://hl7.org/fhir/uv/sdc/StructureDefinition/{name}"
    return {"url": url, "valueExpression": {"language": language, "expression": source}}


def constraint(source: str) -> Any:
    parts = {"key": ("Id", "c-1"), "severity": ("Code", "error"), "human": ("String", "No"), "expression": ("String", source)}  # fmt: skip
    inside = [{"url": name, f"value{kind}": value} for name, (kind, value) in parts.items()]
    return {"url": "http://hl7.org/fhir/StructureDefinition/questionnaire-constraint", "extension": inside}


VARIABLE = {
    "url": "http://hl7.org/fhir/StructureDefinition/variable",
    "valueExpression": {"name": "bmi", "language": "text/fhirpath", "expression": "20"},
}


@pytest.mark.parametrize(
    ("extension", "rule"),
    [
        (fhirpath("1 + 2"), None),
        (fhirpath("%bmi > 1 and %patient.exists() and %resource.item.exists() and %`vs-x`.exists()"), None),
        (fhirpath("1 +"), "formula"),
        (fhirpath("answer.where(", "sdc-questionnaire-enableWhenExpression"), "formula"),
        (fhirpath("answer.allmost()"), "formula"),
        (fhirpath("%weight / 2"), "formula-name"),
        (fhirpath("Patient?name=x", language="application/x-fhir-query"), None),
        (fhirpath("AgeInYears()", language="text/cql"), "formula-language"),
        (constraint("answer.value > 3"), None),
        (constraint("answer.value >"), "formula"),
        (constraint("%nobody.exists()"), "formula-name"),
    ],
)
def test_a_formula_that_cannot_be_read_or_names_what_is_not_there_is_a_warning(
    write: Any, extension: Any, rule: str | None
) -> None:
    asked = form(item("g", "group", item("a", "integer", extension=[extension])), extension=[VARIABLE])

    result = run("--json", write("q.json", asked))

    found = [issue for issue in json.loads(result.stdout)["issue"] if issue["severity"] != "information"]
    assert [each["severity"] for each in found] == ["warning"] * (rule is not None)
    assert [each["details"]["coding"][0]["code"] for each in found] == [rule] * (rule is not None)
    assert result.exit_code == 0
