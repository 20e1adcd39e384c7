"""OpenID Connect and OAuth with a provider: a code for tokens, and what an id token proves, all within limits."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from bot.adapters.bounded_http import Answer, BoundedHttp, OddAnswer
from bot.adapters.oauth_tokens import basic
from bot.errors import LaunchFailed, MissingExtra
from bot.settings import LOOPBACK_HOSTS, SmartClient

DISCOVERY_S = 5.0  # somebody looks at an empty page meanwhile
EXCHANGE_S = 10.0  # likewise: token, keys and what is read with them together
AT_ONCE = 4  # that wait for a provider: one that hangs must not hold the threads that patients write in
PLACE_S = 1.0  # until one of these is free
LEEWAY_S = 60.0  # by which clocks may differ
# No HS*: with these the public key would be the secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
JSON = {"Accept": "application/json"}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a provider gets."""

    discovery_s: float = DISCOVERY_S
    exchange_s: float = EXCHANGE_S


@dataclass(frozen=True, slots=True)
class Proof:
    """What an id token must be of: issuer, its keys' address, the client it is for, and the nonce that was sent."""

    issuer: str
    keys: str
    client_id: str
    nonce: str


@dataclass(slots=True)
class OpenId:
    """Speaks to providers.

    Attributes:
        redirect: Where they send browsers back to, as registered.
    """

    redirect: str
    http: BoundedHttp
    limits: Limits = Limits()
    _free: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(AT_ONCE), repr=False)

    def ask(self, url: str, until_s: float, *, headers: Mapping[str, str] = JSON, form: bytes | None = None) -> Answer:
        """Return the answer of a provider; `form`: what to post.

        Raises:
            LaunchFailed: There is none in time, or the provider is in trouble.
        """
        left_s = until_s - time.monotonic()
        method = "GET" if form is None else "POST"
        try:
            reply = self.http.request(method, url, content=form or b"", headers=headers, deadline_s=left_s)
        except httpx.TimeoutException:
            raise LaunchFailed("down", "no answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise LaunchFailed("down", f"unreachable ({type(error).__name__})") from None
        except OddAnswer as error:
            raise LaunchFailed("unproven", str(error)) from None
        if reply.status >= 500 or reply.status == 429:
            raise LaunchFailed("down", f"answers with {reply.status}")
        return reply

    @contextmanager
    def place(self) -> Iterator[None]:
        if not self._free.acquire(timeout=PLACE_S):
            raise LaunchFailed("down", "too many launches wait for providers")
        try:
            yield
        finally:
            self._free.release()

    def exchange(self, client: SmartClient, endpoint: str, verifier: str, code: str, until_s: float) -> Json:
        """Return what the token endpoint says for a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "code_verifier": verifier,
        }
        headers = {**JSON, "Content-Type": "application/x-www-form-urlencoded"}
        if client.secret is None:
            form["client_id"] = client.client_id
        else:
            headers |= basic(client.client_id, client.secret)
        reply = self.ask(endpoint, until_s, headers=headers, form=urlencode(form).encode())
        said = json_object(reply, "the token endpoint's answer", any_status=True)
        if reply.status != 200:
            if said.get("error") == "invalid_grant":
                raise LaunchFailed("late", "the code is used, too old, or another client's")
            raise LaunchFailed("unproven", f"no token ({reply.status})")
        return said

    def claims(self, proof: Proof, token: str, until_s: float) -> Json:
        """Return what an id token says, if everything about it proves to be right."""
        import jwt

        keys = json_object(self.ask(proof.keys, until_s), "the key set")
        try:
            kid = jwt.get_unverified_header(token).get("kid")
            fitting = [key for key in jwt.PyJWKSet.from_dict(dict(keys)).keys if kid in (None, key.key_id)]
            if len(fitting) != 1:
                raise LaunchFailed("unproven", "the id token is signed with an unknown key")
            claims: Json = jwt.decode(
                token,
                fitting[0],
                algorithms=list(ALGORITHMS),
                audience=proof.client_id,
                issuer=proof.issuer,
                leeway=LEEWAY_S,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise LaunchFailed("unproven", f"the id token is not valid ({type(error).__name__})") from None
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), proof.nonce.encode()):
            raise LaunchFailed("unproven", "the id token is of another launch")
        if claims.get("azp", proof.client_id) != proof.client_id:
            raise LaunchFailed("unproven", "the id token is another client's")
        return claims


def require_jwt(feature: str, *, extra: str) -> None:
    """Raise MissingExtra when the library that verifies id tokens is not installed."""
    if find_spec("jwt") is None:
        raise MissingExtra(feature=feature, extra=extra)


def safe_address(value: object, *, near: bool) -> str:
    """Return an address that a configuration names, if it is encrypted, or on this machine as its server is."""
    if not isinstance(value, str):
        return ""
    try:
        found = urlsplit(value)
        host, _ = found.hostname, found.port
    except ValueError:
        return ""
    safe = found.scheme == "https" or (near and found.scheme == "http" and host in LOOPBACK_HOSTS)
    return value if safe and host and "@" not in found.netloc and not found.fragment else ""


def json_object(reply: Answer, what: str, *, any_status: bool = False) -> Json:
    """Return an answer as a JSON object; what is none, such as a page to log in, proves nothing."""
    try:
        found = reply.json() if any_status or reply.status == 200 else None
    except OddAnswer:
        found = None
    if not isinstance(found, dict):
        raise LaunchFailed("unproven", f"{what} is no JSON object ({reply.status})")
    return found
