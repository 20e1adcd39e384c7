"""The inbox in a real browser: by keyboard, without JavaScript, on a phone, and nothing that keeps anybody out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.editorial.inbox import Wanted
from bot.web.middleware import CONSOLE
from tests.bot.web.staff.asking import ask
from tests.bot.web.staff.consoles import PASSWORD, Staff, running_console
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        running.person("cara", "curator")
        yield running


def _fill(staff: Staff, name: str) -> None:
    for number, text in enumerate(
        ("Darf mein Hund mit?", "Frau Margarethe Huber fragt: tut das Pressen weh?", "WLAN?")
    ):
        ask(staff.console.tools.records, f"{name}-{number}", text, language="de")


def _log_in(page: Page, staff: Staff) -> None:
    page.goto(f"{staff.url}{CONSOLE}/login")
    page.fill("[name=login]", "cara")
    page.fill("[name=password]", PASSWORD)
    page.locator("main button").first.click()
    page.wait_for_url(f"{staff.url}{CONSOLE}")


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [DESKTOP, replace(PHONE, dark=True), replace(DESKTOP, javascript=False, language="en")],
    ids=["desktop de", "phone dark de", "desktop without javascript en"],
)
def test_a_question_is_confirmed_as_a_variant_on_every_device(
    staff: Staff, open_page: OpenPage, device: Device, request: pytest.FixtureRequest
) -> None:
    _fill(staff, request.node.callspec.id)
    page = open_page(device)
    _log_in(page, staff)

    page.goto(f"{staff.url}{CONSOLE}/inbox")
    _require_open_to_all(page, device)
    page.locator(".said a", has_text="tut das Pressen weh").first.click()
    page.fill("[name=find]", "weh")
    page.locator("#find button").click()
    page.locator("input[name=pair][value=pain]").check()
    _require_open_to_all(page, device)
    page.locator("button[value=variant]").click()
    field = page.locator("textarea").first
    assert "Huber" not in field.input_value()
    _require_open_to_all(page, device)
    field.fill(f"tut das Drücken der Platten arg weh {device.width} {device.language}?")
    page.locator("main form button.main").click()
    page.locator(".told").wait_for()

    exam = staff.console.tools.candidate().exam
    draft = staff.console.tools.workbench.draft(exam, "de", "pain")
    assert draft is not None
    assert draft.pair is not None
    assert any(str(device.width) in variant.text for variant in draft.pair.variants)


@pytest.mark.proof
def test_the_keyboard_chooses_decides_and_takes_back(staff: Staff, open_page: OpenPage) -> None:
    _fill(staff, "keys")
    inbox = staff.console.tools.inbox
    page = open_page(DESKTOP)
    _log_in(page, staff)
    page.goto(f"{staff.url}{CONSOLE}/inbox")
    before = len(inbox.rows(Wanted()))

    for key in ("j", "j", "x", "k", "x"):
        page.keyboard.press(key)
    assert page.locator(".entry input:checked").count() == 2
    page.keyboard.press("t")
    page.locator(".told").wait_for()
    assert len(inbox.rows(Wanted(state="not ours"))) == 2
    page.keyboard.press("u")
    page.locator("text=Zurückgenommen").wait_for()

    assert len(inbox.rows(Wanted())) == before


def _require_open_to_all(page: Page, device: Device) -> None:
    assert sideways(page) == 0
    if device.javascript:  # axe-core needs it
        assert barriers(page) == []
