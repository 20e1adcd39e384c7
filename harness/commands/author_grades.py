"""`klartext author grades`: forms for raters of drafted answers, and what they say together."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import BadData, friendly_errors
from harness.console import counted, plain_console, plain_table, share
from harness.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.authoring.evidence.grading import Answer, Answers, Graded


def grades(
    folders: Annotated[list[Path], typer.Argument(help="Folders of drafts (`author draft`).", metavar="FOLDER…")],
    form: Annotated[
        Path | None, typer.Option("--form", help="Write a form for raters (CSV), blind and shuffled.", metavar="FILE")
    ] = None,
    filled: Annotated[
        list[Path] | None, typer.Option("--filled", help="A rater's form; repeatable.", metavar="FILE")
    ] = None,
) -> None:
    """Grade answers with and without documents, blind: correct, mostly correct, partially correct, wrong."""
    from harness.authoring.evidence.grading import answers_in, read_form

    with friendly_errors():
        if (form is None) == (not filled):
            raise BadData("Give `--form FILE` to write a form, or `--filled FILE` to read what raters filled in.")
        answers = answers_in(folders)
        if form is not None:
            _write_form(answers.graded.values(), form)
            print(f"{counted(len(answers.graded), 'answer')} in {form}: a copy for each rater, named as the rater.")
            _tell_left_out(answers)
            return
        files = filled or []
        if len({each.stem for each in files}) < len(files):
            raise BadData("Two forms have one name, and a form is named as its rater. Rename one.")
        given = [each for file in files for each in read_form(file, answers.graded)]
        if not given:
            raise BadData("No row of these forms has a grade. Fill in the column `grade`.")
        _show(answers, given)
        _tell_left_out(answers)


def _write_form(answers: Iterable[Answer], form: Path) -> None:
    from harness.authoring.evidence.grading import COLUMNS
    from harness.labelling.exchange import formula_safe

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([each.id, formula_safe(each.question), formula_safe(each.text), "", "", ""] for each in answers)
    with writing(form, "Choose another file with `--form`."):
        form.write_text(stream.getvalue(), encoding="utf-8")


def _tell_left_out(answers: Answers) -> None:
    """Say which questions nobody grades."""
    told = [f"no answer {system}: {number}" for system, number in sorted(answers.missing.items())]
    told += [f"no answer at all: {answers.neither}"] if answers.neither else []
    if told:
        print(f"Only questions with both answers are graded. Left out: {'; '.join(told)}.")


def _show(answers: Answers, given: list[Graded]) -> None:
    import numpy as np

    from harness.authoring.evidence.grading import GRADES, table
    from harness.judging.agreement import MISSING, Ratings, alpha_ordinal, estimate

    shown = plain_table("Grades by all raters together", "", *GRADES, "n", "unsupported statements", "no answer")
    for row in table(answers, given):
        told = f"{row.unsupported} in {row.counted}" if row.counted else "not counted"
        shown.add_row(row.system, *map(str, row.grades), str(row.gradings), told, str(row.missing))
    raters, ids = sorted({each.rater for each in given}), sorted(answers.graded)
    codes = np.full((len(ids), len(raters)), MISSING, dtype=np.int64)
    for each in given:
        codes[ids.index(each.id), raters.index(each.rater)] = each.grade
    alpha = estimate(alpha_ordinal, Ratings(codes, len(GRADES)), rng=np.random.default_rng(0))
    console = plain_console()
    console.print(shown)
    note = f" ({alpha.note})" if alpha.note else ""
    console.print(
        f"Krippendorff's alpha (ordinal), {counted(len(raters), 'rater')}: {share(alpha.value, none='–')}{note}"
    )
