"""Each rater's own file of labels in a run: one process at a time, durable line by line, and undone line by line."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot import BadData
from harness.files import cut_unfinished, writing
from harness.labelling.labels import RATERS, Label, Rater, as_line, load_labels

ADJUDICATOR = "adjudicator"


def file_name(rater: Rater, *, adjudicator: bool = False) -> str:
    """Return ``person-anna.jsonl``; names that no file name can hold as they are get a short hash."""
    plain = re.sub(r"[^a-z0-9.]+", "-", rater.name.casefold()).strip("-.")[:40]
    if plain != rater.name:
        plain = f"{plain}-{hashlib.sha256(rater.name.encode()).hexdigest()[:8]}".lstrip("-")
    return f"{ADJUDICATOR if adjudicator else rater.kind}-{plain}.jsonl"


@dataclass
class RaterFile:
    """The labels of one rater, open for more."""

    path: Path
    stream: IO[bytes]
    labels: list[Label] = field(default_factory=list)

    def append(self, label: Label) -> None:
        """Store a label durably before the next item is shown."""
        self.stream.seek(0, os.SEEK_END)
        self.stream.write(as_line(label).encode())
        self._sync()
        self.labels.append(label)

    def undo(self) -> Label | None:
        """Take the last label back, from this session or an earlier one; None when there is none."""
        if not self.labels:
            return None
        self.stream.seek(0)
        raw = self.stream.read()
        self.stream.truncate(raw.rstrip(b"\n").rfind(b"\n") + 1)
        self._sync()
        return self.labels.pop()

    def _sync(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())


@contextmanager
def open_rater_file(run: Path, rater: Rater, *, adjudicator: bool = False) -> Iterator[RaterFile]:
    """Open a rater's file in a run for reading and appending; a line that a kill left unfinished is cut off.

    Raises:
        BadData: The file cannot be written, holds something else, or is open in another terminal.
    """
    path = run / RATERS / file_name(rater, adjudicator=adjudicator)
    with writing(path, "Make the run's folder writable."):
        stream = path.open("a+b")
    with stream:
        _lock(stream, path, rater)
        cut_unfinished(stream)
        opened = RaterFile(path, stream, load_labels([path]))
        strangers = {label.rater.id for label in opened.labels} - {rater.id}
        if strangers:
            raise BadData(f"{path} holds labels of {min(strangers)}, not of {rater.id}. Choose another `--rater`.")
        yield opened


def _lock(stream: IO[bytes], path: Path, rater: Rater) -> None:
    """Keep other processes out, where the system can; the lock ends with the process, however it ends."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BadData(
            f"{rater.name!r} is labelling in another terminal ({path} is in use). Go on there, or end it first."
        ) from error
