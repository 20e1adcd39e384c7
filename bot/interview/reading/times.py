"""Read a time of day, or a date with time, from a reply. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from bot.interview.reading.date_forms import exists
from bot.interview.reading.dates import around_dates, dates_in
from bot.interview.reading.found import Found, settle, weigh
from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.reading import Context, NotUnderstood, Read, Reading
from bot.interview.reading.relative_dates import counted_time, means_part_of_day
from bot.interview.reading.tokens import Reply, Token, one_after_another, text_at
from bot.interview.reading.vocabulary import TimeWords, Words
from bot.interview.values.answer import Answer

DAY = 24 * 60
WAKING = (7, 18)  # first and last hour that a time without more is taken for; never literally

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


def read_time(reply: Reply, context: Context) -> Reading:
    """Read times of day."""
    spelled = _clock_tokens(reply, context.words, years=False)
    counted = counted_time(spelled.tokens, context.words)
    if counted is None:
        found, rest = _times_in(spelled, context.words, alone=True)
        return settle(found, rest, "time", context)
    if context.asked.now is None:
        return NotUnderstood("a time counted from a present that is not known", "incomplete")
    value = counted.moment(context.asked.now).strftime("%H:%M:00")
    return settle([Found(counted.first, counted.end, value, literal=False)], spelled, "time", context)


def read_moment(reply: Reply, context: Context) -> Reading:
    """Read a date, and the time of day with it if there is one."""
    asked, words = context.asked, context.words
    stamp = _STAMP.fullmatch(reply.text)
    if stamp and exists(*map(int, stamp.groups()[:3])):
        return Read((Answer("dateTime", reply.text),), literal=True)
    spelled = _clock_tokens(reply, words, years=True)
    counted = counted_time(spelled.tokens, words)
    if counted:
        if asked.now is None:
            return NotUnderstood("a time counted from a present that is not known", "incomplete")
        moment = counted.moment(asked.now)
        day = moment.date().isoformat()  # all that is known without a time zone
        value = _stamped(day, moment.strftime("%H:%M:00"), asked.zone) if asked.zone else day
        return settle([Found(counted.first, counted.end, value, literal=False)], spelled, "dateTime", context)
    dates = dates_in(spelled, context)
    times, rest = _times_in(spelled, words, alone=False, taken=dates)
    if not times:
        return settle(dates, spelled, "dateTime", around_dates(context))
    if not dates:
        return NotUnderstood("a time of day without its date", "incomplete")
    if len(dates) != 1 or len(times) != 1:
        return NotUnderstood("more than one date or time", "several")
    return _together(dates[0], times[0], rest, around_dates(context))


def _together(day: Found, time: Found, reply: Reply, context: Context) -> Reading:
    """Return one dateTime, from a reply in which words for parts of the day are muted."""
    problem, zone = day.problem or time.problem, context.asked.zone
    if problem:
        return problem
    if zone is None or len(str(day.value)) != 10:
        # FHIR wants an offset with every time, and a whole day: what cannot be said is left to staff as a comment.
        kept = settle([day], reply, "dateTime", context)
        return replace(kept, literal=False) if isinstance(kept, Read) else kept
    around = weigh(reply, sorted((day, time), key=lambda item: item.first), context.words)
    if around.problem:
        return around.problem
    value = _stamped(str(day.value), str(time.value), zone)
    if value is None:
        return NotUnderstood("a time that cannot be placed in the time zone", "impossible")
    return Read((Answer("dateTime", value),), day.literal and time.literal and around.literal, around.remainder)


def _stamped(day: str, time: str, zone: tzinfo) -> str | None:
    """Return day and time with the zone's offset to the minute, or None if it has none then."""
    offset = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=zone).utcoffset()
    if offset is None:
        return None
    minutes = round(offset.total_seconds() / 60)
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{day}T{time}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _clock_tokens(reply: Reply, words: Words, *, years: bool) -> Reply:
    """Return the reply with number words merged, and "p.m." as one word."""
    tokens: list[Token] = []
    place = 0
    while place < len(reply.tokens):
        token = reply.tokens[place]
        after = [each.text for each in reply.tokens[place + 1 : place + 4]]
        forms = (["m", "."], [".", "m", "."], [".", "m"], ["m"])
        halved = words.times.halves_of_day and token.text in ("a", "p")
        taken = next((len(form) for form in forms if after[: len(form)] == form), 0) if halved else 0
        if taken:
            token = replace(token, kind="word", text=token.text + "m", end=reply.tokens[place + taken].end)
        tokens.append(token)
        place += taken + 1
    return with_numbers(Reply(reply.text, tuple(tokens)), words.numbers, years=years)


def _times_in(reply: Reply, words: Words, *, alone: bool, taken: Sequence[Found] = ()) -> tuple[list[Found], Reply]:
    """Return the times in a reply outside the spans `taken`, and the reply with words for parts of the day muted.

    `alone`: whether a bare number may be an hour.
    """
    free = [not any(item.first <= place < item.end for item in taken) for place in range(len(reply.tokens))]
    numbers = [place for place, token in enumerate(reply.tokens) if token.numeric and free[place]]
    window: tuple[int, int] | None = None
    tokens = list(reply.tokens)
    for place, token in enumerate(tokens):
        if free[place] and token.kind == "word" and means_part_of_day(tokens, place, words):
            window = words.times.parts_of_day[token.text]
            # "Mittags" alone is a time; "mittags um zwölf" only says which twelve.
            if numbers or token.text not in words.times.named:
                tokens[place] = replace(token, kind="mark", text=",")
            break
    drawn = "".join(_drawn(token, words.times) if free[place] else "-" for place, token in enumerate(tokens))
    times = one_after_another(tokens, lambda place: _time_at(tokens, drawn, place, words.times))
    opened = [place for place in numbers if alone or text_at(tokens, place - 1) in words.times.at]
    if not times and len(opened) == 1:
        bare = _bare(tokens[opened[0]], opened[0])
        times = [bare] if bare else []
    return [item.found(window) for item in times], Reply(reply.text, tuple(tokens))


def _drawn(token: Token, names: TimeWords) -> str:
    if token.kind in ("digits", "number"):
        return "9" if token.kind == "digits" else "n"
    if token.kind == "mark":
        return token.text[0]
    for character, listed in (
        ("N", names.named), ("H", names.half), ("Q", names.quarter), ("T", names.three_quarters), ("u", names.hour),
        ("m", names.minute), ("p", names.past), ("t", names.to), ("A", names.halves_of_day),
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

    def found(self, window: tuple[int, int] | None) -> Found:
        """Return the time as FHIR writes it; `window`: the hours that a word like "abends" allows."""
        if self.hour > 24 or abs(self.minutes) > 59 or self.second > 59 or (self.hour == 24 and self.minutes):
            return Found(self.first, self.end, None, False).failed("there is no such time of day", "impossible")
        total, sure = self._resolved(window)
        value = f"{total // 60:02d}:{total % 60:02d}:{self.second:02d}"
        return Found(self.first, self.end, value, sure and self.usual and self.hour != 24)

    def _resolved(self, window: tuple[int, int] | None) -> tuple[int, bool]:
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


def _inside(hour: int, window: tuple[int, int]) -> bool:
    low, high = window
    return low <= hour <= high if low <= high else hour >= low or hour <= high


def _time_at(tokens: Sequence[Token], drawn: str, start: int, names: TimeWords) -> _ClockTime | None:
    """Return the time that begins at `start`, in the first form that makes one."""
    for form, pattern in _FORMS:
        match = pattern.match(drawn, start, start + _MAX_FORM)
        item = _clock_time(tokens, match, form, names) if match else None
        if item:
            return item
    return None


def _clock_time(tokens: Sequence[Token], match: re.Match[str], form: str, names: TimeWords) -> _ClockTime | None:
    said = {name: tokens[match.start(name)] for name, drawn in match.groupdict().items() if drawn}
    hour, first, end = said["h"], match.start(), match.end()
    if form == "named":
        return _ClockTime(first, end, names.named[hour.text], 0, 0, None, settled=True)
    numbers = [_number(said[name]) if name in said else 0 for name in ("h", "i", "s")]
    if None in numbers or (form == "digital" and not _two_glued_digits(tokens, match.start("i"))):
        return None
    at, minute, second = (number or 0 for number in numbers)
    way = minute if match.groupdict().get("way") == "p" else -minute
    half = -30 if names.half_before else 30
    offset, usual = {
        "half": (half, names.half_before),  # "half two" is 1:30 to some
        "half_past": (30, True),
        "minutes_to_half": (half + way, True),
        "quarter": (15 if match.groupdict().get("way") == "p" else -15, True),
        "quarter_of": (-15 if match.groupdict().get("q") == "T" else -45, False),
        "minutes": (way, True),
    }.get(form, (minute, True))
    first_hour = names.halves_of_day[said["a"].text] if "a" in said else None
    clear = first_hour is None and (at == 0 or at > 12 or hour.text[0] == "0")
    settled = (form in ("digital", "spoken") and clear) or (form == "digital" and not names.twelve_hours)
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
