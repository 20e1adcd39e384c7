"""The audit log: who did what with what is stored of patients. Files of JSON lines that are only ever added to.

It lies outside the database, so that restoring a backup does not take back what it says. Each line holds the SHA-256 of
the one before it, and a MAC: whoever changes, moves or takes out a line is found out. Who cuts off the end is found out
by what was seen of it elsewhere (`bot.ports.Witness`). Patients and conversations stand in it as keyed hashes only.

When it is rotated, the file gets a number behind its name (``audit.jsonl.0001``), and the first line of the next one
holds the hash of its last: all of them are one chain, with lines that are numbered on.
"""

from __future__ import annotations

import base64
import binascii
import errno
import getpass
import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from bot.adapters.blind_keys import BlindKey, BlindKeys
from bot.adapters.text_cipher import TextCipher
from bot.editorial.acts import TrailEnd
from bot.errors import BadData, NotAudited, Unreachable
from bot.ports import AuditEvent, Life, SeenAudit
from bot.private_files import make_private

CONVERSATION, PATIENT = "audit conversation", "audit patient"  # purposes of blind values
CARRIED = "audit.key"  # the place of a key that is handed over
NOTHING = "0" * 64  # stands for the line before the first
TRAIL, TRAIL_RESTORED = "trail ", "trail-restored "  # acts; the hash of the end of the trail of staff stands behind
LOCK_S = 10.0
CHUNK = 64 * 1024
_MAC = re.compile(rb',"mac":"([0-9a-f]{64})"\}$')


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the log.

    Attributes:
        number: From 1.
        hash: SHA-256 of the line; the next one holds it.
        flaw: What is wrong with it; empty where nothing is.
        vouched: Whether a key that is here has made its MAC: only who has the key can have written it.
        key: Id of the key of its blind values.
        conversations: Blind values of the conversations.
        patient: Blind value of the patient; empty where it was not about one.
        why: The reason that was given for a stop; empty for none.
        done: When it was done, where that came before it was noted.
        texts: Hashes of the approved texts that it was about.
        said: The line as it was written, as JSON.
    """

    number: int
    hash: str
    flaw: str = ""
    vouched: bool = False
    at: datetime | None = None
    action: str = ""
    actor: str = ""
    key: str = ""
    conversations: tuple[str, ...] = ()
    patient: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    request_id: str = ""
    why: str = ""
    done: datetime | None = None
    texts: tuple[str, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AuditTrail:
    """The log as it was read, with all keys that its lines can be read with."""

    lines: tuple[AuditLine, ...]
    keys: Mapping[str, BlindKey]

    @cached_property
    def flaws(self) -> list[AuditLine]:
        return [line for line in self.lines if line.flaw]

    @property
    def last_hash(self) -> str:
        return self.lines[-1].hash if self.lines else NOTHING

    def lacks(self, seen: SeenAudit | None) -> bool:
        """Say whether its end, or more, is missing: the last line that somebody saw is not where it was."""
        if seen is None or not seen.lines:
            return False
        return len(self.lines) < seen.lines or self.lines[seen.lines - 1].hash != seen.last

    def is_strange_to(self, seen: SeenAudit | None) -> bool:
        """Say whether the database knows nothing of a log that has lines: it has a witness from the start."""
        return bool(self.lines) and seen is None

    @property
    def ends_of_trail(self) -> list[TrailEnd]:
        """Which ends of the trail of staff it has seen, in order; lines without a key's voucher do not count."""
        found = list[TrailEnd]()
        for line in self.lines:
            kind, _, hash_ = line.action.partition(" ")
            if line.vouched and not line.flaw and line.at is not None and f"{kind} " in (TRAIL, TRAIL_RESTORED):
                found.append(TrailEnd(line.counts.get("act", 0), hash_, line.at, f"{kind} " == TRAIL_RESTORED))
        return found

    def blind(self, key: str, conversation: str) -> str:
        """Return what stands for a conversation in lines of a key that is here."""
        return self.keys[key].blind(CONVERSATION, conversation)


@dataclass(frozen=True, slots=True)
class AuditLog:
    """Fulfils `bot.ports.Audit`; any number of processes and threads may write to one file.

    Attributes:
        path: The file; it is made for this user only.
        keys: Of blind values and MACs.
        cipher: Keeps older keys readable when they are handed over; None where texts are not encrypted.
        request_id: Returns that of the request that is being answered; empty where there is none.
        now: The clock.
    """

    path: Path
    keys: BlindKeys
    cipher: TextCipher | None = None
    request_id: Callable[[], str] = field(default=lambda: "")
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def note(self, event: AuditEvent) -> None:
        done = {"done": event.done.astimezone(UTC).isoformat(timespec="microseconds")} if event.done else {}
        self._write(event, {**done, **({"texts": list(event.texts)} if event.texts else {})})

    def see_trail(self, number: int, hash_: str, by: str) -> None:
        """Note how far the trail of staff goes, which lies in the database."""
        self.note(AuditEvent(f"{TRAIL}{hash_}", by or "klartext", counts={"act": number}))

    def hand_over(self, event: AuditEvent) -> None:
        """Note a change of keys; the keys that lines so far were written with go along, encrypted with the new one."""
        if self.cipher is None:
            self._write(event, {})
            return
        older = {id_: key for id_, key in self.read().keys.items() if id_ != self.keys.current.id}
        carried = {
            id_: self.cipher.encrypt(base64.b64encode(key.secret).decode(), CARRIED) for id_, key in older.items()
        }
        self._write(event, {"carried": carried})

    def check(self) -> None:
        """Raise Unreachable when nothing can be written."""
        try:
            with self._locked(), self._opened():
                pass
        except (OSError, Timeout) as error:
            raise self._cannot(error) from error

    def read(self) -> AuditTrail:
        """Read and check all lines; a log that nobody has begun is empty.

        Raises:
            Unreachable: It cannot be read.
        """
        raw = self._content().split(b"\n")
        parsed = [_parsed(line) for line in raw[:-1]]
        known = {key.id: key for key in self.keys.known}
        for said in parsed:
            known |= self._carried_in(said)
        lines, previous = list[AuditLine](), NOTHING
        for number, (line, said) in enumerate(zip(raw[:-1], parsed, strict=True), 1):
            lines.append(_checked(number, line, said, previous, known))
            previous = lines[-1].hash
        if raw[-1]:
            hash_ = hashlib.sha256(raw[-1]).hexdigest()
            lines.append(AuditLine(len(raw), hash_, "it is incomplete: writing was interrupted before it counted"))
        return AuditTrail(tuple(lines), known)

    def rotate(self, actor: str) -> Path | None:
        """Close the file and begin the next one, which goes on with the chain; return the closed one.

        Returns:
            None where there is no line to close it with.

        Raises:
            Unreachable: That cannot be done.
        """
        try:
            with self._locked():
                with self._opened() as file:
                    end, _ = _end_of(file)
                    if not end:
                        return None
                    file.truncate(end)  # what stands behind it never counted
                former = self._former()
                number = int(former[-1].suffix[1:]) + 1 if former else 1
                closed = self.path.with_name(f"{self.path.name}.{number:04d}")
                os.link(self.path, closed)  # fails where somebody has put one there
                self.path.unlink()
        except (OSError, Timeout) as error:
            raise self._cannot(error) from error
        self.note(AuditEvent("rotate", actor))
        return closed

    def sign(self) -> tuple[int, int, int]:
        """Return what changes when the log does: how many files there are, and size and time of the last one."""
        try:
            now = self.path.stat()
        except OSError:
            return (len(self._former()), 0, 0)
        return (len(self._former()), now.st_size, now.st_mtime_ns)

    def require(self) -> None:
        """Raise BadData when there is no log: then nobody may take it for one that says nothing."""
        if not self.path.exists() and not self._former():
            raise BadData(f"There is no audit log {self.path}. Set KLARTEXT_AUDIT_LOG, or `--data`, to where it is.")

    def _content(self) -> bytes:
        try:
            if not self.path.exists() and not self._former():
                return b""
            with suppress(OSError, Timeout), self._locked():  # not to see half of a line; who may only read, may
                return self._all_files()
            return self._all_files()
        except OSError as error:
            raise Unreachable(
                f"The audit log {self.path} cannot be read ({error.strerror}). Check KLARTEXT_AUDIT_LOG."
            ) from error

    def _former(self) -> list[Path]:
        """Return the files that were closed, oldest first."""
        found = [each for each in self.path.parent.glob(f"{self.path.name}.*") if each.suffix[1:].isdigit()]
        return sorted(found, key=lambda each: int(each.suffix[1:]))

    def _all_files(self) -> bytes:
        current = [self.path] if self.path.exists() else []
        return b"".join(each.read_bytes() for each in (*self._former(), *current))

    def _before(self) -> str:
        """Return the hash of the last line of the file before this one."""
        for path in reversed(self._former()):
            with path.open("rb") as file:
                return _end_of(file)[1]
        return NOTHING

    def _write(self, event: AuditEvent, further: Mapping[str, object]) -> None:
        key = self.keys.current
        said = {
            "at": self.now().astimezone(UTC).isoformat(timespec="microseconds"),
            "actor": event.actor,
            "action": event.action,
            "key": key.id,
            "patient": key.blind(PATIENT, event.patient) if event.patient else "",
            "conversations": [key.blind(CONVERSATION, id_) for id_ in event.conversations],
            "counts": dict(event.counts),
            "request_id": self.request_id(),
            **({"why": event.why} if event.why else {}),
            **further,
        }
        try:
            with self._locked(), self._opened() as file:
                end, previous = _end_of(file)
                previous = previous if end else self._before()
                body = _dump({**said, "previous": previous})
                _append(file, end, body[:-1] + f',"mac":"{key.mac(body)}"}}\n'.encode())
        except (OSError, Timeout) as error:
            raise self._cannot(error) from error

    def _owner(self) -> str:
        """Say whose the first of file, lock and folder is that belongs to somebody else; empty where none does."""
        for path in (self.path, Path(f"{self.path}.lock"), self.path.parent):
            with suppress(OSError):
                uid = path.stat().st_uid
                if hasattr(os, "geteuid") and uid != os.geteuid():
                    return f"{path.name} belongs to {_name_of(uid)}"
        return ""

    def _locked(self) -> FileLock:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(f"{self.path}.lock", timeout=LOCK_S, mode=0o600)

    def _opened(self) -> IO[bytes]:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        make_private(self.path)
        return os.fdopen(handle, "r+b", buffering=0)

    def _carried_in(self, said: Mapping[str, Any] | None) -> dict[str, BlindKey]:
        """Return the keys that a line hands over; none where it is not one that our own key encrypted."""
        carried = said.get("carried") if said is not None else None
        if self.cipher is None or not isinstance(carried, dict):
            return {}
        found = {}
        for sealed in carried.values():
            try:
                key = BlindKey.of(base64.b64decode(self.cipher.decrypt(str(sealed), CARRIED), validate=True))
            except (BadData, binascii.Error):
                continue
            found[key.id] = key
        return found

    def _cannot(self, error: OSError | Timeout) -> NotAudited:
        owner = self._owner()
        if isinstance(error, PermissionError) and owner:
            return NotAudited(
                self.path,
                why=f"{owner}, and this is {running_as()}",
                remedy="Run the command as the user of the service; or, where the file got a wrong owner: "
                f"`chown {running_as()} {self.path}*`.",
            )
        why = "locked by another process" if isinstance(error, Timeout) else error.strerror or type(error).__name__
        remedy = "Make room, or set KLARTEXT_AUDIT_LOG to a file that can be written."
        return NotAudited(self.path, why=why, remedy=remedy)


def running_as() -> str:
    """Return as whom this process runs, whoever called it."""
    return _name_of(os.geteuid()) if hasattr(os, "geteuid") else os_user()


def _name_of(uid: int) -> str:
    try:
        import pwd  # not on Windows

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return f"uid {uid}"


def os_user() -> str:
    """Return who runs this process, as the operating system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a list of users
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _dump(said: Mapping[str, object]) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode()


def _end_of(file: IO[bytes]) -> tuple[int, str]:
    """Return where the next line begins, and the hash of the last one.

    What stands behind the last line feed never counted: whoever wrote it was interrupted before it told anybody.
    """
    end = file.seek(0, os.SEEK_END)
    tail, start = b"", end
    while start > 0 and tail.count(b"\n") < 2:
        begin = max(0, start - CHUNK)
        file.seek(begin)
        tail = file.read(start - begin) + tail
        start = begin
    whole, feed, torn = tail.rpartition(b"\n")
    if not feed:
        return 0, NOTHING
    return end - len(torn), hashlib.sha256(whole.rpartition(b"\n")[2]).hexdigest()


def _append(file: IO[bytes], end: int, line: bytes) -> None:
    file.truncate(end)
    file.seek(end)
    try:
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())
    except OSError:
        file.truncate(end)
        raise


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _checked(
    number: int, line: bytes, said: Mapping[str, Any] | None, previous: str, known: Mapping[str, BlindKey]
) -> AuditLine:
    hash_ = hashlib.sha256(line).hexdigest()
    mac = _MAC.search(line)
    try:
        if said is None or mac is None:
            raise ValueError
        read = AuditLine(
            number,
            hash_,
            at=datetime.fromisoformat(said["at"]),
            action=str(said["action"]),
            actor=str(said["actor"]),
            key=str(said["key"]),
            conversations=tuple(map(str, said["conversations"])),
            patient=str(said["patient"]),
            counts=dict(said["counts"]),
            request_id=str(said["request_id"]),
            why=str(said.get("why", "")),
            done=datetime.fromisoformat(said["done"]) if "done" in said else None,
            texts=tuple(map(str, said.get("texts", ()))),
            said=said,
        )
    except (KeyError, TypeError, ValueError):
        return AuditLine(number, hash_, "it is no line of an audit log")
    key = known.get(read.key)
    vouched = key is not None and hmac.compare_digest(key.mac(line[: mac.start()] + b"}"), mac[1].decode())
    flaw = ""
    if key is not None and not vouched:
        flaw = "its MAC is wrong: it was changed, or written by somebody without the key"
    elif said.get("previous") != previous:
        flaw = "it does not follow the line before it: one was changed, taken out or put in"
    return replace(read, flaw=flaw, vouched=vouched)


@dataclass(frozen=True, slots=True)
class Returned:
    """Conversations that the log says were erased, and that are in the database all the same.

    Attributes:
        by_people: Erased by patients or staff: all of them goes.
        by_retention: Erased by age: what a purge leaves stays.
        unreadable: How many lines about erasures nobody can check without a key that is not here.
    """

    by_people: tuple[str, ...] = ()
    by_retention: tuple[str, ...] = ()
    unreadable: int = 0


def returned(trail: AuditTrail, lives: Sequence[Life]) -> Returned:
    """Find what a restored backup has brought back; lines that no key vouches for are not believed.

    A conversation that began after the erasure is another one: those of a channel's user have the same id again. And
    one that went by age is none that went on after that.
    """
    last: dict[str, dict[tuple[str, str], datetime]] = {"people": {}, "retention": {}}
    for line in trail.lines:
        whose = _ERASURES.get(line.action)
        if whose is not None and line.vouched and line.at is not None:
            for blind in line.conversations:
                known = last[whose].get((line.key, blind), line.at)
                last[whose][line.key, blind] = max(known, line.at)
    keys = {key for erased in last.values() for key, _ in erased}
    people, retention = list[str](), list[str]()
    for life in lives:
        blinds = [(key, trail.blind(key, life.conversation)) for key in keys]
        erased, aged = (
            max((at for blind in blinds if (at := last[whose].get(blind)) is not None), default=None)
            for whose in ("people", "retention")
        )
        if erased is not None and life.first < erased:
            people.append(life.conversation)
        elif aged is not None and life.last < aged:
            retention.append(life.conversation)
    unreadable = sum(line.action in _ERASURES and bool(line.key) and line.key not in trail.keys for line in trail.lines)
    return Returned(tuple(people), tuple(retention), unreadable)


_ERASURES = {"erase": "people", "erase-again": "people", "purge": "retention", "purge-again": "retention"}
