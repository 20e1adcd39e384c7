"""Assemble a modular Questionnaire (SDC): items that stand for other Questionnaires are replaced by their items. Pure.

Done is what changes questions: items with their linkIds prefixed, variables and launch context, contained resources.
A part that is not at hand, or would repeat linkIds, stays where it is, and is left out when the form is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.interview.form.support import SDC, SUB_QUESTIONNAIRE
from bot.interview.formulas.evaluator import as_json, compile_formula, evaluate
from bot.interview.formulas.formula import BadFormula, FormulaFailed
from bot.interview.values import fhir_names
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extension_values,
    extensions,
    objects,
    split_canonical,
    string,
    walk,
)

PREFIX = "linkIdPrefix"
_CONTEXT = SDC + "assembleContext"
# What of the root of a part belongs to the whole form after it was put in.
_ROOT = (*fhir_names.LAUNCH_CONTEXT, *fhir_names.CONSTRAINT, *fhir_names.TARGET_CONSTRAINT)
_ROOT_VARIABLES = fhir_names.VARIABLE
_MOST_NESTED = 8


ASSEMBLED = "-assembled"  # after the version of a form that was put together


def roots(questionnaires: Sequence[JsonObject]) -> list[JsonObject]:
    """Return those Questionnaires that are no part of another one."""
    items = (item for each in questionnaires for item in walk(objects(each, "item")))
    named = (extension_value(item, *SUB_QUESTIONNAIRE) for item in items)
    parts = {split_canonical(str(each.value))[0] for each in named if each is not None}
    return [each for each in questionnaires if string(each, "url") not in parts]


def assembled(raw: JsonObject, resources: Sequence[JsonObject]) -> JsonObject:
    """Return a Questionnaire with its parts in place, as far as they are among `resources`; the same where it has none.

    Its url stays, and its version says that it was assembled.
    """
    if not any(extension_value(item, *SUB_QUESTIONNAIRE) for item in walk(objects(raw, "item"))):
        return raw
    parts = [each for each in resources if each.get("resourceType") == "Questionnaire" and each is not raw]
    run = _Assembly(parts, {string(item, "linkId") for item in walk(objects(raw, "item"))})
    items = run.items(raw, {}, ())
    if not run.used:
        return raw
    made: dict[str, JsonValue] = {**raw, "item": items}
    if version := string(raw, "version"):
        made["version"] = version + ASSEMBLED
    made["extension"] = [*map(dict, objects(raw, "extension")), *run.root]
    contained = [*objects(raw, "contained"), *(each for part in run.used for each in objects(part, "contained"))]
    if contained:
        made["contained"] = [dict(each) for each in contained]
    return made


@dataclass(slots=True)
class _Assembly:
    """One assembly.

    Attributes:
        link_ids: Those that are taken.
        used: The parts that were put in.
        root: Extensions of their roots that the whole form gets.
    """

    parts: Sequence[JsonObject]
    link_ids: set[str]
    used: list[JsonObject] = field(default_factory=list)
    root: list[JsonValue] = field(default_factory=list)

    def items(self, parent: JsonObject, names: Mapping[str, str], path: tuple[str, ...]) -> list[JsonValue]:
        """Return the items of `parent`; `names` are the variables around it that are plain texts."""
        names = {**names, **_texts(parent)}
        found: list[JsonValue] = []
        for item in objects(parent, "item"):
            part = self._part(item, path)
            inside = self._put_in(item, part, names, path) if part is not None else None
            if inside is not None:
                found += inside
            elif "item" in item:
                found.append({**item, "item": self.items(item, names, path)})
            else:
                found.append(dict(item))
        return found

    def _part(self, item: JsonObject, path: tuple[str, ...]) -> JsonObject | None:
        named = extension_value(item, *SUB_QUESTIONNAIRE)
        if named is None or not isinstance(named.value, str):
            return None
        url, version = split_canonical(named.value)
        same = [each for each in self.parts if string(each, "url") == url]
        found = [each for each in same if not version or string(each, "version") in ("", version)]
        return found[0] if len(found) == 1 and url not in path and len(path) < _MOST_NESTED else None

    def _put_in(
        self, item: JsonObject, part: JsonObject, names: Mapping[str, str], path: tuple[str, ...]
    ) -> list[JsonValue] | None:
        """Return what stands in the place of an item; None where the linkIds would not be unique."""
        names = {**names, **_texts(item)}
        takes = {value.value for value in extension_values(part, _CONTEXT)}
        prefix = names.get(PREFIX, "") if PREFIX in takes else ""
        wanted = [prefix + string(each, "linkId") for each in walk(objects(part, "item"))]
        if len(set(wanted)) < len(wanted) or self.link_ids.intersection(wanted):
            return None
        self.link_ids.update(wanted)
        self.used.append(part)
        self.root += [dict(each) for each in extensions(part, *_ROOT) if dict(each) not in self.root]
        variables = [*extensions(item, *_ROOT_VARIABLES), *extensions(part, *_ROOT_VARIABLES)]
        inside = self.items(_prefixed(part, prefix), names, (*path, string(part, "url")))
        return [
            {**each, "extension": [*map(dict, variables), *map(dict, objects(each, "extension"))]}
            if variables
            else each
            for each in inside
            if isinstance(each, dict)
        ]


def _prefixed(node: JsonObject, prefix: str) -> JsonObject:
    """Return items with a prefix before their linkIds, and before those that their conditions name."""
    made: dict[str, JsonValue] = dict(node)
    if not prefix:
        return made
    if "linkId" in made:
        made["linkId"] = prefix + string(node, "linkId")
    if "enableWhen" in made:
        made["enableWhen"] = [
            {**each, "question": prefix + string(each, "question")} for each in objects(node, "enableWhen")
        ]
    if "item" in made:
        made["item"] = [dict(_prefixed(each, prefix)) for each in objects(node, "item")]
    return made


def _texts(element: JsonObject) -> dict[str, str]:
    """Return the variables of an element that are a fixed text."""
    found: dict[str, str] = {}
    for value in extension_values(element, *fhir_names.VARIABLE):
        expression = as_object(value.value)
        try:
            formula = compile_formula(string(expression, "expression"))
            constant = not formula.reads.variables and not formula.reads.own and not formula.reads.everything
            given = as_json(evaluate(formula, {}, {}, now="2000-01-01T00:00:00Z")) if constant else []
        except (BadFormula, FormulaFailed):
            continue
        if len(given) == 1 and isinstance(given[0], str):
            found[string(expression, "name")] = given[0]
    return found
