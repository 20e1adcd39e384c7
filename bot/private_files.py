"""Keep what lies in the data folder from the machine's other users: folders 0700, files 0600."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

log = logging.getLogger("klartext")

# What we write there, and nothing else: somebody may have named their home folder as the data folder.
OURS = ("klartext.db*", "answers.db*", "catalogs", "heads", "chroma")


def make_private_folder(folder: Path) -> None:
    """Create the data folder if need be; what of ours lies in it is closed to others, whatever it was before.

    The folder itself is closed unless other things than ours lie in it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ours = {path for pattern in OURS for path in folder.glob(pattern)}
    for path in ours:
        make_private(path)
    if all(path in ours or path.name.startswith(".probe-") for path in folder.iterdir()):
        _close(folder)


def make_private(path: Path) -> None:
    """Close a file, or a folder and everything in it."""
    _close(path)
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                _close(Path(folder) / name)


def make_private_database(path: Path) -> None:
    """Create a SQLite file for this user only, or close it; its log and its shared memory follow its mode.

    A file that is there is never opened: to close it again would drop the locks that SQLite holds on it in this
    process, and another process that leaves would take away the log into which we go on writing.
    """
    with suppress(OSError):  # it is there; or whoever connects says what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    for suffix in ("", "-wal", "-shm", "-journal"):
        _close(path.with_name(path.name + suffix))


@contextmanager
def private_umask() -> Iterator[None]:
    """Let what others' code creates meanwhile be for this user only. The mask is the whole process's."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _close(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & 0o077:
            return
        path.chmod(stat.S_IMODE(mode) & ~0o077)
    except FileNotFoundError:
        pass  # another process took it away
    except OSError:
        _warn_once(str(path.parent))


@lru_cache(maxsize=64)
def _warn_once(folder: str) -> None:
    log.warning("Files in %s belong to somebody else, so that their modes cannot be closed to others.", folder)
