"""`klartext harness ambiguous`, `agreement`, `rescore` and `judge`: what a run is worth, and who says so.

Tables of agreement for the terminal.

A run before and after labels, for the terminal.

`klartext harness ambiguous`: which answers people should see, why, and how well the confidences hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, friendly_errors
from harness.commands.judge import judge
from harness.judging.agreement import Agreement, Group
from harness.judging.coefficients import Estimate
from harness.judging.rescore import Rescored
from harness.labelling.ambiguous import Judged, bins_of
from harness.labelling.labels import VERDICTS
from harness.scoring.score import Score
from harness.scoring.statistics import Interval

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
COLUMNS = {"agreement": "agree", "kappa": "kappa", "alpha": "alpha", "ac1": "AC1"}
NOTE = """\
In brackets: 95 % intervals, items resampled (agreement of two: Wilson). kappa:
Cohen. alpha: Krippendorff, labels in their order. AC1: Gwet; it holds where
nearly all labels are the same and kappa falls. -: cannot be told, see below."""
MOST = 20  # changes that are listed
WHY = {
    "close": "the second candidate is nearly as likely",
    "fidelity": "the right pair, but the question does not fit its vignette",
    "judges": "raters differ on it",
}


def add_to(harness: typer.Typer) -> None:
    """Add the commands to the harness."""
    harness.command()(ambiguous)
    harness.command("agreement")(agreement_)
    harness.command("rescore")(rescore_)
    harness.add_typer(judge, name="judge")


def ambiguous(
    run: RunArgument,
    fidelity: Annotated[
        Path | None, typer.Option(help="Ids of questions that do not fit their vignette (JSON).", metavar="FILE")
    ] = None,
    level: Annotated[
        float, typer.Option(min=0, max=1, help="First candidates less likely right than this are ambiguous.")
    ] = 0.8,
    json_: JsonOption = False,
) -> None:
    """Judge answers as right, wrong or ambiguous; the ambiguous ones go to the raters' queue."""
    from harness.labelling.ambiguous import find_ambiguous
    from harness.running.results import load_run

    with friendly_errors():
        loaded = load_run(run)
        judged, counts = find_ambiguous(
            run, list(loaded.outcomes), suite=loaded.identity.get("suite", ""), unfaithful=fidelity, level=level
        )
        if json_:
            print(json.dumps(counts, indent=2, ensure_ascii=False))
        else:
            print_ambiguous(judged, counts, _console())


def agreement_(
    run: RunArgument,
    items: Annotated[
        Literal["shown", "labelled"], typer.Option(help="Answers of this run, or whatever any rater labelled.")
    ] = "shown",
    json_: JsonOption = False,
) -> None:
    """Compare every two raters, people and models: agreement, kappa, alpha, AC1, with intervals."""
    import numpy as np

    from harness.judging.agreement import agreement_of
    from harness.labelling.labels import ANY_OTHER, Verdicts, label_files, load_labels
    from harness.running.results import load_run
    from harness.scoring.score import SEED

    with friendly_errors():
        loaded = load_run(run)
        labels = load_labels(label_files(run, loaded.identity.get("suite", "")))
        shown = [(o.id, o.answered_with) for o in loaded.outcomes if o.answered_with is not None]
        labelled = list(dict.fromkeys(label.item for label in labels if label.pair_id != ANY_OTHER))
        chosen = shown if items == "shown" else labelled
        agreement = agreement_of(Verdicts(labels), chosen, rng=np.random.default_rng(SEED))
        if not agreement.pairs:
            raise BadData(f"No two raters labelled an item of {run}. Run `klartext harness label {run} --rater NAME`.")
        if json_:
            print(json.dumps(agreement.as_json(), indent=2, ensure_ascii=False))
        else:
            print_agreement(agreement, _console())


def rescore_(
    run: RunArgument,
    by: Annotated[Literal["person", "model"], typer.Option(help="Whose labels to use.")] = "person",
    json_: JsonOption = False,
) -> None:
    """Score a finished run again by its raters' labels, with who said it; also written to RUN/rescored.json."""
    from harness.judging.rescore import rescore
    from harness.labelling.labels import label_files
    from harness.running.results import load_run

    with friendly_errors():
        loaded = load_run(run)
        suite = loaded.identity.get("suite", "")
        rescored = rescore(loaded.outcomes, label_files(run, suite), kind=by)
        if not rescored.labels:
            other = "model" if by == "person" else "person"
            raise BadData(f"{run} has no labels by a {by}. Label it, or see `--by {other}`.")
        record = {"suite": suite, "suite_hash": loaded.suite_hash, **rescored.as_json()}
        text = json.dumps(record, indent=2, ensure_ascii=False)
        try:
            (run / "rescored.json").write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise BadData(f"{run} cannot be written ({error.strerror}).") from error
        if json_:
            print(text)
        else:
            print_rescored(rescored, _console())


def _console() -> Console:
    return Console(highlight=False, markup=False)


def print_agreement(agreement: Agreement, console: Console) -> None:
    """Print who labelled, how far every two agree, and where they differ."""
    labelled = ", ".join(f"{rater} {n}" for rater, n in agreement.labelled.items())
    console.print(f"{agreement.items} items. Labelled: {labelled}.\n")
    console.print(_figures((*agreement.groups, *agreement.pairs)))
    console.print(NOTE, style="dim")
    for group in (*agreement.groups, *agreement.pairs):
        _print_notes(group, console)
    for group in agreement.pairs:
        console.print()
        console.print(_confusion(group))


def _figures(groups: tuple[Group, ...]) -> Table:
    table = Table(title="Agreement", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("raters", overflow="fold")
    table.add_column("n", justify="right")
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for group in groups:
        names = group.name if len(group.raters) > 2 else "\n".join(group.raters)
        cells = [_cell(group.figures.get(name)) for name in COLUMNS]
        table.add_row(names, str(group.n), *cells, end_section=True)
    return table


def _cell(figure: Estimate | None) -> str:
    if figure is None:
        return ""
    if figure.value is None:
        return "-"
    interval = figure.interval
    between = f"[{_short(interval.low)}, {_short(interval.high)}]" if interval else "-"
    return f"{_short(figure.value)}\n{between}"


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def _print_notes(group: Group, console: Console) -> None:
    notes: dict[str, list[str]] = {}
    for name, figure in group.figures.items():
        if figure.note and name in COLUMNS:
            notes.setdefault(figure.note, []).append(COLUMNS[name])
    for note, names in notes.items():
        console.print(f"{group.name}, {', '.join(names)}: {note}.", style="dim")


def _confusion(group: Group) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(f"{group.raters[0]} down, {group.raters[1]} across")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    if group.confusion is not None:
        for verdict, row in zip(VERDICTS, group.confusion, strict=True):
            table.add_row(verdict, *(str(count) for count in row))
    return table


def print_rescored(rescored: Rescored, console: Console) -> None:
    """Print both scores, what changed, and whose labels were used."""
    whose = "people" if rescored.kind == "person" else "models"
    if rescored.raw and rescored.after:
        console.print(_scores(rescored.raw, rescored.after, whose))
        console.print(f"{rescored.looked_at} answered paraphrases have a verdict by {whose}.")
    novel = rescored.novel
    console.print(
        f"Novel questions: {novel.n}; incorrect {novel.incorrect}, partially correct {novel.partial}, "
        f"correct {novel.correct}, unanswered {novel.unanswered}, to label {novel.open}."
    )
    if rescored.disputed:
        console.print(f"Raters differ on {rescored.disputed}: they stay. Decide with `klartext harness adjudicate`.")
    for change in rescored.changes[:MOST]:
        turned = "right now" if change.after else "wrong now"
        console.print(f"{turned}: {change.question_id}, {change.pair_id} is {change.label} ({', '.join(change.by)})")
    if len(rescored.changes) > MOST:
        console.print(f"and {len(rescored.changes) - MOST} more, in rescored.json")
    for item in rescored.labels:
        console.print(f"{item.file}: {item.labels} labels of {', '.join(item.raters)}, sha256 {item.sha256[:12]}…")


def _scores(raw: Score, after: Score, whose: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("paraphrases", "n", "errors", "accuracy", "95 % Wilson", "precision"):
        table.add_column(heading, justify="left" if heading == "paraphrases" else "right")
    for name, score in (("by id", raw), (f"after labels by {whose}", after)):
        precision = "" if score.precision is None else f"{score.precision:.3f}"
        cells = (str(score.n), str(score.errors), f"{score.accuracy:.3f}", _range(score.wilson), precision)
        table.add_row(name, *cells)
    return table


def _range(interval: Interval) -> str:
    return f"{interval.low:.3f}-{interval.high:.3f}"


def print_ambiguous(judged: list[Judged], counts: dict[str, Any], console: Console) -> None:
    """Print counts, reasons and the calibration of the confidences."""
    console.print(
        f"{counts['n']} paraphrases: {counts['right']} right, {counts['wrong']} wrong, {counts['ambiguous']} ambiguous "
        f"({counts['ambiguous_right']} of these by id right). {counts['novel_ambiguous']} ambiguous novel questions.",
        soft_wrap=True,
    )
    for name, count in counts["because"].items():
        console.print(f"  {name}: {count} ({WHY[name]})")
    bins = bins_of(judged)
    if not bins:
        console.print("Too few scored paraphrases to tell when two candidates are close: that reason is not used.")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("confidence", "n", "foretold", "right"):
        table.add_column(heading, justify="right")
    for item in bins:
        table.add_row(f"{item.low:.2f}-{item.high:.2f}", str(item.n), f"{item.foretold:.3f}", f"{item.right:.3f}")
    console.print(table)
    console.print("foretold: from the two scores, learnt on other pairs of this run. right: what came.", style="dim")
