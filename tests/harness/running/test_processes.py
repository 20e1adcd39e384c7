"""Several processes bring what one brings, and a kill costs what was under way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot import BadData, Unreachable
from harness.running import workers
from harness.running.chunks import CHUNK
from harness.running.run import How, RunPlan, ask_suite, load_outcomes, plan_of, run_suite
from harness.running.workers import Errand, Recipe, Refused, ask_elsewhere, processes_for, size_of
from harness.systems.system import Opening
from tests.harness.running.conftest import MakeLong, eventually, timeless


@pytest.fixture
def recipe(opening: Opening) -> Recipe:
    return Recipe(opening, "de")


RUN = """\
import sys
from pathlib import Path
from harness.running.run import How, ask_suite, plan_of
from harness.running.workers import Recipe
from harness.patients.suites import open_suite
from harness.systems.system import Opening

folder, catalog, data = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
recipe = Recipe(Opening(catalog, "embedded", "hybrid", data), "de")
with recipe.opened() as (system, found):
    plan = plan_of(How(jobs=2), recipe, system, lambda _: None)
    ask_suite(open_suite(folder / "suite"), system, found, folder / "run", plan)
"""


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in found for child in file.read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc to see child processes")
@pytest.mark.proof
def test_a_killed_run_leaves_no_process_behind_and_goes_on_where_it_was(
    long_suite: MakeLong, opening: Opening, recipe: Recipe, tmp_path: Path
) -> None:
    suite, stored = long_suite(CHUNK * 10), tmp_path / "run" / "outcomes.jsonl"
    command = [sys.executable, "-c", RUN, str(tmp_path), opening.catalog, str(opening.data)]

    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert eventually(lambda: (stored.is_file() and stored.stat().st_size > 0) or process.poll() is not None)
        workers = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
    before = stored.read_bytes()
    assert len(workers) >= 2
    assert eventually(lambda: not any(map(alive, workers)))
    assert 0 < before.count(b"\n") < len(suite.questions)

    again = subprocess.run(command, capture_output=True, check=False, timeout=120)

    assert again.returncode == 0, again.stderr.decode()
    assert stored.read_bytes().startswith(before)
    outcomes = load_outcomes(tmp_path / "run")
    assert [outcome.id for outcome in outcomes] == [question.id for question in suite.questions]
    with recipe.opened() as (system, catalog):
        serial = run_suite(suite, system, catalog, tmp_path / "serial")
    assert timeless(outcomes) == timeless(serial)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc to see child processes")
def test_a_worker_that_is_killed_ends_the_run_in_one_line_and_keeps_what_was_answered(
    long_suite: MakeLong, recipe: Recipe, tmp_path: Path
) -> None:
    suite = long_suite(CHUNK * 8)
    mine = set(children_of(os.getpid()))

    def kill_one(count: int) -> None:
        if count == CHUNK:
            os.kill(max(set(children_of(os.getpid())) - mine), signal.SIGKILL)

    with recipe.opened() as (system, catalog):
        plan = plan_of(How(jobs=2), recipe, system, kill_one)
        with pytest.raises(Unreachable, match=r"A worker process ended .* What was answered is kept"):
            ask_suite(suite, system, catalog, tmp_path / "run", plan)
        kept = len(load_outcomes(tmp_path / "run"))
        ask_suite(suite, system, catalog, tmp_path / "run", RunPlan())

    assert CHUNK <= kept < len(suite.questions)
    assert [o.id for o in load_outcomes(tmp_path / "run")] == [question.id for question in suite.questions]


def test_a_worker_refuses_to_ask_another_system(long_suite: MakeLong, recipe: Recipe) -> None:
    questions = list(enumerate(long_suite(2).questions))

    refused = ask_elsewhere(Errand(recipe, {"catalog_hash": "another"}, "jsonl"), questions)

    assert isinstance(refused, Refused)
    assert "A worker's catalog_hash is" in refused.reason
    assert "but this run's is 'another'" in refused.reason


def test_processes_are_started_when_they_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 8)

    assert [processes_for(count) for count in (0, 1050, 4000, 1_000_000)] == [1, 1, 2, 8]


@pytest.mark.parametrize(
    ("count", "workers", "outside", "size"),
    [(1050, 2, False, CHUNK), (1_000_000, 2, False, 1024), (1050, 2, True, 65), (9, 4, True, 1), (10**6, 4, True, 128)],
)
def test_workers_get_fair_portions(count: int, workers: int, outside: bool, size: int) -> None:
    assert size_of(count, workers, outside=outside) == size


def test_jobs_and_scheduler_exclude_each_other() -> None:
    with pytest.raises(BadData, match="Leave out `--jobs`"):
        How(jobs=2, scheduler="tcp://127.0.0.1:8786")
