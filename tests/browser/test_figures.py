"""The dashboard and the pages for import and export in a real browser: without barriers, on a phone, and printed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.web.middleware import CONSOLE
from bot.web.staff.simulated import FILE
from tests.bot.web.staff.consoles import PASSWORD, Staff, running_console
from tests.bot.web.staff.test_figures import ask
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    folder = tmp_path_factory.mktemp("figures")
    with running_console(folder) as running:
        ask(running, *["answered"] * 30, *["declined"] * 10, "urgent", "clarify")
        groups = {"other": {"answered": 90, "declined": 10}, "plain": {"answered": 5}}
        (folder / FILE).write_text(json.dumps({"run": "r1", "at": "2026-11-20", "groups": groups}), encoding="utf-8")
        running.person("curt", "curator")
        yield running


def open_at(page: Page, staff: Staff, path: str) -> None:
    page.goto(f"{staff.url}{CONSOLE}/login")
    page.locator("[name=login]").fill("curt")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main button").first.click()
    page.wait_for_url(f"{staff.url}{CONSOLE}")
    page.goto(f"{staff.url}{CONSOLE}{path}")


@pytest.mark.proof
@pytest.mark.parametrize("device", [replace(DESKTOP, dark=True), replace(PHONE, width=390)], ids=["desktop", "phone"])
def test_figures_are_tables_with_bars_that_everybody_can_read(
    staff: Staff, open_page: OpenPage, device: Device
) -> None:
    page = open_page(device)
    open_at(page, staff, "/figures?days=7")
    wide = page.locator("svg.bar rect.answered").bounding_box()
    narrow = page.locator("svg.bar rect.declined").bounding_box()
    assert wide is not None
    assert narrow is not None
    assert wide["width"] > 2 * narrow["width"] > 0  # drawn without any inline style
    for path, name in (("/figures?days=7", "figures"), ("/exchange", "exchange")):
        page.goto(f"{staff.url}{CONSOLE}{path}")
        if pictures := os.environ.get("KLARTEXT_PICTURES"):
            mode = "dark" if device.dark else "light"
            page.screenshot(path=Path(pictures) / f"{name}-{device.width}-{mode}.png", full_page=True)
        assert barriers(page) == []
        assert sideways(page) == 0
