"""Whether more variants are worth writing: voices that were held out, now and with half of the variants."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import fmean

from bot import BadData, Catalog, Encoder
from harness.measuring.learning_curve import Smaller, authors_of, unseen_questions

DRAWS = 2  # groups of voices that are held out, one after the other
GROUPS = 4  # a group is every fourth voice
MORE = 10  # variants a pair
WORTH = 0.005  # of questions: below, more variants are not worth their costs
FEWEST_VOICES = 3
TRAININGS = 2 * DRAWS
SIZES = (0, 5, 10, 25, 50, 100)  # variants a pair on the curve, before all of them


@dataclass(frozen=True, slots=True)
class Enough:
    """What held-out voices say.

    Attributes:
        variants: A pair, on average, of the voices that were learned from.
        now: Share of the questions of held-out voices whose first candidate is right.
        half: The same with half of the variants.
        asked: Questions.
    """

    variants: float
    now: float
    half: float
    asked: int

    @property
    def gain(self) -> float:
        """What ten more a pair are expected to gain: along the logarithm, as from half to all."""
        return (self.now - self.half) / log(2) * log((self.variants + MORE) / self.variants)

    @property
    def enough(self) -> bool:
        return self.gain < WORTH


def enough(catalog: Catalog, encoder: Encoder, progress: Callable[[], None] = lambda: None) -> Enough:
    """Train without some voices, on all variants of the others and on half of them, and ask what the voices wrote.

    Raises:
        BadData: Too few voices wrote the catalog's variants.
    """
    voices = authors_of(catalog)
    if len(voices) < FEWEST_VOICES:
        raise BadData(
            f"The variants of {catalog.ref} ({catalog.language}) are by {len(voices)} voices; to hold some out takes "
            f"{FEWEST_VOICES}. Run `klartext author variants` with more voices."
        )
    sizes, now, half, asked = list[float](), list[float](), list[float](), 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        smaller = Smaller(catalog, encoder, Path(work))
        for draw in range(DRAWS):
            unseen = frozenset(voices[draw::GROUPS])
            questions = unseen_questions(catalog, unseen)
            orders = smaller.orders(unseen, draw)
            sizes.append(fmean(len(order) for order in orders.values()))
            now.append(smaller.top1(smaller.trained(orders, None), questions))
            progress()
            halved = {pair_id: order[: (len(order) + 1) // 2] for pair_id, order in orders.items()}
            half.append(smaller.top1(smaller.trained(halved, None), questions))
            progress()
            asked += len(questions)
    return Enough(fmean(sizes), fmean(now), fmean(half), asked)


@dataclass(frozen=True, slots=True)
class Curve:
    """What held-out voices say at some sizes.

    Attributes:
        held_out: The voices that asked.
        asked: Questions.
        points: Variants a pair, on average, and the share of questions whose first candidate is right; all come last.
    """

    held_out: tuple[str, ...]
    asked: int
    points: tuple[tuple[float, float], ...]


def curve(
    catalog: Catalog, encoder: Encoder, names: Sequence[str] = (), progress: Callable[[], None] = lambda: None
) -> Curve:
    """Train without some voices on 0, 5, 10, … and all variants a pair of the others, and ask what those wrote.

    `names`: the voices that are held out; every fourth where none is named. Sizes that no pair reaches are left out.

    Raises:
        BadData: A voice wrote nothing in this catalog, or too few are left to learn from.
    """
    voices = authors_of(catalog)
    unseen = frozenset(names or voices[::GROUPS])
    if strange := sorted(unseen - set(voices)):
        known = ", ".join(voices) or "none"
        raise BadData(f"No variant of {catalog.ref} ({catalog.language}) is by {strange[0]!r}; voices: {known}.")
    if not unseen or unseen == set(voices):
        raise BadData(
            f"The variants of {catalog.ref} ({catalog.language}) are by {len(voices)} voices: some must be held out, "
            "and some stay. Run `klartext author variants` with more voices."
        )
    questions = unseen_questions(catalog, unseen)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        smaller = Smaller(catalog, encoder, Path(work))
        orders = smaller.orders(unseen, 0)
        most = max(len(order) for order in orders.values())
        points = []
        for size in (*(size for size in SIZES if size < most), None):
            mean = fmean(len(order[:size]) for order in orders.values())
            points.append((mean, smaller.top1(smaller.trained(orders, size), questions)))
            progress()
    return Curve(tuple(sorted(unseen)), len(questions), tuple(points))
