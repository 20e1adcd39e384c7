"""An answer is withdrawn while it stands on a page that is open: what is folded in it opens no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.sentences.reply import SENTENCES
from tests.alarm_examples import FEW
from tests.bot.release.departments import Department
from tests.bot.release.exams import change_pairs
from tests.bot.web.serving import Patient, Server
from tests.bot.web.staff_members import STAFF_TOKEN
from tests.browser.chromium import DESKTOP, PHONE
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor
from tests.conftest import Run

DE = SENTENCES["de"]
PAIN, COSTS = "Tut die Untersuchung weh?", "Was kostet die Untersuchung?"
SHORT, WHOLE, EASY = "Ein wenig nur.", "Ein wenig nur. Danach essen Sie Zitronen.", "Fast nicht. Essen Sie Birnen."
FEW_EXAMPLES = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Iterator[Department]:
    """A release in force, with a service that shows it, has a site's number, and calls staff."""
    found = Department(tmp_path, klartext)
    change_pairs(found.exam, "de", only="pain", short_answer=SHORT, answer=WHOLE, easy_answer=EASY)
    change_pairs(found.exam, "de", only="costs", short_answer="Nichts.", answer="Nichts. Die Kasse zahlt.")
    found.release()
    found.run("release", "activate", "1")
    environ = {**found.environ, FEW: "1", "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN}
    found.server = Server(tmp_path, tmp_path / "data", environ, faults=FEW_EXAMPLES)
    found.server.start(sample=False)
    yield found
    found.server.kill()


@pytest.mark.proof
def test_a_stop_reaches_pages_that_are_open(department: Department, open_page: OpenPage) -> None:
    url, pages = department.server.url, [open_page(device) for device in (PHONE, PHONE, DESKTOP)]
    folded, returned, waiting = (Visitor(page, url, "de").begin() for page in pages)
    for visitor in (folded, returned, waiting):
        visitor.say(PAIN)
        visitor.say(COSTS)
        visitor.page.get_by_text("Nichts.", exact=True).wait_for()
    waiting.press("call_staff")
    waiting.page.locator("#handoff[data-open]").wait_for()
    _what_cannot_be_asked_for_stays_folded(folded)
    for visitor in (folded, returned):
        visitor.page.locator("#text").fill("Ich schreibe gerade")

    stopped = department.run("stop", "pair", "Pain", "--by", "Anna").stdout
    assert "pain is withdrawn." in stopped
    assert "open" in stopped
    department.server.wait_for(lambda: Patient(department.server).say(PAIN)[0] == DE["withheld"])

    folded.page.locator("#turn-1 details.whole summary").click()
    returned.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    for visitor in (folded, returned, waiting):  # the last asks by itself, since staff are called
        visitor.page.locator("#turn-1").get_by_text(DE["withdrawn"]).wait_for()
        shown = visitor.page.locator("html").inner_html()
        assert not [each for each in ("Zitronen", "Birnen", SHORT) if each in shown]
        assert visitor.page.locator("#turn-1 .feedback, #turn-1 .checked, #turn-1 .related").count() == 0
        assert visitor.page.locator("#turn-2 .feedback").count() == 1
    assert folded.page.locator("#text").input_value() == "Ich schreibe gerade"
    folded.page.locator("#turn-2 details.whole summary").click()
    folded.page.get_by_text("Die Kasse zahlt.").wait_for()


def _what_cannot_be_asked_for_stays_folded(visitor: Visitor) -> None:
    """Open a part while the server refuses to say whether it may be shown, and once it says so."""
    visitor.page.route("**/news", lambda route: route.fulfill(status=429))
    part = visitor.page.locator("#turn-1 details.easier")
    part.locator("summary").click()
    visitor.page.get_by_text(visitor.t["part_failed"]).wait_for()
    assert part.get_attribute("open") is None
    visitor.page.unroute("**/news")
    part.locator("summary").click()
    visitor.page.get_by_text(EASY).wait_for()
    part.locator("summary").click()
    assert not visitor.page.get_by_text(EASY).is_visible()
