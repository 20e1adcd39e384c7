"""The copy that patients take with them: printed by Chromium, and downloaded as one file."""

from __future__ import annotations

import io
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant
from tests.bot.web.serving import Server
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

A4_PT = (595, 842)
ASKED = {
    "de": ["Tut das weh?", "Was kostet das?", "<b>Wie lange</b> dauert das?", "Was muss ich mitbringen?"],
    "en": ["Does it hurt?", "What does it cost?", "<b>How long</b> does it take?", "What do I need to bring?"],
}
PAIRS = ("pain", "costs", "duration", "documents")


def told(visitor: Visitor) -> Visitor:
    """Begin the interview, answer two questions of it, and ask some of one's own."""
    visitor.begin().choose({"de": "Ja", "en": "Yes"}[visitor.language]).choose(
        {"de": "Ja", "en": "Yes"}[visitor.language]
    )
    visitor.say({"de": "Früherkennung", "en": "screening"}[visitor.language]).say("54").choose(visitor.t["step_pause"])
    for text in ASKED[visitor.language]:
        visitor.say(text)
    return visitor


def flat(text: str) -> str:
    """Return a text as it can be compared: without white space, and without the ligatures of fonts."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.proof
@pytest.mark.parametrize("device", [PHONE, replace(DESKTOP, language="en")], ids=["phone de", "desktop en"])
def test_a_printed_copy_holds_everything_on_numbered_pages_of_a4(
    server: Server, open_page: OpenPage, device: Device, shipped: Assistant
) -> None:
    pypdf: Any = pytest.importorskip("pypdf")
    visitor = told(Visitor(open_page(device), server.url, device.language)).open("/copy")
    t = visitor.t

    printed = pypdf.PdfReader(io.BytesIO(visitor.page.pdf(prefer_css_page_size=True)))

    pages = [flat(page.extract_text()) for page in printed.pages]
    text = "".join(pages)
    for number, page in enumerate(printed.pages, 1):
        assert [round(float(side)) for side in page.mediabox[2:]] == list(A4_PT)
        assert f"{number}/{len(pages)}" in pages[number - 1]
    assert len(pages) > 1
    for asked in ASKED[device.language]:
        assert flat(asked) in text
    for pair_id in PAIRS:
        answer = flat(shipped.catalog(device.language).pair(pair_id).answer)
        assert any(answer in page for page in pages), f"{pair_id} is missing, or cut in two"
    assert flat(t["copy_answers"]) in text
    assert "54" in text
    for button in ("print", "copy_file", "back_to_chat", "call_staff", "larger"):
        assert flat(t[button]) not in text


@pytest.mark.proof
def test_the_button_prints_and_without_scripts_it_is_said_how(server: Server, open_page: OpenPage) -> None:
    for scripts in (True, False):
        visitor = Visitor(open_page(replace(PHONE, scripts=scripts)), server.url, "de").begin()
        visitor.page.add_init_script("window.print = () => { window.printed = true; }")
        visitor.open("/copy")
        button, hint = visitor.page.locator("#print"), visitor.page.locator("#print-hint")
        assert (button.is_visible(), hint.is_visible()) == (scripts, not scripts)
        if scripts:
            button.click()
            assert visitor.page.evaluate("window.printed")


@pytest.mark.proof
@pytest.mark.parametrize(
    "device", [PHONE, replace(DESKTOP, language="en", dark=True)], ids=["phone de", "desktop dark en"]
)
def test_a_downloaded_copy_opens_by_itself_anywhere(
    server: Server, open_page: OpenPage, device: Device, tmp_path: Path, shipped: Assistant
) -> None:
    visitor = told(Visitor(open_page(device), server.url, device.language)).open("/copy")
    with visitor.page.expect_download() as started:
        visitor.page.get_by_role("link", name=visitor.t["copy_file"]).click()
    download = started.value
    file = tmp_path / download.suggested_filename
    download.save_as(file)

    assert file.suffix == ".html"
    elsewhere = open_page(device)
    asked: list[str] = []
    elsewhere.on("request", lambda request: asked.append(request.url))
    elsewhere.goto(file.as_uri())

    said = elsewhere.locator("main").inner_text()
    assert all(text in said for text in ASKED[device.language])
    assert all(shipped.catalog(device.language).pair(pair_id).answer in said for pair_id in PAIRS)
    assert elsewhere.locator("main b").count() == 0  # what was typed stays text
    assert asked == [file.as_uri()], "the file asks for something else"
    assert elsewhere.locator("a, button, script, form").count() == 0
    assert elsewhere.evaluate("getComputedStyle(document.querySelector('.answer')).borderLeftStyle") == "solid"
    assert barriers(elsewhere) == []
    assert sideways(elsewhere) == 0
