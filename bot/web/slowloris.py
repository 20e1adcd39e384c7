"""Uvicorn protocol with a receive deadline: whoever trickles bytes must not hold a connection for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bot.web.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES
from bot.web.middleware import HEADERS
from bot.web.problems import Problem, head_too_large, respond, unreadable

RECEIVE_S = 10.0  # from the first byte (or the connection) to the end of the body
PATIENCE = "klartext.receive_s"  # of a scope: how long its request may take instead, once it is known who sends it
MAX_UNREAD_BYTES = MAX_HEAD_BYTES + MAX_BODY_BYTES


# httptools' protocol where it is installed, else h11's: both have what is used here.
class ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's protocol, which closes connections whose request does not arrive in time, or whose head has no end."""

    cycle: Any
    transport: Any
    loop: asyncio.AbstractEventLoop
    _deadline: asyncio.TimerHandle | None = None
    _unread = 0
    _waited_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_receiving():
            self._unread += len(data)
            self._start()
            if self._unread > MAX_UNREAD_BYTES and self._awaits_head() and not self.transport.is_closing():
                self._refuse(head_too_large())
        else:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, which reaches no application: whoever sent it may be in danger, too."""
        self._refuse(unreadable())

    def _refuse(self, problem: Problem) -> None:
        answer = respond(problem)
        answer.headers.update({**HEADERS, "Connection": "close"})
        lines = [f"HTTP/1.1 {problem.status.value} {problem.status.phrase}".encode()]
        lines += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + bytes(answer.body))
        self.transport.close()

    def _awaits_head(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _is_receiving(self) -> bool:
        return self._awaits_head() or bool(self.cycle.more_body)

    def _start(self) -> None:
        if self._deadline is None:
            self._waited_s = RECEIVE_S
            self._deadline = self.loop.call_later(RECEIVE_S, self._give_up)

    def _stop(self) -> None:
        self._unread = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        allowed_s = RECEIVE_S if self._awaits_head() else self.cycle.scope.get(PATIENCE, RECEIVE_S)
        if self._waited_s < allowed_s:
            self._deadline = self.loop.call_later(allowed_s - self._waited_s, self._give_up)
            self._waited_s = allowed_s
            return
        if self._is_receiving() and not self.transport.is_closing():
            self.transport.close()
