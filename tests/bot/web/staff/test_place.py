"""The site's file in the console: checked, drafted, signed, and part of what is released next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from bot.resources import data_folder
from bot.web.middleware import CONSOLE
from tests.bot.web.browser import Browser
from tests.bot.web.staff.consoles import Staff, now, running_console

SAMPLE = (data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8")


@pytest.fixture
def placed(tmp_path: Path) -> Iterator[Staff]:
    with running_console(tmp_path) as running:
        yield running


def store(browser: Browser, text: str) -> None:
    form = browser.page.one("form", action=f"{CONSOLE}/place")
    browser.send(form, text=text)


def sign(browser: Browser, label: str) -> None:
    browser.open(f"{CONSOLE}/to-sign/text?what=site")
    browser.press(label, read="yes", until=(now().date() + timedelta(days=30)).isoformat())


def test_a_site_is_drafted_checked_signed_and_written(placed: Staff, tmp_path: Path) -> None:
    curator = placed.logged_in("cora", "curator", name="Cora")
    approver = placed.logged_in("axel", "approver", name="Axel")
    curator.follow("The place")
    assert "Nothing is said of the place yet" in curator.text

    store(curator, SAMPLE.replace("phone: 030 23125 100", "phone: call us"))
    assert "Line 5: what stands at “phone” cannot be read" in curator.text
    assert "phone: call us" in curator.page.one("textarea").text
    store(curator, SAMPLE)
    assert "The draft is saved" in curator.text
    sign(curator, "Sign")
    assert not placed.console.tools.candidate().ready(now=now())
    sign(approver, "Sign as second person")

    candidate = placed.console.tools.candidate()
    assert [each.name for each in candidate.ready(now=now())] == ["@site"]
    written = candidate.write(tmp_path / "out", now=now())
    assert written.site is not None
    text, released = written.site.read_text(encoding="utf-8"), yaml.safe_load(SAMPLE)
    assert {**yaml.safe_load(text), "review": released["review"]} == released
    assert text.splitlines()[0] == SAMPLE.splitlines()[0]  # comments stay
    assert yaml.safe_load(text)["review"]["status"] == "approved"


def test_two_people_who_change_the_site_at_once_see_each_other(placed: Staff) -> None:
    first, second = (placed.logged_in(login, "curator", name=login.title()) for login in ("ina", "jon"))
    for each in (first, second):
        each.open(f"{CONSOLE}/place")

    store(first, SAMPLE)
    store(second, SAMPLE.replace("Radiologie am Musterplatz", "Radiologie am Park"))

    assert second.answer.status_code == 409
    assert "Somebody else has stored another version" in second.text
    assert "Radiologie am Park" in second.page.one("textarea").text
    assert "Musterplatz" in " ".join(each.text for each in second.page.all("del"))
    store(second, SAMPLE.replace("Radiologie am Musterplatz", "Radiologie am Park"))
    assert "Radiologie am Park" in placed.console.tools.candidate().site_text
    second.press("Give up the draft")
    assert placed.console.tools.candidate().site_text == ""
