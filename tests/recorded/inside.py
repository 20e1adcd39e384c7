"""The only module of the recorded corpus that knows the insides of `bot`: clock, ids, and how the service is built."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from starlette.types import ASGIApp
from typer.testing import CliRunner

from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.assistant import Assistant
from bot.commands.main import app as commands
from bot.commands.main import assemble
from bot.interview_wiring import Interviewers
from bot.settings import Settings
from bot.talk.reception import Reception
from bot.web.app import Service, build_app
from bot.wiring import make_leaving, make_outbox, make_records

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
CHANNEL_TOKEN = "a-token-for-the-recorded-conversations"
# Nothing listens there: what is to be sent stays in the outbox, where it can be looked at.
FHIR_SERVER = "http://127.0.0.1:9/fhir"
CLOCKS_OF_COMMANDS = ("bot.commands.interview.datetime", "bot.commands.chat.datetime")
ENCODER_OF_COMMANDS = "bot.wiring.EmbeddedEncoder"


@dataclass
class Clock:
    """A clock that only moves when it is told to."""

    at: datetime = NOW

    def __call__(self) -> datetime:
        return self.at

    def advance(self, minutes: float = 1) -> None:
        self.at += timedelta(minutes=minutes)


@cache
def _encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder()


@cache
def _assistant(data: Path, country: str | None) -> Assistant:
    """Return the shipped catalog in sample mode; it is trained when the data folder does not hold it."""
    environ = {"KLARTEXT_COUNTRY": country} if country else {}
    settings = Settings.from_environment(environ, data=data)
    assistant = Assistant.open(settings=settings, encoder=_encoder(), sample=True)
    assistant.prepare()
    return assistant


@dataclass
class House:
    """The service in this process, with a database of its own and a clock that stands still."""

    app: ASGIApp
    database: Path
    clock: Clock
    reception: Reception
    interviewers: Interviewers
    settings: Settings

    @classmethod
    def build(cls, folder: Path, data: Path, environ: Mapping[str, str], questionnaire: Path | None) -> Self:
        """Build it as `klartext serve` does, without its threads.

        Args:
            folder: For the database.
            data: Holds the trained catalog.
            environ: Settings beside the usual ones.
            questionnaire: Whose questions are asked; None: the shipped one's.
        """
        folder.mkdir(parents=True)
        database = folder / "klartext.db"
        usual = {
            "KLARTEXT_DATABASE_URL": f"sqlite:///{database}",
            "KLARTEXT_FHIR_URL": FHIR_SERVER,
            "KLARTEXT_CHANNEL_TOKEN": CHANNEL_TOKEN,
            "KLARTEXT_TURNS_PER_MINUTE": "100000",
            "KLARTEXT_REQUESTS_PER_MINUTE": "100000",
        }
        settings = Settings.from_environment({**usual, **environ}, data=data)
        assistant, records, clock = _assistant(data, settings.country), make_records(settings), Clock()
        interviewers = Interviewers.open(
            settings, assistant, exam="mammography", questionnaire=questionnaire, records=records
        )
        reception = Reception(assistant, records, clock, interviewer=interviewers.of)
        service = Service(reception, settings)
        service.prepared.set()
        return cls(build_app(service), database, clock, reception, interviewers, settings)

    def set_back(self) -> None:
        """Set the clock back and empty the database: numbers of rows are in Bundles, so nobody may have been here before."""
        self.clock.at = NOW
        with closing(sqlite3.connect(self.database)) as database, database:
            named = database.execute("select name from sqlite_master where type = 'table'").fetchall()
            for (table,) in named:
                if table != "alembic_version":
                    database.execute(f'delete from "{table}"')

    @contextmanager
    def beginning(self, id_: str, patient: str | None) -> Iterator[None]:
        """Give the conversation that begins meanwhile an id and, as a link from an appointment does, a patient."""
        opened = Reception.open

        def open_(reception: Reception, **how: Any) -> Any:
            return opened(reception, **{**how, "patient": patient})

        with ExitStack() as patched:
            patched.enter_context(patch("secrets.token_hex", lambda _: id_))
            patched.enter_context(patch("secrets.token_urlsafe", lambda _: f"secret-of-{id_}"))
            patched.enter_context(patch.object(Reception, "open", open_))
            yield

    def leave(self, conversation: str) -> None:
        """Hand over what the background threads would: red flags, then what is new."""
        outbox = make_outbox(self.settings)
        for flag in make_leaving(self.settings).red_flags():
            outbox.put_new(self.interviewers.handover(flag.conversation).red_flag(flag))  # type: ignore[union-attr]
        self.interviewers.left(conversation, at=self.clock())

    def bundles(self, conversation: str) -> list[str]:
        """Return the Bundles that wait for the FHIR server, as they lie in the database, oldest first."""
        with closing(sqlite3.connect(self.database)) as database:
            rows = database.execute("select bundle from outbox where conversation = ? order by id", [conversation])
            return [str(bundle) for (bundle,) in rows.fetchall()]


class _StoppedDatetime(datetime):
    """What `datetime.now` says in commands."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), UTC)

    def astimezone(self, tz: tzinfo | None = None) -> Self:
        return self


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    exit_code: int
    stdout: str
    stderr: str


def run_command(arguments: Sequence[str], *, environ: Mapping[str, str], stdin: str = "") -> Done:
    """Run `klartext …` in this process at the fixed moment, with these settings and no others."""
    assemble()
    variables: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    variables |= {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", **environ}
    with ExitStack() as patched:
        for clock in CLOCKS_OF_COMMANDS:
            patched.enter_context(patch(clock, _StoppedDatetime))
        patched.enter_context(patch(ENCODER_OF_COMMANDS, _encoder))  # the same one, but read only once
        done = CliRunner().invoke(commands, list(arguments), input=stdin, env=variables)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)
