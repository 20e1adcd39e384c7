"""Read dates, times of day, both together, and ages by a date of birth. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal

from bot.interview.reading.dates import (
    Calendar,
    exists,
    full_year,
    means_part_of_day,
    without_seasons,
    written,
)
from bot.interview.reading.numbers import HALF, and_a_half, loose_number_at, with_numbers
from bot.interview.reading.quantities import unit_at
from bot.interview.reading.reading import Context, Found, NotUnderstood, Read, Reading, answered, settle
from bot.interview.reading.vocabulary import Reply, Token, Words, one_after_another, text_at
from bot.interview.values.answer import Answer

DAY = 24 * 60
WAKING = (7, 18)  # first and last hour that a time without more is taken for; never literally
OLDEST = 125
ADULT = 16  # years; whoever is younger says no more than that
SECOND_HALF = 7  # by July, most people of a year have had their birthday
MOST_HOURS = 240
_MINUTES = {"h": 60, "min": 1}
_MARKS = frozenset(".,-/:+")  # of dates and times that are written out

# 9 digits, n a number in words, u "Uhr", m "Minuten", H half, Q quarter, T three quarters, p past, t to, A am or pm,
# N noon or midnight, w another word; marks stand for themselves.
_FORMS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("digital", r"(?P<h>9):(?P<i>9)(?::(?P<s>9))?u?(?P<a>A?)"),
        ("digital", r"(?P<h>9)\.(?P<i>9)u?(?P<a>A?)"),
        ("minutes_to_half", r"(?P<i>[9n])m?(?P<way>[pt])H(?P<h>[9n])u?(?P<a>A?)"),
        ("half_past", r"Hp(?P<h>[9n])u?(?P<a>A?)"),
        ("half", r"H(?P<h>[9n])u?(?P<a>A?)"),
        ("quarter", r"Q(?P<way>[pt])(?P<h>[9n])u?(?P<a>A?)"),
        ("quarter_of", r"(?P<q>[QT])(?P<h>[9n])u?(?P<a>A?)"),
        ("minutes", r"(?P<i>[9n])m?(?P<way>[pt])(?P<h>[9n])u?(?P<a>A?)"),
        ("spoken", r"(?P<h>[9n])u(?P<i>[9n])m?(?P<a>A?)"),
        ("spoken", r"(?P<h>[9n])u(?P<a>A?)"),
        ("spoken", r"(?P<h>[9n])(?P<a>A)"),
        ("named", r"(?P<h>N)"),
    )
)
_MAX_FORM = 10  # tokens
_STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)"
)


def read_date(reply: Reply, context: Context) -> Reading:
    """Read dates."""
    spelled, around = with_numbers(reply, context.words, years=True), _around_dates(context)
    counted = _counted(spelled, around, lambda moment: moment.date().isoformat()) if context.asked.now else None
    exact = _written_out(reply, context.words)
    return counted or settle(_dates_in(spelled, context), spelled, context.asked.type, around, exact=exact)


def read_time(reply: Reply, context: Context) -> Reading:
    """Read times of day."""
    spelled = _clock_tokens(reply, context.words, years=False)
    found, rest = _times_in(spelled, context.words, alone=True)
    counted = _counted(spelled, context, lambda moment: moment.strftime("%H:%M:00"))
    return counted or settle(found, rest, "time", context, exact=_written_out(reply, context.words))


def read_moment(reply: Reply, context: Context) -> Reading:
    """Read a date, and the time of day with it if there is one."""
    words, zone = context.words, context.asked.zone
    stamp = _STAMP.fullmatch(reply.text)
    if stamp and exists(*map(int, stamp.groups()[:3])):
        return Read((Answer("dateTime", reply.text),), literal=True)
    spelled = _clock_tokens(reply, words, years=True)
    # Without a time zone, the day is all that is known.
    counted = _counted(
        spelled,
        context,
        lambda moment: _stamped(f"{moment:%Y-%m-%dT%H:%M:00}", zone) if zone else moment.date().isoformat(),
    )
    if counted:
        return counted
    dates = _dates_in(spelled, context)
    times, rest = _times_in(spelled, words, alone=False, taken=dates)
    exact, around = _written_out(reply, words), _around_dates(context)
    if not times:
        return settle(dates, spelled, "dateTime", around, exact=exact)
    if not dates:
        return NotUnderstood("a time of day without its date", "incomplete")
    if len(dates) != 1 or len(times) != 1:
        return NotUnderstood("more than one date or time", "several")
    day, time = dates[0], times[0]
    problem = day.problem or time.problem
    if problem:
        return problem
    if zone is None or len(str(day.value)) != 10:
        # FHIR wants an offset with every time, and a whole day: what cannot be said is left to staff as a comment.
        return settle(dates, rest, "dateTime", around, exact=False)
    stamped = _stamped(f"{day.value}T{time.value}", zone)
    found = sorted((day, time), key=lambda item: item.first)
    literal = exact and day.literal and time.literal
    reading = answered([Answer("dateTime", stamped)], found, rest, around.words, literal=literal)
    if stamped is None and isinstance(reading, Read):
        return NotUnderstood("a time that cannot be placed in the time zone", "impossible")
    return reading


def _written_out(reply: Reply, words: Words) -> bool:
    """Tell whether a reply is nothing but what dates and times are written with: digits, a month, "Uhr"."""
    known = words.tables["months"].keys() | words["hours"] | {"t", "z"}
    return all(
        token.text in _MARKS if token.kind == "mark" else token.kind == "digits" or token.text in known
        for token in reply.body
    )


def _dates_in(reply: Reply, context: Context) -> list[Found]:
    """Return the dates in a reply whose number words are merged."""
    tokens, words = reply.tokens, context.words
    said = one_after_another(tokens, Calendar(tokens, context).at)
    found = _month_of_year(_with_weekday(without_seasons(said, tokens, words)))
    limited = [replace(item, problem=_limit(item, found, tokens, words) or item.problem) for item in found]
    return limited or _bare_year(tokens, context)


def _with_weekday(found: Sequence[Found]) -> list[Found]:
    """Return the dates with a weekday in front drawn in; a wrong one makes a date unsure, or unusable if inferred."""
    result: list[Found] = []
    for item in found:
        before = result[-1] if result else None
        if before and before.end == before.first + 1 and not before.literal and item.first - before.end <= 2:
            days = [date.fromisoformat(str(each.value)) for each in (before, item) if len(str(each.value or "")) == 10]
        else:
            days = []
        if before and len(days) == 2:
            result[-1] = replace(item, first=before.first, literal=False)
            if days[0].weekday() != days[1].weekday() and not (item.literal or item.problem):
                wrong = NotUnderstood("another weekday than the date's", "two-readings")
                result[-1] = replace(result[-1], problem=wrong)
        else:
            result.append(item)
    return result


def _month_of_year(found: list[Found]) -> list[Found]:
    """Return "letztes Jahr im März" as one date."""
    if len(found) == 2:
        month, year = sorted(found, key=lambda item: -len(str(item.value)))
        first, end = min(month.first, year.first), max(month.end, year.end)
        inferred = not month.literal and month.end == month.first + 1 and len(str(month.value)) == 7
        if inferred and isinstance(year.value, str) and len(year.value) == 4 and end - first <= 6:
            return [Found(first, end, f"{year.value}-{str(month.value)[5:]}")]
    return found


def _limit(item: Found, found: Sequence[Found], tokens: Sequence[Token], words: Words) -> NotUnderstood | None:
    """Return what a date is when a word in front makes it a limit: "vor 2015", "until May"."""
    before = item.first - 1
    limits = text_at(tokens, before) in words["date_limits"] and not any(other.end == before for other in found)
    ranged = text_at(tokens, before) in words["to"] and any(token.numeric for token in tokens[: max(before, 0)])
    return NotUnderstood("a time before or after a date, not the date", "limit") if limits and not ranged else None


def _bare_year(tokens: Sequence[Token], context: Context) -> list[Found]:
    """Return two digits as a year where nothing else is said: "75", "Jahrgang 75"; "mit 45" is an age."""
    places = [place for place, token in enumerate(tokens) if token.numeric]
    text = tokens[places[0]].text if len(places) == 1 else ""
    others = any(token.wordlike and token.text not in context.words["year_pads"] for token in tokens)
    if others or len(text) != 2 or int(text) <= 31:
        return []
    return [Found(places[0], places[0] + 1, written(full_year(int(text), context.asked, context.today)))]


def _around_dates(context: Context) -> Context:
    """Return the context of what stands around a date, where a few more words change nothing: "im Jahr 2015"."""
    return context.with_harmless(context.words["year_pads"])


def _stamped(moment: str, zone: tzinfo) -> str | None:
    """Return a moment with the zone's offset to the minute, or None if it has none then."""
    offset = datetime.fromisoformat(moment).replace(tzinfo=zone).utcoffset()
    if offset is None:
        return None
    minutes = round(offset.total_seconds() / 60)
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{moment}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _counted(reply: Reply, context: Context, written: Callable[[datetime], str | None]) -> Reading | None:
    """Read the first time that is counted in hours or minutes from the present; None where there is none."""
    tokens, words, now = reply.tokens, context.words, context.asked.now
    for start, token in enumerate(tokens):
        ahead = token.text in words["ahead"]
        opened = words["ago_before"].length_at([each.text for each in tokens], start) or int(ahead)
        place = start + opened
        while text_at(tokens, place) in words["approximate"]:
            place += 1
        end, minutes = _minutes_at(tokens, place, words)
        closed = text_at(tokens, end) in words["ago_after"]
        if minutes is not None and (opened or closed):
            if now is None:
                return NotUnderstood("a time counted from a present that is not known", "incomplete")
            away = timedelta(minutes=minutes if ahead and not closed else -minutes)
            moment = (now + away).replace(second=0, microsecond=0)
            return settle([Found(start, end + closed, written(moment))], reply, context.asked.type, context)
    return None


def _minutes_at(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, int | None]:
    """Return where "einer halben Stunde", "2 hours" or "anderthalb Stunden" ends, and its minutes."""
    place, number, halved = loose_number_at(tokens, start, words, ranges=False)
    end, codes = unit_at(tokens, place, words)
    unit = next((_MINUTES[code] for code in codes if code in _MINUTES), None)
    if place == start or unit is None:
        return start, None
    end, half = and_a_half(tokens, end, words)
    minutes = ((HALF if halved else number or Decimal(1)) + half) * unit
    return (end, int(minutes)) if minutes <= MOST_HOURS * 60 else (start, None)


def _clock_tokens(reply: Reply, words: Words, *, years: bool) -> Reply:
    """Return the reply with number words merged, and "p.m." as one word."""
    tokens: list[Token] = []
    place = 0
    while place < len(reply.tokens):
        token = reply.tokens[place]
        after = [each.text for each in reply.tokens[place + 1 : place + 4]]
        forms = (["m", "."], [".", "m", "."], [".", "m"], ["m"])
        halved = words.tables["halves_of_day"] and token.text in ("a", "p")
        taken = next((len(form) for form in forms if after[: len(form)] == form), 0) if halved else 0
        if taken:
            token = replace(token, kind="word", text=token.text + "m", end=reply.tokens[place + taken].end)
        tokens.append(token)
        place += taken + 1
    return with_numbers(Reply(reply.text, tuple(tokens)), words, years=years)


def _times_in(reply: Reply, words: Words, *, alone: bool, taken: Sequence[Found] = ()) -> tuple[list[Found], Reply]:
    """Return the times in a reply outside the spans `taken`, and the reply with words for parts of the day muted.

    `alone`: whether a bare number may be an hour.
    """
    free = [not any(item.first <= place < item.end for item in taken) for place in range(len(reply.tokens))]
    numbers = [place for place, token in enumerate(reply.tokens) if token.numeric and free[place]]
    window: Sequence[int] | None = None
    tokens = list(reply.tokens)
    for place, token in enumerate(tokens):
        if free[place] and token.kind == "word" and means_part_of_day(tokens, place, words):
            window = words.parts_of_day[token.text]
            # "Mittags" alone is a time; "mittags um zwölf" only says which twelve.
            if numbers or token.text not in words.tables["named_hours"]:
                tokens[place] = replace(token, kind="mark", text=",")
            break
    drawn = "".join(_drawn(token, words) if free[place] else "-" for place, token in enumerate(tokens))
    times = one_after_another(tokens, lambda place: _time_at(tokens, drawn, place, words))
    opened = [place for place in numbers if alone or text_at(tokens, place - 1) in words["at_hour"]]
    if not times and len(opened) == 1:
        bare = _bare(tokens[opened[0]], opened[0])
        times = [bare] if bare else []
    return [item.found(window) for item in times], Reply(reply.text, tuple(tokens))


def _drawn(token: Token, words: Words) -> str:
    if token.kind in ("digits", "number"):
        return "9" if token.kind == "digits" else "n"
    if token.kind == "mark":
        return token.text[0]
    for character, listed in (
        ("N", words.tables["named_hours"]), ("H", words["half_hour"]), ("Q", words["quarter"]),
        ("T", words["three_quarters"]), ("u", words["hours"]), ("m", words["minutes"]), ("p", words["past_hour"]),
        ("t", words["to_hour"]), ("A", words.tables["halves_of_day"]),
    ):  # fmt: skip
        if token.text in listed:
            return character
    return "w"


@dataclass(frozen=True, slots=True)
class _ClockTime:
    """A time as said: an hour, minutes before or after it, and what tells morning from evening."""

    first: int
    end: int
    hour: int
    minutes: int
    second: int
    first_hour: int | None  # 0 for am, 12 for pm, None if neither was said
    settled: bool  # whether it is written so that it can only be meant one way
    usual: bool = True  # whether the form is understood alike everywhere

    def found(self, window: Sequence[int] | None) -> Found:
        """Return the time as FHIR writes it; `window`: the hours that a word like "abends" allows."""
        if self.hour > 24 or abs(self.minutes) > 59 or self.second > 59 or (self.hour == 24 and self.minutes):
            return Found(self.first, self.end, None).failed("there is no such time of day", "impossible")
        total, sure = self._resolved(window)
        value = f"{total // 60:02d}:{total % 60:02d}:{self.second:02d}"
        return Found(self.first, self.end, value, sure and self.usual and self.hour != 24)

    def _resolved(self, window: Sequence[int] | None) -> tuple[int, bool]:
        """Return minutes since midnight, and whether morning and evening cannot be confused."""

        def since_midnight(hour: int) -> int:
            return (hour * 60 + self.minutes) % DAY

        if self.first_hour is not None:
            right = 1 <= self.hour <= 12
            return since_midnight(self.hour % 12 + self.first_hour if right else self.hour), right
        if self.hour > 12 or self.hour == 0 or (self.settled and window is None):
            return since_midnight(self.hour), True
        both = [since_midnight(self.hour % 12 + half) for half in (0, 12)]
        fitting = [total for total in both if window and _inside(total // 60, window)]
        if len(fitting) == 1:
            return fitting[0], True
        return next(total for total in both if _inside(total // 60, WAKING)), False


def _inside(hour: int, window: Sequence[int]) -> bool:
    low, high = window
    return low <= hour <= high if low <= high else hour >= low or hour <= high


def _time_at(tokens: Sequence[Token], drawn: str, start: int, words: Words) -> _ClockTime | None:
    """Return the time that begins at `start`, in the first form that makes one."""
    for form, pattern in _FORMS:
        match = pattern.match(drawn, start, start + _MAX_FORM)
        item = _clock_time(tokens, match, form, words) if match else None
        if item:
            return item
    return None


def _clock_time(tokens: Sequence[Token], match: re.Match[str], form: str, words: Words) -> _ClockTime | None:
    said = {name: tokens[match.start(name)] for name, drawn in match.groupdict().items() if drawn}
    hour, first, end = said["h"], match.start(), match.end()
    if form == "named":
        return _ClockTime(first, end, words.tables["named_hours"][hour.text], 0, 0, None, settled=True)
    numbers = [_number(said[name]) if name in said else 0 for name in ("h", "i", "s")]
    if None in numbers or (form == "digital" and not _two_glued_digits(tokens, match.start("i"))):
        return None
    at, minute, second = (number or 0 for number in numbers)
    way = minute if match.groupdict().get("way") == "p" else -minute
    before, halves_of_day = "half_before" in words.flags, words.tables["halves_of_day"]
    half = -30 if before else 30
    offset, usual = {
        "half": (half, before),  # "half two" is 1:30 to some
        "half_past": (30, True),
        "minutes_to_half": (half + way, True),
        "quarter": (15 if match.groupdict().get("way") == "p" else -15, True),
        "quarter_of": (-15 if match.groupdict().get("q") == "T" else -45, False),
        "minutes": (way, True),
    }.get(form, (minute, True))
    first_hour = halves_of_day[said["a"].text] if "a" in said else None
    clear = first_hour is None and (at == 0 or at > 12 or hour.text[0] == "0")
    settled = (form in ("digital", "spoken") and clear) or (form == "digital" and "twelve_hours" not in words.flags)
    return _ClockTime(first, end, at, offset, second, first_hour, settled, usual)


def _number(token: Token) -> int | None:
    """Return the number of a token, None if it cannot be part of a time."""
    return int(token.value) if token.value is not None and len(token.text) <= 2 and token.text.isdecimal() else None


def _two_glued_digits(tokens: Sequence[Token], minute: int) -> bool:
    """Tell whether minutes have two digits and stick to the hour: "14.30", not "3. 3" or "2.5"."""
    return len(tokens[minute].text) == 2 and tokens[minute].glued and tokens[minute - 1].glued


def _bare(token: Token, place: int) -> _ClockTime | None:
    """Return a number alone as an hour, or four digits as hour and minutes; both to be read back."""
    if len(token.text) == 4 and token.text.isdecimal():
        hour, minutes = int(token.text[:2]), int(token.text[2:])
        return _ClockTime(place, place + 1, hour, minutes, 0, None, settled=True, usual=False)
    number = _number(token)
    if number is None:
        return None
    return _ClockTime(place, place + 1, number, 0, 0, None, settled=number > 12, usual=False)


def read_age(reply: Reply, context: Context) -> Reading | None:
    """Return an age that must be worked out from what was said; None where it is a plain number, or none at all."""
    words = context.words
    spelled = with_numbers(reply, words)
    numbers = [int(token.value) for token in spelled.tokens if token.numeric and token.value is not None]
    if not context.asks("age") or not numbers:
        return None
    if not context.asks("age_past") and _of_illness(numbers, spelled, words):
        return NotUnderstood("years or counts of an illness, where an age is wanted", "nothing")
    if words["negators"].within(spelled.names):
        return None
    coming = _coming(numbers, spelled, words)
    if coming is not None:
        return Read((Answer("integer", coming),), literal=False)
    age = _age_since_birth(spelled, context)
    if age is None:
        return None
    if context.asks("age_past"):
        called = not words["birth"].isdisjoint(spelled.names)
        return NotUnderstood("a birth, where an age of the past is wanted", "incomplete") if called else None
    # The age that was said beside the year of birth counts if it fits that.
    said = [number for number in numbers if abs(number - age) == 1]
    fits = len(said) == 1 and len(numbers) > 1
    return Read((Answer("integer", said[0] if fits else age),), literal=False) if 0 <= age <= OLDEST else None


def _of_illness(numbers: Sequence[int], reply: Reply, words: Words) -> bool:
    """Tell whether numbers are said of an illness or a device alone: "2018 a heart attack and 3 stents"."""
    aged = words["age"].within(reply.names) or words["birth"].within(reply.names)
    return words["illness"].within(reply.names) and not aged and not any(ADULT <= each <= OLDEST for each in numbers)


def _coming(numbers: Sequence[int], reply: Reply, words: Words) -> int | None:
    """Return the age before the next birthday: 61 for "61, werd bald 62" and for "werde 62"."""
    becoming = words["becoming"].within(reply.names)
    ages = sorted(set(numbers))
    if len(ages) == 2 and ages[1] == ages[0] + 1:
        dated = any(name in words.tables["months"] for name in reply.names)
        return ages[0] if becoming or dated or words["nearing"].within(reply.names) else None
    if len(numbers) != 1 or numbers[0] > OLDEST or not becoming:
        return None
    number = next(place for place, token in enumerate(reply.tokens) if token.numeric)
    before = [token.text for token in reply.tokens[:number]]
    return numbers[0] - 1 if words["becoming"].within(before) else None


def _age_since_birth(reply: Reply, context: Context) -> int | None:
    """Return the age now of somebody born on the day, in the month or in the year that is said."""
    today, said = context.today, not context.words["birth"].isdisjoint(reply.names)
    asked = replace(context.asked, type="date", prompt="", minimum=None, maximum=None)
    found = _dates_in(reply, replace(context, asked=asked, prompt=Reply("", ())))
    births = [str(each.value) for each in found if each.value is not None and not each.problem]
    digits = [token.text for token in reply.tokens if token.numeric]
    if said and len(digits) == 1 and len(digits[0]) == 2:  # "64er Jahrgang"
        births = [str(full_year(int(digits[0]), asked, today))]
    else:
        in_full = any(len(text) == 4 for text in digits)
        whole = len(births) == 1 and (said or len(births[0]) == 10 or in_full)
        spoken = len(digits) > 1 or not digits or len(digits[0]) != 2
        births = births if whole and spoken else []
    if not births:
        return None
    year, month, day = (int(part) for part in (*births[0].split("-"), "0", "0")[:3])
    if not month:  # what is likelier
        return today.year - year - (0 if today.month >= SECOND_HALF else 1)
    return today.year - year - int((month, day) > (today.month, today.day if day else 0))
