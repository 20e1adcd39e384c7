"""Narratives: the XHTML that FHIR allows (txt-1, txt-2), and no markup of a patient's. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from bot.interview.values.answer import JsonValue

_XHTML = "{http://www.w3.org/1999/xhtml}"
# By R4's invariant txt-1: what formats text, images and links; nothing that acts.
_TAGS = (
    "a abbr acronym b big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img "
    "li ol p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var"
)
_ELEMENTS = frozenset(_TAGS.split())
_NAMES = (
    "abbr accesskey align alt axis bgcolor border cellhalign cellpadding cellspacing cellvalign char charoff charset "
    "cite class colspan compact coords dir frame headers height href hreflang hspace id lang longdesc name nowrap rel "
    "rev rowspan rules scope shape span src start style summary tabindex title type valign value vspace width"
)
_ATTRIBUTES = frozenset(_NAMES.split())
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]*;")
_ACTIVE = re.compile(r"\s*(?:javascript|vbscript|data:(?!image/))", re.IGNORECASE)


def narrative_problem(markup: JsonValue, words: Sequence[str] = ()) -> str:
    """Say what is wrong with the ``div`` of a narrative; nothing if it is well.

    Args:
        markup: The value.
        words: What patients wrote: none of their markup may be in it.
    """
    if not isinstance(markup, str):
        return "no text"
    # Entities of its own can blow a document up; FHIR allows no document type, and instructions are no text.
    if "<!" in markup.replace("<!--", "") or "<?" in markup:
        return "a document type or an instruction in a narrative"
    try:
        root = ElementTree.fromstring(_NAMED_ENTITY.sub(lambda match: html.unescape(match[0]), markup))
    except (ElementTree.ParseError, ValueError, RecursionError):
        return "not well-formed XHTML"
    if root.tag != f"{_XHTML}div":
        return "not a <div> of XHTML"
    for element in root.iter():
        if not str(element.tag).startswith(_XHTML) or str(element.tag).removeprefix(_XHTML) not in _ELEMENTS:
            return "elements that FHIR does not allow in a narrative"
        for name, value in element.attrib.items():
            if name not in _ATTRIBUTES and name != _XML_LANG:
                return "attributes that FHIR does not allow in a narrative"
            if name in {"href", "src", "cite", "longdesc"} and _ACTIVE.match(value):
                return "scripts in a narrative"
    if any("<" in word and word in markup for word in words):
        return "markup of an answer in a narrative"
    if not "".join(root.itertext()).strip() and root.find(f".//{_XHTML}img") is None:
        return "says nothing"
    return ""
