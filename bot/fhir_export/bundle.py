"""Put the resources of a conversation into one transaction Bundle that may be sent again without harm. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.fhir_export.communications import communications
from bot.fhir_export.identity import RESOURCE_IDS, Json, bare, moment
from bot.fhir_export.observations import Extraction
from bot.fhir_export.provenance import audit_event, provenance
from bot.fhir_export.responses import consent, response
from bot.fhir_export.subject import Export, Made, Resource
from bot.fhir_export.tasks import tasks
from bot.fhir_export.templates import Templates
from bot.fhir_export.unsupported import unsupported_extraction
from bot.interview.answer import JsonValue
from bot.interview.fhir_json import objects


def make_bundle(export: Export, before: Export | None = None) -> Made:
    """Return the transaction Bundle of a conversation.

    Args:
        export: The conversation as it stands now.
        before: The same conversation as it was sent earlier, when the patient has corrected something since: what is
            on the server and unchanged by nature is left out, and Observations that no longer hold are withdrawn.
    """
    found, sent, notes = _resources(export)
    if before is not None:
        earlier, _, _ = _resources(before)
        found = _changed(found, earlier)
    about = [] if sent is None else [sent]
    record = provenance(export, found, sent) if found else None
    everything = [*found, *([record] if record else []), audit_event(export, about)]
    entries: list[JsonValue] = [_entry(resource, export, amends=before is not None) for resource in everything]
    bundle: Json = {"resourceType": "Bundle", "type": "transaction", "timestamp": moment(export.at), "entry": entries}
    return Made(bundle, tuple(notes))


def _resources(export: Export) -> tuple[list[Resource], Resource | None, list[str]]:
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
    found += [*communications(export), *tasks(export, sent)]
    return found, sent, list(dict.fromkeys(notes))


def _changed(found: Sequence[Resource], earlier: Sequence[Resource]) -> list[Resource]:
    """Return what is new or has a new state, and the Observations to withdraw."""
    known = {resource.urn for resource in earlier}
    still = {resource.urn for resource in found}
    new = [resource for resource in found if resource.replaces or resource.urn not in known]
    gone = [resource for resource in earlier if resource.type == "Observation" and resource.urn not in still]
    return [*new, *(_withdrawn(resource) for resource in gone)]


def _withdrawn(resource: Resource) -> Resource:
    return Resource(resource.urn, {**resource.body, "status": "entered-in-error"}, replaces=True)


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
