"""The site's scanner: a real command, also one that hangs, does not read, or is not there."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from bot.adapters.upload_scanner import CommandScanner


def by_python(code: str, timeout_s: float = 20.0) -> CommandScanner:
    return CommandScanner((sys.executable, "-c", code), timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("import sys; sys.exit(0 if sys.stdin.buffer.read() == b'x' * 3_000_000 else 1)", True),
        ("import sys; sys.stdin.buffer.read(); sys.exit(1)", False),
        ("import sys; sys.exit(2)", False),  # it read nothing
        ("import os; os.kill(os.getpid(), 9)", False),
        ("import sys; sys.stdin.buffer.read(); print('noise' * 100_000)", True),
    ],
)
def test_only_zero_is_clean(code: str, verdict: bool) -> None:
    assert by_python(code)(b"x" * 3_000_000) is verdict


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    child = f"import time; time.sleep(1.5); open({str(mark)!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    started = time.monotonic()

    assert by_python(code, timeout_s=0.7)(b"x" * 3_000_000) is None

    assert time.monotonic() - started < 10
    time.sleep(2)
    assert not mark.exists()


def test_one_that_is_not_there_cannot_say() -> None:
    assert CommandScanner(("/nowhere/scan",))(b"x") is None


def test_it_learns_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLARTEXT_TEXT_KEY", "secret")

    assert by_python("import os, sys; sys.exit('KLARTEXT_TEXT_KEY' in os.environ)")(b"x") is True
