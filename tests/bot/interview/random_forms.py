"""Random Questionnaires, and patients who answer, refuse, talk nonsense and change their minds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from bot.interview.form.form import Item, Option, Path
from bot.interview.values.answer import Answer
from bot.interview.walk.assemble import Assembly
from bot.interview.walk.engine import AskAnother, AskItem, Done, Engine, Show, Step
from bot.interview.walk.filling import (
    Cleared,
    Event,
    Filling,
    Given,
    GroupAdded,
    GroupRemoved,
    MarkedForStaff,
    NoMore,
    Shown,
    Skipped,
)
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, form

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
CODES = ("a", "b", "c")
SYSTEM = "http://example.org/codes"
QUESTIONS = (
    "boolean", "decimal", "integer", "date", "dateTime", "time", "string", "text", "url", "choice", "open-choice",
    "attachment", "reference", "quantity",
)  # fmt: skip
_CONDITION_VALUES: dict[str, Json] = {
    "boolean": {"answerBoolean": True},
    "decimal": {"answerDecimal": Decimal("5.5")},
    "integer": {"answerInteger": 5},
    "date": {"answerDate": "2001-06-15"},
    "dateTime": {"answerDateTime": "2001-06-15T10:00:00Z"},
    "time": {"answerTime": "12:00:00"},
    "string": {"answerString": "yes"},
    "text": {"answerString": "yes"},
    "choice": {"answerCoding": {"system": SYSTEM, "code": "a"}},
    "open-choice": {"answerCoding": {"system": SYSTEM, "code": "a"}},
    "quantity": {"answerQuantity": {"value": 70, "unit": "kg", "system": UCUM, "code": "kg"}},
}
_ORDERED = frozenset({"decimal", "integer", "date", "dateTime", "time", "quantity"})


@dataclass
class _Draft:
    """What is known while a form is drawn: the questions so far may be asked about."""

    draw: Any
    questions: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0

    def pick(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def chance(self, of_ten: int) -> bool:
        return bool(self.draw(st.integers(1, 10)) <= of_ten)


@st.composite
def questionnaires(draw: Any, *, most: int = 14) -> Json:
    """Draw a valid Questionnaire of up to about `most` items: all types, nesting, rules, repeats, limits, formulas."""
    draft = _Draft(draw)
    amount = draw(st.integers(1, most))
    items: list[Json] = []
    while draft.count < amount:
        items.append(_item(draft, depth=0, amount=amount))
    return form(*items)


def _item(draft: _Draft, *, depth: int, amount: int) -> Json:
    draft.count += 1
    link_id = f"i{draft.count}"
    kind = draft.pick("group", "display", *QUESTIONS) if depth < 3 else draft.pick("display", *QUESTIONS)
    made: Json = {"linkId": link_id, "type": kind, "text": f"Item {draft.count}"}
    extensions: list[Json] = []
    _add_rule(draft, made, extensions)
    if kind != "display":
        _add_cardinality(draft, made, extensions)
    if kind in QUESTIONS:
        _add_question(draft, made, extensions)
    if kind == "group" or (kind in QUESTIONS and depth < 2 and draft.chance(2)):
        inner = [_item(draft, depth=depth + 1, amount=amount) for _ in range(draft.pick(1, 1, 2, 3))]
        made["item"] = inner
    if extensions:
        made["extension"] = extensions
    return made


def _add_rule(draft: _Draft, made: Json, extensions: list[Json]) -> None:
    if not draft.questions or not draft.chance(3):
        return
    link_id, kind = draft.pick(*draft.questions)
    if draft.chance(2):
        expression = f"%resource.descendants().where(linkId = '{link_id}').answer.exists()"
        value = {"language": "text/fhirpath", "expression": expression}
        extensions.append({"url": SDC + "sdc-questionnaire-enableWhenExpression", "valueExpression": value})
        return
    conditions = []
    for _ in range(draft.pick(1, 1, 2)):
        if kind not in _CONDITION_VALUES or draft.chance(3):
            conditions.append({"question": link_id, "operator": "exists", "answerBoolean": draft.pick(True, False)})
        else:
            operators = ("=", "!=", ">", "<", ">=", "<=") if kind in _ORDERED else ("=", "!=")
            conditions.append({"question": link_id, "operator": draft.pick(*operators), **_CONDITION_VALUES[kind]})
        link_id, kind = draft.pick(*draft.questions)
    made["enableWhen"] = conditions
    if len(conditions) > 1:
        made["enableBehavior"] = draft.pick("all", "any")


def _add_cardinality(draft: _Draft, made: Json, extensions: list[Json]) -> None:
    made["required"] = draft.chance(3)
    made["repeats"] = draft.chance(3)
    if made["repeats"] and draft.chance(3):
        extensions.append({"url": CORE + "questionnaire-maxOccurs", "valueInteger": draft.pick(2, 3)})
    if made["repeats"] and made["required"] and draft.chance(3):
        extensions.append({"url": CORE + "questionnaire-minOccurs", "valueInteger": 2})
    if draft.chance(1):
        extensions.append({"url": CORE + "questionnaire-hidden", "valueBoolean": True})
        made["required"] = False


def _add_question(draft: _Draft, made: Json, extensions: list[Json]) -> None:
    kind = made["type"]
    draft.questions.append((made["linkId"], kind))
    if kind in {"choice", "open-choice"}:
        made["answerOption"] = [
            {"valueCoding": {"system": SYSTEM, "code": code, "display": code.upper()}} for code in CODES
        ]
        if draft.chance(3):
            mark = {"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True}
            made["answerOption"][-1]["extension"] = [mark]
        if draft.chance(2):
            made["answerOption"][0]["initialSelected"] = True
    if kind in {"string", "text"} and draft.chance(3):
        made["maxLength"] = draft.pick(3, 8)
    calculated = kind == "integer" and draft.chance(2)
    if kind == "integer" and not calculated and draft.chance(3):
        extensions.append({"url": CORE + "minValue", "valueInteger": 3})
    if kind == "decimal" and draft.chance(3):
        extensions.append({"url": CORE + "maxDecimalPlaces", "valueInteger": 1})
    if calculated:
        made["readOnly"] = True
        made["required"] = False
        expression = "%resource.descendants().where(linkId = 'i1').answer.count()"
        value = {"language": "text/fhirpath", "expression": expression}
        extensions.append({"url": SDC + "sdc-questionnaire-calculatedExpression", "valueExpression": value})
    if kind == "boolean" and draft.chance(2):
        made["initial"] = [{"valueBoolean": True}]


@dataclass
class Patient:
    """Answers at random; `stubborn` from 0 (answers all) to 9 (hardly anything)."""

    random: Random
    stubborn: int = 2

    def chance(self, of_ten: int) -> bool:
        return self.random.randint(1, 10) <= of_ten

    def reply(self, engine: Engine, filling: Filling, step: Step) -> Event:
        """Return what this patient says to a step."""
        match step:
            case AskItem(path, item, proposal, options):
                return self._answer(engine, filling, path, item, proposal, options)
            case AskAnother(path, item, count):
                if not self.chance(4) or count > 3:
                    return NoMore(path)
                if item.type == "group":
                    return GroupAdded(path)
                more = (*filling.at(path), self.value(item, ()))
                return NoMore(path) if engine.problems(filling, path, more) else Given(path, more)
            case Show(path, _):
                return Shown(path)
            case Done():
                raise ValueError("nothing was asked")

    def _answer(
        self,
        engine: Engine,
        filling: Filling,
        path: Any,
        item: Item,
        proposal: tuple[Answer, ...],
        options: tuple[Option, ...],
    ) -> Event:
        if self.chance(self.stubborn):
            return self.random.choice((Skipped(path), MarkedForStaff(path, "not understood")))
        if proposal and self.chance(5):
            return Given(path, proposal, proposed=True)
        wanted = max(1, item.least) if item.repeats else 1
        for _ in range(6):
            answers = tuple(self.value(item, options) for _ in range(wanted))
            if not engine.problems(filling, path, answers):
                return Given(path, answers)
        return Skipped(path)

    def value(self, item: Item, options: tuple[Option, ...]) -> Answer:
        """Return an answer of the right kind, now and then of a wrong one."""
        listed = options or item.options
        if listed and not (item.open and self.chance(3)):
            return self.random.choice(listed).answer
        kind = "string" if self.chance(1) else item.type
        return Answer(_VALUE_TYPES.get(kind, kind), self._plain(kind))

    def _plain(self, kind: str) -> Any:
        number = self.random.randint(0, 9)
        day = f"{self.random.choice((1975, 2001, 2020))}-06-15"
        return {
            "boolean": number < 5,
            "decimal": Decimal(number) / 4,
            "integer": number,
            "date": day[: self.random.choice((4, 7, 10))],
            "dateTime": f"{day}T10:00:00+01:00",
            "time": f"{10 + number}:30:00",
            "url": "http://example.org",
            "attachment": {"contentType": "text/plain", "data": "YWJj", "title": "note"},
            "reference": {"reference": f"Patient/{number}"},
            "quantity": {"value": Decimal(60 + number), "unit": "kg", "system": UCUM, "code": "kg"},
        }.get(kind, self.random.choice(("yes", "no", "a longer sentence", "z")))


_VALUE_TYPES = {"text": "string", "url": "uri", "choice": "string", "open-choice": "string"}


def change_of_mind(random: Random, engine: Engine, filling: Filling) -> Event | None:
    """Return a change to something said before, or None where nothing can be changed."""
    counts = {path: count for path, count in filling.counts.items() if count}
    if counts and random.random() < 0.3:
        path = random.choice(sorted(counts))
        gone = (*path[:-1], (path[-1][0], random.randrange(counts[path])))
        return GroupRemoved(gone) if engine.exists(filling, gone) else None
    said = [path for path in sorted({*filling.answers, *filling.skipped}) if engine.exists(filling, path)]
    if not said:
        return None
    path = random.choice(said)
    if random.random() < 0.4:
        return Cleared(path)
    item = engine.form.by_link_id[path[-1][0]]
    answers = (Patient(random, 0).value(item, item.options),)
    return None if engine.problems(filling, path, answers) else Given(path, answers)


def stands_in_response(engine: Engine, filling: Filling, path: Path) -> bool:
    """Say whether the groups around a place are in the response: inside a group that is absent no validator looks."""
    assembly = Assembly(engine.form, filling)
    assembly.items(engine.form.items, ())
    around = (path[:depth] for depth in range(1, len(path)))
    return all(group in assembly.nodes for group in around if engine.form.by_link_id[group[-1][0]].type == "group")
