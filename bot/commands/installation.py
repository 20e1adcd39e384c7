"""On which installation a command acts: the wrong user, or one without the settings, has a database of their own."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bot.adapters.audit_log import running_as
from bot.errors import UserFixable
from bot.settings import Settings
from bot.wiring import served

if TYPE_CHECKING:
    from bot.adapters.sql_encryption import Served

ForceOption = Annotated[
    bool, typer.Option("--force", help="Even if no service has ever run on this database, or it holds no patients.")
]


def tell_database(settings: Settings) -> None:
    """Say on standard error who acts on which database, and how many processes serve patients from it.

    In a folder without one, opening it makes it: that is said, for it may be the wrong folder.
    """
    from bot.adapters.sql_records import in_folder, is_new

    made = is_new(settings.database_url or in_folder(settings.writable_data()))
    tell(served(settings, now=datetime.now(UTC)), made=made)


def tell(found: Served, *, made: bool = False) -> None:
    """Say the same of what is known; `made`: just now, by opening it."""
    how = "a new database, which this command made: " if made else ""
    print(f"klartext: {running_as()} on {found.database}: {how}{_processes(found)}.", file=sys.stderr)


def require_served(settings: Settings, *, force: bool) -> Served:
    """Return what is known of the services, and refuse where none has ever run: what is done there reaches no patient.

    Raises:
        UserFixable: Nobody was ever served from this database.
    """
    found = served(settings, now=datetime.now(UTC))
    if force or found.ever:
        return found
    raise UserFixable(
        f"Nothing was done: no service has ever served anybody from {found.database} "
        f"(as user {running_as()}). Run the command as the user and with the settings of the service, with "
        "`klartext-admin` of docs/operations.md; or add `--force` if this is the database."
    )


def _processes(found: Served) -> str:
    return f"{_serving(found)}{f'; {found.samples} in sample mode' if found.samples else ''}"


def _serving(found: Served) -> str:
    many = found.running > 1
    if found.running and found.silent_s:
        return (
            f"{found.running} process{'es' if many else ''} served from it and {'have' if many else 'has'} been silent "
            f"for {found.silent_s} s (from a backup, or ended)"
        )
    if found.running:
        return f"{found.running} process{'es serve' if many else ' serves'} from it"
    return "no process serves from it just now" if found.ever else "no service has run on it yet"
