"""Signing in the console: who may be first and second, what they see, and two who sign at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.editorial.workbench import Signature, Stale
from bot.web.middleware import CONSOLE
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import Staff, now, running_console
from tests.bot.web.staff.test_pairs import save
from tests.postgresql import emptied


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staff]:
    url = emptied(request.getfixturevalue("postgresql")) if request.param == "postgresql" else ""
    with running_console(tmp_path, database=url) as running:
        yield running


def write(staff: Staff, login: str, answer: str) -> str:
    """Draft an answer of the first German pair as somebody; return what is signed of it."""
    writer = staff.logged_in(login, "curator", "approver", name=login.title())
    pair_id = staff.console.tools.candidate().base.catalogs["de"].pairs[0].id
    writer.open(f"{CONSOLE}/pairs/{pair_id}")
    save(writer, de__answer=answer)
    return f"pair {pair_id} de"


def open_text(browser: Browser, what: str) -> None:
    browser.open(f"{CONSOLE}/to-sign/text?what={what.replace(' ', '%20')}")


def test_a_draft_is_signed_by_two_people_and_goes_into_what_is_written(both: Staff, tmp_path: Path) -> None:
    what = write(both, "wanda", "Das ist neu.")
    pair_id = what.split()[1]
    author = both.logged_in("wanda", name="Wanda")
    reviewer = both.logged_in("rosa", "curator", name="Rosa")
    approver = both.logged_in("otto", "approver", name="Otto")

    reviewer.open(f"{CONSOLE}/to-sign")
    assert pair_id in reviewer.text
    open_text(reviewer, what)
    assert [each.text for each in reviewer.page.all("ins")] != []
    reviewer.press("Sign", read="yes", until=(now().date() + timedelta(days=90)).isoformat())
    assert "Your signature is stored" in reviewer.text
    open_text(reviewer, what)
    assert "waits for somebody else" in reviewer.text
    open_text(author, what)
    assert "four eyes" in author.text  # nobody is the second to sign what they wrote
    assert "Sign as second person" not in author.labels
    open_text(approver, what)
    approver.press("Sign as second person", read="yes", until=(now().date() + timedelta(days=300)).isoformat())

    candidate = both.console.tools.candidate()
    signed = candidate.approval(candidate.subject("de", pair_id)).signed[what]
    assert candidate.stage("de", pair_id, now=now()) == "approved"
    assert (signed.names, signed.until.astimezone().date()) == ("Rosa, Otto", now().date() + timedelta(days=91))
    assert [draft.name for draft in candidate.ready(now=now())] == [pair_id]
    written = candidate.write(tmp_path / "out", now=now())
    assert "Das ist neu." in (written.exam / "de.yaml").read_text(encoding="utf-8")
    assert [act.by for act in both.console.tools.acts.read(what=what) if act.action == "sign"] == ["Otto", "Rosa"]


def test_of_two_first_signatures_at_the_same_moment_one_is_refused(both: Staff) -> None:
    tools = both.console.tools
    subject = tools.candidate().other_subjects()[0]
    people = [both.person(login, "curator") for login in ("anja", "bert")]
    known = tools.candidate().signatures
    refused: list[str] = []
    gate = threading.Barrier(2)

    def sign(number: int) -> None:
        person = people[number]
        mine = Signature(subject.what, subject.text, person.id, person.name, now(), now() + timedelta(days=9))
        gate.wait()
        try:
            tools.workbench.sign("content", [mine], after=known)
        except Stale:
            refused.append(person.login)

    threads = [threading.Thread(target=sign, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(refused) == 1
    assert [each.name for each in tools.candidate().signatures if each.what == subject.what] != []
    assert tools.candidate().standing(subject, now=now()) == "one signature"
    assert sum(act.action == "sign" for act in tools.acts.all()) == 1  # what is refused leaves no trace either


def test_a_text_that_changed_while_it_was_read_is_not_signed(staff: Staff) -> None:
    what = write(staff, "willi", "Fassung eins.")
    reader = staff.logged_in("ruth", "curator", name="Ruth")
    open_text(reader, what)
    shown = reader.page

    write(staff, "willi", "Fassung zwei.")
    reader.page = shown
    reader.press("Sign", read="yes", until=(now().date() + timedelta(days=30)).isoformat())

    assert "was changed while you read it" in reader.text
    assert "Fassung zwei." in reader.text
    assert what not in {each.what for each in staff.console.tools.candidate().signatures}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"until": "2020-01-01", "read": "yes"}, "from tomorrow on"),
        ({"until": "2999-01-01", "read": "yes"}, "at most three years"),
        ({"until": "soon", "read": "yes"}, "from tomorrow on"),
        ({"read": ""}, "Please read the text"),
    ],
)
def test_a_signature_needs_a_day_to_come_and_somebody_who_has_read(
    staff: Staff, fields: dict[str, str], said: str
) -> None:
    reader = staff.logged_in("rita", "curator", name="Rita")
    open_text(reader, "sentences de")

    reader.press("Sign", **{"until": (now().date() + timedelta(days=30)).isoformat(), **fields})

    assert said in reader.text
    assert "sentences de" not in {each.what for each in staff.console.tools.candidate().signatures}


def test_a_form_that_names_a_text_and_nothing_else_is_no_signature_whoever_signed_before(staff: Staff) -> None:
    first, second = staff.logged_in("rita", "curator", name="Rita"), staff.logged_in("olga", "approver", name="Olga")
    token = {"token": second.page.all("input", type="hidden")[0].get("value")}
    bare = {**token, "what": "foreign"}
    assert second.client.post(f"{CONSOLE}/to-sign/text", data=bare).status_code == 400
    open_text(first, "foreign")
    first.press("Sign", read="yes", until=(now().date() + timedelta(days=30)).isoformat())

    assert second.client.post(f"{CONSOLE}/to-sign/text", data=bare).status_code == 400
    open_text(second, "foreign")
    assert second.answer.status_code == 200
    assert "Rita" in second.text
    assert "which no account stands behind" not in second.text


def test_what_is_signed_beside_pairs_can_be_read_and_signed_one_after_the_other(staff: Staff) -> None:
    reader = staff.logged_in("ralf", "curator", name="Ralf")
    reader.open(f"{CONSOLE}/to-sign?kind=sentences")
    assert "2 texts wait for you" in reader.text
    open_text(reader, "sentences en")
    sentences = staff.console.tools.candidate().base.wording.sentences["en"]
    shown = {each.text for each in reader.page.all("dd")}
    assert {" ".join(text.split()) for text in sentences.values() if text} == shown

    reader.press("Sign, and open the next", read="yes", until=(now().date() + timedelta(days=30)).isoformat())

    assert reader.answer.url.params["what"] == "sentences de"
    assert "sentences en" in {each.what for each in staff.console.tools.candidate().signatures}


def test_a_badge_counts_what_waits_for_this_person(staff: Staff) -> None:
    browser = staff.logged_in("berta", "curator", name="Berta")
    auditor = staff.logged_in("aldo", "auditor")

    waiting = browser.page.all("span", class_="badge")[0].text
    browser.open(f"{CONSOLE}/to-sign")

    assert f"{waiting} texts wait for you" in browser.text
    assert not auditor.page.all("span", class_="badge")
