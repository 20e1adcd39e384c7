"""Signing patients in at a real OpenID provider, and at one that lies."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import jwt
import pytest

from bot.adapters.bounded_http import BoundedHttp
from bot.adapters.openid import AT_ONCE, Limits, OpenId, safe_address
from bot.adapters.smart_launch import SmartLauncher
from bot.errors import LaunchFailed, LaunchReason
from bot.ports import Booking, Launched
from bot.settings import FhirAccess, SmartClient
from tests.oidc_process import OidcServer
from tests.smart_hospital import ACCESSIONS, APPOINTMENTS, ORDERS, PSEUDONYMS, SECRET, hospital

REDIRECT = "http://127.0.0.1:1/smart/callback"
ACCESS = FhirAccess(
    patient_system=PSEUDONYMS, appointment_system=APPOINTMENTS, order_system=ORDERS, accession_system=ACCESSIONS
)
HTTP = BoundedHttp()  # for all tests here; the fixture of the provider closes it
PATIENT = Limits()
HURRY = Limits(discovery_s=0.5, exchange_s=0.7)


@pytest.fixture(scope="module")
def running() -> Iterator[OidcServer]:
    with hospital(REDIRECT, login="anna") as started:
        yield started
        HTTP.close()


@pytest.fixture
def provider(running: OidcServer) -> OidcServer:
    running.behave()
    running.asked()
    return running


def launcher(
    provider: OidcServer,
    client: str = "klartext",
    *,
    access: FhirAccess = ACCESS,
    limits: Limits = PATIENT,
    **more: str,
) -> SmartLauncher:
    clients = (SmartClient(provider.fhir, client, more.get("secret")),)
    return SmartLauncher(clients, access, OpenId(REDIRECT, HTTP, limits))


def sign_in(address: str) -> dict[str, str]:
    """Follow a browser's way through the provider, and return what it comes back with."""
    with httpx.Client(trust_env=False, verify=False, timeout=30) as browser:
        for _ in range(10):
            reply = browser.get(address)
            assert reply.has_redirect_location, reply.text
            address = str(httpx.URL(address).join(reply.headers["location"]))
            if address.startswith(REDIRECT):
                return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    raise AssertionError("the provider sends the browser round in circles")


def launched(app: SmartLauncher, launch: str = "") -> Launched:
    address, pending = app.begin(app.clients[0].issuer, launch)
    back = sign_in(address)
    assert back["state"] == pending.state
    return app.finish(pending, back["code"], issuer=back.get("iss", ""))


def failed(app: SmartLauncher, launch: str = "") -> LaunchFailed:
    with pytest.raises(LaunchFailed, match="Nobody was signed in") as raised:
        launched(app, launch)
    return raised.value


def test_a_patient_who_comes_alone_is_known(provider: OidcServer) -> None:
    assert launched(launcher(provider)) == Launched("P-4711", ("en", "tr"), Booking(), "Patient")


def test_an_ehr_says_which_visit_it_is(provider: OidcServer) -> None:
    assert launched(launcher(provider), "visit").booking == Booking("A-1", "O-2", "ACC-3")
    assert launched(launcher(provider), "order").booking == Booking("", "O 2 with spaces", "ACC-4")
    assert launched(launcher(provider), "encounter").booking == Booking("A-1", "O-2", "ACC-3")
    assert launched(launcher(provider), "encounter-of-order").booking == Booking("", "O-2", "ACC-3")


@pytest.mark.parametrize("launch", ["of-another", "elsewhere", "gone", "encounter-of-another", "odd-encounter"])
def test_a_visit_that_is_not_this_patients_or_cannot_be_read_is_left_out(provider: OidcServer, launch: str) -> None:
    assert launched(launcher(provider), launch) == Launched("P-4711", ("en", "tr"), Booking(), "Patient")


def test_a_confidential_client_shows_its_secret(provider: OidcServer) -> None:
    assert launched(launcher(provider, "klartext-with-secret", secret=SECRET)).patient == "P-4711"
    assert failed(launcher(provider, "klartext-with-secret", secret="wrong")).reason == "unproven"


def test_only_what_is_needed_is_asked_for(provider: OidcServer) -> None:
    def scopes(access: FhirAccess, launch: str = "") -> str:
        address, _ = launcher(provider, access=access).begin(provider.fhir, launch)
        return parse_qs(urlsplit(address).query)["scope"][0]

    few = FhirAccess(patient_system=PSEUDONYMS)
    assert scopes(few) == "launch/patient openid fhirUser patient/Patient.rs"
    assert scopes(ACCESS, "x").endswith(
        "patient/Patient.rs patient/Appointment.rs patient/ServiceRequest.rs patient/Encounter.rs"
    )
    assert "Encounter" not in scopes(ACCESS)
    assert scopes(few, "x").startswith("launch openid")
    assert scopes(FhirAccess(patient_system=PSEUDONYMS, accession_system=ACCESSIONS)).endswith("ServiceRequest.rs")
    assert launched(launcher(provider, access=few), "visit").booking == Booking()


def test_the_authorization_request_binds_browser_server_and_code(provider: OidcServer) -> None:
    address, pending = launcher(provider).begin(provider.fhir + "/", "visit")

    said = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert said["aud"] == provider.fhir
    assert (said["launch"], said["state"], said["nonce"]) == ("visit", pending.state, pending.nonce)
    assert said["code_challenge_method"] == "S256"
    assert pending.verifier not in address
    assert len({pending.state, pending.nonce, pending.verifier}) == 3
    assert pending.verifier not in repr(pending)


@pytest.mark.parametrize(
    "issuer",
    [
        "{0}x",
        "{0}/../fhir",
        "http://anna:secret@{1}/fhir",
        "http://localhost:{2}/fhir",
        "http://127.0.0.1:1/fhir",
        "https://{1}/fhir",
        "{0}?x=1",
        "{0}#x",
        "HTTP://{1}/fhir",
        "file:///etc/passwd",
        "/",
        " ",
    ],
)
def test_nothing_is_asked_of_an_issuer_that_the_settings_do_not_name(provider: OidcServer, issuer: str) -> None:
    host = provider.issuer.removeprefix("http://")
    given = issuer.format(provider.fhir, host, host.rpartition(":")[2])

    with pytest.raises(LaunchFailed) as raised:
        launcher(provider).begin(given, "")

    assert raised.value.reason == "unknown"
    assert given.strip() == "" or given not in str(raised.value)
    assert provider.asked() == []


FORGERIES: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "no signature": ({"key": "none"}, "InvalidAlgorithmError"),
    "another key": ({"key": "foreign"}, "InvalidSignatureError"),
    "the public key as a secret": ({"key": "public"}, "InvalidAlgorithmError"),
    "another audience": ({"claims": {"aud": "other-app"}}, "InvalidAudienceError"),
    "another issuer": ({"claims": {"iss": "https://elsewhere.example.org"}}, "InvalidIssuerError"),
    "another launch": ({"claims": {"nonce": "n"}}, "of another launch"),
    "no launch": ({"claims": {"nonce": None}}, "of another launch"),
    "expired": ({"claims": {"exp": 1_700_000_000}}, "ExpiredSignatureError"),
    "from the future": ({"claims": {"iat": 4_000_000_000}}, "ImmatureSignatureError"),
    "another client's": ({"claims": {"aud": ["klartext", "other-app"], "azp": "other-app"}}, "another client's"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_id_token_signs_nobody_in(provider: OidcServer, forgery: str) -> None:
    forge, why = FORGERIES[forgery]
    provider.behave(forge=forge)

    found = failed(launcher(provider))

    assert found.reason == "unproven"
    assert why in found.detail
    assert not [path for path in provider.asked() if path.startswith("/fhir/Patient")]


def test_an_id_token_is_verified_where_one_is_given(provider: OidcServer) -> None:
    provider.behave(forge={"claims": {}})
    assert launched(launcher(provider)).user == "Patient", "what forges can also sign as the provider does"
    provider.behave(leave_out=["id_token"])
    assert launched(launcher(provider)) == Launched("P-4711", ("en", "tr"), Booking(), "")
    provider.behave(fault={"configuration": {"jwks_uri": None}})
    address, _ = launcher(provider).begin(provider.fhir, "")
    assert "openid" not in address


def test_a_code_is_good_once_for_its_own_client_and_verifier(provider: OidcServer) -> None:
    app, other = launcher(provider), launcher(provider, "other-app")
    address, pending = app.begin(provider.fhir, "")
    elsewhere, _ = other.begin(provider.fhir, "")
    code = sign_in(address)["code"]

    for tried, given in ((app, sign_in(elsewhere)["code"]), (other, code)):
        with pytest.raises(LaunchFailed, match="another client's"):
            tried.finish(pending, given)
    with pytest.raises(LaunchFailed, match="another client's"):
        app.finish(app.begin(provider.fhir, "")[1], code)


def test_a_used_code_is_refused(provider: OidcServer) -> None:
    app = launcher(provider)
    address, pending = app.begin(provider.fhir, "")
    code = sign_in(address)["code"]

    assert app.finish(pending, code).patient == "P-4711"
    with pytest.raises(LaunchFailed) as raised:
        app.finish(pending, code)
    assert raised.value.reason == "late"


def test_an_answer_that_names_another_issuer_is_refused(provider: OidcServer) -> None:
    app = launcher(provider)
    address, pending = app.begin(provider.fhir, "")

    with pytest.raises(LaunchFailed, match="another issuer"):
        app.finish(pending, sign_in(address)["code"], issuer="https://elsewhere.example.org")


@pytest.mark.parametrize("launch", ["nobody", "odd", "dots", "number", "nameless"])
def test_a_launch_that_does_not_say_who_it_is_signs_nobody_in(provider: OidcServer, launch: str) -> None:
    assert failed(launcher(provider), launch).reason == "no_patient"


TROUBLE: tuple[tuple[object, LaunchReason], ...] = (
    ("hang", "down"),
    ("page", "unproven"),
    ("elsewhere", "unproven"),
    (503, "down"),
    (403, "unproven"),
)
FAULTS = [(place, fault, reason) for place in ("discovery", "token", "jwks", "Patient") for fault, reason in TROUBLE]


@pytest.mark.parametrize(("place", "fault", "reason"), FAULTS)
def test_a_provider_in_trouble_keeps_nobody_waiting(
    provider: OidcServer, place: str, fault: object, reason: LaunchReason
) -> None:
    provider.behave(fault={place: fault})
    began_s = time.monotonic()

    assert failed(launcher(provider, limits=HURRY)).reason == reason
    assert time.monotonic() - began_s < 3
    assert "/elsewhere" not in provider.asked()


@pytest.mark.parametrize(
    "configuration",
    [
        {"code_challenge_methods_supported": ["plain"]},
        {"code_challenge_methods_supported": None},
        {"token_endpoint": "http://token.example.org/token"},
        {"token_endpoint": "https://user:secret@token.example.org/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": "https://["},
        {"token_endpoint": 7},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_a_configuration_that_is_not_safe_is_not_used(provider: OidcServer, configuration: dict[str, object]) -> None:
    provider.behave(fault={"configuration": configuration})

    with pytest.raises(LaunchFailed) as raised:
        launcher(provider).begin(provider.fhir, "")

    assert raised.value.reason == "unproven"


def test_a_server_elsewhere_cannot_send_us_to_this_machine() -> None:
    assert safe_address("http://127.0.0.1:8000/staff/inbox", near=True)
    assert safe_address("http://127.0.0.1:8000/staff/inbox", near=False) == ""


@pytest.mark.parametrize(
    "keys", [{"keys": []}, {"keys": "x"}, {}, {"keys": [7]}, {"keys": [{"kty": "oct", "k": "AA", "kid": "ours"}]}]
)
def test_a_key_set_that_makes_no_sense_proves_nothing(provider: OidcServer, keys: dict[str, object]) -> None:
    provider.behave(fault={"jwks_says": keys})

    assert failed(launcher(provider)).reason == "unproven"


def test_providers_that_hang_hold_few_threads_only(provider: OidcServer) -> None:
    app = launcher(provider)
    for _ in range(AT_ONCE):
        assert app.openid._free.acquire(blocking=False)

    with pytest.raises(LaunchFailed) as raised:
        app.begin(provider.fhir, "")

    assert raised.value.reason == "down"
    app.openid._free.release()
    assert launched(app).patient == "P-4711"


def test_the_provider_of_these_tests_tells_roles_for_logins_without_a_form(provider: OidcServer) -> None:
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {"response_type": "code", "client_id": "klartext", "redirect_uri": REDIRECT, "scope": "openid roles"}
    asked |= {"code_challenge": challenge, "code_challenge_method": "S256", "login_hint": "dr-tal"}
    code = sign_in(f"{provider.issuer}/auth?{urlencode(asked)}")["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier}

    said = httpx.post(f"{provider.issuer}/token", data=form | {"client_id": "klartext"}, trust_env=False).json()

    claims = jwt.decode(said["id_token"], options={"verify_signature": False})
    assert (claims["sub"], claims["roles"], claims["iss"]) == ("dr-tal", ["radiology"], provider.issuer)
