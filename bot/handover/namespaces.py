"""Put what we make into the namespaces of a site: systems of identifiers and codes, URLs of extensions. Pure.

Everything is made, compared and searched for in our own namespaces; only what leaves is renamed.
"""

from __future__ import annotations

import re

from bot.catalog.look import OUR_CANONICAL, OUR_IDENTIFIERS, OURS, Namespaces
from bot.interview.values.answer import JsonValue

# Where names stand; what a patient wrote never does.
_NAMED = frozenset({"system", "url", "uri", "ifNoneExist"})
# What we define ourselves. The codes of a form are those of the form, whoever sends them.
_OWN = re.compile(
    re.escape(OUR_CANONICAL)
    + r"(?=/(?:CodeSystem/(?:staff-task|decision-reason|message|pairs)"
    + r"|StructureDefinition/(?:filled-in-by|own-words))(?:[/|]|$))"
)
_IDENTIFIERS = re.compile(re.escape(OUR_IDENTIFIERS) + r"(?=/)")


def in_namespaces(value: JsonValue, namespaces: Namespaces) -> JsonValue:
    """Return a resource, or part of one, with names of the site."""
    if namespaces == OURS:
        return value
    if isinstance(value, list):
        return [in_namespaces(each, namespaces) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _renamed(each, namespaces)
        if name in _NAMED and isinstance(each, str)
        else in_namespaces(each, namespaces)
        for name, each in value.items()
    }


def _renamed(text: str, namespaces: Namespaces) -> str:
    found = _IDENTIFIERS.sub(lambda _: namespaces.identifiers, text, count=1)
    return _OWN.sub(lambda _: namespaces.canonical, found, count=1)
