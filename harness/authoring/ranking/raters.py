"""People rank the same texts, 1 to 5 with ties, without knowing whose they are; how far they and the evaluators agree.

After seed paper 002, section 3.3: the expert's own text competes, 5 is for what is clearly wrong, and five examples are
the fewest on which agreement is told. A form is a table that any spreadsheet opens; letters stand for systems, in an
order of their own for each example.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

from bot import BadData, Catalog
from harness.authoring.filled import read_form_rows
from harness.authoring.ranking.evaluators import Floats
from harness.authoring.ranking.study import EXPERT, Outcome, Test, Texts, friedman
from harness.judging.agreement import MISSING, Codes, Estimate, Ratings, alpha_ordinal, kendall_tau, point
from harness.labelling.exchange import formula_safe
from harness.statistics import Interval

FIELDS = ("example", "question", "text", "wording", "rank", "remark")
SCALE = (1, 5)
FEWEST = 5  # examples
NEARLY = 0.999  # alphas beyond have no place on Fisher's scale
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Form:
    """What people rank.

    Attributes:
        catalog: Holds the questions.
        candidates: By system and pair, as in the study.
        heading: What the raters are told.
        seed: Fixes which letter is whose.
    """

    catalog: Catalog
    candidates: Texts
    heading: str
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.candidates) > len(LETTERS):
            raise BadData(
                f"{len(self.candidates)} texts of a pair compete, and a form has letters for {len(LETTERS)}. "
                "Leave some out."
            )

    @property
    def examples(self) -> list[str]:
        return sorted(self.candidates[EXPERT])

    def letters(self, pair_id: str) -> dict[str, str]:
        """Return whose text each letter stands for in an example."""
        systems = sorted(self.candidates)
        random.Random(f"form/{self.seed}/{pair_id}").shuffle(systems)
        return dict(zip(LETTERS[: len(systems)], systems, strict=True))

    def as_csv(self) -> str:
        """Return the form; raise BadData with fewer examples than agreement can be told of."""
        if len(self.examples) < FEWEST:
            raise BadData(
                f"People rank at least {FEWEST} examples, and {len(self.examples)} pairs have all texts. Name more "
                "with `--pair`."
            )
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        for pair_id in self.examples:
            for letter, system in self.letters(pair_id).items():
                question, text = self.catalog.pair(pair_id).question, self.candidates[system][pair_id]
                writer.writerow([pair_id, formula_safe(question), letter, formula_safe(text), "", ""])
        return stream.getvalue()


@dataclass(frozen=True, slots=True)
class Ranks:
    """What one person said.

    Attributes:
        rater: Name of the file.
        given: Rank by example and system, 1 to 5; whole examples only.
    """

    rater: str
    given: Mapping[str, Mapping[str, int]]


def read_all_ranks(paths: Sequence[Path], form: Form) -> list[Ranks]:
    """Read the forms of several people; raise BadData as `read_ranks`, or where two have one name."""
    _require_own_names([path.stem for path in paths])
    return [read_ranks(path, form) for path in paths]


def _require_own_names(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise BadData(f"Two forms have the name {max(names, key=names.count)!r}. Name each after who ranked.")


def read_ranks(path: Path, form: Form) -> Ranks:
    """Read a form that was filled in.

    Raises:
        BadData: It is no such form, a text was changed, a rank is none, an example is half done, or too few are done.
    """
    given: dict[str, dict[str, int]] = {}
    known = {example: form.letters(example) for example in form.examples}
    for number, row in read_form_rows(path, FIELDS[:5], "the `form.csv` of this ranking"):
        place = f"{path}:{number}"
        example, letter, rank = row["example"].strip(), row["text"].strip(), row["rank"].strip()
        system = known.get(example, {}).get(letter)
        if system is None:
            raise BadData(f"{place}: there is no text {letter!r} of {example!r} here. Give a form of this ranking.")
        wording = row["wording"].strip().removeprefix("'")
        if " ".join(wording.split()) != " ".join(form.candidates[system][example].split()):
            raise BadData(
                f"{place}: text {letter} of {example!r} is not the one that is ranked here. Write a new form."
            )
        if not rank:
            continue
        if not rank.isdecimal() or not SCALE[0] <= int(rank) <= SCALE[1]:
            raise BadData(f"{place}: {rank[:20]!r} is no rank. Give 1 (best) to 5 (clearly wrong); ties are allowed.")
        if system in given.setdefault(example, {}):
            raise BadData(f"{place}: text {letter} of {example!r} is ranked twice. Leave one out.")
        given[example][system] = int(rank)
    half = [example for example, ranks in given.items() if len(ranks) != len(known[example])]
    if half:
        raise BadData(
            f"{path}: {half[0]!r} has {len(given[half[0]])} of {len(known[half[0]])} ranks. "
            "Rank all its texts, or none."
        )
    if len(given) < FEWEST:
        raise BadData(f"{path} ranks {len(given)} examples; agreement needs at least {FEWEST}. Rank some more.")
    return Ranks(path.stem, given)


@dataclass(frozen=True, slots=True)
class Correlation:
    """How two rankings agree, averaged over examples.

    Attributes:
        tau: Mean Kendall's tau-b; None where no example has one.
        spearman: Mean Spearman's rho.
        tau_interval, spearman_interval: 95 %, Student's t over examples; None with fewer than three.
        n: Examples in which both sides tell texts apart.
    """

    tau: float | None
    spearman: float | None
    tau_interval: Interval | None
    spearman_interval: Interval | None
    n: int

    def as_json(self) -> dict[str, Any]:
        return {
            "kendall_tau_b": self.tau,
            "kendall_ci95": self.tau_interval and self.tau_interval.as_json(),
            "spearman": self.spearman,
            "spearman_ci95": self.spearman_interval and self.spearman_interval.as_json(),
            "examples": self.n,
        }


@dataclass(frozen=True)
class Compared:
    """Raters among themselves, and evaluators beside them.

    Attributes:
        raters: Their names.
        alpha: Krippendorff's alpha (ordinal) of every two raters, and of all where there are more.
        systems: What was ranked.
        mean_ranks: Average rank of each system, shape (systems,), over raters and examples.
        test: Friedman's test over examples, of the raters' mean ranks.
        agreement: Of each evaluator and task (``all`` for the tasks together) with the raters.
        raters_agreement: Of every two raters.
        clearly_wrong: How often each system got a 5.
        given: What each rater said, by example and system.
    """

    raters: tuple[str, ...]
    alpha: Mapping[str, Estimate]
    systems: tuple[str, ...]
    mean_ranks: Floats
    test: Test
    agreement: Mapping[tuple[str, str], Correlation]
    raters_agreement: Mapping[str, Correlation]
    clearly_wrong: Mapping[str, int]
    given: Mapping[str, Mapping[str, Mapping[str, int]]]


def compared(raters: Sequence[Ranks], outcome: Outcome, systems: Sequence[str]) -> Compared:
    """Compare what people say with one another and with the evaluators.

    Args:
        raters: At least one.
        outcome: Of the study of the same texts.
        systems: In the order of the study.
    """
    names = [one.rater for one in raters]
    _require_own_names(names)
    examples = sorted({example for one in raters for example in one.given})
    ranks = {  # shape (systems,) each
        example: {one.rater: np.array([one.given[example][name] for name in systems], dtype=np.float64)
                  for one in raters if example in one.given}
        for example in examples
    }  # fmt: skip
    mean = {example: np.mean(list(said.values()), axis=0) for example, said in ranks.items()}
    ranked = np.array([rankdata(mean[example]) for example in examples])
    evaluated = _by_evaluator(outcome, len(systems))
    return Compared(
        tuple(names),
        _alphas(raters, examples, systems),
        tuple(systems),
        np.mean([mean[example] for example in examples], axis=0),
        friedman(ranked),
        {
            key: correlation([(said[example], mean[example]) for example in examples if example in said])
            for key, said in evaluated.items()
        },
        {
            f"{one} and {other}": correlation(
                [(said[one], said[other]) for said in ranks.values() if one in said and other in said]
            )
            for one, other in combinations(names, 2)
        },
        {
            name: sum(one.given[example][name] == SCALE[1] for one in raters for example in one.given)
            for name in systems
        },
        {one.rater: one.given for one in raters},
    )


def _by_evaluator(outcome: Outcome, systems: int) -> dict[tuple[str, str], dict[str, Floats]]:
    """Return the ranks of the competing texts by evaluator and task, and averaged over its tasks, by example."""
    found: dict[tuple[str, str], dict[str, Floats]] = {}
    for one in outcome.solved:
        found[one.evaluator, one.task] = dict(zip(one.scores, one.ranks(controls=False), strict=True))
    for name in dict.fromkeys(one.evaluator for one in outcome.solved):
        tasks = [said for (evaluator, _), said in found.items() if evaluator == name]
        together = {id_: [said[id_] for said in tasks if id_ in said] for said in tasks for id_ in said}
        found[name, "all"] = {id_: np.mean(several, axis=0) for id_, several in together.items()}
    return found


def correlation(pairs: Sequence[tuple[Floats, Floats]]) -> Correlation:
    """Correlate two rankings in each example, and average; examples in which one side ties all are left out."""
    taus, rhos = [], []
    for first, second in pairs:
        tau = kendall_tau(first.tolist(), second.tolist())
        if tau is not None:
            taus.append(tau)
            rhos.append(float(np.corrcoef(rankdata(first), rankdata(second))[0, 1]))
    if not taus:
        return Correlation(None, None, None, None, 0)
    return Correlation(fmean(taus), fmean(rhos), _student(taus), _student(rhos), len(taus))


def _student(values: Sequence[float]) -> Interval | None:
    if len(values) < 3:
        return None
    spread = stdev(values)
    if spread < 1e-12:
        return None  # all alike: no width can be told
    half = float(stdtrit(len(values) - 1, 0.975)) * spread / len(values) ** 0.5
    return Interval(max(-1.0, fmean(values) - half), min(1.0, fmean(values) + half))


def _alphas(raters: Sequence[Ranks], examples: Sequence[str], systems: Sequence[str]) -> dict[str, Estimate]:
    """Return alpha over single texts, of every two raters and of all; its interval takes whole examples."""
    codes = np.array(  # shape (examples, systems, raters)
        [
            [
                [one.given[example][name] - SCALE[0] if example in one.given else MISSING for one in raters]
                for name in systems
            ]
            for example in examples
        ],
        dtype=np.int64,
    )
    names = [one.rater for one in raters]
    groups = {f"{names[a]} and {names[b]}": [a, b] for a, b in combinations(range(len(names)), 2)}
    if len(names) > 2:
        groups["all"] = list(range(len(names)))
    return {name: _alpha(codes[:, :, members]) for name, members in groups.items()}


def _alpha(codes: Codes) -> Estimate:
    """Return alpha of codes of shape (examples, systems, raters); its 95 % interval is a jackknife over examples.

    The texts of one example are no independent draws, and a bootstrap of five to ten examples is too narrow: in a
    simulation with six it held the true value 8 times of 10, the jackknife on Fisher's scale 9 times.

    References:
        Miller (1974), The jackknife: a review.
    """
    rated = codes[((codes != MISSING).sum(axis=2) >= 2).all(axis=1)]
    value, count = _alpha_of(rated), len(rated)
    texts = rated.shape[0] * rated.shape[1]
    if value is None:
        return Estimate(None, None, texts, "all ranks are the same" if count else "no example was ranked by two")
    without = [_alpha_of(np.delete(rated, number, axis=0)) for number in range(count)]
    known = [each for each in without if each is not None]
    if count < 3 or len(known) < count:
        return Estimate(value, None, texts, "too few examples for an interval")
    scaled = np.arctanh(np.clip(known, -NEARLY, NEARLY))
    spread = float(np.sqrt((count - 1) / count * ((scaled - scaled.mean()) ** 2).sum()))
    if spread < 1e-9:
        return Estimate(value, None, texts, "all examples agree alike, so no spread can be told")
    middle, half = np.arctanh(np.clip(value, -NEARLY, NEARLY)), float(stdtrit(count - 1, 0.975)) * spread
    return Estimate(value, Interval(float(np.tanh(middle - half)), float(np.tanh(middle + half))), texts)


def _alpha_of(codes: Codes) -> float | None:
    return point(alpha_ordinal, Ratings(codes.reshape(-1, codes.shape[2]), SCALE[1]))
