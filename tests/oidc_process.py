"""A real OpenID provider as a process of its own: panva's oidc-provider in memory (`tests/oidc_server`).

It signs in people with accounts, and as a SMART on FHIR server launches patients with what stands in `launches` or at
their account. Clients have to be known when it starts, so free a port for them first (`free_port`).
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.node import node_process

FOLDER = Path(__file__).parent / "oidc_server"


@dataclass(frozen=True, slots=True)
class OidcServer:
    """A running provider."""

    issuer: str

    @property
    def fhir(self) -> str:
        """The base URL of its FHIR server."""
        return f"{self.issuer}/fhir"

    def behave(
        self,
        *,
        login: str | Mapping[str, bool] | None = None,
        fault: Mapping[str, object] | None = None,
        forge: Mapping[str, object] | None = None,
        leave_out: Sequence[str] = (),
    ) -> None:
        """Set how it behaves from now on; what is not given goes back to normal.

        Args:
            login: The account that is signed in without a form, `{"deny": True}` for nobody; default: that of the start.
            fault: By name of an address (discovery, auth, token, jwks, Patient, …): `hang`, `page` (of HTML),
                `elsewhere` (a redirection), or a status. `configuration`: what differs in the smart-configuration.
            forge: Of id tokens: `claims` that differ, and the `key` they are signed with (foreign, none, public).
            leave_out: Of the answer with the token.
        """
        given = {"login": login, "fault": fault, "forge": forge}
        said = {name: value for name, value in given.items() if value is not None} | {"leave_out": list(leave_out)}
        self._control("POST", said)

    def asked(self) -> list[str]:
        """Return which addresses were asked since the last time."""
        found: list[str] = self._control("GET")["asked"]
        self._control("DELETE")
        return found

    def _control(self, method: str, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
        reply = httpx.request(method, f"{self.issuer}/control", json=said, trust_env=False, verify=False, timeout=30)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found


def client(client_id: str, *redirects: str, secret: str = "") -> dict[str, object]:
    """Return a client to register: public, or with a secret."""
    kind = {"token_endpoint_auth_method": "none"} if not secret else {"client_secret": secret}
    return {"client_id": client_id, "redirect_uris": list(redirects), **kind}


@contextmanager
def oidc_process(
    clients: Sequence[Mapping[str, object]],
    accounts: Mapping[str, Mapping[str, object]],
    **more: object,
) -> Iterator[OidcServer]:
    """Run a provider.

    Args:
        clients: As OpenID registers them (`client`).
        accounts: By name: `password` for the form, `claims` (roles, name, fhirUser), `patient` that is launched with.
        more: `login` (see `behave`), `launches` by what an EHR hands in, `resources`, further `scopes`.
    """
    config = json.dumps({"clients": clients, "accounts": accounts, **more})
    with node_process(FOLDER, "oidc-provider", config) as port:
        yield OidcServer(f"http://127.0.0.1:{port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
