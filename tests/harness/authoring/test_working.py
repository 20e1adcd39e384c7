"""Work that asks a model step by step is replayed from answers, whoever gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot import BadData
from harness.authoring.working import Ask, Unusable, Work, advance, ask, ask_all, together
from harness.authoring.workshop import Workshop
from harness.llm.batch_files import ModelAnswer


def _number(text: str) -> int:
    if not text.isdigit():
        raise Unusable("it is no number")
    return int(text)


def _ask(id_: str, words: str = "How many?") -> Ask[int]:
    return Ask(id_, [{"role": "user", "content": words}], _number)


def _adding(name: str) -> Work[int]:
    """Ask for two numbers at once, then for a third that depends on them."""
    first, second = yield from ask_all([_ask(f"{name}/a"), _ask(f"{name}/b")])
    third = yield from ask(_ask(f"{name}/c", f"And after {first} and {second}?"))
    return (first or 0) + (second or 0) + (third or 0)


def _answers(**texts: str) -> dict[str, ModelAnswer]:
    return {id_.replace("_", "/"): ModelAnswer(id_.replace("_", "/"), text, "m", "") for id_, text in texts.items()}


def test_a_work_goes_on_as_far_as_answers_reach() -> None:
    assert [one.id for one in advance(_adding("x"), {}).waiting] == ["x/a", "x/b"]
    assert [one.id for one in advance(_adding("x"), _answers(x_a="1")).waiting] == ["x/b"]

    third = advance(_adding("x"), _answers(x_a="1", x_b="2"))
    assert [one.messages[0]["content"] for one in third.waiting] == ["And after 1 and 2?"]

    done = advance(_adding("x"), _answers(x_a="1", x_b="2", x_c="3"))
    assert (done.result, done.waiting, done.unusable) == (6, (), {})
    assert set(done.models) == {"x/a", "x/b", "x/c"}


def test_what_cannot_be_used_is_asked_again_and_then_left() -> None:
    again = advance(_adding("x"), _answers(x_a="one", x_b="2"))
    assert [one.id for one in again.waiting] == ["x/a#2"]

    right = advance(_adding("x"), {**_answers(x_a="one", x_b="2", x_c="3"), "x/a#2": ModelAnswer("", "1", "m", "")})
    assert right.result == 6

    left = advance(
        _adding("x"), {**_answers(x_a="one", x_b="2", x_c="3"), "x/a#2": ModelAnswer("", "1", "m", "", True)}
    )
    assert (left.result, left.unusable) == (5, {"x/a": "it broke off at the token limit"})


def test_a_fault_of_the_endpoint_is_no_attempt() -> None:
    failed = {"x/a": ModelAnswer("x/a", "", "m", "error (status 500)"), **_answers(x_b="2")}

    assert [one.id for one in advance(_adding("x"), failed).waiting] == ["x/a"]


def test_works_side_by_side_ask_together_and_end_in_their_order() -> None:
    def work() -> Work[list[int]]:
        return (yield from together([_adding("x"), _nothing(), _adding("y")]))

    first = advance(work(), {})
    assert [one.id for one in first.waiting] == ["x/a", "x/b", "y/a", "y/b"]
    second = advance(work(), _answers(x_a="1", x_b="2", y_a="10", y_b="20"))
    assert [one.id for one in second.waiting] == ["x/c", "y/c"]
    done = advance(work(), _answers(x_a="1", x_b="2", y_a="10", y_b="20", x_c="3", y_c="30"))
    assert done.result == [6, 0, 60]


def _nothing() -> Work[int]:
    yield from ask_all([])
    return 0


def test_two_prompts_with_one_id_are_a_mistake_of_the_work() -> None:
    def twice() -> Work[Any]:
        return (yield from ask_all([_ask("same"), _ask("same")]))

    with pytest.raises(ValueError, match="the id 'same'"):
        advance(twice(), _answers(same="1"))


def _written(file: Path, **texts: str) -> Path:
    lines = [
        {"custom_id": id_.replace("_", "/"), "response": {"status_code": 200, "body": {"model": "m", "choices": [
            {"message": {"content": text}, "finish_reason": "stop"}]}}}
        for id_, text in texts.items()
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_folder_keeps_answers_and_takes_a_whole_recorded_run_at_once(tmp_path: Path) -> None:
    shop = Workshop.open(tmp_path / "work", {"of": "x"}, lambda: _adding("x"))

    assert len(shop.go_on().waiting) == 2
    assert len(shop.go_on([_written(tmp_path / "1.jsonl", x_a="1", x_b="2")]).waiting) == 1
    assert shop.go_on([_written(tmp_path / "2.jsonl", x_c="3")]).result == 6

    whole = Workshop.open(tmp_path / "other", {"of": "x"}, lambda: _adding("x"))
    assert whole.go_on([_written(tmp_path / "3.jsonl", x_a="1", x_b="2", x_c="3")]).result == 6
    assert Workshop.open(tmp_path / "other", {"of": "x"}, lambda: _adding("x")).go_on().result == 6


def test_a_good_answer_in_a_file_counts_where_the_folder_has_a_failed_one(tmp_path: Path) -> None:
    shop = Workshop.open(tmp_path / "work", {"of": "x"}, lambda: _adding("x"))
    failed = {"custom_id": "x/a", "response": None, "error": {"code": "batch_expired"}}
    shop.folder.answers_file.write_text(json.dumps(failed) + "\n", encoding="utf-8")

    assert shop.go_on([_written(tmp_path / "all.jsonl", x_a="1", x_b="2", x_c="3")]).result == 6


def test_answers_to_something_else_and_folders_of_other_work_are_refused(tmp_path: Path) -> None:
    shop = Workshop.open(tmp_path / "work", {"of": "x"}, lambda: _adding("x"))

    with pytest.raises(BadData, match="1 answers belong to nothing that is asked here, for example 'y/a'"):
        shop.go_on([_written(tmp_path / "1.jsonl", x_a="1", y_a="2")])
    with pytest.raises(BadData, match="holds work on something else"):
        Workshop.open(tmp_path / "work", {"of": "y"}, lambda: _adding("y"))
    assert not shop.folder.answers()


def test_who_can_be_asked_is_asked_until_the_work_is_done(tmp_path: Path) -> None:
    shop = Workshop.open(tmp_path / "work", {"of": "x"}, lambda: _adding("x"))
    rounds = []

    def answer(asks: Any) -> None:
        rounds.append([one.id for one in asks])
        file = _written(tmp_path / "now.jsonl", **{one.id.replace("/", "_"): "7" for one in asks})
        with shop.folder.answers_file.open("ab") as kept:
            kept.write(file.read_bytes())

    assert shop.go_on((), answer).result == 21
    assert rounds == [["x/a", "x/b"], ["x/c"]]
