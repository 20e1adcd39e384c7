"""`klartext serve` and `klartext link`: the service, and links to it for patients with an appointment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.catalog.catalog import exams_in, language_files
from bot.errors import BadData, UserFixable, friendly_errors
from bot.languages.opening import open_languages
from bot.ports import Booking
from bot.resources import data_folder
from bot.settings import Settings

CATALOG = "KLARTEXT_CATALOG"
MAMMOGRAPHY = "mammography"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    catalog: Annotated[
        list[str] | None,
        typer.Option(
            help="A shipped exam, or a catalog folder; once for each exam. Default: KLARTEXT_CATALOG, or mammography.",
            metavar="PATH",
        ),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Show drafts too, labelled as such.")] = False,
    lang: Annotated[
        str, typer.Option(help="Language to greet patients in. Default: the catalog's first.", metavar="LANG")
    ] = "",
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    terminology_server: Annotated[
        str | None,
        typer.Option(help="Expands value sets not at hand. Default: KLARTEXT_TERMINOLOGY_SERVER.", metavar="URL"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; needs PostgreSQL and a Chroma server. Default: KLARTEXT_WORKERS.", min=1),
    ] = None,
    staff: Annotated[bool, typer.Option("--staff", help="Serve the pages for staff, too, at /console.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder for index and database. Default: KLARTEXT_DATA.")] = None,
) -> None:
    """Serve the page for patients, the JSON API and the REST channel until told to stop."""
    from bot.web.server import Serving, run_server

    with friendly_errors():
        run_server(
            Serving(
                host=host,
                port=port,
                catalogs=_catalogs(catalog, os.environ),
                data=data,
                sample=sample,
                language=lang,
                questionnaire=questionnaire,
                terminology_server=terminology_server,
                workers=workers,
                staff=staff,
            )
        )


def _catalogs(given: Sequence[str] | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the exams that a service is for; several may stand in one option or setting, with commas between them."""
    named = [part.strip() for each in given or [environ.get(CATALOG, "")] for part in each.split(",")]
    return tuple(filter(None, named)) or (MAMMOGRAPHY,)


def link(
    patient: Annotated[str, typer.Option(help="The hospital's pseudonym of the patient; no name.", metavar="ID")],
    exam: Annotated[
        str, typer.Option(help="What the service shows: a shipped exam, or a catalog folder.", metavar="PATH")
    ] = MAMMOGRAPHY,
    appointment: Annotated[str, typer.Option(help="The appointment, as your calendar calls it.", metavar="ID")] = "",
    order: Annotated[str, typer.Option(help="The order, as your order system calls it.", metavar="ID")] = "",
    accession: Annotated[str, typer.Option(help="The accession number of the images.", metavar="NUMBER")] = "",
    lang: Annotated[str, typer.Option(help="Language to begin in.", metavar="LANG")] = "de",
    expires: Annotated[str, typer.Option(help="How long it is good for: 90m, 48h, 14d.", metavar="TIME")] = "14d",
    base: Annotated[str, typer.Option(help="Address of the service.", metavar="URL")] = "http://127.0.0.1:8000",
) -> None:
    """Print a signed link that begins a conversation for one patient; needs KLARTEXT_LINK_KEY, as the service does."""
    from bot.web.links import invite, lifetime, seal

    with friendly_errors():
        key = Settings.from_environment().link_key
        if key is None:
            raise UserFixable(
                "KLARTEXT_LINK_KEY is not set, and links need a key to be signed with. Make one with "
                "`python -c 'import secrets; print(secrets.token_urlsafe(32))'` and give the service the same."
            )
        if not re.match(r"https?://[^/]", base):
            raise UserFixable(
                f"`--base` is {base!r}. Give the address of the service, such as https://chat.example.org."
            )
        open_languages(Settings.from_environment().languages, [lang])
        until = datetime.now(UTC) + lifetime(expires)
        booking = Booking(appointment, order, accession)
        invitation = invite(patient, exam=_exam_named(exam), language=lang, expires=until, booking=booking)
        print(f"{base.rstrip('/')}/start/{seal(invitation, key)}")


def _exam_named(wanted: str) -> str:
    """Return what a shipped exam or the catalog in a folder is called; links of other exams open nothing."""
    shipped = exams_in(data_folder("qa_pairs"))
    if wanted in shipped:
        return wanted
    for file in language_files(Path(wanted)).values():
        # The head of the file is enough: reading all pairs takes seconds.
        found = re.search(r"^catalog:\s*[\"']?([a-z0-9][a-z0-9_-]*)", file.read_text("utf-8", "replace"), re.MULTILINE)
        if found:
            return found[1]
    raise BadData(
        f"`--exam` is {wanted!r}, which is no exam that a service could show. "
        f"Name one of: {', '.join(sorted(shipped))}, or the folder of your own catalog, as for `serve --catalog`."
    )
