"""The processes of the benchmark: the service as a user starts it, the floor, and the patients."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.error import URLError

from bot import Unreachable
from harness.service_bench.load import Job, Measured

START_S = 120
KLARTEXT = "from bot.commands.main import main; main()"
UNLIMITED = {"KLARTEXT_REQUESTS_PER_MINUTE": "100000000", "KLARTEXT_TURNS_PER_MINUTE": "100000000"}


@dataclass(frozen=True, slots=True)
class Running:
    """A process that listens."""

    process: subprocess.Popen[str]
    url: str

    def peak_mb(self) -> float:
        """Return the most memory it has held so far, in megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def serving(data: Path, database: str) -> Iterator[Running]:
    """Run `klartext serve --sample` until the block ends; it is ready when this yields."""
    environ = {**UNLIMITED, "KLARTEXT_DATA": str(data), "KLARTEXT_DATABASE_URL": database}
    with _listening(["-c", KLARTEXT, "serve", "--sample", "--port", "0"], environ) as running:
        _wait_until_ready(running)
        yield running


@contextmanager
def floor(database: str) -> Iterator[Running]:
    """Run the bare endpoint until the block ends."""
    with _listening(["-m", "harness.service_bench.floor", database], {}) as running:
        yield running


def let_ask(job: Job) -> Measured:
    """Run patients in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.service_bench.load"],
        input=json.dumps(asdict(job)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unreachable(f"The load could not be measured ({done.stderr.strip().splitlines()[-1]}). Run it again.")
    return Measured(**json.loads(done.stdout))


@contextmanager
def _listening(arguments: list[str], environ: Mapping[str, str]) -> Iterator[Running]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **environ},
        )
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.search(r"listens on (http\S+)", line)
            if found is None:
                errors.seek(0)
                raise Unreachable(f"The service did not start ({errors.read().strip()[-200:]}).")
            yield Running(process, found[1])
        finally:
            process.terminate()
            process.wait(60)
            if process.stdout:
                process.stdout.close()


def _wait_until_ready(running: Running) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and running.process.poll() is None:
        try:
            with urllib.request.urlopen(running.url + "/healthz", timeout=START_S):
                return
        except URLError:  # also while it is starting
            time.sleep(0.01)
    raise Unreachable(f"The service did not get ready in {START_S} s. Run `klartext serve --sample` to see why.")
