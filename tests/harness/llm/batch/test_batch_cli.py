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
    answer["choices"][0]["message"]["content"] = "1. Muss ich dafür lange warten?"
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
    more = tmp_path / "a.rest.jsonl"
    assert f"3 of 5 requests have no answer. Next: klartext harness batch {rest} --out {more}" in fetched.stdout
    model.expires_after = None
    assert batch(rest, "--out", more, "--wait", "--every", "0.1").exit_code == 0


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
