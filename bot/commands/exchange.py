"""`klartext qa checkout` and `checkin`: the content of the console as files, and changed files back as drafts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.catalog.catalog import locate
from bot.editorial.candidate import Candidate
from bot.editorial.exchange import Change, changes_in, check_out, other_files, read_record
from bot.editorial.people import Person
from bot.editorial.workbench import Stale
from bot.errors import BadData, UserFixable, friendly_errors
from bot.settings import Settings
from bot.web.staff.wiring import make_people, make_workbench
from bot.wiring import make_releases

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]


def checkout(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.", metavar="EXAM")],
    folder: Annotated[Path, typer.Argument(help="A new folder.", metavar="DIR")],
    data: DataOption = None,
) -> None:
    """Write what the console holds as files: the newest release, or the exam's folder, with all drafts in it."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        candidate = _candidate(catalog, settings)
        drafts = check_out(candidate, folder, catalog=catalog, now=_now())
        print(f"{folder}: {candidate.exam} from {candidate.source} with {drafts} drafts.")
        print(f"Change its language files or site.yaml, then `klartext qa checkin {folder} --by LOGIN`.")


def checkin(
    folder: Annotated[Path, typer.Argument(help="Folder of a checkout.", metavar="DIR")],
    by: Annotated[str, typer.Option("--by", help="Login of who changed the files.", metavar="LOGIN")],
    write: Annotated[bool, typer.Option("--write", help="Store the drafts. Default: say what would change.")] = False,
    data: DataOption = None,
) -> None:
    """Read changed files of a checkout back as drafts of the console; nobody's work is overwritten."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        record = read_record(folder)
        person = _editor(settings, by)
        candidate = _candidate(str(record["catalog"]), settings)
        changes = changes_in(candidate, folder, today=_now())
        for each in changes:
            print(f"{each.what}: {each.kind}{', CONFLICT: changed in the console meanwhile' if each.conflict else ''}")
        for path in other_files(folder, candidate.exam, candidate.base.catalogs):
            print(f"{path}: changed, and not read back: only pairs and site.yaml are.")
        if conflicts := [each.what for each in changes if each.conflict]:
            raise UserFixable(
                f"Nothing is stored: {len(conflicts)} of {len(changes)} texts were changed in the console since "
                f"the checkout ({', '.join(conflicts[:3])}). Check out anew, and carry your changes over."
            )
        if not changes:
            print("Nothing has changed.")
        elif write:
            print(f"{_stored(settings, changes, person)} drafts stored, by {person.name}.")
        else:
            print(f"{len(changes)} drafts would be stored. Add --write to store them.")


def _candidate(catalog: str, settings: Settings) -> Candidate:
    from bot.web.staff.opening import Bases  # the pages of the console load more than other commands need

    bases = Bases(make_releases(settings), locate(catalog), settings.site, None, settings)
    return Candidate.of(*bases.newest(), make_workbench(settings))


def _editor(settings: Settings, login: str) -> Person:
    person = make_people(settings, _now).by_login(login)
    if person is None or person.closed or not person.may("edit"):
        raise BadData(f"`--by` is {login!r}, which is no open account of a curator. Look: `klartext staff list`.")
    return person


def _stored(settings: Settings, changes: list[Change], person: Person) -> int:
    workbench = make_workbench(settings)
    for number, each in enumerate(changes):
        try:
            workbench.save(each.draft, by=person, now=_now())
        except Stale:
            raise UserFixable(
                f"{each.what} was changed in the console at this moment; {number} of {len(changes)} drafts are stored. "
                "Check in again to see what is left."
            ) from None
    return len(changes)


def _now() -> datetime:
    return datetime.now().astimezone()
