"""`klartext interview`: four invented patients in two languages, published forms, and what ends in which exit code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.catalog.catalog import locate
from bot.catalog.exam import load_exam
from bot.resources import data_folder
from bot.sentences.interface_texts import INTERFACE_TEXTS, INTERVIEW_TEXTS
from bot.sentences.wording import wording_of
from tests.bot.interview.resources import CORE, SDC, corpus, form, item
from tests.bot.interview.validate.test_corpus_questionnaires import NAMES, missing_value_sets, published

MAMMOGRAPHY = data_folder("fhir") / "questionnaires" / "mammography-history.json"
PREFIX = SDC + "sdc-questionnaire-"
DE, EN = INTERVIEW_TEXTS["de"], INTERVIEW_TEXTS["en"]
Run = Callable[..., subprocess.CompletedProcess[bytes]]

# What each patient says, and what the response must hold: linkId -> values, in order.
PATIENTS: dict[str, tuple[str, str, dict[str, list[Any]]]] = {
    "healthy, first visit": (
        "de",
        """
        consent: ja
        reason: ich habe eine Einladung bekommen
        age: ich bin fünfzig
        interpreter: brauche ich nicht
        mammogram-before: noch nie
        other-imaging: nein
        complaints-now: nein
        own-cancer: nein
        procedures: nichts davon
        implant: nein
        family-cancer: nein
        pregnant: nicht schwanger
        period: 2
        hormones: keine Hormone
        devices: keines
        blood-thinner: nein
        allergies: keine
        vaccination: nein
        support: nein
        female-radiographer: egal
        """,
        {
            "consent": [True], "reason": ["reason-screening"], "other-imaging": ["no-imaging"], "age": [50], "interpreter": [False], "mammogram-before": ["373067005"],
            "complaints-now": ["no-complaint"], "procedures": ["no-procedure"], "implant": ["373067005"],
            "hormones": ["no-hormones"], "pregnant": ["LA26683-5"], "devices": ["no-device"],
            "allergies": ["no-allergy"], "vaccination": ["373067005"], "support": ["no-help"], "note": [],
        },
    ),
    "a lump while breastfeeding": (
        "en",
        """
        consent: yes, of course
        reason: my doctor sent me
        age: 38
        interpreter: yes
        interpreter-language: Turkish
        mammogram-before: no
        complaints-now: a lump
        complaints-now: my nipple is inverted
        complaint-kind: lump
        complaint-side: left
        complaint-place: towards the arm, up
        complaint-since: October 2026
        complaint-seen: yes
        complaint-kind: my nipple is inverted
        complaint-side: right
        own-cancer: no
        procedures: none of these
        implant: no
        family-cancer: yes
        relative-who: my aunt on my mother's side
        relative-cancer: breast cancer
        relative-age: about 52
        relative-who: grandmother on the mother's side
        relative-cancer: breast cancer
        relative-cancer: ovarian
        pregnant: no
        breastfeeding: yes
        period: not at the moment
        hormones: none
        support: I am afraid of the examination
        """,
        {
            "age": [38], "interpreter": [True], "interpreter-language": ["tr"],
            "complaints-now": ["breast-lump", "nipple-retracted"],
            "complaint-kind": ["breast-lump", "nipple-retracted"], "complaint-seen": ["373066001"],
            "complaint-side": ["7771000", "24028007"], "complaint-since": ["2026-10"],
            "relative-who": ["MAUNT", "MGRMTH"], "relative-age": [52],
            "relative-cancer": ["254837009", "254837009", "363443007"], "affected-relatives": [2],
            "breastfeeding": ["LA29252-6"], "support": ["anxious"],
        },
    ),
    "after breast cancer": (
        "de",
        """
        consent: ja
        reason: Nachsorge
        age: 71
        mammogram-before: ja, letztes Jahr
        last-mammogram: im November 2025
        last-mammogram-place: Klinikum am See, Konstanz
        own-cancer: ja, früher
        own-cancer-kind: Brustkrebs
        own-cancer-side: links
        own-cancer-age: mit achtundfünfzig
        procedures: 3
        procedure-kind: brusterhaltend operiert
        procedure-side: links
        procedure-year: 2014
        radiotherapy: ja
        chest-radiotherapy-age: 59
        chest-radiotherapy-side: links
        implant: ja
        implant-side: links
        family-cancer: weiß nicht
        hormones: wegen der Wechseljahre
        hormones-duration: anderthalb Jahre
        devices: Herzschrittmacher
        device-kind: Schrittmacher
        device-side: links
        device-new: nein
        blood-thinner: ja
        blood-thinner-name: Eliquis
        allergies: Pflaster
        allergies: Erdbeeren
        vaccination: rechts
        support: Rollstuhl
        support: kann nicht lange stehen
        note: Bitte vorsichtig mit der linken Seite.
        """,
        {
            "last-mammogram": ["2025-11"], "last-mammogram-place": ["Klinikum am See, Konstanz"],
            "own-cancer-age": [58], "procedures": ["breast-cancer-operation"], "procedure-kind": ["breast-cancer-operation"],
            "procedure-year": ["2014"], "procedure-side": ["7771000"], "radiotherapy": ["373066001"],
            "chest-radiotherapy-age": [59], "chest-radiotherapy-side": ["7771000"], "implant-side": ["7771000"],
            "device-kind": ["pacemaker"], "device-side": ["7771000"], "family-cancer": ["261665006"], "blood-thinner-name": ["Eliquis"],
            "allergies": ["plaster-allergy", "Erdbeeren"], "support": ["wheelchair", "cannot-stand"],
            "note": ["Bitte vorsichtig mit der linken Seite."],
        },
    ),
    "says no": ("en", "consent: no\nage: 44", {"consent": [False], "age": []}),
}  # fmt: skip


def script(told: str) -> str:
    """Turn ``linkId: text`` into lines for `--answers`."""
    lines = (line.strip() for line in told.splitlines() if line.strip())
    return "".join("\t".join(line.split(": ", 1)) + "\n" for line in lines)


def values(response: Any, link_id: str) -> list[Any]:
    """All values of an item: codes of codings, texts, numbers."""
    found: list[Any] = []
    for each in response if isinstance(response, list) else [response]:
        if not isinstance(each, dict):
            continue
        for answer in each.get("answer", []) if each.get("linkId") == link_id else []:
            found += [value["code"] if isinstance(value, dict) and "code" in value else value
                      for name, value in answer.items() if name.startswith("value")]  # fmt: skip
        for name in ("item", "answer"):
            found += values(each.get(name, []), link_id)
    return found


@pytest.fixture
def ask(klartext: Run, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the interview on a form (JSON or path) with the lines given."""

    def run(questionnaire: Any, answers: str, *more: str) -> subprocess.CompletedProcess[bytes]:
        path = questionnaire if isinstance(questionnaire, Path) else tmp_path / "Q.json"
        if path is not questionnaire:
            path.write_text(json.dumps(questionnaire), encoding="utf-8")
        (tmp_path / "answers.txt").write_text(answers, encoding="utf-8")
        out = tmp_path / "R.json"
        return klartext(
            "interview", "--questionnaire", path, "--answers", tmp_path / "answers.txt", "--out", out, *more
        )

    return run


def written(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "R.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PATIENTS)
def test_a_patient_is_interviewed_and_the_response_is_valid(name: str, ask: Any, klartext: Run, tmp_path: Path) -> None:
    language, told, expected = PATIENTS[name]

    done = ask(MAMMOGRAPHY, script(told), "--lang", language)

    assert done.returncode == 0, done.stdout.decode()
    assert INTERVIEW_TEXTS[language]["completed"] in done.stdout.decode()
    response = written(tmp_path)
    assert response["status"] == "completed"
    assert {link_id: values(response["item"], link_id) for link_id in expected} == expected
    checked = klartext("fhir", "validate", "--questionnaire", MAMMOGRAPHY, "--json", tmp_path / "R.json")
    assert checked.returncode == 0, checked.stdout.decode()


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("name", NAMES)
def test_a_published_form_is_interviewed_without_a_line_too(
    name: str, language: str, ask: Any, klartext: Run, tmp_path: Path
) -> None:
    path = corpus() / "questionnaires" / f"{name}.json"
    sets = list(missing_value_sets(published(name)))
    entries = [{"resource": each} for each in sets]
    (tmp_path / "sets.json").write_text(json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries}))

    done = ask(path, "", "--lang", language, "--terminology", str(tmp_path / "sets.json"))

    assert done.returncode in (0, 3), done.stderr.decode()
    assert written(tmp_path)["status"] == ("completed" if done.returncode == 0 else "in-progress")
    checked = klartext(
        "fhir",
        "validate",
        "--questionnaire",
        path,
        "--terminology",
        tmp_path / "sets.json",
        "--json",
        tmp_path / "R.json",
    )
    assert checked.returncode == 0, checked.stdout


TWO = form(item("a", "string", text="A?", required=True), item("b", "integer", text="B?"), language="en")


@pytest.mark.parametrize(
    ("answers", "more", "code", "status"),
    [
        ("a\tx\nb\t3\n", (), 0, "completed"),
        ("a\tx\n", (), 0, "completed"),  # what is not required is skipped
        ("b\t3\n", (), 3, "in-progress"),
        ("", (), 3, "in-progress"),
        ("x\n3\n", (), 0, "completed"),  # plain lines are the next turns
        ("a\tx\nb\tabout 3\n", (), 0, "completed"),  # read-backs are accepted
        ("a\tx\nb\tabout 3\n", ("--confirm",), 3, "in-progress"),
        ("a\tx\nb\tabout 3\nyes\nyes\n", ("--confirm",), 0, "completed"),
        ("a\tx\nb\tabout 3\nno\n4\nyes\n", ("--confirm",), 0, "completed"),
        ("a\tx\nb\tabout 3\nyes\n", ("--confirm",), 3, "in-progress"),  # nobody agreed to the summary
    ],
)
def test_what_is_said_decides_how_it_ends(
    answers: str, more: tuple[str, ...], code: int, status: str, ask: Any, tmp_path: Path
) -> None:
    done = ask(TWO, answers, *more)

    assert done.returncode == code, done.stdout.decode()
    assert written(tmp_path)["status"] == status


def test_what_is_unusable_ends_in_one_line_and_exit_code_2(ask: Any, klartext: Run, tmp_path: Path) -> None:
    other = form(item("a", "hologram", text="A?"))
    cases = [
        (ask(TWO, "c\tx\n"), "the Questionnaire has no item 'c'"),
        (ask(other, ""), "hologram"),
        (ask({"resourceType": "Bundle", "type": "collection"}, ""), "0 Questionnaires"),
        (ask(tmp_path / "none.json", ""), "none.json: No such file"),
        (klartext("interview", "--questionnaire", MAMMOGRAPHY, "--answers", "/none", "--out", "R"), "/none"),
        (klartext("interview", "--questionnaire", MAMMOGRAPHY), "--answers"),
        (ask(TWO, "a\tx\n", "--lang", "it"), "it"),
    ]

    for done, words in cases:
        assert done.returncode == 2
        assert words in done.stderr.decode()
        assert "Traceback" not in done.stderr.decode()


def test_several_lines_fill_what_repeats_row_by_row_or_question_by_question(ask: Any, tmp_path: Path) -> None:
    group = item("g", "group", item("n", "string", text="N?"), item("m", "integer", text="M?"), text="G", repeats=True)
    asked = form(group, item("l", "string", text="L?", repeats=True), language="en")

    for order in ("n\ta\nm\t1\nn\tb\nm\t2\n", "n\ta\nn\tb\nm\t1\nm\t2\n"):
        assert ask(asked, order + "l\tx\nl\ty\nl\tz\n").returncode == 0
        assert values(written(tmp_path)["item"], "n") == ["a", "b"]
        assert values(written(tmp_path)["item"], "m") == [1, 2]
        assert values(written(tmp_path)["item"], "l") == ["x", "y", "z"]
    # A row without its number: the next number belongs to the next row.
    assert ask(asked, "n\ta\nn\tb\nm\t2\nn\tc\nm\t3\n").returncode == 0
    rows = [[inner["linkId"] for inner in row["item"]] for row in written(tmp_path)["item"]]
    assert rows == [["n"], ["n", "m"], ["n", "m"]]


def test_an_empty_line_for_an_item_skips_it(ask: Any, tmp_path: Path) -> None:
    assert ask(TWO, "a\tx\nb\t\n").returncode == 0
    assert values(written(tmp_path)["item"], "b") == []


def test_an_emergency_is_shown_and_the_form_reads_nothing_of_it(ask: Any, tmp_path: Path) -> None:
    note = form(item("note", "text", text="Was noch?"), language="de")

    done = ask(note, "note\tIch kriege keine Luft\n")

    assert done.returncode == 0
    assert INTERFACE_TEXTS["de"]["urgent"] in done.stdout.decode()
    assert values(written(tmp_path).get("item", []), "note") == []


def test_pain_in_the_breast_may_be_the_heart_and_is_asked_about_first(ask: Any, tmp_path: Path) -> None:
    note = form(item("note", "text", text="Was noch?"), language="de")

    done = ask(note, "note\tSchmerzen an der Brust\n")

    transcript = done.stdout.decode()
    assert INTERFACE_TEXTS["de"]["urgent_chest_pain"] in transcript
    assert f"> {INTERFACE_TEXTS['de']['chest_breast']}" in transcript
    assert values(written(tmp_path)["item"], "note") == ["Schmerzen an der Brust"]
    # Who must confirm has to say so.
    assert ask(note, "note\tSchmerzen an der Brust\nja\n", "--confirm").returncode == 3
    assert values(written(tmp_path).get("item", []), "note") == []
    assert ask(note, "note\tSchmerzen an der Brust\nnein\nja\n", "--confirm").returncode == 0
    assert values(written(tmp_path)["item"], "note") == ["Schmerzen an der Brust"]


def test_the_words_are_those_of_the_exam_where_one_is_known(ask: Any, tmp_path: Path) -> None:
    note = form(item("note", "text", text="Was noch?"), language="de")
    lines = "note\tSchmerzen an der Brust\n"
    exam = wording_of(load_exam(locate("mammography"))).sentences["de"]["chest_breast"]
    neutral = INTERFACE_TEXTS["de"]["chest_breast"]
    assert exam != neutral

    plain, named = (ask(note, lines, *more).stdout.decode() for more in ((), ("--catalog", "mammography")))
    shipped = ask({**note, "id": "mammography-history"}, lines).stdout.decode()
    of_nothing = ask(note, lines, "--catalog", str(tmp_path / "nowhere"))

    assert [(exam in said, neutral in said) for said in (plain, named, shipped)] == [
        (False, True),
        (True, False),
        (True, False),
    ]
    assert of_nothing.returncode == 2
    assert b"No catalog at" in of_nothing.stderr


def test_an_answer_that_the_form_lists_is_read_once_it_is_no_emergency(ask: Any, tmp_path: Path) -> None:
    done = ask(MAMMOGRAPHY, "consent\tyes\nage\t80\nsupport\tI cannot lift one arm well\n", "--lang", "en")

    assert EN["is_emergency"] in done.stdout.decode()
    assert len(values(written(tmp_path)["item"], "support")) == 1


def test_a_question_in_between_needs_no_trained_catalog_and_changes_nothing(
    ask: Any, klartext: Run, tmp_path: Path
) -> None:
    empty = {"KLARTEXT_DATA": str(tmp_path / "empty")}
    (tmp_path / "Q.json").write_text(json.dumps(TWO))
    (tmp_path / "answers.txt").write_text("a\tx\nHow long does it take?\nb\t3\n")

    done = klartext(
        "interview", "--questionnaire", tmp_path / "Q.json", "--answers", tmp_path / "answers.txt",
        "--out", tmp_path / "R.json", environ=empty,
    )  # fmt: skip

    assert done.returncode == 0
    assert EN["no_pairs"] in done.stdout.decode()
    assert values(written(tmp_path)["item"], "b") == [3]
    assert not (tmp_path / "empty").exists()


def test_the_language_is_that_of_the_form_unless_another_is_asked_for(ask: Any) -> None:
    assert EN["interview_begin"] in ask(TWO, "").stdout.decode()
    assert DE["interview_begin"] in ask({**TWO, "language": "de-CH"}, "").stdout.decode()
    assert DE["interview_begin"] in ask(TWO, "", "--lang", "de").stdout.decode()
    assert EN["interview_begin"] in ask({**TWO, "language": "it"}, "").stdout.decode()


def test_what_has_to_be_decided_before_the_exam_is_printed_as_staff_get_it(ask: Any) -> None:
    mri = data_folder("fhir") / "questionnaires" / "mri-safety.json"
    said = "consent\tyes\nage\t66\nheart-device\tnone of these, LVAD\nallergies\tnone except gadolinium\n"
    done = ask(mri, said, "--lang", "en")
    clear = ask(TWO, "a\tx\n")

    shown = done.stdout.decode()
    assert "Needs a decision before the exam" in shown
    assert "- Do you have a device at your heart? – „none of these, LVAD“" in shown
    assert "- Which allergies do you have? – Contrast agent" in shown
    assert "LVAD" not in done.stderr.decode()
    assert "decision" not in clear.stdout.decode()


def test_lines_that_were_never_used_are_named_without_their_text(ask: Any) -> None:
    done = ask(TWO, "a\tx\nb\t3\nb\tsecret\n")

    assert "b" in done.stderr.decode()
    assert "secret" not in done.stderr.decode()


def test_every_formula_and_extension_that_is_dropped_has_its_line_and_no_answer_is_in_it(ask: Any) -> None:
    def expression(name: str, text: str, language: str = "text/fhirpath") -> dict[str, Any]:
        return {"url": PREFIX + name, "valueExpression": {"language": language, "expression": text}}

    query = {"url": CORE + "variable", "valueExpression": {"name": "seen", "language": "application/x-fhir-query", "expression": "Observation?code=1"}}  # fmt: skip
    questionnaire = form(
        item("name", "string", text="Name?"),
        item("cql", "string", text="CQL?", extension=[expression("initialExpression", "Patient.name", "text/cql")]),
        item("found", "string", text="Found?", extension=[expression("candidateExpression", "1")]),
        item("odd", "string", text="Odd?", extension=[{"url": "http://example.org/odd", "valueString": "a"}]),
        item("count", "integer", text="Count?", readOnly=True, extension=[expression("calculatedExpression", "%resource.item.where(linkId = 'name').answer.value")]),
        item("sum", "integer", text="Sum?", extension=[expression("initialExpression", "%resource.item.where(linkId = 'name').answer.value * 2")]),
        item("on", "string", text="On?", extension=[expression("enableWhenExpression", "%resource.item.where(linkId = 'name').answer.value + 'x'")]),
        extension=[query],
    )  # fmt: skip
    done = ask(questionnaire, "name\tSecretname\n")

    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("klartext: ")]
    for link_id, feature in (
        ("cql", "initialExpression"),
        ("found", "sdc-questionnaire-candidateExpression"),
        ("count", "calculatedExpression"),
        ("sum", "expression"),
        ("on", "expression"),
        ("Questionnaire", "variable"),
        ("Questionnaire", "odd"),
    ):
        of_it = [line for line in lines if line.startswith(f"klartext: {link_id}") and f": {feature}: " in line]
        assert len(of_it) == 1, (link_id, lines)
    assert "Secretname" not in done.stderr.decode()
