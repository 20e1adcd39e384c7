"""How a run is asked and kept, as the command line says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot import BadData
from harness.run import Asker, Plan
from harness.running.chunks import Format
from harness.running.processes import Processes, processes_for
from harness.running.recipe import Errand, Recipe
from harness.systems import IN_PROCESS, InProcess, Opening, System


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


def recipe_of(system: str, opening: Opening, language: str, how: How) -> Recipe:
    """Return how a system is opened that is named on the command line."""
    if system == IN_PROCESS:
        return Recipe(opening, language)
    from harness.external.file import load_system_file  # jsonpath, for those who ask elsewhere

    return Recipe(opening, language, load_system_file(Path(system)), parallel=how.jobs or 1)


def plan_of(how: How, recipe: Recipe, system: System, progress: Callable[[int], None]) -> Plan:
    """Return the plan for a system that was opened by its recipe."""

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

    return Plan(how.format, "parquet" if how.scheduler else "jsonl", asker, progress)


def _prepare(system: System) -> None:
    """Train before workers start: else each of them would."""
    if isinstance(system, InProcess):
        system.assistant.prepare()
