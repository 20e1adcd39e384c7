"""Why something has not reached the FHIR server: every reason of the code has a cause, and the verdict follows."""

from __future__ import annotations

import ast
import datetime as dt
import ssl
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import get_args

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.adapters.fhir_server import HttpFhirServer
from bot.errors import NotSent
from bot.handover.causes import CAUSES, NO_SERVER, NOT_BUILT, Cause, Standing, cause_of, standing, undelivered
from bot.outbox_ports import Group, Patience
from bot.settings import FhirAccess

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
ADAPTERS = Path(__file__).parents[3] / "bot"


def _group(lane: str, reason: str, seconds: int, *, held: bool = False) -> Group:
    return Group("urgent" if lane == "urgent" else "rest", reason, held, 1, NOW - timedelta(seconds=seconds))


def test_every_reason_that_the_code_words_has_a_cause_of_its_own() -> None:
    found = {}
    for path in (*ADAPTERS.glob("adapters/*.py"), *ADAPTERS.glob("handover/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"NotSent", "_Trouble"}:
                text = node.args[0]
                first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                if isinstance(first, ast.Constant):
                    found[str(first.value)] = cause_of(str(first.value))

    assert len(found) >= 12
    assert [reason for reason, cause in found.items() if cause == "other"] == []
    assert set(CAUSES) == set(get_args(Cause))


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("unreachable (ConnectError)", "unreachable"),
        ("unreachable (TLS)", "certificate"),
        ("busy (503)", "server_error"),
        ("refused (422) invalid@Task.code", "refused"),
        ("incomplete (1 of 2 taken, 409)", "incomplete"),
        ("unauthorised (401)", "unauthorised"),
        ("no token (401)", "token"),
        ("token endpoint unreachable (ConnectError)", "token"),
        ("failed (UserFixable)", "settings"),
        ("failed (KeyError)", "failed"),
        (NOT_BUILT, "invalid"),
        (NO_SERVER, "no_server"),
        ("of another version", "other"),
    ],
)
def test_a_reason_is_told_by_its_class_only(reason: str, cause: Cause) -> None:
    assert cause_of(reason) == cause


def test_the_verdict_is_that_of_the_worst_red_flags_first() -> None:
    fresh, rest = _group("urgent", "", 2, held=True), _group("rest", "", 60)
    refused, down = _group("rest", "refused (422)", 60), _group("urgent", "busy (503)", 3)

    assert standing(undelivered([fresh, rest]), NOW) == Standing("ok", 2.0)
    assert standing(undelivered([_group("urgent", "", 11), rest]), NOW) == Standing("late", 11.0, "not_tried")
    assert standing(undelivered([_group("rest", "", 16 * 60)]), NOW) == Standing("late", 0.0, "not_tried")
    assert standing(undelivered([fresh, refused]), NOW) == Standing("failing", 2.0, "refused")
    assert standing(undelivered([down, refused]), NOW) == Standing("failing", 3.0, "server_error")
    assert standing(undelivered([fresh]), NOW, broken="stalled") == Standing("failing", 2.0, "stalled")
    # Ordinary entries are not even tried while the server is away: that it is, is why they wait.
    assert standing(undelivered([rest], trouble="busy (503)"), NOW) == Standing("failing", 0.0, "server_error")


def _self_signed(folder: Path) -> tuple[Path, Path]:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = dt.datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now - timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


def test_a_server_whose_certificate_has_expired_is_told_as_that(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_self_signed(tmp_path))
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            access = FhirAccess(url=f"https://127.0.0.1:{server.server_port}/fhir")
            fhir = HttpFhirServer(access, patience=Patience(attempts=1, timeout_s=5))
            with pytest.raises(NotSent, match="unreachable") as refused:
                fhir.send('{"resourceType": "Bundle", "type": "transaction", "entry": []}')
            fhir.close()
        finally:
            server.shutdown()
            thread.join()

    assert cause_of(refused.value.reason) == "certificate"
