"""A third person decides where raters differ, and sees all their labels with reasons."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from random import Random

from rich.console import Console

from bot import BadData
from harness.labelling.files import open_rater_file
from harness.labelling.session import Session, checked_name, converse, labels_by, shown_answers
from harness.labels import Item, Label, Rater, Verdicts, label_files, load_labels
from harness.run import Outcome, load_outcomes


def disputed_items(outcomes: list[Outcome], verdicts: Verdicts) -> list[Item]:
    """Return what was shown and is disputed, in the order of the run."""
    return [
        Item(outcome, outcome.answered_with)
        for outcome in outcomes
        if outcome.answered_with is not None and verdicts.of(outcome.id, outcome.answered_with) == "disputed"
    ]


def adjudicate_in_terminal(
    run: Path, *, rater: str, catalog: str, suite: str = "", console: Console | None = None
) -> None:
    """Show what raters of this run differ on; each decision is stored before the next item is shown.

    Args:
        run: Folder of the run.
        rater: Who decides: none of those who labelled the items.
        catalog: Where the answers are.
        suite: Whose shipped labels count too.
        console: Where to show it.

    Raises:
        BadData: The person labelled all the disputed items, or a file cannot be used.
    """
    console = console or Console(highlight=False)
    person = Rater(kind="person", name=checked_name(rater))
    outcomes = load_outcomes(run)
    labels = load_labels(label_files(run, suite))
    verdicts = Verdicts([label for label in labels if (label.role, label.rater) != ("adjudication", person)])
    disputed = disputed_items(outcomes, verdicts)
    items = [item for item in disputed if not _rated_by(person, item, verdicts)]
    if disputed and not items:
        raise BadData(f"{rater!r} labelled all {len(disputed)} disputed items. Let a third person decide: `--rater`.")
    answers = shown_answers(items, outcomes, catalog)
    with open_rater_file(run, person, adjudicator=True) as own:
        decided = {label.item for label in own.labels}
        todo = deque(item for item in items if (item.outcome.id, item.pair_id) not in decided)
        if not todo:
            console.print("Raters differ on nothing that is left to decide.")
            return
        seen = {(item.outcome.id, item.pair_id): _mixed(item, verdicts) for item in items}
        converse(Session(rater, items, todo, answers, own, labels_by(person, "adjudication"), seen), console)


def _rated_by(person: Rater, item: Item, verdicts: Verdicts) -> bool:
    return verdicts.label_of(person.id, item.outcome.id, item.pair_id) is not None


def _mixed(item: Item, verdicts: Verdicts) -> tuple[Label, ...]:
    """Return the labels in an order that tells nothing of who gave which, the same at each visit."""
    labels = list(verdicts.deciding(item.outcome.id, item.pair_id))
    Random(f"{item.outcome.id} {item.pair_id}").shuffle(labels)
    return tuple(labels)
