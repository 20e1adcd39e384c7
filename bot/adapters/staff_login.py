"""Log staff in by the hospital's OpenID provider: a code with PKCE, and an id token that proves who it is."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bot.adapters.openid import Json, OpenId, Proof, json_object, require_jwt, safe_address
from bot.editorial.identity import StaffLogin
from bot.editorial.login import PendingLogin
from bot.errors import LaunchFailed
from bot.private_files import secret_in
from bot.settings import LOOPBACK_HOSTS, SmartClient

REMEMBERED_S = 300.0  # a configuration


@dataclass(slots=True)
class OpenIdLogin:
    """Fulfils `bot.editorial.login.Identity`."""

    login: StaffLogin
    openid: OpenId
    _known: tuple[float, Json] = field(default=(0.0, {}), repr=False)

    def __post_init__(self) -> None:
        require_jwt("KLARTEXT_STAFF_LOGIN", extra="staff")

    def begin(self) -> tuple[str, PendingLogin]:
        provider = self._provider(time.monotonic() + self.openid.limits.discovery_s)
        pending = PendingLogin(*(secrets.token_urlsafe(32) for _ in range(3)))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(pending.verifier.encode()).digest()).rstrip(b"=").decode()
        said = {
            "response_type": "code",
            "client_id": self.login.client_id,
            "redirect_uri": self.openid.redirect,
            "scope": " ".join(["openid", "profile", *([self.login.claim] if self.login.claim == "roles" else [])]),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        address = str(provider["authorization_endpoint"])
        return f"{address}{'&' if '?' in address else '?'}{urlencode(said)}", pending

    def finish(self, pending: PendingLogin, code: str) -> Json:
        with self.openid.place():
            until_s = time.monotonic() + self.openid.limits.exchange_s
            provider = self._provider(until_s)
            client = SmartClient(self.login.issuer, self.login.client_id, self._secret())
            said = self.openid.exchange(client, str(provider["token_endpoint"]), pending.verifier, code, until_s)
            token = said.get("id_token")
            if not isinstance(token, str):
                raise LaunchFailed("unproven", "no id token")
            proof = Proof(str(provider["issuer"]), str(provider["jwks_uri"]), client.client_id, pending.nonce)
            return self.openid.claims(proof, token, until_s)

    def _secret(self) -> str | None:
        file = self.login.secret_file
        return secret_in(Path(file), "KLARTEXT_STAFF_LOGIN") if file else None

    def _provider(self, until_s: float) -> Json:
        read_s, known = self._known
        if known and time.monotonic() < read_s + REMEMBERED_S:
            return known
        issuer = self.login.issuer.rstrip("/")
        said = json_object(self.openid.ask(f"{issuer}/.well-known/openid-configuration", until_s), "the configuration")
        near = urlsplit(issuer).hostname in LOOPBACK_HOSTS
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not safe_address(said.get(name), near=near):
                raise LaunchFailed("unproven", "the configuration has no safe endpoints")
        if str(said.get("issuer", "")).rstrip("/") != issuer:
            raise LaunchFailed("unproven", "the configuration is another issuer's")
        self._known = (time.monotonic(), said)
        return said

    def close(self) -> None:
        """Let the connections to the provider go."""
        self.openid.http.close()
