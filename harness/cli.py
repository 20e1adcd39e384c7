"""The harness on the command line of the assistant: all its commands, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import typer

from harness.commands import generation, judge, measuring, raters, running, suites
from harness.commands.advice import advise_, errors, report_
from harness.commands.gate import compare_, gate
from harness.commands.options import grouped
from harness.commands.raters import meaning

Commands = Mapping[str, Callable[..., None]]
COMMANDS: Commands = {
    "generate": generation.generate,
    "check": suites.check,
    "run": running.run,
    "errors": errors,
    "import": suites.import_suite,
    "vignettes": suites.vignettes,
    "fidelity": suites.fidelity,
    "meaning": meaning,
    "refine": generation.refine,
    "gate": gate,
    "compare": compare_,
    "queue": raters.queue,
    "label": raters.label,
    "adjudicate": raters.adjudicate,
    "ambiguous": raters.ambiguous,
    "agreement": raters.agreement_,
    "rescore": raters.rescore_,
    "advise": advise_,
    "report": report_,
    "stability": running.stability_,
}
FAMILIES: Mapping[str, tuple[str, Commands]] = {
    "prompts": (
        "Export prompts for any model, and import its answers.",
        {"export": generation.export, "import": generation.import_},
    ),
    "study": (
        "Measure what the matcher's data and parts are worth.",
        {
            "learning-curve": measuring.learning_curve_,
            "ablation": measuring.ablation_,
            "encoders": measuring.encoders_,
            "confusion": measuring.confusion_,
        },
    ),
    "batch": (
        "Have prompts answered by OpenAI's Batch API.",
        {"submit": generation.submit_, "poll": generation.poll_, "fetch": generation.fetch_},
    ),
    "labels": (
        "Labels to and from other tools, as CSV or JSON lines.",
        {"export": raters.export_labels, "import": raters.import_labels, "items": raters.export_items},
    ),
    "judge": (
        "A model as judge, and how far it agrees with people.",
        {"export": judge.export, "import": judge.import_, "ask": judge.ask, "report": judge.report},
    ),
}


def part(app: typer.Typer) -> None:
    """Add the harness to the command line of the assistant."""
    harness = typer.Typer(help="Test the assistant with simulated patients.", no_args_is_help=True)
    for name, command in COMMANDS.items():
        harness.command(name)(grouped(command))
    for name, (help_, commands) in FAMILIES.items():
        family = typer.Typer(help=help_, no_args_is_help=True)
        for command_name, command in commands.items():
            family.command(command_name)(grouped(command))
        harness.add_typer(family, name=name)
    app.add_typer(harness, name="harness")
    app.command("demo")(grouped(running.demo))
    app.command("bench")(grouped(measuring.bench))
