"""Middleware around every request: its id, security headers, limits by size and by address, one log line, the clock."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from bot.web.limits import MAX_BODY_BYTES, MAX_HEAD_BYTES, RateLimit
from bot.web.logs import REQUEST_ID
from bot.web.metrics import Metrics
from bot.web.problems import Problem, head_too_large, respond, too_large, too_many, unexpected, unreadable

log = logging.getLogger("klartext.web")

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
MAX_DIGITS = 18  # of a length: Python reads no numbers of thousands of digits
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
UNLIMITED = frozenset({"/healthz", "/livez", "/metrics"})  # asked by machines, all the time


CONSOLE = "/console"  # for staff
# For machines; everything else is the page.
MACHINES = ("/api/", "/webhooks/", "/staff/", "/healthz", "/livez", "/metrics")


ID_HEADER = "X-Request-ID"
GIVEN_ID = "klartext.request_id"  # of a scope: the id that a trusted proxy gave
WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without those that are misheard or misread: it is said on the telephone


def new_request_id() -> str:
    """Return a random id of 60 bits, such as ``4T7K-9QXM-2BVD``."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))


class Proxied:
    """Believes what trusted proxies say of a request: from where it comes, and its id."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self._forwarded = ProxyHeadersMiddleware(app, trusted_hosts=list(trusted))  # type: ignore[arg-type]  # ASGI 3

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] == "http" and client and client[0] in self._forwarded.trusted_hosts:
            given = [value for name, value in scope["headers"] if name == ID_HEADER.lower().encode()]
            if len(given) == 1 and WELL_FORMED.fullmatch(said := given[0].decode("latin-1")):
                scope[GIVEN_ID] = said
        await self._forwarded(scope, receive, send)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Side:
    """One part of the service: for machines, for patients, or for staff.

    Attributes:
        app: Answers.
        refuse: Makes what answers instead when a request is too much.
        headers: Of every answer that has none of that name.
    """

    app: ASGIApp
    refuse: Callable[[Problem], ASGIApp]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sides:
    """Who answers what.

    Attributes:
        machines: The API, and what watches the service.
        people: The page for patients: all addresses that are nobody else's.
        staff: The console; None where it is not served here.
    """

    machines: Side
    people: Side
    staff: Side | None = None

    def of(self, scope: Scope) -> Side:
        if self.staff is not None and is_console(scope):
            return self.staff
        return self.machines if scope.get("path", "").startswith(MACHINES) else self.people


def is_console(scope: Scope) -> bool:
    """Whether an address is one of the console's."""
    path = scope.get("path", "")
    return bool(path == CONSOLE or path.startswith(f"{CONSOLE}/"))


class Envelope:
    """The outermost application: nothing is answered without it, not even an error."""

    def __init__(
        self,
        sides: Sides,
        metrics: Metrics,
        addresses: RateLimit,
        most_bytes: Callable[[Scope], int | None] = lambda _: MAX_BODY_BYTES,
    ) -> None:
        """`most_bytes` says how long the body of a request may be; None where whoever reads it says that."""
        self._sides = sides
        self._metrics = metrics
        self._addresses = addresses
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        side = self._sides.of(scope)
        if scope["type"] != "http":
            await side.app(scope, receive, send)
            return
        started_s = time.perf_counter()
        status, is_begun = 500, False
        named = REQUEST_ID.set(scope.get(GIVEN_ID) or new_request_id())
        headers = {**side.headers, ID_HEADER: REQUEST_ID.get()}

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with(message.get("headers", []), headers)
            await send(message)

        async def send_first(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            await send_with_headers(message)

        try:
            refusal = self._refusal(scope)
            app = side.refuse(refusal) if refusal else side.app
            await app(scope, receive, send_first)
        except Exception:
            # What answers errors may fail, too: then the plainest answer there is, with whom to call.
            log.exception("a request failed")
            if not is_begun:
                await respond(unexpected())(scope, receive, send_with_headers)
        finally:
            self._note(scope, status, time.perf_counter() - started_s)
            REQUEST_ID.reset(named)

    def _refusal(self, scope: Scope) -> Problem | None:
        """Refuse what is too much before any of it is read. (Bodies that hide their size are cut off by FastAPI.)"""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
            return head_too_large()
        length = dict(scope["headers"]).get(b"content-length", b"0").strip()
        if not length.isdigit():
            return unreadable()
        digits = length.lstrip(b"0")
        most = self._most_bytes(scope)
        if len(digits) > MAX_DIGITS or (most is not None and int(digits or b"0") > most):
            return too_large()
        wait_s = 0.0 if scope["path"] in UNLIMITED else self._addresses.wait_s(address_of(scope))
        return too_many(wait_s) if wait_s else None

    def _note(self, scope: Scope, status: int, elapsed_s: float) -> None:
        # The route, not the address: what somebody typed behind the host's name is nobody's business.
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.request(method, route, status, elapsed_s)
        if scope["path"] not in UNLIMITED:
            fields = {"method": method, "route": route, "status": status, "elapsed_ms": round(elapsed_s * 1000, 1)}
            log.info("request", extra={"fields": fields})


def _with(given: Iterable[tuple[bytes, bytes]], headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    there = list(given)
    names = {name.lower() for name, _ in there}
    further = ((name.lower().encode(), value.encode()) for name, value in headers.items())
    return [*there, *(header for header in further if header[0] not in names)]


def address_of(scope: Scope) -> str:
    """Return whom the limit is for. Whoever has one IPv6 address has all of its /64, so these count as one."""
    client = scope.get("client")
    try:
        found = ip_address(client[0] if client else "")
    except ValueError:  # a proxy that says nonsense gets no limit of its own for it
        return "unknown"
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
