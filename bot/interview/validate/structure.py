"""Validate the structure of a resource: elements, cardinalities, contained resources, narrative. Pure.

What types there are, and their properties, is data (`values/r4.yaml`). Nothing is coerced: "true" is no boolean and "2"
no integer. Texts are never quoted.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from xml.etree import ElementTree

from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, objects, string, value_name
from bot.interview.values.fhir_names import R4, RESOURCE_TYPES
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.primitives import PRIMITIVES, base64_size, compare_dates, problem_with, shape

OPAQUE = frozenset(R4["opaque"].split())


@dataclass(frozen=True, slots=True)
class Element:
    """What one property may hold.

    Attributes:
        name: Of the element: ``value`` also for the property ``valueString``.
        type: A primitive, a data type, a backbone element, or ``Resource``.
        choice: Whether it is one of a choice of types.
        codes: The codes of a required binding; empty where any will do.
    """

    name: str
    type: str
    required: bool = False
    many: bool = False
    choice: bool = False
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """The properties of one type by their JSON names, and the elements that must be there."""

    properties: MappingProxyType[str, Element]
    required: tuple[Element, ...]


def spec(name: str) -> TypeSpec | None:
    """Return the specification of a resource, backbone element or data type; None when it is not known here."""
    return _specs().get(name)


@cache
def _specs() -> MappingProxyType[str, TypeSpec]:
    kinds = ("resources", "backbones", "data_types")
    lines = {name: f"{R4['common'][kind]} {line}" for kind in kinds for name, line in R4[kind].items()}
    return MappingProxyType({name: _read(line) for name, line in lines.items()})


def _read(line: str) -> TypeSpec:
    properties: dict[str, Element] = {}
    required: list[Element] = []
    for field in line.split():
        name, _, rest = field.partition(":")
        kind, _, codes = rest.partition("=")
        types = kind.rstrip("!*")
        marks = kind[len(types) :]
        bound = tuple(code for code in codes.split(",") if code)
        element = Element(name, types, required="!" in marks, many="*" in marks, codes=bound)
        if name.endswith("[x]"):
            element = Element(name[:-3], "", element.required, choice=True)
            properties |= _choices(name[:-3], types)
        else:
            properties[name] = element
        if element.required:
            required.append(element)
    return TypeSpec(MappingProxyType(properties), tuple(required))


def _choices(name: str, types: str) -> dict[str, Element]:
    anything = (PRIMITIVES - {"xhtml"}) | R4["data_types"].keys() - {"Extension", "Narrative"} | OPAQUE
    wanted = sorted(anything) if types == "any" else types.split("|")
    return {value_name(kind, name): Element(name, kind, choice=True) for kind in wanted}


def check_structure(resource: JsonObject, findings: Findings) -> Place:
    """Check a Questionnaire or QuestionnaireResponse as JSON of its type; return where it stands."""
    place = Place(string(resource, "resourceType"))
    known = spec(place.name)
    if known is not None:
        Checker(findings, resource).object(resource, place.name, known, place)
    if "contained" in resource:
        check_contained(resource, place, findings)
    return place


def check_answer(answer: Answer) -> list[Finding]:
    """Return what is wrong with the structure of one answer, as it stands in a response."""
    findings, known = Findings(), spec("QuestionnaireResponse.item.answer")
    if known is not None:
        Checker(findings, {}).object({value_name(answer.type): answer.value}, "", known, Place("answer"))
    return findings.all()


class Checker:
    """Walks one resource. Properties are few and known, so the walk costs about as much as reading them."""

    def __init__(self, findings: Findings, resource: JsonObject) -> None:
        self._findings = findings
        self._contained = {string(each, "id") for each in objects(resource, "contained")} | {""}

    def object(self, node: JsonObject, kind: str, known: TypeSpec, place: Place) -> None:
        """Check one object against the specification of its type."""
        choices: dict[str, str] = {}
        for name, value in node.items():
            element = known.properties.get(name)
            if element is None:
                self._unlisted(node, name, value, known, place)
                continue
            if element.choice and choices.setdefault(element.name, name) != name:
                self._findings.error(place, f"More than one {element.name}[x]", code="structure", rule="choice")
            self._property(value, element, name, place)
        if not node:
            self._findings.error(place, "An object must not be empty", code="structure", rule="empty")
        for element in known.required:
            if not _present(node, element, choices):
                name = f"{element.name}[x]" if element.choice else element.name
                self._findings.error(place, f"{name} is missing", code="required", rule="cardinality")
        invariant = _INVARIANTS.get(kind)
        if invariant is not None:
            invariant(self._findings, node, place)
        if kind == "Reference" and (target := string(node, "reference")).startswith("#"):
            self._local_reference(target[1:], place)

    def _property(self, value: JsonValue, element: Element, name: str, place: Place) -> None:
        if not element.many:
            if isinstance(value, list):
                self._findings.error(place.child(name), "A list where one value is due", code="structure", rule="type")
                return
            self._value(value, element, place, name, None)
            return
        if not isinstance(value, list):
            text = f"{shape(value).capitalize()} where a list is due"
            self._findings.error(place.child(name), text, code="structure", rule="type")
            return
        if not value:
            self._findings.error(place.child(name), "A list must not be empty", code="structure", rule="empty")
        for index, each in enumerate(value):
            # In a list of primitives null stands where only the companion (_name) says something.
            if each is None and element.type in PRIMITIVES:
                continue
            self._value(each, element, place, name, index)

    def _value(self, value: JsonValue, element: Element, place: Place, name: str, index: int | None) -> None:
        kind = element.type
        if kind in PRIMITIVES:
            problem = problem_with(kind, value)
            if problem:
                text = f"Not a valid {kind}: {problem}"
                self._findings.error(place.child(name, index), text, code="invalid", rule="type")
            elif element.codes and value not in element.codes:
                text = f"The code {_code(value)} is none of {', '.join(element.codes)}"
                self._findings.error(place.child(name, index), text, code="code-invalid", rule="binding")
            return
        here = place.child(name, index)
        if not isinstance(value, dict):
            text = f"{shape(value).capitalize()} where an object ({kind}) is due"
            self._findings.error(here, text, code="structure", rule="type")
            return
        self._complex(value, kind, here)

    def _complex(self, value: JsonObject, kind: str, place: Place) -> None:
        if kind == "Resource":
            self._contained_resource(value, place)
        elif kind in OPAQUE:
            self._nothing_empty(value, place)
        elif (known := spec(kind)) is not None:
            self.object(value, kind, known, place)

    def _contained_resource(self, resource: JsonObject, place: Place) -> None:
        kind = string(resource, "resourceType")
        if kind not in RESOURCE_TYPES:
            self._findings.error(place, "A contained resource of no known type", code="structure", rule="type")
            return
        known = spec(kind)
        if known is not None:
            Checker(self._findings, resource).object(resource, kind, known, place)
        else:
            self._nothing_empty(resource, place)

    def _unlisted(self, node: JsonObject, name: str, value: JsonValue, known: TypeSpec, place: Place) -> None:
        element = known.properties.get(name[1:]) if name.startswith("_") else None
        if element is not None and element.type in PRIMITIVES:
            self._companion(node, name, value, element, place)
        elif name != "fhir_comments":
            text = f"Unrecognised property {_code(name)}"
            self._findings.error(place, text, code="structure", rule="unknown-property")

    def _companion(self, node: JsonObject, name: str, value: JsonValue, element: Element, place: Place) -> None:
        """Check ``_name``: the id and extensions of a primitive, or a list of them beside a list."""
        each = value if element.many and isinstance(value, list) else [value]
        if element.many is not isinstance(value, list):
            self._findings.error(place.child(name), "Not the shape of its primitive", code="structure", rule="type")
        if element.many and isinstance(plain := node.get(name[1:]), list) and len(plain) != len(each):
            self._findings.error(place.child(name), "Not as long as its primitive", code="structure", rule="type")
        for index, one in enumerate(each):
            here = place.child(name, index if element.many else None)
            known = spec("Extension")
            if isinstance(one, dict) and known is not None:
                extra = one.keys() - {"id", "extension", "fhir_comments"}
                if extra or not one:
                    self._findings.error(here, "Only id and extension may stand here", code="structure", rule="type")
                if "extension" in one:
                    self._property(one["extension"], known.properties["extension"], "extension", here)
            elif one is not None or not element.many:
                self._findings.error(here, f"{shape(one).capitalize()} where an object is due", code="structure")

    def _nothing_empty(self, value: JsonObject, place: Place) -> None:
        """Check what holds for any JSON in FHIR: no null (but in lists), nothing empty."""
        pending: list[tuple[JsonValue | JsonObject, Place, bool]] = [(value, place, False)]
        while pending:
            node, here, in_list = pending.pop()
            if node in ({}, [], "") or (node is None and not in_list):
                self._findings.error(here, "Empty or null", code="structure", rule="empty")
            elif isinstance(node, dict):
                pending.extend((child, here.child(name), False) for name, child in node.items())
            elif isinstance(node, list):
                pending.extend((child, here.child("", index), True) for index, child in enumerate(node))

    def _local_reference(self, target: str, place: Place) -> None:
        if target not in self._contained:
            text = "The reference to a contained resource leads nowhere"
            self._findings.error(place, text, code="invariant", rule="ref-1")


def _present(node: JsonObject, element: Element, choices: dict[str, str]) -> bool:
    if element.choice:
        return element.name in choices
    # A primitive without value may say why in an extension.
    return element.name in node or "_" + element.name in node


def _code(value: JsonValue) -> str:
    """Return a code or property name short enough to print."""
    return repr(value[:60]) if isinstance(value, str) else shape(value)


def _extension(findings: Findings, node: JsonObject, place: Place) -> None:
    has_value = any(name.startswith(("value", "_value")) for name in node)
    if has_value is ("extension" in node):
        text = "An extension holds either a value or extensions" + ("" if has_value else "; this one holds neither")
        findings.error(place, text, code="invariant", rule="ext-1")


def _attachment(findings: Findings, node: JsonObject, place: Place) -> None:
    content = node.get("data")
    if not isinstance(content, str):
        return
    if not node.get("contentType"):
        findings.error(place, "An attachment with data needs a contentType", code="invariant", rule="att-1")
    actual, stated = base64_size(content), node.get("size")
    if actual is None:
        return
    if isinstance(stated, int) and not isinstance(stated, bool) and stated != actual:
        text = f"The stated attachment size {stated} is not the actual size {actual}"
        findings.error(place, text, code="structure", rule="attachment-size")
    if (fingerprint := string(node, "hash")) and fingerprint != _sha1(content):
        findings.error(place, "The stated hash is not that of the data", code="structure", rule="attachment-hash")


def _sha1(content: str) -> str:
    # FHIR fixes SHA-1 here; it guards against mix-ups, not against forgers.
    return base64.b64encode(hashlib.sha1(base64.b64decode("".join(content.split()))).digest()).decode()


def _quantity(findings: Findings, node: JsonObject, place: Place) -> None:
    if "code" in node and "system" not in node:
        findings.error(place, "A unit code needs its system", code="invariant", rule="qty-3")


def _period(findings: Findings, node: JsonObject, place: Place) -> None:
    if compare_dates(string(node, "start"), string(node, "end")) == "after":
        findings.error(place, "The period ends before it starts", code="invariant", rule="per-1")


def _expression(findings: Findings, node: JsonObject, place: Place) -> None:
    if "expression" not in node and "reference" not in node:
        findings.error(place, "Neither expression nor reference", code="invariant", rule="exp-1")


def _contact(findings: Findings, node: JsonObject, place: Place) -> None:
    if "value" in node and "system" not in node:
        findings.error(place, "A contact value needs its system", code="invariant", rule="cpt-2")


def _narrative(findings: Findings, node: JsonObject, place: Place) -> None:
    if string(node, "div"):
        check_narrative(string(node, "div"), place.child("div"), findings)


_INVARIANTS: dict[str, Callable[[Findings, JsonObject, Place], None]] = {
    "Attachment": _attachment,
    "ContactPoint": _contact,
    "Expression": _expression,
    "Extension": _extension,
    "Narrative": _narrative,
    "Period": _period,
    "Quantity": _quantity,
}


def check_contained(resource: JsonObject, root: Place, findings: Findings) -> None:
    """Check what a resource contains."""
    mentioned = _mentions({name: value for name, value in resource.items() if name != "id"})
    for index, inner in enumerate(objects(resource, "contained")):
        place, name = root.child("contained", index), string(inner, "id")
        if inner.get("contained"):
            findings.error(place, "A contained resource must not contain others", code="invariant", rule="dom-2")
        if not name:
            findings.error(place, "A contained resource needs an id", code="required", rule="dom-3")
        elif not _is_used(inner, name, mentioned):
            findings.error(place, f"Nothing refers to the contained {name[:64]!r}", code="invariant", rule="dom-3")
        meta = as_object(inner.get("meta"))
        if meta.keys() & {"versionId", "lastUpdated"}:
            findings.error(place, "A contained resource has no version of its own", code="invariant", rule="dom-4")
        if "security" in meta:
            findings.error(place, "A contained resource has no security label", code="invariant", rule="dom-5")


def _is_used(inner: JsonObject, name: str, mentioned: set[str]) -> bool:
    """Say whether something refers to a contained resource, or it to its container.

    Contained code systems and value sets are used by their url too: value sets name systems and each other so.
    """
    by_url = string(inner, "resourceType") in {"CodeSystem", "ValueSet"} and string(inner, "url") in mentioned
    return "#" + name in mentioned or by_url or "#" in _mentions(dict(inner))


def _mentions(value: JsonValue) -> set[str]:
    """Return every string that may refer to something. A url that a resource gives itself is no mention of it."""
    found: set[str] = set()
    pending: list[tuple[str, JsonValue]] = [("", value)]
    while pending:
        name, node = pending.pop()
        if isinstance(node, dict):
            pending.extend(node.items())
        elif isinstance(node, list):
            pending.extend((name, child) for child in node)
        elif isinstance(node, str) and name != "url":
            found.add(node)
    return found


_XHTML = "http://www.w3.org/1999/xhtml"
_ACTIVE = frozenset(
    {"applet", "audio", "base", "body", "button", "embed", "form", "frame", "frameset", "head", "html", "iframe"}
    | {"input", "link", "meta", "noscript", "object", "option", "script", "select", "source", "style", "svg"}
    | {"textarea", "title", "video"}
)
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]*;")


def check_narrative(markup: str, place: Place, findings: Findings) -> None:
    """Check the ``div`` of a narrative (txt-1 and txt-2)."""
    problem = _problem(markup)
    if problem:
        findings.error(place, f"The narrative {problem}", code="invariant", rule="txt-1")


def _problem(markup: str) -> str:
    # Entities of its own can blow a document up; FHIR allows no document type at all.
    if "<!" in markup.replace("<!--", ""):
        return "must not have a document type"
    try:
        root = ElementTree.fromstring(_NAMED_ENTITY.sub(lambda match: html.unescape(match[0]), markup))
    except (ElementTree.ParseError, ValueError, RecursionError):
        return "is not well-formed XHTML"
    if root.tag != f"{{{_XHTML}}}div":
        return "is no <div> of XHTML"
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2].lower()
        if name in _ACTIVE or any(attribute.lower().startswith("on") for attribute in element.attrib):
            return f"must not hold <{name}> or scripts" if name in _ACTIVE else "must not hold scripts"
    if not "".join(root.itertext()).strip() and root.find(f".//{{{_XHTML}}}img") is None:
        return "says nothing"
    return ""
