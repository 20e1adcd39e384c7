"""Amounts with units: "etwa 70 Kilo", "1 Meter 68", "eins achtzig", "5 foot 6", "120 zu 80". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from bot.interview.reading.found import Found, settle, weigh
from bot.interview.reading.numbers import INTEGER_LIMIT, Number, chosen, number_at, numbers_in, read_number
from bot.interview.reading.numerals import number_tokens, spelled_out, with_decimals
from bot.interview.reading.reading import Asked, NotUnderstood, Read, Reading, Unit, Why
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.units import (
    BARE,
    SMALLER,
    TIMES,
    Measure,
    convert,
    convert_roughly,
    factor,
    is_likely,
    is_possible,
    is_pressure,
    meant_unit,
    measure_of,
    unit_at,
)
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer, JsonValue

_HALF = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number and the codes its unit may stand for; none if it has no unit."""

    number: Number
    end: int
    codes: tuple[str, ...]
    joint: bool = False  # put together from two numbers


def read_quantity(reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read amounts, in a unit that the question allows; a question for a plain number gets it in its unit."""
    tokens = with_decimals(number_tokens(reply.tokens, words.numbers), words.numbers)
    spelled = Reply(reply.text, tokens)
    measure = measure_of(asked, words)
    pair = _pressure_pair(spelled, asked, words, measure)
    if pair:
        return pair
    found, place = [], 0
    while place < len(tokens):
        amount = _amount_at(tokens, place, asked, words, measure)
        if amount:
            found.append(_as_asked(_valued(amount, tokens, asked, words), asked, measure))
        place = amount.end if amount else place + 1
    return settle(found, spelled, asked.type, asked, words)


def read_amount(reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read a plain number: in the unit of the question, or, where it has none, without any."""
    if asked.unit:
        return read_quantity(reply, asked, words)
    spelled = Reply(reply.text, number_tokens(reply.tokens, words.numbers))
    measure = measure_of(asked, words)
    pair = _pressure_pair(spelled, asked, words, measure)
    if pair:
        return pair
    reading = read_number(reply, asked, words)
    if not isinstance(reading, Read):
        return reading
    if _has_a_unit(spelled.tokens, measure.unit if measure else "", words):
        return NotUnderstood("a unit where a number without one is wanted", "unit")
    amounts = [Decimal(answer.value) for answer in reading.answers if isinstance(answer.value, int | Decimal)]
    if measure and measure.kind in _UNITLESS and any(not is_possible(amount, "", measure) for amount in amounts):
        return NotUnderstood("a value that nobody has", "implausible")
    return reading


# Well-known quantities that have but one usual unit, so that a number alone can be judged.
_UNITLESS = frozenset({"age", "systolic", "diastolic", "pulse", "bmi"})


def _has_a_unit(tokens: Sequence[Token], own: str, words: Words) -> bool:
    """Tell whether a number has a unit after it that its question knows nothing of; "Jahre" may stand there."""
    for number in numbers_in(tokens, words.numbers):
        codes = unit_at(tokens, number.end, words, ())[1]
        other = not {*TIMES, own} & set(codes) and not any(code.startswith("/") for code in codes)
        if codes and other and tokens[number.end].text not in words.around.harmless:
            return True
    return False


def _pressure_pair(reply: Reply, asked: Asked, words: Words, measure: Measure | None) -> Reading | None:
    """Read "120 zu 80": both values, or the one that is asked for; None when it is something else."""
    tokens = reply.tokens
    numbers = [place for place, token in enumerate(tokens) if token.numeric]
    if len(numbers) != 2 or not is_pressure(asked, words):
        return None
    first, second = numbers
    high, low = tokens[first].value, tokens[second].value
    between = [token.text for token in tokens[first + 1 : second]]
    apart = bool(between) and all(text in words.units.over for text in between)
    if not apart or high is None or low is None or not 50 <= high <= 330 or not 20 <= low < high:
        return None
    kind = measure.kind if measure else ""
    wanted = {"systolic": [high], "diastolic": [low]}.get(kind, [high, low])
    if len(wanted) > 1 and not asked.repeats:
        return NotUnderstood("two values where one is wanted", "several")
    end = unit_at(tokens, second + 1, words, asked.allowed_units)[0]
    around = weigh(reply, [Found(first, end, None, literal=False)], words)
    answers = tuple(Answer(asked.type, _pressure(value, asked)) for value in wanted)
    return around.problem or Read(answers, literal=False, remainder=around.remainder)


def _pressure(value: Decimal, asked: Asked) -> JsonValue:
    if asked.type == "quantity":
        return quantity(value, asked.allowed_units[0] if asked.allowed_units else _MMHG)
    return int(value) if asked.type == "integer" else value


_MMHG = Unit("mm[Hg]", "mmHg")


def _as_asked(found: Found, asked: Asked, measure: Measure | None) -> Found:
    """Return a plain number where one is asked for, unless no human being has such a value."""
    if found.problem or not isinstance(found.value, dict):
        return found
    amount, unit = found.value.get("value"), str(found.value.get("code") or "")
    if not isinstance(amount, Decimal):
        return found
    if not is_possible(amount, unit, measure):
        return _failed(found, "a value that nobody has", "implausible")
    certain = found.literal and is_likely(amount, unit, measure)
    if asked.type == "quantity":
        return replace(found, literal=certain)
    if asked.type == "decimal":
        return replace(found, value=amount, literal=certain)
    whole = amount.to_integral_value(ROUND_HALF_UP)
    if whole != amount and found.exactly_said:
        return _failed(found, "a fraction where a whole number is wanted", "not-whole")
    if abs(whole) >= INTEGER_LIMIT:
        return _failed(found, "a whole number beyond 32 bits", "too-big")
    return replace(found, value=int(whole), literal=certain and whole == amount)


def _amount_at(
    tokens: Sequence[Token], start: int, asked: Asked, words: Words, measure: Measure | None
) -> _Amount | None:
    """Return the amount that begins at `start`, with a smaller unit after it if there is one."""
    feet = _feet(tokens, start, asked, words) or _spoken_height(tokens, start, asked, words, measure)
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


def _spoken_height(
    tokens: Sequence[Token], start: int, asked: Asked, words: Words, measure: Measure | None
) -> _Amount | None:
    """Return "eins achtzig" and "one eighty" in metres, and "five eleven" in feet and inches."""
    lengths = {"m", "cm", "mm", "[in_i]", "[ft_i]"}
    if asked.repeats or not lengths & {unit.code for unit in asked.allowed_units}:
        return None
    first = tokens[start]
    for metres, word in ((1, "eins"), (2, "zwei")):
        rest = spelled_out(first.text.removeprefix(word), words.numbers) if first.text.startswith(word) else None
        if first.kind == "word" and rest is not None and 10 <= rest < 100:
            return _Amount(Number(start, start + 1, (Decimal(f"{metres}.{rest}"),), False), start + 1, ("m",), True)
    second = tokens[start + 1] if start + 1 < len(tokens) else None
    if second is None or not first.numeric or not second.numeric or second.glued:
        return None
    if start + 2 < len(tokens) and unit_at(tokens, start + 2, words, asked.allowed_units)[1]:
        return None
    large, small = first.value or Decimal(0), second.value or Decimal(0)
    if large in (1, 2) and 10 <= small < 100:
        value = Decimal(f"{large}.{small}")
        return _Amount(Number(start, start + 2, (value,), False), start + 2, ("m",), True)
    if measure and measure.kind == "height" and 3 <= large <= 7 and 0 <= small < 12:
        return _Amount(Number(start, start + 2, (large * 12 + small,), False), start + 2, ("[in_i]",), True)
    return None


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
    if (
        len(amount.codes) > 1
        and len(direct) == 1
        and meant_unit(value, direct[0].code, asked, measure_of(asked, words)) != direct[0].code
    ):
        direct = []  # "98.6 degrees" are no degrees Celsius
        amount = replace(amount, codes=tuple(code for code in amount.codes if code != options[0].code))
    if len(direct) > 1 or (not asked.allowed_units and len(amount.codes) > 1):
        if not asked.allowed_units:
            return _failed(plain, "a unit that can mean two things", "two-readings")
        return replace(plain, value=quantity(value, direct[0]), literal=False)
    if direct:
        return replace(plain, value=quantity(value, direct[0]))
    pairs = [(unit, code) for unit in options for code in amount.codes]
    for unit, code in pairs:
        converted = convert(value, code, unit.code)
        if converted is not None:
            return replace(plain, value=quantity(converted, unit), literal=False, exactly_said=False)
    for unit, code in pairs:
        converted = convert_roughly(value, code, unit.code, places=asked.decimal_places)
        if converted is not None:
            return replace(plain, value=quantity(converted, unit), literal=False, exactly_said=False)
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
    counts = asked.type != "quantity" and not any(unit.code in words.units.known for unit in asked.allowed_units)
    if after is not None and after.kind == "word" and not counts and _may_be_unit(after.text, words):
        return _failed(plain, "a word after the number that is no known unit", "unit")
    options = asked.allowed_units
    unit = asked.unit or (options[0] if len(options) == 1 else None)
    if unit is None or not isinstance(plain.value, Decimal):
        return _failed(plain, "a number without its unit", "unit-missing")
    meant = meant_unit(plain.value, unit.code, asked, measure_of(asked, words))
    converted = (
        convert_roughly(plain.value, meant, unit.code, places=asked.decimal_places) if meant != unit.code else None
    )
    if converted is not None:
        return replace(plain, value=quantity(converted, unit), literal=False, exactly_said=False)
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
