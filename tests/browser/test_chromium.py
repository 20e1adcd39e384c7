"""The browser tests can fail: barriers are found where there are some."""

from __future__ import annotations

from tests.browser.chromium import PHONE, barriers, sideways
from tests.browser.conftest import OpenPage

PAGE = """<!doctype html><html lang="de"><head><title>Seite</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"></head><body><main><h1>Seite</h1>{}</main></body></html>"""


def test_a_page_without_barriers_has_none(open_page: OpenPage) -> None:
    page = open_page(PHONE)
    page.set_content(PAGE.format("<p>Guten Tag</p>"))

    assert barriers(page) == []
    assert sideways(page) == 0


def test_barriers_are_found_also_under_a_strict_policy(open_page: OpenPage) -> None:
    page = open_page(PHONE)
    page.set_content(PAGE.format('<input><p style="color:#999;background:#fff">blass</p>'))

    assert {found.split(" ")[0] for found in barriers(page)} == {"label", "color-contrast"}


def test_a_page_wider_than_the_screen_is_found(open_page: OpenPage) -> None:
    page = open_page(PHONE)
    page.set_content(PAGE.format('<div style="width:500px">breit</div>'))

    assert sideways(page) > 0
