"""Make releases, put them into force and take them back, the same way for commands and for the console."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from bot.catalog.approval import SPOKEN, Approvals, IsOurs, person_key
from bot.catalog.countries import Country
from bot.catalog.lint import lint
from bot.catalog.near_ids import as_typed, nearest
from bot.catalog.site import in_zone
from bot.errors import BadData, Finding, NotAudited, StopNotNoted, Unreachable, UserFixable
from bot.release.contents import Contents
from bot.release.release import (
    NOT_VERIFIED,
    Move,
    Release,
    Releases,
    Side,
    Switch,
    contents_of,
    make_manifest,
    pack,
    require_servable,
    unpack,
)
from bot.release.restored import ACTIVATE, ENDED, GIVEN_UP, ROLLBACK, action_of
from bot.release.stops import Stop, Stops, Withdrawn

LOOK_S = 0.5  # between looks at whether all processes are ready
TELL_S = 15.0  # between two lines that tell how far they are


class Keys(Protocol):
    """The site's keys."""

    def sign(self, release: Release) -> Release:
        """Return the release with a signature; raise UserFixable where there is no private key here."""
        ...

    def require(self, release: Release) -> None:
        """Raise UserFixable unless services would believe the release's signature."""
        ...

    def prove(self, said: bytes) -> str:
        """Return a signature under some bytes (base64); raise UserFixable where there is no private key here."""
        ...

    def believed(self) -> IsOurs:
        """Return what tells whether services would believe a signature; raise UserFixable where no key is known."""
        ...


class Note(Protocol):
    """Writes into the audit log: the act, who, numbers, the reason; `done`: the stop, which comes before its line."""

    def __call__(
        self, action: str, by: str, counts: Mapping[str, int], done: Stop | None = None, *, why: str = ""
    ) -> None:
        """Write; raise UserFixable when that fails."""
        ...


@dataclass(frozen=True, slots=True)
class Standstill:
    """What a release does to the stops: pairs with their language, each with how it was withdrawn.

    Attributes:
        held: Those that stay stopped in it: their text was withdrawn, or signed before that.
        ended: Those that are shown with it again: their text was changed and signed by two since.
    """

    held: tuple[tuple[str, str, Withdrawn], ...] = ()
    ended: tuple[tuple[str, str, Withdrawn], ...] = ()

    def lines(self, zone: tzinfo | None = None) -> Iterator[str]:
        """Yield what has to be said of it, loudly: once for each pair; `zone`: of the place, default the system's."""
        for pair_id, named in _by_pair(self.held, zone):
            yield (
                f"STILL STOPPED: {named}: patients are told that it is being checked. Signatures do not lift a stop: "
                f"change the text and have two people sign it, or run `klartext stop lift {pair_id} --why TEXT`."
            )
        for _, named in _by_pair(self.ended, zone):
            yield (
                f"THE STOP ENDS: {named}: its text was changed, and two people have signed it since. Patients are "
                "shown it with this release."
            )

    @property
    def counts(self) -> dict[str, int]:
        """Return how many there are, for the audit log."""
        counted = {"still_stopped": len(self.held), "stops_ended": len(self.ended)}
        return {what: count for what, count in counted.items() if count}


def _by_pair(stopped: Sequence[tuple[str, str, Withdrawn]], zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """Yield each pair with its languages in brackets, when it was withdrawn and by whom."""
    languages: dict[str, list[str]] = {}
    for pair_id, language, _ in stopped:
        languages.setdefault(pair_id, []).append(language)
    stops = {pair_id: stop for pair_id, _, stop in stopped}
    for pair_id, spoken in languages.items():
        stop = stops[pair_id]
        yield pair_id, f"{pair_id} ({', '.join(spoken)}), withdrawn {in_zone(stop.at, zone)} by {stop.by}"


@dataclass(frozen=True, slots=True)
class Publisher:
    """What changes what patients are shown.

    Attributes:
        releases: Where they are kept.
        keys: Sign and check them.
        country: Of this installation.
        program: Version of this program.
        ready_for: Returns how many processes serve patients, and how many could serve a release at once.
        note: Writes into the audit log: before anything is done, but for a stop, which waits for nothing.
        now: The clock.
        open_languages: Takes the languages that a release brings from a folder.
        accounts_only: Whether only signatures count that people made who had logged in.
        zone: Returns the time zone of the place, for what is told; default: None, the system's. No stop asks for it.
    """

    releases: Releases
    keys: Keys
    country: Country | None
    program: str
    ready_for: Callable[[int, datetime], tuple[int, int]]
    note: Note
    now: Callable[[], datetime]
    open_languages: Callable[[Path | None, Sequence[str]], None]
    accounts_only: bool = False
    zone: Callable[[], tzinfo | None] = lambda: None

    def manifest(self, contents: Contents) -> str:
        """Return what a release of these contents holds.

        Raises:
            UserFixable: A signature that claims to be an account's was changed, or something is not approved.
        """
        try:
            proven = contents.approvals.proven(self.keys.believed(), strict=self.accounts_only)
        except UserFixable:
            if self.accounts_only:
                raise
            proven = Approvals()  # what is only checked needs no key
        used = replace(contents, approvals=proven) if self.accounts_only else contents
        return make_manifest(used, now=self.now(), stops=self.releases.stops(), program=self.program, proven=proven)

    def make(self, contents: Contents, folder: Path, *, by: str, note: str) -> Release:
        """Make a release of what is approved: numbered, hashed, signed. `folder`: of the catalog, which lint reads.

        Raises:
            UserFixable: Lint finds an error, something is not approved, or there is no key.
        """
        require_sound(folder, today=self.now().date())
        now, manifest = self.now(), self.manifest(contents)

        def signed(number: int) -> Release:
            return self.keys.sign(Release(number, now, by, note, manifest, ""))

        standstill = self.standstill(signed(0))  # without a key nothing is noted
        self.note("release-make", by, standstill.counts)
        return self.releases.add(signed, pack(contents.files))

    def activate(self, number: int, *, by: str, wait_s: float, tell: Callable[[str], None]) -> Release:
        """Put a release into force for all conversations that begin from now on, in all processes at one moment.

        Raises:
            UserFixable: There is none, services would refuse it, an approval has expired, or a process is not ready in
                time: what was in force still is then.
        """
        chosen = self.existing(number)
        self._require_servable(chosen)
        if expired := self._expired(chosen):
            raise UserFixable(
                f"Release {chosen.name} cannot be put into force: the approval of {_named(expired)} has expired. Have "
                "it signed again, and make a new release."
            )
        return self._put(chosen, ACTIVATE, Switch(self.now(), by, "activate", number), wait_s, tell)

    def roll_back(  # noqa: PLR0913 - which release, and how it is put into force
        self,
        to: int | None,
        *,
        by: str,
        wait_s: float,
        tell: Callable[[str], None],
        force: bool = False,
        exam: str = "",
    ) -> Release:
        """Put the release that was in force before, or `to`, into force again; running conversations stay on theirs.

        `exam`: whose, where releases of several exams are in force beside each other.
        `force`: also one of which approvals of pairs, form or site have expired, where the one in force is worse: what
        has expired is not shown. The program's own sentences must be approved, else the chat would be closed.

        Raises:
            UserFixable: As for `activate`; or what was before is a release that was rolled back itself.
        """
        chosen = self.existing(to if to is not None else self.before(exam))
        self._require_servable(chosen)
        expired = self._expired(chosen)
        if any(what.split()[0] in SPOKEN for what in expired):
            raise UserFixable(
                f"Release {chosen.name} cannot be put into force: the approval of {_named(expired)} has expired: "
                "the chat would close. Have it signed again and make a new release; `klartext stop chat` closes the "
                "chat at once."
            )
        if expired and not force:
            raise UserFixable(
                f"The approval of {_named(expired)} of release {chosen.name} has expired: patients would not be shown "
                "that. Withdraw a wrong text with `klartext stop pair`, or add `--force` if what is in force is worse."
            )
        return self._put(chosen, ROLLBACK, Switch(self.now(), by, "rollback", chosen.number), wait_s, tell)

    def standstill(self, release: Release) -> Standstill:
        """Return what a release does to the stops, compared with the one in force; number 0: it is made now."""
        stops = Stops.of(self.releases.stops()).in_exam(release.exam)
        number = self.releases.of_exam(release.exam).in_force()
        before = self.existing(number) if number is not None else None
        held, ended = list[tuple[str, str, Withdrawn]](), list[tuple[str, str, Withdrawn]]()
        content = release.content
        for language, pairs in content["shown"].items():
            # Numbers are given when a release is kept: until then it is later than all.
            number = release.number or sys.maxsize
            now = stops.pairs(number, release.made, content, language)
            was = frozenset(stops.withdrawn)
            if before is not None:
                was = stops.pairs(before.number, before.made, before.content, language)
            held += [(each, language, stops.withdrawn[each]) for each in pairs if each in now]
            ended += [(each, language, stops.withdrawn[each]) for each in pairs if each in was - now]
        return Standstill(tuple(held), tuple(ended))

    def stoppable(self, typed: str | None) -> str:
        """Return the exam that a stop is for, in whatever case it was typed; empty: all of them, as none was named.

        Raises:
            BadData: No release of such an exam was ever in force: a stop for it would stop nothing.
        """
        if typed is None:
            return ""
        known = self.releases.exams()
        found = as_typed(typed, known)
        if found is None:
            raise BadData(
                f"No release of an exam {typed!r} was ever in force, so nothing of it can be stopped. There are: "
                f"{', '.join(known) or 'none'}. Name one of these, or leave `--exam` out: the stop holds for all then.",
                code="no-such-exam",
                values={"exam": typed, "known": ", ".join(known)},
            )
        return found

    def shown_pair(self, typed: str, exam: str = "") -> str:
        """Return the id of a pair that some release shows, in whatever case it was typed; `exam`: of this one.

        Raises:
            BadData: There is none; the nearest are named.
        """
        releases = self.releases.of_exam(exam).all() if exam else self.releases.all()
        known = {each for one in releases for pairs in one.content["shown"].values() for each in pairs}
        found = as_typed(typed, known)
        if found is None:
            raise BadData(
                f"No release shows a pair {typed!r}. {nearest(typed, known)} See `klartext qa list`.",
                code="not-shown",
                values={"pair": typed},
            )
        return found

    def withdraw(self, pair_id: str, *, by: str, why: str, exam: str = "") -> None:
        """Withdraw a pair at once, in all languages, releases and processes; `exam`: in this one only.

        Later releases show it again with a new text only, or once somebody lifts the stop.

        Raises:
            BadData: No release shows it, or there is no such exam.
            Unreachable: Nothing is stopped, the database takes nothing.
            StopNotNoted: It is stopped, and the audit log lacks it.
        """
        exam = self.stoppable(exam or None)
        pair_id = self.shown_pair(pair_id, exam)
        stop = Stop(self.now(), by, "withdraw", pair_id, why=why, exam=exam)
        self._stop(stop, f"{stop.about} is withdrawn")

    def lift(self, typed: str, *, by: str, why: str, exam: str = "") -> str:
        """Show a withdrawn pair again, in all releases with an approved text of it; somebody has to say why.

        What was withdrawn in one exam is lifted by naming it. Return the pair's id, in whatever case it was typed.
        """
        stops = Stops.of(self.releases.stops())
        own = stops.exams.get(exam, Stops()) if exam else stops
        pair_id = as_typed(typed, own.withdrawn)
        if pair_id is None:
            alone = [f"{each} with `--exam {name}`" for name, its in stops.exams.items() for each in its.withdrawn]
            some = ", ".join([*sorted(stops.withdrawn), *alone]) or "none"
            raise BadData(
                f"{typed!r} is not withdrawn ({some}). See `klartext stop list`.",
                code="not-withdrawn",
                values={"pair": typed},
            )
        if not why.strip():
            raise BadData("`--why` is empty. Say why the text that was withdrawn may be shown again.", code="no-reason")
        lifted = Stop(self.now(), by, "lift", pair_id, why=why, exam=exam)
        self.note(action_of(lifted), by, {}, why=why)  # first: nothing comes back to patients that nobody noted
        self.releases.stop(lifted)
        return pair_id

    def close(self, *, by: str, why: str, exam: str = "") -> None:
        """Close the chat at once: nothing is answered but emergencies, and patients are told whom to call.

        `exam`: in conversations about this one only.

        Raises:
            BadData: There is no such exam.
            Unreachable, StopNotNoted: As for `withdraw`.
        """
        stop = Stop(self.now(), by, "close", why=why, exam=self.stoppable(exam or None))
        self._stop(stop, f"{stop.about} is closed")

    def note_stop(self, done: Stop) -> None:
        """Note a stop that the audit log lacks."""
        self.note(action_of(done), done.by, {}, done, why=done.why)

    def _stop(self, stop: Stop, told: str) -> None:
        """Stop first and note it then: no log is in the way of a stop, and none tells of one that is not in force."""
        try:
            done = self.releases.stop(stop)
        except Unreachable as error:
            raise Unreachable(
                f"NOTHING IS STOPPED: {error} Run the same command again; while that fails, stop the service itself.",
                code="nothing-stopped",
                values={"told": str(error)},
            ) from error
        try:
            self.note_stop(done)
        except UserFixable as error:
            why = f"it cannot be written ({error.why}). {error.remedy}" if isinstance(error, NotAudited) else str(error)
            raise StopNotNoted(
                f"The stop is in force: {told}. The audit log lacks it: {why} Then run `klartext stop note`, before "
                "any backup is restored.",
                code="stop-not-noted",
                values={"told": str(error)},
            ) from error

    def open_again(self, *names: str, why: str, exam: str = "") -> None:
        """Open the chat again, as it was closed: for all exams, or for one; that takes two people."""
        different = {person_key(name): name.strip() for name in names if name.strip()}
        if len(different) < 2:
            raise UserFixable(
                f"`--by` names {len(different)} person, and opening takes two. Give `--by` twice.", code="one-person"
            )
        stops = Stops.of(self.releases.stops())
        if not (stops.exams.get(exam, Stops()) if exam else stops).closed:
            alone = [name for name, own in stops.exams.items() if own.closed]
            named = f" It is closed for one exam only: name it, `--exam {alone[0]}`." if alone and not exam else ""
            of_it = f" of {exam} alone is not closed" if exam else " is open"
            raise BadData(f"The chat{of_it}.{named} See `klartext stop list`.", code="chat-open")
        both = ", ".join(different.values())
        opened = Stop(self.now(), both, "open", why=why, exam=exam)
        self.note(action_of(opened), both, {}, why=why)
        self.releases.stop(opened)

    def existing(self, number: int) -> Release:
        """Return a release; raise BadData when there is none of that number."""
        found = self.releases.get(number)
        if found is None:
            raise BadData(f"There is no release {number}. See `klartext release list`.")
        return found

    def before(self, exam: str = "") -> int:
        """Return the release to go back to: of those that were in force, the last that was not rolled back itself.

        `exam`: whose; needed where releases of several are in force.

        Raises:
            BadData: There is none, or it is not said of which exam.
        """
        exams = self.releases.exams()
        if exam and exam not in exams:
            raise BadData(
                f"`--exam` is {exam!r}, of which no release was in force. Were: {', '.join(exams) or 'none'}."
            )
        if not exam and len(exams) > 1:
            raise BadData(f"Releases of several exams are in force: {', '.join(exams)}. Name one with `--exam`.")
        path = list[int]()  # what was put into force, without what was taken back
        taken_back: Switch | None = None
        for each in self.releases.of_exam(exam).switches():
            if each.move == "prepare":
                continue
            if each.move == "rollback" and each.number in path:
                while path[-1] != each.number:
                    path.pop()
                taken_back = each
            elif path[-1:] != [each.number]:
                path.append(each.number)
        if len(path) > 1:
            return path[-2]
        if taken_back is not None:
            raise BadData(
                f"Before release {taken_back.number}, which was gone back to at "
                f"{in_zone(taken_back.at, self.zone())}, no other was in force. "
                "Choose one of `klartext release list` with `--to`."
            )
        raise BadData("No other release was ever in force. Choose one of `klartext release list` with `--to`.")

    def side(self, number: int) -> Side:
        """Return what a release shows, to compare it."""
        chosen = self.existing(number)
        return Side(contents_of(chosen, self.releases.files(number)), chosen.content["shown"])

    def _put(self, chosen: Release, action: str, switch: Switch, wait_s: float, tell: Callable[[str], None]) -> Release:
        """Note a switch with what it does to the stops, say that loudly, and do it."""
        standstill = self.standstill(chosen)
        self.note(action, switch.by, {"release": chosen.number, **standstill.counts})
        for pair_id in dict.fromkeys(pair_id for pair_id, _, _ in standstill.ended):
            self.note(f"{ENDED}{pair_id}", switch.by, {"release": chosen.number})
        for line in standstill.lines(self.zone()):
            tell(line)
        return self._switch(switch, wait_s, tell)

    def _switch(self, switch: Switch, wait_s: float, tell: Callable[[str], None]) -> Release:
        """Have every process prepare a release, then put it into force at one moment."""
        number, move = switch.number, switch.move
        self.releases.switch(Switch(switch.at, switch.by, "prepare", number))
        begun_s = told_s = time.monotonic()
        running, ready = self.ready_for(number, self.now())
        said = -1
        while ready < running and time.monotonic() - begun_s < wait_s:
            now_s = time.monotonic()
            if said != ready or now_s - told_s >= TELL_S:
                said, told_s = ready, now_s
                tell(f"{ready} of {running} processes are ready for release {number}, after {now_s - begun_s:.0f} s …")
            time.sleep(LOOK_S)
            running, ready = self.ready_for(number, self.now())
        if ready < running:
            self.note(GIVEN_UP, switch.by, {"release": number})
            raise UserFixable(
                f"{running - ready} of {running} processes are not ready for release {number} after {wait_s:g} s; "
                "what was in force still is. They go on preparing: run the command again later, or wait longer with "
                "`--wait`; their logs say what is in the way."
            )
        put: Move = move
        self.releases.switch(Switch(self.now(), switch.by, put, number))
        return self.existing(number)

    def _require_servable(self, chosen: Release) -> None:
        """Raise UserFixable for a release that services would refuse."""
        self.keys.require(chosen)
        if self.accounts_only and not chosen.has_verified_names:
            raise UserFixable(
                f"Release {chosen.name} holds texts under names that were only typed, and KLARTEXT_APPROVALS is "
                "`accounts`. Have people sign who log in, and make a new release."
            )
        with TemporaryDirectory() as folder:
            place = unpack(chosen, self.releases.files(chosen.number), Path(folder))
            self.open_languages(place.languages, tuple(chosen.content["shown"]))
            require_servable(chosen, place.exam, self.country)

    def _expired(self, chosen: Release) -> list[str]:
        """Return what of a release is not approved any more."""
        now = self.now()
        return [what for what, until in chosen.content["until"].items() if datetime.fromisoformat(until) <= now]


def _named(expired: list[str]) -> str:
    return f"{expired[0]}{f' and {len(expired) - 1} more' if len(expired) > 1 else ''}"


def require_sound(folder: Path, *, today: date) -> None:
    """Raise UserFixable when lint calls something of a catalog an error."""
    errors = errors_of(folder, today=today)
    if errors:
        raise UserFixable(
            f"{errors[0].as_line()} {len(errors)} error{'s' if len(errors) > 1 else ''} in {folder}: run "
            f"`klartext qa lint {folder}` for the whole list, and mend them before a release is made."
        )


def errors_of(folder: Path, *, today: date) -> list[Finding]:
    """Return what lint calls an error of a catalog: nothing of it goes into a release."""
    return [each for each in lint(folder, today=today) if each.severity == "error"]


def holds(each: Release) -> str:
    """Return in a few words what a release holds."""
    content = each.content
    counts = ", ".join(f"{len(pairs)} pairs ({language})" for language, pairs in content["shown"].items())
    versions = "/".join(dict.fromkeys(content["versions"].values()))
    return f"{content['exam']} {versions}, {counts}"


def summary(each: Release) -> str:
    """Return the same as commands list it, with what is to be known of who signed."""
    return f"{holds(each)}{'' if each.has_verified_names else f'; {NOT_VERIFIED}'}"
