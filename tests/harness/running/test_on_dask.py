"""A real scheduler and real workers on loopback: a killed worker, or a killed run, loses and doubles nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from bot import Unreachable, UserFixable
from harness.measuring.running import LoopbackCluster, loopback_cluster
from harness.patients.suites import Suite
from harness.running.chunks import CHUNK
from harness.running.run import How, RunPlan, ask_suite, load_outcomes, plan_of, recipe_of
from harness.running.store import PARTS, Store, find_store
from harness.running.workers import Recipe
from harness.scoring.score import summarise_tally
from harness.systems.system import Opening
from tests.harness.running.conftest import MakeLong, MakeSystem, eventually, timeless
from tests.harness.systems.servers import Seen, serving


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    """Two workers that tests leave alive."""
    with loopback_cluster(2, tmp_path_factory.mktemp("cluster")) as started:
        yield started


def run(suite: Suite, recipe: Recipe, out: Path, how: How, progress: Callable[[int], None] = lambda _: None) -> Store:
    with recipe.opened() as (system, catalog):
        return ask_suite(suite, system, catalog, out, plan_of(how, recipe, system, progress))


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def serial(suite: Suite, recipe: Recipe, out: Path) -> Store:
    with recipe.opened() as (system, catalog):
        return ask_suite(suite, system, catalog, out, RunPlan())


@pytest.mark.proof  # waits for the middle of a chunk, which takes minutes on a busy machine
def test_a_killed_worker_loses_and_doubles_nothing(
    long_suite: MakeLong, make_system: MakeSystem, opening: Opening, tmp_path: Path
) -> None:
    suite, log = long_suite(500), tmp_path / "asked.txt"
    (tmp_path / "cluster").mkdir()
    with loopback_cluster(2, tmp_path / "cluster") as cluster:
        how = How(scheduler=cluster.address)
        recipe = recipe_of(str(make_system(8)), opening, "de", how)
        stored: list[int] = []

        def kill_once(count: int) -> None:
            if sum(stored) == 0 and count:
                asked_by = log.with_name(f"{log.name}.{cluster.workers[0].pid}")
                assert eventually(lambda: asked_by.is_file() and 0 < _lines(asked_by) % CHUNK < CHUNK // 2)
                os.kill(cluster.workers[0].pid, signal.SIGKILL)  # it is in the middle of something
            stored.append(count)

        run(suite, recipe, tmp_path / "run", how, kill_once)
        assert cluster.workers[0].wait(10) == -signal.SIGKILL

    asked = Counter(log.read_text(encoding="utf-8").splitlines())
    assert set(asked) == {question.text for question in suite.questions}
    assert max(asked.values()) > 1  # what the dead worker had under way
    outcomes = load_outcomes(tmp_path / "run")
    expected = serial(suite, recipe, tmp_path / "serial")
    assert timeless(outcomes) == timeless(list(expected.outcomes()))
    assert summarise_tally(find_store(tmp_path / "run").tally()) == summarise_tally(expected.tally())
    assert len(list((tmp_path / "run" / PARTS).iterdir())) > 2


def test_a_scheduler_that_dies_ends_the_run_in_one_line_and_what_was_answered_is_kept(
    long_suite: MakeLong,
    make_system: MakeSystem,
    opening: Opening,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    suite = long_suite(200)
    (tmp_path / "cluster").mkdir()
    with loopback_cluster(1, tmp_path / "cluster") as cluster:
        how = How(scheduler=cluster.address)
        recipe = recipe_of(str(make_system(8)), opening, "de", how)

        with pytest.raises(Unreachable, match=r"or its workers cannot be reached .* what was answered is kept"):
            run(suite, recipe, tmp_path / "run", how, lambda count: cluster.scheduler.kill() if count else None)

    assert "Traceback" not in capfd.readouterr().err
    kept = load_outcomes(tmp_path / "run")
    assert 0 < len(kept) < len(suite.questions)
    assert [outcome.id for outcome in kept] == [question.id for question in suite.questions[: len(kept)]]


RUN = """\
import sys
from pathlib import Path
from bot.commands.main import main
sys.argv = ["klartext", "harness", "run", *sys.argv[1:]]
main()
"""


def test_a_killed_run_goes_on_where_it_was(
    cluster: LoopbackCluster, long_suite: MakeLong, make_system: MakeSystem, opening: Opening, tmp_path: Path
) -> None:
    suite, out = long_suite(300), tmp_path / "run"
    options = ["--suite", tmp_path / "suite", "--system", make_system(8), "--catalog", opening.catalog, "--out", out]
    command = [sys.executable, "-c", RUN, *map(str, options), "--data", str(opening.data)]
    command += ["--scheduler", cluster.address, "--format", "jsonl"]

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while not (out / "outcomes.jsonl").is_file() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = (out / "outcomes.jsonl").read_bytes()
    again = subprocess.run(command, capture_output=True, check=False, timeout=120)

    assert again.returncode == 0, again.stderr.decode()
    assert 0 < before.count(b"\n") < len(suite.questions)
    lines = (out / "outcomes.jsonl").read_bytes()
    assert lines.startswith(before)
    assert [json.loads(line)["id"] for line in lines.splitlines()] == [question.id for question in suite.questions]
    assert (out / "summary.json").is_file()


@pytest.mark.proof
def test_this_assistant_answers_on_workers_as_it_does_here(
    cluster: LoopbackCluster, long_suite: MakeLong, opening: Opening, tmp_path: Path
) -> None:
    suite, how, recipe = long_suite(300), How(scheduler=cluster.address), Recipe(opening, "de")

    there = run(suite, recipe, tmp_path / "there", how)

    assert timeless(list(there.outcomes())) == timeless(list(serial(suite, recipe, tmp_path / "here").outcomes()))
    assert run(suite, recipe, tmp_path / "there", how).tally() == there.tally()  # and asks nothing again


def test_workers_share_one_rate_limit(
    cluster: LoopbackCluster, long_suite: MakeLong, opening: Opening, tmp_path: Path
) -> None:
    suite, times = long_suite(24), []

    def answer(seen: Seen) -> object:
        times.append(time.monotonic())
        return {"pair": "costs"}

    with serving(answer) as server:
        file = tmp_path / "endpoint.yaml"
        record = {
            "kind": "http",
            "url": server.url,
            "body": "{question}",
            "paths": {"pair": "$.pair"},
            "per_second": 20,
        }
        file.write_text(yaml.safe_dump(record), encoding="utf-8")
        how = How(scheduler=cluster.address)
        run(suite, recipe_of(str(file), opening, "de", how), tmp_path / "run", how)

    assert len(times) == 24
    assert times[-1] - times[0] >= 23 / 20 * 0.9
    assert max(Counter(int(moment) for moment in times).values()) <= 22  # 20, and the ends of two intervals
    assert all(later >= earlier for earlier, later in pairwise(times))


def test_a_system_that_is_down_ends_the_run(
    cluster: LoopbackCluster, long_suite: MakeLong, opening: Opening, tmp_path: Path
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(yaml.safe_dump({"kind": "command", "command": [sys.executable, "-c", "raise SystemExit(3)"]}))
    how = How(scheduler=cluster.address)

    with pytest.raises(Unreachable, match=r"failed 10 times in a row, at last: the command ended with exit code 3"):
        run(long_suite(400), recipe_of(str(file), opening, "de", how), tmp_path / "run", how)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:9", r"The Dask scheduler 'tcp://127\.0\.0\.1:9' or its workers cannot be reached"),
        ("nonsense://127.0.0.1:1", r"is no address of a Dask scheduler"),
        ("tcp://192.0.2.1:8786", r"'192\.0\.2\.1', which is not allowed"),
    ],
)
def test_a_scheduler_that_is_not_there_or_not_allowed_is_one_clear_line(
    long_suite: MakeLong,
    opening: Opening,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    said: str,
) -> None:
    monkeypatch.setattr("harness.running.on_dask.CONNECT_S", 1)
    monkeypatch.delenv("KLARTEXT_ALLOW_PATIENT_TEXT_TO", raising=False)

    with pytest.raises(UserFixable, match=said) as caught:
        run(long_suite(3), Recipe(opening, "de"), tmp_path / "run", How(scheduler=address))
    assert "\n" not in str(caught.value)
