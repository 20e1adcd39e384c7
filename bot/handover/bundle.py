"""Put the resources of a conversation into one transaction Bundle that may be sent again without harm. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote

from bot.catalog.look import Namespaces
from bot.handover.extraction import extract
from bot.handover.namespaces import in_namespaces
from bot.handover.resources import (
    audit_event,
    communications,
    consent,
    decision_task,
    is_red_flag,
    lost_tasks,
    provenance,
    question_urn,
    response,
    tasks,
)
from bot.handover.subject import (
    CONVERSATIONS,
    RESOURCE_IDS,
    Export,
    Ids,
    Json,
    Made,
    Resource,
    bare,
    identifier,
    moment,
    references_in,
    urn_of,
)
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, objects, string


def make_bundle(
    export: Export, before: Export | None = None, *, red_flags: bool = True, complete: bool = False
) -> Made:
    """Return the transaction Bundle of a conversation.

    Args:
        export: The conversation as it stands now.
        before: The same conversation as it was sent earlier, when something has happened since: what has not changed
            is left as it is on the server, and Observations that no longer hold are withdrawn.
        red_flags: Whether the Tasks of urgent turns are in it; else each has a Bundle of its own.
        complete: Whether what has not changed is in it, too: nobody knows whether the earlier state was sent.
    """
    if before is not None and not export.earlier and before.is_final and before.interview is not None:
        export = replace(export, earlier=(before.interview,))
    found, sent, notes = _resources(export, red_flags=red_flags)
    earlier = _resources(before, red_flags=red_flags)[0] if before is not None else []
    kept = _unchanged(found, earlier)
    gone = _gone(found, earlier)
    changed = [resource for resource in found if resource.urn not in kept] + gone
    # Where the server gives ids, what is there already goes along so that references lead to it: it is found, not made.
    known = [replace(resource, replaces=False) for resource in found if resource.urn in kept]
    known += _needed(gone, [resource for resource in earlier if resource.urn not in {each.urn for each in found}])
    along = [resource for resource in known if complete or _address(resource, export) == ""]
    record = [provenance(export, changed, sent)] if changed else []
    about = [] if sent is None else [sent]
    everything = [*along, *changed, *record, audit_event(export, about, notes)]
    amends = before is not None or export.status == "amended"
    entries: list[JsonValue] = [_entry(resource, export, amends=amends) for resource in everything]
    there: dict[str, JsonValue] = {each.urn: _address(each, export) for each in known if each not in along}
    if there:
        entries = [_with_references(entry, there) for entry in entries]
    return Made(_transaction(export, entries), tuple(notes))


def _transaction(export: Export, entries: list[JsonValue]) -> Json:
    known = {"resourceType": "Bundle", "type": "transaction", "timestamp": moment(export.at)}
    return {**known, "entry": [in_namespaces(entry, export.namespaces) for entry in entries]}


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
    return _transaction(export, entries)


def make_document_bundle(document: JsonObject, conversation: str, at: datetime, ids: Ids, names: Namespaces) -> Json:
    """Return a transaction that puts a document about a conversation in the place of what was sent of it before.

    Args:
        document: A resource whose identifier is the conversation's.
        conversation: The id of the conversation.
        at: When it is sent, with time zone.
        ids: Whether the server gives ids or takes ours.
        names: Namespaces of the site.
    """
    kind = string(document, "resourceType")
    own = urn_of(conversation, kind)
    body: Json = dict(document)
    url = f"{kind}?identifier={CONVERSATIONS}|{_search_value(conversation)}"
    if ids == "client":
        body = {"resourceType": kind, "id": bare(own), **body}
        url = f"{kind}/{bare(own)}"
    entry: JsonValue = {"fullUrl": own, "resource": body, "request": {"method": "PUT", "url": url}}
    known: Json = {"resourceType": "Bundle", "type": "transaction", "timestamp": moment(at)}
    return {**known, "entry": [in_namespaces(entry, names)]}


def _search_value(text: str) -> str:
    """Return a value as it stands in the URL of a search: what has a meaning there is escaped."""
    return quote(re.sub(r"([\\,$|])", r"\\\1", text), safe="")


def _resources(export: Export, *, red_flags: bool) -> tuple[list[Resource], Resource | None, list[str]]:
    sent = response(export)
    found = [] if sent is None else [sent]
    notes: list[str] = []
    if sent is not None:
        extracted = extract(export, sent)
        found += [
            *_with_status(export, extracted.resources),
            *consent(export, sent),
            *lost_tasks(export, sent, extracted.lost),
            *decision_task(export, sent),
        ]
        notes += extracted.notes
    found += communications(export)
    found += [task for task in tasks(export, sent) if red_flags or not is_red_flag(task)]
    return found, sent, list(dict.fromkeys(notes))


def _with_status(export: Export, found: Sequence[Resource]) -> Iterator[Resource]:
    """Let the Observations that we made be amended that were another before; without a record of it, all of them."""
    states = [replace(export, interview=state, earlier=()) for state in export.earlier]
    before = [(each, response(each)) for each in states]
    extracted = [each for state, sent in before if sent is not None for each in extract(state, sent).resources]
    for resource in found:
        if export.status == "amended" and _is_our_observation(resource):
            known = [each.body for each in extracted if each.urn == resource.urn]
            if not states or any(body != resource.body for body in known):
                yield replace(resource, body={**resource.body, "status": "amended"})
                continue
        yield resource


def _is_our_observation(resource: Resource) -> bool:
    ours = identifier(resource.urn)
    return resource.type == "Observation" and ours in objects(resource.body, "identifier")


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


def _needed(gone: Sequence[Resource], earlier: Sequence[Resource]) -> list[Resource]:
    """Return what withdrawn Observations refer to, and what that refers to, and so on: it stays as it is."""
    names, found = {resource.urn for resource in gone}, list(gone)
    for resource in found:
        referred = set(references_in(resource.body))
        for each in earlier:
            if each.urn in referred and each.urn not in names:
                names.add(each.urn)
                found.append(replace(each, replaces=False))
    return found[len(gone) :]


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


def _address(resource: Resource, export: Export) -> str:
    """Return where a resource is on the server that was sent before; empty where only a search can tell."""
    if resource.request.method:
        return resource.request.url
    ours = export.ids == "client" and "ifNoneExist" not in resource.request.conditions
    return f"{resource.type}/{bare(resource.urn)}" if ours else ""


def _entry(resource: Resource, export: Export, *, amends: bool) -> Json:
    own, said = bare(resource.urn), resource.request
    body = dict(resource.body)
    request: Json
    if said.method:
        request = {"method": said.method, "url": said.url}
    elif export.ids == "client" and "ifNoneExist" not in said.conditions:
        body = {"resourceType": resource.type, "id": own, **body}
        request = {"method": "PUT", "url": f"{resource.type}/{own}"}
    elif amends and resource.replaces:
        request = {"method": "PUT", "url": f"{resource.type}?{_search(resource)}"}
    else:
        request = {"method": "POST", "url": resource.type, "ifNoneExist": _search(resource)}
    request |= said.conditions
    # A patch has no place of its own that others could refer to.
    address: Json = {} if said.method == "PATCH" else {"fullUrl": resource.urn}
    return {**address, "resource": body, "request": request}


def _search(resource: Resource) -> str:
    """Return the search that finds a resource that was sent before."""
    tagged = any(each.get("system") == RESOURCE_IDS for each in objects(_meta(resource), "tag"))
    return f"{'_tag' if tagged else 'identifier'}={RESOURCE_IDS}|{bare(resource.urn)}"


def _meta(resource: Resource) -> Json:
    meta = resource.body.get("meta")
    return meta if isinstance(meta, dict) else {}
