"""A date with or without a time of day, as FHIR's dateTime. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo

from bot.interview.answer import Answer
from bot.interview.parsing.asked import Asked
from bot.interview.parsing.counted_times import Counted, counted_time
from bot.interview.parsing.date_forms import Calendar
from bot.interview.parsing.dates import around_dates, dates_in
from bot.interview.parsing.found import Found, settle, weigh
from bot.interview.parsing.partial_dates import exists
from bot.interview.parsing.reading import NotUnderstood, Read, Reading
from bot.interview.parsing.times import clock_tokens, times_in
from bot.interview.parsing.tokens import Reply
from bot.interview.parsing.vocabulary import Words

_STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)"
)


def read_moment(reply: Reply, asked: Asked, words: Words, today: date) -> Reading:
    """Read a date, and the time of day with it if there is one."""
    stamp = _STAMP.fullmatch(reply.text)
    if stamp and exists(*map(int, stamp.groups()[:3])):
        return Read((Answer("dateTime", reply.text),), literal=True)
    spelled = clock_tokens(reply, words, years=True)
    counted = counted_time(spelled.tokens, words)
    if counted:
        return _counted(counted, spelled, asked, words)
    dates = dates_in(spelled, Calendar(asked, words, today))
    times, rest = times_in(spelled, words, alone=False, taken=dates)
    words = around_dates(words)
    if not times:
        return settle(dates, spelled, "dateTime", asked, words)
    if not dates:
        return NotUnderstood("a time of day without its date", "incomplete")
    if len(dates) != 1 or len(times) != 1:
        return NotUnderstood("more than one date or time", "several")
    return _together(dates[0], times[0], rest, asked, words)


def _counted(counted: Counted, reply: Reply, asked: Asked, words: Words) -> Reading:
    """Return "vor drei Stunden" as a moment; without a time zone, only its day is known."""
    if asked.now is None:
        return NotUnderstood("a time counted from a present that is not known", "incomplete")
    moment = counted.moment(asked.now)
    day = moment.date().isoformat()
    value = stamped(day, moment.strftime("%H:%M:00"), asked.zone) if asked.zone else day
    found = Found(counted.first, counted.end, value, literal=False)
    return settle([found], reply, "dateTime", asked, words)


def _together(day: Found, time: Found, reply: Reply, asked: Asked, words: Words) -> Reading:
    """Return one dateTime, from a reply in which words for parts of the day are muted."""
    problem = day.problem or time.problem
    if problem:
        return problem
    whole = isinstance(day.value, str) and len(day.value) == 10
    if asked.zone is None or not whole:
        # FHIR wants an offset with every time, and a whole day: what cannot be said is left to staff as a comment.
        kept = settle([day], reply, "dateTime", asked, words)
        return replace(kept, literal=False) if isinstance(kept, Read) else kept
    around = weigh(reply, _ordered(day, time), words)
    if around.problem:
        return around.problem
    value = stamped(str(day.value), str(time.value), asked.zone)
    if value is None:
        return NotUnderstood("a time that cannot be placed in the time zone", "impossible")
    literal = day.literal and time.literal and around.literal
    return Read((Answer("dateTime", value),), literal, around.remainder)


def _ordered(*found: Found) -> Sequence[Found]:
    return sorted(found, key=lambda item: item.first)


def stamped(day: str, time: str, zone: tzinfo) -> str | None:
    """Return day and time with the zone's offset to the minute, or None if it has none then."""
    moment = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=zone)
    offset = moment.utcoffset()
    if offset is None:
        return None
    minutes = round(offset.total_seconds() / 60)
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{day}T{time}{sign}{minutes // 60:02d}:{minutes % 60:02d}"
