"""What stays in sight: the emergency bar, the box to write in, the newest message. Measured on screens of many sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.bot.web.serving import Server
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

USUAL, SMALL = replace(PHONE, width=390, height=844), replace(PHONE, width=320, height=568)
ZOOMED = replace(DESKTOP, width=640, height=450)  # a desktop at 200 %
SCREENS = {"phone": USUAL, "small phone": SMALL, "phone at 200 %": replace(PHONE, width=195, height=422),
           "desktop": DESKTOP, "desktop at 200 %": ZOOMED, "phone on its side": replace(PHONE, width=844, height=390)}  # fmt: skip
BAR_PX, TARGET_PX = 72, 44
SAID = {
    "de": ("Ich will sterben, ich habe Tabletten geschluckt", "Druck auf der Brust", "Tut das weh?"),
    "en": ("I have taken too many pills and want to die", "pressure on my chest", "Does it hurt?"),
}

MEASURE = """() => {
  const edges = (element) => { const box = element.getBoundingClientRect(); return { top: box.top, bottom: box.bottom }; };
  const heights = [...document.querySelectorAll(".emergency a, .emergency button, .panel a, .panel button, .helplines a")]
    .map((each) => each.getBoundingClientRect().height);
  const turn = document.getElementById("log").lastElementChild, said = turn.querySelector(".said");
  return {
    bar: edges(document.querySelector(".emergency")), box: edges(document.getElementById("say")),
    said: said && edges(said), reply: edges(turn.querySelector(".reply")), lowest: Math.min(...heights), height: innerHeight,
  };
}"""


def measured(visitor: Visitor) -> dict[str, Any]:
    return dict(visitor.page.evaluate(MEASURE))


def check(visitor: Visitor, where: str, *, whole: bool = True) -> None:
    """The bar at the top, the box at the bottom, and between them what was said last, with its reply.

    `whole`: all of it, unless that would leave the reply less than half of the room.
    """
    found = measured(visitor)
    bar, box, said, reply = found["bar"], found["box"], found["said"], found["reply"]
    assert bar["top"] == 0, where
    assert bar["bottom"] <= BAR_PX, where
    assert found["lowest"] >= TARGET_PX, where
    assert abs(box["bottom"] - found["height"]) < 1, where
    assert bar["bottom"] < said["bottom"] < box["top"], where
    fits = said["bottom"] - said["top"] < (box["top"] - bar["bottom"]) / 2
    assert not (whole and fits) or said["top"] >= bar["bottom"] - 1, where
    assert reply["top"] < box["top"], where
    assert sideways(visitor.page) == 0, where


@pytest.mark.proof
@pytest.mark.parametrize(
    ("screen", "language", "scripts"),
    [
        *((screen, ("de", "en")[place % 2], True) for place, screen in enumerate(SCREENS)),
        *((screen, ("en", "de")[place % 2], False) for place, screen in enumerate(SCREENS)),
    ],
)
def test_bar_box_and_newest_message_are_in_sight(
    server: Server, open_page: OpenPage, screen: str, language: str, *, scripts: bool
) -> None:
    device = replace(SCREENS[screen], language=language, scripts=scripts)
    visitor = Visitor(open_page(device), server.url, language).begin()

    for text in SAID[language]:
        visitor.say(text)
        check(visitor, f"after {text!r}", whole=scripts)
    visitor.page.reload()
    check(visitor, "reloaded", whole=scripts)
    visitor.open()
    visitor.page.get_by_role("link", name=visitor.t["go_on"]).click()
    visitor.page.wait_for_url("**/chat#newest")
    check(visitor, "resumed", whole=scripts)
    visitor.press("larger")
    check(visitor, "larger", whole=scripts)
    visitor.say(SAID[language][0])
    check(visitor, "an alarm in larger text", whole=scripts)


@pytest.mark.parametrize("device", [USUAL, SMALL], ids=["phone", "small phone"])
def test_a_message_that_would_fill_the_screen_leaves_the_alarm_in_sight(
    server: Server, open_page: OpenPage, device: Device
) -> None:
    visitor = Visitor(open_page(device), server.url, "de").begin()

    visitor.say("Ich kriege keine Luft. " + "Das fing heute Morgen an, und ich weiß nicht, was ich tun soll. " * 12)

    found = measured(visitor)
    assert found["said"]["bottom"] > found["bar"]["bottom"]
    heading = visitor.page.get_by_role("heading", name=visitor.t["alert_heading"]).bounding_box()
    assert heading is not None
    assert heading["y"] < found["box"]["top"]


@pytest.mark.proof
def test_the_greeting_opens_at_its_top(server: Server, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(SMALL), server.url, "de").begin()

    assert visitor.page.evaluate("scrollY") == 0
    visitor.page.reload()
    assert visitor.page.evaluate("scrollY") == 0


@pytest.mark.parametrize("device", [replace(SMALL, language="en"), replace(SMALL, dark=True)], ids=["en", "dark de"])
def test_lines_that_an_alarm_names_are_links_with_who_answers(
    server: Server, open_page: OpenPage, device: Device
) -> None:
    visitor = Visitor(open_page(device), server.url, device.language).begin()
    visitor.say(SAID[device.language][0])

    alarm = visitor.page.get_by_role("alert")
    for name, number in {"Die Dargebotene Hand": "143", "TelefonSeelsorge": "142"}.items():
        link = alarm.get_by_role("link", name=name).and_(visitor.page.locator(f'[href="tel:{number}"]'))
        assert number in link.inner_text()
    visitor.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    assert barriers(visitor.page) == []

    visitor.choose(visitor.page.locator("form.choices button").last.inner_text())
    assert visitor.page.locator("#log > .turn").last.get_by_role("link", name="TelefonSeelsorge").count() >= 3
    visitor.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    assert barriers(visitor.page) == []
