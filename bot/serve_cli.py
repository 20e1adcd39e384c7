"""`klartext serve`: the service for patients. Everything of the web is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.errors import friendly_errors


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    catalog: Annotated[str, typer.Option(help="A shipped exam, or a catalog folder.", metavar="PATH")] = "mammography",
    sample: Annotated[bool, typer.Option("--sample", help="Show drafts too, labelled as such.")] = False,
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; needs PostgreSQL and a Chroma server. Default: KLARTEXT_WORKERS.", min=1),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder for index and database. Default: KLARTEXT_DATA.")] = None,
) -> None:
    """Serve the page for patients, the JSON API and the REST channel until told to stop."""
    from bot.web.server import Serving, run_server

    with friendly_errors():
        run_server(
            Serving(
                host=host,
                port=port,
                catalog=catalog,
                data=data,
                sample=sample,
                questionnaire=questionnaire,
                workers=workers,
            )
        )
