"""Single keys from a terminal; whole lines where there is none."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

ENTER, BACK, LEFT, NOTHING = "enter", "back", "left", ""
_NAMED = {b"\r": ENTER, b"\n": ENTER, b"\x7f": BACK, b"\x08": BACK, b"\x1b": BACK, b"\x1b[D": LEFT, b"\x1bOD": LEFT}
_ESCAPE_S = 0.03  # how long the rest of an arrow key may take


class Keyboard:
    """A terminal that gives each key at once. Ctrl-D and a closed terminal raise EOFError."""

    def __init__(self, descriptor: int, usual: list[Any]) -> None:
        self._descriptor = descriptor
        self._usual = usual  # the mode that the terminal came in

    def key(self) -> str:
        """Wait for a key: a lower-case character, a name above, or `NOTHING` for any other key."""
        self._single_keys()
        raw = os.read(self._descriptor, 1)
        if raw in (b"", b"\x04"):
            raise EOFError
        if raw == b"\x1b":
            while select.select([self._descriptor], [], [], _ESCAPE_S)[0] and len(raw) < 8:
                raw += os.read(self._descriptor, 1)
        elif raw[0] >= 0xC0:  # the rest of a character outside ASCII
            raw += os.read(self._descriptor, 1 if raw[0] < 0xE0 else 2 if raw[0] < 0xF0 else 3)
        text = raw.decode("utf-8", "ignore")
        return _NAMED.get(raw, text.lower() if text.isprintable() else NOTHING)

    def line(self, prompt: str) -> str:
        """Let the rater type a line, with the usual keys for mending it."""
        import termios

        with suppress(ImportError):
            import readline  # noqa: F401  # input() then knows arrow keys, and a letter of two bytes is one letter
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._usual)
        while True:
            with suppress(UnicodeDecodeError):
                return input(prompt).strip()

    def _single_keys(self) -> None:
        """Set each time anew: after Ctrl-Z a shell may hand the terminal back as it likes it."""
        import termios

        mode = termios.tcgetattr(self._descriptor)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)  # keys typed ahead are kept


@contextmanager
def open_keyboard() -> Iterator[Keyboard | None]:
    """Yield the keyboard of the terminal; None when standard input is a file or a pipe, or on Windows."""
    if sys.platform == "win32" or not _is_terminal():
        yield None
        return
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        yield Keyboard(descriptor, before)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _is_terminal() -> bool:
    try:
        return os.isatty(sys.stdin.fileno())
    except (OSError, ValueError):
        return False
