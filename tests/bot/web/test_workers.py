"""Several workers: on a real PostgreSQL and a real Chroma server, by configuration only."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.bot.web.alerting import firing, names, scrape
from tests.bot.web.serving import Patient, Server
from tests.chroma_server import running_chroma
from tests.conftest import Run
from tests.postgresql import emptied

PATIENTS, TURNS = 8, 6


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server's address."""
    with running_chroma(tmp_path_factory.mktemp("chroma")) as address:
        yield address


@pytest.fixture(scope="module")
def two(postgresql: str, chroma: str, small_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service of two workers with the small catalog; its data folder is empty."""
    folder = tmp_path_factory.mktemp("workers")
    environ = {
        "KLARTEXT_DATABASE_URL": emptied(postgresql),
        "KLARTEXT_CHROMA_URL": chroma,
        "KLARTEXT_WORKERS": "2",
    }
    server = Server(folder, folder / "data", environ)
    server.start("--catalog", str(small_folder))
    yield server
    server.kill()


def _insist(patient: Patient, turn_id: str) -> Any:
    """Send a turn until it is answered, as clients do when a connection breaks."""
    for _ in range(20):
        try:
            answer = patient.send(turn_id, text="tut das weh?")
        except httpx.TransportError:
            continue
        assert answer.status_code == 200
        return answer.json()
    raise TimeoutError


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def _turns(server: Server) -> float:
    text = httpx.get(server.url + "/metrics").text
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "klartext_turns_total"
    )


@pytest.mark.proof
def test_a_worker_that_is_missing_is_told_and_the_dead_leave_no_figures_behind(two: Server) -> None:
    two.wait_for(lambda: len(two.workers()) == 2)
    _until(lambda: scrape(two.url).value("klartext_workers_alive") == 2)
    assert firing(scrape(two.url)) == set()

    os.kill(max(two.workers()), signal.SIGKILL)

    _until(lambda: "KlartextWorkersMissing" in names(firing(scrape(two.url))))
    _until(lambda: firing(scrape(two.url)) == set())
    assert scrape(two.url).value("klartext_workers_alive") == 2


@pytest.mark.proof
def test_two_workers_share_the_work_and_a_killed_one_is_replaced(two: Server) -> None:
    two.wait_for(lambda: len(two.workers()) == 2)
    before = two.workers()
    patients = [Patient(two) for _ in range(PATIENTS)]

    def chat(patient: Patient) -> list[Any]:
        answers = [_insist(patient, f"t{number}") for number in range(TURNS // 2)]
        if patient is patients[0]:
            os.kill(min(before), signal.SIGKILL)
        return answers + [_insist(patient, f"t{number}") for number in range(TURNS // 2, TURNS)]

    with ThreadPoolExecutor(PATIENTS) as pool:
        answered = list(pool.map(chat, patients))
    two.wait_for(lambda: len(two.workers()) == 2 and min(before) not in two.workers())

    for patient, answers in zip(patients, answered, strict=True):
        turns = patient.request("GET").json()["turns"]
        assert [turn["turn_id"] for turn in turns] == [f"t{number}" for number in range(TURNS)]
        assert [turn["reply"] for turn in turns] == [answer["reply"] for answer in answers]
    assert "a worker died" in two.stderr()
    # All workers count together, and a dead one is still counted; a turn may have been answered and not received.
    assert _turns(two) >= PATIENTS * TURNS - 1
    assert {_turns(two) for _ in range(6)} == {_turns(two)}


@pytest.mark.proof
def test_workers_end_with_the_service(two: Server, small_folder: Path) -> None:
    two.wait_for(lambda: len(two.workers()) == 2)
    workers = two.workers()
    assert two.stop() == 0
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)

    two.start("--catalog", str(small_folder))
    two.wait_for(lambda: len(two.workers()) == 2)
    workers = two.workers()
    two.kill()

    _until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, ["KLARTEXT_DATABASE_URL", "KLARTEXT_CHROMA_URL"]),
        ({"KLARTEXT_CHROMA_URL": "http://127.0.0.1:8000"}, ["KLARTEXT_DATABASE_URL"]),
        (
            {"KLARTEXT_DATABASE_URL": "sqlite:////tmp/k.db", "KLARTEXT_CHROMA_URL": "http://x"},
            ["KLARTEXT_DATABASE_URL"],
        ),
        ({"KLARTEXT_DATABASE_URL": "postgresql+psycopg://u:secret@127.0.0.1/k"}, ["KLARTEXT_CHROMA_URL"]),
    ],
)
def test_workers_that_cannot_share_are_refused_in_one_line(
    klartext: Run, environ: dict[str, str], missing: list[str]
) -> None:
    done = klartext("serve", "--sample", "--port", "0", "--workers", "2", environ=environ)

    said = done.stderr.decode()
    assert done.returncode == 2
    assert said.startswith("klartext: 2 workers need what they can share. Set ")
    assert said.endswith("`--workers 1`.\n")
    assert [name for name in ("KLARTEXT_DATABASE_URL", "KLARTEXT_CHROMA_URL") if name in said] == missing
    assert len(said.splitlines()) == 1
    assert "secret" not in said
    assert done.stdout == b""


@pytest.mark.proof
def test_a_worker_that_cannot_start_says_why_once(klartext: Run, chroma: str) -> None:
    environ = {
        "KLARTEXT_DATABASE_URL": "postgresql+psycopg://u@127.0.0.1:1/k",
        "KLARTEXT_CHROMA_URL": chroma,
        "KLARTEXT_WORKERS": "3",
    }

    done = klartext("serve", "--sample", "--port", "0", environ=environ)

    assert done.returncode == 2
    assert done.stderr.decode().startswith("klartext: The database 127.0.0.1:1/k cannot be used")
    assert len(done.stderr.splitlines()) == 1
