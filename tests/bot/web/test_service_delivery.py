"""A running service delivers red flags to a real FHIR server by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from tests.bot.handover.faulty_proxy import FaultyProxy, faulty_proxy
from tests.bot.handover.fhir_process import fhir_process, stored
from tests.bot.web.serving import Patient, Server


@pytest.fixture
def proxy() -> Iterator[FaultyProxy]:
    with fhir_process() as url, faulty_proxy(url) as running:
        yield running


@pytest.fixture
def service(shipped: Assistant, shipped_data: Path, tmp_path: Path, proxy: FaultyProxy) -> Iterator[Server]:
    """A service that delivers through the proxy."""
    assert shipped.sample
    running = Server(tmp_path, shipped_data, {"KLARTEXT_FHIR_URL": proxy.url})
    running.start()
    yield running
    running.kill()


def _until(holds: Callable[[], object], *, within_s: float = 30) -> None:
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.1)


def _figure(service: Server, name: str) -> float:
    lines = httpx.get(service.url + "/metrics").text.splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(name + " ")), 0.0)


def _flags(proxy: FaultyProxy) -> list[dict[str, object]]:
    tasks = stored(proxy.target, "Task")
    return [task for task in tasks if task["code"]["coding"][0]["code"] == "red-flag"]  # type: ignore[index]


def test_a_red_flag_is_a_task_at_once_and_an_ordinary_question_waits(service: Server, proxy: FaultyProxy) -> None:
    calm, patient = Patient(service), Patient(service)
    calm.say("Tut das weh?")

    patient.say("Ich kriege keine Luft")

    _until(lambda: _flags(proxy), within_s=4)  # less than the pause between two rounds: the alarm woke it
    (task,) = _flags(proxy)
    assert (task["priority"], task["status"]) == ("stat", "requested")
    _until(lambda: len(stored(proxy.target, "Provenance")) == 1)  # its conversation follows
    _until(lambda: _figure(service, "klartext_outbox_sent_total") == 2)
    assert _figure(service, "klartext_outbox_waiting") == 0
    assert httpx.get(service.url + "/healthz").json() == {
        "status": "ready",
        "outbox_waiting": 0,
        "urgent_waiting_s": 0.0,
        "delivery": "ok",
        "oldest_urgent_s": 0.0,
    }

    patient.say("Mir ist übel und ich werde ohnmächtig")
    _until(lambda: len(_flags(proxy)) == 2)
    _until(lambda: len(stored(proxy.target, "Communication")) == 4)  # what was said, and what was answered
    assert patient.id not in service.stderr()


@pytest.mark.proof
def test_a_red_flag_outlives_an_outage_and_a_kill_and_blocks_no_turn(service: Server, proxy: FaultyProxy) -> None:
    proxy.faults += ["broken"] * 100
    patient = Patient(service)

    patient.say("Ich kriege keine Luft")
    _until(lambda: _figure(service, "klartext_outbox_failed_total") >= 1)
    started_s = time.monotonic()
    patient.say("Tut das weh?")
    assert time.monotonic() - started_s < 2
    _until(lambda: _figure(service, "klartext_outbox_waiting") == 2)  # the red flag, and its conversation
    assert _figure(service, "klartext_outbox_urgent_waiting") == 1
    _until(lambda: _figure(service, "klartext_outbox_urgent_oldest_seconds") > 1)
    assert _figure(service, "klartext_fhir_server_usable") == 0
    health = httpx.get(service.url + "/healthz")
    assert health.status_code == 200
    assert health.json()["urgent_waiting_s"] > 1
    assert health.json()["fhir_server"] == "busy (500)"
    service.kill()
    assert _flags(proxy) == []
    proxy.faults.clear()
    service.start()

    _until(lambda: _flags(proxy))
    assert len(_flags(proxy)) == 1
    assert service.stop() == -15


@pytest.mark.proof
def test_it_stops_at_once_while_the_server_keeps_it_waiting(service: Server, proxy: FaultyProxy) -> None:
    proxy.retry_after = "50"
    proxy.faults += ["busy"] * 100
    Patient(service).say("Ich kriege keine Luft")
    _until(lambda: any(method == "POST" for method, _, _ in proxy.requests))

    started_s = time.monotonic()
    assert service.stop() == -15

    assert time.monotonic() - started_s < 5
