"""Kills at random moments lose no acknowledged turn and double none; `make proof` does it with a thousand chats."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot import Assistant
from tests.bot.web.chaos import Chaos, Figures
from tests.bot.web.serving import Server

KILLS = 2


@pytest.mark.proof  # minutes; test_serve.py kills a service a few times in every run
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kills_lose_no_acknowledged_turn_and_double_none(
    kind: str, request: pytest.FixtureRequest, shipped: Assistant, shipped_data: Path, tmp_path: Path
) -> None:
    assert shipped.sample
    database = f"sqlite:///{tmp_path / 'klartext.db'}" if kind == "sqlite" else request.getfixturevalue(kind)
    server = Server(tmp_path, shipped_data, {"KLARTEXT_DATABASE_URL": database})
    server.start()
    try:
        chaos = Chaos([server], database, seed=5)
        found = asyncio.run(chaos.run(chats=24, kills=KILLS, up_s=(0.2, 1.5), pause_s=0.5))
    finally:
        server.kill()

    assert found.hold, found.as_text()
    assert found.kills == KILLS
    assert found.resends > 0


def test_what_is_lost_or_doubled_shows() -> None:
    assert Figures(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0).hold
    for place in range(5, 11):
        assert not Figures(*(int(number == place) for number in range(11))).hold
