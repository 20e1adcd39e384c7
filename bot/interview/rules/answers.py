"""What is wrong with an answer: its type, the limits of its question, the listed options. Pure.

A problem has a code and parameters; how to say it is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.interview.form.form import Item, Option, Path
from bot.interview.form.options import named_option
from bot.interview.rules.limits import mime_fits, referred_type, size_of
from bot.interview.rules.quantities import against_bound, in_listed_unit, unit_fits
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.comparing import relate
from bot.interview.values.fhir_json import as_object, number, string
from bot.interview.values.fhir_names import RESOURCE_TYPES
from bot.interview.values.patterns import fits_pattern
from bot.interview.values.primitives import PRIMITIVES, problem_with


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an answer, or the whole filling, must not be.

    Attributes:
        code: required, too-few, too-many, wrong-type, malformed, too-long, too-short, pattern, below-minimum,
            above-maximum, not-comparable, decimal-places, not-an-option, exclusive, twice, unit, mime-type, too-big,
            reference-type, constraint; refused (by the validator, `key` names its rule).
        path: Where; empty for the whole form.
        parameters: The values that a message needs: ``limit``, ``given``.
        human: What the form itself says (constraints), in its base language.
        key: Of the constraint, or of the validator's rule.
        severity: A warning does not keep an answer from being taken.
    """

    code: str
    path: Path
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    human: str = ""
    key: str = ""
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question at one place, with what its formulas give there.

    Attributes:
        options: The answers that can be chosen now.
        minimum: The least value; likewise `maximum`.
    """

    item: Item
    path: Path
    options: Sequence[Option]
    minimum: Answer | None
    maximum: Answer | None

    def problem(self, code: str, **parameters: JsonValue) -> Problem:
        return Problem(code, self.path, parameters)


def answer_problems(asked: Asked, answers: Sequence[Answer]) -> Iterator[Problem]:
    """Yield what is wrong with the answers to a question, taken together and one by one."""
    item = asked.item
    if item.most is not None and len(answers) > item.most:
        yield asked.problem("too-many", limit=item.most, given=len(answers))
    # Twins have the same age, but nobody can tick the same box twice.
    if any(answers.count(answer) > 1 for answer in answers if named_option(answer, asked.options)):
        yield asked.problem("twice")
    if len(answers) > 1 and any(_is_exclusive(asked, answer) for answer in answers):
        yield asked.problem("exclusive")
    for answer in answers:
        yield from _one(asked, answer)


def _is_exclusive(asked: Asked, answer: Answer) -> bool:
    option = named_option(answer, asked.options)
    return option is not None and option.exclusive


def _one(asked: Asked, answer: Answer) -> Iterator[Problem]:
    if answer.type not in asked.item.answer_types:
        yield asked.problem("wrong-type", expected=sorted(asked.item.answer_types)[0], given=answer.type)
    elif not _well_formed(answer):
        yield asked.problem("malformed", expected=answer.type)
    else:
        yield from _option(asked, answer)
        yield from _text(asked, answer)
        yield from _pattern(asked, answer)
        yield from _bounds(asked, answer)
        yield from _places(asked, answer)
        yield from _unit(asked, answer)
        yield from _attachment(asked, answer)
        yield from _reference(asked, answer)


def _well_formed(answer: Answer) -> bool:
    if answer.type in PRIMITIVES:
        return not problem_with(answer.type, answer.value)
    value = as_object(answer.value)
    if answer.type == "quantity":
        return not problem_with("decimal", value.get("value"))
    return bool(value)


def _option(asked: Asked, answer: Answer) -> Iterator[Problem]:
    item = asked.item
    listed = bool(item.options or item.formulas.options)
    if listed and not _takes_free(item, answer) and named_option(answer, asked.options) is None:
        yield asked.problem("not-an-option")


def _takes_free(item: Item, answer: Answer) -> bool:
    """Say whether an answer need not be listed: free text, and anything where no closed list is asked."""
    if item.type == "open-choice":
        return answer.type == "string"
    # Where a form lists options for a plain type, they are what can be chosen.
    return False


def _text(asked: Asked, answer: Answer) -> Iterator[Problem]:
    limits, text = asked.item.limits, answer.value
    if not isinstance(text, str) or answer.type not in {"string", "uri"}:
        return
    if limits.max_length is not None and len(text) > limits.max_length:
        yield asked.problem("too-long", limit=limits.max_length, given=len(text))
    if limits.min_length is not None and len(text) < limits.min_length:
        yield asked.problem("too-short", limit=limits.min_length, given=len(text))


def _pattern(asked: Asked, answer: Answer) -> Iterator[Problem]:
    pattern = asked.item.limits.pattern
    # A pattern that takes too long decides nothing.
    if pattern is not None and fits_pattern(pattern, answer, asked.item.raw) is False:
        yield asked.problem("pattern", format=asked.item.presentation.entry_format.base)


def _bounds(asked: Asked, answer: Answer) -> Iterator[Problem]:
    for bound, code, beyond in (
        (asked.minimum, "below-minimum", "before"),
        (asked.maximum, "above-maximum", "after"),
    ):
        if bound is None:
            continue
        if answer.type == "quantity":
            fit = against_bound(answer, bound, least=beyond == "before")
            if fit in {"beyond", "no-code", "other-kind"}:
                known = code if fit == "beyond" else "not-comparable"
                yield asked.problem(known, limit=bound.value, type=bound.type)
        # A date known in part may lie on either side of the limit: nobody can ask for more than is known.
        elif relate(answer, bound) == beyond:
            yield asked.problem(code, limit=bound.value, type=bound.type)


def _places(asked: Asked, answer: Answer) -> Iterator[Problem]:
    most = asked.item.limits.decimal_places
    value = number(as_object(answer.value).get("value") if answer.type == "quantity" else answer.value)
    if most is None or value is None:
        return
    exponent = value.as_tuple().exponent
    given = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if given > most:
        yield asked.problem("decimal-places", limit=most, given=given)


def _unit(asked: Asked, answer: Answer) -> Iterator[Problem]:
    units = asked.item.units
    quantity = in_listed_unit(as_object(answer.value), units.choices)
    if answer.type == "quantity" and not units.open and not any(unit_fits(quantity, each) for each in units.choices):
        yield asked.problem("unit", allowed=[string(unit, "display") or string(unit, "code") for unit in units.choices])


def _attachment(asked: Asked, answer: Answer) -> Iterator[Problem]:
    limits, value = asked.item.limits, as_object(answer.value)
    if answer.type != "attachment":
        return
    kind = string(value, "contentType")
    if limits.mime_types and not (kind and any(mime_fits(kind, pattern) for pattern in limits.mime_types)):
        yield asked.problem("mime-type", allowed=list(limits.mime_types))
    size = size_of(value)
    if limits.max_bytes is not None and size is not None and size > limits.max_bytes:
        yield asked.problem("too-big", limit=limits.max_bytes)


def _reference(asked: Asked, answer: Answer) -> Iterator[Problem]:
    wanted = asked.item.limits.reference_types
    if answer.type != "reference":
        return
    kind = referred_type(as_object(answer.value))
    if wanted and kind in RESOURCE_TYPES and kind not in wanted:
        yield asked.problem("reference-type", allowed=list(wanted))
