"""Outcomes as Parquet parts, counted by DuckDB: as much is in memory as there are vignettes and pairs, not questions.

A part is there as a whole or not at all, and no question is in two of them.
"""

from __future__ import annotations

import glob
import io
import os
import tempfile
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bot import BadData, MissingExtra, usable_cores
from harness.files import append_durably
from harness.running.chunks import Format
from harness.running.outcomes import ERROR, JUDGEABLE, Count, Outcome, Row, Tally, Traits, in_order

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtra(feature="Storing outcomes as Parquet", extra="scale") from error

try:
    import duckdb
except ImportError as error:
    raise MissingExtra(feature="Reading Parquet outcomes", extra="scale") from error

MEMORY = "400MB"  # what DuckDB may use before it writes to disk
FETCH = 2048
TRAITS = tuple(field.name for field in fields(Traits))
UNJUDGED = "unjudged"  # the last of the traits, which is no column: the same rule as `Outcome.unjudged`, in SQL
_UNJUDGED = f"""coalesce(decision = 'answered' AND said IS NOT NULL AND matched IN ('id', 'none') AND "right" IS NULL
    AND met IS NULL AND (pair_id IS NOT NULL OR expected IN {JUDGEABLE}), false)"""
PLACE = "place"  # of the question in the suite, from 0


def tally_of(folder: Path) -> Tally:
    """Count the outcomes in a folder of parts; raise BadData when they cannot be read."""
    with _opened(folder) as (database, parts):
        # Runs of an older release have fewer columns.
        there = {row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {parts}").fetchall()}
        traits = ", ".join(f'"{name}"' if name in there else f'NULL AS "{name}"' for name in TRAITS if name != UNJUDGED)
        whether = _UNJUDGED if {"said", "expected", "met"} <= there else "false"
        traits = f'{traits}, {whether} AS "{UNJUDGED}"'
        query = f"SELECT {traits}, count(*), min(place) FROM {parts} GROUP BY ALL"
        found = database.execute(query).fetchall()
    return in_order(Count(Traits(*row[:-2]), *row[-2:]) for row in found)


def rows_of(folder: Path, *, where: str = "true") -> Iterator[dict[str, Any]]:
    """Yield the rows of all parts in the order of the suite."""
    with _opened(folder) as (database, parts):
        found = database.execute(f"SELECT * FROM {parts} WHERE {where} ORDER BY place")
        names = [column[0] for column in found.description or ()]
        while rows := found.fetchmany(FETCH):
            for row in rows:
                yield dict(zip(names, row, strict=True))


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Yield a database in memory and the expression that stands for all parts."""
    with tempfile.TemporaryDirectory() as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "threads": usable_cores(),
            "temp_directory": spill,
            "autoinstall_known_extensions": False,  # nothing is fetched at run time
        }
        with duckdb.connect(":memory:", config=settings) as database:
            # Runs may have been continued by a release whose outcomes have more columns.
            pattern = f"{glob.escape(str(folder))}/part-*.parquet".replace("'", "''")
            try:
                yield database, f"read_parquet('{pattern}', union_by_name = true)"
            except duckdb.Error as error:
                raise BadData(f"The outcomes in {folder} cannot be read. Run the suite again.") from error


def _arrow_type(hint: Any) -> pa.DataType:
    """Return the column type of a field of `Outcome`, so that a new field needs no second list."""
    said = {str: pa.string(), float: pa.float64(), bool: pa.bool_(), int: pa.int64()}
    if typing.get_origin(hint) is tuple:
        return pa.list_(pa.string())
    options = [option for option in typing.get_args(hint) if option is not type(None)] or [hint]
    return said[options[0]] if options[0] in said else pa.string()  # Literals are texts


_HINTS = typing.get_type_hints(Outcome)
NAMES = tuple(field.name for field in fields(Outcome))
_TUPLES = frozenset(name for name in NAMES if typing.get_origin(_HINTS[name]) is tuple)
SCHEMA = pa.schema([(PLACE, pa.int64()), *((name, _arrow_type(_HINTS[name])) for name in NAMES)])


def encode(rows: Sequence[Row]) -> bytes:
    """Return outcomes as the bytes of a Parquet file."""
    columns = {name: [getattr(outcome, name) for _, outcome in rows] for name in NAMES}
    table = pa.table({PLACE: [place for place, _ in rows], **columns}, schema=SCHEMA)
    return _as_bytes(table)


def decode(record: dict[str, Any]) -> Outcome:
    """Return the outcome of one row; columns that it does not have (a run of an older release) are left out."""
    known = {name: record[name] for name in NAMES if name in record}
    values: dict[str, Any] = {name: tuple(value or ()) if name in _TUPLES else value for name, value in known.items()}
    return Outcome(**values)


@dataclass(frozen=True)
class ParquetStore:
    """A folder of parts. What failed is taken out before it is asked again, so that no question is there twice."""

    folder: Path
    format: Format = "parquet"
    rows: int = 1024  # readers open every part: few large ones are read faster
    pause_s: float = 30.0

    def resume(self) -> set[str]:
        for partial in self.folder.glob(".*.partial"):
            partial.unlink()
        return {id_ for part in self._parts() for id_ in self._settled(part)}

    def tidy(self) -> None:
        """No question is in two parts: there is nothing to do."""

    def append(self, payload: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        last = max((int(part.stem.removeprefix("part-")) for part in self._parts()), default=0)
        self._write(self.folder / f"part-{last + 1:06d}.parquet", payload)

    def outcomes(self) -> Iterator[Outcome]:
        yield from map(decode, rows_of(self.folder))

    def novel(self) -> Iterator[Outcome]:
        for record in rows_of(self.folder, where="kind = 'novel'"):
            yield decode({**record, "text": "", "candidates": ()})

    def failed(self) -> Iterator[Outcome]:
        yield from map(decode, rows_of(self.folder, where=f"decision = '{ERROR}'"))

    def tally(self) -> Tally:
        return tally_of(self.folder)

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _settled(self, part: Path) -> list[str]:
        """Take the failures out of a part; return the ids of the rest."""
        try:
            seen = pq.read_table(part, columns=["id", "decision"])
            failed = ERROR in seen["decision"].to_pylist()
            table = pq.read_table(part) if failed else None
        except (OSError, pa.ArrowException) as error:
            message = f"{part} holds no outcomes. Remove it, and its questions are asked again."
            raise BadData(message) from error
        if table is None:
            return list(seen["id"].to_pylist())
        kept = table.filter(pa.compute.not_equal(table["decision"], ERROR))
        if kept.num_rows:
            self._write(part, _as_bytes(kept))
        else:
            part.unlink()
        return list(kept["id"].to_pylist())

    def _write(self, part: Path, payload: bytes) -> None:
        partial = part.with_name(f".{part.name}.partial")
        with partial.open("wb") as file:
            append_durably(file, payload)
        partial.replace(part)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name is durable, too
        finally:
            os.close(folder)


def _as_bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
