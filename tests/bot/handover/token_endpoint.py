"""An OAuth2 token endpoint that really checks secrets and signatures, as RFC 6749, RFC 7523 and SMART ask."""

from __future__ import annotations

import base64
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote_plus

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

CLIENT, SECRET = "klartext+clinic", "s3cret:/ü +"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass
class TokenEndpoint:
    """What it knows of its client, and what it has given out.

    Attributes:
        keys: Public keys by key id.
        tokens: Given out so far.
        lives_s: What it says of a token's life.
    """

    keys: dict[str, RSAPublicKey | EllipticCurvePublicKey] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    lives_s: int = 300
    seen: set[str] = field(default_factory=set)
    scopes: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/token"

    def allows(self, authorization: str, form: dict[str, str]) -> bool:
        """Say whether a request comes from the client."""
        if form.get("grant_type") != "client_credentials" or not form.get("scope"):
            return False
        if authorization:
            user, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            return (unquote_plus(user), unquote_plus(password)) == (CLIENT, SECRET)
        if form.get("client_assertion_type") == _ASSERTION:
            return self._signed(form.get("client_assertion", ""))
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)

    def _signed(self, assertion: str) -> bool:
        try:
            key = self.keys[str(jwt.get_unverified_header(assertion).get("kid"))]
            claims = jwt.decode(
                assertion,
                key,
                algorithms=["RS384", "ES384"],
                audience=self.url,
                issuer=CLIENT,
                options={"require": ["iss", "sub", "aud", "exp", "jti"]},
            )
        except (jwt.PyJWTError, KeyError):
            return False
        fresh = claims["jti"] not in self.seen and claims["exp"] - claims["iat"] <= 300
        self.seen.add(claims["jti"])
        return fresh and claims["sub"] == CLIENT


def _handler(endpoint: TokenEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            allowed = self.path == "/token" and endpoint.allows(self.headers.get("Authorization", ""), form)
            answer: dict[str, object] = {"error": "invalid_client"}
            if allowed:
                endpoint.tokens.append(secrets.token_hex(8))
                endpoint.scopes.append(form["scope"])
                answer = {"access_token": endpoint.tokens[-1], "token_type": "Bearer", "expires_in": endpoint.lives_s}
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def token_endpoint() -> Iterator[TokenEndpoint]:
    """Run the endpoint."""
    endpoint = TokenEndpoint()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(endpoint))
    server.daemon_threads = True
    endpoint.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
