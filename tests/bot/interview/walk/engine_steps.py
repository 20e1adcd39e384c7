"""Shorthand for tests of the engine: one form, one interview, its steps and its response."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from bot.interview.form.form import Path
from bot.interview.load import load_form
from bot.interview.rules.answers import Problem
from bot.interview.values.answer import Answer
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import AskAnother, AskItem, Done, Engine, Show, Step
from bot.interview.walk.filling import Cleared, Event, Given, GroupAdded, MarkedForStaff, NoMore, Shown, Skipped
from tests.bot.interview.resources import CORE, SDC, UCUM, Json

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
AUTHORED = "2026-11-22T10:31:00Z"


def fhirpath(expression: str, **more: Any) -> Json:
    return {"valueExpression": {"language": "text/fhirpath", "expression": expression, **more}}


def formula(name: str, expression: str, **more: Any) -> Json:
    """An SDC extension that holds FHIRPath: ``formula("calculatedExpression", "1 + 1")``."""
    return {"url": f"{SDC}sdc-questionnaire-{name}", **fhirpath(expression, **more)}


def variable(name: str, expression: str) -> Json:
    return {"url": CORE + "variable", **fhirpath(expression, name=name)}


def hidden() -> Json:
    return {"url": CORE + "questionnaire-hidden", "valueBoolean": True}


def control(code: str) -> Json:
    return {"url": CORE + "questionnaire-itemControl", "valueCodeableConcept": {"coding": [{"code": code}]}}


def options(*codes: str, **more: Any) -> list[Json]:
    return [{"valueCoding": {"system": "http://example.org/codes", "code": code}, **more} for code in codes]


def coding(code: str, **more: Any) -> Answer:
    return Answer("coding", {"system": "http://example.org/codes", "code": code, **more})


def text(value: str) -> Answer:
    return Answer("string", value)


def whole(value: int) -> Answer:
    return Answer("integer", value)


def decimal(value: str) -> Answer:
    return Answer("decimal", Decimal(value))


def yes() -> Answer:
    return Answer("boolean", True)


def no() -> Answer:
    return Answer("boolean", False)


def quantity(value: str, unit: str, **more: Any) -> Answer:
    return Answer("quantity", {"value": Decimal(value), "unit": unit, "system": UCUM, "code": unit, **more})


def at(*steps: str | tuple[str, int]) -> Path:
    """A path: linkIds, with a number where it is not 0."""
    return tuple((step, 0) if isinstance(step, str) else step for step in steps)


class Interview:
    """An interview under test."""

    def __init__(self, questionnaire: Json, *resources: Json, launch: Mapping[str, Json] | None = None) -> None:
        self.engine = Engine(load_form(questionnaire, resources=resources), now=NOW, launch=launch)
        self.filling = self.engine.start()
        self.events: list[Event] = []

    def apply(self, event: Event) -> Interview:
        self.events.append(event)
        self.filling = self.engine.apply(self.filling, event)
        return self

    def give(self, place: str | Path, *answers: Answer, proposed: bool = False) -> Interview:
        return self.apply(Given(_path(place), answers, proposed=proposed))

    def skip(self, place: str | Path) -> Interview:
        return self.apply(Skipped(_path(place)))

    def mark(self, place: str | Path) -> Interview:
        return self.apply(MarkedForStaff(_path(place), "not understood"))

    def clear(self, place: str | Path) -> Interview:
        return self.apply(Cleared(_path(place)))

    def add(self, *steps: str | tuple[str, int]) -> Interview:
        return self.apply(GroupAdded(at(*steps)))

    def no_more(self, place: str | Path) -> Interview:
        return self.apply(NoMore(_path(place)))

    def shown(self, place: str | Path) -> Interview:
        return self.apply(Shown(_path(place)))

    @property
    def step(self) -> Step:
        return self.engine.next(self.filling)

    @property
    def asks(self) -> str:
        """What comes next, in short: ``ask a``, ``another g[1]``, ``show d``, ``done``."""
        step = self.step
        if isinstance(step, Done):
            return "done"
        word = {AskItem: "ask", AskAnother: "another", Show: "show"}[type(step)]
        place = "/".join(f"{link_id}[{n}]" if n else link_id for link_id, n in step.path)
        return f"{word} {place}"

    @property
    def proposal(self) -> tuple[Answer, ...]:
        step = self.step
        assert isinstance(step, AskItem)
        return step.proposal

    @property
    def labels(self) -> list[str]:
        step = self.step
        assert isinstance(step, AskItem)
        return [option.label.base for option in step.options]

    def codes(self, place: str | Path, *answers: Answer) -> list[str]:
        """The codes of all problems with an answer."""
        return [problem.code for problem in self.problems(place, *answers)]

    def problems(self, place: str | Path, *answers: Answer) -> tuple[Problem, ...]:
        return self.engine.problems(self.filling, _path(place), answers)

    @property
    def open(self) -> list[tuple[str, str]]:
        """What keeps the response from being complete: (code, linkId)."""
        problems = self.engine.open_problems(self.filling)
        return [(problem.code, problem.path[-1][0] if problem.path else "") for problem in problems]

    @property
    def response(self) -> Json:
        return self.engine.response(self.filling, Heading("completed", AUTHORED))

    @property
    def items(self) -> list[Json]:
        return self.response.get("item", [])  # type: ignore[no-any-return]

    def value(self, *link_ids: str) -> object:
        """The first value of an item in the response, found through the groups that are named."""
        return self.values(*link_ids)[0]

    def values(self, *link_ids: str) -> list[object]:
        """All values of an item in the response; empty where it has none."""
        found = self.items
        for link_id in link_ids[:-1]:
            found = [inner for item in found if item["linkId"] == link_id for inner in item.get("item", [])]
        answers = [answer for item in found if item["linkId"] == link_ids[-1] for answer in item.get("answer", [])]
        return [value for answer in answers for name, value in answer.items() if name.startswith("value")]


def _path(place: str | Path) -> Path:
    return at(place) if isinstance(place, str) else place
