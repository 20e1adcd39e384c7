"""Train evaluators on some pairs, let them solve the tasks of others with each text, and rank the texts by it. Pure.

After seed paper 002, sections 3 and 4. Pairs are dealt into folds; an evaluator never sees a pair that it is tested on,
nor an item or a text that is nearly one of the test. Of the texts of a pair, the better is that with which the right
option gets the higher chance, averaged over the pair's items of a task; ranks are averaged over pairs. Beside the texts
compete the paper's control cases, which should come last: no text, the label alone, the text of another pair, and
passages retrieved from the other answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata

from bot import BadData, Catalog, NearCopies, split_sentences
from harness.authoring.ranking.asking import RankTexts
from harness.authoring.ranking.evaluators import Case, EmbeddingEvaluator, Evaluator, Floats
from harness.authoring.ranking.tasks import TASKS, Item, Task
from harness.console import counted
from harness.statistics import Interval, clustered_share, holm

EXPERT = "expert"  # the pair's own text
NONE, LABEL, NOISE, PASSAGES = "no text", "label only", "noise", "passages"
CONTROLS = (NONE, LABEL, NOISE, PASSAGES)
BASELINE, EXPERT_TRAINED, MODEL_TRAINED = "baseline", "expert-trained", "model-trained"
EVALUATORS = (BASELINE, EXPERT_TRAINED, MODEL_TRAINED)
DRAWS = 3  # model-trained evaluators, each with texts drawn anew; their chances are averaged (the paper trained three)
DOCUMENTS, PASSAGE, TOP = 5, 300, 3  # retrieval of the paper: documents, characters of a passage, passages
FEWEST_PAIRS, FEWEST_TRAINED = 3, 8  # pairs ranked; cases of a task that an evaluator is trained on
Texts = Mapping[str, Mapping[str, str]]  # by system and pair


@dataclass(frozen=True)
class Study:
    """What is compared, and by which means.

    Attributes:
        catalog: Its other answers are what passages are retrieved from.
        candidates: By system and pair; `EXPERT` among them, all with the same pairs.
        items: The tasks.
        texts: Words of the control case "label only".
        encoder: Retrieves passages, and is what the default evaluator reads with.
        folds: Into how many parts the pairs are dealt.
        seed: Fixes folds, noise and draws.
    """

    catalog: Catalog
    candidates: Texts
    items: Sequence[Item]
    texts: RankTexts
    encoder: EmbeddingEvaluator
    folds: int = 4
    seed: int = 0
    _found: dict[str, str] = field(default_factory=dict)  # passages by item

    def __post_init__(self) -> None:
        pairs = set(self.candidates[EXPERT])
        if len(self.candidates) < 2:
            raise BadData(
                "Only the expert's text is there. Give `--candidates FILE`, or have a model write with `--manner`."
            )
        if len(pairs) < max(FEWEST_PAIRS, self.folds):
            raise BadData(
                f"All texts are there for {counted(len(pairs), 'pair')}; {self.folds} folds need "
                f"{max(FEWEST_PAIRS, self.folds)}. Name more with `--pair`, or give fewer `--folds`."
            )
        if any(set(texts) != pairs for texts in self.candidates.values()):
            raise ValueError("all systems must have texts for the same pairs")

    @property
    def pair_ids(self) -> list[str]:
        return sorted(self.candidates[EXPERT])

    @property
    def systems(self) -> tuple[str, ...]:
        """The texts that compete, the expert's first."""
        return (EXPERT, *(name for name in self.candidates if name != EXPERT))

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.systems, *CONTROLS)

    @cached_property
    def fold_of(self) -> dict[str, int]:
        order = list(self.pair_ids)
        random.Random(f"folds/{self.seed}").shuffle(order)
        return {pair_id: number % self.folds for number, pair_id in enumerate(order)}

    def copied(self, system: str) -> float | None:
        """Return the share of statements, true by the answer, that stand nearly so in a system's texts; None: none is.

        Whoever copies the answer has these tasks solved already.
        """
        kept: dict[str, NearCopies] = {}
        for pair_id, text in self.candidates[system].items():
            kept[pair_id] = NearCopies()
            for sentence in split_sentences(text):
                kept[pair_id].add(sentence, pair_id)
        true = [one for one in self.items if one.task != "quiz" and one.right == 0 and one.pair_id in kept]
        return fmean(kept[one.pair_id].find(one.prompt) is not None for one in true) if true else None

    def text(self, item: Item, column: str) -> str:
        """Return what is read with an item: the text of a system, or a control case."""
        if column in self.candidates:
            return self.candidates[column][item.pair_id]
        if column == LABEL:
            return self.texts.label_only(item)
        if column == NOISE:
            others = [
                other for other in self.pair_ids if other != item.pair_id and not self._related(other, item.pair_id)
            ]
            others = others or [other for other in self.pair_ids if other != item.pair_id]
            return self.candidates[EXPERT][random.Random(f"noise/{self.seed}/{item.id}").choice(others)]
        if column == PASSAGES and item.id not in self._found:
            self._found[item.id] = self._passages(item)
        return self._found[item.id] if column == PASSAGES else ""

    def _related(self, one: str, other: str) -> bool:
        return other in self.catalog.pair(one).related or one in self.catalog.pair(other).related

    @cached_property
    def _documents(self) -> tuple[list[str], Floats]:
        ids = [pair.id for pair in self.catalog.pairs]
        vectors = [self.encoder.vectors(split_sentences(self.catalog.pair(id_).answer)).mean(axis=0) for id_ in ids]
        return ids, np.array([vector / np.linalg.norm(vector) for vector in vectors])

    def _passages(self, item: Item) -> str:
        """Return the passages that a search finds for an item in the answers of all other pairs."""
        ids, documents = self._documents
        query = self.encoder.vectors([item.text])[0]
        nearest = [ids[number] for number in np.argsort(-(documents @ query)) if ids[number] != item.pair_id][
            :DOCUMENTS
        ]
        passages = [passage for id_ in nearest for passage in _cut(self.catalog.pair(id_).answer)]
        order = np.argsort(-(self.encoder.vectors(passages) @ query))
        return " ".join(passages[number] for number in order[:TOP])


def _cut(text: str) -> Iterator[str]:
    """Cut a text into passages of about `PASSAGE` characters, at spaces."""
    passage = ""
    for word in text.split():
        if passage and len(passage) + len(word) >= PASSAGE:
            yield passage
            passage = ""
        passage = f"{passage} {word}".strip()
    yield passage


@dataclass(frozen=True)
class Solved:
    """How one evaluator fared with each text in one task.

    Attributes:
        evaluator: One of `EVALUATORS`.
        task: What was solved.
        items: Which items, in the order of the rows.
        chances: Of the right option, shape (items, columns).
        right: Whether it was the likeliest, shape (items, columns); False where another was as likely.
        columns: Systems and control cases.
        primary: How many of the columns are systems.
    """

    evaluator: str
    task: Task
    items: tuple[Item, ...]
    chances: Floats
    right: np.ndarray[Any, np.dtype[np.bool_]]
    columns: tuple[str, ...]
    primary: int

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """Mean chance of the right option, by pair; shape (columns,)."""
        rows: dict[str, list[int]] = {}
        for row, item in enumerate(self.items):
            rows.setdefault(item.pair_id, []).append(row)
        return {pair_id: self.chances[own].mean(axis=0) for pair_id, own in sorted(rows.items())}

    def ranks(self, *, controls: bool) -> Floats:
        """Return the rank of each text in each pair, 1 the best, ties averaged; shape (pairs, columns)."""
        width = len(self.columns) if controls else self.primary
        return np.array([rankdata(-np.round(scores[:width], 9)) for scores in self.scores.values()])

    def accuracy(self, column: int) -> tuple[float, Interval | None]:
        """Return the share of items solved with a text, and its interval: items of one pair fare alike."""
        by_pair = [
            [bool(self.right[row, column]) for row, _ in group]
            for _, group in groupby(
                sorted(enumerate(self.items), key=lambda each: each[1].pair_id), key=lambda each: each[1].pair_id
            )
        ]
        return float(self.right[:, column].mean()), clustered_share(list(map(sum, by_pair)), list(map(len, by_pair)))

    @property
    def misled_by(self) -> dict[str, tuple[str, ...]]:
        """Return for each control case the systems that it is ranked before, on average; none where it is last."""
        means = self.ranks(controls=True).mean(axis=0)
        names = self.columns
        return {
            names[control]: tuple(names[one] for one in range(self.primary) if means[control] < means[one] - 1e-9)
            for control in range(self.primary, len(names))
        }


@dataclass(frozen=True, slots=True)
class Test:
    """Friedman's test of the ranks over pairs; `p` is None where ranks cannot be tested, and `note` says why."""

    __test__ = False  # pytest: this is none

    p: float | None
    statistic: float | None
    blocks: int
    note: str = ""


def friedman(ranks: Floats) -> Test:
    """Test whether texts differ in rank over pairs; shape (pairs, texts).

    References:
        Friedman (1937), The use of ranks to avoid the assumption of normality; ties as scipy corrects them.
    """
    blocks, texts = ranks.shape
    if texts < 3:
        return Test(None, None, blocks, "two texts are no case for it")
    if np.ptp(ranks) == 0 or all(np.ptp(row) == 0 for row in ranks):
        return Test(None, None, blocks, "all ranks are tied")
    found = friedmanchisquare(*ranks.T)
    return Test(float(found.pvalue), float(found.statistic), blocks)


@dataclass(frozen=True)
class Outcome:
    """All that a study found.

    Attributes:
        solved: Each evaluator in each task.
        left_out: Cases of training that were near copies of the test, by evaluator and task, over all folds.
        trained_on: Cases of training, by evaluator and task, over all folds and draws.
        skipped: Tasks with too few items, and why.
        by: What the evaluators are.
    """

    solved: tuple[Solved, ...]
    left_out: Mapping[str, int]
    trained_on: Mapping[str, int]
    skipped: Mapping[str, str]
    by: str

    def of(self, evaluator: str, task: Task) -> Solved | None:
        return next((one for one in self.solved if (one.evaluator, one.task) == (evaluator, task)), None)

    def tests(self) -> dict[tuple[str, str], tuple[Test, float | None]]:
        """Return Friedman's test of the competing texts for each evaluator and task, and p adjusted for all (Holm)."""
        tests = {(one.evaluator, one.task): friedman(one.ranks(controls=False)) for one in self.solved}
        tested = [key for key, test in tests.items() if test.p is not None]
        adjusted = dict(zip(tested, holm([tests[key].p or 0.0 for key in tested]), strict=True))
        return {key: (test, adjusted.get(key)) for key, test in tests.items()}


@dataclass
class _Counts:
    left_out: dict[str, int] = field(default_factory=dict)
    trained_on: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, *, kept: int, dropped: int) -> None:
        self.trained_on[key] = self.trained_on.get(key, 0) + kept
        self.left_out[key] = self.left_out.get(key, 0) + dropped


def run_study(study: Study, evaluator: Evaluator) -> Outcome:
    """Train and test all evaluators in all tasks; deterministic for the study's seed.

    Raises:
        BadData: No task has enough items.
    """
    counts, solved = _Counts(), []
    skipped: dict[str, str] = {}
    for task in TASKS:
        items = [item for item in study.items if item.task == task and item.pair_id in study.fold_of]
        # The items of one evaluator are those of all.
        smallest = min(len(_training(study, BASELINE, items, fold, 0)[0]) for fold in range(study.folds))
        if smallest < FEWEST_TRAINED:
            skipped[task] = (
                f"{len(items)} items; {smallest} of them to train on without a fold and near copies of it, needed are "
                f"{FEWEST_TRAINED}"
            )
            continue
        for name in EVALUATORS:
            solved.append(_solve(study, evaluator, name, items, counts))
    if not solved:
        raise BadData(
            "No task has enough items ("
            + "; ".join(f"{task}: {why}" for task, why in skipped.items())
            + "). Name more "
            "pairs with `--pair`, or give `--quizzes FILE`."
        )
    return Outcome(tuple(solved), counts.left_out, counts.trained_on, skipped, evaluator.name)


def _solve(study: Study, evaluator: Evaluator, name: str, items: Sequence[Item], counts: _Counts) -> Solved:
    task, columns = items[0].task, study.columns
    order: list[Item] = []
    rows: list[Floats] = []
    for fold in range(study.folds):
        test = [item for item in items if study.fold_of[item.pair_id] == fold]
        if not test:
            continue
        cases = [Case(item, study.text(item, column)) for item in test for column in columns]
        drawn = []
        for draw in range(DRAWS if name == MODEL_TRAINED else 1):
            known, dropped = _training(study, name, items, fold, draw)
            counts.add(f"{name}/{task}", kept=len(known), dropped=dropped)
            solver = evaluator.fit(known, seed=study.seed * 1000 + fold * DRAWS + draw)
            drawn.append(solver.probabilities(cases))
        chances = [np.mean([one[number] for one in drawn], axis=0) for number in range(len(cases))]
        order += test
        rows += chances
    chance = np.array([options[order[row // len(columns)].right] for row, options in enumerate(rows)])
    best = np.array(
        [
            options[answer := order[row // len(columns)].right] > np.delete(options, answer).max() + 1e-12
            for row, options in enumerate(rows)
        ]
    )
    shape = (len(order), len(columns))
    return Solved(name, task, tuple(order), chance.reshape(shape), best.reshape(shape), columns, len(study.systems))


def _training(study: Study, name: str, items: Sequence[Item], fold: int, draw: int) -> tuple[list[Case], int]:
    """Return the cases that an evaluator learns from, without near copies of the test, and how many these were.

    All evaluators learn from the same items; they differ in the text beside them. So an item is left out for all where
    it is a near copy, where its pair's expert text is one, or where all the other texts are: then one of the evaluators
    would have nothing to read. Of the others, texts are drawn among those that are none.
    """
    tested = NearCopies()
    for item in items:
        if study.fold_of[item.pair_id] == fold:
            tested.add(item.text, item.id)
    for texts in study.candidates.values():
        for pair_id, text in texts.items():
            if study.fold_of[pair_id] == fold:
                tested.add(text, pair_id)
    models = [system for system in study.systems if system != EXPERT]
    usable: dict[str, list[str]] = {}  # systems by pair
    for pair_id in dict.fromkeys(item.pair_id for item in items if study.fold_of[item.pair_id] != fold):
        usable[pair_id] = [name for name in study.systems if tested.find(study.candidates[name][pair_id]) is None]
    pick = random.Random(f"texts/{study.seed}/{fold}/{draw}")
    known, dropped = [], 0
    for item in items:
        if study.fold_of[item.pair_id] == fold:
            continue
        others = [system for system in usable[item.pair_id] if system != EXPERT]
        system = pick.choice(others or models) if name == MODEL_TRAINED else EXPERT
        if EXPERT not in usable[item.pair_id] or not others or tested.find(item.text) is not None:
            dropped += 1
            continue
        known.append(Case(item, "" if name == BASELINE else study.candidates[system][item.pair_id]))
    return known, dropped
