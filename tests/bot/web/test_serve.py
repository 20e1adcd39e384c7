"""The process: start, health, restart, kill, logs, metrics."""

from __future__ import annotations

import json
import random
import socket
import sqlite3
from contextlib import closing

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.testing import HOSTILE_TEXTS
from tests.bot.web.serving import Patient, Server, texts
from tests.conftest import Run
from tests.postgresql import emptied
from tests.shipped_texts import SAID

DE = SAID["de"]


def test_it_is_alive_and_ready(server: Server) -> None:
    assert httpx.get(server.url + "/livez").json() == {"status": "alive"}
    health = httpx.get(server.url + "/healthz").json()
    assert (health["status"], health["delivery"]) == ("ready", "off")
    assert set(health) <= {"status", "delivery", "oldest_urgent_s", "reason"}  # other tests raise alarms meanwhile


def test_a_conversation_goes_on_after_a_restart_and_after_a_kill(own_server: Server) -> None:
    patient = Patient(own_server)
    first = patient.send("t1", text="Tut das weh?")
    own_server.kill()
    own_server.start()

    easier = patient.say("/easy")
    again = patient.send("t1", text="Tut das weh?")
    patient.say("Druck auf der Brust")
    assert own_server.stop() == -15
    own_server.start()
    after = patient.send(choice=1)

    assert easier[0] == DE["easy_intro"]
    assert again.content == first.content
    assert after.json()["decision"] != "urgent"
    assert [turn["number"] for turn in patient.request("GET").json()["turns"]] == [1, 2, 3, 4]


@pytest.mark.proof
def test_no_answered_turn_is_lost_or_doubled_by_kills(own_server: Server) -> None:
    rng = random.Random(5)
    patient = Patient(own_server)
    answered = {}
    for round_ in range(3):
        for number in range(rng.randint(2, 5)):
            turn_id = f"{round_}-{number}"
            answered[turn_id] = patient.send(turn_id, text="Was kostet das?").content
        own_server.kill()
        own_server.start()

    for turn_id, content in answered.items():
        assert patient.send(turn_id, text="Was kostet das?").content == content

    stored = [turn["turn_id"] for turn in patient.request("GET").json()["turns"]]
    assert stored == list(answered)


SECRETS = [
    *(text for text in HOSTILE_TEXTS.values() if text.strip()),
    "Ich heiße Xaverl Hinterhuber, tut das weh?",
    "Ich kriege keine Luft, sagt Xaverl",
    "Quark vom Hinterhuber",
]


def test_nothing_a_patient_wrote_is_logged(own_server: Server) -> None:
    patient = Patient(own_server)
    for number, secret in enumerate(SECRETS):
        turn_id = f"t{number}"
        patient.request("POST", "/turns", content=json.dumps({"turn_id": turn_id, "text": secret}).encode())
        patient.request("PUT", f"/turns/{turn_id}/flags/wrong", content=json.dumps({"comment": secret[:900]}).encode())
        patient.request("POST", "/turns", content=json.dumps({"turn_id": secret, "Xaverl": secret}).encode())
        patient.request("POST", "/turns", content=secret.encode("utf-8", "replace"))
        patient.request("GET", "/Xaverl%20Hinterhuber", params={"q": "Hinterhuber"})
    with socket.create_connection(tuple(own_server.url.removeprefix("http://").split(":"))) as raw:  # type: ignore[arg-type]
        raw.sendall(b"Xaverl Hinterhuber\r\n\r\n")
        raw.recv(1000)
    # The records break under a running service: the texts of the errors hold what was sent, or what is stored.
    with closing(sqlite3.connect(own_server.database(), isolation_level=None)) as connection:
        connection.execute("ALTER TABLE turns RENAME TO gone")
        assert patient.send(text="Ich heiße Xaverl Hinterhuber, was kostet das?").status_code == 503
        connection.execute("UPDATE conversations SET begun = 'Xaverl Hinterhuber'")
        assert patient.send(text="Ich heiße Xaverl Hinterhuber, was kostet das?").status_code == 500
    figures = httpx.get(own_server.url + "/metrics").text
    own_server.stop()

    output = own_server.stdout() + own_server.stderr() + figures

    assert len(own_server.stderr().splitlines()) > len(SECRETS)
    assert '"error": "ValueError"' in output
    for line in own_server.stderr().splitlines():
        assert json.loads(line)["level"] in ("info", "warning", "error", "critical")
    for secret in (
        "Xaverl",
        "Hinterhuber",
        "Quark",
        "Luft",
        "weh ",
        "alert(1)",
        "aaaa",
        "\ufdfa",
        "😢",
        "\\ufdfa",
        "d83d",
    ):
        assert secret not in output
    assert patient.id not in output
    assert patient.token not in output


@pytest.mark.proof
def test_metrics_count_by_decision_and_route(own_server: Server) -> None:
    patient = Patient(own_server)
    patient.say("Tut das weh?")
    patient.say("Ich kriege keine Luft")
    httpx.request("TRACE", own_server.url + "/coffee")

    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(httpx.get(own_server.url + "/metrics").text)
        for sample in family.samples
    }

    assert found["klartext_turns_total", "api", "answered"] == 1
    assert found["klartext_turns_total", "api", "urgent"] == 1
    assert found["klartext_turn_seconds_count", "urgent"] == 1
    assert found["klartext_conversations_total", "api"] == 1
    assert found["klartext_http_requests_total", "other", "unknown", "404"] == 1


@pytest.mark.proof
def test_who_asks_too_often_is_told_to_wait(own_server: Server) -> None:
    own_server.stop()
    own_server.limit(turns=3, requests=100000)
    own_server.start()
    patient, other = Patient(own_server), Patient(own_server)

    statuses = [patient.send(text="Tut das weh?").status_code for _ in range(4)]
    refused = patient.send(text="Ich kriege keine Luft")

    assert statuses == [200, 200, 200, 429]
    assert int(refused.headers["retry-after"]) >= 1
    assert "112" in refused.json()["emergency_notice"]["de"]
    assert other.send(text="Tut das weh?").status_code == 200

    own_server.stop()
    own_server.limit(turns=100000, requests=5)
    own_server.start()
    assert [httpx.get(own_server.url + "/nothing").status_code for _ in range(6)] == [404] * 5 + [429]
    assert httpx.get(own_server.url + "/healthz").status_code == 200


@pytest.mark.proof
def test_a_port_in_use_is_told_in_one_line(klartext: Run, server: Server) -> None:
    port = server.url.rsplit(":", 1)[1]

    done = klartext("serve", "--sample", "--port", port)

    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"klartext: Nothing can listen on 127.0.0.1 port {port} ")
    assert len(done.stderr.splitlines()) == 1


def test_drafts_are_not_served_outside_sample_mode(klartext: Run) -> None:
    done = klartext("serve", "--port", "0")

    assert done.returncode == 2
    assert b"No release is in force" in done.stderr
    assert b"try the sample with `--sample`" in done.stderr


@pytest.mark.proof
def test_other_commands_do_not_import_the_web(klartext: Run) -> None:
    before = "import atexit; atexit.register(lambda: print(*(m for m in ('fastapi', 'uvicorn', 'bot.web') if m in sys.modules)))"

    done = klartext("answer", stdin=b"Tut das weh?\n", before=before)

    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1] == ""


@pytest.mark.proof
def test_on_postgresql_too(own_server: Server, postgresql: str) -> None:
    own_server.stop()
    own_server.use_database(emptied(postgresql))
    own_server.start()
    patient = Patient(own_server)

    first = patient.send("t1", text="Tut das weh?\x00\ud7ff")
    own_server.kill()
    own_server.start()

    assert patient.send("t1", text="Tut das weh?\x00\ud7ff").content == first.content
    assert texts(patient.send(text="/easy"))[0] == DE["easy_intro"]
    assert patient.request("DELETE").status_code == 204
    assert patient.request("GET").status_code == 401
