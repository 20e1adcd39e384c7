"""Run the service until it is told to stop: in this process, or in several."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from bot.assistant import Assistant
from bot.errors import KlartextError, NotAudited, Unreachable, UserFixable, full_disk
from bot.interview_wiring import for_terminology
from bot.ports import Records
from bot.release.release import Releases
from bot.release.stops import Stop
from bot.sentences.reply import Entry
from bot.settings import Settings
from bot.talk.reception import Reception
from bot.web import logs
from bot.web.app import Service, build_app, console_alone
from bot.web.background import Background, Telling
from bot.web.exams import Served, require_own_forms, serve_releases, serve_sample
from bot.web.health import StorageHealth
from bot.web.metrics import Metrics
from bot.web.middleware import CONSOLE, Proxied
from bot.web.problems import COUNTRY
from bot.web.pulse import Pulse
from bot.web.slowloris import ImpatientProtocol
from bot.web.staff.wiring import stop_again, stops_taken_back
from bot.web.surroundings import addresses_of, require_surroundings, set_up
from bot.web.tracing import TracedApp, TracedReception
from bot.web.workers import Worker, require_shareable, supervise
from bot.wiring import (
    close_databases,
    has_chroma,
    make_audit,
    make_desk,
    make_launcher,
    make_records,
    make_releases,
    make_tracer,
)

if TYPE_CHECKING:
    from bot.adapters.otlp_tracing import OtlpTracer
    from bot.web.staff.console import Console

log = logging.getLogger("klartext.web")
BACKLOG = 2048
M_ARENA_MAX = -8  # glibc's malloc.h
DATABASE_WAIT_S = 4.0
GRACE_S = 20  # for turns under way when the service is told to stop


@dataclass(frozen=True, slots=True)
class Serving:
    """What `klartext serve` was asked for."""

    host: str
    port: int
    catalogs: Sequence[str]
    data: Path | None
    sample: bool
    questionnaire: Path | None = None
    terminology_server: str | None = None
    workers: int | None = None
    staff: bool = False
    language: str = ""

    @property
    def catalog(self) -> str:
        """The exam, or the first of several: the one that the console edits."""
        return self.catalogs[0]

    @property
    def flags(self) -> dict[str, str | bool]:
        """What all processes on one database must be started with alike, by name."""
        return {
            "--sample": self.sample,
            "--staff": self.staff,
            "--catalog": ",".join(self.catalogs),
            "--questionnaire": str(self.questionnaire or ""),
            "--terminology-server": self.terminology_server or "",
            "--lang": self.language,
        }

    @property
    def is_demo(self) -> bool:
        """Whether staff find sample accounts and questions."""
        return self.sample and self.staff


def run_server(serving: Serving) -> None:
    """Serve until a signal comes.

    Raises:
        UserFixable: Catalog, database or address cannot be used.
    """
    logs.configure()
    _share_memory()
    _require_demo_here(serving)
    require_own_forms(serving.catalogs, serving.questionnaire)
    settings = _settings(serving)
    if settings.workers > 1:
        require_shareable(settings, settings.workers)
    require_surroundings(settings, os.environ)
    names_patients = settings.link_key or settings.portals
    if names_patients and settings.fhir.url and not settings.fhir.patient_system:
        raise UserFixable(
            "KLARTEXT_FHIR_PATIENT_SYSTEM is not set. Links and portals name patients (KLARTEXT_LINK_KEY, "
            "KLARTEXT_PORTAL_KEYS), and the FHIR server (KLARTEXT_FHIR_URL) must be told in which system."
        )
    make_launcher(settings)  # what is missing for that is said before anything starts
    if serving.sample:
        _require_no_release(serving, settings)
    else:
        _keep_stops(settings)
    if settings.workers > 1:
        listening = _listen(serving.host, serving.port)
        _require_near(settings, listening)
        _announce(serving, listening)
        _show_demo(serving, settings, listening)
        supervise(partial(_work, serving, listening), settings.workers)
    else:
        service, background = _open(serving, settings)
        listening = _listen(serving.host, serving.port)
        _require_near(settings, listening)
        _announce(serving, listening)
        _show_demo(serving, settings, listening)
        _serve(service, background, listening)


def _require_no_release(serving: Serving, settings: Settings) -> None:
    """Raise UserFixable where patients are served from the database: a sample knows no approvals and no stops."""
    if serving.is_demo:
        from bot.web.staff.sample import has_own_database

        if has_own_database(settings):  # in which staff try releases, and no patient is
            return
    number = make_releases(settings).in_force()
    if number is not None:
        raise UserFixable(
            f"Release {number} is in force in this database, and `--sample` shows drafts and knows no emergency stops: "
            "patients could be shown what was stopped. Serve it without `--sample`, or try the sample on a database "
            "of its own (`--data` with another folder, and no KLARTEXT_DATABASE_URL)."
        )


def _keep_stops(settings: Settings) -> None:
    """Put stops into force again that the audit log knows and the database has lost: patients would see those texts.

    Raises:
        UserFixable: The database takes nothing.
    """
    lost = stops_taken_back(settings)
    if lost.stops:
        try:
            stop_again(settings, lost)
        except NotAudited as error:
            log.warning("the audit log does not tell that they were done again: %s", error.why)
        log.error(
            "the audit log knows of emergency stops that were not in the database, as after a backup was restored: %s. "
            "They are in force again. Run `klartext records after-restore`: what was erased may be back, too",
            _named_stops(lost.stops),
        )
    if lost.unnoted:
        log.warning(
            "emergency stops are in force that the audit log lacks: %s. Run `klartext stop note`",
            _named_stops(lost.unnoted),
        )
    if lost.in_force is not None:
        number = lost.in_force.release
        log.warning(
            "the audit log says that release %d was put into force last: see `klartext records after-restore`", number
        )


def _named_stops(stops: Sequence[Stop]) -> str:
    return ", ".join(dict.fromkeys(stop.about for stop in stops))


def _settings(serving: Serving) -> Settings:
    """Return the settings; a patient who waits must hear soon that nothing can be stored, and whom to call."""
    settings = for_terminology(
        Settings.from_environment(data=serving.data, console=serving.staff), serving.terminology_server
    )
    if serving.is_demo:
        from bot.web.staff.sample import sample_settings

        settings = sample_settings(settings)
    workers = serving.workers or settings.workers
    return replace(settings, database_wait_s=DATABASE_WAIT_S, workers=workers, first_language=serving.language)


def _open(serving: Serving, settings: Settings, worker: Worker | None = None) -> tuple[Service, Background]:
    tracer = make_tracer(settings)
    records, metrics = make_records(settings), Metrics(shared_in=worker.metrics if worker else None)
    logs.count_errors(metrics.logged)
    if serving.sample:
        served = serve_sample(serving.catalogs, settings, records, questionnaire=serving.questionnaire)
    else:
        served = serve_releases(serving.catalogs, settings, records, _now)
    edition, interviewers = served.edition, served.interviewers
    metrics.serves(tuple(served.exams.of) if served.exams is not None else ())
    audit = make_audit(settings, request_id=logs.request_id)
    audit.check()  # who cannot be told of deletions is told now, not the first patient who deletes
    storage = StorageHealth(records.try_writing, lambda found: metrics.database(writable=not found))
    telling = Telling(metrics, Pulse(metrics), _now, tracer)
    background = Background.of(settings, interviewers, storage, telling, set_up(settings, serving.flags))
    reception = Reception(
        edition.assistant,
        records,
        _now,
        interviewer=edition.interviewers.of,
        alarm=background.alarm,
        page_session=timedelta(hours=settings.session_hours),
        desk=make_desk(settings, opens=lambda now: _opens(reception, now)),
        topics=edition.topics,
        releases=served.releases,
        audit=audit,
        exams=served.exams,
    )
    if tracer is not None:
        reception = TracedReception.around(reception, tracer)

    def trained() -> Assistant | None:
        return next(iter(reception.served.values())) if service.prepared.is_set() else None

    service = Service(
        reception,
        settings,
        metrics=metrics,
        left=lambda id_: interviewers.left(id_, at=_now()),
        background=background,
        launcher=make_launcher(settings),
        chat=lambda: served.state,
        release=lambda: served.in_force,
        names_verified=lambda: served.names_verified,
        console=_console(
            serving,
            settings,
            records,
            trained,
            partial(exams_known, served, reception, make_releases(settings)),
            partial(_answers, reception),
        )
        if serving.staff
        else None,
    )
    return service, background


def _console(  # noqa: PLR0913 - what a console is made of
    serving: Serving,
    settings: Settings,
    records: Records,
    assistant: Callable[[], Assistant | None],
    exams: Callable[[], Mapping[str, Assistant | None]],
    answers: Callable[[str], Sequence[str]] = lambda _: (),
) -> Console:
    from bot.web.staff.opening import open_console  # what hashes passwords is loaded where staff log in

    return open_console(
        serving.catalog,
        settings,
        records,
        now=_now,
        assistant=assistant,
        questionnaire=serving.questionnaire,
        sample=serving.sample,
        answers=answers,
        exams=exams,
    )


def exams_known(served: Served, reception: Reception, releases: Releases) -> Mapping[str, Assistant | None]:
    """Return who answers for each exam that is served, and None for those that were released, and are served elsewhere.

    Staff go on to see what was asked of these.
    """
    now = reception.served
    folders = {each.serving.release.exam for each in served.editions if each.serving is not None}
    others = (each for each in releases.exams() if each not in now and each not in folders)
    return {**now, **dict.fromkeys(others)}


def _answers(reception: Reception, conversation: str) -> Sequence[str]:
    """Return what a patient has answered to the form so far, line by line, as the patient would be shown it."""
    opened = reception.records.conversation(conversation)
    shown = reception.look(opened).answers(at=_now()) if opened is not None else None
    return [part.text for part in shown.parts if isinstance(part, Entry)] if shown is not None else []


def _opens(reception: Reception, now: datetime) -> datetime | None:
    """Return when staff are next there, as far as the site tells."""
    site = reception.serving().assistant.site
    return site.opens(now) if site is not None else None


def _serve(service: Service, background: Background, listening: socket.socket, worker: Worker | None = None) -> None:
    """Serve on a socket in this process, alone or as one of several workers."""
    stops = [background.stop, *([service.console.stop] if service.console is not None else [])]
    server = _Server(_config(service, service.settings), *stops)
    failed: list[KlartextError] = []

    def prepare() -> None:
        try:
            exams = service.reception.served
            assistant = next(iter(exams.values()))
            for each in exams.values():
                each.prepare()
            with suppress(KlartextError):  # loads the model: the first patient should not wait for it
                assistant.encoder.encode(["?"])
            service.prepared.set()
            service.metrics.ready(workers=service.settings.workers)
            if worker is not None:
                worker.ready.set()
            fields: dict[str, object] = {"version": version("klartext"), "workers": service.settings.workers}
            fields |= {"sample": assistant.sample, **({"release": assistant.release} if assistant.release else {})}
            fields |= {"exams": list(exams)} if len(exams) > 1 else {}
            log.info("ready", extra={"fields": fields})
            with suppress(KlartextError):  # a second or two that nobody need wait for, before or after
                for each in exams.values():
                    for language in each.languages:
                        each.context(language).prepare()
        except KlartextError as error:
            failed.append(error)
            server.should_exit = True
        except OSError as error:
            log.critical("the catalog cannot be prepared", exc_info=error)
            failed.append(full_disk(error) or UserFixable(f"The catalog cannot be prepared ({error.strerror})."))
            server.should_exit = True
        except BaseException as error:  # nobody may find a service that starts for ever
            log.critical("the catalog cannot be prepared", exc_info=error)
            failed.append(
                UserFixable(
                    f"The catalog cannot be prepared ({type(error).__name__}). "
                    f"Delete `chroma`, `vectors` and `heads` in {service.settings.data}; they are made anew."
                )
            )
            server.should_exit = True

    if worker is not None and worker.ready.is_set():
        prepare()  # others answer meanwhile
    else:
        threading.Thread(target=prepare, daemon=True, name="prepare").start()
    if not failed:
        inbox = f"{CONSOLE}/desk" if service.console is not None else "/staff/inbox"
        background.start(f"{_shown(listening)}{inbox}")
        if service.console is not None:
            service.console.start()
        server.run(sockets=[listening])
    if failed:
        raise failed[0]


class _Server(uvicorn.Server):
    """Ends what runs in the background before the signal that ended it takes effect."""

    def __init__(self, config: uvicorn.Config, *stops: Callable[[], None]) -> None:
        super().__init__(config)
        self._stops = stops

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for stop in self._stops:
            await asyncio.to_thread(stop)
        close_databases()


def run_console(serving: Serving) -> None:
    """Serve the console alone, until a signal comes: beside a service, or before there is a release.

    Raises:
        UserFixable: Catalog, database or address cannot be used.
    """
    from bot.web.staff.opening import AssistantAside

    logs.configure()
    _share_memory()
    settings = _settings(serving)
    metrics, records = Metrics(shared_in=None), make_records(settings)
    releases = make_releases(settings)

    def exams() -> Mapping[str, Assistant | None]:
        return dict.fromkeys(releases.exams())

    console = _console(serving, settings, records, AssistantAside(serving.catalog, settings), exams)
    listening = _listen(serving.host, serving.port)
    print(f"The console listens on {_shown(listening)}{CONSOLE}", flush=True)
    console.start()
    config = _uvicorn_config(console_alone(console, metrics, settings), settings)
    _Server(config, console.stop).run(sockets=[listening])


def _now() -> datetime:
    return datetime.now().astimezone()


def _work(serving: Serving, listening: socket.socket, worker: Worker) -> None:
    """Serve as one of several processes."""
    logs.configure()
    _share_memory()
    settings = _settings(serving)
    if not serving.sample:
        _keep_stops(settings)  # in the place of one that died, and that knew more than the database
    service, background = _open(serving, settings, worker)
    _serve(service, background, listening, worker)


def _share_memory() -> None:
    """Let threads take memory from two pools instead of sixteen and more: at 50 patients 70 MB less."""
    with suppress(AttributeError, OSError):  # not everywhere is glibc
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _announce(serving: Serving, listening: socket.socket) -> None:
    notes = ["sample mode"] if serving.sample else []
    if not has_chroma():
        notes.append("vectors in files, without the extra 'chroma'")
    noted = f" ({', '.join(notes)})" if notes else ""
    print(f"Klartext listens on {_shown(listening)}{noted}", flush=True)


def _config(service: Service, settings: Settings) -> uvicorn.Config:
    tracer = service.background.telling.tracer if service.background is not None else None
    return _uvicorn_config(build_app(service), settings, tracer)


def _uvicorn_config(app: ASGIApp, settings: Settings, tracer: OtlpTracer | None = None) -> uvicorn.Config:
    COUNTRY.set(settings.country)  # before the server runs: whatever it begins knows it
    app = Proxied(app, addresses_of(settings.trusted_proxies)) if settings.trusted_proxies else app
    return uvicorn.Config(
        TracedApp(app, tracer) if tracer is not None else app,
        http=ImpatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `Proxied` does that
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


def _show_demo(serving: Serving, settings: Settings, listening: socket.socket) -> None:
    """Make the sample accounts, have the sample questions asked, and tell where and how to log in."""
    if not serving.is_demo:
        return
    from bot.web.staff.sample import begin_sample

    for line in (f"The console listens on {_shown(listening)}{CONSOLE}", *begin_sample(settings, now=_now)):
        print(line, flush=True)


def _require_demo_here(serving: Serving) -> None:
    """Raise UserFixable when others than this machine could log in with sample accounts."""
    host = socket.getaddrinfo(serving.host, None)[0][4][0] if serving.is_demo else "127.0.0.1"
    if not ip_address(host).is_loopback:
        raise UserFixable(
            f"`--sample --staff` has sample accounts, and the service would listen on {host}: they are for this "
            "machine only. Use `--host 127.0.0.1`, or `klartext console` with accounts of your own."
        )


def _require_near(settings: Settings, listening: socket.socket) -> None:
    """Raise UserFixable when the staff API is on and others than this machine can reach the service."""
    host = listening.getsockname()[0]
    has_api = settings.staff is not None and settings.staff.token is not None
    if has_api and not ip_address(host).is_loopback:
        raise UserFixable(
            f"KLARTEXT_STAFF_TOKEN is set, and the service would listen on {host}: the staff API knows no logins, and "
            "is served on this machine only. Use `--host 127.0.0.1` with a proxy in front, or unset the token: the "
            "console (`--staff`) needs none."
        )


def _shown(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
