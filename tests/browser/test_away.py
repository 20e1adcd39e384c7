"""A message that cannot be taken because the database is away, in a real browser with scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sentences.reply import SENTENCES
from tests.bot.web.serving import Server
from tests.bot.web.test_page_safety import without_database
from tests.browser.chromium import PHONE, open_device
from tests.browser.patients import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

URGENT = "Ich kriege keine Luft"


def test_the_page_says_that_it_failed_what_is_kept_and_whom_to_call(browser: Browser, server: Server) -> None:
    context = open_device(browser, PHONE)
    visitor = Visitor(context.new_page(), server.url, "de").begin()
    page, failed = visitor.page, visitor.page.locator("#send-failed")

    with without_database(server):
        page.locator("#text").fill(URGENT)
        page.locator("#say").get_by_role("button", name=visitor.t["send"]).click()
        failed.wait_for()
        said, alarm = failed.inner_text(), page.locator("#log #alarm").inner_text()

    assert visitor.t["send_failed"] in said
    assert "112" in said
    assert visitor.t["not_watched"] not in said
    assert page.locator("#text").input_value() == URGENT
    assert SENTENCES["de"]["urgent"] in alarm
    page.locator("#say").get_by_role("button", name=visitor.t["send"]).click()
    page.locator("#log .turn .panel").wait_for()
    assert page.locator("#alarm").count() == 0
    assert page.locator("#log .turn .said").count() == 1
    context.close()
