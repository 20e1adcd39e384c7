"""What lies in the data folder is for its owner only."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import Assistant, Settings
from bot.adapters.sql_records import SqlRecords
from bot.ports import StoredConversation
from bot.private_files import installation_key
from bot.testing import HashEncoder, write_small_catalog
from bot.wiring import make_records


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _modes(folder: Path) -> dict[str, str]:
    """Return what is open to others, by name."""
    found = {str(path.relative_to(folder.parent)): path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}
    return {name: oct(mode) for name, mode in found.items() if mode & 0o077}


def _use(data: Path, catalog: Path) -> SqlRecords:
    """Let everything be written that is written there, and leave the database open."""
    settings = Settings(data=data, seal_key="a-key-that-lies-outside-of-the-data-folder")
    Assistant.open(catalog, settings=settings, encoder=HashEncoder(), sample=True).prepare()
    records = make_records(settings)
    records.begin(StoredConversation(uuid.uuid4().hex, datetime.now(UTC), "de", "api"))
    return records  # type: ignore[return-value]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return write_small_catalog(tmp_path / "catalog", languages=["de"])


def test_everything_that_is_written_is_private(tmp_path: Path, catalog: Path) -> None:
    records = _use(tmp_path / "data", catalog)

    names = {path.name for path in (tmp_path / "data").rglob("*")}
    assert {"klartext.db", "klartext.db-wal", "klartext.db-shm", "chroma.sqlite3", "heads", "catalogs"} <= names
    assert _modes(tmp_path / "data") == {}
    records.close()


def test_what_was_open_before_is_closed(tmp_path: Path, catalog: Path) -> None:
    records = _use(tmp_path / "data", catalog)
    for path in [tmp_path / "data", *(tmp_path / "data").rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    assert len(_modes(tmp_path / "data")) > 10

    again = _use(tmp_path / "data", catalog)

    assert _modes(tmp_path / "data") == {}
    records.close()
    again.close()


def test_a_folder_that_holds_other_things_too_is_left_as_it_was(tmp_path: Path) -> None:
    data = tmp_path / "home"
    data.mkdir(mode=0o755)
    (data / "letter.txt").touch(mode=0o644)
    (data / "klartext.db").touch(mode=0o644)

    Settings(data=data).writable_data()

    modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.iterdir())}
    assert modes == {"home": 0o755, "letter.txt": 0o644, "klartext.db": 0o600}


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "below").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "heads").symlink_to(outside)
    before = outside.stat().st_mode, (outside / "below").stat().st_mode

    Settings(data=tmp_path / "data").writable_data()

    assert (outside.stat().st_mode, (outside / "below").stat().st_mode) == before


def test_a_database_elsewhere_is_private_too(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.db"
    path.touch(mode=0o666)

    SqlRecords.open(f"sqlite:///{path}").close()

    assert path.stat().st_mode & 0o777 == 0o600


def test_a_database_opened_twice_keeps_its_log_when_another_process_leaves(tmp_path: Path) -> None:
    path = tmp_path / "klartext.db"
    first, second = SqlRecords.in_folder(tmp_path), SqlRecords.in_folder(tmp_path)
    now = datetime(2026, 11, 22, tzinfo=UTC)
    first.begin(StoredConversation("c1", now, "de", "api"))
    log = path.with_name("klartext.db-wal")
    before = log.stat().st_ino

    look = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('select * from conversations').fetchall(); c.close()"
    subprocess.run([sys.executable, "-c", look, str(path)], check=True, timeout=60)

    assert log.exists()
    assert log.stat().st_ino == before
    second.begin(StoredConversation("c2", now, "de", "api"))
    first.close()
    second.close()


def test_an_installation_has_a_key_also_where_none_can_be_kept_outside_its_data(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data" / "key", tmp_path / "config" / "key"
    (tmp_path / "data").mkdir()

    first = installation_key(tmp_path / "data", None, inside)

    assert first == installation_key(tmp_path / "data", None, inside)
    assert (tmp_path / "data" / "installation.key").stat().st_mode & 0o777 == 0o600
    assert installation_key(tmp_path / "data", None, outside) == outside.read_bytes() != first
    assert installation_key(tmp_path / "data", "from the settings", inside) == b"from the settings"
