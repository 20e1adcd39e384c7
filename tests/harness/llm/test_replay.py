"""A replay gives what was recorded and never touches the network."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData, Settings
from harness.llm.contract import Completion, ModelCall, Request, Terms, key_of
from harness.llm.opening import MissingRecord, open_model
from tests.harness.llm.conftest import CALL, Scripted, ask, some


def replay(store: Path, requests: list[Request], call: ModelCall = CALL, url: str | None = None) -> list[Completion]:
    with open_model(Settings(store.parent, model_url=url), call, Terms("replay", store)) as model:
        return list(model.complete(requests))


def test_a_replay_is_the_same_but_for_its_cost(scripted: Scripted, tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    with scripted() as server:
        recorded = ask(server, some(3), store)
        again = ask(server, some(3), store)
        replayed = replay(store, some(3), url=server.url)

    assert replayed == again == [replace(completion, replayed=True) for completion in recorded]
    assert len(server.requests) == 3


def test_a_missing_record_is_named_with_its_prompt_and_key_and_nobody_is_asked(
    scripted: Scripted, tmp_path: Path
) -> None:
    store = tmp_path / "answers.db"
    with scripted() as server:
        ask(server, some(2), store)
        with pytest.raises(MissingRecord) as caught:
            replay(store, some(4), url=server.url)

    assert len(server.requests) == 2
    assert (caught.value.prompt_id, caught.value.key) == ("novel/v/2", key_of(some(4)[2], CALL))
    said = str(caught.value)
    assert f"holds no answer of 'scripted' to novel/v/2, key {caught.value.key} (and 1 more)" in said
    assert "Run this with `--record` to ask" in said


def test_another_temperature_is_another_record(scripted: Scripted, tmp_path: Path) -> None:
    store = tmp_path / "answers.db"
    with scripted() as server:
        ask(server, some(1), store)

    with pytest.raises(MissingRecord, match="novel/v/0"):
        replay(store, some(1), replace(CALL, temperature=0.6))


def test_a_replay_needs_its_store(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="there is no such file"):
        replay(tmp_path / "none.db", some(1))
    with pytest.raises(BadData, match="needs a store"), open_model(Settings(tmp_path), CALL, Terms("replay")):
        pass


def test_a_replay_works_where_nothing_can_be_written(scripted: Scripted) -> None:
    with tempfile.TemporaryDirectory() as name, scripted() as server:
        ask(server, some(1), Path(name) / "answers.db")
        before = sorted(os.listdir(name))
        Path(name, "answers.db").chmod(0o444)  # it is the user's own until it is shared
        Path(name).chmod(0o555)
        with _nobody():
            assert len(replay(Path(name) / "answers.db", some(1))) == 1
            with pytest.raises(PermissionError):
                (Path(name) / "new").touch()

        assert sorted(os.listdir(name)) == before == ["answers.db"]
        Path(name).chmod(0o755)


@contextmanager
def _nobody() -> Iterator[None]:
    """Give up the right to write everywhere, if we have it."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_without_a_store_nothing_is_kept_and_everything_asked(scripted: Scripted, tmp_path: Path) -> None:
    terms = Terms("off", tmp_path / "answers.db")
    with scripted() as server:
        first = ask(server, some(2), tmp_path / "answers.db", terms=terms)
        second = ask(server, some(2), tmp_path / "answers.db", terms=terms)

    assert first == second
    assert len(server.requests) == 4
    assert list(tmp_path.iterdir()) == []
