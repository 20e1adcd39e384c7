"""Labels and items as long CSV or JSON lines, so that other labelling tools can be fed and read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError, field_validator

from bot import BadData
from harness.files import Record, as_lines, first_fault, unreadable, writing
from harness.labelling.labels import Item, Label, Rater, Verdict, check_reason
from harness.labelling.rater_files import ADJUDICATOR, open_rater_file

LABEL_FIELDS = ("item_id", "rater_id", "label", "reason", "comment", "time")
NOT_ASKED = "not-asked"  # in the column of reasons: the rater was not asked for any
ITEM_FIELDS = ("item_id", "question", "answer")
KINDS = ("person", "model", ADJUDICATOR)


class LongRow(Record):
    """One label as other tools see it; unknown columns are refused, lest a misspelt one be lost."""

    item_id: str
    rater_id: str
    label: Verdict
    reason: str = ""
    comment: str = ""
    time: datetime | None = None

    @field_validator("label", mode="before")
    @classmethod
    def _long_name(cls, value: object) -> object:
        text = value.strip().lower() if isinstance(value, str) else value
        return "partial" if text in ("partially correct", "partially_correct") else text

    @field_validator("reason", "comment", mode="before")
    @classmethod
    def _empty(cls, value: object) -> object:
        return "" if value is None else value

    @field_validator("time", mode="before")
    @classmethod
    def _no_time(cls, value: object) -> object:
        return None if value == "" else value


def item_id(question_id: str, pair_id: str) -> str:
    """Return ``question#pair``; pair ids hold no ``#``."""
    return f"{question_id}#{pair_id}"


def as_row(label: Label) -> dict[str, str]:
    """Return a label as a long row; a decision between labels has the rater ``adjudicator:NAME``."""
    rater = f"{ADJUDICATOR}:{label.rater.name}" if label.role == "adjudication" else label.rater.id
    return {
        "item_id": item_id(label.question_id, label.pair_id),
        "rater_id": rater,
        "label": label.label,
        "reason": label.reason if label.assessed else NOT_ASKED,
        "comment": label.comment,
        "time": label.time.isoformat() if label.time else "",
    }


def write_labels(labels: Iterable[Label], out: Path) -> None:
    """Write labels to a .csv or .jsonl file; raise BadData for another kind of file."""
    _write([as_row(label) for label in labels], LABEL_FIELDS, out)


def write_items(items: Sequence[Item], answers: Mapping[str, str], out: Path) -> None:
    """Write what is to be labelled to a .csv or .jsonl file."""
    rows = [
        {
            "item_id": item_id(*item.key),
            "question": item.outcome.text,
            "answer": answers[item.pair_id],
        }
        for item in items
    ]
    _write(rows, ITEM_FIELDS, out)


def _write(rows: Sequence[Mapping[str, str]], fields: Sequence[str], out: Path) -> None:
    if _is_csv(out):
        stream = io.StringIO()
        writer = csv.DictWriter(stream, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: formula_safe(value) for name, value in row.items()} for row in rows)
        text = stream.getvalue()
    else:
        text = as_lines(rows)
    with writing(out):
        out.write_bytes(text.encode())


def formula_safe(text: str) -> str:
    """Keep spreadsheets from taking a text for a formula: an apostrophe makes it text."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _is_csv(path: Path) -> bool:
    if path.suffix not in (".csv", ".jsonl"):
        raise BadData(f"{path} is neither .csv nor .jsonl. Name the file so that its kind is clear.")
    return path.suffix == ".csv"


def read_labels(path: Path, *, known: Collection[str]) -> list[Label]:
    """Read long labels.

    Args:
        path: A .csv file with a header, or a .jsonl file.
        known: Ids of the questions that may be labelled.

    Raises:
        BadData: A line is wrong; it is named by its number.
    """
    as_csv = _is_csv(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")  # spreadsheets write a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Export it again.") from error
    rows = _csv_rows(path, text) if as_csv else _json_rows(path, text)
    return [_label(row, f"{path}:{number}", known) for number, row in rows]


def _csv_rows(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", strict=True)
    missing = [name for name in LABEL_FIELDS[:3] if name not in (reader.fieldnames or ())]
    if missing:
        raise BadData(f"{path}:1 has no column {missing[0]!r}. Columns: {', '.join(LABEL_FIELDS)}.")
    try:
        return [(reader.line_num, dict(row)) for row in reader]
    except csv.Error as error:
        raise BadData(f"{path}:{reader.line_num} is no CSV ({error}). Export it again.") from error


def _json_rows(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadData(f"{path}:{number} is no JSON. Export it again.") from error
        if not isinstance(row, dict):
            raise BadData(f"{path}:{number} is no JSON object. Give one label a line.")
        rows.append((number, row))
    return rows


def _label(row: dict[str, Any], where: str, known: Collection[str]) -> Label:
    try:
        long = LongRow.model_validate(row)
    except ValidationError as error:
        fault = first_fault(error, "row")
        raise BadData(f"{where}: {fault}. Columns: {', '.join(LABEL_FIELDS)}.") from error
    question, hash_, pair = long.item_id.rpartition("#")
    if not hash_ or question not in known or not pair:
        raise BadData(f"{where}: the run has no item {long.item_id!r}. `labels export --to-label` writes the ids.")
    kind, colon, name = long.rater_id.partition(":")
    if not colon or kind not in KINDS or not name.strip():
        raise BadData(f"{where}: rater_id {long.rater_id!r} must be `person:NAME`, `model:NAME` or `adjudicator:NAME`.")
    return Label(
        question_id=question,
        pair_id=pair,
        label=long.label,
        rater=Rater(kind="model" if kind == "model" else "person", name=name),
        reason="" if long.reason == NOT_ASKED else check_reason(long.reason, where=where),
        assessed="reason" in row and long.reason != NOT_ASKED,
        comment=long.comment.removeprefix("'") if formula_safe(long.comment[1:]) == long.comment else long.comment,
        time=long.time,
        role="adjudication" if kind == ADJUDICATOR else "rating",
    )


def add_labels(run: Path, labels: Sequence[Label]) -> tuple[int, int]:
    """Add labels to their raters' files; return how many were added, and how many were there already, or newer."""
    added = 0
    by_file: dict[tuple[Rater, bool], list[Label]] = {}
    for label in labels:
        by_file.setdefault((label.rater, label.role == "adjudication"), []).append(label)
    for (rater, adjudicator), theirs in by_file.items():
        with open_rater_file(run, rater, adjudicator=adjudicator) as own:
            for label in theirs:
                if not any(_settles(given, label) for given in own.labels):
                    own.append(label)
                    added += 1
    return added, len(labels) - added


def _settles(given: Label, label: Label) -> bool:
    """Say whether a label that is there makes another needless: it is the same, or a later one of the same item."""
    newer = given.time is not None and label.time is not None and given.time > label.time
    return given == label or (given.item == label.item and newer)
