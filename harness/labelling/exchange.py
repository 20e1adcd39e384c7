"""Labels and items as long CSV or JSON lines, so that other labelling tools can be fed and read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError, field_validator

from bot import BadData
from harness.files import Record, as_lines, control_in, first_fault, unreadable, writing
from harness.labelling import labels
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


def write_labels(given: Iterable[Label], out: Path) -> None:
    """Write labels to a .csv or .jsonl file; raise BadData for another kind of file."""
    _write([as_row(label) for label in given], LABEL_FIELDS, out)


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


AHEAD = timedelta(minutes=5)  # that another computer's clock may be ahead
FARTHEST_EAST = timedelta(hours=14)  # that a time without a zone may be ahead of ours


def read_labels(path: Path, *, known: Collection[str], now: datetime | None = None) -> list[Label]:
    """Read long labels.

    Args:
        path: A .csv file with a header, or a .jsonl file.
        known: Ids of the questions that may be labelled.
        now: Labels from later than this are refused; default: the time.

    Raises:
        BadData: A line is wrong, or contradicts another; it is named by its number.
    """
    as_csv = _is_csv(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")  # spreadsheets write a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give a file of labels.") from error
    if not text.strip():
        raise BadData(f"{path} is empty. Export the labels again.")
    rows = _csv_rows(path, text) if as_csv else _json_rows(path, text)
    if not rows:
        raise BadData(f"{path} has a header and no label. Export the labels again.")
    numbered = [(number, _label(row, f"{path}:{number}", known, now or labels.now())) for number, row in rows]
    _require_agreement(path, numbered)
    return [label for _, label in numbered]


def _require_agreement(path: Path, numbered: Sequence[tuple[int, Label]]) -> None:
    """Raise BadData when a rater says two things of one item and no time tells which came last."""
    said: dict[tuple[str, str, tuple[str, str]], tuple[int, Label]] = {}
    for number, label in numbered:
        key = (label.role, label.rater.id, label.item)
        before = said.get(key)
        if before is not None:
            line, earlier = before
            ordered = earlier.time is not None and label.time is not None and earlier.time != label.time
            if (earlier.label, earlier.reason) != (label.label, label.reason) and not ordered:
                raise BadData(
                    f"{path}: line {number} contradicts line {line}: {label.rater.id} says {earlier.label!r} and "
                    f"{label.label!r} of {item_id(*label.item)}. Remove one, or give both a `time`: the later counts."
                )
        said[key] = number, label


def _csv_rows(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", strict=True)
    try:
        missing = [name for name in LABEL_FIELDS[:3] if name not in (reader.fieldnames or ())]
        if missing:
            raise BadData(f"{path}:1 has no column {missing[0]!r}. Columns: {', '.join(LABEL_FIELDS)}.")
        return [(reader.line_num, dict(row)) for row in reader]
    except csv.Error as error:
        why = str(error)
        if why.startswith("field larger"):
            why = f"a cell has more than {csv.field_size_limit():,} characters, or a quotation mark has no end"
        raise BadData(f"{path}:{reader.line_num + 1} is no CSV ({why}). Export it again.") from error


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


def _label(row: dict[str, Any], where: str, known: Collection[str], now: datetime) -> Label:
    for name, value in row.items():
        if control := control_in(value if isinstance(value, str) else ""):
            raise BadData(f"{where}: `{name}` holds the control character {control}. Remove it.")
    try:
        long = LongRow.model_validate(row)
    except ValidationError as error:
        fault = first_fault(error, "row")
        raise BadData(f"{where}: {fault}. Columns: {', '.join(LABEL_FIELDS)}.") from error
    question, hash_, pair = long.item_id.rpartition("#")
    if not hash_ or question not in known or not pair:
        raise BadData(f"{where}: the run has no item {long.item_id!r}. `labels export --to-label` writes the ids.")
    time = long.time
    if time is not None:
        zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
        if zoned - now > (AHEAD if time.tzinfo else FARTHEST_EAST):
            raise BadData(f"{where}: the time {time.isoformat()} is in the future. Mend it, or leave it empty.")
        time = zoned
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
        time=time,
        role="adjudication" if kind == ADJUDICATOR else "rating",
    )


@dataclass(frozen=True, slots=True)
class Added:
    """What became of labels: `present` were there already, `older` than what their raters have said since."""

    added: int
    present: int
    older: int


def add_labels(run: Path, given: Sequence[Label]) -> Added:
    """Add labels to their raters' files."""
    added, older = 0, 0
    by_file: dict[tuple[Rater, bool], list[Label]] = {}
    for label in given:
        by_file.setdefault((label.rater, label.role == "adjudication"), []).append(label)
    for (rater, adjudicator), theirs in by_file.items():
        with open_rater_file(run, rater, adjudicator=adjudicator) as own:
            for label in theirs:
                if label in own.labels:
                    continue
                if any(_is_newer(there, label) for there in own.labels):
                    older += 1
                    continue
                own.append(label)
                added += 1
    return Added(added, len(given) - added - older, older)


def _is_newer(there: Label, label: Label) -> bool:
    """Say whether the rater has said something of the same item later."""
    if there.time is None or label.time is None or there.item != label.item:
        return False
    # A file of labels that was written by hand may lack the zone.
    first, second = (time if time.tzinfo else time.replace(tzinfo=UTC) for time in (there.time, label.time))
    return first > second
