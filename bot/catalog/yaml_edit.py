"""Placeholder until the branch with it is merged."""

from collections.abc import Collection, Sequence

from bot.catalog.catalog import Pair


def edit_pairs(text: str, *, changed: Sequence[Pair], removed: Collection[str]) -> str:
    """Not here yet."""
    raise NotImplementedError
