"""Dates said from today: last week, two years ago. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from bot.interview.reading.date_forms import Calendar, days_away, latest, months_away, week_of, written
from bot.interview.reading.found import Found
from bot.interview.reading.tokens import Token
from bot.interview.reading.units import unit_at
from bot.interview.reading.vocabulary import Words

MAX_YEARS = 150
MOST_APART = 2  # "zwei bis fünf Wochen" is a range, no rough number
_DAYS_PER_MONTH = Decimal("30.44")


def relative_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return the date that begins at `start` and is counted from today, if one does."""
    token = tokens[start]
    names = calendar.words.dates
    readers = (_neighbour, _named_day, _weekday, _month)
    if not token.wordlike and token.value is None:
        return None
    for reader in readers:
        result = reader(tokens, start, calendar)
        if result:
            end, value = result
            return Found(start, end, value, False)
    if token.text in names.this_year:
        return Found(start, start + 1, written(calendar.today.year), False)
    return None


def counted_at(tokens: Sequence[Token], start: int, calendar: Calendar) -> Found | None:
    """Return a date that is so many days, weeks, months or years away, if its words begin at `start`."""
    counted = _counted(tokens, start, calendar)
    return Found(start, counted[0], counted[1], False) if counted else None


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""


def _counted(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int, str] | None:
    """Read "vor etwa drei Wochen", "half a year ago", "in 10 Tagen"."""
    names = calendar.words.dates
    opener = _text(tokens, start)
    back, ahead = opener in names.ago_before, opener in names.ahead
    place = _skip_approximate(tokens, start + 1, calendar.words) if back or ahead else start
    span = _span(tokens, place, calendar.words)
    if span is None:
        return None
    end, count, unit = span
    ranged = _is_range(tokens, place, end)
    more = _half_more(tokens, end, calendar.words)
    end, count = end + more, count + (Decimal("0.5") if more else 0)
    if _text(tokens, end) in names.ago_after:
        back, ahead, end = True, False, end + 1
    if not (back or ahead):
        if not calendar.counts_back:
            return None
        back = True  # "drei Wochen", where the question is since when
    rough = back and (place > start + 1 or ranged)
    value = _away(-count if back else count, unit, calendar.today, rough=rough)
    return (end, value) if value else None


def _is_range(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Tell whether a span is said with two numbers, or with no exact one: "zwei, drei Wochen", "a couple of weeks"."""
    said = tokens[start:end]
    return sum(token.kind in ("digits", "number") for token in said) != 1 and not any(
        token.kind == "article" and len(said) == 2 for token in said
    )


def _second_number(tokens: Sequence[Token], place: int, words: Words) -> int:
    """Return where the second of two numbers for one span ends: "zwei bis drei", "2-3", "two or three"."""
    joints = words.around.to | words.around.either | {",", "/"}
    after = place + 1 if place < len(tokens) and tokens[place].text in joints else place
    first, second = tokens[place - 1], tokens[after] if after < len(tokens) else None
    rising = (
        second is not None
        and first.value is not None
        and second.kind in ("digits", "number")
        and second.value is not None
        and first.value < second.value <= first.value * MOST_APART + 1
    )
    return after + 1 if rising else place


def _skip_approximate(tokens: Sequence[Token], place: int, words: Words) -> int:
    skipped = place
    while skipped < min(place + 3, len(tokens)) and (
        tokens[skipped].text == "." or (tokens[skipped].text,) in words.around.approximate
    ):
        skipped += 1
    return skipped


def _span(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, Decimal, str] | None:
    """Return where "3 Wochen", "einem halben Jahr" or "a year and a half" ends, its number and its unit.

    Of two numbers, as in "two or three weeks", the nearer one counts.
    """
    names, place, number = words.dates, start, None
    halved = False
    couple = names.couple.length_at([token.text for token in tokens[start : start + 3]], 0)
    if couple:
        place, number = start + couple, Decimal(2)
    while place < min(start + 3, len(tokens)) and not couple:
        token = tokens[place]
        if token.kind in ("digits", "number", "article") and number is None:
            number = token.value
            if token.kind != "article":
                place = _second_number(tokens, place + 1, words) - 1
        elif token.text in names.half and not halved:
            halved = True
        else:
            break
        place += 1
    if place == start or place >= len(tokens) or (number is not None and number > 10_000):
        return None
    count = Decimal("0.5") if halved else number or Decimal(0)
    if tokens[place].text in names.half_year:
        return place + 1, (number or Decimal(1)) * 6, "mo"
    unit = names.spans.get(tokens[place].text)
    return (place + 1, count, unit) if unit else None


def _half_more(tokens: Sequence[Token], end: int, words: Words) -> int:
    """Return how many words after a span add a half: "a year and a half"."""
    following = [token.text for token in tokens[end : end + 3]]
    return words.numbers.and_a_half.length_at(following, 0)


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


def _neighbour(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int, str] | None:
    """Read "letzten Montag", "this year", "vorletzte Woche", "nächsten Monat", "last March"."""
    names, word = calendar.words.dates, _text(tokens, start)
    steps = [
        step
        for step, listed in ((-1, names.last), (-2, names.before_last), (0, names.this), (1, names.next))
        if word in listed
    ]
    if not steps or start + 1 >= len(tokens):
        return None
    step, after = steps[0], tokens[start + 1].text
    of_week = names.weekdays.get(_text(tokens, start + 2)) if names.spans.get(after) == "wk" else None
    if of_week is not None:
        monday = calendar.today + timedelta(weeks=step, days=-calendar.today.weekday())
        return start + 3, (monday + timedelta(days=of_week)).isoformat()
    if after in names.spans:
        return start + 2, _neighbour_span(step, names.spans[after], calendar.today)
    if after in names.weekdays:
        return start + 2, _on_weekday(names.weekdays[after], calendar.today, ahead=step > 0).isoformat()
    if after in names.months and step <= 0:
        return start + 2, latest(names.months[after], 0, calendar.today)
    if after in names.seasons and step == -1:
        # The season itself is left to the remainder: FHIR has only its year.
        over = calendar.today.month > names.seasons[after]
        return start + 1, written(calendar.today.year - (0 if over else 1))
    return None


def _neighbour_span(step: int, unit: str, today: date) -> str:
    if unit == "d":
        return (today + timedelta(days=step)).isoformat()
    if unit == "wk":
        return week_of(today + timedelta(weeks=step))
    return written(*months_away(step, today)) if unit == "mo" else written(today.year + step)


def _on_weekday(weekday: int, today: date, *, ahead: bool) -> date:
    """Return the last such day before today, or the next one after it."""
    if ahead:
        return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


def _named_day(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int, str] | None:
    names, word = calendar.words.dates, _text(tokens, start)
    if word not in names.days or means_part_of_day(tokens, start, calendar.words):
        return None
    return start + 1, (calendar.today + timedelta(days=names.days[word])).isoformat()


def means_part_of_day(tokens: Sequence[Token], place: int, words: Words) -> bool:
    """Tell whether a word says when during a day: "heute Morgen" and "am Morgen" are not tomorrow."""
    word, before = _text(tokens, place), _text(tokens, place - 1)
    if word not in words.times.parts_of_day:
        return False
    return word not in words.dates.days or before in words.dates.this or before in words.dates.days


def _weekday(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int, str] | None:
    names, word = calendar.words.dates, _text(tokens, start)
    if word not in names.weekdays:
        return None
    return start + 1, _on_weekday(names.weekdays[word], calendar.today, ahead=False).isoformat()


def _month(tokens: Sequence[Token], start: int, calendar: Calendar) -> tuple[int, str] | None:
    """Read a month without a year, where the word is surely a month: "in May", not "it may be"."""
    names, word = calendar.words.dates, _text(tokens, start)
    alone = sum(token.wordlike for token in tokens) == 1
    opened = _text(tokens, start - 1) in names.ahead | names.ago_before | names.parts
    if word not in names.months or not (alone or opened):
        return None
    return start + 1, latest(names.months[word], 0, calendar.today)


MOST_HOURS = 240
_MINUTES = {"h": 60, "min": 1}


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
    """Return the only time in a reply that is counted in hours or minutes from the present."""
    names = words.dates
    for start, token in enumerate(tokens):
        opened = token.text in names.ago_before | names.ahead
        place = start + opened
        while place < len(tokens) and (tokens[place].text,) in words.around.approximate:
            place += 1
        end, minutes = _span_of(tokens, place, words)
        if minutes is None:
            continue
        closed = end < len(tokens) and tokens[end].text in names.ago_after
        if opened or closed:
            ahead = token.text in names.ahead and not closed
            return Counted(start, end + closed, minutes if ahead else -minutes)
    return None


def _span_of(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, int | None]:
    """Return where "einer halben Stunde", "2 hours" or "anderthalb Stunden" ends, and its minutes."""
    place, number, halved = start, None, False
    while place < min(start + 3, len(tokens)):
        token = tokens[place]
        if token.kind in ("digits", "number", "article") and number is None:
            number = token.value
        elif token.text in words.dates.half and not halved:
            halved = True
        else:
            break
        place += 1
    end, codes = unit_at(tokens, place, words, ()) if place < len(tokens) else (place, ())
    unit = next((_MINUTES[code] for code in codes if code in _MINUTES), None)
    if place == start or unit is None:
        return start, None
    following = [token.text for token in tokens[end : end + 3]]
    more = words.numbers.and_a_half.length_at(following, 0)
    count = (Decimal("0.5") if halved else number or Decimal(1)) + (Decimal("0.5") if more else 0)
    minutes = count * unit
    if abs(minutes) > MOST_HOURS * 60:
        return start, None
    return end + more, int(minutes)
