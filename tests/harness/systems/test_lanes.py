"""Several questions at once: in order, under one rate limit, and commands in processes of their own."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import Settings
from bot.testing import HashEncoder
from harness.systems.description import load_system_file
from harness.systems.opening import Traffic, open_described
from harness.systems.system import Failure, Opening, Reply
from tests.harness.systems.servers import Seen, serving


@pytest.fixture
def asked_in_parallel(small_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ask a system from the keys of its file, so many questions at once."""
    monkeypatch.setattr("bot.wiring.make_encoder", lambda name, settings: HashEncoder())

    def ask(record: dict[str, Any], texts: list[str], parallel: int) -> list[Reply | Failure]:
        (tmp_path / "system.yaml").write_text(yaml.safe_dump(record), encoding="utf-8")
        file = load_system_file(tmp_path / "system.yaml")
        opening = Opening(str(small_folder), "embedded", "hybrid", tmp_path / "data")
        with open_described(
            file, opening, "de", settings=Settings(tmp_path), environ={}, traffic=Traffic(parallel)
        ) as (system, _):
            return list(system.ask(texts, "de"))  # type: ignore[arg-type]

    return ask


class Counting:
    """Answers after a while, the longer the earlier, and counts how many questions are under way."""

    def __init__(self) -> None:
        self.under_way, self.most = 0, 0
        self.times: list[float] = []
        self._lock = threading.Lock()

    def __call__(self, seen: Seen) -> Any:
        number = int(json.loads(seen.body)["q"])
        with self._lock:
            self.times.append(time.monotonic())
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        time.sleep(0.1 - number / 200)
        with self._lock:
            self.under_way -= 1
        return {"pair": "pain" if number % 2 else "costs"}


ENDPOINT = {"kind": "http", "body": {"q": "{question}"}, "paths": {"pair": "$.pair"}}


def test_answers_come_in_the_order_of_the_questions(asked_in_parallel: Any) -> None:
    answer = Counting()
    with serving(answer) as server:
        replies = asked_in_parallel({**ENDPOINT, "url": server.url}, [str(n) for n in range(12)], 4)

    assert [reply.pair_id for reply in replies] == ["costs", "pain"] * 6
    assert answer.most == 4


def test_all_lanes_keep_one_rate_limit(asked_in_parallel: Any) -> None:
    answer = Counting()
    with serving(answer) as server:
        asked_in_parallel({**ENDPOINT, "url": server.url, "per_second": 25}, [str(n) for n in range(11)], 8)

    times = sorted(answer.times)
    assert times[-1] - times[0] >= 10 / 25 * 0.95


def test_retries_keep_the_rate_limit_and_heed_retry_after(asked_in_parallel: Any) -> None:
    answer = Counting()
    with serving(answer, faults=[429, 503], headers={"Retry-After": "1"}) as server:
        record = {**ENDPOINT, "url": server.url, "backoff_s": 0, "retries": 2}
        started = time.monotonic()
        (reply,) = asked_in_parallel(record, ["9"], 2)

    assert isinstance(reply, Reply)
    assert time.monotonic() - started >= 2


PROCESS = """\
import json, os, sys, time
for line in sys.stdin:
    time.sleep(0.05)
    print(json.dumps({"decision": "answered", "pair_id": "pain", "candidates": [{"pair_id": str(os.getpid())}]}))
"""


def test_a_command_is_asked_in_as_many_processes(asked_in_parallel: Any) -> None:
    record = {"kind": "command", "command": [sys.executable, "-c", PROCESS]}

    replies = asked_in_parallel(record, ["weh?"] * 12, 3)

    assert len(replies) == 12
    assert len({reply.candidates[0].pair_id for reply in replies}) == 3
