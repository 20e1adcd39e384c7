"""Narratives: the XHTML that FHIR allows (txt-1, txt-2). Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from bot.interview.values.answer import JsonValue

_XHTML = "{http://www.w3.org/1999/xhtml}"
SAYS_NOTHING = "says nothing"
# By the expression of R4's invariant txt-1: what formats text, images and links; nothing that acts.
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
# What the words of txt-1 allow besides (HTML 4, chapters 7 to 11 and 15, images), and its expression forgets.
_MORE_ELEMENTS = _ELEMENTS | {"address", "area", "bdo", "center", "font", "kbd", "map", "s", "strike", "u"}
_MORE_NAMES = "background clear color face ismap nohref noshade size target usemap"
_MORE_ATTRIBUTES = _ATTRIBUTES.union(_MORE_NAMES.split())
# For machines and screen readers; they change nothing that is read.
_QUIET = re.compile(r"(?:data|aria)-|role$|\{")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]*;")
# Browsers read over white space and control characters in front of, and in, the name of a scheme.
_UNSEEN = re.compile(r"[\x00-\x20]")
_ACTIVE = re.compile(r"javascript|vbscript|data:(?!image/)", re.IGNORECASE)
_SCRIPT = re.compile(r"(?:javascript|vbscript|data:text/html)\b", re.IGNORECASE)


def narrative_problem(markup: JsonValue, words: Sequence[str] = (), *, strict: bool = True) -> str:
    """Say what is wrong with the ``div`` of a narrative; nothing if it is well.

    Args:
        markup: The value.
        words: What patients wrote: none of their markup may be in it.
        strict: Whether it must keep to the expression of txt-1, not only to its words: servers may evaluate it.
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
    elements, attributes = (_ELEMENTS, _ATTRIBUTES) if strict else (_MORE_ELEMENTS, _MORE_ATTRIBUTES)
    active = _ACTIVE if strict else _SCRIPT
    for element in root.iter():
        if not str(element.tag).startswith(_XHTML) or str(element.tag).removeprefix(_XHTML) not in elements:
            return "elements that FHIR does not allow in a narrative"
        for name, value in element.attrib.items():
            if name not in attributes and name != _XML_LANG and (strict or not _QUIET.match(name)):
                return "attributes that FHIR does not allow in a narrative"
            if name in {"href", "src", "cite", "longdesc"} and active.match(_UNSEEN.sub("", value)):
                return "scripts in a narrative"
    if any("<" in word and word in markup for word in words):
        return "markup of an answer in a narrative"
    if not "".join(root.itertext()).strip() and root.find(f".//{_XHTML}img") is None:
        return SAYS_NOTHING
    return ""
