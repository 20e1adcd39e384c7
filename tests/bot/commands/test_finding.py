"""`klartext records` by patient and moment: found, shown, exported, erased, and erased again after a backup."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from zoneinfo import ZoneInfo

import pytest

from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases
from bot.adapters.sql_staff import SqlCalls
from bot.adapters.summary_folders import SummaryFolders
from bot.adapters.text_cipher import new_key
from bot.outbox_ports import pseudonym
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.release.release import Release
from bot.resources import data_folder
from bot.sentences.reply import Content, Interface, Reply, write_reply
from bot.sentences.shown_texts import text_hash
from bot.settings import Settings
from bot.wiring import make_records
from tests.conftest import Run

KEY = new_key()
NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
HURTS = Content("pain", "answer", "Es kann kurz drücken.")
EASY = Content("pain", "easy_answer", "Es drückt kurz.")
LONG = Content("duration", "answer", "Zehn Minuten.")
Staff = Callable[..., "CompletedProcess[bytes]"]


def _turn(id_: str, number: int, at: datetime, said: str, reply: Reply) -> StoredTurn:
    exchange = Exchange(number, f"t{number}", said, write_reply(reply), "{}")
    return StoredTurn(id_, at, "de", said, "answered", "pain", 0.9, "small@1", exchange)


def _fill(records: SqlRecords) -> None:
    conversations = [("a" * 32, "pat-anna", NOW - DAY), ("b" * 32, "pat-anna", NOW), ("c" * 32, "pat-berta", NOW)]
    for id_, patient, begun in conversations:
        records.begin(StoredConversation(id_, begun, "de", "page", secret_hash="x", consented=True, patient=patient))
    hello = Interface("hello", "Guten Tag.")
    records.add_turn(_turn("a" * 32, 1, NOW - DAY, "tut das weh?", Reply("de", (hello, HURTS))))
    records.add_turn(
        _turn("a" * 32, 2, NOW - DAY + 30 * MINUTE, "einfacher", Reply("de", (EASY,), (LONG,))), call="asked"
    )
    records.add_turn(_turn("b" * 32, 1, NOW, "wie lange?", Reply("de", (LONG,))))
    records.add_turn(_turn("c" * 32, 1, NOW + MINUTE, "Schmerzen?", Reply("de", (HURTS,))))
    calls = SqlCalls(records.engine)
    calls.take("a" * 32, "Frau Roth", at=NOW - DAY + 31 * MINUTE)
    calls.write("a" * 32, "Frau Roth", "Ich rufe Sie an.", at=NOW - DAY + 32 * MINUTE)


@pytest.fixture
def environ(request: pytest.FixtureRequest) -> dict[str, str]:
    """Texts are encrypted, which is the harder way, unless a test asks for plain ones."""
    keys = {"KLARTEXT_TEXT_KEY": KEY} if getattr(request, "param", "encrypted") == "encrypted" else {}
    return {"KLARTEXT_DATABASE_URL": "", "KLARTEXT_SEAL_KEY": "a key of the installation", "TZ": "UTC", **keys}


@pytest.fixture
def filled(tmp_path: Path, environ: dict[str, str]) -> Iterator[SqlRecords]:
    settings = Settings.from_environment(environ, data=tmp_path)
    records = make_records(settings)
    assert isinstance(records, SqlRecords)
    _fill(records)
    yield records
    records.close()


@pytest.fixture
def staff(klartext: Run, tmp_path: Path, environ: dict[str, str], filled: SqlRecords) -> Staff:
    del filled  # it is there before anybody asks for it

    def run(*args: str | Path, **more: str) -> CompletedProcess[bytes]:
        return klartext(*args, "--data", tmp_path, environ={**environ, **more})

    return run


@pytest.mark.parametrize("environ", ["plain", "encrypted"], indirect=True)
def test_one_command_says_what_a_patient_was_shown_at_a_moment(staff: Staff) -> None:
    moment = f"{NOW - DAY + 29 * MINUTE:%Y-%m-%d %H:%M}"

    done = staff("records", "find", "--patient", "pat-anna", "--at", moment, "--show")

    assert done.returncode == 0, done.stderr
    at = NOW - DAY + 30 * MINUTE
    easy, long = (text_hash(part.text)[:12] for part in (EASY, LONG))
    assert done.stdout.decode().splitlines() == [
        f"{'a' * 32}  {NOW - DAY:%Y-%m-%d %H:%M} UTC  {at:%Y-%m-%d %H:%M} UTC  page      de  2 turns",
        f"  {at:%Y-%m-%d %H:%M:%S} UTC  wrote: einfacher",
        "    of no release",
        f"    shown: [pain@{easy} easy_answer] Es drückt kurz.",
        f"    choice 1: [duration@{long} answer] Zehn Minuten.",
        f"  {at + MINUTE:%Y-%m-%d %H:%M:%S} UTC  staff (Frau Roth): take",
        f"  {at + 2 * MINUTE:%Y-%m-%d %H:%M:%S} UTC  staff (Frau Roth): Ich rufe Sie an.",
        "1 conversation",
    ]


def test_without_show_nothing_is_printed_that_anybody_wrote(staff: Staff) -> None:
    listed = staff("records", "find", "--patient", "pat-anna")
    as_json = staff("records", "find", "--pseudonym", pseudonym("b" * 32), "--json")
    shown = staff("records", "find", "--pseudonym", pseudonym("b" * 32), "--json", "--show")

    assert [line.split()[0][:3] for line in listed.stdout.decode().splitlines()] == ["aaa", "bbb", "2"]
    assert not re.search("weh|lange|drück", listed.stdout.decode() + as_json.stdout.decode())
    (found,) = json.loads(as_json.stdout)
    assert found == {
        "id": "b" * 32,
        "in_logs": pseudonym("b" * 32),
        "begun": NOW.isoformat(),
        "last_turn": NOW.isoformat(),
        "channel": "page",
        "language": "de",
        "turns": 1,
    }
    (turn,) = json.loads(shown.stdout)[0]["told"]
    assert (turn["said"], turn["shown"][0]["hash"]) == ("wie lange?", text_hash("Zehn Minuten."))


def test_a_moment_is_of_the_place_and_the_nearest_turn_is_told_where_none_fits(staff: Staff, tmp_path: Path) -> None:
    far = f"{NOW + 2 * DAY:%Y-%m-%dT%H:%M}"

    missed = staff("records", "find", "--patient", "pat-anna", "--at", far)
    wider = staff("records", "find", "--patient", "pat-anna", "--at", far, "--window", str(2 * 24 * 60))
    elsewhere = f"{NOW.astimezone():%Y-%m-%d %H:%M}"
    here = staff("records", "find", "--at", elsewhere)
    zoned = staff("records", "find", "--at", f"{NOW - DAY - MINUTE:%Y-%m-%dT%H:%M}+00:00", TZ="Asia/Tokyo")
    site = tmp_path / "site.yaml"
    place = (data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8")
    site.write_text(place.replace("Europe/Berlin", "Asia/Tokyo"), encoding="utf-8")
    in_tokyo = f"{(NOW - DAY).astimezone(ZoneInfo('Asia/Tokyo')):%Y-%m-%d %H:%M}"
    of_site = staff("records", "find", "--at", in_tokyo, KLARTEXT_SITE=str(site))

    assert missed.stdout == b"0 conversations\n"
    assert f"of {NOW:%Y-%m-%d %H:%M} UTC: see `--window`" in missed.stderr.decode()
    assert wider.stdout.decode().startswith("b" * 32)
    assert here.stdout.decode().splitlines()[-1] == "2 conversations"
    assert zoned.stdout.decode().splitlines()[-1] == "1 conversation"
    assert (of_site.returncode, of_site.stdout.decode().split()[:4]) == (0, ["a" * 32, *in_tokyo.split(), "JST"])


def test_a_text_is_called_back_from_everybody_it_was_shown_to(staff: Staff) -> None:
    texts = staff("records", "find", "--shown", "pain")
    name = texts.stdout.decode().split()[0]
    to_whom = staff("records", "find", "--shown", name)
    of_one = staff("records", "find", "--shown", name, "--patient", "pat-anna", "--json")
    none = staff("records", "find", "--shown", "pain@" + "0" * 12)

    assert [line.split()[:4] for line in texts.stdout.decode().splitlines()] == [
        [f"pain@{text_hash(HURTS.text)[:12]}", "answer", "de", "2"],
        [f"pain@{text_hash(EASY.text)[:12]}", "easy_answer", "de", "1"],
        ["2", "texts", "of", "'pain'"],
    ]
    assert [line.split()[0][0] for line in to_whom.stdout.decode().splitlines()[:-1]] == ["a", "c"]
    assert f"patient pat-berta  shown 1 time, first {NOW + MINUTE:%Y-%m-%d %H:%M}" in to_whom.stdout.decode()
    (found,) = json.loads(of_one.stdout)
    assert (found["patient"], found["shown_at"]) == ("pat-anna", [(NOW - DAY).isoformat()])
    assert (none.returncode, none.stdout) == (2, b"")
    known = f"{name} (answer, de), pain@{text_hash(EASY.text)[:12]} (easy_answer, de)"
    said = f"klartext: No text pain@000000000000 was ever shown here. Of this pair were: {known}."
    assert none.stderr.decode().splitlines()[-1] == said


@pytest.mark.parametrize("asked", ["pian", "pian@" + "0" * 12])
def test_a_pair_that_there_never_was_is_refused_with_the_nearest(staff: Staff, asked: str) -> None:
    none = staff("records", "find", "--shown", asked)

    assert (none.returncode, none.stdout) == (2, b"")
    said = "klartext: No pair 'pian' was ever shown here. The nearest: pain. See `klartext qa list`."
    assert none.stderr.decode().splitlines()[-1] == said


def test_what_was_shown_names_its_release_and_who_approved_each_text(staff: Staff, filled: SqlRecords) -> None:
    approved = {
        "pair pain de": {"by": "Dr. Anna Berg, Dr. Bert Tal", "on": "2026-11-20"},
        "sentences de": {"by": "Dr. Cara Roth, Dr. Anna Berg", "on": "2026-11-19"},
    }
    manifest = json.dumps({"exam": "small", "shown": {"de": ["pain", "costs"]}, "approved": approved})
    releases = SqlReleases(filled.engine)
    made = releases.add(lambda number: Release(number, NOW, "Anna", "", manifest, ""), b"")
    reply = Reply("de", (Interface("hello", "Guten Tag."), HURTS))
    turn = replace(_turn("c" * 32, 2, NOW + 5 * MINUTE, "und jetzt?", reply), release=made.name)
    filled.add_turn(turn)

    shown = staff("records", "find", "--patient", "pat-berta", "--show").stdout.decode().splitlines()
    (found,) = json.loads(staff("records", "find", "--patient", "pat-berta", "--show", "--json").stdout)

    assert shown[-6:-1] == [
        f"    of release {made.number}@{made.hash[:12]}",
        "    shown: Guten Tag.",
        "      approved by Dr. Cara Roth, Dr. Anna Berg on 2026-11-19",
        f"    shown: [pain@{text_hash(HURTS.text)[:12]} answer] Es kann kurz drücken.",
        "      approved by Dr. Anna Berg, Dr. Bert Tal on 2026-11-20",
    ]
    assert found["told"][1]["release"] == made.name
    assert found["told"][1]["shown"][1]["approved"] == approved["pair pain de"]
    # Nobody has seen this pair yet: that is an answer, not a mistake.
    assert staff("records", "find", "--shown", "costs").stdout == b"0 texts of 'costs' were shown\n"


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["find"], "Say what to find: `--patient`, `--at`, `--pseudonym`, `--exam` or `--shown`."),
        (["find", "--at", "gestern"], "--at is 'gestern', which is no moment."),
        (["find", "--shown", "pain@123"], "--shown is 'pain@123'. Write PAIR, or PAIR@HASH with at least 12"),
        (["export", "--out", "x.json"], "Name either a conversation by its id, or a patient with `--patient`."),
        (["erase", "x", "--patient", "y"], "Name either a conversation by its id, or a patient with `--patient`."),
        (["erase", "--patient", "nobody"], "There is no conversation of this patient in the database."),
        (["audit"], "There is no audit log "),
        (["erase-again"], "There is no audit log "),
        (["audit", "--since", "neulich"], "--since is 'neulich', which is no moment."),
    ],
)
def test_bad_input_ends_in_one_line(staff: Staff, args: list[str], problem: str) -> None:
    done = staff("records", *args)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"klartext: {problem}")
    assert len(done.stderr.splitlines()) == 1


def test_all_of_a_patient_is_exported_and_erased(staff: Staff, filled: SqlRecords, tmp_path: Path) -> None:
    out = tmp_path / "anna.json"

    exported = staff("records", "export", "--patient", "pat-anna", "--out", out)
    dry = staff("records", "erase", "--patient", "pat-anna", "--dry-run")
    still = len(filled.turns("a" * 32))
    erased = staff("records", "erase", "--patient", "pat-anna")

    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["patient"], [each["id"][0] for each in found["conversations"]]) == ("pat-anna", ["a", "b"])
    assert out.stat().st_mode & 0o777 == 0o600
    assert exported.stdout.decode().startswith(f"{out}: 2 conversations\n  2 turns, ")
    assert dry.stdout.decode().splitlines()[-1] == "2 conversations would be erased"
    assert dry.stdout.decode().startswith(f"would erase {pseudonym('a' * 32)}: 2 turns, ")
    assert still == 2
    assert erased.stdout.decode().splitlines()[-1] == "2 conversations erased"
    assert [filled.conversation(letter * 32) is None for letter in "abc"] == [True, True, False]


def test_who_did_what_stands_in_the_log_without_any_name_of_patients(staff: Staff, tmp_path: Path) -> None:
    staff("records", "find", "--patient", "pat-anna")
    staff("records", "export", "b" * 32, "--out", tmp_path / "b.json")
    staff("records", "erase", "--patient", "pat-anna", "--dry-run")
    staff("records", "erase", "--patient", "pat-anna")

    printed = staff("records", "audit", "--json")
    since = staff("records", "audit", "--since", f"{datetime.now(UTC) + DAY:%Y-%m-%d}")
    whole = staff("records", "audit", "--verify")
    log = tmp_path / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"export"', b'"looked"'))
    broken = staff("records", "audit", "--verify", "--json")

    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    assert [(each["action"], each["counts"]["conversations"]) for each in lines] == [
        ("find", 2),
        ("export", 1),
        ("erase", 2),
    ]
    assert lines[0]["patient"] == lines[2]["patient"] != ""
    assert lines[0]["conversations"] == lines[2]["conversations"]
    assert not re.search("pat-anna|a{32}|b{32}", log.read_text(encoding="utf-8"))
    assert log.stat().st_mode & 0o777 == 0o600
    assert since.stdout == b""
    assert (whole.returncode, whole.stdout[:15]) == (0, b"whole: 3 lines,")
    assert broken.returncode == 1
    assert [each["line"] for each in json.loads(broken.stdout)["flaws"]] == [2, 3]
    assert broken.stderr.startswith(b"klartext: the audit log is broken at line 2: its MAC is wrong")


def test_what_was_erased_does_not_come_back_with_a_backup(staff: Staff, filled: SqlRecords, tmp_path: Path) -> None:
    old = StoredConversation("d" * 32, NOW - 40 * DAY, "de", "page", patient="pat-clara")
    filled.begin(old)
    filled.close()
    summaries = SummaryFolders.in_data(tmp_path, None, lambda _: True)
    for letter in "acd":
        summaries.claim("summary", [letter * 32])
    shutil.copy(tmp_path / "klartext.db", tmp_path / "backup")
    shutil.copytree(summaries.place, tmp_path / "summaries-backup")
    staff("purge")
    staff("records", "erase", "--patient", "pat-anna")

    for path in tmp_path.glob("klartext.db*"):
        path.unlink()
    assert len(list(summaries.place.iterdir())) == 1
    shutil.copy(tmp_path / "backup", tmp_path / "klartext.db")
    shutil.copytree(tmp_path / "summaries-backup", summaries.place, dirs_exist_ok=True)
    dry = staff("records", "erase-again", "--dry-run")
    back = staff("records", "find", "--patient", "pat-anna")
    done = staff("records", "erase-again")
    again = staff("records", "erase-again")
    left = staff("records", "find", "--at", f"{NOW:%Y-%m-%d}", "--window", "100000")

    names = {pseudonym(letter * 32) for letter in "abd"}
    assert {line.split()[-1] for line in dry.stdout.decode().splitlines()[:-1]} == names
    assert back.stdout.decode().splitlines()[-1] == "2 conversations"
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)  # on which database
    assert done.stdout.decode().splitlines()[-1] == "2 erased before by patients or staff, 1 by age"
    assert again.stdout == b"0 erased before by patients or staff, 0 by age\n"
    assert [each.name for each in summaries.place.iterdir()] == [f"summary-{pseudonym('c' * 32)}"]
    assert [line.split()[0] for line in left.stdout.decode().splitlines()] == ["c" * 32, "1"]
    assert staff("records", "audit", "--verify").returncode == 0


@pytest.mark.proof
def test_a_new_key_rebuilds_the_index_and_leaves_the_log_readable(
    staff: Staff, filled: SqlRecords, tmp_path: Path
) -> None:
    new = new_key()
    filled.close()
    shutil.copy(tmp_path / "klartext.db", tmp_path / "backup")
    staff("records", "erase", "--patient", "pat-berta")

    staff("records", "rekey", KLARTEXT_TEXT_KEY=f"{new},{KEY}")
    found = staff("records", "find", "--patient", "pat-anna", KLARTEXT_TEXT_KEY=new)
    with closing(sqlite3.connect(tmp_path / "klartext.db")) as connection:
        blinds = connection.execute("SELECT DISTINCT patient_blind FROM conversations").fetchall()
    shutil.copy(tmp_path / "backup", tmp_path / "klartext.db")
    staff("records", "rekey", KLARTEXT_TEXT_KEY=f"{new},{KEY}")
    again = staff("records", "erase-again", KLARTEXT_TEXT_KEY=new)

    assert found.stdout.decode().splitlines()[-1] == "2 conversations"
    assert len(blinds) == 1
    assert (again.returncode, again.stdout.decode().splitlines()[-1]) == (
        0,
        "1 erased before by patients or staff, 0 by age",
    )
