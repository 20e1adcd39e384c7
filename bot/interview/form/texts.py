"""Texts, synonyms and extensions of a Questionnaire, and what of it cannot be asked. Pure.

FHIR allows to ignore extensions that are no modifiers; those known to change what is asked are refused all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.errors import UserFixable
from bot.interview.form.form import Item, Note, Option, Presentation, Text
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    TRANSLATION,
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

_SHOWN = 4


class UnsupportedQuestionnaire(UserFixable):
    """A Questionnaire that would not be asked as it is meant; `reasons` holds every reason."""

    def __init__(self, reasons: Sequence[Note]) -> None:
        shown = "; ".join(reason.as_line() for reason in reasons[:_SHOWN])
        more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
        super().__init__(
            f"This Questionnaire cannot be asked. {shown}{more}. "
            "Change these parts of it, or hand in the resources that they refer to."
        )
        self.reasons = tuple(reasons)


@dataclass(slots=True)
class Notes:
    """Collects warnings and refusals while a Questionnaire is read, so that its author learns of all at once.

    Attributes:
        link_ids: All linkIds of the form.
    """

    link_ids: frozenset[str] = frozenset()
    warnings: list[Note] = field(default_factory=list)
    refusals: list[Note] = field(default_factory=list)

    def warn(self, link_id: str, feature: str, text: str) -> None:
        self._add(self.warnings, Note(link_id, feature, text))

    def refuse(self, link_id: str, feature: str, text: str) -> None:
        self._add(self.refusals, Note(link_id, feature, text))

    def _add(self, notes: list[Note], note: Note) -> None:
        if note not in notes:
            notes.append(note)


CORE = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-"

COMPUTED = (CORE + "cqf-expression", CORE + "cqf-calculatedValue")

_UNDERSTOOD = frozenset(
    {url for name in vars(fhir_names) if name.isupper() for url in getattr(fhir_names, name) if isinstance(url, str)}
    | {TRANSLATION}
    | {
        CORE + name
        for name in (
            "questionnaire-displayCategory", "questionnaire-optionPrefix", "questionnaire-sliderStepValue",
            "questionnaire-supportLink", "questionnaire-usageMode", "ordinalValue", "itemWeight", "valueset-label",
        )
    }
    | {SDC + name for name in ("itemMedia", "itemAnswerMedia", "openLabel", "shortText")}
) - set(COMPUTED)  # fmt: skip

# How it looks, who fills it where, and what is done with the answers later: nothing that changes the questions.
_HARMLESS = frozenset(
    {
        CORE + name
        for name in (
            "artifact-author", "artifact-copyrightLabel", "artifact-versionAlgorithm", "cqf-library", "designNote",
            "questionnaire-baseType", "questionnaire-choiceOrientation", "questionnaire-derivationType",
            "questionnaire-fhirType", "questionnaire-referenceFilter", "questionnaire-referenceProfile",
            "rendering-markdown", "rendering-style", "rendering-xhtml", "structuredefinition-fmm",
            "structuredefinition-standards-status", "structuredefinition-wg",
        )
    }
    | {
        SDC + name
        for name in (
            "assemble-expectation", "assembleContext", "assembledFrom", "choiceColumn", "collapsible", "columnCount",
            "definitionExtract", "definitionExtractValue", "endpoint", "entryMode", "extractAllocateId",
            "itemExtractionContext", "keyboard", "lookupQuestionnaire", "observation-extract-category",
            "observationExtract", "observationExtractCategory", "observationLinkPeriod", "optionalDisplay",
            "performerType", "preferredTerminologyServer", "sourceStructureMap", "targetStructureMap",
            "templateExtract", "templateExtractBundle", "templateExtractContext", "templateExtractValue",
            "unitSupplementalSystem", "width",
        )
    }
)  # fmt: skip

_NOTED = {
    CORE + "rendering-styleSensitive": "the style of the text is not shown in chat",
    SDC + "candidateExpression": "answers are not looked up elsewhere",
    SDC + "contextExpression": "no further resources are shown beside the question",
    SDC + "itemPopulationContext": "the group is not filled in beforehand",
    SDC + "sourceQueries": "nothing is looked up on a server beforehand",
}

_REFUSED = {
    SDC + "subQuestionnaire": "parts of other Questionnaires must be assembled first",
    SDC + "questionnaireAdaptive": "adaptive forms get their questions from a server",
    SDC + "isSubject": "answers about another subject are not supported",
    CORE + "questionnaire-signatureRequired": "signatures are not collected",
    COMPUTED[0]: "texts and values that are computed are supported for minValue and maxValue only",
    COMPUTED[1]: "texts and values that are computed are supported for minValue and maxValue only",
}


def check_extensions(raw: JsonObject, notes: Notes) -> None:
    """Note every extension that is not understood, and refuse what must not be ignored."""
    if raw.get("implicitRules"):
        notes.refuse("", "implicitRules", "rules outside FHIR are not known here")
    for link_id, name, extension in _all(dict(raw), ""):
        url = string(extension, "url")
        feature = url.rpartition("/")[2] or "extension without url"
        if name == "modifierExtension":
            notes.refuse(link_id, feature, f"the modifier extension {url} is not known here")
        elif url in _REFUSED:
            notes.refuse(link_id, feature, _REFUSED[url])
        elif url in _NOTED:
            notes.warn(link_id, feature, _NOTED[url])
        elif url not in _UNDERSTOOD and url not in _HARMLESS:
            notes.warn("", feature, f"the extension {url} is ignored")


def _all(node: JsonValue, link_id: str) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield (linkId, name of the list, extension) for all extensions, but for those inside known ones."""
    if isinstance(node, list):
        for child in node:
            yield from _all(child, link_id)
    if not isinstance(node, dict):
        return
    link_id = string(node, "linkId") or link_id
    for name, child in node.items():
        if name in {"extension", "modifierExtension"}:
            yield from ((link_id, name, extension) for extension in objects(node, name))
        elif name != "contained":
            yield from _all(child, link_id)


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
    return inside_question or code_of(child, *fhir_names.ITEM_CONTROL) in (*_HELP, "unit", "lower", "upper")


def unit_label(raw: JsonObject) -> Text:
    """Return the text of the display item that names the unit."""
    return _labels(raw, "unit")


def read_presentation(raw: JsonObject) -> Presentation:
    """Return what helps to ask an item."""
    absorbed = [child for child in objects(raw, "item") if is_absorbed(child, raw) and not _is_hidden(child)]
    helping = [item_text(child) for child in absorbed if code_of(child, *fhir_names.ITEM_CONTROL) in _HELP]
    saying = [item_text(child) for child in absorbed if not code_of(child, *fhir_names.ITEM_CONTROL)]
    step = extension_value(raw, CORE + "questionnaire-sliderStepValue")
    return Presentation(
        control=code_of(raw, *fhir_names.ITEM_CONTROL),
        help=tuple(helping),
        instructions=tuple(saying),
        entry_format=extension_text(raw, *fhir_names.ENTRY_FORMAT),
        short=extension_text(raw, SDC + "shortText"),
        open_label=extension_text(raw, SDC + "openLabel"),
        category=code_of(raw, CORE + "questionnaire-displayCategory"),
        slider=(_labels(raw, "lower"), _labels(raw, "upper")),
        step=number(step.value) if step else None,
        links=tuple(_strings(raw, CORE + "questionnaire-supportLink")),
        media=tuple(as_object(value.value) for value in extension_values(raw, SDC + "itemMedia")),
    )


def _is_hidden(raw: JsonObject) -> bool:
    hidden = extension_value(raw, *fhir_names.HIDDEN)
    return hidden is not None and hidden.value is True


def _labels(raw: JsonObject, control: str) -> Text:
    named = (child for child in objects(raw, "item") if code_of(child, *fhir_names.ITEM_CONTROL) == control)
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


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Further names, by linkId: of the question, and of its options by code."""

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def with_synonyms(items: tuple[Item, ...], synonyms: Synonyms) -> tuple[Item, ...]:
    """Return items, and all inside them, with their further names; names of what the form does not have are left."""
    return tuple(_with(item, synonyms) for item in items)


def _with(item: Item, synonyms: Synonyms) -> Item:
    named = synonyms.options.get(item.link_id, {})
    return replace(
        item,
        synonyms=synonyms.questions.get(item.link_id, ()),
        yes_said=named.get("true", ()) if item.type == "boolean" else (),
        options=tuple(replace(option, synonyms=named.get(_code(option), ())) for option in item.options),
        children=with_synonyms(item.children, synonyms),
    )


def _code(option: Option) -> str:
    value = option.answer.value
    return string(as_object(value), "code") if isinstance(value, dict) else str(value)
