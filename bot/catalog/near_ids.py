"""Ids of pairs as people type them: in another case, or with a slip."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMED = 5


def as_typed(typed: str, known: Iterable[str]) -> str | None:
    """Return the id that somebody typed, in whatever case; None where there is none, or several that differ in case."""
    ids, folded = set(known), typed.strip().casefold()
    fitting = {typed.strip()} & ids or {each for each in ids if each.casefold() == folded}
    return fitting.pop() if len(fitting) == 1 else None


def nearest(typed: str, known: Iterable[str]) -> str:
    """Return a sentence that names the ids nearest to what somebody typed, or the first of them."""
    ids = sorted(known)
    by_case = {each.casefold(): each for each in ids}
    near = get_close_matches(typed.strip().casefold(), by_case, n=MOST_NAMED, cutoff=0.4)
    named = [by_case[each] for each in near] or ids[:MOST_NAMED]
    return f"The nearest: {', '.join(named)}." if named else "There is none."
