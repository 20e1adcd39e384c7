"""The shape of the words of the calendar: what `vocabulary` holds for dates. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.interview.parsing.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Feast:
    """A feast: `day` of a `month` or, where that is 0, so many days after Easter Sunday; `single` if it is one day."""

    month: int
    day: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class DateWords:
    """Words of the calendar.

    Attributes:
        months: All names, short names and dialect names.
        correctable: Full month names in which a typing error is forgiven.
        weekdays: Monday is 0.
        seasons: Their last month.
        winters: Names of the season that lies in two years.
        feasts: By name, words between single spaces.
        decades: Names of decades: "Neunziger".
        couple: Phrases for two or so, before a span.
        days: Days from today: "gestern" is -1.
        this_year: Words that are a year of their own ("heuer").
        spans: Words for day, week, month and year, as UCUM codes d, wk, mo, a.
        half_year: Words for six months.
        half: Words for a half, before a span.
        since: Words of a question that asks since when.
        ago_before, ago_after: Around a span that lies in the past.
        last, before_last, this, next: In front of week, month, year or weekday.
        ahead: In front of a span that lies in the future.
        of: Between day and month.
        month_first: Whether 3/4/1975 is 4 March.
        decade_ends: Make a year a decade: "1990er", "1990s".
        the: Articles after a part: "at the end of the year".
        parts: Parts of a month or year: "Anfang".
        part_months: The month in which such a part of a year begins, if not the first.
        year_parts: The same in one word: "Jahresende".
        year_pads: What may stand before two digits that mean a year.
        month_names: For wording, January first.
    """

    months: Mapping[str, int]
    correctable: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    winters: frozenset[str]
    feasts: Mapping[str, Feast]
    decades: frozenset[str]
    couple: Phrases
    days: Mapping[str, int]
    this_year: frozenset[str]
    spans: Mapping[str, str]
    half_year: frozenset[str]
    half: frozenset[str]
    since: frozenset[str]
    ago_before: frozenset[str]
    ago_after: frozenset[str]
    last: frozenset[str]
    before_last: frozenset[str]
    this: frozenset[str]
    next: frozenset[str]
    ahead: frozenset[str]
    of: frozenset[str]
    month_first: bool
    decade_ends: frozenset[str]
    the: frozenset[str]
    parts: frozenset[str]
    part_months: Mapping[str, int]
    year_parts: Mapping[str, int]
    year_pads: frozenset[str]
    month_names: tuple[str, ...]
