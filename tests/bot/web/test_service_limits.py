"""What a real service does about floods, false addresses, endless heads and trickled bytes."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from bot.web.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES
from bot.web.middleware import address_of
from bot.web.slowloris import RECEIVE_S
from tests.bot.web.serving import Server


@pytest.fixture(scope="module")
def proxied(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service behind a proxy on this machine; five requests a minute from one address."""
    assert shipped.sample
    environ = {"KLARTEXT_TRUSTED_PROXIES": "127.0.0.1", "KLARTEXT_REQUESTS_PER_MINUTE": "5"}
    running = Server(tmp_path_factory.mktemp("proxied"), shipped_data, environ)
    running.start()
    yield running
    running.kill()


def _statuses(server: Server, forwarded: list[str]) -> list[int]:
    return [httpx.get(server.url + "/x", headers={"X-Forwarded-For": each}).status_code for each in forwarded]


def _connected(server: Server) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=RECEIVE_S + 20)


def test_the_proxys_word_counts_and_the_clients_does_not(proxied: Server) -> None:
    spoofed = [f"9.9.9.{number}, 203.0.113.7" for number in range(6)]

    assert _statuses(proxied, spoofed) == [404] * 5 + [429]
    assert _statuses(proxied, ["203.0.113.8"]) == [404]


def test_one_ipv6_network_is_one_client(proxied: Server) -> None:
    one, other = [f"2001:db8:1:2:{number}::1" for number in range(6)], ["2001:db8:1:3::1"]

    assert _statuses(proxied, one) == [404] * 5 + [429]
    assert _statuses(proxied, other) == [404]


def test_nonsense_for_an_address_gets_no_limit_of_its_own(proxied: Server) -> None:
    assert _statuses(proxied, [f"nonsense-{number}" for number in range(6)]) == [404] * 5 + [429]


def test_who_is_no_trusted_proxy_cannot_say_another_address(proxied: Server) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2")) as client:
        spoofed = [{"X-Forwarded-For": f"203.0.113.{number}"} for number in range(100, 106)]
        statuses = [client.get(proxied.url + "/x", headers=headers).status_code for headers in spoofed]

    assert statuses == [404] * 5 + [429]


@pytest.mark.parametrize(
    ("client", "counts_as"),
    [
        (("198.51.100.1", 1), "198.51.100.1"),
        (("::ffff:198.51.100.1", 1), "198.51.100.1"),
        (("2001:db8::1", 1), "2001:db8::"),
        (("fe80::1%eth0", 1), "fe80::"),
        (("a" * 100_000, 1), "unknown"),
        (None, "unknown"),
    ],
)
def test_addresses_are_told_apart_by_network(client: tuple[str, int] | None, counts_as: str) -> None:
    assert address_of({"client": client}) == counts_as


def test_a_long_head_is_refused(server: Server) -> None:
    refused = httpx.get(server.url + "/livez", headers={"X-Long": "x" * (MAX_HEAD_BYTES + 1)})

    assert refused.status_code == 431
    assert "112" in refused.json()["emergency_notice"]["de"]


def test_a_head_without_end_is_cut_off(server: Server) -> None:
    with _connected(server) as raw:
        raw.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 100 * MAX_HEAD_BYTES:
                sent += raw.send(b"X-More: " + b"x" * 4000 + b"\r\n")
                time.sleep(0.001)

    assert sent < 50 * MAX_HEAD_BYTES  # some of it was still on its way
    assert httpx.get(server.url + "/livez").status_code == 200


def test_a_body_that_hides_its_size_is_cut_off(server: Server) -> None:
    chunks = (b"x" * 4096 for _ in range(1 + MAX_BODY_BYTES // 4096))
    refused = httpx.post(server.url + "/api/v1/conversations", content=chunks)

    assert refused.status_code == 413


@pytest.mark.proof
def test_bytes_that_trickle_do_not_hold_a_connection(server: Server) -> None:
    head = b"POST /api/v1/conversations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    started_s = time.monotonic()
    with _connected(server) as silent, _connected(server) as in_head, _connected(server) as in_body:
        in_head.sendall(b"GET /livez HTTP/1.1\r\n")
        in_body.sendall(head)
        while time.monotonic() - started_s < RECEIVE_S - 1:
            in_head.sendall(b"X: y\r\n")
            in_body.sendall(b" ")
            time.sleep(1)

        assert [raw.recv(1000) for raw in (silent, in_head)] == [b"", b""]
        in_body.recv(1000)
        assert in_body.recv(1000) == b""

    assert RECEIVE_S - 2 < time.monotonic() - started_s < RECEIVE_S + 5
