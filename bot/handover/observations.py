"""Observations extracted from a response, as the Questionnaire marks them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.handover.entries import Control, note_control, resource_of
from bot.handover.spots import SDC, CannotFill, Ground, Scope, Spot, inside
from bot.handover.subject import Json, Resource, identifier, urn
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    string,
    value_of,
)
from bot.interview.values.fhir_names import UNIT

OBSERVATION = SDC + "sdc-questionnaire-observationExtract"
OBSERVATION_CATEGORY = SDC + "sdc-questionnaire-observation-extract-category"
OBSERVATION_ENTRY = SDC + "sdc-questionnaire-observationExtractEntry"

_COPIED = {"boolean": "Boolean", "time": "Time", "dateTime": "DateTime", "string": "String", "quantity": "Quantity"}
_RELATIONS = ("component", "member", "derived", "independent")


@dataclass(frozen=True, slots=True)
class Around:
    """What the items above say about those below.

    Attributes:
        everywhere: Whether coded items are extracted that say nothing themselves.
        scope: What formulas see.
        categories: CodeableConcepts for the Observations.
        entry: What is said of the entries of Observations (`observationExtractEntry`).
        parent: The Observation of the nearest item above that has one.
    """

    everywhere: bool
    scope: Scope
    categories: tuple[JsonValue, ...] = ()
    entry: JsonObject | None = None
    parent: _Parent | None = None


@dataclass(slots=True, eq=False)
class _Parent:
    """An Observation that those of the items below it may belong to.

    Attributes:
        urn: Of the Observation.
        body: It is filled further while the items below are walked.
        derived: Observations below that derive from it: they say so only if it comes to exist.
    """

    urn: str
    body: Json
    derived: list[Json]


@dataclass(slots=True)
class Observations:
    """Collects the Observations of one response."""

    ground: Ground

    def run(self) -> None:
        asked = self.ground.questionnaire
        everywhere = _said(asked) == [True]
        around = Around(everywhere, self.ground.root(), _categories(asked), _entry(asked))
        self._walk(self.ground.spots(), around)

    def _walk(self, found: Iterable[Spot], around: Around) -> None:
        for spot in found:
            said = _said(spot.asked)
            if said == [False]:
                continue  # "The item tagged with 'false' and its descendants will be excluded"
            here = replace(
                around,
                # What an item says holds for what is inside it.
                everywhere=said[0] if len(said) == 1 and isinstance(said[0], bool) else around.everywhere,
                scope=self.ground.scope(spot, around.scope),
                categories=_categories(spot.asked) or around.categories,
                entry=_entry(spot.asked) or around.entry,
            )
            codes = _codes(spot.asked)
            relations = self._relations(spot, here, codes)
            if not relations:
                self._walk(inside(spot), here)
            elif relations == {"component"} and here.parent is not None:
                self._component(spot, codes, here)
            else:
                self._observation(spot, codes, relations, here)

    def _relations(self, spot: Spot, around: Around, codes: list[JsonValue]) -> set[str]:
        """Return how this item is extracted; nothing if it is not."""
        said = _said(spot.asked)
        words = {word for word in said if isinstance(word, str)}
        if words and any(isinstance(each, bool) for each in said):
            self._note(spot, "observationExtract says both true or false and a relation")
            return set()
        if words - set(_RELATIONS):
            self._note(spot, "observationExtract names an unknown relation")
            return set()
        marked = not said and any(_is_marked(code) for code in objects(spot.asked, "code"))
        wanted = words or ({"independent"} if said == [True] or (not said and around.everywhere) or marked else set())
        if wanted and not codes:
            # A group without a code may be marked for what is inside it.
            if words or (said and spot.asked.get("type") != "group"):
                self._note(spot, "there is no code to extract it with")
            return set()
        return wanted

    def _observation(self, spot: Spot, codes: list[JsonValue], relations: set[str], around: Around) -> None:
        value = self._value(spot)
        if spot.answer is not None and value is None:
            self._walk(inside(spot), around)
            return
        own = urn(self.ground.export, "observation", spot.key)
        made = self._head(own, codes, around)
        if value is not None:
            made |= {value[0]: value[1]}
        position = len(self.ground.made)
        parent = _Parent(own, made, [])
        self._walk(inside(spot), replace(around, parent=parent))
        if spot.answer is None and not made.keys() & {"component", "hasMember"} and not parent.derived:
            return  # a panel of nothing
        for derived in parent.derived:
            _append(derived, "derivedFrom", {"reference": own})
        resource = self._resource(spot, own, made, around)
        if resource is None:
            return
        self.ground.made.insert(position, resource)
        if around.parent is not None:
            if "member" in relations:
                _append(around.parent.body, "hasMember", {"reference": own})
            if "derived" in relations:
                around.parent.derived.append(made)

    def _resource(self, spot: Spot, own: str, made: Json, around: Around) -> Resource | None:
        if around.entry is None:
            return Resource(own, made, replaces=True, place=spot.link_id)
        try:
            control = Control.of(around.entry, around.scope, self.ground.export.base)
            resource = resource_of(own, made, control, spot.link_id)
        except CannotFill as error:
            self._note(spot, str(error))
            self.ground.lose(spot.link_id, "Observation")
            return None
        if resource is not None:
            note_control(self.ground, resource, control)
        return resource

    def _component(self, spot: Spot, codes: list[JsonValue], around: Around) -> None:
        value = self._value(spot)
        if value is not None and around.parent is not None:
            _append(around.parent.body, "component", {"code": {"coding": codes}, value[0]: value[1]})
        self._walk(inside(spot), around)

    def _head(self, own: str, codes: list[JsonValue], around: Around) -> Json:
        """Return all but the value, as SDC says where it comes from."""
        response = self.ground.response.body
        made: Json = {"resourceType": "Observation", "identifier": [identifier(own)]}
        made |= {name: response[name] for name in ("basedOn", "partOf") if name in response}
        made["status"] = "final"
        if around.categories:
            made["category"] = list(around.categories)
        made["code"] = {"coding": codes}
        made |= {name: response[name] for name in ("subject", "encounter") if name in response}
        authored = string(response, "authored")
        made["effectiveDateTime"] = authored
        if "T" in authored:
            made["issued"] = authored
        # R4 takes no Device for a performer, so the author (our software) gives way to the source (the patient).
        if "source" in response:
            made["performer"] = [response["source"]]
        made["derivedFrom"] = [self.ground.response.reference]
        return made

    def _value(self, spot: Spot) -> tuple[str, JsonValue] | None:
        answer = value_of(spot.answer) if spot.answer is not None else None
        if answer is None:
            return None
        unit = extension_value(spot.asked, *UNIT)
        match answer.type:
            case "integer" | "decimal" if unit is not None or answer.type == "decimal":
                return "valueQuantity", _quantity(answer.value, as_object(unit.value if unit else None))
            case "integer":
                return "valueInteger", answer.value
            case "date":
                return "valueDateTime", answer.value
            case "uri":
                return "valueString", answer.value
            case "coding":
                return "valueCodeableConcept", {"coding": [answer.value]}
            case kind if kind in _COPIED:
                return f"value{_COPIED[kind]}", answer.value
        self._note(spot, f"no Observation can hold a value of type {answer.type}")
        return None

    def _note(self, spot: Spot, text: str) -> None:
        self.ground.note(spot.link_id, text)


def _said(element: JsonObject) -> list[JsonValue]:
    return [value.value for value in extension_values(element, OBSERVATION)]


def _entry(element: JsonObject) -> JsonObject | None:
    return next(iter(extensions(element, OBSERVATION_ENTRY)), None)


def _is_marked(code: JsonObject) -> bool:
    mark = extension_value(code, OBSERVATION)
    return mark is not None and mark.value is True


def _codes(asked: JsonObject) -> list[JsonValue]:
    """Return the codes of an item: those marked for extraction if any is, without those that are ruled out."""
    marks = [(code, extension_value(code, OBSERVATION)) for code in objects(asked, "code")]
    chosen = [code for code, mark in marks if mark is not None and mark.value is True]
    kept = chosen or [code for code, mark in marks if mark is None or mark.value is not False]
    return [_plain(code) for code in kept]


def _plain(code: JsonObject) -> Json:
    return {name: value for name, value in code.items() if name in {"system", "version", "code", "display"}}


def _categories(element: JsonObject) -> tuple[JsonValue, ...]:
    return tuple(value.value for value in extension_values(element, OBSERVATION_CATEGORY))


def _quantity(number: JsonValue, unit: JsonObject) -> Json:
    made: Json = {"value": number}
    shown = string(unit, "display") or string(unit, "code")
    if shown:
        made["unit"] = shown
    return made | {name: unit[name] for name in ("system", "code") if name in unit}


def _append(made: Json, name: str, value: JsonValue) -> None:
    found = made.setdefault(name, [])
    if isinstance(found, list):
        found.append(value)
