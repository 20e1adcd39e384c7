"""The whole way by the commands: queue, labels of two people and a model, disagreement, decision, new score, judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.commands.main import app, assemble
from bot.testing import scripted_endpoint
from harness.judging.judge import (
    Judge,
    JudgePrompt,
    Recorded,
    keep,
    load_comparisons,
    load_instructions,
    load_ratings,
    take,
)
from harness.labelling.labels import Rater, label_files, load_labels
from harness.llm.batch_files import ModelAnswer
from harness.running.outcomes import Outcome
from tests.harness.runs import write_run

Command = Callable[..., Result]


@pytest.fixture
def command() -> Command:
    """Run `klartext harness …` in this process: starting twenty others takes longer than all they do."""
    assemble()

    def invoke(*args: str | Path, typed: str = "") -> Result:
        return CliRunner().invoke(app, ["harness", *map(str, args)], input=typed)

    return invoke


@pytest.fixture
def run(tmp_path: Path, make_outcome: Callable[..., Outcome]) -> Path:
    """Twelve answered novel questions, and a paraphrase that was answered with another pair."""
    return write_run(tmp_path / "run", _outcomes(make_outcome, "pain", "costs"))


@pytest.fixture
def other(tmp_path: Path, make_outcome: Callable[..., Outcome]) -> Path:
    """The same questions, half of them answered with another pair."""
    return write_run(tmp_path / "other", _outcomes(make_outcome, "pain", "duration", shifted=True))


def _outcomes(make_outcome: Callable[..., Outcome], *pairs: str, shifted: bool = False) -> list[Outcome]:
    novel = [
        make_outcome(f"n{n:02}", pair_id=None, answered_with=pairs[(n + (n < 6 and shifted)) % 2], text=f"Frage {n}?")
        for n in range(12)
    ]
    return [*novel, make_outcome("p1", pair_id="pain", answered_with="costs")]


def answer(prompt: dict[str, Any], content: str, model: str = "judge-1") -> str:
    body = {"model": model, "choices": [{"message": {"role": "assistant", "content": content}}]}
    line = {"custom_id": prompt["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
    return json.dumps(line, ensure_ascii=False) + "\n"


def prompts_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_two_raters_and_a_model_from_queue_to_new_score(
    command: Command, run: Path, tmp_path: Path, small_folder: Path
) -> None:
    (tmp_path / "doubt.json").write_text('["p1"]', encoding="utf-8")
    catalog = ("--catalog", small_folder)
    found = command("labels", "queue", run, "--fidelity", tmp_path / "doubt.json")
    assert "1 paraphrases: 0 right, 1 wrong, 0 ambiguous" in found.stdout, found.stderr
    assert "Too few scored paraphrases" in found.stdout

    queued = command("labels", "queue", run, "--rater", "anna", "--rater", "ben", "--items", "novel")
    assert queued.stdout.count("12 items in") == 2, queued.stderr
    anna = command("labels", "give", run, "--rater", "anna", *catalog, typed="3\n" * 12)
    ben = command("labels", "give", run, "--rater", "ben", *catalog, typed="3\n" * 9 + "1a\n" * 3)
    assert "12 beurteilt, in " in anna.stdout + anna.stderr
    assert "12 beurteilt, in " in ben.stdout

    exported = command("judge", run, "--prompts", tmp_path / "in.jsonl", *catalog)
    assert exported.stdout == f"12 prompts in {tmp_path / 'in.jsonl'}\n", exported.stderr
    prompts = prompts_of(tmp_path / "in.jsonl")
    verdicts = ['{"label": "correct"}'] * 10 + ["I cannot say.", '{"label": "partial", "reason": "buried"}']
    lines = (answer(prompt, verdict) for prompt, verdict in zip(prompts, verdicts, strict=True))
    (tmp_path / "out.jsonl").write_text("".join(lines), encoding="utf-8")
    taken = command("judge", run, "--answers", tmp_path / "out.jsonl")
    assert taken.stdout.startswith("model:judge-1: 11 labels, 0 ratings, 0 comparisons; 1 answers could not"), (
        taken.stderr
    )
    assert {label.rater.kind for label in load_labels([run / "labels" / "model-judge-1.jsonl"])} == {"model"}

    compared = json.loads(command("labels", "agreement", run, "--json").stdout)
    assert [pair["raters"] for pair in compared["pairs"]] == [
        ["person:anna", "person:ben"],
        ["person:anna", "model:judge-1"],
        ["person:ben", "model:judge-1"],
    ]
    assert (compared["pairs"][0]["n"], compared["pairs"][1]["n"]) == (12, 11)
    assert "Agreement" in command("labels", "agreement", run, "--all-labelled").stdout

    decided = command("labels", "give", run, "--decide", "--rater", "carla", *catalog, typed="2d\n3\n1\n")
    assert "3 beurteilt, in " in decided.stdout, decided.stderr
    rescored = command("labels", "apply", run)
    assert "Novel questions: 12; incorrect 1, partially correct 1, correct 10" in rescored.stdout, rescored.stderr
    record = json.loads((run / "rescored.json").read_text(encoding="utf-8"))
    assert [item["file"] for item in record["labels"]] == [
        "adjudicator-carla.jsonl",
        "person-anna.jsonl",
        "person-ben.jsonl",
    ]

    for suffix in ("csv", "jsonl"):
        command("labels", "export", run, "--out", tmp_path / f"labels.{suffix}")
        again = command("labels", "import", run, tmp_path / f"labels.{suffix}")
        assert again.stdout == "0 labels added, 38 there already\n", again.stderr
    assert (
        "12 items in"
        in command("labels", "export", run, "--to-label", "--out", tmp_path / "items.csv", *catalog).stdout
    )


def test_a_judge_that_scores_and_compares(
    command: Command, run: Path, other: Path, tmp_path: Path, small_folder: Path
) -> None:
    beside = ("--beside", other, "--items", "novel", "--catalog", small_folder)
    command("judge", run, "--mode", "rate", "--prompts", tmp_path / "rate.jsonl", *beside)
    command("judge", run, "--mode", "compare", "--prompts", tmp_path / "compare.jsonl", *beside)
    rates, compares = prompts_of(tmp_path / "rate.jsonl"), prompts_of(tmp_path / "compare.jsonl")
    different = {p["custom_id"].split("/")[2].split("#")[0] for p in compares}
    assert len(compares) == 2 * len(different) == 2 * 9  # both orders; of the last six, three were answered alike
    aspects = [aspect.id for aspect in load_instructions().aspects]
    lines = []
    for prompt in rates:  # this judge likes "pain", and is not sure of "kind"
        liked = prompt["custom_id"].endswith("#pain")
        lines.append(answer(prompt, json.dumps({a: (4 if liked else 2) if a != "kind" else 3 for a in aspects})))
    for number, prompt in enumerate(compares):
        _, _, item = prompt["custom_id"].split("/")
        _, a, _b = item.split("#")
        ab = prompt["custom_id"].startswith("compare/ab/")
        if number >= 14:  # in the last two duels it takes whatever stands first
            lines.append(answer(prompt, '{"better": 1}'))
        else:
            lines.append(answer(prompt, json.dumps({"better": 1 if (a == "pain") == ab else 2})))
    (tmp_path / "answers.jsonl").write_text("".join(lines), encoding="utf-8")
    both = "".join(
        json.dumps({"item_id": f"n{n:02}#{pair}", "rater_id": "person:anna", "label": verdict}) + "\n"
        for n in range(12)
        for pair, verdict in (("pain", "correct"), ("costs", "incorrect"), ("duration", "partial"))
    )
    (tmp_path / "people.jsonl").write_text(both, encoding="utf-8")
    command("labels", "import", run, tmp_path / "people.jsonl")

    command("judge", run, "--answers", tmp_path / "answers.jsonl", "--model", "fair judge")
    done = command("judge", run, "--json")

    record = json.loads(done.stdout)["judges"][0]
    bias = record["position_bias"]
    assert (bias["n"], bias["consistent"], bias["first"], bias["second"]) == (9, 7, 2, 0)
    assert record["comparison_and_people"]["n"] == 7
    by_name = {aspect["name"]: aspect for aspect in record["aspects"]}
    assert by_name["kind"]["tau"] is None
    assert by_name["plain"]["tau"] > 0.7
    searches = {item["search"]: item for item in record["selection"][0]["searches"]}
    assert searches["greedy"]["in_sample"] >= searches["all aspects"]["in_sample"]
    assert "kind" not in searches["greedy"]["subset"]
    table = command("judge", run).stdout
    assert "position bias 22.2%" in table
    assert "held out" in table


def test_a_live_judge_is_anything_that_answers_prompts(run: Path, tmp_path: Path) -> None:
    class Scripted:
        def ask(self, prompts: Sequence[JudgePrompt]) -> dict[str, ModelAnswer]:
            return {p.id: ModelAnswer(p.id, '{"plain": 4}' if "n01" in p.id else "no", "m", "") for p in prompts}

    prompts = [JudgePrompt(f"rate/{question}#pain", "s", "t") for question in ("n01", "n02")]
    judges: list[Judge] = [Scripted(), Recorded([])]
    rater = Rater(kind="model", name="m.1")

    taken = take(judges[0].ask(prompts), rater=rater, known={"n01", "n02"})
    keep(run, taken, rater)

    assert [rating.scores for rating in load_ratings(run, "model-m.1")] == [{"plain": 4}]
    assert taken.unread == {"rate": 1}
    assert judges[1].ask(prompts) == {}


def test_a_judge_may_change_its_mind_and_the_latest_counts(run: Path) -> None:
    rater = Rater(kind="model", name="m")
    for choice in ("1", "2"):
        answers = {"compare/ab/n01#pain#costs": ModelAnswer("", choice, "m", "")}
        keep(run, take(answers, rater=rater, known={"n01"}), rater)

    assert [(item.order, item.better) for item in load_comparisons(run, "model-m")] == [("ab", "b")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("labels", "agreement", "RUN"), "No two raters labelled an item of"),
        (("labels", "apply", "RUN"), "has no labels by a person"),
        (("labels", "give", "RUN", "--decide", "--rater", "c"), "Es gibt nichts mehr zu entscheiden"),
        (("judge", "RUN"), "has no judge's scores"),
        (("judge", "RUN", "--mode", "compare", "--prompts", "OUT"), "A comparison needs two runs"),
        (("judge", "RUN", "--answers", "STRANGE"), "answers belong to no question of"),
        (("judge", "RUN", "--answers", "MANY"), "The answers name 2 models"),
        (("labels", "queue", "RUN", "--rater", "anna"), "2 labels for each item need 2 raters"),
        (("labels", "queue", "NOWHERE"), "holds no run"),
        (("labels", "export", "RUN", "--out", "labels.txt"), "neither .csv nor .jsonl"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    command: Command, run: Path, tmp_path: Path, small_folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    strange, many = tmp_path / "strange.jsonl", tmp_path / "many.jsonl"
    strange.write_text(answer({"custom_id": "rate/zebra#pain"}, "{}"), encoding="utf-8")
    many.write_text(
        answer({"custom_id": "rate/n01#pain"}, "{}", "a") + answer({"custom_id": "rate/n02#pain"}, "{}", "b"),
        encoding="utf-8",
    )
    places = {"RUN": run, "OUT": tmp_path / "o.jsonl", "STRANGE": strange, "MANY": many, "NOWHERE": tmp_path / "no"}
    catalog = ("--catalog", str(small_folder)) if "--decide" in arguments or "--mode" in arguments else ()

    done = command(*(places.get(argument, argument) for argument in arguments), *catalog)

    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if "nichts mehr zu entscheiden" not in message:
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1


def test_a_live_model_judges_and_is_not_asked_again(
    command: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLARTEXT_DATA", str(tmp_path / "data"))
    asked: list[str] = []

    def verdict(messages: list[dict[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return "Well." if "Frage 3?" in messages[-1]["content"] else '{"label": "correct"}'

    with scripted_endpoint(verdict) as endpoint:
        monkeypatch.setenv("KLARTEXT_MODEL_URL", endpoint.url)
        first = command("judge", run, "--model", "judge-1", "--items", "novel")
        more = command("judge", run, "--model", "judge-1", "--items", "novel", "--allow-short")
    assert (more.exit_code, len(asked)) == (0, 17)
    del asked[14:]
    again = command("judge", run, "--model", "judge-1", "--items", "novel", "--replay")

    assert first.exit_code == 1, first.output
    assert "model:judge-1: 11 labels, 0 ratings, 0 comparisons; 1 answers could not be read" in first.stdout
    assert "1 answers could not be read: what was read is kept. Run this again to ask again" in first.stderr
    assert len(asked) == 14  # what cannot be read is asked three times in one go
    assert (again.exit_code, again.stdout) == (1, first.stdout)
    labels = load_labels(label_files(run))
    assert {(label.rater.kind, label.rater.name) for label in labels} == {("model", "judge-1")}
    assert len(labels) == 11
