"""What of a Questionnaire is understood, what is left out with a warning, and what refuses it. Pure.

Little refuses a form: what cannot be held to is left out and named, so that staff can see to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from bot.errors import UserFixable
from bot.interview.form.form import Note, Stated
from bot.interview.form.indexed import read_stated
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import TRANSLATION, JsonObject, extension_values, objects, string

CORE = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-"

COMPUTED = (CORE + "cqf-expression", CORE + "cqf-calculatedValue")
CRITICAL = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-rendering-criticalExtension"
SUB_QUESTIONNAIRE = (SDC + "subQuestionnaire", CORE + "sub-questionnaire")

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
        items: All items of the form as they are written, by linkId.
        strict: Whether what would be left out is a reason to refuse the form.
        gaps: Those of the warnings that say what is not done as the form means it.
    """

    items: Mapping[str, JsonObject] = field(default_factory=dict)
    strict: bool = False
    warnings: list[Note] = field(default_factory=list)
    gaps: list[Note] = field(default_factory=list)
    refusals: list[Note] = field(default_factory=list)

    _stated: dict[str, Stated] = field(default_factory=dict)

    def stated(self, link_id: str) -> Stated:
        """Return what an item demands of its answers."""
        if link_id not in self._stated:
            self._stated[link_id] = read_stated(self.items[link_id])
        return self._stated[link_id]

    def warn(self, link_id: str, feature: str, text: str) -> None:
        if (note := Note(link_id, feature, text)) not in self.warnings:
            self.warnings.append(note)

    def leave_out(self, link_id: str, feature: str, text: str) -> None:
        """Say what is not done as the form means it."""
        (self.refuse if self.strict else self.warn)(link_id, feature, text)
        self.gaps.append(Note(link_id, feature, text))

    def miss(self, link_id: str, feature: str, text: str) -> None:
        """Warn of what is missing for the form to be asked in full; no reason to refuse it."""
        self.warn(link_id, feature, text)
        self.gaps.append(Note(link_id, feature, text))

    def refuse(self, link_id: str, feature: str, text: str) -> None:
        if (note := Note(link_id, feature, text)) not in self.refusals:
            self.refusals.append(note)


_LISTS = yaml.load((Path(__file__).parent / "extensions.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
_BASES = {"core": CORE, "sdc": SDC}


def _urls(name: str) -> frozenset[str]:
    return frozenset(_BASES[base] + each for base, names in _LISTS[name].items() for each in names.split())


def _texts(name: str) -> dict[str, str]:
    return {_BASES[base] + each: text for base, texts in _LISTS[name].items() for each, text in texts.items()}


_LEFT_OUT, _NOTED = _texts("left_out"), _texts("noted")
_NAMED = {url for urls in vars(fhir_names).values() if isinstance(urls, tuple) for url in urls}
_KNOWN = _NAMED | {TRANSLATION} | _urls("understood") | _urls("harmless")


def check_extensions(raw: JsonObject, notes: Notes) -> None:
    """Note every extension that is not understood; refuse what FHIR forbids to ignore in the form as a whole."""
    if raw.get("implicitRules"):
        notes.refuse("", "implicitRules", "rules outside FHIR are not known here")
    for link_id, name, extension in _all(dict(raw), ""):
        url = string(extension, "url")
        feature = url.rpartition("/")[2] or "extension without url"
        if name == "modifierExtension":
            # That of an item leaves out the item: see `modifier_of`.
            if not link_id and not _is_understood(extension):
                notes.refuse("", feature, f"the modifier extension {url} is not known here")
        elif url in _LEFT_OUT:
            if extension.get("valueBoolean") is not False:
                notes.leave_out(link_id, feature, _LEFT_OUT[url])
        elif url in _NOTED:
            notes.miss(link_id, feature, _NOTED[url])
        elif url not in _KNOWN:
            notes.miss("", feature, f"the extension {url} is ignored")


def _is_understood(modifier: JsonObject) -> bool:
    """Say whether a modifier extension only demands extensions to be understood that are."""
    named = extension_values({"extension": [dict(modifier)]}, CRITICAL)
    return bool(named) and all(each.value in _KNOWN for each in named)


def modifier_of(item: JsonObject) -> str:
    """Return the first modifier extension of an item or a part of it: without knowing it, the item cannot be asked."""
    own: dict[str, JsonValue] = {name: value for name, value in item.items() if name not in {"item", "linkId"}}
    modifiers = (each for _, name, each in _all(own, "") if name == "modifierExtension")
    return next((string(each, "url") or "without url" for each in modifiers if not _is_understood(each)), "")


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
