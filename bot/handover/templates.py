"""Template-based extraction (SDC): resources made from templates in the Questionnaire. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.handover.elements import fitted
from bot.handover.entries import Control, entry_resource, note_control, resource_of
from bot.handover.queries import with_escaped_answers
from bot.handover.spots import SDC, CannotFill, Ground, Scope, Spot, formula_of, inside
from bot.handover.subject import Json, Resource, urn
from bot.interview.form.form import Note
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    string,
    walk,
)

TEMPLATE = SDC + "sdc-questionnaire-templateExtract"
TEMPLATE_BUNDLE = SDC + "sdc-questionnaire-templateExtractBundle"
TEMPLATE_CONTEXT = SDC + "sdc-questionnaire-templateExtractContext"
TEMPLATE_VALUE = SDC + "sdc-questionnaire-templateExtractValue"
_FORMULAS = frozenset({TEMPLATE_CONTEXT, TEMPLATE_VALUE})


def fill(template: JsonObject, scope: Scope, where: str) -> list[Json]:
    """Return what a template becomes: nothing where its context is empty, several where that has several values."""
    return [made for made in _fill_object(template, scope, where) if isinstance(made, dict)]


def _fill_object(element: JsonObject, scope: Scope, where: str) -> list[JsonValue]:
    context = _formula(element, TEMPLATE_CONTEXT, where)
    if context is None:
        return _fill_here(element, scope, where)
    source, name = context
    found: list[JsonValue] = []
    for focus in scope.values(source, where):
        names = {**scope.names, name: focus} if name else scope.names
        found += _fill_here(element, replace(scope, focus=focus, names=names), where)
    return found


def _fill_here(element: JsonObject, scope: Scope, where: str) -> list[JsonValue]:
    value = _formula(element, TEMPLATE_VALUE, where)
    if value is not None:
        return scope.plain(value[0], where)
    made: Json = {}
    for name in dict.fromkeys(key.removeprefix("_") for key in element):
        _fill_property(element, name, scope, made, f"{where}.{name}")
    return [made] if made else []


def _fill_property(element: JsonObject, name: str, scope: Scope, made: Json, where: str) -> None:
    """Fill a property, a primitive together with the companion that holds its extensions."""
    given, companion = element.get(name), element.get("_" + name)
    if isinstance(given, list) or isinstance(companion, list):
        if found := _fill_list(given, companion, scope, where):
            made[name] = found
        return
    if isinstance(companion, dict):
        values, rest = _fill_primitive(given, companion, scope, where)
        if rest:
            made["_" + name] = rest
    elif isinstance(given, dict):
        values = _fill_object(given, scope, where)
    else:
        values = [given]
    if len(values) > 1:
        raise CannotFill(f"{where}: {len(values)} values for one place")
    if values:
        made[name] = values[0]


def _fill_list(given: JsonValue, companion: JsonValue, scope: Scope, where: str) -> list[JsonValue]:
    values = given if isinstance(given, list) else []
    companions = companion if isinstance(companion, list) else []
    found: list[JsonValue] = []
    for number in range(max(len(values), len(companions))):
        value = values[number] if number < len(values) else None
        beside = companions[number] if number < len(companions) else None
        if isinstance(value, dict):
            if string(value, "url") not in _FORMULAS:
                found += _fill_object(value, scope, f"{where}[{number}]")
        elif isinstance(beside, dict):
            found += _fill_primitive(value, beside, scope, f"{where}[{number}]")[0]
        elif value is not None:
            found.append(value)
    return found


def _fill_primitive(
    given: JsonValue, companion: JsonObject, scope: Scope, where: str
) -> tuple[Sequence[JsonValue], Json]:
    """Return the values of a primitive, and what its companion holds besides the formulas."""
    here = objects(companion, "extension")
    rest: Json = {name: value for name, value in companion.items() if name != "extension"}
    if kept := [dict(each) for each in here if string(each, "url") not in _FORMULAS]:
        rest["extension"] = [*kept]
    formulas = [dict(each) for each in here if string(each, "url") in _FORMULAS]
    if not formulas:
        return ([given] if given is not None else []), rest
    only: Json = {"extension": [*formulas]}
    if _formula(only, TEMPLATE_VALUE, where) is None:
        # A context alone: the primitive stays as often as the context has values.
        context = _formula(only, TEMPLATE_CONTEXT, where)
        return [given for _ in scope.values(context[0] if context else "{}", where) if given is not None], rest
    return _fill_object(only, scope, where), rest


def _formula(element: JsonObject, url: str, where: str) -> tuple[str, str] | None:
    """Return the formula that an element has under `url`, and the name it gives to what it finds."""
    found = extension_value(element, url)
    if found is None:
        return None
    try:
        return formula_of(found.value)
    except CannotFill as error:
        raise CannotFill(f"{where}: {error}") from None


@dataclass(slots=True)
class Templates:
    """Collects the resources that the templates of one form become."""

    ground: Ground

    def run(self) -> None:
        asked, root = self.ground.questionnaire, self.ground.root()
        self._at(asked, root, "", "")
        for reference in extension_values(asked, TEMPLATE_BUNDLE):
            self._bundle(string(as_object(reference.value), "reference"), root)
        self._walk(self.ground.spots(), root)

    def _walk(self, found: Iterable[Spot], around: Scope) -> None:
        for spot in found:
            scope = self.ground.scope(spot, around)
            if extensions(spot.asked, TEMPLATE):
                self._at(spot.asked, scope, spot.link_id, spot.key)
            self._walk(inside(spot), scope)

    def _at(self, element: JsonObject, scope: Scope, link_id: str, key: str) -> None:
        for number, extension in enumerate(extensions(element, TEMPLATE)):
            template = extension_value(extension, "template")
            reference = string(as_object(template.value if template else None), "reference")
            try:
                control = Control.of(extension, scope, self.ground.export.base)
                made = list(self._fill(reference, control, scope, (f"{key}#{number}", link_id)))
            except CannotFill as error:
                self.ground.note(link_id, str(error))
                for kind in self._types(reference):
                    self.ground.lose(link_id, kind)
                continue
            self.ground.made += made
            for resource in made:
                note_control(self.ground, resource, control)

    def _fill(self, reference: str, control: Control, scope: Scope, place: tuple[str, str]) -> Iterator[Resource]:
        template, (key, link_id) = self._contained(reference), place
        for number, body in enumerate(fill(_without_id(template), scope, string(template, "resourceType"))):
            own = urn(self.ground.export, "template", reference, key, number)
            resource = resource_of(own, fitted(body), control, link_id)
            if resource is not None:
                yield resource

    def _bundle(self, reference: str, scope: Scope) -> None:
        try:
            template = _without_id(self._contained(reference))
            found = fill(template, scope, "Bundle")
            escaped = self._requests(template, scope)
        except CannotFill as error:
            self.ground.note("", f"{reference}: {error}")
            for kind in self._types(reference):
                self.ground.lose("", kind)
            return
        everything = [entry for bundle in found for entry in objects(bundle, "entry")]
        for number, entry in enumerate(everything):
            own = urn(self.ground.export, "template", reference, number)
            try:
                body, request = fitted(as_object(entry.get("resource"))), as_object(entry.get("request"))
                safe = escaped[number] if len(escaped) == len(everything) else {}
                said = {**request, "fullUrl": string(entry, "fullUrl")}
                control = Control.in_request(said, safe, self.ground.export.base)
                resource = entry_resource(own, body, string(request, "method"), control)
            except CannotFill as error:
                self.ground.note("", f"entry {number} of {reference}: {error}")
                if kind := string(as_object(entry.get("resource")), "resourceType"):  # a deletion carries no answers
                    self.ground.lose("", kind)
                continue
            if resource is not None:
                self.ground.made.append(resource)
                note_control(self.ground, resource, control)

    def _requests(self, template: JsonObject, scope: Scope) -> list[JsonObject]:
        """Return the requests of the entries of a Bundle as they are with escaped answers."""
        found = fill(template, with_escaped_answers(scope), "Bundle")
        return [as_object(entry.get("request")) for bundle in found for entry in objects(bundle, "entry")]

    def _types(self, reference: str) -> list[str]:
        """Return the types of the resources that a template becomes."""
        everything = objects(self.ground.questionnaire, "contained")
        found = [each for each in everything if "#" + string(each, "id") == reference]
        inner = [as_object(entry.get("resource")) for each in found for entry in objects(each, "entry")]
        return [string(each, "resourceType") for each in (inner or found)]

    def _contained(self, reference: str) -> JsonObject:
        everything = objects(self.ground.questionnaire, "contained")
        template = next((each for each in everything if "#" + string(each, "id") == reference), None)
        if template is None or not string(template, "resourceType"):
            raise CannotFill(f"the template {reference[:80]!r} is not contained in the Questionnaire")
        return template


def _without_id(template: JsonObject) -> JsonObject:
    """A template's id only names it among the contained resources."""
    if "_id" in template:
        return template
    return {name: value for name, value in template.items() if name != "id"}


def missing_templates(questionnaire: JsonObject) -> Iterator[Note]:
    """Yield a note for every template that cannot be found."""
    contained = {"#" + string(each, "id") for each in objects(questionnaire, "contained")}
    for element in (questionnaire, *walk(objects(questionnaire, "item"))):
        named = [extension_value(each, "template") for each in extensions(element, TEMPLATE)]
        named += extension_values(element, TEMPLATE_BUNDLE)
        for reference in (string(as_object(each.value if each else None), "reference") for each in named):
            if reference not in contained:
                yield Note(string(element, "linkId"), "extraction", f"the template {reference[:80]!r} is not contained")
