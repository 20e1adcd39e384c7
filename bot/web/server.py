"""Run the service in this process until it is told to stop."""

from __future__ import annotations

import logging
import socket
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import uvicorn

from bot.assistant import Assistant
from bot.catalog import locate
from bot.errors import KlartextError, Unreachable, UserFixable
from bot.interview_wiring import Interviewers
from bot.reception import Reception
from bot.settings import Settings
from bot.topics import load_topics
from bot.web import logs
from bot.web.app import Service, build_app
from bot.wiring import make_records

log = logging.getLogger("klartext.web")
BACKLOG = 2048
GRACE_S = 20  # for turns under way when the service is told to stop


@dataclass(frozen=True, slots=True)
class Serving:
    """What `klartext serve` was asked for."""

    host: str
    port: int
    catalog: str
    data: Path | None
    sample: bool
    questionnaire: Path | None = None


def run_server(serving: Serving) -> None:
    """Serve until a signal comes.

    Raises:
        UserFixable: Catalog, database or address cannot be used.
    """
    logs.configure()
    settings = Settings.from_environment(data=serving.data)
    if settings.link_key and settings.fhir.url and not settings.fhir.patient_system:
        raise UserFixable(
            "KLARTEXT_FHIR_PATIENT_SYSTEM is not set. Links name patients (KLARTEXT_LINK_KEY), and the FHIR server "
            "(KLARTEXT_FHIR_URL) must be told in which system."
        )
    assistant = Assistant.open(serving.catalog, settings=settings, sample=serving.sample)
    records = make_records(settings)
    interviewers = Interviewers.open(
        settings, assistant, exam=serving.catalog, questionnaire=serving.questionnaire, records=records
    )
    interviewers.of("")  # a form that cannot be asked is refused before anybody comes
    reception = Reception(assistant, records, _now, interviewer=interviewers.of)
    topics = load_topics(locate(serving.catalog))
    service = Service(reception, settings, topics, left=lambda id_: interviewers.left(id_, at=_now()))
    listening = _listen(serving.host, serving.port)
    server = uvicorn.Server(_config(service, settings))
    failed: list[KlartextError] = []

    def prepare() -> None:
        try:
            assistant.prepare()
            service.prepared.set()
            log.info("ready", extra={"fields": {"sample": serving.sample}})
        except KlartextError as error:
            failed.append(error)
            server.should_exit = True

    threading.Thread(target=prepare, daemon=True, name="prepare").start()
    print(f"Klartext listens on {_shown(listening)}{' (sample mode)' if serving.sample else ''}", flush=True)
    server.run(sockets=[listening])
    if failed:
        raise failed[0]


def _now() -> datetime:
    return datetime.now().astimezone()


def _config(service: Service, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        build_app(service),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=GRACE_S,
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise Unreachable(
            f"Nothing can listen on {host} port {port} ({error}). Choose others with `--host` and `--port`."
        ) from error


def _shown(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
