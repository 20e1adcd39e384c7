"""`klartext fhir`: commands for FHIR resources."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.errors import BadData, friendly_errors
from bot.fhir_files import read_json, resources_in
from bot.fhir_validate import surroundings
from bot.fhir_validate import validate as validate_document
from bot.interview.fhir_json import JsonObject, as_object, dump
from bot.interview.outcome import Finding, has_errors, operation_outcome

fhir = typer.Typer(help="Check FHIR Questionnaires and responses.", no_args_is_help=True)

_STYLES = {"fatal": "bold red", "error": "red", "warning": "yellow", "information": "dim"}


@fhir.callback()
def _group() -> None:
    """Keep `validate` a command of its own, also while it is the only one."""


@fhir.command()
def validate(
    files: Annotated[list[Path], typer.Argument(help="Questionnaires and QuestionnaireResponses (R4, JSON).")],
    questionnaire: Annotated[Path | None, typer.Option(help="The Questionnaire that responses answer.")] = None,
    terminology: Annotated[
        list[Path] | None, typer.Option(help="Value sets and code systems (files or folders); may be repeated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one OperationOutcome per file, one per line.")] = False,
) -> None:
    """Check FHIR files; exit 1 if any has an error."""
    with friendly_errors():
        documents = [read_json(path) for path in files]
        around = surroundings(_questionnaires(questionnaire), documents, _terminology(terminology or ()), now=_now())
        failed = False
        for path, document in zip(files, documents, strict=True):
            findings = validate_document(document, around)
            failed = failed or has_errors(findings)
            _print_json(findings) if as_json else _print_table(path, findings)
    raise typer.Exit(1 if failed else 0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _questionnaires(path: Path | None) -> list[JsonObject]:
    """Return what `--questionnaire` names.

    Raises:
        BadData: There is no Questionnaire in it.
    """
    if path is None:
        return []
    document = as_object(read_json(path).value)
    if not any(each.get("resourceType") == "Questionnaire" for each in resources_in(document)):
        raise BadData(f"{path}: no Questionnaire. Give --questionnaire a Questionnaire as JSON.")
    return [document]


def _terminology(paths: Sequence[Path]) -> list[JsonObject]:
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return [as_object(read_json(file).value) for file in files]


def _print_json(findings: Sequence[Finding]) -> None:
    print(_printable(dump(operation_outcome(findings))))


def _print_table(path: Path, findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    errors = sum(finding.is_error for finding in findings)
    verdict = f"{errors} error{'s' if errors > 1 else ''}" if errors else "valid"
    console.print(Text(_printable(f"{path}: {verdict}"), style="red" if errors else "green"), soft_wrap=True)
    if not findings:
        return
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("severity", "where", "what"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        row = (finding.severity, finding.path.partition(".")[2] or finding.path, finding.text)
        table.add_row(*(Text(_printable(cell)) for cell in row), style=_STYLES[finding.severity])
    console.print(table)


def _printable(text: str) -> str:
    """Write lone surrogates, which no terminal and no file takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
