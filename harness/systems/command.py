"""Ask a command that reads JSON lines and writes one for each, as `klartext answer` does."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TextIO
from uuid import uuid4

from bot import Unreachable
from harness.systems.description import CommandFile
from harness.systems.system import Begin, Failure, Reply


class CommandSystem:
    """A process under test. After a fault it is started anew, so that no late answer is taken for another's."""

    def __init__(
        self, system: CommandFile, identity: dict[str, str], read: Callable[[Any, float], Reply | Failure]
    ) -> None:
        self.identity = identity
        self.turns = system.conversations
        self._system = system
        self._read = read
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Reply | Failure]:
        for text in texts:
            yield self.say(text, {"lang": language, **_place(self.turns, uuid4().hex, 1)})

    def say(self, text: str, about: dict[str, Any]) -> Reply | Failure:
        """Send one message with what is known `about` it; return what came back."""
        started = time.perf_counter()
        said = self._exchange(text, about)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        if isinstance(said, _Fault):
            self.close()
            return Failure(str(said), elapsed_ms)
        return self._read(said, elapsed_ms)

    @contextmanager
    def chats(self, language: str) -> Iterator[Begin]:
        """Yield what begins chats; a command that does not know conversations remembers nothing in them."""
        yield lambda: nullcontext(CommandChat(self, language, uuid4().hex))

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        # The whole session: a shell's children would go on, and hold the pipe open.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):  # what was not yet written cannot be written any more
                process.stdin.close()

    def _exchange(self, text: str, about: dict[str, Any]) -> Any:
        process = self._running()
        question = json.dumps({"question": text, **about})  # escaped: any text is one line of ASCII
        try:
            if process.stdin is not None:  # it is a pipe, which the type does not say
                process.stdin.write(question + "\n")
                process.stdin.flush()
            line = self._lines.get(timeout=self._system.timeout_s)
        except OSError:
            line = ""
        except queue.Empty:
            return _Fault(f"no answer within {self._system.timeout_s:g} s")
        if not line.endswith("\n"):
            return _Fault(f"the command ended with exit code {_exit_code(process)}")
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return _Fault("no JSON")
        if isinstance(record, dict) and record.get("question", text) != text:
            return _Fault("the answer is to another question")
        return record

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._system.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                    # A Python command that forgets to flush would otherwise keep its answers to itself.
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
            except OSError as error:
                raise Unreachable(
                    f"The command {self._system.command[0]!r} cannot be started ({error.strerror}). "
                    "Correct `command` in the system's file."
                ) from error
            self._lines = queue.SimpleQueue()
            threading.Thread(target=_pass_on, args=(self._process.stdout, self._lines), daemon=True).start()
        return self._process


@dataclass
class CommandChat:
    """A conversation in one language with a command."""

    system: CommandSystem
    language: str
    id: str
    said: int = 0

    def say(self, text: str) -> Reply | Failure:
        self.said += 1
        return self.system.say(text, {"lang": self.language, **_place(self.system.turns, self.id, self.said)})


def _place(turns: bool, conversation: str, turn: int) -> dict[str, Any]:
    return {"conversation": conversation, "turn": turn} if turns else {}


class _Fault(str):
    """Why a question was not answered; never quotes it."""

    __slots__ = ()


def _pass_on(stream: TextIO, lines: queue.SimpleQueue[str]) -> None:
    """Put lines where they can be waited for; an empty one says that the stream has ended."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")


def _exit_code(process: subprocess.Popen[str]) -> int | str:
    try:
        return process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return "none, but closed its output"
