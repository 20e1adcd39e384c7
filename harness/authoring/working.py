"""Work that asks a model step by step, as generators; replayed from answers: nothing is lost or asked twice. Pure.

A piece of work yields the prompts that it needs next, all that do not depend on one another at once, and is resumed
with what was read from the answers, in that order: None where no attempt could be read. It calls no model itself:

    def work() -> Work[str]:
        draft = yield from ask(Ask("draft", messages, read=parse_draft))
        if draft is None:
            return "nothing usable"
        scores = yield from ask_all([Ask(f"critique/{aspect}", ..., read=parse_score) for aspect in ASPECTS])
        ...

`advance` replays a work as far as the answers reach and returns its result, or the prompts that wait. A work must be
deterministic: the same answers, the same prompts. Ids are unique in a work; what cannot be used is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from bot import plain_text
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import AGAIN, hash_of

T = TypeVar("T")
ATTEMPTS = 2  # readings of one prompt, before it counts as unanswered


class Unusable(Exception):
    """What a model wrote cannot be used; the reason is for people and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One thing to ask a model, and how its answer is read.

    Attributes:
        id: Unique in the work, stable across runs; says what it is for, for example ``critique/pain/2``.
        messages: What the model sees: role and content.
        read: Reads the answer; raises `Unusable` with the reason when it cannot be used. Read defensively.
        schema: JSON schema of the answer, for endpoints with structured output.
        labels: Whom the cost is attributed to.
    """

    id: str
    messages: list[dict[str, str]]
    read: Callable[[str], T]
    schema: Mapping[str, Any] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        return hash_of(self.messages)


Work = Generator[Sequence[Ask[Any]], Sequence[Any], T]


def noting(work: Work[T], prompts: dict[str, str]) -> Work[T]:
    """Do a work, and note the hash of each prompt by its id."""
    try:
        asks = next(work)
        while True:
            prompts.update((one.id, one.hash) for one in asks)
            asks = work.send((yield asks))
    except StopIteration as ended:
        result: T = ended.value
        return result


@dataclass(frozen=True, slots=True)
class Advanced(Generic[T]):
    """How far a work has come.

    Attributes:
        result: What it returned; None while prompts wait.
        waiting: The prompts that have to be answered before it goes on; empty when it is done.
        unusable: Why no attempt of a prompt could be read, by the id of the prompt.
        models: Who answered, by the id of the prompt, with `AGAIN` and the attempt where it was not the first.
        again: Of what waits, why an earlier answer could not be read, by the id under which it is asked again.
    """

    result: T | None
    waiting: tuple[Ask[Any], ...]
    unusable: Mapping[str, str]
    models: Mapping[str, str]
    again: Mapping[str, str] = field(default_factory=dict)


def ask(one: Ask[T]) -> Work[T | None]:
    """Ask one thing; None when no attempt could be read."""
    (value,) = yield (one,)
    return cast("T | None", value)


def ask_all(several: Sequence[Ask[T]]) -> Work[list[T | None]]:
    """Ask things that do not depend on one another at once; what was read, in their order."""
    if not several:
        return []
    values = yield several
    return list(values)


def together(works: Sequence[Work[T]]) -> Work[list[T]]:
    """Do works side by side, so that what all of them ask next is asked at once; their results, in order."""
    results: dict[int, T] = {}
    steps: dict[int, Sequence[Ask[Any]]] = {}

    def resume(number: int, values: Sequence[Any] | None) -> None:
        try:
            steps[number] = works[number].send(values)  # type: ignore[arg-type]  # the first send of a generator is None
        except StopIteration as ended:
            steps.pop(number, None)
            results[number] = ended.value

    for number in range(len(works)):
        resume(number, None)
    while steps:
        under_way = sorted(steps.items())
        values = iter((yield [one for _, asks in under_way for one in asks]))
        for number, asks in under_way:
            resume(number, [next(values) for _ in asks])
    return [results[number] for number in range(len(works))]


def prefixed(work: Work[T], prefix: str) -> Work[T]:
    """Do a work with a prefix before the ids of its prompts, so that several of its kind can be done side by side."""
    try:
        asks = next(work)
        while True:
            asks = work.send((yield [replace(one, id=f"{prefix}{one.id}") for one in asks]))
    except StopIteration as ended:
        result: T = ended.value
        return result


def advance(work: Work[T], answers: Mapping[str, ModelAnswer]) -> Advanced[T]:
    """Replay a work from the answers, as far as they reach.

    Raises:
        ValueError: Two prompts of the work have one id.
    """
    unusable: dict[str, str] = {}
    models: dict[str, str] = {}
    again: dict[str, str] = {}
    seen: set[str] = set()
    try:
        asks = next(work)
        while True:
            values, waiting = [], []
            for one in asks:
                if one.id in seen:
                    raise ValueError(f"two prompts of a work have the id {one.id!r}")
                seen.add(one.id)
                outcome = _read(one, answers, unusable, models)
                if isinstance(outcome, _Waits):
                    waiting.append(outcome.for_)
                    if outcome.reason:
                        again[outcome.for_.id] = outcome.reason
                else:
                    values.append(outcome)
            if waiting:
                work.close()
                return Advanced(None, tuple(waiting), unusable, models, again)
            asks = work.send(values)
    except StopIteration as ended:
        return Advanced(cast("T", ended.value), (), unusable, models)


@dataclass(frozen=True, slots=True)
class _Waits:
    for_: Ask[Any]
    reason: str = ""  # why an earlier answer could not be used


def _read(
    one: Ask[T], answers: Mapping[str, ModelAnswer], unusable: dict[str, str], models: dict[str, str]
) -> T | _Waits | None:
    """Return what can be read of the first usable attempt; an attempt that nobody answered is waited for."""
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        id_ = one.id if attempt == 1 else f"{one.id}{AGAIN}{attempt}"
        answer = answers.get(id_)
        if answer is None or answer.problem:
            return _Waits(one if attempt == 1 else replace(one, id=id_), reason)
        models[id_] = answer.model
        try:
            if answer.cut:
                raise Unusable("it broke off at the token limit")
            return one.read(plain_text(answer.content))
        except Unusable as error:
            reason = str(error)
    unusable[one.id] = reason
    return None
