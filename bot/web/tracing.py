"""What is traced of the service, where a site wants that: requests, turns, storing, delivery. No text, id or address.

Wrapped around what does it, so that nothing of it knows, and nothing is there without `KLARTEXT_OTLP_URL`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.errors import NotSent
from bot.handover.causes import cause_of
from bot.outbox_ports import FhirServer
from bot.ports import Records, StoredConversation
from bot.talk.conversation import Message as Said
from bot.talk.conversation import Taken
from bot.talk.reception import Reception
from bot.web.middleware import METHODS, UNLIMITED

if TYPE_CHECKING:
    from bot.adapters.otlp_tracing import OtlpTracer


@dataclass(frozen=True, slots=True)
class TracedApp:
    """The application, with a span for each request, called as its route."""

    app: ASGIApp
    tracer: OtlpTracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNLIMITED:
            await self.app(scope, receive, send)
            return
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self.tracer.span("request") as span:
            try:
                await self.app(scope, receive, send_noted)
            finally:
                method = scope["method"] if scope["method"] in METHODS else "other"
                # The route, never the address: ids stand in that.
                span.named(f"{method} {getattr(scope.get('route'), 'path', 'unknown')}")
                span.note(status=status)


@dataclass(frozen=True)
class TracedReception(Reception):
    """The reception, with a span for each turn: what was decided, and within it what storing takes."""

    tracer: OtlpTracer | None = None

    @classmethod
    def around(cls, reception: Reception, tracer: OtlpTracer) -> TracedReception:
        given = {each.name: getattr(reception, each.name) for each in fields(reception)}
        given["records"] = cast(Records, _TracedRecords(reception.records, tracer))
        return cls(**given, tracer=tracer)

    def take(self, opened: StoredConversation, message: Said) -> Taken:
        if self.tracer is None:
            return super().take(opened, message)
        with self.tracer.span("decision") as span:
            taken = super().take(opened, message)
            span.note(decision=taken.turn.decision)
            return taken


class _TracedRecords:
    """Records, with a span where a turn is stored."""

    def __init__(self, records: Records, tracer: OtlpTracer) -> None:
        self._records = records
        self._tracer = tracer

    def add_turn(self, *given: Any, **named: Any) -> None:
        with self._tracer.span("storing"):
            self._records.add_turn(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


@dataclass(frozen=True, slots=True)
class TracedFhirServer:
    """A FHIR server, with a span for each transaction that is sent to it, and why it was not taken."""

    server: FhirServer
    tracer: OtlpTracer

    def check(self) -> None:
        self.server.check()

    def send(self, bundle: str, *, again: bool = False) -> None:
        with self.tracer.span("delivery") as span:
            outcome = "failed"
            try:
                self.server.send(bundle, again=again)
                outcome = "taken"
            except NotSent as error:
                outcome = cause_of(error.reason)
                raise
            finally:
                span.note(outcome=outcome, again=int(again))

    def close(self) -> None:
        self.server.close()
