"""Observations extracted from a response, as the Questionnaire marks them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bot.handover.subject import Export, Json, Resource, identifier, urn
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
    value_of,
    walk,
)
from bot.interview.values.fhir_names import UNIT

SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"
OBSERVATION = SDC + "sdc-questionnaire-observationExtract"
OBSERVATION_CATEGORY = SDC + "sdc-questionnaire-observation-extract-category"
OBSERVATION_ENTRY = SDC + "sdc-questionnaire-observationExtractEntry"
TEMPLATE = SDC + "sdc-questionnaire-templateExtract"
TEMPLATE_BUNDLE = SDC + "sdc-questionnaire-templateExtractBundle"
TEMPLATE_CONTEXT = SDC + "sdc-questionnaire-templateExtractContext"
TEMPLATE_VALUE = SDC + "sdc-questionnaire-templateExtractValue"
ALLOCATE_ID = SDC + "sdc-questionnaire-extractAllocateId"
OTHER_WAYS = {
    SDC + "sdc-questionnaire-definitionExtract": "definition-based extraction",
    SDC + "sdc-questionnaire-definitionExtractValue": "definition-based extraction",
    SDC + "sdc-questionnaire-itemExtractionContext": "definition-based extraction",
    SDC + "sdc-questionnaire-targetStructureMap": "extraction by a StructureMap",
    OBSERVATION_ENTRY: "sdc-questionnaire-observationExtractEntry",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """One instance of a group, or one answer to a question.

    Attributes:
        asked: The item of the Questionnaire.
        item: The item of the response.
        answer: The answer, for questions.
        key: Tells this spot from every other of the response.
    """

    asked: JsonObject
    item: JsonObject
    answer: JsonObject | None
    key: str

    @property
    def link_id(self) -> str:
        return string(self.asked, "linkId")

    @property
    def alone(self) -> JsonObject:
        """The item of the response with this answer only."""
        return self.item if self.answer is None else {**self.item, "answer": [dict(self.answer)]}

    def inner(self) -> list[JsonObject]:
        """Return the items of the response directly inside."""
        return objects(self.item if self.answer is None else self.answer, "item")


def spots(asked: Sequence[JsonObject], items: Sequence[JsonObject], around: str = "") -> Iterator[Spot]:
    """Yield where `asked` were answered, in the order of the form; nothing inside them."""
    for question in asked:
        link_id = string(question, "linkId")
        number = 0
        for item in items:
            if string(item, "linkId") != link_id:
                continue
            answers: list[JsonObject | None] = [*objects(item, "answer")]
            for answer in [None] if question.get("type") == "group" else answers:
                yield Spot(question, item, answer, f"{around}/{link_id}[{number}]")
                number += 1


def inside(spot: Spot) -> Iterator[Spot]:
    """Yield the spots directly inside one."""
    return spots(objects(spot.asked, "item"), spot.inner(), spot.key)


_COPIED = {"boolean": "Boolean", "time": "Time", "dateTime": "DateTime", "string": "String", "quantity": "Quantity"}
_RELATIONS = ("component", "member", "derived", "independent")


@dataclass(frozen=True, slots=True)
class Around:
    """What the items above say about those below.

    Attributes:
        everywhere: Whether all coded items are extracted.
        categories: CodeableConcepts for the Observations.
        parent: The Observation of the nearest item above that has one.
    """

    everywhere: bool
    categories: tuple[JsonValue, ...] = ()
    parent: Json | None = None
    parent_urn: str = ""


@dataclass(slots=True)
class Extraction:
    """Collects the Observations of one response."""

    export: Export
    response: Resource
    made: list[Resource] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, questionnaire: JsonObject) -> None:
        root = extension_value(questionnaire, OBSERVATION)
        around = Around(root is not None and root.value is True, _categories(questionnaire))
        self._walk(spots(objects(questionnaire, "item"), objects(self.response.body, "item")), around)

    def _walk(self, found: Iterable[Spot], around: Around) -> None:
        for spot in found:
            here = replace(around, categories=_categories(spot.asked) or around.categories)
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
        said = [value.value for value in extension_values(spot.asked, OBSERVATION)]
        words = {word for word in said if isinstance(word, str)}
        if words and any(isinstance(each, bool) for each in said):
            self._note(spot, "observationExtract says both true or false and a relation")
            return set()
        if words - set(_RELATIONS):
            self._note(spot, "observationExtract names an unknown relation")
            return set()
        wanted = words or ({"independent"} if said == [True] or (not said and around.everywhere) else set())
        if wanted and not codes:
            if said:
                self._note(spot, "there is no code to extract it with")
            return set()
        return wanted

    def _observation(self, spot: Spot, codes: list[JsonValue], relations: set[str], around: Around) -> None:
        value = self._value(spot)
        if spot.answer is not None and value is None:
            self._walk(inside(spot), around)
            return
        own = urn(self.export, "observation", spot.key)
        made = self._head(own, codes, around)
        if value is not None:
            made |= {value[0]: value[1]}
        position = len(self.made)
        self._walk(inside(spot), replace(around, parent=made, parent_urn=own))
        if spot.answer is None and not made.keys() & {"component", "hasMember"}:
            return  # a panel of nothing
        self.made.insert(position, Resource(own, made, replaces=True))
        if around.parent is not None:
            if "member" in relations:
                _append(around.parent, "hasMember", {"reference": own})
            if "derived" in relations:
                _append(made, "derivedFrom", {"reference": around.parent_urn})

    def _component(self, spot: Spot, codes: list[JsonValue], around: Around) -> None:
        value = self._value(spot)
        if value is not None and around.parent is not None:
            _append(around.parent, "component", {"code": {"coding": codes}, value[0]: value[1]})
        self._walk(inside(spot), around)

    def _head(self, own: str, codes: list[JsonValue], around: Around) -> Json:
        """Return all but the value, as SDC says where it comes from."""
        response = self.response.body
        made: Json = {"resourceType": "Observation", "identifier": [identifier(own)]}
        made |= {name: response[name] for name in ("basedOn",) if name in response}
        made["status"] = "amended" if self.export.status == "amended" else "final"
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
        made["derivedFrom"] = [self.response.reference]
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
        note = f"{spot.link_id}: not extracted: {text}"
        if note not in self.notes:
            self.notes.append(note)


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


def unsupported_extraction(questionnaire: JsonObject) -> tuple[Note, ...]:
    """Return every kind of extraction that will not happen, and every template that cannot be found."""
    contained = {"#" + string(each, "id") for each in objects(questionnaire, "contained")}
    notes: list[Note] = []
    for element in (questionnaire, *walk(objects(questionnaire, "item"))):
        link_id = string(element, "linkId")
        for url, what in OTHER_WAYS.items():
            if extensions(element, url):
                notes.append(Note(link_id, "extraction", f"{what} is not supported"))
        for reference in _templates(element):
            if reference not in contained:
                notes.append(Note(link_id, "extraction", f"the template {reference[:80]!r} is not contained"))
    return tuple(dict.fromkeys(notes))


def _templates(element: JsonObject) -> list[str]:
    named = [extension_value(each, "template") for each in extensions(element, TEMPLATE)]
    named += extension_values(element, TEMPLATE_BUNDLE)
    return [string(as_object(each.value if each else None), "reference") for each in named]
