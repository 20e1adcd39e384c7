"""Count Parquet parts with DuckDB: as much is in memory as there are vignettes and pairs, not questions."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot import BadData, MissingExtra, usable_cores
from harness.tally import Cell, Count, Tally, in_order

try:
    import duckdb
except ImportError as error:
    raise MissingExtra(feature="Reading Parquet outcomes", extra="scale") from error

MEMORY = "400MB"  # what DuckDB may use before it writes to disk
FETCH = 2048
COLUMNS = 'vignette, kind, pair_id, decision, "right", offered, top1'


def tally_of(folder: Path) -> Tally:
    """Count the outcomes in a folder of parts; raise BadData when they cannot be read."""
    with _opened(folder) as (database, parts):
        query = f"SELECT {COLUMNS}, count(*), min(place) FROM {parts} GROUP BY ALL"
        found = database.execute(query).fetchall()
    return in_order(Count(Cell(*row[:-2]), *row[-2:]) for row in found)


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
