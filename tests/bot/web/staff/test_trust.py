"""Whom the console believes to be who they are: first passwords, resets, roles, strangers, and what a signature proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from bot.adapters.release_keys import new_key
from bot.catalog.catalog import NearMiss
from bot.editorial.acts import first_flaw, first_lost
from bot.editorial.people import FRESH, MOST_WRONG, MOST_WRONG_ANYWHERE, Person, Role, Whence
from bot.editorial.workbench import AddedNearMiss
from bot.errors import BadData, UserFixable
from bot.web.middleware import CONSOLE
from bot.wiring import make_audit
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import FIRST, PASSWORD, Staff, now, running_console
from tests.bot.web.staff.test_pairs import save
from tests.postgresql import emptied

OTHER = "Lampe Ziegel Wolke Farn"
STRANGER = Whence("203.0.113.9")
DAY = (now().date() + timedelta(days=90)).isoformat()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staff]:
    url = emptied(request.getfixturevalue("postgresql")) if request.param == "postgresql" else ""
    with running_console(tmp_path, database=url) as running:
        yield running


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    """A console where only signatures of accounts count."""
    folder = tmp_path_factory.mktemp("strict")
    new_key(folder / "key.pem")
    with running_console(folder, release_key=folder / "key.pem", approvals="accounts") as running:
        yield running


def sign(browser: Browser, what: str) -> None:
    browser.open(f"{CONSOLE}/to-sign/text?what={what.replace(' ', '%20')}")
    button = "Sign as second person" if "Sign as second person" in browser.labels else "Sign"
    browser.press(button, read="yes", until=DAY)


@pytest.mark.parametrize("role", ["curator", "approver"])
def test_one_account_cannot_hand_out_roles_and_sign(staff: Staff, role: Role) -> None:
    people = staff.console.tools.people
    both_roles = Person(0, "double", "Double", frozenset[Role]({"admin", role}))
    with pytest.raises(BadData, match=f"cannot be admin and {role}"):
        people.add(both_roles, PASSWORD, by="a test")

    made = staff.person(f"later-{role}", "admin")
    with pytest.raises(BadData, match=f"cannot be admin and {role}"):
        people.change(replace(made, roles=frozenset({"admin", role})), by="a test")
    assert not both_roles.may("review")  # of before that was refused


def test_a_first_password_opens_nothing_but_the_page_where_it_is_changed(staff: Staff) -> None:
    people, browser = staff.console.tools.people, staff.browser()
    people.add(Person(0, "neu", "Nina Neu", frozenset({"approver"})), FIRST, by="Chief")
    browser.open(f"{CONSOLE}/login")
    browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login="neu", password=FIRST)

    browser.open(f"{CONSOLE}/to-sign")
    assert browser.answer.url.path == f"{CONSOLE}/account"
    assert "given to you by somebody else" in browser.text
    for path in ("", "/figures", "/figures/days.csv", "/jobs/1"):
        browser.open(CONSOLE + path)
        assert browser.answer.url.path == f"{CONSOLE}/account", path
    token = {"token": browser.page.all("input", type="hidden")[0].get("value")}
    assert browser.client.post(f"{CONSOLE}/to-sign/text", data=token).status_code == 403
    browser.press("Change the password", password=FIRST, new=FIRST)
    assert "you were given" in browser.text
    browser.press("Change the password", password=FIRST, new=OTHER)
    browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login="neu", password=OTHER)
    browser.open(f"{CONSOLE}/to-sign")

    assert browser.answer.url.path == f"{CONSOLE}/to-sign"


def test_what_is_signed_shortly_after_a_reset_is_marked_for_the_other_signer(both: Staff) -> None:
    tools = both.console.tools
    person = both.person("rita", "approver", name="Rita Reset")
    reset = tools.people.change(person, by="Chief", password=FIRST)
    assert tools.acts.read(what="account rita")[0].action == "reset"
    tools.people.change(reset, by="Rita Reset", password=PASSWORD)
    what = tools.candidate().other_subjects()[0].what

    sign(both.logged_in("rita"), what)
    other = both.logged_in("olaf", "approver", name="Olaf")
    other.open(f"{CONSOLE}/to-sign/text?what={what.replace(' ', '%20')}")

    assert "Rita Reset signed within 24 hours after somebody else" in other.text
    assert next(act for act in tools.acts.read(what=what)).after["after"] == "a reset"
    known = tools.people.by_login("rita")
    assert known is not None
    assert not known.was_reset(now() + FRESH)


@pytest.mark.proof
def test_a_stranger_cannot_lock_somebody_out_of_the_device_that_they_log_in_with(both: Staff) -> None:
    people = both.console.tools.people
    both.person("anna", "approver")
    here, mine = Whence("198.51.100.7"), Whence("198.51.100.7", "anna-laptop")
    assert people.enter("anna", PASSWORD, now=now(), whence=mine)[0] == "in"

    for _ in range(MOST_WRONG):
        people.enter("anna", "guessed", now=now(), whence=STRANGER)
    assert people.enter("anna", PASSWORD, now=now(), whence=STRANGER)[0] == "too often"
    assert people.enter("anna", PASSWORD, now=now(), whence=here)[0] == "in"
    for _ in range(MOST_WRONG):  # behind the same address as anna
        people.enter("anna", "guessed", now=now(), whence=here)
    assert people.enter("anna", PASSWORD, now=now(), whence=mine)[0] == "in"
    for number in range(MOST_WRONG_ANYWHERE):
        people.enter("anna", "guessed", now=now(), whence=Whence(f"192.0.2.{number}"))

    assert people.enter("anna", PASSWORD, now=now(), whence=Whence("192.0.2.200"))[0] == "too often"
    assert people.enter("anna", PASSWORD, now=now(), whence=mine)[0] == "in"
    made_up = Whence("192.0.2.201", "not-annas-laptop")
    assert people.enter("anna", PASSWORD, now=now(), whence=made_up)[0] == "too often"
    for _ in range(MOST_WRONG):
        people.enter("anna", "guessed", now=now(), whence=mine)
    assert people.enter("anna", PASSWORD, now=now(), whence=mine)[0] == "too often"


def test_a_browser_is_known_by_its_cookie_from_the_first_login_on(staff: Staff) -> None:
    browser = staff.logged_in("cora", "curator")
    people = staff.console.tools.people
    for _ in range(MOST_WRONG):
        people.enter("cora", "guessed", now=now(), whence=Whence("127.0.0.1"))

    fresh = staff.browser()
    for each in (browser, fresh):
        each.open(CONSOLE)
        if "Log out" in each.labels:
            each.press("Log out")
        each.open(f"{CONSOLE}/login")
        each.send(each.page.one("form", action=f"{CONSOLE}/login"), login="cora", password=PASSWORD)

    assert browser.answer.url.path == CONSOLE
    assert fresh.answer.status_code == 403


def test_near_misses_go_into_a_release_only_when_two_people_signed_them(both: Staff, tmp_path: Path) -> None:
    tools = both.console.tools
    curt = both.person("curt", "curator", "approver", name="Curt")
    for question in ("Tut das Röntgen weh?", "Tut die Impfung weh?"):
        missed = AddedNearMiss("de", NearMiss(author="patients", pair="pain", text=question))
        tools.workbench.add_near_miss("content", missed, by=curt, now=now())
    what = "near-miss pain de"

    def written(name: str) -> str:
        file = tools.candidate().write(tmp_path / name, now=now()).exam / "near_misses" / "de.tsv"
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    sign(both.logged_in("rosa", "curator", name="Rosa"), what)
    assert "Röntgen" not in written("one")
    author = both.logged_in("curt")
    author.open(f"{CONSOLE}/to-sign/text?what={what.replace(' ', '%20')}")
    assert "Tut die Impfung weh?" in author.text
    assert "four eyes" in author.text
    sign(both.logged_in("otto", "approver", name="Otto"), what)
    assert "Tut das Röntgen weh?" in written("two")
    assert len(tools.candidate().ready_near_misses(now=now())) == 2

    third = AddedNearMiss("de", NearMiss(author="patients", pair="pain", text="Tut Ihnen das weh?"))
    tools.workbench.add_near_miss("content", third, by=curt, now=now())
    assert "Röntgen" not in written("three")  # one more, and all of the pair's are signed again


def test_where_accounts_are_asked_for_only_what_the_sites_key_vouches_for_counts(strict: Staff) -> None:
    tools = strict.console.tools
    first, second = (strict.logged_in(login, "approver") for login in ("pia", "quirin"))
    what = tools.candidate().other_subjects()[0].what
    for browser in (first, second):
        sign(browser, what)
    subject = tools.candidate().other_subjects()[0]
    assert tools.candidate().standing(subject, now=now()) == "approved"

    engine = create_engine(f"sqlite:///{tools.settings.data / 'klartext.db'}")
    with engine.begin() as connection:  # as whoever can write the database
        connection.execute(text("UPDATE draft_signatures SET name = 'Dr. Else' WHERE name = 'Pia'"))
    engine.dispose()
    sign(second, tools.candidate().other_subjects()[1].what)  # so that all signatures are read again

    assert tools.candidate().standing(subject, now=now()) == "one signature"


def test_a_draft_that_is_changed_behind_its_signatures_is_not_what_was_signed(strict: Staff, tmp_path: Path) -> None:
    tools = strict.console.tools
    author = strict.logged_in("wilma", "curator")
    author.open(f"{CONSOLE}/pairs/pain")
    answer = "Nein, das tut den meisten Menschen nicht weh."
    save(author, de__answer=answer)
    for login in ("pia2", "quirin2"):
        sign(strict.logged_in(login, "approver"), "pair pain de")
    written = tools.candidate().write(tmp_path / "out", now=now())
    approvals = (written.exam / "approvals.yaml").read_text(encoding="utf-8")

    assert "whole: " in approvals  # variants, too, stand in what the key signed
    assert approvals.count("proof: ") >= 2


def test_a_site_that_asks_for_accounts_needs_its_key(tmp_path: Path) -> None:
    with (
        pytest.raises(UserFixable, match="KLARTEXT_RELEASE_KEY_FILE is not set"),
        running_console(tmp_path, approvals="accounts"),
    ):
        pass


def test_a_trail_that_was_made_anew_or_cut_off_does_not_fit_what_the_audit_log_saw(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        for login in ("ada", "bea", "cem"):
            staff.person(login, "curator")
        settings, acts = staff.console.tools.settings, list(staff.console.tools.acts.all())
        seen = make_audit(settings).read().ends_of_trail

    assert (seen[-1].number, seen[-1].hash) == (acts[-1].number, acts[-1].hash)
    assert first_lost(acts, seen) is None
    cut = acts[:-1]
    assert first_flaw(cut) is None  # the chain alone does not tell
    assert first_lost(cut, seen) == seen[-1]
    anew, previous = [], "0" * 64
    for act in acts:
        made = replace(act, by="Somebody", hash="")
        previous = made.hashed(previous)
        anew.append(replace(made, hash=previous))
    assert first_flaw(anew) is None
    assert first_lost(anew, seen) == seen[0]
    restored = replace(seen[-2], restored=True)
    assert first_lost(cut, [*seen, restored]) is None
