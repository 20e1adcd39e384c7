"""The harness on the command line of the assistant: all its commands, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import typer

from harness.commands import (
    author_answers,
    author_corruption,
    author_discussion,
    author_evidence,
    author_grades,
    author_quiz,
    author_rank,
    author_review,
    author_submit,
    author_translate,
    author_tune,
    author_variants,
    judge,
    labels,
    making,
    measuring,
    running,
    suites,
)
from harness.commands.advice import advise_, report_
from harness.commands.batch import batch
from harness.commands.comparing import compare_
from harness.commands.gate import gate
from harness.commands.options import grouped


@dataclass(frozen=True, slots=True)
class Entry:
    """A command, and an example of its use, which its help shows (after `klartext harness NAME`)."""

    command: Callable[..., None]
    example: str


Commands = Mapping[str, Entry]
COMMANDS: Commands = {
    "run": Entry(running.run, "--suite mammography-de --out runs/today"),
    "compare": Entry(compare_, "runs/release runs/today"),
    "gate": Entry(gate, "runs/today --baseline runs/release --junit gate.xml"),
    "report": Entry(report_, "runs/today --baseline runs/release"),
    "advise": Entry(advise_, "runs/today --misses"),
    "judge": Entry(judge.judge, "runs/today --items novel --prompts judge.jsonl"),
    "batch": Entry(batch, "judge.jsonl --out answers.jsonl --wait"),
    "study": Entry(measuring.study, "ablation --lang de"),
}
FAMILIES: Mapping[str, tuple[str, Commands]] = {
    "suite": (
        "Questions to ask: written by models or people, checked, and in whose voice.",
        {
            "make": Entry(making.make, "--out suites/mine --prompts prompts.jsonl"),
            "import": Entry(suites.import_, "list.csv --out suites/mine --lang en --catalog mammography --by person"),
            "refine": Entry(making.refine, "--suite suites/mine --work refining --model NAME"),
            "check": Entry(suites.check, "--suite suites/mine --fidelity"),
            "vignettes": Entry(suites.vignettes, "--lang de"),
        },
    ),
    "labels": (
        "What people and models say of answers: queue, screen, exchange, agreement, score.",
        {
            "queue": Entry(labels.queue, "runs/today --rater anna --rater ben"),
            "give": Entry(labels.give, "runs/today --rater anna"),
            "export": Entry(labels.export, "runs/today --out labels.csv"),
            "import": Entry(labels.import_, "runs/today labels.csv"),
            "agreement": Entry(labels.agreement_, "runs/today"),
            "apply": Entry(labels.apply, "runs/today --by person"),
            "meaning": Entry(labels.meaning, "runs/today --sample 50"),
        },
    ),
}

# Drafting help: `klartext author NAME`.
AUTHOR: Commands = {
    "answers": Entry(author_answers.answers, "--catalog mri --topics topics.tsv --sources leaflets --out work/answers"),
    "variants": Entry(author_variants.variants, "--catalog mri --lang en --out work/voices --prompts prompts.jsonl"),
    "near-misses": Entry(author_variants.near_misses, "--catalog mri --lang en --out work/near"),
    "review": Entry(author_review.review, "--out work/voices --catalog mri --sheet queue.csv"),
    "translate": Entry(author_translate.translate, "--catalog mri --from de --to fr --out work/french"),
    "draft": Entry(
        author_evidence.draft, '--question "Darf mein Hund mit?" --documents leaflets --out drafts/dog --model NAME'
    ),
    "submit": Entry(author_submit.submit, "drafts/dog --by anna"),
    "grades": Entry(author_grades.grades, "drafts/dog drafts/parking --form grades.csv"),
    "draft-study": Entry(author_evidence.draft_study, "--documents mammography-de --out study"),
    "draft-tune": Entry(author_tune.draft_tune, "--documents mammography-de --out tuning"),
    "discuss": Entry(author_discussion.discuss, "pair pain --out work/pain --prompts prompts.jsonl"),
    "corruption": Entry(author_corruption.corruption, "conversation.json --model NAME"),
    "forms": Entry(author_corruption.forms, "work/pain"),
    "quiz": Entry(author_quiz.quiz, "--pair radiation --out quizzes/radiation --prompts prompts.jsonl"),
    "rank": Entry(
        author_rank.rank, "--pair pain --pair radiation --pair deodorant --out ranking --prompts prompts.jsonl"
    ),
}


def part(app: typer.Typer) -> None:
    """Add the harness to the command line of the assistant."""
    harness = typer.Typer(help="Test the assistant with simulated patients.", no_args_is_help=True)
    _add(harness, COMMANDS, "klartext harness")
    for name, (help_, commands) in FAMILIES.items():
        family = typer.Typer(help=help_, no_args_is_help=True)
        _add(family, commands, f"klartext harness {name}")
        harness.add_typer(family, name=name)
    app.add_typer(harness, name="harness")
    author = typer.Typer(help="Drafting help for curators: models draft, clinicians decide.", no_args_is_help=True)
    _add(author, AUTHOR, "klartext author")
    app.add_typer(author, name="author")
    # Beside the assistant's own commands for Rasa, which do not know suites.
    of_rasa = next(group.typer_instance for group in app.registered_groups if group.name == "rasa")
    if of_rasa is not None:
        of_rasa.command("stories", epilog="Example: klartext rasa stories --suite mammography-de assistant/tests")(
            suites.stories
        )
    app.command("demo")(grouped(running.demo))
    benchmarks = typer.Typer(invoke_without_command=True)
    benchmarks.callback()(grouped(measuring.bench))
    benchmarks.command("rasa", epilog="Example: klartext bench rasa --env rasa-env --out beside-rasa.md")(
        measuring.bench_rasa
    )
    app.add_typer(benchmarks, name="bench")


def _add(to: typer.Typer, commands: Commands, path: str) -> None:
    for name, entry in commands.items():
        to.command(name, epilog=f"Example: {path} {name} {entry.example}")(grouped(entry.command))
