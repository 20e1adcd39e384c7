"""What people read of a Questionnaire: texts and translations, help, and synonyms that come with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from bot.interview.form.form import Item, Option, Presentation, Text, read_text
from bot.interview.form.support import CORE, SDC
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import (
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

_HELP = ("help", "flyover")
# A text item with such a control holds a text to show, which forms of Helsenorge write so; nobody answers it.
_SHOWN = ("help", "inline", "sidebar", "highlight")


def item_text(raw: JsonObject) -> Text:
    """Return what an item asks; where it has no text, what its code means, or what it is called in short."""
    said = (
        read_text(raw, "text"),
        *(read_text(code, "display") for code in objects(raw, "code")),
        extension_text(raw, SDC + "shortText"),
    )
    return next((text for text in said if text.base.strip() or text.translations), Text())


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


def as_display(raw: JsonObject) -> JsonObject:
    """Return a text item that only holds a text to show as the display item that it is meant to be."""
    if raw.get("type") != "text" or code_of(raw, *fhir_names.ITEM_CONTROL) not in _SHOWN:
        return raw
    return {name: value for name, value in raw.items() if name not in {"required", "repeats", "readOnly"}} | {
        "type": "display"
    }


def is_absorbed(child: JsonObject, parent: JsonObject) -> bool:
    """Say whether a display item is shown with its parent instead of by itself."""
    child = as_display(child)
    if child.get("type") != "display":
        return False
    inside_question = "linkId" in parent and parent.get("type") != "group"
    return inside_question or code_of(child, *fhir_names.ITEM_CONTROL) in (*_HELP, "unit", "lower", "upper")


def read_presentation(raw: JsonObject) -> Presentation:
    """Return what helps to ask an item."""
    helping: list[Text] = []
    saying: list[Text] = []
    for child in objects(raw, "item"):
        hidden, control = extension_value(child, *fhir_names.HIDDEN), code_of(child, *fhir_names.ITEM_CONTROL)
        if is_absorbed(child, raw) and not (hidden is not None and hidden.value is True):
            helping += [item_text(child)] if control in _HELP else []
            saying += [item_text(child)] if not control else []
    step = extension_value(raw, CORE + "questionnaire-sliderStepValue")
    links = (value.value for value in extension_values(raw, CORE + "questionnaire-supportLink"))
    return Presentation(
        control=code_of(raw, *fhir_names.ITEM_CONTROL),
        help=tuple(helping),
        instructions=tuple(saying),
        entry_format=extension_text(raw, *fhir_names.ENTRY_FORMAT),
        short=extension_text(raw, SDC + "shortText"),
        open_label=extension_text(raw, SDC + "openLabel"),
        category=code_of(raw, CORE + "questionnaire-displayCategory"),
        slider=(label_beside(raw, "lower"), label_beside(raw, "upper")),
        step=number(step.value) if step else None,
        links=tuple(link for link in links if isinstance(link, str)),
        media=tuple(as_object(value.value) for value in extension_values(raw, SDC + "itemMedia")),
    )


def label_beside(raw: JsonObject, control: str) -> Text:
    """Return the text of the display item with this role: ``unit``, or ``lower`` or ``upper`` end of a slider."""
    named = (child for child in objects(raw, "item") if code_of(child, *fhir_names.ITEM_CONTROL) == control)
    return next((item_text(child) for child in named), Text())


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


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Further names, by linkId: of the question, and of its options by code."""

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def with_synonyms(items: tuple[Item, ...], synonyms: Synonyms) -> tuple[Item, ...]:
    """Return items, and all inside them, with their further names; names of what the form does not have are left."""
    return tuple(
        replace(
            item,
            synonyms=synonyms.questions.get(item.link_id, ()),
            yes_said=named.get("true", ()) if item.type == "boolean" else (),
            options=tuple(
                replace(option, synonyms=(*named.get(_code(option), ()), *option.synonyms)) for option in item.options
            )
            if named
            else item.options,
            children=with_synonyms(item.children, synonyms),
        )
        for item in items
        for named in (synonyms.options.get(item.link_id, {}),)
    )


def _code(option: Option) -> str:
    value = option.answer.value
    return string(as_object(value), "code") if isinstance(value, dict) else str(value)
