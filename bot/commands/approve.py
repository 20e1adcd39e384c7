"""`klartext qa approve`: who approved which text, bound to exactly what patients see of it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Annotated

import typer

from bot.catalog.approval import FILE, Subject, write_approvals
from bot.catalog.catalog import locate
from bot.commands.release import Files
from bot.errors import BadData, UserFixable, friendly_errors
from bot.release.contents import Contents
from bot.settings import Settings

LISTED = 12  # texts named when there are more


def approve(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")] = "mammography",
    by: Annotated[
        str, typer.Option("--by", help="Who signs. Without it, only how each text stands.", metavar="NAME")
    ] = "",
    until: Annotated[
        str,
        typer.Option(help="Until when it holds: a day, or a moment such as 2027-06-30T12:00+02:00.", metavar="TIME"),
    ] = "",
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--what",
            help="pairs, sentences, language, questionnaire, site, or a pair's id. Default: all.",
            metavar="WHAT",
        ),
    ] = None,
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    site: Annotated[Path | None, typer.Option(help="The place. Default: KLARTEXT_SITE.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a text.")] = False,
) -> None:
    """Sign texts as they are now, or show who signed what. Two people have to sign; a changed text needs both again."""
    with friendly_errors():
        folder = locate(catalog)
        contents = Files(catalog, questionnaire, site).gather(Settings.from_environment())
        chosen = _chosen(contents, what or [])
        now = datetime.now().astimezone()
        if by.strip():
            signed = contents.approvals.sign(chosen, name=by.strip(), at=now, until=_moment(until, now))
            write_approvals(folder, signed)
            print(f"{folder / FILE}: {by.strip()} signed {len(chosen)} texts.")
            contents = Files(catalog, questionnaire, site).gather(Settings.from_environment())
        _show(contents, chosen, now, as_json=as_json)


def _chosen(contents: Contents, wanted: list[str]) -> list[Subject]:
    """Return the texts that are meant; raise BadData for a name that is none."""
    subjects = list(contents.subjects())
    found: list[Subject] = []
    for name in wanted or ["pairs", "sentences", "language", "questionnaire", "site"]:
        kind = name.removesuffix("s") if name == "pairs" else name
        fitting = [each for each in subjects if each.what.split()[0] == kind or each.what.split()[1:2] == [name]]
        if not fitting and wanted:
            known = sorted({each.what.split()[0].replace("pair", "pairs") for each in subjects})
            raise BadData(f"`--what` is {name!r}. Name one of {', '.join(known)}, or the id of a pair.")
        found += [each for each in fitting if each not in found]
    return found


def _moment(text: str, now: datetime) -> datetime:
    """Read until when; a day counts to its end, in the time of this machine."""
    try:
        day = len(text) == len("2027-06-30")
        read = datetime.fromisoformat(text)
        found = datetime.combine(read.date() + timedelta(days=1), time()) if day else read
    except ValueError:
        raise UserFixable(
            f"`--until` is {text!r}. Write a day such as 2027-06-30, or 2027-06-30T12:00+02:00."
        ) from None
    found = found.astimezone() if found.tzinfo is None else found
    if found <= now:
        raise UserFixable(f"`--until` is {text!r}, which is over. Write a moment to come.")
    return found


def _show(contents: Contents, chosen: list[Subject], now: datetime, *, as_json: bool) -> None:
    standings = contents.standings(now)
    for subject in chosen:
        signed = contents.approvals.signed.get(subject.what)
        if as_json:
            said = {"what": subject.what, "text": subject.text, "standing": standings[subject.what]}
            if signed is not None:
                said |= {"until": signed.until.isoformat(), "by": signed.names}
            print(json.dumps(said, ensure_ascii=False))
    if as_json:
        return
    counts = Counter(standings[subject.what] for subject in chosen)
    print(", ".join(f"{number} {standing}" for standing, number in sorted(counts.items())))
    waiting = [subject for subject in chosen if standings[subject.what] != "approved"]
    for subject in waiting[:LISTED]:
        signed = contents.approvals.signed.get(subject.what)
        names = f" (signed by {signed.names})" if signed is not None and standings[subject.what] != "unsigned" else ""
        print(f"  {subject.what}: {standings[subject.what]}{names}")
    if len(waiting) > LISTED:
        print(f"  … and {len(waiting) - LISTED} more; --json lists all")
