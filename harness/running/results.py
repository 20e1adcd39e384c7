"""Read a run as it lies in its folder: whole, or only counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import BadData
from harness.running.outcomes import ERROR, Outcome, Tally, Traits, tally
from harness.running.run import RUN, load_outcomes
from harness.running.store import find_store, stored_format


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
        questions = record.pop("questions", None)
        return {key: str(value) for key, value in record.items()}, questions
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadData(f"{folder / RUN} does not say which run this is. Run the suite again.") from error
