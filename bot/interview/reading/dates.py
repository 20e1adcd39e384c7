"""Read a date, or an age, from a reply. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from bot.interview.reading.date_forms import date_at, drawing, full_year, written
from bot.interview.reading.feasts import decade_at, feast_at, part_at, season_at
from bot.interview.reading.found import Found, settle
from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.reading import Context, NotUnderstood, Read, Reading
from bot.interview.reading.relative_dates import counted_at, counted_time, relative_at
from bot.interview.reading.tokens import Reply, Token, one_after_another
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer

OLDEST = 125
SECOND_HALF = 7  # by July, most people of a year have had their birthday


def read_date(reply: Reply, context: Context) -> Reading:
    """Read dates."""
    now = context.asked.now
    spelled = with_numbers(reply, context.words.numbers, years=True)
    counted = counted_time(spelled.tokens, context.words) if now else None
    if counted and now:
        found = [Found(counted.first, counted.end, counted.moment(now).date().isoformat(), literal=False)]
    else:
        found = dates_in(spelled, context)
    return settle(found, spelled, context.asked.type, around_dates(context))


def around_dates(context: Context) -> Context:
    """Return the context of what stands around a date, where a few more words change nothing: "im Jahr 2015"."""
    return context.with_harmless(context.words.dates.year_pads)


def dates_in(reply: Reply, context: Context) -> list[Found]:
    """Return the dates in a reply whose number words are merged."""
    tokens = reply.tokens
    drawn = drawing(tokens, context.words)

    def at(place: int) -> Found | None:
        return (
            counted_at(tokens, place, context)  # before years: "2000 days ago"
            or decade_at(tokens, place, context)
            or feast_at(tokens, place, context)
            or date_at(tokens, drawn, place, context)
            or part_at(tokens, place, context)
            or season_at(tokens, place, context)
            or relative_at(tokens, place, context)
        )

    found = _month_of_year(_with_weekday(one_after_another(tokens, at)))
    return [_limited(item, found, tokens, context.words) for item in found] or _bare_year(tokens, context)


def _with_weekday(found: Sequence[Found]) -> list[Found]:
    """Return the dates with a weekday in front drawn in; a wrong one makes a date unsure, or unusable if inferred."""
    result: list[Found] = []
    for item in found:
        before = result[-1] if result else None
        weekday = before and _is_day(before) and before.end == before.first + 1 and not before.literal
        if before and weekday and item.first - before.end <= 2 and _is_day(item):
            right = _weekday_of(item) == _weekday_of(before)
            whole = replace(item, first=before.first, literal=item.literal and right)
            if not (right or item.literal or item.problem):
                whole = replace(whole, problem=NotUnderstood("another weekday than the date's", "two-readings"))
            result[-1] = whole
        else:
            result.append(item)
    return result


def _is_day(found: Found) -> bool:
    return isinstance(found.value, str) and len(found.value) == 10


def _weekday_of(found: Found) -> int:
    return date.fromisoformat(str(found.value)).weekday()


def _month_of_year(found: list[Found]) -> list[Found]:
    """Return "letztes Jahr im März" as one date."""
    if len(found) == 2:
        month, year = sorted(found, key=lambda item: -len(str(item.value)))
        first, end = min(month.first, year.first), max(month.end, year.end)
        inferred = not month.literal and month.end == month.first + 1 and len(str(month.value)) == 7
        if inferred and isinstance(year.value, str) and len(year.value) == 4 and end - first <= 6:
            return [Found(first, end, f"{year.value}-{str(month.value)[5:]}", literal=False)]
    return found


def _limited(item: Found, found: Sequence[Found], tokens: Sequence[Token], words: Words) -> Found:
    """Return a date as a problem when a word in front makes it a limit: "vor 2015", "until May"."""
    before = item.first - 1
    if before < 0 or any(other.end == before for other in found) or tokens[before].text not in words.around.date_limits:
        return item
    ranged = tokens[before].text in words.around.to and any(token.numeric for token in tokens[:before])
    limit = NotUnderstood("a time before or after a date, not the date", "limit")
    return item if ranged else replace(item, problem=limit)


def _bare_year(tokens: Sequence[Token], context: Context) -> list[Found]:
    """Return two digits as a year where nothing else is said: "75", "Jahrgang 75"; "mit 45" is an age."""
    places = [place for place, token in enumerate(tokens) if token.numeric]
    others = [token for token in tokens if token.wordlike and token.text not in context.words.dates.year_pads]
    if len(places) != 1 or others or len(tokens[places[0]].text) != 2 or int(tokens[places[0]].text) <= 31:
        return []
    year = full_year(int(tokens[places[0]].text), context.asked, context.today)
    return [Found(places[0], places[0] + 1, written(year), literal=False)]


def read_age(reply: Reply, context: Context) -> Reading | None:
    """Return an age that must be worked out from what was said; None where it is a plain number, or none at all."""
    words = context.words
    if not context.asks_age:
        return None
    spelled = with_numbers(reply, words.numbers)
    numbers = [int(token.value) for token in spelled.tokens if token.numeric and token.value is not None]
    if not numbers or words.agreement.negators.within(spelled.names):
        return None
    coming = _coming(numbers, spelled, words)
    if coming is not None:
        return _age(coming)
    age = _age_since_birth(spelled, context)
    if age is None:
        return None
    if context.prompt_words & words.numbers.age_past:
        called = words.numbers.birth.intersection(spelled.names)
        return NotUnderstood("a birth, where an age of the past is wanted", "incomplete") if called else None
    # The age that was said beside the year of birth counts if it fits that.
    said = [number for number in numbers if abs(number - age) == 1]
    fits = len(said) == 1 and len(numbers) > 1
    return _age(said[0] if fits else age) if 0 <= age <= OLDEST else None


def _age(years: int) -> Read:
    return Read((Answer("integer", years),), literal=False)


def _coming(numbers: Sequence[int], reply: Reply, words: Words) -> int | None:
    """Return the age before the next birthday: 61 for "61, werd bald 62" and for "werde 62"."""
    becoming = words.numbers.becoming.within(reply.names)
    ages = sorted(set(numbers))
    if len(ages) == 2 and ages[1] == ages[0] + 1:
        dated = any(name in words.dates.months for name in reply.names)
        return ages[0] if becoming or dated or words.numbers.nearing.within(reply.names) else None
    if len(numbers) != 1 or numbers[0] > OLDEST or not becoming:
        return None
    number = next(place for place, token in enumerate(reply.tokens) if token.numeric)
    before = [token.text for token in reply.tokens[:number]]
    return numbers[0] - 1 if words.numbers.becoming.within(before) else None


def _age_since_birth(reply: Reply, context: Context) -> int | None:
    """Return the age now of somebody born on the day, in the month or in the year that is said."""
    said = not context.words.numbers.birth.isdisjoint(reply.names)
    asked = replace(context.asked, type="date", prompt="", minimum=None, maximum=None)
    found = dates_in(reply, replace(context, asked=asked, prompt=Reply("", ())))
    births = [str(each.value) for each in found if each.value is not None and not each.problem]
    digits = [token.text for token in reply.tokens if token.numeric]
    if said and len(digits) == 1 and len(digits[0]) == 2:  # "64er Jahrgang"
        births = [str(full_year(int(digits[0]), asked, context.today))]
    else:
        in_full = any(len(text) == 4 for text in digits)
        whole = len(births) == 1 and (said or len(births[0]) == 10 or in_full)
        spoken = len(digits) > 1 or not digits or len(digits[0]) != 2
        births = births if whole and spoken else []
    if not births:
        return None
    year, month, day = (int(part) for part in (*births[0].split("-"), "0", "0")[:3])
    today = context.today
    if not month:  # what is likelier
        return today.year - year - (0 if today.month >= SECOND_HALF else 1)
    return today.year - year - int((month, day) > (today.month, today.day if day else 0))
