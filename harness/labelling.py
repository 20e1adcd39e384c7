"""Label answers to novel questions in the terminal, with one key each."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.prompt import Prompt
from rich.text import Text

from bot import load_catalog, locate
from harness.labels import LABELS, VERDICTS, Item, Label, Rater, Verdicts, append_label, load_labels, now, queue
from harness.run import load_outcomes

KEYS = {"1": VERDICTS[0], "2": VERDICTS[1], "3": VERDICTS[2]}


def label_in_terminal(run: Path, *, rater: str, catalog: str, console: Console | None = None) -> None:
    """Show what this rater has not labelled yet; every label is stored before the next item is shown.

    Raters do not see each other's labels.
    """
    console = console or Console()
    outcomes = load_outcomes(run)
    labels = load_labels([run / LABELS])
    items = queue(outcomes, Verdicts(labels), rater=rater)
    if not items:
        console.print("Nothing left to label.")
        return
    pairs = load_catalog(locate(catalog), outcomes[0].lang)
    for number, item in enumerate(items, 1):
        answer = pairs.pair(item.pair_id).answer
        console.print(Panel(Text(item.outcome.text), title=f"{number} of {len(items)} · {item.outcome.vignette}"))
        console.print(Panel(Text(answer), title="The patient was shown", border_style="dim"))
        choice = _ask(console)
        if choice == "q":
            console.print("The rest stays in the queue. Run the same command to go on.")
            return
        if choice in KEYS:
            append_label(run / LABELS, _label(item, rater, choice))
    console.print("All labelled. Thank you.")


def _ask(console: Console) -> str:
    try:
        return Prompt.ask(
            "1 incorrect, 2 partially correct, 3 correct, s skip, q quit", choices=[*KEYS, "s", "q"], console=console
        )
    except (EOFError, KeyboardInterrupt):
        return "q"


def _label(item: Item, rater: str, key: str) -> Label:
    return Label(
        question_id=item.outcome.id,
        pair_id=item.pair_id,
        label=KEYS[key],
        rater=Rater(kind="person", name=rater),
        time=now(),
    )
