"""Dates and times counted from now: last week, two years ago, in three hours. Never literal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from bot.interview.reading.date_forms import days_away, latest, months_away, week_of, written
from bot.interview.reading.found import Found
from bot.interview.reading.numbers import HALF, and_a_half
from bot.interview.reading.reading import Context
from bot.interview.reading.tokens import Token, text_at
from bot.interview.reading.units import unit_at
from bot.interview.reading.vocabulary import DateWords, Words

MAX_YEARS = 150
MOST_APART = 2  # "zwei bis fünf Wochen" is a range, no rough number
MOST_HOURS = 240
_DAYS_PER_MONTH = Decimal("30.44")
_MINUTES = {"h": 60, "min": 1}


def step_of(word: str, names: DateWords, *, ahead: bool = False) -> int | None:
    """Return -1 for "last", -2 for the one before, 0 for "this" and, with `ahead`, 1 for "next"."""
    listed = ((-1, names.last), (-2, names.before_last), (0, names.this), (1, names.next if ahead else frozenset()))
    return next((step for step, each in listed if word in each), None)


def relative_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return the date named by its place before or after today that begins at `start`: "gestern", "last March"."""
    names, token, today = context.words.dates, tokens[start], context.today
    if not token.wordlike and token.value is None:
        return None
    neighbour = _neighbour(tokens, start, context)
    if neighbour:
        return Found(start, *neighbour, literal=False)
    value = ""
    if token.text in names.days and not means_part_of_day(tokens, start, context.words):
        value = (today + timedelta(days=names.days[token.text])).isoformat()
    elif token.text in names.weekdays:
        value = _on_weekday(names.weekdays[token.text], today, ahead=False)
    elif token.text in names.months:
        # A month without a year, where the word is surely a month: "in May", not "it may be".
        opened = text_at(tokens, start - 1) in names.ahead | names.ago_before | names.parts
        if opened or sum(each.wordlike for each in tokens) == 1:
            value = latest(names.months[token.text], 0, today)
    if not value and token.text in names.this_year:
        value = written(today.year)
    return Found(start, start + 1, value, literal=False) if value else None


def _neighbour(tokens: Sequence[Token], start: int, context: Context) -> tuple[int, str] | None:
    """Return where "letzten Montag", "this year", "vorletzte Woche", "nächsten Monat" or "last March" ends, and it."""
    names, today = context.words.dates, context.today
    step, after = step_of(text_at(tokens, start), names, ahead=True), text_at(tokens, start + 1)
    if step is None:
        return None
    span, weekday = names.spans.get(after), names.weekdays.get(text_at(tokens, start + 2))
    if span == "wk" and weekday is not None:
        monday = today + timedelta(weeks=step, days=-today.weekday())
        return start + 3, (monday + timedelta(days=weekday)).isoformat()
    if span is not None:
        by_span = {
            "d": (today + timedelta(days=step)).isoformat(),
            "wk": week_of(today + timedelta(weeks=step)),
            "mo": written(*months_away(step, today)),
        }
        return start + 2, by_span.get(span, written(today.year + step))
    if after in names.weekdays:
        return start + 2, _on_weekday(names.weekdays[after], today, ahead=step > 0)
    if after in names.months and step <= 0:
        return start + 2, latest(names.months[after], 0, today)
    if after in names.seasons and step == -1:
        # The season itself is left to the remainder: FHIR has only its year.
        return start + 1, written(today.year - (0 if today.month > names.seasons[after] else 1))
    return None


def _on_weekday(weekday: int, today: date, *, ahead: bool) -> str:
    """Return the last such day before today, or the next one after it."""
    days = (weekday - today.weekday() - 1) % 7 + 1 if ahead else -((today.weekday() - weekday - 1) % 7 + 1)
    return (today + timedelta(days=days)).isoformat()


def means_part_of_day(tokens: Sequence[Token], place: int, words: Words) -> bool:
    """Tell whether a word says when during a day: "heute Morgen" and "am Morgen" are not tomorrow."""
    word, before = text_at(tokens, place), text_at(tokens, place - 1)
    if word not in words.times.parts_of_day:
        return False
    return word not in words.dates.days or before in words.dates.this or before in words.dates.days


def counted_at(tokens: Sequence[Token], start: int, context: Context) -> Found | None:
    """Return a date so many days, weeks, months or years away: "vor etwa drei Wochen", "half a year ago"."""
    words, names = context.words, context.words.dates
    opener = text_at(tokens, start)
    back, ahead = opener in names.ago_before, opener in names.ahead
    place = start
    if back or ahead:
        place += 1
        while place < min(start + 4, len(tokens)) and (
            tokens[place].text == "." or (tokens[place].text,) in words.around.approximate
        ):
            place += 1
    span = _span(tokens, place, words)
    if span is None:
        return None
    end, count, unit = span
    said = tokens[place:end]
    # Two numbers, or no exact one: "zwei, drei Wochen", "a couple of weeks".
    one = sum(token.kind in ("digits", "number") for token in said) == 1
    ranged = not one and not (len(said) == 2 and any(token.kind == "article" for token in said))
    end, half = and_a_half(tokens, end, words.numbers)
    if text_at(tokens, end) in names.ago_after:
        back, ahead, end = True, False, end + 1
    if not (back or ahead):
        if not context.asks_since_when:
            return None
        back = True  # "drei Wochen", where the question is since when
    value = _away(
        -count - half if back else count + half, unit, context.today, rough=back and (place > start + 1 or ranged)
    )
    return Found(start, end, value, literal=False) if value else None


def _number(tokens: Sequence[Token], start: int, words: Words, *, ranges: bool) -> tuple[int, Decimal | None, bool]:
    """Return where "3", "einer halben" or, with `ranges`, "zwei bis drei" ends, its number and whether it is halved."""
    place, number, halved = start, None, False
    while place < min(start + 3, len(tokens)):
        token = tokens[place]
        if token.kind in ("digits", "number", "article") and number is None:
            number = token.value
            if ranges and token.kind != "article":
                place = _second_number(tokens, place + 1, words) - 1
        elif token.text in words.dates.half and not halved:
            halved = True
        else:
            break
        place += 1
    return place, number, halved


def _second_number(tokens: Sequence[Token], place: int, words: Words) -> int:
    """Return where the second of two numbers for one span ends: "zwei bis drei", "2-3", "two or three"."""
    joints = words.around.to | words.around.either | {",", "/"}
    after = place + (text_at(tokens, place) in joints)
    first, second = tokens[place - 1].value, tokens[after].value if after < len(tokens) else None
    if first is None or second is None or not tokens[after].numeric:
        return place
    return after + 1 if first < second <= first * MOST_APART + 1 else place


def _span(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, Decimal, str] | None:
    """Return where "3 Wochen", "einem halben Jahr" or "a year and a half" ends, its number and its unit.

    Of two numbers, as in "two or three weeks", the nearer one counts.
    """
    names = words.dates
    couple = names.couple.length_at([token.text for token in tokens[start : start + 3]], 0)
    place, number, halved = start + couple, Decimal(2) if couple else None, False
    if not couple:
        place, number, halved = _number(tokens, start, words, ranges=True)
    if place == start or place >= len(tokens) or (number is not None and number > 10_000):
        return None
    if tokens[place].text in names.half_year:
        return place + 1, (number or Decimal(1)) * 6, "mo"
    unit = names.spans.get(tokens[place].text)
    return (place + 1, HALF if halved else number or Decimal(0), unit) if unit else None


def _away(count: Decimal, unit: str, today: date, *, rough: bool) -> str:
    """Return the date that lies `count` units away, as exact as the unit; empty when the calendar ends before."""
    if unit in ("d", "wk"):
        days = count * (7 if unit == "wk" else 1)
        day = days_away(int(days), today)
        exact = days == days.to_integral_value() and not rough
        return "" if day is None else day.isoformat() if exact else written(day.year, day.month)
    months = count * (12 if unit == "a" else 1)
    if abs(months) > MAX_YEARS * 12:
        return ""
    if unit == "a" and count == count.to_integral_value():
        return written(today.year + int(count))
    if months != months.to_integral_value():
        day = days_away(int(months * _DAYS_PER_MONTH), today)
        return written(day.year, day.month) if day else ""
    return written(*months_away(int(months), today))


@dataclass(frozen=True, slots=True)
class Counted:
    """So many minutes from now (negative: ago), said by the tokens from `first` up to `end`."""

    first: int
    end: int
    minutes: int

    def moment(self, now: datetime) -> datetime:
        """Return the moment, to the minute."""
        return (now + timedelta(minutes=self.minutes)).replace(second=0, microsecond=0)


def counted_time(tokens: Sequence[Token], words: Words) -> Counted | None:
    """Return the first time in a reply that is counted in hours or minutes from the present."""
    names = words.dates
    for start, token in enumerate(tokens):
        opened = token.text in names.ago_before | names.ahead
        place = start + opened
        while place < len(tokens) and (tokens[place].text,) in words.around.approximate:
            place += 1
        end, minutes = _minutes_at(tokens, place, words)
        closed = text_at(tokens, end) in names.ago_after
        if minutes is not None and (opened or closed):
            ahead = token.text in names.ahead and not closed
            return Counted(start, end + closed, minutes if ahead else -minutes)
    return None


def _minutes_at(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, int | None]:
    """Return where "einer halben Stunde", "2 hours" or "anderthalb Stunden" ends, and its minutes."""
    place, number, halved = _number(tokens, start, words, ranges=False)
    end, codes = unit_at(tokens, place, words)
    unit = next((_MINUTES[code] for code in codes if code in _MINUTES), None)
    if place == start or unit is None:
        return start, None
    end, half = and_a_half(tokens, end, words.numbers)
    minutes = ((HALF if halved else number or Decimal(1)) + half) * unit
    return (end, int(minutes)) if minutes <= MOST_HOURS * 60 else (start, None)
