"""`klartext harness ambiguous`, `agreement`, `rescore` and `judge`: what a run is worth, and who says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from bot import BadData, friendly_errors
from harness.judging.judge_cli import judge

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


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
    from harness.comparison import load_run
    from harness.judging.ambiguity import find_ambiguous, print_ambiguous

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

    from harness.comparison import load_run
    from harness.judging.agreement import agreement_of
    from harness.judging.agreement_report import print_agreement
    from harness.labels import ANY_OTHER, Verdicts, label_files, load_labels
    from harness.score import SEED

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
    from harness.comparison import load_run
    from harness.judging.rescore import rescore
    from harness.judging.rescore_report import print_rescored
    from harness.labels import label_files

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
