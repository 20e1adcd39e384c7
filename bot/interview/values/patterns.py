"""Regular expressions of Questionnaires and value sets: they come from anywhere, so they get little time. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import regex

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject

# A pattern with nested repetitions can take longer than the universe is old.
PATIENCE_S = 0.5
# Some forms hold FHIRPath where a bare pattern is due.
_AS_FHIRPATH = re.compile(r"\s*matches\('(.*)'\)\s*", re.DOTALL)
_DATES = ("date", "dateTime", "time")
_PRIMITIVES = frozenset({"string", "uri", "integer", "decimal", *_DATES})
_YEARS = range(1900, 2101)


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


def is_fhirpath(pattern: str) -> bool:
    """Say whether a form holds ``matches('…')`` where the bare pattern is due."""
    return _AS_FHIRPATH.fullmatch(pattern) is not None


def bare(pattern: str) -> str:
    """Return the pattern itself, also where a form holds it as FHIRPath."""
    wrapped = _AS_FHIRPATH.fullmatch(pattern)
    return wrapped[1].replace("\\\\", "\\") if wrapped else pattern


def fits_pattern(pattern: str, answer: Answer, item: JsonObject) -> bool | None:
    """Say whether an answer to an item of the Questionnaire has the form that the item's ``regex`` asks for.

    The pattern is held against the value as FHIR writes it, also of numbers and dates. Listed options are not typed in,
    so that a pattern says nothing of them.

    Returns:
        None where this cannot be told: the pattern cannot be read or takes too long, or it is about how dates look on
        somebody's screen ("31/12/2020"), so that no date of FHIR would ever fit.
    """
    listed = item.get("type") == "choice" or item.keys() & {"answerOption", "answerValueSet"}
    typed = not listed or item.get("type") == "open-choice"
    if not typed or answer.type not in _PRIMITIVES or isinstance(answer.value, bool | dict | list | None):
        return True
    test = matcher(bare(pattern))
    fits = test(str(answer.value)) if test is not None else None
    return None if fits is False and answer.type in _DATES and not _fits_any(bare(pattern), answer.type) else fits


@lru_cache(maxsize=256)
def _fits_any(pattern: str, kind: str) -> bool:
    """Say whether any of many dates (or times) fits."""
    test = matcher(pattern)
    return test is not None and any(test(text) for text in _samples(kind))


def _samples(kind: str) -> Iterator[str]:
    if kind == "time":
        yield from (f"{hour:02}:{minute:02}:00" for hour in range(24) for minute in (0, 5, 15, 30, 45))
        return
    for year in _YEARS:
        days = (f"{year}", f"{year}-06", f"{year}-01-01", f"{year}-06-15", f"{year}-12-31")
        yield from days
        if kind == "dateTime":
            yield from (f"{days[3]}T10:30:00{zone}" for zone in ("Z", "+01:00", ".000Z"))
