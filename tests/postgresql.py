"""A real PostgreSQL server on loopback, for one test session."""

from __future__ import annotations

import glob
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

MISSING = "needs a PostgreSQL server and its driver: apt-get install postgresql, pip install 'klartext[postgresql]'"


def programs() -> Path | None:
    """Return the folder of initdb and pg_ctl; Debian keeps them off the PATH."""
    on_path = shutil.which("initdb")
    folders = [*glob.glob("/usr/lib/postgresql/*/bin"), *([str(Path(on_path).parent)] if on_path else [])]
    return next((Path(folder) for folder in folders if (Path(folder) / "pg_ctl").exists()), None)


@contextmanager
def running_postgresql(folder: Path) -> Iterator[str]:
    """Start a server with its data in a folder; skip the test where there is none to start."""
    programs_in = programs()
    if programs_in is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip(MISSING)
    user = _unprivileged()
    # Readable by the server's account, which pytest's folders are not.
    base = Path(tempfile.mkdtemp(prefix="klartext-pg-")) if user else folder
    if user:
        shutil.chown(base, user)
    port = _free_port()
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={base} -c fsync=off"
    try:
        _run(user, programs_in / "initdb", "-D", base / "data", "-U", "klartext", "-A", "trust", "-E", "UTF8")
        _run(user, programs_in / "pg_ctl", "-D", base / "data", "-l", base / "log", "-o", options, "-w", "start")
        yield f"postgresql+psycopg://klartext@127.0.0.1:{port}/postgres"
    finally:
        _run(user, programs_in / "pg_ctl", "-D", base / "data", "-m", "immediate", "stop", check=False)
        if user:
            shutil.rmtree(base, ignore_errors=True)


def emptied(url: str) -> str:
    """Delete everything in a database, for the next test."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url


def _unprivileged() -> str | None:
    """Return the account to start the server as: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other account: run the tests as a user")


def _run(user: str | None, *command: str | Path, check: bool = True) -> None:
    subprocess.run([*map(str, command)], check=check, user=user, cwd="/", timeout=120, stdout=subprocess.DEVNULL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
