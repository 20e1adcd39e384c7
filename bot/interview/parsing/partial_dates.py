"""Dates as FHIR writes them, whole or partial, and the century of two digits. Pure."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from bot.interview.parsing.asked import Asked, within

EARLIEST, LATEST = 1850, 2150  # years that patients speak of; anything else is a typing error


def written(year: int, month: int = 0, day: int = 0) -> str:
    """Return a date, as far as it is known."""
    return f"{year:04d}" + (f"-{month:02d}" if month else "") + (f"-{day:02d}" if day else "")


def exists(year: int, month: int = 0, day: int = 0) -> bool:
    """Tell whether there is such a day; 0 stands for what is not known."""
    if not EARLIEST <= year <= LATEST or not 0 <= month <= 12 or day < 0:
        return False
    return day == 0 or (month > 0 and day <= monthrange(year, month)[1])


def full_year(two_digits: int, month: int, day: int, asked: Asked, today: date) -> int:
    """Return the year that two digits mean: the latest that is not in the future, unless the hints say otherwise."""
    century = today.year - today.year % 100
    past = [year for year in (century + two_digits, century - 100 + two_digits) if _begun(year, month, day, today)]
    candidates = past + [year for year in (century + two_digits,) if year not in past]
    hinted = [year for year in candidates if within(written(year, month, day), asked)]
    return (hinted or candidates)[0]


def _begun(year: int, month: int, day: int, today: date) -> bool:
    return (year, month or 1, day or 1) <= (today.year, today.month, today.day)


def latest(month: int, day: int, today: date) -> str:
    """Return the last such day or, without a day, month that has begun; 29 February may be years ago."""
    for year in range(today.year, today.year - 9, -1):
        if exists(year, month, day) and _begun(year, month, day, today):
            return written(year, month, day)
    return written(today.year, month, day)


def months_away(months: int, today: date) -> tuple[int, int]:
    """Return year and month that lie a number of months from today; negative is the past."""
    count = today.year * 12 + today.month - 1 + months
    return count // 12, count % 12 + 1


def days_away(days: int, today: date) -> date | None:
    """Return the day that lies a number of days from today, if the calendar goes that far."""
    if abs(days) > 150 * 366:
        return None
    return today + timedelta(days=days)


def week_of(day: date) -> str:
    """Return the month a whole week lies in, else its year; FHIR has no weeks."""
    monday = day - timedelta(days=day.weekday())
    sunday = monday + timedelta(days=6)
    same_month = (monday.year, monday.month) == (sunday.year, sunday.month)
    return written(monday.year, monday.month) if same_month else written(day.year)
