"""Amounts with units: "etwa 70 Kilo", "1 Meter 68", "5 foot 6". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.interview.answer import JsonValue
from bot.interview.parsing.asked import Asked, Unit
from bot.interview.parsing.found import Found, settle
from bot.interview.parsing.numbers import Number, chosen, number_at
from bot.interview.parsing.numerals import number_tokens
from bot.interview.parsing.reading import NotUnderstood, Reading, Why
from bot.interview.parsing.tokens import Reply, Token
from bot.interview.parsing.units import BARE, SMALLER, convert, factor, unit_at
from bot.interview.parsing.vocabulary import Words

_HALF = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number and the codes its unit may stand for; none if it has no unit."""

    number: Number
    end: int
    codes: tuple[str, ...]
    joint: bool = False  # put together from two numbers


def read_quantity(reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read amounts, in a unit that the question allows."""
    spelled = Reply(reply.text, number_tokens(reply.tokens, words.numbers))
    found, place = [], 0
    while place < len(spelled.tokens):
        amount = _amount_at(spelled.tokens, place, asked, words)
        if amount:
            found.append(_valued(amount, spelled.tokens, asked, words))
        place = amount.end if amount else place + 1
    return settle(found, spelled, "quantity", asked, words)


def _amount_at(tokens: Sequence[Token], start: int, asked: Asked, words: Words) -> _Amount | None:
    """Return the amount that begins at `start`, with a smaller unit after it if there is one."""
    feet = _feet(tokens, start, asked, words)
    if feet:
        return feet
    first = _single(tokens, start, asked, words)
    if first is None:
        return None
    place = first.end
    if place < len(tokens) and tokens[place].text in words.numbers.joiners:
        place += 1
    second = _single(tokens, place, asked, words) if first.codes and place < len(tokens) else None
    return (_together(first, second) if second else None) or first


def _feet(tokens: Sequence[Token], start: int, asked: Asked, words: Words) -> _Amount | None:
    """Return 5'6 and 5'6": an apostrophe that cannot part thousands."""
    pieces = tokens[start : start + 3]
    if [piece.kind for piece in pieces] != ["digits", "mark", "digits"] or pieces[1].text != "'":
        return None
    codes = unit_at(tokens, start + 1, words, asked.allowed_units)[1]
    if "[ft_i]" not in codes or len(pieces[0].text) > 1 or len(pieces[2].text) > 2:
        return None
    end = start + 4 if start + 3 < len(tokens) and tokens[start + 3].text == '"' else start + 3
    inches = Decimal(pieces[0].text) * 12 + Decimal(pieces[2].text)
    return _Amount(Number(start, end, (inches,)), end, ("[in_i]",), joint=True)


def _single(tokens: Sequence[Token], start: int, asked: Asked, words: Words) -> _Amount | None:
    number = number_at(tokens, start, words.numbers, lists=asked.repeats)
    if number:
        end, codes = unit_at(tokens, number.end, words, asked.allowed_units)
        return _and_a_half(_Amount(number, end, codes), tokens, words) if codes else _Amount(number, number.end, ())
    number = _worded(tokens, start, words)
    if number is None:
        return None
    end, codes = unit_at(tokens, number.end, words, asked.allowed_units)
    return _and_a_half(_Amount(number, end, codes), tokens, words) if codes else None


def _and_a_half(amount: _Amount, tokens: Sequence[Token], words: Words) -> _Amount:
    """Return an amount with what follows its unit: "a year and a half"."""
    following = [token.text for token in tokens[amount.end : amount.end + 3]]
    more = words.numbers.and_a_half.length_at(following, 0)
    if not more or not amount.number.readings:
        return amount
    value = amount.number.readings[0] + _HALF
    return replace(amount, number=replace(amount.number, readings=(value,)), end=amount.end + more)


def _worded(tokens: Sequence[Token], start: int, words: Words) -> Number | None:
    """Return "eine", "a", "eine halbe", "half an" as a number, which counts only in front of a unit."""
    end = start
    halved = False
    while end < len(tokens) and end - start < 2 and tokens[end].wordlike:
        if tokens[end].text in words.dates.half and not halved:
            halved = True
        elif tokens[end].kind != "article" or (end > start and not halved):
            break
        end += 1
    if end == start:
        return None
    return Number(start, end, (_HALF if halved else Decimal(1),), literal=False)


def _together(first: _Amount, second: _Amount) -> _Amount | None:
    """Return two amounts as one, in the smaller unit, if the second continues the first."""
    for code in first.codes:
        smaller = SMALLER.get(code, "")
        fits = smaller in second.codes or (not second.codes and code in BARE)
        count = factor(code, smaller)
        if fits and count and first.number.readings and second.number.readings:
            large, small = first.number.readings[0], second.number.readings[0]
            if large == large.to_integral_value() and 0 <= small < count:
                total = Number(first.number.first, second.end, (large * count + small,), literal=False)
                return _Amount(total, second.end, (smaller,), joint=True)
    return None


def _valued(amount: _Amount, tokens: Sequence[Token], asked: Asked, words: Words) -> Found:
    """Return the amount in an allowed unit, or why there is none."""
    number = replace(amount.number, end=amount.end)
    plain = chosen(number, asked, whole=False)
    if plain.problem:
        return plain
    if not amount.codes:
        return _without_unit(number, plain, tokens, asked, words)
    if not isinstance(plain.value, Decimal):
        return plain
    return _with_unit(amount, plain, plain.value, asked, words)


def _with_unit(amount: _Amount, plain: Found, value: Decimal, asked: Asked, words: Words) -> Found:
    options = asked.allowed_units or _free_units(amount, value, words)
    direct = [unit for unit in options if unit.code in amount.codes and not amount.joint]
    if len(direct) > 1 or (not asked.allowed_units and len(amount.codes) > 1):
        if not asked.allowed_units:
            return _failed(plain, "a unit that can mean two things", "two-readings")
        return replace(plain, value=quantity(value, direct[0]), literal=False)
    if direct:
        return replace(plain, value=quantity(value, direct[0]))
    for unit in options:
        for code in amount.codes:
            converted = convert(value, code, unit.code)
            if converted is not None:
                return replace(plain, value=quantity(converted, unit), literal=False)
    names = ", ".join(unit.code for unit in options)
    return _failed(plain, f"a unit that is not allowed; allowed are {names}", "unit")


def _free_units(amount: _Amount, value: Decimal, words: Words) -> tuple[Unit, ...]:
    """Return the units that a quantity without any given unit may have: the one the patient wrote."""
    codes = [code if not code.startswith("{") else "kg" for code in amount.codes]
    larger = [big for big, small in SMALLER.items() if small in codes and amount.joint]
    exact = [big for big in larger if convert(value, codes[0], big) is not None]
    return tuple(Unit(code, words.units.names.get(code, code)) for code in exact + codes)


def _without_unit(number: Number, plain: Found, tokens: Sequence[Token], asked: Asked, words: Words) -> Found:
    after = tokens[number.end] if number.end < len(tokens) else None
    if after is not None and after.kind == "word" and _may_be_unit(after.text, words):
        return _failed(plain, "a word after the number that is no known unit", "unit")
    options = asked.allowed_units
    unit = asked.unit or (options[0] if len(options) == 1 else None)
    if unit is None or not isinstance(plain.value, Decimal):
        return _failed(plain, "a number without its unit", "unit-missing")
    return replace(plain, value=quantity(plain.value, unit), literal=plain.literal and len(options) == 1)


def _may_be_unit(word: str, words: Words) -> bool:
    """Tell whether a word is none of those that often follow a number: "70 kg" has a unit, "70 etwa" none."""
    around = words.around
    known = around.harmless | around.joins | around.to | around.either | around.date_limits | words.numbers.minus
    lists = (around.approximate, around.hedges, around.limits, words.agreement.negators, words.agreement.yes)
    return word not in known and not any(phrase[0] == word for phrases in lists for phrase in phrases.all)


def _failed(plain: Found, reason: str, why: Why) -> Found:
    return replace(plain, value=None, literal=False, problem=NotUnderstood(reason, why))


def quantity(value: Decimal, unit: Unit) -> dict[str, JsonValue]:
    """Return FHIR's Quantity."""
    named: dict[str, JsonValue] = {"unit": unit.display or unit.code, "system": unit.system, "code": unit.code}
    return {"value": value, **{name: text for name, text in named.items() if text}}
