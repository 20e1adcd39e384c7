"""`klartext records` and `klartext purge`: what is stored of patients, for the staff who answer for it."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.dossier import Archive, Json
from bot.errors import friendly_errors
from bot.fhir_files import write_text
from bot.interview.fhir_json import dump
from bot.pseudonym import pseudonym
from bot.settings import Settings
from bot.wiring import make_interviews, make_keeper, make_outbox, make_records, rekey_texts

records = typer.Typer(help="Export, erase and encrypt what is stored of patients.", no_args_is_help=True)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]
ConversationArgument = Annotated[str, typer.Argument(help="Id of the conversation.")]


@records.command()
def export(
    conversation: ConversationArgument,
    out: Annotated[Path, typer.Option(help="File to write, readable by you only.", metavar="FILE")],
    data: DataOption = None,
) -> None:
    """Write everything that is stored of a conversation as JSON."""
    with friendly_errors():
        found = _archive(data).dossier(conversation)
        write_text(out, dump(found) + "\n")
        print(f"{out}: {_counted(found)} (in logs: {pseudonym(conversation)})")


@records.command()
def erase(conversation: ConversationArgument, data: DataOption = None) -> None:
    """Delete a conversation for good, with what of it waits to be sent."""
    with friendly_errors():
        found = _archive(data).erase(conversation)
        print(f"erased {pseudonym(conversation)}: {_counted(found)}")
        if any(isinstance(each, dict) and each["accepted_at"] for each in _list(found, "outbox")):
            print("What was sent to the FHIR server is still there: delete it there.", file=sys.stderr)


@records.command("new-key")
def new_key_() -> None:
    """Print a new key for KLARTEXT_TEXT_KEY; nothing is stored."""
    from bot.adapters.text_cipher import new_key

    print(new_key())


@records.command()
def rekey(data: DataOption = None) -> None:
    """Encrypt all texts in the database with the first key in KLARTEXT_TEXT_KEY."""
    with friendly_errors():
        print(f"{rekey_texts(Settings.from_environment(data=data))} texts encrypted anew")


def purge(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    data: DataOption = None,
) -> None:
    """Delete what is older than the settings say; the service may run meanwhile."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        purged = make_keeper(settings).purge(settings.retention.cutoffs(datetime.now(UTC)), dry_run=dry_run)
    counts = dict(purged.counts())
    print(json.dumps(counts) if as_json else _table(counts, dry_run=dry_run))
    if purged.unsent_kept:
        print(
            f"{purged.unsent_kept} entries of the outbox are too old and were never sent: see `klartext fhir push`.",
            file=sys.stderr,
        )
    if purged.residue:
        print("Some of it may still be in the database's log: purge again when fewer are reading.", file=sys.stderr)


def _table(counts: dict[str, int], *, dry_run: bool) -> str:
    lines = [f"{count:8}  {kind.replace('_', ' ')}" for kind, count in counts.items()]
    return "\n".join(["would be deleted:" if dry_run else "deleted:", *lines])


def _archive(data: Path | None) -> Archive:
    settings = Settings.from_environment(data=data)
    return Archive(make_records(settings), make_interviews(settings), make_outbox(settings))


def _counted(found: Json) -> str:
    answers = found.get("interview")
    events = len(_list(answers, "events")) if isinstance(answers, dict) else 0
    turns, flags, outbox = (len(_list(found, name)) for name in ("turns", "flags", "outbox"))
    return f"{turns} turns, {flags} flags, {events} events of an interview, {outbox} entries of the outbox"


def _list(found: Json, name: str) -> list[object]:
    value = found.get(name)
    return list(value) if isinstance(value, list) else []
