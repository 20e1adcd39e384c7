"""One running service for most tests of the web."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import Assistant
from tests.bot.web.browser import Browser, Browsers
from tests.bot.web.serving import CHANNEL_TOKEN, RASA_TOKEN, Patient, Server


@pytest.fixture(scope="session")
def server(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service on the shipped catalog, with the REST channel and the actions for Rasa on."""
    assert shipped.sample
    environ = {"KLARTEXT_CHANNEL_TOKEN": CHANNEL_TOKEN, "KLARTEXT_RASA_TOKEN": RASA_TOKEN}
    running = Server(tmp_path_factory.mktemp("server"), shipped_data, environ)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def own_server(shipped: Assistant, shipped_data: Path, tmp_path: Path) -> Iterator[Server]:
    """A service that the test may kill."""
    assert shipped.sample
    running = Server(tmp_path, shipped_data)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def browsers(server: Server) -> Iterator[Browsers]:
    """Opens browsers whose first language is the given one, and closes them."""
    opened: list[Browser] = []

    def browser(language: str) -> Browser:
        opened.append(Browser(server.url, language))
        return opened[-1]

    yield browser
    for each in opened:
        each.client.close()


@pytest.fixture
def patient(server: Server) -> Patient:
    return Patient(server)
