"""What a finished response becomes: Observations, what templates and definitions make, all of it checked. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.handover.definitions import Definitions
from bot.handover.observations import Observations
from bot.handover.soundness import sound
from bot.handover.spots import SDC, Ground
from bot.handover.subject import Export, Resource, moment
from bot.handover.templates import Templates, missing_templates
from bot.interview.form.form import Note
from bot.interview.values.fhir_json import JsonObject, extensions, objects, string, walk

STRUCTURE_MAP = SDC + "sdc-questionnaire-targetStructureMap"


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of a response.

    Attributes:
        resources: In the order in which they go out.
        notes: What was not extracted and why: linkIds, paths and formulas, no patient text.
        lost: linkId and type of what does not go out, or not as a whole; both empty where nothing does.
    """

    resources: tuple[Resource, ...] = ()
    notes: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()


def extract(export: Export, response: Resource) -> Extracted:
    """Extract what a final response becomes; what would be refused is left out and noted."""
    if export.interview is None or not export.is_final:
        return Extracted()
    ground = Ground(export, response, export.interview.questionnaire, moment(export.at))
    ground.notes += [note.as_line() for note in unsupported_extraction(ground.questionnaire)]
    found: list[Resource] = []
    try:
        for collector in (Observations(ground), Templates(ground), Definitions(ground)):
            collector.run()
        found = sound(ground) if ground.made else []
    except Exception as error:
        # Forms are written by others, and the response must go out whatever is in them.
        ground.note("", f"extraction failed ({type(error).__name__}): nothing is extracted")
        found, ground.lost = [], [("", "")]
    return Extracted(tuple(found), tuple(ground.notes), tuple(ground.lost))


def unsupported_extraction(questionnaire: JsonObject) -> tuple[Note, ...]:
    """Return every kind of extraction that will not happen, and every template that cannot be found."""
    notes: list[Note] = []
    for element in (questionnaire, *walk(objects(questionnaire, "item"))):
        if extensions(element, STRUCTURE_MAP):
            what = "extraction by a StructureMap is not supported"
            notes.append(Note(string(element, "linkId"), "extraction", what))
    return tuple(dict.fromkeys([*notes, *missing_templates(questionnaire)]))
