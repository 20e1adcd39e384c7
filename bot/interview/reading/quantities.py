"""Amounts with units: "etwa 70 Kilo", "1 Meter 68", "eins achtzig", "5 foot 6", "120 zu 80". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from bot.interview.reading import units
from bot.interview.reading.found import Found, settle, weigh
from bot.interview.reading.numbers import (
    HALF,
    INTEGER_LIMIT,
    Number,
    and_a_half,
    chosen,
    number_at,
    numbers_in,
    read_number,
    spelled_out,
    with_numbers,
)
from bot.interview.reading.reading import Context, NotUnderstood, Read, Reading, Unit
from bot.interview.reading.tokens import Reply, Token, one_after_another, text_at
from bot.interview.reading.units import Measure
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer, JsonValue

_MMHG = Unit("mm[Hg]", "mmHg")
_LENGTHS = frozenset({"m", "cm", "mm", "[in_i]", "[ft_i]"})
# Well-known quantities that have but one usual unit, so that a number alone can be judged.
_UNITLESS = frozenset({"age", "systolic", "diastolic", "pulse", "bmi"})


def read_quantity(reply: Reply, context: Context) -> Reading:
    """Read amounts, in a unit that the question allows; a question for a plain number gets it in its unit."""
    spelled = with_numbers(reply, context.words.numbers, point=True)
    measuring = _Measuring.of(spelled, context)
    return measuring.pressure() or settle(measuring.found(), spelled, context.asked.type, context)


def read_amount(reply: Reply, context: Context) -> Reading:
    """Read a plain number: in the unit of the question, or, where it has none, without any."""
    if context.asked.unit:
        return read_quantity(reply, context)
    measuring = _Measuring.of(with_numbers(reply, context.words.numbers), context)
    pair = measuring.pressure()
    if pair:
        return pair
    reading = read_number(reply, context)
    if not isinstance(reading, Read):
        return reading
    if measuring.has_a_unit():
        return NotUnderstood("a unit where a number without one is wanted", "unit")
    measure = measuring.measure
    amounts = [Decimal(answer.value) for answer in reading.answers if isinstance(answer.value, int | Decimal)]
    if measure and measure.kind in _UNITLESS and any(not units.is_possible(amount, "", measure) for amount in amounts):
        return NotUnderstood("a value that nobody has", "implausible")
    return reading


def quantity(value: Decimal, unit: Unit) -> dict[str, JsonValue]:
    """Return FHIR's Quantity."""
    named: dict[str, JsonValue] = {"unit": unit.display or unit.code, "system": unit.system, "code": unit.code}
    return {"value": value, **{name: text for name, text in named.items() if text}}


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number and the codes its unit may stand for; none if it has no unit."""

    number: Number
    end: int
    codes: tuple[str, ...]
    joint: bool = False  # put together from two numbers


def _joint(first: int, end: int, value: Decimal, code: str, *, literal: bool = False) -> _Amount:
    return _Amount(Number(first, end, (value,), literal), end, (code,), joint=True)


@dataclass(frozen=True, slots=True)
class _Measuring:
    """A reply with its number words merged, and the question that it answers."""

    reply: Reply
    tokens: Sequence[Token]
    context: Context
    words: Words
    allowed: tuple[Unit, ...]
    measure: Measure | None

    @classmethod
    def of(cls, reply: Reply, context: Context) -> _Measuring:
        asked, words = context.asked, context.words
        return cls(
            reply, reply.tokens, context, words, asked.allowed_units, units.measure_of(asked, context.prompt, words)
        )

    def unit_at(self, start: int) -> tuple[int, tuple[str, ...]]:
        return units.unit_at(self.tokens, start, self.words, self.allowed)

    def has_a_unit(self) -> bool:
        """Tell whether a number has a unit after it that its question knows nothing of; "Jahre" may stand there."""
        own = {*units.TIMES, self.measure.unit if self.measure else ""}
        for number in numbers_in(self.tokens, self.words.numbers):
            codes = units.unit_at(self.tokens, number.end, self.words)[1]
            known = own & set(codes) or any(code.startswith("/") for code in codes)
            if codes and not known and self.tokens[number.end].text not in self.words.around.harmless:
                return True
        return False

    def pressure(self) -> Reading | None:
        """Read "120 zu 80": both values, or the one that is asked for; None when it is something else."""
        asked, words, tokens = self.context.asked, self.words, self.tokens
        numbers = [place for place, token in enumerate(tokens) if token.numeric]
        if len(numbers) != 2 or not units.is_pressure(asked, self.context.prompt, words):
            return None
        first, second = numbers
        high, low = tokens[first].value, tokens[second].value
        between = {token.text for token in tokens[first + 1 : second]}
        if not between or not between <= words.units.over or high is None or low is None:
            return None
        if not 50 <= high <= 330 or not 20 <= low < high:
            return None
        wanted = {"systolic": [high], "diastolic": [low]}.get(self.measure.kind if self.measure else "", [high, low])
        if len(wanted) > 1 and not asked.repeats:
            return NotUnderstood("two values where one is wanted", "several")
        around = weigh(self.reply, [Found(first, self.unit_at(second + 1)[0], None, literal=False)], words)
        values: list[JsonValue] = [int(value) if asked.type == "integer" else value for value in wanted]
        if asked.type == "quantity":
            values = [quantity(value, (*self.allowed, _MMHG)[0]) for value in wanted]
        answers = tuple(Answer(asked.type, value) for value in values)
        return around.problem or Read(answers, literal=False, remainder=around.remainder)

    def found(self) -> list[Found]:
        """Return the amounts in the reply, as the question wants them."""
        return [self._as_asked(self._valued(amount)) for amount in one_after_another(self.tokens, self._amount_at)]

    def _amount_at(self, start: int) -> _Amount | None:
        """Return the amount that begins at `start`, with a smaller unit after it if there is one."""
        height = self._feet(start) or self._spoken_height(start)
        if height:
            return height
        first = self._single(start)
        if first is None or not first.codes:
            return first
        place = first.end
        place += text_at(self.tokens, place) in self.words.numbers.joiners
        second = self._single(place) if place < len(self.tokens) else None
        return (_together(first, second) if second else None) or first

    def _feet(self, start: int) -> _Amount | None:
        """Return 5'6 and 5'6": an apostrophe that cannot part thousands."""
        pieces = self.tokens[start : start + 3]
        if [piece.kind for piece in pieces] != ["digits", "mark", "digits"] or pieces[1].text != "'":
            return None
        feet, inches = pieces[0].text, pieces[2].text
        if "[ft_i]" not in self.unit_at(start + 1)[1] or len(feet) > 1 or len(inches) > 2:
            return None
        closed = text_at(self.tokens, start + 3) == '"'
        return _joint(start, start + 3 + closed, Decimal(feet) * 12 + Decimal(inches), "[in_i]", literal=True)

    def _spoken_height(self, start: int) -> _Amount | None:
        """Return "eins achtzig" and "one eighty" in metres, and "five eleven" in feet and inches."""
        if self.context.asked.repeats or _LENGTHS.isdisjoint(unit.code for unit in self.allowed):
            return None
        first = self.tokens[start]
        for metres, word in ((1, "eins"), (2, "zwei")):
            if first.kind == "word" and first.text.startswith(word):
                rest = spelled_out(first.text.removeprefix(word), self.words.numbers)
                if rest is not None and 10 <= rest < 100:
                    return _joint(start, start + 1, Decimal(f"{metres}.{rest}"), "m")
        end = start + 2
        second = self.tokens[start + 1] if end <= len(self.tokens) else None
        if second is None or not first.numeric or not second.numeric or second.glued or self.unit_at(end)[1]:
            return None
        large, small = first.value or Decimal(0), second.value or Decimal(0)
        if large in (1, 2) and 10 <= small < 100:
            return _joint(start, end, Decimal(f"{large}.{small}"), "m")
        if self.measure and self.measure.kind == "height" and 3 <= large <= 7 and 0 <= small < 12:
            return _joint(start, end, large * 12 + small, "[in_i]")
        return None

    def _single(self, start: int) -> _Amount | None:
        """Return a number with its unit, and what follows that: "a year and a half"."""
        number = number_at(self.tokens, start, self.words.numbers, lists=self.context.asked.repeats)
        worded = None if number else self._worded(start)
        either = number or worded
        if either is None:
            return None
        end, codes = self.unit_at(either.end)
        if not codes:
            return _Amount(number, number.end, ()) if number else None
        after, half = and_a_half(self.tokens, end, self.words.numbers)
        if half and either.readings:
            return _Amount(replace(either, readings=(either.readings[0] + half,)), after, codes)
        return _Amount(either, end, codes)

    def _worded(self, start: int) -> Number | None:
        """Return "eine", "a", "eine halbe", "half an" as a number, which counts only in front of a unit."""
        end = start
        halved = False
        while end < min(len(self.tokens), start + 2) and self.tokens[end].wordlike:
            token = self.tokens[end]
            if token.text in self.words.dates.half and not halved:
                halved = True
            elif token.kind != "article" or (end > start and not halved):
                break
            end += 1
        return None if end == start else Number(start, end, (HALF if halved else Decimal(1),), literal=False)

    def _valued(self, amount: _Amount) -> Found:
        """Return the amount in an allowed unit, or why there is none."""
        plain = chosen(replace(amount.number, end=amount.end), self.context.asked, whole=False)
        if not isinstance(plain.value, Decimal):
            return plain
        return self._with_unit(amount, plain, plain.value) if amount.codes else self._without_unit(plain, plain.value)

    def _with_unit(self, amount: _Amount, plain: Found, value: Decimal) -> Found:
        options, codes = self.allowed or self._free_units(amount, value), amount.codes
        direct = [unit for unit in options if unit.code in codes and not amount.joint]
        if len(codes) > 1 and len(direct) == 1 and self._meant(value, direct[0].code) != direct[0].code:
            direct = []  # "98.6 degrees" are no degrees Celsius
            codes = tuple(code for code in codes if code != options[0].code)
        if not self.allowed and (len(direct) > 1 or len(codes) > 1):
            return plain.failed("a unit that can mean two things", "two-readings")
        if direct:
            return replace(plain, value=quantity(value, direct[0]), literal=plain.literal and len(direct) == 1)
        places = self.context.asked.decimal_places
        pairs = [(unit, code) for unit in options for code in codes]
        exact = ((unit, units.convert(value, code, unit.code)) for unit, code in pairs)
        rough = ((unit, units.convert_roughly(value, code, unit.code, places=places)) for unit, code in pairs)
        for unit, converted in (*exact, *rough):
            if converted is not None:
                return replace(plain, value=quantity(converted, unit), literal=False, exactly_said=False)
        names = ", ".join(unit.code for unit in options)
        return plain.failed(f"a unit that is not allowed; allowed are {names}", "unit")

    def _free_units(self, amount: _Amount, value: Decimal) -> tuple[Unit, ...]:
        """Return the units that a quantity without any given unit may have: the one the patient wrote."""
        codes = [code if not code.startswith("{") else "kg" for code in amount.codes]
        larger = [big for big, small in units.SMALLER.items() if small in codes and amount.joint]
        exact = [big for big in larger if units.convert(value, codes[0], big) is not None]
        return tuple(Unit(code, self.words.units.names.get(code, code)) for code in exact + codes)

    def _meant(self, value: Decimal, unit: str) -> str:
        return units.meant_unit(value, unit, self.context.asked, self.measure)

    def _without_unit(self, plain: Found, value: Decimal) -> Found:
        asked, known = self.context.asked, self.words.units.known
        after = self.tokens[plain.end] if plain.end < len(self.tokens) else None
        counts = asked.type != "quantity" and all(unit.code not in known for unit in self.allowed)
        if after is not None and after.kind == "word" and not counts and self._may_be_unit(after.text):
            return plain.failed("a word after the number that is no known unit", "unit")
        unit = asked.unit or (self.allowed[0] if len(self.allowed) == 1 else None)
        if unit is None:
            return plain.failed("a number without its unit", "unit-missing")
        meant = self._meant(value, unit.code)
        converted = units.convert_roughly(value, meant, unit.code, places=asked.decimal_places)
        if meant != unit.code and converted is not None:
            return replace(plain, value=quantity(converted, unit), literal=False, exactly_said=False)
        return replace(plain, value=quantity(value, unit), literal=plain.literal and len(self.allowed) == 1)

    def _may_be_unit(self, word: str) -> bool:
        """Tell whether a word is none of those that often follow a number: "70 kg" has a unit, "70 etwa" none."""
        around, agreement = self.words.around, self.words.agreement
        known = around.harmless | around.joins | around.to | around.either | around.date_limits
        lists = (around.approximate, around.hedges, around.limits, agreement.negators, agreement.yes)
        opens = any(phrase[0] == word for phrases in lists for phrase in phrases.all)
        return not opens and word not in known | self.words.numbers.minus

    def _as_asked(self, found: Found) -> Found:
        """Return a plain number where one is asked for, unless no human being has such a value."""
        kind, value = self.context.asked.type, found.value
        amount = value.get("value") if isinstance(value, dict) else None
        if found.problem or not isinstance(value, dict) or not isinstance(amount, Decimal):
            return found
        unit = str(value.get("code") or "")
        if not units.is_possible(amount, unit, self.measure):
            return found.failed("a value that nobody has", "implausible")
        certain = found.literal and units.is_likely(amount, unit, self.measure)
        if kind != "integer":
            return replace(found, value=value if kind == "quantity" else amount, literal=certain)
        whole = amount.to_integral_value(ROUND_HALF_UP)
        if whole != amount and found.exactly_said:
            return found.failed("a fraction where a whole number is wanted", "not-whole")
        if abs(whole) >= INTEGER_LIMIT:
            return found.failed("a whole number beyond 32 bits", "too-big")
        return replace(found, value=int(whole), literal=certain and whole == amount)


def _together(first: _Amount, second: _Amount) -> _Amount | None:
    """Return two amounts as one, in the smaller unit, if the second continues the first."""
    for code in first.codes:
        smaller = units.SMALLER.get(code, "")
        fits = smaller in second.codes or (not second.codes and code in units.BARE)
        count = units.factor(code, smaller)
        if fits and count and first.number.readings and second.number.readings:
            large, small = first.number.readings[0], second.number.readings[0]
            if large == large.to_integral_value() and 0 <= small < count:
                return _joint(first.number.first, second.end, large * count + small, smaller)
    return None
