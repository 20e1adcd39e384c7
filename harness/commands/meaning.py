"""`klartext harness meaning`: paraphrases that may ask something else go to raters, and accuracy is corrected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bot import friendly_errors
from harness.commands import options
from harness.console import plain_console, plain_table, print_json
from harness.judging.meaning import QUEUE, Drawing, MeaningReport, check_meaning
from harness.judging.meaning_figures import Corrected
from harness.patients.vignettes import ALL, load_vignettes
from harness.running.run import load_outcomes

NOTE = """\
corrected: labels applied; suspects without one as they were scored. bounds: all
suspects without a label against the system, and all for it. other pair: scored
against that one. none: ask for no pair, and leave the count."""


@dataclass(frozen=True, slots=True)
class SuspectOptions:
    """How suspects and sample are drawn."""

    encoder: Annotated[
        str | None, typer.Option("--encoder", help="Measures nearness. Default: embedded.", metavar="NAME")
    ] = None
    margin: Annotated[
        float | None, typer.Option("--margin", min=-2, max=2, help="Suspects lie below. Default: -0.05.")
    ] = None
    sample: Annotated[
        int | None, typer.Option("--sample", min=0, help="Questions drawn at random for raters. Default: 0.")
    ] = None


def meaning(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    catalog: options.CatalogPath = "mammography",
    *,
    drawn: SuspectOptions,
    labels: Annotated[
        list[Path] | None, typer.Option("--labels", help="Labels that raters gave (JSONL); repeatable.")
    ] = None,
    json_: options.Json = False,
) -> None:
    """Find paraphrases that may ask something else, queue them for raters, and correct the accuracy."""
    with friendly_errors():
        drawing = Drawing(drawn.encoder, drawn.margin, drawn.sample)
        report = check_meaning(run, catalog=catalog, drawing=drawing, labels=labels or ())
        if json_:
            print_json(report.as_json())
        else:
            _show(report, run)


def _show(report: MeaningReport, run: Path) -> None:
    def cells(one: Corrected) -> list[str]:
        bounds = "" if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}"
        corrected = "" if one.corrected is None else f"{one.corrected:.3f}"
        return [str(one.n), f"{one.raw:.3f}", corrected, bounds, str(one.other), str(one.none), str(one.open)]

    console = plain_console(soft_wrap=True)
    titles = {one.id: one.title for one in load_vignettes(load_outcomes(run)[0].lang, names=[ALL])}
    names = ("n", "raw", "corrected", "bounds", "other pair", "none", "open")
    table = plain_table("Meaning drift", "Patient vignette", *names)
    for vignette, one in report.vignettes.items():
        table.add_row(titles.get(vignette, vignette), *cells(one))
    table.add_section()
    table.add_row("Total", *cells(report.total), style="bold")
    console.print(table)
    console.print(NOTE, style="dim")
    raters = ", ".join(f"{name} ({kind})" for kind, name in report.decided.raters) or "none yet"
    labelled = len(report.decided.asks)
    console.print(f"\n{len(report.plan.suspects)} suspects, {labelled} labels decided, raters: {raters}")
    if report.estimate is not None:
        at, ci = report.estimate, report.estimate.interval
        console.print(
            f"Estimate from the random sample ({at.right} scored right, {at.wrong} scored wrong): "
            f"{at.value:.3f} (95 % interval {ci.low:.3f} to {ci.high:.3f})"
        )
    if report.queued:
        console.print(f"{report.queued} questions wait for raters in {run / QUEUE}: fill in `asks` and `rater`,")
        console.print("then run this again with `--labels FILE`.")
