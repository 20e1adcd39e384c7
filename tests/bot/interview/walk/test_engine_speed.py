"""A turn costs what an answer touches, not what the form holds."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from time import perf_counter

from bot.interview.load import load_form
from bot.interview.walk.engine import AskItem, Done, Engine, Show
from bot.interview.walk.filling import Given, NoMore, Shown, Skipped
from tests.bot.interview.random_forms import NOW, Patient
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.validate.test_corpus_questionnaires import missing_value_sets, published
from tests.bot.interview.walk.engine_steps import formula

ROUNDS = 5


def turns_s(questionnaire: Json, *resources: Json) -> list[float]:
    """Walk a form several times; return the best time of each turn: check the answer, take it, find what is next."""
    engine = Engine(load_form(questionnaire, resources=resources), now=NOW)
    rounds = [_walk(engine) for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _walk(engine: Engine) -> list[float]:
    patient = Patient(Random(1), stubborn=0)
    filling, times = engine.start(), list[float]()
    step = engine.next(filling)
    while not isinstance(step, Done):
        answers = (patient.value(step.item, step.options),) if isinstance(step, AskItem) else ()
        started = perf_counter()
        if isinstance(step, AskItem):
            wrong = engine.problems(filling, step.path, answers)
            filling = engine.apply(filling, Skipped(step.path) if wrong else Given(step.path, answers))
        else:
            filling = engine.apply(filling, Shown(step.path) if isinstance(step, Show) else NoMore(step.path))
        step = engine.next(filling)
        times.append(perf_counter() - started)
    return times


def plain_form(amount: int) -> Json:
    """A form of groups of five questions, of which each depends on the one before."""
    groups = []
    for number in range(0, amount, 5):
        inner = [item(f"q{number + place}", "boolean") for place in range(5)]
        for before, after in pairwise(inner):
            after["enableWhen"] = [{"question": before["linkId"], "operator": "exists", "answerBoolean": True}]
        groups.append(item(f"g{number}", "group", *inner))
    return form(*groups)


def calculated_form(amount: int) -> Json:
    """A form in which every second item is calculated from the one before it."""
    items = []
    for number in range(0, amount, 2):
        source = f"%resource.item.where(linkId='q{number}').answer.value.toString()"
        items += [
            item(f"q{number}", "boolean"),
            item(f"c{number}", "string", extension=[formula("calculatedExpression", source)]),
        ]
    return form(*items)


def mean(times: list[float]) -> float:
    return sum(times) / len(times)


def test_a_turn_on_the_swiss_radiology_order_costs_at_most_ten_times_one_on_a_form_of_25_items() -> None:
    questionnaire = published("ch-rad-order")

    large, small = turns_s(questionnaire, *missing_value_sets(questionnaire)), turns_s(plain_form(25))

    assert len(large) > 150
    assert mean(large) <= 10 * mean(small)


def test_a_turn_on_a_form_of_250_items_costs_at_most_ten_times_one_on_a_form_of_25() -> None:
    assert mean(turns_s(plain_form(250))) <= 10 * mean(turns_s(plain_form(25)))


def test_only_what_depends_on_an_answer_is_calculated_again() -> None:
    assert mean(turns_s(calculated_form(250))) <= 10 * mean(turns_s(calculated_form(24)))
