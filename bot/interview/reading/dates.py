"""Find dates in a reply: written out, by feast or season, or counted from today. Pure.

Tokens are drawn as one character each; the forms of a written date are patterns over that drawing: bounded and quick.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from bot.interview.reading.numbers import HALF, and_a_half, loose_number_at
from bot.interview.reading.reading import Asked, Context, Found, Why
from bot.interview.reading.vocabulary import Feast, Token, Words, corrected, cut, text_at

EARLIEST, LATEST = 1850, 2150  # years that patients speak of; anything else is a typing error
MAX_YEARS = 150
MOST_BETWEEN = 2  # words between a feast and its year: "Ostern im letzten Jahr"
_DAYS_PER_MONTH = Decimal("30.44")


def written(year: int, month: int = 0, day: int = 0) -> str:
    """Return a date, as far as it is known."""
    return f"{year:04d}" + (f"-{month:02d}" if month else "") + (f"-{day:02d}" if day else "")


def exists(year: int, month: int = 0, day: int = 0) -> bool:
    """Tell whether there is such a day; 0 stands for what is not known."""
    if not EARLIEST <= year <= LATEST or not 0 <= month <= 12 or day < 0:
        return False
    return day == 0 or (month > 0 and day <= monthrange(year, month)[1])


def _begun(year: int, month: int, day: int, today: date) -> bool:
    return (year, month or 1, day or 1) <= (today.year, today.month, today.day)


def full_year(two_digits: int, asked: Asked, today: date, *, month: int = 0, day: int = 0) -> int:
    """Return the year that two digits mean: the latest that is not in the future, unless the hints say otherwise."""
    this = today.year - today.year % 100 + two_digits
    candidates = [*(year for year in (this, this - 100) if _begun(year, month, day, today)), this]
    return next((year for year in candidates if asked.expects(written(year, month, day))), candidates[0])


def _latest(month: int, day: int, today: date) -> str:
    """Return the last such day or, without a day, month that has begun; 29 February may be years ago."""
    years = range(today.year, today.year - 9, -1)
    begun = (year for year in years if exists(year, month, day) and _begun(year, month, day, today))
    return written(next(begun, today.year), month, day)


def _months_away(months: int, today: date) -> str:
    """Return the month that lies a number of months from today; negative is the past."""
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return written(year, month + 1)


def _week_of(day: date) -> str:
    """Return the month a whole week lies in, else its year; FHIR has no weeks."""
    monday = day - timedelta(days=day.weekday())
    sunday = monday + timedelta(days=6)
    same_month = (monday.year, monday.month) == (sunday.year, sunday.month)
    return written(monday.year, monday.month) if same_month else written(day.year)


def _on_weekday(weekday: int, today: date, *, ahead: bool) -> str:
    """Return the last such day before today, or the next one after it."""
    days = (weekday - today.weekday() - 1) % 7 + 1 if ahead else -((today.weekday() - weekday - 1) % 7 + 1)
    return (today + timedelta(days=days)).isoformat()


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


class Calendar:
    """The tokens of a reply, and the day on which it was written; each method reads a date that begins at a token."""

    def __init__(self, tokens: Sequence[Token], context: Context) -> None:
        self.tokens, self.context = tokens, context
        self.asked, self.words, self.today = context.asked, context.words, context.today
        self.drawn = "".join(map(self._drawn, range(len(tokens))))

    def at(self, start: int) -> Found | None:
        """Return the date that begins at a token, if one does."""
        return (
            self._counted(start)  # before years: "2000 days ago"
            or self._decade(start)
            or self._feast(start)
            or self._written(start)
            or self._part(start)
            or self._season(start)
            or self._relative(start)
        )

    def _text(self, place: int) -> str:
        return text_at(self.tokens, place)

    def _drawn(self, place: int) -> str:
        token = self.tokens[place]
        drawn = {"digits": "9", "number": "n", "ordinal": "o", "mark": token.text[0]}.get(token.kind)
        if drawn is not None:
            return drawn
        months = self.words.tables["months"]
        for character, listed in (("f", self.words["of_month"]), ("u", self.words["hours"]), ("M", months)):
            if token.text in listed:
                return character
        # A slip of a month is believed only next to a number.
        beside = (*self.tokens[max(0, place - 2) : place], *self.tokens[place + 1 : place + 3])
        counted = any(other.value is not None for other in beside)
        return "M" if counted and corrected(token.text, self.words.tables["correctable"]) else "w"

    def _step(self, place: int, *, ahead: bool = False) -> int | None:
        """Return -1 for "last", -2 for the one before, 0 for "this" and, with `ahead`, 1 for "next"."""
        steps = {"last": -1, "before_last": -2, "this": 0} | ({"next": 1} if ahead else {})
        return next((step for name, step in steps.items() if self._text(place) in self.words[name]), None)

    def _decade(self, start: int) -> Found | None:
        """Return that a decade is no date: "in den Neunzigern", "the 90s"."""
        token = self.tokens[start]
        after = start + 1 + (self._text(start + 1) == "'")
        ended = self._ends_decade(after)
        short = token.kind == "digits" and len(token.text) == 2 and token.text.endswith("0")
        if not (token.text in self.words["decades"] or (short and ended)):
            return None
        return Found(start, after + 1 if ended else start + 1, None).failed("a decade, not a year", "decade")

    def _ends_decade(self, place: int) -> bool:
        glued = place < len(self.tokens) and self.tokens[place].glued
        return glued and self._text(place) in self.words["decade_ends"]

    def _written(self, start: int) -> Found | None:
        """Return a date that is written out; "1990er", "the 1990s" and "'90s" are none."""
        for form, pattern in _FORMS:
            match = pattern.match(self.drawn, start, start + _MAX_FORM)
            found = self._of_form(match, form) if match else None
            if found and found.end > start + 1 and self.tokens[found.end - 1].numeric and self._ago(found.end - 1):
                continue  # "March three years ago"
            if found:
                after = found.end
                after += after < len(self.tokens) and self._text(after) == "'" and self.tokens[after].glued
                decade = Found(start, found.end, None).failed("a decade, not a year", "decade")
                return decade if self._ends_decade(after) else found
        return None

    def _of_form(self, match: re.Match[str], form: str) -> Found | None:
        first, end, groups = match.start(), match.end(), match.groupdict()
        tokens = self.tokens[first:end]
        short = all(len(token.text) < 3 for token in tokens)
        if match.group() == "9/9" and short and first > 0 and self.tokens[first - 1].numeric:
            return None  # a fraction: "vor 1 1/2 Wochen"
        year, month, day = (self.tokens[match.start(name)] if name in groups else None for name in ("y", "m", "d"))
        mark = next((token.text for token in tokens if token.kind == "mark"), "")
        return _Written(first, end, year, month, day, bool(groups.get("c")), form, mark, self.context).read()

    def _named_feast(self, start: int) -> tuple[Feast | None, int]:
        """Return the feast whose name begins at a word, and where the name ends."""
        for length in (3, 2, 1):
            some = self.tokens[start : start + length]
            name = " ".join(token.text for token in some if token.wordlike)
            if len(some) == length and all(token.wordlike for token in some) and name in self.words.feasts:
                return self.words.feasts[name], start + length
        return None, start

    def _feast(self, start: int) -> Found | None:
        """Return the date of a feast: "Ostern 2024", "letztes Jahr an Ostern", "last Christmas"."""
        last = self.tokens[start].wordlike and self._text(start) in self.words["last"] and start + 1 < len(self.tokens)
        feast, end = self._named_feast(start + last)
        if feast is not None:
            year, after = self._year_at(end)
            if year is not None:
                return Found(start, after, feast.of_year(year))
            this = feast.of_year(self.today.year)
            begun = this <= self.today.isoformat()[: len(this)]
            return Found(start, end, this if begun else feast.of_year(self.today.year - 1))
        year, end = self._year_at(start)
        for place in range(end, min(end + MOST_BETWEEN + 1, len(self.tokens))) if year is not None else ():
            feast, after = self._named_feast(place)
            if feast and year is not None:
                return Found(start, after, feast.of_year(year))
            if not self.tokens[place].wordlike:
                return None
        return None

    def _year_at(self, start: int) -> tuple[int | None, int]:
        """Return the year that is said at a place or a few words on, and where it ends."""
        this_year = self.today.year
        for place in range(start, min(start + MOST_BETWEEN + 1, len(self.tokens))):
            token, after = self.tokens[place], self._text(place + 1)
            if token.numeric and token.value is not None and 1900 <= token.value <= this_year:
                return int(token.value), place + 1
            counts = after in self.words.spans or after in self.words.unit_codes  # "Ostern 14 Tage"
            if token.kind == "digits" and len(token.text) == 2 and place <= start + 1 and not counts:
                return full_year(int(token.text), self.asked, self.today), place + 1
            step = self._step(place)
            if step is not None and self.words.spans.get(after) == "a":
                return this_year + step, place + 2
            if token.text in self.words["this_year"]:
                return this_year, place + 1
            if not token.wordlike and token.text not in ("'", ","):
                break
        return None, start

    def _season(self, start: int) -> Found | None:
        """Return the year of a season: "im Herbst 22", "diesen Sommer"; a winter is in two years."""
        if not self.tokens[start].wordlike or self._step(start - 1) is not None:
            return None  # the second is read with the word before it
        step, seasons = self._step(start), self.words.tables["seasons"]
        place = start if step is None else start + 1
        season = self._text(place)
        winter = season in self.words["winters"]
        if season not in seasons and not winter:
            return None
        year, end = self._year_at(place + 1)
        if winter:
            lost = Found(place, place + 1, None).failed("a winter, which lies in two years", "vague")
            return lost if year is None else None  # a year that is said is read by itself
        if year is None or step is not None:
            # The last such season: one that has begun, or for "last" one that is over.
            over = self.today.month > seasons[season]
            begun = self.today.month >= seasons[season] - 2
            return Found(start, start + 1, written(self.today.year + (step + over if step else begun - 1)))
        # A year that is said is read by itself, unless only its place shows that it is one: "Herbst 22".
        short = len(self._text(end - 1)) == 2 and self.tokens[end - 1].kind == "digits"
        return Found(end - 1, end, written(year)) if short else None

    def _part(self, start: int) -> Found | None:
        """Return "Anfang des Jahres", "at the end of the month": what is over of it, or has begun."""
        words, today, word = self.words, self.today, self._text(start)
        if not self.tokens[start].wordlike:
            return None
        if word in words.tables["year_parts"]:
            return Found(start, start + 1, written(today.year - (words.tables["year_parts"][word] > today.month)))
        end = start + 1
        while end < min(start + 3, len(self.tokens)) and self._text(end) in words["of_month"] | words["the"]:
            end += 1
        span = words.spans.get(self._text(end)) if end > start + 1 else None
        if word not in words["part_names"] or span not in ("a", "mo"):
            return None
        month = words.tables["part_months"].get(word, 1)
        if span == "a":
            return Found(start, end + 1, written(today.year - (month > today.month)))
        # The first, the middle or the end of a month that has not got so far is that of the last.
        so_far = today.day >= {1: 1, 6: 11}.get(month, 21)
        return Found(start, end + 1, _months_away(0 if so_far else -1, today))

    def _relative(self, start: int) -> Found | None:
        """Return a date named by its place before or after today: "gestern", "last March"."""
        words, token, today = self.words, self.tokens[start], self.today
        if not token.wordlike and token.value is None:
            return None
        neighbour = self._neighbour(start)
        if neighbour:
            return neighbour
        days, weekdays, months = (words.tables[name] for name in ("days", "weekdays", "months"))
        behind = start + 2 + (self._text(start + 1) == "-")
        if (two := f"{token.text} {self._text(behind - 1)}") in days:  # "avant-hier"
            return Found(start, behind, (today + timedelta(days=days[two])).isoformat())
        value = ""
        if token.text in days and not means_part_of_day(self.tokens, start, words):
            value = (today + timedelta(days=days[token.text])).isoformat()
        elif token.text in weekdays:
            value = _on_weekday(weekdays[token.text], today, ahead=False)
        elif token.text in months:
            # A month without a year, where the word is surely a month: "in May", not "it may be".
            opened = any(self._text(start - 1) in words[name] for name in ("ahead", "ago_before", "part_names"))
            opened = opened or self._ago(start + 1)  # "März vor drei Jahren"
            if opened or sum(each.wordlike for each in self.tokens) == 1:
                value = _latest(months[token.text], 0, today)
        if not value and token.text in words["this_year"]:
            value = written(today.year)
        return Found(start, start + 1, value) if value else None

    def _neighbour(self, start: int) -> Found | None:
        """Return "letzten Montag", "this year", "vorletzte Woche", "nächsten Monat" or "last March"."""
        today, step, after = self.today, self._step(start, ahead=True), self._text(start + 1)
        weekdays, months, seasons = (self.words.tables[name] for name in ("weekdays", "months", "seasons"))
        # "Année dernière", but not "March last year".
        if step is None and not any(self._text(start + 2) in table for table in (self.words.spans, weekdays, months)):
            step, after = self._step(start + 1, ahead=True) or None, self._text(start)
        if step is None:
            return None
        span, weekday = self.words.spans.get(after), weekdays.get(self._text(start + 2))
        if span == "wk" and weekday is not None:
            day = today + timedelta(weeks=step, days=weekday - today.weekday())
            return Found(start, start + 3, day.isoformat())
        if span is not None:
            by_span = {
                "d": (today + timedelta(days=step)).isoformat(),
                "wk": _week_of(today + timedelta(weeks=step)),
                "mo": _months_away(step, today),
            }
            return Found(start, start + 2, by_span.get(span, written(today.year + step)))
        if after in weekdays:
            return Found(start, start + 2, _on_weekday(weekdays[after], today, ahead=step > 0))
        if after in months and step <= 0:
            return Found(start, start + 2, _latest(months[after], 0, today))
        if after in seasons and step == -1:
            # The season itself is left to the remainder: FHIR has only its year.
            return Found(start, start + 1, written(today.year - (0 if today.month > seasons[after] else 1)))
        return None

    def _counted(self, start: int) -> Found | None:
        """Return a date so many days, weeks, months or years away: "vor etwa drei Wochen", "half a year ago"."""
        words, texts = self.words, [token.text for token in self.tokens]
        opened = words["ago_before"].length_at(texts, start)  # "vor", "il y a"
        back, ahead = bool(opened), self._text(start) in words["ahead"]
        opened = max(opened, int(ahead))
        place = start + opened
        if opened:
            furthest = min(place + 3, len(self.tokens))
            while place < furthest and self._text(place) in words["approximate"] | {"."}:
                place += 1
        span = self._span(place)
        if span is None:
            return None
        end, count, unit = span
        said = self.tokens[place:end]
        # Two numbers, or no exact one: "zwei, drei Wochen", "a couple of weeks".
        one = sum(token.numeric for token in said) == 1
        ranged = not one and not (len(said) == 2 and any(token.kind == "article" for token in said))
        end, half = and_a_half(self.tokens, end, words)
        if self._text(end) in words["ago_after"]:
            back, ahead, end = True, False, end + 1
        if not (back or ahead):
            if not self.context.asks("since"):
                return None
            back = True  # "drei Wochen", where the question is since when
        away = -count - half if back else count + half
        value = self._away(away, unit, rough=back and (place > start + max(1, opened) or ranged))
        return Found(start, end, value) if value else None

    def _ago(self, start: int) -> bool:
        """Tell whether a number of years in the past begins at a place."""
        counted = self._counted(start) if start < len(self.tokens) else None
        return counted is not None and len(str(counted.value)) == 4

    def _span(self, start: int) -> tuple[int, Decimal, str] | None:
        """Return where "3 Wochen", "einem halben Jahr" or "a year and a half" ends, its number and its unit.

        Of two numbers, as in "two or three weeks", the nearer one counts.
        """
        couple = self.words["couple"].length_at([token.text for token in self.tokens[start : start + 3]], 0)
        place, number, halved = start + couple, Decimal(2) if couple else None, False
        if not couple:
            place, number, halved = loose_number_at(self.tokens, start, self.words, ranges=True)
        if place == start or place >= len(self.tokens) or (number is not None and number > 10_000):
            return None
        if self._text(place) in self.words["half_year"]:
            return place + 1, (number or Decimal(1)) * 6, "mo"
        unit = self.words.spans.get(self._text(place))
        return (place + 1, HALF if halved else number or Decimal(0), unit) if unit else None

    def _away(self, count: Decimal, unit: str, *, rough: bool) -> str:
        """Return the date that lies `count` units away, as exact as the unit; empty when the calendar ends before."""
        today = self.today
        months = count * (12 if unit == "a" else 1)
        if unit in ("d", "wk"):
            days = count * (7 if unit == "wk" else 1)
            exact = days == days.to_integral_value() and not rough
        elif abs(months) > MAX_YEARS * 12:
            return ""
        elif unit == "a" and count == count.to_integral_value():
            return written(today.year + int(count))
        elif months == months.to_integral_value():
            return _months_away(int(months), today)
        else:
            days, exact = months * _DAYS_PER_MONTH, False
        if abs(int(days)) > MAX_YEARS * 366:
            return ""
        day = today + timedelta(days=int(days))
        return day.isoformat() if exact else written(day.year, day.month)


def without_seasons(found: Sequence[Found], tokens: Sequence[Token], words: Words) -> list[Found]:
    """Return the dates without a season beside a year: "vor drei Jahren im Frühling" is that year."""
    named = words.tables["seasons"].keys() | words["winters"]
    years = [each for each in found if each.value is not None and len(str(each.value)) == 4]
    seasons = [each for each in found if {token.text for token in tokens[each.first : each.end]} & named]
    if len(found) == 2 and len(seasons) == 1 and any(each not in seasons for each in years):
        return [each for each in found if each not in seasons]
    return list(found)


def rough_times(text: str, words: Words, *, with_time: bool) -> bool:
    """Tell whether a text says when in a year something was, which no FHIR date can say: "im Frühling", "Anfang 2023".

    `with_time`: also when in a day: "gestern Abend".
    """
    said = cut(text, words.fold).names
    parts = words.tables["seasons"].keys() | words["winters"] | words["part_names"] | words.tables["year_parts"].keys()
    day = words.parts_of_day.keys() - words.tables["days"].keys() if with_time else frozenset()
    return not parts.isdisjoint(said) or not day.isdisjoint(said)


def means_part_of_day(tokens: Sequence[Token], place: int, words: Words) -> bool:
    """Tell whether a word says when during a day: "heute Morgen" and "am Morgen" are not tomorrow."""
    word, before, days = text_at(tokens, place), text_at(tokens, place - 1), words.tables["days"]
    return word in words.parts_of_day and (word not in days or before in words["this"] or before in days)


def _long(token: Token | None) -> bool:
    """Tell whether a token is a year in full."""
    return token is not None and token.value is not None and len(token.text) == 4 and token.value >= 1000


def _short(token: Token | None) -> bool:
    """Tell whether a token can be a day or month."""
    return token is not None and len(token.text) <= 2


def _number(token: Token | None) -> int:
    return int(token.value) if token is not None and token.value is not None else 0


@dataclass(frozen=True, slots=True)
class _Written:
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

    @property
    def _month_first(self) -> bool:
        """Tell whether 3/4/1975 is 4 March: by the entry format, else by the language."""
        shown = self.context.asked.entry_format.strip().lower()
        return shown.startswith("m") or ("month_first" in self.context.words.flags and not shown.startswith(("d", "t")))

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
        usual, other = (swapped, self) if self._month_first else (self, swapped)
        first, second = usual._plain(), other._plain()
        foreign = "twelve_hours" in self.context.words.flags  # German has no habit of its own that differs
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
        if self._month_first and self.mark == "/":
            day, month = month, day
        if not 1 <= month <= 12 or not 1 <= day <= 31 or self.mark == "-":
            return None
        return self._last(month, day)

    def _last(self, month: int, day: int) -> Found:
        if day and not exists(2024, month, day):
            return self._failed(f"there is no day {day} in month {month}")
        return self._found(_latest(month, day, self.context.today))

    def _plain(self) -> Found | None:
        """Read a date whose parts are known."""
        if self.month is None:
            return None
        tables, text = self.context.words.tables, self.month.text
        spelled = self.month.value is not None or text in tables["months"]
        month = _number(self.month) or tables["months"].get(text, 0)
        if not spelled:
            month = tables["months"][corrected(text, tables["correctable"])]
        day = _number(self.day)
        if self.day is not None and (day < 1 or not _short(self.day)):
            return None if day else self._failed("there is no day 0")
        if self.year is None:
            return self._last(month, day)
        if _long(self.year):
            return self._dated(_number(self.year), month, day, spelled=spelled)
        return self._two_digit_year(self.year, month, day)

    def _two_digit_year(self, token: Token, month: int, day: int) -> Found | None:
        short = _number(token)
        if len(token.text) > 2:
            return None
        if not day and not self.apostrophe and len(token.text) == 1:
            return self._last(month, short)
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
        usual = 1900 <= year <= self.context.today.year + 2 and self.context.asked.expects(value)
        return self._found(value, literal=sure and usual)

    def _year_alone(self) -> Found | None:
        """Read a year alone, or eight digits that are a date."""
        token = self.year
        if token is None or token.value is None:
            return None
        year = _number(token)
        if self.apostrophe and len(token.text) == 2 and token.kind == "digits":
            return self._found(written(full_year(year, self.context.asked, self.context.today)))
        if token.kind == "digits" and len(token.text) == 8:
            return self._eight_digits(token.text)
        if not _long(token) or self.apostrophe:
            return None
        if not exists(year):
            return self._failed(f"an unlikely year: {year}")
        return self._usual(year, written(year), sure=True)

    def _eight_digits(self, digits: str) -> Found:
        """Read 03031975 or 19750303, whichever is a date; never literal."""
        day_first = int(digits[4:]), int(digits[2:4]), int(digits[:2])
        year_first = int(digits[:4]), int(digits[4:6]), int(digits[6:])
        readings = {ymd for ymd in (day_first, year_first) if all(ymd) and exists(*ymd)}
        if len(readings) != 1:
            return self._failed("eight digits that are no single date", "notation")
        return self._found(written(*readings.pop()))
