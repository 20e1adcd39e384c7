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
from bot.outbox_ports import pseudonym
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.staff.calls import Call, Stir

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
ID = "0" * 32


@pytest.fixture
def records(url: str, cipher: TextCipher | None) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url, cipher)
    opened.begin(StoredConversation(ID, NOW, "de", "api", secret_hash="h"))
    yield opened
    opened.close()


@pytest.fixture
def calls(records: SqlRecords) -> SqlCalls:
    return SqlCalls(records.engine)


def _later(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def _turn(records: SqlRecords, number: int, kind: Stir | None, *, minutes: float = 0, id_: str = ID) -> None:
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
    calls.write(ID, "Berta", "Grüß Gott", at=_later(3))
    _turn(records, 2, None, minutes=4)
    calls.write(ID, "berta", "Gern", at=_later(5))
    assert calls.hand_back(ID, "Berta", at=_later(6)).state == "returned"

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
    calls.note(call, what="told", at=_later(5), told=1, contact=1)
    _turn(records, 2, "urgent", minutes=6)

    (call,) = calls.unacknowledged(at=_later(6))
    assert (call.kind, call.since, call.told) == ("urgent", NOW, 0)
    calls.acknowledge(ID, "Anna", at=_later(7))
    _turn(records, 3, "asked", minutes=8)
    # An open urgent call stays urgent, whatever is pressed after it.
    assert _stands(calls.call(ID)) == ("waiting", "urgent", "", _later(8))
    calls.acknowledge(ID, "Anna", at=_later(9))
    calls.hand_back(ID, "Anna", at=_later(10))
    _turn(records, 4, "asked", minutes=11)
    assert _stands(calls.call(ID)) == ("waiting", "asked", "", _later(11))


def test_a_red_flag_of_a_taken_call_waits_for_its_own_acknowledgement(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    calls.take(ID, "Anna", at=_later(1))
    _turn(records, 2, "urgent", minutes=2)
    assert _stands(calls.call(ID)) == ("taken", "urgent", "Anna", _later(2))

    with pytest.raises(CallRefused) as refused:
        calls.hand_back(ID, "Anna", at=_later(3))
    assert refused.value.reason == "unacknowledged"
    assert _stands(calls.acknowledge(ID, "Berta", at=_later(4))) == ("taken", "urgent", "Anna", None)
    _turn(records, 3, "urgent", minutes=5)
    assert calls.write(ID, "Anna", "Bitte 112 anrufen", at=_later(6)).since is None  # who answers has seen it


def _acknowledge(calls: SqlCalls) -> object:
    return calls.acknowledge(ID, "Anna", at=NOW)


def _take(calls: SqlCalls) -> object:
    return calls.take(ID, "Anna", at=NOW)


def _write(calls: SqlCalls) -> object:
    return calls.write(ID, "Anna", "Hallo", at=NOW)


def _hand_back(calls: SqlCalls) -> object:
    return calls.hand_back(ID, "Anna", at=NOW)


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


def test_a_call_that_nobody_took_is_closed_and_the_patient_is_told(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _acknowledge(calls)
    _hand_back(calls)

    assert [(each.name, each.what) for each in calls.actions(ID)] == [("Anna", "acknowledge"), ("Anna", "close")]
    assert [each.what for each in calls.not_shown(ID)] == ["close"]


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
    calls.note(call, what="told", at=_later(9), told=1, contact=1)  # it was on its way: that stays in the record
    assert [(each.name, each.what) for each in calls.actions(ID)] == [("Anna", "acknowledge"), ("contact 1", "told")]


def test_in_the_inbox_urgent_calls_come_first_and_those_that_wait_before_all(
    records: SqlRecords, calls: SqlCalls
) -> None:
    seen, early, late, taken = ids = [f"{number}" * 32 for number in range(1, 5)]
    for minutes, id_ in enumerate(ids, 1):
        records.begin(StoredConversation(id_, NOW, "de", "api"))
        _turn(records, 1, "urgent" if id_ == seen else "asked", minutes=minutes, id_=id_)
    calls.acknowledge(seen, "Berta", at=_later(9))
    _turn(records, 1, "urgent", minutes=10)
    calls.take(taken, "Anna", at=_later(11))

    assert [call.conversation for call in calls.open()] == [ID, seen, early, late, taken]
    tally = calls.tally()
    assert tally.by_state == {"waiting": 3, "acknowledged": 1, "taken": 1}
    assert tally.oldest_s(_later(12)) == 600.0


def test_what_nobody_answers_while_somebody_has_the_call_waits_and_is_counted(
    records: SqlRecords, calls: SqlCalls
) -> None:
    _turn(records, 1, "asked")
    calls.take(ID, "Anna", at=_later(1))
    _turn(records, 2, "message", minutes=2)
    _turn(records, 3, "message", minutes=3)

    (call,) = calls.unacknowledged(at=_later(4))
    assert (call.since, call.unanswered, call.pressing, call.at_once) == (_later(2), 2, "message", False)
    assert calls.write(ID, "Anna", "Ja?", at=_later(4)).unanswered == 0
    _turn(records, 4, "message", minutes=5)
    assert calls.acknowledge(ID, "Anna", at=_later(6)).since is None
    _turn(records, 5, "message", minutes=7)
    _turn(records, 6, "asked", minutes=8)
    (call,) = calls.unacknowledged(at=_later(8))
    assert (call.since, call.rings, call.unanswered, call.at_once) == (_later(7), _later(8), 2, True)
    assert calls.hand_back(ID, "Anna", at=_later(9)).state == "returned"  # nothing urgent is left
    assert calls.unacknowledged(at=_later(99)) == []
    _turn(records, 7, "message", minutes=10)  # it was on its way
    assert calls.unacknowledged(at=_later(99)) == []


def test_only_who_has_taken_a_call_writes_or_hands_it_back(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _take(calls)

    for done in (lambda: calls.write(ID, "Berta", "Hallo", at=NOW), lambda: calls.hand_back(ID, "Berta", at=NOW)):
        with pytest.raises(CallRefused, match="Anna has taken this conversation"):
            done()
    assert [each.what for each in calls.actions(ID)] == ["take"]


def test_a_colleague_goes_on_with_what_nobody_has_answered(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _take(calls)
    _turn(records, 2, "message", minutes=1)
    for wrong in ("", "Carla"):
        with pytest.raises(CallRefused, match="Anna has taken"):
            calls.take(ID, "Berta", at=_later(9), from_=wrong)

    call = calls.take(ID, "Berta", at=_later(9), from_="Anna")

    assert (call.name, call.since, call.rings, call.unanswered) == ("Berta", _later(1), _later(9), 1)
    assert [(each.name, each.what) for each in calls.actions(ID)] == [("Anna", "take"), ("Berta", "take")]
    with pytest.raises(CallRefused, match="Berta has taken"):
        _write(calls)
    with pytest.raises(CallRefused):  # two who follow the same person: the second is told of the first
        calls.take(ID, "Carla", at=_later(9), from_="Anna")


def test_an_urgent_turn_is_seen_by_who_takes_the_call_from_another(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    _take(calls)
    _turn(records, 2, "urgent", minutes=1)

    call = calls.take(ID, "Berta", at=_later(2), from_="Anna")

    assert (call.pressing, call.kind, call.unanswered) == ("message", "urgent", 1)
    assert calls.hand_back(ID, "Berta", at=_later(3)).state == "returned"


def test_who_has_left_is_written_to_no_more(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "urgent")
    records.close_session(ID)

    assert [call.patient_left for call in calls.open()] == [True]
    assert calls.take(ID, "Anna", at=NOW).patient_left
    with pytest.raises(CallRefused, match="reads nothing any more") as refused:
        _write(calls)
    assert refused.value.reason == "left"
    assert calls.hand_back(ID, "Anna", at=NOW).state == "returned"


def test_an_urgent_call_that_its_patient_deleted_leaves_that_and_no_more(
    records: SqlRecords, calls: SqlCalls, caplog: pytest.LogCaptureFixture
) -> None:
    _turn(records, 1, "urgent")

    records.erase(ID, by_patient_at=_later(3))

    (gone,) = calls.deleted(at=_later(4))
    assert (gone.pseudonym, gone.kind, gone.at, gone.since) == (pseudonym(ID), "urgent", _later(3), NOW)
    assert "a patient deleted an urgent call before anybody saw it" in caplog.messages
    assert calls.tally().deleted == 1
    with pytest.raises(CallRefused, match="The patient has deleted this conversation"):
        _take(calls)
    assert calls.hold_deleted(gone, at=_later(4), until=_later(5))
    assert not calls.hold_deleted(gone, at=_later(4), until=_later(5))
    assert calls.deleted(at=_later(4)) == []
    calls.note_deleted(gone)
    assert calls.deleted(at=_later(9)) == []


def test_the_language_of_a_call_is_that_which_its_patient_has_changed_to(records: SqlRecords, calls: SqlCalls) -> None:
    _turn(records, 1, "asked")
    exchange = Exchange(2, "t2", "/english", "{}", "{}")
    records.add_turn(StoredTurn(ID, NOW, "en", "/english", "talk", None, 0.0, "small@1", exchange), call="language")

    call = calls.call(ID)
    assert call is not None
    assert (call.language, call.state, call.unanswered) == ("en", "waiting", 0)


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
    calls.note(call, what="told", at=NOW, told=1, contact=1)  # a contact was being told meanwhile
    assert calls.actions(ID) == []
