"""Sets of pairs that curators declared the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot import BadData, Catalog


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Which answers count as right.

    Attributes:
        catalog: How answers cite the catalog.
        sets: For each pair, itself and all that are the same.
    """

    catalog: str
    sets: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, catalog: Catalog) -> Equivalence:
        """Read `same_as`: what is declared one way holds both ways, and through a third pair."""
        sets = {pair.id: frozenset({pair.id}) for pair in catalog.pairs}
        for pair in catalog.pairs:
            for other in pair.same_as:
                merged = sets[pair.id] | sets[other]
                sets |= dict.fromkeys(merged, merged)
        return cls(catalog.ref, sets)

    def accepted(self, pair_id: str | None) -> frozenset[str]:
        """Return what counts as right when a pair is expected; nothing for None. Raise BadData for an unknown pair."""
        if pair_id is None:
            return frozenset()
        if pair_id not in self.sets:
            raise BadData(
                f"There is no pair {pair_id!r} in {self.catalog}. Run `klartext qa list` to see the pair ids."
            )
        return self.sets[pair_id]
