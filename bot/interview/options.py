"""Which answers can be chosen at one place, what is proposed there, and formula values as answers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.interview.answer import Answer, JsonValue
from bot.interview.definition_limits import with_unit
from bot.interview.definition_options import fitted, label_of, named_option
from bot.interview.evaluation import Sight
from bot.interview.fhir_json import JsonObject, objects
from bot.interview.form import Item, Option, Path
from bot.interview.plan import Plan
from bot.interview.primitives import problem_with

_CODING = ("system", "version", "code", "display", "userSelected")


def as_answers(item: Item, values: Sequence[JsonValue]) -> tuple[Answer, ...]:
    """Turn what a formula gave into answers that the question takes; what does not fit is left out."""
    found: list[Answer] = []
    for value in values:
        answer = _as_answer(item, value)
        # A list of codes is a choice, in which each stands once.
        if answer is not None and not (answer.type == "coding" and answer in found):
            found.append(answer)
    return tuple(found[: item.most])


def _as_answer(item: Item, value: JsonValue) -> Answer | None:
    guess = _guessed(value)
    if guess is None:
        return None
    if guess.type == "string":
        # Text may stand for any type that is written as text.
        named = next((kind for kind in ("date", "dateTime", "time", "uri") if kind in item.answer_types), "string")
        guess = Answer(named if not problem_with(named, value) else "string", value)
    if item.type == "quantity" and guess.type in {"integer", "decimal"}:
        number = guess.value
        return with_unit(number, item.units.usual) if not isinstance(number, bool | str | dict | list | None) else None
    return fitted(guess, item.type, item.options)


def _guessed(value: JsonValue) -> Answer | None:
    """Return the answer that a JSON value is by its shape."""
    if isinstance(value, bool):
        return Answer("boolean", value)
    if isinstance(value, int):
        return Answer("integer", value)
    if isinstance(value, str):
        return Answer("string", value) if value else None
    if isinstance(value, dict):
        return _guessed_object(value)
    return Answer("decimal", value) if value is not None and not isinstance(value, list) else None


def _guessed_object(value: JsonObject) -> Answer | None:
    if "coding" in value:
        coding = next(iter(objects(value, "coding")), None)
        return _guessed_object(coding) if coding else Answer("string", str(value.get("text", "")))
    if "reference" in value:
        return Answer("reference", dict(value))
    if "resourceType" in value and "id" in value:
        return Answer("reference", {"reference": f"{value['resourceType']}/{value['id']}"})
    if "value" in value:
        return Answer("quantity", dict(value))
    if "contentType" in value or "data" in value:
        return Answer("attachment", dict(value))
    coding = {name: value[name] for name in _CODING if name in value}
    return Answer("coding", coding) if coding else None


def options_at(plan: Plan, sight: Sight, item: Item, path: Path) -> tuple[Option, ...]:
    """Return the answers that can be chosen now: those listed, or those that a formula finds, without those off."""
    options = item.options
    if item.formulas.options is not None:
        values = sight.values(plan.at(item.link_id, item.formulas.options), path)
        options = tuple(Option(answer, label_of(answer)) for answer in _candidates(item, values)) or options
    off = _switched_off(plan, sight, item, path)
    return tuple(option for option in options if named_option(option.answer, off) is None) if off else options


def _candidates(item: Item, values: Sequence[JsonValue]) -> tuple[Answer, ...]:
    # All candidates count here, however many answers the question takes.
    return as_answers(replace(item, repeats=True, options=()), values)


def _switched_off(plan: Plan, sight: Sight, item: Item, path: Path) -> list[Option]:
    """Return options that stand under formulas none of which is true."""
    on: list[Answer] = []
    off: list[Answer] = []
    for toggle in item.formulas.toggles:
        holds = sight.truth(plan.at(item.link_id, toggle.formula), path) is True
        (on if holds else off).extend(toggle.options)
    kept = [Option(answer, label_of(answer)) for answer in on]
    return [Option(answer, label_of(answer)) for answer in off if named_option(answer, kept) is None]


def proposal_at(plan: Plan, sight: Sight, item: Item, path: Path) -> tuple[Answer, ...]:
    """Return the answers to propose: what a formula finds, else what the form says. They are asked, not assumed."""
    found: tuple[Answer, ...] = ()
    if item.formulas.initial is not None:
        found = as_answers(item, sight.values(plan.at(item.link_id, item.formulas.initial), path))
    return found or item.initial[: item.most]
