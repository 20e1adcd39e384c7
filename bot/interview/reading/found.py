"""Values found in a reply, and what the rest of the reply makes of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.interview.reading.reading import Asked, NotUnderstood, Read, Reading, Why
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import Around, Words
from bot.interview.reading.yesno import only_denies
from bot.interview.values.answer import Answer, JsonValue

_UNSURE_MARKS = frozenset("?~-%$€°&#@_§")
_LIMIT_MARKS = frozenset("<>+")
_FORMULA_MARKS = frozenset("^/*=\\⁄×÷")


@dataclass(frozen=True, slots=True)
class Found:
    """A value that the tokens from `first` up to `end` give.

    Attributes:
        problem: Why there is no value although there seemed to be one.
        exactly_said: Whether the value is what was said, not what it was converted to.
    """

    first: int
    end: int
    value: JsonValue
    literal: bool
    problem: NotUnderstood | None = None
    exactly_said: bool = True


@dataclass(frozen=True, slots=True)
class Rest:
    """What stands around the values.

    Attributes:
        problem: Why the values cannot count.
        literal: Whether it leaves them as they are.
        remainder: What is more than padding.
    """

    problem: NotUnderstood | None
    literal: bool
    remainder: str


def settle(found: Sequence[Found], reply: Reply, kind: str, asked: Asked, words: Words) -> Reading:
    """Return the values as answers of a kind, unless the text around them speaks against it."""
    problem = _problem(found, reply, asked, words)
    if problem:
        return problem
    found = _counted_off(found, reply) if asked.repeats else found
    rest = weigh(reply, found, words)
    if rest.problem:
        return rest.problem
    answers = tuple(Answer(kind, item.value) for item in found)
    certain = rest.literal and all(item.literal for item in found)
    return Read(answers if asked.repeats else answers[:1], certain, rest.remainder)


def _problem(found: Sequence[Found], reply: Reply, asked: Asked, words: Words) -> NotUnderstood | None:
    if not found:
        names = [token.text for token in reply.tokens if token.wordlike]
        if words.around.vague.within(names):
            return NotUnderstood("an amount without a number", "vague")
        return NotUnderstood(f"no {asked.type} in the text")
    if any(_one_end(reply.tokens, item, words.around) for item in found):
        return NotUnderstood("a range, not a value", "range")
    for item in found:
        if item.problem:
            return item.problem
    for left, right in pairwise(found):
        relation = _relation(reply.tokens, left, right, words.around)
        if relation:
            return relation
    if len(found) > 1 and not asked.repeats and len({str(item.value) for item in found}) > 1:
        return NotUnderstood(f"{len(found)} values where one is wanted", "several")
    return None


def _relation(tokens: Sequence[Token], left: Found, right: Found, around: Around) -> NotUnderstood | None:
    """Return why two values that follow one another cannot both count."""
    between = tokens[left.end : right.first]
    texts = {token.text for token in between}
    if len(between) <= 3 and texts & around.to:
        return NotUnderstood("a range, not a value", "range")
    if len(between) <= 3 and texts & around.either:
        return NotUnderstood("two values to choose from", "range")
    if right.first < len(tokens) and tokens[right.first].glued and (not between or texts & _FORMULA_MARKS):
        return NotUnderstood("two values stuck together", "notation")
    return None


def _counted_off(found: Sequence[Found], reply: Reply) -> Sequence[Found]:
    """Return the values without the count in front: "zwei: 12 und 15"."""
    first = found[0]
    counts = first.end < len(reply.tokens) and reply.tokens[first.end].text == ":"
    if len(found) > 1 and counts and str(first.value) == str(len(found) - 1):
        return [replace(found[1], literal=False), *found[2:]]
    return found


def weigh(reply: Reply, found: Sequence[Found], words: Words) -> Rest:
    """Return what the text before, between and after the values means for them."""
    if any(_one_end(reply.tokens, item, words.around) for item in found):
        return _blocked("a range, not a value", "range")
    literal, comments = True, []
    last = len(found)
    edges = [(0, 0), *((item.first, item.end) for item in found), (len(reply.tokens), len(reply.tokens))]
    for number, ((_, start), (end, _)) in enumerate(pairwise(edges)):
        gap = _Gap(reply.tokens, start, end, number > 0, number < last, last)
        for verdict in (*_marks(gap, words), *_phrases(gap, words)):
            if verdict.problem:
                return verdict
            literal = literal and verdict.literal
            if verdict.remainder and reply.between(start, end) not in comments:
                comments.append(reply.between(start, end))
    return Rest(None, literal and not comments, "; ".join(comments))


def _one_end(tokens: Sequence[Token], found: Found, around: Around) -> bool:
    """Tell whether a value is the end of a range whose other end is only a number: "8 bis 9 Uhr", "3.-5. März"."""
    marks = around.to | around.either
    before = [token for token in tokens[max(0, found.first - 3) : found.first] if token.text != "."]
    after = [token for token in tokens[found.end : found.end + 3] if token.text != "."]
    opened = bool(before) and before[-1].text in around.between
    starts = len(before) >= 2 and before[-1].text in marks and before[-2].numeric
    ends = len(after) >= 2 and after[0].text in marks and after[1].numeric
    return opened or starts or ends


@dataclass(frozen=True, slots=True)
class _Gap:
    """Tokens from `start` up to `end`, after a value (`follows`), before one (`leads`) or both; there are `count`."""

    tokens: Sequence[Token]
    start: int
    end: int
    follows: bool
    leads: bool
    count: int


_FINE, _UNSURE, _ODD = Rest(None, True, ""), Rest(None, False, ""), Rest(None, False, "odd")


def _blocked(reason: str, why: Why) -> Rest:
    return Rest(NotUnderstood(reason, why), False, "")


def _marks(gap: _Gap, words: Words) -> Iterator[Rest]:
    """Weigh everything that is not a word, and words stuck to digits."""
    for place in range(gap.start, gap.end):
        token = gap.tokens[place]
        stuck = _stuck(gap.tokens, place)
        beside = (gap.follows and place == gap.start) or (gap.leads and place == gap.end - 1)
        if token.kind == "mark":
            if token.text == "-" and _hyphen(gap.tokens, place, words):
                continue
            if token.text in _LIMIT_MARKS and beside:
                yield _blocked("a limit, not a value", "limit")
            elif token.text in _FORMULA_MARKS and stuck:
                yield _blocked("a formula, not a value", "notation")
            yield _FINE if token.text not in _UNSURE_MARKS | _FORMULA_MARKS | _LIMIT_MARKS else _UNSURE
        elif not token.wordlike:
            # "Ja, zwei: 2010 und 2015" says how many there are.
            yield _UNSURE if token.value == gap.count else _ODD
        elif stuck and token.glued and token.text in words.dates.decade_ends:
            yield _blocked("a decade, not a value", "vague")
        elif stuck and not _may_stick(token.text, words):
            yield _blocked("letters stuck to a number", "notation")


def _hyphen(tokens: Sequence[Token], place: int, words: Words) -> bool:
    """Tell whether a dash joins a harmless word to a number: "3-mal"."""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    return tokens[place].glued and after is not None and after.glued and after.text in words.around.harmless


def _stuck(tokens: Sequence[Token], place: int) -> bool:
    before = place > 0 and tokens[place].glued and tokens[place - 1].numeric
    after = place + 1 < len(tokens) and tokens[place + 1].glued and tokens[place + 1].numeric
    return before or after


def _may_stick(word: str, words: Words) -> bool:
    return word in words.around.harmless or word in words.units.codes or word in words.dates.spans


def _phrases(gap: _Gap, words: Words) -> Iterator[Rest]:
    """Weigh the words, the longest phrases first."""
    names = [token.text for token in gap.tokens[gap.start : gap.end] if token.wordlike]
    around, negators = words.around, words.agreement.negators
    if gap.follows and names and names[0] in around.scales and gap.tokens[gap.start].wordlike:
        yield _blocked("a large number that is not written in digits", "notation")
    place = 0
    while place < len(names):
        lists = (around.hedges, around.approximate, around.limits, around.vague, negators)
        lengths = [phrases.length_at(names, place) for phrases in lists]
        taken = max(lengths)
        if not taken:
            yield _FINE if names[place] in around.harmless or names[place] in words.numbers.articles else _ODD
        elif taken in lengths[:2]:
            yield _UNSURE
        elif taken == lengths[2] and _beside(gap, place, taken, names, near=1):
            yield _blocked("a limit, not a value", "limit")
        elif taken == lengths[4] and _is_denied(gap, names, place + taken, words):
            yield _blocked("a value that is negated", "negated")
        else:
            yield _UNSURE if taken == lengths[3] else _ODD
        place += max(taken, 1)


def _is_denied(gap: _Gap, names: Sequence[str], end: int, words: Words) -> bool:
    """Tell whether a negation up to the word `end` is about the value: "nicht 3", "3 sind es nicht"."""
    if gap.leads and end >= len(names) - 2:
        return True
    return gap.follows and not gap.leads and only_denies(names, words)


def _beside(gap: _Gap, place: int, taken: int, names: Sequence[str], *, near: int) -> bool:
    """Tell whether a phrase stands next to a value, at most `near` words away."""
    return (gap.leads and place + taken >= len(names) - near) or (gap.follows and place == 0)
