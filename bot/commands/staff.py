"""`klartext staff` and `klartext console`: accounts of staff, what they did, and their pages without a service."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import datetime
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from bot.adapters.audit_log import os_user
from bot.catalog.site import in_zone
from bot.commands.auditing import UNSEEN
from bot.commands.installation import tell_database
from bot.commands.moments import local_zone
from bot.editorial.acts import NOTHING, Act, first_flaw, first_lost
from bot.editorial.acts_fhir import audit_bundle
from bot.editorial.people import ROLES, Person, Role
from bot.errors import BadData, UserFixable, friendly_errors
from bot.settings import Settings
from bot.web.staff.wiring import make_acts, make_people
from bot.wiring import make_audit, make_witness

staff = typer.Typer(help="Accounts of staff for the console, and what they did.", no_args_is_help=True)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]
LoginArgument = Annotated[str, typer.Argument(help="What is typed to log in.")]
RoleOption = Annotated[
    list[str] | None, typer.Option("--role", help=f"{', '.join(ROLES)}. May be given several times.", metavar="ROLE")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", help="File with the password. Default: it is asked for.", metavar="FILE"),
]


def console(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")] = "mammography",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8100,
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    data: DataOption = None,
) -> None:
    """Serve the pages for staff alone: beside a service, or before there is a release for one."""
    from bot.web.server import Serving, run_console

    with friendly_errors():
        run_console(
            Serving(
                host=host,
                port=port,
                catalogs=(catalog,),
                data=data,
                sample=False,
                questionnaire=questionnaire,
                staff=True,
            )
        )


@staff.command()
def add(
    login: LoginArgument,
    name: Annotated[str, typer.Option("--name", help='How approvals name this person, such as "Dr. Anna Berg".')],
    role: RoleOption = None,
    password_file: PasswordFile = None,
    data: DataOption = None,
) -> None:
    """Make an account. The first one needs the role admin, who makes the others in the console."""
    with friendly_errors():
        people = make_people(_settings(data), _now)
        person = Person(0, login, name, _roles(role or []))
        made = people.add(person, _password(password_file), by=_operator())
        print(f"{made.login}: {made.name}, {' '.join(sorted(made.roles)) or 'without a role'}")
        print("The password is for the first login only: this person chooses another one there.")


@staff.command("list")
def list_(data: DataOption = None) -> None:
    """List all accounts."""
    with friendly_errors():
        people = make_people(_settings(data), _now).all()
        for each in people:
            states = {"closed": each.closed, "code": each.has_code, "outside": each.outside}
            state = ", ".join(word for word, holds in states.items() if holds)
            print(f"{each.login:20} {' '.join(sorted(each.roles)):40} {each.name}{f' ({state})' if state else ''}")
        if not people:
            print('No accounts. Make one with `klartext staff add LOGIN --name "…" --role admin`.')


@staff.command()
def change(
    login: LoginArgument,
    role: RoleOption = None,
    password: Annotated[bool, typer.Option("--password", help="Give a new password, which is asked for.")] = False,
    password_file: PasswordFile = None,
    close: Annotated[bool | None, typer.Option("--close/--open", help="Close the account, or open it again.")] = None,
    no_code: Annotated[bool, typer.Option("--no-code", help="Ask for no one-time code any more.")] = False,
    data: DataOption = None,
) -> None:
    """Change roles, password or state of an account; its sessions end."""
    with friendly_errors():
        people = make_people(_settings(data), _now)
        known = people.by_login(login)
        if known is None:
            raise BadData(f"There is no account {login!r}. `klartext staff list` lists them.")
        wanted = replace(
            known,
            roles=_roles(role) if role else known.roles,
            closed=known.closed if close is None else close,
            has_code=known.has_code and not no_code,
        )
        new = _password(password_file) if password or password_file is not None else None
        made = people.change(wanted, by=_operator(), password=new)
        print(f"{made.login}: {' '.join(sorted(made.roles)) or 'without a role'}{', closed' if made.closed else ''}")


@staff.command()
def trail(
    what: Annotated[str, typer.Option(help='Only of this, such as "pair duration de".', metavar="WHAT")] = "",
    by: Annotated[str, typer.Option(help="Only of this person.", metavar="NAME")] = "",
    fhir: Annotated[Path | None, typer.Option(help="Write all of it as FHIR, too.", metavar="FILE")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Only say whether it is whole.")] = False,
    data: DataOption = None,
) -> None:
    """Show who did what, newest first; write it as AuditEvent and Provenance; or check that nothing is missing.

    What is checked is the chain itself, and its ends as the audit log saw them, which lies outside the database.
    """
    with friendly_errors():
        settings = _settings(data)
        acts = make_acts(settings)
        if verify or fhir is not None:
            all_ = list(acts.all())
            flaw = first_flaw(all_) or (len(all_) + 1 if acts.head() != _end(all_) else None)
            if fhir is not None:
                fhir.write_text(json.dumps(audit_bundle(all_, whole=flaw is None), ensure_ascii=False), "utf-8")
                print(f"{fhir}: {len(all_)} acts")
            if flaw is not None:
                raise UserFixable(f"Act {flaw} of {len(all_)} is not as it was written, or is missing.")
            if verify:
                _require_seen(settings, all_)
                print(f"{len(all_)} acts, all as they were written. The last: {all_[-1].hash if all_ else '-'}")
            return
        zone = local_zone(settings)
        for act in acts.read(what=what, by=by):
            print(f"{act.number:6} {in_zone(act.at, zone)} {act.by:24} {act.action:10} {act.what}")


def _settings(data: Path | None) -> Settings:
    """Return the settings, having said on which database the command acts: accounts of another one help nobody."""
    settings = Settings.from_environment(data=data)
    tell_database(settings)
    return settings


def _require_seen(settings: Settings, acts: list[Act]) -> None:
    """Raise UserFixable unless the trail is what the audit log saw of it, and the audit log is whole itself."""
    log = make_audit(settings).read()
    seen = log.ends_of_trail
    witnessed = make_witness(settings).seen()
    if log.is_strange_to(witnessed):
        raise UserFixable(f"The audit log vouches for the trail, and {UNSEEN}")
    if log.flaws or log.lacks(witnessed):
        raise UserFixable(
            "The audit log, which vouches for the trail, is not whole: `klartext records audit --verify`."
        )
    lost = first_lost(acts, seen)
    if lost is not None:
        raise UserFixable(
            f"Act {lost.number} is not what the audit log saw at {lost.at:%Y-%m-%d %H:%M} UTC: the trail was made "
            "anew, or its end was cut off. After a backup was restored, `klartext records after-restore` says so there."
        )
    if acts and not seen:
        print(
            "klartext: the audit log has seen nothing of the trail yet: only its own chain is checked.", file=sys.stderr
        )


def _end(acts: list[Act]) -> tuple[int, str]:
    return (len(acts), acts[-1].hash) if acts else (0, NOTHING)


def _roles(written: list[str]) -> frozenset[Role]:
    if odd := sorted(set(written) - set(ROLES)):
        raise BadData(f"There is no role {odd[0]!r}. There are {', '.join(ROLES)}.")
    return frozenset(role for role in ROLES if role in written)


def _password(file: Path | None) -> str:
    if file is not None:
        try:
            return file.read_text("utf-8").rstrip("\r\n")
        except OSError as error:
            raise BadData(f"{file}: {error.strerror}. Give a file with the password.") from None
    if not sys.stdin.isatty():
        raise UserFixable("Nobody is there to type a password. Use `--password-file FILE`.")
    first = getpass("Password: ")
    if first != getpass("Once more: "):
        raise UserFixable("The two passwords differ. Run the command again.")
    return first


def _operator() -> str:
    return f"{os_user()} (command line)"


def _now() -> datetime:
    return datetime.now().astimezone()
