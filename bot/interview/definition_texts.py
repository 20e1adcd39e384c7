"""Read the texts of a Questionnaire, with their translations, and what helps to ask. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.interview import sdc
from bot.interview.definition_extensions import CORE, SDC
from bot.interview.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    number,
    objects,
    string,
    translations,
)
from bot.interview.form import Presentation, Text

_HELP = ("help", "flyover")


def read_text(element: JsonObject, name: str) -> Text:
    """Return the text `name` with its translations."""
    return Text(string(element, name), translations(element, name))


def item_text(raw: JsonObject) -> Text:
    """Return what an item asks; where it has no text, what its code means."""
    if raw.get("text"):
        return read_text(raw, "text")
    return next((read_text(code, "display") for code in objects(raw, "code") if code.get("display")), Text())


def extension_text(element: JsonObject, *urls: str) -> Text:
    """Return the text that an extension holds."""
    found = next(iter(extensions(element, *urls)), {})
    name = "valueMarkdown" if "valueMarkdown" in found else "valueString"
    return read_text(found, name)


def code_of(element: JsonObject, *urls: str) -> str:
    """Return the first code of the concept that an extension holds."""
    value = extension_value(element, *urls)
    concept = as_object(value.value) if value else {}
    return next((string(coding, "code") for coding in objects(concept, "coding")), "")


def is_absorbed(child: JsonObject, parent: JsonObject) -> bool:
    """Say whether a display item is shown with its parent instead of by itself."""
    if child.get("type") != "display":
        return False
    inside_question = "linkId" in parent and parent.get("type") != "group"
    return inside_question or code_of(child, *sdc.ITEM_CONTROL) in (*_HELP, "unit", "lower", "upper")


def unit_label(raw: JsonObject) -> Text:
    """Return the text of the display item that names the unit."""
    return _labels(raw, "unit")


def read_presentation(raw: JsonObject) -> Presentation:
    """Return what helps to ask an item."""
    absorbed = [child for child in objects(raw, "item") if is_absorbed(child, raw) and not _is_hidden(child)]
    helping = [item_text(child) for child in absorbed if code_of(child, *sdc.ITEM_CONTROL) in _HELP]
    saying = [item_text(child) for child in absorbed if not code_of(child, *sdc.ITEM_CONTROL)]
    step = extension_value(raw, CORE + "questionnaire-sliderStepValue")
    return Presentation(
        control=code_of(raw, *sdc.ITEM_CONTROL),
        help=tuple(helping),
        instructions=tuple(saying),
        entry_format=extension_text(raw, *sdc.ENTRY_FORMAT),
        short=extension_text(raw, SDC + "shortText"),
        open_label=extension_text(raw, SDC + "openLabel"),
        category=code_of(raw, CORE + "questionnaire-displayCategory"),
        slider=(_labels(raw, "lower"), _labels(raw, "upper")),
        step=number(step.value) if step else None,
        links=tuple(_strings(raw, CORE + "questionnaire-supportLink")),
        media=tuple(as_object(value.value) for value in extension_values(raw, SDC + "itemMedia")),
    )


def _is_hidden(raw: JsonObject) -> bool:
    hidden = extension_value(raw, *sdc.HIDDEN)
    return hidden is not None and hidden.value is True


def _labels(raw: JsonObject, control: str) -> Text:
    named = (child for child in objects(raw, "item") if code_of(child, *sdc.ITEM_CONTROL) == control)
    return next((item_text(child) for child in named), Text())


def _strings(raw: JsonObject, url: str) -> Iterator[str]:
    return (value.value for value in extension_values(raw, url) if isinstance(value.value, str))


def languages(raw: JsonObject, base: str) -> tuple[str, ...]:
    """Return the base language, then all that something on the form is translated to."""
    found = dict.fromkeys([base] if base else [])
    found.update(dict.fromkeys(_translated_to(raw)))
    return tuple(found)


def _translated_to(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name in node:
            if name.startswith("_"):
                yield from translations(node, name[1:])
    children: Iterable[object] = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in children:
        yield from _translated_to(child)


def with_label(element: JsonObject, name: str, designations: Sequence[tuple[str, str]]) -> Text:
    """Return a display text whose translations come from extensions or from a code system."""
    own = read_text(element, name)
    return Text(own.base, {**dict(designations), **own.translations} if designations else own.translations)
