"""What is wrong with the answers to a question: by the form as it is written, and as the interview asks it. Pure.

Both readings ask the same rules (`limits.py`, `options.py`), and part on purpose. The interview takes limits as they
are meant (see `form/limits.py`), bounds and options as formulas give them at one place, no option twice, and lets pass
what is only doubtful. The validator takes what is written, says what is doubtful, and looks codes up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from bot.interview.form.form import Item, Option, Path
from bot.interview.form.indexed import IndexedItem
from bot.interview.form.limits import stated_bounds
from bot.interview.form.options import named_option
from bot.interview.rules.limits import (
    Violation,
    check_attachment,
    check_bound,
    check_decimal_places,
    check_number,
    check_pattern,
    check_reference,
    check_text,
    check_unit,
    in_listed_unit,
)
from bot.interview.rules.options import check_options
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import as_object, objects
from bot.interview.values.primitives import PRIMITIVES, problem_with
from bot.interview.values.terminology import Terminology


def stated_violations(item: IndexedItem, answer: Answer, known: Terminology) -> Iterator[Violation]:
    """Yield what is wrong with an answer of a fitting type by all that its item states."""
    yield from check_text(item, answer)
    yield from check_pattern(item, answer)
    bounds = _check_stated_bounds(item, answer)
    if answer.type != "quantity":
        yield from bounds
    yield from check_decimal_places(item, answer)
    if answer.type == "quantity":
        yield from bounds
        yield from check_unit(item.units, as_object(answer.value), known)
    yield from check_attachment(item, answer)
    yield from check_reference(item, answer)
    if item.raw.keys() & {"answerOption", "answerValueSet"} or answer.type == "coding":
        yield from check_options(item, answer, known)


def _check_stated_bounds(item: IndexedItem, answer: Answer) -> Iterator[Violation]:
    for least in (True, False):
        bounds = list(stated_bounds(item.raw, answer.type, least=least))
        yield from (Violation("computed-limit", "information") for bound in bounds if bound.fixed is None)
        for bound in bounds:
            if bound.fixed is not None:
                yield from check_bound(answer, bound.fixed, least=least)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an answer, or the whole filling, must not be. How to say it is decided elsewhere.

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


# What a broken rule is called in the interview, and which of its values a message needs.
_PROBLEMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "required": ("required", ()),
    "repeats": ("too-many", ("limit", "given")),
    "minOccurs": ("too-few", ("limit", "given")),
    "maxOccurs": ("too-many", ("limit", "given")),
    "maxLength": ("too-long", ("limit", "given")),
    "minLength": ("too-short", ("limit", "given")),
    "regex": ("pattern", ()),
    "minValue": ("below-minimum", ("limit",)),
    "maxValue": ("above-maximum", ("limit",)),
    "minQuantity": ("below-minimum", ("limit",)),
    "maxQuantity": ("above-maximum", ("limit",)),
    "maxDecimalPlaces": ("decimal-places", ("limit", "given")),
    "unitOption": ("unit", ("allowed",)),
    "mimeType": ("mime-type", ("allowed",)),
    "maxSize": ("too-big", ("limit",)),
    "referenceResource": ("reference-type", ("allowed",)),
}


@dataclass(frozen=True, slots=True)
class PlacedQuestion:
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

    def problems(self, answers: Sequence[Answer]) -> Iterator[Problem]:
        """Yield what is wrong with the answers, taken together and one by one."""
        yield from (each for each in number_problems(self.item, self.path, len(answers)) if each.code == "too-many")
        chosen = [named_option(answer, self.options) for answer in answers]
        # Twins have the same age, but nobody can tick the same box twice.
        if any(answers.count(answer) > 1 for answer, option in zip(answers, chosen, strict=True) if option):
            yield Problem("twice", self.path)
        if len(answers) > 1 and any(option.exclusive for option in chosen if option):
            yield Problem("exclusive", self.path)
        for answer, option in zip(answers, chosen, strict=True):
            yield from self._problems_with(answer, option)

    def _problems_with(self, answer: Answer, option: Option | None) -> Iterator[Problem]:
        item = self.item
        if answer.type not in item.answer_types:
            parameters: dict[str, JsonValue] = {"expected": sorted(item.answer_types)[0], "given": answer.type}
            yield Problem("wrong-type", self.path, parameters)
            return
        if not _well_formed(answer):
            yield Problem("malformed", self.path, {"expected": answer.type})
            return
        free = item.type == "open-choice" and answer.type == "string"
        # Where a form lists options for a plain type, they are what can be chosen.
        if option is None and not free and (item.options or item.formulas.options):
            yield Problem("not-an-option", self.path)
        for violation in self._violations(answer):
            if violation.severity == "error" and violation.rule in _PROBLEMS:
                yield _problem(item, self.path, violation)

    def _violations(self, answer: Answer) -> Iterator[Violation]:
        item = self.item
        bounds = ((True, self.minimum), (False, self.maximum))
        quantity = answer.type == "quantity"
        unit = in_listed_unit(as_object(answer.value), item.units.choices)
        return chain(
            check_text(item, answer),
            check_pattern(item, answer),
            *(check_bound(answer, bound, least=least) for least, bound in bounds if bound is not None),
            check_decimal_places(item, answer),
            check_unit(item.units, unit, Terminology()) if quantity else (),
            check_attachment(item, answer),
            check_reference(item, answer),
        )


# What may stand in an answer of these types, so that nothing of it need be looked into.
_PLAIN_PARTS: Mapping[str, Mapping[str, str]] = {
    "coding": {"system": "uri", "version": "string", "code": "code", "display": "string", "userSelected": "boolean"},
    "quantity": {"value": "decimal", "unit": "string", "system": "uri", "code": "code"},
}
_PLAIN_TYPES = frozenset({"boolean", "decimal", "integer", "date", "dateTime", "time", "string", "uri"})


def means_what_it_states(item: Item, stated: IndexedItem) -> bool:
    """Say whether all that an item states is what the interview holds its answers to, read in the same way.

    Then what `PlacedQuestion` has nothing against breaks no demand that is stated, but for what `is_beyond_doubt` asks.
    """
    limits = item.limits
    if stated.limits != replace(limits, minimum=None, maximum=None):
        return False
    for least, meant in ((True, limits.minimum), (False, limits.maximum)):
        fixed = [bound.fixed for kind in item.answer_types for bound in stated_bounds(item.raw, kind, least=least)]
        if any(each not in (None, meant.fixed if meant else None) for each in fixed):
            return False
    if stated.units.value_set or stated.units.choices != item.units.choices:
        return False
    # A code is known to be good by its option, which says what it is called.
    names = [as_object(each.get("valueCoding")).get("display", "") for each in objects(item.raw, "answerOption")]
    return "answerValueSet" not in item.raw and all(isinstance(name, str) for name in names)


def is_beyond_doubt(item: Item, answer: Answer) -> bool:
    """Say whether no validator can refuse an answer with which `PlacedQuestion` finds nothing wrong.

    Of an item that means what it states. An answer to a list must be what is listed, and in any case plain: no
    attachment, reference, or element that FHIR has no name for.
    """
    parts = _PLAIN_PARTS.get(answer.type)
    if parts is not None:
        value = as_object(answer.value)
        if not value or any(name not in parts or problem_with(parts[name], each) for name, each in value.items()):
            return False
        if answer.type == "quantity" and (
            ("code" in value and "system" not in value) or in_listed_unit(value, item.units.choices) != value
        ):
            return False
    elif answer.type not in _PLAIN_TYPES:
        return False
    if answer.type == "coding" or "answerOption" in item.raw:
        own_words = answer.type == "string" and item.type == "open-choice"
        return own_words or any(option.answer == answer for option in item.options)
    return True


def number_problems(item: Item, path: Path, given: int) -> Iterator[Problem]:
    """Yield what is wrong with the number of answers to a question, or of instances of a group."""
    for violation in check_number(item, given):
        needless = violation.rule == "minOccurs" and given == 0  # what is not required may be left out
        if not needless and not (violation.rule == "maxOccurs" and not item.repeats):
            yield _problem(item, path, violation)


def _problem(item: Item, path: Path, violation: Violation) -> Problem:
    code, names = _PROBLEMS[violation.rule]
    parameters: dict[str, JsonValue] = {}
    for name in names:
        value = violation.values[name]
        parameters |= {name: value.value, "type": value.type} if isinstance(value, Answer) else {name: value}
    if violation.rule == "regex":
        parameters["format"] = item.presentation.entry_format.base
    if violation.how in {"no code", "other kind"}:
        code = "not-comparable"
    return Problem(code, path, parameters)


def _well_formed(answer: Answer) -> bool:
    if answer.type in PRIMITIVES:
        return not problem_with(answer.type, answer.value)
    value = as_object(answer.value)
    if answer.type == "quantity":
        return not problem_with("decimal", value.get("value"))
    return bool(value)
