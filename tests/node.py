"""Node, for servers that the tests run on it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OLDEST_NODE = (20, 19)


def node(folder: Path, package: str) -> str:
    """Return the Node that the server in a folder runs on, with its packages in place; skip the test where there is none."""
    install = f"make tests/{folder.name}/node_modules"
    found = shutil.which("node")
    if found is None:
        pytest.skip(f"there is no Node: install Node 20, then run `{install}`")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    if version < OLDEST_NODE:
        pytest.skip(f"Node {said.strip()} is too old for {folder.name}: install Node 20, then run `{install}`")
    if not (folder / "node_modules" / package).is_dir():
        pytest.skip(f"the packages of {folder.name} are missing: run `{install}`")
    return found


@contextmanager
def node_process(folder: Path, package: str, *arguments: str) -> Iterator[int]:
    """Run the server in a folder and give its port, which it prints."""
    command = [node(folder, package), str(folder / "server.mjs"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), f"{folder.name} did not start"
            yield int(port)
        finally:
            process.terminate()
