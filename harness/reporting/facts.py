"""What a report says about a run, as data, with what its questions cost. Pure but for reading the file of costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData, measure
from harness.advice.advice import Advice, advise
from harness.advice.outside import is_ours
from harness.files import first_fault, unreadable
from harness.judging.rescore import ByPeople
from harness.labelling.labels import Verdicts
from harness.patients.vignettes import Targets
from harness.running.outcomes import ERROR, Outcome, tally
from harness.running.run import Run
from harness.scoring.comparison import Comparison, Paired, compare, is_right, pair_up
from harness.scoring.confusions import Confusion, confusions, mistakes_of
from harness.scoring.expectations import Expectation, expectations_of
from harness.scoring.score import Score, Summary, summarise

COSTS = "costs.json"
MOST_SAID = 500  # characters
NOT_JUDGED = "not judged yet"


class _Edge(BaseModel):
    # The file says much more: tokens, single calls.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Spent(_Edge):
    """Calls added up; `cost` in the currency of the price table."""

    cost: float = Field(ge=0, allow_inf_nan=False)


class RunCosts(_Edge):
    """Money spent.

    Attributes:
        currency: Such as ``USD``.
        total: On everything.
        vignette: By vignette.
        pair: By pair.
    """

    currency: str = Field(min_length=1, max_length=10)
    total: Spent
    vignette: dict[str, Spent] = {}
    pair: dict[str, Spent] = {}


def load_costs(run: Path, file: Path | None) -> RunCosts | None:
    """Read what a run's questions cost, from `file` or ``costs.json`` in its folder; None when nobody wrote it.

    Raises:
        BadData: The file is missing or not understood.
    """
    path = file or run / COSTS
    if file is None and not path.is_file():
        return None
    try:
        return RunCosts.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        first = first_fault(error) if isinstance(error, ValidationError) else unreadable(error)
        raise BadData(f"{path} does not say what the questions cost ({first}). Give another with `--costs`.") from error


@dataclass(frozen=True, slots=True)
class Context:
    """What a report knows besides the run.

    Attributes:
        verdicts: What raters say of answers to novel questions.
        answers: Text of each pair's answer; empty when the catalog is not at hand.
        targets: By vignette, where known.
        costs: Of making and asking the questions, where known.
        stale: Whether the catalog has changed since the run: the answers' texts are then today's.
        titles: Names of vignettes, by id.
        approved: How many of the catalog's pairs are approved, and how many there are; None when it is not at hand.
        judged: The run by people's labels; None: nobody looked for any.
    """

    verdicts: Verdicts
    answers: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, Targets] = field(default_factory=dict)
    costs: RunCosts | None = None
    stale: bool = False
    titles: Mapping[str, str] = field(default_factory=dict)
    approved: tuple[int, int] | None = None
    judged: ByPeople | None = None


@dataclass(frozen=True, slots=True)
class PairCell:
    """Questions about one pair in one vignette: how many, and how many were answered with the right pair."""

    n: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.n


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What happens when questions from a score on are answered with their first candidate.

    Attributes:
        score: From which on.
        answered, wrong: Questions.
        coverage: Share of all questions with a right pair.
        risk: Share of the answered ones.
    """

    score: float
    answered: int
    wrong: int
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class Quartiles:
    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Quartiles:
        return cls(*np.percentile(np.array(values, dtype=np.float64), [25, 50, 75]).tolist())


@dataclass(frozen=True, slots=True)
class Reading:
    """How easy questions and answers of a vignette are to read (reading ease: higher is easier).

    Attributes:
        vignette: The vignette.
        n: Questions.
        words, ease: Of its questions.
        answers: Reading ease of the answers that were shown; None when none was, or when the texts are not at hand.
        targets: Where its questions should lie; None when nobody said so.
        outside: Ids of the questions outside the target of reading ease or words.
    """

    vignette: str
    n: int
    words: Quartiles
    ease: Quartiles
    answers: Quartiles | None
    targets: Targets | None
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a report says.

    Attributes:
        run: The run.
        scores: Of its questions; None for a run of messages in chats alone.
        expectations: What was expected of messages in chats, by kind; empty for a run of questions alone.
        advice: What would improve the system.
        cells: By (pair, vignette), for pairs that were asked.
        confused: Pairs taken for each other at all, the least likely by chance first.
        curve: Risk and coverage by score, highest score first; empty when scores grade nothing.
        now: The point at which the run answered; None when it answered nothing.
        reading: By vignette.
        comparison: With the baseline, if there is one.
        by_pair: The change of each pair, largest loss first; empty without a baseline.
        costs: Where known.
        stale: Whether the answers' texts are of a later catalog than the run's.
        titles: Names of vignettes, by id.
        verdicts: What raters say.
        approved: How many of the catalog's pairs are approved, of how many; None when it is not at hand.
        judged: What people judged of it; None where nobody looked.
    """

    run: Run
    scores: Summary | None
    expectations: dict[str, Expectation]
    advice: Advice
    cells: dict[tuple[str, str], PairCell]
    confused: tuple[Confusion, ...]
    curve: tuple[CurvePoint, ...]
    now: CurvePoint | None
    reading: tuple[Reading, ...]
    comparison: Comparison | None
    by_pair: tuple[Paired, ...]
    costs: RunCosts | None
    stale: bool
    titles: Mapping[str, str]
    verdicts: Verdicts
    approved: tuple[int, int] | None
    judged: ByPeople | None

    def name(self, vignette: str) -> str:
        """Return a vignette's title; its id where nobody gave it one."""
        return self.titles.get(vignette, vignette)

    @property
    def summary(self) -> Summary:
        """Scores of the questions; raise ValueError for a run that has none."""
        if self.scores is None:
            raise ValueError("the run holds no question with a known pair")
        return self.scores

    @property
    def pairs(self) -> list[str]:
        """Pairs that were asked about, the one that fares worst first."""
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (pair, _), cell in self.cells.items():
            totals[pair][0] += cell.right
            totals[pair][1] += cell.n
        return sorted(totals, key=lambda pair: (totals[pair][0] / totals[pair][1], pair))

    @property
    def vignettes(self) -> list[str]:
        """All vignettes of the run, in its order."""
        return list(dict.fromkeys(outcome.vignette for outcome in self.run.outcomes))


def facts_of(run: Run, baseline: Run | None, context: Context) -> Facts:
    """Gather what a report says."""
    questions = [outcome for outcome in run.outcomes if outcome.expected is None]
    scored = [outcome for outcome in questions if outcome.right is not None]
    comparison = compare(baseline, run) if baseline is not None else None
    expected = expectations_of(tally(run.outcomes))
    named = {pair for outcome in scored for pair in (outcome.pair_id, *outcome.candidates) if pair}
    curve, now = _curve(scored)
    return Facts(
        run=run,
        scores=summarise(run.outcomes) if scored else None,
        expectations=expected,
        advice=advise(questions, context.verdicts, pairs=len(context.answers) or None, ours=is_ours(run.identity)),
        cells=_cells(scored),
        confused=tuple(confusions(mistakes_of(scored), max(len(named), len(context.answers)))),
        curve=curve,
        now=now,
        reading=tuple(_reading(run.outcomes, context)),
        comparison=comparison if comparison and (comparison.scored or comparison.spoken) else None,
        by_pair=tuple(_by_pair(comparison)) if comparison else (),
        costs=context.costs,
        stale=context.stale,
        titles=context.titles,
        verdicts=context.verdicts,
        approved=context.approved,
        judged=context.judged,
    )


def _cells(scored: Sequence[Outcome]) -> dict[tuple[str, str], PairCell]:
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for outcome in scored:
        found[outcome.pair_id or "", outcome.vignette].append(bool(outcome.right))
    return {key: PairCell(len(rights), sum(rights)) for key, rights in found.items()}


def _curve(scored: Sequence[Outcome]) -> tuple[tuple[CurvePoint, ...], CurvePoint | None]:
    ranked = sorted((o for o in scored if o.candidates), key=lambda outcome: -outcome.score)
    points, wrong = [], 0
    for count, outcome in enumerate(ranked, 1):
        wrong += not outcome.top1
        if count == len(ranked) or ranked[count].score < outcome.score:
            points.append(CurvePoint(outcome.score, count, wrong, count / len(scored), wrong / count))
    answered = [outcome for outcome in scored if outcome.decision == "answered"]
    if not answered:
        return tuple(points), None
    missed = sum(not outcome.right for outcome in answered)
    lowest = min(outcome.score for outcome in answered)
    now = CurvePoint(lowest, len(answered), missed, len(answered) / len(scored), missed / len(answered))
    return tuple(points) if len(points) > 2 else (), now


def _reading(outcomes: Sequence[Outcome], context: Context) -> list[Reading]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.vignette].append(outcome)
    ease = {pair: measure(text, outcomes[0].lang).reading_ease for pair, text in context.answers.items()}
    return [_reading_of(name, group, ease, context.targets.get(name)) for name, group in groups.items()]


def _reading_of(name: str, group: Sequence[Outcome], answers: Mapping[str, float], targets: Targets | None) -> Reading:
    found = [measure(outcome.text, outcome.lang) for outcome in group]
    shown = [answers[o.answered_with] for o in group if o.answered_with is not None and o.answered_with in answers]
    outside: tuple[str, ...] = ()
    if targets:
        (fewest, most), (hardest, easiest) = targets.words, targets.reading_ease
        inside = (fewest <= one.words <= most and hardest <= one.reading_ease <= easiest for one in found)
        outside = tuple(outcome.id for outcome, fits in zip(group, inside, strict=True) if not fits)
    return Reading(
        vignette=name,
        n=len(group),
        words=Quartiles.of([one.words for one in found]),
        ease=Quartiles.of([one.reading_ease for one in found]),
        answers=Quartiles.of(shown) if shown else None,
        targets=targets,
        outside=outside,
    )


def _by_pair(comparison: Comparison) -> list[Paired]:
    groups: dict[str, list[tuple[Outcome, Outcome]]] = defaultdict(list)
    for was, now in comparison.scored:
        groups[now.pair_id or ""].append((was, now))
    # Within one pair it is the questions that vary.
    rows = [pair_up(pair, group, is_right, cluster=lambda outcome: outcome.id) for pair, group in groups.items()]
    return sorted(rows, key=lambda row: (row.difference, row.name))


def cut(said: str) -> str:
    """Return what a system said at a length that a table can hold."""
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]} …"


def interval_of(score: Score) -> tuple[float, float]:
    """Return the 95 % interval of an accuracy."""
    found = score.interval
    return found.low, found.high


def result_of(outcome: Outcome) -> str:
    """Return what became of a question or message, in a few words."""
    if outcome.unjudged:
        return f"answered in own words: {NOT_JUDGED}"
    if outcome.expected is not None and outcome.decision != ERROR:
        met = {True: "as expected", False: "not as expected", None: "not scored"}[outcome.met]
        wanted = " ".join(filter(None, (outcome.expected, outcome.wanted)))
        return f"{_decided(outcome)}: {met} ({wanted})"
    return _decided(outcome)


def _decided(outcome: Outcome) -> str:
    if outcome.decision == ERROR:
        return "failed"
    if outcome.decision == "urgent":
        return "sent to a human"
    if outcome.decision == "clarify":
        return "asked back, right pair offered" if outcome.offered else "asked back"
    if outcome.decision == "talk":
        return "talk"
    if outcome.decision != "answered":
        return "declined"
    if outcome.right is None:
        return "answered"
    return "right" if outcome.right else "wrong"
