"""`klartext harness labels`: what people and models say of answers, from the queue to the corrected score.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column

from bot import BadData, friendly_errors
from harness.commands import options
from harness.console import counted, folded, plain_console, plain_table, print_json
from harness.files import as_document, writing
from harness.judging.meaning import QUEUE, Drawing, MeaningReport, check_meaning
from harness.judging.meaning_figures import Corrected
from harness.labelling.labels import VERDICTS, Verdicts, label_files, load_labels
from harness.patients.vignettes import ALL, load_vignettes
from harness.running.run import catalog_of, load_outcomes, load_run
from harness.scoring.score import SEED

if TYPE_CHECKING:
    from harness.judging.agreement import Agreement, Estimate, RaterGroup
    from harness.judging.rescore import Rescored
    from harness.labelling.ambiguous import Judged


RaterOption = Annotated[str, typer.Option("--rater", help="Your name or pseudonym.")]
MOST = 20  # changed answers that are listed
WHY = {
    "close": "the second candidate is nearly as likely",
    "fidelity": "the right pair, but the question does not fit its vignette",
    "judges": "raters differ on it",
}
COLUMNS = {"agreement": "agree", "kappa": "kappa", "alpha": "alpha", "ac1": "AC1"}
NOTE = """\
In brackets: 95 % intervals, items resampled (agreement of two: Wilson). kappa:
Cohen. alpha: Krippendorff, labels in their order. AC1: Gwet; it holds where
nearly all labels are the same and kappa falls. -: cannot be told, see below."""


@dataclass(frozen=True, slots=True)
class AmbiguityOptions:
    """What counts as ambiguous."""

    level: Annotated[
        float | None,
        typer.Option("--level", min=0, max=1, help="First candidates less likely right are ambiguous. Default: 0.8."),
    ] = None
    fidelity: Annotated[
        Path | None,
        typer.Option("--fidelity", help="Ids of questions that do not fit their vignette (JSON).", metavar="FILE"),
    ] = None


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Who labels what."""

    rater: Annotated[
        list[str] | None, typer.Option("--rater", help="A rater's name; give it once for each.", metavar="NAME")
    ] = None
    each: Annotated[int, typer.Option("--each", min=1, help="Labels wanted for each item.")] = 2
    items: options.Items = "all"


def queue(
    run: options.RunFolder, wanted: QueueOptions, ambiguity: AmbiguityOptions, json_: options.Json = False
) -> None:
    """Assign what needs people to raters, an order for each; without raters: say what is ambiguous, and why."""
    from harness.labelling.rater_files import assign, items_to_label, write_queues
    from harness.labelling.session import checked_name

    with friendly_errors():
        names = [checked_name(name) for name in dict.fromkeys(wanted.rater or ())]
        if not names or ambiguity != AmbiguityOptions():
            _find_ambiguous(run, ambiguity, json_=json_)
        if not names:
            return
        found = items_to_label(run, load_outcomes(run), wanted.items)
        if not found:
            raise BadData(f"{run} holds nothing to label. Use another suite, or a larger `--level`.")
        queues = assign(found, names, each=wanted.each)
        for name, file in zip(queues, write_queues(run, queues), strict=True):
            print(f"{name}: {len(queues[name])} items in {file}")


def _find_ambiguous(run: Path, ambiguity: AmbiguityOptions, *, json_: bool) -> None:
    """Judge answers as right, wrong or ambiguous; the ambiguous ones go to the raters' queue."""
    from harness.labelling.ambiguous import LEVEL, find_ambiguous

    loaded = load_run(run)
    level = LEVEL if ambiguity.level is None else ambiguity.level
    judged, counts = find_ambiguous(
        run, list(loaded.outcomes), suite=loaded.suite, unfaithful=ambiguity.fidelity, level=level
    )
    if json_:
        print_json(counts)
    else:
        _print_ambiguous(judged, counts)


def give(
    run: options.RunFolder,
    rater: RaterOption,
    decide: Annotated[
        bool, typer.Option("--decide", help="As a third person, where raters differ; their reasons are shown.")
    ] = False,
    catalog: options.RunCatalog = None,
) -> None:
    """Label what was shown, one key each: 1 incorrect, 2 partially correct, 3 correct; blind to all other labels."""
    from harness.labelling.session import adjudicate_in_terminal, label_in_terminal

    with friendly_errors():
        if decide:
            adjudicate_in_terminal(run, rater=rater, catalog=catalog_of(run, catalog), suite=load_run(run).suite)
        else:
            label_in_terminal(run, rater=rater, catalog=catalog_of(run, catalog))


def export(
    run: options.RunFolder,
    out: Annotated[Path, typer.Option("--out", help="File to write: .csv, or .jsonl.", metavar="FILE")],
    to_label: Annotated[
        bool, typer.Option("--to-label", help="What is to be labelled, for another tool; no labels in it.")
    ] = False,
    rater: Annotated[
        str, typer.Option("--rater", help="With --to-label: whose queue, in their order.", metavar="NAME")
    ] = "",
    catalog: options.RunCatalog = None,
) -> None:
    """Write all labels of a run, one a line: item_id, rater_id, label, reason, comment, time."""
    from harness.labelling.exchange import write_items, write_labels
    from harness.labelling.rater_files import items_to_label, queue_of
    from harness.labelling.session import shown_answers

    with friendly_errors():
        if not to_label:
            labels = load_labels(label_files(run, load_run(run).suite))
            write_labels(labels, out)
            print(f"{len(labels)} labels in {out}")
            return
        outcomes = load_outcomes(run)
        found = queue_of(run, outcomes, rater) if rater else items_to_label(run, outcomes)
        write_items(found, shown_answers(found, outcomes, catalog_of(run, catalog)), out)
        print(f"{len(found)} items in {out}")


def import_(
    run: options.RunFolder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labels of another tool: .csv, or .jsonl.")],
) -> None:
    """Add labels that raters gave in another tool; all of them, or none when a line is wrong."""
    from harness.labelling.exchange import add_labels, read_labels

    with friendly_errors():
        known = {outcome.id for outcome in load_outcomes(run)}
        done = add_labels(run, read_labels(file, known=known))
        older = f", {done.older} older than what is there and left out" if done.older else ""
        print(f"{counted(done.added, 'label')} added, {done.present} there already{older}")


def _print_ambiguous(judged: list[Judged], counts: dict[str, Any]) -> None:
    """Print counts, reasons and the calibration of the confidences."""
    from harness.labelling.ambiguous import bins_of

    console = plain_console()
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
    table = plain_table(None, Column("confidence", justify="right"), "n", "foretold", "right")
    for item in bins:
        table.add_row(f"{item.low:.2f}-{item.high:.2f}", str(item.n), f"{item.foretold:.3f}", f"{item.right:.3f}")
    console.print(table)
    console.print("foretold: from the two scores, learnt on other pairs of this run. right: what came.", style="dim")


def agreement_(
    run: options.RunFolder,
    all_labelled: Annotated[
        bool, typer.Option("--all-labelled", help="Whatever any rater labelled, not only this run's answers.")
    ] = False,
    json_: options.Json = False,
) -> None:
    """Compare every two raters, people and models: agreement, kappa, alpha, AC1, with intervals."""
    import numpy as np

    from harness.judging.agreement import agreement_of
    from harness.labelling.labels import ANY_OTHER

    with friendly_errors():
        loaded = load_run(run)
        labels = load_labels(label_files(run, loaded.suite))
        shown = [(o.id, o.shown) for o in loaded.outcomes if o.shown is not None]
        labelled = list(dict.fromkeys(label.item for label in labels if label.pair_id != ANY_OTHER))
        chosen = labelled if all_labelled else shown
        agreement = agreement_of(Verdicts(labels), chosen, rng=np.random.default_rng(SEED))
        if not agreement.pairs:
            raise BadData(
                f"No two raters labelled an item of {run}. Run `klartext harness labels give {run} --rater NAME`."
            )
        if json_:
            print_json(agreement.as_json())
        else:
            print_agreement(agreement, plain_console())


def print_agreement(agreement: Agreement, console: Console) -> None:
    """Print who labelled, how far every two agree, and where they differ."""
    labelled = ", ".join(f"{rater} {n}" for rater, n in agreement.labelled.items())
    console.print(f"{agreement.items} items. Labelled: {labelled}.\n")
    groups = (*agreement.groups, *agreement.pairs)
    table = plain_table("Agreement", folded("raters"), "n", *COLUMNS.values())
    for group in groups:
        names = group.name if len(group.raters) > 2 else "\n".join(group.raters)
        cells = [_coefficient(group.figures.get(name)) for name in COLUMNS]
        table.add_row(names, str(group.n), *cells, end_section=True)
    console.print(table)
    console.print(NOTE, style="dim")
    for group in groups:
        notes: dict[str, list[str]] = {}
        for name, figure in group.figures.items():
            if figure.note and name in COLUMNS:
                notes.setdefault(figure.note, []).append(COLUMNS[name])
        for note, names_of_note in notes.items():
            console.print(f"{group.name}, {', '.join(names_of_note)}: {note}.", style="dim")
    for group in agreement.pairs:
        console.print()
        _print_confusion(group, console)


def _coefficient(figure: Estimate | None) -> str:
    def short(value: float) -> str:
        return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"

    if figure is None:
        return ""
    if figure.value is None:
        return "-"
    interval = figure.interval
    return f"{short(figure.value)}\n{f'[{short(interval.low)}, {short(interval.high)}]' if interval else '-'}"


def _print_confusion(group: RaterGroup, console: Console) -> None:
    table = plain_table(None, folded(f"{group.raters[0]} down, {group.raters[1]} across"), *VERDICTS)
    if group.confusion is not None:
        for verdict, row in zip(VERDICTS, group.confusion, strict=True):
            table.add_row(verdict, *(str(count) for count in row))
    console.print(table)


def apply(run: options.RunFolder, by: options.By = "person", json_: options.Json = False) -> None:
    """Score a finished run again by its raters' labels, with who said it; also written to RUN/rescored.json."""
    from harness.judging.rescore import rescore

    with friendly_errors():
        loaded = load_run(run)
        rescored = rescore(loaded.outcomes, label_files(run, loaded.suite), kind=by)
        if not rescored.labels:
            other = "model" if by == "person" else "person"
            raise BadData(f"{run} has no labels by a {by}. Label it, or see `--by {other}`.")
        record = {"suite": loaded.suite, "suite_hash": loaded.suite_hash, **rescored.as_json()}
        with writing(run / "rescored.json", "Make the run's folder writable."):
            (run / "rescored.json").write_text(as_document(record), encoding="utf-8")
        if json_:
            print_json(record)
        else:
            _print_rescored(rescored)


def _print_rescored(rescored: Rescored) -> None:
    """Print both scores, what changed, and whose labels were used."""
    console = plain_console()
    whose = "people" if rescored.kind == "person" else "models"
    if rescored.after:
        table = plain_table(None, "paraphrases", "n", "errors", "accuracy", "95 %", "precision")
        for name, score in (("by id", rescored.raw), (f"after labels by {whose}", rescored.after)):
            if score is None:
                continue
            precision = "" if score.precision is None else f"{score.precision:.3f}"
            between = f"{score.interval.low:.3f}-{score.interval.high:.3f}"
            table.add_row(name, str(score.n), str(score.errors), f"{score.accuracy:.3f}", between, precision)
        console.print(table)
        console.print(f"Answered paraphrases with a verdict by {whose}: {rescored.looked_at}.")
    novel = rescored.novel
    console.print(
        f"Novel questions: {novel.n}; incorrect {novel.incorrect}, partially correct {novel.partial}, "
        f"correct {novel.correct}, unanswered {novel.unanswered}, to label {novel.open}."
    )
    for reason, found in rescored.statements.items():
        if found.interval is not None:
            between = f"95 % {found.interval.low:.3f} to {found.interval.high:.3f}"
            console.print(f"{reason}: {found.answers} of {counted(found.n, 'labelled answer')} ({between}).")
        else:
            console.print(f"{reason}: not assessed, since nobody who labelled was asked for reasons.")
    if rescored.unjudged:
        console.print(f"{counted(rescored.unjudged, 'answer')} in the system's own words: still not judged.")
    if rescored.disputed:
        console.print(
            f"Raters differ on {rescored.disputed}: they stay. Decide with `klartext harness labels give --decide`."
        )
    for change in rescored.changes[:MOST]:
        turned = "right now" if change.after else "wrong now"
        console.print(f"{turned}: {change.question_id}, {change.pair_id} is {change.label} ({', '.join(change.by)})")
    if len(rescored.changes) > MOST:
        console.print(f"and {len(rescored.changes) - MOST} more, in rescored.json")
    for item in rescored.labels:
        console.print(f"{item.file}: {item.labels} labels of {', '.join(item.raters)}, sha256 {item.sha256[:12]}…")


MEANING_NOTE = """\
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
    run: options.RunFolder,
    catalog: options.RunCatalog = None,
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
        report = check_meaning(run, catalog=catalog_of(run, catalog), drawing=drawing, labels=labels or ())
        if json_:
            print_json(report.as_json())
        else:
            _show_meaning(report, run)


def _show_meaning(report: MeaningReport, run: Path) -> None:
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
    console.print(MEANING_NOTE, style="dim")
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
