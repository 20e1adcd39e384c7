"""Conversations over channels without memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from bot import Assistant, BadData
from bot.adapters.sql_records import SqlRecords
from bot.errors import AlreadyStored, Erased, Reused, Unreachable
from bot.ports import Channel, InterviewChange, StoredTurn
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.staff.calls import Stir
from bot.talk.conversation import Message
from bot.talk.reception import Opened, Reception, hash_of

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DE = INTERFACE_TEXTS["de"]
QUESTION = Message("t1", "tut das weh?")


@pytest.fixture
def reception(small: Assistant, records: SqlRecords) -> Reception:
    return Reception(small, records, lambda: NOW)


@pytest.fixture
def opened(reception: Reception) -> Opened:
    return reception.open(channel="api", language="de", consented=True)


def test_the_secret_opens_and_is_not_stored(reception: Reception, opened: Opened) -> None:
    stored = opened.conversation

    assert reception.admitted(stored.id, opened.secret) == stored
    assert reception.admitted(stored.id, opened.secret + "x") is None
    assert reception.admitted("nobody", opened.secret) is None
    assert stored.secret_hash == hash_of(opened.secret)
    assert opened.secret not in repr(stored)


def test_a_conversation_without_a_secret_is_opened_by_none(reception: Reception) -> None:
    stored = reception.known_as("c9", channel="rest")

    assert reception.known_as("c9", channel="rest") == stored
    assert reception.admitted("c9", "") is None


def test_an_unknown_language_is_refused(reception: Reception) -> None:
    with pytest.raises(BadData, match="no language 'fr'"):
        reception.open(channel="api", language="fr", consented=True)


def test_a_resend_is_repeated_and_a_reused_id_refused(reception: Reception, opened: Opened) -> None:
    first = reception.take(opened.conversation, QUESTION)

    assert reception.take(opened.conversation, QUESTION) == first
    with pytest.raises(Reused, match="turn_id was used for another message"):
        reception.take(opened.conversation, Message("t1", "Ich kriege keine Luft"))
    with pytest.raises(Reused, match="turn_id was used for another message"):
        reception.take(opened.conversation, Message("t1", choice=1))


@pytest.mark.parametrize(
    "change",
    [
        "reply = replace(reply, '(pain, de)', '(gain, de)')",
        "reply = replace(reply, '\"pain\"', '\"gone\"')",
        "reply = '{}'",
    ],
)
def test_stored_text_that_is_not_approved_is_not_shown_again(
    reception: Reception, opened: Opened, records: SqlRecords, change: str
) -> None:
    reception.take(opened.conversation, QUESTION)
    with records._engine.begin() as connection:
        assert connection.execute(text(f"UPDATE turns SET {change}")).rowcount == 1

    again = reception.take(opened.conversation, QUESTION)

    assert [part.text for part in again.reply.parts] == [DE["withdrawn"]]
    assert [taken.reply for taken in reception.transcript(opened.conversation.id)] == [again.reply]


def test_a_turn_of_an_erased_conversation_is_not_stored(
    reception: Reception, opened: Opened, records: SqlRecords
) -> None:
    records.erase(opened.conversation.id)

    with pytest.raises(Erased, match="deleted"):
        reception.take(opened.conversation, QUESTION)
    assert records.turns(opened.conversation.id) == []


class _AlwaysLate(SqlRecords):
    """Records in which another request is always faster."""

    def add_turn(self, turn: StoredTurn, *, interview: InterviewChange | None = None, call: Stir | None = None) -> None:
        raise AlreadyStored("Another request stored this first.")


def test_a_turn_that_is_always_too_late_gives_up(small: Assistant, records: SqlRecords) -> None:
    late = Reception(small, _AlwaysLate(records._engine), lambda: NOW)
    opened = late.open(channel="api", language="de", consented=True)

    with pytest.raises(Unreachable, match="crossed each other"):
        late.take(replace(opened.conversation), QUESTION)


@pytest.mark.parametrize(
    ("channel", "hours", "is_open"), [("page", 23.9, True), ("page", 24, False), ("api", 240, True)]
)
def test_an_expired_session_of_the_page_is_closed_here_too(
    small: Assistant, records: SqlRecords, channel: Channel, hours: float, is_open: bool
) -> None:
    now = [NOW]
    reception = Reception(small, records, lambda: now[0], page_session=timedelta(hours=24))
    opened = reception.open(channel=channel, language="de", consented=True)
    now[0] += timedelta(hours=hours)

    assert (reception.admitted(opened.conversation.id, opened.secret) is not None) is is_open


def test_a_closed_session_stays_stored_and_nothing_opens_it(reception: Reception, opened: Opened) -> None:
    reception.take(opened.conversation, QUESTION)

    reception.records.close_session(opened.conversation.id)

    assert reception.admitted(opened.conversation.id, opened.secret) is None
    assert reception.admitted(opened.conversation.id, "") is None
    assert len(reception.transcript(opened.conversation.id)) == 1
