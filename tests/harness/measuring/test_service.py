"""The floor and the patients of `klartext bench --service`."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bot import Unreachable
from harness.measuring.service import Pair, Running, _crowd, _interview, _one_turn, end, floor, let_ask, quantile
from harness.measuring.service_load import Job, LoadTimes


def test_every_turn_on_the_floor_commits_two_rows(tmp_path: Path) -> None:
    file = tmp_path / "floor.db"
    with floor(f"sqlite:///{file}") as bare:
        measured = let_ask(Job(bare.url, patients=3, turns=4, texts=("eins", "zwei", "drei", "vier")))
        assert bare.peak_mb() > 10

    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM floor").fetchone() == (2 * 3 * 4,)
        assert connection.execute("SELECT count(DISTINCT conversation) FROM floor").fetchone() == (3,)
    assert len(measured.seconds) == 3 * 3  # the first of each is not timed
    assert 0 < max(measured.seconds) <= measured.elapsed_s


def test_the_memory_of_a_service_is_that_of_all_its_processes() -> None:
    child = "held = b'x' * 80_000_000; print('held', flush=True); import time; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        (held,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
        assert Running(process, "").peak_mb() > 80
        os.kill(int(held), signal.SIGKILL)
        end(process)


def test_a_service_that_is_not_there_is_told_in_one_line() -> None:
    with pytest.raises(Unreachable, match="could not be measured"):
        let_ask(Job("http://127.0.0.1:1", 1, 1, ("eins",)))


def test_figures_are_ratios_within_a_pair() -> None:
    slow, fast = LoadTimes([0.02] * 10, 0.2), LoadTimes([0.01] * 10, 0.1)

    one = _one_turn([Pair(floor=fast, service=slow)], decision_s=0.005)
    p95, rate = _crowd([Pair(floor=fast, service=slow)])
    asked = _interview([LoadTimes([0.05] * 10, 0.5)], [Pair(floor=fast, service=slow)])

    assert one.value == pytest.approx(1.0)
    assert asked.value == pytest.approx(2.5)
    assert p95.value == pytest.approx(2.0)
    assert rate.value == pytest.approx(2.0)
    assert p95.holds
    assert not rate.holds
    assert quantile(LoadTimes([float(number) for number in range(100)], 1), 0.95) == 95
