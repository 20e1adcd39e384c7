"""A real FHIR server as a process of its own: Medplum's router in memory (`tests/fhir_server`)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

FOLDER = Path(__file__).parents[2] / "fhir_server"
INSTALL = "make tests/fhir_server/node_modules"
OLDEST_NODE = (20, 19)


def node() -> str:
    """Return the Node that the server runs on, with its packages in place; skip the test where there is none."""
    found = shutil.which("node")
    if found is None:
        pytest.skip(f"there is no Node: install Node 20, then run `{INSTALL}`")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    if version < OLDEST_NODE:
        pytest.skip(f"Node {said.strip()} is too old for the FHIR server: install Node 20, then run `{INSTALL}`")
    if not (FOLDER / "node_modules" / "@medplum" / "fhir-router").is_dir():
        pytest.skip(f"the FHIR server's packages are missing: run `{INSTALL}`")
    return found


@contextmanager
def fhir_process(*arguments: str) -> Iterator[str]:
    """Run the server and give its base URL."""
    command = [node(), str(FOLDER / "server.mjs"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), "the FHIR server did not start"
            yield f"http://127.0.0.1:{port}/fhir"
        finally:
            process.terminate()


def emptied(base: str) -> str:
    """Let a server forget all it holds, for the next test."""
    assert httpx.post(base.replace("/fhir", "/forget-everything"), trust_env=False).status_code == 200
    return base


def stored(base: str, kind: str, **search: str) -> list[dict[str, object]]:
    """Return what the server holds of a resource type."""
    reply = httpx.get(f"{base}/{kind}", params={**search, "_count": "1000"}, trust_env=False, timeout=30)
    assert reply.status_code == 200, reply.text
    return [entry["resource"] for entry in reply.json().get("entry", [])]
