"""Answers with and without documents, graded by people who do not know which is which: the paper's Table 8.

Four grades and the number of statements that nothing supports, in a form a rater (CSV). Only questions that both
systems answer are graded: a draft that ends without a text would else leave its question to the other side alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData, split_sentences
from harness.authoring.filled import read_form_rows
from harness.console import counted
from harness.files import unreadable

# The paper's section 3.6, best first: accurate and complete; some details missing; lacks key information; inaccurate.
GRADES = ("correct", "mostly correct", "partially correct", "wrong")
SYSTEMS = ("with documents", "without documents")
COLUMNS = ("id", "question", "answer", "grade", "unsupported", "comment")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to be graded; its id does not tell which system wrote it."""

    id: str
    question: str
    text: str
    system: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What is to be graded of drafts, and what cannot be compared.

    Attributes:
        graded: By id, in an order that tells nothing: two of each question.
        missing: By system, questions that the other alone has answered: it abstained, or was not asked (`--closed`).
        neither: Questions that nobody has answered.
    """

    graded: Mapping[str, Answer]
    missing: Mapping[str, int]
    neither: int = 0


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
        missing: Questions without an answer of its, which are graded for neither system.
        unsupported: Statements that nothing supports, in all answers where somebody counted.
        counted: In how many gradings somebody did.
    """

    system: str
    grades: tuple[int, ...]
    missing: int
    unsupported: int
    counted: int

    @property
    def gradings(self) -> int:
        return sum(self.grades)


def answers_in(folders: Sequence[Path]) -> Answers:
    """Return the answers of drafts that have one with and one without documents, and how many have not.

    Raises:
        BadData: A folder holds no draft, the same one is given twice, or no draft has both answers.
    """
    found: dict[str, Answer] = {}
    missing: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    neither = 0
    for folder in folders:
        file = folder / "result.json"
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            kept = [each["text"] for each in record["sentences"] if each["field"] == "answer" and not each["flaw"]]
            question, texts = str(record["question"]), (" ".join(kept), str(record["closed"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else "it is no draft's"
            raise BadData(f"{file} cannot be used ({why}). Give folders of `klartext author draft`.") from error
        twice = BadData(f"{folder} holds a draft that another folder holds, too. Give each once.")
        if (question, *texts) in seen:
            raise twice
        seen.add((question, *texts))
        silent = [system for system, text in zip(SYSTEMS, texts, strict=True) if not text]
        if silent:
            neither += len(silent) == len(SYSTEMS)
            missing.update(silent if len(silent) == 1 else ())
            continue
        for system, text in zip(SYSTEMS, texts, strict=True):
            id_ = hashlib.sha256(f"{question}\0{system}\0{text}".encode()).hexdigest()[:12]
            if id_ in found:
                raise twice
            found[id_] = Answer(id_, question, text, system)
    if not found:
        raise BadData(
            "None of the drafts has an answer with and one without documents to compare. Draft with `--closed`."
        )
    return Answers({id_: found[id_] for id_ in sorted(found)}, missing, neither)


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
        if said and not (said.isascii() and said.isdigit()):
            raise BadData(f"{path}:{number}: `unsupported` is {said!r}, and must be a number from 0. Count statements.")
        most = sum(bool(one.strip()) for one in split_sentences(answers[id_].text))
        if said and (len(said) > 4 or int(said) > most):
            raise BadData(
                f"{path}:{number}: `unsupported` is {said}, and the answer has {counted(most, 'sentence')}. Count each "
                "sentence once."
            )
        if grade:
            found.append(Graded(id_, path.stem, GRADES.index(grade), int(said) if said else None))
    return found


def table(answers: Answers, given: Sequence[Graded]) -> list[Row]:
    """Return how often each system got each grade, by all raters together."""
    rows = []
    for system in SYSTEMS:
        own = [each for each in given if answers.graded[each.id].system == system]
        counted = [each.unsupported for each in own if each.unsupported is not None]
        grades = tuple(sum(each.grade == grade for each in own) for grade in range(len(GRADES)))
        rows.append(Row(system, grades, answers.missing.get(system, 0), sum(counted), len(counted)))
    return rows
