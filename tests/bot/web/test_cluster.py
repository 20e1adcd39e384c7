"""Two services behind a real proxy, on one PostgreSQL, are one service to patients; `cluster.py` has the larger proof."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from tests.alarm_examples import FEW
from tests.bot.release.departments import Department
from tests.bot.web.cluster import DATABASE, LONGEST_S, Cluster, cluster, two_servers
from tests.bot.web.serving import Patient, Server, texts
from tests.conftest import Run
from tests.postgresql import emptied

PAIN = "Tut die Untersuchung weh?"
TEACHES_FEW = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"
SAYS_WHEN_ENCODED = """
from bot.adapters.embedded_encoder import EmbeddedEncoder
encode = EmbeddedEncoder.encode
EmbeddedEncoder.encode = lambda self, texts: (print("encoded", flush=True), encode(self, texts))[1]
"""
STOPPED_S = 1.0  # from the end of the command until no process shows the answer any more
pytestmark = pytest.mark.proof  # two services, PostgreSQL and nginx


@pytest.fixture(scope="module")
def two(
    postgresql: str, shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Two services, started at the same moment on an empty database."""
    assert shipped.sample
    folder, url = tmp_path_factory.mktemp("cluster"), emptied(postgresql)
    with cluster(folder, two_servers(folder, shipped_data, {DATABASE: url}), url) as running:
        yield running


def test_two_services_that_start_at_the_same_moment_share_an_empty_database(two: Cluster) -> None:
    engine = create_engine(two.database)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM alembic_version")) == 1
        assert connection.scalar(text("SELECT count(*) FROM services")) == 2
    engine.dispose()
    for server in two.servers:
        assert httpx.get(server.url + "/healthz").json()["status"] == "ready"
        assert '"level": "error"' not in server.stderr()
        assert '"level": "warning"' not in server.stderr()


def test_a_conversation_whose_turns_go_to_both_in_turn_is_one_conversation(two: Cluster) -> None:
    here, there = two.servers
    patient = Patient(here)
    said: list[dict[str, Any]] = [
        {"choice": 1},
        {"text": "ja"},
        {"text": "52"},
        {"text": "Tut das weh?"},
        {"text": "nein"},
    ]
    answers = []
    for number, body in enumerate(said):
        patient.server = two.servers[(number + 1) % 2]
        answers.append(patient.send(f"t{number}", **body))
        patient.server = two.servers[number % 2]  # whoever sends it again to the other one gets the same
        assert patient.send(f"t{number}", **body).json() == answers[-1].json()

    patient.server = here
    kept = patient.request("GET").json()["turns"]
    patient.server = there
    assert patient.request("GET").json()["turns"] == kept
    assert [turn["number"] for turn in kept] == [answer.json()["number"] for answer in answers]
    assert [turn["reply"] for turn in kept] == [answer.json()["reply"] for answer in answers]


def test_one_turn_that_both_get_at_the_same_moment_is_taken_once(two: Cluster) -> None:
    patient = Patient(two.servers[0])
    address, headers = f"/api/v1/conversations/{patient.id}/turns", {"Authorization": f"Bearer {patient.token}"}

    def send(number: int) -> httpx.Response:
        body = {"turn_id": f"t{number // 2}", "text": "Was kostet das?"}
        return httpx.post(two.servers[number % 2].url + address, json=body, headers=headers, timeout=60)

    for first in range(0, 12, 2):
        with ThreadPoolExecutor(2) as pool:
            one, other = pool.map(send, (first, first + 1))
        assert one.status_code == other.status_code == 200
        assert one.json() == other.json()
    assert len(patient.request("GET").json()["turns"]) == 6


def test_a_conversation_that_was_deleted_at_one_is_gone_at_the_other(two: Cluster) -> None:
    patient = Patient(two.servers[0])
    patient.say("Tut das weh?")
    assert patient.request("DELETE").status_code == 204

    patient.server = two.servers[1]

    assert patient.request("GET").status_code == 401
    assert patient.send(text="Tut das weh?").status_code == 401


def test_what_both_delete_for_its_age_is_counted_and_noted_once(two: Cluster) -> None:
    records = SqlRecords.open(two.database)
    engine = records.engine
    patients = [Patient(two.servers[number % 2]) for number in range(6)]
    for patient in patients:
        patient.say("Tut das weh?")
    with engine.begin() as connection:
        connection.execute(text("UPDATE conversations SET begun = begun - interval '9 years'"))
        connection.execute(text("UPDATE turns SET at = at - interval '9 years'"))
        connection.execute(text("UPDATE interviews SET changed_at = changed_at - interval '9 years'"))
        old = connection.scalar(text("SELECT count(*) FROM conversations"))
    records.close()

    for server in two.servers:
        server.kill()
    for server in two.servers:
        server.begin()
    for server in two.servers:
        server.wait_until_ready()
        server.wait_for(partial(_has_purged, server, times=2))

    purged = [line for server in two.servers for line in server.stderr().splitlines() if '"event": "purged"' in line]
    assert sum(f'"conversations": {old}' in line for line in purged) == 1
    assert not any("nothing purged" in server.stderr() for server in two.servers)
    assert sum(server.audit_log().read_text().count('"action":"purge"') for server in two.servers) == 1


def test_a_service_that_is_ready_has_loaded_its_model(shipped: Assistant, shipped_data: Path, tmp_path: Path) -> None:
    """Else patients to whom a service comes back wait for it: seconds on a busy machine."""
    assert shipped.sample
    server = Server(tmp_path, shipped_data, faults=SAYS_WHEN_ENCODED)
    server.start()
    try:
        assert "encoded" in server.stdout()
    finally:
        server.kill()


def test_a_service_that_is_killed_under_load_costs_nobody_a_turn(two: Cluster) -> None:
    found = two.kill(chats=16, kills=2, pause_s=12)

    assert found.hold, found.as_text()
    assert found.kills == 2
    assert found.away == 0
    assert found.longest_s < LONGEST_S
    assert all(two.turns())


def test_a_stop_said_at_one_machine_is_in_force_at_the_other(tmp_path: Path, klartext: Run, postgresql: str) -> None:
    url = emptied(postgresql)
    department = Department(tmp_path, klartext)
    department.environ |= {DATABASE: url, FEW: "1"}
    department.release(answer="Nein, gar nicht.")
    department.run("release", "activate", "1")
    folder = tmp_path / "both"
    served = {name: value for name, value in department.environ.items() if name != "KLARTEXT_RELEASE_KEY_FILE"}
    servers = two_servers(folder, department.server.database().parent / "data", served, faults=TEACHES_FEW)
    with cluster(folder, servers, url, sample=False) as running:
        patients = [Patient(server) for server in running.servers]
        assert all("Nein, gar nicht." in patient.say(PAIN) for patient in patients)

        department.run("stop", "pair", "pain", "--by", "Dr. Anna Berg", "--why", "wrong")
        said_s = time.monotonic()
        while any(_shows(patient, "Nein, gar nicht.") for patient in patients):
            assert time.monotonic() - said_s < STOPPED_S + LONGEST_S
        print(f"in force everywhere {time.monotonic() - said_s:.2f} s after the command has ended")
        department.run("stop", "chat", "--by", "Dr. Anna Berg", "--why", "wrong")
        time.sleep(STOPPED_S)

        assert not any(_shows(patient, "Nein, gar nicht.") for patient in patients)
        wait_until = time.monotonic() + LONGEST_S
        while any(_health(server)["chat"] != "closed" for server in running.servers):
            assert time.monotonic() < wait_until
            time.sleep(0.1)

    for server in servers:
        assert "the end of the audit log is missing" not in server.stderr()


def _has_purged(server: Server, *, times: int) -> bool:
    return server.stderr().count('"event": "purged"') >= times


def _shows(patient: Patient, answer: str) -> bool:
    return answer in texts(patient.send(text=PAIN))


def _health(server: Server) -> dict[str, str]:
    found: dict[str, str] = httpx.get(server.url + "/healthz").json()
    return found
