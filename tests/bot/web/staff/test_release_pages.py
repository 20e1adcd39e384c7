"""From signed texts to a release in force, back again, and the emergency stop, in the console."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.release_keys import new_key
from bot.editorial.candidate import changed_draft
from bot.editorial.workbench import Draft, Signature
from bot.web.middleware import CONSOLE
from bot.web.staff.tools import Verdict
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import PASSWORD, Staff, now, running_console
from tests.postgresql import emptied

UNTIL = timedelta(days=90)
CHANGED = "Nein, das tut den meisten Menschen nicht weh. Sagen Sie uns, wenn es drückt."


def sign_all(staff: Staff, *logins: str, what: str = "") -> None:
    """Have people sign everything, or what begins with `what`, as the pages for signing do."""
    tools = staff.console.tools
    for login in logins:
        person, candidate = staff.person(login, "approver"), tools.candidate()
        subjects = [
            *candidate.other_subjects(),
            *(
                candidate.subject(code, pair.id)
                for code in candidate.base.catalogs
                for pair, _ in candidate.pairs(code)
            ),
        ]
        tools.workbench.sign(
            candidate.exam,
            [
                Signature(each.what, each.text, person.id, person.name, now(), now() + UNTIL)
                for each in subjects
                if each.what.startswith(what) and not candidate.may_sign(person, each, now=now())
            ],
        )


def draft(staff: Staff, pair_id: str, answer: str) -> Draft:
    tools = staff.console.tools
    candidate = tools.candidate()
    made = changed_draft(candidate, "de", pair_id, lambda pair: pair.model_copy(update={"answer": answer}))
    return tools.workbench.save(made, by=staff.person("curt", "curator"), now=now())


def wait_for_job(browser: Browser) -> str:
    """Follow the job whose page is open; return how it ended."""
    path, until_s = browser.answer.url.path, time.monotonic() + 60
    while time.monotonic() < until_s:
        said = browser.client.get(path, headers={"Accept": "application/json"}).json()
        if said["state"] not in ("queued", "running"):
            browser.open(path)
            return str(said["state"])
        time.sleep(0.05)
    raise AssertionError(f"the job did not end: {said}")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def staff(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staff]:
    url = emptied(request.getfixturevalue("postgresql")) if request.param == "postgresql" else ""
    new_key(tmp_path / "key.pem")
    with running_console(tmp_path, database=url, release_key=tmp_path / "key.pem") as running:
        yield running


def test_signed_texts_become_a_release_changes_the_next_and_one_click_goes_back(staff: Staff) -> None:
    tools = staff.console.tools
    sign_all(staff, "anna", "bert")
    browser = staff.logged_in("anna", "approver")
    browser.follow("Publish")
    browser.press("Check and make the release", note="first", activate="yes")
    assert wait_for_job(browser) == "done", browser.text
    assert tools.releases.in_force() == 1

    pair = tools.candidate().base.catalogs["de"].pairs[0]
    made = draft(staff, pair.id, CHANGED)
    browser.open(f"{CONSOLE}/releases")
    assert "1 draft still waits for signatures" in browser.text
    browser.open(f"{CONSOLE}/releases/next")
    assert "Compared is what patients see today (release 1@" in browser.text
    assert "1 draft still waits for signatures" in browser.text
    browser.open(f"{CONSOLE}/releases")
    sign_all(staff, "anna", "bert", what=f"pair {pair.id} de")
    assert tools.candidate().stage("de", pair.id, now=now()) == "approved"
    browser.open(f"{CONSOLE}/releases/next")
    assert CHANGED in browser.text
    assert pair.answer in browser.text
    browser.open(f"{CONSOLE}/releases")
    browser.press("Check and make the release", note="second", activate="yes")
    assert wait_for_job(browser) == "done", browser.text

    assert tools.releases.in_force() == 2
    assert tools.publisher.side(2).contents.catalogs["de"].by_id[pair.id].answer == CHANGED
    assert tools.workbench.draft(made.exam, "de", pair.id) is None
    assert tools.candidate().stage("de", pair.id, now=now()) == "released"
    browser.open(f"{CONSOLE}/releases/2?against=1")
    assert CHANGED in browser.text
    browser.open(f"{CONSOLE}/releases")
    browser.press("Go back to this one")
    assert wait_for_job(browser) == "done"
    assert tools.releases.in_force() == 1


def test_a_draft_that_nobody_signed_leaves_the_released_text_as_it_is(staff: Staff) -> None:
    sign_all(staff, "anna", "bert")
    pair = staff.console.tools.candidate().base.catalogs["de"].pairs[0]
    draft(staff, pair.id, CHANGED)
    sign_all(staff, "anna", what=f"pair {pair.id} de")  # one signature is not enough
    browser = staff.logged_in("anna", "approver")
    browser.open(f"{CONSOLE}/releases")
    browser.press("Check and make the release", note="", activate="")

    assert wait_for_job(browser) == "done", browser.text
    side = staff.console.tools.publisher.side(1)
    assert side.contents.catalogs["de"].by_id[pair.id].answer == pair.answer
    assert pair.id in side.shown["de"]


def test_what_nobody_signed_and_what_a_check_refuses_makes_no_release(staff: Staff) -> None:
    tools, browser = staff.console.tools, staff.logged_in("anna", "approver")
    browser.open(f"{CONSOLE}/releases")
    assert "nobody has signed" in browser.text
    browser.press("Check and make the release", note="", activate="")
    assert wait_for_job(browser) == "failed"
    assert "two people sign" in browser.text

    sign_all(staff, "anna", "bert")
    tools.checks.append(lambda place, tell: Verdict("check_lint", False, "Vignette v1 is served worse."))
    browser.open(f"{CONSOLE}/releases")
    browser.press("Check and make the release", note="", activate="")
    assert wait_for_job(browser) == "failed"
    assert "Vignette v1 is served worse." in browser.text
    assert tools.releases.all() == []


def test_one_person_stops_and_two_open_again(staff: Staff) -> None:
    tools = staff.console.tools
    sign_all(staff, "anna", "bert")
    browser = staff.logged_in("anna", "approver")
    browser.open(f"{CONSOLE}/releases")
    browser.press("Check and make the release", note="", activate="yes")
    wait_for_job(browser)
    pair = tools.publisher.side(1).shown["de"][0]

    browser.open(f"{CONSOLE}/stop")
    browser.press("Withdraw at once", pair=pair, why="wrong dose")
    browser.press("Close the chat at once", why="being looked at")
    browser.press("Open again", why="mended", login="anna", password=PASSWORD)
    assert [act.kind for act in tools.releases.stops()] == ["withdraw", "close"]
    browser.press("Open again", why="mended", login="bert", password="wrong")
    assert "not recognised" in browser.text
    browser.press("Open again", why="mended", login="bert", password=PASSWORD)

    assert [(act.kind, act.by) for act in tools.releases.stops()] == [
        ("withdraw", "Anna"),
        ("close", "Anna"),
        ("open", "Anna, Bert"),
    ]
    browser.press("Show the text again", pair=pair, why="checked")
    noted = [(each.action, each.what, each.by, dict(each.after)) for each in tools.acts.read(by="Anna", most=9)]
    assert [each for each in reversed(noted) if each[0] in ("withdraw", "close", "open", "lift")] == [
        ("withdraw", f"pair {pair}", "Anna", {}),
        ("close", "chat", "Anna", {}),
        ("open", "chat", "Anna", {"second": "Bert"}),
        ("lift", f"pair {pair}", "Anna", {}),
    ]


def test_without_the_sites_key_the_page_says_so_and_a_cancelled_job_makes_nothing(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        browser = staff.logged_in("anna", "approver")
        browser.open(f"{CONSOLE}/releases")
        assert "KLARTEXT_RELEASE_KEY_FILE" in browser.text

        sign_all(staff, "anna", "bert")
        job = staff.console.tools.jobs.ask(
            "publish", {"by": "Anna", "note": "", "activate": False}, by="Anna", now=now()
        )
        browser.open(f"{CONSOLE}/jobs/{job.id}")
        assert wait_for_job(browser) == "failed"
        assert staff.console.tools.releases.all() == []
