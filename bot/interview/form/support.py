"""What of a Questionnaire is understood, what is only noted, and what is refused. Pure.

FHIR allows to ignore extensions that are no modifiers; those known to change what is asked are refused all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from bot.errors import UserFixable
from bot.interview.form.form import Note
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import TRANSLATION, JsonObject, objects, string

CORE = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-"

COMPUTED = (CORE + "cqf-expression", CORE + "cqf-calculatedValue")

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
        if (note := Note(link_id, feature, text)) not in self.warnings:
            self.warnings.append(note)

    def refuse(self, link_id: str, feature: str, text: str) -> None:
        if (note := Note(link_id, feature, text)) not in self.refusals:
            self.refusals.append(note)


_LISTS = yaml.load((Path(__file__).parent / "extensions.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
_BASES = {"core": CORE, "sdc": SDC}


def _urls(name: str) -> frozenset[str]:
    return frozenset(_BASES[base] + each for base, names in _LISTS[name].items() for each in names.split())


def _texts(name: str) -> dict[str, str]:
    return {_BASES[base] + each: text for base, texts in _LISTS[name].items() for each, text in texts.items()}


_REFUSED, _NOTED = _texts("refused"), _texts("noted")
_NAMED = {url for urls in vars(fhir_names).values() if isinstance(urls, tuple) for url in urls}
_KNOWN = _NAMED | {TRANSLATION} | _urls("understood") | _urls("harmless")


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
        elif url not in _KNOWN:
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
