"""What is too old goes, all of it and nothing else, while patients go on writing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.adapters.audit_log import AuditLog
from bot.adapters.blind_keys import BlindKeys
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.adapters.sql_retention import SqlRetention
from bot.adapters.summary_folders import SummaryFolders
from bot.errors import Erased, Unreachable
from bot.ports import Exchange, Purged, StoredConversation, StoredFlag, StoredTurn
from bot.settings import Retention
from tests.bot.adapters.stored import fill, in_files, in_rows, texts_of
from tests.postgresql import emptied

NOW = datetime(2026, 11, 22, 5, 30, tzinfo=UTC)
OLD, YOUNG = NOW - timedelta(days=31), NOW - timedelta(days=29)
USUAL = Retention().cutoffs(NOW)
WORD = "Hinterhuber"


@pytest.fixture
def records(url: str) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url)
    yield opened
    opened.close()


def _sent(records: SqlRecords, at: datetime) -> None:
    """Let a server take everything that waits."""
    outbox = SqlOutbox(records.engine)
    while (claimed := outbox.claim(at=at)) is not None:
        outbox.accept(claimed, at=at)


def test_an_old_conversation_goes_with_all_that_is_in_it_and_a_young_one_stays(records: SqlRecords) -> None:
    fill(records, "old", at=OLD, word=WORD)
    fill(records, "young", at=YOUNG, word="Xaverl")
    _sent(records, OLD)
    before = texts_of(records, "young")
    expected = Purged(conversations=1, sent=1)

    assert SqlRetention(records.engine).purge(USUAL, dry_run=True) == expected
    assert WORD in texts_of(records, "old")[0]
    assert SqlRetention(records.engine).purge(USUAL) == expected
    assert SqlRetention(records.engine).purge(USUAL) == Purged()

    assert in_rows(records.engine, WORD) == in_rows(records.engine, "old") == []
    assert texts_of(records, "young") == before
    with pytest.raises(Erased, match="deleted"):
        records.add_turn(
            StoredTurn("old", NOW, "de", "?", "talk", None, 0.0, "s@1", Exchange(2, "t2", "?", "{}", "{}"))
        )


def test_nothing_is_left_in_the_files_of_sqlite_while_others_have_them_open(tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}")
    fill(records, "old", at=OLD, word=WORD)
    fill(records, "young", at=YOUNG, word="Xaverl")
    _sent(records, OLD)
    other = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}")
    assert other.turns("young")
    assert in_files(tmp_path, WORD) != []

    purged = SqlRetention(records.engine).purge(USUAL)

    assert not purged.residue
    assert in_files(tmp_path, WORD) == []
    assert in_files(tmp_path, "Xaverl") != []
    other.close()
    records.close()


@pytest.mark.proof
def test_residue_is_reported_while_somebody_reads_all_the_time(tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}?timeout=0.1")
    fill(records, "old", at=OLD, word=WORD)
    _sent(records, OLD)
    with records.engine.connect() as reader:
        reader.exec_driver_sql("BEGIN")
        reader.execute(text("select * from turns")).all()
        retention = SqlRetention(records.engine)
        assert retention.purge(USUAL).residue

    assert not retention.purge(USUAL).residue
    assert in_files(tmp_path, WORD) == []
    records.close()


def test_what_was_never_sent_is_reported_and_kept(records: SqlRecords) -> None:
    fill(records, "old", at=OLD, word=WORD)

    assert SqlRetention(records.engine).purge(USUAL) == Purged(conversations=1, unsent_kept=1)

    assert in_rows(records.engine, WORD) == ["outbox.bundle"]
    assert SqlOutbox(records.engine).waiting() == 1
    _sent(records, NOW)
    assert SqlRetention(records.engine).purge(Retention().cutoffs(NOW + timedelta(days=31))) == Purged(sent=1)


def test_one_word_now_keeps_an_old_conversation(records: SqlRecords) -> None:
    fill(records, "c1", at=OLD, word=WORD)
    records.add_turn(StoredTurn("c1", NOW, "de", "?", "talk", None, 0.0, "s@1", Exchange(2, "t2", "?", "{}", "{}")))
    _sent(records, OLD)

    purged = SqlRetention(records.engine).purge(USUAL)

    # Typed answers and comments have a time of their own; that it was sent is known as long as the conversation is.
    assert purged == Purged(comments=1, interviews=1)
    assert records.flags("c1") == [StoredFlag("t1", "wrong", "", OLD)]
    assert SqlInterviews(records.engine).interview("c1") is None
    assert len(records.turns("c1")) == 2


def test_questions_outlive_their_conversation_only_if_somebody_wants_them_to(records: SqlRecords) -> None:
    fill(records, "declined", at=OLD, word="Quark")
    fill(records, "answered", at=OLD, word="weh", decision="answered")  # and flagged
    records.begin(StoredConversation("fine", OLD, "de", "api"))
    exchange = Exchange(1, "t1", "Dauer?", "{}", "{}")
    records.add_turn(StoredTurn("fine", OLD, "de", "Dauer?", "answered", "duration", 0.9, "s@1", exchange))
    _sent(records, OLD)
    cutoffs = Retention(questions=90).cutoffs(NOW)

    assert SqlRetention(records.engine).purge(cutoffs, dry_run=True).questions_detached == 2
    purged = SqlRetention(records.engine).purge(cutoffs)

    assert purged == Purged(conversations=3, questions_detached=2, sent=2)
    kept = records.open_questions()
    assert [(turn.conversation, turn.question, turn.exchange) for turn in kept] == [
        ("", "asked Quark", None),
        ("", "asked weh", None),
    ]
    assert {turn.at for turn in kept} == {OLD.replace(hour=0, minute=0)}
    assert in_rows(records.engine, "said") == in_rows(records.engine, "comment Quark") == []
    assert SqlRetention(records.engine).purge(cutoffs) == Purged()

    later = Retention(questions=90).cutoffs(NOW + timedelta(days=60))
    assert SqlRetention(records.engine).purge(later) == Purged(questions=2)
    assert records.open_questions() == []


def test_turns_of_the_first_version_without_a_conversation_go_too(records: SqlRecords) -> None:
    for at in (OLD, YOUNG):
        records.add_turn(StoredTurn(f"c{at.day}", at, "de", "Quark?", "declined", None, 0.0, "s@1"))

    assert SqlRetention(records.engine).purge(USUAL) == Purged(conversations=1)

    assert [turn.at for turn in records.open_questions()] == [YOUNG]


@pytest.mark.proof
def test_many_conversations_go_while_patients_write_and_nobody_loses_a_turn(records: SqlRecords) -> None:
    old = [f"c{number}" for number in range(450)]
    with records.engine.begin() as connection:
        rows = [{"id": id_, "at": OLD.strftime("%Y-%m-%d %H:%M:%S.000000")} for id_ in old]
        connection.execute(
            text(
                "INSERT INTO conversations (id, begun, language, channel, consented) VALUES (:id, :at, 'de', 'api', true)"
            ),
            rows,
        )
    stored, erased = [], []

    def write(first: int) -> None:
        for id_ in old[first::9]:
            turn = StoredTurn(id_, NOW, "de", "?", "talk", None, 0.0, "s@1", Exchange(1, "t1", "?", "{}", "{}"))
            try:
                records.add_turn(turn)
                stored.append(id_)
            except Erased:
                erased.append(id_)

    threads = [threading.Thread(target=write, args=[first]) for first in (0, 1)]
    for thread in threads:
        thread.start()
    purged = SqlRetention(records.engine).purge(USUAL)
    for thread in threads:
        thread.join()

    assert len(stored) + len(erased) == 100
    assert all(records.last_turn(id_) and records.conversation(id_) for id_ in stored)
    assert not any(records.turns(id_) for id_ in erased)
    assert purged.conversations == 450 - len(stored)


def test_each_kind_has_its_own_days() -> None:
    cutoffs = Retention(conversations=1, questions=2, comments=3, interviews=4, sent=5).cutoffs(NOW)

    assert [NOW - getattr(cutoffs, name) for name in type(cutoffs).__slots__] == [
        timedelta(days=days) for days in (1, 2, 3, 4, 5)
    ]
    assert cutoffs.questions_stay
    assert not replace(cutoffs, questions=NOW).questions_stay


def test_what_goes_by_age_is_told_to_the_audit_log_in_time(records: SqlRecords, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl", BlindKeys.derived([b"key"]))
    fill(records, "old", at=OLD, word=WORD)
    fill(records, "revived", at=OLD, word="Xaverl")
    _sent(records, OLD)
    again = Exchange(2, "t2", "?", "{}", "{}")
    records.add_turn(StoredTurn("revived", NOW, "de", "?", "talk", None, 0.0, "s@1", again))

    SqlRetention(records.engine, log).purge(USUAL, dry_run=True)
    assert not log.path.exists()
    SqlRetention(records.engine, log).purge(USUAL)

    gone, rest = log.read().lines
    assert (gone.actor, gone.action, gone.counts) == ("retention", "purge", {"conversations": 1})
    assert gone.conversations == (log.read().blind(gone.key, "old"),)
    assert rest.counts == {"comments": 1, "interviews": 1, "sent": 1}


def test_processes_that_purge_at_the_same_moment_count_and_note_each_conversation_once(
    postgresql: str, tmp_path: Path
) -> None:
    url, keys = emptied(postgresql), BlindKeys.derived([b"key"])
    opened = [SqlRecords.open(url) for _ in range(3)]
    for number in range(12):
        fill(opened[0], f"old{number}", at=OLD, word=WORD)
    logs = [AuditLog(tmp_path / f"audit-{number}.jsonl", keys) for number in range(3)]

    with ThreadPoolExecutor(3) as pool:
        purged = list(pool.map(lambda one, log: SqlRetention(one.engine, log).purge(USUAL), opened, logs))
    for each in opened:
        each.close()

    assert sorted(each.conversations for each in purged) == [0, 0, 12]
    noted = [line for log in logs for line in log.read().lines if line.conversations]
    assert [len(line.conversations) for line in noted] == [12]


def test_without_the_audit_log_nothing_goes_by_age(records: SqlRecords, tmp_path: Path) -> None:
    fill(records, "old", at=OLD, word=WORD)
    log = AuditLog(tmp_path, BlindKeys.derived([b"key"]))  # a folder

    with pytest.raises(Unreachable, match="nothing was done"):
        SqlRetention(records.engine, log).purge(USUAL)

    assert len(records.turns("old")) == 1
    assert records.conversation("old") is not None


def test_what_models_wrote_about_a_conversation_goes_by_age_with_it(records: SqlRecords, tmp_path: Path) -> None:
    folders = SummaryFolders.in_data(tmp_path / "data", None, lambda _: True)
    log = AuditLog(tmp_path / "audit.jsonl", BlindKeys.derived([b"key"]))
    retention = SqlRetention(records.engine, log, folders)
    fill(records, "old", at=OLD, word=WORD)
    fill(records, "young", at=YOUNG, word="Xaverl")
    folders.claim("summary", ["old"])
    folders.claim("corruption", ["old", "young"])
    folders.claim("summary", ["gone long ago"])
    kept = folders.claim("summary", ["young"])

    assert retention.purge(USUAL, dry_run=True).summaries == 3
    assert len(list(folders.place.iterdir())) == 4
    assert retention.purge(USUAL).summaries == 3

    assert list(folders.place.iterdir()) == [kept]
    assert log.read().lines[-1].counts["summaries"] == 3
    assert retention.purge(USUAL).summaries == 0


def test_what_comes_back_of_a_summary_with_a_backup_goes_again(records: SqlRecords, tmp_path: Path) -> None:
    folders = SummaryFolders.in_data(tmp_path / "data", None, lambda _: True)
    fill(records, "old", at=OLD, word=WORD)
    folders.claim("summary", ["old"])

    assert SqlRetention(records.engine, summaries=folders).purge_again(["old"], USUAL) == 1

    assert list(folders.place.iterdir()) == []
