"""Put the service together: which address does what, as plain data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Scope

from bot.assistant import Assistant
from bot.errors import KlartextError
from bot.matching.red_flags import load_red_flags
from bot.ports import Launcher
from bot.release.in_force import ChatState
from bot.sentences.reply import Place, Reply, interface, worded
from bot.sentences.spelling import spelt
from bot.settings import Settings
from bot.talk.conversation import first_language
from bot.talk.dialogue import URGENT_TEXTS
from bot.talk.exams import exam_of
from bot.talk.reception import Reception
from bot.text import seen
from bot.web.api import ConversationApi
from bot.web.background import Background
from bot.web.fair_queue import Crowd
from bot.web.health import StorageHealth
from bot.web.limits import MAX_BODY_BYTES, RateLimit
from bot.web.metrics import CONTENT_TYPE, Metrics
from bot.web.middleware import HEADERS, Envelope, Side, Sides, is_console
from bot.web.page.app import build_pages, page_headers, refuse
from bot.web.page.handlers import Pages
from bot.web.page.rendering import Labels, PageProblem, Renderer, load_labels
from bot.web.problems import HANDLERS, Problem, ProblemView, documented, not_ready, respond
from bot.web.rasa.actions import ActionResult, RasaActions
from bot.web.rasa.project import ACTIONS_PATH
from bot.web.rasa.receiving import MOST_KEPT, Slimming, takes_tracker
from bot.web.receiving import Gate, takes_file
from bot.web.rest_channel import ChannelReply, RestChannel
from bot.web.schemas import (
    ConversationView,
    ExamView,
    ExportView,
    FlagView,
    HealthView,
    StaffView,
    TranscriptView,
    TurnView,
)
from bot.web.senders import Senders
from bot.web.staff.console import Console, staff_headers
from bot.web.staff_api import CallView, InboxView, LiveView, StaffApi
from bot.wiring import make_scanner

API = "/api/v1"
LOOKED_AT = 4000  # characters of a message that has to wait
OF_CONVERSATIONS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
WITH_BODY = (*OF_CONVERSATIONS, HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
# FastAPI records errors and their texts for tracing if anything in the process sets tracing up: not here.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


NOT_HEALTHY: dict[int | str, dict[str, Any]] = {
    int(HTTPStatus.SERVICE_UNAVAILABLE): {"model": HealthView, "description": "Starting, or nothing can be stored."}
}


class MetricsText(Response):
    """Prometheus's own format."""

    media_type = CONTENT_TYPE


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `errors` and `further` are what it may answer instead, for the OpenAPI document."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    answers: Any
    errors: tuple[HTTPStatus, ...] = ()
    status: HTTPStatus = HTTPStatus.OK
    when_ready: bool = True
    kind: type[Response] = JSONResponse
    further: Mapping[int | str, dict[str, Any]] = field(default_factory=dict)
    admit: Callable[..., None] | None = None  # raises Problem for whoever may not ask
    most_bytes: int = MAX_BODY_BYTES  # of a body


@dataclass(frozen=True)
class Service:
    """What the application is made of.

    Attributes:
        reception: Everything that is said or stored goes through it.
        settings: Of this installation.
        left: Is told of a conversation that a patient has ended.
        prepared: Set when the catalog is trained.
        background: What runs beside it; None where nothing does.
        launcher: Signs in patients who come from a portal or EHR; None where none may come from there.
        release: Returns the name of the release in force; empty where there is none.
        names_verified: Returns whether everybody who signed what is in it had logged in.
        chat: Returns how the chat stands, as far as is known without asking the database.
        console: Pages for staff; None where they are served elsewhere, or not at all.
    """

    reception: Reception
    settings: Settings
    left: Callable[[str], None] = field(default=lambda _: None)
    prepared: threading.Event = field(default_factory=threading.Event)
    metrics: Metrics = field(default_factory=Metrics)
    background: Background | None = None
    launcher: Launcher | None = None
    release: Callable[[], str] = field(default=lambda: "")
    names_verified: Callable[[], bool] = field(default=lambda: False)
    chat: Callable[[], ChatState] = field(default=ChatState)
    console: Console | None = None

    @cached_property
    def storage(self) -> StorageHealth:
        own = self.background.storage if self.background is not None else None
        return own or StorageHealth(self.reception.records.try_writing)

    def require_prepared(self) -> None:
        if not self.prepared.is_set():
            raise not_ready()

    async def health(self, response: Response) -> HealthView:
        """Tell whether patients can be served: 503 until the catalog is trained, or while nothing can be stored.

        How delivery stands changes the content only: who is late with that must not lose patients to a load balancer.
        """
        status = await self.storage.look() or ("ready" if self.prepared.is_set() else "starting")
        response.status_code = HTTPStatus.OK if status == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
        chat, known = self.chat(), dict[str, object]()
        if name := self.release():
            known = {"release": name, "chat": "closed" if chat.closed else "open", "chat_closed": chat.closed or None}
            known["expired"] = list(chat.expired) or None
            known["stops_lost"] = list(chat.lost) or None
            known["names"] = "verified" if self.names_verified() else "not verified"
        if self.background is None:
            return HealthView.model_validate({"status": status, **known})
        standing, waiting = self.background.standing(), self.background.waiting()
        known |= {
            "delivery": standing.verdict,
            "oldest_urgent_s": round(standing.oldest_urgent_s, 1),
            "reason": standing.reason or None,
        }
        if waiting is not None:
            urgent_s = round(waiting.urgent_s(self.reception.now()), 1)
            known |= {"outbox_waiting": waiting.backlog.waiting, "urgent_waiting_s": urgent_s}
            known["fhir_server"] = waiting.fault or None
        return HealthView.model_validate({"status": status, **known})

    # These three answer even while all threads wait for the database.
    async def alive(self) -> HealthView:
        """Tell that the process answers."""
        return HealthView(status="alive")

    async def figures(self) -> Response:
        """Return the metrics for Prometheus."""
        if self.background is not None:
            self.background.tell()  # what hangs tells nobody how late it is
        return MetricsText(self.metrics.as_text())


def routes(service: Service) -> list[Route]:
    """Return every operation of the service."""
    turns = RateLimit(service.settings.turns_per_minute, clock_s=time.monotonic)
    uploads = service.settings.uploads
    most_bytes = uploads.most_bytes if uploads is not None else 0
    portals = service.settings.portals
    api = ConversationApi(service.reception, service.metrics, turns, most_bytes=most_bytes, portals=portals)
    one = API + "/conversations/{conversation_id}"
    conflict = (*WITH_BODY, HTTPStatus.CONFLICT)
    not_found = (*WITH_BODY, HTTPStatus.NOT_FOUND)
    begun = (*WITH_BODY[1:], HTTPStatus.FORBIDDEN)
    found = [
        Route("GET", "/healthz", service.health, HealthView, when_ready=False, further=NOT_HEALTHY),
        Route("GET", "/livez", service.alive, HealthView, when_ready=False),
        Route("GET", "/metrics", service.figures, None, when_ready=False, kind=MetricsText),
        Route("GET", API + "/exams", api.exams, list[ExamView], (HTTPStatus.SERVICE_UNAVAILABLE,)),
        Route("POST", API + "/conversations", api.begin, ConversationView, begun, HTTPStatus.CREATED),
        Route("GET", one, api.transcript, TranscriptView, OF_CONVERSATIONS),
        Route("DELETE", one, api.erase, None, OF_CONVERSATIONS, HTTPStatus.NO_CONTENT),
        Route("GET", one + "/export", api.export, ExportView, OF_CONVERSATIONS),
        Route("POST", one + "/turns", api.turn, TurnView, conflict),
        Route("PUT", one + "/turns/{turn_id}/flags/{reason}", api.flag, FlagView, not_found),
    ]
    if uploads is not None:
        found.append(Route("PUT", one + "/turns/{turn_id}/file", api.file, TurnView, conflict))
        gone = (*OF_CONVERSATIONS, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
        found.append(Route("DELETE", one + "/turns/{turn_id}/file", api.remove_file, TurnView, gone))
    if service.reception.desk is not None:
        found.append(Route("GET", one + "/staff", api.staff, StaffView, OF_CONVERSATIONS))
    staff_token = service.settings.staff.token if service.settings.staff is not None else None
    if service.reception.desk is not None and staff_token is not None:
        found += _staff_routes(StaffApi(service.reception, service.reception.desk.calls, token=staff_token))
    if service.settings.channel_token is not None:
        channel = RestChannel(_senders(service, turns, service.settings.channel_token, "KLARTEXT_CHANNEL_TOKEN"))
        found.append(Route("POST", "/webhooks/rest/webhook", channel.message, list[ChannelReply], conflict))
    if service.settings.rasa_token is not None:
        token = service.settings.rasa_token
        actions = RasaActions(_senders(service, turns, token, "KLARTEXT_RASA_TOKEN", apart="rasa:"))
        refused = (*conflict, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        run = Route("POST", ACTIONS_PATH, actions.run, ActionResult, refused, admit=actions.admit)
        found.append(replace(run, most_bytes=MOST_KEPT))
    return found


def _senders(service: Service, turns: RateLimit, token: str, setting: str, *, apart: str = "") -> Senders:
    return Senders(service.reception, service.metrics, turns, _labels(service.settings), token, setting, apart)


def _staff_routes(staff: StaffApi) -> list[Route]:
    one, not_found = "/staff/conversations/{conversation_id}", (*OF_CONVERSATIONS, HTTPStatus.NOT_FOUND)
    refused = (*WITH_BODY, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
    return [
        Route("GET", "/staff/inbox", staff.inbox, InboxView, not_found, admit=staff.admit),
        Route("GET", one, staff.live, LiveView, not_found, admit=staff.admit),
        Route("POST", one + "/acknowledge", staff.acknowledge, CallView, refused, admit=staff.admit),
        Route("POST", one + "/take", staff.take, CallView, refused, admit=staff.admit),
        Route("POST", one + "/message", staff.message, CallView, refused, admit=staff.admit),
        Route("POST", one + "/return", staff.hand_back, CallView, refused, admit=staff.admit),
    ]


def build_app(service: Service) -> ASGIApp:
    """Return the whole application."""
    app = FastAPI(
        title="Klartext",
        version=version("klartext"),
        description="Answers patients only with text that clinicians wrote.",
        openapi_url=API + "/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        max_body_size=MAX_BODY_BYTES,
        exception_handlers=dict(HANDLERS),
        telemetry=NO_TELEMETRY,
    )
    for route in routes(service):
        app.add_api_route(
            route.path,
            route.endpoint,
            methods=[route.method],
            response_model=route.answers,
            response_model_exclude_none=route.path.startswith(("/webhooks", "/healthz", "/livez")),
            status_code=route.status,
            response_class=route.kind,
            max_body_size=route.most_bytes,
            responses={**documented(*route.errors), **route.further},
            dependencies=[
                Depends(must) for must in (route.admit, service.require_prepared if route.when_ready else None) if must
            ],
        )
    crowd = Crowd(_sounds_urgent(service.reception.serving().assistant))
    gate = _gate(service)
    let_in = gate.around if gate is not None else lambda app: app
    answering = let_in(crowd.around(_with_problems(app)))
    rasa = service.settings.rasa_token
    if rasa is not None:
        answering = Slimming(rasa).around(answering)
    machines = Side(answering, respond, HEADERS)
    addresses = RateLimit(service.settings.requests_per_minute, clock_s=time.monotonic)
    people = _people(service, crowd)

    def most_bytes(scope: Scope) -> int | None:
        if service.console is not None and is_console(scope):
            return service.console.most_bytes(scope.get("path", ""))
        # The gate says itself that a file is too large: beside the field, not on a page of its own. So does what takes
        # trackers: whose token opens it is seen first.
        is_read_elsewhere = (gate is not None and takes_file(scope)) or (rasa is not None and takes_tracker(scope))
        return None if is_read_elsewhere else MAX_BODY_BYTES

    people = replace(people, app=let_in(people.app))
    sides = Sides(machines, people, _staff(service.console) if service.console is not None else None)
    return Envelope(sides, service.metrics, addresses, most_bytes)


def console_alone(console: Console, metrics: Metrics, settings: Settings) -> ASGIApp:
    """Return an application that serves the console and nothing else."""
    nothing = Side(respond(Problem(HTTPStatus.NOT_FOUND, "The console is at /console.")), respond, HEADERS)
    addresses = RateLimit(settings.requests_per_minute, clock_s=time.monotonic)

    def most_bytes(scope: Scope) -> int | None:
        return console.most_bytes(scope.get("path", ""))

    return Envelope(Sides(nothing, nothing, _staff(console)), metrics, addresses, most_bytes)


def _staff(console: Console) -> Side:
    """Return the pages for staff."""
    return Side(console.app, respond, staff_headers())


def _gate(service: Service) -> Gate | None:
    """Return what lets files in; None where patients may not send any."""
    uploads = service.settings.uploads
    if uploads is None:
        return None
    scanner = make_scanner(uploads)
    return Gate(service.reception, uploads, scanner, framing=bool(service.settings.frame_ancestors))


def _sounds_urgent(assistant: Assistant) -> Callable[[str], bool]:
    """Return what tells, by plain words alone, who must not wait; what else is urgent is told when it is decided."""
    rules = [load_red_flags(language) for language in assistant.languages]
    return lambda text: any(each.sees_plainly(seen(text[:LOOKED_AT])) for each in rules)


def _plain_alarm(assistant: Assistant, settings: Settings) -> Callable[[str], Reply | None]:
    """Return what tells by plain words alone what is said to an emergency: that must be where no turn can be taken."""
    rules = {language: load_red_flags(language) for language in assistant.languages}
    place = Place("page", settings.country, wording=assistant.wording)

    def alarm(text: str) -> Reply | None:
        for language, each in rules.items():
            if (flag := each.plain_flag(seen(text[:LOOKED_AT]))) is not None:
                return worded(Reply(language, (interface(language, URGENT_TEXTS.get(flag, "urgent")),)), place)
        return None

    return alarm


def _labels(settings: Settings) -> dict[str, Labels]:
    """Return the labels of the page by language, as the country spells them."""
    country = settings.country
    return {code: {key: spelt(text, code, country) for key, text in own.items()} for code, own in load_labels().items()}


def _people(service: Service, crowd: Crowd) -> Side:
    """Return the page for patients."""
    reception, settings, labels = service.reception, service.settings, _labels(service.settings)
    assistant = reception.serving().assistant
    pages = Pages(
        reception=reception,
        settings=settings,
        metrics=service.metrics,
        turns=RateLimit(settings.turns_per_minute, clock_s=time.monotonic),
        left=service.left,
        exams=reception.several or (exam_of(assistant),),
        renderer=Renderer(
            labels,
            house=assistant.house,
            sample=assistant.sample,
            dictation=settings.dictation,
            spoken=lambda: _spoken(reception),
        ),
        labels=labels,
        alarm=_plain_alarm(assistant, settings),
    )

    def too_much(problem: Problem) -> ASGIApp:
        return refuse(pages, PageProblem(problem.status, wait_s=float(problem.headers.get("Retry-After", 0))))

    answers = crowd.around(build_pages(pages, is_ready=service.prepared.is_set, launcher=service.launcher))
    return Side(answers, too_much, page_headers(settings))


def _spoken(reception: Reception) -> Sequence[str]:
    """Return the languages that new patients are served in, the default first, as far as the database tells."""
    try:
        assistant = reception.serving().assistant
    except KlartextError:
        assistant = reception.assistant
    first = first_language(assistant)
    return [first, *(each for each in assistant.languages if each != first)]


def _with_problems(app: FastAPI) -> FastAPI:
    """Add the schema of errors to the OpenAPI document: no operation returns it by its type.

    The document is made when somebody first asks for it: nobody who starts the service should wait for it.
    """

    def document() -> dict[str, Any]:
        made = FastAPI.openapi(app)
        made.setdefault("components", {}).setdefault("schemas", {})["ProblemView"] = ProblemView.model_json_schema()
        return made

    app.openapi = document  # type: ignore[method-assign]
    return app
