"""`klartext link`: a link for one patient's appointment."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from bot.errors import UserFixable, friendly_errors
from bot.links import invite, lifetime, seal
from bot.settings import Settings


def link(
    patient: Annotated[str, typer.Option(help="The hospital's pseudonym of the patient; no name.", metavar="ID")],
    exam: Annotated[str, typer.Option(help="The catalog that the service shows.", metavar="NAME")] = "mammography",
    lang: Annotated[Literal["de", "en"], typer.Option(help="Language to begin in.")] = "de",
    expires: Annotated[str, typer.Option(help="How long it is good for: 90m, 48h, 14d.", metavar="TIME")] = "14d",
    base: Annotated[str, typer.Option(help="Address of the service.", metavar="URL")] = "http://127.0.0.1:8000",
) -> None:
    """Print a signed link that begins a conversation for one patient; needs KLARTEXT_LINK_KEY, as the service does."""
    with friendly_errors():
        key = Settings.from_environment().link_key
        if key is None:
            raise UserFixable(
                "KLARTEXT_LINK_KEY is not set, and links need a key to be signed with. Make one with "
                "`python -c 'import secrets; print(secrets.token_urlsafe(32))'` and give the service the same."
            )
        until = datetime.now(UTC) + lifetime(expires)
        print(f"{base.rstrip('/')}/start/{seal(invite(patient, exam=exam, language=lang, expires=until), key)}")
