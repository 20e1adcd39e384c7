"""Tables as spreadsheets save them: any delimiter, columns named by the person or known by their names.

What we write has the header of `klartext qa import` (``pair_id,text,answer,language``); what a spreadsheet would take
for a formula stands behind an apostrophe, which is taken off again when it is read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.catalog.catalog import Catalog
from bot.catalog.exchange.entries import Entry, Reading, Remark, language_of
from bot.catalog.exchange.sources import Handed
from bot.errors import BadData

NAME, MAKER = "csv", "table"
COLUMNS = ("pair_id", "text", "answer", "language")
DELIMITERS = (",", ";", "\t", "|")
# Names of columns that are taken for a role without being told.
ROLES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "text", "frage", "fragen", "questions", "utterance", "user question"),
    "answer": ("answer", "antwort", "antworten", "answers", "response", "reply"),
    "id": ("pair_id", "id", "qnaid", "key", "intent", "schlüssel", "nr", "nummer"),
    "variants": ("variants", "varianten", "alternatives", "alternative questions", "synonyms", "alternativen"),
    "language": ("language", "lang", "sprache"),
    "source": ("source", "quelle"),
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a person says of a table; what is None or not named is guessed, and said.

    Attributes:
        columns: By role (`ROLES`): the name of a column, or its number from 1 where the table has no header.
        delimiter: Between cells.
    """

    columns: Mapping[str, str]
    delimiter: str | None = None


def columns_named(options: Sequence[str]) -> dict[str, str]:
    """Return columns by role from ``ROLE=NAME``, as the command line has them."""
    parts = [option.partition("=") for option in options]
    if wrong := next((role for role, _, name in parts if not name or role not in ROLES), None):
        raise BadData(f"`--column {wrong}=…` is no ROLE=NAME. Roles are {', '.join(ROLES)}.")
    return {role: name for role, _, name in parts}


def delimiter_named(option: str | None) -> str | None:
    """Return a delimiter that is named as a character, or as ``tab``."""
    found = "\t" if option in ("tab", "\\t") else option
    if found is not None and (len(found) != 1 or found in '"\r\n'):
        raise BadData(f"`--delimiter {option}` is no single character. Use for example `;` or `tab`.")
    return found


def no_formula(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def for_excel(table: str) -> bytes:
    """Return a table with commas as Excel opens it in German with a double click: semicolons, and a mark of UTF-8."""
    file = io.StringIO()
    csv.writer(file, delimiter=";", lineterminator="\r\n").writerows(csv.reader(io.StringIO(table, newline="")))
    return file.getvalue().encode("utf-8-sig")


def _formula_again(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def unquoted(cell: str) -> str:
    """Take off the quotes that spreadsheets put around cells with quotes, also between tabs."""
    if len(cell) > 1 and cell.startswith('"') and cell.endswith('"') and '""' in cell[1:-1]:
        return cell[1:-1].replace('""', '"')
    return cell


def rows_of(name: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a table with their numbers, the header too; empty ones are passed over.

    Raises:
        BadData: It is no table of this delimiter, with the line.
    """
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, quoting=quoting)
    read = 0  # lines of whole rows
    try:
        for row in reader:
            read = reader.line_num
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        if str(error).startswith("field larger"):
            raise BadData(
                f"{name}:{read + 1} has a cell of more than {csv.field_size_limit():,} characters, or a "
                "quotation mark without an end. Shorten it, or mend the quotation marks."
            ) from error
        raise BadData(
            f"{name} is not valid CSV ({error}). Put texts with commas or quotes in double quotes."
        ) from error


def recognises(handed: Handed) -> bool:
    name = handed.single
    return name is not None and name.lower().endswith((".csv", ".tsv", ".txt"))


def read(handed: Handed, layout: Layout) -> Reading:
    reading, name = Reading(MAKER), handed.single or ""
    text = handed.text(name).lstrip("\ufeff")
    delimiter = layout.delimiter or _delimiter(name, text)
    rows = list(rows_of(handed.label(name), text, delimiter))
    if not rows:
        raise BadData(f"{handed.path} has no rows. Export it again.")
    places, start = _places(handed, rows[0][1], layout)
    shown = {"\t": "tab"}.get(delimiter, delimiter)
    named = ", ".join(f"{role} in column {place + 1}" for role, place in places.items())
    reading.notes.append(Remark(f"read with the delimiter {shown!r}: {named}", "delimiter", delimiter=shown))
    width = len(rows[0][1])
    entries: dict[tuple[str, str | None], Entry] = {}
    for number, row in rows[start:]:
        at = f"{name}:{number}"
        if len(row) > width:
            raise BadData(
                f"{handed.label(name)}:{number} has more fields than the first line. "
                "Put texts with commas in double quotes."
            )
        values = [_formula_again((unquoted(cell) if delimiter == "\t" else cell).strip()) for cell in row]
        cells = {role: values[place] if place < len(values) else "" for role, place in places.items()}
        language = language_of(cells.get("language"))
        others = [each.strip() for each in cells.get("variants", "").replace("|", "\n").splitlines() if each.strip()]
        key, answer = cells.get("id", ""), cells.get("answer", "")
        if not cells["question"]:
            reading.leave(at, key, Remark("It has no question.", "no-question"))
        elif "id" in places and not key:
            reading.background.append((language, cells["question"]))
        elif "id" not in places and not answer:
            reading.leave(at, "", Remark("It has no answer.", "no-answer"))
        else:
            # Rows of one id are one pair; without ids, rows of one answer.
            entry = entries.setdefault(
                (key.casefold() or answer, language), Entry(key, [], "", language, cells.get("source", ""), at)
            )
            entry.texts += [cells["question"], *others]
            if answer and entry.answer and answer != entry.answer:
                reading.leave(at, key, Remark("Another answer of the same pair: the first is taken.", "other-answers"))
            entry.answer = entry.answer or answer
    reading.entries = list(entries.values())
    return reading


def _delimiter(name: str, text: str) -> str:
    """Return the delimiter that makes the most of the first line's cells known names, or else the most cells."""

    def worth(delimiter: str) -> tuple[int, int, bool]:
        cells = [
            cell.strip().casefold() for cell in next(csv.reader([text.partition("\n")[0]], delimiter=delimiter), [])
        ]
        known = sum(any(cell in names for names in ROLES.values()) for cell in cells)
        return known, len(cells), delimiter == "\t" and name.lower().endswith(".tsv")

    return max(DELIMITERS, key=worth)


def _places(handed: Handed, header: Sequence[str], layout: Layout) -> tuple[dict[str, int], int]:
    """Return in which column each role stands, and whether the first line is a header (1) or data (0)."""
    if layout.columns and all(each.isdigit() for each in layout.columns.values()):
        places = {role: int(each) - 1 for role, each in layout.columns.items()}
        if "question" not in places or not all(0 <= each < len(header) for each in places.values()):
            raise BadData(f"{handed.path} has {len(header)} columns. Name them from 1: `--column question=1`.")
        return places, 0
    names = [cell.strip().casefold() for cell in header]
    places = {}
    for role, known in ROLES.items():
        wanted = (layout.columns[role].casefold(),) if role in layout.columns else known
        found = next((names.index(each) for each in wanted if each in names), None)
        if found is not None and found not in places.values():
            places[role] = found
        elif role in layout.columns:
            raise BadData(f"{handed.path} has no column {layout.columns[role]!r}; it has {', '.join(header)}.")
    if "question" not in places or not {"answer", "id"} & set(places):
        raise BadData(
            f"{handed.path} has the columns {', '.join(header)}. Say which are which, for example "
            "`--column question=NAME --column answer=NAME`, or by number where there is no header."
        )
    return places, 1


def write(catalogs: Sequence[Catalog]) -> Mapping[str, bytes]:
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for catalog in catalogs:
        rows = []
        for pair in catalog.pairs:
            rows.append((pair.id, pair.question, pair.answer))
            rows += [(pair.id, variant.text, "") for variant in pair.variants]
        rows += [("", text, "") for text in catalog.background]
        for row in rows:
            table.writerow([*(no_formula(cell) for cell in row), catalog.language])
    return {"": file.getvalue().encode()}
