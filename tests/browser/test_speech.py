"""Reading aloud and dictating in a real browser, with the browser's own interfaces replaced at the outermost edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from tests.bot.web.serving import Server
from tests.browser.chromium import PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

# What a device can say: voices of some languages, of the device or of a service; what is spoken is noted.
VOICES = """
window.spoken = [];
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
const voices = %s.map(([lang, localService]) => ({ lang, localService, name: lang }));
const synthesis = new EventTarget();
Object.assign(synthesis, {
  getVoices: () => voices,
  speak: (speech) => { window.spoken.push([speech.text, speech.lang]); window.speech = speech; },
  cancel: () => { window.spoken.push("cancelled"); window.speech?.onend?.(); },
});
Object.defineProperty(window, "speechSynthesis", { value: synthesis });
"""
# What a browser recognises: on the device in some languages; what is heard comes when it is stopped.
RECOGNITION = """
window.started = [];
window.SpeechRecognition = class {
  static async available({ langs, processLocally }) {
    return processLocally && langs.every((lang) => %s.includes(lang)) ? "available" : "unavailable";
  }
  start() { window.started.push([this.lang, Boolean(this.processLocally)]); }
  stop() {
    this.onresult({ resultIndex: 0, results: [[{ transcript: " tut das weh " }]] });
    this.onend();
  }
};
"""
GERMAN = replace(PHONE, width=390, height=844)
ENGLISH = replace(GERMAN, language="en")


@pytest.fixture(scope="module")
def vendors(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service whose site allows the browser's vendor to recognise speech."""
    assert shipped.sample
    running = Server(tmp_path_factory.mktemp("vendors"), shipped_data, {"KLARTEXT_DICTATION": "vendor"})
    running.start()
    yield running
    running.kill()


def visit(open_page: OpenPage, server: Server, device: Device, script: str) -> Visitor:
    page = open_page(device)
    page.add_init_script(script)
    return Visitor(page, server.url, device.language).begin()


@pytest.mark.proof
@pytest.mark.parametrize("device", [GERMAN, ENGLISH], ids=["de", "en"])
def test_an_answer_is_read_by_a_voice_of_the_device_until_it_is_pressed_again(
    server: Server, open_page: OpenPage, device: Device
) -> None:
    visitor = visit(open_page, server, device, VOICES % '[["de-DE", true], ["en-GB", true]]')
    page, t = visitor.page, visitor.t
    visitor.say({"de": "Tut das weh?", "en": "Does it hurt?"}[device.language])
    visitor.say({"de": "Was kostet das?", "en": "What does it cost?"}[device.language])

    first, second = page.locator("button.voice").all()
    assert first.inner_text() == t["read_aloud"]
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    assert barriers(page) == []
    assert sideways(page) == 0
    first.click()
    assert first.inner_text() == t["read_stop"]
    text, spoken_in = page.evaluate("spoken.at(-1)")
    assert text in page.locator(".answer").first.inner_text()
    assert spoken_in.startswith(device.language)

    second.click()  # another one: the first is no longer read
    assert (first.inner_text(), second.inner_text()) == (t["read_aloud"], t["read_stop"])
    second.click()
    assert (second.inner_text(), page.evaluate("spoken.at(-1)")) == (t["read_aloud"], "cancelled")


@pytest.mark.proof
@pytest.mark.parametrize("voices", ["[]", '[["de-DE", false]]', '[["en-GB", true]]'], ids=["none", "far", "foreign"])
def test_without_a_voice_of_the_device_in_its_language_no_answer_can_be_read(
    server: Server, open_page: OpenPage, voices: str
) -> None:
    visitor = visit(open_page, server, GERMAN, VOICES % voices)

    visitor.say("Tut das weh?")

    assert visitor.page.locator("button.voice").count() == 0


@pytest.mark.proof
@pytest.mark.parametrize("device", [GERMAN, ENGLISH], ids=["de", "en"])
def test_what_is_dictated_on_the_device_stands_in_the_box_and_is_not_sent(
    server: Server, open_page: OpenPage, device: Device
) -> None:
    visitor = visit(open_page, server, device, RECOGNITION % '["de-DE", "en-US"]')
    page, t = visitor.page, visitor.t
    button = page.get_by_role("button", name=t["dictate"], exact=True)
    button.wait_for()
    assert barriers(page) == []
    assert sideways(page) == 0
    assert button.bounding_box()["height"] >= 44  # type: ignore[index]

    button.click()
    assert page.evaluate("started") == [[{"de": "de-DE", "en": "en-US"}[device.language], True]]
    page.get_by_role("button", name=t["dictate_stop"], exact=True).click()

    assert page.locator("#text").input_value() == "tut das weh"
    assert visitor.turns == 1
    visitor.say("Hallo")  # the box is a new one, and can be dictated into, too
    page.get_by_role("button", name=t["dictate"], exact=True).wait_for()


@pytest.mark.proof
@pytest.mark.parametrize("script", [RECOGNITION % "[]", "delete window.SpeechRecognition; delete window.webkitSpeechRecognition"],
                         ids=["vendor only", "nothing"])  # fmt: skip
def test_where_no_speech_is_recognised_on_the_device_nobody_can_dictate(
    server: Server, open_page: OpenPage, script: str
) -> None:
    visitor = visit(open_page, server, GERMAN, script)

    visitor.say("Tut das weh?")

    assert visitor.page.locator("button.dictate").count() == 0


@pytest.mark.proof
def test_where_the_vendor_hears_it_the_patient_is_told_first(vendors: Server, open_page: OpenPage) -> None:
    visitor = visit(open_page, vendors, GERMAN, RECOGNITION % "[]")
    page, t = visitor.page, visitor.t
    button = page.locator("button.dictate")

    button.click()
    dialog = page.get_by_role("dialog", name=t["dictate_notice"])
    dialog.wait_for()
    assert barriers(page) == []
    dialog.get_by_role("button", name=t["dictate_refuse"]).click()
    assert page.evaluate("started") == []
    button.click()
    page.keyboard.press("Escape")
    assert page.evaluate("started") == []

    button.click()
    dialog.get_by_role("button", name=t["dictate_agree"]).click()
    page.get_by_role("button", name=t["dictate_stop"], exact=True).click()
    assert page.evaluate("started") == [["de-DE", False]]
    button.click()  # told once
    assert page.evaluate("started.length") == 2


@pytest.mark.proof
def test_where_the_device_can_do_it_the_vendor_is_not_asked(vendors: Server, open_page: OpenPage) -> None:
    visitor = visit(open_page, vendors, GERMAN, RECOGNITION % '["de-DE"]')

    visitor.page.locator("button.dictate").click()

    assert visitor.page.evaluate("started") == [["de-DE", True]]


@pytest.mark.proof
def test_the_microphone_is_for_our_own_pages_only(vendors: Server) -> None:
    assert "microphone=(self)" in httpx.get(vendors.url).headers["permissions-policy"]
    assert "microphone=()" in httpx.get(vendors.url + "/healthz").headers["permissions-policy"]
