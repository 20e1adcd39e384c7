"""Validate the structure of a resource: elements, cardinalities, references, contained resources. Pure.

What types there are, and their properties, is data (`values/type_specs.py`). Nothing is coerced: "true" is no boolean
and "2" no integer. Texts are never quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.interview.validate.datatypes import INVARIANTS, check_repeated
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, objects, string, value_name
from bot.interview.values.fhir_names import DEFINITIONS, INSTANCE_TYPES
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.primitives import PRIMITIVES, has_bad_characters, problem_with, shape
from bot.interview.values.references import Target, read_target
from bot.interview.values.type_specs import COMPANIES, Element, TypeSpec, has, spec


def check_structure(resource: JsonObject, findings: Findings) -> Place:
    """Check a Questionnaire or QuestionnaireResponse as JSON of its type; return where it stands."""
    place = Place(string(resource, "resourceType"))
    known = spec(place.name)
    if known is not None:
        Checker(findings, contained_types(resource)).object(resource, place.name, known, place)
    if "contained" in resource:
        check_contained(resource, place, findings)
    return place


def contained_types(resource: JsonObject) -> dict[str, str]:
    """Return the types of the contained resources by their ids: the first of each id; without a "#" before it.

    One resource where a list of them is due has been said to be wrong; it is there all the same.
    """
    found = resource.get("contained")
    inside = [found] if isinstance(found, dict) else objects(resource, "contained")
    return {contained_id(each): string(each, "resourceType") for each in reversed(inside)}


def contained_id(resource: JsonObject) -> str:
    """Return the id by which a contained resource is referred to."""
    return string(resource, "id").removeprefix("#")


def contained_at(resource: JsonObject, root: Place, kind: str) -> Iterator[tuple[Place, JsonObject]]:
    """Yield the contained resources of a type, each with its place."""
    found = resource.get("contained")
    for index, each in enumerate(found if isinstance(found, list) else ()):
        if isinstance(each, dict) and each.get("resourceType") == kind:
            yield root.child("contained", index), each


def check_answer(answer: Answer) -> list[Finding]:
    """Return what is wrong with the structure of one answer, as it stands in a response."""
    findings, known = Findings(), spec("QuestionnaireResponse.item.answer")
    if known is not None:
        Checker(findings, {}).object({value_name(answer.type): answer.value}, "", known, Place("answer"))
    return findings.all()


class Checker:
    """Walks one resource. Properties are few and known, so the walk costs about as much as reading them."""

    def __init__(self, findings: Findings, contained: Mapping[str, str]) -> None:
        """Take the types of the contained resources by their ids."""
        self._findings = findings
        self._contained = contained
        self._ids: set[str] = set()

    def object(self, node: JsonObject, kind: str, known: TypeSpec, place: Place) -> None:
        """Check one object against the specification of its type."""
        if not node:
            self._findings.error(place, "An object must not be empty", code="structure", rule="empty")
            return
        choices: dict[str, str] = {}
        for name, value in node.items():
            element = known.properties.get(name)
            if element is None:
                self._unlisted(node, name, value, known, place)
                continue
            if element.choice and choices.setdefault(element.name, name) != name:
                self._findings.error(place, f"More than one {element.name}[x]", code="structure", rule="choice")
            self._property(value, element, place)
            if element.many and isinstance(value, list) and None in value and element.type in PRIMITIVES:
                self._nulls(value, node.get("_" + name), place, element)
        for element in known.required:
            name = f"{element.name}[x]" if element.choice else element.name
            # A primitive without value may say why in an extension; a value of a wrong type has been said to be wrong.
            if element.name not in node and not has(node, name):
                self._findings.error(place, f"{name} is missing", code="required", rule="cardinality")
        if "extension" in node:
            check_repeated(self._findings, node, place)
        for company in COMPANIES.get(kind, ()):
            if problem := company.broken_by(node):
                self._findings.error(place, problem, code="invariant", rule=company.rule)
        invariant = INVARIANTS.get(kind)
        if invariant is not None:
            invariant(self._findings, node, place)
        if "id" in node and "resourceType" not in node:
            self._element_id(node, place)

    def _property(self, value: JsonValue, element: Element, place: Place) -> None:
        if not element.many:
            if isinstance(value, list):
                text = "A list where one value is due"
                self._findings.error(place.child(element.step), text, code="structure", rule="type")
                return
            self._value(value, element, place, None)
            return
        if not isinstance(value, list):
            text = f"{shape(value).capitalize()} where a list is due"
            self._findings.error(place.child(element.step), text, code="structure", rule="type")
            return
        if not value:
            self._findings.error(place.child(element.step), "A list must not be empty", code="structure", rule="empty")
        for index, each in enumerate(value):
            if each is None and element.type in PRIMITIVES:
                continue
            self._value(each, element, place, index)

    def _nulls(self, values: list[JsonValue], beside: JsonValue, place: Place, element: Element) -> None:
        """Check that null stands in a list of primitives only where the companion (_name) says something."""
        for index, value in enumerate(values):
            says = isinstance(beside, list) and index < len(beside) and beside[index]
            if value is None and not says:
                self._findings.error(place.child(element.step, index), "Null", code="structure", rule="empty")

    def _value(self, value: JsonValue, element: Element, place: Place, index: int | None) -> None:
        kind = element.type
        if kind in PRIMITIVES:
            problem = problem_with(kind, value)
            if problem:
                text = f"Not a valid {kind}: {problem}"
                self._findings.error(place.child(element.step, index), text, code="invalid", rule="type")
            elif element.codes and value not in element.codes:
                text = f"The code {_code(value)} is none of {', '.join(element.codes)}"
                self._findings.error(place.child(element.step, index), text, code="code-invalid", rule="binding")
            elif element.grammar is not None and not element.grammar.fullmatch(str(value)):
                text = f"The code {_code(value)} is no {_GRAMMAR_NAMES.get(element.name, element.name)}"
                self._findings.error(place.child(element.step, index), text, code="code-invalid", rule="binding")
            elif kind == "canonical" and (problem := self._leads_nowhere(str(value), element)):
                self._findings.error(place.child(element.step, index), problem, code="not-found", rule="ref-1")
            elif kind == "canonical" and ":" not in str(value) and not str(value).startswith("#"):
                text = "A canonical address is absolute, or that of a contained resource"
                self._findings.warning(place.child(element.step, index), text, code="invalid", rule="canonical")
            return
        here = place.child(element.step, index)
        if not isinstance(value, dict):
            text = f"{shape(value).capitalize()} where an object ({kind}) is due"
            self._findings.error(here, text, code="structure", rule="type")
            return
        if kind == "Resource":
            self._contained_resource(value, here)
        elif (known := spec(kind)) is not None:
            self.object(value, kind, known, here)
            if kind == "Reference":
                self._reference(value, element, here)

    def _leads_nowhere(self, address: str, element: Element) -> str:
        """Say that a canonical of something contained leads nowhere; where more is known of it, that is said there."""
        if not address.startswith("#") or len(address) == 1 or address[1:] in self._contained:
            return ""
        elsewhere = element.name in {"answerValueSet", "questionnaire"}
        return "" if elsewhere else f"Nothing contained has the address {_code(address)}"

    def _contained_resource(self, resource: JsonObject, place: Place) -> None:
        kind = string(resource, "resourceType")
        if kind not in INSTANCE_TYPES:
            self._findings.error(place, "A contained resource of no known type", code="structure", rule="type")
            return
        known = spec(kind)
        if known is not None:
            # What is contained together sees each other.
            Checker(self._findings, self._contained).object(resource, kind, known, place)
        else:
            self._nothing_empty(resource, place)
            if problem := problem_with("id", resource.get("id", "")) if "id" in resource else "":
                self._findings.error(place.child("id"), f"Not a valid id: {problem}", code="invalid", rule="type")

    def _element_id(self, node: JsonObject, place: Place) -> None:
        name = string(node, "id")
        if " " in name or "\n" in name or "\t" in name:
            self._findings.error(place.child("id"), "The id of an element has no spaces", code="invalid", rule="id")
        if name and name in self._ids:
            text = "Another element of this resource has the same id"
            self._findings.warning(place.child("id"), text, code="invalid", rule="id")
        self._ids.add(name)

    def _reference(self, node: JsonObject, element: Element, place: Place) -> None:
        """Check what a Reference says: in its address, by its type, and where its element allows only some types."""
        if node and not node.keys() & {"reference", "identifier", "display", "extension", "_reference"}:
            text = "A reference needs an address, an identifier or a text"
            self._findings.error(place, text, code="required", rule="reference-empty")
        address, named = string(node, "reference"), string(node, "type").removeprefix(DEFINITIONS)
        target = read_target(address) if address else Target()
        kind = target.type
        if target.problem:
            text = f"Not a valid reference: {target.problem}"
            self._findings.error(place.child("reference"), text, code="invalid", rule=target.rule)
            return
        if address.startswith("#"):
            if len(address) > 1 and address[1:] not in self._contained:
                text = "The reference to a contained resource leads nowhere"
                self._findings.error(place, text, code="invariant", rule="ref-1")
                return
            kind = self._contained.get(address[1:], "")
        if target.conditional:
            text = "Only the entries of a transaction refer to a resource by a search"
            self._findings.warning(place.child("reference"), text, code="business-rule", rule="reference-form")
        if named and ":" not in named and named not in INSTANCE_TYPES:
            text = f"The type {_code(named)} is no resource type of R4"
            self._findings.error(place.child("type"), text, code="code-invalid", rule="reference-type")
        elif named and kind and named != kind:
            text = f"The type says {_code(named)}, but the reference leads to {_code(kind)}"
            self._findings.error(place.child("type"), text, code="invalid", rule="reference-type")
        elif element.targets and (kind or named) in INSTANCE_TYPES and (kind or named) not in element.targets:
            text = f"A reference to {kind or named}, but only {', '.join(element.targets)} is allowed"
            self._findings.error(place, text, code="invalid", rule="reference-target")

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
            return
        if element.many and not any(each):
            text = "Only null beside a list: then it is left out"
            self._findings.warning(place.child(name), text, code="structure", rule="empty")
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
                    check_repeated(self._findings, one, here)
                    self._property(one["extension"], known.properties["extension"], here)
                if "id" in one:
                    self._element_id(one, here)
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
                pending.extend((child, Place(here.name, here.parent, index), True) for index, child in enumerate(node))
            elif isinstance(node, str) and has_bad_characters(node):
                self._findings.error(here, "Characters that no text of FHIR may have", code="invalid", rule="type")


_GRAMMAR_NAMES = {"contentType": "MIME type"}


def _code(value: JsonValue) -> str:
    """Return a code or property name short enough to print."""
    return repr(value[:60]) if isinstance(value, str) else shape(value)


def check_contained(resource: JsonObject, root: Place, findings: Findings) -> None:
    """Check what a resource contains."""
    mentioned = _mentions({name: value for name, value in resource.items() if name != "id"})
    seen: set[str] = set()
    # Whatever is wrong with what should refer to a resource, or with the resource: one finding is enough.
    lost = any(each.rule in _LOST or each.path.endswith(_LEADING) for each in findings.all())
    lost = lost or _asks_for_nothing(resource)
    for index, inner in enumerate(objects(resource, "contained")):
        place, name = root.child("contained", index), contained_id(inner)
        if inner.get("contained"):
            findings.error(place, "A contained resource must not contain others", code="invariant", rule="dom-2")
        if not name:
            findings.error(place, "A contained resource needs an id", code="required", rule="dom-3")
        elif not lost and string(inner, "resourceType") in INSTANCE_TYPES and not _is_used(inner, name, mentioned):
            findings.error(place, f"Nothing refers to the contained {name[:64]!r}", code="invariant", rule="dom-3")
        if name and name in seen:
            text = f"Another contained resource has the id {name[:64]!r}"
            findings.error(place.child("id"), text, code="invalid", rule="contained-id")
        seen.add(name)
        meta = as_object(inner.get("meta"))
        if meta.keys() & {"versionId", "lastUpdated"}:
            findings.error(place, "A contained resource has no version of its own", code="invariant", rule="dom-4")
        if "security" in meta:
            findings.error(place, "A contained resource has no security label", code="invariant", rule="dom-5")


_LEADING = ("(Reference)", ".reference", ".answerValueSet")
_LOST = frozenset({"ref-1", "reference-form", "reference-type", "vsd-1", "vsd-2"})


def _asks_for_nothing(resource: JsonObject) -> bool:
    """Say whether an item takes its options from a contained value set that is not there, or cannot be read at all."""
    sets = {"#" + name for name, kind in contained_types(resource).items() if kind == "ValueSet"}
    pending, wanted = [resource, *objects(resource, "contained")], set[str]()
    while pending:
        node = pending.pop()
        if not isinstance(node.get("item", []), list):
            return True
        wanted.add(string(node, "answerValueSet"))
        pending += objects(node, "item")
    return any(each.startswith("#") for each in wanted - sets)


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
