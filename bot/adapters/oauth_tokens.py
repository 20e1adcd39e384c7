"""Access tokens for a FHIR server: OAuth2 client credentials, by secret or by key (SMART Backend Services)."""

from __future__ import annotations

import base64
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import httpx

from bot.adapters.bounded_http import Answer, BoundedHttp, OddAnswer
from bot.errors import MissingExtra, NotSent, UserFixable
from bot.settings import FhirAccess

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_LIVES_S = 240  # SMART allows five minutes
_EARLY_S = 30  # a token is replaced before it runs out on the way
_LONGEST_S = 24 * 60 * 60  # nothing that an endpoint says is believed for longer
TIMEOUT_S = 30.0
_CURVES = {"secp384r1": "ES384"}
_TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header can carry


@dataclass(slots=True)
class Tokens:
    """Fetches a token when one is needed, and keeps it until shortly before it ends.

    Attributes:
        clock: Seconds since the epoch.
    """

    access: FhirAccess
    client: BoundedHttp
    clock: Callable[[], float] = time.time
    _held: tuple[str, float] = field(default=("", 0.0), repr=False)

    def headers(self, *, deadline_s: float = TIMEOUT_S) -> dict[str, str]:
        """Return the header that a request needs; none without authentication.

        Several threads may each fetch a token at the same time: no delivery waits for that of another.

        Raises:
            NotSent: The token endpoint gives none, or not in time.
        """
        if self.access.auth == "none":
            return {}
        token, until = self._held
        if not token or self.clock() >= until:
            token = self._fetch(deadline_s)
        return {"Authorization": f"Bearer {token}"}

    def forget(self) -> None:
        """The server does not take the token any more."""
        self._held = ("", 0.0)

    def _fetch(self, deadline_s: float) -> str:
        url = self.access.token_url or ""
        form = {"grant_type": "client_credentials", "scope": self.access.scope} | self._proof(url)
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"} | self._basic()
        try:
            content = urlencode(form).encode()
            reply = self.client.request("POST", url, content=content, headers=headers, deadline_s=deadline_s)
        except (httpx.HTTPError, OddAnswer) as error:
            raise NotSent(f"token endpoint unreachable ({type(error).__name__})", verdict="down") from None
        found = _json(reply)
        token = access_token(found)
        if reply.status != 200 or token is None:
            raise NotSent(f"no token ({reply.status})", verdict="down")
        said = found.get("expires_in")
        lives = min(said, _LONGEST_S) if isinstance(said, int) else _EARLY_S
        # Without `expires_in` it is good for this request: SMART says five minutes at most.
        self._held = (token, self.clock() + lives - _EARLY_S)
        return token

    def _basic(self) -> dict[str, str]:
        if self.access.auth != "basic":
            return {}
        return basic(self.access.client_id or "", secret_of(self.access))

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


def basic(client_id: str, secret: str) -> dict[str, str]:
    """Return the header by which a client proves who it is."""
    # RFC 6749 wants both encoded as form values before they are joined.
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def access_token(found: Mapping[str, Any]) -> str | None:
    """Return the token of a token endpoint's answer; None where there is none that a header can carry."""
    token, kind = found.get("access_token"), str(found.get("token_type", "bearer"))
    return token if isinstance(token, str) and _TOKEN.fullmatch(token) and kind.lower() == "bearer" else None


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


def _json(reply: Answer) -> Mapping[str, Any]:
    try:
        found = reply.json()
    except OddAnswer:
        return {}
    return found if isinstance(found, dict) else {}
