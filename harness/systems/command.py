"""Ask a command that reads JSON lines and writes one for each, as `klartext answer` does."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import IO, Any
from uuid import uuid4

from bot import Unreachable
from harness.console import printable
from harness.files import without_controls
from harness.systems.description import CommandFile
from harness.systems.system import Begin, Failure, Reply

LONGEST_LINE = 10_000_000  # bytes of one answer
LONGEST_COMPLAINT = 200  # characters of what a command says on standard error
REMEMBERED = 10  # messages that a command may still quote in what it says on standard error
LONGEST_SEEN = 2_000  # characters of it that are looked at
SURE = 4  # characters of a word that tell it apart where it stands in a longer one, or is cut
_WORD = re.compile(r"\w+")
_STEERING = re.compile(r"::+|##+")  # with these, lines are commands to a CI server


class CommandSystem:
    """A process under test. After a fault it is started anew, so that no late answer is taken for another's."""

    def __init__(
        self, system: CommandFile, identity: dict[str, str], read: Callable[[Any, float], Reply | Failure]
    ) -> None:
        self.identity = identity
        self.turns = system.conversations
        self._system = system
        self._read = read
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaints = _Complaints()
        self._told: deque[str] = deque(maxlen=REMEMBERED)

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Reply | Failure]:
        for text in texts:
            yield self.say(text, {"lang": language, **_place(self.turns, uuid4().hex, 1)})

    def say(self, text: str, about: dict[str, Any]) -> Reply | Failure:
        """Send one message with what is known `about` it; return what came back."""
        self._told.append(text)
        started = time.perf_counter()
        said = self._exchange(text, about)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        if isinstance(said, _Fault):
            self.close()
            complaint = unquoting(self._complaints.last(), self._told)
            return Failure(f"{said}; it says: {complaint}" if complaint else str(said), elapsed_ms)
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
                process.stdin.write(question.encode() + b"\n")
                process.stdin.flush()
            line = self._lines.get(timeout=self._system.timeout_s)
        except OSError:
            line = b""
        except queue.Empty:
            return _Fault(f"no answer within {self._system.timeout_s:g} s")
        if len(line) >= LONGEST_LINE:
            return _Fault(f"an answer of more than {LONGEST_LINE // 1_000_000} MB")
        if not line.endswith(b"\n"):
            return _Fault(f"the command ended with exit code {_exit_code(process)}")
        try:
            record = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError:
            return _Fault("not UTF-8")
        except (ValueError, RecursionError):
            return _Fault("no JSON")
        if isinstance(record, dict) and record.get("question", text) != text:
            return _Fault("the answer is to another question")
        return record

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._system.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
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
            self._complaints = _Complaints()
            if self._process.stderr is not None:  # it is a pipe, which the type does not say
                self._complaints.listen(self._process.stderr)
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


class _Complaints:
    """What a process says on standard error: read, so that it never waits, and all but the last line forgotten."""

    def __init__(self) -> None:
        self._line = b""
        self._thread: threading.Thread | None = None

    def listen(self, stream: IO[bytes]) -> None:
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def last(self) -> str:
        """Return the last line of a process that has ended; a child of it that goes on is not waited for."""
        if self._thread is not None:
            self._thread.join(timeout=1)
        return self._line.decode("utf-8", "replace")

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in iter(lambda: stream.readline(4 * LONGEST_SEEN), b""):
                self._line = line if line.strip() else self._line


def unquoting(complaint: str, told: Iterable[str]) -> str:
    """Return what a command complains of in one short line, without a word of what it was told.

    Programs quote whole, cut, escaped and as bytes, so that every word goes that stands in a message. A row of them is
    one ellipsis.
    """
    heard = " ".join(
        form
        for text in told
        for form in (text, ascii(text), json.dumps(text), repr(text.encode("utf-8", "replace"))[1:])
    )
    words = set(_WORD.findall(heard.casefold()))
    whole, long = " ".join(words), [word for word in words if len(word) >= SURE]

    def masked(found: re.Match[str]) -> str:
        word = found[0].casefold()
        part = len(word) >= SURE and (word in whole or any(one in word for one in long))
        return "…" if part or word in words else found[0]

    seen = printable(" ".join(without_controls(complaint).split()))[:LONGEST_SEEN]
    line = " ".join(_STEERING.sub(" ", seen).split())
    line = re.sub(r"…(?:\W*…)+", "…", _WORD.sub(masked, line))
    return line if len(line) <= LONGEST_COMPLAINT else f"{line[: LONGEST_COMPLAINT - 1]}…"


def _pass_on(stream: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Put lines where they can be waited for; an empty one says that the stream has ended."""
    with stream:
        for line in iter(lambda: stream.readline(LONGEST_LINE), b""):
            lines.put(line)
    lines.put(b"")


def _exit_code(process: subprocess.Popen[bytes]) -> int | str:
    try:
        return process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return "none, but closed its output"
