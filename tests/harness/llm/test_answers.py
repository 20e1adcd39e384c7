"""Answers are kept line by line as a Batch output file, and only good ones count as answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot import BadData, Unreachable
from harness.generation.answering import answer_into, kept_completions, requests_for, still_open
from harness.llm.batch_files import read_answers
from harness.llm.contract import Completion, ModelCall, Request, key_of
from harness.llm.prices import Price, PriceTable
from harness.patients.prompts import Prompt

CALL = ModelCall("m", temperature=0.5)
PROMPTS = [Prompt(f"novel/v/{n}", "novel", "v", None, "de", "Sie sind …", f"Aufgabe {n}", 1) for n in range(3)]
REQUESTS = requests_for(PROMPTS)


@dataclass
class Echo:
    """A model that repeats its task; `problems` says which requests it leaves without an answer."""

    problems: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def complete(self, requests: Sequence[Request]) -> Iterator[Completion]:
        for request in requests:
            self.asked.append(request.id)
            key = key_of(request, CALL)
            if problem := self.problems.get(request.id):
                yield Completion(request.id, "", problem, key=key)
                continue
            text = f"{request.messages[-1]['content']}: tut das weh?"
            usage = {"prompt_tokens": 10, "completion_tokens": 2}
            response = {"id": "c", "model": "m-1", "choices": [{"message": {"content": text}}], "usage": usage}
            yield Completion(request.id, text, response=response, key=key)


def answered(out: Path, model: Echo, call: ModelCall = CALL) -> None:
    answer_into(out, model, still_open(REQUESTS, call, out))


def test_answers_are_kept_as_batch_output_lines(tmp_path: Path) -> None:
    out = tmp_path / "new" / "answers.jsonl"
    told: list[str] = []

    answer_into(out, Echo(), still_open(REQUESTS, CALL, out), each=lambda completion: told.append(completion.id))

    answers = read_answers([out])
    assert {id_: answer.content for id_, answer in answers.items()} == {
        f"novel/v/{n}": f"Aufgabe {n}: tut das weh?" for n in range(3)
    }
    assert {(answer.model, answer.problem) for answer in answers.values()} == {("m-1", "")}
    assert told == [request.id for request in REQUESTS]


def test_prompts_with_the_same_words_are_samples_of_one_another() -> None:
    twins = requests_for([PROMPTS[0], replace(PROMPTS[0], id="novel/v/9"), PROMPTS[1]])

    assert [request.sample for request in twins] == [0, 1, 0]
    assert len({key_of(request, CALL) for request in twins}) == 3


def test_a_schema_asks_for_as_many_questions_as_the_prompt() -> None:
    [request] = requests_for([replace(PROMPTS[0], count=7)], structured=True)

    assert request.schema is not None
    assert request.schema["properties"]["questions"]["maxItems"] == 7


def test_what_is_answered_is_not_asked_again(tmp_path: Path) -> None:
    out, model = tmp_path / "answers.jsonl", Echo()
    answer_into(out, model, still_open(REQUESTS[:2], CALL, out))

    answered(out, model)

    assert model.asked == [request.id for request in REQUESTS]


def test_a_line_that_a_kill_left_unfinished_is_cut_off_and_asked_again(tmp_path: Path) -> None:
    out, model = tmp_path / "answers.jsonl", Echo()
    answered(out, model)
    out.write_bytes(out.read_bytes()[:-30])

    answered(out, model)

    assert model.asked[3:] == ["novel/v/2"]
    assert len(read_answers([out])) == 3


def test_prompts_without_an_answer_are_named_counted_and_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    model = Echo({"novel/v/0": "status 500", "novel/v/2": "status 500"})

    with pytest.raises(Unreachable) as caught:
        answered(out, model)
    assert "2 prompts without an answer (status 500: 2), for example novel/v/0" in str(caught.value)
    assert read_answers([out])["novel/v/0"].problem == "error (status 0)"

    model.problems.clear()
    answered(out, model)
    assert model.asked[3:] == ["novel/v/0", "novel/v/2"]
    assert [answer.problem for answer in read_answers([out]).values()] == ["", "", ""]


@pytest.mark.parametrize("call", [replace(CALL, model="other"), replace(CALL, temperature=None), replace(CALL, seed=1)])
def test_answers_to_other_requests_are_not_taken_for_these(tmp_path: Path, call: ModelCall) -> None:
    out, model = tmp_path / "answers.jsonl", Echo()
    answered(out, model)

    with pytest.raises(BadData, match=r"holds 3 answers to other requests, for example novel/v/0: model, temperature"):
        answered(out, model, call)


def test_answers_from_elsewhere_count_by_their_ids(tmp_path: Path) -> None:
    out, model = tmp_path / "answers.jsonl", Echo()
    body = {"choices": [{"message": {"content": "Weh?"}}]}
    line = {"custom_id": "novel/v/1", "response": {"status_code": 200, "body": body}, "error": None}
    out.write_text(json.dumps(line) + "\n", encoding="utf-8")

    answered(out, model)

    assert model.asked == ["novel/v/0", "novel/v/2"]


def test_answers_that_cannot_be_written_are_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadData, match=r"cannot be written \(.+\)"):
        answered(tmp_path / "file" / "answers.jsonl", Echo())


def test_the_costs_of_a_file_include_what_was_answered_before(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with pytest.raises(Unreachable, match="novel/v/1"):
        answered(out, Echo({"novel/v/1": "status 500"}))
    prices = PriceTable(models={"m": Price(input=1e6, output=1e6)})

    kept = kept_completions(REQUESTS, out, CALL, prices, asked_now=["novel/v/2"])

    assert [(c.id, c.cost, c.replayed) for c in kept] == [("novel/v/0", 12.0, True), ("novel/v/2", 12.0, False)]
