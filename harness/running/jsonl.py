"""Outcomes as JSON lines: one file that is only ever appended to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot import BadData
from harness.outcomes import ERROR, Outcome
from harness.running.chunks import CHUNK, Format, Row
from harness.tally import Tally, tally_placed


def encode(rows: Sequence[Row]) -> bytes:
    """Return outcomes as JSON lines; their place in the suite is that in the file."""
    return "".join(outcome.as_line() for _, outcome in rows).encode()


@dataclass(frozen=True)
class JsonlStore:
    """One outcome a line. A question that is asked again after a failure has two: the last one counts."""

    path: Path
    format: Format = "jsonl"
    rows: int = CHUNK  # a kill costs at most this many answers …
    pause_s: float = 1.0  # … or this much time of a slow system

    def resume(self) -> set[str]:
        done: set[str] = set()
        if not self.path.is_file():
            return done
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    outcome = Outcome.from_line(line.decode("utf-8"))
                except (ValueError, KeyError, TypeError) as error:
                    message = f"{self.path}:{number} is no outcome. Remove the line, and it is asked again."
                    raise BadData(message) from error
                # Where the system failed it is asked again: its failures often pass.
                (done.discard if outcome.decision == ERROR else done.add)(outcome.id)
                whole += len(line)
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)
        return done

    def append(self, payload: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())

    def outcomes(self) -> Iterator[Outcome]:
        yield from _in_order(self._placed())

    def novel(self) -> Iterator[Outcome]:
        found = ((place, _lean(outcome)) for place, outcome in self._placed() if outcome.kind == "novel")
        yield from _in_order(found)

    def failed(self) -> Iterator[Outcome]:
        return (outcome for _, outcome in self._placed() if outcome.decision == ERROR)

    def tally(self) -> Tally:
        return tally_placed(self._placed())

    def _placed(self) -> Iterator[Row]:
        """Yield each question's last outcome with the place of its first line; failures come at the end."""
        failed: dict[str, Row] = {}
        try:
            with self.path.open(encoding="utf-8", newline="\n") as file:
                for place, outcome in enumerate(map(Outcome.from_line, (line for line in file if line != "\n"))):
                    first = failed.pop(outcome.id, (place, outcome))[0]
                    if outcome.decision == ERROR:
                        failed[outcome.id] = (first, outcome)
                    else:
                        yield first, outcome
        except (OSError, ValueError, KeyError, TypeError) as error:
            folder = self.path.parent
            message = f"{folder} holds no complete run. Run `klartext harness run --suite NAME --out {folder}`."
            raise BadData(message) from error
        yield from failed.values()


def _in_order(rows: Iterable[Row]) -> Iterable[Outcome]:
    return {outcome.id: outcome for _, outcome in sorted(rows, key=lambda row: row[0])}.values()


def _lean(outcome: Outcome) -> Outcome:
    return replace(outcome, text="", candidates=())
