"""`klartext qa language` writes and checks a language; `answer`, `interview`, `qa lint` and `link` know it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.languages.files import FILES
from tests.bot.languages.samples import LANGUAGES, copied, nobodys, only_french, said

TINY = {
    "resourceType": "Questionnaire",
    "url": "http://example.org/thorax",
    "version": "1",
    "status": "active",
    "language": "fr",
    "item": [
        {"linkId": "pregnant", "type": "boolean", "text": "Êtes-vous enceinte ?"},
        {"linkId": "age", "type": "integer", "text": "Quel âge avez-vous ?"},
        {"linkId": "last", "type": "date", "text": "Quand a eu lieu votre dernière radiographie ?"},
    ],
}


def run(
    *arguments: str | Path, data: Path, languages: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "KLARTEXT_LANGUAGES"}
    environ |= {"KLARTEXT_DATA": str(data), "COLUMNS": "200"}
    environ |= {"KLARTEXT_LANGUAGES": str(languages)} if languages is not None else {}
    command = [sys.executable, "-c", "from bot.commands.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, env=environ, check=False)


def test_the_command_writes_every_file_with_the_english_beside_each_key(tmp_path: Path) -> None:
    done = run("qa", "language", "it", tmp_path / "languages", data=tmp_path)

    place = tmp_path / "languages" / "it"
    assert done.returncode == 2
    assert {path.name for path in place.iterdir()} == {name for name, file in FILES.items() if file.needed}
    written = (place / "interface.yaml").read_text(encoding="utf-8")
    assert "# You are welcome. Do you have another question?\nthanks:\n" in written
    assert set(yaml.safe_load(written)) == set(said("interface.yaml"))
    (line,) = done.stderr.splitlines()
    assert line.startswith("klartext: The language 'it' is not complete: 13 files to be filled in, 0 problems.")


@pytest.mark.proof
def test_what_is_there_is_left_and_what_is_missing_is_one_line_each(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    phrases = folder / "fr" / "phrases.yaml"
    phrases.write_text(phrases.read_text(encoding="utf-8").replace("\nheading:", "\nheadline:"), encoding="utf-8")

    done = run("qa", "language", "fr", folder, data=tmp_path)

    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "fr/phrases.yaml: `heading` is missing. English: Your examination – what would you like t…",
        "fr/phrases.yaml: `headline` is no key of this file. Remove it.",
    ]
    assert "0 files to be filled in, 2 problems" in done.stderr
    assert "headline:" in phrases.read_text(encoding="utf-8")


@pytest.mark.proof
def test_a_complete_language_is_told_with_what_it_does_without(tmp_path: Path) -> None:
    done = run("qa", "language", "fr", LANGUAGES, data=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{LANGUAGES / 'fr'}: complete, without red_flag_lines.tsv, health.tsv")


@pytest.mark.proof
@pytest.mark.parametrize(("code", "line"), [("de", "is a language of the program"), ("fra", "'fra' is no language")])
def test_what_is_no_further_language_is_refused(code: str, line: str, tmp_path: Path) -> None:
    done = run("qa", "language", code, tmp_path, data=tmp_path)

    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.proof
def test_lint_checks_the_language_beside_the_catalog(tmp_path: Path) -> None:
    catalog, folder = only_french(tmp_path), copied(tmp_path)
    (folder / "fr" / "emergency.yaml").unlink()

    unknown = run("qa", "lint", nobodys(tmp_path), data=tmp_path)
    spoilt = run("qa", "lint", catalog, data=tmp_path, languages=folder)
    sound = run("qa", "lint", catalog, data=tmp_path, languages=LANGUAGES)

    assert unknown.returncode == spoilt.returncode == 1
    assert "error: There is no language 'it'" in unknown.stdout
    assert f"{folder}/fr/emergency.yaml: error: the file is missing." in spoilt.stdout
    assert "language" not in sound.stdout.replace(str(tmp_path), "")
    assert "below 70" in sound.stdout  # by the French formula and what it asks for


@pytest.mark.proof
def test_questions_are_answered_in_french_and_another_language_is_refused(tmp_path: Path) -> None:
    catalog = only_french(tmp_path)

    done = run(
        "answer", "--lang", "fr", "--catalog", catalog, data=tmp_path / "data", languages=LANGUAGES,
        given="Est-ce que ça fait mal ?\nJe n'arrive plus à respirer\n",
    )  # fmt: skip
    refused = run(
        "answer", "--lang", "it", "--catalog", catalog, data=tmp_path / "data", languages=LANGUAGES, given="x\n"
    )
    unset = run("answer", "--catalog", nobodys(tmp_path), data=tmp_path / "data", given="x\n")

    pain, air = (json.loads(line) for line in done.stdout.splitlines())
    assert (pain["lang"], pain["decision"], pain["pair_id"]) == ("fr", "answered", "pain")
    assert (air["lang"], air["decision"]) == ("fr", "urgent")
    assert done.stderr.count("language fr: without") == 1
    assert refused.returncode == unset.returncode == 2
    assert "This catalog has no language 'it' (it has fr)" in refused.stderr
    assert unset.stderr.startswith("klartext: There is no language 'it' (there are de, en, fr).")
    assert len(unset.stderr.splitlines()) == 1


def _interview(tmp_path: Path, *options: str, lines: list[str]) -> tuple[subprocess.CompletedProcess[str], Any]:
    form, answers, out = (tmp_path / name for name in ("Q.json", "answers.txt", "R.json"))
    form.write_text(json.dumps(TINY), encoding="utf-8")
    answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run(
        "interview", "--questionnaire", form, "--answers", answers, "--out", out, *options,
        data=tmp_path, languages=LANGUAGES,
    )  # fmt: skip
    return done, json.loads(out.read_text(encoding="utf-8")) if out.exists() else None


@pytest.mark.proof
def test_an_interview_is_held_in_french(tmp_path: Path) -> None:
    done, response = _interview(
        tmp_path, "--lang", "fr", lines=["pregnant\tje crois que non", "age\tsoixante-deux ans", "last\tmars 2020"]
    )

    assert done.returncode == 0, done.stderr
    assert [item["answer"][0] for item in response["item"]] == [
        {"valueBoolean": False}, {"valueInteger": 62}, {"valueDate": "2020-03"},
    ]  # fmt: skip
    assert said("interview.yaml")["completed"] in done.stdout
    assert "J'ai compris : Non. Est-ce juste ?" in done.stdout
    assert "mars 2020" in done.stdout


@pytest.mark.proof
def test_an_interview_speaks_the_language_of_its_form_and_takes_skip_and_why_in_it(tmp_path: Path) -> None:
    done, response = _interview(
        tmp_path, lines=["pregnant\tpourquoi ?", "pregnant\toui", "age\tpasser", "last\tje ne sais pas"]
    )

    assert said("interview.yaml")["why_unknown"] in done.stdout
    assert said("interview.yaml")["skipped"] in done.stdout
    assert [item["linkId"] for item in response["item"] if "answer" in item] == ["pregnant"]


@pytest.mark.proof
def test_an_interview_in_a_language_that_nobody_wrote_is_refused(tmp_path: Path) -> None:
    done, response = _interview(tmp_path, "--lang", "it", lines=["oui"])

    assert (done.returncode, response) == (2, None)
    assert "There is no language 'it' (there are de, en" in done.stderr


def test_a_shipped_language_is_copied_whole_to_be_changed_and_nothing_is_put_beside_what_is_there(
    tmp_path: Path,
) -> None:
    first = run("qa", "language", "fr", tmp_path / "languages", data=tmp_path)
    place = tmp_path / "languages" / "fr"
    (place / "health.tsv").unlink()
    again = run("qa", "language", "fr", tmp_path / "languages", data=tmp_path)

    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    assert f"{place / 'page.yaml'}: written, as it is shipped" in first.stdout.splitlines()
    assert again.stdout == f"{place}: complete, without plain.yaml, health.tsv, simple_words.tsv\n"
