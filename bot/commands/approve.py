"""`klartext qa approve`: who approved which text, bound to exactly what patients see of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from bot.catalog.approval import FILE, FORM, LANGUAGE, SITE, SPOKEN, Subject, seen_of, write_approvals
from bot.catalog.catalog import locate
from bot.commands.moments import local_zone
from bot.commands.release import Files
from bot.errors import BadData, UserFixable, friendly_errors
from bot.interview.values.fhir_json import dump
from bot.release.contents import Contents
from bot.release.release import SET_REVIEW
from bot.settings import Settings

LISTED = 12  # texts named when there are more


def approve(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")] = "mammography",
    by: Annotated[
        str | None, typer.Option("--by", help="Who signs. Without it, only how each text stands.", metavar="NAME")
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
    """Sign texts as they are now, or show who signed what. Two people have to sign; a changed text needs both again."""
    with friendly_errors():
        folder, settings = locate(catalog), Settings.from_environment()
        if by is not None and not by.strip():
            raise UserFixable('`--by` is empty. Name who signs, as `--by "Dr. Anna Berg"`.')
        contents = Files(catalog, questionnaire, site).gather(settings)
        chosen = _chosen(contents, what or [])
        now = datetime.now().astimezone()
        if show:
            for subject in chosen:
                print(f"--- {subject.what}\n{_text_of(contents, subject)}")
        if by is not None:
            zone = local_zone(replace(settings, site=site or settings.site))
            signed = contents.approvals.sign(chosen, name=by.strip(), at=now, until=_moment(until, now, zone))
            write_approvals(folder, signed)
            print(f"{folder / FILE}: {by.strip()} signed {len(chosen)} text{'s' if len(chosen) != 1 else ''}.")
            if not show:
                print("What was signed, word by word, is printed by the same command with `--show`.")
            contents = Files(catalog, questionnaire, site).gather(settings)
        _show(contents, chosen, now, as_json=as_json)


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
