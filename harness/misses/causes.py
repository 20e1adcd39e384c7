"""Why a question was missed. Pure: clues in, causes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from harness.confusions import Confusion
from harness.misses.clues import Clues, Nearness

Cause = Literal[
    "alarm", "intruding", "narrative", "mislabelled", "threshold", "confused", "gap", "background", "scattered"
]
# In the order in which they are looked for: a miss with several causes is grouped under the first.
CAUSES: dict[Cause, str] = {
    "alarm": "Taken for an emergency",
    "intruding": "Answered, though no pair may fit",
    "narrative": "A story outweighs its question",
    "mislabelled": "Near a variant that looks mislabelled",
    "threshold": "Right, but below the threshold",
    "confused": "Two pairs confused",
    "gap": "No variant near",
    "background": "Background pulled it away",
    "scattered": "Another pair scored higher, without a pattern",
}
CONFUSED_P = 0.05  # before adjusting for the number of pairs: the table shows both
MIN_CONFUSED = 2  # one question is no pattern

Confused = Mapping[frozenset[str], Confusion]


def causes(clues: Clues, far: Nearness | None, confused: Confused) -> tuple[Cause, ...]:
    """Return the causes that hold, the one to act on first; at least one.

    Args:
        clues: Of the miss.
        far: Below this in meaning and in wording, no variant of the right pair is near.
        confused: Pairs of pairs that are confused more often than chance would have it.
    """
    if clues.miss.kind in ("alarm", "intruding"):
        return ("alarm",) if clues.miss.kind == "alarm" else ("intruding",)
    first_right = clues.first in clues.miss.accepted
    none_won = clues.none_of_these > clues.first_score
    holds: dict[Cause, bool] = {
        "narrative": clues.part is not None,
        "mislabelled": clues.suspect is not None,
        "threshold": first_right and not none_won,
        "confused": not first_right and frozenset({clues.miss.pair_id, clues.first}) in confused,
        "gap": not first_right and _is_far(clues.nearness, far),
        "background": none_won,
    }
    return tuple(cause for cause in CAUSES if holds.get(cause)) or ("scattered",)


def is_confused(confusion: Confusion) -> bool:
    """Tell whether two pairs are confused often enough to name it as a cause."""
    return confusion.count >= MIN_CONFUSED and confusion.p_value <= CONFUSED_P


def _is_far(nearness: Nearness | None, far: Nearness | None) -> bool:
    if far is None:
        return False  # nothing was understood, so nobody knows what near means
    if nearness is None:
        return True  # the assistant did not even look at the right pair
    return nearness.meaning < far.meaning and nearness.wording < far.wording
