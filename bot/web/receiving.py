"""Receive files before anything else is done with their request: who may send, how many at once, for how long.

Only patients whose conversation is open get more time and room than a message does. What arrives is looked at and
scanned here, so that neither a slow sender nor a slow scanner holds a place in the line of those who write.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message as Head
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.settings import Uploads
from bot.talk.reception import Reception
from bot.talk.uploads import FileLimits, FileRefused, SentFile, look_at
from bot.web.limits import MAX_BODY_BYTES
from bot.web.page.app import FILE
from bot.web.page.visit import FORM, MULTIPART, read_visit
from bot.web.slowloris import PATIENCE

log = logging.getLogger("klartext")
PAGE = "/upload"
API = re.compile(r"/api/v1/conversations/([0-9a-f]{32})/turns/[A-Za-z0-9_-]{1,64}/file")
RECEIVE_S = 120.0  # a photo over a bad mobile connection
AT_ONCE = 4  # files being received or scanned in this process
# What is too large is read on for a while and thrown away: a browser that may not finish sending shows no answer.
SWALLOWED = 20  # times as much as may be sent
_HEAD_BYTES = 8 * 1024  # of one part of a form
_PARAMETER = re.compile(rb'\b(name|filename)="([^"\r\n]*)"')


def takes_file(scope: Scope) -> bool:
    """Say whether a request is for sending a file."""
    path, method = scope.get("path", ""), scope.get("method", "")
    return (method == "POST" and path == PAGE) or (method == "PUT" and API.fullmatch(path) is not None)


@dataclass(slots=True)
class Gate:
    """Lets files in; only for the thread of the event loop.

    Attributes:
        reception: Knows who may open a conversation.
        uploads: What is taken.
        is_clean: Scans a file; None where the site takes them without.
        framing: Whether other sites may show the page.
        receive_s: How long a file may take to arrive.
    """

    reception: Reception
    uploads: Uploads
    is_clean: Callable[[bytes], bool | None] | None
    framing: bool = False
    receive_s: float = RECEIVE_S
    _sending: set[str] = field(default_factory=set)

    @property
    def most_bytes(self) -> int:
        """Of a body with a file in it."""
        return self.uploads.most_bytes + MAX_BODY_BYTES

    @property
    def limits(self) -> FileLimits:
        return FileLimits(self.uploads.kinds, self.uploads.most_bytes)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application whose requests with files come with the file in their scope, and a short body."""

        async def gated(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and takes_file(scope):
                scope, receive = await self._received(scope, receive)
            await app(scope, receive, send)

        return gated

    async def _received(self, scope: Scope, receive: Receive) -> tuple[Scope, Receive]:
        conversation = await run_in_threadpool(self._admitted, Request(scope))
        if not conversation:
            return _with_body(scope, b""), _sent_once(b"")  # whoever answers finds that nobody is there
        if conversation in self._sending or len(self._sending) >= AT_ONCE:
            return {**_with_body(scope, b""), FILE: FileRefused("busy")}, _sent_once(b"")
        self._sending.add(conversation)
        try:
            scope[PATIENCE] = self.receive_s
            body, is_whole = await self._body(receive)
            fields, found = await run_in_threadpool(self._looked_at, scope, body, is_whole)
        finally:
            self._sending.discard(conversation)
        return {**_with_body(scope, fields), FILE: found}, _sent_once(fields)

    def _admitted(self, request: Request) -> str:
        """Return the id of the conversation that the request may send to; empty for none."""
        api = API.fullmatch(request.url.path)
        if api is not None:
            kind, _, secret = request.headers.get("authorization", "").partition(" ")
            known = (api[1], secret.strip()) if kind.lower() == "bearer" else None
        else:
            try:
                visit = read_visit(request, b"", framing=self.framing)
            except ValueError:
                return ""
            known = visit.conversation if visit.own_form else None
        opened = self.reception.admitted(*known) if known is not None else None
        return opened.id if opened is not None else ""

    async def _body(self, receive: Receive) -> tuple[bytes, bool]:
        """Return the body, and whether that is all of it; of one that is too large, or breaks off, its beginning."""
        body, length, more = bytearray(), 0, True
        try:
            async with asyncio.timeout(self.receive_s):
                while more and length <= SWALLOWED * self.most_bytes:
                    message = await receive()
                    chunk = message.get("body", b"")
                    length += len(chunk)
                    body += chunk
                    if length > self.most_bytes:
                        del body[MAX_BODY_BYTES:]
                    more = message.get("more_body", False) or message["type"] == "http.disconnect"
                    if message["type"] == "http.disconnect":
                        break
        except TimeoutError:
            pass
        return bytes(body), not more and length <= self.most_bytes

    def _looked_at(self, scope: Scope, body: bytes, is_whole: bool) -> tuple[bytes, SentFile | FileRefused]:
        """Return the fields that came with a file, and the file or why it is refused."""
        headers = Request(scope).headers
        if scope["path"] == PAGE:
            fields, name, content = multipart_form(headers.get("content-type", ""), body)
        else:
            fields, name, content = [], _name(headers.get("content-disposition", "")), body
        try:
            if not is_whole:
                raise FileRefused("size", self.limits)
            found: SentFile | FileRefused = look_at(content, name, limits=self.limits, is_clean=self.is_clean)
        except FileRefused as refused:
            log.info("file refused", extra={"fields": {"reason": refused.reason}})
            found = refused
        return urlencode(fields).encode(), found


def _with_body(scope: Scope, body: bytes) -> Scope:
    """Return a request as if a short form had been sent."""
    kept = [each for each in scope["headers"] if each[0] not in (b"content-type", b"content-length")]
    return {
        **scope,
        "headers": [*kept, (b"content-type", FORM.encode()), (b"content-length", str(len(body)).encode())],
    }


def _sent_once(body: bytes) -> Receive:
    messages: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        return next(messages, {"type": "http.disconnect"})

    return receive


def multipart_form(kind: str, body: bytes) -> tuple[list[tuple[str, str]], str, bytes]:
    """Return the fields, the name and the bytes of the file of a multipart form; what cannot be read is left out."""
    head = Head()
    head["content-type"] = kind
    boundary = head.get_param("boundary")
    if head.get_content_type() != MULTIPART or not isinstance(boundary, str) or not 0 < len(boundary) <= 70:
        return [], "", b""
    fields, name, content = list[tuple[str, str]](), "", b""
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1", "replace"))[1:-1]:
        lines, parted, value = part.partition(b"\r\n\r\n")
        if not parted or len(lines) > _HEAD_BYTES:
            continue
        said = {key: text.decode("utf-8", "replace") for key, text in _PARAMETER.findall(lines)}
        if b"filename" in said:
            name, content = said[b"filename"], value
        elif len(value) <= MAX_BODY_BYTES:
            fields.append((said.get(b"name", ""), value.decode("utf-8", "replace")))
    return fields, name, content


def _name(disposition: str) -> str:
    head = Head()
    head["content-disposition"] = disposition.replace("\r", " ").replace("\n", " ")
    try:
        return head.get_filename("")
    except (ValueError, LookupError):  # a character set that nobody knows
        return ""
