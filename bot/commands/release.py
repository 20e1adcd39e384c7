"""`klartext release` and `klartext stop`: what patients are shown, from which moment on, and how it is stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.adapters.audit_log import os_user
from bot.catalog.catalog import language_files, locate
from bot.catalog.fhir_files import shipped_form, write_text
from bot.catalog.site import in_zone
from bot.commands.installation import ForceOption, require_served, tell, tell_database
from bot.commands.moments import local_zone
from bot.errors import BadData, NotSent, StopNotNoted, UserFixable, friendly_errors
from bot.interview.values.fhir_json import as_object
from bot.languages.opening import open_languages
from bot.release.contents import Contents
from bot.release.publishing import Publisher, holds, summary
from bot.release.release import NOT_VERIFIED, Release, differences
from bot.release.restored import action_of
from bot.release.stops import Stop, Stops
from bot.settings import Settings
from bot.web.staff.wiring import make_publisher, stops_taken_back
from bot.wiring import for_server, make_fhir_server, make_releases

if TYPE_CHECKING:
    from bot.adapters.sql_encryption import Served

release = typer.Typer(help="Make what patients are shown, and put it into force.", no_args_is_help=True)
stop = typer.Typer(help="Stop at once: one person is enough.", no_args_is_help=True)

DataOption = Annotated[Path | None, typer.Option("--data", help="Folder of the database. Default: KLARTEXT_DATA.")]
ByOption = Annotated[str, typer.Option("--by", help="Who does it. Default: the user of this machine.", metavar="NAME")]
RUNNING = (
    "Conversations that have begun keep their release: a text that is wrong is withdrawn from them, too, by "
    "`klartext stop pair`."
)
WITHDRAWN = (
    "{pair} is withdrawn. Patients who ask for it are told that the answer is being checked. A page that stands open "
    "takes it back when its patient opens a part of an answer, writes, or comes back to it, and within seconds while "
    "a call for staff is open; until then, and without JavaScript until it is loaded again, it shows what it showed. "
    "Printed and saved copies keep it."
)
MOST_NAMED = 3  # texts that one person signed
ExamOption = Annotated[
    str, typer.Option("--exam", help="Of which exam, where there are several: its folder's name.", metavar="NAME")
]
NumberArgument = Annotated[int, typer.Argument(help="Number of the release.", min=1)]


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
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        contents = Files(catalog, questionnaire, site).gather(settings)
        tell_database(settings)
        publisher = _publisher(settings)
        made = publisher.make(contents, locate(catalog), by=_who(by), note=note)
        print(f"Release {made.name}: {holds(made)}")
        for language, pairs in made.content["left_out"].items():
            for pair_id, why in pairs.items():
                print(f"  left out: {pair_id} ({language}): {why}")
        for line in publisher.standstill(made).lines(publisher.zone()):
            print(line)
        for line in _signed_after_reset(made):
            print(line)
        if not made.has_verified_names:
            print(
                f"klartext: {NOT_VERIFIED}: who signed was typed by whoever ran the command, and nobody logged in. "
                "Have approvers sign in the console or with `klartext qa approve --login`; KLARTEXT_APPROVALS=accounts "
                "demands it.",
                file=sys.stderr,
            )
        print(f"Put it into force with `klartext release activate {made.number}`.")


def _signed_after_reset(made: Release) -> Iterator[str]:
    """Yield a line for each person who signed shortly after somebody else had given their account a password."""
    texts: dict[str, list[str]] = {}
    for what, names in made.after_reset.items():
        for name in names:
            texts.setdefault(name, []).append(what)
    for name, signed in texts.items():
        more = f" and {len(signed) - MOST_NAMED} more" if len(signed) > MOST_NAMED else ""
        yield (
            f"  {name} signed {len(signed)} text{'' if len(signed) == 1 else 's'} within 24 h after somebody else set "
            f"the account's password: {', '.join(signed[:MOST_NAMED])}{more}. Ask this person in person."
        )


@release.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    exam: ExamOption = "",
    data: DataOption = None,
) -> None:
    """List the releases, and which one is in force; where there are several exams, of each."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        tell_database(settings)
        releases, zone = make_releases(settings).of_exam(exam), local_zone(settings)
        switches = releases.switches()
        in_force = {releases.of_exam(each).in_force() for each in releases.exams() or [""]}
        for each in releases.all():
            since = [switch.at for switch in switches if switch.number == each.number and switch.move != "prepare"]
            if as_json:
                said = {"number": each.number, "hash": each.hash, "made": each.made.isoformat(), "by": each.by}
                more = {"note": each.note, "in_force": each.number in in_force, "exam": each.exam}
                more["names"] = "verified" if each.has_verified_names else "not verified"
                print(
                    json.dumps(said | more | {"in_force_since": [at.isoformat() for at in since]}, ensure_ascii=False)
                )
                continue
            mark = "in force" if each.number in in_force else "was in force" if since else ""
            print(f"{each.name:>18}  {in_zone(each.made, zone)}  {mark:12}  {each.by}: {_described(each)}")
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
        settings = Settings.from_environment(data=data)
        tell_database(settings)
        publisher = _publisher(settings)
        exam = publisher.existing(number).exam
        before = other if other is not None else publisher.releases.of_exam(exam).in_force()
        new, old = publisher.side(number), publisher.side(before) if before is not None else None
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
        tell_database(settings)
        publisher = _publisher(settings)
        chosen = publisher.activate(number, by=_who(by), wait_s=wait, tell=_say)
        print(f"Release {chosen.name} is in force. {RUNNING}")


@release.command("fhir")
def as_fhir(
    number: NumberArgument,
    out: Annotated[Path | None, typer.Option("--out", help="File to write.", metavar="FILE")] = None,
    push: Annotated[bool, typer.Option("--push", help="Put it on the FHIR server; twice changes nothing.")] = False,
    server: Annotated[str | None, typer.Option(help="Base URL. Default: KLARTEXT_FHIR_URL.", metavar="URL")] = None,
    data: DataOption = None,
) -> None:
    """Write what a release shows as FHIR (a Library for each language), or put it on a FHIR server."""
    from bot.handover.flaws import flaws  # these take most of a second
    from bot.release.fhir_library import bundle, libraries

    with friendly_errors():
        if (out is None) is not push:
            raise UserFixable("Say where to: `--out FILE`, or `--push` for the FHIR server.")
        settings = for_server(Settings.from_environment(data=data), server)
        publisher = _publisher(settings)
        chosen = publisher.existing(number)
        publisher.keys.require(chosen)
        _require_not_withdrawn(chosen, publisher.releases.stops())
        contents = publisher.side(number).contents
        made = libraries(chosen, contents, contents.namespaces)
        for each in made:
            if found := next(iter(flaws(as_object(each), "Library")), None):
                raise BadData(
                    f"Release {chosen.name} is no sound FHIR: {found.reason} ({found.path}). Nothing was sent."
                )
        if out is not None:
            write_text(out, json.dumps(bundle(made, settings.fhir.ids), ensure_ascii=False, indent=1))
            print(f"{out}: {len(made)} Libraries of release {chosen.name}")
            return
        fhir_server = make_fhir_server(settings)
        try:
            fhir_server.check()
            for each in made:  # alone, so that what has arrived is recognised by its id
                fhir_server.send(json.dumps(bundle([each], settings.fhir.ids), ensure_ascii=False), again=True)
        except NotSent as error:
            raise UserFixable(f"{error} Nothing is there twice if you try again.") from None
        finally:
            fhir_server.close()
        print(f"Release {chosen.name} is on the FHIR server: {len(made)} Libraries.")


def _require_not_withdrawn(chosen: Release, stops: list[Stop]) -> None:
    """Raise UserFixable where a release holds what was withdrawn: nobody may be handed that any more."""
    known, content = Stops.of(stops).in_exam(chosen.exam), chosen.content
    held = {
        pair
        for language, pairs in content["shown"].items()
        for pair in known.pairs(chosen.number, chosen.made, content, language).intersection(pairs)
    }
    if held:
        raise UserFixable(
            f"Release {chosen.name} holds {min(held)}, which was withdrawn. Hand out a release with a new text of it: "
            "`klartext release make`; or see `klartext stop lift`."
        )


@release.command()
def rollback(
    by: ByOption = "",
    to: Annotated[int | None, typer.Option(help="Which release. Default: the one before.", min=1)] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Even if approvals in it have expired: what has expired is not shown.")
    ] = False,
    wait: Annotated[int, typer.Option(help="Seconds to wait until every process is ready.", min=0)] = 900,
    exam: ExamOption = "",
    data: DataOption = None,
) -> None:
    """Put the release that was in force before into force again; running conversations stay on theirs."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        tell_database(settings)
        publisher = _publisher(settings)
        chosen = publisher.roll_back(to, by=_who(by), wait_s=wait, tell=_say, force=force, exam=exam)
        print(f"Release {chosen.name} is in force. {RUNNING}")


def _described(each: Release) -> str:
    unsure = "" if each.has_verified_names else f" ({NOT_VERIFIED})"
    return f"{each.note}{unsure}" if each.note else summary(each)


def _who(by: str) -> str:
    """Return who does it; without `by`, the user of this machine."""
    return by.strip() or os_user()


def _say(line: str) -> None:
    print(line, flush=True)


def _publisher(settings: Settings) -> Publisher:
    return make_publisher(settings, _now, zone=lambda: local_zone(settings))


def _now() -> datetime:
    return datetime.now().astimezone()


StoppedExamOption = Annotated[
    str | None,
    typer.Option("--exam", help="For one exam only, by its folder's name. Default: for all.", metavar="NAME"),
]
WhyOption = Annotated[str, typer.Option("--why", help="For the record.", metavar="TEXT")]


@stop.command()
def pair(
    pair_id: Annotated[str, typer.Argument(help="Id of the pair.", metavar="PAIR")],
    by: ByOption = "",
    why: WhyOption = "",
    exam: StoppedExamOption = None,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Withdraw a pair at once, in all languages, releases and processes. Signing the same text again lifts nothing."""
    with friendly_errors():
        publisher, found = _stopping(data, force=force)
        chosen = publisher.stoppable(exam)
        known = publisher.shown_pair(pair_id, chosen)
        done = WITHDRAWN.format(pair=f"{known} of {chosen}" if chosen else known)
        _stop_first(lambda: publisher.withdraw(known, by=_who(by), why=why, exam=chosen), done, found)


@stop.command()
def chat(
    by: ByOption = "",
    why: WhyOption = "",
    exam: StoppedExamOption = None,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Close the chat at once: nothing is answered but emergencies, and patients are told whom to call."""
    with friendly_errors():
        publisher, found = _stopping(data, force=force)
        chosen = publisher.stoppable(exam)
        what = f"The chat of {chosen} is closed; that of other exams goes on" if chosen else "The chat is closed"
        with_it = f" --exam {chosen}" if chosen else ""
        done = f"{what}. Two people open it again with `klartext stop end --by NAME --by NAME{with_it}`."
        _stop_first(lambda: publisher.close(by=_who(by), why=why, exam=chosen), done, found)


@stop.command()
def lift(
    pair_id: Annotated[str, typer.Argument(help="Id of the pair.", metavar="PAIR")],
    why: Annotated[str, typer.Option("--why", help="Why it may be shown again: for the record.", metavar="TEXT")],
    by: ByOption = "",
    exam: StoppedExamOption = None,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Show a withdrawn pair again with the text that was withdrawn, at once, in all releases and processes."""
    with friendly_errors():
        publisher, found = _stopping(data, force=force)
        chosen = publisher.stoppable(exam)
        lifted = publisher.lift(pair_id, by=_who(by), why=why, exam=chosen)
        named = f"{lifted} of {chosen}" if chosen else lifted
        print(f"The stop of {named} is lifted. Patients who ask for it are shown its text again.")
        _tell_reach(found)


@stop.command()
def note(data: DataOption = None) -> None:
    """Write the stops into the audit log that it lacks: it could not be written, or a command was killed."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        publisher, lacking = _publisher(settings), stops_taken_back(settings).unnoted
        for each in lacking:
            publisher.note_stop(each)
            print(f"noted: {action_of(each)}, {in_zone(each.at, local_zone(settings))}, by {each.by}")
        if not lacking:
            print("The audit log lacks no stop.")


@stop.command()
def end(
    by: Annotated[list[str], typer.Option("--by", help="Two different people.", metavar="NAME")],
    why: WhyOption = "",
    exam: StoppedExamOption = None,
    force: ForceOption = False,
    data: DataOption = None,
) -> None:
    """Open the chat again, as it was closed: for all exams, or for one; that takes two people."""
    with friendly_errors():
        publisher, found = _stopping(data, force=force)
        chosen = publisher.stoppable(exam)
        publisher.open_again(*by, why=why, exam=chosen)
        stops = Stops.of(publisher.releases.stops())
        if chosen and stops.closed:
            print(f"The chat of {chosen} is not closed by itself any more. It stays closed: that of all exams is.")
        else:
            still = [each for each, own in stops.exams.items() if own.closed]
            print(f"The chat{f' of {chosen}' if chosen else ''} is open again.")
            if still and not chosen:
                print(f"That of {', '.join(still)} stays closed: it was closed by itself. Name it with `--exam`.")
        _tell_reach(found)


@stop.command("list")
def list_stops(data: DataOption = None) -> None:
    """List what was stopped, by whom, and what is stopped now."""
    with friendly_errors():
        settings = Settings.from_environment(data=data)
        tell_database(settings)
        acts, zone = make_releases(settings).stops(), local_zone(settings)
        for act in acts:
            of_it = f" of {act.exam}" if act.exam else ""
            print(f"{in_zone(act.at, zone)}  {act.kind:8}  {act.pair_id or 'chat'}{of_it}  {act.by}: {act.why}")
        now = Stops.of(acts)
        for where, own in [("Now", now), *((f"Of {exam} alone", own) for exam, own in now.exams.items())]:
            withdrawn = ", ".join(
                f"{each} (up to release {known.release}, and the same text in later ones)"
                for each, known in own.withdrawn.items()
            )
            print(f"{where}: the chat is {'closed' if own.closed else 'open'}; withdrawn: {withdrawn or 'nothing'}.")
        _tell_unnoted(settings)


def _tell_unnoted(settings: Settings) -> None:
    """Say which stops the audit log lacks, as far as it can be read."""
    try:
        lacking = stops_taken_back(settings).unnoted
    except UserFixable as error:
        print(f"klartext: not compared with the audit log: {error}", file=sys.stderr)
        return
    if lacking:
        named = ", ".join(dict.fromkeys(each.about for each in lacking))
        print(f"klartext: the audit log lacks the stop of {named}: run `klartext stop note`.", file=sys.stderr)


def _stop_first(stop: Callable[[], None], done: str, found: Served) -> None:
    """Stop, say that it is done, and end with exit code 1 where the audit log lacks it: no log is in its way."""
    lacks: StopNotNoted | None = None
    try:
        stop()
    except StopNotNoted as error:
        lacks = error
    print(done)
    _tell_reach(found)
    if lacks is not None:
        print(f"klartext: {lacks}", file=sys.stderr)
        raise typer.Exit(1)


def _stopping(data: Path | None, *, force: bool) -> tuple[Publisher, Served]:
    settings = Settings.from_environment(data=data)
    found = require_served(settings, force=force)
    tell(found)
    return _publisher(settings), found


def _tell_reach(found: Served) -> None:
    """Say how many processes hear of it: where none does, another database may be the one that patients see."""
    if found.running and not found.silent_s:
        print(f"Processes that serve patients from this database: {found.running}. It holds there within a second.")
    else:
        print(
            "klartext: no process serves patients from this database just now. If the chat runs, it runs on another "
            "one, and patients see no change.",
            file=sys.stderr,
        )
