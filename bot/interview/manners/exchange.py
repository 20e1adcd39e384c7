"""One turn while it is worked on: what happens to the session, and what is said. Used within a turn only; no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.listening import QuestionLike
from bot.interview.manners.session import Session, Talk
from bot.interview.manners.spoken import FormField, usual_unit
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, number, string
from bot.interview.walk.engine import Engine, Step
from bot.interview.walk.filling import Event
from bot.sentences.reply import Answers, Entry, FormText, Part, Reply, from_form, interface, repeat_answers

EXAMPLE_AMOUNT = Decimal(3)


@dataclass(slots=True)
class Exchange:
    """The turn in hand.

    Attributes:
        engine: Of the form that is asked.
        now: The present, with time zone.
        session: As changed so far.
        parts: What was said so far.
        choices: What can be chosen by number.
        aside: Whether the message is no answer, but a question to somebody who can answer it.
    """

    engine: Engine
    now: datetime
    session: Session
    parts: list[Part] = field(default_factory=list)
    choices: tuple[Part, ...] = ()
    aside: QuestionLike = "no"

    @property
    def form(self) -> Form:
        return self.engine.form

    @property
    def language(self) -> str:
        return self.session.language

    @property
    def talk(self) -> Talk:
        return self.session.talk

    @property
    def step(self) -> Step:
        """What is open: the question that the patient went back to, else what comes next."""
        if self.talk.revisit:
            return self.engine.ask(self.session.filling, self.talk.revisit)
        return self.engine.next(self.session.filling)

    def apply(self, *events: Event) -> None:
        """Let events happen."""
        for event in events:
            filling = self.engine.apply(self.session.filling, event)
            self.session = replace(self.session, filling=filling, events=(*self.session.events, event))

    def note(self, **changes: Any) -> None:
        """Change where the talk stands."""
        self.session = self.session.with_talk(**changes)

    def onward(self) -> None:
        """Leave the open question."""
        self.session = replace(self.session, talk=self.talk.onward())

    def answers(self, path: Path) -> tuple[Answer, ...]:
        return self.engine.answers(self.session.filling, path)

    def say(self, key: str, **slots: int) -> None:
        """Say a fixed sentence."""
        self.parts.append(interface(self.language, key, **slots))

    def repeat(self, key: str, link_id: str, answers: Sequence[Answer]) -> None:
        """Say a fixed sentence with answers in it."""
        self.parts.append(repeat_answers(self.form, self.language, key, Answers(link_id, tuple(answers))))

    def read_out(self, link_id: str, name: FormField, number: int = 0) -> bool:
        """Say a text of the form; tell whether there is one."""
        part = from_form(self.form, self.language, link_id, name, number)
        if part is not None:
            self.parts.append(part)
        return part is not None

    def read_name(self, link_id: str) -> None:
        """Say what an item is called: its short name, else its text."""
        label = self.name(link_id)
        self.parts += [label] if label is not None else []

    def entry(self, number: int, path: Path, key: str) -> bool:
        """Say one line of a list: a question, and what was answered or `key`; tell whether it has a text."""
        link_id = path[-1][0]
        label = self.name(link_id)
        if label is None:
            return False
        answers = self.answers(path)
        if key == "summary_noted":
            answers = tuple(Answer("string", text) for text in self.session.filling.noted[path])
        if key in ("summary_answer", "summary_noted"):
            value = repeat_answers(self.form, self.language, key, Answers(link_id, answers))
        else:
            value = interface(self.language, key)
        self.parts.append(Entry(number, label, value))
        return True

    def name(self, link_id: str) -> FormText | None:
        """Return what an item is called: its short name, else its text."""
        short = from_form(self.form, self.language, link_id, "short")
        return short or from_form(self.form, self.language, link_id, "question")

    def reply(self) -> Reply:
        return Reply(self.language, tuple(self.parts), self.choices)


def unit_answers(item: Item, amount: Decimal | None = None) -> tuple[Answer, ...]:
    """Return the units of a number, each as a quantity without amount, or with an amount as an example."""
    usual = usual_unit(item)
    units = (*((usual,) if usual else ()), *item.units.choices)
    found: dict[str, Answer] = {}
    for unit in units:
        found.setdefault(string(unit, "code") or string(unit, "display"), Answer("quantity", _quantity(unit, amount)))
    return tuple(found.values())


def example_answers(item: Item) -> tuple[Answer, ...]:
    """Return an example for a number: in the middle of its limits, or an amount in its first unit."""
    if item.type == "quantity":
        return unit_answers(item, EXAMPLE_AMOUNT)[:1]
    low, high = (bound.fixed if bound else None for bound in (item.limits.minimum, item.limits.maximum))
    if item.type not in ("integer", "decimal") or low is None or high is None:
        return ()
    least, most = number(low.value), number(high.value)
    return () if least is None or most is None else (Answer("integer", int(least + most) // 2),)


def _quantity(unit: JsonObject, amount: Decimal | None) -> dict[str, Any]:
    value: dict[str, Any] = {} if amount is None else {"value": amount}
    value["unit"] = string(unit, "display") or string(unit, "code")
    return value | {name: unit[name] for name in ("system", "code") if unit.get(name)}
