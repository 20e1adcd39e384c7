"""An age said by the year or day of birth, or by the next birthday: "Jahrgang 64", "61, werd bald 62". Pure.

Never literal: what was worked out is read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from bot.interview.answer import Answer
from bot.interview.parsing.asked import Asked
from bot.interview.parsing.date_forms import Calendar
from bot.interview.parsing.dates import dates_in
from bot.interview.parsing.numerals import number_tokens
from bot.interview.parsing.partial_dates import full_year
from bot.interview.parsing.reading import NotUnderstood, Read, Reading
from bot.interview.parsing.tokens import Reply, Token, cut
from bot.interview.parsing.vocabulary import Words

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
