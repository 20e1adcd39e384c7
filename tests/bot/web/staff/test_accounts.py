"""Who may log in to the console, what they may do there, and what is noted of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pyotp
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from bot.adapters.passwords import MOST_WAITING
from bot.editorial.acts import first_flaw
from bot.editorial.acts_fhir import audit_bundle
from bot.editorial.people import CLOSED_FOR, IDLE, MOST_WRONG, ROLES, TASKS_OF, Person, Role, Whence
from bot.errors import BadData
from bot.web.middleware import CONSOLE
from tests.bot.web.staff.consoles import PASSWORD, Staff, now, running_console
from tests.postgresql import emptied


def test_whoever_is_not_logged_in_sees_the_login_and_nothing_else(staff: Staff) -> None:
    browser = staff.browser()

    for address in staff.console.addresses:
        if address.task is None or address.method != "GET":
            continue
        browser.open(CONSOLE + address.path.replace("{", "").replace("}", ""))
        assert browser.answer.url.path == f"{CONSOLE}/login", address.path


@pytest.mark.parametrize("role", ROLES)
def test_every_address_is_open_to_just_those_whose_roles_allow_its_task(staff: Staff, role: Role) -> None:
    browser = staff.logged_in(f"only-{role}", role)
    token = browser.page.all("input", type="hidden")[0].get("value")

    for address in staff.console.addresses:
        if address.task is None or address.path == "/logout":
            continue
        path = CONSOLE + address.path.replace("{id}", "999999").replace("{", "").replace("}", "")
        sent = {"token": token} if address.method == "POST" else None
        refused = browser.client.request(address.method, path, data=sent).status_code == 403
        allowed = address.task in TASKS_OF[role]
        assert refused is not allowed, (address.method, address.path, address.task)


def test_a_form_that_did_not_come_from_here_changes_nothing(staff: Staff) -> None:
    browser = staff.logged_in("ada", "admin")
    form = {"login": "intruder", "name": "Intruder", "password": PASSWORD, "role": "admin"}

    without = browser.client.post(f"{CONSOLE}/people", data=form)
    token = {"token": browser.page.all("input", type="hidden")[0].get("value")}
    other = browser.client.post(
        f"{CONSOLE}/people",
        data={**form, **token},
        headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    )

    assert (without.status_code, other.status_code) == (403, 403)
    assert staff.console.tools.people.by_login("intruder") is None


def test_five_wrong_passwords_close_an_account_for_a_while_and_say_no_more_than_one(staff: Staff) -> None:
    staff.person("lea", "curator")
    browser = staff.browser()
    said = set()

    for _ in range(MOST_WRONG):
        browser.open(f"{CONSOLE}/login")
        said.add(browser.press("Log in", login="lea", password="wrong").one("p", role="alert").text)
    said.add(browser.press("Log in", login="lea", password=PASSWORD).one("p", role="alert").text)
    said.add(browser.press("Log in", login="nobody", password=PASSWORD).one("p", role="alert").text)

    people, here = staff.console.tools.people, Whence("127.0.0.1")
    assert len(said) == 1
    assert people.enter("lea", PASSWORD, now=now(), whence=here)[0] == "too often"
    assert people.enter("lea", PASSWORD, now=now() + CLOSED_FOR, whence=here)[0] == "in"


class _Held:
    """A hasher that takes as long as a test likes, and counts how many use it at once."""

    def __init__(self) -> None:
        self.go_on, self.now, self.most, self.done = threading.Event(), 0, 0, 0
        self._lock = threading.Lock()

    def verify(self, _stored: str, _password: str) -> bool:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.go_on.wait(20)
        with self._lock:
            self.now, self.done = self.now - 1, self.done + 1
        return False


def test_one_password_is_hashed_at_a_time_a_few_wait_and_more_are_turned_away_at_once(
    staff: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff.person("ona", "approver")
    inside, outside = staff.logged_in("ona", "approver"), staff.browser()
    outside.open(f"{CONSOLE}/login")
    form = {"token": outside.page.all("input", type="hidden")[0].get("value"), "password": PASSWORD}
    inside.open(f"{CONSOLE}/account")
    held, served = _Held(), 1 + MOST_WAITING
    monkeypatch.setattr(staff.console.tools.people.passwords, "hasher", held)  # type: ignore[attr-defined]

    def log_in(number: int) -> httpx.Response:
        return outside.client.post(f"{CONSOLE}/login", data={**form, "login": f"stranger{number}"})

    with ThreadPoolExecutor(12) as strangers:
        sent = [strangers.submit(log_in, number) for number in range(12)]
        finished = as_completed(sent, timeout=60)
        turned_away = [next(finished).result() for _ in range(12 - served)]  # while the first is still being hashed
        inside.press("Change the password", password=PASSWORD, new=PASSWORD)
        there = inside.answer
        started = (held.now, held.done)
        held.go_on.set()
        let_in = [each.result() for each in finished]

    assert started == (1, 0)
    assert {answer.status_code for answer in turned_away} == {429}
    assert all("Too many people are logging in" in answer.text for answer in turned_away)
    assert (there.status_code, "Too many people are logging in" in there.text) == (429, True)
    assert [answer.status_code for answer in let_in] == [403] * served
    assert (held.most, held.done) == (1, served)


def test_one_time_codes_are_asked_for_once_set_up_and_each_counts_once(staff: Staff) -> None:
    browser = staff.logged_in("tom", "approver")
    browser.open(f"{CONSOLE}/account")
    browser.press("Set up one-time codes", password="guessed")
    assert "present password is not right" in browser.text
    browser.press("Set up one-time codes", password=PASSWORD)
    secret = browser.page.one("code", class_="secret").text
    before = pyotp.TOTP(secret).at(now() - timedelta(seconds=30))
    browser.press("Confirm", code=before)
    assert "From now on" in browser.text

    browser.press("Log out")
    browser.press("Log in", login="tom", password=PASSWORD)
    assert browser.answer.url.path == f"{CONSOLE}/login/code"
    assert browser.client.get(f"{CONSOLE}/account", follow_redirects=False).status_code == 303  # a password alone
    browser.open(f"{CONSOLE}/login/code")
    browser.press("Log in", code=before)
    assert "does not count" in browser.text
    browser.press("Log in", code=pyotp.TOTP(secret).at(now()))

    assert browser.answer.url.path == CONSOLE


def test_sessions_end_by_leaving_by_idleness_and_when_roles_change(staff: Staff) -> None:
    people, person = staff.console.tools.people, staff.person("eva", "curator")
    _, first = people.enter("eva", PASSWORD, now=now())
    _, second = people.enter("eva", PASSWORD, now=now())
    _, third = people.enter("eva", PASSWORD, now=now())

    people.leave(first)
    assert people.session(first, now=now()) is None
    assert people.session(second, now=now() + IDLE + timedelta(seconds=1)) is None
    people.change(replace(person, roles=frozenset({"rater"})), by="a test")
    assert people.session(third, now=now()) is None


def test_an_administrator_makes_accounts_and_cannot_lock_everybody_out(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        browser = staff.logged_in("chief", "admin")
        browser.follow("Accounts")
        browser.press("Make the account", login="curt", name="Curt Ott", password="kurz", role="curator")
        assert "fewer than 12" in browser.text
        browser.press("Make the account", login="curt", name="chief", password=PASSWORD, role="curator")
        assert "belongs to another account" in browser.text  # signatures must tell two people apart
        browser.press("Make the account", login="curt", name="Curt Ott", password=PASSWORD, role="curator")
        browser.open(f"{CONSOLE}/people/chief")
        browser.press("Save", name="Chief", closed="yes", role="curator")

        assert "Nobody would be left" in browser.text
        curt = staff.console.tools.people.by_login("curt")
        assert curt is not None
        assert (curt.id, curt.name, curt.roles, curt.one_time) == (2, "Curt Ott", frozenset({"curator"}), True)


def test_a_name_that_an_account_once_had_is_given_to_no_other(staff: Staff) -> None:
    people, arno = staff.console.tools.people, staff.person("arno", "approver", name="Arno Frey")
    for name in ("Arno Friedrich Frey", "Arno Huber", "Arno Frey", "Arno Berg"):
        arno = people.change(replace(arno, name=name), by="a test")

    for name in ("Arno Frey", "Dr. Frey, Arno", "Arno Huber", "Arno Friedrich Frey"):
        with pytest.raises(BadData, match="once belonged to another account"):
            people.add(Person(0, "other", name, frozenset({"approver"})), PASSWORD, by="a test")
        with pytest.raises(BadData, match="once belonged to another account"):
            people.change(replace(staff.person("otto", "approver"), name=name), by="a test")
    assert people.change(replace(arno, name="Arno Frey"), by="a test").name == "Arno Frey"


def test_a_role_that_there_is_not_takes_none_away_and_nothing_long_is_said_back(staff: Staff) -> None:
    browser = staff.logged_in("ada", "admin")
    staff.person("rolf", "approver", "curator", name="Rolf")
    token = {"token": browser.page.all("input", type="hidden")[0].get("value")}

    odd = browser.client.post(f"{CONSOLE}/people/rolf", data={**token, "name": "Rolf", "role": "aprover" * 20_000})
    long = "Otto" * 25_000
    added = {**token, "login": long, "name": long, "password": PASSWORD, "role": "curator"}
    answers = [
        odd,
        browser.client.post(f"{CONSOLE}/people", data=added),
        browser.client.post(f"{CONSOLE}/people/rolf", data={**token, "name": long}),
    ]

    assert [each.status_code for each in answers] == [400, 400, 400]
    assert max(len(each.text) for each in answers) < 50_000
    rolf = staff.console.tools.people.by_login("rolf")
    assert rolf is not None
    assert rolf.roles == {"approver", "curator"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staff]:
    url = emptied(request.getfixturevalue("postgresql")) if request.param == "postgresql" else ""
    with running_console(tmp_path, database=url) as running:
        yield running


def test_the_trail_is_whole_and_the_database_refuses_to_change_it(both: Staff, tmp_path: Path) -> None:
    browser = both.logged_in("ana", "auditor")
    both.person("bob", "curator")
    acts = list(both.console.tools.acts.all())
    url = both.console.tools.settings.database_url or f"sqlite:///{tmp_path / 'klartext.db'}"
    engine = create_engine(url)

    for change in ("UPDATE staff_acts SET action = 'x'", "DELETE FROM staff_acts"):
        with pytest.raises(DBAPIError), engine.begin() as connection:
            connection.execute(text(change))
    engine.dispose()

    browser.follow("Trail")
    assert "Account bob" in browser.text
    assert [act.action for act in acts] == ["add", "change", "login", "add", "change"]
    assert first_flaw(acts) is None
    assert first_flaw([acts[0], replace(acts[1], by="somebody else"), acts[2]]) == 2
    assert first_flaw([acts[0], acts[2]]) == 2


def test_the_trail_leaves_as_audit_events(staff: Staff) -> None:
    from fhir.resources.R4B.auditevent import AuditEvent
    from fhir.resources.R4B.provenance import Provenance

    staff.person("someone", "rater")
    acts = list(staff.console.tools.acts.all())

    bundle = audit_bundle(acts, whole=True)

    read = {"AuditEvent": AuditEvent, "Provenance": Provenance}
    for entry in bundle["entry"]:
        read[entry["resource"]["resourceType"]](**entry["resource"])
    assert sum(entry["resource"]["resourceType"] == "AuditEvent" for entry in bundle["entry"]) == len(acts)


def test_a_password_that_others_try_first_is_refused(staff: Staff) -> None:
    for bad in ("kurz", "radiologie2026!", "aaaaaaaaaaaaaaaa", "mein Name ist Xaver"):
        with pytest.raises(BadData):
            staff.console.tools.people.add(Person(0, "xaver", "Xaver", frozenset({"rater"})), bad, by="a test")


def test_what_was_written_outlives_the_end_of_a_session(staff: Staff) -> None:
    browser = staff.logged_in("wilma", "curator")
    pair_id = staff.console.tools.candidate().base.catalogs["en"].pairs[0].id
    form = browser.open(f"{CONSOLE}/pairs/{pair_id}").one("form", id="pair")
    written = "This text took a while. " * 10
    stands = {each.get("name"): "".join(map(str, each.children)).lstrip("\n") for each in form.all("textarea")}
    filled = browser.filled(form, None, **{**stands, "en.answer": written})
    staff.console.tools.people.leave(browser.client.cookies["klartext-staff"])

    browser._show(browser.client.post(f"{CONSOLE}/pairs/{pair_id}", data=filled))
    assert "You were logged out" in browser.text
    kept = browser.page.one("form", action=f"{CONSOLE}/pairs/{pair_id}")
    _, secret = staff.console.tools.people.enter("wilma", PASSWORD, now=now())  # in another window
    browser.client.cookies.set("klartext-staff", secret, domain="127.0.0.1", path="/")
    browser.send(kept)
    assert "You are logged in" in browser.text
    browser.press("Send again")

    stored = staff.console.tools.candidate().pair("en", pair_id)
    assert stored is not None
    assert stored.answer == written.strip()


def test_names_that_only_look_different_or_are_the_programs_own_are_refused(staff: Staff) -> None:
    people = staff.console.tools.people
    people.add(Person(0, "cora", "Cora Curator", frozenset({"rater"})), PASSWORD, by="a test")

    for login, name in (
        ("cora2", "\u0421ora Curator"),  # a Cyrillic letter
        ("c\u043era", "Somebody"),
        ("root", "root (command line)"),
        ("../x", "Somebody Else"),
    ):
        with pytest.raises(BadData):
            people.add(Person(0, login, name, frozenset({"rater"})), PASSWORD, by="a test")
