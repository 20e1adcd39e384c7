"""The store keeps whole answers, whoever dies and whoever else writes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData
from harness.llm.contract import ModelCall, Request, key_of
from harness.llm.store import AnswerStore, StoredAnswer

CALL = ModelCall("m", temperature=0.5)
REQUEST = Request("a", ({"role": "user", "content": "Tut das weh?"},))
RECORD = StoredAnswer("k1", "novel/v/1", {"model": "m"}, {"choices": [], "text": "Weh? \ud83d"})

# Writes 40 answers as fast as it can, each with its number and its process; half of the keys are everybody's.
WRITER = """
import sys
from pathlib import Path
from harness.llm.store import AnswerStore, StoredAnswer
path, name = Path(sys.argv[1]), sys.argv[2]
with AnswerStore.open(path) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(40):
        key = f"shared-{number}" if number % 2 else f"{name}-{number}"
        kept = store.put(StoredAnswer(key, "p", {}, {"by": name}))
        print(key, kept.response["by"], flush=True)
        store.reserve("job", key, 1, limit=10_000)
"""


def test_the_key_depends_on_everything_that_shapes_an_answer_and_on_nothing_else() -> None:
    others = [
        key_of(REQUEST, replace(CALL, model="n")),
        key_of(REQUEST, replace(CALL, temperature=0.6)),
        key_of(REQUEST, replace(CALL, seed=1)),
        key_of(REQUEST, replace(CALL, max_tokens=5)),
        key_of(replace(REQUEST, messages=({"role": "user", "content": "Tut es weh?"},)), CALL),
        key_of(replace(REQUEST, schema={"type": "object"}), CALL),
        key_of(replace(REQUEST, sample=1), CALL),
    ]
    same = [
        key_of(replace(REQUEST, id="b", labels={"pair": "p"}), CALL),
        key_of(REQUEST, replace(CALL, timeout_s=1, retries=0, parallel=9)),
    ]

    assert len({key_of(REQUEST, CALL), *others}) == 8
    assert set(same) == {key_of(REQUEST, CALL)}


def test_the_key_stays_the_same_from_release_to_release() -> None:
    assert key_of(REQUEST, CALL) == "176cbf98cc6b05c8bfc37762393481a726e4e830f1700d599041696714d04a46"


def test_what_was_put_is_there_after_opening_again_and_the_first_answer_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.db"
    with AnswerStore.open(path) as store:
        assert store.get("k1") is None
        store.put(RECORD)
        kept = store.put(replace(RECORD, response={"text": "other"}))

    with AnswerStore.open(path) as store:
        assert kept == RECORD
        assert store.get("k1") == RECORD
        assert store.count() == 1


def test_reservations_hold_the_limit_and_survive_whoever_made_them(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with AnswerStore.open(path) as store:
        first = store.reserve("job", "k", 60, limit=100)
        assert first is not None
        assert store.reserve("job", "k", 50, limit=100) is None
        assert store.reserve("other", "k", 50, limit=100) is not None
        store.settle(first, 10)
        assert store.reserve("job", "k", 90, limit=100) is not None

    with AnswerStore.open(path) as store:
        assert store.spent("job") == 100
        assert store.reserve("job", "k", 1, limit=100) is None


def test_two_processes_at_once_lose_nothing_and_agree(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    said: dict[str, set[str]] = {}
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        for line in writer.communicate(timeout=60)[0].splitlines():
            said.setdefault(line.split()[0], set()).add(line.split()[1])

    with AnswerStore.open(path, change=False) as store:
        assert store.count() == len(said) == 60
        assert all(len(by) == 1 for by in said.values())
        assert store.spent("job") == 80


@pytest.mark.parametrize("change", [True, False])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, change: bool) -> None:
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("no database at all, but long enough to be read as one" * 20, encoding="utf-8")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE patients (name)")
    connection.close()

    for path, said in ((text, "file is not a database"), (other, "another program's database")):
        before = path.read_bytes()
        expected = pytest.raises(BadData, match=rf"{path.name} cannot be used .*{said}.*`--store`")
        with expected, AnswerStore.open(path, change=change):
            pass
        assert path.read_bytes() == before


def test_a_store_of_a_later_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with AnswerStore.open(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()

    with pytest.raises(BadData, match="version 9, this program reads 1"), AnswerStore.open(path):
        pass


def test_reading_needs_a_file_and_makes_none(tmp_path: Path) -> None:
    path = tmp_path / "missing.db"

    with pytest.raises(BadData, match="there is no such file"), AnswerStore.open(path, change=False):
        pass

    assert not path.exists()
