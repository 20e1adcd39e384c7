"""A sentence in another language on the page, in the API and on the REST channel: with language and direction."""

from __future__ import annotations

import uuid

import httpx
import pytest

from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.web.page.rendering import load_labels
from tests.bot.web.browser import Browser, Browsers
from tests.bot.web.serving import CHANNEL_TOKEN, Server
from tests.shipped_texts import SAID

DE = load_labels()["de"]
MESSAGES = {
    "tr": "Yarın randevum var ama gelemeyeceğim",
    "ar": "هل يمكن لزوجي أن يدخل معي",
    "fa": "آیا باید صبح ناشتا بیایم",
}


@pytest.fixture
def browser(browsers: Browsers) -> Browser:
    opened = browsers("de")
    opened.open("/")
    opened.press(DE["begin"], consent="yes")
    return opened


@pytest.mark.parametrize(("language", "direction"), [("tr", "ltr"), ("ar", "rtl"), ("fa", "rtl")])
def test_the_page_marks_language_and_direction(browser: Browser, language: str, direction: str) -> None:
    browser.say(MESSAGES[language])

    said = browser.newest.one("p", lang=language)
    assert said.text == SAID[language]["foreign"]
    assert said.get("dir") == direction
    assert browser.newest.get("lang") == "de"


def test_an_emergency_is_a_panel_with_buttons_in_the_language_of_the_page(browser: Browser) -> None:
    browser.say("لا أستطيع التنفس")

    panel = browser.newest.one(role="alert")
    assert panel.one("p", lang="ar").get("dir") == "rtl"
    assert SAID["ar"]["foreign_urgent"] in panel.text
    assert INTERFACE_TEXTS["de"]["urgent"] in panel.text
    assert DE["call"].format(number="112") in panel.text


def test_the_rest_channel_says_the_same(server: Server) -> None:
    answer = httpx.post(
        server.url + "/webhooks/rest/webhook",
        json={"sender": uuid.uuid4().hex, "message": MESSAGES["tr"]},
        headers={"Authorization": f"Bearer {CHANNEL_TOKEN}"},
    )

    assert answer.json()[0]["text"] == SAID["tr"]["foreign"]


def test_the_api_names_the_language_of_the_part(server: Server) -> None:
    begun = httpx.post(server.url + "/api/v1/conversations", json={"consent": True, "language": "de"}).json()
    turn = httpx.post(
        f"{server.url}/api/v1/conversations/{begun['id']}/turns",
        json={"turn_id": "t1", "text": MESSAGES["ar"]},
        headers={"Authorization": f"Bearer {begun['token']}"},
    ).json()

    (part,) = turn["reply"]["parts"]
    assert (part["key"], part["language"], turn["reply"]["language"]) == ("foreign", "ar", "de")
    assert turn["decision"] == "declined"
