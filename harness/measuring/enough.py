"""Whether more variants are worth writing: voices that were held out, now and with half of the variants."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
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
