"""Numbers in words become numbers: "dreiundsiebzig", "twenty-three", "anderthalb", "3rd". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.interview.reading.tokens import Token, near
from bot.interview.reading.vocabulary import NumberWords

MAX_SPELLED = 9999
_SLASHES = ("/", "⁄")  # the second is that of "½" after normalisation
_EXACT = ("2", "4", "5", "8", "10")  # denominators that make a decimal end
MIN_SLIP = 6  # letters; "there" is no slip of "three"
MAX_WORD = 60  # letters; the longest German number below 10,000 has 51


def spelled_out(word: str, names: NumberWords) -> int | None:
    """Return the number that one word names, up to 9999, or None."""
    if len(word) > MAX_WORD:
        return None
    if word in names.small:
        return names.small[word]
    value = _compound(word, names)
    return value if value is not None and value <= MAX_SPELLED else None


def _compound(word: str, names: NumberWords) -> int | None:
    for scales, factor, most in ((names.thousand, 1000, 9), (names.hundred, 100, 99)):
        for scale in scales:
            left, found, right = word.partition(scale)
            if found:
                times, rest = _part(left, names, empty=1), _below(right, names, factor)
                return None if times is None or rest is None or not 0 < times <= most else times * factor + rest
    return _two_digits(word, names) if names.units_first else None


def _part(word: str, names: NumberWords, *, empty: int) -> int | None:
    if not word:
        return empty
    return names.small[word] if word in names.small else _two_digits(word, names)


def _below(word: str, names: NumberWords, limit: int) -> int | None:
    """Return what follows "hundert" or "tausend", with or without "und"."""
    for joiner in names.joiners:
        word = word.removeprefix(joiner)
    value = _part(word, names, empty=0)
    if value is None and limit == 1000:
        value = _compound(word, names)
    return value if value is not None and value < limit else None


def _two_digits(word: str, names: NumberWords) -> int | None:
    # Dialect joins with "e" or "a": "einezwanzg", "drüesibezg".
    for joiner in (*names.joiners, "e", "a"):
        start = word.find(joiner, 2)
        while start > 0:
            unit, ten = names.small.get(word[:start], 0), names.small.get(word[start + len(joiner) :], 0)
            if 1 <= unit <= 9 and 20 <= ten <= 90:
                return unit + ten
            start = word.find(joiner, start + 1)
    return None


@dataclass(frozen=True, slots=True)
class _Speller:
    """How words become numbers.

    Attributes:
        names: The number words of the language.
        years: Whether "nineteen seventy-five" is one number.
    """

    names: NumberWords
    years: bool


def number_tokens(tokens: Sequence[Token], names: NumberWords, *, years: bool = False) -> tuple[Token, ...]:
    """Return the tokens with number words merged into one token each."""
    speller = _Speller(names, years)
    merged: list[Token] = []
    place = 0
    while place < len(tokens):
        taken, token = _at(tokens, place, speller)
        merged.append(token)
        place += taken
    return tuple(merged)


def with_decimals(tokens: Sequence[Token], names: NumberWords) -> tuple[Token, ...]:
    """Return merged tokens with "fünf Komma sechs" and "one point two" as one number each."""
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        fraction, end = _fraction_after(tokens, place, names)
        if fraction:
            value = Decimal(f"{tokens[place].value}.{fraction}")
            result.append(_as(tokens[place], tokens[end - 1], "number", value))
        else:
            result.append(tokens[place])
        place = end
    return tuple(result)


def _fraction_after(tokens: Sequence[Token], start: int, names: NumberWords) -> tuple[str, int]:
    """Return the digits that are said after the point, and where they end: "eins Komma acht null"."""
    whole = tokens[start]
    pointed = start + 1 < len(tokens) and tokens[start + 1].text in names.point
    if not pointed or not whole.numeric or whole.value is None or whole.value != whole.value.to_integral_value():
        return "", start + 1
    digits, place = "", start + 2
    while place < len(tokens) and tokens[place].numeric and tokens[place].text.isdecimal():
        if digits and len(tokens[place].text) > 1:
            break
        digits += tokens[place].text
        place += 1
        if len(digits) > 1 and len(tokens[place - 1].text) > 1:
            break
    return (digits, place) if digits else ("", start + 1)


def _at(tokens: Sequence[Token], start: int, speller: _Speller) -> tuple[int, Token]:
    first, names = tokens[start], speller.names
    if first.kind == "digits":
        return _after_digits(tokens, start, names)
    if first.kind != "word":
        return 1, first
    if first.text in names.ordinals:
        return 1, _as(first, first, "ordinal", Decimal(names.ordinals[first.text]))
    end, value = _run(tokens, start, speller)
    if end <= start + 1 and first.text in names.articles:
        return 1, replace(first, kind="article", value=Decimal(1))
    if value is None:
        return 1, _lone(first, names)
    end, half = _half_after(tokens, end, names)
    ordinal = _ordinal_after(tokens, end, value, names)
    if ordinal is not None:
        return end + 2 - start, _as(first, tokens[end + 1], "ordinal", ordinal)
    return end - start, _as(first, tokens[end - 1], "number", Decimal(value) + half)


def _as(first: Token, last: Token, kind: str, value: Decimal, *, sure: bool = True) -> Token:
    return replace(first, kind=kind, text=format(value, "f"), end=last.end, value=value, sure=sure)


def _lone(token: Token, names: NumberWords) -> Token:
    """Return a single word as a number if it is one in another way: a half, an article, a typing error."""
    word = token.text
    if word in names.halves:
        return _as(token, token, "number", names.halves[word])
    if names.half_suffix and word.endswith(names.half_suffix):
        whole = spelled_out(word.removesuffix(names.half_suffix), names)
        if whole:
            return _as(token, token, "number", whole + Decimal("0.5"))
    values = {names.small[slip] for slip in near(word, names.small)} if len(word) >= MIN_SLIP else set()
    return _as(token, token, "number", Decimal(values.pop()), sure=False) if len(values) == 1 else token


def _run(tokens: Sequence[Token], start: int, speller: _Speller) -> tuple[int, int | None]:
    """Return where the longest number that begins at `start` ends, and its value."""
    total, current = 0, None
    end = place = start
    while place < len(tokens):
        joined = _joint(tokens, place, speller.names) if current is not None else 0
        word = tokens[place + joined] if place + joined < len(tokens) else None
        by_and = joined == 1 and tokens[place].kind == "word"
        step = _step(word.text, (total, current), by_and, speller) if word and word.kind == "word" else None
        if step is None:
            break
        total, current = step
        end = place = place + joined + 1
    value = total + (current or 0)
    return end, value if end > start and value <= MAX_SPELLED else None


def _joint(tokens: Sequence[Token], place: int, names: NumberWords) -> int:
    """Return 1 when "and" or a hyphen without spaces stands here, which parts of one number may have between them."""
    token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
    dashed = token.text == "-" and token.glued and after is not None and after.glued
    return int(token.text in names.joiners or dashed)


def _step(word: str, so_far: tuple[int, int | None], by_and: bool, speller: _Speller) -> tuple[int, int | None] | None:
    """Return total and current part of a number after one more word, or None if it does not belong to it."""
    names, (total, current) = speller.names, so_far
    if word in names.thousand:
        return None if total or (current or 1) > 9 else ((current or 1) * 1000, 0)
    if word in names.hundred:
        return None if (current or 1) > 99 else (total, (current or 1) * 100)
    value = spelled_out(word, names)
    if value is None or current is None:
        return None if value is None else (total, value)
    if current == 0:
        return (total, value) if total and 0 < value < 1000 else None
    fits = _extends(current, value, by_and, names)
    if speller.years and not by_and and 13 <= current <= 20 and value >= 10 and not fits:
        return total, current * 100 + value  # years are said in two halves
    return (total, current + value) if fits else None


def _extends(current: int, value: int, by_and: bool, names: NumberWords) -> bool:
    """Tell whether a smaller number continues a larger one."""
    if current % 1000 == 0:
        return 0 < value < 1000
    if current % 100 == 0:
        return 0 < value < 100
    if names.units_first:
        return by_and and current < 10 and value in range(20, 100, 10)
    return not by_and and current % 100 in range(20, 100, 10) and 0 < value < 10


def _half_after(tokens: Sequence[Token], end: int, names: NumberWords) -> tuple[int, Decimal]:
    words = [token.text for token in tokens[end : end + names.and_a_half.longest]]
    length = names.and_a_half.length_at(words, 0)
    return end + length, Decimal("0.5") if length else Decimal(0)


def _ordinal_after(tokens: Sequence[Token], end: int, value: int, names: NumberWords) -> Decimal | None:
    """Return "twenty-third" as 23: a ten, a hyphen or nothing, and the ordinal of a unit."""
    dashed = end < len(tokens) and tokens[end].text == "-"
    if names.units_first or not dashed or value not in (20, 30) or end + 1 >= len(tokens):
        return None
    unit = names.ordinals.get(tokens[end + 1].text, 0)
    return Decimal(value + unit) if 1 <= unit <= 9 else None


def _fraction(tokens: Sequence[Token], start: int) -> tuple[int, Token] | None:
    """Read "½" and "1 ½", which arrive as "1⁄2" and "1 1⁄2", and "1 1/2"; not "1/2", which may be two numbers."""
    mixed = _is_fraction(tokens, start + 1) and not tokens[start + 1].glued
    place = start + 1 if mixed else start
    if not _is_fraction(tokens, place) or (not mixed and tokens[place + 1].text == "/"):
        return None
    whole = Decimal(tokens[start].text) if mixed else Decimal(0)
    value = whole + Decimal(tokens[place].text) / Decimal(tokens[place + 2].text)
    return place + 3 - start, _as(tokens[start], tokens[place + 2], "number", value)


def _is_fraction(tokens: Sequence[Token], place: int) -> bool:
    pieces = tokens[place : place + 3]
    if [piece.kind for piece in pieces] != ["digits", "mark", "digits"] or pieces[1].text not in _SLASHES:
        return False
    proper = len(pieces[0].text) < 3 and pieces[2].text in _EXACT and int(pieces[0].text) < int(pieces[2].text)
    return proper and pieces[1].glued and pieces[2].glued


def _after_digits(tokens: Sequence[Token], start: int, names: NumberWords) -> tuple[int, Token]:
    """Return digits as an ordinal when "rd" or "ten" follows; "2 hundred" as 200."""
    fraction = _fraction(tokens, start)
    if fraction:
        return fraction
    first = tokens[start]
    after = tokens[start + 1] if start + 1 < len(tokens) else None
    if after is None or after.kind != "word" or len(first.text) > 4:
        return 1, first
    value = Decimal(first.text)
    weighs = after.text == "st" and (value % 10 != 1 or value == 11)  # "12st" is a weight
    if after.glued and after.text in names.ordinal_ends and value <= 999 and (names.units_first or not weighs):
        return 2, _as(first, after, "ordinal", value)
    for scales, factor in ((names.hundred, 100), (names.thousand, 1000)):
        if after.text in scales and value <= 99:
            return 2, _as(first, after, "number", value * factor, sure=False)
    return 1, first
