"""Dates by the feasts of the year, the seasons and the parts of a year or month. Never literal. Pure.

A feast of several days is known by its month; one that is a day by the day. FHIR has no seasons: only their year.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from bot.interview.reading.date_forms import full_year, months_away, written
from bot.interview.reading.found import Found
from bot.interview.reading.reading import Context
from bot.interview.reading.relative_dates import step_of
from bot.interview.reading.tokens import Token, text_at
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


def feast_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return the date of a feast named at `start`: "Ostern 2024", "letztes Jahr an Ostern", "last Christmas"."""
    last = tokens[start].wordlike and tokens[start].text in context.words.dates.last and start + 1 < len(tokens)
    feast, end = _named(tokens, start + last, context)
    if feast is not None:
        year, after = _year_at(tokens, end, context)
        value = _latest(feast, context.today) if year is None else _of_year(feast, year)
        return Found(start, end if year is None else after, value, literal=False)
    year, end = _year_at(tokens, start, context)
    if year is None:
        return None
    for place in range(end, min(end + MOST_BETWEEN + 1, len(tokens))):
        feast, after = _named(tokens, place, context)
        if feast:
            return Found(start, after, _of_year(feast, year), literal=False)
        if not tokens[place].wordlike:
            return None
    return None


def _named(tokens: Sequence[Token], start: int, context: Context) -> tuple[Feast | None, int]:
    """Return the feast whose name begins at a word, and where the name ends."""
    for length in (3, 2, 1):
        some = tokens[start : start + length]
        name = " ".join(token.text for token in some if token.wordlike)
        if len(some) == length and all(token.wordlike for token in some) and name in context.words.dates.feasts:
            return context.words.dates.feasts[name], start + length
    return None, start


def _year_at(tokens: Sequence[Token], start: int, context: Context) -> tuple[int | None, int]:
    """Return the year that is said at a place or a few words on, and where it ends."""
    names, today = context.words.dates, context.today
    for place in range(start, min(start + MOST_BETWEEN + 1, len(tokens))):
        token, after = tokens[place], text_at(tokens, place + 1)
        if token.numeric and token.value is not None and 1900 <= token.value <= today.year:
            return int(token.value), place + 1
        counts = after in names.spans or after in context.words.units.codes  # "Ostern 14 Tage"
        if token.kind == "digits" and len(token.text) == 2 and place <= start + 1 and not counts:
            return full_year(int(token.text), context.asked, today), place + 1
        step = step_of(token.text, names)
        if step is not None and names.spans.get(after) == "a":
            return today.year + step, place + 2
        if token.text in names.this_year:
            return today.year, place + 1
        if not token.wordlike and token.text not in ("'", ","):
            return None, start
    return None, start


def _of_year(feast: Feast, year: int) -> str:
    day = date(year, feast.month, feast.day) if feast.month else easter(year) + timedelta(days=feast.day)
    return day.isoformat() if feast.single else written(day.year, day.month)


def _latest(feast: Feast, today: date) -> str:
    """Return the last such feast that has begun."""
    this = _of_year(feast, today.year)
    return this if this <= today.isoformat()[: len(this)] else _of_year(feast, today.year - 1)


def season_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return the year of a season: "im Herbst 22", "diesen Sommer"; a winter is in two years."""
    names, today, token = context.words.dates, context.today, tokens[start]
    if not token.wordlike or step_of(text_at(tokens, start - 1), names) is not None:
        return None  # the second is read with the word before it
    step = step_of(token.text, names)
    place = start if step is None else start + 1
    season = text_at(tokens, place)
    if season not in names.seasons and season not in names.winters:
        return None
    year, end = _year_at(tokens, place + 1, context)
    if season in names.winters:
        winter = Found(place, place + 1, None, False).failed("a winter, which lies in two years", "vague")
        return winter if year is None else None  # a year that is said is read by itself
    if year is None or step is not None:
        # The last such season: one that has begun, or for "last" one that is over.
        over = today.month > names.seasons[season]
        begun = today.month >= names.seasons[season] - 2
        year = today.year + step + over if step else today.year - (not begun)
        return Found(start, start + 1, written(year), literal=False)
    # A year that is said is read by itself, unless only its place shows that it is one: "Herbst 22".
    short = len(tokens[end - 1].text) == 2 and tokens[end - 1].kind == "digits"
    return Found(end - 1, end, written(year), literal=False) if short else None


def part_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return "Anfang des Jahres", "at the end of the month": what is over of it, or has begun."""
    names, today, word = context.words.dates, context.today, tokens[start].text
    if not tokens[start].wordlike:
        return None
    if word in names.year_parts:
        return Found(start, start + 1, written(_begun(names.year_parts[word], today)), literal=False)
    end = start + 1
    while end < min(start + 3, len(tokens)) and tokens[end].text in names.of | names.the:
        end += 1
    span = names.spans.get(text_at(tokens, end)) if end > start + 1 else None
    if word not in names.parts or span not in ("a", "mo"):
        return None
    month = names.part_months.get(word, 1)
    if span == "a":
        return Found(start, end + 1, written(_begun(month, today)), literal=False)
    # The first, the middle or the end of a month that has not got so far is that of the last.
    so_far = today.day >= {1: 1, 6: 11}.get(month, 21)
    return Found(start, end + 1, written(*months_away(0 if so_far else -1, today)), literal=False)


def _begun(month: int, today: date) -> int:
    """Return the last year in which a month has begun."""
    return today.year - (month > today.month)


def decade_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return that a decade is no date: "in den Neunzigern", "the 90s"."""
    names, token = context.words.dates, tokens[start]
    after = start + 1 + (text_at(tokens, start + 1) == "'")
    ended = after < len(tokens) and tokens[after].glued and tokens[after].text in names.decade_ends
    short = token.kind == "digits" and len(token.text) == 2 and token.text.endswith("0")
    if not (token.text in names.decades or (short and ended)):
        return None
    return Found(start, after + 1 if ended else start + 1, None, False).failed("a decade, not a year", "decade")
