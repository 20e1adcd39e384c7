"""A real `klartext serve` process on loopback, and patients who talk to it."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from bot.resources import data_folder
from tests.forking import COMMAND, Forked, forking, in_a_fresh_process

START_S = 120
CHANNEL_TOKEN = "a-token-for-the-tests-of-the-channel"
RASA_TOKEN = "a-token-for-the-tests-of-rasa"


def always_open(folder: Path) -> dict[str, str]:
    """Write the shipped place without its opening hours: what a patient is told then does not hang on the clock."""
    path = folder / "site.yaml"
    place = yaml.safe_load((data_folder("qa_pairs") / "site.yaml").read_text(encoding="utf-8"))
    del place["opening"]
    path.write_text(yaml.safe_dump(place, allow_unicode=True), encoding="utf-8")
    return {"KLARTEXT_SITE": str(path)}


class Server:
    """One service with a database of its own; it can be killed and started again."""

    def __init__(
        self,
        folder: Path,
        data: Path,
        environ: Mapping[str, str] | None = None,
        *,
        faults: str = "",
        host: str = "127.0.0.1",
        fresh: bool = False,
    ) -> None:
        """Say where it runs.

        Args:
            folder: For its database and its logs.
            data: Its data folder.
            environ: Settings beside the usual ones.
            faults: Code that the process runs first, for what goes wrong inside it.
            host: Where it listens.
            fresh: Whether that code runs before anything is imported.
        """
        self._folder = folder
        self._host = host
        code = f"{faults}\n{COMMAND}"
        self._code = in_a_fresh_process(code) if fresh else code
        database = f"sqlite:///{folder / 'klartext.db'}"
        self._environ = {
            **os.environ,
            "KLARTEXT_DATA": str(data),
            "KLARTEXT_DATABASE_URL": database,
            "KLARTEXT_AUDIT_LOG": str(folder / "audit.jsonl"),
            "KLARTEXT_REQUESTS_PER_MINUTE": "100000",
            "KLARTEXT_TURNS_PER_MINUTE": "100000",
            **(environ or {}),
        }
        self._process: Forked | None = None
        self._port = "0"
        self._before = 0  # of its output, that of earlier starts
        self.url = ""

    def start(self, *options: str, sample: bool = True, until: Callable[[], object] | None = None) -> None:
        """Start it; after the first time on the same port. `until`: what to wait for; default: it is ready."""
        self.begin(*options, sample=sample)
        self.wait_until_ready(until)

    def begin(self, *options: str, sample: bool = True) -> None:
        """Start it without waiting for anything."""
        self._before = len(self.stdout())
        arguments = ["serve", *["--sample"] * sample, "--host", self._host, "--port", self._port, *options]
        out_file, err_file = self._folder / "out", self._folder / "err"
        with out_file.open("ab") as out, err_file.open("ab") as err, open(os.devnull, "rb") as nothing:
            streams = [nothing.fileno(), out.fileno(), err.fileno()]
            self._process = forking().start(arguments, streams, environ=self._environ, code=self._code)

    def wait_until_ready(self, until: Callable[[], object] | None = None) -> None:
        """Wait for what was begun; `until`: for something else."""
        self.wait_for(lambda: "listens on" in self.stdout()[self._before :])
        self.url = self.stdout()[self._before :].split("listens on ")[1].split()[0]
        self._port = self.url.rsplit(":", 1)[1]
        self.wait_for(until or (lambda: httpx.get(self.url + "/healthz").status_code == 200))

    def limit(self, *, turns: int, requests: int) -> None:
        """Set the limits of the next start."""
        self._environ["KLARTEXT_TURNS_PER_MINUTE"] = str(turns)
        self._environ["KLARTEXT_REQUESTS_PER_MINUTE"] = str(requests)

    def use_database(self, url: str) -> None:
        """Set the database of the next start."""
        self._environ["KLARTEXT_DATABASE_URL"] = url

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        return self._end(signal.SIGTERM)

    def workers(self) -> set[int]:
        """Return the process ids of its workers."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return {int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}

    def stdout(self) -> str:
        return self._read("out")

    def stderr(self) -> str:
        return self._read("err")

    def audit_log(self) -> Path:
        return self._folder / "audit.jsonl"

    def database(self) -> Path:
        return self._folder / "klartext.db"

    def _read(self, name: str) -> str:
        path = self._folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _end(self, signal_: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(signal_)
        return self._process.wait(60)

    def wait_for(self, holds: Callable[[], object]) -> None:
        """Wait until something holds; raise TimeoutError if it does not."""
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            assert self._process is not None
            assert self._process.poll() is None, self.stderr()
            try:
                if holds():
                    return
            except httpx.TransportError:
                pass  # not listening yet
            time.sleep(0.1)
        raise TimeoutError(f"the service did not get ready in {START_S} s:\n{self.stderr()}")


@dataclass
class Patient:
    """Somebody in a conversation of their own."""

    server: Server
    language: str = "de"
    id: str = ""
    token: str = ""
    welcome: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        body = {"consent": True, "language": self.language}
        begun = httpx.post(self.server.url + "/api/v1/conversations", json=body)
        assert begun.status_code == 201, begun.text
        self.id, self.token, self.welcome = (begun.json()[name] for name in ("id", "token", "welcome"))

    def request(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        return httpx.request(
            method,
            f"{self.server.url}/api/v1/conversations/{self.id}{path}",
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            timeout=60,
            **more,
        )

    def send(self, turn_id: str | None = None, **body: Any) -> httpx.Response:
        return self.request("POST", "/turns", json={"turn_id": turn_id or uuid.uuid4().hex, **body})

    def say(self, text: str) -> list[str]:
        """Send a text and return the texts of the reply."""
        answer = self.send(text=text)
        assert answer.status_code == 200, answer.text
        return texts(answer)


def texts(answer: httpx.Response) -> list[str]:
    return [part["text"] for part in answer.json()["reply"]["parts"]]
