"""The editor of pairs in a real browser: what it tells while somebody types, and two people at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from bot.web.middleware import CONSOLE
from tests.bot.web.staff.consoles import PASSWORD, Staff, running_console
from tests.browser.chromium import DESKTOP, Device, barriers, sideways
from tests.browser.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = Device(390, 844)


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        yield running


def log_in(staff: Staff, page: Page, login: str) -> None:
    staff.person(login, "curator", "approver", name=login.title())
    page.goto(f"{staff.url}{CONSOLE}/login")
    page.fill("input[name=login]", login)
    page.fill("input[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_url(f"**{CONSOLE}")


@pytest.mark.proof
def test_figures_come_while_typing_and_a_conflict_loses_nothing(staff: Staff, open_page: OpenPage) -> None:
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[0].id
    first, second = open_page(DESKTOP), open_page(PHONE)
    for page, login in ((first, "eins"), (second, "zwei")):
        log_in(staff, page, login)
        page.goto(f"{staff.url}{CONSOLE}/pairs/{pair_id}")

    first.fill("[id='de.short_answer']", "Ein Satz. Zwei Sätze. Drei Sätze mit einer Biopsie.")
    first.wait_for_selector("[data-notes='de.short_answer'] .figure.off")
    told = first.inner_text("[data-notes='de.short_answer']")
    assert "9 Wörter, 3 Sätze" in told
    assert "Biopsie" in first.inner_text("[data-notes='de.short_answer'] mark")
    assert "Der Vergleich wird vorbereitet" in first.inner_text("#collisions")
    first.fill("[id='de.short_answer']", "Ein Satz.")
    second.fill("[id='de.short_answer']", "Ein anderer Satz.")
    for page in (first, second):
        page.click("button.main")
        page.wait_for_load_state()

    assert "Entwurf ist gespeichert" in first.inner_text(".told")
    assert "Nichts, was Sie getippt haben, ist verloren" in second.inner_text(".flaw")
    assert second.input_value("[id='de.short_answer']") == "Ein anderer Satz."
    assert barriers(second) == []
    second.check("input[name='de.take.short_answer'][value='mine']")
    second.click("button.main")
    second.wait_for_selector(".told")
    pair = staff.console.tools.candidate().pair("de", pair_id)
    assert pair is not None
    assert pair.short_answer == "Ein anderer Satz."


@pytest.mark.proof
@pytest.mark.parametrize("device", [DESKTOP, PHONE, Device(1280, 900, dark=True)], ids=["desktop", "phone", "dark"])
def test_every_page_is_without_barriers_and_fits_the_screen(staff: Staff, open_page: OpenPage, device: Device) -> None:
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[1].id
    page = open_page(device)
    log_in(staff, page, "barbara")

    for path in (
        "/pairs",
        f"/pairs/{pair_id}",
        f"/pairs/{pair_id}/collisions",
        "/new-pair",
        "/to-sign",
        f"/to-sign/text?what=pair%20{pair_id}%20de",
        "/to-sign/text?what=sentences%20en",
        "/place",
    ):
        page.goto(f"{staff.url}{CONSOLE}{path}")
        assert barriers(page) == [], path
        assert sideways(page) == 0, path
