"""What is asked of a patient, what is found in their reply, and what that means with the text around it. Pure.

`Asked` goes in, a `Reading` comes out; between them the readers find values (`Found`) for a question in its `Context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from decimal import Decimal
from itertools import chain, pairwise
from typing import Literal

from bot.interview.reading.vocabulary import Reply, Token, Words, cut, steps
from bot.interview.values.answer import Answer, JsonValue
from bot.text import MAX_CHARACTERS, sanitise

UCUM = "http://unitsofmeasure.org"

Bound = int | Decimal | str | None

_UNSURE_MARKS = frozenset("?~-%$€°&#@_§")
_LIMIT_MARKS = frozenset("<>+")
_FORMULA_MARKS = frozenset("^/*=\\⁄×÷")


@dataclass(frozen=True, slots=True)
class Option:
    """One permitted answer of a choice.

    Attributes:
        answer: What is stored when it is chosen.
        labels: What a patient may call it: display texts in the language of the conversation, code, prefix. The first
            is the one that is shown.
        exclusive: Whether it rules out all others ("none of these").
        unseen: Those of the labels that are not shown with it, such as its code.
    """

    answer: Answer
    labels: tuple[str, ...]
    exclusive: bool = False
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that a quantity may have."""

    code: str
    display: str
    system: str = UCUM


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, reduced to what decides how a reply is read.

    `type` is a FHIR item type: boolean, decimal, integer, date, dateTime, time, string, text, url, choice, open-choice,
    quantity, attachment or reference.
    """

    type: str
    repeats: bool = False  # whether several answers are welcome
    options: tuple[Option, ...] = ()  # in the order in which they are shown: "2" means the second
    unit: Unit | None = None  # of a number given without one
    units: tuple[Unit, ...] = ()  # that are allowed; empty means the default unit only or, without one, any
    max_length: int | None = None  # of a text, in characters
    entry_format: str = ""  # as the Questionnaire shows it, such as "MM/DD/YYYY": decides between day and month first
    minimum: Bound = None  # hints: values outside are read, but never taken literally
    maximum: Bound = None
    prompt: str = ""  # the question as it was put; its words, said again in the reply, are no comment
    zone: tzinfo | None = None  # of times of day; without it a dateTime keeps its date only
    now: datetime | None = None  # for times counted from the present: "vor drei Stunden"
    decimal_places: int | None = None  # of a number, at most
    yes_said: tuple[str, ...] = ()  # what means yes to this question in a reply that denies nothing: "a lump"

    @property
    def allowed_units(self) -> tuple[Unit, ...]:
        """Return the units a quantity may have, the default first; empty means any."""
        default = (self.unit,) if self.unit else ()
        return default + tuple(unit for unit in self.units if unit != self.unit)

    def expects(self, value: int | Decimal | str) -> bool:
        """Tell whether a number or date lies within the hints; hints of another kind do not count."""
        return _ordered(self.minimum, value) and _ordered(value, self.maximum)


def _ordered(low: Bound, high: Bound) -> bool:
    if isinstance(low, str) and isinstance(high, str):
        # Partial dates compare as far as both go: 2015 is not before 2015-03.
        shared = min(len(low), len(high))
        return low[:shared] <= high[:shared]
    if isinstance(low, int | Decimal) and isinstance(high, int | Decimal):
        return low <= high
    return True


@dataclass(frozen=True, slots=True)
class Context:
    """What reading a reply depends on: the question, the words of its language and the day."""

    asked: Asked
    words: Words
    today: date
    prompt: Reply  # the pieces of the question as it was put

    @classmethod
    def of(cls, asked: Asked, words: Words, today: date) -> Context:
        """Return the context of a question."""
        return cls(asked, words, today, cut(asked.prompt, words.fold))

    def asks(self, *lists: str) -> bool:
        """Tell whether the question has a word of some lists: "age" if it asks for years of age."""
        return any(not self.words[name].isdisjoint(self.prompt.names) for name in lists)

    def with_harmless(self, more: Iterable[str]) -> Context:
        """Return the same, with words that change nothing around a value of this question."""
        return replace(self, words=self.words.with_harmless(more))

    def with_echo(self) -> Context:
        """Return the same, with those words harmless that only echo the question: "3 Kinder"."""
        words = self.words
        extra = set(self.prompt.names) - words["negators"].openings - words["date_limits"]
        if self.asks("age"):
            extra |= {word for word, span in words.spans.items() if span == "a"}
        if self.asked.type in ("integer", "decimal"):
            extra |= words["number_padding"]
        return self.with_harmless(extra) if extra else self


# Why a text was not understood: the chat picks its hint by this, in the patient's language.
Why = Literal[
    "nothing",  # no value of the wanted kind
    "empty",
    "too-long",
    "several",  # several values where one is wanted
    "range",  # "2 to 3"
    "limit",  # "more than 2", "before 2015"
    "vague",  # "a few"
    "negated",  # "not 3"
    "contradiction",  # "yes, no"
    "two-readings",
    "impossible",  # 30 February
    "not-whole",  # a fraction where a whole number is wanted
    "too-big",
    "notation",  # "5x7", "10^3"
    "incomplete",  # a time without a day, a decade
    "unit-missing",
    "unit",  # a unit that is not allowed
    "implausible",  # a value that no human being has
    "not-listed",
    "yes-no",  # neither yes nor no, where nothing else is asked
    "decade",  # "in the nineties", where a date is wanted
    "exclusive",  # an option that rules out others, together with others
    "url",
    "not-in-chat",
]


@dataclass(frozen=True, slots=True)
class Read:
    """Answers of the wanted type.

    Attributes:
        answers: None at all means "none of these" where several may be chosen, and "I don't have one" where a short
            text is asked for.
        literal: Whether the patient said just that. Otherwise it must be read back: it was inferred, approximate,
            corrected, only partly understood, or could be read in two ways.
        remainder: What else the patient wrote, as a comment for staff.
    """

    answers: tuple[Answer, ...]
    literal: bool
    remainder: str = ""


@dataclass(frozen=True, slots=True)
class DontKnow:
    """The patient does not know."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The patient does not want to say."""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The text fits several options, or names several where one is wanted."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """No answer could be read.

    Attributes:
        reason: For staff, in English; never quotes the patient.
        why: The kind of reason.
    """

    reason: str
    why: Why = "nothing"


Reading = Read | DontKnow | Refused | Ambiguous | NotUnderstood

_RANGE = NotUnderstood("a range, not a value", "range")
_LIMIT = NotUnderstood("a limit, not a value", "limit")


def own_words(raw: str, asked: Asked) -> Read | NotUnderstood:
    """Return a text as it was written, without control characters, if it is as short as it must be."""
    clean = sanitise(raw)
    limit = min(asked.max_length or MAX_CHARACTERS, MAX_CHARACTERS)
    if clean.too_long or len(clean.text) > limit:
        return NotUnderstood(f"longer than {limit} characters", "too-long")
    if not clean.text:
        return NotUnderstood("no text", "empty")
    return Read((Answer("string", clean.text),), literal=True)


@dataclass(frozen=True, slots=True)
class Found:
    """A value that the tokens from `first` up to `end` give."""

    first: int
    end: int
    value: JsonValue
    literal: bool = False
    problem: NotUnderstood | None = None  # why there is no value although there seemed to be one
    exactly_said: bool = True  # whether the value is what was said, not what it was converted to

    def failed(self, reason: str, why: Why) -> Found:
        """Return the same without a value."""
        return replace(self, value=None, literal=False, problem=NotUnderstood(reason, why))


def settle(found: Sequence[Found], reply: Reply, kind: str, context: Context, *, exact: bool = True) -> Reading:
    """Return the values as answers of a kind, unless the text around them speaks against it.

    `exact`: whether the reply says nothing else, so that values that were said literally need not be read back.
    """
    asked, words = context.asked, context.words
    if not found:
        if words["vague"].within(reply.names):
            return NotUnderstood("an amount without a number", "vague")
        return NotUnderstood(f"no {asked.type} in the text")
    if any(_ends_range(reply.tokens, item, words) for item in found):
        return _RANGE
    failed = [item.problem for item in found if item.problem]
    failed += [why for pair in pairwise(found) if (why := _clash(reply.tokens, *pair, words))]
    if failed:
        return failed[0]
    if len(found) > 1 and not asked.repeats and len({str(item.value) for item in found}) > 1:
        return NotUnderstood(f"{len(found)} values where one is wanted", "several")
    first, *others = found
    counts = first.end < len(reply.tokens) and reply.tokens[first.end].text == ":"
    if asked.repeats and others and counts and str(first.value) == str(len(others)):
        found, exact = others, False  # the count in front: "zwei: 12 und 15"
    answers = [Answer(kind, item.value) for item in found]
    literal = exact and all(item.literal for item in found)
    return answered(answers if asked.repeats else answers[:1], found, reply, words, literal=literal)


def _clash(tokens: Sequence[Token], left: Found, right: Found, words: Words) -> NotUnderstood | None:
    """Return why two values that follow one another cannot both count."""
    between = {token.text for token in tokens[left.end : right.first]}
    if right.first - left.end <= 3 and between & words["to"]:
        return _RANGE
    if right.first - left.end <= 3 and between & words["either"]:
        return NotUnderstood("two values to choose from", "range")
    if right.first < len(tokens) and tokens[right.first].glued and (not between or between & _FORMULA_MARKS):
        return NotUnderstood("two values stuck together", "notation")
    return None


def _ends_range(tokens: Sequence[Token], found: Found, words: Words) -> bool:
    """Tell whether a value is the end of a range whose other end is only a number: "8 bis 9 Uhr", "3.-5. März"."""
    marks = words["to"] | words["either"]
    before = [token for token in tokens[max(0, found.first - 3) : found.first] if token.text != "."]
    after = [token for token in tokens[found.end : found.end + 3] if token.text != "."]
    opened = bool(before) and before[-1].text in words["between"]
    starts = len(before) >= 2 and before[-1].text in marks and before[-2].numeric
    ends = len(after) >= 2 and after[0].text in marks and after[1].numeric
    return opened or starts or ends


def answered(
    answers: Sequence[Answer], found: Sequence[Found], reply: Reply, words: Words, *, literal: bool
) -> Read | NotUnderstood:
    """Return answers, unless the text before, between and after the values they came from speaks against them."""
    if any(_ends_range(reply.tokens, item, words) for item in found):
        return _RANGE
    comments: dict[str, None] = {}
    count = len(found)
    edges = [(0, 0), *((item.first, item.end) for item in found), (len(reply.tokens), len(reply.tokens))]
    for number, ((_, start), (end, _)) in enumerate(pairwise(edges)):
        gap = _Gap(reply.tokens, start, end, follows=number > 0, leads=number < count, count=count)
        for verdict in chain(_marks(gap, words), _phrases(gap, words)):
            if isinstance(verdict, NotUnderstood):
                return verdict
            literal = False
            if verdict == "comment":
                comments[reply.between(start, end)] = None
    return Read(tuple(answers), literal, "; ".join(comments))


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
    tokens, harmless = gap.tokens, words["harmless"]
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
        elif stuck and token.glued and token.text in words["decade_ends"]:
            yield NotUnderstood("a decade, not a value", "vague")
        elif stuck and not (token.text in harmless or token.text in words.unit_codes or token.text in words.spans):
            yield NotUnderstood("letters stuck to a number", "notation")


def _phrases(gap: _Gap, words: Words) -> Iterator[_Verdict]:
    """Weigh the words, the longest phrases first."""
    names = [token.text for token in gap.tokens[gap.start : gap.end] if token.wordlike]
    if gap.follows and names and names[0] in words["scales"] and gap.tokens[gap.start].wordlike:
        yield NotUnderstood("a large number that is not written in digits", "notation")
    padding = words["harmless"] | words["one_or_a"]
    lists = [words[name] for name in ("hedges", "approximate", "limits", "vague", "negators")]
    for place, (hedge, rough, limit, vague, negator) in steps(names, *lists):
        taken = max(hedge, rough, limit, vague, negator)
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
