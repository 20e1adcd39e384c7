"""Contacts that are told of a call: webhooks, and mail by a server of the house. Neither gets a patient's text."""

from __future__ import annotations

import json
import smtplib
import ssl
from dataclasses import asdict, dataclass, field
from email.message import EmailMessage

import httpx

from bot.adapters.bounded_http import BoundedHttp, OddAnswer
from bot.errors import NotTold
from bot.settings import LOOPBACK_HOSTS
from bot.staff.escalation import Notice

DEADLINE_S = 15.0  # for a webhook with all of its answer, and for each step of a mail server
KINDS = {"urgent": "a message that sounds like an emergency", "asked": "a patient who asks for a person"}


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that a notice is posted to, as JSON. It is never logged: it may hold a secret."""

    url: str = field(repr=False)
    http: BoundedHttp = field(default_factory=BoundedHttp, repr=False)

    def tell(self, notice: Notice) -> None:
        body = json.dumps(asdict(notice)).encode()
        try:
            answer = self.http.request(
                "POST", self.url, deadline_s=DEADLINE_S, headers={"Content-Type": "application/json"}, content=body
            )
        except (httpx.TransportError, httpx.InvalidURL, OddAnswer) as error:
            raise NotTold(f"webhook unreachable ({type(error).__name__})") from None
        if not 200 <= answer.status < 300:
            raise NotTold(f"webhook refused ({answer.status})")


@dataclass(frozen=True, slots=True)
class Mail:
    """An address that a notice is mailed to, by TLS where the server is another machine that offers it."""

    address: str
    server: tuple[str, int]
    sender: str

    def tell(self, notice: Notice) -> None:
        message = EmailMessage()
        message["From"], message["To"] = self.sender, self.address
        subject, *lines = _words(notice)
        message["Subject"] = f"Klartext: {subject}"
        message.set_content("\n".join((*lines, f"Conversation: {notice.conversation}", f"Inbox: {notice.inbox}", "")))
        host, port = self.server
        try:
            with smtplib.SMTP(host, port, timeout=DEADLINE_S) as server:
                server.ehlo()
                if host not in LOOPBACK_HOSTS and server.has_extn("starttls"):
                    server.starttls(context=ssl.create_default_context())
                server.send_message(message)
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            raise NotTold(f"mail server refused ({type(error).__name__})") from None
        except (OSError, smtplib.SMTPException) as error:
            raise NotTold(f"mail server unreachable ({type(error).__name__})") from None


def _words(notice: Notice) -> list[str]:
    """Return the subject, and what is to be known of the call."""
    kind = KINDS[notice.kind]
    if notice.deleted:
        return [
            "a patient deleted an urgent call before anybody saw it",
            f"After {notice.minutes} minutes: {kind}. Nobody can read the conversation any more, or write in it.",
        ]
    waits = f"Waiting for {notice.minutes} minutes: {kind}."
    if notice.taken:
        subject = f"nobody has answered in a conversation that was taken for {notice.minutes} minutes"
    elif notice.minutes:
        subject = f"nobody has acknowledged a call for {notice.minutes} minutes"
    else:
        subject = f"new call: {kind}"
    left = ["The patient has left the conversation, and reads nothing any more."] if notice.patient_left else []
    return [subject, waits, *left]
