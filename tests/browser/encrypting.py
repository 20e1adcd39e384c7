"""A proxy with TLS in front of a service on loopback, with a certificate that nobody else trusts."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def certificate(folder: Path) -> Path:
    """Write a key with its own signature on it, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "example")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    no_password = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password)
    path = folder / "certificate.pem"
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def encrypting(port: int, pem: Path) -> Iterator[int]:
    """Pass bytes on to a port of this machine from another one, which speaks TLS, and yield that one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)

    threads: list[threading.Thread] = []
    sockets: list[socket.socket] = [listening]

    def begin(target: Callable[..., None], *args: socket.socket) -> threading.Thread:
        threads.append(threading.Thread(target=target, args=args, daemon=True))
        threads[-1].start()
        return threads[-1]

    def serve() -> None:
        with suppress(OSError):  # closed: the test is over
            while True:
                begin(connect, listening.accept()[0])

    def connect(plain: socket.socket) -> None:
        with plain, suppress(OSError):  # browsers break off when they see the certificate, and come again
            outside = context.wrap_socket(plain, server_side=True)
            with outside, socket.create_connection(("127.0.0.1", port)) as inside:
                sockets.extend((outside, inside))
                back = begin(pass_on, inside, outside)
                pass_on(outside, inside)
                back.join()

    def pass_on(one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError, ValueError):
            while data := one.recv(65536):
                other.sendall(data)
        end(one, other)

    def end(*which: socket.socket) -> None:
        for each in which:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    begin(serve)
    try:
        yield listening.getsockname()[1]
    finally:
        end(*sockets)
        for thread in threads:
            thread.join(10)
        listening.close()
