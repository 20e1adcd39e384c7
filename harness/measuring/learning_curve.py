"""How accuracy grows with the number of variants a pair: catalogs with fewer of them are written, trained and asked."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.random import Generator

from bot import Assistant, Catalog, Encoder, NearCopies, Pair
from harness.measuring.study import Measured, RememberingEncoder, Study, StudyTable, ask, mean_and_range
from harness.running.outcomes import accepted_pairs

ALL = None  # every variant there is
MIN_AUTHORS = 2
Size = int | None


@dataclass(frozen=True, slots=True)
class Written:
    """A variant and who wrote it.

    Attributes:
        number: Of the variant within its pair.
        text: Of the variant.
        author: Profile or name of the author; empty when nobody is named.
    """

    number: int
    text: str
    author: str


def written(pair: Pair) -> list[Written]:
    """Return the variants of a pair with their authors."""
    return [
        Written(number, variant.text, (variant.by.profile or variant.by.name or "") if variant.by else "")
        for number, variant in enumerate(pair.variants)
    ]


def authors_of(catalog: Catalog) -> tuple[str, ...]:
    """Return the authors of a catalog's variants, in alphabetical order."""
    return tuple(sorted({variant.author for pair in catalog.pairs for variant in written(pair)} - {""}))


def in_turns(variants: Sequence[Written], rng: Generator) -> list[Written]:
    """Return the variants in random order, authors taking turns: whatever is taken from the front is even over them."""
    queues: dict[str, list[Written]] = defaultdict(list)
    for number in rng.permutation(len(variants)):
        queues[variants[number].author].append(variants[number])
    authors = [list(queues)[number] for number in rng.permutation(len(queues))]
    rounds = max(map(len, queues.values()), default=0)
    return [queues[author][turn] for turn in range(rounds) for author in authors if turn < len(queues[author])]


def write_subset(catalog: Catalog, kept: Mapping[str, Sequence[Written]], folder: Path) -> Path:
    """Write a catalog that keeps only some variants; background and calibration questions are copied.

    Args:
        catalog: The whole.
        kept: The variants of each pair, by pair id.
        folder: To write; it must not exist.

    Returns:
        The folder.
    """
    pairs = []
    for pair in catalog.pairs:
        numbers = {variant.number for variant in kept.get(pair.id, ())}
        variants = tuple(variant for number, variant in enumerate(pair.variants) if number in numbers)
        pairs.append(pair.model_copy(update={"variants": variants}).model_dump(mode="json", exclude_none=True))
    document = {"catalog": catalog.name, "language": catalog.language, "version": catalog.version, "pairs": pairs}
    folder.mkdir(parents=True)
    # JSON is YAML, and is written and read much faster.
    (folder / catalog.path.name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    for beside in (f"background/{catalog.language}.yaml", f"calibration/{catalog.language}.jsonl"):
        source = catalog.path.parent / beside
        if source.is_file():
            (folder / beside).parent.mkdir()
            shutil.copyfile(source, folder / beside)
    return folder


Orders = Mapping[str, Sequence[Written]]


@dataclass(frozen=True, slots=True)
class CurvePlan:
    """What is drawn.

    Attributes:
        sizes: Variants a pair; all variants are always measured too.
        draws: How often variants are drawn; as many groups of authors are held out, each once.
        seed: Fixes the draws.
    """

    sizes: tuple[int, ...] = (10, 25, 50, 100)
    draws: int = 3
    seed: int = 1


@dataclass
class Point:
    """One size: a figure per draw."""

    size: Size
    suite: list[Measured] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "all" if self.size is ALL else str(self.size)

    def of(self, figure: Callable[[Measured], float]) -> list[float]:
        return [figure(measured) for measured in self.suite]


class Smaller:
    """Trains on catalogs with fewer variants, in a folder that is removed afterwards."""

    def __init__(self, catalog: Catalog, encoder: Encoder, work: Path) -> None:
        self._catalog, self._work = catalog, work
        self._encoder = RememberingEncoder(encoder)
        self._opened = 0

    def orders(self, unseen: frozenset[str], *seed: int) -> Orders:
        """Return the variants of each pair in the order in which they are taken, without those of some authors."""
        rng = np.random.default_rng(seed)
        return {
            pair.id: in_turns([variant for variant in written(pair) if variant.author not in unseen], rng)
            for pair in self._catalog.pairs
        }

    def trained(self, orders: Orders, size: Size) -> Assistant:
        """Return an assistant that learned from so many variants a pair."""
        self._opened += 1
        kept = {pair_id: order[:size] for pair_id, order in orders.items()}
        folder = write_subset(self._catalog, kept, self._work / f"catalog-{self._opened}")
        return Assistant.open(
            folder,
            data=self._work / "data",
            encoder=self._encoder,
            sample=True,
            languages=[self._catalog.language],
        )

    def top1(self, assistant: Assistant, asked: Sequence[tuple[str, str]]) -> float:
        """Return the share of questions, with the pair of each, whose first candidate is right."""
        responses = assistant.answer_all([text for _, text in asked], self._catalog.language)
        firsts = [response.candidates[0].pair_id for response in responses]
        right = [
            first in accepted_pairs(self._catalog, pair_id) for first, (pair_id, _) in zip(firsts, asked, strict=True)
        ]
        return sum(right) / len(right)


class LearningCurve:
    """Measures a suite, and authors that were held out, on catalogs with fewer variants."""

    def __init__(self, study: Study, plan: CurvePlan, work: Path) -> None:
        self._study, self._plan = study, plan
        self._catalog = study.whole.catalog(study.language)
        self._smaller = Smaller(self._catalog, study.whole.encoder, work)

    def points(self, progress: Callable[[], None]) -> list[Point]:
        """Return a point per size, the smallest first and all variants last."""
        points = [Point(size) for size in (*self._plan.sizes, ALL)]
        points[-1].suite.append(self._suite(self._study.whole))
        progress()
        for draw in range(self._plan.draws):
            orders = self._smaller.orders(frozenset(), self._plan.seed, draw)
            for point in points[:-1]:
                point.suite.append(self._suite(self._smaller.trained(orders, point.size)))
                progress()
            for point, top1 in zip(points, self._held_out(draw, points), strict=True):
                point.held_out += top1
                progress()
        return points

    def _held_out(self, draw: int, points: Sequence[Point]) -> list[list[float]]:
        """Return, per point, the accuracy on authors that nothing was learned from; empty without authors."""
        authors = authors_of(self._catalog)
        unseen = frozenset(authors[draw :: self._plan.draws])
        if len(authors) < MIN_AUTHORS or not unseen or len(unseen) == len(authors):
            return [[] for _ in points]
        orders = self._smaller.orders(unseen, self._plan.seed, draw)
        asked = unseen_questions(self._catalog, unseen)
        smaller = self._smaller
        return [[smaller.top1(smaller.trained(orders, point.size), asked)] for point in points]

    def _suite(self, assistant: Assistant) -> Measured:
        return Measured.of(ask(assistant, self._study.questions, self._study.language))


def unseen_questions(catalog: Catalog, unseen: frozenset[str]) -> list[tuple[str, str]]:
    """Return pair id and text of what the unseen authors wrote, without near copies of what the others wrote."""
    known = NearCopies()
    for text in (*catalog.background, *(one.text for one in catalog.near_misses)):
        known.add(text, "")
    for pair in catalog.pairs:
        for variant in written(pair):
            if variant.author not in unseen:
                known.add(variant.text, pair.id)
    return [
        (pair.id, variant.text)
        for pair in catalog.pairs
        for variant in written(pair)
        if variant.author in unseen and known.find(variant.text) is None
    ]


def learning_curve(study: Study, plan: CurvePlan, progress: Callable[[], None] = lambda: None) -> StudyTable:
    """Measure the learning curve."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        points = LearningCurve(study, plan, Path(work)).points(progress)
    catalog = study.whole.catalog(study.language)
    authors = len(authors_of(catalog))
    note = (
        f"{study.about} Variants drawn evenly over {authors} authors, seed {plan.seed}; mean of {plan.draws} draws "
        "with the smallest and the largest; background questions and calibration as shipped. Held-out authors: each "
        f"draw leaves out another of {plan.draws} groups of authors and asks what they wrote, near copies excepted; "
        '"all" is then what the other authors wrote.'
    )
    columns = ("variants a pair", "top1", "answered right", "wrong of all", "top1, held-out authors")
    rows = tuple(
        (
            point.name,
            mean_and_range(point.of(lambda measured: measured.top1)),
            mean_and_range(point.of(lambda measured: measured.accuracy)),
            mean_and_range(point.of(lambda measured: measured.wrong)),
            mean_and_range(point.held_out),
        )
        for point in points
    )
    figures = tuple(
        {
            "variants": point.size,
            "suite": [measured.as_json() for measured in point.suite],
            "held_out_top1": point.held_out,
        }
        for point in points
    )
    return StudyTable(f"Learning curve ({study.language})", note, columns, rows, figures)


def steps(plan: CurvePlan) -> int:
    """Return how often `learning_curve` reports progress."""
    return 1 + plan.draws * (2 * len(plan.sizes) + 1)
