"""Make releases, put them into force and take them back, the same way for commands and for the console."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from bot.catalog.catalog import Country
from bot.catalog.lint import lint
from bot.errors import BadData, UserFixable
from bot.release.contents import Contents
from bot.release.release import (
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
from bot.release.stops import Stop, Stops

LOOK_S = 0.5  # between looks at whether all processes are ready


class Keys(Protocol):
    """The site's keys."""

    def sign(self, release: Release) -> Release:
        """Return the release with a signature; raise UserFixable where there is no private key here."""
        ...

    def require(self, release: Release) -> None:
        """Raise UserFixable unless services would believe the release's signature."""
        ...


@dataclass(frozen=True, slots=True)
class Publisher:
    """What changes what patients are shown.

    Attributes:
        releases: Where they are kept.
        keys: Sign and check them.
        country: Of this installation.
        program: Version of this program.
        ready_for: Returns how many processes serve patients, and how many could serve a release at once.
        note: Writes into the audit log, before anything is done: the act, who, and numbers.
        now: The clock.
        open_languages: Takes the languages that a release brings from a folder.
    """

    releases: Releases
    keys: Keys
    country: Country | None
    program: str
    ready_for: Callable[[int, datetime], tuple[int, int]]
    note: Callable[[str, str, Mapping[str, int]], None]
    now: Callable[[], datetime]
    open_languages: Callable[[Path | None, Sequence[str]], None]

    def make(self, contents: Contents, folder: Path, *, by: str, note: str) -> Release:
        """Make a release of what is approved: numbered, hashed, signed. `folder`: of the catalog, which lint reads.

        Raises:
            UserFixable: Lint finds an error, something is not approved, or there is no key.
        """
        require_sound(folder, today=self.now().date())
        now = self.now()
        manifest = make_manifest(contents, now=now, stops=self.releases.stops(), program=self.program)

        def signed(number: int) -> Release:
            return self.keys.sign(Release(number, now, by, note, manifest, ""))

        signed(0)  # without a key nothing is noted
        self.note("release-make", by, {})
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
                f"Release {chosen.name} cannot be put into force: the approval of {expired} has expired. Have it "
                "signed again, and make a new release."
            )
        self.note("release-activate", by, {"release": number})
        return self._switch(Switch(self.now(), by, "activate", number), wait_s, tell)

    def roll_back(self, to: int | None, *, by: str, wait_s: float, tell: Callable[[str], None]) -> Release:
        """Put the release that was in force before, or `to`, into force again; running conversations stay on theirs."""
        number = to if to is not None else self.before()
        self._require_servable(self.existing(number))
        self.note("release-rollback", by, {"release": number})
        return self._switch(Switch(self.now(), by, "rollback", number), wait_s, tell)

    def withdraw(self, pair_id: str, *, by: str, why: str) -> None:
        """Withdraw a pair at once, in all languages, releases and processes; only a later release brings it back."""
        known = {each for one in self.releases.all() for pairs in one.content["shown"].values() for each in pairs}
        if pair_id not in known:
            some = ", ".join(sorted(known)[:5]) or "none"
            raise BadData(f"No release shows a pair {pair_id!r}. Name one that is shown: {some} …")
        self.note(f"stop-pair {pair_id}", by, {})
        self.releases.stop(Stop(self.now(), by, "withdraw", pair_id, why=why))

    def close(self, *, by: str, why: str) -> None:
        """Close the chat at once: nothing is answered but emergencies, and patients are told whom to call."""
        self.note("stop-chat", by, {})
        self.releases.stop(Stop(self.now(), by, "close", why=why))

    def open_again(self, *names: str, why: str) -> None:
        """Open the chat again; that takes two people."""
        different = {" ".join(name.casefold().split()): name.strip() for name in names if name.strip()}
        if len(different) < 2:
            raise UserFixable(f"`--by` names {len(different)} person, and opening takes two. Give `--by` twice.")
        if not Stops.of(self.releases.stops()).closed:
            raise BadData("The chat is open. See `klartext stop list`.")
        both = ", ".join(different.values())
        self.note("stop-end", both, {})
        self.releases.stop(Stop(self.now(), both, "open", why=why))

    def existing(self, number: int) -> Release:
        """Return a release; raise BadData when there is none of that number."""
        found = self.releases.get(number)
        if found is None:
            raise BadData(f"There is no release {number}. See `klartext release list`.")
        return found

    def before(self) -> int:
        """Return the release that was in force before the one that is; raise BadData when there is none."""
        in_force = self.releases.in_force()
        earlier = [each.number for each in self.releases.switches() if each.move == "activate"]
        other = [number for number in earlier if number != in_force]
        if not other:
            raise BadData("No other release was ever in force. Choose one of `klartext release list` with `--to`.")
        return other[-1]

    def side(self, number: int) -> Side:
        """Return what a release shows, to compare it."""
        chosen = self.existing(number)
        return Side(contents_of(chosen, self.releases.files(number)), chosen.content["shown"])

    def _switch(self, switch: Switch, wait_s: float, tell: Callable[[str], None]) -> Release:
        """Have every process prepare a release, then put it into force at one moment."""
        number, move = switch.number, switch.move
        self.releases.switch(Switch(switch.at, switch.by, "prepare", number))
        until_s = time.monotonic() + wait_s
        running, ready = self.ready_for(number, self.now())
        said = -1
        while ready < running and time.monotonic() < until_s:
            if said != ready:
                said = ready
                tell(f"{running} process{'es' if running > 1 else ''} prepare release {number} …")
            time.sleep(LOOK_S)
            running, ready = self.ready_for(number, self.now())
        if ready < running:
            raise UserFixable(
                f"{running - ready} of {running} processes are not ready for release {number} after {wait_s:g} s; "
                "what was in force still is. See their logs, or wait longer with `--wait`."
            )
        put: Move = move
        self.releases.switch(Switch(self.now(), switch.by, put, number))
        return self.existing(number)

    def _require_servable(self, chosen: Release) -> None:
        """Raise UserFixable for a release that services would refuse."""
        self.keys.require(chosen)
        with TemporaryDirectory() as folder:
            place = unpack(chosen, self.releases.files(chosen.number), Path(folder))
            self.open_languages(place.languages, tuple(chosen.content["shown"]))
            require_servable(chosen, place.exam, self.country)

    def _expired(self, chosen: Release) -> str:
        """Return what of a release is not approved any more; empty for nothing."""
        now = self.now()
        gone = [what for what, until in chosen.content["until"].items() if datetime.fromisoformat(until) <= now]
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"{gone[0]}{more}" if gone else ""


def require_sound(folder: Path, *, today: date) -> None:
    """Raise UserFixable when lint calls something of a catalog an error."""
    errors = [each for each in lint(folder, today=today) if each.severity == "error"]
    if errors:
        raise UserFixable(
            f"{errors[0].as_line()} {len(errors)} error{'s' if len(errors) > 1 else ''} in {folder}: run "
            f"`klartext qa lint {folder}` for the whole list, and mend them before a release is made."
        )


def summary(each: Release) -> str:
    """Return in a few words what a release holds."""
    content = each.content
    counts = ", ".join(f"{len(pairs)} pairs ({language})" for language, pairs in content["shown"].items())
    versions = "/".join(dict.fromkeys(content["versions"].values()))
    return f"{content['exam']} {versions}, {counts}"
