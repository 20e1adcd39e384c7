"""`klartext harness suite make` and `refine`: a model's words become suites, by files or live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import BadData, LanguageDetector, Settings, friendly_errors, load_catalog, locate
from harness.commands import options
from harness.console import counted, plain_console, plain_table, print_json, progress_bar
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.llm.opening import MissingRecord
from harness.patients.prompts import AGAIN, Prompt
from harness.patients.suites import QuestionSource, Recording, load_suite, save_suite

if TYPE_CHECKING:
    from harness.generation.recording import Answerer
    from harness.generation.refinery import Refinery
    from harness.generation.rounds import MeanScore, Progress, RoundTable

INCOMPLETE = 1  # exit code
SHIPPED_LANGUAGES = ("de", "en")


@dataclass(frozen=True, slots=True)
class MadeSuite:
    """How the answers came about, and the suite that they become."""

    answered: Annotated[
        Literal["live", "offline"], typer.Option("--answered", help="How the answers in files were made.")
    ] = "offline"
    note: options.Note = ""
    fidelity: options.Fidelity = "keep"
    missing: Annotated[
        Path | None,
        typer.Option("--missing", help="Write prompts for what is missing; empty when nothing is.", metavar="FILE"),
    ] = None


def make(out: options.NewSuite, plan: options.SuitePlan, asking: options.ModelOptions, made: MadeSuite) -> None:
    """Make a suite: ask a live model, or write prompts and read any model's answers; exit 1 while some are missing."""
    from harness.generation.recording import Sifting  # word lists, scipy

    with friendly_errors():
        prompts = plan.prompts()
        if asking.by_file and not asking.answers:
            print(f"{asking.write(prompts)}, for {counted(sum(prompt.count for prompt in prompts), 'question')}")
            return
        if out.exists():
            raise BadData(f"{out} exists, and suites are immutable. Choose another folder with `--out`.")
        sifting = Sifting(made.fidelity, plan.vignettes, made.missing, asking.allow_short)
        detector, source = detector_of(locate(plan.catalog)), _source(made.answered, asking.temperature)
        if asking.answers:
            recording = sifting.recording(prompts, dict(read_answers(asking.answers)), detector=detector, source=source)
        else:
            source = _source("live", asking.temperature)
            with _answerer(asking, out) as ask:
                answers = dict(ask(prompts))
                recording = sifting.recording(prompts, answers, detector=detector, source=source, answerer=ask)
        if recording is None:
            raise typer.Exit(INCOMPLETE)
        _write_suite(out, plan, made.note, recording)


@contextmanager
def _answerer(asking: options.ModelOptions, out: Path) -> Iterator[Answerer]:
    """Ask the configured endpoint; answers are kept beside the suite's folder, and the bill is told in the end."""
    from harness.generation.answering import Asking

    kept = out.with_name(f"{out.name}.answers.jsonl")
    model = Asking(asking.call(), asking.keeping, kept, asking.structured)
    out.parent.mkdir(parents=True, exist_ok=True)

    def ask(asked: Sequence[Prompt]) -> dict[str, ModelAnswer]:
        try:
            model.ask(asked)
        except MissingRecord:
            # A replay of a suite that stayed short: nobody was asked for the rest.
            if not asking.replay or not all(AGAIN in prompt.id for prompt in asked):
                raise
        return read_answers([kept])

    try:
        yield ask
    finally:
        model.tell()


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
    novel = counted(meta.counts["novel"], "novel question")
    print(f"{folder}: {counted(meta.counts['paraphrase'], 'paraphrase')}, {novel}")


def detector_of(folder: Path) -> LanguageDetector:
    """Return a language detector for the languages of a catalog and the shipped ones.

    A catalog may have one language, or few texts: what is spoken can be told all the same.
    """
    catalogs = {path.stem: load_catalog(folder, path.stem) for path in sorted(folder.glob("??.yaml"))}
    texts = {
        language: [text for pair in catalog.pairs for text in (pair.answer, *(v.text for v in pair.variants))]
        for language, catalog in catalogs.items()
    }
    for language in SHIPPED_LANGUAGES:
        shipped = (question.text for question in load_suite(f"mammography-{language}").questions)
        texts[language] = [*texts.get(language, ()), *shipped]
    return LanguageDetector(texts)


@dataclass(frozen=True, slots=True)
class RefineSource:
    """Which questions are refined, where the rounds are kept, and what they become."""

    suite: options.Suite
    work: Annotated[Path, typer.Option("--work", help="Folder that keeps every round. Unfinished work in it goes on.")]
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the suite to write, when all is refined.", metavar="DIR")
    ] = None
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Refine only the first so many paraphrases.")] = (
        None
    )
    catalog: options.CatalogPath = "mammography"
    vignettes: options.Vignettes = None
    note: options.Note = ""


def refine(refined: RefineSource, asking: options.ModelOptions, json_: options.Json = False) -> None:
    """Critique and correct generated questions, at most four rounds; offline by files, or live."""
    from harness.generation.refinery import Refinery
    from harness.generation.rounds import UNREAD, round_table

    with friendly_errors():
        live = asking.live
        refinery = Refinery.open(
            refined.work, refined.suite, refined.catalog, vignettes=refined.vignettes, limit=refined.limit
        )
        taken = refinery.take(asking.answers or ())
        progress = refinery.advance(_critic(refinery, asking) if live else None)
        refinery.keep(progress, model=asking.written_for, temperature=asking.temperature)
        if asking.prompts is not None:
            asking.write(progress.pending)
        table = round_table(progress.tracks, [aspect.key for aspect in refinery.asking.texts.aspects])
        if json_:
            print_json({"pending": len(progress.pending), **table.as_json()})
        else:
            _show_rounds(table, progress, refined.work, taken)
        if refined.out is not None:
            meta = refinery.write_suite(
                progress, refined.out, answered="live" if live else "offline", note=refined.note
            )
            typer.echo(f"{refined.out}: {counted(sum(meta.counts.values()), 'question')}", err=json_)
    unread = sum(table.stopped.get(why, 0) for why in UNREAD)
    if unread and not asking.allow_short:
        typer.echo(f"{unread} questions were left as they were: no answer about them could be read.", err=True)
        raise typer.Exit(INCOMPLETE)


def _critic(refinery: Refinery, asking: options.ModelOptions) -> Answerer:
    """Ask the configured endpoint; every answer is kept before the next is awaited."""
    from harness.generation.answering import answer_into, requests_for, still_open
    from harness.llm import open_model

    call, settings = asking.call(), Settings.from_environment()
    file = refinery.folder.answers_file
    terms = asking.keeping.terms(settings, job=f"refine {file.absolute()}")

    def ask(prompts: Sequence[Prompt]) -> dict[str, ModelAnswer]:
        with open_model(settings, call, terms) as asked, progress_bar("prompts", len(prompts)) as advance:
            answer_into(file, asked, still_open(requests_for(prompts), call, file), each=lambda _: advance())
        return read_answers([file])

    return ask


def _show_rounds(table: RoundTable, progress: Progress, out: Path, taken: int) -> None:
    from harness.generation.refinery import ROUNDS_FILE
    from harness.llm.work_folder import PROMPTS

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
