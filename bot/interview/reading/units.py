"""Units in words, conversion between them, and the well-known quantities that a question may ask for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from bot.interview.reading.load_words import words_for
from bot.interview.reading.reading import Asked, Unit, within
from bot.interview.reading.tokens import Reply, Token, cut
from bot.interview.reading.vocabulary import Words, unit_key
from bot.interview.values import units as ucum
from bot.interview.values.answer import Answer

MAX_UNIT_TOKENS = 6
MAX_DIGITS = 15

# The next smaller unit, and how many of it make one; only where that is exact.
_NEXT = {
    "kg": ("g", 1000), "{Pfund}": ("g", 500), "g": ("mg", 1000), "mg": ("ug", 1000),
    "km": ("m", 1000), "m": ("cm", 100), "cm": ("mm", 10),
    "L": ("dL", 10), "dL": ("cL", 10), "cL": ("mL", 10),
    "a": ("mo", 12), "wk": ("d", 7), "d": ("h", 24), "h": ("min", 60), "min": ("s", 60),
    "[stone_av]": ("[lb_av]", 14), "[lb_av]": ("[oz_av]", 16), "[ft_i]": ("[in_i]", 12),
}  # fmt: skip
# What a number after this unit counts, when it stands alone: "1 Meter 68", "5 foot 6", "2 Stunden 30".
SMALLER = {
    "m": "cm", "h": "min", "[ft_i]": "[in_i]", "[stone_av]": "[lb_av]", "a": "mo", "kg": "g", "[lb_av]": "[oz_av]",
}  # fmt: skip
BARE = frozenset({"m", "h", "[ft_i]", "[stone_av]"})
TIMES = frozenset({"a", "mo", "wk", "d", "h", "min", "s"})
_CALENDAR = frozenset({"a", "mo"})
# Decimal places that are worth keeping of a converted value.
_PLACES = {
    "m": 2, "L": 2, "cm": 1, "kg": 1, "Cel": 1, "[degF]": 1, "[lb_av]": 1, "[in_i]": 1, "[ft_i]": 2, "[stone_av]": 1,
}  # fmt: skip


def _parts(unit: str) -> dict[str, int]:
    """Return how many of each smaller unit make one, itself first. {Pfund}, the German pound, has no code of UCUM."""
    parts = {unit: 1}
    count = 1
    while unit in _NEXT:
        unit, many = _NEXT[unit]
        count *= many
        parts[unit] = count
    return parts


def factor(larger: str, smaller: str) -> int | None:
    """Return how many of one unit make another, or None when they do not belong together that way."""
    return _parts(larger).get(smaller)


def convert(value: Decimal, unit: str, wanted: str) -> Decimal | None:
    """Return a value in another unit, or None where there is no exact conversion."""
    many, parts = _parts(unit), _parts(wanted)
    base = next((code for code in many if code in parts), None)
    if base is None:
        return None
    result = value * many[base] / parts[base]
    exact = result * parts[base] == value * many[base] and len(result.as_tuple().digits) <= MAX_DIGITS
    return _plain(result) if exact else None


def convert_roughly(value: Decimal, unit: str, wanted: str, *, places: int | None = None) -> Decimal | None:
    """Return a value in another unit, exact where that is possible, else rounded to what is worth keeping.

    Months are no number of days; and nothing but zero becomes zero.
    """
    exact = convert(value, unit, wanted)
    if exact is None:
        if {unit, wanted} & _CALENDAR and {unit, wanted} & (TIMES - _CALENDAR):
            return None
        if unit == "{Pfund}":
            unit, value = "g", value * 500
        exact = ucum.convert(value, unit, wanted)
    if exact is None:
        return None
    usual = _PLACES.get(wanted, 0 if wanted.startswith(("mm", "g", "min", "/")) else 2)
    most = min(usual, 9 if places is None else places)
    if -int(exact.as_tuple().exponent) <= most:
        return _plain(exact)
    rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    return None if value and not rounded else _plain(rounded)


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
        for name in (unit.display, unit.code):
            key = unit_key(name, words.fold)
            if key and unit.code not in own.get(key, ()):
                own[key] = (*own.get(key, ()), unit.code)
    key, end = "", start
    result: tuple[int, tuple[str, ...]] = start, ()
    while end < min(len(tokens), start + MAX_UNIT_TOKENS):
        token = tokens[end]
        if token.text not in (".", "^"):
            key += token.text
        end += 1
        codes = own.get(key) or words.units.codes.get(key)
        if codes:
            result = end, codes
    return result


# Codes that a plain number of a question may be in, when its text says so.
_STATED = frozenset({
    "kg", "g", "mg", "ug", "m", "cm", "mm", "km", "L", "dL", "cL", "mL", "a", "mo", "wk", "d", "h", "min",
    "Cel", "[degF]", "mm[Hg]", "%", "kg/m2", "mg/dL", "mmol/L", "umol/L", "[lb_av]", "[oz_av]", "[stone_av]", "[ft_i]",
    "[in_i]", "/min",
})  # fmt: skip
# Those that may stand at the end of a question without brackets: "Gewicht kg".
_AT_END = frozenset({"kg", "cm", "mm[Hg]", "Cel", "kg/m2", "mm"})


def stated_unit(prompt: Reply, words: Words) -> Unit | None:
    """Return the unit that the text of a question asks for: "Körpergröße (cm)", "Gewicht in kg", "How many years"."""
    tokens = prompt.tokens
    for place, token in enumerate(tokens):
        if token.text in ("(", "["):
            inside = place + 1 + (place + 1 < len(tokens) and tokens[place + 1].text in ("in", "angabe"))
            unit, after = _stated_at(tokens, inside, words)
            if unit and after in (")", "]"):
                return unit
        else:
            opened = words.units.opens.length_at([each.text for each in tokens], place)
            unit, _ = _stated_at(tokens, place + opened, words) if opened else (None, "")
            if unit:
                return unit
    telling = [token for token in tokens if token.text not in (":", "?", ".", "*")]
    for length in range(1, min(4, len(telling))):
        unit, after = _stated_at(telling, len(telling) - length, words)
        if unit and not after and unit.code in _AT_END:
            return unit
    return None


def _stated_at(tokens: Sequence[Token], start: int, words: Words) -> tuple[Unit | None, str]:
    """Return the unit that a question names at `start`, and what stands after it."""
    end, codes = unit_at(tokens, start, words)
    code = next((code for code in codes if code in _STATED), "")
    if not code:
        return None, ""
    written = "".join(token.text for token in tokens[start:end])
    name = words.units.names.get(code, code if code in _AT_END or not written.isalpha() else written)
    return Unit(code, name), tokens[end].text if end < len(tokens) else ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A well-known quantity of the body.

    `bounds` are the lowest possible value (below it, no human being is), the lowest and highest likely ones (between
    them, nothing is odd) and the highest possible one, all in `unit`.
    """

    kind: str
    unit: str
    bounds: tuple[Decimal, ...]


_MEASURES = tuple(
    Measure(kind, unit, tuple(map(Decimal, bounds.split())))
    for kind, unit, bounds in (
        ("height", "cm", "25 100 215 275"),
        ("weight", "kg", "0.3 30 250 650"),
        ("age", "a", "0 0 110 125"),
        ("temperature", "Cel", "24 34 42 46"),
        ("systolic", "mm[Hg]", "30 70 230 330"),
        ("diastolic", "mm[Hg]", "10 40 140 230"),
        ("pulse", "/min", "10 35 200 350"),
        ("bmi", "kg/m2", "5 12 70 250"),
    )
)
_PRESSURES = frozenset({"systolic", "diastolic"})
# Units that people write for one another without saying so: "1,80" for 180 cm.
_MIXED_UP = {"cm": "m", "m": "cm", "mm": "cm", "Cel": "[degF]", "[degF]": "Cel", "g": "kg"}
# A single word that is shorter than this may also be about something else: "Größe des Knotens".
_LONG = 12


def measure_of(asked: Asked, prompt: Reply, words: Words) -> Measure | None:
    """Return the well-known quantity that a question asks for, if its unit is none or one of its kind."""
    texts, unit = prompt.names, asked.allowed_units[0].code if asked.allowed_units else ""
    kinds = {kind for kind in words.units.measured if _asks_for(kind, texts, words)}
    pressed = unit == "mm[Hg]" or "pressure" in kinds or _names_pressure(texts)
    if kinds >= _PRESSURES or not pressed:
        kinds -= _PRESSURES
    asked_for = (measure for measure in _MEASURES if measure.kind in kinds)
    return next((each for each in asked_for if not unit or ucum.convert(Decimal(1), unit, each.unit) is not None), None)


def _asks_for(kind: str, texts: Sequence[str], words: Words) -> bool:
    """Tell whether a question asks for a quantity by a word of its own, or by one that it hardly adds to."""
    phrases = words.units.measured[kind]
    place = next((place for place in range(len(texts)) if phrases.length_at(texts, place)), None)
    if place is None or kind in _PRESSURES or kind == "pressure":
        return place is not None
    length = phrases.length_at(texts, place)
    others = {*texts[:place], *texts[place + length :]}
    adds = others - words.choices.weak - words.choices.articles - words.silence.padding
    return length > 1 or len(texts[place]) >= _LONG or adds <= words.units.codes.keys()


def _names_pressure(texts: Sequence[str]) -> bool:
    return any(text.startswith(("systol", "diastol")) for text in texts)


def is_pressure(asked: Asked, prompt: Reply, words: Words) -> bool:
    """Tell whether a question asks for blood pressure, of which people say two values."""
    by_unit = any(unit.code == "mm[Hg]" for unit in asked.allowed_units)
    return by_unit or _names_pressure(prompt.names) or words.units.measured["pressure"].within(prompt.names)


def is_possible(value: Decimal, unit: str, measure: Measure | None) -> bool:
    """Tell whether any human being has such a value."""
    return measure is None or _between(value, unit, measure, *measure.bounds[::3])


def is_likely(value: Decimal, unit: str, measure: Measure | None) -> bool:
    """Tell whether a value is nothing to wonder about."""
    return measure is None or _between(value, unit, measure, *measure.bounds[1:3])


def _between(value: Decimal, unit: str, measure: Measure, low: Decimal, high: Decimal) -> bool:
    converted = ucum.convert(value, unit or measure.unit, measure.unit)
    return converted is None or low <= converted <= high


def meant_unit(value: Decimal, unit: str, asked: Asked, measure: Measure | None) -> str:
    """Return the unit that a bare number was meant in: the one asked for, unless only another makes sense."""
    if within(value, asked) and is_likely(value, unit, measure):
        return unit
    other = _MIXED_UP.get(unit, unit)
    converted = ucum.convert(value, other, unit)
    told = measure is not None or asked.minimum is not None or asked.maximum is not None
    fits = converted is not None and told and within(converted, asked) and is_likely(converted, unit, measure)
    return other if fits else unit


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
    return words_for(language).units.names.get(code, "")


def is_unusual(answer: Answer, question: Asked, *, language: str) -> bool:
    """Tell whether a value is possible, but so seldom that the patient should look again."""
    words = words_for(language)
    whole, unit = answer.value, question.unit.code if question.unit else ""
    value = whole
    if isinstance(whole, dict):
        value, unit = whole.get("value"), str(whole.get("code") or "")
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    return not is_likely(Decimal(value), unit, measure_of(question, cut(question.prompt, words.fold), words))
