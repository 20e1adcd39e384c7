"""What is wrong with a resource by itself: types, cardinalities, formats and codes of R4, narratives, references. Pure.

By the models of fhir.resources, and here where those are lenient (they take ``"true"`` for a boolean).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from bot.handover.elements import Element, elements, is_known, model_of, required_choices
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, objects, string
from bot.interview.values.fhir_names import RESOURCE_TYPES
from bot.interview.values.narratives import narrative_problem
from bot.interview.values.primitives import problem_with, shape

_RELATIVE = re.compile(r"([A-Z][A-Za-z]+)(?:/[A-Za-z0-9\-.]{1,64}(?:/_history/[A-Za-z0-9\-.]{1,64})?|\?\S+)")
_ABSOLUTE = re.compile(r"(?:https?://|urn:|[a-z][a-z0-9+.\-]*:)\S+")
_URL_TYPE = re.compile(r"https?://\S+/([A-Z][A-Za-z]+)/[A-Za-z0-9\-.]{1,64}(?:/_history/[A-Za-z0-9\-.]{1,64})?")
_OF_QUERIES = frozenset("&=?#|,$\\%+;")

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong at one place.

    Attributes:
        kind: The type of the resource.
        path: Where in it: ``("reaction", 1, "manifestation")``.
        reason: Types and codes, never a value that a patient gave.
        place: How the place is named, where that is not by `kind` and `path`: in what is contained.
    """

    kind: str
    path: Steps
    reason: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place or shown(self.kind, self.path)}: {self.reason}"


def shown(kind: str, path: Steps) -> str:
    """Return how a place is named: without numbers."""
    return ".".join([kind, *(step for step in path if isinstance(step, str))])


def flaws(node: JsonObject, kind: str, words: Sequence[str] = ()) -> Iterator[Flaw]:
    """Yield what is wrong with a resource by itself.

    Args:
        node: The resource.
        kind: Its type.
        words: What patients wrote: none of it may be markup, or part of a search.
    """
    if not is_known(kind):
        yield Flaw(kind[:40] or "Resource", (), "not a resource type of R4 that can be checked here")
        return
    yield from _Check(kind, node, words).problems(node, kind, ())
    try:
        model_of(kind).model_validate(dict(node))
    except ValidationError as error:
        for each in error.errors(include_input=False, include_context=False, include_url=False):
            path = tuple(step for step in each["loc"] if isinstance(step, int) or "-" not in step)
            yield Flaw(kind, path, "not as R4 has it")


@dataclass(frozen=True, slots=True)
class _Check:
    """The check of one resource.

    Attributes:
        kind: Its type.
        whole: The resource.
        words: As for `flaws`.
    """

    kind: str
    whole: JsonObject
    words: Sequence[str]

    def problems(self, node: JsonObject, kind: str, path: Steps) -> Iterator[Flaw]:
        known = elements(kind)
        if not node:
            yield self._flaw(path, "empty")
        for name, value in node.items():
            element = known.get(name.removeprefix("_"))
            here = (*path, name[:60])
            if element is None:
                if name != "resourceType":
                    yield self._flaw(here, "R4 has no such element")
            elif name.startswith("_"):
                if not element.is_primitive or not isinstance(value, list if element.many else dict):
                    yield self._flaw(here, f"{shape(value)} where the extensions of a primitive are due")
            elif isinstance(value, list) != element.many:
                yield self._flaw(here, "one value where R4 has a list" if element.many else "a list where R4 has one")
            elif isinstance(value, list):
                if not value:
                    yield self._flaw(here, "empty")
                for number, each in enumerate(value):
                    yield from self._value(each, element, (*here, number))
            else:
                yield from self._value(value, element, here)
        yield from self._missing(node, kind, path)

    def _flaw(self, path: Steps, reason: str) -> Flaw:
        return Flaw(self.kind, path, reason)

    def _value(self, value: JsonValue, element: Element, path: Steps) -> Iterator[Flaw]:
        if element.type == "xhtml":
            if problem := narrative_problem(value, self.words):
                yield self._flaw(path, problem)
        elif element.is_primitive:
            problem = problem_with(element.type, value)
            if problem and not (value is None and element.many):
                yield self._flaw(path, problem)
            elif element.codes and value not in element.codes:
                yield self._flaw(path, f"a code that is none of {', '.join(sorted(element.codes))}")
        elif not isinstance(value, dict):
            yield self._flaw(path, f"{shape(value)} where {element.type} is due")
        elif element.type == "Resource":
            for flaw in flaws(value, string(value, "resourceType"), self.words):
                named = flaw.place or shown(flaw.kind, flaw.path)
                yield Flaw(self.kind, (*path, *flaw.path), flaw.reason, named)
        else:
            if element.type == "Reference":
                yield from self._reference(value, element, (*path, "reference"))
            yield from self.problems(value, element.type, path)

    def _missing(self, node: JsonObject, kind: str, path: Steps) -> Iterator[Flaw]:
        known = elements(kind)
        for element in known.values():
            if element.required and not element.choice and not node.keys() & {element.name, "_" + element.name}:
                yield self._flaw((*path, element.name), "missing, but R4 requires it")
        for choice in dict.fromkeys(element.choice for element in known.values() if element.choice):
            given = [name for name, element in known.items() if element.choice == choice and name in node]
            if len(given) > 1:
                yield self._flaw((*path, f"{choice}[x]"), f"{len(given)} types where one is due")
        for choice in required_choices(kind):
            if not any(element.choice == choice and name in node for name, element in known.items()):
                yield self._flaw((*path, f"{choice}[x]"), "missing, but R4 requires it")

    def _reference(self, value: JsonObject, element: Element, path: Steps) -> Iterator[Flaw]:
        reference = value.get("reference")
        if not isinstance(reference, str):
            return
        if reference.startswith("#"):
            contained: Sequence[JsonObject] = objects(self.whole, "contained")
            if reference != "#" and not any("#" + string(each, "id") == reference for each in contained):
                yield self._flaw(path, "nothing contained has this id")
            return
        relative = _RELATIVE.fullmatch(reference)
        if relative is None and not _ABSOLUTE.fullmatch(reference):
            yield self._flaw(path, "neither a URL nor Type/id")
            return
        match = relative or _URL_TYPE.fullmatch(reference)
        if match is None:
            return
        asked = reference.casefold()
        if match[1] not in RESOURCE_TYPES:
            yield self._flaw(path, "leads to no resource type of R4")
        elif element.targets and match[1] not in element.targets:
            yield self._flaw(path, f"leads to a {match[1]}, which may not stand there")
        elif "?" in asked and any(word.casefold() in asked for word in self.words if _OF_QUERIES & set(word)):
            yield self._flaw(path, "what it asks for hangs on the characters of an answer")
