"""What is asked of a patient, and what their reply was read as. Pure.

`Asked` is a question, `Context` the same as the readers take it, and `Reading` what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Literal

from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.vocabulary import Words
from bot.interview.values.answer import Answer

UCUM = "http://unitsofmeasure.org"

Bound = int | Decimal | str | None


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


def within(value: int | Decimal | str, asked: Asked) -> bool:
    """Tell whether a number or date lies within the hints; hints of another kind do not count."""
    return _ordered(asked.minimum, value) and _ordered(value, asked.maximum)


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

    @property
    def prompt_words(self) -> frozenset[str]:
        """The folded words of the question."""
        return frozenset(self.prompt.names)

    @property
    def asks_age(self) -> bool:
        """Tell whether the question asks for an age in years."""
        return bool(self.prompt_words & self.words.numbers.age)

    @property
    def asks_since_when(self) -> bool:
        """Tell whether the question asks since when, so that a length of time says it: "drei Wochen"."""
        return bool(self.prompt_words & self.words.dates.since)

    @property
    def month_first(self) -> bool:
        """Tell whether 3/4/1975 is 4 March: by the entry format, else by the language."""
        shown = self.asked.entry_format.strip().lower()
        return shown.startswith("m") or (self.words.dates.month_first and not shown.startswith(("d", "t")))

    def with_harmless(self, more: frozenset[str]) -> Context:
        """Return the same, with words that change nothing around a value of this question."""
        around = self.words.around
        return replace(self, words=replace(self.words, around=replace(around, harmless=around.harmless | more)))

    def with_echo(self) -> Context:
        """Return the same, with those words harmless that only echo the question: "3 Kinder"."""
        words, asked = self.words, self.prompt_words
        years = {word for word, span in words.dates.spans.items() if span == "a"} if self.asks_age else set()
        negators = {phrase[0] for phrase in words.agreement.negators.all}
        extra = asked - negators - words.around.date_limits | years
        extra |= words.numbers.pads if self.asked.type in ("integer", "decimal") else set()
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
