"""Take up patients who come from a hospital's portal or EHR: SMART App Launch, as the browser sees it.

Between launch and callback the patient is at the provider. A cookie of this browser then holds what has to come back,
sealed; it is good once and for ten minutes. At the end stands what a signed link would have said, sealed as a link is.
"""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse, Response

from bot.errors import BadData, LaunchFailed, LaunchReason
from bot.ports import Booking, Launched, Launcher, PendingLaunch
from bot.web.links import PATIENT, Invitation, invite, mac, seal
from bot.web.page.handlers import Pages
from bot.web.page.rendering import PageProblem
from bot.web.page.visit import LINK_S, Visit, drop, keep

log = logging.getLogger("klartext")
SIGN_IN_S = 600  # to sign in at the provider
MAX_PARAMETER = 4096  # of an address; a launch may be a signed token
MAX_REMEMBERED = 10_000  # launches that came back
PURPOSE = b"klartext launch 1\0"
STATUSES: dict[LaunchReason, HTTPStatus] = {
    "unknown": HTTPStatus.FORBIDDEN,
    "odd": HTTPStatus.BAD_REQUEST,
    "denied": HTTPStatus.FORBIDDEN,
    "late": HTTPStatus.GONE,
    "down": HTTPStatus.SERVICE_UNAVAILABLE,
    "unproven": HTTPStatus.BAD_GATEWAY,
    "no_patient": HTTPStatus.CONFLICT,
}


class _Used:
    """States that came back to this process: a launch is good once, also where a browser kept its cookie."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def first(self, state: str) -> bool:
        with self._lock:
            if state in self._seen:
                return False
            self._seen[state] = None
            if len(self._seen) > MAX_REMEMBERED:
                self._seen.popitem(last=False)
            return True


@dataclass(frozen=True, slots=True)
class LaunchPages:
    """The two addresses of a launch.

    Attributes:
        pages: The page that patients go on to.
        launcher: Signs them in.
    """

    pages: Pages
    launcher: Launcher
    _used: _Used = field(default_factory=_Used)

    def launch(self, visit: Visit) -> Response:
        """Send a patient to sign in: from an EHR with `iss` and `launch`, alone with `iss` or nothing.

        `exam` names the one that it is about, where there are several.
        """
        issuer, launch = visit.query.get("iss", ""), visit.query.get("launch", "")
        try:
            if max(len(issuer), len(launch)) > MAX_PARAMETER or (launch and not issuer):
                raise LaunchFailed("odd", "the launch is too long, or names no issuer")
            address, pending = self.launcher.begin(issuer, launch)
            exam = visit.query.get("exam", "")
            if exam and exam not in self.pages.exams:
                raise LaunchFailed("odd", f"the launch names an exam that is not served: {exam[:64]!a}")
        except LaunchFailed as failed:
            raise self._problem(failed) from None
        response = RedirectResponse(address, HTTPStatus.SEE_OTHER)
        keep(response, visit, "launch", self._sealed(replace(pending, exam=exam)), hours=SIGN_IN_S / 3600)
        return response

    def callback(self, visit: Visit) -> Response:
        """Take up a patient who has signed in; the address is left at once, so that the code stays in no history."""
        provider = ""
        try:
            pending = self._pending(visit)
            provider = urlsplit(pending.issuer).netloc
            if visit.query.get("error"):
                # Which of the two it is, the code says; what else stands there nobody has vouched for.
                ours = visit.query["error"] in ("server_error", "temporarily_unavailable")
                raise LaunchFailed("down" if ours else "denied", "the provider refused to sign in")
            code = visit.query.get("code", "")
            if not code or len(code) > MAX_PARAMETER:
                raise LaunchFailed("odd", "the answer holds no code")
            launched = self.launcher.finish(pending, code, issuer=visit.query.get("iss", ""))
            invitation = self._invitation(launched, visit, pending)
        except LaunchFailed as failed:
            raise self._problem(failed, provider) from None
        self.pages.metrics.launch("launched")
        log.info("launched", extra={"fields": {"provider": provider, "user": launched.user or "unknown"}})
        key = self.pages.settings.link_key or ""
        response = self.pages.take_up(visit, seal(invitation, key), invitation)
        drop(response, visit, "launch")
        return response

    def _invitation(self, launched: Launched, visit: Visit, pending: PendingLaunch) -> Invitation:
        """Return what a link would say; identifiers of a visit that could not stand in one are left out."""
        renderer = self.pages.renderer
        spoken = next((each for each in launched.languages if renderer.speaks(each)), renderer.language_of(visit))
        booked = {name: value for name, value in asdict(launched.booking).items() if PATIENT.fullmatch(value)}
        try:
            return invite(
                launched.patient,
                exam=pending.exam or (self.pages.exams[0] if len(self.pages.exams) == 1 else ""),
                language=spoken,
                expires=self.pages.reception.now() + timedelta(seconds=LINK_S),
                booking=Booking(**booked),
            )
        except BadData:
            raise LaunchFailed("no_patient", "the patient's identifier could not stand in a link") from None

    def _problem(self, failed: LaunchFailed, provider: str = "") -> PageProblem:
        fields = {"reason": failed.reason, "detail": failed.detail, **({"provider": provider} if provider else {})}
        self.pages.metrics.launch(failed.reason)
        log.warning("launch failed", extra={"fields": fields})
        wait_s = 60.0 if failed.reason == "down" else 0.0
        return PageProblem(STATUSES[failed.reason], sentence=f"launch_{failed.reason}", wait_s=wait_s)

    def _sealed(self, pending: PendingLaunch) -> str:
        until = self.pages.reception.now() + timedelta(seconds=SIGN_IN_S)
        said = json.dumps({**asdict(pending), "until": int(until.timestamp())}, separators=(",", ":"))
        content = base64.urlsafe_b64encode(said.encode()).decode()
        return f"{content}.{mac(content, self.pages.settings.link_key or '', PURPOSE)}"

    def _pending(self, visit: Visit) -> PendingLaunch:
        """Return the launch that this browser began, if it is what comes back, in time and for the first time."""
        content, _, given = visit.launch.partition(".")
        key, now = self.pages.settings.link_key or "", self.pages.reception.now()
        if not content or not compare_digest(mac(content, key, PURPOSE).encode(), given.encode("utf-8", "replace")):
            raise LaunchFailed("late", "this browser has begun no launch")
        said = json.loads(base64.urlsafe_b64decode(content))
        until = datetime.fromtimestamp(said.pop("until"), UTC)
        pending = PendingLaunch(**said)
        if not compare_digest(pending.state.encode(), visit.query.get("state", "").encode("utf-8", "replace")):
            raise LaunchFailed("late", "the state is another launch's")
        if now >= until:
            raise LaunchFailed("late", "the launch has expired")
        if not self._used.first(pending.state):
            raise LaunchFailed("late", "the state was used before")
        return pending
