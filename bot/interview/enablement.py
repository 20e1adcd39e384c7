"""enableWhen over the answers so far, each repetition looking at its own. Pure.

Where R4's text and HL7's validator part, the validator is followed, for servers run it: ``!=`` holds when some answer
differs, so never without an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.answer import Answer
from bot.interview.comparing import Truth, holds, relate
from bot.interview.filling import Filling
from bot.interview.form import Condition, Form, Item, Path
from bot.interview.places import answers_at, instances, is_enabled


def conditions_hold(form: Form, filling: Filling, item: Item, path: Path) -> bool:
    """Say whether the conditions of an item that stands at `path` switch it on."""
    outcomes = (_holds(form, filling, item, path, condition) for condition in item.conditions)
    return any(outcomes) if item.any_condition else all(outcomes)


def _holds(form: Form, filling: Filling, item: Item, path: Path, condition: Condition) -> bool:
    target = form.by_link_id.get(condition.question)
    if target is None or not target.is_question:
        given: list[Answer] = []
    else:
        given = [
            answer
            for place in instances(form, filling, target, _shared(path, item, target))
            if is_enabled(form, filling, place)
            for answer in answers_at(filling, place)
        ]
    return _decide(condition, given)


def _shared(path: Path, item: Item, target: Item) -> Path:
    """Return the part of `path` whose items stand around the target too."""
    depth = 0
    for own, other in zip(item.line[:-1], target.line[:-1], strict=False):
        if own != other:
            break
        depth += 1
    return path[:depth]


def _decide(condition: Condition, given: Sequence[Answer]) -> bool:
    if condition.operator == "!=":
        return any(relate(answer, condition.answer) in {"before", "after", "different"} for answer in given)
    return holds(condition.operator, condition.answer, list(given)) is Truth.YES
