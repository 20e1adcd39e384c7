"""The sample: staff to log in as, and questions that patients might have asked in the last two weeks."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import URL

from bot.assistant import Assistant
from bot.editorial.people import People, Person, Role
from bot.errors import AlreadyStored, UserFixable
from bot.ports import FlagReason, Records, StoredConversation, StoredFlag
from bot.private_files import private_umask
from bot.settings import Settings
from bot.talk.conversation import Conversation
from bot.web.staff.wiring import make_jobs, make_people

HERE = Path(__file__).parent
DATABASE, PASSWORD_FILE = "sample.db", "sample-password"
SAMPLE_JOB = "inbox-sample"
DAYS = 14
# Of every ten answers, how many a patient says something about, and what.
SAID: tuple[FlagReason, ...] = ("helpful", "helpful", "wrong", "complicated")
ACCOUNTS: tuple[tuple[str, str, Role], ...] = (
    ("curator", "Carla Curator (sample)", "curator"),
    ("approver", "Dr. Arno Approver (sample)", "approver"),
    ("rater", "Rita Rater (sample)", "rater"),
    ("frontdesk", "Frieda Frontdesk (sample)", "frontdesk"),
)
Tell = Callable[[float, str], None]


def sample_settings(settings: Settings) -> Settings:
    """Return settings under which nothing real is touched: a database of its own, and nothing is sent to anybody.

    A database that is named in the settings is used as it is.
    """
    if settings.database_url is not None:
        return settings
    url = URL.create("sqlite", database=str(settings.writable_data() / DATABASE))
    staff = replace(settings.staff, contacts=()) if settings.staff is not None else None
    return replace(settings, database_url=url.render_as_string(), fhir=replace(settings.fhir, url=None), staff=staff)


def has_own_database(settings: Settings) -> bool:
    """Say whether these are settings of a sample whose database nobody has named."""
    return settings.database_url is not None and settings.database_url.endswith(f"/{DATABASE}")


def make_accounts(people: People, data: Path) -> list[str]:
    """Make the sample accounts where there are none but these; return what is told of them, as lines.

    Raises:
        UserFixable: They are there, and nobody knows their password any more.
    """
    known = {each.login for each in people.all()}
    if known - {login for login, _, _ in ACCOUNTS}:
        return ["This database has accounts of its own: no sample accounts, and no sample questions."]
    file = data / PASSWORD_FILE
    if known and not file.is_file():
        raise UserFixable(
            f"The sample accounts are there, but their password is not ({file}). "
            f"Delete {data / DATABASE} to begin anew."
        )
    if not file.is_file():
        with private_umask():
            file.write_text(f"{secrets.token_urlsafe(12)}\n", encoding="utf-8")
    password = file.read_text("utf-8").strip()
    for login, name, role in ACCOUNTS:
        if login not in known:
            made = people.add(Person(0, login, name, frozenset({role})), secrets.token_urlsafe(), by="the sample")
            people.change(made, by=name, password=password)  # as theirs, so that nobody has to change it
    logins = ", ".join(login for login, _, _ in ACCOUNTS)
    return [f"Sample accounts: {logins}. The password of all of them: {password}"]


def begin_sample(settings: Settings, *, now: Callable[[], datetime]) -> list[str]:
    """Make the sample accounts, and have the sample questions asked once; return what is told of it, as lines."""
    people, jobs = make_people(settings, now), make_jobs(settings)
    lines = make_accounts(people, settings.writable_data())
    is_ours = {each.login for each in people.all()} == {login for login, _, _ in ACCOUNTS}
    if is_ours and all(job.state != "done" for job in jobs.newest(SAMPLE_JOB)):
        jobs.ask(SAMPLE_JOB, {}, by="the sample", now=now())
    return lines


@dataclass(frozen=True, slots=True)
class Sample:
    """Asks the sample questions as patients do: each is a conversation of its own, marked by its id.

    Attributes:
        records: Where conversations are stored.
        assistant: Returns what answers; None while it is not ready.
        now: The clock.
        wait_s: Between looks whether it is ready.
    """

    records: Records
    assistant: Callable[[], Assistant | None]
    now: Callable[[], datetime]
    wait_s: float = 1.0

    def ask(self, tell: Tell) -> int:
        """Ask what was not asked before, and return how many there are."""
        while (assistant := self.assistant()) is None:
            tell(0.0, "")  # also a sign of life: training takes minutes at the first start
            time.sleep(self.wait_s)
        asked = list(self._asked())
        for number, (language, text, at, said) in enumerate(asked):
            tell(0.9 * number / len(asked), f"{number} / {len(asked)}")
            if language in assistant.languages:
                self._converse(assistant, StoredConversation(f"sample-{number:04}", at, language, "page"), text, said)
        return len(asked)

    def _converse(self, assistant: Assistant, opened: StoredConversation, text: str, said: FlagReason | None) -> None:
        try:
            conversation = Conversation.begin(assistant, self.records, opened)
        except AlreadyStored:
            return
        conversation.turn(text, at=opened.begun)
        turn = self.records.last_turn(opened.id)
        if said is not None and turn is not None and turn.exchange is not None and turn.decision == "answered":
            flag = StoredFlag(turn.exchange.turn_id, said, "", opened.begun + timedelta(minutes=1))
            self.records.flag(opened.id, flag)

    def _asked(self) -> Iterator[tuple[str, str, datetime, FlagReason | None]]:
        """Yield language, text, moment and what the patient says of the answer; the same at every start of a day."""
        rng, now = random.Random(14), self.now()
        texts = [(language, text) for language in ("de", "en") for text in questions(language)]
        rng.shuffle(texts)
        for language, text in texts:
            at = now - timedelta(days=rng.uniform(0.05, DAYS))
            yield language, text, at, rng.choice(SAID) if rng.random() < 0.4 else None


def questions(language: str) -> list[str]:
    """Return the sample questions of a language: invented, as real patients write."""
    lines = (HERE / f"sample_questions.{language}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line.strip()]
