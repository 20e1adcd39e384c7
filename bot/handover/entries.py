"""What a form says of the Bundle entry of a resource it extracts: full URL, id, conditions of the request. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.handover.spots import CannotFill, Scope
from bot.handover.subject import RESOURCE_IDS, Json, Request, Resource, tag
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object, extension_value, objects, string
from bot.interview.values.fhir_names import RESOURCE_TYPES

CONDITIONS = ("ifNoneMatch", "ifModifiedSince", "ifMatch", "ifNoneExist")
# The target of a patch: as SDC is to name it, and as Smart Forms names it until then.
_PATCH_URLS = (
    "patchRequestUrl",
    "https://smartforms.csiro.au/ig/StructureDefinition/TemplateExtractExtensionPatchRequestUrl",
)
_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_OPERATIONS = frozenset({"add", "insert", "delete", "replace", "move"})
_NEED_A_VALUE = frozenset({"add", "insert", "replace"})


@dataclass(frozen=True, slots=True)
class Control:
    """What a form says of one entry.

    Attributes:
        full_url: How formulas call the resource; empty where the form does not say.
        resource_id: The id of what is updated; empty for what is created.
        target: What a patch changes: ``Condition/1``.
        conditions: By name, only those that have a value.
    """

    full_url: str = ""
    resource_id: str = ""
    target: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, extension: JsonObject, scope: Scope) -> Control:
        """Evaluate the parts of `templateExtract`, `definitionExtract` or `observationExtractEntry`.

        Raises:
            CannotFill: A formula of it cannot be evaluated, or gives several values.
        """

        def said(*names: str) -> str:
            source = extension_value(extension, *names)
            formula = source.value if source is not None else None
            return scope.one(formula, names[0]) if isinstance(formula, str) else ""

        kind = extension_value(extension, "type")
        identity, target = said("resourceId"), said(*_PATCH_URLS)
        if not target and identity and kind is not None and isinstance(kind.value, str):
            target = f"{kind.value}/{identity.removeprefix('urn:uuid:').removeprefix(kind.value + '/')}"
        conditions = {name: said(name) for name in CONDITIONS}
        return cls(said("fullUrl"), identity, target, {name: value for name, value in conditions.items() if value})


def resource_of(own: str, body: Json, control: Control, place: str = "") -> Resource | None:
    """Return an extracted resource with its request; None for a patch that changes nothing.

    Args:
        own: Its urn: the same at every export.
        body: As it was filled.
        control: What the form says of its entry.
        place: The linkId it belongs to.

    Raises:
        CannotFill: What the form says makes no request that FHIR allows.
    """
    kind = string(body, "resourceType")
    if kind == "Parameters":
        return _patch(own, body, control, place)
    identity = control.resource_id or string(body, "id")
    if identity:
        identity = bare_id(identity, kind)
        put = Request("PUT", f"{kind}/{identity}", _only(control.conditions, "ifMatch", "ifNoneMatch"))
        return Resource(own, {"resourceType": kind, "id": identity, **_without(body)}, True, put, place)
    if "ifNoneExist" in control.conditions:
        return Resource(own, body, False, Request(conditions=_only(control.conditions, "ifNoneExist")), place)
    if not any(each.get("system") == RESOURCE_IDS for each in objects(body, "identifier")):
        body = _tagged(own, body)
    return Resource(own, body, True, Request(), place)


def entry_resource(own: str, body: Json, request: JsonObject) -> Resource | None:
    """Return the resource of an entry of a Bundle template; None for a patch that changes nothing.

    Raises:
        CannotFill: The request creates, updates or patches nothing.
    """
    method, url = string(request, "method"), string(request, "url")
    conditions = {name: string(request, name) for name in CONDITIONS if string(request, name)}
    kind = string(body, "resourceType")
    if method not in {"", "POST", "PUT", "PATCH"} or not kind:
        raise CannotFill(
            f"a request by {method or 'no method'} with {kind or 'no resource'} creates or updates nothing"
        )
    if method == "PATCH":
        return resource_of(own, body, Control(target=url, conditions=conditions))
    if method == "PUT" and url.startswith(f"{kind}?"):
        return Resource(own, body, True, Request("PUT", url, _only(conditions, "ifMatch")))
    target = url.partition("/")[2] if method == "PUT" else ""
    if method == "PUT" and not target and not string(body, "id"):
        raise CannotFill("a request by PUT without the id of what it updates")
    if method != "PUT":
        body = {name: value for name, value in body.items() if name != "id"}
    return resource_of(own, body, Control(resource_id=target, conditions=conditions))


def bare_id(identity: str, kind: str) -> str:
    """Return an id as it stands in ``Type/id``: allocated ones are ``urn:uuid``, others name their type.

    Raises:
        CannotFill: It is none that FHIR allows.
    """
    before, _, last = identity.rpartition("/")
    found = last if before == kind or before.endswith(f"/{kind}") else identity.removeprefix("urn:uuid:")
    if not _ID.fullmatch(found):
        raise CannotFill(f"{kind}.id: an id that FHIR does not allow (letters, digits, '-' and '.', at most 64)")
    return found


def _patch(own: str, body: Json, control: Control, place: str) -> Resource | None:
    kept = [each for each in objects(body, "parameter") if _changes(each)]
    operations = [each for each in objects(body, "parameter") if string(each, "name") == "operation"]
    if len(operations) != len(objects(body, "parameter")) or not operations:
        raise CannotFill("Parameters: neither a resource of its own nor a FHIRPath Patch")
    if not kept:
        return None
    kind, _, identity = control.target.partition("/")
    conditional = "?" in control.target and control.target.partition("?")[0] in RESOURCE_TYPES
    if not conditional and (kind not in RESOURCE_TYPES or not identity):
        raise CannotFill("Parameters: a FHIRPath Patch without the address (Type/id) of what it changes")
    url = control.target if conditional else f"{kind}/{bare_id(identity, kind)}"
    operation: list[JsonValue] = [dict(each) for each in kept]
    request = Request("PATCH", url, _only(control.conditions, "ifMatch"))
    return Resource(own, {"resourceType": "Parameters", "parameter": operation}, True, request, place)


def _changes(operation: JsonObject) -> bool:
    """Say whether an operation has what it needs: an answer that was not given leaves it without a value."""
    parts = {string(each, "name"): each for each in objects(operation, "part")}
    kind = str(as_object(dict(parts.get("type", {}))).get("valueCode", ""))
    value = parts.get("value", {})
    has_value = any(name.startswith("value") or name == "part" for name in value)
    return kind in _OPERATIONS and "path" in parts and (has_value or kind not in _NEED_A_VALUE)


def _only(conditions: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return the conditions that mean something for a method: a server would take the others amiss."""
    return {name: value for name, value in conditions.items() if name in names}


def _without(body: Json) -> Json:
    return {name: value for name, value in body.items() if name not in {"resourceType", "id"}}


def _tagged(own: str, body: Json) -> Json:
    # Not every type has an identifier: a tag tells on all of them that this one is there already.
    meta = as_object(body.get("meta"))
    tags: list[JsonValue] = [*(dict(each) for each in objects(meta, "tag")), tag(own)]
    head: Json = {"resourceType": body["resourceType"], "meta": {**meta, "tag": tags}}
    return head | {name: value for name, value in body.items() if name not in {"resourceType", "meta"}}
