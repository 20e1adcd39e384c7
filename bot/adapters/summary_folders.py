"""Folders of what models wrote about conversations: in one place of the data folder, so that they go with these.

Whoever has summaries written (the harness) asks here for a folder; whoever erases conversations has the folders go.
Each holds a marker that names its conversations as logs do, and the database in which each was when it was claimed.
What has no marker is not ours, and is never deleted. A conversation that was in another database, or in none, such as
an export on another machine, is not gone because this one does not have it: only `erase` deletes what is made of it.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bot.errors import Unreachable, UserFixable
from bot.outbox_ports import pseudonym

log = logging.getLogger("klartext")

Marked = Mapping[str, str]  # the database of each conversation by its pseudonym; empty: of another, or in none
FOLDER = "summaries"  # in the data folder
MARKER = "conversations.json"
SENT = "sent.json"  # there once something of the folder has been sent to a FHIR server


@dataclass(frozen=True, slots=True)
class SummaryFolders:
    """All of a data folder.

    Attributes:
        place: Where they lie.
        database: Name of the database whose purge they go with; empty: none.
        has: Says whether that database has a conversation.
    """

    place: Path
    database: str = ""
    has: Callable[[str], bool] = lambda _: False

    @classmethod
    def in_data(cls, data: Path, url: str | None, has: Callable[[str], bool]) -> Self:
        """`url`: of the database; None: the data folder's own."""
        return cls(data / FOLDER, _name_of(url, data), has)

    def holds(self, folder: Path) -> bool:
        """Say whether a folder is, or would be, one of these."""
        return folder.resolve().parent == self.place.resolve()

    def claim(self, kind: str, conversations: Sequence[str], *, name: str = "") -> Path:
        """Return a folder for what is made of these conversations, closed to others and marked as theirs.

        Nothing is changed where it is refused: a marker with another conversation in it would delete both with one.

        Args:
            kind: What is made; the folder is named by it and the conversations.
            conversations: Their ids.
            name: The folder's name, where somebody wants another.

        Raises:
            UserFixable: The folder holds something else already.
            Unreachable: It cannot be written.
        """
        names = [pseudonym(each) for each in conversations]
        folder = self.place / (name or f"{kind}-{names[0] if len(names) == 1 else pseudonym(' '.join(names))}")
        before = _marked(folder)
        if (before is None and _holds_things(folder)) or (before is not None and before.keys() != set(names)):
            raise UserFixable(f"{folder} is about something else. Leave `--out` out, or give another name.")
        here = [self.database if self.has(each) else "" for each in conversations]
        marked = {name: database or (before or {}).get(name, "") for name, database in zip(names, here, strict=True)}
        try:
            for each in (self.place, folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
                each.chmod(0o700)
            partial = folder / f"{MARKER}.partial"
            partial.write_text(json.dumps(marked, sort_keys=True) + "\n", encoding="utf-8")
            partial.replace(folder / MARKER)
        except OSError as error:
            raise Unreachable(f"{folder} cannot be written ({error.strerror}). Choose another KLARTEXT_DATA.") from None
        return folder

    def goes_by_itself(self, folder: Path) -> bool:
        """Say whether a folder is deleted once this database does not have one of its conversations any more."""
        return self._is_watched(_marked(folder) or {})

    def of(self, conversation: str) -> list[Path]:
        """Return the folders with something that was made of a conversation."""
        own = pseudonym(conversation)
        return [folder for folder, marked in self._all() if own in marked]

    def was_sent(self, conversation: str) -> bool:
        """Say whether something that was made of it has been sent to a FHIR server."""
        return any((folder / SENT).exists() for folder in self.of(conversation))

    @staticmethod
    def sent_as(folder: Path) -> str:
        """Return with which status the summary of a folder has been sent to a FHIR server; empty: not at all."""
        try:
            said = json.loads((folder / SENT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        return str(said.get("status", "")) if isinstance(said, dict) else ""

    @staticmethod
    def note_sent(folder: Path, *, status: str, at: str, host: str) -> None:
        """Note in a folder that its summary has been sent: who erases the conversation is told so."""
        (folder / SENT).write_text(json.dumps({"status": status, "at": at, "to": host}) + "\n", encoding="utf-8")

    def erase(self, conversation: str) -> int:
        """Delete what was made of a conversation, also where others had a part in it; return how many folders went."""
        own = pseudonym(conversation)
        return self._delete(lambda marked: own in marked)

    def erase_all_but(self, known: Callable[[], Collection[str]]) -> int:
        """Delete what was made of conversations that were in this database and are gone; return how many folders went.

        `known`: returns the ids of those that are there; asked for only where there are folders.
        """
        if not any(self._is_watched(marked) for _, marked in self._all()):
            return 0
        there = {pseudonym(each) for each in known()}
        return self._delete(lambda marked: self._is_gone(marked, there))

    def count_all_but(self, known: Callable[[], Collection[str]]) -> int:
        """Return how many folders `erase_all_but` would delete."""
        found = [marked for _, marked in self._all() if self._is_watched(marked)]
        there = {pseudonym(each) for each in known()} if found else set()
        return sum(self._is_gone(marked, there) for marked in found)

    def _is_watched(self, marked: Marked) -> bool:
        return bool(self.database) and self.database in marked.values()

    def _is_gone(self, marked: Marked, there: Collection[str]) -> bool:
        """Say whether a conversation that was in this database is not there any more."""
        return self._is_watched(marked) and any(
            name not in there for name, database in marked.items() if database == self.database
        )

    def _all(self) -> Iterator[tuple[Path, Marked]]:
        try:
            folders = sorted(each for each in self.place.iterdir() if each.is_dir() and not each.is_symlink())
        except OSError:
            return
        for folder in folders:
            marked = _marked(folder)
            if marked is not None:
                yield folder, marked

    def _delete(self, is_due: Callable[[Marked], bool]) -> int:
        """Delete folders by whom they are about; what cannot be deleted is told, and found again by the next purge."""
        gone = 0
        for folder in [folder for folder, marked in self._all() if is_due(marked)]:
            try:
                _delete_folder(folder)
            except OSError as error:
                fields = {"folder": folder.name, "reason": error.strerror or type(error).__name__}
                log.warning(
                    "a summary of an erased conversation cannot be deleted: %s (%s)", folder, fields["reason"],
                    extra={"fields": fields},
                )  # fmt: skip
            else:
                gone += 1
        return gone


def _name_of(url: str | None, data: Path) -> str:
    """Return how markers name a database: without user and password; one in the data folder may move with it."""
    if url is None:
        return "klartext.db"
    from sqlalchemy import make_url  # slow to import

    parsed = make_url(url)
    if parsed.host or parsed.get_backend_name() != "sqlite":
        return f"{parsed.get_backend_name()}://{parsed.host or ''}:{parsed.port or ''}/{parsed.database or ''}"
    file = Path(parsed.database or "").resolve()
    return str(file.relative_to(data.resolve())) if file.is_relative_to(data.resolve()) else str(file)


def _holds_things(folder: Path) -> bool:
    """Say whether something is in a folder, beside what a claim leaves that was cut off."""
    try:
        return any(each.name != f"{MARKER}.partial" for each in folder.iterdir())
    except OSError:
        return False  # it is not there; or whoever writes it says what is wrong


def _marked(folder: Path) -> Marked | None:
    """Return the pseudonyms of whom a folder is about, with their databases; None where it does not say."""
    try:
        said = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {str(name): str(database) for name, database in said.items()} if isinstance(said, dict) and said else None


def _delete_folder(folder: Path) -> None:
    """Delete a folder, the marker last: what was cut off in between is found again."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != MARKER:
            each.unlink()
    (folder / MARKER).unlink()
    folder.rmdir()
