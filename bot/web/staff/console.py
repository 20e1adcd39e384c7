"""The console put together: its areas, who may do what, and what answers a request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.editorial.jobs import Cancelled
from bot.editorial.people import Person
from bot.errors import BadData, Busy, KlartextError, Unreachable, UserFixable
from bot.web.logs import request_id
from bot.web.middleware import CONSOLE
from bot.web.page.visit import FORM, MULTIPART
from bot.web.receiving import multipart_form
from bot.web.staff.area import MOST_FILE_BYTES, Address, Area, Work
from bot.web.staff.rendering import HERE, LANGUAGES, MenuItem, StaffProblem, StaffRenderer, go_to
from bot.web.staff.tools import Refused, Tools
from bot.web.staff.visit import StaffVisit, read_staff_visit
from bot.web.staff.wording import said_of

log = logging.getLogger("klartext")
MOST_BYTES = 4 * 1024 * 1024  # of a form: a pair with its variants; files to import are larger and read elsewhere
LOOK_FOR_WORK_S = 1.0
WITH_FIRST_PASSWORD = ("/account", "/logout")  # all that is open to a password which somebody else gave
WRITTEN = ("edit", "inbox", "desk", "rate", "review")  # tasks whose forms hold what somebody wrote, and no passwords
LITTLE = 200  # characters that are lost without a word


@dataclass
class Console:
    """All areas behind one door: `app` answers what begins with `/console`."""

    tools: Tools
    renderer: StaffRenderer
    areas: Sequence[Area]
    _stopped: threading.Event = field(default_factory=threading.Event)
    _worker: threading.Thread | None = None

    def __post_init__(self) -> None:
        self.renderer.menu = [
            MenuItem(each.path, each.menu, each.task) for each in self.addresses if each.menu and each.task
        ]
        self.renderer.badges = self._badges
        self.tools.checks.extend(check for area in self.areas for check in area.checks())
        self.tools.tops.extend(area.tops for area in self.areas)

    @cached_property
    def addresses(self) -> Sequence[Address]:
        """Every address with the task that it asks for."""
        return [address for area in self.areas for address in area.addresses()]

    @cached_property
    def works(self) -> Mapping[str, Work]:
        return {kind: work for area in self.areas for kind, work in area.works().items()}

    @cached_property
    def app(self) -> ASGIApp:
        async def file(request: Request) -> Response:
            found = self.renderer.files.get(request.path_params["name"])
            if found is None:
                raise StaffProblem(HTTPStatus.NOT_FOUND)
            return found.respond()

        routes = [
            Route(CONSOLE + each.path, self._endpoint(each), methods=[each.method], name=each.path)
            for each in self.addresses
        ]
        handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
            (StaffProblem, HTTPException, KlartextError, Exception), self._apologise
        )
        app = Starlette(routes=[Route(f"{CONSOLE}/static/{{name}}", file), *routes], exception_handlers=dict(handlers))
        app.router.redirect_slashes = False
        return app

    def start(self) -> None:
        """Begin to do jobs in the background."""
        self._worker = threading.Thread(target=self._work, daemon=True, name="console-jobs")
        self._worker.start()

    def stop(self) -> None:
        """End that; a job that is under way is begun again by whoever finds it."""
        self._stopped.set()
        if self._worker is not None:
            self._worker.join(timeout=5)
        if self.tools.identity is not None:
            self.tools.identity.close()

    def _badges(self, person: Person) -> dict[str, int]:
        return {label: count for area in self.areas for label, count in area.badges(person).items()}

    def _endpoint(self, address: Address) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if address.takes_file:
                # Before anything of it is read: strangers send no large files.
                refused = await run_in_threadpool(lambda: self._refused(address, self._known(request, b"")))
                if refused is not None:
                    return refused
            body = await _body(request, address)
            return await run_in_threadpool(self._answer, address, request, body)

        return endpoint

    def _answer(self, address: Address, request: Request, body: bytes) -> Response:
        file: tuple[str, bytes] | None = None
        if address.takes_file:
            fields, name, content = multipart_form(request.headers.get("content-type", ""), body)
            body, file = urlencode(fields).encode(), (name, content) if name or content else None
        visit = replace(self._known(request, body), file=file)
        holds_work = _holds_work(address, visit)
        refused = self._refused(address, visit)
        if refused is not None:
            return self._again(visit) if holds_work else refused
        if address.method == "POST" and not visit.is_honest:
            if holds_work:
                return self._again(visit)
            raise StaffProblem(HTTPStatus.FORBIDDEN, "error_form")
        return address.handler(visit)

    def _refused(self, address: Address, visit: StaffVisit) -> Response | None:
        """Return what is answered to whoever is not logged in; raise StaffProblem where the roles do not allow it."""
        if address.task is None:
            return None
        if visit.person is None:
            return self._to_login(visit)
        if not visit.may(address.task):
            raise StaffProblem(HTTPStatus.FORBIDDEN)
        if visit.person.one_time and not address.path.startswith(WITH_FIRST_PASSWORD):
            # Whoever gave the password knows it: what is done with it is not done by this person for certain.
            if address.method == "GET" and not visit.wants_json:
                return go_to("/account", told="one_time")
            raise StaffProblem(HTTPStatus.FORBIDDEN, "error_one_time")
        return None

    def most_bytes(self, path: str) -> int:
        """Return how long the body of a request may be."""
        takes_file = any(each.takes_file and path == CONSOLE + each.path for each in self.addresses)
        return MOST_FILE_BYTES + MOST_BYTES if takes_file else MOST_BYTES

    def _known(self, request: Request, body: bytes) -> StaffVisit:
        try:
            visit = read_staff_visit(request, body, LANGUAGES)
        except ValueError:
            raise StaffProblem(HTTPStatus.BAD_REQUEST) from None
        if not visit.secret or visit.secret.startswith("new."):
            return visit
        session = self.tools.people.session(visit.secret, now=self.tools.now())
        if session is None or session.waits_for_code:
            return visit
        return replace(visit, person=session.person)

    def _again(self, visit: StaffVisit) -> Response:
        """Keep what somebody wrote whose session has ended: once logged in again, they send it from this page."""
        kept = [(name, value) for name, value in visit.form if name != "token"]
        return self.renderer.page("again", visit, status=int(HTTPStatus.CONFLICT), kept=kept)

    def _to_login(self, visit: StaffVisit) -> Response:
        if visit.wants_json:
            return JSONResponse({"error": "not logged in"}, HTTPStatus.UNAUTHORIZED)
        there = visit.path.removeprefix(CONSOLE) if not visit.form else ""
        query = (
            f"?{urlencode({'why': 'ended', 'back': there})}"
            if there and visit.secret and not visit.secret.startswith("new.")
            else ""
        )
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": f"{CONSOLE}/login{query}"})

    async def _apologise(self, request: Request, error: Exception) -> Response:
        problem = _problem(error)
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("a page of the console failed", exc_info=error)
        try:
            visit = await run_in_threadpool(self._known, request, b"")
        except (StaffProblem, KlartextError):  # that may be just what is wrong
            visit = StaffVisit(path=request.url.path)
        labels = self.renderer.labels(visit.language)
        said: str = labels["problem_line"] if problem.line else labels.get(problem.sentence, labels["error_500"])
        if isinstance(error, UserFixable) and error.code:
            said = self.renderer.told_of(error, visit.language)
        if visit.wants_json:
            return JSONResponse({"error": problem.line or said, "request_id": request_id()}, problem.status)
        values = {"said": said, "told_as": problem.line, "request_id": request_id()}
        return await run_in_threadpool(self.renderer.page, "problem", visit, status=int(problem.status), **values)

    def _work(self) -> None:
        """Do what is queued, one job at a time."""
        while not self._stopped.wait(LOOK_FOR_WORK_S):
            try:
                job = self.tools.jobs.claim(frozenset(self.works), now=self.tools.now())
            except Unreachable:
                continue
            if job is None:
                continue

            def tell(share: float, told: str, id_: int = job.id) -> None:
                if self._stopped.is_set():
                    raise Cancelled
                self.tools.jobs.tell(id_, share, told, now=self.tools.now())

            try:
                result = self.works[job.kind](job, tell)
                self.tools.jobs.end(job.id, "done", "", result, now=self.tools.now())
            except Cancelled:
                log.info("job stopped", extra={"fields": {"job": job.id, "kind": job.kind}})
            except Refused as error:
                found = {"verdicts": [asdict(each) for each in error.verdicts]}
                self.tools.jobs.end(job.id, "failed", str(error), found, now=self.tools.now())
            except KlartextError as error:
                is_coded = isinstance(error, UserFixable) and error.code
                words = {"said": asdict(said_of(error))} if is_coded and isinstance(error, UserFixable) else {}
                self.tools.jobs.end(job.id, "failed", str(error), words, now=self.tools.now())
            except Exception as error:
                log.error("a job failed", exc_info=error, extra={"fields": {"job": job.id, "kind": job.kind}})
                self.tools.jobs.end(job.id, "failed", type(error).__name__, {}, now=self.tools.now())


def _holds_work(address: Address, visit: StaffVisit) -> bool:
    """Whether a form that cannot be taken holds what somebody wrote, sent from a page of ours."""
    asked = address.method == "POST" and not visit.wants_json and visit.own_form and visit.file is None
    if asked and address.task == "desk" and visit.said("text"):
        return True  # to a patient, every word counts
    return asked and address.task in WRITTEN and sum(len(value) for _, value in visit.form) > LITTLE


def staff_headers() -> dict[str, str]:
    """Return the security headers of the console: everything comes from here, and nothing may frame it."""
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


def make_console(tools: Tools, areas: Sequence[type[Area]], *, zone: tzinfo | None = None, place: str = "") -> Console:
    """Return the console of these areas, in this order; `zone`: of the place, whose name is `place`."""
    folders: list[Path] = [HERE]
    for make in areas:
        if make.folder is not None and make.folder not in folders:
            folders.append(make.folder)
    renderer = StaffRenderer(folders, zone=zone, place=place, sample=tools.sample)
    return Console(tools, renderer, [make(tools, renderer) for make in areas])


async def _body(request: Request, address: Address) -> bytes:
    body = bytearray()
    kind, most = (MULTIPART, MOST_FILE_BYTES + MOST_BYTES) if address.takes_file else (FORM, MOST_BYTES)
    if request.method == "POST":
        if request.headers.get("content-type", "").partition(";")[0].strip() != kind:
            raise StaffProblem(HTTPStatus.BAD_REQUEST)
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise StaffProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except ClientDisconnect:
            raise StaffProblem(HTTPStatus.BAD_REQUEST) from None
    return bytes(body)


def _problem(error: Exception) -> StaffProblem:
    if isinstance(error, StaffProblem):
        return error
    if isinstance(error, HTTPException):
        return StaffProblem(HTTPStatus(error.status_code))
    if isinstance(error, Busy):
        return StaffProblem(HTTPStatus.TOO_MANY_REQUESTS, "login_busy")
    if isinstance(error, Unreachable):
        return StaffProblem(HTTPStatus.SERVICE_UNAVAILABLE)
    if isinstance(error, BadData | KlartextError):
        return StaffProblem(HTTPStatus.BAD_REQUEST, line=str(error))
    return StaffProblem(HTTPStatus.INTERNAL_SERVER_ERROR)
