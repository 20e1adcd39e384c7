"""A handoff in a real browser: the patient asks for a person, staff take over, write, and hand back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from tests.bot.web.serving import Server, always_open
from tests.bot.web.staff_members import STAFF_TOKEN, Member
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "Anna <i>Keller</i>"
TEXT = "Guten Tag! <img src=x onerror=alert(1)> Was kann ich für Sie tun?"


@pytest.fixture(scope="module")
def staffed(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert shipped.sample
    folder = tmp_path_factory.mktemp("staffed")
    running = Server(folder, shipped_data, {**always_open(folder), "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN})
    running.start()
    yield running
    running.kill()


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [
        PHONE,
        replace(DESKTOP, language="en", dark=True),
        replace(PHONE, scripts=False),
        replace(DESKTOP, javascript=False),
    ],
    ids=["phone de", "desktop dark en", "phone without scripts de", "desktop without javascript de"],
)
def test_a_patient_who_asks_for_a_person_is_written_to_by_one(
    staffed: Server, open_page: OpenPage, device: Device
) -> None:
    member, said, alone = Member(staffed, NAME), SENTENCES[device.language], device.javascript and device.scripts
    page = open_page(device)
    visitor = Visitor(page, staffed.url, device.language).open()
    visitor.begin()
    visitor.press("call_staff")
    page.get_by_text(said["staff_is_called"]).wait_for()
    assert page.locator(".reload").is_visible() is not alone
    (session,) = (each["value"] for each in page.context.cookies() if each["name"].endswith("session"))
    id_ = session.split(".")[0]
    assert member.inbox()[id_]["kind"] == "asked"
    _look(page, device, "waiting")

    member.do(id_, "take")
    member.do(id_, "message", text=TEXT)
    if alone:
        page.locator("#text").fill("Ich schreibe gerade")
        page.locator("#text").focus()
    else:
        page.get_by_role("link", name=visitor.t["staff_reload_link"]).click()
    page.get_by_text(visitor.t["staff_from"].format(name=NAME)).wait_for()  # no reload where scripts run
    assert page.locator("#log .of-staff .text").last.inner_text() == TEXT
    assert page.locator("#handoff .called").inner_text() == visitor.t["staff_taken"].format(name=NAME)
    assert page.locator(".of-staff i, .of-staff img").count() == 0
    assert not page.get_by_text(visitor.t["not_watched"]).is_visible()
    if alone:  # what the patient is writing is not lost, nor is the place to write
        assert page.locator("#text").input_value() == "Ich schreibe gerade"
        assert page.locator("#text").evaluate("field => document.activeElement === field")
    assert (barriers(page) if device.javascript else []) == []
    assert sideways(page) == 0 if device.javascript else True
    _look(page, device, "taken")

    visitor.say(asked := {"de": "Wo melde ich mich an?", "en": "Where do I check in?"}[device.language])
    page.locator("#log").get_by_text(said["staff_reads"]).wait_for()
    assert [turn["said"] for turn in member.live(id_)["turns"]][-1] == asked
    member.do(id_, "return")
    if not alone:
        page.get_by_role("link", name=visitor.t["staff_reload_link"]).click()
    page.get_by_text(visitor.t["staff_returns"]).wait_for()
    assert page.locator("#handoff .called").count() == 0
    assert page.get_by_text(visitor.t["not_watched"]).is_visible()
    visitor.say("Tut das weh?" if device.language == "de" else "Does it hurt?")
    assert page.locator("#log .turn").last.locator(".answer").count() == 1
    numbers = page.locator("#log > .turn").evaluate_all("turns => turns.map(turn => turn.id)")
    assert [each.split("-")[0] for each in numbers] == ["turn", "turn", "staff", "staff", "turn", "staff", "turn"]

    visitor.open("/copy")
    assert page.get_by_text(TEXT).is_visible()
    assert page.get_by_text(visitor.t["staff_from"].format(name=NAME)).is_visible()


def _look(page: Page, device: Device, name: str) -> None:
    """Keep a picture where somebody wants to look at the page."""
    folder = os.environ.get("KLARTEXT_PICTURES")
    if folder:
        page.screenshot(path=str(Path(folder) / f"handoff-{device.width}-{device.language}-{name}.png"))
