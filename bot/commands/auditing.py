"""`klartext records audit`, `after-restore`, `erase-again`: who did what, and to keep it so after a backup."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Annotated

import typer

from bot.adapters.audit_log import TRAIL_RESTORED, AuditLine, AuditTrail, os_user, returned
from bot.catalog.site import in_zone
from bot.commands.installation import ForceOption, require_served, tell
from bot.commands.moments import local_zone, moment
from bot.errors import UserFixable, friendly_errors
from bot.outbox_ports import pseudonym
from bot.ports import AuditEvent, SeenAudit
from bot.release.release import Releases
from bot.release.restored import Noted
from bot.settings import Settings
from bot.web.staff.wiring import make_acts, stop_again, stops_taken_back
from bot.wiring import (
    make_audit,
    make_finder,
    make_keeper,
    make_records,
    make_releases,
    make_witness,
)

UNSEEN = (
    "the database has not seen this log, or has lost what it saw: nobody knows whether its end is missing. After a "
    "restore run `klartext records after-restore`, which lets it see the log as it is now; else find out who did it."
)
DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]


def audit(
    verify: Annotated[bool, typer.Option("--verify", help="Only say whether the log is whole.")] = False,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Close the file, and begin the next one, which goes on with the chain.")
    ] = False,
    since: Annotated[str | None, typer.Option("--since", help="Only from this moment on.", metavar="TIME")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")] = False,
    data: DataOption = None,
) -> None:
    """Print who did what with what is stored of patients; exit 1 if the log is not whole, or its end is missing."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        zone = local_zone(settings)
        first = moment(since, "--since", zone) if since is not None else None
        log = make_audit(settings)
        log.require()
        if rotate:
            closed = log.rotate(os_user())
            print(f"closed {closed}" if closed is not None else "nothing to close: the file has no lines")
        trail = log.read()
        seen = _seen(settings)
        for line in [] if verify or rotate else trail.lines:
            if line.at is not None and (first is None or line.at >= first):
                told = {"line": line.number, **line.said}
                print(json.dumps(told) if as_json else _row(line, f"{line.at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"))
        if verify:
            print(json.dumps(_verdict(trail, seen)) if as_json else _sentence(trail, seen))
        _tell_flaws(trail, seen)
    raise typer.Exit(0 if _is_whole(trail, seen) else 1)


def erase_again(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be erased.")] = False,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """After a backup was restored: erase what the audit log says was erased; exit 1 if some of it cannot be told."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        found = require_served(settings, force=force)
        make_audit(settings).require()
        tell(found)
        whole = _erase_again(settings, dry_run=dry_run)
    raise typer.Exit(0 if whole else 1)


def _erase_again(settings: Settings, *, dry_run: bool) -> bool:
    """Erase what the audit log says was erased; say whether all of it could be told."""
    log, finder = make_audit(settings), make_finder(settings)
    log.require()
    trail, seen = log.read(), make_witness(settings).seen()
    back = returned(trail, finder.lives())
    if not dry_run:
        finder.index_patients()
        if back.by_people:
            counts = {"conversations": len(back.by_people)}
            log.note(AuditEvent("erase-again", os_user(), back.by_people, counts=counts))
        records = make_records(settings)
        for id_ in back.by_people:
            records.erase(id_)
        if back.by_retention:
            make_keeper(settings).purge_again(back.by_retention, settings.retention.cutoffs(datetime.now(UTC)))
    for id_ in (*back.by_people, *back.by_retention):
        print(f"{'would erase' if dry_run else 'erased'} {pseudonym(id_)}")
    print(f"{len(back.by_people)} erased before by patients or staff, {len(back.by_retention)} by age")
    _tell_flaws(trail, seen)
    if back.unreadable:
        print(
            f"{back.unreadable} lines about erasures are of keys {', '.join(_missing(trail))}, which are "
            "not here: add the text key of that time behind the others in KLARTEXT_TEXT_KEY, and run this again.",
            file=sys.stderr,
        )
    return _is_whole(trail, seen) and not back.unreadable


def after_restore(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """After a backup was restored: stop again what was stopped since, erase again what was erased, name the release.

    Exit 1 if something is left to be done by people.
    """
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        found = require_served(settings, force=force)
        make_audit(settings).require()
        tell(found)
        if not dry_run:
            number, hash_ = make_acts(settings).head()
            make_audit(settings).note(AuditEvent(f"{TRAIL_RESTORED}{hash_}", os_user(), counts={"act": number}))
            _see_anew(settings)
        zone, lost, releases = local_zone(settings), stops_taken_back(settings), make_releases(settings)
        if not dry_run:
            stop_again(settings, lost)
        for stop in lost.stops:
            what = f"{stop.about} is {'withdrawn' if stop.pair_id else 'closed'}"
            done = "would be done" if dry_run else "done"
            print(f"{done} again: {what}, as on {in_zone(stop.at, zone)} by {stop.by}")
        if lost.opened is not None:
            exam = lost.opened.action.partition(" ")[2]
            of_it, with_it = (f" of {exam}", f" --exam {exam}") if exam else ("", "")
            print(
                f"The chat{of_it} stays closed. It was opened again on {in_zone(lost.opened.at, zone)} by "
                f"{lost.opened.by}: two people open it with `klartext stop end{with_it}`."
            )
        if lost.in_force is not None:
            print(_release_lost(lost.in_force, releases, zone))
        left = lost.opened is not None or lost.in_force is not None
        erased = _erase_again(settings, dry_run=dry_run)
    raise typer.Exit(1 if left or not erased else 0)


def _see_anew(settings: Settings) -> None:
    """Have a database that knows nothing of the audit log see it, as far as it is whole in itself."""
    trail, witness = make_audit(settings).read(), make_witness(settings)
    if trail.is_strange_to(witness.seen()) and not trail.flaws:
        witness.see(SeenAudit(len(trail.lines), trail.last_hash, datetime.now(UTC)))
        print(
            f"The database has seen the audit log now: {len(trail.lines)} lines, the last one {trail.last_hash}. "
            "Whether lines were cut off before, only what `klartext records audit --verify` printed earlier can tell."
        )


def _release_lost(last: Noted, releases: Releases, zone: tzinfo | None) -> str:
    now = releases.in_force()
    known = releases.get(last.release) is not None
    what_to_do = (
        f"put it into force with `klartext release activate {last.release}`"
        if known
        else "it is not in this database any more: make it again from the files of the exam, and put it into force"
    )
    return (
        f"Release {last.release} was put into force on {in_zone(last.at, zone)} by {last.by}, and now "
        f"{f'release {now} is in force' if now is not None else 'none is'}. If that is not meant, {what_to_do}."
    )


def _seen(settings: Settings) -> SeenAudit | None:
    """Return what the database has seen of the log, which can be read without it: nothing, then."""
    try:
        return make_witness(settings).seen()
    except UserFixable as error:
        print(f"klartext: not compared with what the database has seen of the log: {error}", file=sys.stderr)
        return SeenAudit(0, "", datetime.now(UTC))


def _row(line: AuditLine, at: str) -> str:
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in line.counts.items())
    about = [
        *([f"patient {line.patient}"] if line.patient else []),
        *([f"conversation {line.conversations[0]}"] if len(line.conversations) == 1 else []),
        *([f"request {line.request_id}"] if line.request_id else []),
        *([f"why: {' '.join(line.why.split())}"] if line.why else []),
    ]
    return f"{line.number:6}  {at}  {line.actor:12}  {line.action:12}  {'  '.join([counts, *about])}".rstrip()


def _is_whole(trail: AuditTrail, seen: SeenAudit | None) -> bool:
    """Say whether it is, as far as anybody can know."""
    return not (trail.flaws or trail.lacks(seen) or trail.is_strange_to(seen))


def _verdict(trail: AuditTrail, seen: SeenAudit | None) -> Mapping[str, object]:
    return {
        "cut_off": trail.lacks(seen),
        "unseen": trail.is_strange_to(seen),
        "seen": {"lines": seen.lines, "last": seen.last, "at": seen.at.isoformat()} if seen and seen.lines else None,
        "lines": len(trail.lines),
        "last": trail.last_hash,
        "without_key": _without_key(trail),
        "flaws": [{"line": line.number, "flaw": line.flaw} for line in trail.flaws],
    }


def _sentence(trail: AuditTrail, seen: SeenAudit | None) -> str:
    whole = "not whole" if trail.flaws or trail.lacks(seen) else "whole"
    if whole == "whole" and trail.is_strange_to(seen):
        whole = "not known to be whole"
    without = _without_key(trail)
    unchecked = f"; {without} lines are of keys that are not here: their MACs were not checked" if without else ""
    return f"{whole}: {len(trail.lines)} lines, the last one {trail.last_hash}{unchecked}"


def _without_key(trail: AuditTrail) -> int:
    return sum(bool(line.key) and line.key not in trail.keys for line in trail.lines)


def _missing(trail: AuditTrail) -> list[str]:
    return sorted({line.key for line in trail.lines if line.key and line.key not in trail.keys})


def _tell_flaws(trail: AuditTrail, seen: SeenAudit | None) -> None:
    if seen is not None and trail.lacks(seen):
        print(
            f"klartext: the end of the audit log is missing: at {seen.at:%Y-%m-%d %H:%M} UTC it had {seen.lines} "
            f"lines, the last one {seen.last}.",
            file=sys.stderr,
        )
    if trail.is_strange_to(seen):
        print(f"klartext: {UNSEEN}", file=sys.stderr)
    for line in trail.flaws:
        print(f"klartext: the audit log is broken at line {line.number}: {line.flaw}.", file=sys.stderr)
