"""Dates written out: 12.3.1970, March 2019, 2019. Pure.

Tokens are drawn as one character each, and the forms of a date are patterns over that drawing: bounded and quick.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from bot.interview.reading.found import Found
from bot.interview.reading.reading import Asked, NotUnderstood, Why, within
from bot.interview.reading.tokens import Token, corrected, cut
from bot.interview.reading.vocabulary import Words

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


# 9 digits, n a number in words, o an ordinal, M a month, f "of", u an hour word, w any other word; marks are
# themselves.
_FORMS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("ymd", r"(?P<y>9)([./-])(?P<m>9)\2(?P<d>9)"),
        ("dmy", r"(?P<d>9)([./-])(?P<m>9)\2'?(?P<y>9)(?![:u])"),
        ("dmy", r"(?P<d>9)\.(?P<m>9)\.?'?(?P<y>9)(?![:u])"),
        ("spaced", r"(?P<d>9)(?P<m>9)(?P<y>9)(?![:u])"),
        ("dmy", r"(?P<d>[9o])\.?f?(?P<m>o)\.?f?'?(?P<y>[9n])(?![:u])"),
        ("named", r"(?P<d>[9on])[.,-]?f?(?P<m>M)[.,-]?,?f?(?P<c>'?)(?P<y>[9n])(?![:u])"),
        ("named", r"(?P<m>M)\.?f?(?P<d>[9o]),?(?P<c>'?)(?P<y>[9n])(?![:u])"),
        ("named", r"(?P<y>9)-?(?P<m>M)\.?-?(?P<d>[9o])"),
        ("my", r"(?P<m>M)\.?[-/]?,?f?(?P<c>'?)(?P<y>[9n])(?![:u])"),
        ("named", r"(?P<d>[9on])\.?f?(?P<m>M)"),
        ("named", r"(?P<m>M)\.?f?(?P<d>o)"),
        ("ym", r"(?P<y>9)[-/](?P<m>9)"),
        ("my", r"(?P<m>9)[./-](?P<y>9)(?![:u])"),
        ("year", r"(?P<c>'?)(?P<y>[9n])(?![:u])"),
    )
)
_MAX_FORM = 10  # tokens


@dataclass(frozen=True, slots=True)
class Calendar:
    """What reading a date depends on."""

    asked: Asked
    words: Words
    today: date

    @property
    def counts_back(self) -> bool:
        """Tell whether the question asks since when, so that a length of time says it: "drei Wochen"."""
        asked = {token.text for token in cut(self.asked.prompt, self.words.fold).tokens}
        return bool(asked & self.words.dates.since)

    @property
    def month_first(self) -> bool:
        """Tell whether 3/4/1975 is 4 March: by the entry format, else by the language."""
        shown = self.asked.entry_format.strip().lower()
        return shown.startswith("m") or (self.words.dates.month_first and not shown.startswith(("d", "t")))


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a date as written."""

    first: int
    end: int
    year: Token | None
    month: Token | None
    day: Token | None
    apostrophe: bool
    form: str
    mark: str


def drawing(tokens: Sequence[Token], words: Words) -> str:
    """Return one character for each token."""
    return "".join(_character(tokens, place, words) for place in range(len(tokens)))


def _character(tokens: Sequence[Token], place: int, words: Words) -> str:
    token = tokens[place]
    if token.kind in ("digits", "number", "ordinal"):
        return {"digits": "9", "number": "n", "ordinal": "o"}[token.kind]
    if token.kind == "mark":
        return token.text[0]
    if token.text in words.dates.of or token.text in words.times.hour:
        return "f" if token.text in words.dates.of else "u"
    if token.text in words.dates.months:
        return "M"
    numbers_beside = any(
        0 <= other < len(tokens) and tokens[other].value is not None
        for other in (place - 2, place - 1, place + 1, place + 2)
    )
    # A slip of a month is believed only next to a number.
    return "M" if numbers_beside and corrected(token.text, words.dates.correctable) else "w"


def date_at(tokens: Sequence[Token], drawn: str, start: int, calendar: Calendar) -> Found | None:
    """Return the date that begins at `start`, if one does."""
    for form, pattern in _FORMS:
        match = pattern.match(drawn, start, start + _MAX_FORM)
        if match:
            found = None if _fraction(tokens, match) else _read(_parts(tokens, match, form), calendar)
            if found:
                return _decade(found) if _goes_on(tokens, found.end, calendar.words) else found
    return None


def _fraction(tokens: Sequence[Token], match: re.Match[str]) -> bool:
    """Tell whether "1/2" is a fraction: "vor 1 1/2 Wochen"."""
    drawn = match.group()
    follows = match.start() > 0 and tokens[match.start() - 1].numeric
    return drawn == "9/9" and all(len(token.text) < 3 for token in tokens[match.start() : match.end()]) and follows


def _goes_on(tokens: Sequence[Token], end: int, words: Words) -> bool:
    """Tell whether a year is a decade: "1990er", "the 1990s", "'90s"."""
    after = end + 1 if end < len(tokens) and tokens[end].text == "'" and tokens[end].glued else end
    return after < len(tokens) and tokens[after].glued and tokens[after].text in words.dates.decade_ends


def _decade(found: Found) -> Found:
    return Found(found.first, found.end, None, False, NotUnderstood("a decade, not a year", "decade"))


def _parts(tokens: Sequence[Token], match: re.Match[str], form: str) -> _Parts:
    groups = match.groupdict()

    def token(name: str) -> Token | None:
        return tokens[match.start(name)] if name in groups else None

    marks = [tokens[place].text for place in range(match.start(), match.end()) if tokens[place].kind == "mark"]
    apostrophe = bool(groups.get("c"))
    return _Parts(
        match.start(), match.end(), token("y"), token("m"), token("d"), apostrophe, form, marks[0] if marks else ""
    )


def _read(parts: _Parts, calendar: Calendar) -> Found | None:
    if parts.form == "year":
        return _year(parts, calendar)
    if parts.form in ("ymd", "ym") and not (_long(parts.year) and _short(parts.month)):
        return None
    if parts.form in ("dmy", "spaced", "my") and parts.month and parts.month.kind == "digits":
        return _numeric(parts, calendar)
    return _plain(parts, calendar)


def _long(token: Token | None) -> bool:
    """Tell whether a token is a year in full."""
    return token is not None and token.value is not None and len(token.text) == 4 and token.value >= 1000


def _short(token: Token | None) -> bool:
    """Tell whether a token can be a day or month."""
    return token is not None and len(token.text) <= 2


def _numeric(parts: _Parts, calendar: Calendar) -> Found | None:
    """Read a date whose month is a number: day or month first, with or without a year."""
    if not _short(parts.month) or (parts.form == "my" and not _long(parts.year)):
        return _without_year(parts, calendar) if parts.form == "my" and _short(parts.year) else None
    if parts.form == "spaced" and not (_short(parts.day) and _long(parts.year)):
        return None
    if parts.form == "my" or parts.day is None or not _short(parts.day):
        return _plain(parts, calendar) if parts.form == "my" else None
    if _number(parts.month) > 12 and parts.year is not None and not parts.year.glued:
        return None  # a time of day before the date: "14.30 3.3.2024"
    if parts.mark != "/" and parts.form == "dmy" and not calendar.asked.entry_format:
        return _plain(parts, calendar)
    return _day_or_month_first(parts, calendar)


def _day_or_month_first(parts: _Parts, calendar: Calendar) -> Found | None:
    swapped = _Parts(
        **{name: getattr(parts, name) for name in _Parts.__slots__} | {"day": parts.month, "month": parts.day}
    )
    usual, other = (swapped, parts) if calendar.month_first else (parts, swapped)
    first, second = _plain(usual, calendar), _plain(other, calendar)
    if first is None or first.problem:
        # Only the other order makes a date: a foreign habit, to be read back. German has no such habit.
        both = calendar.words.times.twelve_hours and second is not None and not second.problem
        return _unsure(second) if both and second else first
    alike = second is None or second.problem or second.value == first.value
    settled = bool(calendar.asked.entry_format) or not calendar.words.times.twelve_hours
    return first if alike or settled else _unsure(first)


def _unsure(found: Found) -> Found:
    return Found(found.first, found.end, found.value, False, found.problem)


def _without_year(parts: _Parts, calendar: Calendar) -> Found | None:
    """Read "3.3.": the last such day, to be read back. What looks like "3.3" is taken so only when days are asked."""
    day, month = _number(parts.month), _number(parts.year)
    if calendar.month_first and parts.mark == "/":
        day, month = month, day
    if not 1 <= month <= 12 or not 1 <= day <= 31 or parts.mark == "-":
        return None
    return _latest(parts, month, day, calendar)


def _latest(parts: _Parts, month: int, day: int, calendar: Calendar) -> Found:
    if day and not exists(2024, month, day):
        return _problem(parts, f"there is no day {day} in month {month}")
    return Found(parts.first, parts.end, latest(month, day, calendar.today), False)


def _number(token: Token | None) -> int:
    return int(token.value) if token is not None and token.value is not None else 0


def _month(token: Token, words: Words) -> tuple[int, bool]:
    """Return the month's number, and whether its name is written without a slip."""
    if token.value is not None:
        return int(token.value), True
    if token.text in words.dates.months:
        return words.dates.months[token.text], True
    return words.dates.months[corrected(token.text, words.dates.correctable)], False


def _plain(parts: _Parts, calendar: Calendar) -> Found | None:
    """Read a date whose parts are known."""
    if parts.month is None:
        return None
    month, spelled = _month(parts.month, calendar.words)
    day = _number(parts.day)
    if parts.day is not None and (day < 1 or not _short(parts.day)):
        return None if day else _problem(parts, "there is no day 0")
    if parts.year is None:
        return _latest(parts, month, day, calendar)
    if _long(parts.year):
        return _dated(parts, (_number(parts.year), month, day), spelled, calendar)
    return _two_digit_year(parts, month, day, spelled, calendar)


def _two_digit_year(parts: _Parts, month: int, day: int, spelled: bool, calendar: Calendar) -> Found | None:
    if parts.year is None or len(parts.year.text) > 2:
        return None
    short = _number(parts.year)
    if not day and not parts.apostrophe and len(parts.year.text) == 1:
        return _latest(parts, month, short, calendar)
    if not day and not parts.apostrophe and short <= 31:
        return _problem(parts, "a day or a year: the number after the month can be both", "two-readings")
    if not exists(2024, month, day):
        return _problem(parts, f"there is no day {day} in month {month}")
    year = full_year(short, month, day, calendar.asked, calendar.today)
    return _unsure(_dated(parts, (year, month, day), spelled, calendar))


def _dated(parts: _Parts, ymd: tuple[int, int, int], spelled: bool, calendar: Calendar) -> Found:
    year, month, day = ymd
    if parts.form == "ym" and parts.mark == "/" and month == (year + 1) % 100 and not exists(year, month):
        return _problem(parts, "two years", "range")  # "2018/19"
    if not exists(year, month, day) or not month:
        return _problem(parts, f"there is no date {written(year, month, day)}")
    value = written(year, month, day)
    usual = 1900 <= year <= calendar.today.year + 2 and within(value, calendar.asked)
    # "2010-11" may also be the winter of 2010 and 2011.
    winter = parts.form == "ym" and month == (year + 1) % 100
    return Found(parts.first, parts.end, value, spelled and usual and not winter)


def _problem(parts: _Parts, reason: str, why: Why = "impossible") -> Found:
    return Found(parts.first, parts.end, None, False, NotUnderstood(reason, why))


def _year(parts: _Parts, calendar: Calendar) -> Found | None:
    """Read a year alone, or eight digits that are a date."""
    token = parts.year
    if token is None or token.value is None:
        return None
    if parts.apostrophe and len(token.text) == 2 and token.kind == "digits":
        year = full_year(_number(token), 0, 0, calendar.asked, calendar.today)
        return Found(parts.first, parts.end, written(year), False)
    if token.kind == "digits" and len(token.text) == 8:
        return _eight_digits(parts, token.text, calendar)
    if not _long(token) or parts.apostrophe:
        return None
    year = _number(token)
    if not exists(year):
        return _problem(parts, f"an unlikely year: {year}")
    usual = 1900 <= year <= calendar.today.year + 2 and within(written(year), calendar.asked)
    return Found(parts.first, parts.end, written(year), usual)


def _eight_digits(parts: _Parts, digits: str, calendar: Calendar) -> Found:
    """Read 03031975 or 19750303, whichever is a date; never literal."""
    day_first = int(digits[4:]), int(digits[2:4]), int(digits[:2])
    year_first = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    readings = {ymd for ymd in (day_first, year_first) if all(ymd) and exists(*ymd)}
    if len(readings) != 1:
        return _problem(parts, "eight digits that are no single date", "notation")
    return Found(parts.first, parts.end, written(*readings.pop()), False)
