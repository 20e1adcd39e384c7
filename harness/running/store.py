"""Where outcomes lie in the folder of a run: one Protocol, and JSON lines behind it; `parquet` holds the other way."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from bot import BadData
from harness.files import append_durably, unreadable
from harness.running.chunks import CHUNK, Encode, Format
from harness.running.outcomes import ERROR, Outcome, Row, Tally, tally_placed

OUTCOMES, PARTS, RUN = "outcomes.jsonl", "outcomes", "run.json"


class Store(Protocol):
    """Outcomes of one run. Only one process may append at a time."""

    @property
    def rows(self) -> int:
        """How many outcomes a batch should hold."""
        ...

    @property
    def pause_s(self) -> float:
        """How long outcomes of a slow system may wait to be stored."""
        ...

    @property
    def format(self) -> Format:
        """How outcomes are encoded, here and by workers."""
        ...

    def resume(self) -> set[str]:
        """Clear away what a kill left unfinished; return the ids of questions that need not be asked again."""
        ...

    def append(self, payload: bytes) -> None:
        """Store a batch durably, whole or not at all."""
        ...

    def tidy(self) -> None:
        """Keep one outcome of each question: what was answered later replaces the failure before it."""
        ...

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each question's last outcome, in the order of the suite."""
        ...

    def novel(self) -> Iterator[Outcome]:
        """Yield outcomes of novel questions, without the question's text and without candidates."""
        ...

    def failed(self) -> Iterator[Outcome]:
        """Yield outcomes of questions on which the system failed, in any order."""
        ...

    def tally(self) -> Tally:
        """Count outcomes without holding them."""
        ...


def find_store(out: Path) -> Store:
    """Return the outcomes of a run; raise BadData when the folder holds none."""
    format_ = stored_format(out)
    if format_ is None:
        raise BadData(f"{out} holds no complete run. Run `klartext harness run --suite NAME --out {out}`.")
    return open_store(out, format_)


def open_store(out: Path, format_: Format) -> Store:
    """Return a store, whether it holds something or not; raise BadData when the folder holds another format."""
    before = stored_format(out)
    if before not in (None, format_):
        raise BadData(f"{out} holds a run with --format {before}. Go on with that, or choose another folder.")
    if format_ == "parquet":
        from harness.running.parquet import ParquetStore  # pyarrow and DuckDB, for those who ask for them

        return ParquetStore(out / PARTS)

    return JsonlStore(out / OUTCOMES)


def encoder_of(format_: Format) -> Encode:
    """Return what makes batches of a format, without a store."""
    if format_ == "parquet":
        from harness.running.parquet import encode as encode_parquet

        return encode_parquet

    return encode


def stored_format(out: Path) -> Format | None:
    """Return how the outcomes in a folder are stored; None when there are none."""
    if (out / OUTCOMES).is_file():
        return "jsonl"
    return "parquet" if (out / PARTS).is_dir() else None


def encode(rows: Sequence[Row]) -> bytes:
    """Return outcomes as JSON lines; their place in the suite is that in the file."""
    return "".join(outcome.as_line() for _, outcome in rows).encode()


FAILED = f'"decision": "{ERROR}"'.encode()  # as it stands in the line of a failure


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
            append_durably(file, payload)

    def tidy(self) -> None:
        """Leave out lines of failures whose questions were answered later; the file is replaced as a whole."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            lines, failures = 0, 0
            for line in file:
                lines, failures = lines + 1, failures + (FAILED in line)
        if not failures or len(outcomes := list(self.outcomes())) == lines:
            return
        partial = self.path.with_suffix(".partial")
        with partial.open("wb") as file:
            append_durably(file, "".join(outcome.as_line() for outcome in outcomes).encode())
        partial.replace(self.path)

    def outcomes(self) -> Iterator[Outcome]:
        yield from _in_order(self._placed())

    def novel(self) -> Iterator[Outcome]:
        found = (
            (place, replace(outcome, text="", candidates=()))
            for place, outcome in self._placed()
            if outcome.kind == "novel"
        )
        yield from _in_order(found)

    def failed(self) -> Iterator[Outcome]:
        return (outcome for _, outcome in self._placed() if outcome.decision == ERROR)

    def tally(self) -> Tally:
        return tally_placed(self._placed())

    def _placed(self) -> Iterator[Row]:
        """Yield each question's last outcome with the place of its first line; failures come at the end."""
        failed: dict[str, Row] = {}
        place = number = -1
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line == b"\n":
                        continue
                    place += 1
                    if not line.endswith(b"\n") and not _is_outcome(line):
                        torn_line(self.path, number)
                        break
                    outcome = Outcome.from_line(line.decode("utf-8"))
                    first = failed.pop(outcome.id, (place, outcome))[0]
                    if outcome.decision == ERROR:
                        failed[outcome.id] = (first, outcome)
                    else:
                        yield first, outcome
        except OSError as error:
            raise BadData(f"{self.path} cannot be read ({unreadable(error)}). {next_run(self.path.parent)}") from error
        except (ValueError, KeyError, TypeError) as error:
            then = next_run(self.path.parent)
            raise BadData(f"{self.path}:{number} is no outcome. Remove the line; it is asked again. {then}") from error
        yield from failed.values()


_told: set[Path] = set()  # files whose torn line was told of in this process: they are read several times


def torn_line(path: Path, number: int) -> None:
    """Say once, on standard error, that a line that a kill left unfinished does not count."""
    if path not in _told:
        _told.add(path)
        then = next_run(path.parent)
        print(f"klartext: {path}:{number} is torn and left out; the rest is used. {then}", file=sys.stderr)


def _is_outcome(line: bytes) -> bool:
    try:
        Outcome.from_line(line.decode("utf-8"))
    except (ValueError, KeyError, TypeError):
        return False
    return True


def next_run(folder: Path) -> str:
    """Return the command that asks what is missing, with the suite that the run names."""
    suite = "NAME"
    with suppress(OSError, ValueError, KeyError, TypeError):  # where the run does not say, the person must
        suite = str(json.loads((folder / RUN).read_text(encoding="utf-8"))["suite"])
    return f"Run `klartext harness run --suite {suite} --out {folder}`."


def _in_order(rows: Iterable[Row]) -> Iterable[Outcome]:
    return {outcome.id: outcome for _, outcome in sorted(rows, key=lambda row: row[0])}.values()
