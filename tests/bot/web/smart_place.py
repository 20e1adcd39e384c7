"""A service that patients come to from a hospital's portal and EHR: a real one, beside a real OpenID provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from bot.adapters.sql_records import SqlRecords
from bot.ports import StoredConversation
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Server, always_open
from tests.oidc_process import OidcServer, free_port
from tests.smart_hospital import ACCESSIONS, APPOINTMENTS, ORDERS, PSEUDONYMS, hospital

AWAY = "http://127.0.0.1:9/fhir"  # nobody is there
KEY = "a-key-for-links-in-the-tests"


def environ_for(provider: OidcServer, port: int) -> dict[str, str]:
    """Return the settings of a service that patients come to from a provider."""
    return {
        "KLARTEXT_SMART": f"{provider.fhir} klartext, {AWAY} klartext",
        "KLARTEXT_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "KLARTEXT_LINK_KEY": KEY,
        "KLARTEXT_FHIR_PATIENT_SYSTEM": PSEUDONYMS,
        "KLARTEXT_FHIR_APPOINTMENT_SYSTEM": APPOINTMENTS,
        "KLARTEXT_FHIR_ORDER_SYSTEM": ORDERS,
        "KLARTEXT_FHIR_ACCESSION_SYSTEM": ACCESSIONS,
    }


@dataclass
class Place:
    """A service, and the provider of its hospital."""

    server: Server
    provider: OidcServer
    phone: str
    opened: list[Browser] = field(default_factory=list)

    def browser(self, language: str = "de") -> Browser:
        opened = Browser(self.server.url, language)
        opened.client.headers["Sec-Fetch-Site"] = "cross-site"  # as after a way through the provider
        self.opened.append(opened)
        return opened

    def ehr(self, launch: str) -> dict[str, str]:
        return {"iss": self.provider.fhir, "launch": launch}

    def conversation(self, session: str) -> StoredConversation:
        """Return what is stored of the conversation that a session cookie opens."""
        records = SqlRecords.open(f"sqlite:///{self.server.database()}")
        try:
            found = records.conversation(session.partition(".")[0])
        finally:
            records.close()
        assert found is not None
        return found

    def told(self) -> list[dict[str, object]]:
        """Return what staff read of launches in the log."""
        lines = [json.loads(line) for line in self.server.stderr().splitlines() if line.startswith("{")]
        return [line for line in lines if str(line["event"]).startswith("launch")]


@contextmanager
def launching_place(folder: Path, data: Path) -> Iterator[Place]:
    """Run both; the provider knows where the service will listen."""
    port = free_port()
    with hospital(f"http://127.0.0.1:{port}/smart/callback") as provider:
        site = always_open(folder)
        server = Server(folder, data, environ_for(provider, port) | site)
        server.start("--port", str(port))
        said = yaml.safe_load(Path(site["KLARTEXT_SITE"]).read_text(encoding="utf-8"))
        yield Place(server, provider, said["phone"])
        server.kill()
