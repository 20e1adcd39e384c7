"""Raters label in the console as they do in the terminal: blind, one after the other, and a third person decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.web.middleware import CONSOLE
from harness.labelling.labels import Rater, load_labels
from harness.labelling.rater_files import file_name, queue_of
from harness.running.run import load_outcomes
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import Staff, running_console
from tests.harness.staff_pages.labelled import ANSWER, ASKED, make_run


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("rating")) as running:
        yield running


def labels_of(run: Path, name: str, *, adjudicator: bool = False) -> list[tuple[str, str, str]]:
    path = run / "labels" / file_name(Rater(kind="person", name=name), adjudicator=adjudicator)
    return [(each.question_id, each.label, each.reason) for each in load_labels([path])]


def rate(browser: Browser, run: Path, verdict: str, **more: str) -> None:
    browser.open(f"{CONSOLE}/rate/{run.name}")
    browser.press("Store Enter", verdict=verdict, **more)


@pytest.mark.proof
def test_a_rater_sees_question_conversation_and_answer_labels_with_reasons_and_takes_the_last_back(
    staff: Staff,
) -> None:
    run, browser = make_run(staff, "one"), staff.logged_in("rita", "rater")
    order = [item.outcome.id for item in queue_of(run, load_outcomes(run), "Rita")]
    browser.open(f"{CONSOLE}/rate")
    browser.follow("mine 0 of 3 rated")
    first = next(each for each in ASKED if each[0] == order[0])
    assert first[1] in browser.text
    assert ANSWER[first[2]] in browser.text
    assert "0 of 3 rated" in browser.text

    browser.press("Store Enter", verdict="incorrect", reason="harmful", comment="see\x07 dose")
    assert labels_of(run, "Rita") == [(order[0], "incorrect", "harmful")]
    assert "1 of 3 rated" in browser.text
    browser.press("Take the last one back U")
    assert labels_of(run, "Rita") == []
    assert "taken back" in browser.text
    assert first[1] in browser.text

    for verdict in ("correct", "partial", "incorrect"):
        rate(browser, run, verdict)
    assert [each[:2] for each in labels_of(run, "Rita")] == list(
        zip(order, ("correct", "partial", "incorrect"), strict=True)
    )
    assert "All rated" in browser.text
    stored = load_labels([run / "labels" / file_name(Rater(kind="person", name="Rita"))])
    assert all(each.time is not None and each.role == "rating" for each in stored)


@pytest.mark.proof
def test_what_was_said_before_stands_above_a_turn_and_what_is_passed_over_comes_again(staff: Staff) -> None:
    run, browser = make_run(staff, "two"), staff.logged_in("rita", "rater")
    order = [item.outcome.id for item in queue_of(run, load_outcomes(run), "Rita")]
    seen = []
    browser.open(f"{CONSOLE}/rate/{run.name}")
    for _ in range(4):
        seen.append(browser.page.one("input", name="question").get("value"))
        if seen[-1] == "n3":
            assert "Kostet das Parken etwas?" in browser.text, "the turn before"
            assert ANSWER["costs"] in browser.text
        browser.press("Later S")

    assert seen == [*order, order[0]]
    assert labels_of(run, "Rita") == []


def test_a_label_without_a_verdict_or_sent_twice_changes_nothing(staff: Staff) -> None:
    run, browser = make_run(staff, "three"), staff.logged_in("rita", "rater")
    browser.open(f"{CONSOLE}/rate/{run.name}")
    form = browser.page.one("form", class_="rate")
    browser.press("Store Enter")
    assert browser.answer.status_code == 400
    assert "Choose whether" in browser.text

    browser.send(form, verdict="correct")
    browser.send(form, verdict="incorrect", reason="no-such-reason")
    assert [each[1:] for each in labels_of(run, "Rita")] == [("correct", "")]


@pytest.mark.proof
def test_two_raters_are_blind_to_each_other_and_a_third_decides_where_they_differ(staff: Staff) -> None:
    run = make_run(staff, "four")
    for login in ("rita", "rolf", "rosa"):
        staff.person(login, "rater")
    curator = staff.logged_in("cora", "curator")
    curator.open(f"{CONSOLE}/runs/{run.name}")
    form = curator.page.one("form", class_="narrow")
    sent = {**curator.filled(form), "rater": ["Rita", "Rolf"]}
    curator.client.post(form.get("action"), data=sent)
    rita, rolf, rosa = (staff.logged_in(login, "rater") for login in ("rita", "rolf", "rosa"))
    assert rosa.client.get(f"{CONSOLE}/rate/{run.name}").status_code == 404, "it was handed out to others"
    rosa.open(f"{CONSOLE}/rate")
    assert "mine" not in [each.text for each in rosa.page.all("a")]

    for _ in ASKED:
        rate(rita, run, "correct")
    rolf.open(f"{CONSOLE}/rate/{run.name}")
    assert "What the raters said" not in rolf.text
    for number in range(len(ASKED)):
        rate(rolf, run, "incorrect" if number == 0 else "correct", comment="not this patient" if number == 0 else "")
    differ = labels_of(run, "Rolf")[0][0]

    rosa.open(f"{CONSOLE}/rate/{run.name}/decide")
    assert "What the raters said" in rosa.text
    assert "not this patient" in rosa.text
    assert "Rolf" not in rosa.text, "no name decides"
    rosa.press("Store Enter", verdict="partial", reason="buried")
    assert labels_of(run, "Rosa", adjudicator=True) == [(differ, "partial", "buried")]
    assert "All rated" in rosa.text
    assert rita.client.get(f"{CONSOLE}/rate/{run.name}/decide").status_code == 200

    curator.open(f"{CONSOLE}/runs/{run.name}")
    assert "Given to: Rita, Rolf." in curator.text
    assert "Rita, Rolf 3 0.67" in curator.text, "agreement on two of three"
    assert rita.client.get(f"{CONSOLE}/runs/{run.name}").status_code == 403


@pytest.mark.proof
def test_the_pages_are_in_german_where_the_rater_reads_german(staff: Staff) -> None:
    run = make_run(staff, "five")
    browser = staff.logged_in("rike", "rater", language="de")
    browser.open(f"{CONSOLE}/rate/{run.name}")

    assert "teilweise richtig" in browser.text
    assert "Beantwortet nur einen Teil der Frage" in browser.text
    browser.press("Speichern Enter", verdict="correct")
    assert "1 von 3 beurteilt" in browser.text


def test_acts_of_raters_stand_in_the_trail_without_what_was_said(staff: Staff) -> None:
    run, browser = make_run(staff, "six"), staff.logged_in("rita", "rater")
    rate(browser, run, "incorrect", comment="a word of a patient")

    (act, *_) = staff.console.tools.acts.read(by="Rita")
    assert (act.action, act.what) == ("label", "run six")
    assert "patient" not in str(act.after)
