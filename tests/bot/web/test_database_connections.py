"""However many releases a process has open, it has one pool of connections to its database, and closes it at its end."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest
from sqlalchemy import create_engine, text

from bot.settings import Settings
from bot.wiring import close_databases, make_history, make_interviews, make_records, make_releases
from tests.alarm_examples import FEW
from tests.bot.release.departments import Department
from tests.bot.web.serving import Patient, Server
from tests.conftest import Run
from tests.postgresql import emptied

PAIN = "Tut die Untersuchung weh?"
TEACHES_FEW = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"
SERVICE = "the-service"
COUNTED = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
MOST = 6  # patients one after the other, the threads beside them, and who tries whether anything can be stored


def _connections(url: str, name: str) -> int:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(COUNTED, {"name": name}).scalar_one())
    finally:
        engine.dispose()


@pytest.mark.proof
def test_three_open_releases_share_the_connections_of_a_process(tmp_path: Path, klartext: Run, postgresql: str) -> None:
    url = emptied(postgresql)
    department = Department(tmp_path, klartext)
    department.environ |= {"KLARTEXT_DATABASE_URL": url, FEW: "1"}
    served = {**department.environ, "KLARTEXT_DATABASE_URL": f"{url}?application_name={SERVICE}"}
    server = Server(tmp_path, tmp_path / "data", served, faults=TEACHES_FEW)
    patients = []
    for number in (1, 2, 3):
        department.release(answer=f"Antwort {number}.")
        department.run("release", "activate", str(number))
        if number == 1:
            server.start(sample=False)
        patients.append(Patient(server))
        assert f"Antwort {number}." in patients[-1].say(PAIN)
    try:
        for number, patient in enumerate(patients, 1):
            assert f"Antwort {number}." in patient.say(PAIN)
        assert httpx.get(server.url + "/healthz").json()["status"] == "ready"
        assert 1 <= _connections(url, SERVICE) <= MOST
    finally:
        server.stop()
    assert _connections(url, SERVICE) == 0


def test_all_parts_of_a_process_ask_on_one_pool_and_it_can_be_closed(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    records = make_records(settings)
    engine = records.engine  # type: ignore[attr-defined]

    assert make_history(settings).kept("nobody") == []
    assert make_releases(settings).in_force() is None
    assert make_interviews(settings).interview("nobody") is None
    assert engine.pool.checkedin() == 1
    close_databases()
    assert engine.pool.checkedin() == 0
    assert records.conversation("nobody") is None  # who goes on gets a new connection


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_opens_connections_of_its_own(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    records = make_records(settings)
    child = os.fork()
    if not child:
        os._exit(0 if make_records(settings).engine is not records.engine else 1)  # type: ignore[attr-defined]

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
