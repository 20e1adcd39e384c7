"""The form in a real browser: filled in from start to end with and without scripts, without barriers, by keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.sentences.reply import SENTENCES
from tests.bot.web.serving import Server
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

NARROW = replace(PHONE, width=320)
MOST_PAGES = 40
AGE = {"de": "Wie alt sind Sie?", "en": "How old are you?"}
PREGNANT = {"de": "Nein, sicher nicht", "en": "No, definitely not"}
SILENT = ("dont_know", "refused")


def check(visitor: Visitor, where: str) -> None:
    visitor.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    assert barriers(visitor.page) == [], where
    assert sideways(visitor.page) == 0, where
    assert visitor.page.title().strip(" –"), where


def to_form(visitor: Visitor) -> Visitor:
    visitor.begin()
    visitor.page.get_by_role("link", name=visitor.t["form_link"]).click()
    visitor.page.wait_for_url("**/form/1")
    return visitor


def save(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name=visitor.t["form_save"], exact=True).last.click()
    visitor.page.wait_for_load_state()


def fill_in(visitor: Visitor) -> None:
    """Choose the first answer to each question, and write what is asked for, by what its field looks like."""
    page = visitor.page
    for field in page.locator(".field").all():
        ticks = [each for each in field.locator("input[type=radio], input[type=checkbox]").all()
                 if each.get_attribute("value") not in SILENT]  # fmt: skip
        if ticks and not any(each.is_checked() for each in ticks):
            ticks[0].check()
        for box in field.locator("input[type=text]:not([name$='.own'])").all():
            if box.input_value() == "":
                name = box.get_attribute("name") or ""
                text = {"day": "", "month": "5", "year": "2020"}.get(name.partition(".")[2], "Ort")
                box.fill("12" if box.get_attribute("inputmode") and "." not in name else text)


def to_check(visitor: Visitor) -> list[str]:
    """Fill in all pages; return what the page that shows all answers was reached by."""
    seen: list[str] = []
    for _ in range(MOST_PAGES):
        if visitor.page.url.endswith("/form/check"):
            return seen
        seen.append(visitor.page.url)
        fill_in(visitor)
        if visitor.page.get_by_label(AGE[visitor.language]).count():
            visitor.page.get_by_label(AGE[visitor.language]).first.fill("52")
        if len(seen) > 2 and seen[-1].partition("?")[0] == seen[-3].partition("?")[0]:  # not taken: without an answer
            for tick in visitor.page.locator(".wrong input[value=dont_know]").all():
                tick.check()
            for box in visitor.page.locator(".wrong input[type=text]").all():
                box.fill("")
        save(visitor)
    raise AssertionError(f"no end: {seen}")


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [
        replace(PHONE, javascript=True),
        replace(PHONE, javascript=False),
        replace(DESKTOP, language="en"),
        replace(DESKTOP, language="en", javascript=False),
    ],
    ids=["phone de", "phone de without scripts", "desktop en", "desktop en without scripts"],
)
def test_the_shipped_form_is_filled_in_and_agreed_to(server: Server, open_page: OpenPage, device: Device) -> None:
    visitor = to_form(Visitor(open_page(device), server.url, device.language))

    seen = to_check(visitor)

    assert {f"/form/{number}" for number in range(1, 10)} <= {
        url.removeprefix(server.url).partition("?")[0] for url in seen
    }
    row = visitor.page.locator(".row", has_text=AGE[device.language]).first
    assert row.locator(".value").inner_text() == "52"
    row.get_by_role("link").click()
    visitor.page.wait_for_load_state()
    field = visitor.page.get_by_label(AGE[device.language]).first
    assert visitor.page.url.endswith(f"#{field.get_attribute('id')}")
    assert (
        visitor.page.evaluate("document.activeElement.id") == field.get_attribute("id") if device.javascript else True
    )
    field.fill("53")
    save(visitor)
    assert visitor.page.url.endswith("/form/check")
    assert visitor.page.locator(".row", has_text=AGE[device.language]).first.locator(".value").inner_text() == "53"

    visitor.page.get_by_role("button", name=visitor.t["summary_yes"]).click()
    visitor.page.wait_for_url("**/chat**")
    assert SENTENCES[device.language]["completed"] in visitor.newest


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [NARROW, replace(NARROW, language="en", dark=True), replace(DESKTOP, width=640, language="en")],
    ids=["narrow de", "narrow dark en", "desktop en at 200 %"],
)
def test_no_page_of_the_form_has_barriers(server: Server, open_page: OpenPage, device: Device) -> None:
    visitor = to_form(Visitor(open_page(device), server.url, device.language))
    check(visitor, "first page")
    save(visitor)
    check(visitor, "nothing chosen")
    fill_in(visitor)
    save(visitor)
    visitor.page.get_by_label(AGE[device.language]).first.fill({"de": "ungefähr 52", "en": "about 52"}[device.language])
    fill_in(visitor)
    save(visitor)
    assert visitor.page.get_by_label(visitor.t["form_sure"]).count()
    check(visitor, "to be confirmed")
    visitor.page.get_by_label(visitor.t["form_sure"]).check()
    save(visitor)
    for number in range(3, 10):
        visitor.open(f"/form/{number}")
        fill_in(visitor)
        save(visitor)
        check(visitor, f"page {number}")
    visitor.open("/form/check")
    check(visitor, "all answers")
    visitor.open("/form/3").press("larger")
    assert visitor.page.url.endswith("/form/3")
    check(visitor, "larger text")


@pytest.mark.proof
def test_what_is_wrong_gets_the_focus_and_its_links_lead_to_the_fields(server: Server, open_page: OpenPage) -> None:
    visitor = to_form(Visitor(open_page(DESKTOP), server.url, "de"))
    fill_in(visitor)
    save(visitor)
    page, focus = visitor.page, "document.activeElement.id"
    save(visitor)
    page.locator("#wrong").wait_for()

    assert page.evaluate(focus) == "wrong"
    assert page.title().startswith(visitor.t["form_wrong_title"])
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    field = page.get_by_label(AGE["de"]).first
    assert page.evaluate(focus) == field.get_attribute("id")
    assert visitor.t["form_error"] in page.locator(f"#{field.get_attribute('id')}-error").inner_text()
    field.fill("52")
    with page.expect_navigation():
        page.keyboard.press("Enter")  # sends the page, and does nothing else
    assert "52" in page.get_by_label(AGE["de"]).first.input_value()
    assert len(page.locator("#wrong li").all()) == 1


@pytest.mark.proof
def test_markup_that_a_patient_writes_stays_text(server: Server, open_page: OpenPage) -> None:
    visitor = to_form(Visitor(open_page(replace(PHONE, language="en")), server.url, "en"))
    markup = '"><img src=x onerror=alert(1)> & <b>bold</b>'
    fill_in(visitor)
    save(visitor)
    visitor.open("/form/9")
    visitor.page.locator("textarea").fill(markup)
    save(visitor)
    visitor.open("/form/9")
    assert visitor.page.locator("textarea").input_value() == markup
    visitor.open("/form/check")
    assert visitor.page.locator("main img, main b").count() == 0
    assert "bold" in visitor.page.locator(".row", has_text="tell us").inner_text()
