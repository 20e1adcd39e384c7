"""Which ways of extraction a form asks for that are not supported, by name. Pure."""

from __future__ import annotations

from bot.fhir_export.extraction import OTHER_WAYS, TEMPLATE, TEMPLATE_BUNDLE
from bot.interview.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    string,
    walk,
)
from bot.interview.form import Note


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
