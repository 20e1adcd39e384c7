"""Forms that people have filled in, read as their spreadsheet stored them: one reader for all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from bot import BadData, decoded
from harness.files import unreadable

MOST_BYTES = 20_000_000
_DELIMITERS = ",;\t"


def read_form_rows(path: Path, columns: Sequence[str], form: str) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a filled form with the numbers of their lines; rows without anything are passed over.

    Commas, semicolons and tabs, UTF-8, UTF-16 and Windows-1252 are told apart: Excel writes what its language wants.

    Args:
        path: Of the form.
        columns: That it must have; others are passed over.
        form: What to give instead, for messages.

    Raises:
        BadData: It cannot be read, is no table, or lacks a column.
    """
    remedy = f"Give {form}, filled in."
    try:
        if path.exists() and not path.is_file():
            raise BadData(f"{path} cannot be read (it is no file). {remedy}")
        if path.stat().st_size > MOST_BYTES:
            raise BadData(f"{path} has {path.stat().st_size:,} bytes, and {MOST_BYTES:,} are the most. {remedy}")
        text = decoded(path.read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). {remedy}") from error
    skipped = 0
    if text[:4].lower() == "sep=":  # for Excel, which also writes it
        text, skipped = text.partition("\n")[2], 1
    try:
        delimiter = max(_DELIMITERS, key=lambda each: len({*_header(text, each, columns)} & {*columns}))
        header = _header(text, delimiter, columns)
        has = f"(it has {', '.join(map(repr, header))[:200]}). {remedy}"
        if len(columns) == 1 and all(len(_header(text, each, columns)) == 1 for each in _DELIMITERS):
            return _one_column(text, columns, skipped, f"{path} has no column {columns[0]!r} {has}")
        if lacking := [name for name in columns if name not in header]:
            raise BadData(f"{path} has no column {lacking[0]!r} {has}")
        reader = csv.DictReader(io.StringIO(text, newline=""), header, delimiter=delimiter)
        next(reader)
        rows = [(reader.line_num + skipped, {name: row.get(name) or "" for name in columns}) for row in reader]
    except csv.Error as error:
        raise BadData(f"{path} is no table ({error}). {remedy}") from error
    return [(number, row) for number, row in rows if any(cell.strip() for cell in row.values())]


def _one_column(text: str, columns: Sequence[str], skipped: int, problem: str) -> list[tuple[int, dict[str, str]]]:
    """Return the cells of a table of one column: nothing separates there, commas belong to the texts."""
    if _header(text, ",", columns) != [*columns]:
        raise BadData(problem)
    # What a spreadsheet put in quotation marks it has doubled inside, and may break over lines.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\x1f")
    next(reader)
    rows = [(reader.line_num + skipped, {columns[0]: "".join(row)}) for row in reader]
    return [(number, row) for number, row in rows if row[columns[0]].strip()]


def _header(text: str, delimiter: str, columns: Sequence[str]) -> list[str]:
    """Return the names of the columns; those that are looked for as they are looked for, whatever their capitals."""
    known = {name.lower(): name for name in columns}
    cells = [cell.strip() for cell in next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])]
    return [cell if (name := known.get(cell.lower(), cell)) in cells else name for cell in cells]
