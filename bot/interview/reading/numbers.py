"""Numbers in digits, with Swiss, German and English marks, and in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.interview.reading.found import Found, settle
from bot.interview.reading.numerals import number_tokens, with_decimals
from bot.interview.reading.reading import Asked, NotUnderstood, Reading, Why, within
from bot.interview.reading.tokens import Reply, Token, cut
from bot.interview.reading.vocabulary import NumberWords, Words

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


def read_number(reply: Reply, asked: Asked, words: Words) -> Reading:
    """Read integers or decimals."""
    tokens = with_decimals(number_tokens(reply.tokens, words.numbers), words.numbers)
    if asked.type == "decimal" and not asked.repeats:
        tokens = _without_point(tokens)
    spelled = Reply(reply.text, tokens)
    numbers = numbers_in(spelled.tokens, words.numbers, lists=asked.repeats)
    if not numbers:
        prompt = {token.text for token in cut(asked.prompt, words.fold).tokens}
        numbers = _unusual(spelled.tokens, words, asks_age=bool(prompt & words.numbers.age))
    found = [chosen(number, asked, whole=asked.type == "integer") for number in numbers]
    return settle(found, spelled, asked.type, asked, words)


def _without_point(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return "eins achtzig", the only number of a reply, as 1.80."""
    said = [place for place, token in enumerate(tokens) if token.numeric]
    if len(said) != 2 or said[1] != said[0] + 1 or any(tokens[place].kind != "number" for place in said):
        return tuple(tokens)
    first, second = (tokens[place] for place in said)
    whole = all(token.value is not None and token.value == token.value.to_integral_value() for token in (first, second))
    if not whole or first.value is None or second.value is None or not (0 <= first.value < 10 <= second.value < 100):
        return tuple(tokens)
    value = Decimal(f"{int(first.value)}.{int(second.value)}")
    merged = replace(first, text=str(value), end=second.end, value=value, sure=False)
    return (*tokens[: said[0]], merged, *tokens[said[1] + 1 :])


def chosen(number: Number, asked: Asked, *, whole: bool) -> Found:
    """Return the reading of a number that fits what is asked."""
    if not number.readings:
        return _problem(number, "marks that make no number", "notation")
    if max(map(abs, number.readings)) >= 10**MAX_DIGITS:
        return _problem(number, f"more than {MAX_DIGITS} digits", "too-big")
    fitting = _whole(number.readings) if whole else number.readings
    if not fitting:
        return _problem(number, "a fraction where a whole number is wanted", "not-whole")
    hinted = [value for value in fitting if within(value, asked)] or fitting
    value = hinted[0]
    if whole and abs(value) >= INTEGER_LIMIT:
        return _problem(number, "a whole number beyond 32 bits", "too-big")
    sure = value == number.readings[0] and not (number.open and len(fitting) > 1)
    literal = number.literal and sure and within(value, asked)
    return Found(number.first, number.end, int(value) if whole else value, literal)


def _whole(readings: Sequence[Decimal]) -> Sequence[Decimal]:
    """Return the readings that are whole numbers; those written with zeros for a fraction only if there is no other."""
    whole = [value for value in readings if value == value.to_integral_value()]
    return [value for value in whole if value.as_tuple().exponent == 0] or whole


def _problem(number: Number, reason: str, why: Why) -> Found:
    return Found(number.first, number.end, None, False, NotUnderstood(reason, why))


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
    token = tokens[start]
    if token.kind == "digits":
        number = _digits(tokens, start, names, lists)
    elif token.kind == "number" and token.value is not None:
        number = Number(start, start + 1, (token.value,), token.sure)
    else:
        return None
    return _signed(tokens, number, names)


def _signed(tokens: Sequence[Token], number: Number, names: NumberWords) -> Number:
    before = tokens[number.first - 1] if number.first else None
    if before is None:
        return number
    dash = before.text == "-" and tokens[number.first].glued and not (before.glued and number.first > 1)
    if dash or before.text in names.minus:
        return Number(number.first - 1, number.end, tuple(-value for value in number.readings), number.literal)
    if before.text in (".", ",") and tokens[number.first].glued and not before.glued and len(number.readings) == 1:
        value = number.readings[0]
        point = Decimal(f"0.{tokens[number.first].text}") if value == value.to_integral_value() else value
        return Number(number.first - 1, number.end, (point,), literal=False)
    return number


def _digits(tokens: Sequence[Token], start: int, names: NumberWords, lists: bool) -> Number:
    parts, marks = [tokens[start].text], []
    end = start + 1
    while end + 1 < len(tokens) and _continues(tokens, end):
        marks.append(tokens[end].text)
        parts.append(tokens[end + 1].text)
        end += 2
    number = _spaced(tokens, start) if not marks and not lists else None
    if number:
        return number
    readings, literal = _readings(parts, marks, names)
    unsettled = len(readings) > 1 and marks == ["."] and names.group_mark == "."
    if lists and set(marks) == {","} and not readings:
        return Number(start, start + 1, (Decimal(parts[0]),))
    return Number(start, end, readings, literal, unsettled)


def _continues(tokens: Sequence[Token], place: int) -> bool:
    mark, after = tokens[place], tokens[place + 1]
    return mark.text in (".", ",", "'") and mark.glued and after.kind == "digits" and after.glued


def _spaced(tokens: Sequence[Token], start: int) -> Number | None:
    """Read "12 500": thousands between spaces. Never literal, since it could be two numbers."""
    end = start + 1
    while end < len(tokens) and tokens[end].kind == "digits" and not tokens[end].glued and len(tokens[end].text) == 3:
        end += 1
    plain = end < len(tokens) and tokens[end].glued and tokens[end].text in (".", ",", "'")
    if end == start + 1 or len(tokens[start].text) > 3 or tokens[start].text.startswith("0") or plain:
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
        first, second = (group, decimal) if last == names.group_mark else (decimal, group)
        return (first, second), True
    if last == "'" or len(set(marks[:-1])) > 1 or marks[0] == last or not _groups(parts[:-1]):
        return (), False
    return (Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"),), last == names.decimal_mark or marks[0] == "'"


def _groups(parts: Sequence[str]) -> bool:
    """Tell whether parts are thousands: one to three digits, then three each."""
    return 1 <= len(parts[0]) <= 3 and parts[0][0] != "0" and all(len(part) == 3 for part in parts[1:])


def _unusual(tokens: Sequence[Token], words: Words, *, asks_age: bool) -> list[Number]:
    """Return a number said in a roundabout way: "keine", "die zweite", "ein Kind". Never literal."""
    if words.around.vague.within([token.text for token in tokens if token.wordlike]):
        return []
    places = [place for place, token in enumerate(tokens) if token.kind == "ordinal"]
    zero = frozenset() if asks_age else words.numbers.none  # nobody is "nothing" years old
    none = [place for place, token in enumerate(tokens) if token.kind == "word" and token.text in zero]
    if len(places) + len(none) == 1:
        place = (places + none)[0]
        value = tokens[place].value if places else Decimal(0)
        return [Number(place, place + 1, (value or Decimal(0),), literal=False)]
    articles = [place for place, token in enumerate(tokens) if token.kind == "article"]
    short = sum(token.wordlike for token in tokens) <= 4
    if len(articles) == 1 and short and articles[0] >= len(tokens) - 2 and not places and not none:
        return [Number(articles[0], articles[0] + 1, (Decimal(1),), literal=False)]
    return []
