"""Files of this installation alone: closed to other users of the machine, sealed against what others planted; secrets.

What is derived from a catalog (its parsed copy, trained heads, vectors) lies below the data folder and decides what
patients are shown. Its keys say what it was made from; the seal says that it is what was made. Why so:
``docs/decisions/0005-sealed-files.md``.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from bot.errors import UserFixable

log = logging.getLogger("klartext")

KEY_NAME = "installation.key"  # in the data folder, where none can be kept outside of it
# What we write there, and nothing else: somebody may have named their home folder as the data folder.
DERIVED = ("catalogs", "heads", "chroma", "vectors", "terminology")
OURS = ("klartext.db*", "answers.db*", "audit.jsonl*", KEY_NAME, "summaries", *DERIVED)


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


KEY_BYTES = 32
TAG_LENGTH = 32  # hex digits of HMAC-SHA256: 128 bits


@dataclass(frozen=True, slots=True)
class Seal:
    """Tells what was written with a key from everything else.

    Attributes:
        key: Secret; the empty one only tells damage, not what others planted.
    """

    key: bytes = field(default=b"", repr=False)

    def tag(self, purpose: str, content: bytes | memoryview) -> str:
        """Return the keyed digest of a content for one purpose: under another name it vouches for nothing."""
        digest = hmac.new(self.key, b"klartext seal 1\0" + purpose.encode() + b"\0", hashlib.sha256)
        digest.update(content)
        return digest.hexdigest()[:TAG_LENGTH]

    def vouches(self, tag: str, purpose: str, content: bytes | memoryview) -> bool:
        return hmac.compare_digest(tag.encode(), self.tag(purpose, content).encode())


@dataclass(frozen=True, slots=True)
class SealedFolder:
    """Files that carry the tag of their content in their names: ``NAME.TAG.json``. They come and go as one."""

    folder: Path
    seal: Seal
    suffix: str

    def read(self, name: str) -> bytes | None:
        """Return what was written under a name; None when there is nothing, or nothing as it was written."""
        for path in sorted(self.folder.glob(f"{name}.*{self.suffix}")):
            try:
                content = path.read_bytes()
            except OSError:
                continue  # another process took it away
            if path.name == self._file(name, content):
                return content
            log.warning("a file is not as it was written and is made anew", extra={"fields": {"file": path.name}})
            with suppress(OSError):
                path.unlink()
        return None

    def has(self, name: str) -> bool:
        """Say whether something was written under a name; whether it can be used, `read` tells."""
        return next(self.folder.glob(f"{name}.*{self.suffix}"), None) is not None

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all, for this user only."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=self.folder, prefix=".partial-")  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            written = self.folder / self._file(name, content)
            os.replace(partial, written)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
        for other in self.folder.glob(f"{name}.*{self.suffix}"):
            if other != written:  # what this program could not use
                with suppress(OSError):
                    other.unlink()

    def _file(self, name: str, content: bytes) -> str:
        return f"{name}.{self.seal.tag(name + self.suffix, content)}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Derived:
    """Where what is derived from catalogs is kept, and who vouches for it."""

    folder: Path
    seal: Seal


@lru_cache(maxsize=16)
def derived_in(data: Path, key: str | None, key_file: Path) -> Derived:
    """Return where derived files are kept: in `data`, or, where no key can be kept, in a folder of this process alone.

    Args:
        data: The data folder.
        key: From the settings, or None.
        key_file: Where a key of our own is kept, or made, if the settings have none; not below `data`.
    """
    kept = _key_outside(data, key, key_file)
    if kept is not None:
        return Derived(data, Seal(kept))
    log.warning(
        "No key can be kept in %s, so nothing below the data folder is trusted and every start trains anew. "
        "Set KLARTEXT_SEAL_KEY or KLARTEXT_SEAL_KEY_FILE.",
        key_file.parent,
    )
    return Derived(_passing_folder(), Seal(secrets.token_bytes(KEY_BYTES)))


def installation_key(data: Path, key: str | None, key_file: Path) -> bytes:
    """Return the key of this installation: that of the seals, or one in `data`, which no seal is made with.

    A key beside what it hashes hides nothing from who has the folder; whoever has a part of it learns nothing still.

    Raises:
        UserFixable: A kept key is damaged.
        OSError: None can be kept anywhere.
    """
    kept = _key_outside(data, key, key_file)
    return kept if kept is not None else _kept_key(data / KEY_NAME)


def _key_outside(data: Path, key: str | None, key_file: Path) -> bytes | None:
    """Return the key of the settings, or our own outside `data`; None where none can be kept there."""
    if key is not None:
        return key.encode()
    if not key_file.resolve().is_relative_to(data.resolve()):
        with suppress(OSError):
            return _kept_key(key_file)
    return None


def _kept_key(path: Path) -> bytes:
    """Read the key in a file; make one if there is none. Processes that start at once agree on one."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".partial-")  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with suppress(FileExistsError):
                os.link(partial, path)
        finally:
            os.unlink(partial)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise UserFixable(f"{path} has {len(key)} bytes and needs {KEY_BYTES}. Delete it: a new one is made.")
    return key


@lru_cache(maxsize=1)
def _passing_folder() -> Path:
    passing = tempfile.TemporaryDirectory(prefix="klartext-")
    _PASSING.append(passing)
    return Path(passing.name)


_PASSING: list[tempfile.TemporaryDirectory[str]] = []  # they are removed when the process ends


def secret(env: Mapping[str, str], name: str, *, at_least: int = 0) -> str | None:
    """Return the secret in the variable `name`, or in the file that `name` with ``_FILE`` behind it names.

    Who may read the file is left to who made it: container platforms hand secrets out readable by all in the container.

    Raises:
        UserFixable: Both are set, the file cannot be read, or the secret is too short. It is never quoted.
    """
    value, file = env.get(name) or None, env.get(f"{name}_FILE") or None
    if value is not None and file is not None:
        raise UserFixable(f"{name} and {name}_FILE are both set. Unset one of them.")
    if file is not None:
        value = secret_in(Path(file), f"{name}_FILE")
    if value is not None and len(value) < at_least:
        raise UserFixable(
            f"{name} has {len(value)} characters and needs {at_least}. "
            "Make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    return value


def secret_in(path: Path, name: str) -> str:
    """Return the secret in a file that the setting `name` names."""
    try:
        found = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UserFixable(f"{name} names {str(path)!r}, which cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise UserFixable(f"{name} names {str(path)!r}, which is no text file.") from None
    if not found:
        raise UserFixable(f"{name} names {str(path)!r}, which is empty. Put the secret into it.")
    return found


MIN_PORTAL_KEY = 32  # characters: it says who a patient is
_PORTAL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39}):(\S+)")


def portal_keys(env: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of portals by the names of these.

    Raises:
        UserFixable: An entry has no name, a name stands twice, or a key is too short. Keys are never quoted.
    """
    found: dict[str, str] = {}
    entries = re.split(r"[,\n]", secret(env, "KLARTEXT_PORTAL_KEYS") or "")
    for number, entry in enumerate((each.strip() for each in entries if each.strip()), 1):
        read = _PORTAL.fullmatch(entry)
        if read is None or read[1] in found:
            raise UserFixable(
                f"Entry {number} of KLARTEXT_PORTAL_KEYS is not NAME:KEY, or its name stands there twice. "
                "Write portal-a:KEY, and separate entries by commas."
            )
        if len(read[2]) < MIN_PORTAL_KEY:
            raise UserFixable(
                f"The key of {read[1]!r} in KLARTEXT_PORTAL_KEYS has {len(read[2])} characters and needs "
                f"{MIN_PORTAL_KEY}. Make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`."
            )
        found[read[1]] = read[2]
    return found
