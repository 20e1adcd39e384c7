"""The command `klartext`. Commands parse, call and print; errors a person can mend end in one line and exit code 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import typer
from typer.core import TyperGroup

from bot.assistant import Assistant
from bot.errors import BadData, friendly_errors
from bot.languages.files import known
from bot.response import Method
from bot.text import AUTO

BATCH = 64


@dataclass(frozen=True, slots=True)
class Question:
    """A question to be answered, and its language or ``auto``."""

    text: str
    language: str


def read_questions(file: Path | None, *, default_language: str) -> Iterator[list[Question]]:
    """Yield questions in order, in batches from a file, one at a time from a pipe (somebody may be typing).

    Bytes that are not UTF-8 become replacement characters: one bad line must not lose the others.

    Raises:
        BadData: The file cannot be read, or a JSON line has no question.
    """
    if file is not None and not file.is_file():
        raise BadData(f"There is no file {str(file)!r}. Give a file with one question a line, or use standard input.")
    return _read(file, default_language)


def _read(file: Path | None, default_language: str) -> Iterator[list[Question]]:
    size = BATCH if file is not None else 1
    batch: list[Question] = []
    try:
        with file.open("rb") if file is not None else nullcontext(sys.stdin.buffer) as stream:
            for number, line in enumerate(_lines(stream), 1):
                if line.strip():
                    batch.append(_question(line, number, default_language))
                if len(batch) == size:
                    yield batch
                    batch = []
    except OSError as error:
        place = "Standard input" if file is None else f"The file {str(file)!r}"
        raise BadData(f"{place} cannot be read ({error.strerror}). Check path and permissions.") from error
    if batch:
        yield batch


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Split at line feeds only: a patient's text may hold other separators, such as U+2028."""
    first = True
    for raw in stream:
        text = raw.decode("utf-8", errors="replace").removesuffix("\n").removesuffix("\r")
        yield text.removeprefix("\ufeff") if first else text
        first = False


def _question(line: str, number: int, default_language: str) -> Question:
    if not line.lstrip().startswith("{"):
        return Question(line, default_language)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return Question(line, default_language)  # patients may type braces
    text, language = record.get("question"), record.get("lang") or default_language
    if not isinstance(text, str):
        raise BadData(
            f"Line {number} is JSON without a text `question`. "
            'Write {"question": "…", "lang": "de"}, or one plain question a line.'
        )
    if language not in (*known(), AUTO):
        raise BadData(f"Line {number} asks for language {language!r}. Use one of {', '.join(known())}, {AUTO}.")
    return Question(text, language)


UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]  # Typer has it, and exports only its child


class OneLineErrors(TyperGroup):
    """Says in one line what is wrong with the arguments of any command, as all other errors are said."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _usage_in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _usage_in_one_line():
            return super().invoke(ctx)


@contextmanager
def _usage_in_one_line() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help was asked for, by giving no arguments
            raise
        said = error.format_message().replace("Value error, ", "").replace("Input should be", "it must be")
        command = error.ctx.command_path if error.ctx is not None else "klartext"
        print(f"klartext: {' '.join(said.split()).rstrip('.')}. Run `{command} --help`.", file=sys.stderr)
        raise SystemExit(2) from None


app = typer.Typer(
    name="klartext",
    cls=OneLineErrors,
    help="Answers patients' questions before an imaging exam with curated text only, and tests itself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

CatalogOption = Annotated[str, typer.Option("--catalog", help="A shipped exam, or a catalog folder.", metavar="PATH")]
DataOption = Annotated[
    Path | None, typer.Option("--data", help="Folder for index and database. Default: KLARTEXT_DATA.")
]
EncoderOption = Annotated[
    str, typer.Option(help="embedded, sentence-transformers:MODEL or openai:MODEL.", metavar="NAME")
]
MethodOption = Annotated[Literal["hybrid", "cosine"], typer.Option(help="hybrid, or the published method, cosine.")]
LanguageOption = Annotated[
    str, typer.Option("--lang", help="Language of the questions: de, en, …; auto: each its own.", metavar="LANG")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(version("klartext"))
        raise typer.Exit


@app.callback()
def _root(
    version_: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Klartext: plain words before an imaging exam."""


@app.command()
def answer(
    file: Annotated[Path | None, typer.Argument(help="Questions, one a line; default: standard input.")] = None,
    lang: LanguageOption = "auto",
    catalog: CatalogOption = "mammography",
    method: MethodOption = "hybrid",
    encoder: EncoderOption = "embedded",
    explain: Annotated[bool, typer.Option("--explain", help="Add what decided to every line.")] = False,
    data: DataOption = None,
) -> None:
    """Answer questions, one a line (text, or JSON with `question` and `lang`), with one JSON object each."""
    with friendly_errors():
        questions = read_questions(file, default_language=lang)
        assistant = Assistant.open(catalog, data=data, encoder=encoder, sample=True)
        for line in _answers(assistant, questions, method, explain=explain):
            print(line, flush=True)


def _answers(
    assistant: Assistant, questions: Iterator[list[Question]], method: Method, *, explain: bool
) -> Iterator[str]:
    for batch in questions:
        texts = [question.text for question in batch]
        for response in assistant.answer_all(texts, [question.language for question in batch], method=method):
            record = response.as_json()
            if explain:
                record["explain"] = assistant.explain(response.question, response.lang).as_json()
            # A lone surrogate is no UTF-8; escaped, it is still the same JSON.
            yield json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


@app.command()
def chat(
    catalog: CatalogOption = "mammography",
    encoder: EncoderOption = "embedded",
    questionnaire: Annotated[
        Path | None, typer.Option(help="Questions to ask instead of the shipped ones.", metavar="Q.json")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Go on with this conversation.", metavar="ID")] = None,
    terminology_server: Annotated[
        str | None,
        typer.Option(help="Expands value sets not at hand. Default: KLARTEXT_TERMINOLOGY_SERVER.", metavar="URL"),
    ] = None,
    patient: Annotated[
        Path | None, typer.Option(help="The Patient that formulas know as %patient (JSON).", metavar="FILE")
    ] = None,
    launch: Annotated[
        Path | None,
        typer.Option(help="What else formulas know: names and resources, or Parameters (JSON).", metavar="FILE"),
    ] = None,
    data: DataOption = None,
) -> None:
    """Talk to the assistant in the terminal (sample mode), and answer the questions of the radiology team."""
    from bot.catalog.fhir_files import read_launch
    from bot.commands.chat import Visit, run_chat

    with friendly_errors():
        visit = Visit(conversation, questionnaire, terminology_server, read_launch(patient, launch))
        run_chat(catalog, encoder=encoder, data=data, visit=visit)


def assemble() -> None:
    """Add the curators' commands, and the parts that installed packages bring (the harness is one)."""
    from bot.commands.approve import approve
    from bot.commands.fhir import fhir
    from bot.commands.interview import interview
    from bot.commands.language import language
    from bot.commands.qa import qa
    from bot.commands.rasa import rasa
    from bot.commands.records import purge, records
    from bot.commands.release import release, stop
    from bot.commands.serve import link, serve
    from bot.commands.staff import console, staff

    if any(group.name == "qa" for group in app.registered_groups):
        return
    qa.command()(approve)
    qa.command()(language)
    app.add_typer(qa, name="qa")
    app.add_typer(release, name="release")
    app.add_typer(stop, name="stop")
    app.add_typer(fhir, name="fhir")
    app.add_typer(records, name="records")
    app.add_typer(rasa, name="rasa")
    app.command()(purge)
    app.command()(interview)
    app.command()(serve)
    app.command()(link)
    app.add_typer(staff, name="staff")
    app.command()(console)
    for part in entry_points(group="klartext.parts"):
        part.load()(app)


def main() -> None:
    """Run the command line."""
    # Who asks or chats does not wait until the other commands, and what they need, are imported.
    if sys.argv[1:2] not in (["answer"], ["chat"]):
        assemble()
    app()
