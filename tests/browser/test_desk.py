"""The live desk in a real browser: it looks for itself what is new, says so, and loses nothing that was typed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot import Assistant
from bot.editorial.people import Person
from bot.settings import Settings
from bot.web.middleware import CONSOLE
from bot.web.staff.wiring import make_people
from tests.bot.web.serving import Patient, Server, always_open
from tests.bot.web.staff.consoles import PASSWORD, add_known, now
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def service(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert shipped.sample
    folder = tmp_path_factory.mktemp("desk")
    running = Server(folder, shipped_data, always_open(folder))
    running.start("--staff")
    people = make_people(Settings(data=folder, database_url=f"sqlite:///{running.database()}"), now)
    for name in ("Anna Keller", "Berta Kuhn"):
        add_known(people, Person(0, name.split()[0].lower(), name, frozenset({"frontdesk", "curator"})))
    yield running
    running.kill()


def log_in(page: Page, service: Server, login: str) -> None:
    page.goto(f"{service.url}{CONSOLE}/login")
    page.locator("[name=login]").fill(login)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main button").first.click()
    page.wait_for_url(f"{service.url}{CONSOLE}")


def look(page: Page, device: Device, name: str) -> None:
    """Check a page as it is now; keep a picture where KLARTEXT_PICTURES names a folder."""
    if pictures := os.environ.get("KLARTEXT_PICTURES"):
        mode = "dark" if device.dark else "light"
        page.screenshot(path=Path(pictures) / f"{name}-{device.width}-{mode}.png", full_page=True)
    assert barriers(page) == []
    assert sideways(page) == 0


@pytest.mark.proof
@pytest.mark.parametrize("device", [replace(DESKTOP, dark=True), replace(PHONE, width=390)], ids=["desktop", "phone"])
def test_the_desk_says_by_itself_who_came_and_a_conversation_goes_on_without_reloading(
    service: Server, open_page: OpenPage, device: Device
) -> None:
    page = open_page(device)
    log_in(page, service, "anna")
    page.goto(f"{service.url}{CONSOLE}/desk")
    look(page, device, "desk-empty")
    sound = page.locator("#desk-sound")
    assert sound.get_attribute("aria-pressed") == "false"
    sound.click()
    _until(page, "document.getElementById('desk-sound').getAttribute('aria-pressed') === 'true'")
    assert page.evaluate("document.documentElement.dataset.rang") == "1"

    patient = Patient(service)
    patient.say("ich krieg keine luft mehr")
    page.locator(".desk-call.urgent").wait_for(timeout=15_000)
    assert page.title().startswith("(1) ")
    assert page.locator('[data-badge="menu_desk"].urgent').inner_text() == "1"
    assert page.locator("#desk-told").inner_text() != ""
    assert page.evaluate("document.documentElement.dataset.rang") == "2"
    look(page, device, "desk")

    page.locator(".desk-call a").click()
    page.locator("button.main").click()
    page.locator("#desk-text").fill("Ich schreibe gerade")
    patient.say("ich krieg keine luft mehr bitte")
    page.locator(".desk-line.patient.urgent").nth(1).wait_for(timeout=15_000)
    assert page.locator("#desk-text").input_value() == "Ich schreibe gerade"
    look(page, device, "desk-call")
    page.locator(".desk-write button").click()
    page.locator(".desk-line.staff").wait_for()

    page.locator("#desk-text").fill("Noch etwas")
    colleague = open_page(DESKTOP)
    log_in(colleague, service, "berta")
    colleague.goto(page.url)
    colleague.on("dialog", lambda dialog: dialog.accept())
    colleague.locator("form[data-confirm] button").click()
    page.locator("#desk-kept").wait_for(timeout=15_000)
    assert page.locator("#desk-kept").input_value() == "Noch etwas"  # what was typed is not lost
    colleague.locator("form[action$='/return'] button").click()
    page.locator("#desk-acts .flaw").wait_for(timeout=15_000)  # it is said, and nobody is thrown out
    assert page.locator("#desk-kept").input_value() == "Noch etwas"


@pytest.mark.proof
def test_a_message_that_comes_leaves_the_cursor_where_it_is_and_printing_shows_all_of_a_conversation(
    service: Server, open_page: OpenPage
) -> None:
    patient = Patient(service)
    patient.say("/staff")
    page = open_page(replace(PHONE, width=390))
    log_in(page, service, "anna")
    page.goto(f"{service.url}{CONSOLE}/desk/{patient.id}")
    page.locator("button.main").click()
    _until(page, "document.activeElement.id === 'desk-text'")  # nobody has to scroll to it
    page.keyboard.type("Guten Tag")
    page.evaluate("document.getElementById('desk-text').setSelectionRange(5, 5)")
    for number in range(12):
        patient.say(f"Hallo {number}?")
    page.get_by_text("Hallo 11?").wait_for(timeout=15_000)
    _until(page, "document.getElementById('desk-text').selectionStart === 5")
    page.keyboard.type("!")
    assert page.locator("#desk-text").input_value() == "Guten! Tag"

    page.emulate_media(media="print")
    cut = page.evaluate("(() => { const box = document.getElementById('desk-lines');"
                        " return box.scrollHeight - box.clientHeight; })()")  # fmt: skip
    assert cut <= 0
    assert not page.locator("#bell").is_visible()


def _until(page: Page, holds: str) -> None:
    """Wait until an expression holds; the page's policy lets no script be made of a text, so it is asked again."""
    for _ in range(150):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never: {holds}")


def test_every_page_hears_of_a_new_call_in_title_badge_and_sound(service: Server, open_page: OpenPage) -> None:
    page = open_page(DESKTOP)
    log_in(page, service, "anna")
    page.locator("#desk-sound").click()
    _until(page, "document.documentElement.dataset.rang === '1'")
    page.goto(f"{service.url}{CONSOLE}/account")
    _until(page, "sessionStorage.getItem('desk-rings') !== null")
    look(page, DESKTOP, "desk-bell")

    Patient(service).say("ich krieg keine luft mehr")

    # Whether sound goes on, too, on a page that was opened by its address is the browser's to say: the button shows it.
    _until(page, "document.getElementById('desk-told').textContent !== ''")
    assert page.title().startswith("(")
    assert page.locator('.menu [data-badge="menu_desk"].urgent').is_visible()


@pytest.mark.proof
def test_who_is_logged_out_while_typing_is_told_why_and_goes_on_where_they_were(
    service: Server, open_page: OpenPage
) -> None:
    patient = Patient(service)
    patient.say("/staff")
    page = open_page(DESKTOP)
    log_in(page, service, "anna")
    page.goto(f"{service.url}{CONSOLE}/desk/{patient.id}")
    page.locator("button.main").click()
    page.locator("#desk-text").fill("Ich komme gleich zu Ihnen")
    page.context.clear_cookies()

    page.wait_for_url(f"**{CONSOLE}/login?why=ended**", timeout=15_000)
    assert page.locator("main .warn").is_visible()
    look(page, DESKTOP, "desk-ended")
    page.locator("[name=login]").fill("anna")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main button").first.click()

    page.wait_for_url(f"{service.url}{CONSOLE}/desk/{patient.id}")
    assert page.locator("#desk-text").input_value() == "Ich komme gleich zu Ihnen"
    page.reload()
    assert page.locator("#desk-text").input_value() == ""  # it is kept no longer than that
