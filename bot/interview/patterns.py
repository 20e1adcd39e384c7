"""Regular expressions of Questionnaires and value sets: they come from anywhere, so they get little time. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import regex

# A pattern with nested repetitions can take longer than the universe is old.
PATIENCE_S = 0.5


@lru_cache(maxsize=256)
def matcher(pattern: str) -> Callable[[str], bool | None] | None:
    """Return a test for the whole of a text, or None when the pattern cannot be read.

    The test itself returns None when it takes too long. The dialect is close to the one of Java and of browsers:
    letters as ``\\p{L}``, possessive repetition and atomic groups are understood.
    """
    try:
        compiled = regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError):
        return None

    def fits(text: str) -> bool | None:
        try:
            return compiled.fullmatch(text, timeout=PATIENCE_S) is not None
        except TimeoutError:
            return None

    return fits
