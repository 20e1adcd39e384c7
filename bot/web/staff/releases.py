"""Releases: what the next one would change, making and checking it, putting it into force, going back, stopping."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.editorial.acts import Act
from bot.editorial.candidate import Candidate
from bot.editorial.jobs import Job
from bot.editorial.people import Person
from bot.editorial.workbench import NEAR_MISS
from bot.errors import BadData, KlartextError, StopNotNoted, UserFixable
from bot.release.contents import Contents
from bot.release.publishing import Standstill, errors_of
from bot.release.release import Release, Side, Unpacked, differences
from bot.release.stops import StopKind, Stops
from bot.talk.exams import plain_title
from bot.web.logs import request_id
from bot.web.staff.area import Address, Area, Work
from bot.web.staff.exams import ExamFilter
from bot.web.staff.rendering import StaffProblem, go_to
from bot.web.staff.tools import Refused, Verdict
from bot.web.staff.visit import StaffVisit, whole_number
from bot.web.staff.wording import Said, said_of

log = logging.getLogger("klartext")
PUBLISH, CHECK, SWITCH = "publish", "check", "switch"  # kinds of jobs
MOST_NOTE = 200
MOST_SAID = 10  # of what lint finds
PREPARING_S = 900.0
SHARE_OF_CHECKS = 0.8  # of a job's progress


class ReleasePages(Area):
    """What approvers publish; curators see what it would be."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/releases", self.overview, "review", menu="menu_releases"),
            Address("POST", "/releases", self.make, "release"),
            Address("POST", "/releases/check", self.check, "review"),
            Address("GET", "/releases/next", self.next, "review"),
            Address("GET", "/releases/{number}", self.one, "review"),
            Address("POST", "/releases/{number}/activate", self.activate, "release"),
            Address("POST", "/releases/{number}/roll-back", self.roll_back, "release"),
            Address("GET", "/stop", self.stop_page, "release", menu="menu_stop"),
            Address("POST", "/stop/pair", self.withdraw, "release"),
            Address("POST", "/stop/lift", self.lift, "release"),
            Address("POST", "/stop/chat", self.close, "release"),
            Address("POST", "/stop/end", self.open_again, "release"),
        ]

    def badges(self, person: Person) -> Mapping[str, int]:
        if not person.may("release"):
            return {}
        candidate = self.tools.candidate()
        now = self.tools.now()
        return {"menu_releases": len(candidate.ready(now=now)) + len(candidate.ready_near_misses(now=now))}

    def works(self) -> Mapping[str, Work]:
        return {PUBLISH: self._publish, CHECK: self._check, SWITCH: self._switch}

    def overview(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        tools, now = self.tools, self.tools.now()
        candidate, releases = tools.candidate(), tools.releases
        in_force, all_ = releases.in_force(), list(reversed(releases.all()))
        ready = candidate.ready(now=now)
        blocked = [
            (each.what, standing)
            for each in candidate.other_subjects()
            if not each.what.startswith(NEAR_MISS) and (standing := candidate.standing(each, now=now)) != "approved"
        ]
        near_misses = candidate.ready_near_misses(now=now)
        if visit.wants_json:
            return JSONResponse([self._told(each, in_force) for each in all_])
        return self.renderer.page(
            "releases",
            visit,
            status=status,
            line=line,
            releases=[(each, _holds(each)) for each in all_],
            in_force=in_force,
            source=candidate.source,
            ready=ready,
            waiting=len(candidate.drafts) - len(ready),
            near_misses=near_misses,
            near_misses_waiting=len(candidate.near_misses) - len(near_misses),
            blocked=blocked,
            unsigned=self._unsigned(candidate),
            has_key=tools.settings.release_key is not None,
            has_checks=bool(tools.checks),
            jobs=[each for kind in (PUBLISH, CHECK, SWITCH) for each in tools.jobs.newest(kind, most=3)],
            most_note=MOST_NOTE,
        )

    def _unsigned(self, candidate: Candidate) -> int:
        """Return how many released pairs nobody may be shown: they would stay out of a release made now."""
        now = self.tools.now()
        return sum(
            candidate.stage(language, pair.id, now=now) in ("unsigned", "changed", "expired")
            for language in candidate.base.catalogs
            for pair, draft in candidate.pairs(language)
            if draft is None
        )

    def next(self, visit: StaffVisit) -> Response:
        """Show what patients would see differently with a release made now."""
        with TemporaryDirectory() as folder:
            contents, _, lines = self._gathered(Path(folder))
        candidate, number = self.tools.candidate(), self.tools.releases.in_force()
        ready = candidate.ready(now=self.tools.now())
        return self.renderer.page(
            "release_next",
            visit,
            lines=lines,
            old=self.tools.publisher.existing(number).name if number is not None else "",
            source=candidate.source,
            ready=len(ready),
            waiting=len(candidate.drafts) - len(ready),
            unfinished=len(candidate.unfinished),
            unsigned=self._unsigned(candidate),
            standstill=self._standstill(contents),
        )

    def _standstill(self, contents: Contents) -> Standstill:
        """Return what a release made now would do to the stops; nothing where there can be none."""
        tools, now = self.tools, self.tools.now()
        try:
            manifest = tools.publisher.manifest(contents)
        except UserFixable:
            return Standstill()
        return tools.publisher.standstill(Release(0, now, "", "", manifest, ""))

    def _gathered(self, folder: Path) -> tuple[Contents, Unpacked, list[str]]:
        """Write a candidate's files and read them back; return it with what patients would see differently."""
        tools = self.tools
        candidate = tools.candidate()
        place = candidate.write(folder, now=tools.now())
        contents = self._read(place)
        in_force = tools.releases.in_force()
        old = tools.publisher.side(in_force) if in_force is not None else None
        standings = contents.standings(tools.now())
        shown = {
            language: [pair.id for pair in catalog.pairs if standings[f"pair {pair.id} {language}"] == "approved"]
            for language, catalog in contents.catalogs.items()
        }
        lines = list(differences(old, Side(contents, shown)))
        if old is not None:
            lines += _learned(old.contents, contents)
        return contents, place, lines

    def _read(self, place: Unpacked) -> Contents:
        return Contents.gather(
            place.exam,
            site=place.site,
            questionnaire=place.questionnaire,
            languages=place.languages,
            country=self.tools.settings.country,
        )

    def make(self, visit: StaffVisit) -> Response:
        newest = self.tools.releases.newest()
        wanted = {
            "note": visit.said("note").strip()[:MOST_NOTE],
            "activate": bool(visit.said("activate")),
            "by": visit.who.name,
            "after": newest.number if newest is not None else 0,
        }
        job = self.tools.jobs.ask(PUBLISH, wanted, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{job.id}")

    def check(self, visit: StaffVisit) -> Response:
        job = self.tools.jobs.ask(CHECK, {}, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{job.id}")

    def one(self, visit: StaffVisit) -> Response:
        chosen, publisher = self._chosen(visit), self.tools.publisher
        in_force = self.tools.releases.in_force()
        against = visit.query.get("against", "")
        chosen_other = whole_number(against)
        other = chosen_other if chosen_other is not None else in_force
        other = other if other != chosen.number else None
        old = publisher.side(other) if other is not None else None
        new = publisher.side(chosen.number)
        if visit.wants_json:
            return JSONResponse(self._told(chosen, in_force))
        return self.renderer.page(
            "release",
            visit,
            release=chosen,
            holds=_holds(chosen),
            lines=list(differences(old, new)) + (_learned(old.contents, new.contents) if old is not None else []),
            other=other,
            in_force=in_force,
            numbers=[each.number for each in self.tools.releases.all() if each.number != chosen.number],
            approved=chosen.content["approved"],
            left_out=chosen.content["left_out"],
            standstill=publisher.standstill(chosen),
            after_reset=chosen.after_reset,
        )

    def activate(self, visit: StaffVisit) -> Response:
        return self._asked_to_switch(visit, "activate")

    def roll_back(self, visit: StaffVisit) -> Response:
        return self._asked_to_switch(visit, "rollback")

    def _asked_to_switch(self, visit: StaffVisit, move: str) -> Response:
        chosen = self._chosen(visit)
        wanted = {"number": chosen.number, "move": move, "by": visit.who.name}
        job = self.tools.jobs.ask(SWITCH, wanted, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{job.id}")

    def stop_page(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        releases = self.tools.releases
        acts, known = releases.stops(), releases.exams()
        # A stop may be of whatever exam patients are shown, not of the one alone that is edited here.
        numbers = [releases.of_exam(each).in_force() for each in known] if len(known) > 1 else [releases.in_force()]
        in_force = [release for each in numbers if each is not None and (release := releases.get(each)) is not None]
        shown = [pairs for release in in_force for pairs in release.content["shown"].values()]
        now, served = Stops.of(acts), ExamFilter.of(visit, self.tools.exams())
        scopes = {"": now, **now.exams}
        withdrawn = [(pair, exam) for exam, own in scopes.items() for pair in own.withdrawn]
        return self.renderer.page(
            "stop",
            visit,
            status=status,
            line=line,
            acts=list(reversed(acts)),
            now=now,
            exams={each: served.titles.get(each) or plain_title(each) for each in {*known, *now.exams}}
            if len(known) > 1 or now.exams
            else {},
            pairs=(pairs := sorted({pair for each in shown for pair in each})),
            questions={pair: self._question(visit, pair) for pair in (*pairs, *(each for each, _ in withdrawn))},
            withdrawn=withdrawn,
        )

    def _question(self, visit: StaffVisit, pair_id: str) -> str:
        """Return what a pair answers, in the language of who asks where it is there; empty: it is not there now."""
        candidate = self.tools.candidate()
        languages = sorted(candidate.base.catalogs, key=lambda language: language != visit.language)
        found = (candidate.released_pair(language, pair_id) for language in languages)
        return next((pair.question for pair in found if pair is not None), "")

    def withdraw(self, visit: StaffVisit) -> Response:
        pair, exam, publisher = visit.said("pair"), visit.said("exam"), self.tools.publisher
        return self._stopped(visit, "withdraw", lambda by, why: publisher.withdraw(pair, by=by, why=why, exam=exam))

    def lift(self, visit: StaffVisit) -> Response:
        """Lift a stop as it was made: a pair's, or a pair's and an exam's."""
        (pair, _, exam), publisher = visit.said("pair").partition(" "), self.tools.publisher
        return self._stopped(visit, "lift", lambda by, why: publisher.lift(pair, by=by, why=why, exam=exam))

    def close(self, visit: StaffVisit) -> Response:
        exam, publisher = visit.said("exam"), self.tools.publisher
        return self._stopped(visit, "close", lambda by, why: publisher.close(by=by, why=why, exam=exam))

    def open_again(self, visit: StaffVisit) -> Response:
        """Open the chat: the second person gives login and password on the same form."""
        login, people = visit.said("login").strip(), self.tools.people
        now, whence = self.tools.now(), visit.whence
        entry, secret = people.enter(login, visit.said("password"), now=now, whence=whence)
        second = people.by_login(login)
        if entry == "code":
            entry = people.enter_code(secret, visit.said("code"), now=now, whence=whence)
        if secret:
            people.leave(secret)
        if entry != "in" or second is None or second.one_time or not second.may("release"):
            return self.stop_page(visit, line=self.renderer.labels(visit.language)["stop_second_wrong"], status=400)
        return self._stopped(
            visit,
            "open",
            lambda by, why: self.tools.publisher.open_again(by, second.name, why=why, exam=visit.said("exam")),
            second=second.name,
        )

    def _stopped(
        self, visit: StaffVisit, kind: StopKind, stop: Callable[[str, str], object], *, second: str = ""
    ) -> Response:
        why = visit.said("why").strip()[:MOST_NOTE]
        try:
            stop(visit.who.name, why)
        except StopNotNoted as error:
            self._note_stop(visit, kind, second)
            return self.stop_page(visit, line=self.renderer.told_of(error, visit.language))
        except UserFixable as error:
            return self.stop_page(visit, line=self.renderer.told_of(error, visit.language), status=400)
        self._note_stop(visit, kind, second)
        return go_to("/stop", told="stop_sample" if self.tools.sample else "stop")

    def _note_stop(self, visit: StaffVisit, kind: StopKind, second: str) -> None:
        """Note a stop in the trail once it is in force; why stands in the audit log. No trail is in its way."""
        pair, _, lifted_in = visit.said("pair").partition(" ")
        exam = visit.said("exam") or lifted_in
        what = f"pair {pair}" if kind in ("withdraw", "lift") else "chat"
        after = {**({"second": second} if second else {}), **({"exam": exam} if exam else {})}
        act = Act(self.tools.now(), visit.who.name, kind, what, after=after, request_id=request_id())
        try:
            self.tools.acts.note(act)
        except KlartextError as error:
            log.error("a stop is in force and not in the trail", exc_info=error, extra={"fields": {"action": kind}})

    def _chosen(self, visit: StaffVisit) -> Release:
        written = visit.parts["number"]
        number = whole_number(written)
        found = self.tools.releases.get(number) if number is not None else None
        if found is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return found

    def _told(self, each: Release, in_force: int | None) -> dict[str, Any]:
        said = {"number": each.number, "name": each.name, "hash": each.hash, "made": each.made.isoformat()}
        return {**said, "by": each.by, "note": each.note, "in_force": each.number == in_force}

    def _publish(self, job: Job, tell: Callable[[float, str], None]) -> Mapping[str, Any]:
        """Check the candidate, make a release of it, and put it into force where that was asked for.

        Whoever finds this job after a process was killed goes on where that one was: no release is made twice.
        """
        tools, by, note = self.tools, str(job.wanted["by"]), str(job.wanted["note"])
        newest = tools.releases.newest()
        verdicts: list[dict[str, Any]] = []
        if newest is not None and newest.number > job.wanted["after"] and (newest.by, newest.note) == (by, note):
            made = newest
        else:
            made, verdicts = self._made(by, note, tell)
        if job.wanted["activate"] and tools.releases.in_force() != made.number:
            share = SHARE_OF_CHECKS + 0.1
            tools.publisher.activate(
                made.number, by=by, wait_s=PREPARING_S, tell=lambda _: tell(share, "job_waits_for_processes")
            )
        return {"to": f"/releases/{made.number}", "verdicts": verdicts}

    def _made(self, by: str, note: str, tell: Callable[[float, str], None]) -> tuple[Release, list[dict[str, Any]]]:
        tools, candidate = self.tools, self.tools.candidate()
        now = tools.now()
        ready, near_misses = candidate.ready(now=now), candidate.ready_near_misses(now=now)
        with TemporaryDirectory() as folder:
            place = candidate.write(Path(folder), now=now, drafts=ready)
            verdicts = self._checked(place, tell)
            if any(each["passed"] is False for each in verdicts):
                raise Refused([Verdict(**each) for each in verdicts])
            tell(SHARE_OF_CHECKS, "")
            contents = self._read(place)
            # One row in one transaction: whoever is killed before it leaves the old state, after it the new one.
            made = tools.publisher.make(contents, place.exam, by=by, note=note)
        tools.workbench.released(candidate.exam, ready, near_misses)
        return made, verdicts

    def _check(self, job: Job, tell: Callable[[float, str], None]) -> Mapping[str, Any]:
        """Check the candidate without making a release."""
        del job
        with TemporaryDirectory() as folder:
            place = self.tools.candidate().write(Path(folder), now=self.tools.now())
            return {"verdicts": self._checked(place, tell)}

    def _checked(self, place: Unpacked, tell: Callable[[float, str], None]) -> list[dict[str, Any]]:
        tools = self.tools
        verdicts = [_sound(place.exam, today=tools.now().date()), self._approved(place)]
        if not any(each.passed is False for each in verdicts):
            for number, check in enumerate(tools.checks):
                begun, width = SHARE_OF_CHECKS * number / len(tools.checks), SHARE_OF_CHECKS / len(tools.checks)
                verdicts.append(check(place, lambda share, told, b=begun, w=width: tell(b + w * share, told)))  # type: ignore[misc]
        # Nobody finds the folder that the candidate was written to: what is named lies in it.
        folder = f"{place.exam.parents[1]}/"
        return [{**asdict(each), "line": each.line.replace(folder, "")} for each in verdicts]

    def _approved(self, place: Unpacked) -> Verdict:
        """Say whether all is signed that a release needs."""
        tools, now, name = self.tools, self.tools.now(), "check_approved"
        try:
            contents = self._read(place)
        except (BadData, KlartextError) as error:
            return Verdict(name, False, str(error), said=[Said("check_unreadable", {"told": str(error)})])
        try:
            tools.publisher.manifest(contents)
        except (BadData, KlartextError) as error:
            said = [
                Said("check_not_signed", {"what": what, "standing": standing})
                for what, standing in contents.standings(now).items()
                if not what.startswith("pair ") and standing != "approved"
            ]
            return Verdict(name, False, str(error), to="/to-sign", said=said or [Said("check_no_pair")])
        return Verdict(name, True, "")

    def _switch(self, job: Job, tell: Callable[[float, str], None]) -> Mapping[str, Any]:
        """Have all processes prepare a release, and put it into force."""
        number, by, publisher = int(job.wanted["number"]), str(job.wanted["by"]), self.tools.publisher

        def waiting(line: str) -> None:
            del line  # it is a command's
            tell(0.5, "job_waits_for_processes")

        if job.wanted["move"] == "activate":
            publisher.activate(number, by=by, wait_s=PREPARING_S, tell=waiting)
        else:
            publisher.roll_back(number, by=by, wait_s=PREPARING_S, tell=waiting)
        return {"to": "/releases"}


def _holds(each: Release) -> Said:
    """Return what a release holds, for pages: how many pairs by language, and whether its names are of accounts."""
    content = each.content
    counts = {language: len(pairs) for language, pairs in content["shown"].items()}
    versions = "/".join(dict.fromkeys(content["versions"].values()))
    label = "release_holds_verified" if each.has_verified_names else "release_holds_typed"
    return Said(label, {"exam": content["exam"], "versions": versions, "counts": counts})


def _sound(exam: Path, *, today: date) -> Verdict:
    """Say whether lint calls something an error, and the first of what it calls so."""
    errors = errors_of(exam, today=today)
    if not errors:
        return Verdict("check_lint", True, "")
    said = [said_of(each) for each in errors[:MOST_SAID]]
    if len(errors) > MOST_SAID:
        said.append(Said("finding_more", {"n": len(errors) - MOST_SAID}))
    return Verdict("check_lint", False, errors[0].as_line(), said=said)


def _learned(old: Contents, new: Contents) -> list[str]:
    """Return what changes in how questions find their pairs: variants and near misses that come and go."""
    lines: list[str] = []
    for language, catalog in new.catalogs.items():
        before = old.catalogs.get(language)
        if before is None:
            continue
        for pair in catalog.pairs:
            known = before.by_id.get(pair.id)
            was = {each.text for each in known.variants} if known is not None else set()
            now = {each.text for each in pair.variants}
            lines += [f"+ {pair.id} ({language}) variant: {text}" for text in sorted(now - was)]
            lines += [f"- {pair.id} ({language}) variant: {text}" for text in sorted(was - now)]
        missed, misses = ({each.text: each.pair for each in each_.near_misses} for each_ in (before, catalog))
        lines += [f"+ {misses[text]} ({language}) near miss: {text}" for text in sorted(set(misses) - set(missed))]
    return lines
