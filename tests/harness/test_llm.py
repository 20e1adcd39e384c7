"""A model behind an endpoint that fails in every usual way is asked until it answers, and never twice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from bot import BadData, Settings, Unreachable, UserFixable
from bot.testing import ScriptedEndpoint, scripted_endpoint
from harness.llm import ModelCall, answer_prompts, connect
from harness.prompts import Prompt
from harness.recording import read_answers

# Faults are scripted per request, so one request at a time; the time-out is what notices a connection left hanging.
CALL = ModelCall("scripted", temperature=0.5, timeout_s=1, retries=2, parallel=1)
PROMPTS = [Prompt(f"novel/v/{n}", "novel", "v", None, "de", "Sie sind …", f"Aufgabe {n}", 1) for n in range(3)]


def endpoint(
    *, faults: Sequence[int] = (), answer: str = "{}: tut das weh?"
) -> AbstractContextManager[ScriptedEndpoint]:
    """Answer each prompt with its task in the text."""
    return scripted_endpoint(lambda messages: answer.format(messages[-1]["content"]), faults=faults)


def ask(server: ScriptedEndpoint, out: Path, prompts: Sequence[Prompt] = PROMPTS, call: ModelCall = CALL) -> list[int]:
    """Answer the prompts into `out` and return the progress that was told."""
    progress: list[int] = []
    with connect(Settings(out.parent, model_url=server.url), call) as client:
        answer_prompts(client, prompts, call, out, progress=progress.append)
    return progress


def tasks(server: ScriptedEndpoint) -> list[str]:
    return [request["messages"][-1]["content"] for request in server.requests]


def test_answers_are_kept_as_batch_output_lines(tmp_path: Path) -> None:
    with endpoint() as server:
        progress = ask(server, tmp_path / "new" / "answers.jsonl")

    answers = read_answers([tmp_path / "new" / "answers.jsonl"])
    assert {key: answer.content for key, answer in answers.items()} == {
        f"novel/v/{n}": f"Aufgabe {n}: tut das weh?" for n in range(3)
    }
    assert {(answer.model, answer.problem) for answer in answers.values()} == {("scripted", "")}
    assert progress == [0, 1, 1, 1]
    assert server.requests[0] == {"model": "scripted", "messages": PROMPTS[0].messages, "temperature": 0.5}


@pytest.mark.parametrize("fault", [429, 500, 503, 0], ids=["busy", "broken", "overloaded", "cut connection"])
def test_passing_faults_are_tried_again(tmp_path: Path, fault: int) -> None:
    with endpoint(faults=[fault]) as server:
        ask(server, tmp_path / "answers.jsonl")

    assert tasks(server) == ["Aufgabe 0", "Aufgabe 0", "Aufgabe 1", "Aufgabe 2"]
    assert len(read_answers([tmp_path / "answers.jsonl"])) == 3


@pytest.mark.parametrize(("fault", "requests"), [(500, 3), (429, 3), (401, 1), (404, 1)])
def test_lasting_faults_are_one_clear_line(tmp_path: Path, fault: int, requests: int) -> None:
    with (
        endpoint(faults=[fault] * 9) as server,
        pytest.raises(
            Unreachable, match=rf"answered {fault} for model 'scripted'\. Check `--model` and KLARTEXT_MODEL_KEY"
        ),
    ):
        ask(server, tmp_path / "answers.jsonl", PROMPTS[:1])

    assert len(server.requests) == requests


def test_an_endpoint_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with endpoint() as server:
        gone = ScriptedEndpoint(server.reply, url=server.url)

    with pytest.raises(Unreachable, match=r"does not answer\. Start it, or correct KLARTEXT_MODEL_URL"):
        ask(gone, tmp_path / "answers.jsonl", call=ModelCall("scripted", retries=0))


def test_an_answer_that_is_no_json_is_one_clear_line(tmp_path: Path) -> None:
    with endpoint(faults=[-1]) as server, pytest.raises(BadData, match=r"sent no chat completion\. Check its address"):
        ask(server, tmp_path / "answers.jsonl")


def test_what_was_answered_before_a_fault_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with endpoint(faults=[200, 401, 401]) as server, pytest.raises(Unreachable, match="answered 401"):
        ask(server, out)
    assert set(read_answers([out])) == {"novel/v/0"}

    with endpoint() as server:
        progress = ask(server, out)

    assert tasks(server) == ["Aufgabe 1", "Aufgabe 2"]
    assert progress == [1, 1, 1]
    assert set(read_answers([out])) == {prompt.id for prompt in PROMPTS}


def test_a_line_that_a_kill_left_unfinished_is_cut_off_and_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with endpoint() as server:
        ask(server, out)
        out.write_bytes(out.read_bytes()[:-30])

        ask(server, out)

    assert tasks(server)[3:] == ["Aufgabe 2"]
    assert len(read_answers([out])) == 3


def test_prompts_that_ended_in_an_error_are_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    out.write_text('{"custom_id": "novel/v/1", "response": null, "error": {"code": "expired"}}\n', encoding="utf-8")

    with endpoint() as server:
        ask(server, out)

    assert tasks(server) == ["Aufgabe 0", "Aufgabe 1", "Aufgabe 2"]
    assert read_answers([out])["novel/v/1"].problem == ""


def test_many_requests_at_once_lose_no_answer(tmp_path: Path) -> None:
    prompts = [Prompt(f"novel/v/{n}", "novel", "v", None, "de", "s", f"Aufgabe {n}", 1) for n in range(40)]

    with endpoint() as server:
        ask(server, tmp_path / "answers.jsonl", prompts, ModelCall("scripted", parallel=8))

    answers = read_answers([tmp_path / "answers.jsonl"])
    assert {key: answer.content for key, answer in answers.items()} == {
        prompt.id: f"{prompt.task}: tut das weh?" for prompt in prompts
    }
    assert len(server.requests) == 40


def test_half_an_emoji_in_an_answer_is_kept_as_an_escape(tmp_path: Path) -> None:
    with endpoint(answer="Weh? \ud83d") as server:
        ask(server, tmp_path / "answers.jsonl", PROMPTS[:1])

    assert read_answers([tmp_path / "answers.jsonl"])["novel/v/0"].content == "Weh? \ud83d"


def test_answers_that_cannot_be_written_are_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with endpoint() as server, pytest.raises(BadData, match=r"cannot be written \(.+\)"):
        ask(server, tmp_path / "file" / "answers.jsonl")

    assert server.requests == []


def test_without_an_endpoint_the_way_out_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserFixable, match=r"Set KLARTEXT_MODEL_URL=.+ or use `klartext harness prompts export`"):
        connect(Settings(tmp_path), CALL)


def test_a_temperature_left_open_is_not_sent(tmp_path: Path) -> None:
    with endpoint() as server:
        ask(server, tmp_path / "answers.jsonl", PROMPTS[:1], ModelCall("scripted"))

    assert "temperature" not in server.requests[0]
