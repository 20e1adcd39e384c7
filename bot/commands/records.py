"""`klartext records` and `klartext purge`: what is stored of patients, for the staff who answer for it.

To find what was said: finding.py. Who did what, and what a restored backup brought back: auditing.py.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.adapters.audit_log import os_user
from bot.adapters.summary_folders import SummaryFolders
from bot.catalog.fhir_files import write_text
from bot.commands.auditing import after_restore, audit, erase_again
from bot.commands.finding import find
from bot.commands.installation import ForceOption, require_served, tell
from bot.editorial.workbench import Workbench
from bot.errors import BadData, UserFixable, friendly_errors
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import NotJson, dump, parse
from bot.outbox_ports import Outbox, pseudonym
from bot.ports import Audit, AuditEvent, Finder, Interviews, Records, Sought, StoredConversation, StoredTurn
from bot.settings import Settings
from bot.staff.calls import Calls
from bot.web.staff.wiring import make_workbench
from bot.wiring import (
    make_audit,
    make_calls,
    make_finder,
    make_interviews,
    make_keeper,
    make_outbox,
    make_records,
    make_summaries,
    migrate_database,
    rekey_texts,
)

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Archive:
    """Where conversations are stored."""

    records: Records
    interviews: Interviews
    outbox: Outbox
    calls: Calls
    finder: Finder
    audit: Audit
    workbench: Workbench
    summaries: SummaryFolders

    def chosen(self, conversation: str | None, patient: str | None) -> list[str]:
        """Return the ids of one conversation, or of all of a patient.

        Raises:
            UserFixable: Neither is named, or both are.
            BadData: There is nothing of that patient.
        """
        if (conversation is None) == (patient is None):
            raise UserFixable("Name either a conversation by its id, or a patient with `--patient`.")
        if conversation is not None:
            return [conversation]
        found = [each.conversation.id for each in self.finder.find(Sought(patient=patient))]
        if not found:
            raise BadData("There is no conversation of this patient in the database. Check the pseudonym and `--data`.")
        return found

    def is_about(self, id_: str, exam: str) -> bool:
        """Say whether a conversation is about an exam."""
        opened = self.records.conversation(id_)
        return opened is not None and opened.exam == exam

    def dossier(self, id_: str) -> Json:
        """Return all of a conversation but the hash of its token.

        Raises:
            BadData: There is no such conversation.
        """
        opened, turns = self.records.conversation(id_), self.records.turns(id_)
        interview, entries = self.interviews.interview(id_), self.outbox.entries(id_)
        summaries = self.summaries.of(id_)
        if opened is None and interview is None and not turns and not entries and not summaries:
            raise BadData(f"There is no conversation {id_!r} in the database. Check the id and `--data`.")
        found: Json = {"id": id_, "conversation": _conversation(opened) if opened else None}
        found["turns"] = [_turn(turn) for turn in turns]
        found["flags"] = [
            {"turn_id": flag.turn_id, "reason": flag.reason, "comment": flag.comment, "at": _moment(flag.at)}
            for flag in self.records.flags(id_)
        ]
        call = self.calls.call(id_)
        if call is not None:
            found["staff"] = {
                "call": _written(asdict(call)),
                "actions": [_written(asdict(action)) for action in self.calls.actions(id_)],
            }
        if interview is not None:
            found["interview"] = {
                "changed_at": _moment(interview.changed_at),
                "state": _without_copy(_json(interview.head)),
                "events": [_json(event) for event in interview.events],
            }
        found["outbox"] = [
            {
                "put_at": _moment(each.put_at),
                "accepted_at": _moment(each.accepted_at) if each.accepted_at else None,
                "bundle": _json(each.bundle) if each.bundle else None,
            }
            for each in entries
        ]
        if summaries:
            found["summaries"] = [str(folder) for folder in summaries]
        return found

    def erase(self, ids: Sequence[str], patient: str | None) -> None:
        """Delete conversations; the audit log is told first."""
        counts = {"conversations": len(ids)}
        self.audit.note(AuditEvent("erase", os_user(), ids, patient=patient, counts=counts))
        for id_ in ids:
            self.records.erase(id_)


def _conversation(opened: StoredConversation) -> Json:
    return {
        "begun": _moment(opened.begun),
        "language": opened.language,
        "channel": opened.channel,
        "consented": opened.consented,
        "patient": opened.patient,
        "release": opened.release,
        **({"exam": opened.exam} if opened.exam else {}),
        **{name: value or None for name, value in asdict(opened.booking).items()},
    }


def _turn(turn: StoredTurn) -> Json:
    found: Json = {
        "at": _moment(turn.at),
        "language": turn.language,
        "question": turn.question,
        "decision": turn.decision,
        "pair_id": turn.pair_id,
        "score": Decimal(str(turn.score)),
        "catalog": turn.catalog,
        **({"release": turn.release} if turn.release else {}),
        **({"quiz": turn.quizzed} if turn.quizzed else {}),
    }
    exchange = turn.exchange
    if exchange is not None:
        found |= {
            "number": exchange.number,
            "turn_id": exchange.turn_id,
            "said": exchange.said,
            "choice": exchange.choice,
            "reply": _json(exchange.reply),
            "state": _json(exchange.state),
        }
    return found


def _json(text: str) -> JsonValue:
    """Return stored JSON as JSON; what is damaged, as it is."""
    try:
        return parse(text).value
    except NotJson:
        return text


def _without_copy(head: JsonValue) -> JsonValue:
    """Return where the talk stands, without the state that only repeats what the events amount to."""
    return {name: value for name, value in head.items() if name != "state"} if isinstance(head, dict) else head


def _written(values: Mapping[str, Any]) -> Json:
    return {name: _moment(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _moment(at: datetime) -> str:
    return at.isoformat()


records = typer.Typer(help="Export, erase and encrypt what is stored of patients.", no_args_is_help=True)

records.command()(find)
records.command()(audit)
records.command("after-restore")(after_restore)
records.command("erase-again")(erase_again)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]
ConversationArgument = Annotated[str | None, typer.Argument(help="Id of the conversation.")]
PatientOption = Annotated[
    str | None, typer.Option("--patient", help="All conversations of the patient with this pseudonym.")
]


@records.command()
def export(
    out: Annotated[Path, typer.Option(help="File to write, readable by you only.", metavar="FILE")],
    conversation: ConversationArgument = None,
    patient: PatientOption = None,
    exam: Annotated[
        str | None, typer.Option("--exam", help="Of the patient's only those about one exam.", metavar="NAME")
    ] = None,
    data: DataOption = None,
) -> None:
    """Write everything that is stored of a conversation, or of a patient's, as JSON."""
    with friendly_errors():
        archive = _archive(data)
        ids = [id_ for id_ in archive.chosen(conversation, patient) if exam is None or archive.is_about(id_, exam)]
        if not ids:
            raise BadData(f"There is no conversation about {exam!r}. See `klartext records find`.")
        dossiers = [archive.dossier(id_) for id_ in ids]
        counts = {"conversations": len(ids)}
        archive.audit.note(AuditEvent("export", os_user(), ids, patient=patient, counts=counts))
        whole: Json = {"patient": patient, "conversations": list(dossiers)} if patient is not None else dossiers[0]
        write_text(out, dump(whole) + "\n")
        if patient is not None:
            print(f"{out}: {len(ids)} conversations")
        for id_, found in zip(ids, dossiers, strict=True):
            place = f"{out}: " if patient is None else "  "
            print(f"{place}{_counted(found)} (in logs: {pseudonym(id_)})")


@records.command()
def erase(
    conversation: ConversationArgument = None,
    patient: PatientOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be erased.")] = False,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Delete a conversation, or all of a patient's, for good, with what of it waits to be sent."""
    with friendly_errors():
        found = require_served(Settings.from_environment(data=data), force=force)
        archive = _archive(data)
        if not dry_run:
            archive.finder.index_patients()
        ids = archive.chosen(conversation, patient)
        dossiers = [archive.dossier(id_) for id_ in ids]
        tell(found)
        origins = [each for id_ in ids for each in archive.workbench.origins(pseudonym(id_))]
        sent = [id_ for id_ in ids if archive.summaries.was_sent(id_)]
        if not dry_run:
            archive.erase(ids, patient)
        for id_, dossier in zip(ids, dossiers, strict=True):
            print(f"{'would erase' if dry_run else 'erased'} {pseudonym(id_)}: {_counted(dossier)}")
            if _is_of_summaries_only(dossier):
                print("There is no such conversation in the database: only what models wrote about it is deleted.")
        if patient is not None:
            print(f"{len(ids)} conversations {'would be ' if dry_run else ''}erased")
        for (pair, language), count in Counter((each.pair, each.language) for each in origins).items():
            print(
                f"{count} texts of pair {pair} ({language}) were made of it: the inbox of the console shows them to "
                "curators, who take them out or let them stay."
            )
        entries = [each for dossier in dossiers for each in _list(dossier, "outbox")]
        if sent or any(isinstance(each, dict) and each["accepted_at"] for each in entries):
            print("What was sent to the FHIR server is still there: delete it there.", file=sys.stderr)


@records.command()
def migrate(data: DataOption = None) -> None:
    """Bring the database's schema up to date: after a backup, with no service of the earlier version running."""
    with friendly_errors():
        schema = migrate_database(Settings.from_environment(data=data))
        print(f"The database has schema {schema}. Start the service.")


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
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Delete what is older than the settings say; the service may run meanwhile."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        tell(require_served(settings, force=force))
        if not dry_run:
            make_finder(settings).index_patients()
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
    return Archive(
        make_records(settings),
        make_interviews(settings),
        make_outbox(settings),
        make_calls(settings),
        make_finder(settings),
        make_audit(settings),
        make_workbench(settings),
        make_summaries(settings),
    )


def _counted(found: Json) -> str:
    answers = found.get("interview")
    events = len(_list(answers, "events")) if isinstance(answers, dict) else 0
    turns, flags, outbox, summaries = (len(_list(found, name)) for name in ("turns", "flags", "outbox", "summaries"))
    counted = f"{turns} turns, {flags} flags, {events} events of an interview, {outbox} entries of the outbox"
    return f"{counted}, {summaries} summaries" if summaries else counted


def _is_of_summaries_only(found: Json) -> bool:
    """Tell whether nothing of a conversation is in this database: its summaries were made of an export of another."""
    return not (found["conversation"] or found.get("interview") or found["turns"] or found["outbox"])


def _list(found: Json, name: str) -> list[object]:
    value = found.get(name)
    return list(value) if isinstance(value, list) else []
