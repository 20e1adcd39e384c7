"""`klartext harness label` and what belongs to it: queues, adjudication, labels in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bot import BadData, friendly_errors
from harness.commands.options import CatalogOption

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
NameOption = Annotated[str, typer.Option("--rater", help="Your name or pseudonym.")]
labels_app = typer.Typer(help="Labels to and from other tools, as CSV or JSON lines.", no_args_is_help=True)


def add_to(harness: typer.Typer) -> None:
    """Add the commands to the harness."""
    harness.command()(queue)
    harness.command()(label)
    harness.command()(adjudicate)
    harness.add_typer(labels_app, name="labels")


def queue(
    run: RunArgument,
    rater: Annotated[list[str], typer.Option(help="A rater's name; give it once for each.", metavar="NAME")],
    each: Annotated[int, typer.Option(min=1, help="Labels wanted for each item.")] = 2,
    items: Annotated[
        Literal["novel", "ambiguous", "all"], typer.Option(help="Answers to novel questions, ambiguous ones, or both.")
    ] = "all",
) -> None:
    """Assign what needs people to raters: a queue of their own each, in an order of their own."""
    from harness.labelling.queues import assign, items_to_label, write_queues
    from harness.labelling.session import checked_name
    from harness.running.run import load_outcomes

    with friendly_errors():
        names = [checked_name(name) for name in dict.fromkeys(rater)]
        found = items_to_label(run, load_outcomes(run), items)
        if not found:
            raise BadData(
                f"{run} holds nothing to label. Run `klartext harness ambiguous {run}`, or use another suite."
            )
        queues = assign(found, names, each=each)
        for name, file in zip(queues, write_queues(run, queues), strict=True):
            print(f"{name}: {len(queues[name])} items in {file}")


def label(run: RunArgument, rater: NameOption, catalog: CatalogOption = "mammography") -> None:
    """Label what was shown, one key each: 1 incorrect, 2 partially correct, 3 correct; blind to all other labels."""
    from harness.labelling.session import label_in_terminal

    with friendly_errors():
        label_in_terminal(run, rater=rater, catalog=catalog)


def adjudicate(run: RunArgument, rater: NameOption, catalog: CatalogOption = "mammography") -> None:
    """Decide, as a third person, where raters differ; both labels are shown with their reasons."""
    from harness.labelling.session import adjudicate_in_terminal
    from harness.running.results import load_run

    with friendly_errors():
        suite = load_run(run).identity.get("suite", "")
        adjudicate_in_terminal(run, rater=rater, catalog=catalog, suite=suite)


@labels_app.command("export")
def export(
    run: RunArgument,
    out: Annotated[Path, typer.Option(help="File to write: .csv, or .jsonl.", metavar="FILE")],
) -> None:
    """Write all labels of a run, one a line: item_id, rater_id, label, reason, comment, time."""
    from harness.labelling.exchange import write_labels
    from harness.labelling.labels import label_files, load_labels
    from harness.running.results import load_run

    with friendly_errors():
        labels = load_labels(label_files(run, load_run(run).identity.get("suite", "")))
        write_labels(labels, out)
        print(f"{len(labels)} labels in {out}")


@labels_app.command("import")
def import_(run: RunArgument, file: Annotated[Path, typer.Argument(help="A .csv or .jsonl file.")]) -> None:
    """Add labels that raters gave in another tool; all of them, or none when a line is wrong."""
    from harness.labelling.exchange import add_labels, read_labels
    from harness.running.run import load_outcomes

    with friendly_errors():
        known = {outcome.id for outcome in load_outcomes(run)}
        added, present = add_labels(run, read_labels(file, known=known))
        print(f"{added} labels added, {present} were there already")


@labels_app.command("items")
def items_(
    run: RunArgument,
    out: Annotated[Path, typer.Option(help="File to write: .csv, or .jsonl.", metavar="FILE")],
    rater: Annotated[str, typer.Option(help="Whose queue, in their order. Default: all items.", metavar="NAME")] = "",
    catalog: CatalogOption = "mammography",
) -> None:
    """Write what is to be labelled, for another tool: item_id, question, answer. It holds no labels."""
    from harness.labelling.exchange import write_items
    from harness.labelling.queues import items_to_label, queue_of
    from harness.labelling.session import shown_answers
    from harness.running.run import load_outcomes

    with friendly_errors():
        outcomes = load_outcomes(run)
        found = queue_of(run, outcomes, rater) if rater else items_to_label(run, outcomes)
        write_items(found, shown_answers(found, outcomes, catalog), out)
        print(f"{len(found)} items in {out}")
