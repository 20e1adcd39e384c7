"""Make releases, put them into force and take them back, the same way for commands and for the console."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from bot.catalog.approval import Approvals, IsOurs, person_key
from bot.catalog.catalog import Country
from bot.catalog.lint import lint
from bot.errors import BadData, UserFixable
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
from bot.release.restored import ACTIVATE, GIVEN_UP, ROLLBACK, STOP_CHAT, STOP_END, STOP_PAIR
from bot.release.stops import Stop, Stops

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
        accounts_only: Whether only signatures count that people made who had logged in.
    """

    releases: Releases
    keys: Keys
    country: Country | None
    program: str
    ready_for: Callable[[int, datetime], tuple[int, int]]
    note: Callable[[str, str, Mapping[str, int]], None]
    now: Callable[[], datetime]
    open_languages: Callable[[Path | None, Sequence[str]], None]
    accounts_only: bool = False

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
                f"Release {chosen.name} cannot be put into force: the approval of {_named(expired)} has expired. Have "
                "it signed again, and make a new release."
            )
        self.note(ACTIVATE, by, {"release": number})
        return self._switch(Switch(self.now(), by, "activate", number), wait_s, tell)

    def roll_back(
        self, to: int | None, *, by: str, wait_s: float, tell: Callable[[str], None], force: bool = False
    ) -> Release:
        """Put the release that was in force before, or `to`, into force again; running conversations stay on theirs.

        `force`: also one of which approvals of pairs, form or site have expired, where the one in force is worse: what
        has expired is not shown. The program's own sentences must be approved, else the chat would be closed.

        Raises:
            UserFixable: As for `activate`; or what was before is a release that was rolled back itself.
        """
        chosen = self.existing(to if to is not None else self.before())
        self._require_servable(chosen)
        expired = self._expired(chosen)
        if any(what.startswith("sentences") for what in expired):
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
        self.note(ROLLBACK, by, {"release": chosen.number})
        return self._switch(Switch(self.now(), by, "rollback", chosen.number), wait_s, tell)

    def withdraw(self, pair_id: str, *, by: str, why: str) -> None:
        """Withdraw a pair at once, in all languages, releases and processes; only a later release brings it back."""
        known = {each for one in self.releases.all() for pairs in one.content["shown"].values() for each in pairs}
        if pair_id not in known:
            some = ", ".join(sorted(known)[:5]) or "none"
            raise BadData(f"No release shows a pair {pair_id!r}. Name one that is shown: {some} …")
        self.note(f"{STOP_PAIR}{pair_id}", by, {})
        self.releases.stop(Stop(self.now(), by, "withdraw", pair_id, why=why))

    def close(self, *, by: str, why: str) -> None:
        """Close the chat at once: nothing is answered but emergencies, and patients are told whom to call."""
        self.note(STOP_CHAT, by, {})
        self.releases.stop(Stop(self.now(), by, "close", why=why))

    def open_again(self, *names: str, why: str) -> None:
        """Open the chat again; that takes two people."""
        different = {person_key(name): name.strip() for name in names if name.strip()}
        if len(different) < 2:
            raise UserFixable(f"`--by` names {len(different)} person, and opening takes two. Give `--by` twice.")
        if not Stops.of(self.releases.stops()).closed:
            raise BadData("The chat is open. See `klartext stop list`.")
        both = ", ".join(different.values())
        self.note(STOP_END, both, {})
        self.releases.stop(Stop(self.now(), both, "open", why=why))

    def existing(self, number: int) -> Release:
        """Return a release; raise BadData when there is none of that number."""
        found = self.releases.get(number)
        if found is None:
            raise BadData(f"There is no release {number}. See `klartext release list`.")
        return found

    def before(self) -> int:
        """Return the release to go back to: of those that were in force, the last that was not rolled back itself.

        Raises:
            BadData: There is none.
        """
        path = list[int]()  # what was put into force, without what was taken back
        taken_back: Switch | None = None
        for each in self.releases.switches():
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
                f"Before release {taken_back.number}, which was gone back to at {taken_back.at:%Y-%m-%d %H:%M} UTC, "
                "no other was in force. Choose one of `klartext release list` with `--to`."
            )
        raise BadData("No other release was ever in force. Choose one of `klartext release list` with `--to`.")

    def side(self, number: int) -> Side:
        """Return what a release shows, to compare it."""
        chosen = self.existing(number)
        return Side(contents_of(chosen, self.releases.files(number)), chosen.content["shown"])

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
    return f"{content['exam']} {versions}, {counts}{'' if each.has_verified_names else f'; {NOT_VERIFIED}'}"
