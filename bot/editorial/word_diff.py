"""What changed between two texts, word by word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words that stand in both texts, only in the old one (``del``) or only in the new one (``ins``)."""

    kind: Literal["same", "ins", "del"]
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """Return the pieces in reading order; those that are not ``ins`` make the old text, those not ``del`` the new."""
    return list(_pieces(_TOKEN.findall(old), _TOKEN.findall(new)))


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
