"""Open the console of an installation: where its content comes from, and what its pages work with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from importlib.metadata import entry_points
from pathlib import Path

from bot.assistant import Assistant
from bot.catalog.approval import IsOurs
from bot.catalog.catalog import language_files, locate
from bot.catalog.fhir_files import shipped_form
from bot.catalog.site import open_site
from bot.editorial.candidate import Candidate
from bot.editorial.workbench import Workbench
from bot.languages.opening import open_languages
from bot.ports import Records
from bot.release.contents import Contents
from bot.release.release import Release, Releases, contents_of, own_releases
from bot.settings import Settings
from bot.web.logs import request_id
from bot.web.staff.accounts import Accounts
from bot.web.staff.area import Area
from bot.web.staff.console import Console, make_console
from bot.web.staff.desk import LiveDesk
from bot.web.staff.exchange import ExchangePages
from bot.web.staff.figures import FigurePages
from bot.web.staff.inbox import InboxArea
from bot.web.staff.overview import Overview
from bot.web.staff.pairs import Pairs
from bot.web.staff.place import Place
from bot.web.staff.releases import ReleasePages
from bot.web.staff.signing import Signing
from bot.web.staff.tools import Tools
from bot.web.staff.trail import Trail
from bot.web.staff.wiring import (
    make_acts,
    make_identity,
    make_inbox,
    make_jobs,
    make_people,
    make_publisher,
    make_workbench,
)
from bot.wiring import make_calls, make_releases

# In the order of the menu. Other parts of the distribution bring areas of their own: the harness its tests.
FIRST: Sequence[type[Area]] = (
    Overview,
    LiveDesk,
    InboxArea,
    Pairs,
    Signing,
    Place,
    ReleasePages,
    FigurePages,
    ExchangePages,
)
LAST: Sequence[type[Area]] = (Accounts, Trail)


@dataclass
class Bases:
    """What drafts stand on: the newest release of this database, else an exam's folder, read again when it changed."""

    releases: Releases
    folder: Path
    site: Path | None
    questionnaire: Path | None
    settings: Settings
    _known: tuple[object, Contents, str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def newest(self) -> tuple[Contents, str]:
        """Return the contents and what they are called.

        Raises:
            UserFixable: They cannot be used.
        """
        newest = self.releases.newest()
        state: object = newest.number if newest is not None else self._state_of_folder()
        with self._lock:
            if self._known is None or self._known[0] != state:
                self._known = (state, *self._read(newest))
            return self._known[1], self._known[2]

    def _read(self, newest: Release | None) -> tuple[Contents, str]:
        if newest is not None:
            return contents_of(newest, self.releases.files(newest.number)), newest.name
        country = self.settings.country
        form = self.questionnaire or shipped_form(self.folder.resolve().name)
        open_languages(self.settings.languages, tuple(language_files(self.folder)))
        contents = Contents.gather(
            self.folder, site=self.site, questionnaire=form, languages=self.settings.languages, country=country
        )
        return contents, self.folder.name

    def _state_of_folder(self) -> object:
        files = sorted(each for each in self.folder.rglob("*") if each.is_file())
        more = [each for each in (self.site, self.questionnaire) if each is not None and each.is_file()]
        spoken = self.settings.languages
        files += sorted(each for each in spoken.rglob("*") if each.is_file()) if spoken is not None else []
        return tuple((str(each), each.stat().st_mtime_ns, each.stat().st_size) for each in (*files, *more))


@dataclass
class Candidates:
    """Returns what the next release could be made of now. It is put together anew only when something of it changed.

    Every page asks for it several times, for its badges and for itself; others change it in other processes.
    """

    newest: Callable[[], tuple[Contents, str]]
    workbench: Workbench
    approvers: Callable[[], frozenset[int]]
    believed: IsOurs | None  # where only signatures count that the site's key vouches for
    _known: tuple[tuple[Contents, str, frozenset[int], object], Candidate] | None = None

    def __call__(self) -> Candidate:
        (base, source), approvers = self.newest(), self.approvers()
        # Asked for before it is read: what changes in between is read, and read once more by the next who asks.
        state = (base, source, approvers, self.workbench.state(base.exam))
        known = self._known
        if known is not None and known[0][0] is base and known[0][1:] == state[1:]:
            return known[1]
        made = Candidate.of(base, source, self.workbench, approvers)
        if self.believed is not None:
            made = made.only_proven(self.believed)
        self._known = (state, made)
        return made


def open_console(  # noqa: PLR0913 - what a console is made of
    catalog: str,
    settings: Settings,
    records: Records,
    *,
    now: Callable[[], datetime],
    assistant: Callable[[], Assistant | None],
    questionnaire: Path | None = None,
    sample: bool = False,
    answers: Callable[[str], Sequence[str]] = lambda _: (),
    exams: Callable[[], Mapping[str, Assistant | None]] = dict,
) -> Console:
    """Open the console; `assistant` returns what answers patients now, `exams` who does so for each exam.

    Raises:
        UserFixable: The content or the database cannot be used.
    """
    folder = locate(catalog)
    releases = own_releases(make_releases(settings), folder.resolve().name)
    workbench: Workbench = make_workbench(settings, request_id=request_id)
    bases = Bases(releases, folder, settings.site, questionnaire, settings)

    def approvers() -> frozenset[int]:
        return frozenset(each.id for each in people.all() if each.may("approve") and not each.closed)

    zone, place = _place(settings, folder, sample=sample)
    publisher = make_publisher(settings, now, zone=lambda: zone)
    if publisher.accounts_only:
        publisher.keys.prove(b"")  # without a key nobody could sign
    inbox = make_inbox(settings, request_id=request_id)
    people = make_people(settings, now, request_id=request_id)
    tools = Tools(
        settings=settings,
        people=people,
        acts=make_acts(settings),
        workbench=workbench,
        jobs=make_jobs(settings),
        inbox=inbox,
        releases=releases,
        records=records,
        calls=make_calls(settings, request_id=request_id) if settings.staff is not None else None,
        candidate=Candidates(
            bases.newest, workbench, approvers, publisher.keys.believed() if publisher.accounts_only else None
        ),
        publisher=publisher,
        assistant=assistant,
        now=now,
        identity=make_identity(settings),
        sample=sample,
        answers=answers,
        exams=exams,
    )
    brought: list[type[Area]] = [part.load() for part in entry_points(group="klartext.console")]
    return make_console(tools, [*FIRST, *brought, *LAST], zone=zone, place=place)


def _place(settings: Settings, folder: Path, *, sample: bool) -> tuple[tzinfo | None, str]:
    if settings.site is None and not sample:
        return None, ""
    today = datetime.now().astimezone().date()
    # Here its file is read and signed: it need not be approved yet.
    site = open_site(settings.site, exam=folder, languages=(), sample=True, today=today)
    return (site.timezone, site.name) if site is not None else (None, "")


class AssistantAside:
    """An assistant of an exam's folder for a console that serves no patients: opened when it is first asked for.

    Opening may train for minutes; until it is there, pages do without.
    """

    def __init__(self, catalog: str, settings: Settings) -> None:
        self._catalog, self._settings = catalog, settings
        self._found: Assistant | None = None
        self._began = threading.Event()

    def __call__(self) -> Assistant | None:
        if not self._began.is_set():
            self._began.set()
            threading.Thread(target=self._open, daemon=True, name="assistant").start()
        return self._found

    def _open(self) -> None:
        assistant = Assistant.open(self._catalog, settings=self._settings, sample=True)
        assistant.prepare()
        self._found = assistant
