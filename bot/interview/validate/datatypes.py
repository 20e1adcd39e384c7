"""Invariants of R4's data types: what JSON types and cardinalities cannot say, narrative among them. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, objects, string, value_of
from bot.interview.values.fhir_names import EXTENSION_PLACES, EXTENSION_TYPES
from bot.interview.values.finding import Findings, Place
from bot.interview.values.narratives import SAYS_NOTHING, narrative_problem
from bot.interview.values.primitives import (
    base64_size,
    compare_dates,
    has_bad_characters,
    problem_with,
    relate_quantities,
)
from bot.interview.values.references import uri_problem
from bot.interview.values.type_specs import EXTENSION_CODES, EXTENSION_PARTS, Element, TypeSpec
from bot.interview.values.units import UCUM, known


def _extension(findings: Findings, node: JsonObject, place: Place) -> None:
    if place.name == "modifierExtension":
        text = "A modifier extension that is not known here may change the meaning of what it stands in"
        findings.warning(place, text, code="extension", rule="modifier-extension")
    has_value = any(name.startswith(("value", "_value")) for name in node)
    if has_value is ("extension" in node):
        text = "An extension holds either a value or extensions" + ("" if has_value else "; this one holds neither")
        findings.error(place, text, code="invariant", rule="ext-1")
    url, value = string(node, "url"), value_of(node)
    allowed = [kind for kind in EXTENSION_TYPES.get(url, ()) if kind != "*"]
    if allowed and value is not None and value.type not in allowed:
        text = f"The extension {_short(url)} holds {' or '.join(allowed)}, not {value.type[:60]}"
        findings.error(place, text, code="structure", rule="extension-type")
    elif value is not None and (element := EXTENSION_CODES.get(url)) is not None:
        _bound(findings, value, element, place)
    if (made := EXTENSION_PARTS.get(url)) is not None and value is None:
        _parts(findings, node, made, place)
    # Inside an extension, its parts have names; an extension itself has an address.
    nested = place.parent is not None and place.parent.name in {"extension", "modifierExtension"}
    if url and ":" not in url and not nested:
        findings.error(place, "The url of an extension must be absolute", code="invalid", rule="extension-url")
    if url in EXTENSION_PLACES:
        _misplaced(findings, url, place)


def _short(url: str) -> str:
    return url.rpartition("/")[2]


def _misplaced(findings: Findings, url: str, place: Place) -> None:
    """Say that an extension stands at an element that its definition (the context) does not name.

    Of what is contained it is not known here which resource it is part of.
    """
    around, holder = [], place.parent
    while holder is not None:
        around.append(holder.name)
        holder = holder.parent
    wanted = EXTENSION_PLACES[url]
    plain = bool(around) and "contained" not in around and around[0] in {"item", "answer", "answerOption", around[-1]}
    if plain and (around[0] != wanted or around[-1] == "QuestionnaireResponse"):
        text = f"The extension {_short(url)} belongs to {wanted} of a Questionnaire and says nothing here"
        findings.warning(place, text, code="structure", rule="extension-place")


def check_repeated(findings: Findings, node: JsonObject, place: Place) -> None:
    """Warn of an extension that an element has more than once although its definition allows one."""
    given = node.get("extension")
    seen: set[str] = set()
    for index, each in enumerate(given if isinstance(given, list) else ()):
        url = string(each, "url") if isinstance(each, dict) else ""
        if url in seen and "*" not in EXTENSION_TYPES.get(url, ("*",)):
            text = f"The extension {_short(url)} is there more than once, but its definition allows one"
            findings.warning(place.child("extension", index), text, code="structure", rule="extension-twice")
        seen.add(url)


def _bound(findings: Findings, value: Answer, element: Element, place: Place) -> None:
    """Check the code that an extension, or a part of one, holds against its binding."""
    code, grammar = value.value, element.grammar
    if not isinstance(code, str) or problem_with("code", code):
        return  # which has been said
    if (element.codes and code not in element.codes) or (grammar is not None and not grammar.fullmatch(code)):
        few = f": {', '.join(element.codes)}" if 0 < len(element.codes) < 20 else ""
        text = f"The code {code[:60]!r} is none that may stand here{few}"
        findings.error(place.child("value.ofType(code)"), text, code="code-invalid", rule="binding")


def _parts(findings: Findings, node: JsonObject, made: TypeSpec, place: Place) -> None:
    """Check an extension that is made of parts: those that must be there, their types and codes."""
    there: list[str] = []
    given = node.get("extension")
    for index, part in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(part, dict):
            continue
        name, value, here = string(part, "url"), value_of(part), place.child("extension", index)
        element = made.properties.get(name)
        if element is None:
            if name and ":" not in name:
                text = f"The extension has no part {name[:60]!r}"
                findings.warning(here, text, code="structure", rule="extension-part")
            continue
        if name in there and not element.many:
            findings.error(here, f"The part {name!r} is there twice", code="structure", rule="cardinality")
        there.append(name)
        kinds = element.type.split("|")
        if value is not None and value.type not in kinds:
            text = f"The part {name!r} holds {kinds[0]}, not {value.type[:60]}"
            findings.error(here, text, code="structure", rule="extension-type")
        elif value is not None:
            _bound(findings, value, element, here)
    for element in made.required:
        if element.name not in there:
            text = f"The part {element.name!r} of the extension is missing"
            findings.error(place, text, code="required", rule="cardinality")


def _attachment(findings: Findings, node: JsonObject, place: Place) -> None:
    content = node.get("data")
    if not isinstance(content, str):
        return
    if not node.get("contentType"):
        findings.error(place, "An attachment with data needs a contentType", code="invariant", rule="att-1")
    actual, stated = base64_size(content), node.get("size")
    if actual is None:
        return
    if isinstance(stated, int) and not isinstance(stated, bool) and 0 <= stated != actual:
        text = f"The stated attachment size {stated} is not the actual size {actual}"
        findings.error(place, text, code="structure", rule="attachment-size")
    fingerprint = string(node, "hash")
    if fingerprint and base64_size(fingerprint) is not None and fingerprint != _sha1(content):
        findings.error(place, "The stated hash is not that of the data", code="structure", rule="attachment-hash")


def _sha1(content: str) -> str:
    # FHIR fixes SHA-1 here; it guards against mix-ups, not against forgers.
    return base64.b64encode(hashlib.sha1(base64.b64decode("".join(content.split()))).digest()).decode()


def _quantity(findings: Findings, node: JsonObject, place: Place) -> None:
    if "code" in node and "system" not in node:
        findings.error(place, "A unit code needs its system", code="invariant", rule="qty-3")
    if node.get("system") == UCUM:
        _coded_unit(findings, node, place)


def _coding(findings: Findings, node: JsonObject, place: Place) -> None:
    system = string(node, "system")
    if system == UCUM:
        _coded_unit(findings, node, place)
    # What is chosen and offered is looked at by the rules for answers.
    elif system and ":" not in system and "(" not in place.name and not problem_with("uri", system):
        text = "The system of a code should be an absolute URI"
        findings.warning(place.child("system"), text, code="code-invalid", rule="coding-system")


def _coded_unit(findings: Findings, node: JsonObject, place: Place) -> None:
    code = string(node, "code")
    if code and not known(code):
        text = f"UCUM has no unit {code[:40]!r}"
        findings.warning(place.child("code"), text, code="code-invalid", rule="ucum")


def _include(findings: Findings, node: JsonObject, place: Place) -> None:
    has = node.keys()
    if has & {"concept", "filter"} and "system" not in has:
        findings.error(place, "Codes and filters need their system", code="invariant", rule="vsd-2")
    elif not has & {"system", "valueSet"}:
        findings.error(place, "What is included needs a system or value sets", code="invariant", rule="vsd-1")
    if has >= {"concept", "filter"}:
        findings.error(place, "Codes and filters exclude each other", code="invariant", rule="vsd-3")


def _code_system(findings: Findings, node: JsonObject, place: Place) -> None:
    pending, seen = objects(node, "concept"), set[str]()
    while pending:
        concept = pending.pop()
        code = string(concept, "code")
        if code and code in seen:
            text = f"The code {code[:60]!r} is there twice"
            findings.error(place, text, code="invariant", rule="csd-1")
        seen.add(code)
        pending.extend(objects(concept, "concept"))


_VERIFICATION = "http://terminology.hl7.org/CodeSystem/"
_OVER = ("inactive", "resolved", "remission")


def _codes_of(node: JsonObject, name: str, system: str) -> set[str]:
    """Return the codes that a CodeableConcept has of one of HL7's code systems."""
    codings = objects(as_object(node.get(name)), "coding")
    return {string(each, "code") for each in codings if string(each, "system") == _VERIFICATION + system}


def _allergy(findings: Findings, node: JsonObject, place: Place) -> None:
    mistaken = "entered-in-error" in _codes_of(node, "verificationStatus", "allergyintolerance-verification")
    if mistaken is ("clinicalStatus" in node):
        text = "A clinicalStatus is there unless the allergy was entered in error"
        findings.error(place, text, code="invariant", rule="ait-2" if mistaken else "ait-1")


def _condition(findings: Findings, node: JsonObject, place: Place) -> None:
    over = _codes_of(node, "clinicalStatus", "condition-clinical").intersection(_OVER)
    if any(name.startswith("abatement") for name in node) and not over:
        text = f"A condition that has abated is {' or '.join(_OVER)}"
        findings.error(place, text, code="invariant", rule="con-4")
    mistaken = "entered-in-error" in _codes_of(node, "verificationStatus", "condition-ver-status")
    if mistaken and "clinicalStatus" in node:
        text = "A condition that was entered in error has no clinicalStatus"
        findings.error(place, text, code="invariant", rule="con-5")


def _organization(findings: Findings, node: JsonObject, place: Place) -> None:
    for rule, name in (("org-2", "address"), ("org-3", "telecom")):
        if any(each.get("use") == "home" for each in objects(node, name)):
            text = f"The {name} of an organization is never of use 'home'"
            findings.error(place, text, code="invariant", rule=rule)


def _measure(rule: str) -> Callable[[Findings, JsonObject, Place], None]:
    """Return the check of an Age, Distance or Duration: a value needs its unit as a code of UCUM."""

    def check(findings: Findings, node: JsonObject, place: Place) -> None:
        _quantity(findings, node, place)
        if ("value" in node and "code" not in node) or string(node, "system") not in {"", UCUM}:
            findings.error(place, "The value needs its unit as a code of UCUM", code="invariant", rule=rule)

    return check


def _range(findings: Findings, node: JsonObject, place: Place) -> None:
    low, high = (Answer("quantity", dict(as_object(node.get(name)))) for name in ("low", "high"))
    if relate_quantities(low, high) == "after":
        findings.error(place, "The range ends before it starts", code="invariant", rule="rng-2")


def _identifier(findings: Findings, node: JsonObject, place: Place) -> None:
    system, value = string(node, "system"), string(node, "value")
    if system and ":" not in system:
        text = "The system of an identifier must be an absolute URI"
        findings.error(place.child("system"), text, code="code-invalid", rule="identifier-system")
    if system == "urn:ietf:rfc:3986" and value and (":" not in value or uri_problem(value)):
        text = "With this system the value must be a URI"
        findings.error(place.child("value"), text, code="code-invalid", rule="identifier-value")


def _period(findings: Findings, node: JsonObject, place: Place) -> None:
    if compare_dates(string(node, "start"), string(node, "end")) == "after":
        findings.error(place, "The period ends before it starts", code="invariant", rule="per-1")


def _narrative(findings: Findings, node: JsonObject, place: Place) -> None:
    markup = string(node, "div")
    if markup and not has_bad_characters(markup) and (problem := narrative_problem(markup, strict=False)):
        rule = "txt-2" if problem == SAYS_NOTHING else "txt-1"
        findings.error(place.child("div"), f"The narrative: {problem}", code="invariant", rule=rule)


INVARIANTS: Mapping[str, Callable[[Findings, JsonObject, Place], None]] = MappingProxyType(
    {
        "Age": _measure("age-1"),
        "AllergyIntolerance": _allergy,
        "Attachment": _attachment,
        "CodeSystem": _code_system,
        "Coding": _coding,
        "Condition": _condition,
        "Distance": _measure("dis-1"),
        "Duration": _measure("drt-1"),
        "Extension": _extension,
        "Identifier": _identifier,
        "Narrative": _narrative,
        "Organization": _organization,
        "Period": _period,
        "Quantity": _quantity,
        "Range": _range,
        "ValueSetComposeInclude": _include,
    }
)
