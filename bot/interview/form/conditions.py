"""Read enableWhen as an interview can hold to it; a condition that can never be met is a defect of the form. Pure.

Nobody may be spared a question by a slip of the form: where no answer can meet a condition, the question is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.interview.form.form import Condition, Item
from bot.interview.form.formulas import Site
from bot.interview.form.indexed import never_met, unheeded
from bot.interview.values.fhir_json import JsonObject, objects, string, value_of
from bot.interview.values.primitives import relate

_OPERATORS = frozenset({"exists", "=", "!=", ">", "<", ">=", "<="})


def read_conditions(site: Site, *, any_condition: bool) -> tuple[Condition, ...]:
    """Return the conditions that decide; none where one that cannot be evaluated might be enough."""
    found: list[Condition] = []
    listed = objects(site.raw, "enableWhen")
    unusable = _unusable(site)
    for index, each in enumerate(listed):
        answer = value_of(each, "answer")
        if index in unusable:
            site.leave_out("enableWhen", f"asked in any case, and not required: {unusable[index]}")
        elif answer is not None:
            if never := never_met(each, site.notes.stated(string(each, "question"))):
                site.warn("enableWhen", f"one of its conditions is never true: {never}")
            found.append(Condition(string(each, "question"), string(each, "operator"), answer))
    if "enableWhen" in site.raw and not isinstance(site.raw["enableWhen"], list):
        site.leave_out("enableWhen", "asked in any case, and not required: the conditions are no list")
    return tuple(found) if len(found) == len(listed) or not any_condition else ()


def cannot_be_told(site: Site) -> bool:
    """Say whether conditions of an item are such that nobody can tell when it is meant to be asked."""
    given = site.raw.get("enableWhen")
    return bool(_unusable(site)) or (given is not None and not isinstance(given, list))


def is_one_enough(site: Site) -> bool:
    """Say whether one true condition is enough."""
    behavior = string(site.raw, "enableBehavior")
    if len(objects(site.raw, "enableWhen")) > 1 and behavior not in {"all", "any"}:
        # What STU3 said, and what is nearest to the validators that then take the item as enabled.
        site.warn("enableBehavior", "it is missing; one true condition is enough")
    return behavior != "all"


def _unusable(site: Site) -> dict[int, str]:
    """Return the conditions that decide nothing, each by its place and with the reason.

    What is never true beside a condition that may be, where one is enough, is only an answer that no longer exists.
    """
    listed = objects(site.raw, "enableWhen")
    flawed = {index: flaw for index, each in enumerate(listed) if (flaw := _flaw(each, site))}
    never: dict[int, str] = {}
    for index, each in enumerate(listed):
        if index not in flawed and (why := never_met(each, site.notes.stated(string(each, "question")))):
            never[index] = why
    return {**flawed, **(never if unheeded(site.raw, len(flawed) + len(never)) else {})}


def _flaw(condition: JsonObject, site: Site) -> str:
    """Say why a condition cannot be evaluated; empty when it can."""
    question, operator = string(condition, "question"), string(condition, "operator")
    answer = value_of(condition, "answer")
    if question not in site.notes.items:
        return f"the question {question!r} does not exist"
    if operator not in _OPERATORS or answer is None:
        return f"the condition on {question!r} is not complete"
    if operator == "exists" and not isinstance(answer.value, bool):
        return "the operator exists needs answerBoolean"
    return ""


def never_asked(items: Mapping[str, Item]) -> Iterator[tuple[str, str]]:
    """Yield the outermost items that no answers can switch on, and why: a defect of the form that nobody would see."""
    reached = _reached(items)
    for item in items.values():
        if item.link_id in reached or (item.parent and item.parent not in reached):
            continue
        waits = [each for each in item.conditions if not _may_hold(each, items, reached)]
        unanswered = [each.question for each in waits if not _is_answered(items[each.question])]
        if not waits:
            yield item.link_id, "its conditions contradict each other"
        elif unanswered:
            yield item.link_id, f"nobody is asked for {unanswered[0]!r}, and nothing fills it"
        else:
            yield item.link_id, f"its condition on {waits[0].question!r} waits for something that is never asked either"


def _reached(items: Mapping[str, Item]) -> set[str]:
    """Return the items that some answers switch on; what waits for itself, by whatever detour, is none of them."""
    reached: set[str] = set()
    grown = True
    while grown:
        grown = False
        for item in items.values():
            around = not item.parent or item.parent in reached
            if item.link_id not in reached and around and _may_be_on(item, items, reached):
                reached.add(item.link_id)
                grown = True
    return reached


def _may_be_on(item: Item, items: Mapping[str, Item], reached: set[str]) -> bool:
    if not item.conditions or item.formulas.enabled is not None:
        return True
    each_may = [_may_hold(condition, items, reached) for condition in item.conditions]
    return any(each_may) if item.any_condition else all(each_may) and not _contradicts_itself(item, items)


def _may_hold(condition: Condition, items: Mapping[str, Item], reached: set[str]) -> bool:
    target = items.get(condition.question)
    if target is None or target.left_out or not target.is_question:
        return True  # said elsewhere
    if condition.operator == "!=" or (condition.operator == "exists" and condition.answer.value is False):
        return True
    return target.link_id in reached and _is_answered(target)


def _is_answered(item: Item) -> bool:
    """Say whether somebody is asked for an item, or something fills it."""
    return bool(item.asked or item.left_out or item.initial or item.formulas.initial or item.formulas.calculated)


def _contradicts_itself(item: Item, items: Mapping[str, Item]) -> bool:
    """Say whether an item waits for two answers to a question that takes one."""
    equal = [each for each in item.conditions if each.operator == "=" and each.question in items]
    return any(
        one.question == other.question
        and not any(items[around].repeats for around in items[one.question].line)
        and one.answer.type == other.answer.type
        and relate(one.answer, other.answer) not in {"same", "unknown"}
        for place, one in enumerate(equal)
        for other in equal[:place]
    )
