"""`klartext fhir`: validate, export and push FHIR documents."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.adapters.terminology_server import fetch_value_sets
from bot.catalog.catalog import Catalog, language_files, load_catalog, locate
from bot.catalog.fhir_files import (
    files_in,
    find_by_canonical,
    read_json,
    resources_in,
    shipped_questionnaires,
    shipped_terminology,
    write_text,
)
from bot.catalog.fhir_translation import laid_out, translated, translations_table, untranslated
from bot.catalog.look import Namespaces
from bot.catalog.site import namespaces_of
from bot.errors import BadData, NotSent, UserFixable, friendly_errors
from bot.handover.bundle import make_bundle, make_document_bundle
from bot.handover.handover import Context, before_of, export_of
from bot.handover.outbox import push as push_all
from bot.interview.form.indexed import IndexedForm, index_questionnaire
from bot.interview.form.modular import ASSEMBLED, assembled
from bot.interview.validate.formulas import check_formulas
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.validate.response import check_response, find_questionnaire
from bot.interview.values.fhir_json import JsonObject, Parsed, as_object, dump, string
from bot.interview.values.finding import Finding, Findings, Place, has_errors, operation_outcome
from bot.interview.values.terminology import Terminology
from bot.interview_wiring import for_terminology
from bot.languages.files import is_code
from bot.ports import UNBOOKED
from bot.release.release import contents_of
from bot.sentences.spelling import released
from bot.settings import Settings
from bot.text import decoded
from bot.wiring import (
    for_server,
    make_fhir_server,
    make_history,
    make_interviews,
    make_outbox,
    make_records,
    make_releases,
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What responses are validated with.

    Attributes:
        preferred: Questionnaires that the user names for these responses.
        others: Further Questionnaires, such as those among the files.
        known: Value sets and code systems at hand.
        now: The moment for formulas, as a FHIR dateTime with zone.
    """

    preferred: Sequence[JsonObject]
    others: Sequence[JsonObject]
    known: Terminology
    now: str


def surroundings(
    given: Iterable[JsonObject], documents: Iterable[Parsed], terminology: Iterable[JsonObject], *, now: str
) -> Surroundings:
    """Gather what is at hand: what the user gave, the documents themselves, and what is shipped."""
    preferred = [resource for document in given for resource in resources_in(document)]
    among = [as_object(document.value) for document in documents]
    local = [*preferred, *(resource for document in terminology for resource in resources_in(document))]
    return Surroundings(
        preferred=[each for each in preferred if each.get("resourceType") == "Questionnaire"],
        others=[*among, *shipped_questionnaires()],
        known=Terminology(local, base=shipped_terminology()),
        now=now,
    )


def validate_documents(document: Parsed, around: Surroundings) -> list[Finding]:
    """Return the findings on one document."""
    resource = as_object(document.value)
    kind = string(resource, "resourceType")
    repeated = _repeated(document, kind)
    if kind == "Questionnaire":
        return repeated + check_questionnaire(resource) + check_formulas(resource)
    if kind == "QuestionnaireResponse":
        return repeated + _validate_response(resource, around)
    what = f"{kind[:60]} is neither" if kind else "This is no FHIR resource, neither"
    text = f"{what} a Questionnaire nor a QuestionnaireResponse"
    return [*repeated, Finding("error", "not-supported", kind[:60], text, "resourceType")]


def _repeated(document: Parsed, kind: str) -> list[Finding]:
    findings = Findings()
    for name in dict.fromkeys(document.repeated):
        text = f"The property {name[:60]!r} is there twice in one object"
        findings.error(Place(kind[:60]), text, code="structure", rule="duplicate-property")
    return findings.all()


def _validate_response(response: JsonObject, around: Surroundings) -> list[Finding]:
    form = find_questionnaire(response, lambda canonical: _resolve(canonical, around))
    if form is None and not string(response, "questionnaire") and len(around.preferred) == 1:
        # The response names none: then it is the one that the user named.
        form = index_questionnaire(around.preferred[0])
    expected = next((string(each, "url") for each in around.preferred), "") if len(around.preferred) == 1 else ""
    findings = check_response(response, form, known=around.known, now=around.now, expected=expected)
    # What is wrong with a contained one has been said as what is wrong with the response.
    return findings + (_about_questionnaire(form) if form is not None and form.container is form.raw else [])


def _resolve(canonical: str, around: Surroundings) -> JsonObject | None:
    at_hand = [*around.preferred, *around.others]
    found = find_by_canonical(at_hand, canonical.removesuffix(ASSEMBLED))
    if found is not None:
        return assembled(found, at_hand)
    # Forms without an address of their own can only be meant by being named on the command line, or by their id.
    nameless = [each for each in around.preferred if not string(each, "url")]
    by_id = (each for each in around.preferred if canonical == f"Questionnaire/{string(each, 'id')}")
    return next(by_id, nameless[0] if len(nameless) == 1 else None)


def _about_questionnaire(form: IndexedForm) -> list[Finding]:
    """Say that the Questionnaire itself is wrong: this may explain findings, but is none about the response."""
    errors = sum(finding.is_error for finding in check_questionnaire(form.raw))
    if not errors:
        return []
    text = f"The Questionnaire itself is not valid ({errors} errors); `klartext fhir validate` with its file shows them"
    return [Finding("information", "informational", "QuestionnaireResponse.questionnaire", text, "questionnaire")]


fhir = typer.Typer(help="Check FHIR forms and responses; send conversations.", no_args_is_help=True)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]

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
    terminology_server: Annotated[
        str | None,
        typer.Option(help="Expands value sets not at hand. Default: KLARTEXT_TERMINOLOGY_SERVER.", metavar="URL"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one OperationOutcome per file, one per line.")] = False,
) -> None:
    """Check FHIR files; exit 1 if any has an error, 2 if any cannot be read."""
    with friendly_errors():
        read = [_read(path) for path in files]
        documents = [each for each in read if isinstance(each, Parsed)]
        around = surroundings(_questionnaires(questionnaire), documents, _terminology(terminology or ()), now=_now())
        around = _with_value_sets(around, for_terminology(Settings.from_environment(), terminology_server))
        failed = False
        for path, document in zip(files, read, strict=True):
            if isinstance(document, BadData):
                findings = [Finding("fatal", "structure", "", _one_line(str(document)), "json")]
                print(f"klartext: {_one_line(str(document))}", file=sys.stderr)
            else:
                findings = validate_documents(document, around)
            failed = failed or has_errors(findings)
            _print_json(findings) if as_json else _print_table(path, findings)
    raise typer.Exit(2 if len(documents) < len(files) else 1 if failed else 0)


def _read(path: Path) -> Parsed | BadData:
    """Return a file, or why it cannot be read: the others are checked all the same."""
    try:
        return read_json(path)
    except BadData as error:
        return error


@fhir.command()
def export(
    conversation: Annotated[str, typer.Argument(help="Id of the conversation.")],
    out: Annotated[Path, typer.Option(help="File for the Bundle.", metavar="FILE")],
    catalog: Annotated[str, typer.Option(help="The catalog that answered.", metavar="PATH")] = "mammography",
    patient: Annotated[
        str, typer.Option(help="The patient's identifier; default: that of the link.", metavar="ID")
    ] = "",
    data: DataOption = None,
) -> None:
    """Write a conversation as a FHIR transaction Bundle; nothing is sent."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        stored = make_records(settings).conversation(conversation)
        catalogs, release, namespaces = _answering(settings, stored.release if stored is not None else None, catalog)
        patient = patient or (stored.patient if stored is not None else None) or ""
        booking = stored.booking if stored is not None else UNBOOKED
        context = Context(settings.fhir, catalogs, patient, release, booking, namespaces)
        interview = make_interviews(settings).interview(conversation)
        found = export_of(make_history(settings), conversation, context, interview)
        made = make_bundle(found, before_of(found), complete=True)
        write_text(out, dump(made.bundle) + "\n")
        for note in made.notes:
            print(note, file=sys.stderr)
        print(f"{out}: {len(found.exchanges)} questions of {'a known' if patient else 'an anonymous'} patient")


def _answering(settings: Settings, release: int | None, catalog: str) -> tuple[list[Catalog], str, Namespaces]:
    """Return the catalogs that answered, the name of their release, and the namespaces of what is handed over.

    Without a release they are those in the named folder.
    """
    if release is None:
        folder = locate(catalog)
        found = [load_catalog(folder, each) for each in language_files(folder)]
        return [released(each, settings.country) for each in found], "", namespaces_of(settings.site, folder)
    releases = make_releases(settings)
    made = releases.get(release)
    if made is None:
        raise BadData(f"The conversation was served by release {release}, which is not in the database.")
    contents = contents_of(made, releases.files(release))
    catalogs = [released(each, contents.country) for each in contents.catalogs.values()]
    return catalogs, made.name, contents.namespaces


@fhir.command()
def push(
    server: Annotated[str | None, typer.Option(help="Base URL. Default: KLARTEXT_FHIR_URL.", metavar="URL")] = None,
    data: DataOption = None,
) -> None:
    """Send the conversations in the outbox; exit 1 if some still wait."""
    with friendly_errors():
        settings = for_server(Settings.from_environment(data=data), server)
        outbox = make_outbox(settings)
        pushed = push_all(outbox, make_fhir_server(settings), clock=lambda: datetime.now(UTC))
        for reason in dict.fromkeys(pushed.reasons):
            print(f"not taken: {reason}", file=sys.stderr)
        print(f"{pushed.sent} sent, {pushed.waiting} waiting")
    raise typer.Exit(1 if pushed.waiting else 0)


@fhir.command()
def translate(
    file: Annotated[Path, typer.Argument(help="A Questionnaire, a CodeSystem, or a Bundle of them, as JSON.")],
    table: Annotated[
        Path | None, typer.Option("--export", help="Write its texts here: a table with a column for each language.")
    ] = None,
    words: Annotated[
        Path | None, typer.Option("--import", help="Take the words of a language from this table.")
    ] = None,
    lang: Annotated[str, typer.Option(help="With `--import`: whose column to take.", metavar="LANG")] = "",
    out: Annotated[
        Path | None, typer.Option(help="With `--import`: write the translated resource here; default: over FILE.")
    ] = None,
    other_numbers: Annotated[
        bool, typer.Option("--other-numbers", help="Take words although their numbers differ from the text's.")
    ] = False,
    other_words: Annotated[
        bool, typer.Option("--other-words", help="Take words although they seem to say something else: you read them.")
    ] = False,
) -> None:
    """Export the texts of a FHIR resource to a table, or write a language's translations from one into it."""
    with friendly_errors():
        document = read_json(file).value
        if table is not None and words is None:
            if table.exists():
                raise BadData(f"{str(table)!r} exists, and may hold translations. Choose another file with `--export`.")
            write_text(table, translations_table(document))
            return
        if words is None or table is not None:
            raise UserFixable(
                "Give `--export TABLE` to write texts, or `--import TABLE --lang LANG` to take a language."
            )
        if out is not None and out.exists() and not (file.exists() and out.samefile(file)):
            raise BadData(f"{str(out)!r} exists. Choose another file with `--out`.")
        if not is_code(lang):
            raise UserFixable(f"`--lang` is {lang!r}. Write the two letters of the language (ISO 639-1), such as fr.")
        try:
            said = decoded(words.read_bytes())  # as a spreadsheet stored it
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "no text in UTF-8"
            raise BadData(f"The table {str(words)!r} cannot be read ({reason}). `--export` writes one.") from None
        result = translated(document, said, lang, other_numbers=other_numbers, other_words=other_words)
        write_text(out or file, laid_out(result) + "\n")
        if left := untranslated(result, lang):
            print(
                f"klartext: {len(left)} texts have no words in {lang!r}, the first is {left[0][:60]!r}", file=sys.stderr
            )


def send_composition(composition: JsonObject, conversation: str, exam: Path, settings: Settings) -> str:
    """Put a Composition about a conversation on the FHIR server, in the place of one sent before; return its host.

    Raises:
        UserFixable: No server is set, or it does not take the Composition.
    """
    names = namespaces_of(settings.site, exam)
    bundle = make_document_bundle(composition, conversation, datetime.now(UTC), settings.fhir.ids, names)
    server = make_fhir_server(settings)
    try:
        server.check()
        server.send(dump(bundle))
    except NotSent as error:
        raise UserFixable(f"{error} Nothing is there twice if you try again with the same command.") from None
    finally:
        server.close()
    return urlsplit(settings.fhir.url or "").hostname or ""


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
    return [as_object(read_json(file).value) for file in files_in(paths)]


def _with_value_sets(around: Surroundings, settings: Settings) -> Surroundings:
    """Add the value sets that the Questionnaires at hand name and only a terminology server knows."""
    forms = [each for each in (*around.preferred, *around.others) if each.get("resourceType") == "Questionnaire"]
    fetched = fetch_value_sets(settings, forms, around.known)
    for note in fetched.notes:
        print(f"klartext: {note}", file=sys.stderr)
    return replace(around, known=Terminology(fetched.value_sets, base=around.known)) if fetched.value_sets else around


def _print_json(findings: Sequence[Finding]) -> None:
    print(_printable(dump(operation_outcome(findings))))


def _print_table(path: Path, findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    errors = sum(finding.is_error for finding in findings)
    verdict = f"{errors} error{'s' if errors > 1 else ''}" if errors else "valid"
    said = _printable(f"{_one_line(str(path))}: {verdict}")
    console.print(Text(said, style="red" if errors else "green"), soft_wrap=True)
    if not findings:
        return
    table = Table(show_edge=False, pad_edge=False)
    for heading in ("severity", "where", "what"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        row = (finding.severity, finding.path.partition(".")[2] or finding.path, finding.text)
        table.add_row(*(Text(_printable(cell)) for cell in row), style=_STYLES[finding.severity])
    console.print(table)


def _one_line(text: str) -> str:
    """Write control characters, such as a line break in the name of a file, as escapes."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _printable(text: str) -> str:
    """Write lone surrogates, which no terminal and no file takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
