"""What somebody is told who asks for a person: no time is promised but that of opening."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.ports import StoredConversation
from bot.sentences.interface_texts import LANGUAGES
from bot.sentences.reply import SENTENCES, Reply, guard, interface
from bot.staff.desk import WEEKDAYS, Desk
from bot.talk.conversation import Conversation

VIENNA = ZoneInfo("Europe/Vienna")
SATURDAY = datetime(2026, 11, 21, 23, 30, tzinfo=VIENNA)


@pytest.mark.parametrize(
    ("opens", "told"),
    [
        (None, []),
        (datetime(2026, 11, 23, 7, 5, tzinfo=VIENNA), ["Das Personal liest Ihre Nachricht ab Montag, 7:05 Uhr."]),
        (datetime(2026, 11, 28, 8, 0, tzinfo=VIENNA), ["Das Personal liest Ihre Nachricht ab dem 28.11., 8:00 Uhr."]),
    ],
)
def test_outside_opening_hours_it_is_said_when_it_will_be_read(
    small: Assistant, records: SqlRecords, opens: datetime | None, told: list[str]
) -> None:
    desk = Desk(SqlCalls(records.engine), lambda _: opens)
    talk = Conversation.begin(small, records, StoredConversation("c", SATURDAY, "de", "api")).staffed(desk)

    reply = talk.turn("/staff", at=SATURDAY)

    assert [part.text for part in reply.parts] == [SENTENCES["de"]["staff_is_called"], *told]


def test_the_day_is_counted_where_the_site_is(records: SqlRecords) -> None:
    sunday = datetime(2026, 11, 22, 8, 0, tzinfo=VIENNA)
    monday_there = datetime(2026, 11, 15, 23, 30, tzinfo=UTC)
    desk = Desk(SqlCalls(records.engine), lambda _: sunday)

    assert desk.answer(monday_there)[1] == ("staff_opens_sunday", {"hour": 8, "minute": 0})


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_day_has_a_sentence_that_passes_the_guard(language: str) -> None:
    said = [interface(language, f"staff_opens_{day}", hour=7, minute=5) for day in WEEKDAYS]

    guard(Reply(language, tuple(said)), None, shown=frozenset())

    assert len({part.text for part in said}) == 7
    assert all("7:05" in part.text for part in said)
