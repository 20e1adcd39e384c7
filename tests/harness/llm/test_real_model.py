"""A real (very small) model behind a real server: what it gets wrong is caught, and what the network does to it, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import LanguageDetector, Settings, load_catalog
from harness.generation.answering import answer_into, requests_for, still_open
from harness.generation.parse import parse_answer, split_unfinished
from harness.generation.recording import record
from harness.llm.batch import BatchTerms, fetch, poll, submit
from harness.llm.batch_files import read_answers, write_requests
from harness.llm.batch_service import BatchService
from harness.llm.contract import Completion, ModelCall, Request, Terms
from harness.llm.opening import open_model
from harness.llm.store import AnswerStore
from harness.patients.prompts import Prompt, SuiteSize, build_prompts
from harness.patients.suites import QuestionSource
from harness.patients.vignettes import load_vignettes
from tests.harness.llm.batch.batch_server import batch_server
from tests.harness.llm.faulty_model import REFUSAL, Fault, faulty_model

# A few words each: the model speaks 30 tokens a second, and nobody wants to read them.
CALL = ModelCall("smollm2", seed=11, max_tokens=8, timeout_s=30, retries=2, parallel=2, backoff_s=0.01)
ALONE = replace(CALL, parallel=1)


def asking(*texts: str, **more: Any) -> list[Request]:
    return [Request(f"r/{n}", ({"role": "user", "content": text},), **more) for n, text in enumerate(texts)]


QUESTIONS = asking("Does it hurt?", "How long does it take?")


@contextmanager
def model_at(url: str, folder: Path, call: ModelCall = CALL, terms: Terms | None = None) -> Iterator[Any]:
    settings = Settings(folder, model_url=url)
    with open_model(settings, call, terms or Terms(store=folder / "answers.db")) as model:
        yield model


def answers(url: str, folder: Path, requests: list[Request], call: ModelCall = CALL) -> list[Completion]:
    with model_at(url, folder, call) as model:
        return sorted(model.complete(requests), key=lambda completion: str(completion.id))


@pytest.mark.proof
def test_answers_come_with_counted_tokens_and_are_known_as_cut(real_model: str, tmp_path: Path) -> None:
    first, second = answers(real_model, tmp_path, QUESTIONS)

    for completion in (first, second):
        assert completion.problem == ""
        assert completion.text
        assert completion.usage is not None
        assert not completion.usage.estimated
        assert 0 < completion.usage.output_tokens <= 8
        assert completion.cut == (completion.usage.output_tokens == 8)


@pytest.mark.proof
def test_a_seed_repeats_an_answer_and_samples_differ(real_model: str, tmp_path: Path) -> None:
    hot = replace(ALONE, temperature=1.5)
    question = QUESTIONS[0]

    once = answers(real_model, tmp_path / "1", [question], hot)
    again = answers(real_model, tmp_path / "2", [question], hot)
    samples = answers(real_model, tmp_path / "3", [replace(question, id=f"s{n}", sample=n) for n in range(3)], hot)

    assert once[0].text == again[0].text == samples[0].text
    assert len({completion.text for completion in samples}) > 1


@pytest.mark.proof
def test_structured_output_holds_the_model_to_its_schema(real_model: str, tmp_path: Path) -> None:
    scores = {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}
    schema = {
        "type": "object",
        "properties": {"fits": scores, "real": scores},
        "required": ["fits", "real"],
        "additionalProperties": False,
    }
    requests = asking("Rate this from 0 to 5.", schema=schema)

    [completion] = answers(real_model, tmp_path, requests, replace(ALONE, max_tokens=24))

    said = json.loads(completion.text)
    assert set(said) == {"fits", "real"}
    assert set(said.values()) <= set(range(6))


@pytest.mark.proof
def test_a_schema_that_the_server_refuses_is_left_out(real_model: str, tmp_path: Path) -> None:
    with model_at(real_model, tmp_path, ALONE) as model:
        completions = list(model.complete(asking("Does it hurt?", schema={"type": "nonsense"})))
        notes = model.notes

    assert [completion.problem for completion in completions] == [""]
    assert "no structured output" in notes[0]


@pytest.mark.proof
def test_a_prompt_that_is_too_long_for_the_model_is_a_problem_of_its_own(real_model: str, tmp_path: Path) -> None:
    requests = asking("Does it hurt?", "very " * 3000 + "long", "How long?")

    completions = answers(real_model, tmp_path, requests)

    assert [bool(completion.text) for completion in completions] == [True, False, True]
    assert completions[1].problem.startswith("status 400")


@pytest.mark.proof
@pytest.mark.parametrize("fault", ["busy", 500, "cut", "slow", "malformed", "empty"])
def test_faults_in_front_of_it_lose_nothing_and_ask_nothing_twice(
    real_model: str, tmp_path: Path, fault: Fault
) -> None:
    with faulty_model(real_model, [fault]) as proxy:
        proxy.slow_s = 60
        call = replace(ALONE, timeout_s=5 if fault == "slow" else 30)
        first = answers(proxy.url, tmp_path, QUESTIONS, call)
        again = answers(proxy.url, tmp_path, QUESTIONS, call)

    assert [completion.problem for completion in first] == ["", ""]
    assert [replace(completion, replayed=True) for completion in first] == again
    assert proxy.tasks() == ["Does it hurt?", "Does it hurt?", "How long does it take?"]
    if fault == "busy":
        assert proxy.times[1] - proxy.times[0] >= 1.0  # what Retry-After asked for


@pytest.mark.proof
def test_a_refusal_is_an_answer_that_yields_no_question(real_model: str, tmp_path: Path) -> None:
    with faulty_model(real_model, ["refusal"]) as proxy:
        [completion] = answers(proxy.url, tmp_path, QUESTIONS[:1], ALONE)

    assert completion.text == REFUSAL
    assert completion.usage is not None
    assert completion.usage.estimated  # the gateway did not count
    parsed = parse_answer(completion.text, prompt_id="r/0", count=1, language="de")
    assert (parsed.questions, [item.reason for item in parsed.dropped]) == ((), ["refusal"])


@pytest.mark.proof
def test_a_budget_counts_what_the_server_counted(real_model: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {smollm2: {input: 1.0e+6, output: 1.0e+6}}", encoding="utf-8")
    terms = Terms(store=tmp_path / "answers.db", prices=prices, budget=1000, job="j")

    with model_at(real_model, tmp_path, ALONE, terms) as model:
        completions = list(model.complete(QUESTIONS))

    tokens = sum(c.usage.input_tokens + c.usage.output_tokens for c in completions)
    with AnswerStore.open(tmp_path / "answers.db") as store:
        assert store.spent("j") == tokens * 10**9


@pytest.fixture(scope="module")
def few_prompts(small_folder: Path) -> list[Prompt]:
    """A prompt for paraphrases and one for novel questions."""
    prompts = build_prompts(
        load_catalog(small_folder, "de"), load_vignettes("de")[:1], SuiteSize(variations=3, novel=3)
    )
    return [prompts[0], prompts[-1]]


@pytest.mark.proof
def test_its_mess_becomes_questions_or_is_dropped_with_a_reason_and_replays_the_same(
    real_model: str, few_prompts: list[Prompt], detector: LanguageDetector, tmp_path: Path
) -> None:
    call = replace(CALL, max_tokens=32, temperature=0.8)
    requests = requests_for(few_prompts)
    source = QuestionSource(kind="model", answered="live", temperature=0.8)
    recordings = []
    for name, terms in (("live", Terms(store=tmp_path / "s.db")), ("replay", Terms("replay", tmp_path / "s.db"))):
        out = tmp_path / f"{name}.answers.jsonl"
        with model_at(real_model, tmp_path, call, terms) as model:
            answer_into(out, model, still_open(requests, call, out))
        recordings.append(record(few_prompts, read_answers([out]), detector=detector, source=source))

    live, replayed = recordings
    assert live == replayed
    for prompt in few_prompts:
        questions = [question for question in live.questions if question.id.startswith(f"{prompt.id}/")]
        dropped = [item for item in live.dropped if item.prompt_id == prompt.id]
        assert questions or dropped
        assert len(questions) + live.short.get(prompt.id, 0) == prompt.count
        assert all(item.reason for item in dropped)
    assert all(question.source.model == "smollm2" for question in live.questions)


def test_what_it_writes_as_json_is_read_even_when_cut(
    real_model: str, few_prompts: list[Prompt], tmp_path: Path
) -> None:
    [request] = requests_for(few_prompts[:1], structured=True)

    [completion] = answers(real_model, tmp_path, [request], replace(ALONE, max_tokens=24))

    assert completion.text.lstrip().startswith("{")
    whole, _ = split_unfinished(completion.text) if completion.cut else (completion.text, "")
    for text in parse_answer(whole, prompt_id="p", count=3, language="de").questions:
        assert not text.startswith(("{", "[", '"questions"'))


@pytest.mark.proof
def test_a_batch_is_answered_by_it(real_model: str, few_prompts: list[Prompt], tmp_path: Path) -> None:
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    short = [replace(prompt, system="You are a patient.", task="Ask something.") for prompt in few_prompts]
    write_requests(short, prompts, model="smollm2", temperature=0.5, more={"max_tokens": 8})

    def chat(body: dict[str, Any]) -> dict[str, Any]:
        answer = httpx.post(f"{real_model}/chat/completions", json=body, timeout=60, trust_env=False)
        return dict(answer.raise_for_status().json())

    with batch_server(chat) as server, BatchService.open(Settings(tmp_path, model_url=server.url)) as service:
        state = tmp_path / "prompts.batch.json"
        submit(prompts, state, service, BatchTerms())
        while not poll(state, service).is_final:
            pass
        fetch(state, out, service)

    answered = read_answers([out])
    assert set(answered) == {prompt.id for prompt in few_prompts}
    assert all(answer.content and not answer.problem for answer in answered.values())
