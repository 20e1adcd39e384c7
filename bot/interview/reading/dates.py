"""Read a date, or an age, from a reply. Pure.

Never literal: what was worked out is read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from bot.interview.reading.date_forms import Calendar, date_at, drawing, full_year, written
from bot.interview.reading.feasts import decade_at, feast_at, part_at, season_at
from bot.interview.reading.found import Found, settle
from bot.interview.reading.numerals import number_tokens
from bot.interview.reading.reading import Asked, NotUnderstood, Read, Reading
from bot.interview.reading.relative_dates import counted_at, counted_time, relative_at
from bot.interview.reading.tokens import Reply, Token, cut
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer


def read_date(reply: Reply, asked: Asked, words: Words, today: date) -> Reading:
    """Read dates."""
    spelled = Reply(reply.text, number_tokens(reply.tokens, words.numbers, years=True))
    counted = counted_time(spelled.tokens, words) if asked.now else None
    if counted and asked.now:
        day = counted.moment(asked.now).date().isoformat()
        found = [Found(counted.first, counted.end, day, literal=False)]
    else:
        found = dates_in(spelled, Calendar(asked, words, today))
    return settle(found, spelled, asked.type, asked, around_dates(words))


def around_dates(words: Words) -> Words:
    """Return the words with those added to the harmless ones that change nothing next to a date: "im Jahr 2015"."""
    return replace(words, around=replace(words.around, harmless=words.around.harmless | words.dates.year_pads))


def dates_in(reply: Reply, calendar: Calendar) -> list[Found]:
    """Return the dates in a reply whose number words are merged."""
    tokens = reply.tokens
    drawn = drawing(tokens, calendar.words)
    found: list[Found] = []
    place = 0
    while place < len(tokens):
        item = (
            counted_at(tokens, place, calendar)  # before years: "2000 days ago"
            or decade_at(tokens, place, calendar)
            or feast_at(tokens, place, calendar)
            or date_at(tokens, drawn, place, calendar)
            or part_at(tokens, place, calendar)
            or season_at(tokens, place, calendar)
            or relative_at(tokens, place, calendar)
        )
        if item:
            found.append(item)
        place = item.end if item else place + 1
    found = _month_of_year(_with_weekday(found, calendar), calendar)
    found = [_limited(item, found, tokens, calendar.words) for item in found]
    return found or _bare_year(tokens, calendar)


def _with_weekday(found: Sequence[Found], calendar: Calendar) -> list[Found]:
    """Return the dates with a weekday in front drawn in; a wrong one makes a date unsure, or unusable if inferred."""
    result: list[Found] = []
    for item in found:
        before = result[-1] if result else None
        if before and _is_weekday(before) and item.first - before.end <= 2 and _is_day(item):
            right = _weekday_of(item) == _weekday_of(before)
            problem = (
                None if right or item.literal else NotUnderstood("another weekday than the date's", "two-readings")
            )
            whole = replace(item, first=before.first, literal=item.literal and right)
            result[-1] = replace(whole, problem=item.problem or problem)
        else:
            result.append(item)
    return result


def _is_day(found: Found) -> bool:
    return isinstance(found.value, str) and len(found.value) == 10


def _is_weekday(found: Found) -> bool:
    return _is_day(found) and found.end == found.first + 1 and not found.literal


def _weekday_of(found: Found) -> int:
    return date.fromisoformat(str(found.value)).weekday()


def _month_of_year(found: Sequence[Found], calendar: Calendar) -> list[Found]:
    """Return "letztes Jahr im März" as one date."""
    if len(found) == 2:
        month, year = sorted(found, key=lambda item: -len(str(item.value)))
        inferred = not month.literal and month.end == month.first + 1
        if inferred and len(str(month.value)) == 7 and isinstance(year.value, str) and len(year.value) == 4:
            first, end = min(month.first, year.first), max(month.end, year.end)
            if end - first <= 6:
                return [Found(first, end, f"{year.value}-{str(month.value)[5:]}", False)]
    return list(found)


def _limited(item: Found, found: Sequence[Found], tokens: Sequence[Token], words: Words) -> Found:
    """Return a date as a problem when a word in front makes it a limit: "vor 2015", "until May"."""
    before = item.first - 1
    between_two = any(other.end == before for other in found)
    if before < 0 or between_two:
        return item
    ranged = tokens[before].text in words.around.to and any(token.numeric for token in tokens[:before])
    if tokens[before].text not in words.around.date_limits or ranged:
        return item
    return replace(item, problem=NotUnderstood("a time before or after a date, not the date", "limit"))


def _bare_year(tokens: Sequence[Token], calendar: Calendar) -> list[Found]:
    """Return two digits as a year where nothing else is said: "75", "Jahrgang 75"; "mit 45" is an age."""
    places = [place for place, token in enumerate(tokens) if token.kind in ("digits", "number")]
    others = [token for token in tokens if token.wordlike and token.text not in calendar.words.dates.year_pads]
    if len(places) != 1 or others or len(tokens[places[0]].text) != 2:
        return []
    short = int(tokens[places[0]].text)
    if short <= 31:
        return []
    year = full_year(short, 0, 0, calendar.asked, calendar.today)
    return [Found(places[0], places[0] + 1, written(year), False)]


OLDEST = 125
SECOND_HALF = 7  # by July, most people of a year have had their birthday


def asks_age(asked: Asked, words: Words) -> bool:
    """Tell whether a question asks for an age in years."""
    return bool(_prompt(asked, words) & words.numbers.age)


def read_age(reply: Reply, asked: Asked, words: Words, today: date) -> Reading | None:
    """Return an age that must be worked out from what was said; None where it is a plain number, or none at all."""
    if not asks_age(asked, words):
        return None
    tokens = number_tokens(reply.tokens, words.numbers)
    names = [token.text for token in tokens if token.wordlike]
    numbers = [int(token.value) for token in tokens if token.numeric and token.value is not None]
    if words.agreement.negators.within(names) or not numbers:
        return None
    coming = _coming(numbers, tokens, words)
    if coming is not None:
        return _age(coming)
    born = _born(Reply(reply.text, tokens), asked, words, today)
    if born is None:
        return None
    if _prompt(asked, words) & words.numbers.age_past:
        called = words.numbers.birth.intersection(names)
        return NotUnderstood("a birth, where an age of the past is wanted", "incomplete") if called else None
    return _said_too(born, numbers) if 0 <= born <= OLDEST else None


def _prompt(asked: Asked, words: Words) -> set[str]:
    return {token.text for token in cut(asked.prompt, words.fold).tokens if token.kind == "word"}


def _age(years: int) -> Read:
    return Read((Answer("integer", years),), literal=False)


def _said_too(worked_out: int, numbers: Sequence[int]) -> Read:
    """Return the age that was said beside the year of birth, if it fits that."""
    said = [number for number in numbers if abs(number - worked_out) == 1]
    return _age(said[0] if len(said) == 1 and len(numbers) > 1 else worked_out)


def _coming(numbers: Sequence[int], tokens: Sequence[Token], words: Words) -> int | None:
    """Return the age before the next birthday: 61 for "61, werd bald 62" and for "werde 62"."""
    names = [token.text for token in tokens if token.wordlike]
    becoming = words.numbers.becoming.within(names)
    ages = sorted(set(numbers))
    if len(ages) == 2 and ages[1] == ages[0] + 1:
        dated = any(name in words.dates.months for name in names)
        return ages[0] if becoming or dated or words.numbers.nearing.within(names) else None
    if len(numbers) != 1 or numbers[0] > OLDEST or not becoming:
        return None
    before = [token.text for token in tokens[: next(place for place, token in enumerate(tokens) if token.numeric)]]
    return numbers[0] - 1 if words.numbers.becoming.within(before) else None


def _born(reply: Reply, asked: Asked, words: Words, today: date) -> int | None:
    """Return the age now of somebody born on the day, in the month or in the year that is said."""
    names = {token.text for token in reply.tokens if token.wordlike}
    said = bool(names & words.numbers.birth)
    calendar = Calendar(replace(asked, type="date", prompt="", minimum=None, maximum=None), words, today)
    found = [str(each.value) for each in dates_in(reply, calendar) if each.value is not None and not each.problem]
    digits = [token.text for token in reply.tokens if token.numeric]
    short = [text for text in digits if len(text) == 2]
    if said and not any(len(text) == 4 for text in digits) and len(digits) == 1 and short:
        return _age_in(str(full_year(int(short[0]), 0, 0, calendar.asked, today)), today)  # "64er Jahrgang"
    whole = len(found) == 1 and (said or len(found[0]) == 10 or any(len(text) == 4 for text in digits))
    spoken = len(digits) > 1 or not digits or len(digits[0]) != 2
    return _age_in(found[0], today) if whole and spoken else None


def _age_in(birth: str, today: date) -> int:
    """Return the age today; where the day or month is not known, what is likelier."""
    year, month, day = (int(part) for part in (*birth.split("-"), "0", "0")[:3])
    if not month:
        return today.year - year - (0 if today.month >= SECOND_HALF else 1)
    return today.year - year - int((month, day) > (today.month, today.day if day else 0))
