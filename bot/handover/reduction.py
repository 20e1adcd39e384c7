"""A transaction without the requests that a form words itself, for a server that refused the whole. Pure.

Forms may patch, update what is known by an id, or set conditions. Whether that succeeds depends on what the server
holds and can, which nobody knows before; the response of the patient must not wait for it.
"""

from __future__ import annotations

from bot.handover.subject import Json, bare, references_in
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, dump, objects, parse, string


def reduced(bundle: str) -> tuple[str, int] | None:
    """Return a Bundle without the form's own requests and what refers to them, and how many entries that are.

    Returns:
        None when there is nothing to leave out.
    """
    whole = as_object(parse(bundle).value)
    everything = objects(whole, "entry")
    kept = [entry for entry in everything if _is_ours(entry)]
    before = -1
    while before != len(kept):
        before = len(kept)
        there = {string(entry, "fullUrl") for entry in kept}
        gone = {string(entry, "fullUrl") for entry in everything} - there - {""}
        kept = [
            entry
            for entry in kept
            if _is_record(entry) or not gone & set(references_in(as_object(entry.get("resource"))))
        ]
    left_out = len(everything) - len(kept)
    if not left_out:
        return None
    gone |= {string(as_object(each.get("request")), "url") for each in everything if each not in kept}
    entries: list[JsonValue] = [_told(entry, gone, left_out) for entry in kept]
    return dump({**whole, "entry": entries}), left_out


def _is_ours(entry: JsonObject) -> bool:
    """Say whether we worded the request: it searches for our identifier, or names an id that we made."""
    request, kind = as_object(entry.get("request")), string(as_object(entry.get("resource")), "resourceType")
    own = bare(string(entry, "fullUrl"))
    searched = string(request, "url").endswith(f"|{own}") or string(request, "ifNoneExist").endswith(f"|{own}")
    return bool(own) and (searched or string(request, "url") == f"{kind}/{own}")


def _is_record(entry: JsonObject) -> bool:
    return string(as_object(entry.get("resource")), "resourceType") in {"Provenance", "AuditEvent"}


def _told(entry: JsonObject, gone: set[str], left_out: int) -> Json:
    """Let Provenance name only what is there, and the AuditEvent say that something is not."""
    resource = dict(as_object(entry.get("resource")))
    if resource.get("resourceType") == "Provenance":
        targets = objects(resource, "target")
        resource["target"] = [dict(each) for each in targets if string(each, "reference") not in gone]
    if resource.get("resourceType") == "AuditEvent":
        entities: list[JsonValue] = [dict(each) for each in objects(resource, "entity")]
        last = dict(as_object(entities[-1]))
        text = f"{left_out} entries were left out: the server refused the transaction with them"
        details: list[JsonValue] = [*(dict(each) for each in objects(last, "detail"))]
        last["detail"] = [*details, {"type": "refused", "valueString": text}]
        entities[-1] = last
        resource["entity"] = entities
    return {**entry, "resource": resource}
