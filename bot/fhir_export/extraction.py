"""Where the answers of a response stand in their form: what both ways of extraction walk along. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.interview.fhir_json import JsonObject, objects, string

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
