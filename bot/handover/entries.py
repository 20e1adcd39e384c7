"""What a form says of the Bundle entry of a resource it extracts: full URL, id, conditions of the request. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.handover.queries import query, search_url, with_escaped_answers
from bot.handover.spots import CannotFill, Ground, Scope
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
_VERSION = re.compile(r'(?:W/)?"[^"\s\x00-\x1f\x7f]+"')
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
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
        base: The server that it goes to, for ids that are addresses there; empty where that is not known.
        notes: What else the form says that is left out, and why.
    """

    full_url: str = ""
    resource_id: str = ""
    target: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, extension: JsonObject, scope: Scope, base: str = "") -> Control:
        """Evaluate the parts of `templateExtract`, `definitionExtract` or `observationExtractEntry`.

        Raises:
            CannotFill: A formula of it cannot be evaluated, or gives several values.
        """

        def said(scope: Scope, *names: str) -> str:
            source = extension_value(extension, *names)
            formula = source.value if source is not None else None
            return scope.one(formula, names[0]) if isinstance(formula, str) else ""

        kind = extension_value(extension, "type")
        identity, target = said(scope, "resourceId"), said(scope, *_PATCH_URLS)
        if not target and identity and kind is not None and isinstance(kind.value, str):
            target = f"{kind.value}/{bare_id(identity, kind.value, base)}"
        plain = {name: said(scope, name) for name in CONDITIONS}
        escaped = plain
        if plain["ifNoneExist"] or "?" in target:
            safe = with_escaped_answers(scope)
            escaped = {**plain, "ifNoneExist": said(safe, "ifNoneExist")}
            target = search_url(target, said(safe, *_PATCH_URLS), _PATCH_URLS[0]) if "?" in target else target
        return cls._checked(cls(said(scope, "fullUrl"), identity, target, base=base), plain, escaped)

    @classmethod
    def in_request(cls, plain: JsonObject, escaped: JsonObject, base: str = "") -> Control:
        """Return what the request of an entry of a Bundle template says.

        Args:
            plain: As it was filled.
            escaped: As it was filled with escaped answers.
            base: The server that it goes to.

        Raises:
            CannotFill: An answer would change what it searches for.
        """
        url = string(plain, "url")
        url = search_url(url, string(escaped, "url"), "request.url") if "?" in url else url
        method, conditions = string(plain, "method"), {name: string(plain, name) for name in CONDITIONS}
        identity = url if method == "PUT" and "/" in url and "?" not in url else ""
        whole = cls(string(plain, "fullUrl"), identity, url, base=base)
        return cls._checked(whole, conditions, {name: string(escaped, name) for name in CONDITIONS})

    @classmethod
    def _checked(cls, whole: Control, plain: Mapping[str, str], escaped: Mapping[str, str]) -> Control:
        """Add the conditions; one that may find a resource that is not meant is left out."""
        found, notes = {name: value for name, value in plain.items() if value}, []
        try:
            found["ifNoneExist"] = query(plain["ifNoneExist"], escaped["ifNoneExist"], "ifNoneExist")
        except CannotFill as error:
            notes.append(f"{error}; goes out without it")
            found["ifNoneExist"] = ""
        found = {name: value for name, value in found.items() if value}
        return replace(whole, conditions=found, notes=tuple(notes))


def note_control(ground: Ground, resource: Resource, control: Control) -> None:
    """Let the form's name for a resource lead to it, and note what of its request does not go out."""
    ground.call(resource, control.full_url)
    for note in control.notes:
        ground.note(resource.place, note)
    method = resource.request.method or "POST"
    for name in control.conditions:
        if name not in resource.request.conditions:
            ground.note(resource.place, f"{name}: has no meaning for {method} {resource.type}; goes out without it")


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
        identity = bare_id(identity, kind, control.base)
        put = Request("PUT", f"{kind}/{identity}", _versions(control, "ifMatch", "ifNoneMatch"))
        return Resource(own, {"resourceType": kind, "id": identity, **_without(body)}, True, put, place)
    if "ifNoneExist" in control.conditions:
        conditions = {"ifNoneExist": control.conditions["ifNoneExist"]}
        return Resource(own, body, False, Request(conditions=conditions), place)
    if not any(each.get("system") == RESOURCE_IDS for each in objects(body, "identifier")):
        body = _tagged(own, body)
    return Resource(own, body, True, Request(), place)


def entry_resource(own: str, body: Json, method: str, control: Control) -> Resource | None:
    """Return the resource of an entry of a Bundle template; None for a patch that changes nothing.

    Args:
        own: Its urn.
        body: As it was filled.
        method: Of its request; empty for a creation.
        control: What else its request says.

    Raises:
        CannotFill: The request creates, updates or patches nothing.
    """
    kind, url = string(body, "resourceType"), control.target
    if method not in {"", "POST", "PUT", "PATCH"} or not kind:
        raise CannotFill(
            f"a request by {method[:10] or 'no method'} with {kind or 'no resource'} creates or updates nothing"
        )
    if method == "PATCH":
        return resource_of(own, body, control)
    if method == "PUT" and url.startswith(f"{kind}?"):
        return Resource(own, body, True, Request("PUT", url, _versions(control, "ifMatch")))
    if method == "PUT" and not control.resource_id and not string(body, "id"):
        raise CannotFill("a request by PUT without the id of what it updates")
    if method != "PUT":
        body = {name: value for name, value in body.items() if name != "id"}
    return resource_of(own, body, control)


def bare_id(identity: str, kind: str, base: str = "") -> str:
    """Return an id as it stands in ``Type/id``: allocated ones are ``urn:uuid``, others name their type.

    Args:
        identity: As the form gives it.
        kind: The type of the resource.
        base: The server that the request goes to: addresses there may be named in full.

    Raises:
        CannotFill: It is none that FHIR allows, or that of something else.
    """
    found = identity.removeprefix("urn:uuid:")
    if _ADDRESS.match(found):
        if not base or not found.startswith(base.rstrip("/") + "/"):
            raise CannotFill(f"{kind}.id: the address of a resource on another server")
        found = found.removeprefix(base.rstrip("/") + "/")
    before, slash, last = found.rpartition("/")
    last = last.removeprefix("urn:uuid:")
    if slash and before != kind and before in RESOURCE_TYPES:
        raise CannotFill(f"{kind}.id: that of a resource of another type ({before})")
    if (slash and before != kind) or not _ID.fullmatch(last):
        raise CannotFill(f"{kind}.id: an id that FHIR does not allow (letters, digits, '-' and '.', at most 64)")
    return last


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
    url = control.target if conditional else f"{kind}/{bare_id(identity, kind, control.base)}"
    operation: list[JsonValue] = [dict(each) for each in kept]
    request = Request("PATCH", url, _versions(control, "ifMatch"))
    return Resource(own, {"resourceType": "Parameters", "parameter": operation}, True, request, place)


def _changes(operation: JsonObject) -> bool:
    """Say whether an operation has what it needs: an answer that was not given leaves it without a value."""
    parts = {string(each, "name"): each for each in objects(operation, "part")}
    kind = str(as_object(dict(parts.get("type", {}))).get("valueCode", ""))
    value = parts.get("value", {})
    has_value = any(name.startswith("value") or name == "part" for name in value)
    return kind in _OPERATIONS and "path" in parts and (has_value or kind not in _NEED_A_VALUE)


def _versions(control: Control, *names: str) -> dict[str, str]:
    """Return the conditions that mean something for a method: a server would take the others amiss.

    Raises:
        CannotFill: One is no version: without it, more than the form means would be overwritten.
    """
    found = {name: value for name, value in control.conditions.items() if name in names}
    for name, value in found.items():
        if not _VERSION.fullmatch(value) and (name, value) != ("ifNoneMatch", "*"):
            raise CannotFill(f'{name}: not a version (W/"1")')
    return found


def _without(body: Json) -> Json:
    return {name: value for name, value in body.items() if name not in {"resourceType", "id"}}


def _tagged(own: str, body: Json) -> Json:
    # Not every type has an identifier: a tag tells on all of them that this one is there already.
    meta = as_object(body.get("meta"))
    tags: list[JsonValue] = [*(dict(each) for each in objects(meta, "tag")), tag(own)]
    head: Json = {"resourceType": body["resourceType"], "meta": {**meta, "tag": tags}}
    return head | {name: value for name, value in body.items() if name not in {"resourceType", "meta"}}
