"""Calls for staff in real databases: how they stand, who wins, what is kept, and what goes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.adapters.text_cipher import TextCipher
from bot.errors import CallReason, CallRefused
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.staff.calls import Call, CallKind

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
ID = "0" * 32


@pytest.fixture
def records(url: str, cipher: TextCipher | None) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url, cipher)
    opened.begin(StoredConversation(ID, NOW, "de", "api"))
    yield opened
    opened.close()


@pytest.fixture
def calls(records: SqlRecords) -> SqlCalls:
    return SqlCalls(records.engine)


def _later(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def _turn(records: SqlRecords, number: int, kind: CallKind | None, *, minutes: float = 0, id_: str = ID) -> None:
    exchange = Exchange(number, f"t{number}", "said", "{}", "{}")
    decision = "talk" if kind is None else "urgent"
    turn = StoredTurn(id_, _later(minutes), "de", "asked", decision, None, 1.0, "small@1", exchange)
    records.add_turn(turn, call=kind)


def _stands(call: Call | None) -> tuple[str, str, str, datetime | None]:
    assert call is not None
    return call.state, call.kind, call.name, call.since


def test_a_call_goes_from_waiting_over_a_person_back_to_the_program(records: SqlRecords, calls: SqlCalls) -> None:
    assert calls.call(ID) is None
    _turn(records, 1, "asked")
    assert _stands(calls.call(ID)) == ("waiting", "asked", "", NOW)

    assert _stands(calls.acknowledge(ID, "Anna", at=_later(1))) == ("acknowledged", "asked", "Anna", None)
    assert _stands(calls.take(ID, "Berta", at=_later(2))) == ("taken", "asked", "Berta", None)
    calls.write(ID, "Grüß Gott", at=_later(3))
    _turn(records, 2, None, minutes=4)
    calls.write(ID, "Gern", at=_later(5))
    assert calls.hand_back(ID, at=_later(6)).state == "returned"

    done = [(each.name, each.what, each.text, each.turn, each.at) for each in calls.actions(ID)]
    assert done == [
        ("Anna", "acknowledge", "", 1, _later(1)),
        ("Berta", "take", "", 1, _later(2)),
        ("Berta", "message", "Grüß Gott", 1, _later(3)),
        ("Berta", "message", "Gern", 2, _later(5)),
        ("Berta", "return", "", 2, _later(6)),
    ]
    assert [each.text for each in calls.actions(ID, after=calls.actions(ID)[2].number)] == ["Gern", ""]
    assert calls.open() == []


def test_a_new_red_flag_waits_again_and_is_told_again_to_who_was_told_of_less(
    records: SqlRecords, calls: SqlCalls
) -> None:
    _turn(records, 1, "asked")
    (call,) = calls.unacknowledged(at=_later(5))
    calls.note(call, what="told", at=_later(5))
    _turn(records, 2, "urgent", minutes=6)

    (call,) = calls.unacknowledged(at=_later(6))
    assert (call.kind, call.since, call.told) == ("urgent", NOW, 0)
    calls.acknowledge(ID, "Anna", at=_later(7))
    _turn(records, 3, "asked", minutes=8)
    assert _stands(calls.call(ID)) == ("waiting", "asked", "", _later(8))


def test_a_red_flag_of_a_taken_call_waits_for_its_own_acknowledgement(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    calls.take(ID, "Anna", at=_later(1))
    _turn(records, 2, "urgent", minutes=2)
    assert _stands(calls.call(ID)) == ("taken", "urgent", "Anna", _later(2))

    with pytest.raises(CallRefused) as refused:
        calls.hand_back(ID, at=_later(3))
    assert refused.value.reason == "unacknowledged"
    assert _stands(calls.acknowledge(ID, "Berta", at=_later(4))) == ("taken", "urgent", "Anna", None)
    _turn(records, 3, "urgent", minutes=5)
    assert calls.write(ID, "Bitte 112 anrufen", at=_later(6)).since is None  # who answers has seen it


def _acknowledge(calls: SqlCalls) -> object:
    return calls.acknowledge(ID, "Anna", at=NOW)


def _take(calls: SqlCalls) -> object:
    return calls.take(ID, "Anna", at=NOW)


def _write(calls: SqlCalls) -> object:
    return calls.write(ID, "Hallo", at=NOW)


def _hand_back(calls: SqlCalls) -> object:
    return calls.hand_back(ID, at=NOW)


@pytest.mark.parametrize(
    ("before", "then", "reason"),
    [
        ([], _write, "not_taken"),
        ([], _hand_back, "unacknowledged"),
        ([_acknowledge], _acknowledge, "acknowledged"),
        ([_acknowledge], _write, "not_taken"),
        ([_take], _take, "taken"),
        ([_take], _acknowledge, "acknowledged"),
        ([_take, _hand_back], _write, "none"),
        ([_take, _hand_back], _take, "none"),
        ([_acknowledge, _hand_back], _take, "none"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_no_trace(
    records: SqlRecords,
    calls: SqlCalls,
    before: list[Callable[[SqlCalls], object]],
    then: Callable[[SqlCalls], object],
    reason: CallReason,
) -> None:
    _turn(records, 1, "asked")
    for step in before:
        step(calls)
    stood, done = calls.call(ID), calls.actions(ID)

    with pytest.raises(CallRefused) as refused:
        then(calls)

    assert refused.value.reason == reason
    assert (calls.call(ID), calls.actions(ID)) == (stood, done)


def test_a_call_that_nobody_took_is_closed_without_a_word_to_the_patient(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _acknowledge(calls)
    _hand_back(calls)

    assert [each.what for each in calls.actions(ID)] == ["acknowledge", "close"]
    assert calls.not_shown(ID) == []


def test_of_many_who_take_at_once_one_wins(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    together, won, lost = threading.Barrier(8), list[str](), list[CallReason]()

    def take(name: str) -> None:
        together.wait()
        try:
            won.append(calls.take(ID, name, at=NOW).name)
        except CallRefused as error:
            lost.append(error.reason)

    threads = [threading.Thread(target=take, args=[f"person {number}"]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    call = calls.call(ID)
    assert call is not None
    assert won == [call.name]
    assert lost == ["taken"] * 7
    assert [each.name for each in calls.actions(ID)] == won


def test_a_contact_is_held_by_one_and_not_told_of_what_has_changed(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "urgent")
    (call,) = calls.unacknowledged(at=_later(5))

    assert calls.hold(call, at=_later(5), until=_later(6))
    assert not calls.hold(call, at=_later(5), until=_later(6))
    assert calls.unacknowledged(at=_later(5.5)) == []
    assert calls.hold(call, at=_later(6), until=_later(7))  # who held it has died
    calls.release(call, until=_later(6.5))
    assert calls.unacknowledged(at=_later(6.5)) == [call]
    calls.acknowledge(ID, "Anna", at=_later(7))
    assert not calls.hold(call, at=_later(9), until=_later(10))
    calls.note(call, what="told", at=_later(9))  # it was on its way: that stays in the record
    assert [(each.name, each.what) for each in calls.actions(ID)] == [("Anna", "acknowledge"), ("contact 1", "told")]


def test_the_inbox_and_the_counts_have_the_longest_unacknowledged_first(records: SqlRecords, calls: SqlCalls) -> None:
    others = [f"{number}" * 32 for number in range(1, 4)]
    for minutes, id_ in enumerate(others, 1):
        records.begin(StoredConversation(id_, NOW, "de", "api"))
        _turn(records, 1, "asked", minutes=minutes, id_=id_)
    _turn(records, 1, "urgent", minutes=10)
    calls.take(others[0], "Anna", at=_later(11))

    assert [call.conversation for call in calls.open()] == [others[1], others[2], ID, others[0]]
    tally = calls.tally()
    assert (tally.by_state, tally.oldest_s(_later(12))) == ({"waiting": 3, "taken": 1}, 600.0)


def test_what_is_shown_once_is_not_shown_again(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _acknowledge(calls)
    _take(calls)
    _write(calls)

    assert [each.what for each in calls.not_shown(ID)] == ["take", "message"]
    assert calls.not_shown(ID) == []
    _hand_back(calls)
    assert [each.what for each in calls.not_shown(ID)] == ["return"]


def test_an_erased_conversation_leaves_nothing_of_its_call(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "urgent")
    _take(calls)
    call = calls.call(ID)
    assert call is not None

    records.erase(ID)

    assert (calls.call(ID), calls.actions(ID), calls.tally().by_state) == (None, [], {})
    with pytest.raises(CallRefused):
        _write(calls)
    calls.note(call, what="told", at=NOW)  # a contact was being told meanwhile
    assert calls.actions(ID) == []
