"""Who is told of a call that nobody acknowledges, when, and of what: real database, real webhook, real mail server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.adapters.sql_people import SqlPeople, is_gone
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.editorial.people import Person
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.settings import Settings
from bot.staff.calls import Stir, Tally
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

    def turn(self, number: int, kind: Stir) -> None:
        if number == 1:
            self.records.begin(StoredConversation(ID, NOW, "de", "api", secret_hash="h", patient="P-4711"))
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


def test_contacts_are_told_in_turn_until_somebody_acknowledges_and_of_no_word_of_the_patient(site: Site) -> None:
    site.turn(1, "asked")

    assert [site.at(minute) for minute in (0, 4.9, 5, 6, 9.9, 10, 11, 15, 20)] == [
        (0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1), (2, 1), (2, 2),
    ]  # fmt: skip

    inbox = "http://127.0.0.1:8000/staff/inbox"
    assert json.loads(site.hook.got[0]) == {
        **{"conversation": ID, "kind": "asked", "minutes": 5, "inbox": inbox},
        **{"taken": False, "patient_left": False, "deleted": False},
    }
    mail = site.mail.got[0]
    assert "To: ward.3@example.org" in mail
    assert all(said in mail for said in (ID, inbox, "10 minutes", "asks for a person"))
    assert not [word for word in (*SAID.split(), "P-4711") if len(word) > 3 and word in site.hook.got[0] + mail]
    told = [(each.name, each.what) for each in site.calls.actions(ID)]
    assert told == [(f"contact {number}", "told") for number in (1, 2, 1, 2)]
    assert site.tallies[-1].oldest_s(site.now()) == 1200
    site.calls.acknowledge(ID, "Anna", at=site.now())
    assert site.at(600) == (2, 2)


def test_the_first_contact_hears_of_an_urgent_call_at_once(site: Site) -> None:
    site.turn(1, "urgent")

    assert [site.at(minute) for minute in (0, 4.9, 5, 9.9, 10)] == [(1, 0), (1, 0), (1, 1), (1, 1), (2, 1)]
    assert json.loads(site.hook.got[0])["minutes"] == 0


def test_rounds_that_nobody_made_while_the_service_was_off_are_not_made_up(site: Site) -> None:
    site.turn(1, "asked")

    assert [site.at(600) for _ in range(4)] == [(1, 0), (1, 1), (1, 1), (1, 1)]
    assert site.at(605) == (2, 1)


def test_who_has_taken_a_call_and_does_not_answer_is_found_out(site: Site) -> None:
    site.turn(1, "asked")
    site.calls.take(ID, "Anna", at=site.now())
    assert site.at(30) == (0, 0)
    site.turn(2, "message")

    assert [site.at(minute) for minute in (34, 35)] == [(0, 0), (1, 0)]
    assert json.loads(site.hook.got[0])["taken"] is True
    site.turn(3, "asked")
    assert site.at(35) == (2, 0)  # whoever asks for a person then waits for nobody
    site.calls.write(ID, "Anna", "Ich bin da", at=site.now())
    assert site.at(600) == (2, 0)


def test_a_contact_hears_that_the_patient_has_left_or_has_deleted_what_was_urgent(site: Site) -> None:
    site.turn(1, "urgent")
    site.at(0)
    site.records.close_session(ID)
    site.at(5)
    site.minute = 6
    site.records.erase(ID, by_patient_at=site.now())
    site.hook.status = 500
    site.at(6)

    assert "has left the conversation" in site.mail.got[0]
    gone, mail = json.loads(site.hook.got[-1]), site.mail.got[-1]
    assert (gone["deleted"], gone["kind"], gone["minutes"]) == (True, "urgent", 6)
    assert "deleted an urgent call before anybody saw it" in mail.replace("\n ", " ")
    assert ID not in site.hook.got[-1] + mail
    assert site.at(60) == (2, 2)  # told once
    assert site.tallies[-1].deleted == 1


@pytest.mark.parametrize("kind", ["asked", "urgent"])
def test_what_was_seen_or_was_not_urgent_is_deleted_without_a_notice(site: Site, kind: Stir) -> None:
    site.turn(1, kind)
    if kind == "urgent":
        site.calls.acknowledge(ID, "Anna", at=site.now())
    site.records.erase(ID, by_patient_at=site.now())

    assert site.at(60) == (0, 0)
    assert (site.tallies[-1].deleted, site.calls.was_deleted(ID)) == (0, True)


@pytest.mark.parametrize("minute", [1, 6])
def test_who_acknowledges_or_takes_ends_it(site: Site, minute: float) -> None:
    site.turn(1, "asked")
    before = site.at(minute)

    site.calls.take(ID, "Anna", at=site.now())

    assert site.at(30) == before
    assert site.tallies[-1].oldest_s(site.now()) == 0


def test_a_contact_that_refuses_is_tried_again_until_the_next_is_due(site: Site) -> None:
    site.turn(1, "asked")
    site.hook.status = 500

    assert [site.at(minute) for minute in (5, 5.25, 5.5, 6)] == [(1, 0), (1, 0), (2, 0), (3, 0)]
    assert site.at(10) == (4, 0)  # given up on
    assert site.at(10) == (4, 1)
    assert [(each.name, each.what) for each in site.calls.actions(ID)] == [
        ("contact 1", "failed"),
        ("contact 2", "told"),
    ]


def test_of_two_processes_one_tells_and_who_dies_meanwhile_is_replaced(site: Site) -> None:
    site.turn(1, "asked")
    (call,) = site.calls.unacknowledged(at=NOW)
    assert site.calls.hold(call, at=NOW + timedelta(minutes=5), until=NOW + timedelta(minutes=5) + HOLD)

    assert site.at(5.5) == (0, 0)
    assert site.at(6) == (1, 0)


def test_who_was_told_that_somebody_asks_is_told_that_it_is_urgent_now(site: Site) -> None:
    site.turn(1, "asked")
    site.at(5)
    site.minute = 6
    site.turn(2, "urgent")

    assert [site.at(minute) for minute in (6, 10.9, 11)] == [(2, 0), (2, 0), (2, 1)]
    assert [json.loads(each)["kind"] for each in site.hook.got] == ["asked", "urgent"]


def test_what_somebody_held_who_is_gone_waits_again_and_the_contacts_hear_of_it(site: Site) -> None:
    people = SqlPeople(site.records.engine, site.now)
    people.add(Person(0, "adam", "Emil Adam", frozenset({"admin"})), None, by="a test")
    people.add(Person(0, "anna", "Anna Keller", frozenset({"frontdesk"})), "Sonne Wiese Ordner", by="a test")
    site.escalation.is_gone = partial(is_gone, site.records.engine)
    _, secret = people.enter("anna", "Sonne Wiese Ordner", now=site.now())
    site.turn(1, "urgent")
    site.at(0)
    site.calls.take(ID, "Anna Keller", at=site.now())
    for minute in (9, 18):
        site.minute = minute
        assert people.session(secret, now=site.now()) is not None
        site.at(minute)
        call = site.calls.call(ID)
        assert call is not None
        assert call.is_taken  # her page asks what is new: she is there

    told = site.at(27.9)
    call = site.calls.call(ID)
    assert call is not None
    assert call.is_taken
    again = site.at(28.1)

    call = site.calls.call(ID)
    assert call is not None
    assert (call.state, call.pressing, call.again) == ("waiting", "urgent", True)
    assert again[0] == told[0] + 1
    assert [action.what for action in site.calls.actions(ID)][-2:] == ["away", "told"]


def test_who_takes_a_call_by_a_program_has_no_session_and_keeps_it(site: Site) -> None:
    site.escalation.is_gone = partial(is_gone, site.records.engine)
    site.turn(1, "asked")
    site.calls.take(ID, "Somebody else", at=site.now())

    site.at(60)

    call = site.calls.call(ID)
    assert call is not None
    assert call.is_taken
