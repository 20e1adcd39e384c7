"""Links that a hospital sends with an appointment: who comes, to which exam, until when; sealed against changes.

The pseudonym can be read in a link by who has the link; it must not be a name or an insurance number.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from bot.errors import BadData
from bot.ports import UNBOOKED, Booking

PATIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
MAX_TOKEN = 1024
LINK = b"klartext link 1\0"


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link says.

    Attributes:
        patient: The hospital's pseudonym.
        exam: The catalog that answers.
        language: To begin in.
        expires: With time zone, to the second.
        booking: What the hospital calls appointment, order and images.
    """

    patient: str
    exam: str
    language: str
    expires: datetime
    booking: Booking = UNBOOKED


class NotInvited(Exception):
    """A link that opens nothing. `reason` says which kind."""

    def __init__(self, reason: Literal["unreadable", "expired"]) -> None:
        super().__init__(f"The link is {reason}.")
        self.reason: Literal["unreadable", "expired"] = reason


def invite(patient: str, *, exam: str, language: str, expires: datetime, booking: Booking = UNBOOKED) -> Invitation:
    """Return an invitation; raise BadData when an identifier has characters that do not belong into a link."""
    if not PATIENT.fullmatch(patient):
        raise BadData(
            "The patient's identifier has characters that cannot stand in a link, or more than 64. "
            "Use a pseudonym of letters, digits and . _ : / - with `--patient`."
        )
    for name, value in asdict(booking).items():
        if value and not PATIENT.fullmatch(value):
            raise BadData(
                f"What `--{name}` says has characters that cannot stand in a link, or more than 64. "
                "Use letters, digits and . _ : / - only."
            )
    return Invitation(patient, exam, language, expires.astimezone(UTC).replace(microsecond=0), booking)


def seal(invitation: Invitation, key: str) -> str:
    """Return the token of a link."""
    said: dict[str, str | int] = {
        "patient": invitation.patient,
        "exam": invitation.exam,
        "language": invitation.language,
        "expires": int(invitation.expires.timestamp()),
    }
    # What is empty is left out: links get no longer by it.
    said |= {name: value for name, value in asdict(invitation.booking).items() if value}
    content = _text(json.dumps(said, separators=(",", ":")).encode())
    return f"{content}.{mac(content, key, LINK)}"


def unseal(token: str, key: str, *, now: datetime) -> Invitation:
    """Return what a token says.

    Raises:
        NotInvited: It was not sealed with this key, was altered, or is too old.
    """
    content, _, given = token.partition(".")
    if len(token) > MAX_TOKEN or not hmac.compare_digest(
        mac(content, key, LINK).encode(), given.encode("utf-8", "replace")
    ):
        raise NotInvited("unreadable")
    said = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
    expires = datetime.fromtimestamp(said["expires"], UTC)
    if now >= expires:
        raise NotInvited("expired")
    booking = Booking(**{name: said.get(name, "") for name in asdict(UNBOOKED)})
    return Invitation(said["patient"], said["exam"], said["language"], expires, booking)


def lifetime(text: str) -> timedelta:
    """Read how long a link is to be good for: a whole number with m, h or d."""
    found = re.fullmatch(r"([0-9]{1,5})([mhd])", text.strip())
    if not found or int(found[1]) == 0:
        raise BadData(
            f"`--expires` is {text!r}. Write a number from 1 to 99999 with m (minutes), h (hours) or d (days): 14d."
        )
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def mac(content: str, key: str, purpose: bytes) -> str:
    """Return what vouches for a text, for one purpose: the same key must not vouch for anything else by it."""
    return _text(hmac.new(key.encode(), purpose + content.encode("utf-8", "replace"), hashlib.sha256).digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
