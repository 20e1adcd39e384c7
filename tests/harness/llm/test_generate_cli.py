"""`klartext harness suite make` by command line: what it says, keeps and asks, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bot.testing import scripted_endpoint
from harness.patients.suites import load_suite
from harness.patients.vignettes import load_vignettes
from tests.harness.inprocess import harness
from tests.harness.llm.faulty_model import Fault, FaultyModel, faulty_model

VIGNETTES = len(load_vignettes("de"))
PROMPTS = 4 * VIGNETTES  # three pairs, and a prompt for novel questions
PRICES = "currency: CHF\nmodels: {scripted: {input: 0, output: 1.0e+6}}\n"


def invent(messages: list[dict[str, str]]) -> str:
    """Answer with a question of four words that depends on all that was asked."""
    letters = "abcdefghiklmnoprst"
    seed = sum(map(ord, "".join(message["content"] for message in messages)))
    words = ("".join(letters[(seed // 7**n + k * n) % len(letters)] for n in range(1, 6)) for k in range(1, 5))
    return f"1. Muss {' '.join(words)}?"


Generate = Callable[..., Result]


@pytest.fixture
def generate(small_folder: Path, tmp_path: Path) -> Generate:
    """Run the command against a server, with the suite and the data folder in `tmp_path`."""

    def run(server: FaultyModel | None, *options: str | Path, name: str = "mine") -> Result:
        plan = ("--catalog", small_folder, "--variations", "1", "--novel", "1", "--model", "scripted")
        environ = {"KLARTEXT_DATA": str(tmp_path / "data")}
        if server:
            environ["KLARTEXT_MODEL_URL"] = server.url
        return harness("suite", "make", "--out", tmp_path / name, *plan, *options, environ=environ)

    return run


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES, encoding="utf-8")
    return file


def test_a_suite_is_written_and_its_costs_are_told(generate: Generate, prices: Path, tmp_path: Path) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url) as server:
        done = generate(server, "--prices", prices, "--seed", "3", "--max-tokens", "50", "--temperature", "0.5")

    assert done.exit_code == 0, done.output
    assert (
        f"{PROMPTS} answers: {PROMPTS} tokens in, {PROMPTS} out; {PROMPTS} CHF, {PROMPTS} of it spent now\n"
        in done.stdout
    )
    assert len(load_suite(tmp_path / "mine").questions) == PROMPTS
    assert {(r["seed"], r["max_tokens"], r["temperature"]) for r in server.requests} == {(3, 50, 0.5)}
    costs = json.loads((tmp_path / "mine.costs.json").read_text(encoding="utf-8"))
    assert {name: total["cost"] for name, total in costs["pair"].items()} == dict.fromkeys(
        ("pain", "costs", "duration"), VIGNETTES
    )
    assert {total["cost"] for total in costs["vignette"].values()} == {4}
    assert len(costs["calls"]) == PROMPTS


def test_a_replay_writes_the_same_suite_and_asks_nobody(generate: Generate, prices: Path, tmp_path: Path) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url) as server:
        generate(server)
        replayed = generate(server, "--replay", "--prices", prices, name="again")

    assert replayed.exit_code == 0, replayed.output
    assert f"{PROMPTS} CHF, 0 of it spent now" in replayed.stdout
    assert len(server.requests) == PROMPTS
    texts = [[question.text for question in load_suite(tmp_path / name).questions] for name in ("mine", "again")]
    assert texts[0] == texts[1]
    assert generate(None, "--replay", name="offline").exit_code == 0  # nor does it need an endpoint


def test_a_replay_of_what_was_never_asked_says_what_to_do(generate: Generate) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url) as server:
        generate(server)
        done = generate(server, "--replay", "--temperature", "1", name="warm")

    assert (done.exit_code, len(server.requests)) == (2, PROMPTS)
    assert "holds no answer of 'scripted' to paraphrase/" in done.stderr
    assert "Run this with `--record` to ask" in done.stderr


def test_a_budget_stops_the_work_and_a_higher_one_ends_it(generate: Generate, prices: Path, tmp_path: Path) -> None:
    options = ("--prices", prices, "--max-tokens", "5", "--parallel", "1")
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url) as server:
        stopped = generate(server, "--budget", "9", *options)
        asked = len(server.requests)
        done = generate(server, "--budget", str(PROMPTS + 4), *options)

    assert (stopped.exit_code, asked) == (2, 5)
    assert "Stopped before the budget of 9 CHF is exceeded: 5 CHF are spent" in stopped.stderr
    assert (
        f"5 answers are kept, {PROMPTS - 5} requests are open. Run this again with a higher `--budget`"
        in stopped.stderr
    )
    assert "5 CHF, 5 of it spent now" in stopped.stdout
    assert done.exit_code == 0, done.output
    assert f"{PROMPTS} CHF, {PROMPTS - 5} of it spent now" in done.stdout
    assert len(server.requests) == PROMPTS
    assert len(load_suite(tmp_path / "mine").questions) == PROMPTS


@pytest.mark.proof
def test_killed_it_goes_on_and_asks_nothing_twice_that_was_kept(
    generate: Generate, small_folder: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "mine.answers.jsonl"
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url, [200] * 5 + ["slow"] * 2) as server:
        server.slow_s = 30
        arguments = ["harness", "suite", "make", "--out", str(tmp_path / "mine"), "--catalog", str(small_folder)]
        plan = ["--variations", "1", "--novel", "1", "--model", "scripted", "--parallel", "2"]
        process = subprocess.Popen(
            [sys.executable, "-c", "from bot.commands.main import main; main()", *arguments, *plan],
            env={**os.environ, "KLARTEXT_DATA": str(tmp_path / "data"), "KLARTEXT_MODEL_URL": server.url},
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while len(server.requests) < 7 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kept.write_bytes(kept.read_bytes()[:-20])  # and the last line did not get to the disk
        server.released.set()
        done = generate(server)

    assert done.exit_code == 0, done.output
    assert len(load_suite(tmp_path / "mine").questions) == PROMPTS
    # Two were under way when it was killed: nobody has their answers. The five others were asked once.
    words = Counter(json.dumps(request["messages"]) for request in server.requests)
    assert sorted(words.values()) == [1] * (PROMPTS - 2) + [2] * 2


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([401], "answered 401 for model 'scripted' (status 401, scripted). Check `--model` and KLARTEXT_MODEL_KEY"),
        ([500], "1 prompt without an answer (status 500, scripted: 1)"),
        (["page"] * 99, "sent no chat completion (the answer is no JSON). Check its address"),
    ],
)
def test_faults_end_in_one_line_and_the_next_run_asks_for_the_rest_only(
    generate: Generate, tmp_path: Path, faults: list[Fault], said: str
) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url, [200, 200, *faults]) as server:
        failed = generate(server, "--parallel", "1", "--retries", "0")
        server.faults.clear()
        kept = len((tmp_path / "mine.answers.jsonl").read_text(encoding="utf-8").splitlines())
        before = len(server.requests)
        done = generate(server)

    assert failed.exit_code == 2
    assert said in failed.stderr
    assert failed.stderr.count("klartext: ") == 1
    assert not failed.exception or isinstance(failed.exception, SystemExit)
    assert kept >= 2
    assert done.exit_code == 0, done.output
    assert len(server.requests) - before == (1 if faults[0] == 500 else PROMPTS - 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--replay", "--no-store"), "A replay needs the store. Leave out `--no-store`"),
        (("--budget", "1"), "A budget needs the price of 'scripted', and the price table has none"),
        (("--prices", "none.yaml"), "none.yaml cannot be read"),
        (("--replay",), "cannot be used as a store of answers (there is no such file)"),
    ],
)
def test_options_that_contradict_one_another_are_one_line(
    generate: Generate, options: tuple[str, ...], said: str
) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url) as server:
        done = generate(server, *options)

    assert (done.exit_code, server.requests) == (2, [])
    assert said in done.stderr


def test_structured_output_is_asked_for_and_its_lack_is_told(generate: Generate, tmp_path: Path) -> None:
    with scripted_endpoint(invent) as endpoint, faulty_model(endpoint.url, ["no response_format"]) as server:
        done = generate(server, "--structured", "--parallel", "1")

    assert done.exit_code == 0, done.output
    assert "The endpoint has no structured output; answers were read as plain text." in done.stderr
    assert ["response_format" in request for request in server.requests] == [True] + [False] * PROMPTS
    assert len(load_suite(tmp_path / "mine").questions) == PROMPTS
