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
    from harness.authoring.evidence.grading import Answer, Graded


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
            _write_form(answers, form)
            print(f"{counted(len(answers), 'answer')} in {form}: a copy for each rater, named as the rater.")
            return
        known = {each.id: each for each in answers}
        files = filled or []
        if len({each.stem for each in files}) < len(files):
            raise BadData("Two forms have one name, and a form is named as its rater. Rename one.")
        given = [each for file in files for each in read_form(file, known)]
        if not given:
            raise BadData("No row of these forms has a grade. Fill in the column `grade`.")
        _show(known, given)


def _write_form(answers: list[Answer], form: Path) -> None:
    from harness.authoring.evidence.grading import COLUMNS
    from harness.labelling.exchange import formula_safe

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([each.id, formula_safe(each.question), formula_safe(each.text), "", "", ""] for each in answers)
    with writing(form, "Choose another file with `--form`."):
        form.write_text(stream.getvalue(), encoding="utf-8")


def _show(known: dict[str, Answer], given: list[Graded]) -> None:
    import numpy as np

    from harness.authoring.evidence.grading import GRADES, table
    from harness.judging.agreement import MISSING, Ratings, alpha_ordinal, estimate

    shown = plain_table("Grades by all raters together", "", *GRADES, "unsupported statements")
    for row in table(known, given):
        told = f"{row.unsupported} in {row.counted}" if row.counted else "not counted"
        shown.add_row(row.system, *map(str, row.grades), told)
    raters, ids = sorted({each.rater for each in given}), sorted(known)
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
