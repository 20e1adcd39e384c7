"""A patient in a real browser who signs in at the hospital and comes back into the chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.ports import Booking
from tests.bot.web.serving import Server
from tests.bot.web.test_smart import Place, environ_for
from tests.browser.chromium import DESKTOP, PHONE, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import LABELS, Visitor
from tests.oidc_process import free_port
from tests.smart_hospital import hospital


@pytest.fixture(scope="module")
def place(shipped: Assistant, shipped_data, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    assert shipped.sample
    port, folder = free_port(), tmp_path_factory.mktemp("smart")
    with hospital(f"http://127.0.0.1:{port}/smart/callback") as provider:
        server = Server(folder, shipped_data, environ_for(provider, port))
        server.start("--port", str(port))
        yield Place(server, provider, "")
        server.kill()


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
    records = SqlRecords.open(f"sqlite:///{place.server.database()}")
    found = records.conversation(session.partition(".")[0])
    records.close()
    assert found is not None
    assert (found.patient, found.booking) == ("P-4711", Booking("A-1", "O-2", "ACC-3"))


@pytest.mark.parametrize("device", [PHONE, replace(DESKTOP, language="en", dark=True)], ids=["de", "dark en"])
def test_who_cancels_gets_a_page_without_barriers(place: Place, open_page: OpenPage, device) -> None:
    visitor = Visitor(open_page(device), place.server.url, device.language).open("/smart/launch")

    visitor.page.get_by_role("button", name="Cancel").click()
    visitor.page.wait_for_url(f"{place.server.url}/smart/callback?*")

    assert visitor.page.get_by_text(visitor.t["launch_denied"]).is_visible()
    assert barriers(visitor.page) == []
    assert sideways(visitor.page) == 0
