"""Definition-based extraction (SDC): answers put where `item.definition` says. Pure.

No StructureDefinition of a profile is at hand: types and cardinalities are those of R4's resources, slices are told
apart by their names only, and what a profile fixes has to be said in the form (`definitionExtractValue`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.handover.elements import DoesNotFit, Element, chosen, coerced, elements, is_known
from bot.handover.entries import Control, note_control, resource_of
from bot.handover.spots import SDC, CannotFill, Ground, Scope, Spot, formula_of, inside
from bot.handover.subject import Json, Resource, urn
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    extension_value,
    extensions,
    objects,
    split_canonical,
    string,
    value_of,
    walk,
)
from bot.interview.values.fhir_names import RESOURCE_TYPES, UNIT
from bot.interview.values.primitives import PRIMITIVES

DEFINITION = SDC + "sdc-questionnaire-definitionExtract"
DEFINITION_VALUE = SDC + "sdc-questionnaire-definitionExtractValue"
EXTRACTION_CONTEXT = SDC + "sdc-questionnaire-itemExtractionContext"
_BASES = ("http://hl7.org/fhir/StructureDefinition/", "http://hl7.org/fhir/")
_QUERY_TYPE = re.compile(r"/?([A-Z][A-Za-z]+)(?:[?/].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a path: ``identifier:ahv`` is `name` and `slice`."""

    name: str
    slice: str = ""

    @property
    def base(self) -> str:
        """The name without the mark of a choice."""
        return self.name.removesuffix("[x]")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a value goes.

    Attributes:
        canonical: Of the resource or profile: the type alone for R4's own.
        root: The type of the resource, as the path says.
        steps: The path below it.
    """

    canonical: str
    root: str
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, definition: str) -> Target | None:
        """Read ``canonical#Type.path``; None where there is no path."""
        canonical, hash_, path = definition.partition("#")
        parts = path.split(".")
        if not hash_ or not parts[0]:
            return None
        steps = (Step(name, slice_) for name, _, slice_ in (part.partition(":") for part in parts[1:]))
        return cls(_canonical(canonical), parts[0].partition(":")[0], tuple(steps))


def _canonical(url: str) -> str:
    plain = split_canonical(url)[0]
    names = (plain.removeprefix(base) for base in _BASES if plain.startswith(base))
    return next((name for name in names if name in RESOURCE_TYPES), plain)


@dataclass(frozen=True, slots=True)
class Value:
    """A value for one place.

    Attributes:
        target: The place.
        json: The value.
        type: Its FHIR type; empty where only its JSON is known.
        unit: The Coding of its unit, for a number that has one.
        is_answer: Whether the patient gave it; else the form did.
    """

    target: Target
    json: JsonValue
    type: str = ""
    unit: JsonObject = field(default_factory=dict)
    is_answer: bool = False


@dataclass(slots=True, eq=False)
class Draft:
    """A resource that is being filled.

    Attributes:
        canonical: Its profile, or its type.
        kind: Its type.
        by_type: Whether any definition of its type is for it (`itemExtractionContext` names no profile).
        body: What there is of it so far.
        problem: Why it cannot be made; empty as long as it can.
    """

    canonical: str
    kind: str
    by_type: bool
    body: Json
    problem: str = ""

    def takes(self, target: Target) -> bool:
        return target.root == self.kind and (self.by_type or target.canonical == self.canonical)


Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """What the items above say.

    Attributes:
        scope: What formulas see.
        drafts: The resources being filled, the innermost first.
        bound: The elements that groups above stand for, with their draft and path.
        loose: The list elements that the items of one group instance began: those of another are never mixed with them.
    """

    scope: Scope
    drafts: tuple[Draft, ...] = ()
    bound: tuple[tuple[Draft, Path, Json], ...] = ()
    loose: dict[tuple[Draft, Path], Json] = field(default_factory=dict)

    def draft_for(self, target: Target) -> Draft | None:
        return next((draft for draft in self.drafts if draft.takes(target)), None)


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where a walk along a path has come: an object, its type, and the innermost list element begun by items."""

    node: Json
    kind: str
    loose: Path = ()


@dataclass(frozen=True, slots=True)
class _Writer:
    """Puts values into one draft."""

    draft: Draft
    around: Around

    def begin(self, path: Path) -> Json | None:
        """Begin the element that a group instance stands for: a new one where R4 has a list of them.

        Returns:
            None for a choice of types of which only the items inside can tell which one it is.
        """
        stand = self._walk(path, create=True)
        if path[-1].name.endswith("[x]") and path[-1].slice not in elements(stand.kind):
            return None
        element = self._element(stand, path, "")
        if element.is_primitive:
            raise DoesNotFit(f"{self._named(path)} has no parts")
        made: Json = {}
        if element.many:
            _list(stand.node, element.name).append(made)
            return made
        found = stand.node.setdefault(element.name, made)
        return found if isinstance(found, dict) else made

    def put(self, values: Sequence[Value]) -> list[str]:
        """Put values that belong together: into list elements begun before where all of them fit, else into new ones.

        Returns:
            What is wrong with the places of values that were therefore not put.
        """
        problems: list[str] = []
        for value in values:
            try:
                stand = self._walk(value.target.steps, create=False)
                taken = stand is not None and stand.loose and not self._is_free(stand, value)
            except DoesNotFit:
                continue
            if taken:
                for key in [key for key in self.around.loose if key[1][: len(stand.loose)] == stand.loose]:
                    del self.around.loose[key]
        for value in values:
            try:
                self._put(self._walk(value.target.steps, create=True), value)
            except DoesNotFit as error:
                problems.append(str(error))
        return problems

    def _put(self, stand: _Stand, value: Value) -> None:
        element, made = self._fitted(stand, value)
        if element.many:
            there = _list(stand.node, element.name)
            if value.is_answer or made not in there:
                there.append(made)
            return
        if not self._is_free(stand, value):
            raise CannotFill(f"{self._named(value.target.steps)}: several values for one place")
        before = stand.node.get(element.name)
        stand.node[element.name] = {**before, **made} if isinstance(before, dict) and isinstance(made, dict) else made
        if value.unit and element.name == "value" and not stand.node.keys() & {"unit", "code"}:
            stand.node.update({name: part for name, part in _quantity(None, value.unit).items() if name != "value"})

    def _is_free(self, stand: _Stand, value: Value) -> bool:
        """Say whether the place of a value is empty, or holds nothing else."""
        element, made = self._fitted(stand, value)
        if element.many:
            return True
        taken = {
            each.name for each in elements(stand.kind).values() if element.choice and each.choice == element.choice
        }
        if (taken - {element.name}) & stand.node.keys():
            return False
        before = stand.node.get(element.name)
        if isinstance(before, dict) and isinstance(made, dict):
            return all(before[name] == made[name] for name in before.keys() & made.keys())
        return before is None or before == made

    def _fitted(self, stand: _Stand, value: Value) -> tuple[Element, JsonValue]:
        path = value.target.steps
        kind, json = value.type, value.json
        if value.unit:
            offered = {each.type for each in elements(stand.kind).values() if each.choice == path[-1].base}
            if "Quantity" in offered or self._element(stand, path, kind, json).type == "Quantity":
                kind, json = "Quantity", _quantity(json, value.unit)
        element = self._element(stand, path, kind, json)
        try:
            return element, coerced(json, element)
        except DoesNotFit as error:
            raise CannotFill(f"{self._named(path)}: {error}") from None

    def _walk(self, path: Path, *, create: bool) -> Any:
        """Return where the last step of a path stands; None where nothing is there yet, unless it shall be created."""
        stand, start = _Stand(self.draft.body, self.draft.kind), 0
        for draft, bound, node in self.around.bound:
            if draft is self.draft and path[: len(bound)] == bound and start < len(bound) < len(path):
                stand, start = _Stand(node, self.kind_of(bound)), len(bound)
        for end in range(start + 1, len(path)):
            here = path[:end]
            element = self._element(stand, here, "", following=path[end])
            if element.is_primitive or element.type == "Resource":
                raise DoesNotFit(f"{self._named(here)} has no parts")
            key = (self.draft, here)
            found = self.around.loose.get(key) if element.many else stand.node.get(element.name)
            if not isinstance(found, dict):
                if not create:
                    return None
                found = {}
                if element.many:
                    _list(stand.node, element.name).append(found)
                    self.around.loose[key] = found
                else:
                    stand.node[element.name] = found
            stand = _Stand(found, element.type, here if element.many else stand.loose)
        return stand

    def kind_of(self, path: Path) -> str:
        """Return the type of the element at a path."""
        kind = self.draft.kind
        for number in range(len(path)):
            kind = self._element(_Stand({}, kind), path[: number + 1], "").type
        return kind

    def _element(
        self, stand: _Stand, path: Path, kind: str, json: JsonValue = None, following: Step | None = None
    ) -> Element:
        """Return the element that the last step of a path means at the type where it stands."""
        step, known = path[-1], elements(stand.kind)
        for name in (step.slice, step.name):
            if name in known and (name == step.name or known[name].choice):
                return known[name]
        offered = [each for each in known.values() if each.choice == step.base]
        if not offered:
            raise DoesNotFit(f"R4 has no element {self._named(path)}")
        if following is not None:
            there = [each for each in offered if each.name in stand.node]
            fitting = [each for each in there + offered if following.base in _names(each.type)]
            if not fitting:
                raise DoesNotFit(f"R4 has no element {self._named((*path, following))}")
            return fitting[0]
        try:
            return chosen(stand.kind, step.base, json, kind)
        except DoesNotFit as error:
            raise CannotFill(f"{self._named(path)}: {error}") from None

    def _named(self, path: Path) -> str:
        return ".".join((self.draft.kind, *(step.name for step in path)))


def _names(kind: str) -> set[str]:
    return {each.choice or each.name for each in elements(kind).values()} | set(elements(kind))


def _list(node: Json, name: str) -> list[JsonValue]:
    found = node.setdefault(name, [])
    if not isinstance(found, list):
        found = node[name] = [found]
    return found


def _quantity(number: JsonValue, unit: JsonObject) -> Json:
    shown = string(unit, "display") or string(unit, "code")
    made: Json = {"value": number, "unit": shown} if shown else {"value": number}
    return made | {name: unit[name] for name in ("system", "code") if name in unit}


_MARKS = (DEFINITION, EXTRACTION_CONTEXT)


@dataclass(slots=True)
class Definitions:
    """Collects the resources that the definitions of one form lead to."""

    ground: Ground

    def run(self) -> None:
        asked = self.ground.questionnaire
        marks = (*_MARKS, DEFINITION_VALUE)
        if any(extensions(each, *marks) for each in (asked, *walk(objects(asked, "item")))):
            self._at(asked, None, Around(self.ground.root()))

    def _walk(self, found: Iterable[Spot], around: Around) -> None:
        for spot in found:
            here = replace(around, scope=self.ground.scope(spot, around.scope))
            self._at(spot.asked, spot, here if spot.answer is not None else replace(here, loose={}))

    def _at(self, element: JsonObject, spot: Spot | None, around: Around) -> None:
        """Fill what is said at one place, then what is inside it."""
        marks = extensions(element, *_MARKS)
        begun = [self._begin(element, mark) for mark in marks]
        drafts = tuple(draft for draft in begun if draft is not None)
        here = replace(around, drafts=(*drafts, *around.drafts))
        here = self._filled(element, spot, here, alone=bool(drafts))
        position = len(self.ground.made)
        self._walk(inside(spot) if spot is not None else self.ground.spots(), here)
        for number, (draft, mark) in enumerate(zip(begun, marks, strict=True)):
            resource = self._ended(draft, mark, here.scope, spot, number) if draft is not None else None
            if resource is not None:
                self.ground.made.insert(position, resource)
                position += 1

    def _begin(self, element: JsonObject, mark: JsonObject) -> Draft | None:
        """Return the resource that an extension begins; None where it names no type that can be made."""
        if string(mark, "url") == DEFINITION:
            named = extension_value(mark, "definition")
            canonical = _canonical(str(named.value)) if named is not None else ""
            kind = canonical if canonical in RESOURCE_TYPES else self._type_of(canonical)
        else:
            value = value_of(mark)
            said = value.value if value is not None else None
            match = _QUERY_TYPE.fullmatch(said if isinstance(said, str) else string(as_object(said), "expression"))
            kind = canonical = match[1] if match and match[1] in RESOURCE_TYPES else ""
        if not is_known(kind):
            what = f"a resource of type {kind}" if kind else "a definition that names no resource type"
            self.ground.note(string(element, "linkId"), f"{what} cannot be made")
            return None
        body: Json = {"resourceType": kind}
        if canonical != kind:
            body["meta"] = {"profile": [canonical]}
        return Draft(canonical, kind, string(mark, "url") == EXTRACTION_CONTEXT, body)

    def _type_of(self, canonical: str) -> str:
        """Return the type of a profile, which the form names wherever it names an element of it."""
        everything = (self.ground.questionnaire, *walk(objects(self.ground.questionnaire, "item")))
        named = [string(each, "definition") for each in everything]
        values = (value for each in everything for value in extensions(each, DEFINITION_VALUE))
        named += [str(found.value) for value in values if (found := extension_value(value, "definition"))]
        targets = (target for target in map(Target.of, named) if target is not None and target.canonical == canonical)
        return next((target.root for target in targets if target.root in RESOURCE_TYPES), "")

    def _filled(self, element: JsonObject, spot: Spot | None, around: Around, *, alone: bool) -> Around:
        """Put the values of one place where they belong; return what those inside it see."""
        link_id = string(element, "linkId")
        own = _resolved(Target.of(string(element, "definition")), around)
        draft = around.draft_for(own) if own is not None else None
        if own is not None and draft is not None and spot is not None and spot.answer is None and own.steps:
            try:
                host = _Writer(draft, around).begin(own.steps)
                if host is not None:
                    around = replace(around, bound=(*around.bound, (draft, own.steps, host)))
            except (DoesNotFit, CannotFill) as error:
                self.ground.note(link_id, str(error))
        by_draft: dict[Draft, list[Value]] = {}
        # Formulas of a question stand at all its answers, unless each of them becomes a resource of its own.
        scope = around.scope if alone or spot is None else replace(around.scope, focus=spot.whole)
        for extension in extensions(element, DEFINITION_VALUE):
            try:
                for found, value in self._said(extension, around, scope, link_id):
                    by_draft.setdefault(found, []).append(value)
            except CannotFill as error:
                for each in around.drafts[:1]:
                    each.problem = each.problem or str(error)
        if own is not None and draft is not None and own.steps:
            by_draft.setdefault(draft, []).extend(_answers(spot, own))
        for found, values in by_draft.items():
            self._put(found, values, around, link_id)
        return around

    def _put(self, draft: Draft, values: Sequence[Value], around: Around, link_id: str) -> None:
        try:
            # Where a place does not exist it is the form that is wrong: what else it says of the resource holds.
            for problem in _Writer(draft, around).put(values):
                self.ground.note(link_id, problem)
        except CannotFill as error:
            draft.problem = draft.problem or str(error)

    def _said(self, extension: JsonObject, around: Around, scope: Scope, link_id: str) -> Iterator[tuple[Draft, Value]]:
        """Yield the values of a `definitionExtractValue`, fixed or worked out, and the resource they are for."""
        named = extension_value(extension, "definition")
        target = _resolved(Target.of(str(named.value)), around) if named is not None else None
        draft = around.draft_for(target) if target is not None else None
        if target is None or draft is None or not target.steps:
            self.ground.note(link_id, "definitionExtractValue is for no resource that is extracted there")
            return
        fixed, expression = extension_value(extension, "fixed-value"), extension_value(extension, "expression")
        if fixed is not None:
            yield draft, Value(target, fixed.value, _type_name(fixed.type))
        if expression is not None:
            where = ".".join((target.root, *(step.name for step in target.steps)))
            try:
                source = formula_of(expression.value)[0]
            except CannotFill as error:
                raise CannotFill(f"{where}: {error}") from None
            for value in scope.plain(source, where):
                yield draft, Value(target, value)

    def _ended(self, draft: Draft, mark: JsonObject, scope: Scope, spot: Spot | None, number: int) -> Resource | None:
        """Return a resource that is filled; None, with a note, where it cannot be made."""
        link_id, key = (spot.link_id, spot.key) if spot is not None else ("", "")
        try:
            if draft.problem:
                raise CannotFill(draft.problem)
            control = Control.of(mark, scope, self.ground.export.base)
            body, nameless = _pruned(draft.body)
            own = urn(self.ground.export, "definition", key, number)
            resource = resource_of(own, body, control, link_id)
        except CannotFill as error:
            self.ground.note(link_id, str(error))
            self.ground.lose(link_id, draft.kind)
            return None
        if nameless:
            self.ground.note(link_id, f"{draft.kind}.extension: its url stands in a profile that is not at hand")
        if resource is not None:
            note_control(self.ground, resource, control)
        return resource


def _resolved(target: Target | None, around: Around) -> Target | None:
    """Return the place that ``HumanName.family`` means inside a group that stands for a name."""
    if target is None or target.root in RESOURCE_TYPES:
        return target
    for draft, path, _ in reversed(around.bound):
        if _Writer(draft, around).kind_of(path) == target.root:
            return Target(draft.canonical, draft.kind, (*path, *target.steps))
    return target


def _answers(spot: Spot | None, target: Target) -> list[Value]:
    answer = value_of(spot.answer) if spot is not None and spot.answer is not None else None
    if spot is None or answer is None:
        return []
    unit = extension_value(spot.asked, *UNIT)
    is_number = answer.type in {"integer", "decimal"}
    coding = as_object(unit.value) if unit is not None and is_number else {}
    return [Value(target, answer.value, _type_name(answer.type), coding, is_answer=True)]


def _type_name(kind: str) -> str:
    return kind if kind in PRIMITIVES else kind[:1].upper() + kind[1:]


def _pruned(node: Json) -> tuple[Json, bool]:
    """Return an object without what is empty in it, and whether extensions without url were among that."""
    made: Json = {}
    nameless = False
    for name, value in node.items():
        kept: list[JsonValue] = []
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                kept.append(each)
                continue
            inner, inner_nameless = _pruned(each)
            nameless = nameless or inner_nameless
            if name == "extension" and inner and "url" not in inner:
                nameless = True
            elif inner:
                kept.append(inner)
        if kept:
            made[name] = kept if isinstance(value, list) else kept[0]
    return made, nameless
