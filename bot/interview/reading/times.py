"""Read a time of day, or a date with time, from a reply. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from bot.interview.reading.date_forms import Calendar, exists
from bot.interview.reading.dates import around_dates, dates_in
from bot.interview.reading.found import Found, settle, weigh
from bot.interview.reading.numerals import number_tokens
from bot.interview.reading.reading import Asked, NotUnderstood, Read, Reading
from bot.interview.reading.relative_dates import Counted, counted_time, means_part_of_day
from bot.interview.reading.tokens import Reply, Token
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


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A time as said: an hour, minutes before or after it, and what tells morning from evening.

    Attributes:
        first_hour: 0 for am, 12 for pm, None if neither was said.
        settled: Whether it is written so that it can only be meant one way.
        usual: Whether the form is understood alike everywhere.
    """

    first: int
    end: int
    hour: int
    minutes: int
    second: int
    first_hour: int | None
    settled: bool
    usual: bool = True


def read_time(reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read times of day."""
    spelled = clock_tokens(reply, words)
    counted = counted_time(spelled.tokens, words)
    if counted:
        if asked.now is None:
            return NotUnderstood("a time counted from a present that is not known", "incomplete")
        value = counted.moment(asked.now).strftime("%H:%M:00")
        return settle([Found(counted.first, counted.end, value, literal=False)], spelled, "time", asked, words)
    found, rest = times_in(spelled, words, alone=True)
    return settle(found, rest, "time", asked, words)


def clock_tokens(reply: Reply, words: Words, *, years: bool = False) -> Reply:
    """Return the reply with number words merged, and "p.m." as one word."""
    tokens: list[Token] = []
    place = 0
    while place < len(reply.tokens):
        taken = _meridiem(reply.tokens, place) if words.times.halves_of_day else 0
        token = reply.tokens[place]
        if taken:
            last = reply.tokens[place + taken - 1]
            token = replace(token, kind="word", text=token.text + "m", end=last.end)
        tokens.append(token)
        place += taken or 1
    return Reply(reply.text, number_tokens(tokens, words.numbers, years=years))


def _meridiem(tokens: Sequence[Token], start: int) -> int:
    """Return how many tokens "p.m." or "a m" takes; 0 if it is something else."""
    texts = [token.text for token in tokens[start : start + 4]]
    if not texts or texts[0] not in ("a", "p"):
        return 0
    for form in (["m", "."], [".", "m", "."], [".", "m"], ["m"]):
        if texts[1 : 1 + len(form)] == form:
            return 1 + len(form)
    return 0


def times_in(reply: Reply, words: Words, *, alone: bool, taken: Sequence[Found] = ()) -> tuple[list[Found], Reply]:
    """Return the times in a reply outside the spans `taken`, and the reply with words for parts of the day muted.

    Args:
        reply: With number words merged.
        words: Of the language.
        alone: Whether a bare number may be an hour.
        taken: What is a date already.
    """
    free = [not any(item.first <= place < item.end for item in taken) for place in range(len(reply.tokens))]
    window, rest = _part_of_day(reply, free, words)
    drawn = "".join(_drawn(token, words.times) if free[place] else "-" for place, token in enumerate(rest.tokens))
    spoken = _scan(rest.tokens, drawn, words.times)
    if not spoken:
        spoken = _bare(rest.tokens, [place for place in _numbers(rest, free) if alone or _opened(rest, place, words)])
    return [_clock(item, window) for item in spoken], rest


def _part_of_day(reply: Reply, free: Sequence[bool], words: Words) -> tuple[tuple[int, int] | None, Reply]:
    """Return the hours that a word like "abends" allows, and the reply in which that word is quiet."""
    for place, token in enumerate(reply.tokens):
        if free[place] and token.kind == "word" and means_part_of_day(reply.tokens, place, words):
            # "Mittags" alone is a time; "mittags um zwölf" only says which twelve.
            is_time = token.text in words.times.named and not _numbers(reply, free)
            quiet = token if is_time else replace(token, kind="mark", text=",")
            tokens = (*reply.tokens[:place], quiet, *reply.tokens[place + 1 :])
            return words.times.parts_of_day[token.text], Reply(reply.text, tokens)
    return None, reply


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


def _scan(tokens: Sequence[Token], drawn: str, names: TimeWords) -> list[_Spoken]:
    found: list[_Spoken] = []
    place = 0
    while place < len(tokens):
        item = _at(tokens, drawn, place, names)
        if item:
            found.append(item)
        place = item.end if item else place + 1
    return found


def _at(tokens: Sequence[Token], drawn: str, start: int, names: TimeWords) -> _Spoken | None:
    for form, pattern in _FORMS:
        match = pattern.match(drawn, start, start + _MAX_FORM)
        item = _spoken(tokens, match, form, names) if match else None
        if item:
            return item
    return None


def _spoken(tokens: Sequence[Token], match: re.Match[str], form: str, names: TimeWords) -> _Spoken | None:
    groups = match.groupdict()

    def token(name: str) -> Token | None:
        return tokens[match.start(name)] if groups.get(name) else None

    half_of_day, hour = token("a"), token("h")
    first_hour = names.halves_of_day[half_of_day.text] if half_of_day else None
    if form == "named" and hour:
        return _Spoken(match.start(), match.end(), names.named[hour.text], 0, 0, None, settled=True)
    numbers = [_number(token(name)) for name in ("h", "i", "s")]
    if hour is None or None in numbers or (form == "digital" and not _digital(tokens, match)):
        return None
    at, minute, second = (number or 0 for number in numbers)
    offset, usual = _offset(form, groups, minute, names)
    settled = form in ("digital", "spoken") and first_hour is None and (at == 0 or at > 12 or hour.text[0] == "0")
    settled = settled or (form == "digital" and not names.twelve_hours)
    return _Spoken(match.start(), match.end(), at, offset, second, first_hour, settled, usual)


def _number(token: Token | None) -> int | None:
    """Return the number of a token, 0 if there is none, None if it cannot be part of a time."""
    if token is None:
        return 0
    if token.value is None or len(token.text) > 2 or not token.text.isdecimal():
        return None
    return int(token.value)


def _digital(tokens: Sequence[Token], match: re.Match[str]) -> bool:
    """Tell whether minutes have two digits and stick to the hour: "14.30", not "3. 3" or "2.5"."""
    minute = match.start("i")
    return len(tokens[minute].text) == 2 and tokens[minute].glued and tokens[minute - 1].glued


def _offset(form: str, groups: dict[str, str], minute: int, names: TimeWords) -> tuple[int, bool]:
    """Return the minutes after the hour that was said, and whether everybody understands the form alike."""
    sign = -1 if groups.get("way") == "t" else 1
    if form == "half":
        return (-30 if names.half_before else 30), names.half_before  # "half two" is 1:30 to some
    if form == "half_past":
        return 30, True
    if form == "minutes_to_half":
        return (-30 if names.half_before else 30) + sign * minute, True
    if form == "quarter":
        return sign * 15, True
    if form == "quarter_of":
        return (-15 if groups.get("q") == "T" else -45), False
    return (sign * minute if form == "minutes" else minute), True


def _numbers(reply: Reply, free: Sequence[bool]) -> list[int]:
    return [place for place, token in enumerate(reply.tokens) if token.numeric and free[place]]


def _opened(reply: Reply, place: int, words: Words) -> bool:
    return place > 0 and reply.tokens[place - 1].text in words.times.at


def _bare(tokens: Sequence[Token], places: Sequence[int]) -> list[_Spoken]:
    """Return a number alone as an hour, or four digits as hour and minutes; both to be read back."""
    if len(places) != 1:
        return []
    place, text = places[0], tokens[places[0]].text
    if len(text) == 4 and text.isdecimal():
        return [_Spoken(place, place + 1, int(text[:2]), int(text[2:]), 0, None, settled=True, usual=False)]
    number = _number(tokens[place])
    if number is None:
        return []
    return [_Spoken(place, place + 1, number, 0, 0, None, settled=number > 12, usual=False)]


def _clock(spoken: _Spoken, window: tuple[int, int] | None) -> Found:
    """Return a time as FHIR writes it."""
    first, end = spoken.first, spoken.end
    if spoken.hour > 24 or abs(spoken.minutes) > 59 or spoken.second > 59 or (spoken.hour == 24 and spoken.minutes):
        return Found(first, end, None, False, NotUnderstood("there is no such time of day", "impossible"))
    total, sure = _resolved(spoken, window)
    literal = sure and spoken.usual and spoken.hour != 24
    return Found(first, end, f"{total // 60:02d}:{total % 60:02d}:{spoken.second:02d}", literal)


def _resolved(spoken: _Spoken, window: tuple[int, int] | None) -> tuple[int, bool]:
    """Return minutes since midnight, and whether morning and evening cannot be confused."""
    plain = (spoken.hour * 60 + spoken.minutes) % DAY
    if spoken.first_hour is not None:
        right = 1 <= spoken.hour <= 12
        return ((spoken.hour % 12 + spoken.first_hour) * 60 + spoken.minutes) % DAY if right else plain, right
    if spoken.settled and (spoken.hour > 12 or window is None):
        return plain, True
    if spoken.hour > 12 or spoken.hour == 0:
        return plain, True
    both = [((spoken.hour % 12 + half) * 60 + spoken.minutes) % DAY for half in (0, 12)]
    fitting = [total for total in both if window and _inside(total // 60, window)]
    if len(fitting) == 1:
        return fitting[0], True
    return next(total for total in both if _inside(total // 60, WAKING)), False


def _inside(hour: int, window: tuple[int, int]) -> bool:
    low, high = window
    return low <= hour <= high if low <= high else hour >= low or hour <= high


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
