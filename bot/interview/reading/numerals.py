"""Numbers in words become numbers: "dreiundsiebzig", "twenty-three", "anderthalb", "3rd", "½". Pure."""

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
    value = names.small[word] if word in names.small else _compound(word, names)
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


def number_tokens(tokens: Sequence[Token], names: NumberWords, *, years: bool = False) -> tuple[Token, ...]:
    """Return the tokens with number words merged into one token each; with `years`, "nineteen seventy-five" too."""
    spelling = _Spelling(tokens, names, years)
    merged: list[Token] = []
    place = 0
    while place < len(tokens):
        place, token = spelling.at(place)
        merged.append(token)
    return tuple(merged)


def with_decimals(tokens: Sequence[Token], names: NumberWords) -> tuple[Token, ...]:
    """Return merged tokens with "fünf Komma sechs" and "one point two" as one number each."""
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        fraction, end = _after_point(tokens, place, names)
        token = tokens[place]
        value = Decimal(f"{token.value}.{fraction}") if fraction else None
        result.append(token if value is None else _as(token, tokens[end - 1], "number", value))
        place = end
    return tuple(result)


def _after_point(tokens: Sequence[Token], start: int, names: NumberWords) -> tuple[str, int]:
    """Return the digits that are said after the point, and where they end: "eins Komma acht null"."""
    whole = tokens[start].value if tokens[start].numeric else None
    pointed = start + 1 < len(tokens) and tokens[start + 1].text in names.point
    if not pointed or whole is None or whole != whole.to_integral_value():
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


def _as(first: Token, last: Token, kind: str, value: Decimal, *, sure: bool = True) -> Token:
    return replace(first, kind=kind, text=format(value, "f"), end=last.end, value=value, sure=sure)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The tokens of a reply, in which numbers may be spelled out; each method says where something ends."""

    tokens: Sequence[Token]
    names: NumberWords
    years: bool

    def at(self, start: int) -> tuple[int, Token]:
        """Return the token at a place, merged with those after it that belong to the same number."""
        first, names = self.tokens[start], self.names
        if first.kind == "digits":
            return self._fraction(start) or self._after_digits(start)
        if first.kind != "word":
            return start + 1, first
        if first.text in names.ordinals:
            return start + 1, _as(first, first, "ordinal", Decimal(names.ordinals[first.text]))
        end, value = self._run(start)
        if end <= start + 1 and first.text in names.articles:
            return start + 1, replace(first, kind="article", value=Decimal(1))
        if value is None:
            return start + 1, self._lone(first)
        following = [token.text for token in self.tokens[end : end + names.and_a_half.longest]]
        half = names.and_a_half.length_at(following, 0)
        end += half
        if (
            not names.units_first
            and value in (20, 30)
            and [token.text for token in self.tokens[end : end + 1]] == ["-"]
        ):
            unit = names.ordinals.get(self.tokens[end + 1].text, 0) if end + 1 < len(self.tokens) else 0
            if 1 <= unit <= 9:  # "twenty-third"
                return end + 2, _as(first, self.tokens[end + 1], "ordinal", Decimal(value + unit))
        return end, _as(first, self.tokens[end - 1], "number", value + (Decimal("0.5") if half else Decimal(0)))

    def _lone(self, token: Token) -> Token:
        """Return a single word as a number if it is one in another way: a half or a typing error."""
        word, names = token.text, self.names
        if word in names.halves:
            return _as(token, token, "number", names.halves[word])
        if names.half_suffix and word.endswith(names.half_suffix):
            whole = spelled_out(word.removesuffix(names.half_suffix), names)
            if whole:
                return _as(token, token, "number", whole + Decimal("0.5"))
        values = {names.small[slip] for slip in near(word, names.small)} if len(word) >= MIN_SLIP else set()
        return _as(token, token, "number", Decimal(values.pop()), sure=False) if len(values) == 1 else token

    def _run(self, start: int) -> tuple[int, int | None]:
        """Return where the longest number that begins at `start` ends, and its value."""
        tokens, total, current = self.tokens, 0, None
        end = start
        while end < len(tokens):
            joined = current is not None and self._joins(end)  # "and" or a hyphen between two parts of a number
            place = end + joined
            word = tokens[place].text if place < len(tokens) and tokens[place].kind == "word" else ""
            step = self._step(word, total, current, by_and=joined and tokens[end].kind == "word") if word else None
            if step is None:
                break
            total, current = step
            end = place + 1
        value = total + (current or 0)
        return end, value if end > start and value <= MAX_SPELLED else None

    def _joins(self, place: int) -> bool:
        token, after = self.tokens[place], self.tokens[place + 1 : place + 2]
        return token.text in self.names.joiners or (token.text == "-" and token.glued and any(t.glued for t in after))

    def _step(self, word: str, total: int, current: int | None, *, by_and: bool) -> tuple[int, int | None] | None:
        """Return total and current part of a number after one more word, or None if it does not belong to it."""
        if word in self.names.thousand:
            return None if total or (current or 1) > 9 else ((current or 1) * 1000, 0)
        if word in self.names.hundred:
            return None if (current or 1) > 99 else (total, (current or 1) * 100)
        value = spelled_out(word, self.names)
        if value is None or current is None:
            return None if value is None else (total, value)
        if current == 0:
            return (total, value) if total and 0 < value < 1000 else None
        if self._extends(current, value, by_and=by_and):
            return total, current + value
        # Years are said in two halves.
        halved = self.years and not by_and and 13 <= current <= 20 and value >= 10
        return (total, current * 100 + value) if halved else None

    def _extends(self, current: int, value: int, *, by_and: bool) -> bool:
        """Tell whether a smaller number continues a larger one."""
        if current % 100 == 0:
            return 0 < value < (1000 if current % 1000 == 0 else 100)
        if self.names.units_first:
            return by_and and current < 10 and value in range(20, 100, 10)
        return not by_and and current % 100 in range(20, 100, 10) and 0 < value < 10

    def _fraction(self, start: int) -> tuple[int, Token] | None:
        """Read "½" and "1 ½", which arrive as "1⁄2" and "1 1⁄2", and "1 1/2"; not "1/2", which may be two numbers."""
        tokens = self.tokens
        mixed = self._is_fraction(start + 1) and not tokens[start + 1].glued
        place = start + 1 if mixed else start
        if not self._is_fraction(place) or (not mixed and tokens[place + 1].text == "/"):
            return None
        whole = Decimal(tokens[start].text) if mixed else Decimal(0)
        value = whole + Decimal(tokens[place].text) / Decimal(tokens[place + 2].text)
        return place + 3, _as(tokens[start], tokens[place + 2], "number", value)

    def _is_fraction(self, place: int) -> bool:
        pieces = self.tokens[place : place + 3]
        if [piece.kind for piece in pieces] != ["digits", "mark", "digits"] or pieces[1].text not in _SLASHES:
            return False
        proper = len(pieces[0].text) < 3 and pieces[2].text in _EXACT and int(pieces[0].text) < int(pieces[2].text)
        return proper and pieces[1].glued and pieces[2].glued

    def _after_digits(self, start: int) -> tuple[int, Token]:
        """Return digits as an ordinal when "rd" or "ten" follows; "2 hundred" as 200."""
        first, names = self.tokens[start], self.names
        after = self.tokens[start + 1] if start + 1 < len(self.tokens) else None
        if after is None or after.kind != "word" or len(first.text) > 4:
            return start + 1, first
        value = Decimal(first.text)
        weighs = after.text == "st" and (value % 10 != 1 or value == 11)  # "12st" is a weight
        if after.glued and after.text in names.ordinal_ends and value <= 999 and (names.units_first or not weighs):
            return start + 2, _as(first, after, "ordinal", value)
        for scales, factor in ((names.hundred, 100), (names.thousand, 1000)):
            if after.text in scales and value <= 99:
                return start + 2, _as(first, after, "number", value * factor, sure=False)
        return start + 1, first
