"""Sending a file in a real browser: on a phone and at a desk, by keyboard alone, with and without scripts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from tests.bot.interview.resources import CORE, Json, extended, form, item
from tests.bot.web.serving import Server
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"


def in_german(text: str) -> Json:
    parts = [{"url": "lang", "valueCode": "de"}, {"url": "content", "valueString": text}]
    return {"extension": [{"url": CORE + "translation", "extension": parts}]}


def in_unit(code: str) -> list[Json]:
    unit = {"system": "http://unitsofmeasure.org", "code": code}
    return extended((CORE + "questionnaire-unit", {"valueCoding": unit}))


GENDER = "http://hl7.org/fhir/administrative-gender"
ASKED = form(
    item("height", "quantity", text="How tall are you?", _text=in_german("Wie groß sind Sie?"), extension=in_unit("cm")),
    item("sex", "choice", text="Your sex", _text=in_german("Ihr Geschlecht"),
         answerOption=[{"valueCoding": {"system": GENDER, "code": code, "display": code.title()}} for code in ("female", "male")]),
    item("letter", "attachment", text="Do you have a letter from your doctor?",
         _text=in_german("Haben Sie einen Brief von Ihrem Arzt?")),
    title="Questions", _title=in_german("Fragen"), language="en",
)  # fmt: skip


@pytest.fixture(scope="module")
def taking(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that takes files, and asks for one."""
    assert shipped.sample
    folder = tmp_path_factory.mktemp("uploads")
    asked = folder / "form.json"
    asked.write_text(json.dumps(ASKED), encoding="utf-8")
    environ = {
        "KLARTEXT_UPLOADS": "on",
        "KLARTEXT_UPLOAD_SCAN": "none",
        "KLARTEXT_UPLOAD_MAX_BYTES": "100000",
    }
    running = Server(folder, shipped_data, environ)
    running.start("--questionnaire", str(asked))
    yield running
    running.kill()


@pytest.mark.proof
@pytest.mark.parametrize(
    "device",
    [
        replace(PHONE, width=390, height=844),
        replace(PHONE, width=390, height=844, language="en", dark=True),
        replace(DESKTOP, language="en"),
        replace(DESKTOP, scripts=False),
    ],
    ids=["phone de", "phone dark en", "desktop en", "desktop without scripts de"],
)
def test_a_file_is_sent_by_keyboard_and_the_page_has_no_barriers(
    taking: Server, open_page: OpenPage, device: Device, tmp_path: Path
) -> None:
    said = SENTENCES[device.language]
    page = open_page(device)
    visitor = Visitor(page, taking.url, device.language).open()
    visitor.begin()
    visitor.say(said["yes"])
    _look(page, device, "height")
    visitor.say("170 cm")
    _look(page, device, "sex")
    visitor.say("female" if device.language == "de" else "weiblich")

    field = page.locator("#file")
    assert barriers(page) == []
    assert sideways(page) == 0
    _look(page, device, "letter")
    letter, large = tmp_path / "Brief Müller.pdf", tmp_path / "large.pdf"
    letter.write_bytes(PDF)
    large.write_bytes(PDF[:-6] + bytes(100_000) + b"%%EOF\n")
    field.set_input_files(large)
    if device.scripts:
        assert field.evaluate("field => field.validationMessage")
    else:
        page.locator("#upload button").click()
        page.locator("#upload-problem").wait_for()
        assert barriers(page) == []
        _look(page, device, "too-large")
    page.locator("#file").set_input_files(letter)
    page.locator("#file").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text(said["file_taken"].format(answer="Brief Müller.pdf (1 kB)")).wait_for()
    assert barriers(page) == []
    assert sideways(page) == 0
    _look(page, device, "taken")

    page.locator(".files button").focus()
    page.keyboard.press("Enter")
    page.get_by_text(said["file_removed"].format(answer="Brief Müller.pdf (1 kB)")).wait_for()
    assert page.locator(".files").count() == 0
    assert barriers(page) == []
    assert sideways(page) == 0
    _look(page, device, "removed")


def _look(page: object, device: Device, name: str) -> None:
    """Keep a picture where somebody wants to look at the page."""
    folder = os.environ.get("KLARTEXT_PICTURES")
    if folder:
        file = Path(folder) / f"{device.width}-{device.language}-{name}.png"
        page.screenshot(path=str(file))  # type: ignore[attr-defined]
