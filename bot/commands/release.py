"""`klartext release` and `klartext stop`: what patients are shown, from which moment on, and how it is stopped."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from bot.adapters.audit_log import os_user
from bot.catalog.catalog import language_files, locate
from bot.catalog.lint import lint
from bot.errors import BadData, UserFixable, friendly_errors
from bot.languages.opening import open_languages
from bot.ports import AuditEvent
from bot.release.contents import Contents, shipped_form
from bot.release.release import (
    Release,
    Releases,
    Side,
    Switch,
    contents_of,
    differences,
    make_manifest,
    pack,
    require_servable,
    unpack,
)
from bot.release.stops import Stop, Stops
from bot.settings import Settings
from bot.wiring import make_audit, make_releases, services_ready_for

release = typer.Typer(help="Make what patients are shown, and put it into force.", no_args_is_help=True)
stop = typer.Typer(help="Stop at once: one person is enough.", no_args_is_help=True)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]
ByOption = Annotated[str, typer.Option("--by", help="Who does it. Default: the user of this machine.", metavar="NAME")]
NumberArgument = Annotated[int, typer.Argument(help="Number of the release.", min=1)]
LOOK_S = 0.5  # between looks at whether all processes are ready


@dataclass(frozen=True, slots=True)
class Files:
    """Where an exam lies.

    Attributes:
        catalog: A shipped exam's name, or a folder.
        questionnaire: Default: the one that is shipped with the exam.
        site: Default: the one of the settings.
    """

    catalog: str
    questionnaire: Path | None = None
    site: Path | None = None

    def gather(self, settings: Settings) -> Contents:
        """Read the files; raise UserFixable when they cannot be used."""
        folder = locate(self.catalog)
        form = self.questionnaire or shipped_form(folder.resolve().name)
        site = self.site or settings.site
        open_languages(settings.languages, tuple(language_files(folder)))
        return Contents.gather(
            folder, site=site, questionnaire=form, languages=settings.languages, country=settings.country
        )


@release.command()
def new_key(
    out: Annotated[Path, typer.Option(help="File for the private key.", metavar="FILE")],
) -> None:
    """Make the site's key: releases are signed with the private one, services know the public one."""
    from bot.adapters.release_keys import new_key as make_key

    with friendly_errors():
        public = make_key(out)
        print(f"{out}: the private key. Keep it where releases are made: KLARTEXT_RELEASE_KEY_FILE={out}")
        print(f"KLARTEXT_RELEASE_TRUST={public}")


@release.command()
def make(
    catalog: Annotated[str, typer.Argument(help="A shipped exam, or a catalog folder.")] = "mammography",
    questionnaire: Annotated[
        Path | None, typer.Option(help="The questions of the radiology team. Default: the exam's.", metavar="Q.json")
    ] = None,
    site: Annotated[Path | None, typer.Option(help="The place. Default: KLARTEXT_SITE.", metavar="FILE")] = None,
    note: Annotated[str, typer.Option(help="What it is for.", metavar="TEXT")] = "",
    by: ByOption = "",
    data: DataOption = None,
) -> None:
    """Make a release of what is approved: numbered, hashed, signed, never changed. It is not yet in force."""
    from bot.adapters.release_keys import Signer

    with friendly_errors():
        settings = Settings.from_environment(data=data)
        contents = Files(catalog, questionnaire, site).gather(settings)
        signer, releases = Signer.of(settings.release_key), make_releases(settings)
        _require_sound(catalog)
        now = _now()
        manifest = make_manifest(contents, now=now, stops=releases.stops(), program=version("klartext"))
        who = _noted(settings, "release-make", by)
        made = releases.add(
            lambda number: signer.sign(Release(number, now, who, note, manifest, "")),
            pack(contents.files),
        )
        print(f"Release {made.name}: {_summary(made)}")
        for language, pairs in made.content["left_out"].items():
            for pair_id, why in pairs.items():
                print(f"  left out: {pair_id} ({language}): {why}")
        print(f"Put it into force with `klartext release activate {made.number}`.")


def _require_sound(catalog: str) -> None:
    """Raise UserFixable when lint calls something an error."""
    folder = locate(catalog)
    errors = [each for each in lint(folder, today=_now().date()) if each.severity == "error"]
    if errors:
        raise UserFixable(
            f"{errors[0].as_line()} {len(errors)} error{'s' if len(errors) > 1 else ''} in {folder}: run "
            f"`klartext qa lint {folder}` for the whole list, and mend them before a release is made."
        )


@release.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False, data: DataOption = None
) -> None:
    """List the releases, and which one is in force."""
    with friendly_errors():
        releases = make_releases(Settings.from_environment(data=data))
        in_force, switches = releases.in_force(), releases.switches()
        for each in releases.all():
            since = [switch.at for switch in switches if switch.number == each.number and switch.move != "prepare"]
            if as_json:
                said = {"number": each.number, "hash": each.hash, "made": each.made.isoformat(), "by": each.by}
                more = {"note": each.note, "in_force": each.number == in_force, "exam": each.exam}
                print(
                    json.dumps(said | more | {"in_force_since": [at.isoformat() for at in since]}, ensure_ascii=False)
                )
                continue
            mark = "in force" if each.number == in_force else "was in force" if since else ""
            print(f"{each.name:>18}  {each.made:%Y-%m-%d %H:%M}  {mark:12}  {each.by}: {each.note or _summary(each)}")
        if not releases.all() and not as_json:
            print("No releases. Make one with `klartext release make CATALOG`.")


@release.command()
def diff(
    number: NumberArgument,
    other: Annotated[int | None, typer.Argument(help="Compared with it. Default: the release in force.")] = None,
    data: DataOption = None,
) -> None:
    """Show what patients would see differently with a release: pairs that come, go and change, with both texts."""
    with friendly_errors():
        releases = make_releases(Settings.from_environment(data=data))
        before = other if other is not None else releases.in_force()
        new, old = _side(releases, number), _side(releases, before) if before is not None else None
        lines = list(differences(old, new))
        print(
            f"{before or 'nothing'} -> {number}: {len(lines)} lines" if lines else "Patients would see no difference."
        )
        for line in lines:
            print(line)


@release.command()
def activate(
    number: NumberArgument,
    by: ByOption = "",
    wait: Annotated[int, typer.Option(help="Seconds to wait until every process is ready.", min=0)] = 900,
    data: DataOption = None,
) -> None:
    """Put a release into force for all conversations that begin from now on, in all processes at once."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        releases = make_releases(settings)
        chosen = _existing(releases, number)
        _require_servable(settings, releases, chosen)
        if expired := _expired(chosen):
            raise UserFixable(
                f"Release {chosen.name} cannot be put into force: the approval of {expired} has expired. Have it "
                "signed again, and make a new release."
            )
        who = _noted(settings, "release-activate", by, release=number)
        _switch(settings, releases, Switch(_now(), who, "activate", number), wait)


@release.command()
def rollback(
    by: ByOption = "",
    to: Annotated[int | None, typer.Option(help="Which release. Default: the one before.", min=1)] = None,
    wait: Annotated[int, typer.Option(help="Seconds to wait until every process is ready.", min=0)] = 900,
    data: DataOption = None,
) -> None:
    """Put the release that was in force before into force again; running conversations stay on theirs."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        releases = make_releases(settings)
        number = to if to is not None else _before(releases)
        _require_servable(settings, releases, _existing(releases, number))
        who = _noted(settings, "release-rollback", by, release=number)
        _switch(settings, releases, Switch(_now(), who, "rollback", number), wait)


def _before(releases: Releases) -> int:
    """Return the release that was in force before the one that is."""
    in_force = releases.in_force()
    earlier = [each.number for each in releases.switches() if each.move == "activate" and each.number != in_force]
    if not earlier:
        raise BadData("No other release was ever in force. Choose one of `klartext release list` with `--to`.")
    return earlier[-1]


def _switch(settings: Settings, releases: Releases, switch: Switch, wait_s: int) -> None:
    """Have every process prepare a release, then put it into force at one moment."""
    releases.switch(Switch(switch.at, switch.by, "prepare", switch.number))
    until_s = time.monotonic() + wait_s
    running, ready = services_ready_for(settings, switch.number, now=_now())
    said = False
    while ready < running and time.monotonic() < until_s:
        if not said:
            print(f"{running} process{'es' if running > 1 else ''} prepare release {switch.number} …", flush=True)
            said = True
        time.sleep(LOOK_S)
        running, ready = services_ready_for(settings, switch.number, now=_now())
    if ready < running:
        raise UserFixable(
            f"{running - ready} of {running} processes are not ready for release {switch.number} after {wait_s} s; "
            "what was in force still is. See their logs, or wait longer with `--wait`."
        )
    releases.switch(Switch(_now(), switch.by, switch.move, switch.number))
    print(f"Release {_existing(releases, switch.number).name} is in force.")


def _require_servable(settings: Settings, releases: Releases, chosen: Release) -> None:
    """Raise UserFixable for a release that services would refuse."""
    from bot.adapters.release_keys import Trust

    Trust.of(settings.release_trust, settings.release_key).require(chosen)
    with TemporaryDirectory() as folder:
        place = unpack(chosen, releases.files(chosen.number), Path(folder))
        open_languages(place.languages, tuple(chosen.content["shown"]))
        require_servable(chosen, place.exam, settings.country)


def _existing(releases: Releases, number: int) -> Release:
    found = releases.get(number)
    if found is None:
        raise BadData(f"There is no release {number}. See `klartext release list`.")
    return found


def _side(releases: Releases, number: int) -> Side:
    chosen = _existing(releases, number)
    return Side(contents_of(chosen, releases.files(number)), chosen.content["shown"])


def _expired(chosen: Release) -> str:
    """Return what of a release is not approved any more; empty for nothing."""
    now = _now()
    gone = [what for what, until in chosen.content["until"].items() if datetime.fromisoformat(until) <= now]
    more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
    return f"{gone[0]}{more}" if gone else ""


def _summary(each: Release) -> str:
    content = each.content
    counts = ", ".join(f"{len(pairs)} pairs ({language})" for language, pairs in content["shown"].items())
    versions = "/".join(dict.fromkeys(content["versions"].values()))
    return f"{content['exam']} {versions}, {counts}"


def _noted(settings: Settings, action: str, by: str, **counts: int) -> str:
    """Write into the audit log what is about to be done, and return who does it; without `by` the machine's user."""
    name = by.strip() or os_user()
    make_audit(settings).note(AuditEvent(action, f"{name} ({os_user()})" if by.strip() else name, counts=counts))
    return name


def _now() -> datetime:
    return datetime.now().astimezone()


WhyOption = Annotated[str, typer.Option("--why", help="For the record.", metavar="TEXT")]


@stop.command()
def pair(
    pair_id: Annotated[str, typer.Argument(help="Id of the pair.", metavar="PAIR")],
    by: ByOption = "",
    why: WhyOption = "",
    data: DataOption = None,
) -> None:
    """Withdraw a pair at once, in all languages, releases and processes. It comes back with a later release only."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        releases = make_releases(settings)
        known = {each for one in releases.all() for pairs in one.content["shown"].values() for each in pairs}
        if pair_id not in known:
            some = ", ".join(sorted(known)[:5]) or "none"
            raise BadData(f"No release shows a pair {pair_id!r}. Name one that is shown: {some} …")
        who = _noted(settings, f"stop-pair {pair_id}", by)
        releases.stop(Stop(_now(), who, "withdraw", pair_id, why=why))
        print(f"{pair_id} is withdrawn. Patients who ask for it are told that the answer is being checked.")


@stop.command()
def chat(by: ByOption = "", why: WhyOption = "", data: DataOption = None) -> None:
    """Close the chat at once: nothing is answered but emergencies, and patients are told whom to call."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        releases = make_releases(settings)
        releases.stop(Stop(_now(), _noted(settings, "stop-chat", by), "close", why=why))
        print("The chat is closed. Two people open it again with `klartext stop end --by NAME --by NAME`.")


@stop.command()
def end(
    by: Annotated[list[str], typer.Option("--by", help="Two different people.", metavar="NAME")],
    why: WhyOption = "",
    data: DataOption = None,
) -> None:
    """Open the chat again; that takes two people."""
    with friendly_errors():
        names = {" ".join(name.casefold().split()): name.strip() for name in by if name.strip()}
        if len(names) < 2:
            raise UserFixable(f"`--by` names {len(names)} person, and opening takes two. Give `--by` twice.")
        settings = Settings.from_environment(data=data)
        releases = make_releases(settings)
        if not Stops.of(releases.stops()).closed:
            raise BadData("The chat is open. See `klartext stop list`.")
        releases.stop(Stop(_now(), _noted(settings, "stop-end", ", ".join(names.values())), "open", why=why))
        print("The chat is open again.")


@stop.command("list")
def list_stops(data: DataOption = None) -> None:
    """List what was stopped, by whom, and what is stopped now."""
    with friendly_errors():
        acts = make_releases(Settings.from_environment(data=data)).stops()
        for act in acts:
            print(f"{act.at.astimezone():%Y-%m-%d %H:%M}  {act.kind:8}  {act.pair_id or 'chat'}  {act.by}: {act.why}")
        now = Stops.of(acts)
        withdrawn = ", ".join(f"{each} (up to release {last})" for each, last in now.withdrawn.items())
        print(f"Now: the chat is {'closed' if now.closed else 'open'}; withdrawn: {withdrawn or 'nothing'}.")
