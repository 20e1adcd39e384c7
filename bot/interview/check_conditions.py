"""Do the conditions of a form (enableWhen) make sense: targets, answer types, operators. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.interview.answer import Answer
from bot.interview.fhir_json import JsonObject, objects, string, value_of, walk
from bot.interview.item_types import ANSWER_TYPES, CHOICES, ORDERED
from bot.interview.outcome import Findings, Place

PlacedItem = tuple[JsonObject, Place]


def check_conditions(resource: JsonObject, items: Sequence[PlacedItem], findings: Findings) -> None:
    """Check every enableWhen of a Questionnaire whose items are given in the order of the form."""
    order: dict[str, int] = {}
    by_id: dict[str, JsonObject] = {}
    for index, (item, _) in enumerate(items):
        by_id.setdefault(string(item, "linkId"), item)
        order.setdefault(string(item, "linkId"), index)
    for index, (item, place) in enumerate(items):
        for number, condition in enumerate(objects(item, "enableWhen")):
            here = place.child("enableWhen", number)
            _check_answer(condition, here, findings)
            link_id = string(condition, "question")
            target = by_id.get(link_id)
            if not link_id:
                continue
            if target is None:
                findings.error(here, f"There is no item {link_id!r}", code="not-found", rule="enableWhen-target")
                continue
            _check_position(item, target, here, findings, later=order[link_id] > index)
            _check_fit(condition, target, here, findings)


def _check_answer(condition: JsonObject, place: Place, findings: Findings) -> None:
    answer, operator = value_of(condition, "answer"), string(condition, "operator")
    if operator == "exists" and answer is not None and answer.type != "boolean":
        findings.error(place, "The operator exists needs answerBoolean", code="invariant", rule="que-7")


def _check_position(item: JsonObject, target: JsonObject, place: Place, findings: Findings, *, later: bool) -> None:
    if target is item:
        findings.error(place, "An item cannot depend on itself", code="business-rule", rule="enableWhen-self")
    elif any(inner is target for inner in walk(objects(item, "item"))):
        text = "An item cannot depend on an item inside it"
        findings.error(place, text, code="business-rule", rule="enableWhen-inner")
    elif later:
        text = "The item that this one depends on comes later"
        findings.warning(place, text, code="business-rule", rule="enableWhen-after")


def _check_fit(condition: JsonObject, target: JsonObject, place: Place, findings: Findings) -> None:
    """Check that an answer of the target can be compared with the condition's."""
    kind, operator, answer = string(target, "type"), string(condition, "operator"), value_of(condition, "answer")
    possible = set(possible_answers(target))
    if kind in {"group", "display", "question"}:
        findings.warning(place, f"An item of type {kind} has no answers", code="business-rule", rule="enableWhen-type")
        return
    if answer is None or operator == "exists" or not possible:
        return
    if answer.type not in possible:
        text = f"answer{_capital(answer)} can never match an answer of an item of type {kind}"
        findings.error(place, text, code="value", rule="enableWhen-type")
    elif operator in {">", "<", ">=", "<="} and answer.type not in ORDERED:
        text = f"The operator {operator} does not fit values of type {answer.type}"
        findings.error(place, text, code="value", rule="enableWhen-operator")


def _capital(answer: Answer) -> str:
    return answer.type[:1].upper() + answer.type[1:]


def possible_answers(item: JsonObject) -> Iterator[str]:
    """Yield the types of value that answers to an item can have, as far as its options tell."""
    kind = string(item, "type")
    options = [value.type for each in objects(item, "answerOption") if (value := value_of(each)) is not None]
    if kind not in CHOICES:
        # A url is a uri in answers, but conditions have no answerUri: they say it as a string.
        yield from ANSWER_TYPES.get(kind, ())
        yield from ("string",) if kind == "url" else ()
    elif options:
        yield from options
        yield from ("string",) if kind == "open-choice" else ()
    else:
        yield from ("coding", "string") if kind == "open-choice" else ("coding",)
