"""Errors as problem+json (RFC 9457): one clear sentence, the emergency notice, and nothing that a patient wrote."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from bot.catalog.countries import Country
from bot.errors import CallRefused, Erased, NoSuchChoice, Reused, Unreachable
from bot.languages.files import known
from bot.sentences.reply import emergency_notice
from bot.talk.uploads import FileRefused
from bot.web.logs import request_id

log = logging.getLogger("klartext")
MEDIA_TYPE = "application/problem+json"
Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]


# Whose numbers errors name. A process serves one place; what is no HTTP is refused before any application sees it.
COUNTRY: ContextVar[Country | None] = ContextVar("country", default=None)


# Somebody whose message was not taken may be in danger: every error says whom to call.
def emergency_notices() -> dict[str, str]:
    """Return whom to call, by language: in the country that is served, where that is known."""
    return {language: emergency_notice(language, COUNTRY.get()).text for language in known()}


class ProblemView(BaseModel):
    """What went wrong, and what to do; `request_id` finds the request in the logs."""

    type: str
    title: str
    status: int
    detail: str
    emergency_notice: dict[str, str]
    request_id: str


class Problem(Exception):
    """An answer that is an error."""

    def __init__(self, status: HTTPStatus, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


def no_access() -> Problem:
    """Return the same answer for a wrong secret and for a conversation that does not exist."""
    return Problem(
        HTTPStatus.UNAUTHORIZED,
        "Send the conversation's token as `Authorization: Bearer TOKEN`; the conversation may also have been deleted.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def no_token(setting: str) -> Problem:
    """Return the answer for who lacks the secret of another system, and what it is called where it is set."""
    return Problem(
        HTTPStatus.UNAUTHORIZED,
        f"Send {setting} as `Authorization: Bearer TOKEN`: it is missing, or another than here.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def too_many(wait_s: float) -> Problem:
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many messages in a short time. Please wait a moment and send it again.",
        headers={"Retry-After": str(max(1, round(wait_s)))},
    )


def too_large() -> Problem:
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _SENTENCES[HTTPStatus.REQUEST_ENTITY_TOO_LARGE])


def unreadable() -> Problem:
    return Problem(HTTPStatus.BAD_REQUEST, _SENTENCES[HTTPStatus.BAD_REQUEST])


def head_too_large() -> Problem:
    return Problem(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too long.")


def not_ready() -> Problem:
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The service is still starting. Please try again in a minute.",
        headers={"Retry-After": "5"},
    )


def respond(problem: Problem) -> JSONResponse:
    body = ProblemView(
        type="about:blank",
        title=problem.status.phrase,
        status=problem.status,
        detail=problem.detail,
        emergency_notice=emergency_notices(),
        request_id=request_id(),
    )
    return JSONResponse(body.model_dump(), problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def log_refusal(path: str, problem: Problem) -> None:
    """Log why another system's call was refused: whoever runs it sees nothing but its own patients' trouble."""
    log.warning("%s refused (%d): %s", path, problem.status, problem.detail)


async def _problem(request: Request, error: Exception) -> JSONResponse:
    problem = error if isinstance(error, Problem) else unexpected()
    route = getattr(request.scope.get("route"), "path", "")
    if route.startswith("/webhooks/"):
        log_refusal(route, problem)
    return respond(problem)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    # Names of fields that exist, and pydantic's kinds of errors: never values, and never unknown names.
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    places = sorted({_place(found["type"], found["loc"]) for found in errors})
    return respond(Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"The request is not as documented: {', '.join(places)}."))


def _place(kind: str, location: tuple[Any, ...]) -> str:
    if kind == "json_invalid" or len(location) < 2:
        return f"body ({kind})"
    return "an unknown field" if kind == "extra_forbidden" else f"{location[1]} ({kind})"


async def _http(_: Request, error: Exception) -> JSONResponse:
    status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    headers = error.headers if isinstance(error, HTTPException) else None
    return respond(Problem(status, _SENTENCES.get(status, "The request cannot be answered."), headers=headers))


async def _conflict(_: Request, error: Exception) -> JSONResponse:
    return respond(Problem(HTTPStatus.CONFLICT, str(error)))


async def _call(_: Request, error: Exception) -> JSONResponse:
    there = isinstance(error, CallRefused) and error.reason not in ("none", "deleted")
    return respond(Problem(HTTPStatus.CONFLICT if there else HTTPStatus.NOT_FOUND, str(error)))


_OF_FILES = {
    "size": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "full": HTTPStatus.CONFLICT,
    "not_asked": HTTPStatus.CONFLICT,
    "gone": HTTPStatus.NOT_FOUND,
    "unscanned": HTTPStatus.SERVICE_UNAVAILABLE,
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
}


async def _file(_: Request, error: Exception) -> JSONResponse:
    reason = error.reason if isinstance(error, FileRefused) else ""
    status = _OF_FILES.get(reason, HTTPStatus.UNPROCESSABLE_ENTITY)
    headers = {"Retry-After": "30"} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    return respond(Problem(status, str(error), headers=headers))


async def _erased(_: Request, __: Exception) -> JSONResponse:
    return respond(no_access())


async def _unreachable(_: Request, error: Exception) -> JSONResponse:
    log.error("unreachable: %s", error)
    detail = "The service cannot store messages at the moment. Please try again in a minute."
    return respond(Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"}))


async def _defect(_: Request, __: Exception) -> JSONResponse:
    return respond(unexpected())


def unexpected() -> Problem:
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong. Please ask the team of the department.")


_SENTENCES = {
    HTTPStatus.BAD_REQUEST: "The request cannot be read.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take that method.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Your message is too long. Please write your question in fewer words.",
}

HANDLERS: dict[int | type[Exception], Handler] = {
    Problem: _problem,
    RequestValidationError: _invalid,
    HTTPException: _http,
    Reused: _conflict,
    NoSuchChoice: _conflict,
    FileRefused: _file,
    CallRefused: _call,
    Erased: _erased,
    Unreachable: _unreachable,
    Exception: _defect,
}

DOCUMENTED = {
    HTTPStatus.BAD_REQUEST: "The body cannot be read.",
    HTTPStatus.UNAUTHORIZED: "No token, a wrong one, or the conversation was deleted.",
    HTTPStatus.FORBIDDEN: "Only a portal may say this: its key is missing, or is another.",
    HTTPStatus.NOT_FOUND: "The conversation has no such turn, or does not wait for a person.",
    HTTPStatus.CONFLICT: "The turn id was used for another message, the choice is not offered, or the call is not so.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "Compressed in a way that is not known here.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The request is not as documented.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; Retry-After says when to try again.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Starting, or the database does not answer.",
}


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route for the OpenAPI document."""
    schema = {"$ref": "#/components/schemas/ProblemView"}
    return {
        int(status): {"description": DOCUMENTED[status], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }
