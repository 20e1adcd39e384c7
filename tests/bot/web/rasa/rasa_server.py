"""A real Rasa 3.6 server, trained on an exported project; from the environment that `KLARTEXT_TEST_RASA` names."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

NO_RASA = (
    "needs Rasa Open Source 3.6 in an environment of its own: sh tests/install_rasa.sh .rasa (Python 3.8 to 3.10), "
    "then KLARTEXT_TEST_RASA=.rasa"
)
TRAIN_S, START_S = 600, 400
# Run by Rasa's own Python, which has what its channel is made of, but an aiohttp that its client cannot open a WebSocket
# with. The server says that it is done with a message after all that it has to say.
OVER_SOCKET_IO = """\
import asyncio, json, sys, socketio
async def chat(url, lines):
    client, said = socketio.AsyncClient(), []
    client.on("bot_uttered", lambda bubble: said[-1].append(bubble))
    await client.connect(url, transports=["polling"])
    sender = client.get_sid()
    for line in lines:
        said.append([])
        await client.call("user_uttered", {"message": line}, timeout=120)
    await client.disconnect()
    return sender, said
print(json.dumps(asyncio.run(chat(*json.load(sys.stdin)))))
"""


def rasa_program() -> Path:
    """Return the command `rasa`; skip the test where there is none."""
    program = Path(os.environ.get("KLARTEXT_TEST_RASA", ".rasa")).absolute() / "bin" / "rasa"
    if not program.is_file():
        pytest.skip(NO_RASA)
    return program


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def rasa_environ() -> dict[str, str]:
    """Return the environment of a program of Rasa's: its Python must not look for modules among ours."""
    ours = ("PYTHONPATH", "PYTHONWARNINGS", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "RASA_TELEMETRY_ENABLED": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}


@dataclass
class Rasa:
    """One project, trained and run."""

    project: Path
    environ: Mapping[str, str]
    port: int = field(default_factory=free_port)
    train_s: float = 0.0
    start_s: float = 0.0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def train(self) -> None:
        began = time.monotonic()
        done = subprocess.run(
            [rasa_program(), "train"],
            cwd=self.project,
            env=self._environ(),
            capture_output=True,
            timeout=TRAIN_S,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].decode(errors="replace")
        self.train_s = time.monotonic() - began

    def test(self, *options: str) -> dict[str, Any]:
        """Run `rasa test`; return its reports."""
        done = subprocess.run(
            [rasa_program(), "test", *options],
            cwd=self.project,
            env=self._environ(),
            capture_output=True,
            timeout=TRAIN_S,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].decode(errors="replace")
        results = self.project / "results"
        reports = ("story_report", "intent_report", "response_selection_report")
        return {name: json.loads((results / f"{name}.json").read_text(encoding="utf-8")) for name in reports}

    def start(self) -> None:
        began = time.monotonic()
        with (self.project / "run.log").open("wb") as log:
            self._process = subprocess.Popen(
                [rasa_program(), "run", "--enable-api", "-i", "127.0.0.1", "-p", str(self.port)],
                cwd=self.project,
                env=self._environ(),
                stdout=log,
                stderr=log,
            )
        while time.monotonic() - began < START_S:
            assert self._process.poll() is None, self.log()[-3000:]
            try:
                if httpx.get(f"{self.url}/status").json().get("model_file"):
                    self.start_s = time.monotonic() - began
                    return
            except (httpx.TransportError, ValueError):
                pass
            time.sleep(0.5)
        raise TimeoutError(f"Rasa did not get ready in {START_S} s:\n{self.log()[-3000:]}")

    def log(self) -> str:
        return (self.project / "run.log").read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def say(self, sender: str, text: str) -> list[dict[str, Any]]:
        """Say something on Rasa's REST channel, and return the bubbles."""
        body = {"sender": sender, "message": text}
        answer = httpx.post(f"{self.url}/webhooks/rest/webhook", json=body, timeout=120)
        assert answer.status_code == 200, answer.text
        return [{name: each[name] for name in ("text", "buttons") if name in each} for each in answer.json()]

    def chat(self, lines: Sequence[str]) -> tuple[str, list[list[dict[str, Any]]]]:
        """Say all lines on Rasa's Socket.IO channel, and return whom it takes for the sender, and the bubbles of each."""
        done = subprocess.run(
            [rasa_program().parent / "python", "-c", OVER_SOCKET_IO],
            input=json.dumps([self.url, lines]).encode(),
            env=self._environ(),
            capture_output=True,
            timeout=TRAIN_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:].decode(errors="replace")
        sender, found = json.loads(done.stdout)
        named = [
            # Buttons have another name there.
            [
                {"text": each["text"], **({"buttons": each["quick_replies"]} if each.get("quick_replies") else {})}
                for each in own
            ]
            for own in found
        ]
        return str(sender), named

    def tracker(self, sender: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.url}/conversations/{sender}/tracker", timeout=60).json()
        return found

    def _environ(self) -> dict[str, str]:
        return {**rasa_environ(), **self.environ}
