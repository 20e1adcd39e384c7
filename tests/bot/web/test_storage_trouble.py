"""A locked database, a full disk, a damaged index: said soon and plainly, and health answers all the time."""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import Assistant
from bot.testing import HashEncoder
from tests.alarm_examples import FEW
from tests.bot.web.serving import Patient, Server
from tests.conftest import Run

Json = dict[str, Any]
URGENT = "Ich kriege keine Luft"


def _asked(
    server: Server, method: str, path: str, patient: Patient | None = None, **body: str
) -> tuple[int, Json, float]:
    """Return status, content and seconds. Without httpx, of whose clients each takes its time to get ready."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {patient.token}"} if patient else {})
    with closing(http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=90)) as connection:
        started_s = time.monotonic()
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        found: Json = json.loads(answer.read())
        return answer.status, found, time.monotonic() - started_s


def _say(patient: Patient, turn_id: str, text: str) -> tuple[int, Json, float]:
    path = f"/api/v1/conversations/{patient.id}/turns"
    return _asked(patient.server, "POST", path, patient, turn_id=turn_id, text=text)


@pytest.mark.proof
def test_a_database_locked_by_another_process_is_said_soon_and_health_answers(own_server: Server) -> None:
    crowd = [Patient(own_server) for _ in range(50)]
    patient = Patient(own_server)
    patient.say("Tut das weh?")
    with closing(sqlite3.connect(own_server.database(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        threads = [threading.Thread(target=_say, args=[each, "t1", "Was kostet das?"]) for each in crowd]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        health, said, health_s = _asked(own_server, "GET", "/healthz")
        alive, _, alive_s = _asked(own_server, "GET", "/livez")
        refused, problem, urgent_s = _say(patient, "t-urgent", URGENT)
        for thread in threads:
            thread.join(60)
        other.execute("ROLLBACK")

    assert (health, said["status"]) == (503, "cannot write")
    assert alive == 200
    assert max(health_s, alive_s) < 2  # one second, and a busy machine
    assert refused == 503
    assert "112" in problem["emergency_notice"]["de"]
    assert urgent_s < 12
    assert _say(patient, "t-urgent", URGENT)[1]["decision"] == "urgent"
    own_server.wait_for(lambda: httpx.get(own_server.url + "/healthz").json()["status"] == "ready")


def test_a_full_disk_is_not_healthy(own_server: Server) -> None:
    assert own_server._process is not None
    before = resource.prlimit(own_server._process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(own_server._process.pid, resource.RLIMIT_FSIZE, (1, before[1]))  # nothing more can be written

    time.sleep(1.1)
    health = httpx.get(own_server.url + "/healthz")
    begun = httpx.post(own_server.url + "/api/v1/conversations", json={"consent": True, "language": "de"})
    resource.prlimit(own_server._process.pid, resource.RLIMIT_FSIZE, before)

    assert (health.status_code, health.json()["status"]) == (503, "cannot write")
    assert begun.status_code == 503
    assert "112" in begun.json()["emergency_notice"]["de"]
    own_server.wait_for(lambda: httpx.get(own_server.url + "/healthz").status_code == 200)


def _damage(folder: Path, what: str) -> None:
    if what == "head":
        for head in (folder / "heads").glob("*.npz"):
            head.write_bytes(head.read_bytes()[:1000] + b"\0" * 1000)
        return
    shutil.rmtree(folder / "heads")
    files = [each for each in (folder / "chroma").rglob("*") if each.is_file()]
    wanted = {"database": ".sqlite3", "vectors": ".bin"}.get(what, "")
    for file in files:
        if file.name.endswith(wanted):
            content = b"" if what == "emptied" else os.urandom(max(4096, file.stat().st_size))
            file.write_bytes(content)


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
@pytest.mark.parametrize("what", ["head", "database", "vectors", "emptied"])
def test_a_damaged_index_or_head_is_made_anew(what: str, small_folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from bot import Assistant; from bot.testing import HashEncoder\n"
        "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()\n"
        "opened = Assistant.open(Path(sys.argv[1]), data=Path(sys.argv[2]), encoder=HashEncoder(), sample=True)\n"
        "opened.prepare(); print(opened.answer('tut das weh?', 'de').pair_id)"
    )
    Assistant.open(small_folder, data=tmp_path, encoder=HashEncoder(), sample=True).prepare()
    _damage(tmp_path, what)

    command = [sys.executable, "-c", code, str(small_folder), str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, FEW: "1"}
    )

    assert done.stdout == "pain\n", done.stderr


@pytest.mark.proof
def test_an_index_that_cannot_be_made_ends_the_service_in_one_line(
    klartext: Run, small_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "chroma").write_text("no folder", encoding="utf-8")

    done = klartext("serve", "--sample", "--port", "0", "--catalog", small_folder, "--data", tmp_path)

    assert done.returncode == 2
    said = [line for line in done.stderr.decode().splitlines() if line.startswith("klartext: ")]
    assert len(said) == 1
    assert "cannot be" in said[0]
