"""Ask a system every question of a suite and keep each answer, and read such a run again: whole, or only counted.

A run is resumable: what is stored is never asked again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from bot import BadData, Catalog, Unreachable
from harness.files import held, replace_text, unreadable
from harness.patients.suites import CONTEXT, AnySuite, Question, contamination
from harness.running.chunks import MOST_FAILURES, Asking, Batch, Format, Here
from harness.running.dialogues import require_conversing
from harness.running.outcomes import ERROR, Outcome, Placed, Tally, Traits, tally
from harness.running.store import RUN, Store, encoder_of, find_store, next_run, open_store, stored_format
from harness.running.workers import Errand, Processes, Recipe, processes_for
from harness.systems.system import IN_PROCESS, InProcess, Opening, System

LOCK = "run.lock"
COUNT = "questions"
ANSWERS = "answers.json"  # texts of the pairs, where they are kept beside the run
CATALOG_AT = "catalog_path"  # where the catalog was: a name, or a folder
SUITE_AT = "suite_path"  # the folder of a suite that is not shipped
BEGUN = "begun"  # when, in UTC
# No part of what a run is: the same run may be continued elsewhere and later.
ASIDE = (COUNT, CATALOG_AT, SUITE_AT, BEGUN)
Advance = Callable[[int], None]


class Asker(Protocol):
    """Asks questions somewhere; the batches come in the order of the questions."""

    def batches(self, questions: Iterable[Placed]) -> Iterator[Batch]: ...


@dataclass(frozen=True)
class RunPlan:
    """How a run is asked and kept.

    Attributes:
        format: Of the outcomes; None: as the folder has it, else `otherwise`.
        otherwise: See `format`.
        asker: Makes what asks so many questions elsewhere and encodes outcomes so; or None: here.
        progress: Called with the number of questions done since the last call.
        catalog: Where the catalog is, for those who read the run later; empty: not known.
        suite: Where the suite is, likewise.
    """

    format: Format | None = None
    otherwise: Format = "jsonl"
    asker: Callable[[int, Format], Asker | None] = lambda *_: None
    progress: Advance = lambda _: None
    catalog: str = ""
    suite: str = ""


def run_suite(
    suite: AnySuite, system: System, catalog: Catalog, out: Path, *, progress: Advance = lambda _: None
) -> list[Outcome]:
    """Ask what has not been asked yet and return all outcomes, in the order of the suite.

    For runs that fit in memory; `ask_suite` says the rest.
    """
    store = ask_suite(suite, system, catalog, out, RunPlan(progress=progress))
    done = {outcome.id: outcome for outcome in store.outcomes()}
    return [done[question.id] for question in suite.questions if question.id in done]


def ask_suite(suite: AnySuite, system: System, catalog: Catalog, out: Path, plan: RunPlan) -> Store:
    """Ask what has not been asked yet; return where all outcomes are stored. Neither is held in memory.

    Questions that are near copies of the catalog's training texts would flatter the system: they are left out.

    Args:
        suite: The questions.
        system: What answers them; with an asker of the plan, what it must turn out to be elsewhere.
        catalog: Knows the pairs and their equivalents.
        out: Folder of the run; created if need be.
        plan: How it is asked and kept.

    Raises:
        BadData: The suite is for another catalog, or `out` holds a run of something else.
        Unreachable: The system failed on many questions in a row; what it answered is kept.
    """
    if suite.meta.catalog != catalog.name:
        raise BadData(
            f"The suite {suite.meta.name!r} asks about {suite.meta.catalog!r}, but the catalog is {catalog.name!r}. "
            f"Run it with `--catalog {suite.meta.catalog}`."
        )
    asked_for = {question.pair_id or (question.expect and question.expect.pair) for question in suite.questions}
    unknown = sorted({pair_id for pair_id in asked_for if pair_id} - set(catalog.by_id))
    if unknown:
        raise BadData(
            f"The suite {suite.meta.name!r} asks for {len(unknown)} pairs that {catalog.ref} does not have, "
            f"for example {unknown[0]!r}. Run it against the catalog it was made for."
        )
    if not suite.questions:
        raise BadData(f"The suite {suite.meta.name!r} has no questions. Import it again.")
    if suite.meta.spoken:
        require_conversing(system, turns=suite.meta.has_dialogues)
    left_out = {item.question.id for item in contamination(suite, catalog)}
    count = len(suite.questions) - len(left_out)
    identity = {"suite": suite.meta.name, "suite_hash": suite.meta.sha256, **system.identity}
    with _locked(out):
        aside = {CATALOG_AT: plan.catalog, SUITE_AT: plan.suite}
        _claim(out, identity, {name: at for name, at in aside.items() if at}, questions=count)
        store = open_store(out, plan.format or stored_format(out) or plan.otherwise)
        done = store.resume()
        store.tidy()
        plan.progress(len(left_out) + len(done))
        here = Here(Asking(system, catalog, encoder_of(store.format)), store.rows, store.pause_s)
        left = count - len(done)
        asker = (plan.asker(left, store.format) if left else None) or here
        for batch in asker.batches(_to_ask(suite.questions, left_out | done)):
            store.append(batch.payload)
            plan.progress(batch.count)
            left -= batch.count
            if batch.down is not None and left > 0:  # when all was asked the run is over, whatever came of the last
                raise Unreachable(
                    f"The system failed {MOST_FAILURES} times in a row, at last: {batch.down}. "
                    "Mend it and run this again; what was answered is kept."
                )
        store.tidy()
    return store


def _to_ask(questions: Iterable[Question], left_out: Set[str]) -> Iterator[Placed]:
    """Yield the questions that are left; of a dialogue all turns, since those that are left need the others."""
    for _, group in groupby(enumerate(questions), key=lambda placed: placed[1].dialogue or placed[1].id):
        turns = list(group)
        if all(question.id in left_out for _, question in turns):
            continue
        for place, question in turns:
            spoken_only = question.id in left_out
            yield place, question.model_copy(update={"kind": CONTEXT}) if spoken_only else question


def load_outcomes(out: Path) -> list[Outcome]:
    """Read the outcomes of a run; raise BadData when there are none."""
    return list(find_store(out).outcomes())


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Create the folder, and keep a second process out of it: both would ask and store the same questions."""
    busy = f"Another process is running in {out}. Wait for it, or choose another folder."
    with ExitStack() as stack:
        try:
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(out / LOCK, busy))
        except OSError as error:
            raise _not_written(out, error) from error
        yield


def _not_written(out: Path, error: OSError) -> BadData:
    return BadData(f"{out} cannot be written ({error.strerror}). Choose another folder with `--out`.")


def _claim(out: Path, identity: dict[str, str], aside: dict[str, str], *, questions: int) -> None:
    """Note what this run is, or make sure that the folder holds the same run."""
    path = out / RUN
    try:
        if path.is_file():
            before = _identity_before(path)
            # A key that only one of them has tells them apart too, such as which pairs were open.
            known = dict.fromkeys([*identity, *before])
            changed = [key for key in known if key not in ASIDE and before.get(key) != identity.get(key)]
            if changed:
                key = changed[0]
                raise BadData(
                    f"{out} holds a run with {key} {before.get(key)!r}, but this one has {identity.get(key)!r}. "
                    "Choose another folder with `--out`."
                )
            return
        partial = path.with_suffix(".partial")
        # The number tells later whether the run was finished.
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        record = {**identity, **aside, BEGUN: begun, COUNT: questions}
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise _not_written(out, error) from error


def _identity_before(path: Path) -> dict[str, str]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise BadData(f"{path} does not say which run this is. Choose another folder with `--out`.") from error


@dataclass(frozen=True, slots=True)
class How:
    """What the command line says.

    Attributes:
        jobs: Processes for this assistant, questions under way at once for systems outside; None: this assistant gets
            as many as are worth their start, systems outside one.
        scheduler: Address of a Dask scheduler.
        format: Of the outcomes; None: as the folder has it, else Parquet on Dask and JSON lines here.
    """

    jobs: int | None = None
    scheduler: str | None = None
    format: Format | None = None

    def __post_init__(self) -> None:
        if self.scheduler is not None and self.jobs is not None:
            raise BadData("With `--scheduler` its workers say how many there are. Leave out `--jobs`.")


def recipe_of(system: str, opening: Opening, language: str, how: How, *, spoken: bool = False) -> Recipe:
    """Return how a system is opened that is named on the command line; `spoken`: to be talked with."""
    if system == IN_PROCESS:
        return Recipe(opening, language, spoken=spoken)
    from harness.systems.description import load_system_file  # jsonpath, for those who ask elsewhere

    return Recipe(opening, language, load_system_file(Path(system)), parallel=how.jobs or 1)


def plan_of(how: How, recipe: Recipe, system: System, progress: Callable[[int], None], suite: str = "") -> RunPlan:
    """Return the plan for a system that was opened by its recipe; `suite`: as it was named."""

    def asker(count: int, format_: Format) -> Asker | None:
        errand = Errand(recipe, dict(system.identity), format_)
        if how.scheduler is not None:
            from harness.running.on_dask import OnDask

            _prepare(system)
            return OnDask(how.scheduler, errand, count)
        jobs = how.jobs or processes_for(count)
        if recipe.file is None and jobs > 1:
            _prepare(system)
            return Processes(errand, jobs, count)
        return None

    # A folder is kept with its whole path: the run is read from other folders.
    at = recipe.opening.catalog
    where = str(Path(at).resolve()) if Path(at).is_dir() else at
    suite_at = str(Path(suite).resolve()) if suite and Path(suite).is_dir() else ""
    return RunPlan(how.format, "parquet" if how.scheduler else "jsonl", asker, progress, where, suite_at)


def _prepare(system: System) -> None:
    """Train before workers start: else each of them would."""
    if isinstance(system, InProcess):
        system.assistant.prepare()


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it lies in a folder.

    Attributes:
        folder: Where.
        outcomes: Its questions with their answers, without those that were never asked.
        identity: Suite and system.
        questions: How many were to be asked; None when the run does not say.
    """

    folder: Path
    outcomes: tuple[Outcome, ...]
    identity: dict[str, str]
    questions: int | None

    @property
    def suite(self) -> str:
        """Name of the suite; empty when the run does not say."""
        return self.identity.get("suite", "")

    @property
    def suite_hash(self) -> str:
        return self.identity.get("suite_hash", "")

    def as_json(self) -> dict[str, str]:
        """Return what ``run.json`` says, all of it as text."""
        return self.identity if self.questions is None else {**self.identity, "questions": str(self.questions)}

    @property
    def language(self) -> str:
        """Of the questions."""
        return self.outcomes[0].lang


def load_run(folder: Path) -> Run:
    """Read a run; raise BadData when the folder holds none. A run may hold no outcomes."""
    _require_run(folder)
    identity, questions = _identity(folder)
    return Run(folder, tuple(load_outcomes(folder)), identity, questions)


@dataclass(frozen=True, slots=True)
class Counted:
    """A run of any size as gates see it.

    Attributes:
        counts: Its outcomes, counted.
        questions: How many were to be asked; None when the run does not say.
        failure: Why the system failed on one question; None when it failed on none.
    """

    counts: Tally
    questions: int | None
    failure: str | None

    @classmethod
    def of(cls, run: Run) -> Counted:
        failures = (outcome.error for outcome in run.outcomes if outcome.decision == ERROR)
        return cls(tally(run.outcomes), run.questions, next(failures, None))

    def number(self, wanted: Callable[[Traits], bool] = lambda _: True) -> int:
        """Return how many outcomes are in the cells that are wanted."""
        return sum(count.n for count in self.counts if wanted(count.cell))


def nothing_answered(run: Path, outcomes: Sequence[Outcome]) -> BadData:
    """Return why a run cannot be reported on: every question failed, or none has a right pair."""
    faults = Counter(outcome.error or "unknown" for outcome in outcomes if outcome.decision == ERROR)
    if outcomes and faults.total() == len(outcomes):
        said = ", ".join(f"{reason} ({number})" for reason, number in faults.most_common(3))
        more = f" and {len(faults) - 3} other faults" if len(faults) > 3 else ""
        return BadData(
            f"The system failed on every question of {run} ({len(outcomes)}): {said}{more}. Mend the system. "
            f"{next_run(run)}"
        )
    return BadData(f"{run} holds no answered question with a right pair. Run a suite that has paraphrases.")


def load_counted(folder: Path) -> Counted:
    """Count a run without holding its outcomes; raise BadData when the folder holds none."""
    _require_run(folder)
    store = find_store(folder)
    _, questions = _identity(folder)
    return Counted(store.tally(), questions, next((outcome.error for outcome in store.failed()), None))


def _require_run(folder: Path) -> None:
    if stored_format(folder) is None:
        raise BadData(f"{folder} holds no run. Run `klartext harness run --suite NAME --out {folder}`.")


def _identity(folder: Path) -> tuple[dict[str, str], int | None]:
    """Return what a run is of, and how many questions were to be asked."""
    try:
        record: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
        questions = record.pop(COUNT, None)
        for name in (CATALOG_AT, SUITE_AT, BEGUN):
            record.pop(name, None)
        return {key: str(value) for key, value in record.items()}, questions
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadData(f"{folder / RUN} does not say which run this is. Run the suite again.") from error


def catalog_of(folder: Path, given: str | None = None) -> str:
    """Return the catalog of a run, a name or a folder: as given, else as the run noted it, else mammography.

    Raises:
        BadData: It was a folder that is gone.
    """
    if given is not None:
        return given
    try:
        at = str(json.loads((folder / RUN).read_text(encoding="utf-8")).get(CATALOG_AT, ""))
    except (OSError, ValueError, AttributeError):
        at = ""  # an old run, or none: whoever loads it says so
    if Path(at).is_absolute() and not Path(at).is_dir():
        raise BadData(f"The catalog of {folder} was in {at}, and is gone. Say where it is with `--catalog`.")
    return at or "mammography"


def keep_answers(folder: Path, catalog: Catalog) -> None:
    """Keep what the pairs said beside a run whose catalog will be gone: raters and reports need the texts."""
    texts = {pair.id: pair.answer for pair in catalog.pairs}
    replace_text(folder / ANSWERS, json.dumps(texts, ensure_ascii=False))


def kept_answers(folder: Path) -> dict[str, str] | None:
    """Return what the pairs of a run said, by id; None where that was not kept beside it."""
    path = folder / ANSWERS
    if not path.is_file():
        return None
    try:
        return {str(pair_id): str(text) for pair_id, text in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise BadData(f"{path} does not say what the pairs answered ({unreadable(error)}). Run it again.") from error


def suite_of(folder: Path) -> str:
    """Return the suite of a run: the folder that it noted, else the name of a shipped one, else an empty text."""
    try:
        record = json.loads((folder / RUN).read_text(encoding="utf-8"))
        return str(record.get(SUITE_AT) or record.get("suite") or "")
    except (OSError, ValueError, AttributeError):
        return ""


def begun_at(folder: Path) -> datetime:
    """Return when a run was begun; of runs that do not say, when their record was written."""
    try:
        return datetime.fromisoformat(json.loads((folder / RUN).read_text(encoding="utf-8"))[BEGUN])
    except (OSError, ValueError, KeyError, TypeError):
        return datetime.fromtimestamp((folder / RUN).stat().st_mtime, UTC)
