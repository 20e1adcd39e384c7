"""Options of commands, grouped by their noun: a command takes a group as one argument.

A group is a dataclass whose fields are annotated as Typer's options are. `grouped` puts each field into the command's
signature, in the place of the group, so that help and parsing are as if the command had listed them itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from bot import BadData, Catalog, data_folder, load_catalog, locate
from harness.console import counted
from harness.llm.batch_files import PATIENT_TEXT, Exported, write_requests
from harness.llm.chat_folder import is_chat_folder, write_chat
from harness.llm.contract import ModelCall
from harness.patients.prompts import Prompt, SuiteSize, build_prompts
from harness.patients.vignettes import load_vignettes
from harness.running.run import How
from harness.systems.system import IN_PROCESS, Opening, require_known

if TYPE_CHECKING:
    from harness.generation.answering import Keeping

CatalogPath = Annotated[str, typer.Option("--catalog", help="A shipped exam, or a catalog folder.", metavar="PATH")]
RunCatalog = Annotated[
    str | None,
    typer.Option("--catalog", help="Default: the run's. Or a shipped exam, or a catalog folder.", metavar="PATH"),
]
Language = Annotated[str, typer.Option("--lang", help="Language of the questions.", metavar="LANG")]
Data = Annotated[Path | None, typer.Option("--data", help="Folder for index and database. Default: KLARTEXT_DATA.")]
Encoder = Annotated[str, typer.Option("--encoder", help="Encoder of the assistant.", metavar="NAME")]
Suite = Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")]
NewSuite = Annotated[Path, typer.Option("--out", help="Folder of the suite to write.", metavar="DIR")]
Note = Annotated[str, typer.Option(help="What readers of results must know of this suite.")]
Vignettes = Annotated[Path | None, typer.Option("--vignettes", help="Folder of vignettes of your own.")]
Fidelity = Annotated[
    Literal["keep", "reject"],
    typer.Option("--fidelity", help="Questions unlike their vignette: keep, or ask for others."),
]
Items = Annotated[
    Literal["novel", "ambiguous", "all"],
    typer.Option("--items", help="Answers to novel questions, ambiguous ones, or both."),
]
Prices = Annotated[
    Path | None, typer.Option("--prices", help="Price table (YAML). Default: the shipped one.", metavar="FILE")
]
Budget = Annotated[
    float | None, typer.Option("--budget", min=0, help="Most to spend, in the price table's currency.", metavar="MONEY")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
Baseline = Annotated[Path | None, typer.Option(help="Folder of an earlier run.", metavar="DIR")]
By = Annotated[Literal["person", "model"], typer.Option(help="Whose labels to use.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are spread out; it hands the command the groups."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[Callable[..., object], list[str]]] = {}
    spread: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        if not is_dataclass(hint):
            spread.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        own, members = get_type_hints(hint, include_extras=True), fields(hint)
        groups[parameter.name] = hint, [member.name for member in members]  # type: ignore[assignment]
        for member in members:
            default = inspect.Parameter.empty if member.default is MISSING else member.default
            kind = inspect.Parameter.KEYWORD_ONLY
            spread.append(inspect.Parameter(member.name, kind, default=default, annotation=own[member.name]))

    @wraps(command)
    def spread_out(**given: Any) -> None:
        for name, (group, members) in groups.items():
            given[name] = group(**{member: given.pop(member) for member in members})
        command(**given)

    spread_out.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    return spread_out


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What a suite shall ask, and in whose voice."""

    catalog: CatalogPath = "mammography"
    lang: Language = "de"
    variations: Annotated[int, typer.Option(min=0, max=100, help="Paraphrases per pair and vignette.")] = 10
    novel: Annotated[int, typer.Option(min=0, max=1000, help="Novel questions per vignette.")] = 20
    vignette: Annotated[
        list[str] | None, typer.Option("--vignette", help="Who asks, repeatable; `all`. Default: the paper's three.")
    ] = None
    vignettes: Vignettes = None

    def prompts(self) -> list[Prompt]:
        """Return every prompt of the suite."""
        loaded = load_vignettes(self.lang, self.vignettes, names=self.vignette or ())
        return build_prompts(self.content(), loaded, SuiteSize(self.variations, self.novel))

    def content(self) -> Catalog:
        """Return the catalog in the language of the suite."""
        return load_catalog(locate(self.catalog), self.lang)


def read_list(text: str) -> tuple[str, ...]:
    """Return ids of pairs from `--only`: ids with commas between, a file with one a line, or a shipped list's name."""
    shipped = data_folder("vignettes") / "lists"
    for path in (Path(text), shipped / f"{text}.txt"):
        if path.is_file():
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise BadData(f"{path} cannot be read. Give `--only` a text file with one id a line.") from error
            ids = [line.partition("#")[0].strip() for line in lines]
            break
    else:
        if text.endswith(".txt"):
            names = ", ".join(sorted(path.stem for path in shipped.glob("*.txt")))
            raise BadData(f"There is no list {text!r}. Shipped lists: {names}. Or give ids with commas between.")
        ids = list(ids_of(text))
    found = tuple(dict.fromkeys(id_ for id_ in ids if id_))
    if not found:
        raise BadData(f"`--only {text}` names no pair. Give ids with commas between, or a file with one a line.")
    return found


def ids_of(text: str) -> tuple[str, ...]:
    """Return ids that stand in a text with commas between."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Who answers prompts: a live model, or any model anywhere, by files; the same on every command that asks one."""

    model: Annotated[
        str | None, typer.Option("--model", help="Model to ask at KLARTEXT_MODEL_URL; with files: its name.")
    ] = None
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            help="Write the prompts, ask nobody: OpenAI Batch JSONL, or a folder of texts for a chat window.",
            metavar="FILE|FOLDER",
        ),
    ] = None
    answers: Annotated[
        list[Path] | None,
        typer.Option(
            "--answers", help="Read answers to them (Batch output, or that folder); repeatable.", metavar="FILE|FOLDER"
        ),
    ] = None
    temperature: Annotated[
        float | None, typer.Option("--temperature", min=0, max=2, help="Sampling temperature; default: left open.")
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable sampling, where the endpoint has it.")] = None
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Longest answer, in tokens.", metavar="N")
    ] = None
    structured: Annotated[bool, typer.Option("--structured", help="Ask for JSON where the endpoint can.")] = False
    parallel: Annotated[int, typer.Option("--parallel", min=1, max=256, help="Requests under way at once.")] = 4
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one answer.")] = 120.0
    retries: Annotated[
        int, typer.Option("--retries", min=0, max=20, help="After 429, 5xx, time-outs, cut connections.")
    ] = 4
    budget: Budget = None
    prices: Prices = None
    replay: Annotated[bool, typer.Option("--replay/--record", help="Answer from the store only.")] = False
    store: Annotated[
        Path | None, typer.Option("--store", help="Store of answers. Default: in the data folder.", metavar="FILE")
    ] = None
    no_store: Annotated[bool, typer.Option("--no-store", help="Keep no answers for other work.")] = False

    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Accept what no answer could be used for, and note how much it is.")
    ] = False

    @property
    def by_file(self) -> bool:
        """Whether prompts or answers are files; raise BadData when both are."""
        if self.prompts is not None and self.answers:
            raise BadData(
                "`--prompts` writes prompts and `--answers` reads what came back. Give one of them at a time."
            )
        return self.prompts is not None or bool(self.answers)

    @property
    def live(self) -> bool:
        """Whether a live model is asked."""
        return not self.by_file and self.model is not None

    @property
    def chat_folder(self) -> Path | None:
        """The folder of texts for a chat window that prompts go to; where answers came from one, that is it."""
        named = [self.prompts] if self.prompts is not None and is_chat_folder(self.prompts) else []
        return next((path for path in (*named, *(self.answers or ())) if path in named or path.is_dir()), None)

    @property
    def written_for(self) -> str:
        """The model that written requests name."""
        return self.model or "gpt-4o"

    def write(self, prompts: Sequence[Exported], *, patient_text: bool = False) -> str:
        """Write prompts to `--prompts`, marked where they may hold patients' words; return what to tell the user."""
        if self.prompts is None:
            raise ValueError("there is no file to write to")
        if (folder := self.chat_folder) is not None:
            if patient_text:
                raise BadData(
                    f"These prompts may hold a patient's words: no folder for a chat window is made of them. Give "
                    f"`--prompts` a file, {folder}.jsonl."
                )
            write_chat(prompts, folder)
            return f"{counted(len(prompts), 'prompt')} in {folder}"
        more = {"max_tokens": self.max_tokens, **(PATIENT_TEXT if patient_text else {})}
        write_requests(prompts, self.prompts, model=self.written_for, temperature=self.temperature, more=more)
        return f"{counted(len(prompts), 'prompt')} in {self.prompts}"

    def call(self) -> ModelCall:
        """Return how the model is called; raise BadData when nobody said who answers."""
        if self.model is None:
            raise BadData(
                "Say who answers: `--model NAME` asks the endpoint of KLARTEXT_MODEL_URL, `--prompts FILE` writes the "
                "prompts for any model anywhere, `--answers FILE` reads its answers."
            )
        return ModelCall(
            self.model, self.temperature, self.seed, self.max_tokens, self.timeout, self.retries, self.parallel
        )

    @property
    def keeping(self) -> Keeping:
        """Return what may be spent, and where answers are kept."""
        from harness.generation.answering import Keeping  # openai and the store are slow to import

        return Keeping(self.replay, not self.no_store, self.store, self.prices, self.budget)


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """Which system is asked, and how."""

    system: Annotated[str, typer.Option(help="System under test: klartext, or a YAML file.")] = "klartext"
    method: Annotated[Literal["hybrid", "cosine"], typer.Option(help="How the assistant matches.")] = "hybrid"
    catalog: CatalogPath = "mammography"
    encoder: Encoder = "embedded"
    only: Annotated[
        str | None,
        typer.Option("--only", help="Answer from these pairs alone: ids with commas, or a list.", metavar="IDS|LIST"),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, max=256, help="Processes; for systems outside, questions under way. Default: as pays."
        ),
    ] = None
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Ask on a Dask scheduler's workers.", metavar="tcp://HOST:PORT")
    ] = None
    format_: Annotated[
        Literal["jsonl", "parquet"] | None,
        typer.Option("--format", help="How outcomes are stored. Default: Parquet on Dask, else JSON lines."),
    ] = None

    def opening(self, data: Path | None) -> Opening:
        """Return which assistant is opened; raise BadData when the system or the list of pairs is unknown."""
        require_known(self.system)
        only = None if self.only is None else read_list(self.only)
        if only is not None and self.system != IN_PROCESS:
            raise BadData(f"`--only` chooses pairs of this assistant; {self.system} has its own. Leave it out.")
        return Opening(self.catalog, self.encoder, self.method, data, only)

    @property
    def how(self) -> How:
        return How(self.jobs, self.scheduler, self.format_)
