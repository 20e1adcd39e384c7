"""Scan uploaded files by a command of the site, such as ``clamdscan --no-summary -``."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
from contextlib import suppress

log = logging.getLogger("klartext")
SCAN_S = 30.0


class CommandScanner:
    """Runs a command for each file: its bytes on standard input, 0 when it is clean."""

    def __init__(self, command: tuple[str, ...], *, timeout_s: float = SCAN_S) -> None:
        self._command = command
        self._timeout_s = timeout_s

    def __call__(self, content: bytes) -> bool | None:
        """Return whether a file is clean; None when the scanner could not say in time, or at all."""
        try:
            # What it prints may quote the file; its environment holds none of our secrets.
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
            )
        except OSError as error:
            log.error("the scanner of uploads cannot be started: %s", error.strerror)
            return None
        try:
            process.communicate(content, timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            log.error("the scanner of uploads took longer than %g seconds", self._timeout_s)
            _end(process)
            return None
        return process.returncode == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a scanner with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
    if process.stdin is not None:
        with suppress(OSError):  # what it did not read
            process.stdin.close()
