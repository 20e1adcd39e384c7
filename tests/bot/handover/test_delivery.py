"""What the delivery hands over, when, and that several of them do not do it twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot import Assistant
from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.sql_leaving import SqlLeaving
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.handover.delivery import SWEEP, Delivery, Sources
from bot.handover.handover import Context, Handover
from bot.handover.outbox import Pushed
from bot.handover.urgent import RedFlagDelivery, Waiting
from bot.outbox_ports import Outgoing, Patience
from bot.ports import Exchange, StoredConversation, StoredFlag, StoredTurn
from bot.settings import FhirAccess
from tests.bot.handover.exports import NOW
from tests.bot.handover.fhir_process import emptied, fhir_process, stored
from tests.postgresql import emptied as emptied_database

IDLE = timedelta(minutes=30)
NOWHERE = FhirAccess(url="http://127.0.0.1:9/fhir")


@dataclass
class House:
    """A database, and deliveries from it; the clock stands still until a test moves it."""

    records: SqlRecords
    access: FhirAccess = NOWHERE
    at: datetime = NOW

    def delivery(self) -> Delivery:
        engine = self.records.engine
        outbox, interviews = SqlOutbox(engine), SqlInterviews(engine)
        server = HttpFhirServer(self.access, sleep=lambda _: None)
        self.servers.append(server)

        def handover(conversation: str) -> Handover:
            return Handover(conversation, Context(self.access), self.records, outbox)

        sources = Sources(SqlLeaving(engine), interviews, handover, outbox, server)
        return Delivery(sources, IDLE, lambda: self.at, self.pushed.append)

    def red_flags(self) -> RedFlagDelivery:
        engine = self.records.engine
        outbox, server = SqlOutbox(engine), HttpFhirServer(self.access, patience=Patience(attempts=1, timeout_s=5))
        self.servers.append(server)

        def handover(conversation: str) -> Handover:
            return Handover(conversation, Context(self.access), self.records, outbox)

        def report(waiting: Waiting, sent: int, failed: int) -> None:
            self.sent += sent
            self.failed += failed

        return RedFlagDelivery(SqlLeaving(engine), handover, outbox, server, lambda: self.at, report)

    def __post_init__(self) -> None:
        self.sent = self.failed = 0
        self.pushed: list[Pushed] = []
        self.servers: list[HttpFhirServer] = []

    def close(self) -> None:
        for server in self.servers:
            server.close()
        self.records.close()

    def say(self, conversation: str, decision: str, *, number: int = 1) -> None:
        if self.records.conversation(conversation) is None:
            self.records.begin(StoredConversation(conversation, self.at, "de", "api"))
        exchange = Exchange(number, f"t{number}", "Frage", "{}", "{}")
        turn = StoredTurn(conversation, self.at, "de", "Frage", decision, None, 0.5, "small@1", exchange)
        self.records.add_turn(turn)

    def waiting(self) -> list[str]:
        with self.records.engine.connect() as connection:
            return list(connection.scalars(text("select conversation from outbox order by id")))


@pytest.fixture
def house(records: SqlRecords) -> Iterator[House]:
    opened = House(records)
    yield opened
    opened.close()


def test_only_what_is_urgent_leaves_while_the_patient_is_there(house: House) -> None:
    house.say("calm", "answered")
    house.say("danger", "urgent")

    delivery = house.delivery()
    assert not delivery.round()  # nobody takes it there
    assert not delivery.round()

    assert house.waiting() == ["danger"]


def test_a_second_red_flag_leaves_too(house: House) -> None:
    house.say("c1", "urgent")
    house.delivery().round()
    house.at += timedelta(seconds=20)
    house.say("c1", "urgent", number=2)

    house.delivery().round()

    assert house.waiting() == ["c1", "c1"]


def test_who_fell_silent_is_handed_over_once_and_again_after_saying_more(house: House) -> None:
    delivery = house.delivery()
    house.say("c1", "declined")
    house.at += IDLE
    delivery.round()
    assert house.waiting() == []  # just half an hour is not over half an hour

    house.at += SWEEP
    delivery.round()
    house.at += SWEEP
    delivery.round()
    assert house.waiting() == ["c1"]

    house.say("c1", "declined", number=2)
    house.at += IDLE + SWEEP
    delivery.round()
    assert house.waiting() == ["c1", "c1"]


def test_a_late_complaint_is_handed_over_too(house: House) -> None:
    delivery = house.delivery()
    house.say("c1", "declined")
    house.at += IDLE + SWEEP
    delivery.round()
    house.records.flag("c1", StoredFlag("t1", "wrong", "", house.at))

    house.at += IDLE + SWEEP
    delivery.round()

    assert house.waiting() == ["c1", "c1"]


def test_a_service_that_was_off_for_days_finds_who_fell_silent_meanwhile(house: House) -> None:
    house.say("c1", "declined")
    house.at += timedelta(days=9)

    house.delivery().round()

    assert house.waiting() == ["c1"]


def test_nothing_is_put_in_for_a_conversation_that_was_erased(house: House) -> None:
    house.say("c1", "urgent")
    house.records.erase("c1")

    assert not SqlOutbox(house.records.engine).put_new(Outgoing("c1", "{}", NOW))
    house.delivery().round()

    assert house.waiting() == []


def test_one_conversation_that_cannot_be_handed_over_holds_up_no_other(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.say("a-broken", "urgent")
    house.say("danger", "urgent")
    delivery = house.delivery()
    make = delivery.sources.handover

    def handover(conversation: str) -> Handover:
        if conversation == "a-broken":
            raise ValueError("Geheimnis")
        return make(conversation)

    delivery.sources = replace(delivery.sources, handover=handover)
    delivery.round()
    delivery.round()

    assert house.waiting() == ["danger"]
    assert [record.message for record in caplog.records].count("not handed over") == 1
    assert "a-broken" not in "".join(str(record.__dict__.get("fields")) for record in caplog.records)


@pytest.fixture(scope="module")
def fhir() -> Iterator[str]:
    with fhir_process() as url:
        yield url


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def test_several_workers_deliver_each_red_flag_once(
    kind: str, fhir: str, tmp_path: Path, request: pytest.FixtureRequest, small: Assistant
) -> None:
    assert small.languages
    url = (
        f"sqlite:///{tmp_path / 'many.db'}"
        if kind == "sqlite"
        else emptied_database(request.getfixturevalue("postgresql"))
    )
    opened = [SqlRecords.open(url) for _ in range(3)]
    houses = [House(records, FhirAccess(url=emptied(fhir))) for records in opened]
    for number in range(12):
        houses[0].say(f"c{number}", "urgent")
    deliveries = [(house.delivery(), house.red_flags()) for house in houses]
    start = threading.Barrier(len(deliveries))

    def work(ways: tuple[Delivery, RedFlagDelivery]) -> None:
        delivery, red_flags = ways
        start.wait()
        red_flags.look()
        while not delivery.round() or delivery.sources.outbox.waiting():
            red_flags.look()
        red_flags.join(30)
        red_flags.look()

    threads = [threading.Thread(target=work, args=[delivery]) for delivery in deliveries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(houses[0].waiting()) == sorted(2 * [f"c{number}" for number in range(12)])
    assert sum(pushed.sent for house in houses for pushed in house.pushed) == 12
    assert sum(house.sent for house in houses) == 12
    assert len(stored(fhir, "Task")) == 12
    assert len(stored(fhir, "AuditEvent")) == 12
    for house in houses:
        house.close()
