"""Leave out extracted resources that a server would refuse, so that they hold back nothing else. Pure.

One refused entry fails its whole transaction. So types, cardinalities, required codes and references are checked first:
by the models of fhir.resources, and here where those are lenient (they take ``"true"`` for a boolean).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.handover.elements import Element, elements, is_known, model_of, required_choices
from bot.handover.spots import Ground
from bot.handover.subject import Json, Resource, bare
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, objects, string
from bot.interview.values.fhir_names import RESOURCE_TYPES
from bot.interview.values.primitives import problem_with, shape

_RELATIVE = re.compile(r"([A-Z][A-Za-z]+)(?:/[A-Za-z0-9\-.]{1,64}(?:/_history/[A-Za-z0-9\-.]{1,64})?|\?\S+)")
_ABSOLUTE = re.compile(r"(?:https?://|urn:|[a-z][a-z0-9+.\-]*:)\S+")
_TYPED_URN = re.compile(r"[A-Z][A-Za-z]+/(urn:uuid:.+)")
_URL_TYPE = re.compile(r"https?://\S+/([A-Z][A-Za-z]+)/[A-Za-z0-9\-.]{1,64}(?:/_history/[A-Za-z0-9\-.]{1,64})?")


def sound(ground: Ground) -> list[Resource]:
    """Return the extracted resources that can go out, their references leading to each other; note the others."""
    names: dict[str, str] = {alias: urn for alias, urn in ground.aliases.items() if urn is not None}
    names[f"QuestionnaireResponse/{bare(ground.response.urn)}"] = ground.response.urn
    made = [replace(each, body=_renamed_in(each.body, names)) for each in ground.made]
    selection = _Selection(ground.response.urn, [], Counter())
    requested: set[tuple[str, str]] = set()
    for resource in made:
        problem = next(problems(resource.body, resource.type), "")
        address = (resource.request.method, resource.request.url)
        if not problem and resource.request.url and address in requested:
            problem = f"{resource.type}: another resource has the same address"
        requested.add(address)
        problem = problem or _repeated_problem(resource, ground)
        if problem:
            selection.leave_out(resource, problem)
        else:
            selection.kept.append(resource)
    selection.settle()
    for (place, problem), times in selection.left_out.items():
        ground.note(place, problem + (f" ({times} times)" if times > 1 else ""))
    return selection.kept


def _repeated_problem(resource: Resource, ground: Ground) -> str:
    """Say whether a transaction that arrived and is sent again would do something twice."""
    # Where ids are ours we ask whether it has arrived; else each request by itself must bear being repeated.
    if resource.request.method != "PATCH" or ground.export.ids == "client":
        return ""
    parts = (part for each in objects(resource.body, "parameter") for part in objects(each, "part"))
    kinds = {string(part, "valueCode") for part in parts if string(part, "name") == "type"}
    if not kinds & {"add", "insert", "move"}:
        return ""
    return "Parameters: sent again, a patch that adds would add twice: use 'replace', or KLARTEXT_FHIR_IDS=client"


def _renamed_in(value: JsonObject, names: Mapping[str, str]) -> Json:
    """Let references lead to the urns under which resources go out."""

    def renamed(part: JsonValue) -> JsonValue:
        if isinstance(part, list):
            return [renamed(each) for each in part]
        return _renamed_in(part, names) if isinstance(part, dict) else part

    made = {name: renamed(part) for name, part in value.items()}
    reference = made.get("reference")
    if isinstance(reference, str):
        # An allocated id is a urn; forms put a type before it as before other ids.
        typed = _TYPED_URN.fullmatch(reference)
        plain = typed[1] if typed else reference
        made["reference"] = names.get(plain, plain)
    return made


@dataclass(slots=True)
class _Selection:
    """Resources that are sound by themselves, while those fall away that refer to what is left out.

    Attributes:
        response: The urn of the response.
        kept: What goes out.
        left_out: How often something was left out, by linkId and reason.
    """

    response: str
    kept: list[Resource]
    left_out: Counter[tuple[str, str]]

    def leave_out(self, resource: Resource, problem: str) -> None:
        self.left_out[resource.place, problem] += 1

    def settle(self) -> None:
        """Drop references that lead nowhere, and resources that cannot be without them, until none is left."""
        before = -1
        while before != len(self.kept):
            before = len(self.kept)
            types = {each.urn: each.type for each in self.kept} | {self.response: "QuestionnaireResponse"}
            everything, self.kept = self.kept, []
            for resource in everything:
                found = self._settled(resource, types)
                if found is not None:
                    self.kept.append(found)

    def _settled(self, resource: Resource, types: Mapping[str, str]) -> Resource | None:
        dead, problem = [], ""
        for reference, path, targets in _references(resource.body, resource.type, ()):
            kind = types.get(reference)
            if kind is None and reference.startswith("urn:uuid:"):
                dead.append(path)
            elif kind is not None and targets and kind not in targets:
                problem = problem or f"{_shown(resource, path)}: a reference to a {kind}"
        for path in dead:
            if not any(isinstance(step, int) for step in path):
                problem = problem or f"{_shown(resource, path)}: refers to what is left out"
        if problem:
            self.leave_out(resource, problem)
            return None
        if not dead:
            return resource
        body = resource.body
        for path in sorted(dead, key=_depth_first, reverse=True):
            body = _without_entry(body, path)
        problem = next(problems(body, resource.type), "")
        if problem:
            self.leave_out(resource, problem)
            return None
        for path in dead:
            self.leave_out(resource, f"{_shown(resource, path)}: refers to what is left out; goes out without it")
        return replace(resource, body=body)


Steps = tuple[str | int, ...]


def _depth_first(path: Steps) -> list[tuple[int, str, int]]:
    return [(1, "", step) if isinstance(step, int) else (0, step, 0) for step in path]


def _shown(resource: Resource, path: Steps) -> str:
    return ".".join([resource.type, *(step for step in path if isinstance(step, str))])


def _references(node: JsonObject, kind: str, path: Steps) -> Iterator[tuple[str, Steps, frozenset[str]]]:
    """Yield the references in a resource, where they stand, and the types that they may lead to."""
    known = elements(kind)
    for name, value in node.items():
        element = known.get(name)
        if element is None or element.is_primitive:
            continue
        for number, each in enumerate(value if isinstance(value, list) else [value]):
            here: Steps = (*path, name, number) if isinstance(value, list) else (*path, name)
            if not isinstance(each, dict):
                continue
            if element.type == "Reference" and isinstance(each.get("reference"), str):
                yield string(each, "reference"), here, element.targets
            inner = string(each, "resourceType") if element.type == "Resource" else element.type
            yield from _references(each, inner, here)


def _without_entry(body: Json, path: Steps) -> Json:
    """Return a body without the nearest list entry around a place."""
    last = max(number for number, step in enumerate(path) if isinstance(step, int))
    return _without(body, path[: last + 1])


def _without(node: Json, path: Steps) -> Json:
    name, number, rest = str(path[0]), path[1] if len(path) > 1 else None, path[2:]
    value = node.get(name)
    if isinstance(value, list) and isinstance(number, int):
        each = value[number] if number < len(value) else None
        inner = [_without(each, rest)] if rest and isinstance(each, dict) else []
        kept: list[JsonValue] = [*value[:number], *inner, *value[number + 1 :]]
        return {**node, name: kept} if kept else {other: part for other, part in node.items() if other != name}
    return {**node, name: _without(value, path[1:])} if isinstance(value, dict) else node


def problems(node: JsonObject, kind: str) -> Iterator[str]:
    """Yield what is wrong with a resource by itself: paths, types and codes, never a value that a patient gave."""
    if not is_known(kind):
        yield f"{kind[:40] or 'Resource'}: not a resource type of R4 that can be checked here"
        return
    yield from _problems(node, kind, kind, node)
    try:
        model_of(kind).model_validate(dict(node))
    except ValidationError as error:
        for each in error.errors(include_input=False, include_context=False, include_url=False):
            steps = (str(step) for step in each["loc"] if isinstance(step, str) and "-" not in step)
            yield f"{'.'.join((kind, *steps))}: not as R4 has it"


def _problems(node: JsonObject, kind: str, place: str, whole: JsonObject) -> Iterator[str]:
    known = elements(kind)
    if not node:
        yield f"{place}: empty"
    for name, value in node.items():
        element = known.get(name.removeprefix("_"))
        if element is None:
            if name != "resourceType":
                yield f"{place}.{name[:60]}: R4 has no such element"
            continue
        here = f"{place}.{name}"
        if name.startswith("_"):
            if not element.is_primitive or not isinstance(value, list if element.many else dict):
                yield f"{here}: {shape(value)} where the extensions of a primitive are due"
            continue
        if isinstance(value, list) != element.many:
            yield f"{here}: one value where R4 has a list" if element.many else f"{here}: a list where R4 has one"
            continue
        each_of = value if isinstance(value, list) else [value]
        if not each_of:
            yield f"{here}: empty"
        for each in each_of:
            yield from _value_problems(each, element, here, whole)
    yield from _missing(node, kind, place)


def _value_problems(value: JsonValue, element: Element, place: str, whole: JsonObject) -> Iterator[str]:
    if element.is_primitive:
        problem = problem_with(element.type, value) if element.type != "xhtml" else ""
        if problem and not (value is None and element.many):
            yield f"{place}: {problem}"
        elif element.codes and value not in element.codes:
            yield f"{place}: a code that is none of {', '.join(sorted(element.codes))}"
        return
    if not isinstance(value, dict):
        yield f"{place}: {shape(value)} where {element.type} is due"
        return
    if element.type == "Resource":
        yield from problems(value, string(value, "resourceType"))
        return
    if element.type == "Reference":
        yield from _reference_problems(value, element, place, whole)
    yield from _problems(value, element.type, place, whole)


def _missing(node: JsonObject, kind: str, place: str) -> Iterator[str]:
    known = elements(kind)
    for element in known.values():
        if element.required and not element.choice and not node.keys() & {element.name, "_" + element.name}:
            yield f"{place}.{element.name}: missing, but R4 requires it"
    for choice in dict.fromkeys(element.choice for element in known.values() if element.choice):
        given = [name for name, element in known.items() if element.choice == choice and name in node]
        if len(given) > 1:
            yield f"{place}.{choice}[x]: {len(given)} types where one is due"
    for choice in required_choices(kind):
        if not any(element.choice == choice and name in node for name, element in known.items()):
            yield f"{place}.{choice}[x]: missing, but R4 requires it"


def _reference_problems(value: JsonObject, element: Element, place: str, whole: JsonObject) -> Iterator[str]:
    reference = value.get("reference")
    if not isinstance(reference, str):
        return
    if reference.startswith("#"):
        contained: Sequence[JsonObject] = objects(whole, "contained")
        if reference != "#" and not any("#" + string(each, "id") == reference for each in contained):
            yield f"{place}.reference: nothing contained has this id"
        return
    relative = _RELATIVE.fullmatch(reference)
    if relative is None and not _ABSOLUTE.fullmatch(reference):
        yield f"{place}.reference: neither a URL nor Type/id"
        return
    match = relative or _URL_TYPE.fullmatch(reference)
    if match is None:
        return
    if match[1] not in RESOURCE_TYPES:
        yield f"{place}.reference: leads to no resource type of R4"
    elif element.targets and match[1] not in element.targets:
        yield f"{place}.reference: leads to a {match[1]}, which may not stand there"
