"""Is the narrative of a resource the XHTML that FHIR allows: well-formed, not empty, nothing active. Pure."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

from bot.interview.outcome import Findings, Place

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
