"""One request of a member of staff: what is asked for, by whom, and that a form came from our own page."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from bot.editorial.people import HERE, Person, Task, Whence
from bot.settings import LOOPBACK_HOSTS
from bot.web.middleware import address_of
from bot.web.page.visit import accepted, cookie_name, fields, form_token, fresh_session, from_us

MOST_DIGITS = 9
MOST_FIELDS = 4000  # a pair has some hundreds of variants
SECRET = re.compile(r"[A-Za-z0-9_-]{43}|new\.[A-Za-z0-9_-]{43}")
SESSION, LOOK, PENDING, DEVICE = "staff", "staff-look", "staff-login", "staff-device"  # names of cookies
A_YEAR_S, HALF_A_DAY_S, TEN_MINUTES_S = 31_536_000, 43_200, 600


@dataclass(frozen=True, slots=True)
class StaffVisit:
    """What a browser sent.

    Attributes:
        path: Of the address, from `CONSOLE` on.
        parts: What stands in the address for the placeholders of its route.
        query: Of the address; no patient's text ever stands there.
        form: The fields of a form, in order, if it was posted.
        secret: Of the session, or of a browser that has not logged in; empty: the browser has none.
        person: Who is logged in; None: nobody.
        language: Of the pages.
        secure: Whether cookies are for https only.
        own_form: Whether the browser says that the request came from our own page, or from no page at all.
        wants_json: Whether a program asks, not a person.
        pending: What the browser must come back with from the identity provider; empty where it went to none.
        file: Name and bytes of the file that came with the form; None where there was none.
        whence: Where it comes from; a browser that nobody has logged in with yet gets a secret of its own.
    """

    path: str
    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Sequence[tuple[str, str]] = ()
    secret: str = ""
    person: Person | None = None
    language: str = "de"
    secure: bool = True
    own_form: bool = True
    wants_json: bool = False
    pending: str = ""
    file: tuple[str, bytes] | None = None
    whence: Whence = HERE

    @property
    def who(self) -> Person:
        """Who is logged in, at an address that nobody else reaches."""
        assert self.person is not None
        return self.person

    def may(self, task: Task) -> bool:
        return self.person is not None and self.person.may(task)

    def said(self, name: str) -> str:
        """Return a field of the form; empty when it is missing."""
        return next((value for key, value in self.form if key == name), "")

    def all_said(self, name: str) -> list[str]:
        return [value for key, value in self.form if key == name]

    @property
    def form_token(self) -> str:
        return form_token(self.secret)

    @property
    def is_honest(self) -> bool:
        """Whether a posted form is one that this browser got from us."""
        given = self.said("token").encode("utf-8", "replace")
        return bool(self.secret) and self.own_form and hmac.compare_digest(given, self.form_token.encode())


def read_staff_visit(request: Request, body: bytes, languages: Sequence[str]) -> StaffVisit:
    """Read a request; who it is from is looked up by the secret.

    Raises:
        ValueError: The form has too many fields.
    """
    secure = request.url.scheme == "https" or (request.url.hostname or "") not in LOOPBACK_HOSTS
    secret = request.cookies.get(cookie_name(SESSION, secure=secure), "")
    chosen = request.cookies.get(cookie_name(LOOK, secure=secure), "")
    device = request.cookies.get(cookie_name(DEVICE, secure=secure), "")
    wanted = (chosen, *accepted(request.headers.get("accept-language", "")), languages[0])
    return StaffVisit(
        path=request.url.path,
        parts={name: str(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        form=fields(body, MOST_FIELDS),
        secret=secret if SECRET.fullmatch(secret) else "",
        language=next(each for each in wanted if each in languages),
        secure=secure,
        own_form=from_us(request),
        wants_json="application/json" in request.headers.get("accept", ""),
        pending=request.cookies.get(cookie_name(PENDING, secure=secure), ""),
        whence=Whence(address_of(request.scope), device if SECRET.fullmatch(device) else fresh_secret()),
    )


def whole_number(written: str) -> int | None:
    """Return a number that an address or a form names; None for what is none, or larger than any of ours."""
    return int(written) if written.isascii() and written.isdigit() and len(written) <= MOST_DIGITS else None


def keep_secret(response: Response, visit: StaffVisit, secret: str) -> None:
    """Put the session's secret into a response; empty: take it away.

    Lax, not Strict: who comes back from the identity provider must find the session that was just begun.
    """
    _keep(response, visit, SESSION, secret, HALF_A_DAY_S if secret else 0)


def keep_pending(response: Response, visit: StaffVisit, pending: str) -> None:
    """Put into a response what the browser must come back with from the identity provider; empty: take it away."""
    _keep(response, visit, PENDING, pending, TEN_MINUTES_S if pending else 0)


def keep_device(response: Response, visit: StaffVisit) -> None:
    """Have the browser say from now on that somebody logged in with it: strangers cannot lock them out there."""
    _keep(response, visit, DEVICE, visit.whence.device, A_YEAR_S)


def keep_language(response: Response, visit: StaffVisit, language: str) -> None:
    _keep(response, visit, LOOK, language, A_YEAR_S)


def fresh_secret() -> str:
    """Return a secret for a browser that has not logged in: its forms carry a token of it."""
    return fresh_session()


def _keep(response: Response, visit: StaffVisit, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(name, secure=visit.secure),
        value,
        max_age=seconds,
        path="/",
        secure=visit.secure,
        httponly=True,
        samesite="lax",
    )
