"""The addresses of the page, as plain data, and the application around them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.errors import Erased, Unreachable
from bot.ports import Launcher
from bot.settings import Settings
from bot.web.limits import MAX_BODY_BYTES
from bot.web.logs import request_id
from bot.web.page.form import FormPages
from bot.web.page.handlers import Pages
from bot.web.page.launching import LaunchPages
from bot.web.page.rendering import PageProblem
from bot.web.page.visit import FORM, Visit, read_visit

log = logging.getLogger("klartext")
FILE = "klartext.file"  # of a scope: the file that came with a request, or why it is refused
VISIT = "klartext.visit"  # of a scope: what was sent, once it has been read
NOT_SAID = frozenset({"token", "turn", "number"})  # fields of our own
Handler = Callable[[Visit], Response]


@dataclass(frozen=True, slots=True)
class Address:
    """One address. `guarded`: the form must be one that this browser got from us."""

    method: str
    path: str
    handler: Handler
    guarded: bool = True


def addresses(pages: Pages, launcher: Launcher | None = None) -> list[Address]:
    """Return every address of the page."""
    found = [
        Address("GET", "/", pages.start),
        Address("POST", "/begin", pages.begin),
        Address("GET", "/start/{token}", pages.invited),
        Address("GET", "/chat", pages.chat),
        Address("POST", "/chat", pages.say),
        Address("GET", "/news", pages.news),
        Address("POST", "/feedback", pages.flag),
        Address("POST", "/look", pages.look, guarded=False),
        Address("GET", "/copy", pages.copy),
        Address("GET", "/copy/file", pages.copy_file),
        Address("GET", "/delete", pages.confirm),
        Address("POST", "/delete", pages.erase),
        Address("GET", "/end", pages.confirm),
        Address("POST", "/end", pages.end),
        Address("GET", "/goodbye", pages.goodbye),
    ]
    if pages.notices:
        found.append(Address("GET", "/about/{notice}", pages.about))
    if pages.settings.frame_ancestors:
        found.append(Address("GET", "/embed.js", pages.embed))
    if launcher is not None:
        launching = LaunchPages(pages, launcher)
        found.append(Address("GET", "/smart/launch", launching.launch))
        found.append(Address("GET", "/smart/callback", launching.callback))
    form = FormPages(pages.reception, pages.settings, pages.metrics, pages.turns, pages.renderer)
    found += [
        Address("GET", "/form", form.open),
        Address("GET", "/form/check", form.check),
        Address("POST", "/form/check", form.agree),
        Address("GET", "/form/{section}", form.section),
        Address("POST", "/form/{section}", form.save),
    ]
    if pages.settings.uploads is not None:
        found.append(Address("POST", "/upload", pages.upload))
        found.append(Address("POST", "/upload/remove", pages.remove_file))
    return found


def page_headers(settings: Settings) -> dict[str, str]:
    """Return the security headers of pages: everything comes from here, and nothing runs that stands in a page."""
    microphone = "()" if settings.dictation == "off" else "(self)"
    ancestors = " ".join(settings.frame_ancestors) or "'none'"
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            f"form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}"
        ),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": f"camera=(), geolocation=(), microphone={microphone}",
        # Not no-referrer: browsers would then send forms with the origin `null`, which says nothing.
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    if settings.frame_ancestors:
        del headers["X-Frame-Options"]  # it can name no sites
    return headers


def build_pages(pages: Pages, *, is_ready: Callable[[], bool], launcher: Launcher | None = None) -> ASGIApp:
    """Return the application of the page; `launcher`: of patients who come from a portal or EHR."""
    static = pages.renderer.files

    async def file(request: Request) -> Response:
        found = static.get(request.path_params["name"])
        if found is None:
            raise PageProblem(HTTPStatus.NOT_FOUND)
        return found.respond()

    routes = [
        Route(each.path, _endpoint(pages, each, is_ready), methods=[each.method], name=each.path)
        for each in addresses(pages, launcher)
    ]
    respond = _Apology(pages)
    handlers: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        PageProblem: respond,
        HTTPException: respond,
        Erased: respond,
        Unreachable: respond,
        Exception: respond,
    }
    app = Starlette(routes=[Route("/static/{name}", file), *routes], exception_handlers=dict(handlers))
    app.router.redirect_slashes = False
    return app


def refuse(pages: Pages, problem: PageProblem) -> ASGIApp:
    """Return what answers a request that is refused before it is read."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await _Apology(pages)(Request(scope), problem)
        await response(scope, receive, send)

    return app


def _endpoint(pages: Pages, address: Address, is_ready: Callable[[], bool]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        visit = replace(await _visit(request, framing=pages.framing), file=request.scope.get(FILE))
        request.scope[VISIT] = visit  # whatever goes wrong, what was said is known
        if not is_ready():
            raise PageProblem(HTTPStatus.SERVICE_UNAVAILABLE, wait_s=5)
        if address.method == "POST" and not (visit.is_honest if address.guarded else visit.own_form):
            raise PageProblem(HTTPStatus.FORBIDDEN)
        return await run_in_threadpool(address.handler, visit)

    return endpoint


async def _visit(request: Request, *, framing: bool) -> Visit:
    body = bytearray()
    if request.method == "POST":
        if request.headers.get("content-type", "").partition(";")[0].strip() != FORM:
            raise PageProblem(HTTPStatus.BAD_REQUEST)
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise PageProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except ClientDisconnect:
            raise PageProblem(HTTPStatus.BAD_REQUEST) from None
    try:
        return read_visit(request, bytes(body), framing=framing)
    except ValueError:
        raise PageProblem(HTTPStatus.BAD_REQUEST) from None


class _Apology:
    """Answers with a page that says in plain words what happened."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def __call__(self, request: Request, error: Exception) -> Response:
        problem = _problem(error)
        if problem.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and request.url.path.startswith("/form/"):
            problem = PageProblem(problem.status, sentence="error_413_form")
        visit = request.scope.get(VISIT) or self._unread(request)
        # Nothing was stored, and nothing decided: whom to call must not wait for that.
        said = (value for name, value in visit.form if name not in NOT_SAID)
        alarm = next(filter(None, map(self._pages.alarm, said)), None)
        again = visit.said("text") if visit.path == "/chat" and visit.is_honest and problem.may_pass else ""
        response = self._pages.renderer.page(
            "problem",
            visit,
            status=problem.status,
            sentence=problem.sentence,
            in_talk=visit.conversation is not None,
            request_id=request_id(),
            alarm=alarm,
            again=again,
        )
        if problem.wait_s:
            response.headers["Retry-After"] = str(max(1, round(problem.wait_s)))
        return response

    def _unread(self, request: Request) -> Visit:
        try:
            return read_visit(request, b"", framing=self._pages.framing)
        except ValueError:  # that may be just what is wrong with the request
            return Visit(path="/")


def _problem(error: Exception) -> PageProblem:
    if isinstance(error, PageProblem):
        return error
    if isinstance(error, HTTPException):
        known = error.status_code in (400, 404, 405, 413, 431)
        return PageProblem(HTTPStatus(error.status_code) if known else HTTPStatus.INTERNAL_SERVER_ERROR)
    if isinstance(error, Erased):
        return PageProblem(HTTPStatus.GONE)
    if isinstance(error, Unreachable):
        log.error("unreachable: %s", error)
        return PageProblem(HTTPStatus.SERVICE_UNAVAILABLE, wait_s=5)
    return PageProblem(HTTPStatus.INTERNAL_SERVER_ERROR)
