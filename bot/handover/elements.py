"""What R4 says of the elements of any resource: types, cardinalities, required codes, targets of references. Pure.

It comes from the models of fhir.resources. They are those of R4B, which differs from R4 in a few types that are refused
here. Their import takes a third of a second, and most forms extract nothing: so it happens when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, get_args

from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, string
from bot.interview.values.fhir_names import RESOURCE_TYPES

# R4B changed them so much that what it says does not hold for R4.
_CHANGED = frozenset({"Evidence", "EvidenceVariable"})
# The models name some codes only by their first ones.
_OBSERVATION_STATUS = "registered preliminary final amended corrected cancelled entered-in-error unknown"
_MORE_CODES = {
    ("DetectedIssue", "status"): _OBSERVATION_STATUS,
    ("DeviceUseStatement", "status"): "active completed entered-in-error intended stopped on-hold",
    ("DiagnosticReport", "status"): f"{_OBSERVATION_STATUS} partial appended",
    ("Encounter", "status"): (
        "planned arrived triaged in-progress onleave finished cancelled entered-in-error unknown"
    ),
    ("Observation", "status"): _OBSERVATION_STATUS,
    ("RiskAssessment", "status"): _OBSERVATION_STATUS,
    ("SupplyRequest", "status"): "draft active suspended cancelled completed entered-in-error unknown",
    ("Task", "status"): (
        "draft requested received accepted rejected ready cancelled in-progress on-hold failed completed "
        "entered-in-error"
    ),
}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*")
# The types of a choice that a value may take, the best first; a number with a unit is a quantity above all.
_PREFERRED = {
    "boolean": "boolean",
    "integer": "integer positiveInt unsignedInt decimal Quantity Age Duration Count string",
    "decimal": "decimal Quantity Age Duration Distance SimpleQuantity",
    "date": "date dateTime Period string",
    "dateTime": "dateTime instant date Period string",
    "instant": "instant dateTime date",
    "time": "time string",
    "string": "string markdown CodeableConcept Annotation code uri Reference",
    "code": "code string CodeableConcept",
    "uri": "uri url canonical string Reference",
    "Coding": "Coding CodeableConcept code string boolean",
    "CodeableConcept": "CodeableConcept",
    "Quantity": "Quantity SimpleQuantity Age Duration Count Distance Money decimal Range",
    "Reference": "Reference",
    "Attachment": "Attachment",
}

# The part of an object that stands for it where one value is due.
_TEXT_PARTS = ("display", "code", "value", "reference")
_SINGLE_PARTS = {"string": _TEXT_PARTS, "markdown": _TEXT_PARTS, "decimal": ("value",), "integer": ("value",)}


class DoesNotFit(ValueError):
    """A value that an element cannot hold. The message names types and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Element:
    """What one JSON property of a type may hold.

    Attributes:
        name: The JSON property: ``valueQuantity``.
        type: A primitive (``code``), a data type (``Coding``) or a backbone element (``ObservationComponent``).
        choice: The name that all types of a choice share (``value``); empty where there is no choice.
        codes: The codes of a required binding; empty where any will do.
        targets: The resource types that a Reference may lead to; empty where any will do.
    """

    name: str
    type: str
    many: bool
    required: bool
    choice: str
    codes: frozenset[str]
    targets: frozenset[str]

    @property
    def is_primitive(self) -> bool:
        return self.type[0].islower()


def is_known(kind: str) -> bool:
    """Say whether a resource of this type can be checked."""
    return kind in RESOURCE_TYPES and kind not in _CHANGED and bool(elements(kind))


@cache
def elements(kind: str) -> Mapping[str, Element]:
    """Return the elements of a resource, backbone or data type by their JSON names; nothing for an unknown type."""
    model = model_of(kind)
    if model is None:
        return MappingProxyType({})
    found: dict[str, Element] = {}
    for field in model.model_fields.values():
        name = field.alias
        if name is None or name.startswith("_") or name in {"fhir_comments", "resourceType"}:
            continue
        type_, many = _type_of(field.annotation)
        about: dict[str, Any] = field.json_schema_extra or {}
        codes = frozenset(about.get("enum_values", ())) if type_ == "code" else frozenset()
        if "+" in codes:
            codes = frozenset(_MORE_CODES.get((kind, name), "").split())
        found[name] = Element(
            name=name,
            type=type_,
            many=many,
            required=field.is_required() or about.get("element_required", False),
            choice=about.get("one_of_many", ""),
            codes=codes,
            targets=frozenset(about.get("enum_reference_types", ())) - {"Resource"},
        )
    return MappingProxyType(found)


def required_choices(kind: str) -> Iterator[str]:
    """Yield the names of choices of which one must be there."""
    model = model_of(kind)
    fields = model.model_fields.values() if model is not None else ()
    about = [field.json_schema_extra or {} for field in fields]
    yield from dict.fromkeys(each["one_of_many"] for each in about if each.get("one_of_many_required"))


def model_of(kind: str) -> Any:
    """Return the library's model of a type; None for an unknown one."""
    from fhir.resources.R4B import get_fhir_model_class

    try:
        return get_fhir_model_class(kind)
    except ValueError:
        return None


_LIBRARY_NAMES = {"EncodedBytes": "base64Binary", "UuidVersion": "uuid"}
_BY_PYTHON = {"bool": "boolean", "Decimal": "decimal", "float": "decimal", "int": "integer", "str": "string"}


def _type_of(annotation: Any) -> tuple[str, bool]:
    """Return the FHIR type that an annotation of the library means, and whether it is a list of them."""
    many = False
    while True:
        metadata = getattr(annotation, "__metadata__", ())
        if metadata:
            name = type(metadata[0]).__name__
            return _LIBRARY_NAMES.get(name, name[:1].lower() + name[1:]), many
        inner = [each for each in get_args(annotation) if each is not type(None)]
        if not inner:
            break
        many = many or getattr(annotation, "__origin__", None) is list
        annotation = inner[0]
    name = getattr(annotation, "__name__", "").removesuffix("Type")
    return _BY_PYTHON.get(name, name), many


def chosen(kind: str, choice: str, value: JsonValue, type_: str) -> Element:
    """Return the element that holds `value` in a choice of types.

    Args:
        kind: The type that has the choice.
        choice: Its name: ``value``.
        value: What is to be held.
        type_: Its FHIR type; empty where only its JSON is known.

    Raises:
        DoesNotFit: None of the types can hold it.
    """
    offered = {element.type: element for element in elements(kind).values() if element.choice == choice}
    for wanted in _PREFERRED.get(type_ or _guessed(value, offered), type_).split():
        if wanted in offered:
            return offered[wanted]
    if type_ in offered:
        return offered[type_]
    raise DoesNotFit(f"a value of type {type_ or 'unknown'} fits no type of {choice}[x]")


def _guessed(value: JsonValue, offered: Mapping[str, Element]) -> str:
    """Return the type of a value of which only the JSON is known."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, str):
        if _DATE_TIME.fullmatch(value):
            return "dateTime"
        return "date" if _DATE.fullmatch(value) and ("date" in offered or "dateTime" in offered) else "string"
    if isinstance(value, dict):
        kinds = ("Coding", "Quantity", "CodeableConcept", "Reference", "Attachment", *offered)
        if value.keys() & {"value", "unit", "comparator"}:
            kinds = ("Quantity", *kinds)
        fitting = (kind for kind in kinds if not kind[0].islower() and value.keys() <= elements(kind).keys())
        return next(fitting, "")
    return "decimal"


def coerced(value: JsonValue, element: Element) -> JsonValue:
    """Return a value in the form in which an element holds it: a Coding as a CodeableConcept, or as its code.

    Raises:
        DoesNotFit: The element cannot hold such a value.
    """
    if element.is_primitive:
        return _primitive(value, element)
    if isinstance(value, dict):
        return _complex(value, element)
    match element.type:
        case "CodeableConcept" | "Annotation" if isinstance(value, str):
            return {"text": value}
        case "Reference" if isinstance(value, str):
            return {"reference": value}
        case "Coding" if isinstance(value, str):
            return {"code": value}
        case "Identifier" | "ContactPoint" if isinstance(value, str):
            return {"value": value}
        case "HumanName" | "Address" if isinstance(value, str):
            return {"text": value}
        case "Period" if isinstance(value, str):
            return {"start": value}
        case kind if "value" in elements(kind) and not isinstance(value, str | bool | list):
            return {"value": value}
    raise DoesNotFit(f"a single value does not fit the type {element.type}")


def _primitive(value: JsonValue, element: Element) -> JsonValue:
    if isinstance(value, dict):
        # A Coding gives its code, or what it is called; a Quantity its number; a Reference where it leads.
        names = _SINGLE_PARTS.get(element.type, ("code", "reference", "url"))
        value = next((value[name] for name in names if name in value), None)
        if value is None or isinstance(value, dict | list):
            raise DoesNotFit(f"an object does not fit the type {element.type}")
    if element.type == "date" and isinstance(value, str) and _DATE_TIME.fullmatch(value):
        return value[:10]
    if element.type in {"string", "markdown", "code"} and not isinstance(value, str | bool | list | None):
        return str(value)
    return value


def _complex(value: Mapping[str, JsonValue], element: Element) -> JsonValue:
    known = elements(element.type)
    if not known or value.keys() <= known.keys() | {"_" + name for name in known} | {"resourceType"}:
        return dict(value)
    if element.type == "CodeableConcept" and value.keys() <= elements("Coding").keys():
        return {"coding": [dict(value)]}
    if element.type == "Coding" and isinstance(value.get("coding"), list):
        codings = value["coding"]
        if isinstance(codings, list) and len(codings) == 1:
            return codings[0]
    raise DoesNotFit(f"its parts do not fit the type {element.type}")


def fitted(node: JsonObject, kind: str = "") -> dict[str, JsonValue]:
    """Return a resource (or part of it) in which single values stand where R4 has lists of them as lists, and the like.

    Templates often write ``"subject": "urn:uuid:…"`` where a Reference is due. What fits no type is left as it is: the
    check of the whole names it.
    """
    known = elements(kind or string(node, "resourceType"))
    made: dict[str, JsonValue] = {}
    for name, value in node.items():
        element = known.get(name)
        made[name] = value if element is None else _fitted(value, element)
    return made


def _fitted(value: JsonValue, element: Element) -> JsonValue:
    if element.many:
        return [each if each is None else _fitted_one(each, element) for each in _as_list(value)]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return _fitted_one(value, element)


def _as_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _fitted_one(value: JsonValue, element: Element) -> JsonValue:
    try:
        value = coerced(value, element)
    except DoesNotFit:
        return value
    if isinstance(value, dict):
        return fitted(value, string(value, "resourceType") if element.type == "Resource" else element.type)
    return value
