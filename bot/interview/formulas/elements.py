"""Functions of FHIR and of SDC on elements of resources. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from bot.interview.formulas.formula import FormulaFailed, Scored, Tree
from bot.interview.formulas.nodes import Node, Scope, Values, is_type, nodes, of_kind, one, r4_types

_SCORES = (
    "http://hl7.org/fhir/StructureDefinition/itemWeight",
    "http://hl7.org/fhir/StructureDefinition/ordinalValue",
)
_DEFINITION = "http://hl7.org/fhir/StructureDefinition/"


def children(data: Values) -> Values:
    return [child for value in data if isinstance(value, Node) for child in value.children()]


def descendants(scope: Scope, data: Values, _: tuple[Tree, ...]) -> Values:
    found: Values = []
    for value in data:
        for child in value.descendants() if isinstance(value, Node) else ():
            scope.around.work.spend()
            found.append(child)
    return found


def extension(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    url = of_kind(one(scope.values(trees[0])), str)
    held = (each for value in data if isinstance(value, Node) for each in value.child("extension"))
    return [each for each in held if isinstance(each.value, dict) and each.value.get("url") == url]


def _is_primitive(value: object) -> bool:
    return not isinstance(value, Node) or not isinstance(value.value, dict | list | None)


def has_value(data: Values) -> bool:
    return len(data) == 1 and _is_primitive(data[0])


def resolve(scope: Scope, data: Values, _: tuple[Tree, ...]) -> Values:
    """Return the resources that references point to: those contained beside them. No other is fetched."""
    return [found for value in data for found in _resolved(value, scope)]


def _resolved(value: object, scope: Scope) -> Iterator[Node]:
    held = value.value if isinstance(value, Node) else value
    reference = held.get("reference") if isinstance(held, dict) else held
    if not isinstance(reference, str) or not reference.startswith("#"):
        return
    whole = nodes(scope.around.names.get("resource"))[:1]
    roots = [value.root if isinstance(value, Node) else None, *(each.value for each in whole if isinstance(each, Node))]
    root = next((each for each in roots if isinstance(each, dict)), {})
    if reference == "#":
        yield Node.of(root)
    for each in _held(root, "contained"):
        if each.get("id") == reference[1:]:
            yield Node.of(each, root=root)


def conforms_to(scope: Scope, data: Values, trees: tuple[Tree, ...]) -> Values:
    """Say whether a resource is of a type of R4; other profiles are not known here."""
    url = of_kind(one(scope.values(trees[0])), str)
    one(data)
    name = str(url).removeprefix(_DEFINITION)
    if not data or url is None:
        return []
    if name == url or name not in r4_types():
        raise FormulaFailed("the profile is not known here")
    return [is_type(data[0], name)]


def answers(data: Values) -> Values:
    """Return every answer below."""
    held = (answer for value in data if isinstance(value, Node) for answer in _below(value.value))
    return [Node.of(answer, "QuestionnaireResponse.item.answer") for answer in held]


def _below(part: Any) -> Iterator[Any]:
    for answer in _held(part, "answer"):
        yield answer
        yield from _below(answer)
    for item in _held(part, "item"):
        yield from _below(item)


def _held(part: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects that JSON holds under a name; none where it is no FHIR."""
    found = part.get(name) if isinstance(part, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def scores(data: Values) -> list[Decimal]:
    found = [_score(value) for value in data]
    return [score for score in found if score is not None]


def _score(item: object) -> Decimal | None:
    value = item.value if isinstance(item, Node) else item
    if isinstance(value, Scored):
        return value.score
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    given = (each.get("valueDecimal") for each in _held(value, "extension") if each.get("url") in _SCORES)
    return next((Decimal(number) for number in given if isinstance(number, int | Decimal)), None)


def outermost_items(part: Any, link_id: str) -> Iterator[Any]:
    for item in _held(part, "item"):
        if item.get("linkId") == link_id:
            yield item


def items_below(part: Any, link_id: str) -> Iterator[Any]:
    for item in _held(part, "item"):
        if item.get("linkId") == link_id:
            yield item
        for inner in (item, *_held(item, "answer")):
            yield from items_below(inner, link_id)
