"""Build what the console, and the commands for the same, work with: on the database of the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from functools import partial
from importlib.metadata import version
from pathlib import Path

from bot.editorial.acts import Acts
from bot.editorial.inbox import Inbox
from bot.editorial.jobs import Jobs
from bot.editorial.login import Identity
from bot.editorial.people import People
from bot.editorial.workbench import Workbench
from bot.errors import UserFixable
from bot.languages.opening import open_languages
from bot.ports import AuditEvent
from bot.release.publishing import Publisher
from bot.release.restored import Noted, TakenBack, taken_back
from bot.release.stops import Stop
from bot.settings import ACCOUNTS, Settings
from bot.wiring import database, make_audit, make_releases, services_ready_for


def make_people(
    settings: Settings, now: Callable[[], datetime], *, request_id: Callable[[], str] = lambda: ""
) -> People:
    """Open the accounts of staff in the same database.

    Raises:
        MissingExtra: The library that hashes passwords is not installed.
    """
    from bot.adapters.sql_people import SqlPeople

    return SqlPeople(database(settings), now, request_id)


def make_absence(settings: Settings) -> Callable[[str, datetime], bool]:
    """Return what says whether a member of staff has shown no sign of life in the console since a moment."""
    from bot.adapters.sql_people import is_gone

    return partial(is_gone, database(settings))


def make_acts(settings: Settings) -> Acts:
    """Open the trail of what staff did in the same database."""
    from bot.adapters.sql_acts import SqlActs

    return SqlActs(database(settings))


def has_accounts(settings: Settings) -> bool:
    """Say whether staff have accounts in the database of the settings; where there is none, nothing is made.

    Raises:
        Unreachable, UserFixable: It cannot be used.
    """
    from bot.adapters.sql_people import are_there_accounts
    from bot.adapters.sql_records import in_folder

    if settings.database_url is None and not Path(str(in_folder(settings.data).database)).is_file():
        return False
    return are_there_accounts(database(settings))


def make_workbench(settings: Settings, *, request_id: Callable[[], str] = lambda: "") -> Workbench:
    """Open drafts and signatures in the same database."""
    from bot.adapters.sql_workbench import SqlWorkbench

    return SqlWorkbench(database(settings), request_id)


def make_jobs(settings: Settings) -> Jobs:
    """Open the queue of long work in the same database."""
    from bot.adapters.sql_jobs import SqlJobs

    return SqlJobs(database(settings))


def make_inbox(settings: Settings, *, request_id: Callable[[], str] = lambda: "") -> Inbox:
    """Open the inbox of curators in the same database."""
    from bot.adapters.sql_inbox import SqlInbox

    return SqlInbox(database(settings), request_id)


def make_publisher(
    settings: Settings, now: Callable[[], datetime], *, zone: Callable[[], tzinfo | None] = lambda: None
) -> Publisher:
    """Return what makes releases and puts them into force, as the settings say; `zone`: of the place."""
    from bot.adapters.audit_log import os_user
    from bot.adapters.release_keys import SiteKeys
    from bot.release.publishing import Publisher

    def note(action: str, by: str, counts: Mapping[str, int], done: Stop | None = None, *, why: str = "") -> None:
        user = os_user()
        actor = by if by == user else f"{by} ({user})"
        at, texts = (done.at, done.texts) if done is not None else (None, ())
        make_audit(settings).note(AuditEvent(action, actor, counts=counts, why=why, done=at, texts=texts))

    return Publisher(
        make_releases(settings),
        SiteKeys(settings.release_trust, settings.release_key),
        settings.country,
        version("klartext"),
        lambda number, at: services_ready_for(settings, number, now=at),
        note,
        now,
        open_languages,
        accounts_only=settings.approvals == ACCOUNTS,
        zone=zone,
    )


def make_identity(settings: Settings) -> Identity | None:
    """Return who vouches for staff; None where they have accounts here only.

    Raises:
        UserFixable: It is not said where browsers come back to, or the library is missing.
    """
    login = settings.staff_login
    if login is None:
        return None
    if not settings.public_url:
        raise UserFixable(
            "KLARTEXT_PUBLIC_URL is not set, and KLARTEXT_STAFF_LOGIN needs it: it says where staff come back to. "
            "Set it to the address of the console, such as https://klartext.example.org."
        )
    from bot.adapters.bounded_http import BoundedHttp
    from bot.adapters.fhir_server import tls
    from bot.adapters.openid import OpenId
    from bot.adapters.staff_login import OpenIdLogin

    http = BoundedHttp(verify=tls(settings.fhir))
    return OpenIdLogin(login, OpenId(f"{settings.public_url}/console/login/back", http))


def stops_taken_back(settings: Settings) -> TakenBack:
    """Return which stops and releases the audit log tells of, and the database does not, and which it lacks itself.

    Lines that no key vouches for are not believed.
    """
    noted = [
        Noted(
            line.done or line.at,
            line.actor,
            line.action,
            line.counts.get("release", 0),
            line.why,
            line.texts,
            done_first=line.done is not None,
        )
        for line in make_audit(settings).read().lines
        if line.vouched and line.at is not None
    ]
    releases = make_releases(settings)
    return taken_back(noted, releases.stops(), releases.switches())


def stop_again(settings: Settings, lost: TakenBack) -> None:
    """Do the stops again that the database has lost; first that, then the audit log.

    Raises:
        UserFixable: The database takes nothing; or they are in force, and that was not noted.
    """
    from bot.adapters.audit_log import os_user

    releases = make_releases(settings)
    for stop in lost.stops:
        releases.stop(stop)
    if lost.stops:
        make_audit(settings).note(AuditEvent("stop-again", os_user(), counts={"stops": len(lost.stops)}))
