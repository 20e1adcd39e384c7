"""`klartext harness`: commands for QA engineers, hooked into the assistant's command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot import BadData, LanguageDetector, Settings, friendly_errors, load_catalog, locate
from harness.options import (
    CatalogOption,
    DataOption,
    FormatOption,
    JobsOption,
    LanguageOption,
    SchedulerOption,
    progress_bar,
)
from harness.prompts import Plan, Prompt, build_prompts, write_prompts
from harness.questions import QuestionSource
from harness.recording import read_answers, record
from harness.study.cli import study
from harness.suite import contamination, load_suite, save_suite
from harness.vignettes import load_vignettes

harness = typer.Typer(help="Test the assistant with simulated patients.", no_args_is_help=True)
prompts_app = typer.Typer(help="Export prompts for any model, and import its answers.", no_args_is_help=True)
harness.add_typer(prompts_app, name="prompts")
harness.add_typer(study, name="study")

VariationsOption = Annotated[int, typer.Option(min=0, max=100, help="Paraphrases per pair and vignette.")]
NovelOption = Annotated[int, typer.Option(min=0, max=1000, help="Novel questions per vignette.")]
TemperatureOption = Annotated[
    float | None, typer.Option(min=0, max=2, help="Sampling temperature; default: left open.")
]
NameOption = Annotated[str, typer.Option("--name", help="Name of the suite.")]
SuitesOption = Annotated[Path, typer.Option("--suites", help="Folder that the suite's folder is made in.")]


def part(app: typer.Typer) -> None:
    """Add the harness to the command line of the assistant."""
    from harness.bench import bench
    from harness.demo import demo
    from harness.gate_cli import add_to as add_gate_to
    from harness.importing import import_suite
    from harness.stability_cli import stability_

    harness.command("import")(import_suite)
    add_gate_to(harness)
    harness.command("stability")(stability_)
    app.add_typer(harness, name="harness")
    app.command()(demo)
    app.command()(bench)


def _plan(catalog: str, lang: str, variations: int, novel: int) -> list[Prompt]:
    loaded = load_catalog(locate(catalog), lang)
    return build_prompts(loaded, load_vignettes(lang), Plan(variations, novel))


@prompts_app.command("export")
def export(
    out: Annotated[Path, typer.Option(help="Batch input file (JSONL) to write.")],
    catalog: CatalogOption = "mammography",
    lang: LanguageOption = "de",
    variations: VariationsOption = 10,
    novel: NovelOption = 20,
    model: Annotated[str, typer.Option(help="Model named in the requests.")] = "gpt-4o",
    temperature: TemperatureOption = None,
) -> None:
    """Write every prompt of a suite as an OpenAI Batch input file, to be answered by any model anywhere."""
    with friendly_errors():
        prompts = _plan(catalog, lang, variations, novel)
        write_prompts(prompts, out, model=model, temperature=temperature)
        print(f"{len(prompts)} prompts for {sum(prompt.count for prompt in prompts)} questions in {out}")


@prompts_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Batch output files (JSONL) with the answers.")],
    name: NameOption,
    catalog: CatalogOption = "mammography",
    lang: LanguageOption = "de",
    variations: VariationsOption = 10,
    novel: NovelOption = 20,
    answered: Annotated[Literal["live", "offline"], typer.Option(help="How the answers were made.")] = "offline",
    temperature: TemperatureOption = None,
    note: Annotated[str, typer.Option(help="What readers of results must know of this suite.")] = "",
    suites: SuitesOption = Path("vignettes/suites"),
) -> None:
    """Read a model's answers, report what was dropped and why, and write an immutable suite."""
    with friendly_errors():
        target = Target(suites, name, catalog, lang, answered, temperature, note)
        _import(_plan(catalog, lang, variations, novel), files, target)


@dataclass(frozen=True, slots=True)
class Target:
    """The suite to be written, and what it will say of itself."""

    suites: Path
    name: str
    catalog: str
    lang: str
    answered: Literal["live", "offline"]
    temperature: float | None
    note: str

    @property
    def folder(self) -> Path:
        return self.suites / self.name


def _import(prompts: list[Prompt], files: list[Path], target: Target) -> None:
    folder = locate(target.catalog)
    recording = record(
        prompts,
        read_answers(files),
        detector=detector_of(folder),
        source=QuestionSource(
            kind="model", answered=target.answered, temperature=target.temperature, date=date.today()
        ),
    )
    for item in recording.dropped:
        print(f"dropped ({item.reason}) from {item.prompt_id}: {item.text[:100]}")
    for prompt_id, missing in recording.short.items():
        print(f"short by {missing}: {prompt_id}")
    if not recording.questions:
        raise BadData("No question could be read, so no suite was written. Check the answers.")
    meta = save_suite(
        target.folder,
        catalog=load_catalog(folder, target.lang),
        note=target.note,
        recording=recording,
        today=date.today(),
    )
    print(f"{target.folder}: {meta.counts['paraphrase']} paraphrases, {meta.counts['novel']} novel questions")


def detector_of(folder: Path) -> LanguageDetector:
    """Return a language detector for the languages of a catalog."""
    texts = {path.stem: load_catalog(folder, path.stem) for path in sorted(folder.glob("??.yaml"))}
    return LanguageDetector(
        {
            language: [text for pair in catalog.pairs for text in (pair.answer, *(v.text for v in pair.variants))]
            for language, catalog in texts.items()
        }
    )


@harness.command()
def generate(
    name: NameOption,
    model: Annotated[str, typer.Option(help="Model at the endpoint of KLARTEXT_MODEL_URL.")],
    catalog: CatalogOption = "mammography",
    lang: LanguageOption = "de",
    variations: VariationsOption = 10,
    novel: NovelOption = 20,
    temperature: TemperatureOption = None,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Requests under way at once.")] = 4,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one answer.")] = 120.0,
    note: Annotated[str, typer.Option(help="What readers of results must know of this suite.")] = "",
    suites: SuitesOption = Path("vignettes/suites"),
) -> None:
    """Have a live model write a suite; interrupted, it goes on where it was."""
    from harness.llm import ModelCall, answer_prompts, connect  # openai is slow to import

    with friendly_errors():
        prompts = _plan(catalog, lang, variations, novel)
        target = Target(suites, name, catalog, lang, "live", temperature, note)
        if target.folder.exists():
            raise BadData(f"{target.folder} exists, and suites are immutable. Choose another name with `--name`.")
        call = ModelCall(model, temperature, timeout_s=timeout, parallel=parallel)
        answers = suites / f"{name}.answers.jsonl"
        client = connect(Settings.from_environment(), call)
        with progress_bar("prompts") as bar:
            task = bar.add_task("prompts", total=len(prompts))
            answer_prompts(client, prompts, call, answers, progress=lambda done: bar.advance(task, done))
        _import(prompts, [answers], target)


@harness.command()
def check(
    suite: Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")],
    catalog: CatalogOption = "mammography",
) -> None:
    """Check that no question of a suite is also a training text, or nearly; exit 1 if any is."""
    with friendly_errors():
        loaded = load_suite(suite)
        found = contamination(loaded, load_catalog(locate(catalog), loaded.meta.language))
        for item in found:
            print(f"{item.question.id}: {item.question.text!r} ~ {item.text!r} ({item.pair_id}, {item.similarity:.2f})")
        print(f"{len(loaded.questions)} questions, {len(found)} near copies of training texts")
    raise typer.Exit(1 if found else 0)


@harness.command()
def run(
    suite: Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")],
    out: Annotated[Path, typer.Option(help="Folder of the run. An unfinished run in it is continued.")],
    system: Annotated[str, typer.Option(help="System under test: klartext, or a YAML file.")] = "klartext",
    method: Annotated[Literal["hybrid", "cosine"], typer.Option(help="How the assistant matches.")] = "hybrid",
    catalog: CatalogOption = "mammography",
    encoder: Annotated[str, typer.Option(help="Encoder of the assistant.", metavar="NAME")] = "embedded",
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    format_: FormatOption = None,
    data: DataOption = None,
) -> None:
    """Ask a system every question of a suite, score it, and print the tables."""
    from harness.commands import run_and_report
    from harness.running.planning import How
    from harness.systems import Opening, require_known

    with friendly_errors():
        require_known(system)
        opening = Opening(catalog, encoder, method, data)
        summary = run_and_report(suite, out, opening, system=system, how=How(jobs, scheduler, format_))
        (out / "summary.json").write_text(json.dumps(summary.as_json(), indent=2) + "\n", encoding="utf-8")


@harness.command()
def label(
    run_: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    rater: Annotated[str, typer.Option(help="Your name or pseudonym.")],
    catalog: CatalogOption = "mammography",
) -> None:
    """Label answers to novel questions, one at a time: 1 incorrect, 2 partially correct, 3 correct."""
    from harness.labelling import label_in_terminal

    with friendly_errors():
        label_in_terminal(run_, rater=rater, catalog=catalog)


@harness.command()
def errors(
    run_: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    catalog: CatalogOption = "mammography",
    data: DataOption = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Group what a run missed by cause, with a proposal for each; also written to RUN/errors.json."""
    from harness.misses.command import show_errors

    with friendly_errors():
        show_errors(run_, catalog=catalog, data=data, as_json=json_)
