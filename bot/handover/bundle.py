"""Put the resources of a conversation into one transaction Bundle that may be sent again without harm. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.handover.observations import Extraction, unsupported_extraction
from bot.handover.resources import (
    audit_event,
    communications,
    consent,
    is_red_flag,
    provenance,
    question_urn,
    response,
    tasks,
)
from bot.handover.subject import RESOURCE_IDS, Export, Json, Made, Resource, bare, identifier, moment
from bot.handover.templates import Templates
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import objects


def make_bundle(export: Export, before: Export | None = None, *, red_flags: bool = True) -> Made:
    """Return the transaction Bundle of a conversation.

    Args:
        export: The conversation as it stands now.
        before: The same conversation as it was sent earlier, when something has happened since: what has not changed
            is left as it is on the server, and Observations that no longer hold are withdrawn.
        red_flags: Whether the Tasks of urgent turns are in it; else each has a Bundle of its own.
    """
    found, sent, notes = _resources(export, red_flags=red_flags)
    earlier = _resources(before, red_flags=red_flags)[0] if before is not None else []
    kept = _unchanged(found, earlier)
    changed = [resource for resource in found if resource.urn not in kept] + _gone(found, earlier)
    # Where the server gives ids, what is there already goes along so that references lead to it: it is found, not made.
    known = [replace(resource, replaces=False) for resource in found if resource.urn in kept]
    record = [provenance(export, changed, sent)] if changed else []
    about = [] if sent is None else [sent]
    everything = [*(known if export.ids == "server" else []), *changed, *record, audit_event(export, about)]
    entries: list[JsonValue] = [_entry(resource, export, amends=before is not None) for resource in everything]
    if export.ids == "client":
        there: dict[str, JsonValue] = {resource.urn: f"{resource.type}/{bare(resource.urn)}" for resource in known}
        entries = [_with_references(entry, there) for entry in entries]
    bundle: Json = {"resourceType": "Bundle", "type": "transaction", "timestamp": moment(export.at), "entry": entries}
    return Made(bundle, tuple(notes))


def make_red_flag_bundle(export: Export) -> dict[str, JsonValue]:
    """Return a transaction of nothing but the Task of an urgent turn: there is nothing else that a server could refuse.

    Args:
        export: A conversation of one turn. What was said is not needed: the Task points to the question by its
            identifier, since that comes in another transaction, or perhaps never.
    """
    (turn,) = export.exchanges
    question: Json = {"type": "Communication", "identifier": identifier(question_urn(export, turn))}
    alarms = (replace(each, body={**each.body, "focus": question}) for each in tasks(export, None) if is_red_flag(each))
    entries: list[JsonValue] = [_entry(alarm, export, amends=False) for alarm in alarms]
    return {"resourceType": "Bundle", "type": "transaction", "timestamp": moment(export.at), "entry": entries}


def _resources(export: Export, *, red_flags: bool) -> tuple[list[Resource], Resource | None, list[str]]:
    sent = response(export)
    found = [] if sent is None else [sent]
    notes: list[str] = []
    if sent is not None and export.interview is not None and export.is_final:
        observations = Extraction(export, sent)
        observations.run(export.interview.questionnaire)
        templates = Templates(export, sent, export.interview.questionnaire, moment(export.at))
        templates.run()
        found += [*observations.made, *templates.made, *consent(export, sent)]
        refused = (note.as_line() for note in unsupported_extraction(export.interview.questionnaire))
        notes += [*refused, *observations.notes, *templates.notes]
    found += communications(export)
    found += [task for task in tasks(export, sent) if red_flags or not is_red_flag(task)]
    return found, sent, list(dict.fromkeys(notes))


def _unchanged(found: Sequence[Resource], earlier: Sequence[Resource]) -> frozenset[str]:
    """Return what was sent earlier and is as it was, or is no longer ours to change: staff work with Tasks."""
    sent = {resource.urn: resource.body for resource in earlier}
    return frozenset(
        resource.urn
        for resource in found
        if resource.urn in sent and (not resource.replaces or sent[resource.urn] == resource.body)
    )


def _gone(found: Sequence[Resource], earlier: Sequence[Resource]) -> list[Resource]:
    """Return the Observations to withdraw."""
    still = {resource.urn for resource in found}
    gone = (resource for resource in earlier if resource.type == "Observation" and resource.urn not in still)
    return [replace(resource, body={**resource.body, "status": "entered-in-error"}) for resource in gone]


def _with_references(value: JsonValue, there: Mapping[str, JsonValue]) -> JsonValue:
    """Let references to what is not in the Bundle lead to where it is on the server."""
    if isinstance(value, list):
        return [_with_references(each, there) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _with_references(each, there) for name, each in value.items()}
    if isinstance(made.get("reference"), str):
        made["reference"] = there.get(str(made["reference"]), made["reference"])
    return made


def _entry(resource: Resource, export: Export, *, amends: bool) -> Json:
    own = bare(resource.urn)
    target = resource.request.get("id", "")
    body = dict(resource.body)
    request: Json
    if target:
        request = {"method": "PUT", "url": f"{resource.type}/{target}"}
    elif export.ids == "client" and "ifNoneExist" not in resource.request:
        body = {"resourceType": resource.type, "id": own, **body}
        request = {"method": "PUT", "url": f"{resource.type}/{own}"}
    elif amends and resource.replaces:
        request = {"method": "PUT", "url": f"{resource.type}?{_search(resource)}"}
    else:
        request = {"method": "POST", "url": resource.type, "ifNoneExist": _search(resource)}
    said: dict[str, JsonValue] = {name: value for name, value in resource.request.items() if name != "id"}
    return {"fullUrl": resource.urn, "resource": body, "request": {**request, **said}}


def _search(resource: Resource) -> str:
    """Return the search that finds a resource that was sent before."""
    tagged = any(each.get("system") == RESOURCE_IDS for each in objects(_meta(resource), "tag"))
    return f"{'_tag' if tagged else 'identifier'}={RESOURCE_IDS}|{bare(resource.urn)}"


def _meta(resource: Resource) -> Json:
    meta = resource.body.get("meta")
    return meta if isinstance(meta, dict) else {}
