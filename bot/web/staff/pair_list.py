"""The list of all pairs: how each stands in every language, searched, filtered, sorted and paged."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, get_args

from bot.catalog.catalog import Pair
from bot.editorial.candidate import Candidate, Stage
from bot.editorial.workbench import Draft
from bot.release.contents import Contents
from bot.web.staff.visit import whole_number

STAGES: tuple[Stage, ...] = get_args(Stage)
PAGE = 50
WARN_DAYS, SOON_DAYS = 30, 7  # before an approval ends
SORTS = ("id", "question", "variants", "until", "changed")
COLUMNS = ("id", "language", "question", "stage", "variants", "until", "outdated", "changed", "changed_by")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Cell:
    """A pair in one language.

    Attributes:
        stage: How far it is on its way to patients.
        variants: How many there are.
        until: The last day on which it may be shown; None: no end is set.
        outdated: Whether its draft began with what is no longer released.
        removed: Whether its draft takes it away.
        changed: When its draft was changed last, and by whom; None: there is no draft.
        written_by: Who wrote its draft, as the file says that was handed in: nobody has checked that; empty where it
            was typed here.
    """

    language: str
    question: str
    stage: Stage
    variants: int
    until: date | None
    outdated: bool = False
    removed: bool = False
    changed: datetime | None = None
    changed_by: str = ""
    written_by: str = ""

    def days_left(self, today: date) -> int | None:
        return (self.until - today).days if self.until is not None else None


@dataclass(frozen=True, slots=True)
class Row:
    """A pair in all its languages."""

    id: str
    cells: Mapping[str, Cell]

    def warning(self, today: date) -> str:
        """Return ``over``, ``soon`` or ``near`` where an approval has ended, or ends within 7 or 30 days."""
        if any(cell.stage == "expired" for cell in self.cells.values()):
            return "over"
        signed = [cell for cell in self.cells.values() if cell.stage in ("released", "approved", "reviewed")]
        left = min((days for cell in signed if (days := cell.days_left(today)) is not None), default=None)
        if left is None or left > WARN_DAYS:
            return ""
        return "over" if left < 0 else "soon" if left <= SOON_DAYS else "near"


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the list is wanted, as the address has it."""

    words: str = ""
    stage: str = ""
    language: str = ""
    warning: str = ""
    sort: str = "id"
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        number = query.get("page", "1")
        sort = query.get("sort", "id")
        return cls(
            words=query.get("q", "").strip()[:200],
            stage=query.get("stage", ""),
            language=query.get("language", ""),
            warning=query.get("warning", ""),
            sort=sort if sort in SORTS else "id",
            page=whole_number(number) or 1,
        )


@dataclass
class Shelf:
    """What of a list belongs to the released pairs, worked out once for each of them: the words that are searched."""

    _base: Contents | None = None
    _words: dict[tuple[str, str], str] = field(default_factory=dict)

    def rows(self, candidate: Candidate, *, now: datetime) -> list[Row]:
        """Return all pairs in the curators' order, new ones last."""
        found: dict[str, dict[str, Cell]] = {}
        for language in candidate.base.catalogs:
            for pair, draft in candidate.pairs(language):
                subject = candidate.subject(language, pair.id)
                ends = [pair.review.valid_until]
                if (until := candidate.approval(subject).until(subject)) is not None:
                    ends.append(until.astimezone(now.tzinfo).date())
                found.setdefault(pair.id, {})[language] = Cell(
                    language,
                    pair.question,
                    candidate.stage(language, pair.id, now=now),
                    len(pair.variants),
                    min((end for end in ends if end is not None), default=None),
                    outdated=draft is not None and candidate.is_outdated(draft),
                    removed=draft is not None and draft.content is None,
                    changed=draft.changed_at if draft is not None else None,
                    changed_by=draft.changed_by if draft is not None else "",
                    written_by=draft.written_by if draft is not None else "",
                )
        for (language, pair_id), draft in candidate.unfinished.items():
            found.setdefault(pair_id, {})[language] = _unfinished(draft)
        return [Row(id_, cells) for id_, cells in found.items()]

    def chosen(self, candidate: Candidate, rows: list[Row], asked: Asked, *, today: date) -> list[Row]:
        """Return those of a candidate's rows that are wanted, sorted."""
        if asked.words:
            wanted = _plain(asked.words).split()
            rows = [row for row in rows if self._holds(candidate, row, wanted, asked.language)]
        if asked.stage or asked.language:
            rows = [row for row in rows if any(_fits(cell, asked) for cell in row.cells.values())]
        if asked.warning == "outdated":
            rows = [row for row in rows if any(cell.outdated for cell in row.cells.values())]
        elif asked.warning:
            rows = [row for row in rows if row.warning(today) == asked.warning]
        return _sorted(rows, asked.sort)

    def _holds(self, candidate: Candidate, row: Row, wanted: Sequence[str], language: str) -> bool:
        languages = [each for each in row.cells if language in ("", each)]
        text = " ".join(self._text(candidate, each, row.id) for each in languages)
        return all(word in text for word in wanted)

    def _text(self, candidate: Candidate, language: str, pair_id: str) -> str:
        if self._base is not candidate.base:
            self._base, self._words = candidate.base, {}
        draft = candidate.written(language, pair_id)
        if draft is not None and draft.unfinished is not None:
            return _plain(" ".join((pair_id, *draft.unfinished.values())))
        if draft is not None and draft.pair is not None:
            return _searched(draft.pair)
        key = (language, pair_id)
        if key not in self._words:
            released = candidate.released_pair(language, pair_id)
            self._words[key] = _searched(released) if released is not None else ""
        return self._words[key]


def _unfinished(draft: Draft) -> Cell:
    fields = draft.unfinished or {}
    lines = fields.get("variants", "").splitlines()
    at, by = draft.changed_at, draft.changed_by
    question = fields.get("question", "")
    return Cell(draft.language, question, "unfinished", len(lines), None, changed=at, changed_by=by)


def _searched(pair: Pair) -> str:
    answers = (pair.short_answer or "", pair.answer, pair.easy_answer or "")
    return _plain(" ".join((pair.id, pair.question, *answers, *(each.text for each in pair.variants))))


def _plain(text: str) -> str:
    # Much quicker than `bot.text.fold`, and a search need not see through typing errors.
    return text.casefold().translate(_UMLAUTS)


def _fits(cell: Cell, asked: Asked) -> bool:
    return asked.stage in ("", cell.stage) and asked.language in ("", cell.language)


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    def key(row: Row) -> Any:
        cells = list(row.cells.values())
        if sort == "question":
            return cells[0].question.casefold()
        if sort == "variants":
            return sum(cell.variants for cell in cells)
        if sort == "until":
            return min((cell.until for cell in cells if cell.until), default=date.max)
        if sort == "changed":
            return -max((cell.changed.timestamp() for cell in cells if cell.changed), default=0.0)
        return row.id

    return sorted(rows, key=key)


def stage_counts(rows: Sequence[Row]) -> Counter[str]:
    """Return how many texts stand at each stage."""
    return Counter(cell.stage for row in rows for cell in row.cells.values())


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return list(_flat(rows))


def as_csv(rows: Sequence[Row]) -> str:
    """Return a table; what a spreadsheet would take for a formula stands behind an apostrophe."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for each in _flat(rows):
        cells = ("" if each[name] is None else str(each[name]) for name in COLUMNS)
        table.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells])
    return file.getvalue()


def _flat(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        for cell in row.cells.values():
            yield {
                "id": row.id,
                "language": cell.language,
                "question": cell.question,
                "stage": cell.stage,
                "variants": cell.variants,
                "until": cell.until.isoformat() if cell.until else None,
                "outdated": cell.outdated,
                "changed": cell.changed.isoformat() if cell.changed else None,
                "changed_by": cell.changed_by,
            }
