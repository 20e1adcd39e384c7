"""FHIRPath functions that could run for ever, with an end: pattern searches by time, ``repeat()`` by size. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import regex
from fhirpathpy.engine.nodes import ResourceNode

from bot.interview.patterns import PATIENCE_S

# The largest form known to us has 271 items; texts and numbers that grow with each round stop long before memory does.
MOST_REPEATED = 20_000
MOST_GROWN = 100_000


class TooMuch(ValueError):
    """A function that would find more than any form needs."""


def matches(data: Sequence[Any], pattern: Any) -> Any:
    """Say whether a text holds the pattern; a search that takes too long is an error."""
    if not data or not pattern:
        return []
    return regex.search(pattern, _text(data), regex.DOTALL, timeout=PATIENCE_S) is not None


def replace_matches(data: Sequence[Any], pattern: Any, replacement: Any) -> Any:
    """Replace what the pattern finds; ``$1`` stands for its first group. A search that takes too long is an error."""
    if not data or pattern == [] or replacement == []:
        return []
    return regex.sub(pattern, re.sub(r"\$(\d+)", r"\\\1", replacement), _text(data), timeout=PATIENCE_S)


def _text(data: Sequence[Any]) -> str:
    if len(data) != 1 or not isinstance(data[0], str):
        raise TypeError("not a text")
    return data[0]


def repeat(context: Any, data: Any, expression: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Apply an expression to all elements, to what it gives, and so on, until nothing new comes.

    Raises:
        TooMuch: There seems to be no end to it.
    """
    found: list[Any] = []
    seen: set[Any] = set()
    waiting, grown = deque(data if isinstance(data, list) else ()), 0
    while waiting:
        new = [element for element in expression(waiting.popleft()) if element not in seen]
        seen.update(new)
        found += new
        waiting.extend(new)
        grown += sum(map(_size, new))
        if len(found) > MOST_REPEATED or grown > MOST_GROWN:
            raise TooMuch("repeat() finds too much")
    return found


def _size(element: Any) -> int:
    """Return how much a text or a number takes; what stands in a resource takes nothing, it is there already."""
    if isinstance(element, ResourceNode):
        return 0
    if isinstance(element, str):
        return len(element)
    return element.bit_length() // 8 if isinstance(element, int) else 0
