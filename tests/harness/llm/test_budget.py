"""A budget is never exceeded: not by many requests at once, not through faults, not across kills."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData
from harness.llm.budget import BudgetReached
from harness.llm.contract import ModelCall, Request, Terms
from harness.llm.store import AnswerStore
from tests.harness.llm.conftest import CALL, Scripted, ask, some
from tests.harness.llm.faulty_model import FaultyModel

# 100 for an answer of the scripted endpoint, which says it took one token each way; up to 10,000 as far as anybody knew.
PRICES = "currency: CHF\nmodels: {scripted: {input: 0, output: 100.0e+6}, dear: {input: 0, output: 1}}\n"
BUDGETED = replace(CALL, max_tokens=100)


@pytest.fixture
def terms(tmp_path: Path) -> Terms:
    (tmp_path / "prices.yaml").write_text(PRICES, encoding="utf-8")
    return Terms(store=tmp_path / "answers.db", prices=tmp_path / "prices.yaml", job="j")


def asked(server: FaultyModel, terms: Terms, *, number: int = 20, call: ModelCall = BUDGETED) -> list[str]:
    assert terms.store
    return [completion.id for completion in ask(server, some(number), terms.store, call=call, terms=terms)]


def spent(terms: Terms) -> float:
    assert terms.store
    with AnswerStore.open(terms.store, change=False) as store:
        return store.spent(terms.job) / 1e9


def test_the_work_stops_before_the_budget_is_exceeded_and_says_how_to_go_on(scripted: Scripted, terms: Terms) -> None:
    with scripted() as server, pytest.raises(BudgetReached) as caught:
        asked(server, replace(terms, budget=10_500))

    # After six answers of 100 the seventh might cost 10,000, and 9,900 are left.
    assert len(server.requests) == 6
    assert spent(terms) == 600
    assert str(caught.value) == (
        "Stopped before the budget of 10500 CHF is exceeded: 600 CHF are spent and the next request may cost up to "
        "10000 CHF. 6 answers are kept, 14 requests are open. Run this again with a higher `--budget` (or a lower "
        "`--max-tokens`) to go on."
    )


def test_a_higher_budget_goes_on_without_asking_anything_twice(scripted: Scripted, terms: Terms) -> None:
    with scripted() as server:
        with pytest.raises(BudgetReached, match="6 answers are kept"):
            asked(server, replace(terms, budget=10_500))
        with pytest.raises(BudgetReached, match="11 answers are kept, 9 requests are open"):
            asked(server, replace(terms, budget=11_000))
        answered = asked(server, replace(terms, budget=12_000))

    assert len(answered) == 20
    assert sorted(server.tasks()) == sorted(f"Aufgabe {n}" for n in range(20))
    assert spent(terms) == 2_000


@pytest.mark.parametrize("parallel", [2, 8])
def test_requests_at_once_wait_for_one_another_near_the_limit(scripted: Scripted, terms: Terms, parallel: int) -> None:
    with scripted() as server:
        answered = asked(server, replace(terms, budget=12_000), call=replace(BUDGETED, parallel=parallel))

    assert len(answered) == 20
    assert server.busiest == 1  # two at once might have cost 20,000


def test_the_limit_itself_may_be_spent(scripted: Scripted, terms: Terms) -> None:
    with scripted() as server:
        assert len(asked(server, replace(terms, budget=10_000), number=1)) == 1


@pytest.mark.parametrize(
    ("fault", "set_aside"), [("busy", 0), (500, 0), ("slow", 10_000), ("cut", 10_000), ("malformed", 10_000)]
)
def test_what_may_have_been_billed_counts_as_spent(
    scripted: Scripted, terms: Terms, fault: int | str, set_aside: int
) -> None:
    with scripted([fault]) as server:
        asked(server, replace(terms, budget=50_000), number=1, call=replace(BUDGETED, timeout_s=1.5))

    assert spent(terms) == set_aside + 100


def test_what_was_under_way_when_a_process_was_killed_counts_as_spent(scripted: Scripted, terms: Terms) -> None:
    assert terms.store
    with AnswerStore.open(terms.store) as store:
        store.reserve("j", "k", 10_000 * 10**9, limit=10**15)  # and then came the kill

    with scripted() as server, pytest.raises(BudgetReached, match="10000 CHF are spent"):
        asked(server, replace(terms, budget=12_000), number=1)
    assert server.requests == []


def test_answers_from_the_store_cost_nothing(scripted: Scripted, terms: Terms) -> None:
    with scripted() as server:
        asked(server, replace(terms, budget=50_000))
        assert len(asked(server, replace(terms, budget=0, job="another"))) == 20

    assert len(server.requests) == 20


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ModelCall("unknown", max_tokens=5), r"needs the price of 'unknown'.*`--prices`"),
        (ModelCall("dear"), r"needs the longest answer .*`--max-tokens`, or `max_output_tokens`"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(scripted: Scripted, terms: Terms, call: ModelCall, said: str) -> None:
    with scripted() as server, pytest.raises(BadData, match=said):
        asked(server, replace(terms, budget=1), call=call)

    assert server.requests == []


def test_the_longest_answer_of_the_price_table_is_the_worst_case(scripted: Scripted, terms: Terms) -> None:
    assert terms.prices
    terms.prices.write_text("models: {scripted: {input: 1, output: 1, max_output_tokens: 2000000}}", encoding="utf-8")

    with scripted() as server, pytest.raises(BudgetReached, match=r"may cost up to 2\.00004"):
        asked(server, replace(terms, budget=1), call=CALL)


def test_a_budget_without_a_store_holds_for_the_run(scripted: Scripted, terms: Terms) -> None:
    with scripted() as server, pytest.raises(BudgetReached, match="6 answers are kept"):
        asked(server, replace(terms, mode="off", budget=10_500))

    assert terms.store
    assert not terms.store.exists()


def test_a_request_is_given_back_its_place(scripted: Scripted, terms: Terms) -> None:
    request = Request("long", ({"role": "user", "content": "x" * 100},))
    assert terms.prices
    terms.prices.write_text("models: {scripted: {input: 1.0e+6, output: 0}}", encoding="utf-8")

    with scripted() as server, pytest.raises(BudgetReached, match="0 answers are kept, 1 requests are open"):
        ask(server, [request], terms.store or Path(), call=BUDGETED, terms=replace(terms, budget=99))
