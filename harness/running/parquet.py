"""Outcomes as Parquet parts: a part is there as a whole or not at all, and no question is in two of them."""

from __future__ import annotations

import io
import os
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bot import BadData, MissingExtra
from harness.outcomes import ERROR, Outcome
from harness.running.chunks import Format, Row
from harness.tally import Tally

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtra(feature="Storing outcomes as Parquet", extra="scale") from error

PLACE = "place"  # of the question in the suite, from 0


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

    def append(self, payload: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        last = max((int(part.stem.removeprefix("part-")) for part in self._parts()), default=0)
        self._write(self.folder / f"part-{last + 1:06d}.parquet", payload)

    def outcomes(self) -> Iterator[Outcome]:
        from harness.running.aggregate import rows_of  # DuckDB

        yield from map(decode, rows_of(self.folder))

    def novel(self) -> Iterator[Outcome]:
        from harness.running.aggregate import rows_of

        for record in rows_of(self.folder, where="kind = 'novel'"):
            yield decode({**record, "text": "", "candidates": ()})

    def failed(self) -> Iterator[Outcome]:
        from harness.running.aggregate import rows_of

        yield from map(decode, rows_of(self.folder, where=f"decision = '{ERROR}'"))

    def tally(self) -> Tally:
        from harness.running.aggregate import tally_of

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
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
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
