"""What a patient's text turned out to be. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.interview.answer import Answer
from bot.interview.parsing.asked import Option

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
