"""Questions unlike their patient are rejected and asked for again: live, offline, and never without end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bot import BadData, Catalog, LanguageDetector
from harness.generation.recording import UNLIKE, Regeneration, load_again
from harness.llm.batch_files import ModelAnswer
from harness.patients.fidelity import TOO_HIGH, TOO_LOW, FidelityJudge
from harness.patients.prompts import Prompt, SuiteSize, build_prompts
from harness.patients.suites import QuestionSource, load_suite
from harness.patients.vignettes import Targets, load_vignettes

Command = Callable[..., subprocess.CompletedProcess[str]]
GOOD = ["Tut das weh?", "Ist das sehr schlimm?", "Muss ich Angst haben vor Schmerzen?", "Spüre ich das stark?"]
LEARNED = "Ist die Kompression bei dichtem Parenchym mit relevanter Mastodynie assoziiert?"
OFFLINE = QuestionSource(kind="model", answered="offline", date=date(2026, 1, 2))


class Patient:
    """Answers prompts from a list, a line at a time, and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Prompt] = []

    def __call__(self, prompts: Sequence[Prompt], /) -> dict[str, ModelAnswer]:
        self.asked.extend(prompts)
        return {prompt.id: answer(prompt.id, self.answers.pop(0)) for prompt in prompts if self.answers}


def answer(prompt_id: str, *lines: str) -> ModelAnswer:
    return ModelAnswer(prompt_id, "\n".join(lines), "m-1", "")


@pytest.fixture
def prompts(shipped_catalogs: Mapping[str, Catalog]) -> list[Prompt]:
    vignettes = load_vignettes("de", names=["low-health-literacy"])
    return [p for p in build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(3, 0)) if p.pair_id == "pain"]


@pytest.fixture
def completion(shipped_catalogs: Mapping[str, Catalog]) -> Regeneration:
    detector = LanguageDetector({lang: [pair.answer for pair in c.pairs] for lang, c in shipped_catalogs.items()})
    return Regeneration(FidelityJudge.open("de"), detector, OFFLINE, load_again("de"))


def test_what_fits_is_kept_and_nothing_is_asked_again(completion: Regeneration, prompts: list[Prompt]) -> None:
    patient = Patient()

    done = completion.run(prompts, {prompts[0].id: answer(prompts[0].id, *GOOD[:3])}, patient)

    assert [question.text for question in done.recording.questions] == GOOD[:3]
    assert (done.missing, done.rounds, patient.asked) == ((), 1, [])


def test_an_outlier_is_rejected_and_replaced(completion: Regeneration, prompts: list[Prompt]) -> None:
    patient = Patient(GOOD[2])

    done = completion.run(prompts, {prompts[0].id: answer(prompts[0].id, GOOD[0], LEARNED, GOOD[1])}, patient)

    assert [question.text for question in done.recording.questions] == [GOOD[0], GOOD[1], GOOD[2]]
    assert done.recording.reasons == {UNLIKE: 1}
    assert done.recording.short == {}
    assert done.rounds == 2
    new = done.recording.questions[-1]
    assert new.id == "paraphrase/low-health-literacy/pain#2/1"
    assert new.source.prompt == patient.asked[0].hash


def test_the_second_prompt_says_what_was_wrong_and_how_many_are_missing(
    completion: Regeneration, prompts: list[Prompt]
) -> None:
    patient = Patient()

    completion.run(prompts, {prompts[0].id: answer(prompts[0].id, GOOD[0], LEARNED)}, patient)

    task = patient.asked[0].task
    assert patient.asked[0].count == 2
    assert " 2 verschiedene Varianten" in task
    assert "Tut die Mammographie weh?" in task
    assert f"- {GOOD[0]}\n" in task
    assert f"- {LEARNED} (zu schwer zu lesen, zu viele Fachwörter)" in task


def test_rounds_end_at_the_limit_and_the_gap_is_said(completion: Regeneration, prompts: list[Prompt]) -> None:
    stubborn = Patient(*[LEARNED.replace("relevanter", f"relevanter {n}") for n in range(20)])

    done = completion.run(prompts, {prompts[0].id: answer(prompts[0].id, GOOD[0])}, stubborn)

    assert (done.rounds, len(stubborn.asked)) == (3, 2)
    assert done.recording.short == {prompts[0].id: 2}
    assert [prompt.id for prompt in done.missing] == [f"{prompts[0].id}#4"]  # who runs it again asks that
    assert done.recording.reasons == {UNLIKE: 2}


def test_a_question_that_was_there_already_fills_no_gap(completion: Regeneration, prompts: list[Prompt]) -> None:
    patient = Patient("tut das WEH?", GOOD[3])

    done = completion.run(prompts, {prompts[0].id: answer(prompts[0].id, *GOOD[:2])}, patient)

    assert [question.text for question in done.recording.questions] == [*GOOD[:2], GOOD[3]]
    assert done.recording.reasons == {"duplicate": 1}


def test_without_anyone_to_ask_the_missing_prompts_come_back(completion: Regeneration, prompts: list[Prompt]) -> None:
    first = {prompts[0].id: answer(prompts[0].id, GOOD[0], LEARNED)}

    done = completion.run(prompts, first)

    assert [(prompt.id, prompt.count) for prompt in done.missing] == [(f"{prompts[0].id}#2", 2)]
    again = completion.run(prompts, {**first, done.missing[0].id: answer(done.missing[0].id, *GOOD[1:3])})
    assert [question.text for question in again.recording.questions] == GOOD[:3]
    assert again.missing == ()


def test_offline_and_live_come_to_the_same_suite(completion: Regeneration, prompts: list[Prompt]) -> None:
    first = {prompts[0].id: answer(prompts[0].id, GOOD[0], LEARNED)}
    live = completion.run(prompts, first, Patient(f"{GOOD[1]}\n{LEARNED}", GOOD[2]))

    answers, offline = dict(first), completion.run(prompts, first)
    for text in (f"{GOOD[1]}\n{LEARNED}", GOOD[2]):
        answers |= {prompt.id: answer(prompt.id, text) for prompt in offline.missing}
        offline = completion.run(prompts, answers)

    assert live.recording.questions == offline.recording.questions


def test_answers_to_some_of_the_missing_prompts_are_kept(
    completion: Regeneration, shipped_catalogs: Mapping[str, Catalog]
) -> None:
    vignettes = load_vignettes("de", names=["low-health-literacy"])
    two = build_prompts(shipped_catalogs["de"], vignettes, SuiteSize(1, 0))[:2]
    first = {prompt.id: answer(prompt.id, LEARNED) for prompt in two}
    assert len(completion.run(two, first).missing) == 2

    half = completion.run(two, {**first, f"{two[1].id}#2": answer(f"{two[1].id}#2", GOOD[0])})

    assert [question.text for question in half.recording.questions] == [GOOD[0]]
    assert [prompt.id for prompt in half.missing] == [f"{two[0].id}#2"]


def test_answers_to_other_prompts_are_refused(completion: Regeneration, prompts: list[Prompt]) -> None:
    for stranger in ("paraphrase/low-health-literacy/costs", "paraphrase/low-health-literacy/costs#2"):
        with pytest.raises(BadData, match="1 answer to no prompt of this plan"):
            completion.run(prompts, {stranger: answer(stranger, GOOD[0])})


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_miss_has_words_in_both_languages(language: str) -> None:
    expected = {f"{name} {side}" for name in Targets.model_fields for side in (TOO_LOW, TOO_HIGH)}

    assert set(load_again(language).unfit) == expected


def line(prompt_id: str, content: str) -> dict[str, Any]:
    choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
    return {"custom_id": prompt_id, "response": {"status_code": 200, "body": {"model": "m-1", "choices": choices}}}


def write(file: Path, lines: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")
    return file


def test_import_rejects_exports_what_is_missing_and_then_writes_the_suite(
    command: Command, small_folder: Path, tmp_path: Path
) -> None:
    plan = ["--catalog", small_folder, "--vignette", "low-health-literacy", "--variations", "1", "--novel", "0"]
    exported, missing = tmp_path / "prompts.jsonl", tmp_path / "missing.jsonl"
    assert command("suite", "make", "--out", tmp_path / "suites" / "mine", "--prompts", exported, *plan).returncode == 0
    ids = [json.loads(text)["custom_id"] for text in exported.read_text(encoding="utf-8").splitlines()]
    answers = write(
        tmp_path / "1.jsonl", [line(one, LEARNED if n == 1 else f"Frage {n}, ja?") for n, one in enumerate(ids)]
    )
    rest = ["--out", tmp_path / "suites" / "mine", *plan, "--fidelity", "reject", "--missing", missing]

    first = command("suite", "make", "--answers", answers, *rest)

    assert first.returncode == 1, first.stderr
    assert "1 question rejected" in first.stdout
    assert not (tmp_path / "suites").exists()
    (request,) = [json.loads(text) for text in missing.read_text(encoding="utf-8").splitlines()]
    assert request["custom_id"] == f"{ids[1]}#2"
    assert request["body"]["model"] == "m-1"

    more = write(tmp_path / "2.jsonl", [line(f"{ids[1]}#2", "Tut das sehr weh?")])
    second = command("suite", "make", "--answers", answers, "--answers", more, *rest)

    assert second.returncode == 0, second.stderr
    suite = load_suite(tmp_path / "suites" / "mine")
    assert len(suite.questions) == len(ids)
    assert suite.meta.dropped == {UNLIKE: 1}
    assert "Tut das sehr weh?" in {question.text for question in suite.questions}


def test_by_default_outliers_stay_and_are_reported(command: Command, small_folder: Path, tmp_path: Path) -> None:
    plan = ["--catalog", small_folder, "--vignette", "low-health-literacy", "--variations", "1", "--novel", "0"]
    answers = write(tmp_path / "1.jsonl", [line("paraphrase/low-health-literacy/pain", LEARNED)])

    done = command("suite", "make", "--answers", answers, "--out", tmp_path / "mine", *plan, "--allow-short")

    assert done.returncode == 0, done.stderr
    assert "fidelity: 1 of 1 question unlike their vignette" in done.stdout
    assert [question.text for question in load_suite(tmp_path / "mine").questions] == [LEARNED]
