"""Template-based extraction (SDC 4.0): contained resources are filled with answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bot.fhir_export.extraction import ALLOCATE_ID, TEMPLATE, TEMPLATE_BUNDLE, Spot, inside, spots
from bot.fhir_export.fill_template import CannotFill, Scope, fill
from bot.fhir_export.identity import Json, tag, urn
from bot.fhir_export.subject import Export, Resource
from bot.interview.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    string,
)

_REQUEST = ("ifNoneMatch", "ifModifiedSince", "ifMatch", "ifNoneExist")
_ITEM = "QuestionnaireResponse.item"


@dataclass(slots=True)
class Templates:
    """Collects the resources that the templates of one form become."""

    export: Export
    response: Resource
    questionnaire: JsonObject
    now: str
    made: list[Resource] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self) -> None:
        body = self.response.body
        names: dict[str, object] = {"resource": body, "rootResource": body, "questionnaire": self.questionnaire}
        names |= self._allocated(self.questionnaire, "")
        root = Scope(body, names, self.now)
        self._at(self.questionnaire, root, "Questionnaire", "")
        for reference in extension_values(self.questionnaire, TEMPLATE_BUNDLE):
            self._bundle(string(as_object(reference.value), "reference"), root)
        self._walk(spots(objects(self.questionnaire, "item"), objects(body, "item")), names)

    def _walk(self, found: Iterable[Spot], names: Mapping[str, object]) -> None:
        for spot in found:
            own = {**names, **self._allocated(spot.asked, spot.key)}
            if extensions(spot.asked, TEMPLATE):
                self._at(spot.asked, self._scope(spot, own), spot.link_id, spot.key)
            self._walk(inside(spot), own)

    def _scope(self, spot: Spot, names: Mapping[str, object]) -> Scope:
        from bot.interview.fhirpath import node

        asked = node(dict(spot.asked), "Questionnaire.item")
        return Scope(node(dict(spot.alone), _ITEM), {**names, "qitem": asked}, self.now)

    def _allocated(self, element: JsonObject, key: str) -> dict[str, object]:
        """Return the ids that this place hands out: new for each instance, the same at every export."""
        found = (value.value for value in extension_values(element, ALLOCATE_ID))
        names = [name.removeprefix("%") for name in found if isinstance(name, str)]
        return {name: urn(self.export, "allocated", key, name) for name in names}

    def _at(self, element: JsonObject, scope: Scope, where: str, key: str) -> None:
        for number, extension in enumerate(extensions(element, TEMPLATE)):
            template = extension_value(extension, "template")
            reference = string(as_object(template.value if template else None), "reference")
            try:
                found = list(self._fill(reference, extension, scope, f"{key}#{number}"))
            except CannotFill as error:
                self._note(f"{where}: not extracted: {error}")
            else:
                self.made += found

    def _fill(self, reference: str, extension: JsonObject, scope: Scope, key: str) -> Iterator[Resource]:
        template = self._contained(reference)
        for number, body in enumerate(fill(_without_id(template), scope, string(template, "resourceType"))):
            own = self._one(extension, "fullUrl", scope) or urn(self.export, "template", reference, key, number)
            request = {name: self._one(extension, name, scope) for name in _REQUEST}
            identity = self._one(extension, "resourceId", scope)
            yield _resource(own, body, {name: value for name, value in request.items() if value}, identity)

    def _one(self, extension: JsonObject, name: str, scope: Scope) -> str:
        source = extension_value(extension, name)
        return scope.one(source.value, name) if source is not None and isinstance(source.value, str) else ""

    def _bundle(self, reference: str, scope: Scope) -> None:
        try:
            found = fill(_without_id(self._contained(reference)), scope, "Bundle")
        except CannotFill as error:
            self._note(f"Questionnaire: not extracted: {error}")
            return
        for number, entry in enumerate(entry for bundle in found for entry in objects(bundle, "entry")):
            body = dict(as_object(entry.get("resource")))
            request = as_object(entry.get("request"))
            if not body or string(request, "method") not in {"", "POST", "PUT"}:
                self._note(f"Questionnaire: not extracted: entry {number} of {reference} creates or updates nothing")
                continue
            own = string(entry, "fullUrl") or urn(self.export, "template", reference, number)
            said = {name: string(request, name) for name in _REQUEST if string(request, name)}
            target = string(request, "url").partition("/")[2] if request.get("method") == "PUT" else ""
            self.made.append(_resource(own, body, said, target))

    def _contained(self, reference: str) -> JsonObject:
        found = (each for each in objects(self.questionnaire, "contained") if "#" + string(each, "id") == reference)
        template = next(found, None)
        if template is None or not string(template, "resourceType"):
            raise CannotFill(f"the template {reference[:80]!r} is not contained in the Questionnaire")
        return template

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _without_id(template: JsonObject) -> JsonObject:
    """A template's id only names it among the contained resources."""
    if "_id" in template:
        return template
    return {name: value for name, value in template.items() if name != "id"}


def _resource(own: str, body: Json, request: Mapping[str, str], identity: str) -> Resource:
    identity = identity or string(body, "id")
    if identity:
        return Resource(own, {**body, "id": identity}, request={**request, "id": identity})
    if "ifNoneExist" in request:
        return Resource(own, body, request=request)
    # Not every type has an identifier: a tag tells on all of them that this one is there already.
    meta = as_object(body.get("meta"))
    head: Json = {"resourceType": body["resourceType"], "meta": {**meta, "tag": [*_tags(meta), tag(own)]}}
    rest = {name: value for name, value in body.items() if name != "meta"}
    return Resource(own, head | rest, replaces=True, request=request)


def _tags(meta: JsonObject) -> list[Json]:
    return [dict(each) for each in objects(meta, "tag")]
