"""`klartext harness`: commands for QA engineers, hooked into the assistant's command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import BadData, LanguageDetector, friendly_errors, load_catalog, locate
from harness.commands.options import (
    CatalogOption,
    DataOption,
    FormatOption,
    JobsOption,
    LanguageOption,
    SchedulerOption,
)
from harness.commands.study import study
from harness.llm.batch_files import ModelAnswer, read_answers, write_prompts
from harness.patients.prompts import Plan, Prompt, build_prompts
from harness.patients.suites import QuestionSource, contamination, load_suite, save_suite
from harness.patients.vignettes import load_vignettes

if TYPE_CHECKING:
    from harness.generation.regeneration import Answerer, Sifting


harness = typer.Typer(help="Test the assistant with simulated patients.", no_args_is_help=True)
prompts_app = typer.Typer(help="Export prompts for any model, and import its answers.", no_args_is_help=True)
VariationsOption = Annotated[int, typer.Option(min=0, max=100, help="Paraphrases per pair and vignette.")]
NovelOption = Annotated[int, typer.Option(min=0, max=1000, help="Novel questions per vignette.")]
TemperatureOption = Annotated[
    float | None, typer.Option(min=0, max=2, help="Sampling temperature; default: left open.")
]
SeedOption = Annotated[int | None, typer.Option(help="Repeatable sampling, where the endpoint has it.")]
MaxTokensOption = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Longest answer, in tokens.")]
BudgetOption = Annotated[float | None, typer.Option(min=0, help="Most to spend, in the price table's currency.")]
PricesOption = Annotated[Path | None, typer.Option(help="Price table (YAML). Default: the shipped one.")]
VignetteOption = Annotated[
    list[str] | None, typer.Option("--vignette", help="Who asks, repeatable; `all`. Default: the paper's three.")
]
VignettesOption = Annotated[Path | None, typer.Option("--vignettes", help="Folder of vignettes of your own.")]
FidelityOption = Annotated[
    Literal["keep", "reject"],
    typer.Option("--fidelity", help="Questions unlike their vignette: keep, or ask for others."),
]
NameOption = Annotated[str, typer.Option("--name", help="Name of the suite.")]
SuitesOption = Annotated[Path, typer.Option("--suites", help="Folder that the suite's folder is made in.")]


harness.add_typer(prompts_app, name="prompts")


harness.add_typer(study, name="study")


def part(app: typer.Typer) -> None:
    """Add the harness to the command line of the assistant."""
    from harness.commands.batch import batch
    from harness.commands.bench import bench
    from harness.commands.gate import add_to as add_gate_to
    from harness.commands.labels import add_to as add_labelling_to
    from harness.commands.meaning import meaning
    from harness.commands.raters import add_to as add_judging_to
    from harness.commands.refine import refine
    from harness.commands.report import add_to as add_reports_to
    from harness.commands.running import demo
    from harness.commands.stability import stability_
    from harness.commands.suites import fidelity, import_suite, vignettes

    harness.command("import")(import_suite)
    harness.add_typer(batch, name="batch")
    harness.command()(vignettes)
    harness.command()(fidelity)
    harness.command()(meaning)
    harness.command()(refine)
    add_gate_to(harness)
    add_labelling_to(harness)
    add_judging_to(harness)
    add_reports_to(harness)
    harness.command("stability")(stability_)
    app.add_typer(harness, name="harness")
    app.command()(demo)
    app.command()(bench)


@dataclass(frozen=True, slots=True)
class Who:
    """Whose questions are asked for: names of vignettes, and the folder they lie in."""

    names: list[str] | None
    folder: Path | None


def _plan(catalog: str, lang: str, who: Who, plan: Plan) -> list[Prompt]:
    loaded = load_catalog(locate(catalog), lang)
    return build_prompts(loaded, load_vignettes(lang, who.folder, names=who.names or ()), plan)


@prompts_app.command("export")
def export(
    out: Annotated[Path, typer.Option(help="Batch input file (JSONL) to write.")],
    catalog: CatalogOption = "mammography",
    lang: LanguageOption = "de",
    variations: VariationsOption = 10,
    novel: NovelOption = 20,
    vignette: VignetteOption = None,
    vignettes: VignettesOption = None,
    model: Annotated[str, typer.Option(help="Model named in the requests.")] = "gpt-4o",
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
) -> None:
    """Write every prompt of a suite as an OpenAI Batch input file, to be answered by any model anywhere."""
    with friendly_errors():
        prompts = _plan(catalog, lang, Who(vignette, vignettes), Plan(variations, novel))
        write_prompts(prompts, out, model=model, temperature=temperature, max_tokens=max_tokens)
        print(f"{len(prompts)} prompts for {sum(prompt.count for prompt in prompts)} questions in {out}")


@prompts_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Batch output files (JSONL) with the answers.")],
    name: NameOption,
    catalog: CatalogOption = "mammography",
    lang: LanguageOption = "de",
    variations: VariationsOption = 10,
    novel: NovelOption = 20,
    vignette: VignetteOption = None,
    vignettes: VignettesOption = None,
    answered: Annotated[Literal["live", "offline"], typer.Option(help="How the answers were made.")] = "offline",
    temperature: TemperatureOption = None,
    note: Annotated[str, typer.Option(help="What readers of results must know of this suite.")] = "",
    fidelity: FidelityOption = "keep",
    missing: Annotated[
        Path | None,
        typer.Option("--missing", help="With `reject`: write prompts for what is missing, and no suite yet."),
    ] = None,
    suites: SuitesOption = Path("vignettes/suites"),
) -> None:
    """Read a model's answers, report what was dropped and why, and write an immutable suite."""
    from harness.generation.regeneration import Sifting  # word lists, scipy

    with friendly_errors():
        target = Target(suites, name, catalog, lang, answered, temperature, note)
        plan = _plan(catalog, lang, Who(vignette, vignettes), Plan(variations, novel))
        _import(plan, files, target, Sifting(fidelity, vignettes, missing))


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


def _import(
    prompts: list[Prompt], files: list[Path], target: Target, sifting: Sifting, answerer: Answerer | None = None
) -> None:
    folder = locate(target.catalog)
    source = QuestionSource(kind="model", answered=target.answered, temperature=target.temperature, date=date.today())
    recording = sifting.recording(
        prompts, read_answers(files), detector=detector_of(folder), source=source, answerer=answerer
    )
    if recording is None:
        return
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
    vignette: VignetteOption = None,
    vignettes: VignettesOption = None,
    temperature: TemperatureOption = None,
    seed: SeedOption = None,
    max_tokens: MaxTokensOption = None,
    structured: Annotated[bool, typer.Option("--structured", help="Ask for JSON where the endpoint can.")] = False,
    parallel: Annotated[int, typer.Option(min=1, max=256, help="Requests under way at once.")] = 4,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one answer.")] = 120.0,
    retries: Annotated[int, typer.Option(min=0, max=20, help="After 429, 5xx, time-outs, cut connections.")] = 4,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    replay: Annotated[bool, typer.Option("--replay/--record", help="Answer from the store only.")] = False,
    store: Annotated[Path | None, typer.Option(help="Store of answers. Default: in the data folder.")] = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no answers for other suites.")] = False,
    note: Annotated[str, typer.Option(help="What readers of results must know of this suite.")] = "",
    fidelity: FidelityOption = "keep",
    suites: SuitesOption = Path("vignettes/suites"),
) -> None:
    """Have a live model write a suite; interrupted, it goes on where it was and asks nothing twice."""
    from harness.generation.answering import Keeping, answer_with_model
    from harness.generation.regeneration import Sifting
    from harness.llm.contract import ModelCall

    with friendly_errors():
        prompts = _plan(catalog, lang, Who(vignette, vignettes), Plan(variations, novel))
        target = Target(suites, name, catalog, lang, "live", temperature, note)
        if target.folder.exists():
            raise BadData(f"{target.folder} exists, and suites are immutable. Choose another name with `--name`.")
        call = ModelCall(model, temperature, seed, max_tokens, timeout, retries, parallel)
        keeping = Keeping(replay, not no_store, store, prices, budget)
        answers = suites / f"{name}.answers.jsonl"

        def ask(asked: Sequence[Prompt]) -> dict[str, ModelAnswer]:
            answer_with_model(asked, call, keeping, answers, structured=structured)
            return read_answers([answers])

        ask(prompts)
        _import(prompts, [answers], target, Sifting(fidelity, vignettes), ask)


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
    from harness.commands.running import run_and_report
    from harness.labelling.ambiguous import MOST_JUDGED, find_ambiguous
    from harness.patients.suites import open_suite
    from harness.running.run import How, load_outcomes
    from harness.systems.system import Opening, require_known

    with friendly_errors():
        require_known(system)
        opening = Opening(catalog, encoder, method, data)
        summary = run_and_report(suite, out, opening, system=system, how=How(jobs, scheduler, format_))
        record = summary.as_json()
        if summary.total.n <= MOST_JUDGED:
            _, record["automatic"] = find_ambiguous(out, load_outcomes(out), suite=open_suite(suite).meta.name)
        (out / "summary.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


@harness.command()
def errors(
    run_: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    catalog: CatalogOption = "mammography",
    data: DataOption = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Group what a run missed by cause, with a proposal for each; also written to RUN/errors.json."""
    from harness.commands.report import show_errors

    with friendly_errors():
        show_errors(run_, catalog=catalog, data=data, as_json=json_)
