"""The corruption experiment: a summary is made worse at stated levels, corrected, and compared with what it was.

Nair et al. (2023), section 3 "Quantitative Evaluation" and table 1. The summary that the model wrote first counts as
the truth. `initial` is the corrupted one, `baseline` is corrected after a single pass (one remark, one decision),
`dialogue` after the whole discussion: both begin with the same pass, so that only the rest of it makes the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from harness.authoring.discussion.concepts import Concepts, Overlap, extract, f1_of
from harness.authoring.discussion.dialogue import MOST_TURNS, Discussion, apply, discuss
from harness.authoring.discussion.texts import Section, Sections, Task
from harness.authoring.working import Ask, Work, ask, together

T = TypeVar("T")
LEVELS = (3, 5, 7)  # of 10
SINGLE_PASS = 2  # turns: the researcher's first, and the decider's
VERSIONS = ("initial", "baseline", "dialogue")


@dataclass(frozen=True, slots=True)
class Corrected:
    """One summary at one level.

    Attributes:
        level: How much was corrupted, of 10.
        texts: By version; those that could not be read are missing.
        discussion: About the corrupted text.
        overlaps: By version and section, against the truth; versions that could not be scored are missing.
    """

    level: int
    texts: Mapping[str, Sections]
    discussion: Discussion
    overlaps: Mapping[str, Mapping[str, Overlap]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of one conversation.

    Attributes:
        truth: The summary before it was corrupted; None where no usable one was written.
        levels: One for each level that was tried.
    """

    truth: Sections | None
    levels: tuple[Corrected, ...]


def corruption_experiment(
    tasks: Mapping[str, Task], levels: Sequence[int] = LEVELS, *, turns: int = MOST_TURNS
) -> Work[dict[str, Experiment]]:
    """Run the experiment on several conversations side by side; `tasks` and the result by the name of each."""
    done = yield from together([_one(task, levels, turns, f"{name}/") for name, task in tasks.items()])
    return dict(zip(tasks, done, strict=True))


def _one(task: Task, levels: Sequence[int], turns: int, name: str) -> Work[Experiment]:
    truth = yield from ask(Ask(f"{name}truth", task.prompt(task.kind.initial), task.read))
    if truth is None:
        return Experiment(None, ())
    scored = [section for section in task.sections if section.scored]
    concepts = yield from extract(task.texts, scored, truth, name=f"{name}truth/")
    reference = None if concepts is None else (truth, concepts)
    corrected = yield from together([_level(task, reference or (truth, {}), level, turns, name) for level in levels])
    return Experiment(truth, tuple(corrected))


def _level(task: Task, reference: tuple[Sections, Concepts], level: int, turns: int, name: str) -> Work[Corrected]:
    own = f"{name}{level}/"
    messages = task.prompt(
        task.texts.corrupt, text=task.written(reference[0]), focus=task.titles(scored=True), level=str(level)
    )
    corrupted = yield from ask(Ask(f"{own}corrupted", messages, task.read))
    if corrupted is None:
        return Corrected(level, {}, Discussion((), "unusable"), {})
    discussion = yield from discuss(task, corrupted, turns=turns, name=own)
    single = discussion.first(SINGLE_PASS)
    same = single.scratchpad == discussion.scratchpad  # then nothing was gained by going on, and nobody is asked twice
    versions = {"dialogue": discussion} if same else {"baseline": single, "dialogue": discussion}
    applied = yield from together(
        [_applied(task, corrupted, each, f"{own}{version}/") for version, each in versions.items()]
    )
    written = {"initial": corrupted, **dict(zip(versions, applied, strict=True))}
    readable = {version: text for version, text in written.items() if text is not None}
    scored = [section for section in task.sections if section.scored]
    scores = yield from together(
        [_score(task, scored, text, reference, f"{own}{version}/") for version, text in readable.items()]
    )
    by_version = {version: found for version, found in zip(readable, scores, strict=True) if found is not None}
    if same:
        readable, by_version = _with_baseline(readable), _with_baseline(by_version)
    return Corrected(level, readable, discussion, by_version)


def _with_baseline(by_version: dict[str, T]) -> dict[str, T]:
    return {**by_version, "baseline": by_version["dialogue"]} if "dialogue" in by_version else by_version


def _applied(task: Task, corrupted: Sections, discussion: Discussion, name: str) -> Work[Sections | None]:
    pad = discussion.scratchpad
    return (yield from apply(task, corrupted, pad, range(1, len(pad) + 1), name=name))


def _score(
    task: Task,
    scored: Sequence[Section],
    text: Sections,
    reference: tuple[Sections, Concepts],
    name: str,
) -> Work[dict[str, Overlap] | None]:
    if not reference[1]:
        return None
    concepts = yield from extract(task.texts, scored, text, name=name)
    if concepts is None:
        return None
    return (yield from f1_of(task.texts, scored, (text, concepts), reference, name=name))


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the paper's table 1. The rows of a level are over the same conversations, and the same sections of each.

    Attributes:
        level, version: What was scored.
        sections: Mean F1 by key, 0 to 100.
        average: Their mean.
        n: Over how many conversations.
        counted: In how many of them each section counts.
        left_out: How many conversations are not in it, by the reason.
    """

    level: int
    version: str
    sections: Mapping[str, float | None]
    average: float | None
    n: int
    counted: Mapping[str, int]
    left_out: Mapping[str, int]


def table_of(experiments: Sequence[Experiment], sections: Sequence[Section], levels: Sequence[int]) -> list[TableRow]:
    """Return the table.

    A section counts, for all versions of a level, where the truth or any of them has concepts in it. Who has none
    there, as the truth, has it right: else one that invents something would be scored, and its correction not.
    """
    rows = []
    keys = [section.key for section in sections if section.scored]
    for level in levels:
        tried = [_at(experiment, level) for experiment in experiments]
        scored = [one.overlaps for one, why_not in tried if one is not None and not why_not]
        left_out = Counter(why_not for _, why_not in tried if why_not)
        counting = {
            key: [one for one in scored if any(each[key].named or each[key].wanted for each in one.values())]
            for key in keys
        }
        counted = {key: len(having) for key, having in counting.items()}
        for version in VERSIONS:
            means = {
                key: 100 * fmean(1.0 if (f1 := one[version][key].f1) is None else f1 for one in having)
                if having
                else None
                for key, having in counting.items()
            }
            known = [value for value in means.values() if value is not None]
            rows.append(
                TableRow(level, version, means, fmean(known) if known else None, len(scored), counted, left_out)
            )
    return rows


def _at(experiment: Experiment, level: int) -> tuple[Corrected | None, str]:
    """Return what came of a level, and why it is not in the table; empty where it is."""
    one = next((each for each in experiment.levels if each.level == level), None)
    if one is None or not one.texts:
        return one, "no text to correct could be read"
    if one.discussion.ended == "unusable":
        return one, "the discussion ended as an answer could not be used"
    missing = set(VERSIONS) - set(one.overlaps)
    return one, "a corrected text, or what it was scored by, could not be read" if missing else ""
