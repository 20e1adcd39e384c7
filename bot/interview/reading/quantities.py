"""Read amounts with units: "etwa 70 Kilo", "1 Meter 68", "eins achtzig", "5 foot 6", "120 zu 80".

Units and the well-known quantities that a question may ask for are data: `quantities.yaml`. No other I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import yaml

from bot.interview.reading.numbers import (
    HALF,
    INTEGER_LIMIT,
    MAX_DIGITS,
    Number,
    and_a_half,
    chosen,
    number_at,
    numbers_in,
    read_number,
    spelled_out,
    stand_alone,
    with_numbers,
)
from bot.interview.reading.reading import (
    Asked,
    Context,
    Found,
    NotUnderstood,
    Read,
    Reading,
    Unit,
    answered,
    settle,
)
from bot.interview.reading.vocabulary import (
    Reply,
    Token,
    Words,
    cut,
    known_unit_codes,
    one_after_another,
    one_slip_apart,
    text_at,
    unit_key,
    words_for,
)
from bot.interview.values import units as ucum
from bot.interview.values.answer import Answer, JsonValue
from bot.languages.files import known

MAX_UNIT_TOKENS = 6
WARMTH = ("temp", "fieber", "fever", "warm", "grad", "degree")  # without such a word, C is no °C: "vitamin C"
_ROUND_FROM = 20  # no example of a larger amount needs decimal places
_LONG = 12  # letters; a shorter word may also be about something else: "Größe des Knotens"
_MMHG = Unit("mm[Hg]", "mmHg")
_DATA = yaml.load((Path(__file__).parent / "quantities.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


@dataclass(frozen=True, slots=True)
class Measure:
    """A well-known quantity of the body; without a unit, any other one."""

    kind: str = ""
    unit: str = ""
    bounds: tuple[Decimal, ...] = ()  # the lowest possible value, the lowest and highest likely ones, the highest

    def is_possible(self, value: Decimal, unit: str) -> bool:
        """Tell whether any human being has such a value."""
        return self._between(value, unit, *self.bounds[::3])

    def is_likely(self, value: Decimal, unit: str) -> bool:
        """Tell whether a value is nothing to wonder about."""
        return self._between(value, unit, *self.bounds[1:3])

    def _between(self, value: Decimal, unit: str, *bounds: Decimal) -> bool:
        converted = ucum.convert(value, unit or self.unit, self.unit) if self.unit else None
        return converted is None or bounds[0] <= converted <= bounds[1]


_MEASURES = tuple(
    Measure(kind, unit, tuple(map(Decimal, bounds)))
    for kind, (unit, *bounds) in ((kind, text.split()) for kind, text in _DATA["measures"].items())
)
_PRESSURES, _UNITLESS, _TIMES, _CALENDAR, _LENGTHS, _BARE = (
    frozenset[str](_DATA[name]) for name in ("pressures", "unitless", "times", "calendar", "lengths", "bare")
)
_SMALLER: dict[str, str] = _DATA["smaller"]
_LEAST_SLIP = 6  # letters of a unit that is still known with one of them wrong


def _ratio(unit: str, wanted: str) -> Fraction | None:
    """Return how many of one unit make another, or None when they do not belong together that way."""
    family: dict[str, int] = next((each for each in _DATA["families"] if unit in each and wanted in each), {})
    return Fraction(family[unit], family[wanted]) if family else Fraction(unit == wanted) or None


def _convert(value: Decimal, unit: str, wanted: str) -> Decimal | None:
    """Return a value in another unit, or None where there is no exact conversion."""
    ratio = _ratio(unit, wanted)
    if ratio is None:
        return None
    result = value * ratio.numerator / ratio.denominator
    exact = result * ratio.denominator == value * ratio.numerator and len(result.as_tuple().digits) <= MAX_DIGITS
    return _plain(result) if exact else None


def _convert_roughly(value: Decimal, unit: str, wanted: str, places: int | None) -> Decimal | None:
    """Return a value in another unit, exact where that is possible, else rounded to what is worth keeping.

    Months are no number of days; and nothing but zero becomes zero.
    """
    exact = _convert(value, unit, wanted)
    if exact is None:
        if {unit, wanted} & _CALENDAR and {unit, wanted} & (_TIMES - _CALENDAR):
            return None
        unit, value = _in_ucum(unit, value)
        # Two tablets are no two capsules, though neither is a unit of anything.
        exact = None if "{" in unit or "{" in wanted else ucum.convert(value, unit, wanted)
    if exact is None:
        return None
    usual = _DATA["places"].get(wanted, 0 if wanted.startswith(("mm", "g", "min", "/")) else 2)
    most = min(usual, 9 if places is None else places)
    if -int(exact.as_tuple().exponent) <= most:
        return _plain(exact)
    rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    return None if value and not rounded else _plain(rounded)


def _in_ucum(unit: str, value: Decimal) -> tuple[str, Decimal]:
    """Return an amount in the smallest unit of its kind where its own has no UCUM code."""
    family: dict[str, int] = next((each for each in _DATA["families"] if unit in each), {}) if "{" in unit else {}
    smallest = min(family, key=family.__getitem__, default=unit)
    return smallest, value * family.get(unit, 1)


def _plain(value: Decimal) -> Decimal:
    """Return a value without zeros at its end that the calculation put there."""
    return value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()


def unit_at(
    tokens: Sequence[Token], start: int, words: Words, allowed: Sequence[Unit] = ()
) -> tuple[int, tuple[str, ...]]:
    """Return where the longest name of a unit at `start` ends, and the codes it may stand for; no codes if none.

    Names that the Questionnaire itself gives to the `allowed` units come first.
    """
    own: dict[str, tuple[str, ...]] = {}
    for unit in allowed:
        called = unit_key(unit.display, words.fold)
        # A form may have a code of its own for what is counted: "Tablette" is then one of its "Tabletten".
        same = set(words.unit_codes.get(called, ())) if unit.code not in known_unit_codes() else set()
        others = (key for key, codes in words.unit_codes.items() if same.intersection(codes)) if same else ()
        for key in (called, unit_key(unit.code, words.fold), *others):
            own[key] = tuple(dict.fromkeys((*own.get(key, ()), unit.code)))
    key = ""
    result: tuple[int, tuple[str, ...]] = start, ()
    for place in range(start, min(len(tokens), start + MAX_UNIT_TOKENS)):
        key += tokens[place].text if tokens[place].text not in (".", "^") else ""
        codes = (own.get(key) or words.unit_codes.get(key)) if key else None
        if codes:
            result = place + 1, tuple(codes)
    return _per(tokens, *result, words, allowed) or result


def _per(
    tokens: Sequence[Token], end: int, codes: Sequence[str], words: Words, allowed: Sequence[Unit]
) -> tuple[int, tuple[str, ...]] | None:
    """Return where "litres per minute" ends that begins with a unit, and its code; None where none such is wanted."""
    opened = words["per"].length_at([token.text for token in tokens[end : end + words["per"].longest]], 0)
    if not (codes and opened and allowed):
        return None
    after, below = unit_at(tokens, end + opened, words)
    made = [f"{above}/{each}" for above in codes for each in below]
    fits = [code for code in made if any(ucum.convert(Decimal(1), code, unit.code) is not None for unit in allowed)]
    return (after, tuple(fits)) if fits else None


def stated_unit(prompt: Reply, words: Words) -> Unit | None:
    """Return the unit that the text of a question asks for: "Körpergröße (cm)", "Gewicht in kg", "How many years"."""
    tokens = prompt.tokens
    for place, token in enumerate(tokens):
        if token.text in ("(", "["):
            unit, after = _stated_at(tokens, place + 1 + (text_at(tokens, place + 1) in ("in", "angabe")), words)
            if unit and after in (")", "]"):
                return unit
        else:
            opened = words["unit_openers"].length_at([each.text for each in tokens], place)
            unit, _ = _stated_at(tokens, place + opened, words) if opened else (None, "")
            if unit:
                return unit
    telling = [token for token in tokens if token.text not in (":", "?", ".", "*")]
    for length in range(1, min(4, len(telling))):
        unit, after = _stated_at(telling, len(telling) - length, words)
        if unit and not after and unit.code in _DATA["at_end"]:
            return unit
    return None


def _stated_at(tokens: Sequence[Token], start: int, words: Words) -> tuple[Unit | None, str]:
    """Return the unit that a question names at `start`, and what stands after it."""
    end, codes = unit_at(tokens, start, words)
    code = next((code for code in codes if code in _DATA["stated"]), "")
    if not code:
        return None, ""
    written = "".join(token.text for token in tokens[start:end])
    if written in ("c", "f", "k") and not any(token.text.startswith(WARMTH) for token in tokens):
        return None, ""  # "vitamin C", "Part B (K)"
    name = words.unit_names.get(code, code if code in _DATA["at_end"] or not written.isalpha() else written)
    return Unit(code, name), text_at(tokens, end)


def unit_asked_for(prompt: str, language: str) -> Unit | None:
    """Return the unit that the text of a question asks for."""
    words = words_for(language)
    return stated_unit(cut(prompt, words.fold), words)


def named_unit(label: str, language: str) -> Unit | None:
    """Return the unit that a text beside a question is, if it is nothing else."""
    words = words_for(language)
    tokens = cut(label, words.fold).tokens
    end, codes = unit_at(tokens, 0, words)
    return Unit(codes[0], label.strip()) if codes and end == len(tokens) else None


def unit_name(code: str, language: str) -> str:
    """Return what a unit is called in a language; empty where its code says it all."""
    return words_for(language).unit_names.get(code, "")


def is_foreign(name: str, code: str, language: str) -> bool:
    """Tell whether the name of a unit is one of another language only."""
    words = {each: words_for(each) for each in known()}
    says = {each for each, own in words.items() if code in own.unit_codes.get(unit_key(name, own.fold), ())}
    return bool(says) and language not in says


def is_unusual(answer: Answer, question: Asked, *, language: str) -> bool:
    """Tell whether a value is possible, but so seldom that the patient should look again."""
    words = words_for(language)
    whole, unit = answer.value, question.unit.code if question.unit else ""
    value = whole.get("value") if isinstance(whole, dict) else whole
    if isinstance(whole, dict):
        unit = str(whole.get("code") or "")
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    measure = _measure_of(question, cut(question.prompt, words.fold), words)
    return not measure.is_likely(Decimal(value), unit)


def likely_amount(question: Asked, unit: str, *, language: str) -> Decimal | None:
    """Return an amount nobody wonders about, in a unit (empty: such as an age); None where it is not well known."""
    words = words_for(language)
    measure = _measure_of(question, cut(question.prompt, words.fold), words)
    if not unit:
        return Decimal(str(_DATA["examples"][measure.kind])) if measure.kind in _UNITLESS else None
    if not measure.kind:
        return Decimal(_DATA["example_of_time"]) if unit in _TIMES else None
    amount = Decimal(str(_DATA["examples"][measure.kind]))
    if unit == measure.unit:
        return amount
    converted = _convert_roughly(amount, measure.unit, unit, None)
    return converted.quantize(Decimal(1)) if converted is not None and converted >= _ROUND_FROM else converted


def _measure_of(asked: Asked, prompt: Reply, words: Words) -> Measure:
    """Return the well-known quantity that a question asks for, whatever the language of its form."""
    found = _measured(asked, prompt, words)
    others = (words_for(each) for each in known()) if not found.kind else ()
    foreign = (_measured(asked, cut(asked.prompt, each.fold), each) for each in others if each.fold is not words.fold)
    return next((each for each in foreign if each.kind), found)


def _measured(asked: Asked, prompt: Reply, words: Words) -> Measure:
    """Return the same by the words of one language, if the unit is none or one of its kind."""
    texts, unit = prompt.names, asked.allowed_units[0].code if asked.allowed_units else ""
    kinds = {kind for kind in words.measured if _asks_for(kind, texts, words)}
    pressed = unit == "mm[Hg]" or "pressure" in kinds or _names_pressure(texts)
    if kinds >= _PRESSURES or not pressed:
        kinds -= _PRESSURES
    asked_for = (measure for measure in _MEASURES if measure.kind in kinds)
    fitting = (each for each in asked_for if not unit or ucum.convert(Decimal(1), unit, each.unit) is not None)
    return next(fitting, Measure())


def _asks_for(kind: str, texts: Sequence[str], words: Words) -> bool:
    """Tell whether a question asks for a quantity by a word of its own, or by one that it hardly adds to."""
    phrases = words.measured[kind]
    place = next((place for place in range(len(texts)) if phrases.length_at(texts, place)), None)
    if place is None or kind in _PRESSURES or kind == "pressure":
        return place is not None
    length = phrases.length_at(texts, place)
    others = {*texts[:place], *texts[place + length :]}
    adds = others - words["weak"] - words["articles"] - words["silence_padding"]
    return length > 1 or len(texts[place]) >= _LONG or adds <= words.unit_codes.keys()


def _names_pressure(texts: Sequence[str]) -> bool:
    return any(text.startswith(("systol", "diastol")) for text in texts)


def read_quantity(reply: Reply, context: Context) -> Reading:
    """Read amounts, in a unit that the question allows; a question for a plain number gets it in its unit."""
    measuring = _Measuring(with_numbers(reply, context.words, point=True), context)
    return measuring.pressure() or measuring.read()


def read_amount(reply: Reply, context: Context) -> Reading:
    """Read a plain number: in the unit of the question, or, where it has none, without any."""
    if context.asked.unit:
        return read_quantity(reply, context)
    measuring = _Measuring(with_numbers(reply, context.words), context)
    reading = measuring.pressure()
    if reading:
        return reading
    reading = read_number(reply, context)
    if not isinstance(reading, Read):
        return reading
    if measuring.has_a_unit():
        return NotUnderstood("a unit where a number without one is wanted", "unit")
    measure = measuring.measure
    amounts = [Decimal(answer.value) for answer in reading.answers if isinstance(answer.value, int | Decimal)]
    if measure.kind in _UNITLESS and not all(measure.is_possible(amount, "") for amount in amounts):
        return NotUnderstood("a value that nobody has", "implausible")
    return reading


def _quantity(value: Decimal, unit: Unit) -> dict[str, JsonValue]:
    """Return FHIR's Quantity."""
    named: dict[str, JsonValue] = {"unit": unit.display or unit.code, "system": unit.system, "code": unit.code}
    return {"value": value, **{name: text for name, text in named.items() if text}}


def _joint(first: int, end: int, value: Decimal, code: str) -> Number:
    return Number(first, end, (value,), codes=(code,), joint=True)


class _Measuring:
    """A reply with its number words merged, and the question that it answers."""

    def __init__(self, reply: Reply, context: Context) -> None:
        self.reply, self.tokens = reply, reply.tokens
        self.context, self.asked, self.words = context, context.asked, context.words
        self.allowed = self.asked.allowed_units
        self.measure = _measure_of(self.asked, context.prompt, self.words)

    def _unit_at(self, start: int) -> tuple[int, tuple[str, ...]]:
        return unit_at(self.tokens, start, self.words, self.allowed)

    def has_a_unit(self) -> bool:
        """Tell whether a number has a unit after it that its question knows nothing of; "Jahre" may stand there."""
        own = {*_TIMES, self.measure.unit}
        for number in numbers_in(self.tokens, self.words):
            codes = unit_at(self.tokens, number.end, self.words)[1]
            known = own & set(codes) or any(code.startswith("/") for code in codes)
            if codes and not known and self.tokens[number.end].text not in self.words["harmless"]:
                return True
        return False

    def pressure(self) -> Reading | None:
        """Read "120 zu 80": both values, or the one that is asked for; None when it is something else."""
        prompt, measured = self.context.prompt.names, self.words.measured["pressure"]
        by_unit = any(unit.code == "mm[Hg]" for unit in self.allowed)
        numbers = [place for place, token in enumerate(self.tokens) if token.numeric]
        if len(numbers) != 2 or not (by_unit or _names_pressure(prompt) or measured.within(prompt)):
            return None
        first, second = numbers
        high, low = self.tokens[first].value, self.tokens[second].value
        between = {token.text for token in self.tokens[first + 1 : second]}
        if not between or not between <= self.words["over"] or high is None or low is None:
            return None
        if not 50 <= high <= 330 or not 20 <= low < high:
            return None
        wanted = {"systolic": [high], "diastolic": [low]}.get(self.measure.kind, [high, low])
        if len(wanted) > 1 and not self.asked.repeats:
            return NotUnderstood("two values where one is wanted", "several")
        values: list[JsonValue] = [int(value) if self.asked.type == "integer" else value for value in wanted]
        if self.asked.type == "quantity":
            values = [_quantity(value, (*self.allowed, _MMHG)[0]) for value in wanted]
        answers = [Answer(self.asked.type, value) for value in values]
        whole = Found(first, self._unit_at(second + 1)[0], None)
        return answered(answers, [whole], self.reply, self.words, literal=False)

    def read(self) -> Reading:
        """Read the amounts in the reply, as the question wants them."""
        found = [self._as_asked(self._valued(number)) for number in one_after_another(self.tokens, self._amount_at)]
        exact = stand_alone(found, self.reply, self.context)
        return settle(found, self.reply, self.asked.type, self.context, exact=exact)

    def _amount_at(self, start: int) -> Number | None:
        """Return the amount that begins at `start`, with a smaller unit after it if there is one."""
        height = self._feet(start) or self._spoken_height(start)
        if height:
            return height
        first = self._single(start)
        if first is None or not first.codes:
            return first
        place = first.end + (text_at(self.tokens, first.end) in self.words["joiners"])
        second = self._single(place) if place < len(self.tokens) else None
        return (_together(first, second) if second else None) or first

    def _feet(self, start: int) -> Number | None:
        """Return 5'6 and 5'6": an apostrophe that cannot part thousands."""
        pieces = self.tokens[start : start + 3]
        if [piece.kind for piece in pieces] != ["digits", "mark", "digits"] or pieces[1].text != "'":
            return None
        feet, inches = pieces[0].text, pieces[2].text
        if "[ft_i]" not in self._unit_at(start + 1)[1] or len(feet) > 1 or len(inches) > 2:
            return None
        closed = text_at(self.tokens, start + 3) == '"'
        return _joint(start, start + 3 + closed, Decimal(feet) * 12 + Decimal(inches), "[in_i]")

    def _spoken_height(self, start: int) -> Number | None:
        """Return "eins achtzig" and "one eighty" in metres, and "five eleven" in feet and inches."""
        if self.asked.repeats or _LENGTHS.isdisjoint(unit.code for unit in self.allowed):
            return None
        first = self.tokens[start]
        for metres, word in ((1, "eins"), (2, "zwei")):
            if first.kind == "word" and first.text.startswith(word):
                rest = spelled_out(first.text.removeprefix(word), self.words)
                if rest is not None and 10 <= rest < 100:
                    return _joint(start, start + 1, Decimal(f"{metres}.{rest}"), "m")
        end = start + 2
        second = self.tokens[start + 1] if end <= len(self.tokens) else None
        if second is None:
            return None
        metre = "m" in self._unit_at(start)[1] and first.kind == "word"
        if metre and second.numeric and not self._unit_at(end)[1] and 10 <= (second.value or 0) < 100:
            return _joint(start, end, Decimal(f"1.{second.value}"), "m")  # "meter achtzig"
        if not first.numeric or not second.numeric or second.glued or self._unit_at(end)[1]:
            return None
        large, small = first.value or Decimal(0), second.value or Decimal(0)
        if large in (1, 2) and 10 <= small < 100:
            return _joint(start, end, Decimal(f"{large}.{small}"), "m")
        if self.measure.kind == "height" and 3 <= large <= 7 and 0 <= small < 12:
            return _joint(start, end, large * 12 + small, "[in_i]")
        return None

    def _single(self, start: int) -> Number | None:
        """Return a number with its unit, and what follows that: "a year and a half"."""
        number = number_at(self.tokens, start, self.words, lists=self.asked.repeats)
        either = number or self._worded(start)
        if either is None:
            return None
        halved, half = and_a_half(self.tokens, either.end, self.words)
        if half and number is not None and number.readings:  # "2 and a half hours"
            either = number = Number(number.first, halved, (number.readings[0] + half,))
        end, codes = self._unit_at(either.end)
        if not codes and number is not None and (slip := self._misspelt(either.end)):
            return replace(either, end=either.end + 1, codes=slip, joint=True)  # to be read back
        if not codes:
            return number
        after, half = and_a_half(self.tokens, end, self.words)
        if half and either.readings:
            return Number(either.first, after, (either.readings[0] + half,), codes=codes)
        return replace(either, end=end, codes=codes)

    def _misspelt(self, start: int) -> tuple[str, ...]:
        """Return the one unit whose name has all but one letter of a word; none where it may be two."""
        word = text_at(self.tokens, start)
        if len(word) < _LEAST_SLIP or not word.isalpha():
            return ()
        near = {
            tuple(codes)
            for name, codes in self.words.unit_codes.items()
            if len(name) >= _LEAST_SLIP and one_slip_apart(word, name)
        }
        return next(iter(near)) if len(near) == 1 else ()

    def _worded(self, start: int) -> Number | None:
        """Return "eine", "a", "eine halbe", "half an" as a number, which counts only in front of a unit."""
        end = start
        halved = False
        while end < min(len(self.tokens), start + 2) and self.tokens[end].wordlike:
            token = self.tokens[end]
            if token.text in self.words["half"] and not halved:
                halved = True
            elif token.kind != "article" or (end > start and not halved):
                break
            end += 1
        if end == start and not set(self._unit_at(start)[1]) & set(_DATA["alone"]):
            return None
        return Number(start, end, (HALF if halved else Decimal(1),))

    def _valued(self, amount: Number) -> Found:
        """Return the amount in an allowed unit, or why there is none."""
        plain = chosen(amount, self.asked, whole=False)
        if not isinstance(plain.value, Decimal):
            return plain
        return self._with_unit(amount, plain, plain.value) if amount.codes else self._without_unit(plain, plain.value)

    def _with_unit(self, amount: Number, plain: Found, value: Decimal) -> Found:
        options, codes = self.allowed or self._free_units(amount, value), amount.codes
        direct = [unit for unit in options if unit.code in codes and not amount.joint]
        if len(codes) > 1 and len(direct) == 1 and self._meant(value, direct[0].code) != direct[0].code:
            direct = []  # "98.6 degrees" are no degrees Celsius
            codes = tuple(code for code in codes if code != options[0].code)
        if not self.allowed and (len(direct) > 1 or len(codes) > 1):
            return plain.failed("a unit that can mean two things", "two-readings")
        if direct:
            return replace(plain, value=_quantity(value, direct[0]), literal=plain.literal and len(direct) == 1)
        pairs = [(unit, code) for unit in options for code in codes]
        exact = ((unit, _convert(value, code, unit.code)) for unit, code in pairs)
        rough = ((unit, _convert_roughly(value, code, unit.code, self.asked.decimal_places)) for unit, code in pairs)
        for unit, converted in (*exact, *rough):
            if converted is not None:
                return replace(plain, value=_quantity(converted, unit), literal=False, exactly_said=False)
        names = ", ".join(unit.code for unit in options)
        return plain.failed(f"a unit that is not allowed; allowed are {names}", "unit")

    def _free_units(self, amount: Number, value: Decimal) -> tuple[Unit, ...]:
        """Return the units that a quantity without any given unit may have: the one the patient wrote."""
        codes = [_DATA["said_in"].get(code, code) for code in amount.codes]
        larger = [big for big, small in _SMALLER.items() if small in codes and amount.joint]
        exact = [big for big in larger if _convert(value, codes[0], big) is not None]
        return tuple(Unit(code, self.words.unit_names.get(code, code)) for code in exact + codes)

    def _meant(self, value: Decimal, unit: str) -> str:
        """Return the unit that a bare number was meant in: the one asked for, unless only another makes sense."""
        asked, measure = self.asked, self.measure
        if asked.expects(value) and measure.is_likely(value, unit):
            return unit
        other = _DATA["mixed_up"].get(unit, unit)
        converted = ucum.convert(value, other, unit)
        told = measure.unit or asked.minimum is not None or asked.maximum is not None
        fits = converted is not None and told and asked.expects(converted) and measure.is_likely(converted, unit)
        return other if fits else unit

    def _without_unit(self, plain: Found, value: Decimal) -> Found:
        after = self.tokens[plain.end] if plain.end < len(self.tokens) else None
        known = {code for codes in self.words.unit_codes.values() for code in codes}
        counts = self.asked.type != "quantity" and known.isdisjoint(unit.code for unit in self.allowed)
        if after is not None and after.kind == "word" and not counts and self._may_be_unit(after.text):
            return plain.failed("a word after the number that is no known unit", "unit")
        unit = self.asked.unit or (self.allowed[0] if len(self.allowed) == 1 else None)
        likely = [each for each in self.allowed if self.measure.kind and self.measure.is_likely(value, each.code)]
        if unit is None and len(likely) == 1:  # "168", of a height in cm or feet
            return replace(plain, value=_quantity(value, likely[0]), literal=False)
        if unit is None and self.allowed:
            return plain.failed("a number without its unit", "unit-missing")
        if unit is None:  # the question knows of no unit either; it is read back
            return replace(plain, value={"value": value}, literal=False)
        meant = self._meant(value, unit.code)
        converted = _convert_roughly(value, meant, unit.code, self.asked.decimal_places) if meant != unit.code else None
        if converted is not None:
            return replace(plain, value=_quantity(converted, unit), literal=False, exactly_said=False)
        return replace(plain, value=_quantity(value, unit), literal=False)

    def _may_be_unit(self, word: str) -> bool:
        """Tell whether a word is none of those that often follow a number: "70 kg" has a unit, "70 etwa" none."""
        words = self.words
        alone = ("harmless", "joins", "to", "either", "date_limits", "minus")
        opens = ("approximate", "hedges", "limits", "negators", "yes")
        return not any(word in words[name] for name in alone) and not any(
            word in words[name].openings for name in opens
        )

    def _as_asked(self, found: Found) -> Found:
        """Return a plain number where one is asked for, unless no human being has such a value."""
        kind, value = self.asked.type, found.value
        amount = value.get("value") if isinstance(value, dict) else None
        if found.problem or not isinstance(value, dict) or not isinstance(amount, Decimal):
            return found
        unit = str(value.get("code") or "")
        if not self.measure.is_possible(amount, unit):
            return found.failed("a value that nobody has", "implausible")
        certain = found.literal and self.measure.is_likely(amount, unit)
        if kind != "integer":
            return replace(found, value=value if kind == "quantity" else amount, literal=certain)
        whole = amount.to_integral_value(ROUND_HALF_UP)
        if whole != amount and found.exactly_said:
            return found.failed("a fraction where a whole number is wanted", "not-whole")
        if abs(whole) >= INTEGER_LIMIT:
            return found.failed("a whole number beyond 32 bits", "too-big")
        return replace(found, value=int(whole), literal=certain and whole == amount)


def _together(first: Number, second: Number) -> Number | None:
    """Return two amounts as one, in the smaller unit, if the second continues the first."""
    for code in first.codes:
        smaller = _SMALLER.get(code, "")
        fits = smaller in second.codes or (not second.codes and code in _BARE)
        count = _ratio(code, smaller)
        if fits and count and first.readings and second.readings:
            large, small = first.readings[0], second.readings[0]
            if not second.codes and small < _DATA["bare_from"].get(code, 0):
                continue
            if large == large.to_integral_value() and 0 <= small < count:
                return _joint(first.first, second.end, large * int(count) + small, smaller)
    return None
