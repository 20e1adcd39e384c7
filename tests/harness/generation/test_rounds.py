"""The rounds of critique and correction: when they stop, what siblings see, and that nothing is lost."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import BadData, Catalog, fold
from harness.generation.critique import CritiquePrompts, load_refine_texts
from harness.generation.refinery import Refinery
from harness.generation.rounds import (
    CARRIED,
    GOOD,
    LAST,
    TOTAL,
    UNCHANGED,
    UNCORRECTED,
    UNSCORED,
    Progress,
    replay,
    round_table,
)
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import Prompt
from harness.patients.suites import Question, Suite, load_suite
from harness.patients.vignettes import ALL, load_vignettes

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeQuestion = Callable[..., Question]
ASPECTS = list(load_refine_texts("de").labels)


class Critic:
    """Scores every text by a rule and corrects by adding a word; remembers every prompt."""

    def __init__(self, score: Callable[[str, int], int | str], correct: Callable[[str], str] | None = None) -> None:
        self.score = score
        self.correct = correct or (lambda text: f"{text.rstrip('?')} bitte?")
        self.asked: list[Prompt] = []

    def __call__(self, prompts: Sequence[Prompt], /) -> dict[str, ModelAnswer]:
        self.asked.extend(prompts)
        return {prompt.id: ModelAnswer(prompt.id, self.answer(prompt), "critic-1", "") for prompt in prompts}

    def answer(self, prompt: Prompt) -> str:
        step, number = prompt.id.split("/")[:2]
        if step == "correct":
            return self.correct(_text(prompt))
        score = self.score(_text(prompt), int(number))
        return score if isinstance(score, str) else json.dumps(dict.fromkeys(ASPECTS, score))


def _text(prompt: Prompt) -> str:
    found = re.search(r"(?:Zu prüfender|Bisheriger) Text: (.+)", prompt.task)
    assert found
    return found[1]


@pytest.fixture
def asking(shipped_catalogs: Mapping[str, Catalog]) -> CritiquePrompts:
    known = {vignette.id: vignette for vignette in load_vignettes("de", names=[ALL])}
    return CritiquePrompts(load_refine_texts("de"), shipped_catalogs["de"], known)


def run(questions: Sequence[Question], asking: CritiquePrompts, critic: Critic) -> Progress:
    answers: dict[str, ModelAnswer] = {}
    while True:
        progress = replay(questions, asking, answers)
        if not progress.pending:
            return progress
        answers |= critic(progress.pending)


def test_a_good_question_is_critiqued_once_and_left_alone(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    critic = Critic(lambda text, number: 5)

    (track,) = run([make_question(1, "Tut das weh?")], asking, critic).tracks

    assert (track.stopped, len(track.rounds), len(critic.asked)) == (GOOD, 1, 1)
    assert track.rounds[0].total == 1.0


@pytest.mark.parametrize(("second", "stopped", "rounds"), [(4.5, GOOD, 2), (4.4, LAST, 4)])
def test_ninety_percent_of_the_maximum_is_enough_and_less_is_not(
    asking: CritiquePrompts, make_question: MakeQuestion, second: float, stopped: str, rounds: int
) -> None:
    def score(text: str, number: int) -> str:
        return json.dumps(dict.fromkeys(ASPECTS, second if number == 2 else 3))

    (track,) = run([make_question(1, "Tut das weh?")], asking, Critic(score)).tracks

    assert (track.stopped, len(track.rounds)) == (stopped, rounds)


def test_there_are_four_rounds_at_most_and_three_corrections(
    asking: CritiquePrompts, make_question: MakeQuestion
) -> None:
    critic = Critic(lambda text, number: 1)

    (track,) = run([make_question(1, "Tut das weh?")], asking, critic).tracks

    assert track.stopped == LAST
    assert [one.number for one in track.rounds] == [1, 2, 3, 4]
    assert [prompt.id.split("/")[0] for prompt in critic.asked].count("correct") == 3
    assert track.rounds[3].text == "Tut das weh bitte bitte bitte?"


def test_the_best_round_wins_and_the_earliest_of_equals(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    scores = {1: 2, 2: 4, 3: 4, 4: 1}

    (track,) = run([make_question(1, "Tut das weh?")], asking, Critic(lambda text, number: scores[number])).tracks

    assert track.best is not None
    assert track.best.number == 2


def test_a_critique_that_cannot_be_read_is_asked_again_once_and_then_unscored(
    asking: CritiquePrompts, make_question: MakeQuestion
) -> None:
    critic = Critic(lambda text, number: "Schöne Frage!")

    (track,) = run([make_question(1, "Tut das weh?")], asking, critic).tracks

    assert (track.stopped, track.rounds[0].scores, track.best) == (UNSCORED, None, None)
    assert [prompt.id.partition("#")[2] for prompt in critic.asked] == ["", "2"]
    assert "nicht zu lesen" in critic.asked[1].task


def test_a_second_reading_that_succeeds_counts(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    critic = Critic(lambda text, number: "Hm." if len(critic.asked) == 1 else 5)

    (track,) = run([make_question(1, "Tut das weh?")], asking, critic).tracks

    assert (track.stopped, track.rounds[0].critique) == (GOOD, critic.asked[1].hash)


@pytest.mark.parametrize(
    ("correct", "stopped"),
    [
        (lambda text: "Es tut mir leid, ich kann dabei nicht helfen.", UNCORRECTED),
        (lambda text: text.upper(), UNCHANGED),
    ],
)
def test_corrections_that_are_none_end_the_rounds(
    asking: CritiquePrompts, make_question: MakeQuestion, correct: Callable[[str], str], stopped: str
) -> None:
    (track,) = run([make_question(1, "Tut das weh?")], asking, Critic(lambda text, number: 2, correct)).tracks

    assert (track.stopped, len(track.rounds)) == (stopped, 1)


def test_a_correction_is_read_without_label_and_quotes(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    critic = Critic(lambda text, number: 2 if number == 1 else 5, lambda text: 'Frage: "Wird das schmerzhaft sein?"')

    (track,) = run([make_question(1, "Tut das weh?")], asking, critic).tracks

    assert track.rounds[1].text == "Wird das schmerzhaft sein?"
    assert (track.rounds[1].writer, track.rounds[1].correction) == ("critic-1", critic.asked[1].hash)


def test_siblings_go_in_step_and_see_each_others_corrected_texts(
    asking: CritiquePrompts, make_question: MakeQuestion
) -> None:
    questions = [
        make_question(1, "Tut das weh?"),
        make_question(2, "Spürt man das?"),
        make_question(3, "Wie teuer?", "costs"),
    ]
    critic = Critic(lambda text, number: 5 if text.startswith("Spürt") or number == 2 else 1)

    tracks = run(questions, asking, critic).tracks

    assert [len(track.rounds) for track in tracks] == [2, 1, 2]
    prompts = {prompt.id: prompt.task for prompt in critic.asked}
    first, second = (prompts[f"critique/{n}/{questions[0].id}"] for n in (1, 2))
    assert "- Spürt man das?" in first
    assert "Wie teuer?" not in first
    assert "Zu prüfender Text: Tut das weh bitte?" in second
    alone = prompts[f"critique/1/{questions[2].id}"]
    assert "derselben Patientin:\n–\n" in alone


def test_the_prompts_hold_patient_question_aspects_and_feedback(
    asking: CritiquePrompts, make_question: MakeQuestion
) -> None:
    critic = Critic(lambda text, number: 2)
    run([make_question(1, "Kostet es $text oder $keys?")], asking, critic)

    critique, correction = critic.asked[:2]
    assert "geringer Gesundheitskompetenz" in critique.task
    assert "Tut die Mammographie weh?" in critique.task
    assert "Kostet es $text oder $keys?" in critique.task
    for key in ASPECTS:
        assert f"- {key} (" in critique.task
    assert '"meaning": 2' in correction.task
    assert "geringer Gesundheitskompetenz" in correction.system


def test_an_unknown_vignette_is_one_clear_line(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    with pytest.raises(BadData, match=r"The vignette 'tired' of the suite is unknown .+ `--vignettes`"):
        replay([make_question(1, "Tut das weh?", vignette="tired")], asking, {})


def test_the_table_of_rounds_by_hand(asking: CritiquePrompts, make_question: MakeQuestion) -> None:
    """Two questions: one stops with 5/5 at once, the other goes 2, 4, 3, 3."""
    scores = {1: 2, 2: 4, 3: 3, 4: 3}
    questions = [make_question(1, "Gut so?"), make_question(2, "Wie teuer?", "costs")]
    critic = Critic(lambda text, number: 5 if text == "Gut so?" else scores[number])

    table = round_table(run(questions, asking, critic).tracks, ASPECTS)

    total = table.rows[TOTAL]
    assert [cell.mean for cell in total if cell] == pytest.approx([0.7, 0.8, 0.6, 0.6])
    assert [cell.n for cell in total if cell] == [2, 1, 1, 1]
    assert total[0] is not None
    assert total[0].deviation == pytest.approx(0.4243, abs=1e-4)
    assert [cell.mean for cell in table.rows[CARRIED] if cell] == pytest.approx([0.7, 0.9, 0.8, 0.8])
    assert table.rows["fit"] == total  # every aspect had the same score
    assert table.stopped == {GOOD: 1, LAST: 1}
    assert table.best == {1: 1, 2: 1}


@pytest.fixture
def two(make_suite: Callable[[Sequence[Question]], Suite], make_question: MakeQuestion) -> Suite:
    return make_suite(
        [make_question(1, "Tut das weh?"), make_question(2, "Spürt man das?"), make_question(3, "Und die Seele?", None)]
    )


def batch_line(prompt: dict[str, Any], content: str) -> str:
    choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
    body = {"model": "critic-1", "choices": choices}
    return json.dumps({"custom_id": prompt["custom_id"], "response": {"status_code": 200, "body": body}}) + "\n"


def answered(folder: Path, file: Path, critic: Critic) -> Path:
    """Answer the prompts that wait in a folder, as somebody elsewhere would."""
    lines = []
    for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines():
        prompt = json.loads(line)
        system, task = (message["content"] for message in prompt["body"]["messages"])
        asked = Prompt(prompt["custom_id"], "paraphrase", "", None, "de", system, task, 1)
        lines.append(batch_line(prompt, critic.answer(asked)))
    file.write_text("".join(lines), encoding="utf-8")
    return file


def test_offline_round_by_round_to_a_suite_with_provenance(
    command: Command, small_folder: Path, two: Suite, tmp_path: Path
) -> None:
    critic = Critic(lambda text, number: 5 if "bitte" in text else 3)
    out = tmp_path / "refined"
    base = ["suite", "refine", "--suite", tmp_path / "suite", "--work", out, "--catalog", small_folder]
    seen = []

    done = command(*base)
    for step in range(3):
        assert done.returncode == 0, done.stderr
        seen.append(
            [json.loads(x)["custom_id"].split("/")[0] for x in (out / "prompts.jsonl").read_text().splitlines()]
        )
        done = command(*base, "--answers", answered(out, tmp_path / f"{step}.jsonl", critic))

    assert seen == [["critique"] * 2, ["correct"] * 2, ["critique"] * 2]
    assert "2 questions: 2 good enough. Best: 2 in round 2." in done.stdout
    assert (out / "prompts.jsonl").read_text() == ""
    rounds = [json.loads(line) for line in (out / "rounds.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["number"], one["total"], one["stopped"]) for one in rounds] == [(1, 0.6, None), (2, 1.0, GOOD)] * 2

    named = command(*base, "--out", tmp_path / "suites" / "better")
    assert named.returncode == 0, named.stderr
    suite = load_suite(tmp_path / "suites" / "better")
    assert [one.text for one in suite.questions] == ["Tut das weh bitte?", "Spürt man das bitte?", "Und die Seele?"]
    assert [one.id.partition("~")[2] for one in suite.questions] == ["2", "2", ""]
    assert suite.questions[0].source.model == "critic-1"
    assert suite.questions[0].source.prompt == rounds[1]["correction"]
    assert suite.questions[2].source == two.questions[2].source


def test_a_suite_is_not_written_while_prompts_wait(
    command: Command, small_folder: Path, two: Suite, tmp_path: Path
) -> None:
    out = tmp_path / "refined"

    done = command(
        *("suite", "refine", "--suite", tmp_path / "suite", "--work", out, "--catalog", small_folder),
        *("--out", tmp_path / "suites" / "better"),
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "2 prompts in" in done.stderr
    assert not (tmp_path / "suites").exists()


def opened(tmp_path: Path, small_folder: Path) -> Refinery:
    return Refinery.open(tmp_path / "refined", str(tmp_path / "suite"), str(small_folder))


def test_live_and_offline_come_to_the_same_rounds(small_folder: Path, two: Suite, tmp_path: Path) -> None:
    critic = Critic(lambda text, number: 5 if text.count("bitte") == 2 else 3)
    live = opened(tmp_path, small_folder).advance(critic)

    offline, step = opened(tmp_path, small_folder), 0
    while (progress := offline.advance()).pending:
        offline.keep(progress, model="m", temperature=None)
        offline.take([answered(offline.folder.path, tmp_path / f"{step}.jsonl", critic)])
        step += 1

    assert progress == live


def test_a_line_that_a_kill_left_unfinished_costs_that_line_only(
    small_folder: Path, two: Suite, tmp_path: Path
) -> None:
    critic = Critic(lambda text, number: 3)
    refinery = opened(tmp_path, small_folder)
    refinery.keep(refinery.advance(), model="m", temperature=None)
    answers = answered(refinery.folder.path, tmp_path / "1.jsonl", critic)
    refinery.take([answers])
    whole = refinery.folder.answers_file.read_bytes()
    refinery.folder.answers_file.write_bytes(whole[:-20])

    assert opened(tmp_path, small_folder).take([answers]) == 1
    assert refinery.folder.answers_file.read_bytes() == whole


def test_an_answer_in_error_is_replaced_by_a_later_good_one(small_folder: Path, two: Suite, tmp_path: Path) -> None:
    refinery = opened(tmp_path, small_folder)
    first = refinery.advance().pending[0]
    (tmp_path / "bad.jsonl").write_text(json.dumps({"custom_id": first.id, "response": {"status_code": 500}}) + "\n")
    (tmp_path / "good.jsonl").write_text(batch_line({"custom_id": first.id}, json.dumps(dict.fromkeys(ASPECTS, 5))))

    refinery.take([tmp_path / "bad.jsonl"])
    assert first.id in {prompt.id for prompt in refinery.advance().pending}
    refinery.take([tmp_path / "good.jsonl"])

    assert first.id not in {prompt.id for prompt in refinery.advance().pending}


def test_nobody_answering_ends_the_asking(small_folder: Path, two: Suite, tmp_path: Path) -> None:
    progress = opened(tmp_path, small_folder).advance(lambda prompts, /: {})

    assert len(progress.pending) == 2


def test_a_correction_that_equals_its_sibling_is_left_out(small_folder: Path, two: Suite, tmp_path: Path) -> None:
    critic = Critic(lambda text, number: 5 if number == 2 else 3, lambda text: "Ist es schlimm?")
    refinery = opened(tmp_path, small_folder)

    meta = refinery.write_suite(refinery.advance(critic), tmp_path / "better", answered="live", note="")

    assert meta.dropped == {"duplicate": 1}
    texts = [fold(one.text) for one in load_suite(tmp_path / "better").questions]
    assert len(texts) == len(set(texts)) == 2


def test_a_folder_holds_one_refinement_only_and_answers_must_be_its_own(
    small_folder: Path, two: Suite, tmp_path: Path
) -> None:
    refinery = opened(tmp_path, small_folder)
    (tmp_path / "a.jsonl").write_text(batch_line({"custom_id": "paraphrase/x/y"}, "Hm?"))

    with pytest.raises(BadData, match="1 answers belong to nothing that is asked here"):
        refinery.take([tmp_path / "a.jsonl"])
    with pytest.raises(BadData, match="holds work on something else"):
        Refinery.open(tmp_path / "refined", str(tmp_path / "suite"), str(small_folder), limit=1)
    with pytest.raises(BadData, match="There is no suite"):
        Refinery.open(tmp_path / "other", "nowhere", str(small_folder))
