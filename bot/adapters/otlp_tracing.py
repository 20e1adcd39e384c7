"""Traces by OpenTelemetry to a collector, as OTLP over HTTP. The optional extra `tracing` has the packages.

A span has a name and fields from fixed lists, and times: whoever makes one has nothing else to give. Exceptions are not
recorded, since their texts quote; nothing is read from the environment but what the collector wants as headers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.errors import MissingExtra

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

TIMEOUT_S = 5.0
SERVICE = "klartext"
TRACES = "/v1/traces"  # where collectors take them


@dataclass(frozen=True, slots=True)
class OtlpSpan:
    """Something that is under way."""

    span: Span

    def named(self, name: str) -> None:
        """Give it a name that was not known when it began."""
        self.span.update_name(name)

    def note(self, **fields: str | int) -> None:
        """Add what came of it."""
        for name, value in fields.items():
            self.span.set_attribute(f"{SERVICE}.{name}", value)


@dataclass(frozen=True, slots=True)
class OtlpTracer:
    """Sends spans in a thread of its own; whoever is traced waits for nothing."""

    provider: TracerProvider
    tracer: Tracer

    @classmethod
    def to(cls, url: str, version: str) -> OtlpTracer:
        """Trace to a collector.

        Raises:
            MissingExtra: The packages are not installed.
        """
        try:
            import requests
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ALWAYS_ON
        except ImportError:
            raise MissingExtra(feature="Tracing (KLARTEXT_OTLP_URL)", extra="tracing") from None
        session = requests.Session()
        session.trust_env = False  # no proxies and passwords from elsewhere
        address = url if urlsplit(url).path.strip("/") else url.rstrip("/") + TRACES
        exporter = OTLPSpanExporter(endpoint=address, timeout=TIMEOUT_S, session=session)
        # Not the process's: Chroma traces to that, and others may set it up.
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource({"service.name": SERVICE, "service.version": version}),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return cls(provider, provider.get_tracer(SERVICE, version))

    @contextmanager
    def span(self, name: str) -> Iterator[OtlpSpan]:
        """Trace what is done meanwhile, as a part of what is traced already in this context."""
        with self.tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            yield OtlpSpan(span)

    def end(self) -> None:
        """Send what is left."""
        self.provider.shutdown()
