"""Access tokens from an endpoint that really checks secrets and signatures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from bot.adapters.bounded_http import BoundedHttp
from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.oauth_tokens import Tokens
from bot.errors import MissingExtra, NotSent, UserFixable
from bot.outbox_ports import Patience
from bot.settings import FhirAccess
from tests.bot.adapters.test_fhir_server import BUNDLE, DONE, scripted
from tests.bot.handover.token_endpoint import CLIENT, SECRET, TokenEndpoint, token_endpoint

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
P384 = ec.generate_private_key(ec.SECP384R1())


@pytest.fixture
def endpoint() -> Iterator[TokenEndpoint]:
    with token_endpoint() as running:
        yield running


@pytest.fixture
def client() -> Iterator[BoundedHttp]:
    made = BoundedHttp()
    yield made
    made.close()


def _access(endpoint: TokenEndpoint, **further: object) -> FhirAccess:
    base = FhirAccess(url="http://127.0.0.1/fhir", token_url=endpoint.url, client_id=CLIENT, client_secret=SECRET)
    return replace(base, **further)  # type: ignore[arg-type]


def _written(key: PrivateKey, path: Path, password: bytes | None = None) -> Path:
    locked = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked))
    return path


@pytest.mark.parametrize("auth", ["basic", "post"])
def test_a_secret_gets_a_token(auth: str, endpoint: TokenEndpoint, client: BoundedHttp) -> None:
    headers = Tokens(_access(endpoint, auth=auth), client).headers()

    assert headers == {"Authorization": f"Bearer {endpoint.tokens[0]}"}
    assert endpoint.scopes == ["system/*.crus"]


def test_a_secret_may_lie_in_a_file(endpoint: TokenEndpoint, client: BoundedHttp, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n", encoding="utf-8")
    access = _access(endpoint, auth="basic", client_secret=None, client_secret_file=tmp_path / "secret")

    assert Tokens(access, client).headers()["Authorization"].startswith("Bearer ")


@pytest.mark.parametrize("key", [RSA, P384], ids=["RS384", "ES384"])
def test_a_key_gets_a_token_by_a_signed_assertion_that_is_new_each_time(
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, endpoint: TokenEndpoint, client: BoundedHttp, tmp_path: Path
) -> None:
    endpoint.keys["k1"] = key.public_key()
    access = _access(endpoint, auth="jwt", key_file=_written(key, tmp_path / "key.pem"), key_id="k1")
    tokens = Tokens(access, client)

    first = tokens.headers()
    tokens.forget()

    assert tokens.headers() != first
    assert len(endpoint.seen) == 2


def test_another_key_gets_none(endpoint: TokenEndpoint, client: BoundedHttp, tmp_path: Path) -> None:
    endpoint.keys["k1"] = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    access = _access(endpoint, auth="jwt", key_file=_written(RSA, tmp_path / "key.pem"), key_id="k1")

    with pytest.raises(NotSent, match=r"no token \(401\)") as caught:
        Tokens(access, client).headers()

    assert caught.value.verdict == "down"
    assert endpoint.tokens == []


def test_a_wrong_secret_gets_none_and_is_not_told(endpoint: TokenEndpoint, client: BoundedHttp) -> None:
    with pytest.raises(NotSent, match=r"no token \(401\)") as caught:
        Tokens(_access(endpoint, auth="basic", client_secret="falsch"), client).headers()

    assert "falsch" not in str(caught.value)


def test_an_endpoint_that_is_away_is_told(endpoint: TokenEndpoint, client: BoundedHttp) -> None:
    access = _access(endpoint, auth="basic", token_url="http://127.0.0.1:9/token")

    with pytest.raises(NotSent, match="token endpoint unreachable"):
        Tokens(access, client).headers()


@pytest.mark.parametrize("answer", [b"<html>", {}, {"access_token": 7}, {"access_token": "x", "token_type": "MAC"}])
def test_a_reply_that_is_no_token_is_none(answer: object, client: BoundedHttp) -> None:
    with scripted((200, answer, {})) as script:
        access = FhirAccess(
            url="http://127.0.0.1/fhir", token_url=script.url, client_id="k", client_secret="s", auth="basic"
        )
        with pytest.raises(NotSent, match=r"no token \(200\)"):
            Tokens(access, client).headers()


def test_a_token_is_kept_until_shortly_before_it_ends(endpoint: TokenEndpoint, client: BoundedHttp) -> None:
    now = 1000.0
    tokens = Tokens(_access(endpoint, auth="post"), client, clock=lambda: now)

    for moment in (1000.0, 1200.0, 1269.0):
        now = moment
        tokens.headers()
    assert len(endpoint.tokens) == 1

    now = 1271.0
    tokens.headers()
    assert len(endpoint.tokens) == 2


def test_a_token_that_is_withdrawn_is_replaced_once(endpoint: TokenEndpoint) -> None:
    with scripted((401, {}, {}), (200, DONE, {})) as script:
        server = HttpFhirServer(_access(endpoint, auth="basic", url=script.url), patience=Patience(attempts=1))
        server.send(BUNDLE)
        server.close()

    sent = [headers["Authorization"] for _, _, headers in script.asked]
    assert sent == [f"Bearer {token}" for token in endpoint.tokens]
    assert len(set(sent)) == 2


def test_a_server_that_takes_no_token_is_not_asked_for_ever(endpoint: TokenEndpoint) -> None:
    with scripted((401, {}, {})) as script:
        server = HttpFhirServer(_access(endpoint, auth="basic", url=script.url))
        with pytest.raises(NotSent, match=r"unauthorised \(401\)"):
            server.send(BUNDLE)
        server.close()

    assert len(script.asked) == 2


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (ec.generate_private_key(ec.SECP256R1()), "needs an RSA key"),
        (ed25519.Ed25519PrivateKey.generate(), "needs an RSA key"),
        (None, "holds no unencrypted private key"),
    ],
)
def test_a_key_that_cannot_sign_is_told(
    key: PrivateKey | None, problem: str, endpoint: TokenEndpoint, client: BoundedHttp, tmp_path: Path
) -> None:
    path = tmp_path / "key.pem"
    if key is None:
        _written(RSA, path, b"geheim")
    else:
        _written(key, path)

    with pytest.raises(UserFixable, match=problem):
        Tokens(_access(endpoint, auth="jwt", key_file=path), client).headers()


@pytest.mark.parametrize(
    ("further", "problem"),
    [
        ({"auth": "jwt"}, "KLARTEXT_FHIR_KEY_FILE is not set"),
        (
            {"auth": "jwt", "key_file": Path("/no/such/key.pem")},
            "KLARTEXT_FHIR_KEY_FILE names a file that cannot be read",
        ),
        ({"auth": "basic", "client_secret": None}, "KLARTEXT_FHIR_CLIENT_SECRET_FILE is not set"),
    ],
)
def test_what_is_missing_is_told(
    further: dict[str, object], problem: str, endpoint: TokenEndpoint, client: BoundedHttp
) -> None:
    with pytest.raises(UserFixable, match=problem):
        Tokens(_access(endpoint, **further), client).headers()


def test_without_the_extra_the_command_to_get_it_is_told(
    endpoint: TokenEndpoint, client: BoundedHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)

    with pytest.raises(MissingExtra, match=r"pip install 'klartext\[fhir\]'"):
        Tokens(_access(endpoint, auth="jwt", key_file=Path("x")), client).headers()


def test_without_authentication_nothing_is_asked(client: BoundedHttp) -> None:
    assert Tokens(FhirAccess(url="http://127.0.0.1/fhir"), client).headers() == {}
