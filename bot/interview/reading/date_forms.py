"""Dates written out: 12.3.1970, March 2019, 2019. Pure.

Tokens are drawn as one character each, and the forms of a date are patterns over that drawing: bounded and quick.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from bot.interview.reading.found import Found
from bot.interview.reading.reading import Asked, Context, Why, within
from bot.interview.reading.tokens import Token, corrected
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


def full_year(two_digits: int, asked: Asked, today: date, *, month: int = 0, day: int = 0) -> int:
    """Return the year that two digits mean: the latest that is not in the future, unless the hints say otherwise."""
    this = today.year - today.year % 100 + two_digits
    past = [year for year in (this, this - 100) if _begun(year, month, day, today)]
    candidates = [*past, this]
    return next((year for year in candidates if within(written(year, month, day), asked)), candidates[0])


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
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return year, month + 1


def days_away(days: int, today: date) -> date | None:
    """Return the day that lies a number of days from today, if the calendar goes that far."""
    return None if abs(days) > 150 * 366 else today + timedelta(days=days)


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


def drawing(tokens: Sequence[Token], words: Words) -> str:
    """Return one character for each token."""
    return "".join(_character(tokens, place, words) for place in range(len(tokens)))


def _character(tokens: Sequence[Token], place: int, words: Words) -> str:
    token = tokens[place]
    drawn = {"digits": "9", "number": "n", "ordinal": "o", "mark": token.text[0]}.get(token.kind)
    if drawn is not None:
        return drawn
    for character, listed in (("f", words.dates.of), ("u", words.times.hour), ("M", words.dates.months)):
        if token.text in listed:
            return character
    # A slip of a month is believed only next to a number.
    beside = (*tokens[max(0, place - 2) : place], *tokens[place + 1 : place + 3])
    counted = any(other.value is not None for other in beside)
    return "M" if counted and corrected(token.text, words.dates.correctable) else "w"


def date_at(tokens: Sequence[Token], drawn: str, start: int, context: Context) -> Found | None:
    """Return the date that begins at `start`, if one does."""
    for form, pattern in _FORMS:
        match = pattern.match(drawn, start, start + _MAX_FORM)
        found = _WrittenDate.of(tokens, match, form, context).read() if match and not _fraction(tokens, match) else None
        if found:
            after = found.end
            after += after < len(tokens) and tokens[after].text == "'" and tokens[after].glued
            decade = (
                after < len(tokens) and tokens[after].glued and tokens[after].text in context.words.dates.decade_ends
            )
            # "1990er", "the 1990s", "'90s"
            return Found(start, found.end, None, False).failed("a decade, not a year", "decade") if decade else found
    return None


def _fraction(tokens: Sequence[Token], match: re.Match[str]) -> bool:
    """Tell whether "1/2" is a fraction: "vor 1 1/2 Wochen"."""
    short = all(len(token.text) < 3 for token in tokens[match.start() : match.end()])
    return match.group() == "9/9" and short and match.start() > 0 and tokens[match.start() - 1].numeric


def _long(token: Token | None) -> bool:
    """Tell whether a token is a year in full."""
    return token is not None and token.value is not None and len(token.text) == 4 and token.value >= 1000


def _short(token: Token | None) -> bool:
    """Tell whether a token can be a day or month."""
    return token is not None and len(token.text) <= 2


def _number(token: Token | None) -> int:
    return int(token.value) if token is not None and token.value is not None else 0


@dataclass(frozen=True, slots=True)
class _WrittenDate:
    """The parts of a date as written."""

    first: int
    end: int
    year: Token | None
    month: Token | None
    day: Token | None
    apostrophe: bool
    form: str
    mark: str
    context: Context

    @classmethod
    def of(cls, tokens: Sequence[Token], match: re.Match[str], form: str, context: Context) -> _WrittenDate:
        groups = match.groupdict()
        year, month, day = (tokens[match.start(name)] if name in groups else None for name in ("y", "m", "d"))
        marks = [token.text for token in tokens[match.start() : match.end()] if token.kind == "mark"]
        mark = marks[0] if marks else ""
        return cls(match.start(), match.end(), year, month, day, bool(groups.get("c")), form, mark, context)

    def read(self) -> Found | None:
        """Return the date, if this is one."""
        if self.form == "year":
            return self._year_alone()
        if self.form in ("ymd", "ym") and not (_long(self.year) and _short(self.month)):
            return None
        if self.form in ("dmy", "spaced", "my") and self.month and self.month.kind == "digits":
            return self._numeric()
        return self._plain()

    def _found(self, value: str, *, literal: bool = False) -> Found:
        return Found(self.first, self.end, value, literal)

    def _failed(self, reason: str, why: Why = "impossible") -> Found:
        return self._found("").failed(reason, why)

    def _numeric(self) -> Found | None:
        """Read a date whose month is a number: day or month first, with or without a year."""
        if self.form == "my":
            if _short(self.month) and _long(self.year):
                return self._plain()
            return self._without_year() if _short(self.year) else None
        if not _short(self.month) or not _short(self.day) or (self.form == "spaced" and not _long(self.year)):
            return None
        if _number(self.month) > 12 and self.year is not None and not self.year.glued:
            return None  # a time of day before the date: "14.30 3.3.2024"
        if self.mark != "/" and self.form == "dmy" and not self.context.asked.entry_format:
            return self._plain()
        return self._day_or_month_first()

    def _day_or_month_first(self) -> Found | None:
        swapped = replace(self, day=self.month, month=self.day)
        usual, other = (swapped, self) if self.context.month_first else (self, swapped)
        first, second = usual._plain(), other._plain()
        foreign = self.context.words.times.twelve_hours  # German has no habit of its own that differs
        sound = second is not None and not second.problem
        if first is None or first.problem:
            # Only the other order makes a date: a foreign habit, to be read back.
            return replace(second, literal=False) if second and sound and foreign else first
        alike = not sound or (second is not None and second.value == first.value)
        settled = bool(self.context.asked.entry_format) or not foreign
        return first if alike or settled else replace(first, literal=False)

    def _without_year(self) -> Found | None:
        """Read "3.3.": the last such day, to be read back; "3.3" too, since only questions for days are read so."""
        day, month = _number(self.month), _number(self.year)
        if self.context.month_first and self.mark == "/":
            day, month = month, day
        if not 1 <= month <= 12 or not 1 <= day <= 31 or self.mark == "-":
            return None
        return self._latest(month, day)

    def _latest(self, month: int, day: int) -> Found:
        if day and not exists(2024, month, day):
            return self._failed(f"there is no day {day} in month {month}")
        return self._found(latest(month, day, self.context.today))

    def _plain(self) -> Found | None:
        """Read a date whose parts are known."""
        if self.month is None:
            return None
        names, text = self.context.words.dates, self.month.text
        spelled = self.month.value is not None or text in names.months
        month = _number(self.month) if self.month.value is not None else names.months.get(text, 0)
        if not spelled:
            month = names.months[corrected(text, names.correctable)]
        day = _number(self.day)
        if self.day is not None and (day < 1 or not _short(self.day)):
            return None if day else self._failed("there is no day 0")
        if self.year is None:
            return self._latest(month, day)
        if _long(self.year):
            return self._dated(_number(self.year), month, day, spelled=spelled)
        return self._two_digit_year(self.year, month, day)

    def _two_digit_year(self, token: Token, month: int, day: int) -> Found | None:
        short = _number(token)
        if len(token.text) > 2:
            return None
        if not day and not self.apostrophe and len(token.text) == 1:
            return self._latest(month, short)
        if not day and not self.apostrophe and short <= 31:
            return self._failed("a day or a year: the number after the month can be both", "two-readings")
        if not exists(2024, month, day):
            return self._failed(f"there is no day {day} in month {month}")
        year = full_year(short, self.context.asked, self.context.today, month=month, day=day)
        return self._dated(year, month, day, spelled=False)

    def _dated(self, year: int, month: int, day: int, *, spelled: bool) -> Found:
        next_year = self.form == "ym" and month == (year + 1) % 100
        if next_year and self.mark == "/" and not exists(year, month):
            return self._failed("two years", "range")  # "2018/19"
        if not exists(year, month, day) or not month:
            return self._failed(f"there is no date {written(year, month, day)}")
        # "2010-11" may also be the winter of 2010 and 2011.
        return self._usual(year, written(year, month, day), sure=spelled and not next_year)

    def _usual(self, year: int, value: str, *, sure: bool) -> Found:
        usual = 1900 <= year <= self.context.today.year + 2 and within(value, self.context.asked)
        return self._found(value, literal=sure and usual)

    def _year_alone(self) -> Found | None:
        """Read a year alone, or eight digits that are a date."""
        token, asked = self.year, self.context.asked
        if token is None or token.value is None:
            return None
        year = _number(token)
        if self.apostrophe and len(token.text) == 2 and token.kind == "digits":
            return self._found(written(full_year(year, asked, self.context.today)))
        if token.kind == "digits" and len(token.text) == 8:
            return self._eight_digits(token.text)
        if not _long(token) or self.apostrophe:
            return None
        return (
            self._usual(year, written(year), sure=True) if exists(year) else self._failed(f"an unlikely year: {year}")
        )

    def _eight_digits(self, digits: str) -> Found:
        """Read 03031975 or 19750303, whichever is a date; never literal."""
        day_first = int(digits[4:]), int(digits[2:4]), int(digits[:2])
        year_first = int(digits[:4]), int(digits[4:6]), int(digits[6:])
        readings = {ymd for ymd in (day_first, year_first) if all(ymd) and exists(*ymd)}
        if len(readings) != 1:
            return self._failed("eight digits that are no single date", "notation")
        return self._found(written(*readings.pop()))
