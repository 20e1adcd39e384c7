"""Template-based extraction (SDC): resources made from templates in the Questionnaire. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.handover.observations import (
    ALLOCATE_ID,
    TEMPLATE,
    TEMPLATE_BUNDLE,
    TEMPLATE_CONTEXT,
    TEMPLATE_VALUE,
    Spot,
    inside,
    spots,
)
from bot.handover.subject import Export, Json, Resource, tag, urn
from bot.interview.formulas.evaluator import as_json, compile_formula, evaluate, typed
from bot.interview.formulas.formula import BadFormula, FormulaFailed
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    string,
)

_FORMULAS = frozenset({TEMPLATE_CONTEXT, TEMPLATE_VALUE})


class CannotFill(ValueError):
    """A template that cannot be filled with these answers. The message names the place and quotes no answer."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the formulas of a template see.

    Attributes:
        focus: What they stand at: JSON, or the library's typed node.
        names: Values after ``%``.
        now: The moment of ``now()``, as a FHIR dateTime with time zone.
    """

    focus: object
    names: Mapping[str, object]
    now: str

    def values(self, source: str, where: str) -> list[object]:
        """Evaluate a formula to typed values.

        Raises:
            CannotFill: It cannot be evaluated.
        """
        try:
            return evaluate(compile_formula(source), self.focus, self.names, now=self.now)
        except (BadFormula, FormulaFailed) as error:
            raise CannotFill(f"{where}: the formula {source[:80]!r} cannot be evaluated ({error})") from None

    def plain(self, source: str, where: str) -> list[JsonValue]:
        """Evaluate a formula to JSON."""
        return as_json(self.values(source, where))

    def one(self, source: str, where: str) -> str:
        """Evaluate a formula to one text; empty when it gives nothing."""
        found = self.plain(source, where)
        if len(found) > 1:
            raise CannotFill(f"{where}: {len(found)} values for one place")
        return str(found[0]) if found else ""


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
            if value.get("url") not in _FORMULAS:
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
    if kept := [dict(each) for each in here if each.get("url") not in _FORMULAS]:
        rest["extension"] = [*kept]
    formulas = [dict(each) for each in here if each.get("url") in _FORMULAS]
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
    if isinstance(found.value, str):
        return found.value, ""
    expression = as_object(found.value)
    language = string(expression, "language")
    if found.type != "expression" or language != "text/fhirpath" or not string(expression, "expression"):
        raise CannotFill(f"{where}: an expression in {language[:40] or found.type!r} instead of text/fhirpath")
    return string(expression, "expression"), string(expression, "name")


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
        asked = typed(dict(spot.asked), "Questionnaire.item")
        return Scope(typed(dict(spot.alone), _ITEM), {**names, "qitem": asked}, self.now)

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
