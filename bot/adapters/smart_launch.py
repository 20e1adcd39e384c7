"""SMART App Launch: sign a patient in where a portal or EHR sends them from, and read who it is.

Discovery, authorization code with PKCE, id token, Patient, and of the visit what it was launched with. Only the servers
of the settings are asked, all requests together within a limit; the access token is forgotten at the end.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from bot.adapters.oauth_tokens import access_token
from bot.adapters.openid import OpenId, Proof, json_object, require_jwt, safe_address
from bot.errors import LaunchFailed
from bot.ports import UNBOOKED, Booking, Launched, PendingLaunch
from bot.settings import LOOPBACK_HOSTS, FhirAccess, SmartClient

log = logging.getLogger("klartext")
REMEMBERED_S = 300.0  # a configuration
_ID = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9.-]{1,64}")  # it becomes part of a path: not only dots
_VISIT = ("Appointment/", "ServiceRequest/")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Provider:
    """What a server's smart-configuration says. Without `issuer` and `keys` it proves no id token."""

    authorization: str
    token: str
    issuer: str = ""
    keys: str = ""


@dataclass(slots=True)
class SmartLauncher:
    """Fulfils `bot.ports.Launcher`.

    Attributes:
        clients: The servers that patients may come from, and who we are there.
        access: For the systems of identifiers.
        openid: Speaks to their providers.
    """

    clients: Sequence[SmartClient]
    access: FhirAccess
    openid: OpenId
    _known: dict[str, tuple[float, _Provider]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        require_jwt("SMART App Launch", extra="smart")  # who lacks it is told at the start, not with the first patient

    def begin(self, issuer: str, launch: str) -> tuple[str, PendingLaunch]:
        client = self._client(issuer)
        provider = self._remembered(client)
        if provider is None:
            with self.openid.place():
                provider = self._discovered(client, time.monotonic() + self.openid.limits.discovery_s)
        pending = PendingLaunch(client.issuer, *(secrets.token_urlsafe(32) for _ in range(3)))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(pending.verifier.encode()).digest()).rstrip(b"=").decode()
        said = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": self.openid.redirect,
            "scope": " ".join(self._scopes(provider, launch)),
            "state": pending.state,
            "aud": client.issuer,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        said |= {"nonce": pending.nonce} if provider.keys else {}
        said |= {"launch": launch} if launch else {}
        return f"{provider.authorization}{'&' if '?' in provider.authorization else '?'}{urlencode(said)}", pending

    def finish(self, pending: PendingLaunch, code: str, *, issuer: str = "") -> Launched:
        client = self._client(pending.issuer)
        with self.openid.place():
            until_s = time.monotonic() + self.openid.limits.exchange_s
            provider = self._remembered(client) or self._discovered(client, until_s)
            if issuer and provider.issuer and issuer != provider.issuer:
                raise LaunchFailed("unproven", "the answer names another issuer")
            said = self.openid.exchange(client, provider.token, pending.verifier, code, until_s)
            user = self._signed_in(client, provider, pending, said.get("id_token"), until_s)
            token, patient = access_token(said), said.get("patient")
            if token is None:
                raise LaunchFailed("unproven", "no usable access token")
            if not isinstance(patient, str) or not _ID.fullmatch(patient):
                raise LaunchFailed("no_patient", "the launch names no patient")
            record = _Record(self, client, token, until_s)
            found = record.read("Patient", patient)
            number = _identifier(found, self.access.patient_system)
            if not number:
                raise LaunchFailed("no_patient", "the Patient has no identifier in KLARTEXT_FHIR_PATIENT_SYSTEM")
            booking = self._booking(record, patient, said)
        return Launched(number, _languages(found), booking, user)

    def _client(self, issuer: str) -> SmartClient:
        # As a text: whatever else an address could mean, nothing is asked but what the settings say.
        found = next((each for each in self.clients if each.issuer.rstrip("/") == issuer.rstrip("/")), None)
        if issuer and found is None:
            raise LaunchFailed("unknown", "the issuer is not in KLARTEXT_SMART")
        return found or self.clients[0]

    def _scopes(self, provider: _Provider, launch: str) -> list[str]:
        """Return what is asked for: nothing that is not needed."""
        access = self.access
        order = access.order_system or access.accession_system
        needed = {
            "Appointment": access.appointment_system,
            "ServiceRequest": order,
            "Encounter": launch and (access.appointment_system or order),  # nobody who comes alone is in one
        }
        return [
            "launch" if launch else "launch/patient",
            *(["openid", "fhirUser"] if provider.keys else []),
            "patient/Patient.rs",
            *(f"patient/{kind}.rs" for kind, wanted in needed.items() if wanted),
        ]

    def _remembered(self, client: SmartClient) -> _Provider | None:
        read_s, known = self._known.get(client.issuer, (0.0, None))
        return known if time.monotonic() < read_s + REMEMBERED_S else None

    def _discovered(self, client: SmartClient, until_s: float) -> _Provider:
        """Read a server's smart-configuration."""
        address = f"{client.issuer.rstrip('/')}/.well-known/smart-configuration"
        said = json_object(self.openid.ask(address, until_s), "the smart-configuration")
        near = urlsplit(client.issuer).hostname in LOOPBACK_HOSTS
        places = [
            safe_address(said.get(name), near=near) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
        ]
        if not places[0] or not places[1]:
            raise LaunchFailed("unproven", "the smart-configuration has no safe endpoints")
        if "S256" not in _list(said.get("code_challenge_methods_supported")):
            raise LaunchFailed("unproven", "the provider offers no PKCE with S256")
        issuer = said.get("issuer")
        proves = isinstance(issuer, str) and bool(places[2])
        provider = _Provider(places[0], places[1], str(issuer) if proves else "", places[2] if proves else "")
        self._known[client.issuer] = (time.monotonic(), provider)
        return provider

    def _signed_in(
        self, client: SmartClient, provider: _Provider, pending: PendingLaunch, token: object, until_s: float
    ) -> str:
        """Verify an id token, where one was given; return the type of who has signed in, where it says so."""
        if token is None:
            return ""
        if not provider.keys or not isinstance(token, str):
            raise LaunchFailed("unproven", "an id token that nothing proves")
        proof = Proof(provider.issuer, provider.keys, client.client_id, pending.nonce)
        claims = self.openid.claims(proof, token, until_s)
        kind = str(claims.get("fhirUser", "")).split("/")[-2:-1]
        return kind[0] if kind and kind[0] in ("Patient", "RelatedPerson", "Practitioner", "Person") else ""

    def _booking(self, record: _Record, patient: str, said: Json) -> Booking:
        """Return which visit it is, as far as the launch says; who comes for another patient's visit has none.

        An encounter counts only where the launch names neither appointment nor order itself.
        """
        access = self.access
        if not (access.appointment_system or access.order_system or access.accession_system):
            return UNBOOKED
        named = _references(said.get("fhirContext"))
        encounter = said.get("encounter")
        if isinstance(encounter, str) and not any(kind in each for each in named for kind in _VISIT):
            found = record.named("Encounter", [f"Encounter/{encounter}"], patient)
            named += _references(found.get("appointment")) + _references(found.get("basedOn"))
        appointment = record.named("Appointment", named, patient) if access.appointment_system else {}
        named += _references(appointment.get("basedOn"))
        wants_order = access.order_system or access.accession_system
        order = record.named("ServiceRequest", named, patient) if wants_order else {}
        return Booking(
            appointment=_identifier(appointment, access.appointment_system),
            order=_identifier(order, access.order_system),
            accession=_identifier(order, access.accession_system),
        )


@dataclass(frozen=True, slots=True)
class _Record:
    """What may be read of one patient's record, until the token is gone."""

    launcher: SmartLauncher
    client: SmartClient
    token: str = field(repr=False)
    until_s: float

    def read(self, kind: str, id_: str) -> Json:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/fhir+json"}
        base = self.client.issuer.rstrip("/")
        reply = self.launcher.openid.ask(f"{base}/{kind}/{id_}", self.until_s, headers=headers)
        found = json_object(reply, f"the {kind}")
        if (found.get("resourceType"), found.get("id")) != (kind, id_):
            raise LaunchFailed("unproven", f"another resource came instead of the {kind}")
        return found

    def named(self, kind: str, references: Sequence[str], patient: str) -> Json:
        """Return the first resource of a kind among references, if it is this patient's; nothing if it cannot be read.

        A patient without the name of the visit is better than no patient: nobody is sent away for it.
        """
        base = f"{self.client.issuer.rstrip('/')}/"
        paths = [each.removeprefix(base).split("/") for each in references]
        id_ = next((path[1] for path in paths if len(path) == 2 and path[0] == kind and _ID.fullmatch(path[1])), None)
        if id_ is None:
            return {}
        try:
            found = self.read(kind, id_)
        except LaunchFailed as failed:
            log.warning("launched without its visit", extra={"fields": {"detail": failed.detail}})
            return {}
        actors = [each.get("actor") for each in _dicts(found.get("participant"))]
        people = [each.get("reference") for each in (*actors, found.get("subject")) if isinstance(each, dict)]
        if any(str(each).removeprefix(base) == f"Patient/{patient}" for each in people):
            return found
        log.warning("launched without its visit", extra={"fields": {"detail": f"the {kind} is another patient's"}})
        return {}


def _identifier(resource: Json, system: str | None) -> str:
    """Return the identifier of a system; empty where there is none, or nobody asks."""
    known = [each for each in _dicts(resource.get("identifier")) if each.get("use") != "old"]
    found = [each.get("value") for each in known if system and each.get("system") == system]
    return next((each for each in found if isinstance(each, str)), "")


def _references(value: object) -> list[str]:
    """Return where a list of References leads to."""
    return [each["reference"] for each in _dicts(value) if isinstance(each.get("reference"), str)]


def _languages(patient: Json) -> tuple[str, ...]:
    """Return the languages that a Patient speaks, such as ``de``, preferred ones first."""
    spoken = sorted(_dicts(patient.get("communication")), key=lambda each: each.get("preferred") is not True)
    codes = [coding.get("code") for each in spoken for coding in _dicts(_dict(each.get("language")).get("coding"))]
    return tuple(code.partition("-")[0].lower() for code in codes if isinstance(code, str))


def _dict(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> list[Json]:
    return [each for each in _list(value) if isinstance(each, dict)]
