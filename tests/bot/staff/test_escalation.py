"""Who is told of a call that nobody acknowledges, when, and of what: real database, real webhook, real mail server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.settings import Settings
from bot.staff.calls import CallKind, Tally
from bot.staff.escalation import HOLD, Escalation
from bot.wiring import make_contacts
from tests.bot.staff.sinks import Sink, mail_server, webhook

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
ID = "0" * 32
SAID = "Ich heiße Hinterhuber und kriege keine Luft"


@dataclass
class Site:
    """A site whose webhook is the first contact and whose mail address the second, with a clock that a test sets."""

    hook: Sink
    mail: Sink
    records: SqlRecords
    minute: float = 0
    tallies: list[Tally] = field(default_factory=list)

    def __post_init__(self) -> None:
        contacts = f"{self.hook.url}, mailto:ward.3@example.org"
        environ = {
            "KLARTEXT_STAFF_TOKEN": "t" * 32,
            "KLARTEXT_STAFF_NEXT": contacts,
            "KLARTEXT_SMTP_URL": self.mail.url,
        }
        settings = Settings.from_environment(environ).staff
        assert settings is not None
        self.calls = SqlCalls(self.records.engine)
        self.escalation = Escalation(
            self.calls,
            make_contacts(settings),
            timedelta(minutes=settings.minutes),
            self.now,
            self.tallies.append,
            "http://127.0.0.1:8000/staff/inbox",
        )

    def now(self) -> datetime:
        return NOW + timedelta(minutes=self.minute)

    def turn(self, number: int, kind: CallKind) -> None:
        if number == 1:
            self.records.begin(StoredConversation(ID, NOW, "de", "api", patient="P-4711"))
        exchange = Exchange(number, f"t{number}", SAID, "{}", "{}")
        turn = StoredTurn(ID, self.now(), "de", SAID, "urgent", None, 1.0, "small@1", exchange)
        self.records.add_turn(turn, call=kind)

    def at(self, minute: float) -> tuple[int, int]:
        """Look at a minute, and return how much the contacts have got."""
        self.minute = minute
        self.escalation.look()
        self.escalation.join(20)
        return len(self.hook.got), len(self.mail.got)


@pytest.fixture
def site(records: SqlRecords) -> Iterator[Site]:
    with webhook() as hook, mail_server() as mail:
        yield Site(hook, mail, records)


def test_each_contact_is_told_once_in_its_time_and_of_no_word_of_the_patient(site: Site) -> None:
    site.turn(1, "urgent")

    assert [site.at(minute) for minute in (0, 4.9, 5, 6, 9.9, 10, 11, 60)] == [
        (0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1), (1, 1),
    ]  # fmt: skip

    inbox = "http://127.0.0.1:8000/staff/inbox"
    assert json.loads(site.hook.got[0]) == {"conversation": ID, "kind": "urgent", "minutes": 5, "inbox": inbox}
    (mail,) = site.mail.got
    assert "To: ward.3@example.org" in mail
    assert all(said in mail for said in (ID, inbox, "10 minutes", "sounds like an emergency"))
    assert not [word for word in (*SAID.split(), "P-4711") if len(word) > 3 and word in site.hook.got[0] + mail]
    assert [(each.name, each.what) for each in site.calls.actions(ID)] == [("contact 1", "told"), ("contact 2", "told")]
    assert site.tallies[-1].oldest_s(site.now()) == 3600


@pytest.mark.parametrize("minute", [1, 6])
def test_who_acknowledges_or_takes_ends_it(site: Site, minute: float) -> None:
    site.turn(1, "asked")
    before = site.at(minute)

    site.calls.take(ID, "Anna", at=site.now())

    assert site.at(30) == before
    assert site.tallies[-1].oldest_s(site.now()) == 0


def test_a_contact_that_refuses_is_tried_again_until_the_next_is_due(site: Site) -> None:
    site.turn(1, "urgent")
    site.hook.status = 500

    assert [site.at(minute) for minute in (5, 5.25, 5.5, 6)] == [(1, 0), (1, 0), (2, 0), (3, 0)]
    assert site.at(10) == (4, 0)  # given up on
    assert site.at(10) == (4, 1)
    assert [(each.name, each.what) for each in site.calls.actions(ID)] == [
        ("contact 1", "failed"),
        ("contact 2", "told"),
    ]


def test_the_last_contact_is_tried_until_somebody_acknowledges(site: Site) -> None:
    site.turn(1, "urgent")
    site.mail.status = 550
    site.at(5)

    assert [site.at(minute) for minute in (10, 60, 600)] == [(1, 0)] * 3
    site.mail.status = 200
    assert site.at(601) == (1, 1)


def test_of_two_processes_one_tells_and_who_dies_meanwhile_is_replaced(site: Site) -> None:
    site.turn(1, "urgent")
    (call,) = site.calls.unacknowledged(at=NOW)
    assert site.calls.hold(call, at=NOW + timedelta(minutes=5), until=NOW + timedelta(minutes=5) + HOLD)

    assert site.at(5.5) == (0, 0)
    assert site.at(6) == (1, 0)


def test_who_was_told_that_somebody_asks_is_told_that_it_is_urgent_now(site: Site) -> None:
    site.turn(1, "asked")
    site.at(5)
    site.minute = 6
    site.turn(2, "urgent")

    assert site.at(6) == (2, 0)
    assert [json.loads(each)["kind"] for each in site.hook.got] == ["asked", "urgent"]
