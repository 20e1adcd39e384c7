"""Prices become costs, and a wrong table says what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot import BadData
from harness.llm.contract import Completion, Request, Usage, most_input_tokens, text_of, usage_of, was_cut
from harness.llm.prices import Price, PriceTable, add_up, in_words, load_prices, write_costs

MESSAGES = ({"role": "system", "content": "Sie sind …"}, {"role": "user", "content": "ä" * 34})


def test_the_shipped_table_prices_dated_models_and_no_relatives() -> None:
    table = load_prices(None)

    assert table.of("gpt-4o-mini") == table.of("gpt-4o-mini-2024-07-18") != table.of("gpt-4o")
    assert table.of("gpt-4o-audio-preview") is None
    assert table.of("llama") is None
    assert table.checked is not None


def test_the_longest_name_that_fits_counts() -> None:
    table = PriceTable(models={"*": Price(input=1, output=1), "local-*": Price(input=0, output=0)})

    assert table.of("local-7b") == Price(input=0, output=0)
    assert table.of("other") == Price(input=1, output=1)


def test_cost_counts_cached_input_at_its_own_price() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=400_000)

    assert Price(input=2, output=10).of(usage) == pytest.approx(3.0)
    assert Price(input=2, output=10, cached_input=0.5).of(usage) == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: {m: {input: 1}}", "models.m.output: is missing"),
        ("models: {m: {input: -1, output: 1}}", "models.m.input: must be at least 0"),
        ("models: {m: {input: .inf, output: 1}}", "models.m.input: must be a finite number"),
        ("models: {m: {input: 1, output: 1, outptu: 1}}", "models.m.outptu: is not known here"),
        ("- a", "the file: must hold names with values"),
        ("a: [", "is no YAML"),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match=r"prices\.yaml") as caught:
        load_prices(file)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_table_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"cannot be read .*`--prices`"):
        load_prices(tmp_path / "none.yaml")


def test_tokens_are_taken_from_the_endpoint_or_estimated_and_marked() -> None:
    said = {"usage": {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}}
    silent = {"choices": [{"message": {"content": "1234567"}}]}

    assert usage_of(said, MESSAGES) == Usage(5, 7, 4)
    assert usage_of(silent, MESSAGES) == Usage(13, 2, estimated=True)
    assert usage_of({"usage": {"prompt_tokens": True, "completion_tokens": -1}}, MESSAGES).estimated
    assert most_input_tokens(MESSAGES) >= len("Sie sind …".encode()) + 68


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"message": {"content": "Weh?"}}, "Weh?"),
        ({"message": {"content": None}}, ""),
        ({"message": {"content": None, "refusal": "I cannot help."}}, "I cannot help."),
        ({"message": {"content": [{"type": "text"}]}}, None),
        ({"message": {}}, None),
        ({"text": "old endpoint"}, None),
        ("x", None),
    ],
)
def test_only_a_text_is_an_answer(choice: object, text: str | None) -> None:
    assert text_of({"choices": [choice]}) == text


def test_an_answer_at_the_token_limit_is_known_as_cut() -> None:
    assert was_cut({"choices": [{"finish_reason": "length"}]})
    assert not was_cut({"choices": [{"finish_reason": "stop"}]})
    assert not was_cut({})


def test_costs_are_summed_by_call_vignette_and_pair(tmp_path: Path) -> None:
    requests = [
        Request(f"r{n}", MESSAGES, {"vignette": vignette, "pair": pair})
        for n, (vignette, pair) in enumerate([("a", "pain"), ("a", "costs"), ("b", "pain"), ("b", "")])
    ]
    completions = [
        Completion(f"r{n}", "x", usage=Usage(10, 5, estimated=n == 3), cost=0.25 * (n + 1), replayed=n == 0)
        for n in range(4)
    ]
    failed = Completion("r0", "", problem="status 500")

    costs = add_up("CHF", requests, [*completions, failed])
    write_costs(costs, tmp_path / "costs.json")

    document = json.loads((tmp_path / "costs.json").read_text(encoding="utf-8"))
    assert {name: entry["cost"] for name, entry in document["vignette"].items()} == {"a": 0.75, "b": 1.75}
    assert {name: entry["cost"] for name, entry in document["pair"].items()} == {"pain": 1.0, "costs": 0.5}
    assert (document["total"]["cost"], document["total"]["spent_now"]) == (2.5, 2.25)
    assert [call["cost"] for call in document["calls"]] == [0.25, 0.5, 0.75, 1.0]
    assert in_words(costs) == "4 answers: 40 tokens in, 20 out (estimated for 1); 2.5 CHF, 2.25 of it spent now"


def test_an_unpriced_model_is_said_to_have_no_price() -> None:
    costs = add_up("USD", [Request("a", MESSAGES)], [Completion("a", "x", usage=Usage(1, 1))])

    assert in_words(costs) == "1 answer: 1 tokens in, 1 out; the price table has no price for 1 of them (`--prices`)"
