"""What a question measures: the unit in its text, well-known quantities, and which values of them can be true. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.interview import units as ucum
from bot.interview.parsing.asked import Asked, Unit, within
from bot.interview.parsing.phrases import Phrases
from bot.interview.parsing.tokens import Token, cut
from bot.interview.parsing.units import unit_at
from bot.interview.parsing.vocabulary import Words

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
