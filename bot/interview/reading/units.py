"""Units in words: what patients call them, and which a question asks for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from bot.interview.reading.compile_words import unit_key
from bot.interview.reading.languages import words_for
from bot.interview.reading.reading import Asked, Unit, within
from bot.interview.reading.tokens import Token, cut
from bot.interview.reading.vocabulary import Phrases, Words
from bot.interview.values import units as ucum
from bot.interview.values.answer import Answer

MAX_UNIT_TOKENS = 6
MAX_DIGITS = 15

# How many of the smaller unit make the larger one; only where that is exact.
_STEPS = {
    ("kg", "g"): 1000,
    ("g", "mg"): 1000,
    ("mg", "ug"): 1000,
    ("km", "m"): 1000,
    ("m", "cm"): 100,
    ("cm", "mm"): 10,
    ("L", "dL"): 10,
    ("dL", "cL"): 10,
    ("cL", "mL"): 10,
    ("a", "mo"): 12,
    ("wk", "d"): 7,
    ("d", "h"): 24,
    ("h", "min"): 60,
    ("min", "s"): 60,
    ("{Pfund}", "g"): 500,  # the German and Swiss pound, which has no code
    ("[stone_av]", "[lb_av]"): 14,
    ("[lb_av]", "[oz_av]"): 16,
    ("[ft_i]", "[in_i]"): 12,
}
# What a number after this unit counts, when it stands alone: "1 Meter 68", "5 foot 6", "2 Stunden 30".
SMALLER = {
    "m": "cm",
    "h": "min",
    "[ft_i]": "[in_i]",
    "[stone_av]": "[lb_av]",
    "a": "mo",
    "kg": "g",
    "[lb_av]": "[oz_av]",
}
BARE = frozenset({"m", "h", "[ft_i]", "[stone_av]"})


def factor(larger: str, smaller: str) -> int | None:
    """Return how many of one unit make another, or None when they do not belong together that way."""
    if larger == smaller:
        return 1
    for (big, small), count in _STEPS.items():
        if big == larger:
            rest = factor(small, smaller)
            if rest is not None:
                return count * rest
    return None


def convert(value: Decimal, unit: str, wanted: str) -> Decimal | None:
    """Return a value in another unit, or None where there is no exact conversion."""
    for base in dict.fromkeys([wanted, unit, *(small for _, small in _STEPS)]):
        many, parts = factor(unit, base), factor(wanted, base)
        if many is not None and parts is not None:
            result = value * many / parts
            exact = result * parts == value * many and len(result.as_tuple().digits) <= MAX_DIGITS
            return _plain(result) if exact else None
    return None


# Decimal places that are worth keeping of a converted value.
_PLACES = {
    "m": 2,
    "L": 2,
    "cm": 1,
    "kg": 1,
    "Cel": 1,
    "[degF]": 1,
    "[lb_av]": 1,
    "[in_i]": 1,
    "[ft_i]": 2,
    "[stone_av]": 1,
}
_CALENDAR = frozenset({"a", "mo"})
_CLOCK = frozenset({"wk", "d", "h", "min", "s"})


def convert_roughly(value: Decimal, unit: str, wanted: str, *, places: int | None = None) -> Decimal | None:
    """Return a value in another unit, exact where that is possible, else rounded to what is worth keeping.

    Months are no number of days; and nothing but zero becomes zero.
    """
    exact = convert(value, unit, wanted)
    if exact is None:
        if {unit, wanted} & _CALENDAR and {unit, wanted} & _CLOCK:
            return None
        if unit == "{Pfund}":
            unit, value = "g", value * 500
        exact = ucum.convert(value, unit, wanted)
    if exact is None:
        return None
    most = min(
        _PLACES.get(wanted, 0 if wanted.startswith(("mm", "g", "min", "/")) else 2), 9 if places is None else places
    )
    if -int(exact.as_tuple().exponent) <= most:
        return _plain(exact)
    rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    return None if value and not rounded else _plain(rounded)


def _plain(value: Decimal) -> Decimal:
    """Return a value without zeros at its end that the calculation put there."""
    return value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()


def unit_at(tokens: Sequence[Token], start: int, words: Words, allowed: Sequence[Unit]) -> tuple[int, tuple[str, ...]]:
    """Return where the longest name of a unit at `start` ends, and the codes it may stand for; no codes if none."""
    own = _own_names(allowed, words)
    key, end = "", start
    result: tuple[int, tuple[str, ...]] = start, ()
    while end < len(tokens) and end - start < MAX_UNIT_TOKENS:
        token = tokens[end]
        if token.text not in (".", "^"):
            key += token.text
        end += 1
        codes = own.get(key) or words.units.codes.get(key)
        if codes:
            result = end, codes
    return result


def _own_names(allowed: Sequence[Unit], words: Words) -> dict[str, tuple[str, ...]]:
    """Return the names that the Questionnaire itself gives to its units."""
    names: dict[str, tuple[str, ...]] = {}
    for unit in allowed:
        for name in (unit.display, unit.code):
            key = unit_key(name, words.fold)
            if key and unit.code not in names.get(key, ()):
                names[key] = (*names.get(key, ()), unit.code)
    return names


# Codes that a plain number of a question may be in, when its text says so.
_STATED = frozenset({
    "kg", "g", "mg", "ug", "m", "cm", "mm", "km", "L", "dL", "cL", "mL", "a", "mo", "wk", "d", "h", "min",
    "Cel", "[degF]", "mm[Hg]", "%", "kg/m2", "mg/dL", "mmol/L", "umol/L", "[lb_av]", "[oz_av]", "[stone_av]", "[ft_i]",
    "[in_i]", "/min",
})  # fmt: skip
# Those that may stand at the end of a question without brackets: "Gewicht kg".
_BARE = frozenset({"kg", "cm", "mm[Hg]", "Cel", "kg/m2", "mm"})
# Units that people write for one another without saying so: "1,80" for 180 cm.
_MIXED_UP = {"cm": ("m",), "m": ("cm",), "mm": ("cm",), "Cel": ("[degF]",), "[degF]": ("Cel",), "g": ("kg",)}
# A single word that is shorter than this may also be about something else: "Größe des Knotens".
_LONG = 12
TIMES = frozenset({"a", "mo", "wk", "d", "h", "min", "s"})


@dataclass(frozen=True, slots=True)
class Measure:
    """A well-known quantity.

    Attributes:
        unit: Of the bounds.
        likely: Between these, nothing is odd.
        possible: Beyond these, no human being is.
    """

    kind: str
    unit: str
    likely: tuple[Decimal, Decimal]
    possible: tuple[Decimal, Decimal]


def _measure(kind: str, unit: str, *bounds: str) -> Measure:
    lowest, low, high, highest = map(Decimal, bounds)
    return Measure(kind, unit, (low, high), (lowest, highest))


_MEASURES = tuple(
    _measure(*row)
    for row in (
        ("height", "cm", "25", "100", "215", "275"),
        ("weight", "kg", "0.3", "30", "250", "650"),
        ("age", "a", "0", "0", "110", "125"),
        ("temperature", "Cel", "24", "34", "42", "46"),
        ("systolic", "mm[Hg]", "30", "70", "230", "330"),
        ("diastolic", "mm[Hg]", "10", "40", "140", "230"),
        ("pulse", "/min", "10", "35", "200", "350"),
        ("bmi", "kg/m2", "5", "12", "70", "250"),
    )
)


def stated_unit(prompt: str, words: Words) -> Unit | None:
    """Return the unit that the text of a question asks for: "Körpergröße (cm)", "Gewicht in kg", "How many years"."""
    tokens = cut(prompt, words.fold).tokens
    for place, token in enumerate(tokens):
        if token.text in ("(", "["):
            inside = place + 1 + (place + 1 < len(tokens) and tokens[place + 1].text in ("in", "angabe"))
            found = _unit(tokens, inside, words, closed=(")", "]"))
        else:
            opened = words.units.opens.length_at([each.text for each in tokens], place)
            found = _unit(tokens, place + opened, words, closed=None) if opened else None
        if found:
            return found
    texts = [token for token in tokens if token.text not in (":", "?", ".", "*")]
    for length in (1, 2, 3):
        found = _unit(texts, len(texts) - length, words, closed=()) if len(texts) > length else None
        if found and found.code in _BARE:
            return found
    return None


def _unit(tokens: Sequence[Token], start: int, words: Words, *, closed: Sequence[str] | None) -> Unit | None:
    """Return the unit at `start`, if one of `closed` follows it; nothing for an empty list, anything for None."""
    end, codes = unit_at(tokens, start, words, ())
    code = next((code for code in codes if code in _STATED), "")
    after = tokens[end].text if end < len(tokens) else ""
    if not code or (closed is not None and after not in (closed or ("",))):
        return None
    written = "".join(token.text for token in tokens[start:end])
    return Unit(code, words.units.names.get(code, code if code in _BARE or not written.isalpha() else written))


def measure_of(asked: Asked, words: Words) -> Measure | None:
    """Return the well-known quantity that a question asks for, if its unit is none or one of its kind."""
    tokens = cut(asked.prompt, words.fold).tokens
    texts = [token.text for token in tokens if token.kind == "word"]
    unit = asked.allowed_units[0].code if asked.allowed_units else ""
    kinds = {kind for kind, phrases in words.units.measured.items() if _asks_for(kind, phrases, texts, words)}
    pressed = unit == "mm[Hg]" or "pressure" in kinds or any(text.startswith(("systol", "diastol")) for text in texts)
    if {"systolic", "diastolic"} <= kinds:
        kinds -= {"systolic", "diastolic"}
    for measure in _MEASURES:
        if measure.kind not in kinds or (measure.kind in ("systolic", "diastolic") and not pressed):
            continue
        if not unit or ucum.convert(Decimal(1), unit, measure.unit) is not None:
            return measure
    return None


def _asks_for(kind: str, phrases: Phrases, texts: Sequence[str], words: Words) -> bool:
    """Tell whether a question asks for a quantity by a word of its own, or by one that it hardly adds to."""
    found = [place for place in range(len(texts)) if phrases.length_at(texts, place)]
    if not found or kind in ("systolic", "diastolic", "pressure"):
        return bool(found)
    place = found[0]
    length = phrases.length_at(texts, place)
    others = {*texts[:place], *texts[place + length :]}
    adds = others - words.choices.weak - words.choices.articles - words.silence.padding
    known = {text for text in adds if text in words.units.codes}
    return length > 1 or len(texts[place]) >= _LONG or not adds - known


def is_pressure(asked: Asked, words: Words) -> bool:
    """Tell whether a question asks for blood pressure, of which people say two values."""
    if any(unit.code == "mm[Hg]" for unit in asked.allowed_units):
        return True
    texts = [token.text for token in cut(asked.prompt, words.fold).tokens if token.kind == "word"]
    return any(text.startswith(("systol", "diastol")) for text in texts) or words.units.measured["pressure"].within(
        texts
    )


def is_possible(value: Decimal, unit: str, measure: Measure | None) -> bool:
    """Tell whether any human being has such a value."""
    return measure is None or _inside(value, unit, measure, measure.possible)


def is_likely(value: Decimal, unit: str, measure: Measure | None) -> bool:
    """Tell whether a value is nothing to wonder about."""
    return measure is None or _inside(value, unit, measure, measure.likely)


def _inside(value: Decimal, unit: str, measure: Measure, bounds: tuple[Decimal, Decimal]) -> bool:
    converted = ucum.convert(value, unit or measure.unit, measure.unit)
    return converted is None or bounds[0] <= converted <= bounds[1]


def meant_unit(value: Decimal, unit: str, asked: Asked, measure: Measure | None) -> str:
    """Return the unit that a bare number was meant in: the one asked for, unless only another makes sense."""
    if within(value, asked) and is_likely(value, unit, measure):
        return unit
    for other in _MIXED_UP.get(unit, ()):
        converted = ucum.convert(value, other, unit)
        told = measure is not None or asked.minimum is not None or asked.maximum is not None
        if converted is not None and told and within(converted, asked) and is_likely(converted, unit, measure):
            return other
    return unit


def unit_asked_for(prompt: str, language: str) -> Unit | None:
    """Return the unit that the text of a question asks for."""
    return stated_unit(prompt, words_for(language))


def named_unit(label: str, language: str) -> Unit | None:
    """Return the unit that a text beside a question is, if it is nothing else."""
    words = words_for(language)
    tokens = cut(label, words.fold).tokens
    end, codes = unit_at(tokens, 0, words, ())
    return Unit(codes[0], label.strip()) if codes and end == len(tokens) else None


def unit_name(code: str, language: str) -> str:
    """Return what a unit is called in a language; empty where its code says it all."""
    return words_for(language).units.names.get(code, "")


def is_unusual(answer: Answer, question: Asked, *, language: str) -> bool:
    """Tell whether a value is possible, but so seldom that the patient should look again."""
    words = words_for(language)
    measure = measure_of(question, words)
    whole = answer.value
    value = whole.get("value") if isinstance(whole, dict) else whole
    unit = str(whole.get("code") or "") if isinstance(whole, dict) else question.unit.code if question.unit else ""
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or measure is None:
        return False
    return not is_likely(Decimal(value), unit, measure)
