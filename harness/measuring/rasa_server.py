"""Rasa in an environment of its own: found and known by its version, trained, and run."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from bot import Unreachable, UserFixable
from harness.measuring.rasa_load import CHANNEL
from harness.measuring.service import Running, end

VARIABLE, PLACES = "KLARTEXT_TEST_RASA", ("rasa-env", ".rasa")  # as docs/rasa.md and `make proof` make it
TRIED = "3.6"
START_S, TRAIN_S = 300, 4 * 3600
_ASKED_S = 60
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class RasaEnvironment:
    """An environment with Rasa Open Source 3.6.

    Attributes:
        program: The command `rasa`.
        version: Of Rasa.
    """

    program: Path
    version: str

    @classmethod
    def find(cls, named: Path | None = None) -> RasaEnvironment:
        """Return the named environment, or else the first that is where it is usually made.

        Raises:
            UserFixable: There is none, or what is there is no Rasa or another version.
        """
        variable = os.environ.get(VARIABLE, "")
        usual = [Path(each) for each in (variable, *PLACES) if each]
        folder = named or next((each for each in usual if each.is_dir()), None)
        if folder is None:
            looked = ", ".join(map(str, usual))
            raise UserFixable(
                f"There is no environment with Rasa ({looked} looked for). Make one with Python 3.8 to 3.10 "
                f"(`python3.10 -m venv {PLACES[0]} && {PLACES[0]}/bin/pip install rasa==3.6.21`), or name one with "
                "`--env`."
            )
        programs = folder.absolute() / "bin"
        found = _version(programs / "python")
        if found is None or not (programs / "rasa").is_file():
            raise UserFixable(
                f"There is no Rasa in {folder}. Make an environment with Python 3.8 to 3.10, and install "
                "`rasa==3.6.21` into it (docs/rasa.md), or name another with `--env`."
            )
        if not found.startswith(f"{TRIED}."):
            raise UserFixable(
                f"In {folder} is Rasa {found}, and projects are for Rasa {TRIED}. Install `rasa==3.6.21` into an "
                "environment of its own (docs/rasa.md), and name it with `--env`."
            )
        return cls(programs / "rasa", found)

    def train(self, project: Path) -> float:
        """Train a project, and return the seconds that it took."""
        # What validation looks at, the exporter has: it reads all examples once more, for minutes.
        return run("rasa train", [str(self.program), "train", "--skip-validation"], project, TRAIN_S)

    @contextmanager
    def running(self, project: Path) -> Iterator[tuple[Running, float]]:
        """Run it until the block ends; it answers when this yields, with the seconds until then."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = int(probe.getsockname()[1])
        began = time.perf_counter()
        with (project / "run.log").open("w", encoding="utf-8") as log:
            command = [str(self.program), "run", "-i", "127.0.0.1", "-p", str(port)]
            process = subprocess.Popen(
                command, cwd=project, env=_environ(command[0]), stdout=log, stderr=log, text=True
            )
        found = Running(process, f"http://127.0.0.1:{port}")
        try:
            until_it_answers(found)
            yield found, time.perf_counter() - began
        finally:
            end(process)


def _version(python: Path) -> str | None:
    """Return which Rasa an environment has; None for none. Not by `rasa --version`, which imports all of it."""
    asked = "from importlib.metadata import version; print(version('rasa'))"
    try:
        done = subprocess.run(
            [python, "-c", asked],
            env=_environ(str(python)),
            capture_output=True,
            text=True,
            timeout=_ASKED_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def run(named: str, command: Sequence[str], folder: Path, timeout_s: float) -> float:
    """Run a program to its end; return the seconds that it took.

    Args:
        named: What it is called when it fails.

    Raises:
        Unreachable: It failed, or was not done in time; with the last line that it wrote.
    """
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env=_environ(command[0]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(
            f"`{named}` was not done in {timeout_s:.0f} s. Give it less to do, or run it again."
        ) from None
    if done.returncode:
        lines = [_COLOURS.sub("", line).strip() for line in done.stdout.splitlines()]
        last = next((line for line in reversed(lines) if line), f"exit code {done.returncode}")
        raise Unreachable(f"`{named}` failed ({last[-300:]}). Mend it; run again.")
    return time.perf_counter() - began


def until_it_answers(running: Running, token: str = "") -> None:
    """Wait until a server answers a message on the REST channel; raise Unreachable when it does not."""
    began = time.perf_counter()
    while not _answers(running.url, token):
        if (code := running.process.poll()) is not None:
            raise Unreachable(f"The server ended before it answered (exit code {code}). Run it alone to see why.")
        if time.perf_counter() - began > START_S:
            raise Unreachable(f"The server did not answer within {START_S} s. Run it alone to see why.")
        time.sleep(0.1)


def _answers(url: str, token: str) -> bool:
    body = json.dumps({"sender": "start", "message": "Hallo"}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + CHANNEL, body, headers), timeout=60) as answer:
            return bool(json.load(answer))
    except (URLError, OSError, HTTPException, ValueError):
        return False


def _environ(program: str) -> dict[str, str]:
    """Return the environment of a program; another Python must not look for its modules among ours."""
    foreign = program != sys.executable
    ours = ("PYTHONPATH", "PYTHONWARNINGS", "PYTHONHOME", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not (foreign and name in ours)}
    return {**kept, "RASA_TELEMETRY_ENABLED": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}
