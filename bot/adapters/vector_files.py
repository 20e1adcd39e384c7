"""Vectors in sealed files of the data folder, searched exactly: the store of one process where Chroma is not installed.

A file is written whole or not at all, and holds the vectors only: texts and ids of pairs are the catalog's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from bot.ports import Encoder, Entry, Neighbour, Vectors
from bot.private_files import Derived, SealedFolder

BATCH = 1000  # texts encoded at once
TINY = 1e-12  # instead of a division by nothing: a vector without a direction resembles none


class VectorFiles:
    """One file per catalog content and encoder."""

    def __init__(self, derived: Derived) -> None:
        self._files = SealedFolder(derived.folder / "vectors", derived.seal, ".npy")

    def index(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> VectorFile:
        """Return the index called `name`, building it first if it does not exist or is not as it was written."""
        stored = self._files.read(name)
        vectors = np.load(BytesIO(stored), allow_pickle=False) if stored is not None else None
        if vectors is None or len(vectors) != len(entries):
            starts = range(0, len(entries), BATCH)
            vectors = np.concatenate(
                [encoder.encode([entry.text for entry in entries[start : start + BATCH]]) for start in starts]
            )
            written = BytesIO()
            np.save(written, vectors, allow_pickle=False)
            self._files.write(name, written.getvalue())
        return VectorFile(entries, vectors)


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Fulfils `bot.ports.AnswerIndex` with what one file holds."""

    entries: Sequence[Entry]
    stored: Vectors

    def nearest(self, query: Vectors, *, k: int) -> list[Neighbour]:
        lengths = np.linalg.norm(self.stored, axis=1) * np.linalg.norm(query)
        cosines = self.stored @ query / np.maximum(lengths, TINY)
        near = np.argsort(-cosines, kind="stable")[:k]
        return [Neighbour(self.entries[at].pair_id, self.entries[at].text, float(cosines[at])) for at in near]

    def vectors(self) -> Vectors:
        return self.stored
