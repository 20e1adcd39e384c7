"""Runs in the console: the check before a release, history, reports, two runs beside each other, and raters' queues."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import HTMLResponse, JSONResponse, Response

from bot import BadData
from bot.editorial.acts import Act
from bot.editorial.jobs import Job
from bot.release.release import Unpacked
from bot.web.staff.area import Address, Area, Work
from bot.web.staff.exams import ExamFilter
from bot.web.staff.rendering import StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Check, Tools, Verdict
from bot.web.staff.visit import StaffVisit
from harness.judging.agreement import Agreement, agreement_of
from harness.judging.rescore import by_people
from harness.labelling.labels import Verdicts, has_labels, label_files, load_labels
from harness.labelling.rater_files import assign, items_to_label, queue_file, write_queues
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.board import board_of, words
from harness.reporting.history import render_history
from harness.reporting.page import render
from harness.reporting.report import Sources, gather
from harness.running.run import Counted, Run, catalog_of, kept_answers, load_outcomes, load_run
from harness.scoring.comparison import compare
from harness.scoring.gate import GateResult, check_baseline
from harness.scoring.judged import check_judged
from harness.scoring.score import SEED
from harness.staff_pages.rehearsal import Bench, Tell, calm, catalog_name, rehearse, run_folder, while_telling
from harness.staff_pages.shelf import Shelf, about, state_of

HERE = Path(__file__).parent
ASK = "suite_run"  # a kind of jobs
ON_A_PAGE = 25
MOST_REHEARSALS = 10
MOST_CHANGED = 50
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
FIGURES = ("agreement", "kappa", "alpha", "ac1")


class RunPages(Area):
    """What curators and approvers read of tests, and the test that stands before a release."""

    folder = HERE

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self.shelf = Shelf(tools.settings.data)
        self.bench = Bench(tools, self.shelf)
        self._reports: dict[str, tuple[object, str]] = {}

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/runs", self.overview, "runs", menu="menu_runs"),
            Address("POST", "/runs", self.start, "runs"),
            Address("GET", "/runs/history", self.history, "runs"),
            Address("GET", "/runs/compare", self.compared, "runs"),
            Address("GET", "/runs/rehearsals/{name}", self.rehearsal, "runs"),
            Address("GET", "/runs/{name}", self.one, "runs"),
            Address("GET", "/runs/{name}/report", self.report, "runs"),
            Address("POST", "/runs/{name}/queue", self.queue, "runs"),
        ]

    def works(self) -> Mapping[str, Work]:
        return {ASK: self._ask}

    def checks(self) -> Sequence[Check]:
        return [self._check]

    def _check(self, place: Unpacked, tell: Tell) -> Verdict:
        return while_telling(lambda say: rehearse(place, self.bench, say), tell)

    def _ask(self, job: Job, tell: Tell) -> Mapping[str, Any]:
        suite = self.shelf.suites(catalog_name(self.tools)).get(str(job.wanted["suite"]))
        if suite is None:
            raise BadData(f"There is no suite {job.wanted['suite']!r} about this exam. Choose one of the list.")
        wanted = str(job.wanted["of"])
        folder = while_telling(lambda say: run_folder(self.bench, suite, wanted, say), tell)
        return {"to": f"/runs/{folder.name}"}

    def overview(self, visit: StaffVisit) -> Response:
        names, exams = self._narrowed(visit)
        written = visit.query.get("page", "1")
        page = int(written) if written.isascii() and written.isdigit() and 0 < len(written) < 6 else 1
        pages = max(1, -(-len(names) // ON_A_PAGE))
        page = min(max(page, 1), pages)
        runs = list(self.shelf.listed(names[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]))
        if visit.wants_json:
            told = [{"name": one.name, "begun": one.begun.isoformat(), "release": one.release} for one in runs]
            return JSONResponse(told)
        _, used = self.shelf.rules()
        exam = catalog_name(self.tools)
        return self.renderer.page(
            "runs",
            visit,
            runs=runs,
            exams=exams,
            n=len(names),
            number=page,
            pages=pages,
            suites=sorted(self.shelf.suites(exam)),
            rehearsed=self.shelf.rehearsed(exam),
            limits=used.name,
            releases=[each.number for each in reversed(self.tools.releases.all())],
            in_force=self.tools.releases.in_force(),
            rehearsals=[
                (name, found["status"], datetime.fromisoformat(found["made"]))
                for name, found in self.shelf.rehearsals(most=MOST_REHEARSALS)
            ],
            jobs=[each for each in self.tools.jobs.newest(ASK, most=5) if not each.is_over or each.state == "failed"],
        )

    def start(self, visit: StaffVisit) -> Response:
        suite, of = visit.said("suite"), visit.said("of")
        if suite not in self.shelf.suites(catalog_name(self.tools)) or not re.fullmatch(r"next|release \d{1,9}", of):
            raise StaffProblem(HTTPStatus.BAD_REQUEST)
        job = self.tools.jobs.ask(ASK, {"suite": suite, "of": of}, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{job.id}")

    def history(self, visit: StaffVisit) -> Response:
        _, used = self.shelf.rules()
        asked, now = self._narrowed(visit)[1].asked, self.tools.now()
        return in_place(render_history(self.shelf.folder, language=visit.language, made=now, config=used, exam=asked))

    def _narrowed(self, visit: StaffVisit) -> tuple[list[tuple[str, datetime]], ExamFilter]:
        """Return the runs that were begun, and the exam that they are narrowed to; who does not say it is in each."""
        names = self.shelf.names()
        of, served = self.shelf.exams(names), self.tools.exams()
        exams = ExamFilter.of(visit, {name: served.get(name) for name in sorted(set(of.values()) - {""})})
        return [each for each in names if exams.shows(of[each[0]])], exams

    def compared(self, visit: StaffVisit) -> Response:
        """Show two runs beside each other, the earlier first, and what the limits say of the change."""
        folders = [self.shelf.run(visit.query.get(which, "")) for which in ("a", "b")]
        names = [(name, begun) for name, begun in self.shelf.names() if self.shelf.run(name) is not None]
        if None in folders:
            return self.renderer.page("runs_compare", visit, names=names, chosen=(), rows=(), gates=(), notes=())
        before, after = (by_people(load_run(folder)).run for folder in folders if folder is not None)
        rules, _ = self.shelf.rules()
        comparison = compare(before, after, alpha=rules.baseline.alpha)
        line = "" if comparison.scored or comparison.spoken else self.label(visit, "runs_nothing_common")
        report = check_baseline(comparison, rules.baseline)
        rows = [each.as_json() for each in (*comparison.family, *calm(comparison))] if not line else []
        if visit.wants_json:
            return JSONResponse({"rows": rows, "gates": [asdict(each) for each in report.results]})
        return self.renderer.page(
            "runs_compare",
            visit,
            line=line,
            names=names,
            chosen=(before.folder.name, after.folder.name),
            rows=rows,
            gates=[_gate(each, visit.language) for each in report.results],
            notes=comparison.notes,
            broken=comparison.broken[:MOST_CHANGED],
            fixed=comparison.fixed[:MOST_CHANGED],
            titles=titles(visit.language),
        )

    def rehearsal(self, visit: StaffVisit) -> Response:
        found = self.shelf.rehearsal(visit.parts["name"])
        if found is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        if visit.wants_json:
            return JSONResponse(dict(found))
        gates = [[_gate(GateResult(**each), visit.language) for each in suite["gates"]] for suite in found["suites"]]
        return self.renderer.page(
            "rehearsal",
            visit,
            found=found,
            made=datetime.fromisoformat(found["made"]),
            gates=gates,
            titles=titles(visit.language),
        )

    def one(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        folder = self.shelf.run_of(visit)
        run = load_run(folder)
        judged = by_people(run)
        rules, used = self.shelf.rules()
        report = check_judged(Counted.of(judged.run), rules.gates, judged.found)
        if visit.wants_json:
            return JSONResponse({"identity": run.as_json(), **report.as_json()})
        raters = [each for each in self.tools.people.all() if each.may("rate") and not each.closed]
        return self.renderer.page(
            "run",
            visit,
            line=line,
            status=status,
            folder=folder.name,
            run=run,
            about=about(folder),
            limits=used.name,
            verdict="failed" if report.failed else "open" if report.undecided else "passed",
            gates=[_gate(each, visit.language) for each in report.results],
            to_label=len(items_to_label(folder, run.outcomes)),
            raters=raters,
            assigned=[each.name for each in raters if queue_file(folder, each.name).is_file()],
            labelled=judged.labelled,
            agreement=self._agreement(run),
            figures=FIGURES,
        )

    def _agreement(self, run: Run) -> Agreement | None:
        if not has_labels(run.folder):
            return None
        verdicts = Verdicts(load_labels(label_files(run.folder, run.suite)))
        shown = [(one.id, one.shown) for one in run.outcomes if one.shown is not None]
        return agreement_of(verdicts, shown, rng=np.random.default_rng(SEED))

    def report(self, visit: StaffVisit) -> Response:
        """Show the report as `klartext harness report` makes it; it is kept until the run's folder changes."""
        folder = self.shelf.run_of(visit)
        _, used = self.shelf.rules()
        key, state = f"{folder.name} {visit.language}", (state_of(folder), used.stat().st_mtime_ns)
        known = self._reports.get(key)
        if known is None or known[0] != state:
            catalog = "" if kept_answers(folder) is not None else catalog_of(folder)
            facts = gather(load_run(folder), Sources(catalog, self.tools.settings.data))
            board = board_of(facts, language=visit.language, config=used)
            page = render(facts, made=self.tools.now(), board=board, language=visit.language)
            known = self._reports[key] = (state, page)
        return in_place(known[1])

    def queue(self, visit: StaffVisit) -> Response:
        """Give every item to two of the raters that were chosen, in an order of their own."""
        folder = self.shelf.run_of(visit)
        known = {each.name for each in self.tools.people.all() if each.may("rate")}
        names = [name for name in dict.fromkeys(visit.all_said("rater")) if name in known]
        items = items_to_label(folder, load_outcomes(folder))
        try:
            if not items:
                raise BadData("This run holds nothing to label. Use a suite with novel questions.")
            write_queues(folder, assign(items, names, each=2))
        except BadData as error:
            return self.one(visit, line=str(error), status=HTTPStatus.BAD_REQUEST)
        now, what = self.tools.now(), f"run {folder.name}"
        self.tools.acts.note(Act(now, visit.who.name, "hand out labels", what, after={"raters": names}))
        return go_to(f"/runs/{folder.name}", told="queues")


def in_place(page: str) -> Response:
    """Return a page that brings its own style and scripts: just these may run, whatever got into its texts."""
    own = POLICY.search(page)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in styles
    )
    policy = (
        own[1] if own is not None else f"default-src 'none'; style-src {hashes}; base-uri 'none'; form-action 'none'"
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"})


@cache
def titles(language: str) -> Mapping[str, str]:
    """Return what vignettes are called, by id."""
    return {one.id: one.title for one in load_vignettes(language, names=[ALL])}


def _gate(result: GateResult, language: str) -> Mapping[str, str]:
    """Return a limit as people read it in a language."""
    told = words(language)
    translate: Callable[[str], str] = told.translate
    about_ = result.name.partition(": ")[2] or result.name
    return {
        "status": result.status,
        "said": str(told["status"][result.status]),
        "name": told.gate(result.name).replace(about_, titles(language).get(about_, about_)),
        "value": translate(result.value),
        "limit": translate(result.limit),
        "detail": translate(result.detail),
    }
