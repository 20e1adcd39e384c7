"""A real FHIR server as a process of its own: Medplum's router in memory (`tests/fhir_server`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.node import node_process

FOLDER = Path(__file__).parents[2] / "fhir_server"


@contextmanager
def fhir_process(*arguments: str) -> Iterator[str]:
    """Run the server and give its base URL."""
    with node_process(FOLDER, "@medplum/fhir-router", *arguments) as port:
        yield f"http://127.0.0.1:{port}/fhir"


def emptied(base: str) -> str:
    """Let a server forget all it holds, for the next test."""
    assert httpx.post(base.replace("/fhir", "/forget-everything"), trust_env=False).status_code == 200
    return base


def stored(base: str, kind: str, **search: str) -> list[dict[str, object]]:
    """Return what the server holds of a resource type."""
    reply = httpx.get(f"{base}/{kind}", params={**search, "_count": "1000"}, trust_env=False, timeout=30)
    assert reply.status_code == 200, reply.text
    return [entry["resource"] for entry in reply.json().get("entry", [])]
