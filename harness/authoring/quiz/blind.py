"""First against kept version, judged blind: by people in a table, by a model in both orders. Table 1 of the paper.

People get a CSV with both versions as A and B, in an order that depends on the quiz only and that nothing in the file
tells; the key lies in a file of its own.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bot import BadData
from harness.authoring.filled import read_form_rows
from harness.authoring.quiz.asking import DIFFICULTIES, Difficulty, Quiz
from harness.authoring.quiz.making import Track
from harness.judging.agreement import MISSING, Estimate, Ratings, cohen, estimate, percentage
from harness.labelling.exchange import formula_safe

Side = Literal["first", "kept", "tie"]
SIDES: tuple[Side, ...] = ("first", "kept", "tie")
MODEL = "model"  # the rater that is none of the people
COLUMNS = (
    *("rater", "quiz", "topic", "key_point", "a", "b"),
    *("better", "difficulty_a", "difficulty_b", "errors_a", "errors_b", "remark"),
)
GIVEN = {"a": "a", "b": "b", "1": "a", "2": "b", "tie": "tie", "": ""}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one rater said of one quiz.

    Attributes:
        rater: A person's name, or `MODEL`.
        quiz: Its id.
        better: Which version; None where a model prefers another one in the other order.
        difficulty: Of the first and the kept version: of a person one each, of a model one in each order.
        errors: Whether each of the two versions was said to have an error, by a model in either order.
    """

    rater: str
    quiz: str
    better: Side | None
    difficulty: Mapping[str, tuple[Difficulty, ...]]
    errors: Mapping[str, bool]


def swapped(quiz: str) -> bool:
    """Tell whether a form shows the kept version first."""
    return hashlib.sha256(f"blind {quiz}".encode()).digest()[0] % 2 == 1


def as_form(tracks: Sequence[Track]) -> str:
    """Return the table that people fill in."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for track in tracks:
        if track.compared is None:
            continue
        a, b = reversed(track.compared) if swapped(track.id) else track.compared
        shown = {"a": _shown(a, track.id), "b": _shown(b, track.id)}
        row = {"quiz": track.id, "topic": track.case.topic, "key_point": track.case.key_point, **shown}
        writer.writerow({name: formula_safe(value) for name, value in row.items()})
    return out.getvalue()


def key_of(tracks: Iterable[Track]) -> dict[str, dict[str, str]]:
    """Return which version each form shows as A and as B."""
    names = {False: {"a": "first", "b": "kept"}, True: {"a": "kept", "b": "first"}}
    return {track.id: names[swapped(track.id)] for track in tracks if track.compared is not None}


def _shown(quiz: Quiz, id_: str) -> str:
    """Return a quiz as one cell; the right option is marked, as raters need it."""
    options = "\n".join(f"{'*' if each == quiz.answer else '-'} {each}" for each in quiz.shuffled(f"form {id_}"))
    return f"{quiz.context}\n\n{quiz.question}\n\n{options}"


def read_forms(files: Sequence[Path], tracks: Sequence[Track]) -> list[Judgement]:
    """Read forms that people have filled in; rows without a preference are not counted.

    Raises:
        BadData: A file is no such form, names a quiz that was not compared here, holds other words than asked for, or
            judges what the same rater has judged before.
    """
    compared = {track.id for track in tracks if track.compared is not None}
    found: dict[tuple[str, str], Judgement] = {}
    for file in files:
        for number, row in read_form_rows(file, COLUMNS[:-1], "a copy of `blind.csv`"):
            better = GIVEN.get(row["better"].strip().lower())
            if better == "":
                continue
            quiz = row["quiz"] = row["quiz"].removeprefix("'")
            if quiz not in compared:
                raise BadData(
                    f"{file}:{number} is about {quiz!r}, which has no two versions in this folder. Give its own form."
                )
            rater = row["rater"].strip()
            if better is None or not rater:
                what = "no rater" if not rater else f"better {row['better']!r}"
                raise BadData(f"{file}:{number} has {what}. Write a name as rater, and a, b or tie as better.")
            if rater.casefold() == MODEL:
                raise BadData(f"{file}:{number} has rater {rater!r}, which is what the model is called. Write a name.")
            if (rater, quiz) in found:
                raise BadData(
                    f"{file}:{number} judges {quiz!r} a second time as {rater[:40]!r}. Leave one out, or give each "
                    "rater a name of their own."
                )
            found[rater, quiz] = _judgement(file, number, row, better)
    return list(found.values())


def _judgement(file: Path, number: int, row: Mapping[str, str], better: str) -> Judgement:
    sides = {"a": "kept", "b": "first"} if swapped(row["quiz"]) else {"a": "first", "b": "kept"}
    difficulty: dict[str, tuple[Difficulty, ...]] = {}
    for shown, side in sides.items():
        said = row[f"difficulty_{shown}"].strip().lower()
        level = next((each for each in DIFFICULTIES if each == said), None)
        if said and level is None:
            raise BadData(f"{file}:{number} has difficulty {said[:40]!r}. Write easy, medium or hard, or nothing.")
        if level is not None:
            difficulty[side] = (level,)
    errors = {side: bool(row[f"errors_{shown}"].strip()) for shown, side in sides.items()}
    return Judgement(row["rater"].strip(), row["quiz"], _side(sides.get(better)), difficulty, errors)


def _side(name: str | None) -> Side:
    return next((side for side in SIDES if side == name), "tie")


def by_model(tracks: Sequence[Track]) -> list[Judgement]:
    """Return what the model prefers: where its two orders differ, nothing; difficulty and errors of both orders."""
    found = []
    for track in tracks:
        if set(track.verdicts) != {"ab", "ba"}:
            continue
        ab, ba = track.verdicts["ab"], track.verdicts["ba"]
        said = {"a": "first", "b": "kept", "tie": "tie"}[ab.better]
        turned = {"a": "kept", "b": "first", "tie": "tie"}[ba.better]
        found.append(
            Judgement(
                MODEL,
                track.id,
                _side(said) if said == turned else None,
                {
                    "first": (ab.difficulty["a"], ba.difficulty["b"]),
                    "kept": (ab.difficulty["b"], ba.difficulty["a"]),
                },
                {
                    "first": bool(ab.errors["a"] or ba.errors["b"]),
                    "kept": bool(ab.errors["b"] or ba.errors["a"]),
                },
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class BlindTable:
    """Preference and difficulty, a row for each rater; and how far every two raters agree.

    Attributes:
        rows: By rater.
        agreement: Share of equal preferences and Cohen's kappa, of every two raters who judged the same quiz. The model
            counts where both of its orders agree, as in the paper.
    """

    rows: Mapping[str, Mapping[str, Any]]
    agreement: Mapping[tuple[str, str], tuple[Estimate, Estimate]]

    def as_json(self) -> dict[str, Any]:
        agreement = [
            {"raters": list(raters), "percentage": share.as_json(), "kappa": kappa.as_json()}
            for raters, (share, kappa) in self.agreement.items()
        ]
        return {"raters": dict(self.rows), "agreement": agreement}


def blind_table(judgements: Sequence[Judgement], *, seed: int = 0) -> BlindTable:
    """Count preferences (win, loss, tie, and of a model: inconsistent) and difficulties, as in Table 1.

    Args:
        judgements: Of people and of a model.
        seed: Fixes the intervals of kappa.
    """
    raters = sorted({one.rater for one in judgements}, key=lambda rater: (rater == MODEL, rater))
    rows = {}
    for rater in raters:
        own = [one for one in judgements if one.rater == rater]
        preferred: Counter[str] = Counter(one.better or "inconsistent" for one in own)
        rows[rater] = {
            "n": len(own),
            **{name: preferred[name] for name in (*SIDES, "inconsistent")},
            **{f"difficulty_{side}": _levels(own, side) for side in ("first", "kept")},
            **{f"with_errors_{side}": sum(one.errors.get(side, False) for one in own) for side in ("first", "kept")},
        }
    said = {(one.rater, one.quiz): SIDES.index(one.better) for one in judgements if one.better is not None}
    quizzes = sorted({one.quiz for one in judgements})
    rng = np.random.default_rng(seed)
    agreement = {}
    for two in combinations(raters, 2):
        codes = np.array([[said.get((rater, quiz), MISSING) for rater in two] for quiz in quizzes], dtype=np.int64)
        ratings = Ratings(codes, len(SIDES))
        if len(ratings.pairable.codes):
            agreement[two] = (estimate(percentage, ratings, rng=rng), estimate(cohen, ratings, rng=rng))
    return BlindTable(rows, agreement)


def _levels(own: Sequence[Judgement], side: str) -> dict[str, int]:
    levels = Counter(level for one in own for level in one.difficulty.get(side, ()))
    return {level: levels[level] for level in DIFFICULTIES}
