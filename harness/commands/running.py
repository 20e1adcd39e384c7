"""`klartext harness run` and `klartext demo`: ask a suite, print the paper's tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Column

from bot import BadData, Catalog, Unreachable, data_folder, friendly_errors
from harness.commands import options
from harness.commands.comparing import show_stability
from harness.console import counted, plain_console, plain_table, progress_bar, share
from harness.labelling.labels import Verdicts, verdicts_on
from harness.patients.suites import Suite, SuiteOnDisk, load_suite, open_suite
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.paper_tables import NOTE_1, NOTE_PAPER, Titles, note_2, table_1, table_2
from harness.running.outcomes import ERROR, Outcome, Tally
from harness.running.run import How, ask_suite, load_outcomes, plan_of, recipe_of, run_suite
from harness.running.store import Store
from harness.running.workers import Recipe
from harness.scoring.expectations import KINDS, OFFERED, Expectation, expectations_of
from harness.scoring.score import Summary, summarise, summarise_tally
from harness.systems.system import InProcess, Opening, System

MOST_HELD = 100_000  # outcomes that are read again to be looked at one by one
LISTED = 20  # questions whose answers change between repeats
LISTED_LINES = 5  # of a file of answers, that fit no question
PAPER_SUITES = "mammography-"  # how shipped suites are called that the paper's figures may stand beside


@dataclass(frozen=True, slots=True)
class Again:
    """What to do where a system failed: on some questions, on some messages, on all."""

    questions: str
    messages: str
    whole: str


AGAIN = Again("Run again to ask them again.", "Run again to say them again.", "Mend it and run this again.")
# A file says the same again: what it lacks has to be written into it, and then it is another file.
FILE_AGAIN = Again(*["Complete the file of answers, and run it into another folder (`--out`)."] * 3)


@dataclass(frozen=True, slots=True)
class About:
    """What is said about a run beside its figures.

    Attributes:
        verdicts: Of raters, on novel questions.
        paper: Whether the published method and its figures stand beside.
        again: What to do where the system failed.
        beside: Another run: the published method on the same questions.
    """

    verdicts: Verdicts
    paper: bool
    again: Again = AGAIN
    beside: tuple[list[Outcome], Summary] | None = None


def run(
    suite: options.Suite,
    out: Annotated[Path, typer.Option(help="Folder of the run. An unfinished run in it is continued.")],
    asking: options.SystemOptions,
    data: options.Data = None,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, max=100, help="Ask again and again, in OUT/repeat-1 …: do answers change?"),
    ] = 1,
) -> None:
    """Ask a system every question of a suite, score it, and print the tables."""
    from harness.labelling.ambiguous import MOST_JUDGED, find_ambiguous  # scipy.optimize is slow to import

    with friendly_errors():
        opening, opened_suite = asking.opening(data), open_suite(suite)
        recipe = recipe_of(
            asking.system, opening, opened_suite.meta.language, asking.how, spoken=opened_suite.meta.spoken
        )
        with recipe.opened() as opened:
            _name_unasked(opened_suite, *opened)
            if repeats > 1:
                folders = [out / f"repeat-{number}" for number in range(1, repeats + 1)]
                for folder in folders:
                    _ask(opened_suite, recipe, opened, folder, asking.how)
                show_stability(folders, LISTED)
                return
            store = _ask(opened_suite, recipe, opened, out, asking.how)
        counts = store.tally()
        again = FILE_AGAIN if _is_file(recipe) else AGAIN
        _require_answers(opened_suite, store, counts, again)
        record: dict[str, Any] = {}
        waiting = sum(count.n for count in counts if count.cell.unjudged)
        if any(count.cell.right is not None for count in counts):
            summary = summarise_tally(counts)
            about = About(
                verdicts_on(out, opened_suite.meta.name),
                paper=recipe.file is None and is_of_paper(opened_suite),
                again=again,
            )
            print_tables(opened_suite, list(store.novel()), summary, about)
            record = summary.as_json()
            if summary.total.n <= MOST_JUDGED:
                _, record["automatic"] = find_ambiguous(out, load_outcomes(out), suite=opened_suite.meta.name)
        expected = expectations_of(counts)
        if expected:
            print_expectations(opened_suite, expected, counts, again=None if record else again)
            record["expectations"] = {name: one.as_json() for name, one in expected.items()}
        failed = sum(count.n for count in counts if count.cell.decision == ERROR)
        if failed and not record:  # nothing is scored yet: no table has said so
            print(_failed(failed, "question", again.questions))
        record |= {"unjudged": waiting} if waiting else {}
        _say_what_waits(out, counts, waiting)
        (out / "summary.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _is_file(recipe: Recipe) -> bool:
    return recipe.file is not None and recipe.file.kind == "answers"


def is_of_paper(suite: SuiteOnDisk) -> bool:
    """Whether the paper's figures stand beside a suite: they are about mammography, in these voices."""
    folder = suite.questions.path.parent
    return folder.parent == data_folder("vignettes") / "suites" and folder.name.startswith(PAPER_SUITES)


def _name_unasked(suite: SuiteOnDisk, system: System, catalog: Catalog) -> None:
    """Name the lines of a file of answers that no question of the suite has: a typing error, or another suite's."""
    unasked_of = getattr(system, "unasked", None)
    if unasked_of is None:
        return
    # In dialogues a simulated patient also takes a choice, by the words of the catalog.
    taken = (pair.question for pair in catalog.pairs) if suite.meta.spoken else ()
    lines = unasked_of(chain((question.text for question in suite.questions), taken))
    if lines:
        first = ", ".join(map(str, lines[:LISTED_LINES])) + (" …" if len(lines) > LISTED_LINES else "")
        fit = f"{counted(len(lines), 'line')} of the file of answers {'fits' if len(lines) == 1 else 'fit'}"
        print(f"{fit} no question of {suite.meta.name}, letter by letter: {first}")


def _say_what_waits(out: Path, counts: Tally, waiting: int) -> None:
    """Say how many answers people must judge before anybody knows what they are."""
    if sum(count.n for count in counts) > MOST_HELD and not waiting:
        return
    free = waiting or sum(outcome.said is not None for outcome in load_outcomes(out))
    if not free:
        return
    noun = "answer is" if free == 1 else "answers are"
    print(f"\n{free} {noun} in words that no approved text has: people or models judge them.")
    if waiting:
        print("Until then they count neither as right nor as wrong.")
    print(f"Next: klartext harness labels give {out} --rater NAME")


def _ask(suite: SuiteOnDisk, recipe: Recipe, opened: tuple[System, Catalog], out: Path, how: How) -> Store:
    system, catalog = opened
    with progress_bar(_label(suite, system), len(suite.questions)) as advance:
        at = suite.questions.path.parent
        own = "" if at.is_relative_to(data_folder("vignettes")) else str(at)
        return ask_suite(suite, system, catalog, out, plan_of(how, recipe, system, advance, own))


def _label(suite: Suite | SuiteOnDisk, system: System) -> str:
    return f"{suite.meta.name}, {system.identity.get('method') or system.identity['system']}"


def _require_answers(suite: SuiteOnDisk, store: Store, counts: Tally, again: Again) -> None:
    """Raise an error in one line when there is nothing to score."""
    if counts and all(count.cell.decision == ERROR for count in counts):
        reason = next(outcome.error for outcome in store.failed())
        raise Unreachable(f"The system answered no question ({reason}). {again.whole}")
    if all(count.cell.right is None and count.cell.expected is None and not count.cell.unjudged for count in counts):
        raise BadData(
            f"The suite {suite.meta.name!r} left no paraphrase to score, only novel questions to label. "
            "Import one with `--variations 1` or more."
        )


def print_tables(
    suite: Suite | SuiteOnDisk,
    outcomes: list[Outcome],
    summary: Summary,
    about: About,
) -> None:
    """Print the paper's tables for a run; `outcomes` may be those of novel questions alone."""
    verdicts, beside, paper = about.verdicts, about.beside, about.paper
    titles = Titles({vignette.id: vignette.title for vignette in load_vignettes(suite.meta.language, names=[ALL])})
    console = plain_console()
    console.print(table_1(summary, beside[1] if beside else None, titles, paper=paper))
    console.print(f"{NOTE_1}\n{NOTE_PAPER}" if paper else NOTE_1, style="dim")
    if any(outcome.kind == "novel" for outcome in outcomes):
        console.print()
        console.print(table_2(outcomes, beside[0] if beside else None, verdicts, titles, paper=paper))
        console.print(note_2(verdicts, paper=paper), style="dim")
    left_out = len(suite.questions) - summary.asked
    if left_out:
        console.print(f"\n{_left_out(left_out, 'question')}")
    if summary.failed:
        console.print(f"\n{_failed(summary.failed, 'question', about.again.questions)}")
    if suite.meta.note:
        console.print(f"\n{suite.meta.note}")


def print_expectations(
    suite: SuiteOnDisk, found: Mapping[str, Expectation], counts: Tally, *, again: Again | None
) -> None:
    """Print what was expected of messages in chats and how often it came; `again` None: another table says the rest."""
    table = plain_table(
        "What should come of messages", "Expected", "n", "met", "95 %", "offered", Column("worst vignette")
    )
    for name, one in found.items():
        worst, total = one.worst(), one.total
        interval = total.wilson
        said = "" if worst is None or len(one.vignettes) < 2 else f"{worst} {share(one.vignettes[worst].share)}"
        table.add_row(
            KINDS.get(name, name),
            str(total.n),
            share(total.share, none="–"),
            f"{share(interval.low)}-{share(interval.high)}" if interval else "",
            share(total.offered / total.n) if name in OFFERED and total.n else "",
            said,
        )
    console = plain_console()
    console.print(table)
    console.print("95 %: Wilson. offered: the right pair was not shown, but among the choices.", style="dim")
    unscored, failed = (sum(getattr(one.total, what) for one in found.values()) for what in ("unscored", "failed"))
    waiting = sum(count.n for count in counts if count.cell.unjudged)
    if waiting:
        console.print(f"{counted(waiting, 'message')} not scored: answered in own words that nobody has judged.")
    if unscored > waiting:
        said = "nothing had been shown that they could be about, or only what people have to judge"
        console.print(f"{counted(unscored - waiting, 'follow-up')} not scored: {said}.")
    if again is not None:
        left_out = len(suite.questions) - sum(count.n for count in counts)
        if left_out:
            console.print(_left_out(left_out, "message"))
        if failed:
            console.print(_failed(failed, "message", again.messages))
        if suite.meta.note:
            console.print(f"\n{suite.meta.note}")


def _failed(n: int, noun: str, again: str) -> str:
    return f"The system failed on {counted(n, noun)}: not scored. {again}"


def _left_out(n: int, noun: str) -> str:
    return f"{counted(n, noun)} left out: near copies of the catalog's texts."


def demo(
    no_chat: Annotated[bool, typer.Option("--no-chat", help="End after the tables.")] = False,
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Which recorded suite.")] = "de",
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
) -> None:
    """Evaluate the assistant on the recorded questions, beside the published method, then open the chat."""
    with friendly_errors():
        Console(stderr=True).print("Opening the catalog (the first time it is embedded and trained: some minutes) …")
        suite = load_suite(f"mammography-{lang}")
        hybrid = InProcess.open(Opening("mammography", "embedded", "hybrid", data), lang)
        cosine = InProcess(hybrid.assistant, "cosine", {**hybrid.identity, "method": "cosine"})
        catalog = hybrid.assistant.catalog(lang)
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for system in (hybrid, cosine):
                with progress_bar(_label(suite, system), len(suite.questions)) as advance:
                    found.append(run_suite(suite, system, catalog, Path(folder) / system.method, progress=advance))
            outcomes, beside = found
            verdicts = verdicts_on(Path(folder) / hybrid.method, suite.meta.name)
        about = About(verdicts, paper=True, beside=(beside, summarise(beside)))
        print_tables(suite, outcomes, summarise(outcomes), about)
        if not no_chat:
            from bot.commands.chat import run_chat  # the interview takes a while to import

            run_chat("mammography", encoder="embedded", data=data)
