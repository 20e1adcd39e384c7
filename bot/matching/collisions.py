"""What texts that are to be added to a pair come near to, and which questions they would probably draw. Pure.

A question goes, by estimate, where the text is that is nearest to it in the kernel that the ridge learns on. What the
trained matcher would say is only known after training: whoever shows an estimate says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bot.matching.features import Bag, Evidence, Floats, Ints, quadratic, sparse_rows
from bot.matching.head import Head, LocalEvidence
from bot.ports import Vectors

NEAR = 0.1  # probability from which a text is said to come near to another pair
BLOCK = 64  # questions compared with all texts at once


@dataclass(frozen=True, slots=True)
class Near:
    """A text that comes near to another pair than its own; `probability`: that this pair is meant by it."""

    text: str
    pair_id: str
    probability: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question that would probably go to another pair: its number, and the number of the text that draws it."""

    question: int
    text: int
    before: float
    after: float


@dataclass(frozen=True)
class Placed:
    """Questions with the text of the catalog that is nearest to each.

    Attributes:
        white: Their whitened vectors, shape (questions, kept).
        rows: Their bags, shape (questions, vocabulary).
        nearest: How near that text is, shape (questions,).
        place: Class of that text, shape (questions,); the last is "none of these".
    """

    white: Floats
    rows: csr_array
    nearest: Floats
    place: Ints

    @classmethod
    def of(cls, evidence: Evidence | LocalEvidence, vectors: Vectors, texts: Sequence[str]) -> Placed:
        """Place questions with their raw vectors among the texts of a catalog; there is at least one."""
        white, bags = evidence.whitening.apply(vectors), [evidence.vocabulary.bag(text) for text in texts]
        best, place = [], []
        for start in range(0, len(bags), BLOCK):
            kernel = evidence.kernel(white[start : start + BLOCK], bags[start : start + BLOCK])
            column = kernel.argmax(axis=1)
            best.append(kernel[np.arange(len(kernel)), column])
            place.append(evidence.label[column])
        rows = sparse_rows(bags, len(evidence.vocabulary))
        return cls(white, rows, np.concatenate(best), np.concatenate(place).astype(np.int32))

    def joined(self, other: Placed) -> Placed:
        from scipy.sparse import vstack

        return Placed(
            np.concatenate([self.white, other.white]),
            csr_array(vstack([self.rows, other.rows])),
            np.concatenate([self.nearest, other.nearest]),
            np.concatenate([self.place, other.place]),
        )

    def drawn(self, white: Floats, bags: Sequence[Bag], own: int | None) -> list[Drawn]:
        """Return the questions to which one of some texts is nearer than what is nearest now, the surest first.

        Args:
            white: Whitened vectors of the texts, shape (texts, kept).
            bags: Their bags.
            own: Class of the pair that they are added to; None: it is new.
        """
        wording = (self.rows @ sparse_rows(bags, self.rows.shape[1]).T).toarray()
        kernel = quadratic(self.white @ white.T, np.asarray(wording, dtype=np.float32))
        column = kernel.argmax(axis=1)
        best = kernel[np.arange(len(kernel)), column]
        moved = (best > self.nearest) & (self.place != (-1 if own is None else own))
        found = [
            Drawn(int(each), int(column[each]), float(self.nearest[each]), float(best[each]))
            for each in np.flatnonzero(moved)
        ]
        return sorted(found, key=lambda each: each.before - each.after)


def near_pairs(head: Head, pair_ids: Sequence[str], own: str, vectors: Vectors, texts: Sequence[str]) -> list[Near]:
    """Return which other pairs texts come near to as the matcher stands now: of each pair the nearest text."""
    best: dict[str, Near] = {}
    for text, row in zip(texts, head.probabilities(vectors, texts), strict=True):
        for number in np.flatnonzero(row[: len(pair_ids)] >= NEAR):
            pair_id, share = pair_ids[int(number)], float(row[number])
            if pair_id != own and (pair_id not in best or best[pair_id].probability < share):
                best[pair_id] = Near(text, pair_id, share)
    return sorted(best.values(), key=lambda each: -each.probability)
