"""Answers with and without documents, graded by people who do not know which is which: the paper's Table 8.

Four grades and the number of statements that nothing supports, in a form a rater (CSV).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData
from harness.authoring.filled import read_form_rows
from harness.files import unreadable

# The paper's section 3.6, best first: accurate and complete; some details missing; lacks key information; inaccurate.
GRADES = ("correct", "mostly correct", "partially correct", "wrong")
SYSTEMS = ("with documents", "without documents")
COLUMNS = ("id", "question", "answer", "grade", "unsupported", "comment")
MOST_UNSUPPORTED = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to be graded; its id does not tell which system wrote it."""

    id: str
    question: str
    text: str
    system: str


@dataclass(frozen=True, slots=True)
class Graded:
    """What one rater says of one answer: a number of `GRADES`, and how many statements nothing supports, if counted."""

    id: str
    rater: str
    grade: int
    unsupported: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """A system's gradings together.

    Attributes:
        system: Which.
        grades: How often each grade was given.
        unsupported: Statements that nothing supports, in all answers where somebody counted.
        counted: In how many gradings somebody did.
    """

    system: str
    grades: tuple[int, ...]
    unsupported: int
    counted: int


def answers_in(folders: Sequence[Path]) -> list[Answer]:
    """Return the answers of drafts, in an order that tells nothing.

    Raises:
        BadData: A folder holds no draft, or the same one is given twice.
    """
    found: dict[str, Answer] = {}
    for folder in folders:
        file = folder / "result.json"
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            kept = [each["text"] for each in record["sentences"] if each["field"] == "answer" and not each["flaw"]]
            question, texts = str(record["question"]), (" ".join(kept), str(record["closed"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else "it is no draft's"
            raise BadData(f"{file} cannot be used ({why}). Give folders of `klartext author draft`.") from error
        for system, text in zip(SYSTEMS, texts, strict=True):
            if not text:
                continue
            id_ = hashlib.sha256(f"{question}\0{system}\0{text}".encode()).hexdigest()[:12]
            if id_ in found:
                raise BadData(f"{folder} holds a draft that another folder holds, too. Give each once.")
            found[id_] = Answer(id_, question, text, system)
    if not found:
        raise BadData("None of the drafts has a text to grade. Draft with `--closed` to have both answers.")
    return [found[id_] for id_ in sorted(found)]


def read_form(path: Path, answers: Mapping[str, Answer]) -> list[Graded]:
    """Read a rater's form; rows without a grade are still to do. The rater is named as the file.

    Raises:
        BadData: It cannot be read, or a row says what no form may.
    """
    found: list[Graded] = []
    seen: set[str] = set()
    for number, row in read_form_rows(path, ("id", "grade", "unsupported"), "a form that `--form` wrote"):
        id_, grade = row["id"].strip(), row["grade"].strip().casefold()
        said = row["unsupported"].strip()
        if id_ not in answers or id_ in seen:
            raise BadData(
                f"{path}:{number} ({id_[:20]!r}) is of no answer of these drafts, or of one twice. Keep the form's "
                "rows."
            )
        seen.add(id_)
        if grade and grade not in GRADES:
            raise BadData(f"{path}:{number}: {grade!r} is no grade. Grades: {', '.join(GRADES)}.")
        if said and not (said.isascii() and said.isdigit() and int(said) <= MOST_UNSUPPORTED):
            raise BadData(f"{path}:{number}: `unsupported` is {said!r}, and must be a number from 0. Count statements.")
        if grade:
            found.append(Graded(id_, path.stem, GRADES.index(grade), int(said) if said else None))
    return found


def table(answers: Mapping[str, Answer], given: Sequence[Graded]) -> list[Row]:
    """Return how often each system got each grade, by all raters together."""
    rows = []
    for system in SYSTEMS:
        own = [each for each in given if answers[each.id].system == system]
        counted = [each.unsupported for each in own if each.unsupported is not None]
        grades = tuple(sum(each.grade == grade for each in own) for grade in range(len(GRADES)))
        rows.append(Row(system, grades, sum(counted), len(counted)))
    return rows
