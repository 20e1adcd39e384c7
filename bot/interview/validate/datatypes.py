"""Invariants of R4's data types: what JSON types and cardinalities cannot say, narrative among them. Pure."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, objects, string, value_of
from bot.interview.values.fhir_names import EXTENSION_TYPES
from bot.interview.values.finding import Findings, Place
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
    allowed = EXTENSION_TYPES.get(url)
    if allowed is not None and value is not None and value.type not in allowed:
        text = f"The extension {url.rpartition('/')[2]} holds {' or '.join(allowed)}, not {value.type[:60]}"
        findings.error(place, text, code="structure", rule="extension-type")
    elif value is not None and (element := EXTENSION_CODES.get(url)) is not None:
        _bound(findings, value, element, place)
    if (made := EXTENSION_PARTS.get(url)) is not None and value is None:
        _parts(findings, node, made, place)
    # Inside an extension, its parts have names; an extension itself has an address.
    nested = place.parent is not None and place.parent.name in {"extension", "modifierExtension"}
    if url and ":" not in url and not nested:
        findings.error(place, "The url of an extension must be absolute", code="invalid", rule="extension-url")


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
    _coded_unit(findings, node, place)


def _coded_unit(findings: Findings, node: JsonObject, place: Place) -> None:
    code = string(node, "code")
    if code and string(node, "system") == UCUM and not known(code):
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


def _patient_contact(findings: Findings, node: JsonObject, place: Place) -> None:
    if not node.keys() & {"name", "telecom", "address", "organization"}:
        text = "A contact needs a name, a way to reach it, or an organization"
        findings.error(place, text, code="invariant", rule="pat-1")


def _organization(findings: Findings, node: JsonObject, place: Place) -> None:
    if not node.keys() & {"name", "identifier"}:
        findings.error(place, "An organization needs a name or an identifier", code="invariant", rule="org-1")
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


def _ratio(findings: Findings, node: JsonObject, place: Place) -> None:
    if ("numerator" in node) is not ("denominator" in node):
        findings.error(place, "A ratio needs both its parts", code="invariant", rule="rat-1")


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


def _expression(findings: Findings, node: JsonObject, place: Place) -> None:
    if "expression" not in node and "reference" not in node:
        findings.error(place, "Neither expression nor reference", code="invariant", rule="exp-1")


def _contact(findings: Findings, node: JsonObject, place: Place) -> None:
    if "value" in node and "system" not in node:
        findings.error(place, "A contact value needs its system", code="invariant", rule="cpt-2")


def _narrative(findings: Findings, node: JsonObject, place: Place) -> None:
    if (markup := string(node, "div")) and not has_bad_characters(markup):
        check_narrative(markup, place.child("div"), findings)


INVARIANTS: Mapping[str, Callable[[Findings, JsonObject, Place], None]] = MappingProxyType(
    {
        "Age": _measure("age-1"),
        "Attachment": _attachment,
        "CodeSystem": _code_system,
        "Coding": _coded_unit,
        "ContactPoint": _contact,
        "Distance": _measure("dis-1"),
        "Duration": _measure("drt-1"),
        "Expression": _expression,
        "Extension": _extension,
        "Identifier": _identifier,
        "Narrative": _narrative,
        "Organization": _organization,
        "PatientContact": _patient_contact,
        "Period": _period,
        "Quantity": _quantity,
        "Range": _range,
        "Ratio": _ratio,
        "ValueSetComposeInclude": _include,
    }
)


_XHTML = "http://www.w3.org/1999/xhtml"
_ACTIVE = frozenset(
    {"applet", "audio", "base", "body", "button", "embed", "form", "frame", "frameset", "head", "html", "iframe"}
    | {"input", "link", "meta", "noscript", "object", "option", "script", "select", "source", "style", "svg"}
    | {"textarea", "title", "video"}
)
_SAYS_NOTHING = "says nothing"
# Browsers read over white space and control characters in front of, and in, the name of a scheme.
_SCRIPT = re.compile(r"(?:javascript|vbscript):", re.IGNORECASE)
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]*;")


def check_narrative(markup: str, place: Place, findings: Findings) -> None:
    """Check the ``div`` of a narrative (txt-1 and txt-2)."""
    problem = _problem(markup)
    if problem:
        rule = "txt-2" if problem == _SAYS_NOTHING else "txt-1"
        findings.error(place, f"The narrative {problem}", code="invariant", rule=rule)


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
        written = str(element.tag).rpartition("}")[2]
        name = written.lower()
        if name != written:
            return "has elements in capital letters: XHTML knows only small ones"
        if any(_SCRIPT.match(re.sub(r"[\x00-\x20]", "", value)) for value in element.attrib.values()):
            return "must not hold scripts"
        if name in _ACTIVE or any(attribute.lower().startswith("on") for attribute in element.attrib):
            return f"must not hold <{name}> or scripts" if name in _ACTIVE else "must not hold scripts"
    if not "".join(root.itertext()).strip() and root.find(f".//{{{_XHTML}}}img") is None:
        return _SAYS_NOTHING
    return ""
