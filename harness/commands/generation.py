"""`klartext harness prompts`, `generate`, `refine` and `batch`: a model's words become suites, by files or live."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import BadData, LanguageDetector, Settings, friendly_errors, load_catalog, locate
from harness.commands import options
from harness.console import plain_console, plain_table, print_json, progress_bar
from harness.llm.batch_files import ModelAnswer, read_answers, write_requests
from harness.llm.contract import ModelCall
from harness.patients.prompts import Prompt
from harness.patients.suites import QuestionSource, Recording, save_suite

if TYPE_CHECKING:
    from harness.generation.answering import Keeping
    from harness.generation.recording import Answerer
    from harness.generation.refinery import Refinery
    from harness.generation.rounds import MeanScore, Progress, RoundTable
    from harness.llm.batch import State


def export(
    out: options.PromptsFile,
    plan: options.SuitePlan,
    model: options.ModelName = "gpt-4o",
    temperature: options.Temperature = None,
    max_tokens: options.MaxTokens = None,
) -> None:
    """Write every prompt of a suite as an OpenAI Batch input file, to be answered by any model anywhere."""
    with friendly_errors():
        prompts = plan.prompts()
        write_requests(prompts, out, model=model, temperature=temperature, max_tokens=max_tokens)
        print(f"{len(prompts)} prompts for {sum(prompt.count for prompt in prompts)} questions in {out}")


@dataclass(frozen=True, slots=True)
class ImportedSuite:
    """How the answers came about, and the suite that they become."""

    answered: Annotated[Literal["live", "offline"], typer.Option(help="How the answers were made.")] = "offline"
    temperature: options.Temperature = None
    note: options.Note = ""
    fidelity: options.Fidelity = "keep"
    missing: Annotated[
        Path | None,
        typer.Option("--missing", help="With `reject`: write prompts for what is missing, and no suite yet."),
    ] = None
    suites: options.Suites = options.SUITES


def import_(
    files: Annotated[list[Path], typer.Argument(help="Batch output files (JSONL) with the answers.")],
    name: options.SuiteName,
    plan: options.SuitePlan,
    made: ImportedSuite,
) -> None:
    """Read a model's answers, report what was dropped and why, and write an immutable suite."""
    from harness.generation.recording import Sifting  # word lists, scipy

    with friendly_errors():
        sifting = Sifting(made.fidelity, plan.vignettes, made.missing)
        source = _source(made.answered, made.temperature)
        recording = sifting.recording(
            plan.prompts(), read_answers(files), detector=detector_of(locate(plan.catalog)), source=source
        )
        if recording is not None:
            _write_suite(made.suites / name, plan, made.note, recording)


def _source(answered: Literal["live", "offline"], temperature: float | None) -> QuestionSource:
    return QuestionSource(kind="model", answered=answered, temperature=temperature, date=date.today())


def _write_suite(folder: Path, plan: options.SuitePlan, note: str, recording: Recording) -> None:
    """Write a suite, and say what was dropped and what is missing."""
    for item in recording.dropped:
        print(f"dropped ({item.reason}) from {item.prompt_id}: {item.text[:100]}")
    for prompt_id, missing in recording.short.items():
        print(f"short by {missing}: {prompt_id}")
    if not recording.questions:
        raise BadData("No question could be read, so no suite was written. Check the answers.")
    meta = save_suite(folder, catalog=plan.content(), note=note, recording=recording, today=date.today())
    print(f"{folder}: {meta.counts['paraphrase']} paraphrases, {meta.counts['novel']} novel questions")


def detector_of(folder: Path) -> LanguageDetector:
    """Return a language detector for the languages of a catalog."""
    texts = {path.stem: load_catalog(folder, path.stem) for path in sorted(folder.glob("??.yaml"))}
    return LanguageDetector(
        {
            language: [text for pair in catalog.pairs for text in (pair.answer, *(v.text for v in pair.variants))]
            for language, catalog in texts.items()
        }
    )


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How the model is called."""

    temperature: options.Temperature = None
    seed: Annotated[int | None, typer.Option(help="Repeatable sampling, where the endpoint has it.")] = None
    max_tokens: options.MaxTokens = None
    structured: Annotated[bool, typer.Option("--structured", help="Ask for JSON where the endpoint can.")] = False
    parallel: options.Parallel = 4
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one answer.")] = 120.0
    retries: Annotated[int, typer.Option(min=0, max=20, help="After 429, 5xx, time-outs, cut connections.")] = 4

    def of(self, model: str) -> ModelCall:
        return ModelCall(model, self.temperature, self.seed, self.max_tokens, self.timeout, self.retries, self.parallel)


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """What may be spent, and where answers are kept."""

    budget: options.Budget = None
    prices: options.Prices = None
    replay: options.Replay = False
    store: Annotated[Path | None, typer.Option(help="Store of answers. Default: in the data folder.")] = None
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no answers for other suites.")] = False

    @property
    def keeping(self) -> Keeping:
        from harness.generation.answering import Keeping

        return Keeping(self.replay, not self.no_store, self.store, self.prices, self.budget)


@dataclass(frozen=True, slots=True)
class NewSuite:
    """The suite to be written."""

    note: options.Note = ""
    fidelity: options.Fidelity = "keep"
    suites: options.Suites = options.SUITES


def generate(  # noqa: PLR0913 - a name, a model and four groups
    name: options.SuiteName,
    model: Annotated[str, typer.Option(help="Model at the endpoint of KLARTEXT_MODEL_URL.")],
    plan: options.SuitePlan,
    call: CallOptions,
    storing: StoreOptions,
    written: NewSuite,
) -> None:
    """Have a live model write a suite; interrupted, it goes on where it was and asks nothing twice."""
    from harness.generation.answering import answer_with_model
    from harness.generation.recording import Sifting

    with friendly_errors():
        prompts, folder = plan.prompts(), written.suites / name
        if folder.exists():
            raise BadData(f"{folder} exists, and suites are immutable. Choose another name with `--name`.")
        kept = written.suites / f"{name}.answers.jsonl"

        def ask(asked: Sequence[Prompt]) -> dict[str, ModelAnswer]:
            answer_with_model(asked, call.of(model), storing.keeping, kept, structured=call.structured)
            return read_answers([kept])

        recording = Sifting(written.fidelity, plan.vignettes).recording(
            prompts,
            ask(prompts),
            detector=detector_of(locate(plan.catalog)),
            source=_source("live", call.temperature),
            answerer=ask,
        )
        if recording is not None:
            _write_suite(folder, plan, written.note, recording)


@dataclass(frozen=True, slots=True)
class RefineFolder:
    """What is refined, and where its rounds are kept."""

    suite: options.Suite
    out: Annotated[Path, typer.Option("--out", help="Folder that keeps every round. Unfinished work in it goes on.")]
    answers: Annotated[
        list[Path] | None, typer.Option("--answers", help="Answers to its prompts.jsonl (Batch output); repeatable.")
    ] = None


@dataclass(frozen=True, slots=True)
class CriticOptions:
    """Who critiques and corrects."""

    live: Annotated[bool, typer.Option("--live", help="Ask the endpoint of KLARTEXT_MODEL_URL.")] = False
    model: Annotated[str, typer.Option("--model", help="Model that critiques and corrects.")] = "gpt-4o"
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature.")] = None


@dataclass(frozen=True, slots=True)
class RefineSource:
    """Which questions are refined, and against what."""

    limit: Annotated[int | None, typer.Option(min=1, help="Refine only the first so many paraphrases.")] = None
    catalog: options.CatalogPath = "mammography"
    vignettes: options.Vignettes = None


@dataclass(frozen=True, slots=True)
class RefinedSuite:
    """The suite that the refined questions become, if any."""

    name: Annotated[str | None, typer.Option("--name", help="Write the refined questions as a suite.")] = None
    note: Annotated[str, typer.Option(help="What readers of results must know of that suite.")] = ""
    suites: Annotated[Path, typer.Option(help="Folder that its folder is made in.")] = options.SUITES


def refine(
    work: RefineFolder,
    critic: CriticOptions,
    selected: RefineSource,
    refined: RefinedSuite,
    json_: options.Json = False,
) -> None:
    """Critique and correct generated questions, at most four rounds; offline by files, or live."""
    from harness.generation.refinery import Refinery
    from harness.generation.rounds import round_table

    with friendly_errors():
        refinery = Refinery.open(
            work.out, work.suite, selected.catalog, vignettes=selected.vignettes, limit=selected.limit
        )
        taken = refinery.take(work.answers or ())
        progress = refinery.advance(_endpoint(refinery, critic) if critic.live else None)
        refinery.keep(progress, model=critic.model, temperature=critic.temperature)
        table = round_table(progress.tracks, [aspect.key for aspect in refinery.asking.texts.aspects])
        if json_:
            print_json({"pending": len(progress.pending), **table.as_json()})
        else:
            _show_rounds(table, progress, work.out, taken)
        if refined.name is not None:
            folder = refined.suites / refined.name
            meta = refinery.write_suite(
                progress, folder, answered="live" if critic.live else "offline", note=refined.note
            )
            typer.echo(f"{folder}: {sum(meta.counts.values())} questions", err=json_)


def _endpoint(refinery: Refinery, critic: CriticOptions) -> Answerer:
    """Ask the configured endpoint; every answer is kept before the next is awaited."""
    from harness.generation.answering import Keeping, answer_into, requests_for, still_open
    from harness.llm import open_model

    call, settings = ModelCall(critic.model, critic.temperature), Settings.from_environment()
    file = refinery.answers_file
    terms = Keeping().terms(settings, job=f"refine {file.absolute()}")

    def ask(prompts: Sequence[Prompt]) -> dict[str, ModelAnswer]:
        with open_model(settings, call, terms) as asked, progress_bar("prompts", len(prompts)) as advance:
            answer_into(file, asked, still_open(requests_for(prompts), call, file), each=lambda _: advance())
        return read_answers([file])

    return ask


def _show_rounds(table: RoundTable, progress: Progress, out: Path, taken: int) -> None:
    from harness.generation.refinery import PROMPTS, ROUNDS_FILE

    def cell(one: MeanScore | None, digits: int = 3) -> str:
        if one is None:
            return ""
        deviation = "" if one.deviation is None else f" ({one.deviation:.{digits}f})".replace("(0.", "(.")
        return f"{one.mean:.{digits}f}{deviation}"

    console = plain_console(soft_wrap=True)
    title = "Rounds of critique: mean (standard deviation) of the share of the maximum"
    rounds = (f"round {number}" for number in range(1, len(table.lengths) + 1))
    shown = plain_table(title, "aspect", *rounds)
    for aspect, row in table.rows.items():
        shown.add_row(aspect, *map(cell, row))
    shown.add_section()
    shown.add_row("words", *(cell(one, digits=1) for one in table.lengths))
    shown.add_row("questions", *(str(one.n) if one else "" for one in table.rows["total"]))
    console.print(shown)
    ended = ", ".join(f"{count} {why}" for why, count in table.stopped.items())
    best = ", ".join(f"{count} in round {number}" for number, count in table.best.items())
    console.print("carried on: questions that are done keep their last total.", style="dim")
    console.print(f"{len(progress.tracks)} questions: {ended}. Best: {best or 'none scored yet'}.")
    if taken:
        console.print(f"{taken} answers were new.")
    console.print(f"Every round is in {out / ROUNDS_FILE}.")
    if progress.pending:
        console.print(f"{len(progress.pending)} prompts wait in {out / PROMPTS}: have them answered, and give the")
        console.print("answers with `--answers FILE`.")


IN_PROGRESS, INCOMPLETE = 3, 1  # exit codes
PromptsArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Batch input file, of `prompts export`.")]
StateOption = Annotated[
    Path | None, typer.Option("--state", help="Where it is kept how things stand. Default: FILE with .batch.json.")
]


def _at(file: Path, state: Path | None) -> Path:
    return state or file.with_suffix(".batch.json")


def submit_(
    file: PromptsArgument,
    state: StateOption = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that the answers may cost.")] = None,
    prices: options.Prices = None,
) -> None:
    """Hand in every request, in as many batches as it takes; run again, it goes on and hands in nothing twice."""
    from harness.llm.batch import BatchTerms, Purse, submit  # openai is slow to import
    from harness.llm.batch_service import BatchService
    from harness.llm.prices import load_prices

    with friendly_errors():
        purse = Purse(load_prices(prices), budget) if budget is not None else None
        with BatchService.open(Settings.from_environment()) as service:
            done = submit(file, _at(file, state), service, BatchTerms(purse=purse), told=print)
        print(f"{done.requests} requests handed in. Next: klartext harness batch poll {file}")


def poll_(
    file: PromptsArgument,
    state: StateOption = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until every batch has ended.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 60.0,
) -> None:
    """Say how the batches stand; exit 3 while some are under way."""
    from harness.llm.batch import poll
    from harness.llm.batch_service import BatchService

    with friendly_errors():
        with BatchService.open(Settings.from_environment()) as service:
            while not (stands := poll(_at(file, state), service)).is_final and wait:
                time.sleep(every)
        _show_batches(stands)
        if stands.is_final:
            print(f"Next: klartext harness batch fetch {file} --out answers.jsonl")
    raise typer.Exit(0 if stands.is_final else IN_PROGRESS)


def fetch_(
    file: PromptsArgument,
    out: Annotated[Path, typer.Option("--out", help="Batch output file (JSONL) to write, for `prompts import`.")],
    state: StateOption = None,
    prices: options.Prices = None,
) -> None:
    """Fetch what has ended; exit 3 while some is under way, 1 when requests are left without an answer."""
    from harness.llm.batch import costs_of, fetch, write_rest
    from harness.llm.batch_service import BatchService
    from harness.llm.prices import in_words, load_prices, write_costs

    with friendly_errors():
        table = load_prices(prices)
        with BatchService.open(Settings.from_environment()) as service:
            stands = fetch(_at(file, state), out, service)
        costs = costs_of(stands, out, table)
        write_costs(costs, out.with_suffix(".costs.json"))
        print(in_words(costs))
        if not stands.is_final:
            _show_batches(stands)
            raise typer.Exit(IN_PROGRESS)
        rest = file.with_suffix(".rest.jsonl")
        left = write_rest(stands, out, rest)
        if left:
            print(f"{left} of {stands.requests} requests have no answer. Next: klartext harness batch submit {rest}")
            raise typer.Exit(INCOMPLETE)
        print(f"All {stands.requests} requests are answered. Next: klartext harness prompts import {out} --name NAME")


def _show_batches(state: State) -> None:
    for number, part in enumerate(state.parts, 1):
        failed = f", {part.failed} failed" if part.failed else ""
        problem = f" ({part.problem})" if part.problem else ""
        print(f"part {number}: {part.status}, {part.done} of {part.requests} answered{failed}{problem}")
