"""Are contained resources as they must be: used, not nested, without a life of their own (dom-2 to dom-5). Pure."""

from __future__ import annotations

from bot.interview.answer import JsonValue
from bot.interview.fhir_json import JsonObject, as_object, objects, string
from bot.interview.outcome import Findings, Place


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
