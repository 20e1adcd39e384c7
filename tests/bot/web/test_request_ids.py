"""Every request has an id that is in its answer, in what goes wrong, in the logs and in the audit log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from tests.bot.web.serving import Patient, Server

FORM = r"([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}"


@pytest.fixture(scope="module")
def server(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service behind a proxy on this machine."""
    assert shipped.sample
    running = Server(tmp_path_factory.mktemp("ids"), shipped_data, {"KLARTEXT_TRUSTED_PROXIES": "127.0.0.1"})
    running.start()
    yield running
    running.kill()


def _lines(server: Server, request_id: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in server.stderr().splitlines()]
    return [line for line in lines if line.get("request_id") == request_id]


def _id_of(answer: httpx.Response) -> str:
    return answer.headers["X-Request-ID"]


def test_each_request_gets_an_id_of_its_own_that_the_log_has_too(server: Server) -> None:
    first, second = (httpx.get(f"{server.url}/livez"), httpx.get(f"{server.url}/nowhere"))

    assert re.fullmatch(FORM, _id_of(first))
    assert _id_of(first) != _id_of(second)
    server.wait_for(lambda: _lines(server, _id_of(second)))
    (line,) = _lines(server, _id_of(second))
    assert (line["event"], line["status"]) == ("request", 404)


def test_a_problem_and_a_page_that_says_so_name_the_id(server: Server) -> None:
    patient = Patient(server)

    refused = patient.request("POST", "/turns", json={"turn_id": "t1"})
    too_long = httpx.post(f"{server.url}/api/v1/conversations", content=b"x" * 100_000)
    page = httpx.get(f"{server.url}/nowhere", headers={"Accept-Language": "de"})
    start = httpx.get(f"{server.url}/", headers={"Accept-Language": "de"})

    assert (refused.status_code, too_long.status_code, page.status_code) == (422, 413, 404)
    assert refused.json()["request_id"] == _id_of(refused)
    assert too_long.json()["request_id"] == _id_of(too_long)
    assert f'nennen Sie bitte diese Nummer: <span translate="no">{_id_of(page)}</span>' in page.text
    assert _id_of(start) not in start.text


def test_only_a_trusted_proxy_gives_a_request_its_id_and_only_a_sober_one(server: Server) -> None:
    def asked(id_: str, address: str = "127.0.0.1") -> str:
        with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as client:
            return _id_of(client.get(f"{server.url}/livez", headers={"X-Request-ID": id_}))

    assert asked("9f8e7d6c-proxy.1") == "9f8e7d6c-proxy.1"
    strange = ["short", "x" * 65, "with space inside", "-leading", "<script>alert(1)"]
    assert [each for each in strange if not re.fullmatch(FORM, asked(each))] == []
    assert re.fullmatch(FORM, asked("9f8e7d6c-proxy.1", "127.0.0.2"))


def test_a_patients_deletion_is_in_the_audit_log_with_the_request(server: Server) -> None:
    patient = Patient(server)
    patient.say("Tut das weh?")

    deleted = patient.request("DELETE")

    assert deleted.status_code == 204
    said = json.loads(server.audit_log().read_text(encoding="utf-8").splitlines()[-1])
    assert (said["actor"], said["action"], said["request_id"]) == ("patient", "erase", _id_of(deleted))
    assert patient.id not in server.audit_log().read_text(encoding="utf-8")
    server.wait_for(lambda: "erased" in [line["event"] for line in _lines(server, _id_of(deleted))])


def test_what_the_audit_log_does_not_take_is_not_deleted(server: Server) -> None:
    patient = Patient(server)
    patient.say("Tut das weh?")
    log = server.audit_log()
    kept = log.with_name("kept")
    if log.exists():
        log.rename(kept)
    log.mkdir()

    refused = patient.request("DELETE")
    log.rmdir()
    if kept.exists():
        kept.rename(log)
    still = patient.request("GET")
    done = patient.request("DELETE")

    assert (refused.status_code, still.status_code, done.status_code) == (503, 200, 204)
    assert "112" in refused.json()["emergency_notice"]["de"]
