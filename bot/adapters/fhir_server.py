"""A FHIR server over HTTP: transactions, patience for outages, and no word about patients in errors and logs."""

from __future__ import annotations

import json
import logging
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from bot.adapters.bounded_http import Answer, BoundedHttp, OddAnswer
from bot.adapters.oauth_tokens import Tokens
from bot.errors import NotSent, UserFixable
from bot.outbox_ports import Patience
from bot.settings import LOOPBACK_HOSTS, FhirAccess

log = logging.getLogger("klartext")
_FHIR_JSON = "application/fhir+json"
_BUSY = (429, 500, 502, 503, 504)
_ISSUE_CODE = re.compile(r"[a-z][a-z-]{1,29}")
_ELEMENT = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]]{0,119}")
_DONE = re.compile(r"2\d\d(\s.*)?", re.DOTALL)
# What a look for a transaction of ours asks for: see `HttpFhirServer._arrived`.
_MARKER = re.compile(r"(Provenance|Task|Library)/([0-9a-f-]{36})")


@dataclass(frozen=True, slots=True)
class _Marker:
    """The resource of a transaction that tells whether the transaction has arrived: it has an id of ours.

    Attributes:
        alone: Whether it is all there is in the transaction.
    """

    kind: str
    id: str
    alone: bool

    @property
    def path(self) -> str:
        return f"/{self.kind}/{self.id}"


class HttpFhirServer:
    """Fulfils `bot.ports.FhirServer` for R4 servers."""

    def __init__(
        self, access: FhirAccess, *, patience: Patience | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """Prepare to speak to the server at `access.url`.

        Raises:
            UserFixable: The settings do not fit together, or would send patient data in the clear.
        """
        require_sound(access)
        self._patience = patience or Patience()
        self._sleep = sleep
        self._base = (access.url or "").rstrip("/")
        # No proxies, credentials or certificates from the environment: only what the settings say.
        self._http = BoundedHttp(verify=tls(access))
        self._tokens = Tokens(access, self._http)

    def check(self) -> None:
        until_s = time.monotonic() + self._patience.total_s
        found = _json(_accepted(self._patiently("GET", "/metadata", until_s=until_s)))
        version, shown = str(found.get("fhirVersion", "")), _shown(self._base)
        if found.get("resourceType") != "CapabilityStatement":
            raise UserFixable(f"{shown} is no FHIR server: it has no CapabilityStatement. Check KLARTEXT_FHIR_URL.")
        if not version.startswith("4."):
            raise UserFixable(f"{shown} speaks FHIR {version[:20]!r}; Klartext sends R4. Check KLARTEXT_FHIR_URL.")
        rests = _dicts(found.get("rest"))
        offered = {str(each.get("code")) for rest in rests for each in _dicts(rest.get("interaction"))}
        if "transaction" not in offered:
            raise UserFixable(f"{shown} offers no transactions, and Klartext sends nothing in parts.")

    def send(self, bundle: str, *, again: bool = False) -> None:
        sent = _dicts(_dict(json.loads(bundle)).get("entry"))
        marker = _marker(sent)
        until_s = time.monotonic() + self._patience.total_s
        if again and self._arrived(marker, until_s):
            return
        reply = self._patiently("POST", "", bundle, marker=marker, until_s=until_s)
        if reply is not None:
            _require_all_done(_json(_accepted(reply)), len(sent))

    def close(self) -> None:
        self._http.close()

    def _arrived(self, marker: _Marker | None, until_s: float) -> bool:
        """Say whether a transaction with ids of ours is there: repeated, it would undo what staff have done since.

        Where the server gives the ids, If-None-Exist takes care of that. Only the resource itself proves it: a page for
        logging in comes with status 200, too. Where the answer tells neither way, a Task of its own is sent once more
        (under its id it is there once, and better seen twice than never); anything else waits.
        """
        if marker is None:
            return False
        reply = self._once("GET", marker.path, None, until_s, share=1 / 3)
        if isinstance(reply, Answer):
            found = _json(reply)
            if reply.status == 200 and (found.get("resourceType"), found.get("id")) == (marker.kind, marker.id):
                return True
            if reply.status in {404, 410} or marker.alone:
                return False
            raise NotSent(f"nobody can tell whether it has arrived ({reply.status})", verdict="trouble")
        if marker.alone and not reply.everywhere:
            return False
        raise NotSent(reply.reason, verdict="down" if reply.everywhere else "trouble")

    def _patiently(
        self, method: str, path: str, content: str | None = None, *, marker: _Marker | None = None, until_s: float
    ) -> Answer | None:
        """Send a request until the server has made up its mind; None when a repetition finds that it has arrived."""
        wait_s = 0.0
        trouble = _Trouble("not tried")
        for attempt in range(self._patience.attempts):
            if attempt:
                self._sleep(wait_s)
                if self._arrived(marker, until_s):
                    return None
            reply = self._once(method, path, content, until_s)
            if isinstance(reply, Answer):
                return reply
            trouble = reply
            usual = self._patience.first_wait_s * 2**attempt
            wait_s = max(usual, trouble.wait_s)
            if wait_s > min(self._patience.longest_wait_s, until_s - time.monotonic()):
                break
        log.warning("FHIR server: %s", trouble.reason)
        raise NotSent(trouble.reason, verdict="down" if trouble.everywhere else "trouble")

    def _once(
        self, method: str, path: str, content: str | None, until_s: float, *, share: float = 1.0
    ) -> Answer | _Trouble:
        """Ask once, for at most a share of the time that one request may take."""
        until_s = min(until_s, time.monotonic() + self._patience.timeout_s * share)
        reply = self._try(method, path, content, until_s)
        if isinstance(reply, Answer) and reply.status == 401:
            # The token may have been withdrawn: one try with a new one.
            self._tokens.forget()
            reply = self._try(method, path, content, until_s)
        if isinstance(reply, Answer) and reply.status in _BUSY:
            everywhere = reply.status in {429, 503}
            return _Trouble(f"busy ({reply.status})", _retry_after(reply), everywhere=everywhere)
        return reply

    def _try(self, method: str, path: str, content: str | None, until_s: float) -> Answer | _Trouble:
        headers = {"Accept": _FHIR_JSON, **self._tokens.headers(deadline_s=until_s - time.monotonic())}
        if content is not None:
            headers["Content-Type"] = f"{_FHIR_JSON}; charset=utf-8"
        url, body, left_s = self._base + path, (content or "").encode(), until_s - time.monotonic()
        try:
            return self._http.request(method, url, content=body, headers=headers, deadline_s=left_s)
        except httpx.TimeoutException:
            return _Trouble("timeout")
        except OddAnswer as odd:
            return _Trouble(f"odd answer ({odd})")
        except httpx.TransportError as error:
            kind = "TLS" if "SSL" in str(error) else type(error).__name__
            return _Trouble(f"unreachable ({kind})", everywhere=isinstance(error, httpx.ConnectError))


@dataclass(frozen=True, slots=True)
class _Trouble:
    """The server has not made up its mind; asking again may help.

    Attributes:
        wait_s: What it wants us to wait.
        everywhere: Whether other requests would meet the same.
    """

    reason: str
    wait_s: float = 0.0
    everywhere: bool = False


def require_sound(access: FhirAccess) -> None:
    """Raise UserFixable when the settings of a FHIR server cannot work, or would send patient data in the clear."""
    if not access.url:
        raise UserFixable("No FHIR server is set. Set KLARTEXT_FHIR_URL, or give `--server URL`.")
    require_protected(access.url, "KLARTEXT_FHIR_URL")
    if access.auth == "none":
        return
    needed = {"KLARTEXT_FHIR_TOKEN_URL": access.token_url, "KLARTEXT_FHIR_CLIENT_ID": access.client_id}
    for setting, value in needed.items():
        if not value:
            raise UserFixable(f"{setting} is not set. Authentication by {access.auth!r} needs it.")
    require_protected(access.token_url or "", "KLARTEXT_FHIR_TOKEN_URL")


def require_protected(url: str, setting: str, danger: str = "patient data would cross the network readably") -> None:
    """Raise UserFixable unless an address is encrypted, or on this machine; `danger`: what could happen otherwise."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in {"http", "https"} or parts.username or parts.query or parts.fragment:
        raise UserFixable(f"{setting} is no plain address such as https://fhir.example.org/r4.")
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        raise UserFixable(f"{setting} is not encrypted. Use https: {danger}.")


def tls(access: FhirAccess) -> ssl.SSLContext | bool:
    """Return whom to believe: the authorities of the settings."""
    if access.ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(access.ca_file))
    except (OSError, ssl.SSLError):
        raise UserFixable("KLARTEXT_FHIR_CA_FILE names no file with certificates in PEM format.") from None


def _marker(sent: Sequence[Mapping[str, Any]]) -> _Marker | None:
    """Return what a transaction can be recognised by afterwards; None where the server gives the ids."""
    urls = [str(_dict(entry.get("request")).get("url", "")) for entry in sent]
    found = [match for match in map(_MARKER.fullmatch, urls) if match is not None]
    wanted = next((match for match in found if match[1] == "Provenance" or len(sent) == 1), None)
    return _Marker(wanted[1], wanted[2], alone=len(sent) == 1) if wanted is not None else None


def _accepted(reply: Answer | None) -> Answer:
    """Return the reply if it is one of success."""
    if reply is None:
        raise NotSent("no answer", verdict="trouble")
    code = reply.status
    if code in {200, 201}:
        return reply
    if code in {401, 403}:
        raise NotSent(f"unauthorised ({code})", verdict="down")
    if code in {404, 405} or 300 <= code < 400:
        raise NotSent(f"no FHIR endpoint ({code})", verdict="down")
    raise NotSent(f"refused ({code}){_issues(_json(reply))}", verdict="refused")


def _issues(outcome: Mapping[str, Any]) -> str:
    """Return issue types and elements of an OperationOutcome; its texts may quote a patient."""
    return "".join(f" {text}" for text in list(_said(outcome))[:3])


def _said(outcome: Mapping[str, Any]) -> Iterator[str]:
    for issue in _dicts(outcome.get("issue")):
        code, where = issue.get("code"), issue.get("expression")
        first = where[0] if isinstance(where, list) and where else ""
        place = f"@{first}" if isinstance(first, str) and _ELEMENT.fullmatch(first) else ""
        if isinstance(code, str) and _ISSUE_CODE.fullmatch(code):
            yield f"{code}{place}"


def _require_all_done(reply: Mapping[str, Any], sent: int) -> None:
    """Some servers take a transaction for a batch: then each entry has a fate of its own."""
    entries = _dicts(reply.get("entry"))
    if reply.get("resourceType") != "Bundle" or reply.get("type") != "transaction-response":
        raise NotSent("the reply is no transaction-response", verdict="trouble")
    statuses = [str(_dict(entry.get("response")).get("status", "")) for entry in entries]
    wrong = [status for status in statuses if not _DONE.fullmatch(status)]
    if wrong or len(statuses) != sent:
        code = next((status[:3] for status in wrong if status[:3].isdigit()), "")
        raise NotSent(f"incomplete ({len(statuses) - len(wrong)} of {sent} taken{', ' + code if code else ''})")


def _retry_after(reply: Answer) -> float:
    """Return what Retry-After asks for, in seconds; 0 without it."""
    said = reply.headers.get("retry-after", "")
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0


def _shown(url: str) -> str:
    """Return the host only: nothing else of an address is needed to recognise it."""
    return urlsplit(url).hostname or "the address"


def _json(reply: Answer) -> Mapping[str, Any]:
    """Return the object in an answer; none where the answer is something else, or says that it is."""
    if not reply.may_be_json:
        return {}
    try:
        return _dict(reply.json())
    except OddAnswer:
        return {}


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
