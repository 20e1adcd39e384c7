"""The sample with staff: accounts and questions that touch nothing real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.editorial.jobs import Cancelled
from bot.editorial.people import Person
from bot.errors import UserFixable
from bot.settings import FhirAccess, Settings
from bot.web.middleware import CONSOLE
from bot.web.server import Serving, run_server
from bot.web.staff.sample import ACCOUNTS, SAMPLE_JOB, Sample, begin_sample, questions, sample_settings
from bot.web.staff.wiring import make_jobs, make_people
from bot.wiring import make_records
from tests.bot.web.staff.consoles import PASSWORD, now, running_console


def _settings(folder: Path) -> Settings:
    return sample_settings(Settings(data=folder, fhir=FhirAccess(url="https://fhir.example.org")))


def test_the_sample_has_a_database_of_its_own_and_sends_nothing(tmp_path: Path) -> None:
    settings = _settings(tmp_path)

    lines = begin_sample(settings, now=now)

    assert settings.fhir.url is None
    assert not (tmp_path / "klartext.db").exists()
    password = lines[0].rsplit(" ", 1)[1]
    people = make_people(settings, now)
    assert all(people.enter(login, password, now=now())[0] == "in" for login, _, _ in ACCOUNTS)
    assert (tmp_path / "sample-password").stat().st_mode & 0o077 == 0
    assert begin_sample(settings, now=now) == lines  # at the next start, too
    assert len(make_jobs(settings).newest(SAMPLE_JOB)) == 1


def test_where_somebody_has_an_account_no_sample_is_made(tmp_path: Path) -> None:
    settings = replace(Settings(data=tmp_path), database_url=f"sqlite:///{tmp_path / 'own.db'}")
    people = make_people(settings, now)
    people.add(Person(0, "anna", "Anna", frozenset({"admin"})), PASSWORD, by="a test")

    lines = begin_sample(sample_settings(settings), now=now)

    assert "accounts of its own" in lines[0]
    assert [each.login for each in people.all()] == ["anna"]
    assert make_jobs(settings).newest(SAMPLE_JOB) == []


def test_sample_accounts_are_for_this_machine_only(tmp_path: Path, small_folder: Path) -> None:
    serving = Serving("0.0.0.0", 0, (str(small_folder),), tmp_path, sample=True, staff=True)

    with pytest.raises(UserFixable, match="this machine only"):
        run_server(serving)

    assert not (tmp_path / "sample-password").exists()


def test_sample_questions_are_asked_as_patients_ask_and_each_only_once(
    tmp_path: Path, answering: tuple[Path, Assistant]
) -> None:
    _, small = answering
    records = make_records(_settings(tmp_path))
    assert isinstance(records, SqlRecords)
    sample = Sample(records, lambda: small, now)

    def soon(share: float, _: str) -> None:
        if share > 0.02:
            raise Cancelled

    for _ in range(2):  # it was stopped, and begins again
        with pytest.raises(Cancelled):
            sample.ask(soon)

    turns = records.turns("sample-0000")
    assert len(turns) == 1
    assert turns[0].exchange is not None
    assert turns[0].question in {*questions("de"), *questions("en")}
    assert len(questions("de")) + len(questions("en")) == 350


@pytest.mark.parametrize("language", ["de", "en"])
def test_in_the_sample_a_stop_is_called_practice_before_and_after(tmp_path: Path, language: str) -> None:
    with running_console(tmp_path, sample=True) as staff:
        t = staff.console.renderer.labels(language)
        browser = staff.logged_in("anna", "approver", language=language)
        browser.open(f"{CONSOLE}/stop")
        assert t["stop_sample"] in browser.text
        assert t["stop_hint"] not in browser.text

        browser.press(str(t["stop_chat_do"]), why="x")

        assert t["told_stop_sample"] in browser.text
        assert t["stop_sample_closed"] in browser.text
        assert t["told_stop"] not in browser.text
        assert t["stop_closed"] not in browser.text
        assert [act.kind for act in staff.console.tools.releases.stops()] == ["close"]
