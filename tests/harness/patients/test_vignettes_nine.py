"""The nine shipped patients, who is asked, and the command that lists and checks them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData, Catalog, LanguageDetector, data_folder
from harness.commands.options import read_list
from harness.generation.recording import record
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import SuiteSize, build_prompts
from harness.patients.suites import QuestionSource, load_suite
from harness.patients.vignettes import ALL, load_folder, load_vignettes

Command = Callable[..., subprocess.CompletedProcess[str]]
PAPERS = ["high-health-literacy", "low-health-literacy", "low-language-literacy"]
OURS = [
    *("anxious-first-timer", "clinical-background", "hurried-parent"),
    *("language-mixer", "long-stories", "speech-to-text"),
]
TEXTS: dict[str, Any] = {
    "title": "Müde",
    "description": "Liest wenig.",
    "impersonation": "Sie sind müde.",
    "targets": {"words": [2, 9], "reading_ease": [40, 90], "jargon_share": [0, 0.1]},
}
TIRED: dict[str, Any] = {
    "id": "tired",
    "literacy": {"health": "low", "language": "native"},
    "languages": {"de": TEXTS},
}


def write(file: Path, document: object) -> Path:
    file.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return file


@pytest.mark.parametrize("language", ["de", "en"])
def test_nine_patients_are_shipped_in_both_languages(language: str) -> None:
    everyone = load_vignettes(language, names=[ALL])

    assert sorted(vignette.id for vignette in everyone) == sorted([*PAPERS, *OURS])
    assert len({vignette.title for vignette in everyone}) == 9
    assert len({vignette.impersonation for vignette in everyone}) == 9
    for vignette in everyone:
        assert "$exam" in vignette.impersonation
        assert vignette.age is not None
        assert vignette.typing is not None
        assert vignette.mood


def test_every_vignette_speaks_the_same_languages() -> None:
    assert {tuple(file.languages) for file in load_folder(data_folder("vignettes"))} == {("de", "en", "fr")}


def test_only_the_papers_three_are_asked_unless_others_are_named() -> None:
    assert [vignette.id for vignette in load_vignettes("de")] == PAPERS
    named = load_vignettes("de", names=["speech-to-text", "low-health-literacy"])
    assert [vignette.id for vignette in named] == ["low-health-literacy", "speech-to-text"]


def test_an_unknown_name_is_one_clear_line_with_the_known_ones() -> None:
    with pytest.raises(
        BadData, match=r"No vignette 'tired' speaks 'de' in .+ Known: anxious-first-timer, .+, or `all`"
    ):
        load_vignettes("de", names=["tired"])


@pytest.mark.parametrize(("suite", "variations", "novel"), [("mammography-de", 10, 20), ("mammography-en", 5, 10)])
def test_the_prompts_of_the_recorded_suites_are_still_the_same(
    shipped_catalogs: Mapping[str, Catalog], suite: str, variations: int, novel: int
) -> None:
    questions = load_suite(suite).questions
    language = questions[0].lang
    catalog, published = shipped_catalogs[language], read_list("published-33")
    catalog = replace(catalog, pairs=tuple(pair for pair in catalog.pairs if pair.id in published))

    prompts = build_prompts(catalog, load_vignettes(language), SuiteSize(variations, novel))

    assert {question.source.prompt for question in questions} == {prompt.hash for prompt in prompts}


def test_words_of_another_language_are_no_reason_to_drop_a_question_of_who_mixes(
    shipped_catalogs: Mapping[str, Catalog],
) -> None:
    detector = LanguageDetector({lang: [pair.answer for pair in c.pairs] for lang, c in shipped_catalogs.items()})
    vignettes = load_vignettes("de", names=["language-mixer", "low-health-literacy"])
    prompts = [p for p in build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(1, 0)) if p.pair_id == "pain"]
    english = "Does the compression hurt a lot during the examination?"
    answers = {prompt.id: ModelAnswer(prompt.id, english, "m", "") for prompt in prompts}

    recording = record(prompts, answers, detector=detector, source=QuestionSource(kind="model"))

    assert [question.vignette for question in recording.questions] == ["language-mixer"]
    assert recording.reasons == {"wrong language": 1}


@pytest.mark.parametrize(
    ("targets", "problem"),
    [
        ({"words": [9, 2]}, r"words goes from 9 to 2"),
        ({"jargon_share": [0, 10]}, r"jargon_share goes from 0\.0 to 10\.0: a share lies"),
        ({"typo_share": [0.2, 0.1]}, r"typo_share goes from 0\.2 to 0\.1"),
        ({"commas": [0, 1]}, r"languages\.de\.targets\.commas"),
    ],
)
def test_ranges_that_cannot_be_meant_are_refused(tmp_path: Path, targets: dict[str, Any], problem: str) -> None:
    wrong = {**TIRED, "languages": {"de": {**TEXTS, "targets": {**TEXTS["targets"], **targets}}}}
    write(tmp_path / "tired.yaml", wrong)

    with pytest.raises(BadData, match=rf"tired\.yaml is not valid: .*{problem}"):
        load_folder(tmp_path)


def test_two_vignettes_with_one_id_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", TIRED)
    write(tmp_path / "b.yaml", TIRED)

    with pytest.raises(BadData, match=r"b\.yaml has the id 'tired', as another vignette"):
        load_folder(tmp_path)


def test_the_table_names_everyone_and_marks_the_default(command: Command) -> None:
    done = command("suite", "vignettes", "--lang", "en")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for name in OURS:
        assert any(line.startswith(f"  {name} ") for line in lines), name
    for name in PAPERS:
        assert any(line.startswith(f"* {name} ") for line in lines), name


def test_ones_own_vignettes_are_checked_and_asked(command: Command, tmp_path: Path) -> None:
    write(tmp_path / "tired.yaml", TIRED)
    out = tmp_path / "prompts.jsonl"

    checked = command("suite", "vignettes", "--check", tmp_path)
    small = ("--variations", "1", "--novel", "0")
    exported = command("suite", "make", "--out", tmp_path / "s", "--vignettes", tmp_path, *small, "--prompts", out)

    assert (checked.returncode, checked.stdout.strip()) == (0, f"{tmp_path}: 1 valid, in de")
    assert exported.returncode == 0, exported.stderr
    ids = [json.loads(line)["custom_id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(ids) == 43
    assert all(one.startswith("paraphrase/tired/") for one in ids)


def test_a_wrong_file_and_an_empty_folder_are_one_line_and_exit_2(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    wrong = write(tmp_path / "wrong.yaml", {**TIRED, "literacy": {"health": "none", "language": "native"}})

    for path, problem in ((wrong, "literacy.health"), (tmp_path / "empty", "holds no vignette"), (tmp_path / "x", "x")):
        done = command("suite", "vignettes", "--check", path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert problem in done.stderr
