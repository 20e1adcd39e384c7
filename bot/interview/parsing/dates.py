"""Dates, kept as partial as they were given. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from bot.interview.parsing.asked import Asked
from bot.interview.parsing.counted_times import counted_time
from bot.interview.parsing.date_forms import Calendar, date_at, drawing
from bot.interview.parsing.feasts import decade_at, feast_at, part_at, season_at
from bot.interview.parsing.found import Found, settle
from bot.interview.parsing.numerals import number_tokens
from bot.interview.parsing.partial_dates import full_year, written
from bot.interview.parsing.reading import NotUnderstood, Reading
from bot.interview.parsing.relative_dates import counted_at, relative_at
from bot.interview.parsing.tokens import Reply, Token
from bot.interview.parsing.vocabulary import Words


def read_date(reply: Reply, asked: Asked, words: Words, today: date) -> Reading:
    """Read dates."""
    spelled = Reply(reply.text, number_tokens(reply.tokens, words.numbers, years=True))
    counted = counted_time(spelled.tokens, words) if asked.now else None
    if counted and asked.now:
        day = counted.moment(asked.now).date().isoformat()
        found = [Found(counted.first, counted.end, day, literal=False)]
    else:
        found = dates_in(spelled, Calendar(asked, words, today))
    return settle(found, spelled, asked.type, asked, around_dates(words))


def around_dates(words: Words) -> Words:
    """Return the words with those added to the harmless ones that change nothing next to a date: "im Jahr 2015"."""
    return replace(words, around=replace(words.around, harmless=words.around.harmless | words.dates.year_pads))


def dates_in(reply: Reply, calendar: Calendar) -> list[Found]:
    """Return the dates in a reply whose number words are merged."""
    tokens = reply.tokens
    drawn = drawing(tokens, calendar.words)
    found: list[Found] = []
    place = 0
    while place < len(tokens):
        item = (
            counted_at(tokens, place, calendar)  # before years: "2000 days ago"
            or decade_at(tokens, place, calendar)
            or feast_at(tokens, place, calendar)
            or date_at(tokens, drawn, place, calendar)
            or part_at(tokens, place, calendar)
            or season_at(tokens, place, calendar)
            or relative_at(tokens, place, calendar)
        )
        if item:
            found.append(item)
        place = item.end if item else place + 1
    found = _month_of_year(_with_weekday(found, calendar), calendar)
    found = [_limited(item, found, tokens, calendar.words) for item in found]
    return found or _bare_year(tokens, calendar)


def _with_weekday(found: Sequence[Found], calendar: Calendar) -> list[Found]:
    """Return the dates with a weekday in front drawn in; a wrong one makes a date unsure, or unusable if inferred."""
    result: list[Found] = []
    for item in found:
        before = result[-1] if result else None
        if before and _is_weekday(before) and item.first - before.end <= 2 and _is_day(item):
            right = _weekday_of(item) == _weekday_of(before)
            problem = (
                None if right or item.literal else NotUnderstood("another weekday than the date's", "two-readings")
            )
            whole = replace(item, first=before.first, literal=item.literal and right)
            result[-1] = replace(whole, problem=item.problem or problem)
        else:
            result.append(item)
    return result


def _is_day(found: Found) -> bool:
    return isinstance(found.value, str) and len(found.value) == 10


def _is_weekday(found: Found) -> bool:
    return _is_day(found) and found.end == found.first + 1 and not found.literal


def _weekday_of(found: Found) -> int:
    return date.fromisoformat(str(found.value)).weekday()


def _month_of_year(found: Sequence[Found], calendar: Calendar) -> list[Found]:
    """Return "letztes Jahr im März" as one date."""
    if len(found) == 2:
        month, year = sorted(found, key=lambda item: -len(str(item.value)))
        inferred = not month.literal and month.end == month.first + 1
        if inferred and len(str(month.value)) == 7 and isinstance(year.value, str) and len(year.value) == 4:
            first, end = min(month.first, year.first), max(month.end, year.end)
            if end - first <= 6:
                return [Found(first, end, f"{year.value}-{str(month.value)[5:]}", False)]
    return list(found)


def _limited(item: Found, found: Sequence[Found], tokens: Sequence[Token], words: Words) -> Found:
    """Return a date as a problem when a word in front makes it a limit: "vor 2015", "until May"."""
    before = item.first - 1
    between_two = any(other.end == before for other in found)
    if before < 0 or between_two:
        return item
    ranged = tokens[before].text in words.around.to and any(token.numeric for token in tokens[:before])
    if tokens[before].text not in words.around.date_limits or ranged:
        return item
    return replace(item, problem=NotUnderstood("a time before or after a date, not the date", "limit"))


def _bare_year(tokens: Sequence[Token], calendar: Calendar) -> list[Found]:
    """Return two digits as a year where nothing else is said: "75", "Jahrgang 75"; "mit 45" is an age."""
    places = [place for place, token in enumerate(tokens) if token.kind in ("digits", "number")]
    others = [token for token in tokens if token.wordlike and token.text not in calendar.words.dates.year_pads]
    if len(places) != 1 or others or len(tokens[places[0]].text) != 2:
        return []
    short = int(tokens[places[0]].text)
    if short <= 31:
        return []
    year = full_year(short, 0, 0, calendar.asked, calendar.today)
    return [Found(places[0], places[0] + 1, written(year), False)]
