"""Where the console keeps runs and rehearsals: a folder of the data folder; each run is a folder that commands read.

A run's name says what was asked of what: whoever asks the same again, after a kill or for another release with the same
texts, goes on with the same run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from bot import BadData
from bot.web.staff.rendering import StaffProblem
from bot.web.staff.simulated import FILE as SIMULATED
from bot.web.staff.simulated import group_of
from bot.web.staff.visit import StaffVisit
from harness.files import as_document, replace_text
from harness.patients.suites import META, Suite, load_suite, open_suite, suites_in
from harness.reporting.history import PastRun, exam_of, past_run
from harness.running.outcomes import ERROR, Outcome
from harness.running.run import ANSWERS, Run, begun_at, load_run
from harness.running.store import OUTCOMES, PARTS, RUN, stored_format
from harness.scoring.gate import LOCAL, GateConfig, load_config

RUNS, SUITES, REHEARSALS, RATES = "runs", "suites", "rehearsals", "rates.json"
ABOUT = "about.json"  # beside a run: what was asked, in the words of the console
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list: its name, when it was begun, which release was asked (empty: none), and how it fared.

    `past` is None for a run that is not finished, or that cannot be read.
    """

    name: str
    begun: datetime
    release: str
    past: PastRun | None


@dataclass
class Shelf:
    """The folder of an installation; `data`: the data folder."""

    data: Path
    _past: dict[str, tuple[object, PastRun]] = field(default_factory=dict)
    _whole: dict[str, object] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.data / RUNS

    def rules(self) -> tuple[GateConfig, Path]:
        """Return the limits: of ``harness.yaml`` in the data folder, else as the commands find them."""
        own = self.data / LOCAL
        rules, used = load_config(own if own.is_file() else None)
        if rules.rehearsal is None:
            shipped, _ = load_config(Path(__file__).parents[1] / "scoring" / LOCAL)
            rules = rules.model_copy(update={"rehearsal": shipped.rehearsal})
        return rules, used

    def suites(self, exam: str) -> dict[str, Path]:
        """Return the suites that ask about an exam, by name: those of the data folder, and the shipped ones."""
        found = {**suites_in(), **suites_in(self.data / SUITES)}
        return {name: folder for name, folder in found.items() if open_suite_meta(folder) == exam}

    def rehearsed(self, exam: str) -> list[str]:
        """Return which suites are asked before a release: those of the data folder, and those that the limits name.

        Raises:
            BadData: There is none of that name.
        """
        rules, used = self.rules()
        if not rules.rehearsal:
            return []
        known, own = self.suites(exam), suites_in(self.data / SUITES)
        unknown = [name for name in rules.rehearsal if name not in {**suites_in(), **own}]
        if unknown:
            raise BadData(f"`rehearsal` of {used} names {unknown[0]!r}, and there is no such suite. Correct it.")
        chosen = dict.fromkeys([*(name for name in own if name in known), *rules.rehearsal])
        return [name for name in chosen if name in known]

    def to_rehearse(self, exam: str) -> list[Suite]:
        """Return these suites; raise BadData when one of them was changed."""
        known = self.suites(exam)
        return [load_suite(known[name]) for name in self.rehearsed(exam)]

    def place_of(self, suite: Suite, digest: str) -> Path:
        """Return the folder of a run of a suite on what has this digest."""
        key = hashlib.sha256(f"{suite.meta.sha256} {digest}".encode()).hexdigest()[:12]
        return self.folder / f"{suite.meta.name}-{key}"

    def run(self, name: str) -> Path | None:
        """Return the folder of a run; None where there is none of that name."""
        folder = self.folder / name
        if not NAME.fullmatch(name) or stored_format(folder) is None:
            return None
        state = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in outcome_files(folder)]
        if self._whole.get(name) != state:
            if not is_whole(folder):
                return None
            self._whole[name] = state
        return folder

    def run_of(self, visit: StaffVisit) -> Path:
        """Return the folder of the run that an address names; raise StaffProblem where there is none."""
        folder = self.run(visit.parts["name"])
        if folder is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return folder

    def names(self) -> list[tuple[str, datetime]]:
        """Return all runs that were begun, newest first."""
        begun = [(path.parent.name, begun_at(path.parent)) for path in self.folder.glob(f"*/{RUN}")]
        return sorted(begun, key=lambda one: (one[1], one[0]), reverse=True)

    def exams(self, names: Sequence[tuple[str, datetime]]) -> dict[str, str]:
        """Return the exam of each run, by its name; empty where the run does not say it."""
        found = {}
        for name, _ in names:
            try:
                found[name] = exam_of(json.loads((self.folder / name / RUN).read_text(encoding="utf-8")))
            except (OSError, ValueError, AttributeError):
                found[name] = ""
        return found

    def listed(self, names: Sequence[tuple[str, datetime]]) -> Iterator[Listed]:
        """Yield how runs fared; what is known of one is kept until something in its folder changes."""
        rules, _ = self.rules()
        for name, begun in names:
            folder = self.folder / name
            state = (rules.model_dump_json(), state_of(folder))
            known = self._past.get(name)
            try:
                past = known[1] if known is not None and known[0] == state else past_run(folder, name, rules.gates)
                self._past[name] = (state, past)
            except BadData:
                past = None
            yield Listed(name, begun, str(about(folder).get("release", "")), past)

    def note(self, folder: Path, **told: Any) -> None:
        """Keep what the console knows of a run; a release that was made of it since replaces that it was none."""
        replace_text(folder / ABOUT, as_document({**about(folder), **told}))

    def keep_rehearsal(self, record: Mapping[str, Any]) -> str:
        """Store what a rehearsal found; return its name."""
        where = self.folder / REHEARSALS
        where.mkdir(parents=True, exist_ok=True)
        written = as_document(record)
        moment = re.sub(r"[^0-9]", "", str(record["made"]))[:14]
        name = f"{moment}-{hashlib.sha256(written.encode()).hexdigest()[:8]}"
        replace_text(where / f"{name}.json", written)
        return name

    def rehearsal(self, name: str) -> Mapping[str, Any] | None:
        path = self.folder / REHEARSALS / f"{name}.json"
        if not NAME.fullmatch(name) or not path.is_file():
            return None
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def rehearsals(self, *, most: int) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the newest, newest first."""
        names = sorted((path.stem for path in (self.folder / REHEARSALS).glob("*.json")), reverse=True)[:most]
        return [(name, found) for name in names if (found := self.rehearsal(name)) is not None]

    def write_rates(self, run: Run, release: str, *, made: datetime) -> None:
        """Write how often each group of a run of questions was answered, for whoever compares it with live figures."""
        groups = rates(run.outcomes)
        if not groups:
            return
        record = {
            "suite": run.suite,
            "language": run.language,
            "run": run.folder.name,
            "release": release,
            "made": made.isoformat(timespec="seconds"),
            "groups": groups,
        }
        replace_text(self.folder / RATES, as_document(record))
        # The dashboard compares by the words of a message: of a real one, nobody knows who wrote it.
        foretold = {"run": run.folder.name, "at": made.date().isoformat(), "groups": by_words(run.outcomes)}
        replace_text(self.data / SIMULATED, as_document({**foretold, "exam": exam_of(run.identity)}))


def by_words(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return how questions were answered, by group of their words, as the dashboard counts real ones."""
    found: dict[str, Counter[str]] = {}
    for one in outcomes:
        if one.kind in ("paraphrase", "novel") and one.decision != ERROR:
            found.setdefault(group_of(one.text, one.lang), Counter())[one.decision] += 1
    return {group: dict(counts) for group, counts in found.items()}


def rates(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float | int]]:
    """Return by group the shares of questions that were answered, asked back and declined, and their number."""
    asked = [one for one in outcomes if one.kind in ("paraphrase", "novel") and one.decision != ERROR]
    found: dict[str, dict[str, float | int]] = {}
    for name in dict.fromkeys(one.vignette for one in asked):
        decisions = [one.decision for one in asked if one.vignette == name]
        n = len(decisions)
        shares = {
            told: round(decisions.count(decision) / n, 4)
            for told, decision in (("answered", "answered"), ("asked_back", "clarify"), ("declined", "declined"))
        }
        found[name] = {**shares, "n": n}
    return found


def about(folder: Path) -> Mapping[str, Any]:
    """Return what the console noted of a run; empty for one that a command made."""
    try:
        found = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def open_suite_meta(folder: Path) -> str:
    """Return which exam a suite asks about; empty for one that cannot be read."""
    try:
        return _exam_of(folder, (folder / META).stat().st_mtime_ns)
    except OSError:
        return ""


_EXAMS: dict[tuple[Path, int], str] = {}


def _exam_of(folder: Path, changed: int) -> str:
    if (folder, changed) not in _EXAMS:
        try:
            _EXAMS[folder, changed] = open_suite(folder).meta.catalog
        except BadData:
            _EXAMS[folder, changed] = ""
    return _EXAMS[folder, changed]


def state_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when something in a run's folder does."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return tuple(sorted((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in files))


def outcome_files(folder: Path) -> list[Path]:
    """Return what of a run holds its outcomes; raters' labels and reports may change beside them."""
    parts = (folder / PARTS).glob("*") if (folder / PARTS).is_dir() else ()
    return [path for path in (folder / RUN, folder / OUTCOMES, folder / ANSWERS, *sorted(parts)) if path.is_file()]


def is_whole(folder: Path) -> bool:
    """Whether a run was finished."""
    try:
        run = load_run(folder)
    except BadData:
        return False
    return run.questions is None or len(run.outcomes) >= run.questions
