"""Vectors of all texts in half the memory: each number in 16 bits, as a share of the largest of its text. Pure.

A service holds such vectors for each exam and language three times: of pairs, of remarks and of the alarm. What is kept
is off by less than 0.00002 of the largest number; vectors of texts and of a question meet in float32 again, block by
block, so that the blocks stay near the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

LARGEST = 32767
BLOCK = 512  # texts widened at once


@dataclass(frozen=True, slots=True, eq=False)
class PackedVectors:
    """Vectors of texts.

    Attributes:
        shares: Of the largest number of each text, times `LARGEST`, shape (texts, dimensions).
        scale: The largest number of each text over `LARGEST`, shape (texts,).
    """

    shares: npt.NDArray[np.int16]
    scale: Floats

    @classmethod
    def of(cls, vectors: Floats) -> PackedVectors:
        """Pack vectors, shape (texts, dimensions)."""
        scale = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-9).astype(np.float32) / np.float32(LARGEST)
        shares = np.empty(vectors.shape, dtype=np.int16)
        for start in range(0, len(vectors), BLOCK):
            rows = slice(start, start + BLOCK)
            np.rint(vectors[rows] / scale[rows, None], casting="unsafe", out=shares[rows])
        return cls(shares, scale)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def floats(self) -> Floats:
        """The vectors as they were, but for rounding; made anew each time."""
        return self.some(slice(None))

    def some(self, texts: slice | Sequence[int] | npt.NDArray[np.intp]) -> Floats:
        """Return the vectors of some texts, shape (these texts, dimensions)."""
        return np.asarray(self.shares[texts] * self.scale[texts, None], dtype=np.float32)

    def products(self, vectors: Floats) -> Floats:
        """Return the scalar products of vectors with those of all texts, shape (vectors, texts)."""
        # The many on the left: for few questions the product the other way round takes half as long again.
        asked = np.ascontiguousarray(vectors.T)
        found = np.empty((len(self), len(vectors)), dtype=np.float32)
        widened = np.empty((min(BLOCK, len(self)), self.shares.shape[1]), dtype=np.float32)
        for start in range(0, len(self), BLOCK):
            rows = slice(start, start + BLOCK)
            block = widened[: len(self.shares[rows])]
            np.copyto(block, self.shares[rows])
            np.matmul(block, asked, out=found[rows])
        found *= self.scale[:, None]
        return np.ascontiguousarray(found.T)
