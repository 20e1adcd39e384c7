"""Files of other programs become drafts, all of them or none; content leaves in every format that can be written."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot.catalog.exchange.exchange import ONE_LANGUAGE, WRITTEN, read_foreign
from bot.web.middleware import CONSOLE
from bot.web.staff.area import MOST_FILE_BYTES
from tests.bot.web.browser import Browser, parse
from tests.bot.web.staff.consoles import Staff, running_console
from tests.bot.web.staff.test_release_pages import wait_for_job
from tests.postgresql import emptied

TABLE = "id\tquestion\tanswer\n{id}\tWo kann ich parken?\tIm Hof.\nklo\tWo ist die Toilette?\tIm Gang links.\n"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def staff(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staff]:
    url = emptied(request.getfixturevalue("postgresql")) if request.param == "postgresql" else ""
    with running_console(tmp_path, database=url) as running:
        yield running


def send(browser: Browser, content: str | bytes, *, name: str = "kb.tsv", **fields: str) -> None:
    """Send a file by the form of the page, as a browser without a script does."""
    form = browser.open(f"{CONSOLE}/exchange").one("form", action=f"{CONSOLE}/exchange/file")
    assert form.get("enctype") == "multipart/form-data"
    data = browser.filled(form) | {"language": "de", "prefix": "", **fields}
    browser.answer = browser.client.post(form.get("action"), data=data, files={"file": (name, content)})
    browser.page = parse(browser.answer.text)


def test_a_table_of_german_excel_is_read_and_written_as_excel_has_it(staff: Staff) -> None:
    browser = staff.logged_in("emil", "curator")
    browser.open(f"{CONSOLE}/exchange")
    send(
        browser, "id;question;answer\r\nklo;Wo ist die Toilette für Gäste?;Im Flur.\r\n".encode("cp1252"), name="kb.csv"
    )
    assert wait_for_job(browser) == "done", browser.text
    browser.follow("Look at the result")
    assert "Read as Windows (cp1252) writes it" in browser.text
    browser.press("Make drafts of all 1")
    draft = staff.console.tools.candidate().drafts["de", "klo"]
    assert draft.pair is not None
    assert draft.pair.question == "Wo ist die Toilette für Gäste?"

    table = browser.client.get(f"{CONSOLE}/exchange/export?format=csv&what=drafted&language=de&excel=yes").content
    assert table.startswith(b"\xef\xbb\xbfpair_id;text;answer;language\r\n")
    assert "für Gäste?" in table.decode("utf-8")
    refused = browser.client.get(f"{CONSOLE}/exchange/export?format=rasa&language=").text
    assert "holds one language. Choose one under" in refused
    assert "--lang" not in refused


def names(staff: Staff) -> set[str]:
    return {name for _, name in staff.console.tools.candidate().drafts}


def test_a_file_is_looked_at_first_and_becomes_drafts_when_somebody_confirms(staff: Staff) -> None:
    browser = staff.logged_in("curt", "curator")
    browser.follow("Import and export")
    send(browser, TABLE.format(id="parken"))
    assert wait_for_job(browser) == "done", browser.text
    browser.follow("Look at the result")
    assert "table, German: 2 pairs with 0 variants" in browser.text
    assert "Ids that are taken: 0" in browser.text
    assert names(staff) == set()

    browser.press("Make drafts of all 2")
    assert "All pairs are drafts now." in browser.text
    drafts = staff.console.tools.candidate().drafts
    assert {name for _, name in drafts} == {"parken", "klo"}
    draft = drafts["de", "parken"]
    assert draft.pair is not None
    assert (draft.pair.answer, draft.pair.sources[0].title, draft.changed_by) == ("Im Hof.", "kb.tsv", "Curt")
    acts = staff.console.tools.acts.read()
    assert sum(act.action == "import" for act in acts) == 2
    assert not list((staff.console.tools.settings.data / "imports").iterdir())


def test_of_ids_that_are_taken_nothing_is_stored_until_they_are_left_out(staff: Staff) -> None:
    browser = staff.logged_in("curt", "curator")
    taken = next(iter(staff.console.tools.candidate().base.catalogs["de"].by_id))
    send(browser, TABLE.format(id=taken))
    assert wait_for_job(browser) == "done", browser.text
    browser.follow("Look at the result")
    assert f"Ids that are taken: 1 {taken} (de)" in browser.text
    report = browser.answer.url.path
    browser.press("Make drafts of all 2")
    assert browser.answer.status_code == 409
    assert "1 id is taken. Nothing was stored." in browser.text
    assert names(staff) == set()
    browser.press("Make drafts of all 2", without="yes")
    assert names(staff) == {"klo"}

    browser.open(report)
    assert "The file is not here any more" in browser.text
    send(browser, TABLE.format(id=taken), prefix="alt-")
    assert wait_for_job(browser) == "done", browser.text
    browser.follow("Look at the result")
    assert "Ids that are taken: 0" in browser.text
    browser.press("Give up")
    assert names(staff) == {"klo"}


def test_what_is_no_file_of_questions_is_refused_with_a_reason_and_nothing_stays(staff: Staff) -> None:
    browser = staff.logged_in("curt", "curator")
    send(browser, "%PDF-1.4", name="<b>../x.pdf")
    assert wait_for_job(browser) == "failed"
    assert "x.pdf is" in browser.text
    assert "imports/" not in browser.text  # no path of the machine
    send(browser, "")
    assert (browser.answer.status_code, "No file came along" in browser.text) == (400, True)
    send(browser, TABLE, prefix="Ä b")
    assert (browser.answer.status_code, "small letters, digits and hyphens" in browser.text) == (400, True)


def test_a_file_that_is_too_large_is_refused_before_it_is_read_and_strangers_send_none(staff: Staff) -> None:
    browser = staff.logged_in("curt", "curator")
    address, kind = f"{CONSOLE}/exchange/file", {"Content-Type": "multipart/form-data; boundary=x"}
    too_long = MOST_FILE_BYTES + 5 * 1024 * 1024
    head = (
        f"POST {address} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind['Content-Type']}\r\nContent-Length: {too_long}\r\n"
    )
    with socket.create_connection(("127.0.0.1", httpx.URL(staff.url).port or 0), timeout=30) as connection:
        connection.sendall(f"{head}\r\n".encode())
        assert b" 413 " in connection.recv(4096).splitlines()[0]
    stranger = staff.browser()
    answer = stranger.client.post(address, headers=kind, content=b"x" * 6_000_000, follow_redirects=False)
    assert answer.status_code in (303, 403)
    rater = staff.logged_in("rita", "rater")
    assert rater.client.post(address, headers=kind, content=b"x").status_code == 403
    forged = browser.client.post(address, data={"token": "x"}, files={"file": ("kb.tsv", TABLE)})
    assert forged.status_code == 403


@pytest.mark.proof
@pytest.mark.parametrize("format_", WRITTEN)
def test_content_leaves_in_every_format_and_can_be_read_again(staff: Staff, format_: str, tmp_path: Path) -> None:
    browser = staff.logged_in("curt", "curator")
    answer = browser.client.get(f"{CONSOLE}/exchange/export?format={format_}&language=de&what=released")
    assert answer.status_code == 200, answer.text
    name = answer.headers["content-disposition"].split('"')[1]
    (tmp_path / name).write_bytes(answer.content)

    there = read_foreign(tmp_path / name, ["de"])

    base = staff.console.tools.candidate().base.catalogs["de"]
    assert {pair.question for pair in there.pairs["de"]} == {pair.question for pair in base.pairs}
    both = browser.open(f"{CONSOLE}/exchange/export?format={format_}") if format_ in ONE_LANGUAGE else None
    assert both is None or "holds one language" in both.text


def test_drafts_leave_too_where_somebody_asks_for_them(staff: Staff) -> None:
    browser = staff.logged_in("curt", "curator")
    send(browser, TABLE.format(id="parken"))
    wait_for_job(browser)
    browser.follow("Look at the result")
    browser.press("Make drafts of all 2")

    address = f"{CONSOLE}/exchange/export?format=json&language=de&what="
    released, drafted = (browser.client.get(address + what).text for what in ("released", "drafted"))
    assert "Im Gang links." not in released
    assert "Im Gang links." in json.dumps(json.loads(drafted), ensure_ascii=False)
