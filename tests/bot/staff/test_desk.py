"""What somebody is told who asks for a person: no time is promised but that of opening."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.catalog.site import Site
from bot.languages.files import packaged
from bot.sentences.reply import SENTENCES, Reply, guard, interface
from bot.sentences.wording import House
from bot.staff.calls import Call
from bot.staff.desk import WEEKDAYS, Desk
from bot.talk.calling import told_who_calls

VIENNA = ZoneInfo("Europe/Vienna")
SATURDAY = datetime(2026, 11, 21, 23, 30, tzinfo=VIENNA)


PHONE = "Sie erreichen uns unter 030 1234567."
NIGHT = "Nachts hilft der Dienst: 116 117."


def _site(**texts: str) -> Site:
    known = {fact: {"de": text, "en": text} for fact, text in texts.items()}
    return Site("Haus", "030 1234567", known, None, VIENNA)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("site", "opens", "told"),
    [
        (None, None, ["staff_is_called"]),
        (_site(phone=PHONE), None, ["staff_is_called", PHONE]),
        (
            _site(phone=PHONE, night=NIGHT),
            datetime(2026, 11, 23, 7, 5, tzinfo=VIENNA),
            ["staff_is_called_closed", "Das Personal liest Ihre Nachricht ab Montag, 7:05 Uhr.", NIGHT],
        ),
        (
            _site(phone=PHONE),
            datetime(2026, 11, 21, 23, 45, tzinfo=VIENNA),
            ["staff_is_called_closed", "Das Personal liest Ihre Nachricht heute ab 23:45 Uhr.", "staff_night"],
        ),
        (
            None,
            datetime(2026, 11, 28, 8, 0, tzinfo=VIENNA),
            ["staff_is_called_closed", "Das Personal liest Ihre Nachricht ab dem 28.11., 8:00 Uhr.", "staff_night"],
        ),
    ],
)
def test_who_calls_is_told_when_it_will_be_read_and_whom_to_telephone(
    records: SqlRecords, site: Site | None, opens: datetime | None, told: list[str]
) -> None:
    desk = Desk(SqlCalls(records.engine), lambda _: opens)

    parts = told_who_calls(desk, site, "de", SATURDAY)

    guard(Reply("de", parts), None, shown=frozenset(), house=House(site=site))
    assert [part.text for part in parts] == [SENTENCES["de"].get(each, each) for each in told]


@pytest.mark.parametrize(
    ("contacts", "told", "minutes", "late"),
    [(0, 0, 4.9, False), (0, 0, 5, True), (2, 1, 60, False), (2, 2, 9.9, False), (2, 2, 10, True), (2, 7, 60, True)],
)
def test_a_call_is_late_once_all_contacts_had_their_time(
    records: SqlRecords, contacts: int, told: int, minutes: float, late: bool
) -> None:
    desk = Desk(SqlCalls(records.engine), contacts=contacts, every=timedelta(minutes=5))
    call = Call("c", "urgent", "waiting", "", "de", SATURDAY, SATURDAY, told, pressing="urgent", rings=SATURDAY)

    assert desk.is_late(call, SATURDAY + timedelta(minutes=minutes)) is late
    assert not desk.is_late(replace(call, since=None, rings=None), SATURDAY + timedelta(days=1))


def test_the_day_is_counted_where_the_site_is(records: SqlRecords) -> None:
    sunday = datetime(2026, 11, 22, 8, 0, tzinfo=VIENNA)
    monday_there = datetime(2026, 11, 15, 23, 30, tzinfo=UTC)
    desk = Desk(SqlCalls(records.engine), lambda _: sunday)

    assert desk.answer(monday_there)[1] == ("staff_opens_sunday", {"hour": 8, "minute": 0})


@pytest.mark.parametrize("language", packaged())
def test_every_day_has_a_sentence_that_passes_the_guard(language: str) -> None:
    said = [interface(language, f"staff_opens_{day}", hour=7, minute=5) for day in (*WEEKDAYS, "today")]

    guard(Reply(language, tuple(said)), None, shown=frozenset())

    assert len({part.text for part in said}) == 8
    assert all("7:05" in part.text for part in said)
