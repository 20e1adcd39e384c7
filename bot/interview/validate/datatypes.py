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
from bot.interview.values.fhir_json import JsonObject, as_object, string, value_of
from bot.interview.values.fhir_names import EXTENSION_TYPES
from bot.interview.values.finding import Findings, Place
from bot.interview.values.primitives import base64_size, compare_dates, has_bad_characters, relate_quantities
from bot.interview.values.references import uri_problem
from bot.interview.values.units import UCUM


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
    # Inside an extension, its parts have names; an extension itself has an address.
    nested = place.parent is not None and place.parent.name in {"extension", "modifierExtension"}
    if url and ":" not in url and not nested:
        findings.error(place, "The url of an extension must be absolute", code="invalid", rule="extension-url")


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
        "ContactPoint": _contact,
        "Distance": _measure("dis-1"),
        "Duration": _measure("drt-1"),
        "Expression": _expression,
        "Extension": _extension,
        "Identifier": _identifier,
        "Narrative": _narrative,
        "Period": _period,
        "Quantity": _quantity,
        "Range": _range,
        "Ratio": _ratio,
    }
)


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
