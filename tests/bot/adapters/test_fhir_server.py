"""What the adapter says to FHIR servers, whom it trusts, and what it refuses to send."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.adapters.fhir_server import HttpFhirServer
from bot.errors import NotSent, UserFixable
from bot.outbox_ports import Patience
from bot.settings import FhirAccess
from tests.bot.handover.exports import NOW, mixed_export, outgoing

CAPABLE: dict[str, Any] = {
    "resourceType": "CapabilityStatement",
    "fhirVersion": "4.0.1",
    "rest": [{"mode": "server", "interaction": [{"code": "transaction"}]}],
}
BUNDLE = outgoing(mixed_export()).bundle
DONE: dict[str, Any] = {
    "resourceType": "Bundle",
    "type": "transaction-response",
    "entry": [{"response": {"status": "201 Created"}}] * BUNDLE.count('"fullUrl"'),
}
ONCE = Patience(attempts=1, timeout_s=5)


@dataclass
class Scripted:
    """A server that answers as it is told.

    Attributes:
        answers: Status, body and headers; the last one goes on for ever.
        asked: Method, path and headers of every request.
    """

    answers: list[tuple[int, Any, dict[str, str]]]
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    url: str = ""


@contextmanager
def scripted(*answers: tuple[int, Any, dict[str, str]], tls: ssl.SSLContext | None = None) -> Iterator[Scripted]:
    script = Scripted(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.asked.append((self.command, self.path, dict(self.headers)))
            status, body, headers = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that breaks off is part of the test."""

    server = Quiet(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    script.url = f"{'https' if tls else 'http'}://localhost:{server.server_address[1]}/r4"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _send(script: Scripted, patience: Patience = ONCE, **further: Any) -> None:
    server = HttpFhirServer(FhirAccess(url=script.url, **further), patience=patience, sleep=lambda _: None)
    try:
        server.send(BUNDLE)
    finally:
        server.close()


def _check(script: Scripted) -> None:
    server = HttpFhirServer(FhirAccess(url=script.url), patience=ONCE)
    try:
        server.check()
    finally:
        server.close()


def test_a_transaction_is_posted_as_fhir_json_to_the_base() -> None:
    with scripted((200, DONE, {})) as script:
        _send(script)

    ((method, path, headers),) = script.asked
    assert (method, path) == ("POST", "/r4")
    assert headers["Content-Type"] == "application/fhir+json; charset=utf-8"
    assert "Authorization" not in headers


def test_a_capable_server_passes() -> None:
    with scripted((200, CAPABLE, {})) as script:
        _check(script)

    assert script.asked[0][:2] == ("GET", "/r4/metadata")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ({}, "localhost is no FHIR server"),
        (b"<html></html>", "localhost is no FHIR server"),
        ([], "localhost is no FHIR server"),
        ({**CAPABLE, "fhirVersion": "5.0.0"}, r"speaks FHIR '5.0.0'; Klartext sends R4"),
        ({**CAPABLE, "rest": []}, "offers no transactions"),
        ({**CAPABLE, "rest": [{"interaction": [{"code": "batch"}]}]}, "offers no transactions"),
    ],
)
def test_a_server_that_cannot_take_a_transaction_is_told_in_one_line(statement: Any, problem: str) -> None:
    with scripted((200, statement, {})) as script, pytest.raises(UserFixable, match=problem) as caught:
        _check(script)

    assert "\n" not in str(caught.value)


ISSUES = {
    "resourceType": "OperationOutcome",
    "issue": [
        {"code": "invalid", "expression": ["Task.code"], "diagnostics": "Geheimnis"},
        {"code": "Geheimnis!", "expression": ["Geheimnis links"]},
        {"code": "value", "expression": ["ein Geheimnis"]},
    ],
}


@pytest.mark.parametrize(
    ("answer", "reason", "verdict"),
    [
        ((400, ISSUES, {}), "refused (400) invalid@Task.code value", "refused"),
        ((412, {}, {}), "refused (412)", "refused"),
        ((422, b"Geheimnis", {}), "refused (422)", "refused"),
        ((401, {}, {}), "unauthorised (401)", "down"),
        ((403, {}, {}), "unauthorised (403)", "down"),
        ((404, {}, {}), "no FHIR endpoint (404)", "down"),
        ((301, {}, {"Location": "http://127.0.0.1:9/elsewhere"}), "no FHIR endpoint (301)", "down"),
        ((500, {}, {}), "busy (500)", "trouble"),
        ((503, {}, {}), "busy (503)", "down"),
        ((200, {}, {}), "the reply is no transaction-response", "trouble"),
        ((200, {**DONE, "type": "batch-response"}, {}), "the reply is no transaction-response", "trouble"),
        ((200, {**DONE, "entry": DONE["entry"][:-1]}, {}), "incomplete (12 of 13 taken)", "refused"),
        (
            (200, {**DONE, "entry": [*DONE["entry"][:-1], {"response": {"status": "422 Geheimnis"}}]}, {}),
            "incomplete (12 of 13 taken, 422)",
            "refused",
        ),
    ],
)
def test_what_the_server_did_not_take_has_a_reason_without_patient_text(
    answer: tuple[int, Any, dict[str, str]], reason: str, verdict: str
) -> None:
    with scripted(answer) as script, pytest.raises(NotSent) as caught:
        _send(script)

    assert (caught.value.reason, caught.value.verdict) == (reason, verdict)
    assert "Geheimnis" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "waits"),
    [("3", [3.0]), ("0", [0.5]), ("soon", [0.5]), ("", [0.5]), ("Sun, 01 Nov 2020 12:00:00 GMT", [0.5]), ("²", [0.5])],
)
def test_retry_after_is_read_and_nonsense_is_none(header: str, waits: list[float]) -> None:
    slept: list[float] = []
    with scripted((429, {}, {"Retry-After": header.encode().decode("latin-1")}), (200, DONE, {})) as script:
        server = HttpFhirServer(FhirAccess(url=script.url), sleep=slept.append)
        server.send(BUNDLE)
        server.close()

    assert slept == waits


def test_a_redirection_is_not_followed() -> None:
    with scripted((200, DONE, {})) as other, scripted((307, {}, {"Location": other.url})) as script:
        with pytest.raises(NotSent, match=r"no FHIR endpoint \(307\)"):
            _send(script)

        assert other.asked == []


def test_proxies_and_credentials_of_the_environment_are_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine localhost login anna password geheim\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")

    with scripted((200, DONE, {})) as script:
        _send(script)

    assert "Authorization" not in script.asked[0][2]


SOUND = FhirAccess(
    url="https://fhir.example.org/r4",
    auth="basic",
    token_url="https://id.example.org/token",
    client_id="k",
    client_secret="s",
)


@pytest.mark.parametrize(
    ("access", "problem"),
    [
        (FhirAccess(), "No FHIR server is set"),
        (FhirAccess(url="http://fhir.example.org/r4"), "KLARTEXT_FHIR_URL is not encrypted"),
        (FhirAccess(url="ftp://fhir.example.org/r4"), "KLARTEXT_FHIR_URL is no plain address"),
        (FhirAccess(url="fhir.example.org/r4"), "KLARTEXT_FHIR_URL is no plain address"),
        (FhirAccess(url="https://anna:geheim@fhir.example.org"), "KLARTEXT_FHIR_URL is no plain address"),
        (FhirAccess(url="https://fhir.example.org/r4?key=geheim"), "KLARTEXT_FHIR_URL is no plain address"),
        (FhirAccess(url="https://[::1/r4"), "KLARTEXT_FHIR_URL is no plain address"),
        (replace(SOUND, token_url=None), "KLARTEXT_FHIR_TOKEN_URL is not set"),
        (replace(SOUND, token_url="http://id.example.org/token"), "KLARTEXT_FHIR_TOKEN_URL is not encrypted"),
        (replace(SOUND, client_id=None), "KLARTEXT_FHIR_CLIENT_ID is not set"),
        (replace(SOUND, ca_file=Path("/no/such/file.pem")), "KLARTEXT_FHIR_CA_FILE names no file"),
    ],
)
def test_settings_that_cannot_work_or_are_not_safe_are_refused(access: FhirAccess, problem: str) -> None:
    with pytest.raises(UserFixable, match=problem) as caught:
        HttpFhirServer(access)

    assert "geheim" not in str(caught.value)


def test_sound_settings_are_taken_and_never_shown() -> None:
    HttpFhirServer(SOUND).close()
    HttpFhirServer(FhirAccess(url="http://[::1]:8080/fhir")).close()

    assert "'s'" not in repr(SOUND)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed but itself, and its key."""
    from datetime import timedelta

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - timedelta(days=1000))
        .not_valid_after(NOW + timedelta(days=10000))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    encoding, form_ = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(encoding, form_, serialization.NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"


def test_a_certificate_is_trusted_only_if_the_settings_say_so(certificate: tuple[Path, Path]) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)

    with scripted((200, DONE, {}), tls=tls) as script:
        with pytest.raises(NotSent, match=r"unreachable \(TLS\)"):
            _send(script)
        assert script.asked == []

        _send(script, ca_file=certificate[0])

    assert len(script.asked) == 1
