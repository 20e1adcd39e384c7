"""Numbers in digits, with Swiss, German and English marks, and in words: "dreiundsiebzig", "3rd", "½". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from bot.interview.reading.reading import Asked, Context, Found, Reading, settle
from bot.interview.reading.vocabulary import Phrases, Reply, Token, Words, near, one_after_another, text_at, words_for
from bot.languages.files import known

HALF = Decimal("0.5")
MAX_DIGITS = 15
INTEGER_LIMIT = 2**31  # FHIR's integer has 32 bits
MAX_SPELLED = 9999
MOST_WORDS = 4  # of a number that is listed in several words, such as "quatre-vingt-dix-neuf"
_SLASHES = ("/", "⁄")  # the second is that of "½" after normalisation
_EXACT = ("2", "4", "5", "8", "10")  # denominators that make a decimal end
MOST_APART = 2  # "zwei bis fünf Wochen" is a range, no rough number
MIN_SLIP = 6  # letters; "there" is no slip of "three"
MAX_WORD = 60  # letters; the longest German number below 10,000 has 51


@dataclass(frozen=True, slots=True)
class Number:
    """A number in the text, from token `first` up to `end`, and the codes its unit may stand for."""

    first: int
    end: int
    readings: tuple[Decimal, ...]  # what it can be, the most natural first; empty when its marks make no sense
    literal: bool = False  # whether it is written in digits as is usual in this language
    open: bool = False  # whether the second reading is as good: German "1.200", where Swiss write decimal points
    codes: tuple[str, ...] = ()
    joint: bool = False  # put together from two numbers: "1 Meter 68"


def read_number(reply: Reply, context: Context) -> Reading:
    """Read integers or decimals."""
    asked, words = context.asked, context.words
    spelled = with_numbers(reply, words, point=True)
    if asked.type == "decimal" and not asked.repeats:
        spelled = Reply(reply.text, _without_point(spelled.tokens))
    numbers = numbers_in(spelled.tokens, words, lists=asked.repeats) or _roundabout(spelled, context)
    found = [chosen(number, asked, whole=asked.type == "integer") for number in numbers]
    return settle(found, spelled, asked.type, context, exact=stand_alone(found, spelled, context))


def stand_alone(found: Sequence[Found], reply: Reply, context: Context) -> bool:
    """Tell whether a reply is nothing but its values: one, or several with one comma or "and" between them."""
    joins = context.words["joins"]
    listed = all(
        right.first == left.end + 1 and reply.tokens[left.end].text in joins for left, right in pairwise(found)
    )
    covered = bool(found) and found[0].first == 0 and found[-1].end >= len(reply.body)
    return covered and listed and (context.asked.repeats or len(found) == 1)


def _without_point(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return "eins achtzig", the only number of a reply, as 1.80."""
    said = [place for place, token in enumerate(tokens) if token.numeric]
    if len(said) != 2 or said[1] != said[0] + 1 or any(tokens[place].kind != "number" for place in said):
        return tokens
    first, second = (tokens[place] for place in said)
    large, small = first.value or Decimal(0), second.value or Decimal(0)
    if large % 1 or small % 1 or not 0 <= large < 10 <= small < 100:
        return tokens
    merged = _as(first, second, "number", Decimal(f"{int(large)}.{int(small)}"))
    return (*tokens[: said[0]], merged, *tokens[said[1] + 1 :])


def chosen(number: Number, asked: Asked, *, whole: bool) -> Found:
    """Return the reading of a number that fits what is asked."""
    nothing = Found(number.first, number.end, None)
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
    value = next(filter(asked.expects, fitting), fitting[0])
    if whole and abs(value) >= INTEGER_LIMIT:
        return nothing.failed("a whole number beyond 32 bits", "too-big")
    sure = value == number.readings[0] and not (number.open and len(fitting) > 1)
    literal = number.literal and sure and asked.expects(value)
    return replace(nothing, value=int(value) if whole else value, literal=literal)


def numbers_in(tokens: Sequence[Token], words: Words, *, lists: bool = False) -> list[Number]:
    """Return the numbers among tokens whose number words are merged."""
    return one_after_another(tokens, lambda place: number_at(tokens, place, words, lists=lists))


def number_at(tokens: Sequence[Token], start: int, words: Words, *, lists: bool) -> Number | None:
    """Return the number that begins at `start`; with `lists`, a comma may also part two."""
    token, before = tokens[start], tokens[start - 1] if start else None
    if not token.numeric or token.value is None:
        return None
    number = Number(start, start + 1, (token.value,))
    if token.kind == "digits":
        number = _digits(tokens, start, words, lists=lists)
    if before is None:
        return number
    dash = before.text == "-" and token.glued and not (before.glued and start > 1)
    if dash or before.text in words["minus"]:
        negative = tuple(-value for value in number.readings)
        return replace(number, first=start - 1, readings=negative, literal=number.literal and dash, open=False)
    if before.text in (".", ",") and token.glued and not before.glued and len(number.readings) == 1:
        value = number.readings[0]
        point = Decimal(f"0.{token.text}") if value == value.to_integral_value() else value
        return Number(start - 1, number.end, (point,))
    return number


def _digits(tokens: Sequence[Token], start: int, words: Words, *, lists: bool) -> Number:
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
    readings, literal = _readings(parts, marks, words)
    if lists and set(marks) == {","} and not readings:
        return Number(start, start + 1, (Decimal(parts[0]),), literal=True)
    unsettled = len(readings) > 1 and marks == ["."] and words.texts["group_mark"] == "."
    return Number(start, end, readings, literal, unsettled)


def _spaced(tokens: Sequence[Token], start: int) -> Number | None:
    """Read "12 500": thousands between spaces. Never literal, since it could be two numbers."""
    end = start + 1
    while end < len(tokens) and tokens[end].kind == "digits" and not tokens[end].glued and len(tokens[end].text) == 3:
        end += 1
    marked = end < len(tokens) and tokens[end].glued and tokens[end].text in (".", ",", "'")
    if end == start + 1 or len(tokens[start].text) > 3 or tokens[start].text.startswith("0") or marked:
        return None
    return Number(start, end, (Decimal("".join(token.text for token in tokens[start:end])),))


def _readings(parts: Sequence[str], marks: Sequence[str], words: Words) -> tuple[tuple[Decimal, ...], bool]:
    """Return what digits between marks can mean, the natural meaning first, and whether it is the usual notation."""
    if not marks:
        return (Decimal(parts[0]),), True
    decimal_mark, group_mark = words.texts["decimal_mark"], words.texts["group_mark"]
    grouped, last = _groups(parts), marks[-1]
    if len(set(marks)) == 1 and (last == "'" or len(marks) > 1):
        return ((Decimal("".join(parts)),), last in ("'", group_mark)) if grouped else ((), False)
    if len(marks) == 1:
        decimal = Decimal(f"{parts[0]}.{parts[1]}")
        if not grouped or parts[0] == "0":
            # Swiss write a decimal point in German too; an English comma is somebody's foreign habit.
            return (decimal,), last in (decimal_mark, ".")
        group = Decimal("".join(parts))
        return ((group, decimal) if last == group_mark else (decimal, group)), True
    if last == "'" or len(set(marks[:-1])) > 1 or marks[0] == last or not _groups(parts[:-1]):
        return (), False
    return (Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"),), last == decimal_mark or marks[0] == "'"


def _groups(parts: Sequence[str]) -> bool:
    """Tell whether parts are thousands: one to three digits, then three each."""
    return 1 <= len(parts[0]) <= 3 and parts[0][0] != "0" and all(len(part) == 3 for part in parts[1:])


def _roundabout(reply: Reply, context: Context) -> list[Number]:
    """Return a number said in a roundabout way: "keine", "die zweite", "ein Kind"."""
    words, tokens = context.words, reply.tokens
    if words["vague"].within(reply.names):
        return []
    zero = Phrases() if context.asks("age") else words["zero"]  # nobody is "nothing" years old
    said = [place for place, token in enumerate(tokens) if token.kind == "ordinal"]
    said += [place for place, token in enumerate(tokens) if token.kind == "word" and token.text in zero]
    if said:
        return [Number(said[0], said[0] + 1, (tokens[said[0]].value or Decimal(0),))] if len(said) == 1 else []
    articles = [place for place, token in enumerate(tokens) if token.kind == "article"]
    if len(articles) == 1 and len(reply.names) <= 4 and articles[0] >= len(tokens) - 2:
        return [Number(articles[0], articles[0] + 1, (Decimal(1),))]
    return []


def spelled_out(word: str, words: Words) -> int | None:
    """Return the number that one word names, up to 9999, or None."""
    if len(word) > MAX_WORD:
        return None
    value = words.tables["small"].get(word)
    value = _compound(word, words) if value is None else value
    return value if value is not None and value <= MAX_SPELLED else None


def named_number(word: str) -> Decimal | None:
    """Return the number that one word names in any language, also with a half; None for "one", which is an article."""
    for words in map(words_for, known()):
        folded = words.fold(word)
        if folded in words.halves:
            return words.halves[folded]
        if (value := spelled_out(folded, words)) is not None:
            return Decimal(value) if value != 1 else None
        for ending in words["half_suffix"]:
            if folded.endswith(ending) and (whole := spelled_out(folded.removesuffix(ending), words)):
                return whole + HALF
    return None


def _compound(word: str, words: Words) -> int | None:
    for scales, factor, most in ((words["thousand"], 1000, 9), (words["hundred"], 100, 99)):
        for scale in scales:
            left, found, right = word.partition(scale)
            if found:
                for joiner in words["joiners"]:  # "hundertunddrei"
                    right = right.removeprefix(joiner)
                times = _below_hundred(left, words) if left else 1
                rest = _below_hundred(right, words) if right else 0
                rest = _compound(right, words) if rest is None and factor == 1000 else rest
                sound = times is not None and rest is not None and 0 < times <= most and rest < factor
                return (times or 0) * factor + (rest or 0) if sound else None
    return _two_digits(word, words) if "units_first" in words.flags else None


def _below_hundred(word: str, words: Words) -> int | None:
    small = words.tables["small"]
    return small[word] if word in small else _two_digits(word, words)


def _two_digits(word: str, words: Words) -> int | None:
    small = words.tables["small"]
    # Dialect joins with "e" or "a": "einezwanzg", "drüesibezg".
    for joiner in (*words["joiners"], "e", "a"):
        start = word.find(joiner, 2)
        while start > 0:
            unit, ten = small.get(word[:start], 0), small.get(word[start + len(joiner) :], 0)
            if 1 <= unit <= 9 and 20 <= ten <= 90:
                return unit + ten
            start = word.find(joiner, start + 1)
    return None


@lru_cache(maxsize=8)
def places_only(words: Words) -> Words:
    """Return words in which those are no numbers that only count how often: "twice" is no place in a list."""
    small = {word: value for word, value in words.tables["small"].items() if word not in words["counting"]}
    return replace(words, tables={**words.tables, "small": small})


def with_numbers(reply: Reply, words: Words, *, years: bool = False, point: bool = False) -> Reply:
    """Return a reply in which the words of a number are one token.

    With `years`, "nineteen seventy-five" is one number too; with `point`, "fünf Komma sechs".
    """
    spelling = _Spelling(reply.tokens, words, years)
    merged: list[Token] = []
    place = 0
    while place < len(reply.tokens):
        place, token = spelling.at(place)
        merged.append(token)
    return Reply(reply.text, tuple(_with_decimals(merged, words) if point else merged))


def and_a_half(tokens: Sequence[Token], end: int, words: Words) -> tuple[int, Decimal]:
    """Return where "and a half" after a number ends, and what it adds; the same place and zero where none is."""
    phrases = words["and_a_half"]
    more = phrases.length_at([token.text for token in tokens[end : end + phrases.longest]], 0)
    return end + more, HALF if more else Decimal(0)


def loose_number_at(
    tokens: Sequence[Token], start: int, words: Words, *, ranges: bool
) -> tuple[int, Decimal | None, bool]:
    """Return where "3", "einer halben" or, with `ranges`, "zwei bis drei" ends, its number and whether it is halved."""
    place, number, halved = start, None, False
    while place < min(start + 3, len(tokens)):
        token = tokens[place]
        if (token.numeric or token.kind == "article") and number is None:
            number = token.value
            if ranges and token.numeric:
                place = _second_number(tokens, place + 1, words) - 1
        elif token.text in words["half"] and not halved:
            halved = True
        else:
            break
        place += 1
    return place, number, halved


def _second_number(tokens: Sequence[Token], place: int, words: Words) -> int:
    """Return where the second of two numbers for one span ends: "zwei bis drei", "2-3", "two or three"."""
    after = place + (text_at(tokens, place) in words["to"] | words["either"] | {",", "/"})
    first, second = tokens[place - 1].value, tokens[after].value if after < len(tokens) else None
    if first is None or second is None or not tokens[after].numeric:
        return place
    return after + 1 if first < second <= first * MOST_APART + 1 else place


def _with_decimals(tokens: Sequence[Token], words: Words) -> list[Token]:
    """Return tokens with the digits that are said after a point in one with it: "eins Komma acht null"."""
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        token, end = tokens[place], place + 2
        digits = ""
        whole = token.numeric and token.value is not None and token.value == token.value.to_integral_value()
        if whole and text_at(tokens, place + 1) in words["point"]:
            while end < len(tokens) and tokens[end].numeric and tokens[end].text.isdecimal():
                several = len(tokens[end].text) > 1
                if digits and several:
                    break
                digits += tokens[end].text
                end += 1
                if several:
                    break
        result.append(_as(token, tokens[end - 1], "number", Decimal(f"{token.value}.{digits}")) if digits else token)
        place = end if digits else place + 1
    return result


def _as(first: Token, last: Token, kind: str, value: Decimal) -> Token:
    return replace(first, kind=kind, text=format(value, "f"), end=last.end, value=value)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The tokens of a reply, in which numbers may be spelled out; each method says where something ends."""

    tokens: Sequence[Token]
    words: Words
    years: bool

    def at(self, start: int) -> tuple[int, Token]:
        """Return the token at a place, merged with those after it that belong to the same number."""
        first, words = self.tokens[start], self.words
        if first.kind == "digits":
            return self._fraction(start) or self._after_digits(start)
        if first.kind != "word":
            return start + 1, first
        ordinals = words.tables["ordinals"]
        if first.text in ordinals:
            return start + 1, _as(first, first, "ordinal", Decimal(ordinals[first.text]))
        end, value = self._run(start)
        if end <= start + 1 and first.text in words["one_or_a"]:
            return start + 1, replace(first, kind="article", value=Decimal(1))
        if value is None:
            return start + 1, self._lone(first)
        end, half = and_a_half(self.tokens, end, words)
        if "units_first" not in words.flags and value in (20, 30) and text_at(self.tokens, end) == "-":
            unit = ordinals.get(text_at(self.tokens, end + 1), 0)
            if 1 <= unit <= 9:  # "twenty-third"
                return end + 2, _as(first, self.tokens[end + 1], "ordinal", Decimal(value + unit))
        return end, _as(first, self.tokens[end - 1], "number", value + half)

    def _lone(self, token: Token) -> Token:
        """Return a single word as a number if it is one in another way: a half or a typing error."""
        word, small = token.text, self.words.tables["small"]
        if word in self.words.halves:
            return _as(token, token, "number", self.words.halves[word])
        for ending in self.words["half_suffix"]:
            whole = spelled_out(word.removesuffix(ending), self.words) if word.endswith(ending) else None
            if whole:
                return _as(token, token, "number", whole + HALF)
        values = {small[slip] for slip in near(word, small)} if len(word) >= MIN_SLIP else set()
        return _as(token, token, "number", Decimal(values.pop())) if len(values) == 1 else token

    def _run(self, start: int) -> tuple[int, int | None]:
        """Return where the longest number that begins at `start` ends, and its value."""
        tokens, total, current = self.tokens, 0, None
        end = start
        while end < len(tokens):
            joined = current is not None and self._joins(end)  # "and" or a hyphen between two parts of a number
            place = end + joined
            word, behind = self._word(place)
            step = self._step(word, total, current, by_and=joined and tokens[end].kind == "word") if word else None
            if step is None:
                break
            total, current = step
            end = behind
        value = total + (current or 0)
        return end, value if end > start and value <= MAX_SPELLED else None

    def _word(self, start: int) -> tuple[str, int]:
        """Return the word at a place, or the longest listed number of several words there, and where it ends."""
        if start >= len(self.tokens) or self.tokens[start].kind != "word":
            return "", start
        small, said = self.words.tables["small"], [self.tokens[start].text]
        found, behind = said[0], start + 1
        for place in range(start + 1, len(self.tokens) if found in small else 0):
            token = self.tokens[place]
            if token.kind == "word" and len(said) < MOST_WORDS:
                said.append(token.text)
                if " ".join(said) in small:
                    found, behind = " ".join(said), place + 1
            elif token.text != "-":
                break
        return found, behind

    def _joins(self, place: int) -> bool:
        token, after = self.tokens[place], self.tokens[place + 1 : place + 2]
        hyphen = token.text == "-" and token.glued and any(other.glued for other in after)
        return hyphen or token.text in self.words["joiners"]

    def _step(self, word: str, total: int, current: int | None, *, by_and: bool) -> tuple[int, int | None] | None:
        """Return total and current part of a number after one more word, or None if it does not belong to it."""
        if word in self.words["thousand"]:
            return None if total or (current or 1) > 9 else ((current or 1) * 1000, 0)
        if word in self.words["hundred"]:
            return None if (current or 1) > 99 else (total, (current or 1) * 100)
        value = spelled_out(word, self.words)
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
        if "units_first" in self.words.flags:
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
        first, words = self.tokens[start], self.words
        after = self.tokens[start + 1] if start + 1 < len(self.tokens) else None
        if after is None or after.kind != "word" or len(first.text) > 4:
            return start + 1, first
        value = Decimal(first.text)
        weighs = after.text == "st" and (value % 10 != 1 or value == 11)  # "12st" is a weight
        ends = after.glued and after.text in words["ordinal_ends"] and value <= 999
        if ends and ("units_first" in words.flags or not weighs):
            return start + 2, _as(first, after, "ordinal", value)
        for scales, factor in ((words["hundred"], 100), (words["thousand"], 1000)):
            if after.text in scales and value <= 99:
                return start + 2, _as(first, after, "number", value * factor)
        return start + 1, first
