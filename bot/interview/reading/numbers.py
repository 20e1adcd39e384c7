"""Numbers in digits, with Swiss, German and English marks, and in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.interview.reading.context import Context
from bot.interview.reading.found import Found, settle
from bot.interview.reading.numerals import number_tokens, with_decimals
from bot.interview.reading.reading import Asked, Reading, within
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import NumberWords

MAX_DIGITS = 15
INTEGER_LIMIT = 2**31  # FHIR's integer has 32 bits


@dataclass(frozen=True, slots=True)
class Number:
    """A number in the text, from token `first` up to `end`.

    Attributes:
        readings: What it can be, the most natural first; empty when its marks make no sense.
        literal: Whether it is written as numbers usually are in this language.
        open: Whether the second reading is as good as the first: "1.200" in German, where Swiss write decimal points.
    """

    first: int
    end: int
    readings: tuple[Decimal, ...]
    literal: bool = True
    open: bool = False


def read_number(reply: Reply, context: Context) -> Reading:
    """Read integers or decimals."""
    asked, names = context.asked, context.words.numbers
    tokens = with_decimals(number_tokens(reply.tokens, names), names)
    if asked.type == "decimal" and not asked.repeats:
        tokens = _without_point(tokens)
    spelled = Reply(reply.text, tokens)
    numbers = numbers_in(tokens, names, lists=asked.repeats) or _roundabout(spelled, context)
    found = [chosen(number, asked, whole=asked.type == "integer") for number in numbers]
    return settle(found, spelled, asked.type, context)


def _without_point(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return "eins achtzig", the only number of a reply, as 1.80."""
    said = [place for place, token in enumerate(tokens) if token.numeric]
    if len(said) != 2 or said[1] != said[0] + 1 or any(tokens[place].kind != "number" for place in said):
        return tokens
    first, second = (tokens[place] for place in said)
    large, small = first.value or Decimal(0), second.value or Decimal(0)
    if large % 1 or small % 1 or not 0 <= large < 10 <= small < 100:
        return tokens
    value = Decimal(f"{int(large)}.{int(small)}")
    merged = replace(first, text=str(value), end=second.end, value=value, sure=False)
    return (*tokens[: said[0]], merged, *tokens[said[1] + 1 :])


def chosen(number: Number, asked: Asked, *, whole: bool) -> Found:
    """Return the reading of a number that fits what is asked."""
    nothing = Found(number.first, number.end, None, literal=False)
    if not number.readings:
        return nothing.failed("marks that make no number", "notation")
    if max(map(abs, number.readings)) >= 10**MAX_DIGITS:
        return nothing.failed(f"more than {MAX_DIGITS} digits", "too-big")
    fitting = number.readings
    if whole:
        # Those written with zeros for a fraction count only if there is no other.
        fitting = tuple(value for value in fitting if value == value.to_integral_value())
        fitting = tuple(value for value in fitting if value.as_tuple().exponent == 0) or fitting
    if not fitting:
        return nothing.failed("a fraction where a whole number is wanted", "not-whole")
    value = next((value for value in fitting if within(value, asked)), fitting[0])
    if whole and abs(value) >= INTEGER_LIMIT:
        return nothing.failed("a whole number beyond 32 bits", "too-big")
    sure = value == number.readings[0] and not (number.open and len(fitting) > 1)
    literal = number.literal and sure and within(value, asked)
    return replace(nothing, value=int(value) if whole else value, literal=literal)


def numbers_in(tokens: Sequence[Token], names: NumberWords, *, lists: bool = False) -> list[Number]:
    """Return the numbers among tokens whose number words are merged."""
    numbers: list[Number] = []
    place = 0
    while place < len(tokens):
        number = number_at(tokens, place, names, lists=lists)
        if number:
            numbers.append(number)
        place = number.end if number else place + 1
    return numbers


def number_at(tokens: Sequence[Token], start: int, names: NumberWords, *, lists: bool) -> Number | None:
    """Return the number that begins at `start`; with `lists`, a comma may also part two."""
    token, before = tokens[start], tokens[start - 1] if start else None
    if not token.numeric or token.value is None:
        return None
    number = Number(start, start + 1, (token.value,), token.sure)
    if token.kind == "digits":
        number = _digits(tokens, start, names, lists=lists)
    if before is None:
        return number
    dash = before.text == "-" and token.glued and not (before.glued and start > 1)
    if dash or before.text in names.minus:
        return Number(start - 1, number.end, tuple(-value for value in number.readings), number.literal)
    if before.text in (".", ",") and token.glued and not before.glued and len(number.readings) == 1:
        value = number.readings[0]
        point = Decimal(f"0.{token.text}") if value == value.to_integral_value() else value
        return Number(start - 1, number.end, (point,), literal=False)
    return number


def _digits(tokens: Sequence[Token], start: int, names: NumberWords, *, lists: bool) -> Number:
    parts, marks = [tokens[start].text], list[str]()
    end = start + 1
    while end + 1 < len(tokens):
        mark, after = tokens[end], tokens[end + 1]
        if mark.text not in (".", ",", "'") or not mark.glued or after.kind != "digits" or not after.glued:
            break
        marks.append(mark.text)
        parts.append(after.text)
        end += 2
    number = _spaced(tokens, start) if not marks and not lists else None
    if number:
        return number
    readings, literal = _readings(parts, marks, names)
    if lists and set(marks) == {","} and not readings:
        return Number(start, start + 1, (Decimal(parts[0]),))
    unsettled = len(readings) > 1 and marks == ["."] and names.group_mark == "."
    return Number(start, end, readings, literal, unsettled)


def _spaced(tokens: Sequence[Token], start: int) -> Number | None:
    """Read "12 500": thousands between spaces. Never literal, since it could be two numbers."""
    end = start + 1
    while end < len(tokens) and tokens[end].kind == "digits" and not tokens[end].glued and len(tokens[end].text) == 3:
        end += 1
    marked = end < len(tokens) and tokens[end].glued and tokens[end].text in (".", ",", "'")
    if end == start + 1 or len(tokens[start].text) > 3 or tokens[start].text.startswith("0") or marked:
        return None
    value = Decimal("".join(token.text for token in tokens[start:end]))
    return Number(start, end, (value,), literal=False)


def _readings(parts: Sequence[str], marks: Sequence[str], names: NumberWords) -> tuple[tuple[Decimal, ...], bool]:
    """Return what digits between marks can mean, the natural meaning first, and whether it is the usual notation."""
    if not marks:
        return (Decimal(parts[0]),), True
    grouped, last = _groups(parts), marks[-1]
    if len(set(marks)) == 1 and (last == "'" or len(marks) > 1):
        usual = last in ("'", names.group_mark)
        return ((Decimal("".join(parts)),), usual) if grouped else ((), False)
    if len(marks) == 1:
        decimal = Decimal(f"{parts[0]}.{parts[1]}")
        if not grouped or parts[0] == "0":
            # Swiss write a decimal point in German too; an English comma is somebody's foreign habit.
            return (decimal,), last in (names.decimal_mark, ".")
        group = Decimal("".join(parts))
        return ((group, decimal) if last == names.group_mark else (decimal, group)), True
    if last == "'" or len(set(marks[:-1])) > 1 or marks[0] == last or not _groups(parts[:-1]):
        return (), False
    return (Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"),), last == names.decimal_mark or marks[0] == "'"


def _groups(parts: Sequence[str]) -> bool:
    """Tell whether parts are thousands: one to three digits, then three each."""
    return 1 <= len(parts[0]) <= 3 and parts[0][0] != "0" and all(len(part) == 3 for part in parts[1:])


def _roundabout(reply: Reply, context: Context) -> list[Number]:
    """Return a number said in a roundabout way: "keine", "die zweite", "ein Kind". Never literal."""
    words, tokens = context.words, reply.tokens
    if words.around.vague.within(reply.names):
        return []
    zero = frozenset() if context.asks_age else words.numbers.none  # nobody is "nothing" years old
    said = [place for place, token in enumerate(tokens) if token.kind == "ordinal"]
    said += [place for place, token in enumerate(tokens) if token.kind == "word" and token.text in zero]
    if said:
        value = tokens[said[0]].value or Decimal(0)
        return [Number(said[0], said[0] + 1, (value,), literal=False)] if len(said) == 1 else []
    articles = [place for place, token in enumerate(tokens) if token.kind == "article"]
    if len(articles) == 1 and len(reply.names) <= 4 and articles[0] >= len(tokens) - 2:
        return [Number(articles[0], articles[0] + 1, (Decimal(1),), literal=False)]
    return []
