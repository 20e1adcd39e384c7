"""A patient in a real browser who signs in at the hospital and comes back into the chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant
from bot.ports import Booking
from tests.bot.web.smart_place import Place, launching_place
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import LABELS, Visitor


@pytest.fixture(scope="module")
def place(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    assert shipped.sample
    with launching_place(tmp_path_factory.mktemp("smart"), shipped_data) as started:
        yield started


@pytest.mark.proof
def test_a_patient_signs_in_at_the_hospital_and_chats(place: Place, open_page: OpenPage) -> None:
    visitor = Visitor(open_page(PHONE), place.server.url, "en")
    visitor.open(f"/smart/launch?iss={place.provider.fhir}&launch=visit")
    page = visitor.page

    page.get_by_label("Name").fill("anna")
    page.get_by_label("Password").fill("of anna")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{place.server.url}/")
    assert page.get_by_text(LABELS["en"]["invited"]).is_visible(), "in the language that the patient speaks"
    assert barriers(page) == []
    kept = {each["name"]: each for each in page.context.cookies(place.server.url)}
    assert "klartext-launch" not in kept
    assert kept["klartext-link"]["httpOnly"]
    assert kept["klartext-link"]["sameSite"] == "Lax"

    page.get_by_label(visitor.t["consent_box"]).check()
    visitor.press("begin").say("Does it hurt?")
    session = next(
        each["value"] for each in page.context.cookies(place.server.url) if each["name"] == "klartext-session"
    )
    found = place.conversation(session)
    assert (found.patient, found.booking) == ("P-4711", Booking("A-1", "O-2", "ACC-3"))


@pytest.mark.proof
@pytest.mark.parametrize("device", [PHONE, replace(DESKTOP, language="en", dark=True)], ids=["de", "dark en"])
def test_who_cancels_gets_a_page_without_barriers(place: Place, open_page: OpenPage, device: Device) -> None:
    visitor = Visitor(open_page(device), place.server.url, device.language).open("/smart/launch")

    visitor.page.get_by_role("button", name="Cancel").click()
    visitor.page.wait_for_url(f"{place.server.url}/smart/callback?*")

    assert visitor.page.get_by_text(visitor.t["launch_denied"]).is_visible()
    assert barriers(visitor.page) == []
    assert sideways(visitor.page) == 0
