"""From exported prompts to a suite through the Batch API, by command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from harness.patients.suites import load_suite
from tests.harness.inprocess import harness
from tests.harness.llm.batch.batch_server import BatchServer, batch_server
from tests.harness.llm.batch.conftest import echo, request, write

Batch = Callable[..., Result]
PLAN = ("--lang", "de", "--variations", "1", "--novel", "0")


def questions(body: dict[str, Any]) -> dict[str, Any]:
    """Answer every prompt with a question that is new to the catalog."""
    answer = echo(body)
    number = sum(map(ord, str(body["messages"])))  # two pairs must not have the same question
    answer["choices"][0]["message"]["content"] = f"1. Muss ich dafür {number} Minuten warten?"
    return answer


@pytest.fixture
def model() -> Iterator[BatchServer]:
    with batch_server(questions) as running:
        yield running


@pytest.fixture
def batch(model: BatchServer) -> Batch:
    def run(*args: str | Path) -> Result:
        return harness("batch", *args, environ={"KLARTEXT_MODEL_URL": model.url})

    return run


def test_prompts_become_a_suite(batch: Batch, model: BatchServer, small_folder: Path, tmp_path: Path) -> None:
    prompts, answers = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    plan = ("--catalog", small_folder, *PLAN, "--out", tmp_path / "mine")
    model.looks = 3
    written = harness("suite", "make", *plan, "--max-tokens", "200", "--prompts", prompts)

    early = batch(prompts, "--out", answers, "--budget", "0.1")
    waited = batch(prompts, "--out", answers, "--wait", "--every", "0.1")
    made = harness("suite", "make", *plan, "--answers", answers)

    assert [done.exit_code for done in (written, early, waited, made)] == [0, 3, 0, 0]
    total = len(prompts.read_text(encoding="utf-8").splitlines())
    assert f"{total} requests handed in.\n" in early.stdout
    assert f"part 1: in_progress, 0 of {total} answered\n" in early.stdout
    assert early.stdout.endswith(f"Next: klartext harness batch {prompts} --out {answers}\n")
    assert waited.stdout.splitlines()[-1].startswith(
        f"All {total} requests are answered. Give {answers} to the command"
    )
    assert len(load_suite(tmp_path / "mine").questions) == total
    lines = prompts.read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["body"]["max_tokens"] for line in lines} == {200}


def test_costs_are_those_of_the_batch_api_by_vignette_and_pair(batch: Batch, tmp_path: Path) -> None:
    prompts = write(tmp_path / "p.jsonl", [request(n) for n in range(3)])

    done = batch(prompts, "--out", tmp_path / "a.jsonl", "--wait", "--every", "0.1")

    # 1,000 tokens in at 2.50 and 100 out at 10 per million, at half price
    assert "3 answers: 3000 tokens in, 300 out; 0.00525 USD, 0.00525 of it spent now\n" in done.stdout
    costs = json.loads((tmp_path / "a.costs.json").read_text(encoding="utf-8"))
    assert {name: entry["calls"] for name, entry in costs["vignette"].items()} == {"v0": 2, "v1": 1}
    assert costs["pair"]["pair-1"]["cost"] == pytest.approx(0.00175)


def test_what_may_cost_more_than_the_budget_is_not_handed_in(batch: Batch, model: BatchServer, tmp_path: Path) -> None:
    prompts = write(tmp_path / "p.jsonl", [request(n, max_tokens=1000) for n in range(10)])

    done = batch(prompts, "--out", tmp_path / "a.jsonl", "--budget", "0.01")

    assert done.exit_code == 2
    assert "may cost up to 0.05" in done.stderr
    assert "the budget is 0.01 USD; nothing was handed in" in done.stderr
    assert (model.log, list(tmp_path.iterdir())) == ([], [prompts])


def test_requests_without_an_answer_are_named_with_the_next_command(
    batch: Batch, model: BatchServer, tmp_path: Path
) -> None:
    model.expires_after, model.looks = 2, 3
    prompts, rest = write(tmp_path / "p.jsonl", [request(n) for n in range(5)]), tmp_path / "p.rest.jsonl"

    early = batch(prompts, "--out", tmp_path / "a.jsonl")
    fetched = batch(prompts, "--out", tmp_path / "a.jsonl", "--wait", "--every", "0.1")

    assert (early.exit_code, fetched.exit_code) == (3, 1)
    more = tmp_path / "a.more.jsonl"
    assert (
        f"3 of 5 requests have no answer; they are in {rest}.\nNext: klartext harness batch {rest} --out {more}\n"
        in (fetched.stdout)
    )
    assert fetched.stdout.count("Next") == 1
    model.expires_after = None
    assert batch(rest, "--out", more, "--wait", "--every", "0.1").exit_code == 0


def test_prompts_and_answers_of_one_name_have_a_next_command_that_works(
    batch: Batch, model: BatchServer, tmp_path: Path
) -> None:
    model.expires_after = 2
    prompts, answers = write(tmp_path / "a.jsonl", [request(n) for n in range(5)]), tmp_path / "a.rest.jsonl"
    options = ("--wait", "--every", "0.1")

    short = batch(prompts, "--out", answers, *options)
    command = next(line for line in short.stdout.splitlines() if line.startswith("Next: ")).split()[4:]
    model.expires_after = None
    done = batch(*command, *options)

    assert (short.exit_code, done.exit_code) == (1, 0), done.output
    assert len(set(command)) == len(command)
    assert len(answers.read_text(encoding="utf-8").splitlines()) == 5  # what came first is still there


def test_a_batch_that_failed_is_handed_in_again_and_not_also_as_a_rest(
    batch: Batch, model: BatchServer, tmp_path: Path
) -> None:
    model.refuses = ["token_limit_exceeded"]
    prompts, answers = write(tmp_path / "p.jsonl", [request(n) for n in range(3)]), tmp_path / "a.jsonl"

    failed = batch(prompts, "--out", answers, "--wait", "--every", "0.1")
    again = batch(prompts, "--out", answers, "--wait", "--every", "0.1")

    assert (failed.exit_code, again.exit_code) == (1, 0), again.output
    assert "part 1: failed, 0 of 3 answered (token_limit_exceeded in line 2)\n" in failed.stdout
    assert failed.stdout.endswith(f"hand just these in again: klartext harness batch {prompts} --out {answers}\n")
    assert not (tmp_path / "p.rest.jsonl").exists()


@pytest.mark.parametrize("step", ["POST /v1/files", "POST /v1/batches", "GET /v1/batches/batch_1"])
def test_a_web_page_in_place_of_the_api_is_one_line(
    batch: Batch, model: BatchServer, tmp_path: Path, step: str
) -> None:
    model.pages = [step]

    done = batch(write(tmp_path / "p.jsonl", [request(1)]), "--out", tmp_path / "a.jsonl")

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert (
        "sent something else than the Batch API does, a web page for example. Check KLARTEXT_MODEL_URL" in done.stderr
    )


def test_a_web_page_in_place_of_the_answers_does_not_stand_among_them(
    batch: Batch, model: BatchServer, tmp_path: Path
) -> None:
    prompts, answers = write(tmp_path / "p.jsonl", [request(1)]), tmp_path / "a.jsonl"
    model.pages = [f"GET /v1/files/file-{number}/content" for number in (1, 2)]
    options = ("--out", answers, "--wait", "--every", "0.1")

    page = batch(prompts, *options)
    model.pages = []
    done = batch(prompts, *options)

    assert (page.exit_code, done.exit_code) == (2, 0), done.output
    assert answers.read_text(encoding="utf-8").count("\n") == 1


def test_a_deleted_batch_is_named_with_the_way_out(batch: Batch, model: BatchServer, tmp_path: Path) -> None:
    prompts, model.looks = write(tmp_path / "p.jsonl", [request(1)]), 99
    batch(prompts, "--out", tmp_path / "a.jsonl")
    model.batches.clear()

    done = batch(prompts, "--out", tmp_path / "a.jsonl")

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert "has no batch 'batch_1' (any more)" in done.stderr
    assert "name another file with `--state`" in done.stderr


def test_an_unknown_status_is_told_and_not_waited_for(batch: Batch, model: BatchServer, tmp_path: Path) -> None:
    model.status = "paused"

    done = batch(write(tmp_path / "p.jsonl", [request(1)]), "--out", tmp_path / "a.jsonl", "--wait", "--every", "60")

    assert done.exit_code == 3, done.output
    assert "part 1: paused, which is unknown and not waited for" in done.stdout


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("p.jsonl", "holds the prompts"),
        ("other.jsonl", "is not what was fetched before"),
        ("folder", "cannot be written"),
    ],
)
def test_answers_that_could_not_be_written_are_not_paid_for(
    batch: Batch, model: BatchServer, tmp_path: Path, out: str, said: str
) -> None:
    prompts = write(tmp_path / "p.jsonl", [request(1)])
    (tmp_path / "other.jsonl").write_text("mine\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()

    done = batch(prompts, "--out", tmp_path / out)

    assert (done.exit_code, model.log) == (2, []), done.output
    assert said in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("none.jsonl", "--out", "a.jsonl"), "none.jsonl cannot be read"),
        (("none.jsonl", "--out", "a.jsonl", "--budget", "1", "--prices", "none.yaml"), "none.yaml cannot be read"),
    ],
)
def test_bad_input_is_one_line(batch: Batch, args: tuple[str, ...], said: str) -> None:
    done = batch(*args)

    assert done.exit_code == 2
    assert done.stderr.startswith("klartext: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_an_endpoint_the_setting_is_named(tmp_path: Path) -> None:
    done = harness("batch", write(tmp_path / "p.jsonl", [request(1)]), "--out", tmp_path / "a.jsonl")

    assert done.exit_code == 2
    assert "Set KLARTEXT_MODEL_URL=" in done.stderr
