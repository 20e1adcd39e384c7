"""`klartext qa approve`: who approved which text, bound to exactly what patients see of it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from getpass import getpass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from bot.catalog.approval import (
    FILE,
    FORM,
    LANGUAGE,
    SITE,
    SPOKEN,
    Account,
    PersonSigned,
    Subject,
    seen_of,
    write_approvals,
)
from bot.catalog.catalog import locate
from bot.commands.moments import local_zone
from bot.commands.release import Files
from bot.editorial.acts import Act
from bot.editorial.people import Person
from bot.errors import BadData, UserFixable, friendly_errors
from bot.interview.values.fhir_json import dump
from bot.release.contents import Contents
from bot.release.release import NOT_VERIFIED, SET_REVIEW
from bot.settings import ACCOUNTS, Settings
from bot.web.staff.wiring import has_accounts, make_acts, make_people, make_publisher

LISTED = 12  # texts named when there are more


def approve(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")] = "mammography",
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Who signs, where staff have no accounts: a name that nobody checks.", metavar="NAME"
        ),
    ] = None,
    login: Annotated[
        str | None,
        typer.Option("--login", help="Who signs: an approver's account, whose password is asked for.", metavar="LOGIN"),
    ] = None,
    until: Annotated[
        str,
        typer.Option(help="Until when it holds: a day, or a moment such as 2027-06-30T12:00+02:00.", metavar="TIME"),
    ] = "",
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--what",
            help="pairs, sentences, page, foreign, or a pair's id; where there are any: questionnaire, site, language. "
            "Default: all.",
            metavar="WHAT",
        ),
    ] = None,
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    site: Annotated[Path | None, typer.Option(help="The place. Default: KLARTEXT_SITE.", metavar="FILE")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print exactly what is signed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a text.")] = False,
) -> None:
    """Sign texts as they are now, or (without `--login` and `--by`) show who signed what.

    Two people have to sign; a changed text needs both again.
    """
    with friendly_errors():
        folder, settings = locate(catalog), Settings.from_environment()
        if by is not None and not by.strip():
            raise UserFixable('`--by` is empty. Name who signs, as `--by "Dr. Anna Berg"`.')
        _require_way_to_sign(settings, by=by, login=login)
        contents = Files(catalog, questionnaire, site).gather(settings)
        chosen = _chosen(contents, what or [])
        now = datetime.now().astimezone()
        if show:
            for subject in chosen:
                print(f"--- {subject.what}\n{_text_of(contents, subject)}")
        if by is not None or login is not None:
            end = _moment(until, now, local_zone(replace(settings, site=site or settings.site)))
            person = _authenticated(settings, login) if login is not None else None
            name = person.name if person is not None else (by or "").strip()
            if person is not None:
                signed = contents.approvals.signed_by(_vouched(settings, person, chosen, now, end))
            else:
                signed = contents.approvals.sign(chosen, name=name, at=now, until=end)
            write_approvals(folder, signed)
            print(f"{folder / FILE}: {name} signed {len(chosen)} text{'s' if len(chosen) != 1 else ''}.")
            if not show:
                print("What was signed, word by word, is printed by the same command with `--show`.")
            contents = Files(catalog, questionnaire, site).gather(settings)
        _show(_counting(contents, settings), chosen, now, as_json=as_json)


def _require_way_to_sign(settings: Settings, *, by: str | None, login: str | None) -> None:
    """Raise UserFixable unless whoever signs can be believed as far as this site demands it."""
    if by is not None and login is not None:
        raise UserFixable("`--by` and `--login` are two ways to sign. Give one.")
    if by is not None and (settings.approvals == ACCOUNTS or has_accounts(settings)):
        why = "KLARTEXT_APPROVALS is `accounts`" if settings.approvals == ACCOUNTS else "Staff have accounts here"
        raise UserFixable(
            f"{why}: a name that is typed is no signature. Sign with `--login LOGIN`, which asks for the password, or "
            "in the console. `klartext staff list` lists the accounts."
        )
    if login is not None and settings.approvals == ACCOUNTS and settings.release_key is None:
        raise UserFixable(
            "KLARTEXT_APPROVALS is `accounts`, and KLARTEXT_RELEASE_KEY_FILE is not set: the site's key vouches for "
            "signatures. Sign where it is, or in the console."
        )
    if login is not None and not has_accounts(settings):
        raise UserFixable(
            f"Nobody has an account in {settings.data}. Set KLARTEXT_DATA or KLARTEXT_DATABASE_URL to that of the "
            "console, or make accounts with `klartext staff add`."
        )


def _authenticated(settings: Settings, login: str) -> Person:
    """Return the approver who logs in now.

    Raises:
        UserFixable: Password or one-time code is wrong, or this account may not approve.
    """
    people, now = make_people(settings, _now), _now()
    entry, secret = people.enter(login, _asked("Password: "), now=now)
    if entry == "code":
        entry = people.enter_code(secret, _asked("One-time code: "), now=_now())
    if secret:
        people.leave(secret)
    person = people.by_login(login)
    if entry != "in" or person is None:
        raise UserFixable(
            "Nothing was signed: login, password or one-time code is wrong, or the account is closed. After five wrong "
            "ones it is closed for 15 minutes."
        )
    if not person.may("approve"):
        raise UserFixable(f"Nothing was signed: {login} may not approve. An administrator hands out the role approver.")
    if person.one_time:
        raise UserFixable(
            "Nothing was signed: this password was given by somebody else. Log in to the console and choose your own."
        )
    return person


def _asked(what: str) -> str:
    """Ask for a secret; where nobody sits there, a line of standard input is it."""
    return getpass(what) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


def _vouched(
    settings: Settings, person: Person, chosen: list[Subject], now: datetime, until: datetime
) -> list[tuple[Subject, PersonSigned]]:
    """Note in the trail what somebody signs who has just logged in, and return it with what the site's key says."""
    own = PersonSigned(person.name, now, until, Account(after_reset=person.was_reset(now), who=str(person.id)))
    found = [(each, own) for each in chosen]
    if settings.release_key is not None:
        keys = make_publisher(settings, _now).keys
        found = [
            (each, replace(own, account=replace(own.account or Account(), proof=keys.prove(own.said(each)))))
            for each in chosen
        ]
    else:
        print(
            "klartext: KLARTEXT_RELEASE_KEY_FILE is not set, so the file cannot prove who signed: a release will say "
            f"{NOT_VERIFIED!r}.",
            file=sys.stderr,
        )
    end = until.isoformat()
    make_acts(settings).note(
        *(Act(now, person.name, "sign", each.what, after={"text": each.text, "until": end}) for each in chosen)
    )
    return found


def _now() -> datetime:
    return datetime.now().astimezone()


def _chosen(contents: Contents, wanted: list[str]) -> list[Subject]:
    """Return the texts that are meant; raise BadData for a name that is none."""
    subjects = list(contents.subjects())
    found: list[Subject] = []
    for name in wanted or ["pairs", *SPOKEN, FORM, SITE]:
        kind = name.removesuffix("s") if name == "pairs" else name
        fitting = [each for each in subjects if each.what.split()[0] == kind or each.what.split()[1:2] == [name]]
        if not fitting and wanted:
            known = sorted({each.what.split()[0].replace("pair", "pairs") for each in subjects})
            none = " The catalog has no language of the site's own." if name == LANGUAGE else ""
            raise BadData(f"`--what` is {name!r}.{none} Name one of {', '.join(known)}, or the id of a pair.")
        found += [each for each in fitting if each not in found]
    return found


def _text_of(contents: Contents, subject: Subject) -> str:
    """Return all that patients see of a text, as YAML."""
    kind, *rest = subject.what.split()
    said: Any
    if kind == "pair":
        said = seen_of(contents.catalogs[rest[1]].pair(rest[0]))
        said = {name: value for name, value in said.items() if value}
    elif (texts := contents.said(subject.what)) is not None:
        said = dict(texts)
    else:
        said = contents.site if kind == SITE else json.loads(dump(contents.form or {}))
    return yaml.safe_dump(said, allow_unicode=True, sort_keys=False, width=100)


def _moment(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    """Read until when; a day counts to its end, in the time of the place."""
    try:
        day = len(text) == len("2027-06-30")
        read = datetime.fromisoformat(text)
        found = datetime.combine(read.date() + timedelta(days=1), time()) if day else read
    except ValueError:
        raise UserFixable(
            f"`--until` is {text!r}. Write a day such as 2027-06-30, or 2027-06-30T12:00+02:00."
        ) from None
    if found.tzinfo is None:
        found = found.astimezone() if zone is None else found.replace(tzinfo=zone)
    if found <= now:
        raise UserFixable(f"`--until` is {text!r}, which is over. Write a moment to come.")
    return found


def _counting(contents: Contents, settings: Settings) -> Contents:
    """Return the contents with the signatures that count at this site: a release is made with no others."""
    if settings.approvals != ACCOUNTS:
        return contents
    believed = make_publisher(settings, _now).keys.believed()
    return replace(contents, approvals=contents.approvals.proven(believed))


def _show(contents: Contents, chosen: list[Subject], now: datetime, *, as_json: bool) -> None:
    standings, drafts = contents.standings(now), contents.drafts(now)
    for subject in chosen:
        signed = contents.approvals.signed.get(subject.what)
        if as_json:
            said: dict[str, str] = {"what": subject.what, "text": subject.text, "standing": standings[subject.what]}
            if subject.what in drafts:
                said["review"] = drafts[subject.what]
            if signed is not None:
                said |= {"until": signed.until.isoformat(), "by": signed.names}
            print(json.dumps(said, ensure_ascii=False))
    if as_json:
        return
    counts = Counter(standings[subject.what] for subject in chosen)
    print(", ".join(f"{number} {standing}" for standing, number in sorted(counts.items())))
    waiting = [subject for subject in chosen if standings[subject.what] != "approved"]
    for subject in waiting[:LISTED]:
        draft = drafts.get(subject.what, "")
        why = f", but {draft}: {SET_REVIEW.format(file=f'{subject.what.split()[-1]}.yaml')}" if draft else ""
        state = "signed" if contents.approvals.is_signed(subject, now=now) else standings[subject.what]
        signed = contents.approvals.signed.get(subject.what)
        names = f" (signed by {signed.names})" if signed is not None and state != "unsigned" else ""
        print(f"  {subject.what}: {state}{names}{why}")
    if len(waiting) > LISTED:
        print(f"  … and {len(waiting) - LISTED} more; --json lists all")
