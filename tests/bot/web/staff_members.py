"""A service whose staff read calls, and members of staff at its API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from tests.bot.web.serving import Server

STAFF_TOKEN = "a-token-of-staff-with-32-characters-or-more"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of the staff, as the service sees them."""

    server: Server
    name: str = "Anna Keller"
    token: str = STAFF_TOKEN

    def inbox(self) -> dict[str, dict[str, Any]]:
        """Return the open calls by conversation."""
        answer = self.ask("GET", "inbox")
        assert answer.status_code == 200, answer.text
        return {call["conversation"]: call for call in answer.json()["calls"]}

    def live(self, conversation: str, **query: str) -> dict[str, Any]:
        answer = self.ask("GET", f"conversations/{conversation}", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def do(self, conversation: str, what: str, **body: Any) -> httpx.Response:
        """Acknowledge, take, message or return."""
        return self.ask("POST", f"conversations/{conversation}/{what}", json={"name": self.name, **body})

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        token = {"Authorization": f"Bearer {self.token}".encode()} if self.token else {}
        headers = {**token, **{name: value.encode() for name, value in more.pop("headers", {}).items()}}
        return httpx.request(method, f"{self.server.url}/staff/{path}", headers=headers, timeout=60, **more)
