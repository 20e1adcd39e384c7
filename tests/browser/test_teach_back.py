"""The page asks whether it explained well, on a telephone: offer, question, what came of it, and the figures of it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from bot.sentences.reply import SENTENCES
from tests.alarm_examples import FEW
from tests.bot.quizzes import RIGHT, WRONG, write_quizzed_catalog
from tests.bot.web.serving import Server
from tests.browser.chromium import PHONE, barriers, sideways
from tests.browser.conftest import OpenPage
from tests.browser.patients import Visitor

DE = SENTENCES["de"]
FEW_EXAMPLES = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"


@pytest.fixture(scope="module")
def quizzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service in sample mode whose pairs have quizzes."""
    folder = tmp_path_factory.mktemp("quizzed")
    catalog = write_quizzed_catalog(folder / "exam")
    server = Server(folder, folder / "data", {FEW: "1"}, faults=FEW_EXAMPLES)
    server.start("--catalog", str(catalog))
    yield server
    server.kill()


@pytest.mark.proof
def test_a_patient_is_asked_on_a_telephone_whether_it_was_explained_well(quizzed: Server, open_page: OpenPage) -> None:
    page = open_page(PHONE)
    visitor = Visitor(page, quizzed.url, "de").begin()
    visitor.say("Tut die Untersuchung weh?")
    reply = page.locator("#turn-1 .reply")
    assert reply.locator(".choices legend").inner_text() == DE["teach_offer"]
    assert reply.locator(".choices ~ .feedback").count() == 1  # right below the answer, above what is asked of it
    assert reply.locator(".related").count() == 0  # no other questions beside an open one
    assert barriers(page) == []

    visitor.choose(DE["teach_yes"])
    page.get_by_text("Was merkt Frau Berger? (pain)").wait_for()
    page.reload()  # what is open lies in the stored turn
    assert page.get_by_role("button", name=DE["teach_unknown"]).count() == 1
    assert sideways(page) == 0

    visitor.choose(WRONG["de"][2])
    page.get_by_text(DE["teach_unclear"]).wait_for()
    page.get_by_text("pain, de.").last.wait_for()
    page.get_by_text(RIGHT["de"], exact=True).last.wait_for()
    assert barriers(page) == []
    assert page.get_by_role("button", name=DE["teach_unknown"]).count() == 0

    visitor.say("Was kostet die Untersuchung?")
    assert page.get_by_text(DE["teach_offer"]).count() == 1  # the first: never twice running


@pytest.mark.proof
def test_the_service_tells_and_counts_what_a_turn_was_to_a_quiz(quizzed: Server) -> None:
    with httpx.Client(base_url=quizzed.url) as client:
        begun = client.post("/api/v1/conversations", json={"consent": True, "language": "de"}).json()
        client.headers["Authorization"] = f"Bearer {begun['token']}"
        turns = f"/api/v1/conversations/{begun['id']}/turns"
        offered = client.post(turns, json={"turn_id": "t1", "text": "Tut die Untersuchung weh?"}).json()
        asked = client.post(turns, json={"turn_id": "t2", "choice": 1}).json()
        right = next(each["number"] for each in asked["reply"]["choices"] if each["text"] == RIGHT["de"])
        told = client.post(turns, json={"turn_id": "t3", "choice": right}).json()
        metrics = client.get("/metrics").text

    assert [each["quiz"]["step"] for each in (offered, asked, told)] == ["offered", "asked", "right"]
    assert (told["quiz"]["pair_id"], told["quiz"]["option"]) == ("pain", 0)
    assert {each["pair_id"] for each in asked["reply"]["choices"]} == {None}  # they are no questions of pairs
    assert 'klartext_quizzes_total{step="right"} 1.0' in metrics
