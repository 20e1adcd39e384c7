"""Say of some messages after an answer that they stand alone, whatever was said before. Pure.

`context.py` weighs a message's own words together with what it is about after the last question, and beside the shown
pair's question. These two views cost two more encodings and comparisons with every text of the catalog. All that they
can say lies between known bounds: how much they could change at the most is worked out once from the weights, and
where that is too little, they are not looked at. What is decided is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STEPS = 200  # of the search for the probability at which a view says the most
ROUNDING = 1e-3  # of a probability, by far: sums of 32-bit numbers come in any order

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class OwnWords:
    """How likely messages stand alone at the least, by their own words.

    Attributes:
        known: Which features do not depend on the other views, shape (known,).
        against: How much these speak for each other kind, more than for standing alone, shape (known, other kinds).
        most: The same of all that is not known, at the most, with the intercept, shape (other kinds,).
    """

    known: npt.NDArray[np.intp]
    against: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]

    @classmethod
    def of(cls, names: Sequence[str], kinds: Floats, intercept: Floats, *, least: float) -> OwnWords:
        """Work the bounds out.

        Args:
            names: Of the features: of each view the probabilities "own", "best" and "none" and their logarithms.
            kinds: Weights, shape (features, kinds); the first kind is standing alone.
            intercept: Shape (kinds,).
            least: A probability below this counts as this in a logarithm, which is divided by four.
        """
        weights = (kinds[:, 1:] - kinds[:, :1]).astype(np.float64)
        most = (intercept[1:] - intercept[0]).astype(np.float64)
        place = {name: number for number, name in enumerate(names)}
        unknown = {name for name in names if name.startswith(("after ", "beside ")) or name == "alone is after"}
        probabilities = np.geomspace(least, 1, STEPS)[:, None]
        for name in sorted(unknown):
            if f"{name} log" in unknown:  # a probability and its logarithm go together
                log = np.log(probabilities) / 4
                said = probabilities * weights[place[name]] + log * weights[place[f"{name} log"]]
                most += said.max(axis=0)
            elif not name.endswith(" log"):  # anything else is between no and yes
                most += np.maximum(weights[place[name]], 0)
        known = np.array([number for number, name in enumerate(names) if name not in unknown], dtype=np.intp)
        return cls(known, weights[known], most)

    def alone(self, features: Floats) -> npt.NDArray[np.float64]:
        """Return how likely messages stand alone at the least, shape (messages,).

        `features` has the shape (messages, features); those of the other views are not read.
        """
        odds = np.exp(features[:, self.known] @ self.against + self.most)
        return np.asarray(1 / (1 + odds.sum(axis=1)) - ROUNDING)
