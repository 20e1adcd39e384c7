"""Logging in and out, one's own account, and the accounts of others."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from bot.editorial.login import PendingLogin
from bot.editorial.people import MOST_NAME, ROLES, SHORTEST_PASSWORD, TASKS_OF, Person, Role
from bot.errors import BadData, Busy, LaunchFailed
from bot.web.limits import RateLimit
from bot.web.logs import request_id
from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import LANGUAGES, StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit, fresh_secret, keep_device, keep_language, keep_pending, keep_secret

log = logging.getLogger("klartext")
ATTEMPTS_PER_MINUTE = 60  # of all who log in here: a guess costs the service a tenth of a second


class Accounts(Area):
    """Everybody's own account; administrators see all of them."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._attempts = RateLimit(ATTEMPTS_PER_MINUTE, clock_s=time.monotonic)

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/login", self.login, None),
            Address("POST", "/login", self.enter, None),
            Address("GET", "/login/outside", self.go_outside, None),
            Address("GET", "/login/back", self.come_back, None),
            Address("GET", "/login/code", self.ask_code, None),
            Address("POST", "/login/code", self.enter_code, None),
            Address("POST", "/language", self.language, None),
            Address("POST", "/logout", self.leave, "look"),
            Address("GET", "/account", self.account, "look"),
            Address("POST", "/account/password", self.new_password, "look"),
            Address("POST", "/account/code", self.new_code, "look"),
            Address("POST", "/account/code/confirm", self.confirm_code, "look"),
            Address("GET", "/people", self.everybody, "people", menu="menu_people"),
            Address("POST", "/people", self.add, "people"),
            Address("GET", "/people/{login}", self.one, "people"),
            Address("POST", "/people/{login}", self.change, "people"),
        ]

    def login(self, visit: StaffVisit) -> Response:
        if visit.person is not None:
            return go_to("")
        return self._login_page(visit, "")

    def _login_page(self, visit: StaffVisit, flaw: str, *, status: int = 200) -> Response:
        fresh = replace(visit, secret=visit.secret if visit.secret.startswith("new.") else fresh_secret())
        outside = self.tools.identity is not None
        why = "login_ended" if visit.query.get("why") == "ended" else ""
        back = _back(visit.query.get("back", "") or visit.said("back"))
        response = self.renderer.page(
            "login", fresh, status=status, flaw=flaw, why=why, back=back, login=visit.said("login"), outside=outside
        )
        keep_secret(response, fresh, fresh.secret)
        return response

    def enter(self, visit: StaffVisit) -> Response:
        if self._attempts.wait_s("all"):
            return self._login_page(visit, "login_busy", status=HTTPStatus.TOO_MANY_REQUESTS)
        login, password, now = visit.said("login").strip(), visit.said("password"), self.tools.now()
        try:
            entry, secret = self.tools.people.enter(login, password, now=now, whence=visit.whence)
        except Busy:
            return self._login_page(visit, "login_busy", status=HTTPStatus.TOO_MANY_REQUESTS)
        if entry not in ("in", "code"):
            # One sentence for all of it: nobody learns which logins exist.
            return self._login_page(visit, "login_wrong", status=HTTPStatus.FORBIDDEN)
        back = _back(visit.said("back"))
        response = go_to(f"/login/code?{urlencode({'back': back})}" if entry == "code" else back)
        keep_secret(response, visit, secret)
        if entry == "in":
            keep_device(response, visit)
        return response

    def go_outside(self, visit: StaffVisit) -> Response:
        """Send the browser to the hospital's identity provider."""
        if self.tools.identity is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        try:
            address, pending = self.tools.identity.begin()
        except LaunchFailed as failed:
            return self._not_vouched(visit, failed)
        response = RedirectResponse(address, HTTPStatus.SEE_OTHER)
        keep_pending(response, visit, f"{pending.state}.{pending.nonce}.{pending.verifier}")
        return response

    def come_back(self, visit: StaffVisit) -> Response:
        """Log in who comes back from there, if it is the browser that went."""
        identity, said = self.tools.identity, visit.pending.split(".")
        if identity is None or len(said) != 3:
            return self._login_page(visit, "login_outside_late", status=HTTPStatus.FORBIDDEN)
        pending = PendingLogin(*said)
        if not hmac.compare_digest(visit.query.get("state", "").encode(), pending.state.encode()):
            return self._login_page(visit, "login_outside_late", status=HTTPStatus.FORBIDDEN)
        try:
            claims = identity.finish(pending, visit.query.get("code", ""))
        except LaunchFailed as failed:
            return self._not_vouched(visit, failed)
        login = self.tools.settings.staff_login
        person = login.person(claims) if login is not None else None
        if person is None or login is None:
            log.warning("a member of staff has no role here", extra={"fields": {"request_id": request_id()}})
            return self._login_page(visit, "login_outside_no_role", status=HTTPStatus.FORBIDDEN)
        person = replace(person, language=visit.language)
        now = self.tools.now()
        entry, secret = self.tools.people.enter_from_outside(login.issuer, str(claims["sub"]), person, now=now)
        if entry != "in":
            return self._login_page(visit, "login_wrong", status=HTTPStatus.FORBIDDEN)
        response = go_to("")
        keep_secret(response, visit, secret)
        keep_pending(response, visit, "")
        return response

    def _not_vouched(self, visit: StaffVisit, failed: LaunchFailed) -> Response:
        log.warning("a login from outside failed", extra={"fields": {"reason": failed.reason, "detail": failed.detail}})
        response = self._login_page(visit, "login_outside_failed", status=HTTPStatus.BAD_GATEWAY)
        keep_pending(response, visit, "")
        return response

    def ask_code(self, visit: StaffVisit) -> Response:
        return self._code_page(visit, "")

    def enter_code(self, visit: StaffVisit) -> Response:
        if self._attempts.wait_s("all"):
            return self._code_page(visit, "login_busy", status=HTTPStatus.TOO_MANY_REQUESTS)
        now, code = self.tools.now(), visit.said("code")
        if self.tools.people.enter_code(visit.secret, code, now=now, whence=visit.whence) != "in":
            return self._code_page(visit, "code_wrong", status=HTTPStatus.FORBIDDEN)
        response = go_to(_back(visit.said("back")))
        keep_device(response, visit)
        return response

    def _code_page(self, visit: StaffVisit, flaw: str, *, status: int = 200) -> Response:
        back = _back(visit.query.get("back", "") or visit.said("back"))
        return self.renderer.page("login_code", visit, flaw=flaw, back=back, status=status)

    def leave(self, visit: StaffVisit) -> Response:
        """Log out; who holds conversations with patients is told first, and they wait for others again then."""
        calls, name = self.tools.calls, visit.who.name
        open_ = calls.open() if calls is not None and visit.may("desk") else []
        held = [call for call in open_ if call.is_taken and call.name.casefold() == name.casefold()]
        if held and not visit.said("sure"):
            return self.renderer.page("logout", visit, status=HTTPStatus.CONFLICT, held=held)
        if calls is not None and held:
            calls.let_go(name, at=self.tools.now())
        self.tools.people.leave(visit.secret)
        response = go_to("/login")
        keep_secret(response, visit, "")
        return response

    def language(self, visit: StaffVisit) -> Response:
        wanted, back = visit.said("language"), visit.said("back")
        response = go_to(back if back.startswith("/") and not back.startswith("//") else "")
        if wanted in LANGUAGES:
            keep_language(response, visit, wanted)
        return response

    def account(self, visit: StaffVisit, *, line: str = "", secret: str = "", status: int = 200) -> Response:
        return self.renderer.page(
            "account",
            visit,
            status=status,
            line=line,
            secret=secret,
            offered=_offered(visit, secret),
            address=self.tools.people.address_of_code(visit.who, secret) if secret else "",
            shortest=SHORTEST_PASSWORD,
            was_reset=visit.who.was_reset(self.tools.now()),
            tasks=sorted({task for role in visit.who.roles for task in TASKS_OF[role]}),
        )

    def new_password(self, visit: StaffVisit) -> Response:
        person, wanted = visit.who, visit.said("new")
        now, password = self.tools.now(), visit.said("password")
        entry, _ = self.tools.people.enter(person.login, password, now=now, whence=visit.whence)
        if entry not in ("in", "code"):
            return self.account(visit, line=self.renderer.labels(visit.language)["password_wrong"], status=400)
        try:
            self.tools.people.change(person, by=person.name, password=wanted)
        except BadData as error:
            return self.account(visit, line=self.renderer.told_of(error, visit.language), status=400)
        response = go_to("/login", told="password")
        keep_secret(response, visit, "")
        return response

    def new_code(self, visit: StaffVisit) -> Response:
        """Offer a new secret to whoever knows the password: a session that was left open is not enough."""
        now, password = self.tools.now(), visit.said("password")
        entry, secret = self.tools.people.enter(visit.who.login, password, now=now, whence=visit.whence)
        if secret:
            self.tools.people.leave(secret)
        if entry not in ("in", "code"):
            return self.account(visit, line=self.renderer.labels(visit.language)["password_wrong"], status=400)
        return self.account(visit, secret=self.tools.people.new_code())

    def confirm_code(self, visit: StaffVisit) -> Response:
        secret, code = visit.said("secret"), visit.said("code")
        if not hmac.compare_digest(visit.said("offered").encode(), _offered(visit, secret).encode()):
            raise StaffProblem(HTTPStatus.BAD_REQUEST, "error_form")
        if not self.tools.people.confirm_code(visit.who, secret, code, now=self.tools.now()):
            labels = self.renderer.labels(visit.language)
            return self.account(visit, line=labels["code_wrong"], secret=secret, status=400)
        return go_to("/account", told="code")

    def everybody(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        return self.renderer.page(
            "people",
            visit,
            status=status,
            line=line,
            people=self.tools.people.all(),
            roles=ROLES,
            said={name: value for name, value in visit.form if len(value) <= MOST_NAME},
        )

    def add(self, visit: StaffVisit) -> Response:
        login, name = visit.said("login").strip(), visit.said("name").strip()
        try:
            person = Person(0, login, name, _roles(visit), visit.language)
            self.tools.people.add(person, visit.said("password"), by=visit.who.name)
        except BadData as error:
            return self.everybody(visit, line=self.renderer.told_of(error, visit.language), status=400)
        return go_to("/people", told="saved")

    def one(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        return self.renderer.page(
            "person",
            visit,
            status=status,
            line=line,
            person=self._meant(visit),
            roles=ROLES,
            shortest=SHORTEST_PASSWORD,
        )

    def change(self, visit: StaffVisit) -> Response:
        known = self._meant(visit)
        try:
            wanted = replace(
                known,
                name=visit.said("name").strip() if not known.outside else known.name,
                roles=_roles(visit) if not known.outside else known.roles,
                closed=bool(visit.said("closed")),
                has_code=known.has_code and not visit.said("no_code"),
            )
            self.tools.people.change(wanted, by=visit.who.name, password=visit.said("password") or None)
        except BadData as error:
            return self.one(visit, line=self.renderer.told_of(error, visit.language), status=400)
        return go_to("/people", told="saved")

    def _meant(self, visit: StaffVisit) -> Person:
        found = self.tools.people.by_login(visit.parts["login"])
        if found is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return found


def _back(path: str) -> str:
    """Return where in the console somebody goes on after logging in; empty: at the beginning."""
    return path if path.startswith("/") and path.isascii() and path.isprintable() and "\\" not in path else ""


def _offered(visit: StaffVisit, secret: str) -> str:
    """Return what shows that a secret for one-time codes was offered to this session, not brought along."""
    return hmac.new(visit.secret.encode(), f"code {secret}".encode(), "sha256").hexdigest()


def _roles(visit: StaffVisit) -> frozenset[Role]:
    """Return the roles that a form names: all or none, for one that there is not would take the others away."""
    wanted = visit.all_said("role")
    if odd := set(wanted).difference(ROLES):
        raise BadData(f"There is no role {min(odd)[:MOST_NAME]!r}. There are {', '.join(ROLES)}.")
    return frozenset(role for role in ROLES if role in wanted)
