"""Leave out what a server would refuse of extracted resources, so that it holds back nothing else. Pure.

One refused entry fails its whole transaction. So each resource is checked first. An entry of a list that is bad falls
away alone where the resource can be without it, and so does a narrative; else the resource stays here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.handover.elements import elements
from bot.handover.flaws import Flaw, Steps, flaws, shown
from bot.handover.resources import walk_answers
from bot.handover.spots import Ground
from bot.handover.subject import Json, Resource, bare
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, objects, string

_TYPED_URN = re.compile(r"[A-Z][A-Za-z]+/(urn:uuid:.+)")
# So many entries fall away from one resource: beyond that it is no resource any more.
_MOST_CUTS = 50


def sound(ground: Ground) -> list[Resource]:
    """Return the extracted resources that can go out, their references leading to each other; note the others."""
    names: dict[str, str] = {alias: urn for alias, urn in ground.aliases.items() if urn is not None}
    names[f"QuestionnaireResponse/{bare(ground.response.urn)}"] = ground.response.urn
    made = [replace(each, body=_renamed_in(each.body, names)) for each in ground.made]
    selection = _Selection(ground.response.urn, [], Counter())
    requested: set[tuple[str, str]] = set()
    words = _words(ground.response.body)
    for original in made:
        resource, cuts, problem = _mended(original, words)
        address = (resource.request.method, resource.request.url)
        if not problem and resource.request.url and address in requested:
            problem = f"{resource.type}: another resource has the same address"
        requested.add(address)
        problem = problem or _repeated_problem(resource, ground)
        if problem:
            selection.leave_out(resource, problem)
            ground.lose(resource.place, resource.type)
        else:
            selection.kept.append(resource)
            for cut in cuts:
                selection.leave_out(resource, f"{cut}; goes out without it")
                if cut.path[-1:] != ("div",):
                    ground.lose(resource.place, resource.type)
    for resource in selection.settle():
        ground.lose(resource.place, resource.type)
    for (place, problem), times in selection.left_out.items():
        ground.note(place, problem + (f" ({times} times)" if times > 1 else ""))
    return selection.kept


def _words(response: JsonObject) -> tuple[str, ...]:
    """Return what the patient wrote."""
    answers = (answer for item in walk_answers(response) for answer in objects(item, "answer"))
    return tuple({value for answer in answers for value in answer.values() if isinstance(value, str) and value})


def _mended(resource: Resource, words: tuple[str, ...]) -> tuple[Resource, list[Flaw], str]:
    """Return a resource without the entries of lists that are bad, these, and what else is wrong with it."""
    body = resource.body
    cuts: list[Flaw] = []
    for flaw in (next(flaws(body, resource.type, words), None) for _ in range(_MOST_CUTS)):
        if flaw is None:
            return replace(resource, body=body), cuts, ""
        smaller = _without(body, path) if (path := _falls_away(flaw)) else body
        # An Observation without all that was observed would say something else.
        if smaller == body or (resource.type == "Observation" and _is_empty(smaller) and not _is_empty(body)):
            return resource, [], str(flaw)
        body = smaller
        cuts.append(flaw)
    return resource, [], str(cuts[0])


def _falls_away(flaw: Flaw) -> Steps:
    """Return what falls away so that the rest is sound, a narrative or the nearest list entry; empty for neither."""
    path = flaw.path
    # Half a patch would be another one, and what modifies the meaning of a resource belongs to it.
    if flaw.kind in {"Parameters", "Bundle"} or "modifierExtension" in path:
        return ()
    if path[-2:] == ("text", "div"):
        return path[:-1]
    last = max((number for number, step in enumerate(path) if isinstance(step, int)), default=-1)
    return path[: last + 1]


def _is_empty(observation: JsonObject) -> bool:
    says = ("value", "component", "hasMember", "dataAbsentReason", "note", "interpretation")
    return not any(name.startswith(says) for name in observation)


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

    def settle(self) -> list[Resource]:
        """Drop references that lead nowhere until none is left; return the resources that cannot be without them."""
        lost: list[Resource] = []
        before = -1
        while before != len(self.kept):
            before = len(self.kept)
            types = {each.urn: each.type for each in self.kept} | {self.response: "QuestionnaireResponse"}
            everything, self.kept = self.kept, []
            for resource in everything:
                found = self._settled(resource, types)
                if found is not None:
                    self.kept.append(found)
                else:
                    lost.append(resource)
        return lost

    def _settled(self, resource: Resource, types: Mapping[str, str]) -> Resource | None:
        dead, problem = [], ""
        for reference, path, targets in _references(resource.body, resource.type, ()):
            kind = types.get(reference)
            if kind is None and reference.startswith("urn:uuid:"):
                dead.append(path)
            elif kind is not None and targets and kind not in targets:
                problem = problem or f"{shown(resource.type, path)}: a reference to a {kind}"
        for path in dead:
            if not any(isinstance(step, int) for step in path):
                problem = problem or f"{shown(resource.type, path)}: refers to what is left out"
        if problem:
            self.leave_out(resource, problem)
            return None
        if not dead:
            return resource
        body = resource.body
        for path in sorted(dead, key=_depth_first, reverse=True):
            body = _without_entry(body, path)
        flaw = next(flaws(body, resource.type), None)
        if flaw is not None:
            self.leave_out(resource, str(flaw))
            return None
        for path in dead:
            self.leave_out(resource, f"{shown(resource.type, path)}: refers to what is left out; goes out without it")
        return replace(resource, body=body)


def _depth_first(path: Steps) -> list[tuple[int, str, int]]:
    return [(1, "", step) if isinstance(step, int) else (0, step, 0) for step in path]


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
    """Return an object without what is at a place."""
    name, number, rest = str(path[0]), path[1] if len(path) > 1 else None, path[2:]
    value = node.get(name)
    if number is None:
        return {other: part for other, part in node.items() if other != name}
    if isinstance(value, list) and isinstance(number, int):
        each = value[number] if number < len(value) else None
        inner = [_without(each, rest)] if rest and isinstance(each, dict) else []
        kept: list[JsonValue] = [*value[:number], *inner, *value[number + 1 :]]
        return {**node, name: kept} if kept else {other: part for other, part in node.items() if other != name}
    return {**node, name: _without(value, path[1:])} if isinstance(value, dict) else node
