"""Access tokens for a FHIR server: OAuth2 client credentials, by secret or by key (SMART Backend Services)."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import httpx

from bot.errors import MissingExtra, NotSent, UserFixable
from bot.settings import FhirAccess

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_LIVES_S = 240  # SMART allows five minutes
_EARLY_S = 30  # a token is replaced before it runs out on the way
_CURVES = {"secp384r1": "ES384"}


@dataclass(slots=True)
class Tokens:
    """Fetches a token when one is needed, and keeps it until shortly before it ends.

    Attributes:
        clock: Seconds since the epoch.
    """

    access: FhirAccess
    client: httpx.Client
    clock: Callable[[], float] = time.time
    _token: str = field(default="", repr=False)
    _until: float = 0.0

    def headers(self) -> dict[str, str]:
        """Return the header that a request needs; none without authentication.

        Raises:
            NotSent: The token endpoint gives none.
        """
        if self.access.auth == "none":
            return {}
        if not self._token or self.clock() >= self._until:
            self._fetch()
        return {"Authorization": f"Bearer {self._token}"}

    def forget(self) -> None:
        """The server does not take the token any more."""
        self._token = ""

    def _fetch(self) -> None:
        form = {"grant_type": "client_credentials", "scope": self.access.scope}
        url = self.access.token_url or ""
        try:
            reply = self.client.post(url, data=form | self._proof(url), headers=self._basic())
        except httpx.HTTPError as error:
            raise NotSent(f"token endpoint unreachable ({type(error).__name__})", verdict="down") from None
        found = _json(reply)
        token, kind = found.get("access_token"), str(found.get("token_type", "bearer"))
        if reply.status_code != 200 or not isinstance(token, str) or kind.lower() != "bearer":
            raise NotSent(f"no token ({reply.status_code})", verdict="down")
        lives = found.get("expires_in")
        # Without `expires_in` it is good for this request: SMART says five minutes at most.
        self._until = self.clock() + (lives if isinstance(lives, int) else _EARLY_S) - _EARLY_S
        self._token = token

    def _basic(self) -> dict[str, str]:
        if self.access.auth != "basic":
            return {}
        # RFC 6749 wants both encoded as form values before they are joined.
        pair = f"{quote_plus(self.access.client_id or '')}:{quote_plus(secret_of(self.access))}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _proof(self, url: str) -> dict[str, str]:
        if self.access.auth == "post":
            return {"client_id": self.access.client_id or "", "client_secret": secret_of(self.access)}
        if self.access.auth == "jwt":
            return {"client_assertion_type": _ASSERTION, "client_assertion": self._assertion(url)}
        return {}

    def _assertion(self, url: str) -> str:
        try:
            import jwt
            from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
            from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise MissingExtra(feature="Authentication with a private key", extra="fhir") from None
        pem = _read(self.access.key_file, "KLARTEXT_FHIR_KEY_FILE")
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError):
            raise UserFixable("KLARTEXT_FHIR_KEY_FILE holds no unencrypted private key in PEM format.") from None
        algorithm = "RS384" if isinstance(key, RSAPrivateKey) else ""
        if isinstance(key, EllipticCurvePrivateKey):
            algorithm = _CURVES.get(key.curve.name, "")
        if not algorithm or not isinstance(key, RSAPrivateKey | EllipticCurvePrivateKey):
            raise UserFixable("KLARTEXT_FHIR_KEY_FILE needs an RSA key (RS384) or one on the curve P-384 (ES384).")
        client, now = self.access.client_id or "", int(self.clock())
        claims = {"iss": client, "sub": client, "aud": url, "iat": now, "exp": now + _ASSERTION_LIVES_S}
        headers = {"kid": self.access.key_id} if self.access.key_id else {}
        return jwt.encode(claims | {"jti": secrets.token_hex(16)}, key, algorithm=algorithm, headers=headers)


def secret_of(access: FhirAccess) -> str:
    """Return the client's secret, from the environment or from its file."""
    if access.client_secret is not None:
        return access.client_secret
    return _read(access.client_secret_file, "KLARTEXT_FHIR_CLIENT_SECRET_FILE").decode(errors="replace").strip()


def _read(path: Path | None, setting: str) -> bytes:
    if path is None:
        raise UserFixable(f"{setting} is not set. KLARTEXT_FHIR_AUTH asks for it.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserFixable(f"{setting} names a file that cannot be read ({error.strerror}).") from None


def _json(reply: httpx.Response) -> Mapping[str, Any]:
    try:
        found = reply.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
