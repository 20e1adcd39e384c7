"""Pages of staff where one service answers for several exams: which one each thing is about, and one exam only."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_releases import SqlReleases
from bot.editorial.inbox import Sorted, Wanted
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.release.release import Switch
from bot.settings import StaffCalls
from bot.staff.calls import Stir
from bot.talk.exams import NO_EXAM
from bot.testing import HashEncoder
from bot.web.middleware import CONSOLE
from tests.alarm_examples import few_taught
from tests.bot.release.exams import NOW, Site, sign
from tests.bot.release.exams import write_exam as write_small_exam
from tests.bot.web.staff.consoles import PASSWORD, Staff, now, running_console
from tests.two_exams import write_exam

JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def exams(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Assistant]:
    folder = tmp_path_factory.mktemp("two")
    with few_taught():
        found = {
            name: Assistant.open(write_exam(folder, name), data=folder / "data", encoder=HashEncoder(), sample=True)
            for name in ("mammo", "mri")
        }
        found["mammo"].prepare()  # it sorts the inbox
    return found


@pytest.fixture(scope="module")
def department(exams: Mapping[str, Assistant], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    folder = tmp_path_factory.mktemp("department")
    with running_console(
        folder,
        exam=write_exam(folder, "mammo"),
        assistant=lambda: exams["mammo"],
        exams=lambda: exams,
        staff=StaffCalls(),
    ) as running:
        yield running


def says(
    staff: Staff, id_: str, text: str, exam: str | None, *, decision: str = "declined", call: Stir | None = None
) -> None:
    """Store the one turn of a conversation, as the service does that answers for both exams."""
    records, at = staff.console.tools.records, now() - timedelta(minutes=5)
    records.begin(StoredConversation(id_, at, "de", "page", secret_hash="known", exam=exam))
    pair = "costs" if decision == "answered" else None
    catalog = f"{exam or NO_EXAM}@1"
    turn = StoredTurn(id_, at, "de", text, decision, pair, 0.5, catalog, Exchange(1, "t1", text, "{}", "{}"))
    records.add_turn(turn, call=call)


def test_the_desk_shows_what_a_call_is_about_and_hides_no_emergency(department: Staff) -> None:
    says(department, "call-mammo", "Kann mich jemand beruhigen", "mammo", call="asked")
    says(department, "call-mri", "Ich krieg keine Luft", "mri", decision="urgent", call="urgent")
    says(department, "call-nobody", "Hallo, ist da wer", None, call="asked")
    says(department, "call-gone", "Wer ist da", "ct", call="asked")
    browser = department.logged_in("anna", "frontdesk", language="de")

    browser.open(f"{CONSOLE}/desk")
    assert [each.text for each in browser.page.one("select", name="exam").all("option")] == [
        "alle", "Mammographie", "MRT",
    ]  # fmt: skip
    assert "Untersuchung MRT" in browser.text
    assert "Untersuchung noch nicht bekannt" in browser.text
    assert "Untersuchung CT" in browser.text

    browser.open(f"{CONSOLE}/desk?exam=mammo")
    assert "1 Notfall zu anderen Untersuchungen wartet und steht nicht in dieser Liste" in browser.text
    assert "keine Luft" not in browser.text
    for everybodys in ("beruhigen", "ist da wer", "Wer ist da"):
        assert everybodys in browser.text
    browser.follow("1 Notfall zu anderen Untersuchungen wartet und steht nicht in dieser Liste: alle zeigen")
    assert "keine Luft" in browser.text

    told = browser.client.get(f"{CONSOLE}/desk?exam=mammo", headers=JSON).json()
    assert (told["waiting"], told["urgent"]) == (4, 1)  # title and sound are for all of them
    assert "keine Luft" not in told["html"]
    assert "1 Notfall" in told["html"]
    browser.open(f"{CONSOLE}/desk?exam=mri")
    assert "Notfall zu anderen" not in browser.text
    assert "1 weiteres Gespräch zu anderen Untersuchungen" in browser.text
    browser.open(f"{CONSOLE}/desk?exam=ct")  # not served: as if nothing had been chosen
    assert "keine Luft" in browser.text


def test_who_works_on_one_exam_stays_there(department: Staff) -> None:
    says(department, "stays", "Und wer hilft mir?", "mri", call="asked")
    browser = department.logged_in("anna", "frontdesk", language="en")

    browser.open(f"{CONSOLE}/desk?exam=mri")
    link = next(each for each in browser.page.all("a") if each.get("href").startswith(f"{CONSOLE}/desk/stays"))
    browser.open(link.get("href"))
    assert "Exam: MRI" in browser.text
    browser.press("Take over")
    assert browser.answer.url.query == b"exam=mri"
    browser.press("Send", text="Ich.")
    assert browser.answer.url.query == b"exam=mri"
    browser.press("Hand back to the program")
    assert (browser.answer.url.path, browser.answer.url.params["exam"]) == (f"{CONSOLE}/desk", "mri")
    browser.open(f"{CONSOLE}/desk/closed?exam=mammo")
    assert "stays" not in browser.answer.text
    browser.open(f"{CONSOLE}/desk/closed?exam=mri")
    assert "MRI ·" in browser.text


def test_with_one_exam_nothing_is_to_be_chosen(staff: Staff) -> None:
    browser = staff.logged_in("rita", "rater", "frontdesk", "curator")

    for page in ("desk", "inbox", "figures"):
        browser.open(f"{CONSOLE}/{page}?exam=mri")
        assert browser.page.all("select", name="exam") == []


def test_figures_count_each_exam_and_what_was_asked_before_it_was_known(department: Staff) -> None:
    for number in range(3):
        says(department, f"costs-{number}", "Was kostet das?", "mri", decision="answered")
    says(department, "costs-mammo", "Was kostet das?", "mammo", decision="answered")
    says(department, "unknown", "Was denn?", None)
    browser = department.logged_in("rita", "rater", language="de")
    browser.open(f"{CONSOLE}/figures?days=7")

    rows = {row.all("th")[0].text: [cell.text for cell in row.all("td")] for row in browser.page.all("tr")}
    assert rows["costs (MRT)"][0] == "3"
    assert rows["costs (Mammographie)"][0] == "1"
    all_of = int(rows["Fragen"][0])
    of_mri = int(rows["MRT"][0])
    known = {name: int(rows[name][0]) for name in ("Mammographie", "MRT", "noch nicht bekannt", "CT") if name in rows}
    assert of_mri >= 3
    assert sum(known.values()) == all_of

    browser.open(f"{CONSOLE}/figures?days=7&exam=mri")
    assert f"Fragen {of_mri}" in browser.text
    assert "Nach Untersuchungen" not in browser.text
    rows = {row.all("th")[0].text: [cell.text for cell in row.all("td")] for row in browser.page.all("tr")}
    assert rows["costs"][0] == "3"
    assert "own-mri" in browser.text  # never the answer
    assert "own-mammo" not in browser.text
    browser.follow("Als CSV")
    table = list(csv.DictReader(browser.answer.text.splitlines()))
    assert {row["exam"] for row in table} == {"mri"}
    assert (len(table), int(table[-1]["questions"])) == (7, of_mri)
    browser.open(f"{CONSOLE}/figures/days.csv?days=7")
    table = list(csv.DictReader(browser.answer.text.splitlines()))
    assert {"mammo", "mri", "none"} <= {row["exam"] for row in table}
    assert sum(int(row["questions"]) for row in table) == all_of


def test_the_inbox_shows_one_exam_and_decides_on_nothing_that_it_does_not_show(department: Staff) -> None:
    inbox = department.console.tools.inbox
    says(department, "alike-mammo", "Wo gibt es hier Kaffee?", "mammo")
    says(department, "alike-mri", "Wo gibt es hier Kaffee?", "mri")
    says(department, "alike-nobody", "Gibt es Tee im Haus?", None)
    says(department, "faint", "Mir wird schwarz vor Augen", "mammo", decision="urgent")
    browser = department.logged_in("cara", "curator", language="de")
    while inbox.missing(before=now(), most=1):  # some are taken in by every look
        browser.open(f"{CONSOLE}/inbox")
    alike = [item for item in inbox.items([row.id for row in inbox.rows(Wanted())]) if "Kaffee" in item.text]
    assert {item.exam for item in alike} == {"mammo", "mri"}
    of_mri = next(item for item in alike if item.exam == "mri")
    assert len({item.cluster for item in alike}) == 2  # in the same words, of two exams
    assert of_mri.pair == ""  # a pair of the one may say what is wrong in the other
    for way in ("variant", "new pair"):
        browser.open(f"{CONSOLE}/inbox/{of_mri.cluster}")
        form = browser.page.one("form", id="choose")
        button = next(each for each in form.all("button") if each.get("value") == way)
        browser.send(form, button, item=str(of_mri.id), pair="costs")
        assert "Nicht alle diese Fragen gehören zu der Untersuchung, die hier bearbeitet wird" in browser.text
    # As they were put together before they were kept apart.
    inbox.sort({item.id: Sorted(900, place) for place, item in enumerate(alike)})

    browser.open(f"{CONSOLE}/inbox?exam=mri")
    assert "1 offene Notfallmeldung zu anderen Untersuchungen steht nicht in dieser Liste: alle zeigen" in browser.text
    assert "schwarz vor Augen" not in browser.text
    assert "Tee im Haus" in browser.text
    assert "noch nicht bekannt" in browser.text
    form = browser.page.one("form", id="choose")
    button = next(each for each in form.all("button") if each.get("value") == "done")
    browser.send(form, button, cluster="900")
    assert browser.answer.url.params["exam"] == "mri"
    states = {item.exam: item.state for item in inbox.items([item.id for item in alike])}
    assert states == {"mri": "done", "mammo": "open"}

    browser.open(f"{CONSOLE}/inbox?exam=mri")
    of_mammo = next(item for item in alike if item.exam == "mammo")
    browser.send(browser.page.one("form", id="choose"), button, item=str(of_mammo.id), cluster="")
    assert inbox.items([of_mammo.id])[0].state == "open"  # the list did not show it

    browser.open(f"{CONSOLE}/inbox/900?exam=mammo")
    assert "Mammographie ·" in browser.text
    assert "MRT ·" not in browser.text
    inbox.sort({item.id: Sorted(900, place) for place, item in enumerate(alike)})  # the background may have parted them
    browser.open(f"{CONSOLE}/inbox/900")
    assert "MRT ·" in browser.text


def test_one_exam_served_alone_is_kept_apart_from_others_of_its_database(
    exams: Mapping[str, Assistant], tmp_path: Path
) -> None:
    with running_console(
        tmp_path,
        exam=write_exam(tmp_path, "mammo"),
        assistant=lambda: exams["mammo"],
        exams=lambda: {"mammo": exams["mammo"], "mri": None},
        staff=StaffCalls(),
    ) as staff:
        inbox = staff.console.tools.inbox
        says(staff, "m", "kostet das etwas extra", "mammo")
        says(staff, "r", "kostet das etwas extra", "mri", call="asked")
        browser = staff.logged_in("cara", "curator", "frontdesk", language="en")
        browser.open(f"{CONSOLE}/inbox")
        found = {item.exam: item for item in inbox.items([row.id for row in inbox.rows(Wanted())])}

        assert "MRI ·" in browser.text
        assert found["mammo"].cluster != found["mri"].cluster
        assert (found["mammo"].pair, found["mri"].pair) == ("costs", "")
        form = browser.page.one("form", id="choose")
        added = browser.client.post(
            f"{CONSOLE}/inbox/add",
            data={
                "token": form.one("input", name="token").get("value"),
                "adds": "variant",
                "pair": "costs",
                "item": str(found["mri"].id),
                f"text-{found['mri'].id}": "kostet das etwas extra",
            },
            headers=JSON,
        )
        assert added.status_code == 400
        assert inbox.items([found["mri"].id])[0].state == "open"
        browser.open(f"{CONSOLE}/desk")
        assert "Exam MRI" in browser.text
        rows = list(csv.DictReader(browser.client.get(f"{CONSOLE}/figures/days.csv?exam=mri").text.splitlines()))
        assert {row["exam"] for row in rows} == {"mri"}


def test_the_page_of_the_stop_names_an_exam_where_there_are_releases_of_several(tmp_path: Path) -> None:
    with running_console(tmp_path) as staff:
        site = Site(tmp_path, SqlReleases(staff.console.tools.records.engine))  # type: ignore[attr-defined]
        for name in ("mammo", "mri"):
            number = site.make(sign(write_small_exam(tmp_path / name), "A", "B")).number
            site.releases.switch(Switch(NOW, "Anna", "activate", number))
        browser = staff.logged_in("anna", "approver", language="en")
        staff.person("bert", "approver")

        browser.open(f"{CONSOLE}/stop")
        browser.press("Withdraw at once", pair="costs", exam="mri", why="wrong")
        browser.press("Close the chat at once", exam="mri", why="wrong")
        assert "The chat about “MRI” is closed" in browser.text
        assert "text withdrawn: costs (MRI)" in browser.text
        choice = browser.page.one("select", id="f-lift").one("option")
        assert choice.text.endswith("(costs) – MRI")
        browser.press("Show the text again", pair=choice.get("value"), why="right after all")
        browser.press("Open again", exam="mri", why="mended", login="bert", password=PASSWORD)

        assert [(act.kind, act.pair_id, act.exam) for act in site.releases.stops()] == [
            ("withdraw", "costs", "mri"), ("close", "", "mri"), ("lift", "costs", "mri"), ("open", "", "mri"),
        ]  # fmt: skip
        acts = staff.console.tools.acts.read(what="chat", by="", most=9)
        assert {act.action: act.after.get("exam") for act in acts if act.after} == {"close": "mri", "open": "mri"}
        staff.person("otto", "auditor")
        trail = staff.logged_in("otto", "auditor")
        trail.open(f"{CONSOLE}/trail")
        assert "chat" in trail.text
        assert "Act(" not in trail.text
        browser.press("Close the chat at once", why="all of it")
        assert "The chat is closed." in browser.text
        assert site.releases.stops()[-1].exam == ""
