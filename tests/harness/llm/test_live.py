"""A model behind an endpoint that fails in every usual way is asked until it answers, and never twice."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from bot import BadData, Settings, Unreachable, UserFixable
from harness.llm.contract import ModelCall, Request, Terms
from harness.llm.opening import endpoint_of, open_model
from tests.harness.llm.conftest import CALL, Scripted, ask, some
from tests.harness.llm.faulty_model import Fault, FaultyModel


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


def test_answers_come_with_their_ids_tokens_and_whole_response(scripted: Scripted, store: Path) -> None:
    with scripted() as server:
        completions = ask(server, some(3), store)

    assert [(c.id, c.text, c.problem) for c in completions] == [
        (f"novel/v/{n}", f"Aufgabe {n}: tut das weh?", "") for n in range(3)
    ]
    assert completions[0].usage is not None
    assert (completions[0].usage.input_tokens, completions[0].usage.estimated) == (1, False)
    assert completions[0].response["model"] == "scripted"
    assert server.requests[0] == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Aufgabe 0"}],
        "temperature": 0.5,
    }


def test_what_was_asked_for_is_sent_and_what_was_left_open_is_not(scripted: Scripted, store: Path) -> None:
    schema = {"type": "object"}
    messages = ({"role": "user", "content": "Hallo"},)
    with scripted() as server:
        ask(server, [Request("a", messages)], store, call=ModelCall("m"))
        call = ModelCall("m", seed=7, max_tokens=9)
        ask(server, [Request("b", messages, schema=schema, sample=2)], store, call=call)

    assert set(server.requests[0]) == {"model", "messages"}
    sent = server.requests[1]
    assert (sent["seed"], sent["max_tokens"]) == (9, 9)
    assert sent["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize("fault", ["busy", 500, 503, 408, "cut", "malformed", "empty"])
def test_passing_faults_are_tried_again_and_nothing_is_lost(scripted: Scripted, store: Path, fault: Fault) -> None:
    with scripted([fault]) as server:
        completions = ask(server, some(2), store)

    assert [c.text for c in completions] == ["Aufgabe 0: tut das weh?", "Aufgabe 1: tut das weh?"]
    assert server.tasks() == ["Aufgabe 0", "Aufgabe 0", "Aufgabe 1"]


def test_an_answer_that_takes_too_long_is_asked_for_again(scripted: Scripted, store: Path) -> None:
    with scripted(["slow"]) as server:
        completions = ask(server, some(1), store, call=replace(CALL, timeout_s=1.5))

    assert [c.problem for c in completions] == [""]
    assert len(server.requests) == 2
    assert server.times[1] - server.times[0] < server.slow_s


def test_retry_after_is_kept_by_all_requests(scripted: Scripted, store: Path) -> None:
    with scripted([200, "busy"], retry_after="1.5") as server:
        completions = ask(server, some(6), store, call=replace(CALL, parallel=3))

    busy = server.times[1]
    between = [time for time in server.times[2:] if busy + 0.7 < time < busy + 1.4]
    assert len(completions) == 6
    assert between == []
    assert len(server.requests) == 7


def test_a_date_in_retry_after_is_kept_as_seconds_are(scripted: Scripted, store: Path) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)
    with scripted(["busy"], retry_after=later) as server:
        completions = ask(server, some(1), store)

    assert [c.problem for c in completions] == [""]
    assert server.times[1] - server.times[0] > 1.0  # dates have whole seconds


def test_a_refused_parameter_is_named(scripted: Scripted, store: Path) -> None:
    with scripted(["no top_p"]) as server:
        (completion,) = ask(server, some(1), store)

    assert completion.problem == "status 400, unsupported_parameter, parameter top_p"


def test_a_wait_that_is_too_long_ends_the_work_with_one_line(scripted: Scripted, store: Path) -> None:
    with (
        scripted(["busy"], retry_after="3600") as server,
        pytest.raises(Unreachable, match=r"answered 429 .*asks to wait 3600 s"),
    ):
        ask(server, some(2), store)

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "requests", "said"),
    [
        (401, 1, r"answered 401 for model 'scripted' .*Check `--model` and KLARTEXT_MODEL_KEY"),
        (404, 1, r"answered 404 for model 'scripted' .*Check `--model`"),
        (429, 1, r"answered 429 .*insufficient_quota"),  # no money left: waiting does not help
        ("busy", 3, r"answered 429 .*rate_limit_exceeded.*with `--parallel`"),
    ],
)
def test_what_would_befall_every_request_ends_the_work_with_one_line(
    scripted: Scripted, store: Path, fault: Fault, requests: int, said: str
) -> None:
    with scripted([fault] * 9) as server, pytest.raises(Unreachable, match=said):
        ask(server, some(5), store)

    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (500, "status 500, scripted"),
        (400, "status 400, scripted"),
        ("malformed", "the answer is no JSON"),
        ("empty", "the answer is no chat completion"),
        ("cut", "the connection was cut"),
    ],
)
def test_a_fault_of_one_request_leaves_the_others_alone(
    scripted: Scripted, store: Path, fault: Fault, problem: str
) -> None:
    with scripted([fault] * (1 if fault == 400 else 3)) as server:
        completions = ask(server, some(3), store)
        again = ask(server, some(3), store)

    assert [c.problem for c in completions] == [problem, "", ""]
    assert [c.problem for c in again] == ["", "", ""]
    assert server.tasks()[-1] == "Aufgabe 0"  # only what had no answer was asked again
    assert server.tasks().count("Aufgabe 2") == 1


def test_a_wrong_address_is_found_out_soon(scripted: Scripted, store: Path) -> None:
    with (
        scripted(["page"] * 99) as server,
        pytest.raises(BadData, match=r"sent no chat completion \(the answer is no JSON\)\. Check its address"),
    ):
        ask(server, some(50), store, call=replace(CALL, retries=0))

    assert len(server.requests) == 3


def test_an_endpoint_that_is_not_there_is_one_clear_line(scripted: Scripted, store: Path) -> None:
    with scripted() as server:
        gone = server.url

    with pytest.raises(
        Unreachable, match=r"does not answer \(no connection\)\. Start it, or correct KLARTEXT_MODEL_URL"
    ):
        ask(FaultyModel("", url=gone), some(2), store)


def test_without_an_endpoint_the_way_out_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(UserFixable, match=r"Set KLARTEXT_MODEL_URL=.+ or use `--prompts FILE`"),
        open_model(Settings(tmp_path), CALL, Terms(mode="off")),
    ):
        pass


def test_what_was_under_way_when_the_work_ends_is_kept(scripted: Scripted, store: Path) -> None:
    with scripted(["slow", 401], slow_s=0.3) as server, pytest.raises(Unreachable, match="answered 401"):
        ask(server, some(9), store, call=replace(CALL, parallel=2))

    with scripted() as server:
        completions = ask(server, some(9), store)

    assert sum(c.replayed for c in completions) == 1
    assert len(server.tasks()) == len(set(server.tasks())) == 8


def test_the_end_does_not_wait_for_what_the_endpoint_asked_to_wait(scripted: Scripted, store: Path) -> None:
    started = time.monotonic()
    with (
        scripted(["late 401", "busy"], retry_after="200", slow_s=0.5) as server,
        pytest.raises(Unreachable, match="answered 401"),
    ):
        ask(server, some(9), store, call=replace(CALL, parallel=2))
    took = time.monotonic() - started

    with scripted() as server:
        assert len(ask(server, some(9), store)) == 9
    assert took < 60


def test_many_requests_at_once_lose_nothing_and_keep_the_limit(scripted: Scripted, store: Path) -> None:
    with scripted([500, 200, "cut", 200, "busy", 200, "malformed"]) as server:
        completions = ask(server, some(60), store, call=replace(CALL, parallel=8))

    assert {c.id: c.text for c in completions} == {f"novel/v/{n}": f"Aufgabe {n}: tut das weh?" for n in range(60)}
    assert len(server.requests) == 64
    assert 2 <= server.busiest <= 8


def test_the_same_words_are_asked_once_unless_another_sample_is_wanted(scripted: Scripted, store: Path) -> None:
    messages = ({"role": "user", "content": "Hallo"},)
    requests = [Request("a", messages), Request("b", messages), Request("c", messages, sample=1)]

    with scripted() as server:
        completions = ask(server, requests, store)

    assert {c.id: c.replayed for c in completions} == {"a": False, "b": True, "c": False}
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["seed", "response_format"])
def test_a_parameter_that_the_endpoint_refuses_is_left_out_from_then_on(
    scripted: Scripted, store: Path, name: str
) -> None:
    call = replace(CALL, seed=1, max_tokens=9)
    requests = [replace(request, schema={"type": "object"}) for request in some(2)]
    with (
        scripted([f"no {name}"]) as server,
        open_model(Settings(store.parent, model_url=server.url), call, Terms(store=store)) as model,
    ):
        completions = list(model.complete(requests))
        notes = model.notes

    assert [c.problem for c in completions] == ["", ""]
    assert [name in request for request in server.requests] == [True, False, False]
    assert len(notes) == 1


def test_an_endpoint_that_wants_the_newer_name_of_the_limit_gets_it(scripted: Scripted, store: Path) -> None:
    with scripted(["no max_tokens"]) as server:
        ask(server, some(1), store, call=replace(CALL, max_tokens=9))

    assert "max_tokens" not in server.requests[1]
    assert server.requests[1]["max_completion_tokens"] == 9


def test_a_caller_who_stops_listening_stops_the_work(scripted: Scripted, store: Path) -> None:
    with (
        scripted() as server,
        open_model(Settings(store.parent, model_url=server.url), CALL, Terms(store=store)) as model,
    ):
        completions = model.complete(some(500))
        first = next(completions)
        completions.close()  # type: ignore[attr-defined]

    assert first.problem == ""
    assert len(server.requests) < 500


def test_what_an_answer_gives_rise_to_may_be_asked_while_the_others_are_under_way(
    scripted: Scripted, store: Path
) -> None:
    call = replace(CALL, parallel=3)
    with (
        scripted(["slow"], slow_s=0.2) as server,
        open_model(Settings(store.parent, model_url=server.url), call, Terms(store=store)) as model,
    ):
        said = {}
        for completion in model.complete(some(9)):
            follow_up = Request(f"{completion.id}/2", ({"role": "user", "content": f"Und {completion.text}"},))
            said[completion.id] = [answer.text for answer in model.complete([follow_up])]

    assert said == {f"novel/v/{n}": [f"Und Aufgabe {n}: tut das weh?: tut das weh?"] for n in range(9)}
    assert len(server.requests) == 18
    assert server.busiest <= 3


def test_half_an_emoji_in_an_answer_is_kept(scripted: Scripted, store: Path) -> None:
    with scripted(answer="Weh? \ud83d") as server:
        ask(server, some(1), store)
        again = ask(server, some(1), store)

    assert [(c.text, c.replayed) for c in again] == [("Weh? \ud83d", True)]
    assert len(server.requests) == 1


@pytest.mark.parametrize("address", ["notaurl", "127.0.0.1:8080/v1", "http://"])
def test_an_address_that_is_none_is_refused_before_anything_is_asked(address: str, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, model_url=address)

    with pytest.raises(UserFixable, match="KLARTEXT_MODEL_URL is"):
        endpoint_of(settings)
