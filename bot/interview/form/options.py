"""The listed answers of an item: what can be chosen, what is proposed, which option an answer names. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from bot.interview.form.form import Option, Text
from bot.interview.form.support import CORE, Notes
from bot.interview.form.texts import extension_text, read_text
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.codes import code_key, repeatable
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    number,
    objects,
    string,
    value_of,
    values_of,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.primitives import problem_with
from bot.interview.values.terminology import Concept, Terminology

_SCORES = (CORE + "itemWeight", CORE + "ordinalValue")
_PREFIXES = (CORE + "questionnaire-optionPrefix", CORE + "valueset-label")


@dataclass(frozen=True, slots=True)
class Listed:
    """The listed answers of a question; `gap` says why some or all could not be listed."""

    options: tuple[Option, ...] = ()
    gap: str = ""


def read_options(raw: JsonObject, kind: str, terminology: Terminology) -> Listed:
    """Read answerOption, or expand answerValueSet; a plain text item takes the codes of a value set as text."""
    given = [option for each in objects(raw, "answerOption") if (option := _option(each, kind))]
    canonical = string(raw, "answerValueSet")
    if given or not canonical:
        return Listed(tuple(given))
    expansion = terminology.expand(canonical)
    options = tuple(_from_concept(concept, coded=kind in CHOICES) for concept in expansion.concepts)
    return Listed(options, "; ".join(expansion.missing))


def check_systems(options: Sequence[Option], link_id: str, notes: Notes) -> None:
    """Warn of codes that servers will not take."""
    for option in options:
        system = as_object(option.answer.value).get("system", "")
        if option.answer.type == "coding" and ":" not in str(system):
            text = "codes without the URI of their system; a server may refuse them"
            notes.warn(link_id, "answerOption", text)


def _option(element: JsonObject, kind: str) -> Option | None:
    answer = value_of(element)
    if answer is None:
        return None
    inner, chosen = as_object(answer.value), repeatable(answer, kind)
    if chosen.value in ({}, ""):
        return None  # nothing can be chosen by it
    return Option(
        answer=chosen,
        label=label_of(answer, element),
        prefix=_prefix(element),
        ordinal=_score(element, inner),
        exclusive=_is_true(element, fhir_names.OPTION_EXCLUSIVE),
        selected=element.get("initialSelected") in (True, "true"),
    )


def label_of(answer: Answer, element: JsonObject | None = None) -> Text:
    """Return what stands for an answer in a list; `element` is what held it."""
    value = answer.value
    if isinstance(value, dict):
        for name in ("display", "code", "reference", "title"):
            if value.get(name):
                return read_text(value, name)
        return Text(_plain(value.get("value")))
    name = "value" + answer.type[:1].upper() + answer.type[1:]
    return read_text(element, name) if element and isinstance(value, str) else Text(_plain(value))


def _plain(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _from_concept(concept: Concept, *, coded: bool) -> Option:
    coding: dict[str, JsonValue] = {"system": concept.system, "code": concept.code, "display": concept.display}
    chosen = repeatable(Answer("coding", coding), "choice")
    translations = {**dict(concept.designations), **read_text(concept.node, "display").translations}
    return Option(
        answer=chosen if coded else Answer("string", concept.code),
        label=Text(concept.display or concept.code, translations),
        prefix=_prefix(concept.node),
        ordinal=_score(concept.node, {}),
        exclusive=_is_true(concept.node, fhir_names.OPTION_EXCLUSIVE),
    )


def _prefix(element: JsonObject) -> str:
    return next((text.base for url in _PREFIXES if (text := extension_text(element, url)).base), "")


def _score(*elements: JsonObject) -> Decimal | None:
    found = (extension_value(element, *_SCORES) for element in elements)
    return next((number(value.value) for value in found if value), None)


def _is_true(element: JsonObject, urls: tuple[str, ...]) -> bool:
    value = extension_value(element, *urls)
    return value is not None and value.value in (True, "true")


def answer_types(kind: str, options: Sequence[Option]) -> frozenset[str]:
    """Return the types that answers to a question may have."""
    if kind not in CHOICES:
        return frozenset(ANSWER_TYPES[kind])
    listed = {option.answer.type for option in options} or {"coding"}
    return frozenset(listed | ({"string"} if kind == "open-choice" else set()))


def read_initial(
    raw: JsonObject, kind: str, options: Sequence[Option], link_id: str, notes: Notes
) -> tuple[Answer, ...]:
    """Return the answers that the form proposes: ``initial``, else the options that are selected beforehand."""
    found: list[Answer] = []
    for element in objects(raw, "initial"):
        for answer in values_of(element):
            fitting = fitted(answer, kind, options)
            if fitting is None:
                notes.warn(link_id, "initial", f"a proposed {answer.type} does not fit the question")
            else:
                found.append(fitting)
    return tuple(found) or tuple(option.answer for option in options if option.selected)


def fitted(answer: Answer, kind: str, options: Sequence[Option]) -> Answer | None:
    """Turn a value into an answer to a question of type `kind`: the listed one that it names, or one of its type."""
    option = named_option(answer, options)
    if option is not None:
        return option.answer
    types = answer_types(kind, options)
    if options:
        # Beside what is listed, only an open choice takes anything, and that is text.
        types = types & {"string"} if kind == "open-choice" else frozenset()
    if answer.type in types:
        return repeatable(answer, kind)
    converted = (made for wanted in sorted(types) if (made := _converted(answer, wanted)))
    return next(
        (made for made in converted if made.type == "quantity" or not problem_with(made.type, made.value)), None
    )


def named_option(answer: Answer, options: Sequence[Option]) -> Option | None:
    """Return the option that an answer names: the same code, or the same value."""
    # A bare code, as a formula may give it, names the option as well.
    system, code = code_key(as_object(answer.value)) if isinstance(answer.value, dict) else ("", answer.value)
    for option in options:
        listed = option.answer.value
        if listed == answer.value:
            return option
        known = code_key(as_object(listed))
        if code and known[1] == code and system in ("", known[0]):
            return option
    return None


def _converted(answer: Answer, kind: str) -> Answer | None:
    """Convert between types that differ in form only; None where that would be guessing."""
    value = answer.value
    if kind in {"decimal", "integer"} and isinstance(value, str | int | Decimal) and not isinstance(value, bool):
        return _as_number(value, kind)
    if kind == "quantity" and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Answer("quantity", {"value": value})
    if kind in {"string", "uri"} and isinstance(value, str | int | Decimal) and not isinstance(value, bool):
        return Answer(kind, str(value))
    if kind == "date" and isinstance(value, str) and answer.type in {"dateTime", "instant", "string"}:
        return Answer("date", value.partition("T")[0])
    if kind in {"dateTime", "time"} and isinstance(value, str) and answer.type in {"date", "instant", "string"}:
        return Answer(kind, value)
    return None


def _as_number(value: str | int | Decimal, kind: str) -> Answer | None:
    try:
        exact = Decimal(value)
    except InvalidOperation:
        return None
    if kind == "decimal":
        return Answer("decimal", value if not isinstance(value, str) else exact)
    return Answer("integer", int(exact)) if exact == exact.to_integral_value() else None
