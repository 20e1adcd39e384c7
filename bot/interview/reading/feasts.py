"""Dates by the feasts of the year, the seasons and the parts of a year or month. Never literal. Pure.

A feast of several days is known by its month; one that is a day by the day. FHIR has no seasons: only their year.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from bot.interview.reading.date_forms import Calendar, full_year, months_away, written
from bot.interview.reading.found import Found
from bot.interview.reading.reading import NotUnderstood
from bot.interview.reading.tokens import Token
from bot.interview.reading.vocabulary import Feast

MOST_BETWEEN = 2  # words between a feast and its year: "Ostern im letzten Jahr"


def easter(year: int) -> date:
    """Return Easter Sunday of a year of the Gregorian calendar (the method of Meeus, Jones and Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def feast_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return the date of a feast that is named at `start`, with the year that stands beside it: "Ostern 2024"."""
    names = calendar.words.dates
    text = tokens[start].text if tokens[start].wordlike else ""
    last = text in names.last and start + 1 < len(tokens)
    first = start + 1 if last else start
    feast, end = _named(tokens, first, calendar)
    if feast is None:
        return _year_before(tokens, start, calendar)
    year, after = _year_at(tokens, end, calendar)
    if year is None:
        return Found(start, end, _latest(feast, calendar.today), False)
    return Found(start, after, _of_year(feast, year), False)


def _named(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[Feast | None, int]:
    """Return the feast whose name begins at a word, and where the name ends."""
    names = calendar.words.dates.feasts
    for length in (3, 2, 1):
        some = tokens[start : start + length]
        if len(some) == length and all(token.wordlike for token in some):
            feast = names.get(" ".join(token.text for token in some))
            if feast:
                return feast, start + length
    return None, start


def _year_before(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return "letztes Jahr an Ostern"."""
    year, end = _year_at(tokens, start, calendar)
    if year is None or end == start:
        return None
    for place in range(end, min(end + MOST_BETWEEN + 1, len(tokens))):
        feast, after = _named(tokens, place, calendar)
        if feast:
            return Found(start, after, _of_year(feast, year), False)
        if not tokens[place].wordlike:
            return None
    return None


def _year_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int | None, int]:
    """Return the year that is said at a place or a few words on, and where it ends."""
    names, today = calendar.words.dates, calendar.today
    for place in range(start, min(start + MOST_BETWEEN + 1, len(tokens))):
        token = tokens[place]
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if token.numeric and token.value is not None and 1900 <= token.value <= today.year:
            return int(token.value), place + 1
        counts = after in names.spans or after in calendar.words.units.codes  # "Ostern 14 Tage"
        if token.kind == "digits" and len(token.text) == 2 and place <= start + 1 and not counts:
            return full_year(int(token.text), 0, 0, calendar.asked, today), place + 1
        steps = ((names.last, -1), (names.before_last, -2), (names.this, 0))
        step = next((step for listed, step in steps if token.text in listed), None)
        if step is not None and names.spans.get(after) == "a":
            return today.year + step, place + 2
        if token.text in names.this_year:
            return today.year, place + 1
        if not token.wordlike and token.text not in ("'", ","):
            return None, start
    return None, start


def _of_year(feast: Feast, year: int) -> str:
    day = easter(year) + timedelta(days=feast.day) if feast.month == 0 else date(year, feast.month, feast.day)
    return day.isoformat() if feast.single else written(day.year, day.month)


def _latest(feast: Feast, today: date) -> str:
    """Return the last such feast that has begun."""
    this = _of_year(feast, today.year)
    return this if this <= today.isoformat()[: len(this)] else _of_year(feast, today.year - 1)


def season_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return the year of a season: "im Herbst 22", "diesen Sommer"; a winter is in two years."""
    names, token = calendar.words.dates, tokens[start]
    if not token.wordlike:
        return None
    steps = ((names.last, -1), (names.before_last, -2), (names.this, 0))
    if start and any(tokens[start - 1].text in listed for listed, _ in steps):
        return None  # read with the word before it
    step = next((step for listed, step in steps if token.text in listed), None)
    place = start if step is None else start + 1
    season = tokens[place].text if place < len(tokens) else ""
    if season in names.winters:
        return _winter(tokens, place, calendar)
    if season not in names.seasons:
        return None
    year, end = _year_at(tokens, place + 1, calendar)
    if year is None or step is not None:
        year, end = _season_year(names.seasons[season], step or 0, calendar.today), place + 1
    if end == place + 1:
        return Found(start, start + 1, written(year), False)
    # A year that is said is read by itself, unless only its place shows that it is one: "Herbst 22".
    short = len(tokens[end - 1].text) == 2 and tokens[end - 1].kind == "digits"
    return Found(end - 1, end, written(year), False) if short else None


def _winter(tokens: Sequence[Token], place: int, calendar: Calendar) -> Found | None:
    year, _ = _year_at(tokens, place + 1, calendar)
    if year is not None:
        return None  # the year is read by itself
    return Found(place, place + 1, None, False, NotUnderstood("a winter, which lies in two years", "vague"))


def _season_year(last_month: int, step: int, today: date) -> int:
    """Return the year of the last such season: one that has begun, or for "last" one that is over."""
    if step == 0:
        return today.year if today.month >= last_month - 2 else today.year - 1
    over = today.month > last_month
    return today.year + step + int(over)


def part_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return "Anfang des Jahres", "at the end of the month": what is over of it, or has begun."""
    names, today = calendar.words.dates, calendar.today
    if not tokens[start].wordlike:
        return None
    word = tokens[start].text
    if word in names.year_parts:
        return Found(start, start + 1, written(today.year - _ahead(names.year_parts[word], today)), False)
    end = start + 1
    while end < min(start + 3, len(tokens)) and tokens[end].text in names.of | names.the:
        end += 1
    span = names.spans.get(tokens[end].text) if end < len(tokens) and end > start + 1 else None
    if word not in names.parts or span not in ("a", "mo"):
        return None
    month = names.part_months.get(word, 1)
    if span == "a":
        return Found(start, end + 1, written(today.year - _ahead(month, today)), False)
    # The first, the middle or the end of a month that has not got so far is that of the last.
    so_far = today.day >= {1: 1, 6: 11}.get(month, 21)
    return Found(start, end + 1, written(*months_away(0 if so_far else -1, today)), False)


def _ahead(month: int, today: date) -> int:
    """Return 1 when a part of the year that begins in a month lies ahead."""
    return int(month > today.month)


def decade_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return that a decade is no date: "in den Neunzigern", "the 90s"."""
    names, token = calendar.words.dates, tokens[start]
    after = start + 2 if start + 1 < len(tokens) and tokens[start + 1].text == "'" else start + 1
    ended = after < len(tokens) and tokens[after].glued and tokens[after].text in names.decade_ends
    short = token.kind == "digits" and len(token.text) == 2 and token.text.endswith("0")
    if not (token.text in names.decades or (short and ended)):
        return None
    end = after + 1 if ended else start + 1
    return Found(start, end, None, False, NotUnderstood("a decade, not a year", "decade"))
