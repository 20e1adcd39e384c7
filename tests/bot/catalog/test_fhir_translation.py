"""Texts of a FHIR resource go to a table and a language's column comes back, or one line says why not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.catalog.fhir_files import read_json
from bot.catalog.fhir_translation import laid_out, translated, translations_table, untranslated
from bot.errors import BadData
from bot.resources import data_folder

FORM: dict[str, Any] = {
    "resourceType": "Questionnaire",
    "language": "en",
    "title": "Before your scan",
    "item": [
        {
            "linkId": "weight",
            "type": "decimal",
            "text": "How much do you weigh?",
            "_text": {"id": "w"},
            "initial": [{"valueDecimal": 70}],
        },
        {
            "linkId": "side",
            "type": "choice",
            "text": "Which side?",
            "answerOption": [{"valueCoding": {"system": "urn:x", "code": "l", "display": "Left"}}],
        },
    ],
}
WORDS: dict[str, Any] = {
    "resourceType": "CodeSystem",
    "concept": [
        {"code": "l", "designation": [{"language": "en", "value": "Left"}, {"language": "en", "value": "left side"}]},
        {"code": "r", "display": "Right"},
    ],
}


def test_the_table_has_each_text_once_with_its_words_in_every_language() -> None:
    assert translations_table(FORM).splitlines() == [
        "text", "Before your scan", "How much do you weigh?", "Which side?", "Left",
    ]  # fmt: skip
    assert translations_table(WORDS).splitlines() == ["text\ten", "Left\tLeft | left side", "Right\t"]


def test_a_column_comes_back_as_translations_behind_their_texts_and_as_designations() -> None:
    form = translated(FORM, "text\tit\nHow much do you weigh?\tQuanto pesa?\nLeft\tSinistra\n", "it")
    words = translated(WORDS, "text\tit\nLeft\tSinistra | a sinistra\n", "it")

    item = form["item"][0]
    assert list(item)[2:4] == ["text", "_text"]
    assert item["_text"]["id"] == "w"
    assert item["_text"]["extension"][0]["extension"][1] == {"url": "content", "valueString": "Quanto pesa?"}
    assert "_display" in form["item"][1]["answerOption"][0]["valueCoding"]
    assert [each["value"] for each in words["concept"][0]["designation"]][2:] == ["Sinistra", "a sinistra"]
    assert untranslated(form, "it") == ["Before your scan", "Which side?"]
    assert translated(form, "text\tit\nLeft\tDi sinistra\n", "it") != form  # what was there is replaced
    assert json.loads(laid_out(form)) == form


def test_words_with_other_numbers_than_their_text_are_taken_only_when_that_is_said() -> None:
    form = {"resourceType": "Questionnaire", "item": [{"linkId": "a", "text": "Nehmen Sie 2,5 Tabletten?"}]}
    table = "text\ten\nNehmen Sie 2,5 Tabletten?\tDo you take 3 tablets?\n"

    with pytest.raises(BadData, match=r"the first: line 2 has 3, its text 'Nehmen Sie 2,5 Tabletten\?' 2.5\."):
        translated(form, table, "en")
    taken = translated(form, table, "en", other_numbers=True)
    assert translated(taken, table, "en") == taken  # what it has already is not asked about again
    assert translated(form, table.replace("3 tab", "2.5 tab"), "en") != form


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("text\tfr\nLeft\tGauche\n", "lacks the column 'it' .it has text, fr."),
        ("", "lacks the column 'text' .it has none."),
        ("text\tit\nLeft\tSinistra\nLeft\tManca\n", "Line 3 translates 'Left' in another way"),
        ("text\tit\nRight\tDestra\n", "speaks of 'Right', which is no text of the resource"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_one_line(table: str, line: str) -> None:
    with pytest.raises(BadData, match=line) as refused:
        translated(FORM, table, "it")

    assert "\n" not in str(refused.value)


def test_what_holds_no_text_is_refused() -> None:
    with pytest.raises(BadData, match="no text to translate"):
        translations_table({"resourceType": "Questionnaire"})


@pytest.mark.parametrize(
    "name",
    ["questionnaires/mammography-history", "code-systems/mammography-history", "code-systems/words-of-codes"],
)
def test_the_shipped_interview_is_whole_in_french(name: str) -> None:
    assert untranslated(read_json(data_folder("fhir") / f"{name}.json").value, "fr") == []


def test_the_command_writes_the_table_and_takes_it_back(tmp_path: Path) -> None:
    form, table = tmp_path / "form.json", tmp_path / "table.tsv"
    form.write_text(json.dumps(FORM), encoding="utf-8")

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from bot.commands.main import main; main()", "fhir", "translate"]
        return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False)

    exported = run(form, "--export", table)
    table.write_text("text\tit\nLeft\tSinistra\n", encoding="utf-8")
    imported = run(form, "--import", table, "--lang", "it")
    over = run(form, "--import", table, "--lang", "it", "--out", table)
    neither, nobody = run(form), run(form, "--import", tmp_path / "no.tsv", "--lang", "it")

    assert (exported.returncode, imported.returncode) == (0, 0)
    assert imported.stderr == "klartext: 3 texts have no words in 'it', the first is 'Before your scan'\n"
    assert '"Sinistra"' in form.read_text(encoding="utf-8")
    assert (over.returncode, neither.returncode, nobody.returncode) == (2, 2, 2)
    assert "exists. Choose another file" in over.stderr
    assert table.read_text(encoding="utf-8").startswith("text\tit")
    assert "Give `--export TABLE`" in neither.stderr
    assert "cannot be read (No such file or directory)" in nobody.stderr


def test_words_with_another_unit_are_refused_where_both_languages_are_read() -> None:
    form = {"resourceType": "Questionnaire", "language": "de", "title": "Vor 6 Monaten 100 mg"}

    for said in ("6 years ago 100 mg", "6 months ago 100 g"):
        with pytest.raises(BadData, match="other numbers or units"):
            translated(form, f"text\ten\nVor 6 Monaten 100 mg\t{said}\n", "en")
    assert translated(form, "text\ten\nVor 6 Monaten 100 mg\t6 months ago 100 mg\n", "en")


CHOICES: dict[str, Any] = {
    "resourceType": "Questionnaire",
    "language": "de",
    "title": "Kommen Sie nicht nüchtern.",
    "description": "Haben Sie mehr als zwei Stunden geblutet?",
    "purpose": "Trinken Sie 1'000 ml.",
    "item": [{"linkId": "a", "type": "choice", "answerOption": [{"valueString": "Ja"}, {"valueString": "Nein"}]}],
}


def test_the_choices_of_a_question_that_are_plain_words_are_translated_too() -> None:
    assert translations_table(CHOICES).splitlines()[-2:] == ["Ja", "Nein"]
    option = translated(CHOICES, "text\tfr\nJa\tOui\nNein\tNon\n", "fr")["item"][0]["answerOption"][0]
    assert option["_valueString"]["extension"][0]["extension"][1] == {"url": "content", "valueString": "Oui"}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Ja\tNon", "'yes' became 'no'"),
        ("Nein\tje ne sais pas", r"'no' became .don't know"),
        ("Kommen Sie nicht nüchtern.\tVenez à jeun.", "negations: 1, in the translation 0"),
        ("Kommen Sie nicht nüchtern.\tKommen Sie nicht nüchtern.", "it is not translated"),
        ("Haben Sie mehr als zwei Stunden geblutet?\tAvez-vous saigné moins de deux heures ?", "'more' became 'less'"),
    ],
)
def test_words_that_say_something_else_are_taken_only_when_somebody_has_read_them(row: str, problem: str) -> None:
    with pytest.raises(BadData, match=problem):
        translated(CHOICES, f"text\tfr\n{row}\n", "fr")
    assert translated(CHOICES, f"text\tfr\n{row}\n", "fr", other_words=True) != CHOICES


def test_what_no_page_may_show_and_equal_choices_are_never_taken() -> None:
    for said in ("#NAME?", "=OUI()", "<b>oui</b>"):
        with pytest.raises(BadData, match="Line 2 has a formula"):
            translated(CHOICES, f"text\tfr\nJa\t{said}\n", "fr", other_words=True)
    with pytest.raises(BadData, match="Two choices of one question would both read 'Oui'"):
        translated(CHOICES, "text\tfr\nJa\tOui\nNein\tOui\n", "fr", other_words=True)


def test_right_words_pass_with_swiss_thousands_and_negations_of_the_language() -> None:
    table = (
        "text\tfr\nJa\tOui\nNein\tNon\nKommen Sie nicht nüchtern.\tNe venez pas à jeun.\n"
        "Haben Sie mehr als zwei Stunden geblutet?\tAvez-vous saigné plus de deux heures ?\n"
        "Trinken Sie 1'000 ml.\tBuvez 1000 ml.\n"
    )
    assert untranslated(translated(CHOICES, table, "fr"), "fr") == []
