"""The command `klartext`. Commands parse, call and print; errors a person can mend end in one line and exit code 2."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.assistant import Assistant
from bot.errors import friendly_errors
from bot.questions import Question, read_questions
from bot.response import Method

app = typer.Typer(
    name="klartext",
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
LanguageOption = Annotated[Literal["de", "en", "auto"], typer.Option("--lang", help="Language of the questions.")]


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
    data: DataOption = None,
) -> None:
    """Talk to the assistant in the terminal (sample mode), and answer the questions of the radiology team."""
    from bot.chat import Visit, run_chat

    with friendly_errors():
        run_chat(catalog, encoder=encoder, data=data, visit=Visit(conversation, questionnaire))


def assemble() -> None:
    """Add the curators' commands, and the parts that installed packages bring (the harness is one)."""
    from bot.fhir_cli import fhir
    from bot.interview_cli import interview
    from bot.link_cli import link
    from bot.qa_cli import qa
    from bot.records_cli import purge, records
    from bot.serve_cli import serve

    if any(group.name == "qa" for group in app.registered_groups):
        return
    app.add_typer(qa, name="qa")
    app.add_typer(fhir, name="fhir")
    app.add_typer(records, name="records")
    app.command()(purge)
    app.command()(interview)
    app.command()(serve)
    app.command()(link)
    for part in entry_points(group="klartext.parts"):
        part.load()(app)


def main() -> None:
    """Run the command line."""
    assemble()
    app()
