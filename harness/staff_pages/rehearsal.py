"""Ask suites of what may become a release, beside the release in force: no group of patients may be served worse.

Every outcome is stored before the next is asked for, below a name that says what was asked of what: a job that was
killed goes on where it was, and a release with the same texts is not asked again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from bot import BadData, Catalog, Encoder, Method, make_encoder
from bot.editorial.jobs import Cancelled
from bot.release.release import Unpacked
from bot.web.staff.serving import Serving, open_files, open_release
from bot.web.staff.tools import Tools, Verdict
from bot.web.staff.wording import Said
from harness.judging.rescore import by_people
from harness.patients.suites import Question, Suite, load_suite
from harness.running.outcomes import Outcome
from harness.running.run import Counted, Run, RunPlan, ask_suite, keep_answers, load_run
from harness.scoring.comparison import Comparison, Paired, compare, pair_up
from harness.scoring.gate import GateConfig, GateReport, check_baseline, merge
from harness.scoring.judged import check_judged
from harness.staff_pages.shelf import Shelf
from harness.systems.system import IN_PROCESS, InProcess

Tell = Callable[[float, str], None]
T = TypeVar("T")
BEAT_S = 1.0  # between signs of life: whoever gives none is taken for dead and begun again
MOST_NAMED = 3  # of what failed, in one line
LEARNING = "runs_learning"  # a label
METHOD: Method = "hybrid"
NOT_SET_UP = "Nothing is set up: no suite asks about {exam}. Put one into {folder}, or name one in harness.yaml."


@dataclass(frozen=True)
class Bench:
    """Asks suites of what patients are, or would be, served from.

    Attributes:
        tools: Of the console.
        shelf: Where runs are kept.
    """

    tools: Tools
    shelf: Shelf
    _encoders: list[Encoder] = field(default_factory=list)

    def encoder(self) -> Encoder:
        """Return one for all: it holds a model."""
        if not self._encoders:
            self._encoders.append(make_encoder("embedded", self.tools.settings))
        return self._encoders[0]

    def ask(self, suite: Suite, serving: Serving, say: Callable[[int], None]) -> Run:
        """Ask what was not asked yet; `say` is given how many questions were done since the last call.

        What asks for pairs that are not there is left out: its right answer was taken away.
        """
        language = suite.meta.language
        catalog = serving.assistant.catalog(language)
        asked = answerable(suite, catalog)
        folder = self.shelf.place_of(asked, serving.digest)
        identity = {
            "system": IN_PROCESS,
            "method": METHOD,
            "encoder": serving.assistant.encoder.name,
            "catalog": catalog.ref,
            "catalog_hash": catalog.content_hash,
            "content_hash": serving.digest,
        }
        system = InProcess(serving.assistant, METHOD, identity)
        ask_suite(asked, system, catalog, folder, RunPlan(progress=say))
        keep_answers(folder, catalog)
        told = {"release": serving.name} if serving.name else {}
        self.shelf.note(folder, exam=serving.exam, language=language, **told)
        run = load_run(folder)
        self.shelf.write_rates(run, serving.name, made=self.tools.now())
        return run


def catalog_name(tools: Tools) -> str:
    """Return what suites call the exam of a console."""
    return next(iter(tools.candidate().base.catalogs.values())).name


def answerable(suite: Suite, catalog: Catalog) -> Suite:
    """Return the questions of a suite whose right pair is there; of dialogues, those that need no other pair."""

    def lacks(question: Question) -> bool:
        wanted = question.pair_id or (question.expect.pair if question.expect is not None else None)
        return wanted is not None and wanted not in catalog.by_id

    out = {question.dialogue or question.id for question in suite.questions if lacks(question)}
    if not out:
        return suite
    kept = tuple(question for question in suite.questions if (question.dialogue or question.id) not in out)
    digest = hashlib.sha256("\n".join([suite.meta.sha256, *sorted(out)]).encode()).hexdigest()
    return Suite(suite.meta.model_copy(update={"sha256": digest}), kept)


def while_telling(work: Callable[[Tell], T], tell: Tell) -> T:
    """Do work in a thread of its own and give signs of life meanwhile: training alone takes minutes.

    Whoever is cancelled stops with the next batch of questions; training that is under way runs out, and is kept.

    Raises:
        Cancelled: As `tell` does.
    """
    said: list[tuple[float, str]] = [(0.0, "")]
    found: list[T] = []
    failed: list[BaseException] = []
    stopped = threading.Event()

    def say(share: float, told: str) -> None:
        if stopped.is_set():
            raise Cancelled
        said[0] = (share, told)

    def do() -> None:
        try:
            found.append(work(say))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=do, daemon=True, name="rehearsal")
    thread.start()
    try:
        while thread.is_alive():
            tell(*said[0])
            thread.join(BEAT_S)
    except BaseException:
        stopped.set()
        thread.join(5 * BEAT_S)  # so that the run's folder is free again
        raise
    if failed:
        raise failed[0]
    return found[0]


def rehearse(place: Unpacked, bench: Bench, say: Tell) -> Verdict:
    """Ask the suites that are set up of these files and of the release in force; the limits decide.

    A failed gate is in the way of a release; where there is too little data to say, nothing is.
    """
    tools, shelf = bench.tools, bench.shelf
    exam = catalog_name(tools)
    suites = shelf.to_rehearse(exam)
    if not suites:
        line = NOT_SET_UP.format(exam=exam, folder=shelf.data / "suites")
        return Verdict("check_rehearsal", None, line, said=[Said("runs_rehearsed_none")])
    with ExitStack() as stack:
        say(0.0, LEARNING)
        candidate = open_files(place, tools, encoder=bench.encoder())
        number = tools.releases.in_force()
        before = None
        if number is not None:
            before, _ = stack.enter_context(open_release(number, tools, encoder=bench.encoder()))
            before = before if before.exam == candidate.exam else None
        suites = [each for each in suites if each.meta.language in candidate.assistant.languages]
        candidate.assistant.prepare()
        if before is not None:
            before.assistant.prepare()
        parts = _asked(suites, candidate, before, bench, say)
    rules, used = shelf.rules()
    # A release that changed nothing is refused by chance in at most `alpha` of all publishes, however many suites.
    limits = rules.baseline.model_copy(update={"alpha": rules.baseline.alpha / max(1, len(parts))})
    judged = [_judge(each, rules.model_copy(update={"baseline": limits})) for each in parts]
    report = merge(*(each.report for each in judged))
    release = before.name if before is not None else ""
    record = {
        "made": tools.now().isoformat(timespec="seconds"),
        "exam": exam,
        "release": release,
        "limits": used.name,
        "status": "failed" if report.failed else "open" if report.undecided else "passed",
        "suites": [each.as_json() for each in judged],
    }
    name = shelf.keep_rehearsal(record)
    passed = False if report.failed else None if report.undecided else True
    asked = sum(len(each.part.run.outcomes) for each in judged)
    said = [Said("runs_messages", {"n": asked}), Said(f"runs_rehearsal_{record['status']}")]
    return Verdict("check_rehearsal", passed, _line(judged, release), f"/runs/rehearsals/{name}", said)


@dataclass(frozen=True, slots=True)
class Part:
    """One suite: the run on the candidate, and the one on the release in force, where there is one."""

    suite: Suite
    run: Run
    before: Run | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A part with what the limits say, and the tests of all groups."""

    part: Part
    report: GateReport
    rows: tuple[Paired, ...]

    def as_json(self) -> dict[str, Any]:
        run, before = self.part.run, self.part.before
        return {
            "suite": self.part.suite.meta.name,
            "language": self.part.suite.meta.language,
            "run": run.folder.name,
            "before": before.folder.name if before is not None else "",
            "n": len(run.outcomes),
            "gates": [asdict(each) for each in self.report.results],
            "rows": [row.as_json() for row in self.rows],
            "notes": [*self.report.notes, *self.report.alone],
        }


def _asked(suites: Sequence[Suite], candidate: Serving, before: Serving | None, bench: Bench, say: Tell) -> list[Part]:
    """Ask all suites of both; progress counts questions."""
    both = [each for each in (candidate, before) if each is not None]
    total = sum(
        len(suite.questions) for suite in suites for each in both if suite.meta.language in each.assistant.languages
    )
    done = 0

    def count(suite: Suite, serving: Serving) -> Run:
        def more(n: int) -> None:
            nonlocal done
            done += n
            say(min(1.0, done / max(1, total)), f"{suite.meta.name}: {done} / {total}")

        return bench.ask(suite, serving, more)

    parts = []
    for suite in suites:
        old = before if before is not None and suite.meta.language in before.assistant.languages else None
        earlier = count(suite, old) if old is not None else None
        parts.append(Part(suite, count(suite, candidate), earlier))
    return parts


def _judge(part: Part, rules: GateConfig) -> Judged:
    judged = by_people(part.run)
    report = check_judged(Counted.of(judged.run), rules.gates, judged.found)
    if part.before is None or part.before.folder == part.run.folder:
        return Judged(part, report, ())
    comparison = compare(by_people(part.before).run, judged.run, alpha=rules.baseline.alpha)
    report = merge(report, check_baseline(comparison, rules.baseline))
    return Judged(part, report, (*comparison.family, *calm(comparison)))


def calm(comparison: Comparison) -> list[Paired]:
    """Return the test of how many messages that are no emergency raised no alarm; empty where there are none."""
    both = [(was, now) for was, now in comparison.common if _is_calm(now)]
    if not both:
        return []
    row = pair_up("no false alarm", both, lambda one: one.decision != "urgent")
    return [replace(row, alpha=comparison.alpha)]


def _is_calm(outcome: Outcome) -> bool:
    return outcome.kind != "urgent" and outcome.expected not in ("alarm", "complaint")


def _line(judged: Sequence[Judged], release: str) -> str:
    """Return what was found, in one line."""
    asked = sum(len(each.part.run.outcomes) for each in judged)

    def named(status: str) -> list[str]:
        return [
            f"{each.part.suite.meta.name}, {result.name} {result.value} (limit {result.limit})"
            for each in judged
            for result in each.report.results
            if result.status == status
        ]

    failed, undecided = named("fail"), named("open")
    if failed:
        more = f"; and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
        return f"Patients would be served worse, or not well enough: {'; '.join(failed[:MOST_NAMED])}{more}."
    beside = f" beside release {release}" if release else ""
    if undecided:
        return f"{asked} messages asked{beside}: nothing failed; of {len(undecided)} limits there is too little data."
    return f"{asked} messages asked{beside}: all limits are kept."


def run_folder(bench: Bench, suite: Path, wanted: str, say: Tell) -> Path:
    """Ask one suite of a release (``release 3``), or of what the next one would be (``next``); return the run's folder.

    Raises:
        BadData: There is no such release, or it lacks the suite's language.
    """
    loaded, tools = load_suite(suite), bench.tools
    with ExitStack() as stack:
        if wanted.startswith("release "):
            number = int(wanted.removeprefix("release "))
            serving, _ = stack.enter_context(open_release(number, tools, encoder=bench.encoder()))
        else:
            folder = stack.enter_context(TemporaryDirectory())
            place = tools.candidate().write(Path(folder), now=tools.now())
            serving = open_files(place, tools, encoder=bench.encoder())
        if loaded.meta.language not in serving.assistant.languages:
            raise BadData(f"{serving.exam} has no language {loaded.meta.language!r}. Choose another suite.")
        say(0.0, LEARNING)
        serving.assistant.prepare()
        done = 0

        def more(n: int) -> None:
            nonlocal done
            done += n
            say(min(1.0, done / max(1, len(loaded.questions))), f"{done} / {len(loaded.questions)}")

        return bench.ask(loaded, serving, more).folder
