"""The preview of collisions on the shipped catalog: near pairs, near copies, questions that would be drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from bot import Assistant
from bot.catalog.catalog import Pair, Variant, locate
from bot.ports import StoredConversation, StoredTurn
from bot.web.middleware import CONSOLE
from bot.web.staff.collisions import Collisions
from tests.bot.web.staff.consoles import Staff, now, running_console
from tests.bot.web.staff.test_pairs import save

ASKED = "Wie lange dauert denn so eine Untersuchung, fragt Erika Mustermann?"
NEAR_IT = ASKED.replace("Erika Mustermann", "jemand")


@pytest.fixture(scope="module")
def full(shipped: Assistant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    """A console on the shipped exam, in whose database a patient has asked something."""
    with running_console(
        tmp_path_factory.mktemp("collisions"), exam=locate("mammography"), assistant=lambda: shipped
    ) as running:
        records = running.console.tools.records
        records.begin(StoredConversation("c1", now(), "de", "page"))
        records.add_turn(StoredTurn("c1", now(), "de", ASKED, "declined", None, 0.2, "mammography@1"))
        yield running


@pytest.fixture(scope="module")
def ready(full: Staff) -> Collisions:
    """What makes previews, once all questions are placed."""
    collisions = Collisions(full.console.tools, most_questions=40)
    german = full.console.tools.candidate().base.catalogs["de"]
    until = time.monotonic() + 240
    while collisions.preview(german, new_pair("Wo parke ich?")).placed is None:
        assert time.monotonic() < until
        time.sleep(0.2)
    return collisions


def new_pair(*texts: str) -> Pair:
    question, *variants = texts
    return Pair(id="new", question=question, answer="…", variants=tuple(Variant(text=text) for text in variants))


def test_texts_of_another_pair_are_recognised_with_the_questions_that_they_would_draw(
    full: Staff, ready: Collisions
) -> None:
    german = full.console.tools.candidate().base.catalogs["de"]
    pain = german.by_id["pain"]
    tested = next(each for each in german.calibration if each.pair_id)

    found = ready.preview(german, new_pair(pain.question, tested.text, NEAR_IT))

    assert "pain" in {each.pair_id for each in found.near}
    assert "pain" in {each.pair_id.split(" ")[0] for each in found.copies}
    assert found.pulled
    wrong = [each for each in found.pulled if each.right is False]
    assert {each.kind for each in wrong} >= {"calibration"}
    asked = [each for each in found.pulled if each.kind == "asked"]
    assert asked
    assert all("Mustermann" not in each.question for each in asked)


def test_what_a_patient_has_erased_is_not_quoted_from_memory(full: Staff, ready: Collisions) -> None:
    records, german = full.console.tools.records, full.console.tools.candidate().base.catalogs["de"]
    pair = new_pair("Neu?", NEAR_IT)
    assert "asked" in {each.kind for each in ready.preview(german, pair).pulled}

    records.erase("c1")

    assert "asked" not in {each.kind for each in ready.preview(german, pair).pulled}


def test_a_preview_takes_less_than_a_second(full: Staff, ready: Collisions) -> None:
    german = full.console.tools.candidate().base.catalogs["de"]
    ready.preview(german, new_pair("Darf mein Hund mit?"))

    def took(number: int) -> float:
        started = time.perf_counter()
        ready.preview(german, new_pair(*(f"Darf mein Hund Nummer {number} {each} mit hinein?" for each in range(10))))
        return time.perf_counter() - started

    assert min(took(number) for number in range(3)) < 1


def test_what_is_in_the_matcher_already_needs_no_preview(full: Staff, ready: Collisions) -> None:
    german = full.console.tools.candidate().base.catalogs["de"]

    found = ready.preview(german, german.by_id["pain"])

    assert (found.looked, found.near, found.pulled) == (0, (), ())


def test_the_page_says_that_it_is_an_estimate(full: Staff) -> None:
    browser = full.logged_in("cleo", "curator")
    browser.open(f"{CONSOLE}/pairs/pain")
    save(browser, de__question="Wie lange dauert die Untersuchung?")

    browser.open(f"{CONSOLE}/pairs/pain/collisions")

    assert "An estimate by the nearest texts" in browser.text
    assert "duration" in browser.text


def test_without_a_matcher_the_page_says_that_it_is_being_prepared(staff: Staff) -> None:
    browser = staff.logged_in("cleo", "curator")
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[0].id

    browser.open(f"{CONSOLE}/pairs/{pair_id}/collisions")

    assert "The matcher is being prepared" in browser.text
