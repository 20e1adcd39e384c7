"""Every page for patients in a real browser: no barriers, nothing to scroll sideways, and usable by keyboard alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.bot.web.serving import Server
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Route

NARROW = replace(PHONE, width=320)  # as wide as 1280 pixels at 400 %

SAID = {
    "de": {"pain": "Tut das weh?", "unclear": "dauer oder kosten", "odd": "Wie wird morgen das Wetter in Konstanz?",
           "urgent": "Ich kriege keine Luft", "chest": "Druck auf der Brust", "yes": "Ja", "who": "Ich selbst, es geht um mich", "reason": "Früherkennung"},
    "en": {"pain": "Does it hurt?", "unclear": "pain and results", "odd": "What will the weather be like in York tomorrow?",
           "urgent": "I cannot breathe", "chest": "pressure on my chest", "yes": "Yes", "who": "I am, this is about me", "reason": "screening"},
}  # fmt: skip


def check(visitor: Visitor, where: str) -> None:
    """Look for barriers where the visitor is now.

    From the top: half under the bar with the emergency number, which stays while one scrolls, any button is too small.
    """
    visitor.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    assert barriers(visitor.page) == [], where
    assert sideways(visitor.page) == 0, where
    assert visitor.page.title().strip(" –"), where


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [
        NARROW,
        replace(NARROW, language="en", dark=True),
        replace(DESKTOP, language="en"),
        replace(PHONE, scripts=False, dark=True),
    ],
    ids=["narrow de", "narrow dark en", "desktop en", "phone without scripts dark de"],
)
def test_no_page_has_barriers(server: Server, open_page: OpenPage, device: Device) -> None:
    said = SAID[device.language]
    visitor = Visitor(open_page(device), server.url, device.language).open()
    check(visitor, "start")

    visitor.begin()
    check(visitor, "greeting")
    visitor.say(said["pain"])
    visitor.page.locator("details").first.click()
    check(visitor, "answer")
    visitor.say(said["odd"])
    check(visitor, "no answer")
    visitor.say(said["chest"])
    check(visitor, "chest")
    visitor.say(said["urgent"])
    check(visitor, "alarm")
    for path in ("/copy", "/delete", "/end", "/nothing", "/start/wrong"):
        visitor.open(path)
        check(visitor, path)
    visitor.open("/end").press("end_yes")
    check(visitor, "goodbye")


@pytest.mark.proof
@pytest.mark.parametrize("device", [NARROW, replace(NARROW, language="en", dark=True)], ids=["de", "dark en"])
def test_the_interview_has_no_barriers(server: Server, open_page: OpenPage, device: Device) -> None:
    visitor = Visitor(open_page(device), server.url, device.language).begin()
    visitor.choose(SAID[device.language]["yes"])
    check(visitor, "consent")
    visitor.choose(SAID[device.language]["yes"])
    check(visitor, "who")
    visitor.choose(SAID[device.language]["who"])
    visitor.say(SAID[device.language]["reason"]).say("54")
    check(visitor, "question")
    change = visitor.page.get_by_role("button", name=visitor.t["amend"], exact=True)
    noted, button = visitor.page.locator(".reply .taken").last.bounding_box(), change.bounding_box()
    assert noted is not None
    assert button is not None
    assert abs(noted["y"] + noted["height"] / 2 - button["y"] - button["height"] / 2) < button["height"]  # beside it
    for _ in range(60):
        if visitor.page.get_by_role("button", name=visitor.t["summary_yes"]).count():
            break
        visitor.choose(visitor.t["step_skip"])
    check(visitor, "summary")
    visitor.choose(visitor.t["summary_yes"])
    visitor.page.get_by_role("heading", name=visitor.t["bring_heading"]).wait_for()
    check(visitor, "finished")
    visitor.open("/copy")
    check(visitor, "copy")


@pytest.mark.proof
def test_everything_can_be_reached_and_used_by_keyboard(server: Server, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(DESKTOP), server.url, "de").open()
    page, focus = visitor.page, "document.activeElement"

    page.keyboard.press("Tab")
    assert page.evaluate(f"{focus}.className") == "skip"
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        where, style = page.evaluate(
            f"[({focus}.id || {focus}.textContent.trim()), (s => s.outlineStyle + s.outlineWidth + s.boxShadow)"
            f"(getComputedStyle({focus}))]"
        )
        if where in reached:
            break
        reached.add(where)
        if page.evaluate(f"{focus} !== document.body"):
            assert style not in ("none0pxnone", "none3pxnone"), f"focus cannot be seen on {where}"
    assert {"agreed", visitor.t["begin"]} <= reached

    page.locator("#agreed").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat**")
    page.locator("#text").focus()
    page.keyboard.type("Tut das weh?")
    page.keyboard.press("Enter")
    page.locator("#log > .turn").nth(1).wait_for()

    # The reader is put where the new turn begins: the answer comes next.
    page.locator("#log > .turn:last-child :focus").wait_for()
    assert "Tut das weh?" in page.evaluate(f"{focus}.textContent")
    assert "Druck" in visitor.newest


@pytest.mark.proof
def test_a_screen_reader_hears_who_speaks_what_is_new_and_what_can_be_done(server: Server, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(PHONE), server.url, "de").begin()
    visitor.say("Tut das weh?")

    heard = visitor.page.locator("body").aria_snapshot()

    for expected in ('region "Notfall?"', "link", "main:", 'heading "Ihr Gespräch" [level=1]', 'log "Ihr Gespräch"',
                     'textbox "Ihre Frage oder Antwort"', 'button "Absenden"'):  # fmt: skip
        assert expected in heard, heard
    visitor.say("Ich kriege keine Luft")
    alarm = visitor.page.get_by_role("alert").last
    assert "Rufen Sie jetzt" in alarm.inner_text()
    assert alarm.get_by_role("link").first.get_attribute("href") in ("tel:112", "tel:144")


@pytest.mark.proof
def test_without_motion_nothing_moves(server: Server, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(replace(PHONE, reduced_motion=True)), server.url, "de").begin()
    visitor.say("Tut das weh?")

    moving = visitor.page.evaluate(
        "[...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);"
        " return parseFloat(s.animationDuration) > 0.01 || parseFloat(s.transitionDuration) > 0.01;"
        " }).map(e => e.tagName)"
    )
    assert moving == []
    assert visitor.page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


@pytest.mark.proof
def test_buttons_are_large_enough_to_hit(server: Server, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(NARROW), server.url, "de").begin()
    visitor.say("Tut das weh?")

    small = visitor.page.evaluate(
        "[...document.querySelectorAll('button, summary, nav a, a.call, input[type=checkbox] + label')]"
        ".filter(e => e.checkVisibility()).map(e => [e.textContent.trim(), e.getBoundingClientRect()])"
        ".filter(([, r]) => r.height < 24 || r.width < 24).map(([text]) => text)"
    )
    assert small == []


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without"])
def test_both_ways_lead_to_the_same_conversation(server: Server, open_page: OpenPage, *, javascript: bool) -> None:
    visitor = Visitor(open_page(replace(PHONE, javascript=javascript)), server.url, "de").begin()

    visitor.say("Tut das weh?")
    assert "Druck" in visitor.newest
    visitor.say("<b>Fett</b> & 'Zitat'")
    assert visitor.page.locator("#log b").count() == 0
    visitor.page.reload()
    assert visitor.turns == 3
    visitor.open("/delete").press("delete_yes")
    assert visitor.t["deleted_heading"] in visitor.page.inner_text("main")
    visitor.open("/chat")
    assert visitor.page.get_by_role("button", name=visitor.t["begin"]).count() == 1


@pytest.mark.proof
def test_what_is_typed_while_a_reply_is_on_its_way_stays_in_the_box_and_is_not_sent(
    server: Server, open_page: OpenPage
) -> None:
    visitor = Visitor(open_page(replace(DESKTOP, language="en")), server.url, "en").begin()
    page = visitor.page
    held: list[Route] = []

    def hold(route: Route) -> None:  # as on a slow line
        held.append(route)

    page.route("**/chat", hold)
    box = page.locator("#text")

    box.fill(SAID["en"]["pain"])
    box.press("Enter")
    page.locator("#log[aria-busy=true]").wait_for()
    box.press_sequentially(" and how long", delay=5)
    box.press("Enter")
    page.wait_for_timeout(100)
    sent = len(held)
    held[0].continue_()
    page.locator("#log[aria-busy=false]").wait_for()

    assert sent == 1
    assert box.input_value() == "and how long"
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type(" does it take?")
    assert box.input_value() == "and how long does it take?"
    page.unroute("**/chat")
    box.press("Enter")
    page.locator(".said", has_text="and how long does it take?").wait_for()
    assert box.input_value() == ""
