"""Folders of what models wrote about conversations: in one place of the data folder, so that they go with these.

Whoever has summaries written (the harness) asks here for a folder; whoever erases conversations has the folders go.
Each holds a marker that names its conversations as logs do. What has no marker is not ours, and is never deleted.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bot.errors import Unreachable
from bot.outbox_ports import pseudonym

log = logging.getLogger("klartext")

FOLDER = "summaries"  # in the data folder
MARKER = "conversations.json"
SENT = "sent.json"  # there once something of the folder has been sent to a FHIR server


@dataclass(frozen=True, slots=True)
class SummaryFolders:
    """All of a data folder.

    Attributes:
        place: Where they lie.
    """

    place: Path

    @classmethod
    def in_data(cls, data: Path) -> Self:
        return cls(data / FOLDER)

    def holds(self, folder: Path) -> bool:
        """Say whether a folder is, or would be, one of these."""
        return folder.resolve().parent == self.place.resolve()

    def claim(self, kind: str, conversations: Sequence[str], *, name: str = "") -> Path:
        """Return a folder for what is made of these conversations, closed to others and marked as theirs.

        Args:
            kind: What is made; the folder is named by it and the conversations.
            conversations: Their ids.
            name: The folder's name, where somebody wants another.

        Raises:
            Unreachable: It cannot be written.
        """
        names = [pseudonym(each) for each in conversations]
        folder = self.place / (name or f"{kind}-{names[0] if len(names) == 1 else pseudonym(' '.join(names))}")
        marked = sorted({*names, *(_marked(folder) or ())})
        try:
            for each in (self.place, folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
                each.chmod(0o700)
            partial = folder / f"{MARKER}.partial"
            partial.write_text(json.dumps(marked) + "\n", encoding="utf-8")
            partial.replace(folder / MARKER)
        except OSError as error:
            raise Unreachable(f"{folder} cannot be written ({error.strerror}). Choose another KLARTEXT_DATA.") from None
        return folder

    def of(self, conversation: str) -> list[Path]:
        """Return the folders with something that was made of a conversation."""
        own = pseudonym(conversation)
        return [folder for folder, names in self._all() if own in names]

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
        return self._delete(lambda names: own in names)

    def erase_all_but(self, known: Callable[[], Collection[str]]) -> int:
        """Delete what was made of conversations that are gone; return how many folders went.

        `known`: returns the ids of those that are there; asked for only where there are folders.
        """
        if next(self._all(), None) is None:
            return 0
        there = {pseudonym(each) for each in known()}
        return self._delete(lambda names: not there.issuperset(names))

    def count_all_but(self, known: Callable[[], Collection[str]]) -> int:
        """Return how many folders `erase_all_but` would delete."""
        found = [names for _, names in self._all()]
        there = {pseudonym(each) for each in known()} if found else set()
        return sum(not there.issuperset(names) for names in found)

    def _all(self) -> Iterator[tuple[Path, frozenset[str]]]:
        try:
            folders = sorted(each for each in self.place.iterdir() if each.is_dir() and not each.is_symlink())
        except OSError:
            return
        for folder in folders:
            names = _marked(folder)
            if names is not None:
                yield folder, names

    def _delete(self, is_due: Callable[[frozenset[str]], bool]) -> int:
        """Delete folders by whom they are about; what cannot be deleted is told, and found again by the next purge."""
        gone = 0
        for folder in [folder for folder, names in self._all() if is_due(names)]:
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


def _marked(folder: Path) -> frozenset[str] | None:
    """Return the pseudonyms of whom a folder is about; None where it does not say."""
    try:
        said = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return frozenset(map(str, said)) if isinstance(said, list) and said else None


def _delete_folder(folder: Path) -> None:
    """Delete a folder, the marker last: what was cut off in between is found again."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != MARKER:
            each.unlink()
    (folder / MARKER).unlink()
    folder.rmdir()
