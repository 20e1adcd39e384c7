"""One browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.bot.web.conftest import server  # noqa: F401 - a fixture
from tests.browser.chromium import Device, open_device, running_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

# What Chromium writes of pages that say that something is not there.
EXPECTED = "the server responded with a status of 4"

OpenPage = Callable[[Device], "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_chromium() as started:
        yield started


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an empty page on a device; what it says on its console counts as a failure."""
    contexts, complaints = [], []

    def open_(device: Device) -> Page:
        context = open_device(browser, device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def _is_complaint(said: ConsoleMessage) -> bool:
    return said.type == "error" and EXPECTED not in said.text
