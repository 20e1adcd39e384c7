"""What codes count in a response: formulas with ``ordinal()`` or ``weight()`` ask for it. Pure.

A response repeats codes without the scores that the form gives them, so whoever evaluates the form's formulas on a
response puts them back first.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bot.interview.form.form import Option
from bot.interview.form.indexed import IndexedForm
from bot.interview.form.options import read_options
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.codes import code_key
from bot.interview.values.fhir_json import JsonObject, string
from bot.interview.values.fhir_names import CHOICES
from bot.interview.values.terminology import Terminology

_ASKING = ("ordinal(", "weight(")
Scores = Mapping[str, tuple[Option, ...]]


def with_scores(response: JsonObject, form: IndexedForm, known: Terminology) -> JsonObject:
    """Return a response whose codes know what they count; as it is where no formula of the form asks for that."""
    owners = (form.raw, *(asked.raw for asked in form.by_id.values()))
    if not any(word in str(raw.get("extension", "")) for raw in owners for word in _ASKING):
        return response
    scores: dict[str, tuple[Option, ...]] = {}
    for link_id, asked in form.by_id.items():
        if asked.type in CHOICES:
            listed = read_options(asked.raw, asked.type, known).options
            scores[link_id] = tuple(option for option in listed if option.ordinal is not None)
    return {**response, "item": _items(response.get("item"), scores)} if "item" in response else response


def _items(items: JsonValue, scores: Scores) -> JsonValue:
    if not isinstance(items, list):
        return items
    return [_item(each, scores) if isinstance(each, dict) else each for each in items]


def _item(item: JsonObject, scores: Scores) -> dict[str, JsonValue]:
    made, answers = dict(item), item.get("answer")
    if "item" in item:
        made["item"] = _items(item["item"], scores)
    if isinstance(answers, list):
        options = scores.get(string(item, "linkId"), ())
        made["answer"] = [_answer(each, options, scores) if isinstance(each, dict) else each for each in answers]
    return made


def _answer(answer: JsonObject, options: tuple[Option, ...], scores: Scores) -> dict[str, JsonValue]:
    made, coding = dict(answer), answer.get("valueCoding")
    if "item" in answer:
        made["item"] = _items(answer["item"], scores)
    score = _score(coding, options) if isinstance(coding, dict) else None
    if score is not None and isinstance(coding, dict):
        from bot.interview.formulas.fhirpath import Scored  # the library behind it takes a second to import

        made["valueCoding"] = Scored(coding, score)
    return made


def _score(coding: JsonObject, options: tuple[Option, ...]) -> Decimal | None:
    same = (each.ordinal for each in options if _key(each.answer) == code_key(coding))
    return next(same, None)


def _key(answer: Answer) -> tuple[str, str]:
    return code_key(answer.value) if isinstance(answer.value, dict) else ("", "")
