"""Values found in a reply, and what the rest of the reply makes of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Literal

from bot.interview.reading.reading import Context, NotUnderstood, Read, Reading, Why
from bot.interview.reading.tokens import Reply, Token
from bot.interview.reading.vocabulary import Around, Words, steps
from bot.interview.values.answer import Answer, JsonValue

_UNSURE_MARKS = frozenset("?~-%$€°&#@_§")
_LIMIT_MARKS = frozenset("<>+")
_FORMULA_MARKS = frozenset("^/*=\\⁄×÷")
_RANGE = NotUnderstood("a range, not a value", "range")
_LIMIT = NotUnderstood("a limit, not a value", "limit")


@dataclass(frozen=True, slots=True)
class Found:
    """A value that the tokens from `first` up to `end` give."""

    first: int
    end: int
    value: JsonValue
    literal: bool
    problem: NotUnderstood | None = None  # why there is no value although there seemed to be one
    exactly_said: bool = True  # whether the value is what was said, not what it was converted to

    def failed(self, reason: str, why: Why) -> Found:
        """Return the same without a value."""
        return replace(self, value=None, literal=False, problem=NotUnderstood(reason, why))


@dataclass(frozen=True, slots=True)
class Rest:
    """What stands around the values."""

    problem: NotUnderstood | None  # why the values cannot count
    literal: bool  # whether it leaves them as they are
    remainder: str  # what is more than padding


def settle(found: Sequence[Found], reply: Reply, kind: str, context: Context) -> Reading:
    """Return the values as answers of a kind, unless the text around them speaks against it."""
    asked, words = context.asked, context.words
    if not found:
        if words.around.vague.within(reply.names):
            return NotUnderstood("an amount without a number", "vague")
        return NotUnderstood(f"no {asked.type} in the text")
    if any(_one_end(reply.tokens, item, words.around) for item in found):
        return _RANGE
    failed = [item.problem for item in found if item.problem]
    failed += [why for pair in pairwise(found) if (why := _clash(reply.tokens, *pair, words.around))]
    if failed:
        return failed[0]
    if len(found) > 1 and not asked.repeats and len({str(item.value) for item in found}) > 1:
        return NotUnderstood(f"{len(found)} values where one is wanted", "several")
    found = _counted_off(found, reply) if asked.repeats else found
    rest = weigh(reply, found, words)
    if rest.problem:
        return rest.problem
    answers = tuple(Answer(kind, item.value) for item in found)
    certain = rest.literal and all(item.literal for item in found)
    return Read(answers if asked.repeats else answers[:1], certain, rest.remainder)


def _clash(tokens: Sequence[Token], left: Found, right: Found, around: Around) -> NotUnderstood | None:
    """Return why two values that follow one another cannot both count."""
    between = tokens[left.end : right.first]
    texts = {token.text for token in between}
    if len(between) <= 3 and texts & around.to:
        return _RANGE
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


def _one_end(tokens: Sequence[Token], found: Found, around: Around) -> bool:
    """Tell whether a value is the end of a range whose other end is only a number: "8 bis 9 Uhr", "3.-5. März"."""
    marks = around.to | around.either
    before = [token for token in tokens[max(0, found.first - 3) : found.first] if token.text != "."]
    after = [token for token in tokens[found.end : found.end + 3] if token.text != "."]
    opened = bool(before) and before[-1].text in around.between
    starts = len(before) >= 2 and before[-1].text in marks and before[-2].numeric
    ends = len(after) >= 2 and after[0].text in marks and after[1].numeric
    return opened or starts or ends


def weigh(reply: Reply, found: Sequence[Found], words: Words) -> Rest:
    """Return what the text before, between and after the values means for them."""
    if any(_one_end(reply.tokens, item, words.around) for item in found):
        return Rest(_RANGE, literal=False, remainder="")
    literal, comments = True, []
    count = len(found)
    edges = [(0, 0), *((item.first, item.end) for item in found), (len(reply.tokens), len(reply.tokens))]
    for number, ((_, start), (end, _)) in enumerate(pairwise(edges)):
        gap = _Gap(reply.tokens, start, end, follows=number > 0, leads=number < count, count=count)
        for verdict in chain(_marks(gap, words), _phrases(gap, words)):
            if isinstance(verdict, NotUnderstood):
                return Rest(verdict, literal=False, remainder="")
            literal = False
            if verdict == "comment" and reply.between(start, end) not in comments:
                comments.append(reply.between(start, end))
    return Rest(None, literal, "; ".join(comments))


@dataclass(frozen=True, slots=True)
class _Gap:
    """Tokens from `start` up to `end`, after a value (`follows`), before one (`leads`) or both; there are `count`."""

    tokens: Sequence[Token]
    start: int
    end: int
    follows: bool
    leads: bool
    count: int


# Why values cannot count, or that they must be read back, perhaps with a comment.
_Verdict = NotUnderstood | Literal["unsure", "comment"]


def _marks(gap: _Gap, words: Words) -> Iterator[_Verdict]:
    """Weigh everything that is not a word, and words stuck to digits."""
    tokens, harmless = gap.tokens, words.around.harmless
    for place in range(gap.start, gap.end):
        token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
        follows = place > 0 and token.glued and tokens[place - 1].numeric
        stuck = follows or (after is not None and after.glued and after.numeric)
        beside = (gap.follows and place == gap.start) or (gap.leads and place == gap.end - 1)
        if token.kind == "mark":
            if token.text == "-" and token.glued and after is not None and after.glued and after.text in harmless:
                continue  # "3-mal"
            if token.text in _LIMIT_MARKS and beside:
                yield _LIMIT
            elif token.text in _FORMULA_MARKS and stuck:
                yield NotUnderstood("a formula, not a value", "notation")
            elif token.text in _UNSURE_MARKS | _FORMULA_MARKS | _LIMIT_MARKS:
                yield "unsure"
        elif not token.wordlike:
            # "Ja, zwei: 2010 und 2015" says how many there are.
            yield "unsure" if token.value == gap.count else "comment"
        elif stuck and token.glued and token.text in words.dates.decade_ends:
            yield NotUnderstood("a decade, not a value", "vague")
        elif stuck and not (
            token.text in harmless or token.text in words.units.codes or token.text in words.dates.spans
        ):
            yield NotUnderstood("letters stuck to a number", "notation")


def _phrases(gap: _Gap, words: Words) -> Iterator[_Verdict]:
    """Weigh the words, the longest phrases first."""
    names = [token.text for token in gap.tokens[gap.start : gap.end] if token.wordlike]
    around, negators = words.around, words.agreement.negators
    if gap.follows and names and names[0] in around.scales and gap.tokens[gap.start].wordlike:
        yield NotUnderstood("a large number that is not written in digits", "notation")
    padding = around.harmless | words.numbers.articles
    for place, lengths in steps(names, around.hedges, around.approximate, around.limits, around.vague, negators):
        hedge, rough, limit, vague, negator = lengths
        taken = max(lengths)
        to_end = len(names) - place - taken
        if not taken:
            if names[place] not in padding:
                yield "comment"
        elif taken in (hedge, rough):
            yield "unsure"
        elif taken == limit and ((gap.leads and to_end <= 1) or (gap.follows and place == 0)):
            yield _LIMIT
        elif taken == negator and (
            (gap.leads and to_end <= 2) or (gap.follows and not gap.leads and words.only_denies(names))
        ):
            yield NotUnderstood("a value that is negated", "negated")  # "nicht 3", "3 sind es nicht"
        else:
            yield "unsure" if taken == vague else "comment"
