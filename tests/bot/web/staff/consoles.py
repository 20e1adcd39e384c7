"""A console on a small exam, in this process, and members of staff who use it as a browser does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import event
from sqlalchemy.engine import Engine

from bot.adapters.sql_records import SqlRecords, in_folder
from bot.assistant import Assistant
from bot.editorial.people import People, Person, Role
from bot.settings import Settings
from bot.web.app import console_alone
from bot.web.metrics import Metrics
from bot.web.middleware import CONSOLE
from bot.web.staff.console import Console
from bot.web.staff.opening import open_console
from bot.wiring import close_databases, make_records
from tests.bot.release.exams import write_exam
from tests.bot.web.browser import Browser

FIRST, PASSWORD = "Kiste Regen Kupfer Amsel", "Sonne Wiese Ordner Kamm"


def now() -> datetime:
    return datetime.now().astimezone()


def add_known(people: People, person: Person) -> Person:
    """Make the account of somebody who has logged in before and chosen a password."""
    made = people.add(person, FIRST, by="a test")
    return people.change(made, by=made.name, password=PASSWORD)


@dataclass
class Staff:
    """A console that is served on loopback.

    Attributes:
        console: The console itself, for what a test sets up behind its back.
        url: Of the server.
    """

    console: Console
    url: str
    _opened: list[Browser] = field(default_factory=list)

    def person(self, login: str, *roles: Role, name: str = "") -> Person:
        """Return an account, which is made if there is none."""
        people = self.console.tools.people
        known = people.by_login(login)
        if known is not None:
            return known
        return add_known(people, Person(0, login, name or login.title(), frozenset(roles)))

    def browser(self, language: str = "en") -> Browser:
        self._opened.append(Browser(self.url, language))
        return self._opened[-1]

    def logged_in(self, login: str, *roles: Role, language: str = "en", name: str = "") -> Browser:
        """Return a browser in which somebody is logged in."""
        self.person(login, *roles, name=name)
        browser = self.browser(language)
        browser.open(f"{CONSOLE}/login")
        browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login=login, password=PASSWORD)
        assert browser.answer.url.path == CONSOLE, browser.text
        return browser

    def close(self) -> None:
        for each in self._opened:
            each.client.close()


@contextmanager
def statements(staff: Staff) -> Iterator[list[str]]:
    """Collect the statements that pages put to the database meanwhile."""
    with put_to(staff.console.tools.workbench.engine) as found:  # type: ignore[attr-defined]  # the SQL one
        yield found


@contextmanager
def put_to(engine: Engine) -> Iterator[list[str]]:
    """Collect the statements that are put to a database meanwhile."""
    found = list[str]()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


@contextmanager
def running_console(
    folder: Path,
    *,
    database: str = "",
    exam: Path | None = None,
    assistant: Callable[[], Assistant | None] = lambda: None,
    exams: Callable[[], Mapping[str, Assistant | None]] = dict,
    port: int = 0,
    sample: bool = False,
    **more: Any,
) -> Iterator[Staff]:
    """Serve a console with a database of its own on loopback, in a thread; `more`: further settings."""
    settings = Settings(data=folder, database_url=database or None, requests_per_minute=1_000_000, **more)
    SqlRecords.open(database or in_folder(settings.writable_data())).engine.dispose()  # it makes the schema
    content = exam or write_exam(folder / "content", languages=("de", "en"))
    console = open_console(
        str(content), settings, make_records(settings), now=now, assistant=assistant, sample=sample, exams=exams
    )
    app = console_alone(console, Metrics(shared_in=None), settings)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False, lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    staff = Staff(console, f"http://127.0.0.1:{port}")
    console.start()
    try:
        yield staff
    finally:
        staff.close()
        console.stop()
        server.should_exit = True
        thread.join(10)
        close_databases()
