"""What changed between two texts, word by word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

MOST_TOKENS = 12_000
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words that stand in both texts, only in the old one (``del``) or only in the new one (``ins``)."""

    kind: Literal["same", "ins", "del"]
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """Return the pieces in reading order; those that are not ``ins`` make the old text, those not ``del`` the new."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) + len(after) > MOST_TOKENS:  # finding what is alike takes time by the square
        return [piece for piece in (Piece("del", old), Piece("ins", new)) if piece.text]
    return list(_pieces(before, after))


def _pieces(before: list[str], after: list[str]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            yield Piece("same", "".join(before[first:last]))
            continue
        if first < last:
            yield Piece("del", "".join(before[first:last]))
        if begin < end:
            yield Piece("ins", "".join(after[begin:end]))
