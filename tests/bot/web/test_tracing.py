"""Traces reach a real collector, and hold neither what patients say nor who they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot import Assistant
from bot.errors import UserFixable
from bot.outbox_ports import pseudonym
from bot.settings import Settings
from bot.wiring import make_tracer
from tests.bot.handover.odd_fhir_server import odd_fhir_server
from tests.bot.web.serving import Patient, Server
from tests.conftest import Run

SAID = ("Tut das eigentlich weh?", "Ich kriege keine Luft")


@dataclass
class Collector:
    """What an OTLP receiver got: bodies as they came, and the spans in them."""

    url: str = ""
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@contextmanager
def collector() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.paths.append(self.path)
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def _noted(span: Any) -> dict[str, str | int]:
    return {
        each.key: each.value.string_value if each.value.HasField("string_value") else each.value.int_value
        for each in span.attributes
    }


@pytest.mark.proof
def test_requests_turns_storing_and_delivery_are_traced_without_a_word_of_the_patient(
    shipped: Assistant, shipped_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="pip install 'klartext[tracing]'")
    assert shipped.sample
    with collector() as collected, odd_fhir_server() as fhir:
        environ = {"KLARTEXT_OTLP_URL": collected.url, "KLARTEXT_FHIR_URL": fhir.url}
        server = Server(tmp_path, shipped_data, environ)
        server.start()
        fhir.odd = {"POST": "away"}
        patient = Patient(server)
        patient.say(SAID[0])
        patient.send("turn-of-the-patient", text=SAID[1])
        server.wait_for(lambda: fhir.posts)
        fhir.odd = {}
        server.wait_for(fhir.tasks)
        assert server.stop() == -15  # what has not been sent yet is sent then

    spans = collected.spans
    assert set(collected.paths) == {"/v1/traces"}
    turns = "POST /api/v1/conversations/{conversation_id}/turns"
    assert {span.name for span in spans} == {
        "POST /api/v1/conversations", turns, "decision", "storing", "delivery",
    }  # fmt: skip
    assert [_noted(span) for span in spans if span.name == turns] == [{"klartext.status": 200}] * 2
    decisions = [_noted(span)["klartext.decision"] for span in spans if span.name == "decision"]
    assert decisions == ["answered", "urgent"]
    outcomes = {_noted(span)["klartext.outcome"] for span in spans if span.name == "delivery"}
    assert outcomes == {"server_error", "taken"}
    (turn, *_), decision, storing = (
        [span for span in spans if span.name == turns],
        next(span for span in spans if span.name == "decision"),
        next(span for span in spans if span.name == "storing"),
    )
    assert turn.span_id == decision.parent_span_id
    assert decision.span_id == storing.parent_span_id
    assert turn.trace_id == storing.trace_id
    assert all(not span.events and span.end_time_unix_nano > span.start_time_unix_nano for span in spans)
    everything = b"\n".join(collected.bodies)
    secrets = (patient.id, patient.token, pseudonym(patient.id), "turn-of-the-patient", "weh", "Luft", "eigentlich")
    assert [each for each in secrets if each.encode() in everything] == []


def test_traces_go_to_a_protected_address_only(klartext: Run, tmp_path: Path) -> None:
    environ = {"KLARTEXT_OTLP_URL": "http://collector.example.org:4318"}
    settings = Settings.from_environment(environ, data=tmp_path)

    with pytest.raises(UserFixable, match=r"KLARTEXT_OTLP_URL is not encrypted\. Use https: traces would cross"):
        make_tracer(settings)
    assert make_tracer(Settings.from_environment({}, data=tmp_path)) is None
    done = klartext("serve", "--sample", "--port", "0", "--data", tmp_path, environ=environ)
    assert (done.returncode, done.stderr.decode().count("klartext: KLARTEXT_OTLP_URL")) == (2, 1)


@pytest.mark.proof
def test_without_its_packages_tracing_names_the_extra(klartext: Run, tmp_path: Path) -> None:
    done = klartext(
        *("serve", "--sample", "--port", "0", "--data", tmp_path),
        environ={"KLARTEXT_OTLP_URL": "http://127.0.0.1:4318"},
        before="sys.modules['opentelemetry.exporter.otlp.proto.http.trace_exporter'] = None",
    )

    assert done.returncode == 2
    assert "pip install 'klartext[tracing]'" in done.stderr.decode().splitlines()[-1]
