"""One request of a browser: what it asks for, who it is, and that a form came from our own page."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from bot.settings import LOOPBACK_HOSTS
from bot.talk.uploads import FileRefused, SentFile
from bot.web.limits import MAX_FIELDS, MAX_QUESTION_FIELDS

CONVERSATION = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")
FRESH = re.compile(r"new\.[A-Za-z0-9_-]{43}")  # a browser that has not begun a conversation
LINK_S = 3600  # to read the start page after the link was opened
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
FRAMED = "klartext-framed"  # a header that page.js sends from within a frame


@dataclass(frozen=True, slots=True)
class Visit:
    """What a browser sent.

    Attributes:
        path: Of the address.
        query: Of the address; no patient text ever stands there.
        form: The fields of a form, in order, if it was posted.
        session: The session cookie; empty when there is none, or nothing that we gave.
        link: The token of an appointment's link, kept until the conversation begins.
        launch: What was kept of a launch while the patient signs in.
        language: Of the labels; empty when the browser has chosen none.
        accepted: Languages that the browser prefers, best first.
        large: Whether the patient wants larger text.
        secure: Whether cookies are for https only.
        framed: Whether the page stands in a frame of another site that may show it.
        own_form: Whether the browser says that the request came from our own page, or from no page at all.
        file: What came with the form, or why it is refused.
    """

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Sequence[tuple[str, str]] = ()
    session: str = ""
    link: str = ""
    launch: str = field(default="", repr=False)
    language: str = ""
    accepted: tuple[str, ...] = ()
    large: bool = False
    secure: bool = True
    framed: bool = False
    own_form: bool = True
    file: SentFile | FileRefused | None = None

    def said(self, name: str) -> str:
        """Return a field of the form; empty when it is missing."""
        return next((value for key, value in self.form if key == name), "")

    def all_said(self, name: str) -> list[str]:
        return [value for key, value in self.form if key == name]

    @property
    def conversation(self) -> tuple[str, str] | None:
        """Id and secret of the conversation, as far as the cookie claims."""
        found = CONVERSATION.fullmatch(self.session)
        return (found[1], found[2]) if found else None

    @property
    def form_token(self) -> str:
        return form_token(self.session)

    @property
    def is_honest(self) -> bool:
        """Whether a posted form is one that this browser got from us."""
        given = self.said("token").encode("utf-8", "replace")
        return bool(self.session) and self.own_form and hmac.compare_digest(given, self.form_token.encode())


def form_token(session: str) -> str:
    """Return what every form of a session carries: other sites can neither read nor guess it."""
    return hmac.new(session.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def fresh_session() -> str:
    return f"new.{secrets.token_urlsafe(32)}"


def read_visit(request: Request, body: bytes, *, framing: bool) -> Visit:
    """Read a request; whatever does not belong there is left out. `framing`: whether other sites may show the page.

    Raises:
        ValueError: The form has too many fields.
    """
    secure = request.url.scheme == "https" or (request.url.hostname or "") not in LOOPBACK_HOSTS
    framed = framing and secure and _is_framed(request)

    def kept(name: str) -> str:
        return request.cookies.get(cookie_name(name, secure=secure, framed=framed), "")

    session = kept("session")
    language, _, size = kept("look").partition(".")
    return Visit(
        path=request.url.path,
        query=dict(request.query_params),
        form=fields(body, MAX_QUESTION_FIELDS if request.url.path.startswith("/form/") else MAX_FIELDS),
        session=session if CONVERSATION.fullmatch(session) or FRESH.fullmatch(session) else "",
        link=kept("link"),
        launch=kept("launch"),
        language=language,
        accepted=accepted(request.headers.get("accept-language", "")),
        large=size == "large",
        secure=secure,
        framed=framed,
        own_form=from_us(request),
    )


def keep(response: Response, visit: Visit, name: str, value: str, *, hours: float) -> None:
    """Put a cookie into a response: not for scripts, not for other hosts, not with other sites' forms.

    Lax, not Strict: a patient who opens the link in a mail again must find the conversation. In a frame of another site
    neither is sent: there a cookie of another name is partitioned, so that no site but that one has it sent at all.
    """
    response.set_cookie(
        cookie_name(name, secure=visit.secure, framed=visit.framed),
        value,
        max_age=int(hours * 3600),
        path="/",
        secure=visit.secure,
        httponly=True,
        samesite="none" if visit.framed else "lax",
    )
    if visit.framed:  # Python's own cookies know that only from 3.14 on
        header, cookie = response.raw_headers[-1]
        response.raw_headers[-1] = (header, cookie + b"; Partitioned")


def drop(response: Response, visit: Visit, name: str) -> None:
    keep(response, visit, name, "", hours=0)


def cookie_name(name: str, *, secure: bool, framed: bool = False) -> str:
    """Return a cookie's name; `__Host-` makes browsers refuse it from anywhere but this host over https."""
    return f"{'__Host-' if secure else ''}klartext-{'framed-' if framed else ''}{name}"


def _is_framed(request: Request) -> bool:
    """Whether a page in a frame asks: the browser says so of the page itself, our script of what it fetches there.

    It only picks the cookie that counts.
    """
    return request.headers.get("sec-fetch-dest") in ("iframe", "frame") or FRAMED in request.headers


def fields(body: bytes, most: int) -> tuple[tuple[str, str], ...]:
    """Return the fields of a posted form in order; raise ValueError for more than `most`."""
    text = body.decode("ascii", "replace")
    return tuple(parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=most))


def from_us(request: Request) -> bool:
    """Whether the browser says that a request came from our own page, or from no page at all."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin") or request.headers.get("referer")
    try:
        return origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:
        return False


def accepted(header: str) -> tuple[str, ...]:
    """Return the languages of an Accept-Language header, best first."""
    found: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.strip().partition(";q=")
        try:
            found.append((-float(weight or 1), tag.split("-")[0].lower()))
        except ValueError:
            continue
    return tuple(tag for _, tag in sorted(found, key=lambda each: each[0]))
