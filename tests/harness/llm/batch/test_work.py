"""Nothing is handed in twice and no answer is lost, wherever a step is cut off."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from bot import BadData, Settings, Unreachable
from harness.llm.batch import BatchTerms as Terms
from harness.llm.batch import State, fetch, load_state, poll, submit, write_rest
from harness.llm.batch_files import Limits, read_answers
from harness.llm.batch_service import BatchService, Patience
from tests.harness.llm.batch.batch_server import BatchServer
from tests.harness.llm.batch.conftest import request, write

TWO_AT_A_TIME = Terms(Limits(requests=2))


def service(server: BatchServer, tries: int = 3) -> AbstractContextManager[BatchService]:
    settings = Settings(Path(), model_url=server.url)
    return BatchService.open(settings, Patience(tries=tries, backoff_s=0.01))


def submitted(server: BatchServer, prompts: Path, terms: Terms = TWO_AT_A_TIME, tries: int = 3) -> State:
    with service(server, tries) as opened:
        return submit(prompts, at(prompts), opened, terms)


def fetched(server: BatchServer, prompts: Path) -> State:
    with service(server) as opened:
        poll(at(prompts), opened)
        return fetch(at(prompts), out(prompts), opened)


def at(prompts: Path) -> Path:
    return prompts.with_suffix(".batch.json")


def out(prompts: Path) -> Path:
    return prompts.with_name("answers.jsonl")


def contents(prompts: Path) -> dict[str, str]:
    return {id_: answer.content for id_, answer in read_answers([out(prompts)]).items() if not answer.problem}


ALL = {f"paraphrase/v{n % 2}/pair-{n}": f"Frage {n}?" for n in range(5)}


def test_every_answer_of_several_batches_arrives(server: BatchServer, prompts: Path) -> None:
    state = submitted(server, prompts)
    done = fetched(server, prompts)

    assert [part.requests for part in state.parts] == [2, 2, 1]
    assert len(server.batches) == 3
    assert b"".join(content for name, content in server.files.values() if name.startswith("klartext")) == (
        prompts.read_bytes()
    )
    assert done.is_final
    assert [(part.status, part.done, part.failed) for part in done.parts] == [("completed", n, 0) for n in (2, 2, 1)]
    assert contents(prompts) == ALL
    assert write_rest(done, out(prompts), prompts.with_suffix(".rest.jsonl")) == 0


@pytest.mark.parametrize("lost", ["POST /v1/files", "POST /v1/batches"])
def test_a_reply_that_gets_lost_creates_nothing_twice(server: BatchServer, prompts: Path, lost: str) -> None:
    server.lost = [lost, "GET " + lost.removeprefix("POST ")]

    submitted(server, prompts)
    fetched(server, prompts)

    assert (server.log.count("POST /v1/files"), server.log.count("POST /v1/batches")) == (3, 3)
    assert len(server.batches) == 3
    assert contents(prompts) == ALL


@pytest.mark.parametrize("lost", ["POST /v1/files", "POST /v1/batches"])
def test_a_submission_that_was_cut_off_goes_on_without_doubles(server: BatchServer, prompts: Path, lost: str) -> None:
    server.lost = [lost]
    with pytest.raises(Unreachable, match="nothing is handed in twice"):
        submitted(server, prompts, tries=1)

    submitted(server, prompts)
    submitted(server, prompts)
    fetched(server, prompts)

    assert (server.log.count("POST /v1/files"), len(server.batches)) == (3, 3)
    assert contents(prompts) == ALL


def test_an_endpoint_that_lists_nothing_still_takes_batches(server: BatchServer, prompts: Path) -> None:
    server.lists = False
    server.lost = ["POST /v1/batches"]

    submitted(server, prompts)

    assert len(server.batches) == 4  # the one whose reply got lost cannot be found again


def test_a_batch_that_failed_before_it_began_is_handed_in_again(server: BatchServer, prompts: Path) -> None:
    server.refuses = ["", "token_limit_exceeded"]
    submitted(server, prompts)
    with service(server) as opened:
        state = poll(at(prompts), opened)
    assert [(part.status, part.problem) for part in state.parts] == [
        ("in_progress", ""),
        ("failed", "token_limit_exceeded in line 2"),
        ("in_progress", ""),
    ]

    submitted(server, prompts)
    fetched(server, prompts)

    assert len(server.batches) == 4
    assert contents(prompts) == ALL


def test_what_has_ended_is_fetched_while_the_rest_is_under_way_and_each_once(
    server: BatchServer, prompts: Path
) -> None:
    server.looks = 99
    state = submitted(server, prompts)
    server.batches[state.parts[1].batch_id or ""]["looked"] = 99
    first = fetched(server, prompts)
    before = contents(prompts)

    server.looks = 0
    fetched(server, prompts)
    fetched(server, prompts)

    assert [part.fetched for part in first.parts] == [False, True, False]
    assert set(before.values()) == {"Frage 2?", "Frage 3?"}
    assert contents(prompts) == ALL
    assert out(prompts).read_text(encoding="utf-8").count("\n") == 5


def test_a_download_that_was_cut_off_is_fetched_again_without_doubles(server: BatchServer, prompts: Path) -> None:
    submitted(server, prompts)
    fetched(server, prompts)
    state = load_state(at(prompts))
    whole = out(prompts).read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    state.parts[2].fetched, state.out_bytes = False, len(whole) - last
    state.save(at(prompts))
    out(prompts).write_bytes(whole[: -last // 2])  # killed in the middle of the last part

    fetched(server, prompts)

    assert out(prompts).read_bytes() == whole


def test_answers_that_were_deleted_are_fetched_anew(server: BatchServer, prompts: Path) -> None:
    submitted(server, prompts)
    fetched(server, prompts)
    out(prompts).unlink()

    fetched(server, prompts)

    assert contents(prompts) == ALL


def test_a_file_of_somebody_else_is_not_overwritten(server: BatchServer, prompts: Path) -> None:
    submitted(server, prompts)
    out(prompts).write_text("mine", encoding="utf-8")

    with pytest.raises(BadData, match="is not what was fetched before"):
        fetched(server, prompts)
    assert out(prompts).read_text(encoding="utf-8") == "mine"


def test_expired_and_refused_requests_become_a_file_to_hand_in_next(server: BatchServer, prompts: Path) -> None:
    write(prompts, [request(0), request(1, "Das ist verboten"), request(2), request(3)])
    server.expires_after = 3
    submitted(server, prompts, Terms())
    state = fetched(server, prompts)
    rest = prompts.with_suffix(".rest.jsonl")

    assert write_rest(state, out(prompts), rest) == 2
    assert rest.read_bytes() == b"".join(prompts.read_bytes().splitlines(keepends=True)[1::2])
    problems = {id_: answer.problem for id_, answer in read_answers([out(prompts)]).items() if answer.problem}
    assert problems == {"paraphrase/v1/pair-1": "error (status 400)", "paraphrase/v1/pair-3": "error (status 0)"}


def test_a_file_that_was_changed_in_between_is_refused(server: BatchServer, prompts: Path) -> None:
    server.lost = ["POST /v1/files"]
    with pytest.raises(Unreachable, match="does not answer"):
        submitted(server, prompts, tries=1)
    prompts.write_bytes(prompts.read_bytes().replace(b"Frage", b"Fragen"))

    with pytest.raises(BadData, match="was changed since it was handed in"):
        submitted(server, prompts)
    assert server.batches == {}


def test_a_state_belongs_to_one_file_and_one_endpoint(server: BatchServer, prompts: Path) -> None:
    submitted(server, prompts)
    other = write(prompts.with_name("other.jsonl"), [request(9)])

    with service(server) as opened, pytest.raises(BadData, match=r"belongs to .*prompts\.jsonl, not to"):
        submit(other, at(prompts), opened, Terms())
    server.url = server.url.replace("127.0.0.1", "localhost")
    with pytest.raises(BadData, match="belongs to the endpoint"):
        submitted(server, prompts)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no json"])
def test_a_state_that_is_none_is_one_line(server: BatchServer, prompts: Path, text: str) -> None:
    at(prompts).write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match="is not what `klartext harness batch` writes"):
        submitted(server, prompts)


def test_an_endpoint_that_refuses_is_one_line(server: BatchServer, prompts: Path) -> None:
    server.url = server.url.replace("/v1", "/v2")

    with pytest.raises(Unreachable, match=r"answered 404.*has the Batch API"):
        submitted(server, prompts)
    assert server.log == ["POST /v2/files"]
