"""`klartext rasa`: projects for a Rasa server, from and to catalogs."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from bot.assistant import Assistant
from bot.catalog.exchange.exchange import Imported, ReadOptions, read_foreign
from bot.catalog.exchange.placing import write_catalog
from bot.catalog.exchange.question_set import catalog_name
from bot.catalog.fhir_files import read_json, shipped_form
from bot.errors import BadData, UserFixable, friendly_errors
from bot.interview.form.form import Form
from bot.interview.values.fhir_json import as_object
from bot.interview_wiring import with_value_sets
from bot.settings import Settings
from bot.talk.interviewing import form_of
from bot.text import plain_text
from bot.web.rasa.project import Content, Options, compile_project, service_address
from bot.web.rasa.server import ActionServer, check_server
from bot.web.rasa.writing import write_project
from bot.wiring import make_records

rasa = typer.Typer(help="Rasa: projects with the curated content, and catalogs from projects.", no_args_is_help=True)

DEFAULT_PORT = 8000  # of `klartext serve`
MOST_SHOWN = 4000  # characters of what a server says
DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]


@rasa.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="Folder of the project: new, or empty.", metavar="OUT")],
    catalog: Annotated[
        str | None,
        typer.Option(
            help="A shipped exam, or a catalog folder. Default: the release in force; with --sample: mammography.",
            metavar="PATH",
        ),
    ] = None,
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    mode: Annotated[
        Literal["delegate", "native"], typer.Option(help="Who decides: the service, or Rasa's own classifiers.")
    ] = "delegate",
    lang: Annotated[
        list[str] | None, typer.Option("--lang", help="Which languages; default: all.", metavar="LANG")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Take drafts too, for trying it out.")] = False,
    service: Annotated[
        str, typer.Option(help="Address of `klartext serve`, as the Rasa server reaches it.", metavar="URL")
    ] = "http://127.0.0.1:8000",
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Of Rasa's classifiers, in native mode.")] = 100,
    wordings: Annotated[
        int | None,
        typer.Option(min=2, help="Of each pair, that Rasa is taught. Default: all in native mode, 5 in the other."),
    ] = None,
    data: DataOption = None,
) -> None:
    """Write a complete Rasa 3.6 project of the approved content, and of the form."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        content = _content(settings, catalog, questionnaire, lang, sample=sample)
        write_project(compile_project(content, Options(mode, service, epochs, wordings)), out)
        pairs = {pair.id for own in content.pairs.values() for pair in own}
        asked = f", the form {content.form.title.base!r}" if content.form is not None and mode == "delegate" else ""
        drafts = ", drafts among them" if sample else ""
        print(f"{out}: {content.exam}, {len(pairs)} pairs{drafts} in {', '.join(content.pairs)}{asked} ({mode})")
        print(
            f"Train it with `cd {shlex.quote(str(out))} && rasa train`, in an environment with Rasa Open Source 3.6 "
            "(docs/rasa.md)."
        )
        if mode == "native":
            print("For comparison only: Rasa alone knows no emergencies. Patients are served in delegate mode.")
        else:
            command = _serving(catalog, questionnaire, service, sample=sample)
            print(f"Its action server is the service: `{command}`, with the same KLARTEXT_RASA_TOKEN set for both.")


@rasa.command("import")
def import_(
    project: Annotated[Path, typer.Argument(help="A Rasa project: its folder, a zip of it, or one of its files.")],
    out: Annotated[Path, typer.Option(help="Folder of the catalog to write.", metavar="DIR")],
    lang: Annotated[str, typer.Option("--lang", help="Language of its examples and answers.", metavar="LANG")],
    name: Annotated[str | None, typer.Option("--name", help="Name of the catalog; default: the folder's.")] = None,
) -> None:
    """Make a catalog of drafts from a project's examples and responses (as `klartext qa import --format rasa`)."""
    with friendly_errors():
        imported = _read(project, lang)
        write_catalog(imported, out, name=catalog_name(name or out.resolve().name))
        for line in imported.report.lines():
            print(line)
        print(f"{out}: all of it drafts. Read and edit them; `klartext qa lint {out}` says what to mend.")


@rasa.command("check")
def check(
    url: Annotated[str, typer.Argument(help="Address of the Rasa server.", metavar="URL")] = "http://127.0.0.1:5005",
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="Seconds that an answer may take.")] = 10.0,
    service: Annotated[
        str,
        typer.Option(help="Address of `klartext serve` from here: asked why Rasa gets no answer of it.", metavar="URL"),
    ] = "http://127.0.0.1:8000",
) -> None:
    """Ask a running Rasa server for its version, and whether a message gets an answer (it leaves a conversation)."""
    with friendly_errors():
        behind = ActionServer(service_address(service), Settings.from_environment().rasa_token)
        found = check_server(url, timeout_s=timeout, behind=behind)
        print(f"Rasa {found.version} at {url} answered in {found.elapsed_s:.1f} s:")
        said = plain_text("\n".join(found.answers))
        for line in said[:MOST_SHOWN].splitlines():
            print(f"  {line}")
        if len(said) > MOST_SHOWN:
            print(f"  … and {len(said) - MOST_SHOWN:,} characters more")
        if found.native:
            print("klartext: not for patients. Export the project without `--mode native` for them.", file=sys.stderr)


def _read(project: Path, lang: str) -> Imported:
    try:
        return read_foreign(project, [lang], ReadOptions(format="rasa"))
    except BadData as error:
        if error.code != "encoding":
            raise
        raise BadData(f"{project} is not UTF-8 text, as Rasa's files are. Give a project of Rasa.") from error


def _serving(catalog: str | None, questionnaire: Path | None, service: str, *, sample: bool) -> str:
    """Return the command that serves what was exported, where Rasa looks for it."""
    address = urlsplit(service)
    words = ["klartext", "serve"]
    words += ["--catalog", catalog] if catalog is not None else []
    words += ["--questionnaire", str(questionnaire)] if questionnaire is not None else []
    words += ["--sample"] if sample else []
    # Behind https something stands before the service, and it alone knows the port.
    words += ["--port", str(address.port or 80)] if address.scheme == "http" and address.port != DEFAULT_PORT else []
    return shlex.join(words)


def _content(
    settings: Settings, catalog: str | None, questionnaire: Path | None, lang: list[str] | None, *, sample: bool
) -> Content:
    """Return what may be exported: of a folder, or of the release in force.

    Raises:
        UserFixable: Nothing may be, or it cannot be read.
    """
    form: Form | None
    if catalog is None and not sample:
        if questionnaire is not None:
            raise UserFixable(
                "A release has its own form. Leave `--questionnaire` away, or name a folder with `--catalog`, too."
            )
        assistant, form = _in_force(settings)
    else:
        assistant = Assistant.open(catalog or "mammography", settings=settings, sample=sample)
        form = _form(settings, catalog or "mammography", questionnaire)
    languages = list(dict.fromkeys(lang or assistant.languages))
    if unknown := [each for each in languages if each not in assistant.languages]:
        raise BadData(f"`--lang` is {unknown[0]!r}. The catalog has {', '.join(assistant.languages)}.")
    catalogs = {language: assistant.catalog(language) for language in languages}
    return Content(
        exam=next(iter(catalogs.values())).name,
        pairs={
            language: [pair for pair in own.pairs if pair.id in assistant.shown(language)]
            for language, own in catalogs.items()
        },
        background={language: own.background for language, own in catalogs.items()},
        wording=assistant.wording,
        form=form,
        sample=sample,
        country=assistant.country,
        site=assistant.site,
    )


def _in_force(settings: Settings) -> tuple[Assistant, Form | None]:
    from bot.web.editions import make_editions  # what verifies releases is loaded where one is exported

    edition = make_editions(settings, make_records(settings), lambda: datetime.now().astimezone()).of(None)
    asking = edition.interviewers.of("")
    return edition.assistant, asking.form if asking is not None else None


def _form(settings: Settings, exam: str, questionnaire: Path | None) -> Form | None:
    path = questionnaire or shipped_form(exam)
    if path is None:
        return None
    document = as_object(read_json(path).value)
    return form_of(with_value_sets(settings, document, tell=lambda line: typer.echo(f"klartext: {line}", err=True)))
