"""The inbox in both databases: encrypted, no longer there than its turns, decided once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.sql_encryption import rekey
from bot.adapters.sql_inbox import SqlInbox
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_retention import SqlRetention
from bot.adapters.sql_tables import use_cipher
from bot.adapters.sql_workbench import SqlWorkbench
from bot.adapters.text_cipher import TextCipher, new_key
from bot.editorial.inbox import Decided, Decision, Sorted, Wanted, named_as_before
from bot.editorial.people import Person
from bot.editorial.workbench import Draft, Origin, text_digest
from bot.outbox_ports import pseudonym
from bot.settings import Retention
from tests.bot.adapters.stored import in_files
from tests.bot.web.staff.asking import ask
from tests.postgresql import emptied

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
OLD = NOW - timedelta(days=200)
CARA = Person(1, "cara", "Cara", frozenset({"curator"}))
PLACED = Sorted(1, 0, "pain", 0.4)


@pytest.fixture(params=["sqlite", "postgresql"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlRecords]:
    on_server = request.param == "postgresql"
    url = emptied(request.getfixturevalue("postgresql")) if on_server else f"sqlite:///{tmp_path / 'k.db'}"
    opened = SqlRecords.open(url)
    yield opened
    opened.close()


def _filled(records: SqlRecords, *ids: str, at: datetime = NOW) -> SqlInbox:
    inbox = SqlInbox(records.engine)
    for id_ in ids:
        ask(records, id_, f"asked by {id_}", at=at)
    missing = inbox.missing(before=NOW, most=100)
    assert inbox.add([(each, f"scrubbed {each.question}", PLACED) for each in missing]) == len(ids)
    return inbox


def test_a_turn_comes_in_once_and_goes_with_its_conversation(records: SqlRecords) -> None:
    inbox = _filled(records, "c1", "c2")
    assert inbox.missing(before=NOW, most=100) == []

    records.erase("c1")

    (left,) = inbox.items(sorted(inbox.numbers()))
    assert (left.text, left.pair, left.state) == ("scrubbed asked by c2", "pain", "open")


def test_a_question_that_is_kept_without_its_conversation_stays_and_tells_the_day_only(records: SqlRecords) -> None:
    inbox = _filled(records, "c1", at=OLD)

    SqlRetention(records.engine).purge(Retention(questions=300).cutoffs(NOW))

    (left,) = inbox.items(sorted(inbox.numbers()))
    assert left.at == OLD.replace(hour=0, minute=0)
    assert inbox.pseudonyms([left.id]) == {}
    SqlRetention(records.engine).purge(Retention(questions=100).cutoffs(NOW))
    assert inbox.numbers() == frozenset()


@pytest.mark.parametrize("why", ["erased", "purged"])
def test_texts_that_were_made_of_a_conversation_are_named_once_it_is_gone(records: SqlRecords, why: str) -> None:
    inbox, workbench = _filled(records, "c1", "c2", at=OLD), SqlWorkbench(records.engine)
    origins = [Origin("small", "en", "pain", text_digest(id_), pseudonym(id_)) for id_ in ("c1", "elsewhere")]
    workbench.save(Draft("small", "en", "pain", {"id": "pain"}), by=CARA, now=NOW, origins=origins)
    assert inbox.lost() == []

    if why == "erased":
        records.erase("c1")
    else:
        SqlRetention(records.engine).purge(Retention().cutoffs(NOW))

    (lost,) = inbox.lost()
    assert (lost.origin, lost.why) == (origins[0], why)
    inbox.keep(lost.id, by=CARA, now=NOW)
    assert inbox.lost() == []


def test_a_decision_is_stored_whole_or_not_at_all_and_taken_back_whole(records: SqlRecords) -> None:
    inbox = _filled(records, "c1", "c2", "c3")
    first, second, third = sorted(inbox.numbers())
    inbox.decide(Decision("staff", "b1", [first, second], note="who knows?"), by=CARA, now=NOW)

    with pytest.raises(Decided):
        inbox.decide(Decision("done", "b2", [third, first]), by=CARA, now=NOW)

    assert [each.state for each in inbox.items([first, second, third])] == ["staff", "staff", "open"]
    assert inbox.last_batch("Cara") == "b1"
    undone = inbox.undo("b1", by=CARA, now=NOW)
    assert undone is not None
    assert undone.items == (first, second)
    assert inbox.undo("b1", by=CARA, now=NOW) is None
    assert {(each.state, each.note) for each in inbox.items([first, second])} == {("open", "")}
    assert len(inbox.rows(Wanted())) == 3


def test_scrubbed_texts_are_encrypted_and_get_the_new_key(tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}", TextCipher.of(old))
    inbox = _filled(records, "c1")
    records.close()
    assert in_files(tmp_path, "scrubbed") == []

    again = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}", TextCipher.of(old))
    engine = again.engine
    use_cipher(engine, None)  # type: ignore[arg-type]  # it sees what is stored
    rekey(engine, TextCipher.of(f"{new},{old}"))
    again.close()

    opened = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}", TextCipher.of(new))
    inbox = SqlInbox(opened.engine)
    assert [each.text for each in inbox.items(sorted(inbox.numbers()))] == ["scrubbed asked by c1"]
    opened.close()


def test_clusters_keep_their_numbers_when_they_grow_split_and_join() -> None:
    before = {1: 7, 2: 7, 3: 7, 4: 8, 5: 0}

    assert named_as_before([[1, 2, 3, 5], [4]], before) == [7, 8]
    assert named_as_before([[3], [1, 2], [4]], before) == [9, 7, 8]
    assert named_as_before([[4, 1, 2, 3]], before) == [7]
    assert named_as_before([[5], [6]], {}) == [1, 2]
