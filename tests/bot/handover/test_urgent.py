"""A red flag is out within seconds, whatever the FHIR server answers to other deliveries; and it is there once."""

from __future__ import annotations

import json
import logging
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.sql_leaving import SqlLeaving
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.handover.delivery import Delivery, Sources
from bot.handover.handover import Context, Handover
from bot.handover.outbox import push
from bot.handover.subject import Ids
from bot.handover.urgent import AT_ONCE, RedFlagDelivery, Waiting
from bot.outbox_ports import Patience
from bot.ports import Exchange, StoredConversation, StoredTurn
from bot.settings import FhirAccess
from bot.web.background import LAST_MOMENT_S
from tests.bot.handover.odd_fhir_server import ODDITIES, OddServer, odd_fhir_server

BOTH: tuple[Ids, ...] = ("server", "client")
SOON_S = 5.0
PATIENCE = Patience(attempts=1, timeout_s=20.0, total_s=30.0)
NEVER_ANSWERS = ("silent", "trickled head", "trickled body")


@dataclass
class Ward:
    """A database and both deliveries to one server, as the service runs them."""

    records: SqlRecords
    access: FhirAccess
    reports: list[tuple[Waiting, int, int]] = field(default_factory=list)
    patience: Patience = PATIENCE

    def __post_init__(self) -> None:
        engine = self.records.engine
        self.outbox, leaving = SqlOutbox(engine), SqlLeaving(engine)
        self.servers = [HttpFhirServer(self.access, patience=self.patience) for _ in range(2)]

        def handover(conversation: str) -> Handover:
            return Handover(conversation, Context(self.access), self.records, self.outbox)

        def report(waiting: Waiting, sent: int, failed: int) -> None:
            self.reports.append((waiting, sent, failed))

        self.red_flags = RedFlagDelivery(leaving, handover, self.outbox, self.servers[0], self.now, report)
        sources = Sources(leaving, SqlInterviews(engine), handover, self.outbox, self.servers[1])
        self.rest = Delivery(sources, timedelta(minutes=30), self.now, lambda _: None, self.red_flags.stopping)

    @staticmethod
    def now() -> datetime:
        return datetime.now(UTC)

    def say(self, conversation: str, decision: str = "urgent", number: int = 1, *, wake: bool = True) -> None:
        if self.records.conversation(conversation) is None:
            self.records.begin(StoredConversation(conversation, self.now(), "de", "api"))
        exchange = Exchange(number, f"t{number}", "Frage", "{}", "{}")
        turn = StoredTurn(conversation, self.now(), "de", "Geheimnis", decision, None, 0.5, "small@1", exchange)
        self.records.add_turn(turn)
        if wake:
            self.red_flags.wake()
            self.rest.wake()

    @contextmanager
    def delivering(self) -> Iterator[None]:
        threads = [threading.Thread(target=each.run) for each in (self.red_flags, self.rest)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.red_flags.stop()
            self.rest.stop()
            self.red_flags.join(LAST_MOMENT_S)  # as the service does: a socket closed under a request may wake nobody
            for server in self.servers:
                server.close()
            for thread in threads:
                thread.join(30)
            assert self.red_flags.join(30)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with odd_fhir_server() as running:
        yield running


@pytest.fixture(params=BOTH)
def ward(request: pytest.FixtureRequest, records: SqlRecords, server: OddServer) -> Ward:
    return Ward(records, FhirAccess(url=server.url, ids=request.param))


def _told(server: OddServer, count: int) -> bool:
    return len(server.tasks('"stat"')) == count


def _until(holds: Callable[[], object], *, within_s: float = SOON_S) -> None:
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.02)


@pytest.mark.parametrize(("oddity", "ids"), [(name, BOTH[number % 2]) for number, name in enumerate(ODDITIES)])
def test_no_answer_to_one_delivery_holds_up_a_red_flag_and_none_is_lost(
    oddity: str, ids: Ids, records: SqlRecords, server: OddServer
) -> None:
    ward = Ward(records, FhirAccess(url=server.url, ids=ids))
    server.odd = {"odd-": oddity}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(6):
        ward.say(f"odd-{number}", wake=False)
    with ward.delivering():
        _until(lambda: len({body for _, body in server.posts if "odd-" in body}) >= 6)

        for number in range(4):
            ward.say(f"sound-{number}")
        _until(lambda: len(server.tasks("sound-")) == 4)

        assert server.tasks("odd-") == []
        _until(lambda: ward.red_flags.waiting.backlog.urgent == 6)
        assert ward.red_flags.waiting.urgent_s(ward.now()) > 0
        server.odd.clear()
        if oddity not in NEVER_ANSWERS:  # those are tried again after their deadline only
            _until(lambda: len(server.tasks("odd-")) == 6, within_s=30)
            _until(lambda: ward.red_flags.waiting.backlog.urgent == 0)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024
    assert len(server.writes) == len(set(server.writes))


@pytest.mark.proof
def test_what_hangs_by_the_dozen_leaves_room_for_what_is_new(ward: Ward, server: OddServer) -> None:
    server.odd = {"odd-": "trickled body"}
    ward.servers[0]._patience = Patience(attempts=1, timeout_s=3.0, total_s=3.0)
    for number in range(2 * AT_ONCE):
        ward.say(f"odd-{number}", wake=False)
    with ward.delivering():
        _until(ward.outbox.reasons, within_s=20)
        ward.say("sound")

        _until(lambda: server.tasks("sound"))


def test_a_red_flag_is_a_transaction_of_nothing_but_its_task(ward: Ward, server: OddServer) -> None:
    with ward.delivering():
        ward.say("c1", "declined")
        ward.say("c1", number=2)
        _until(lambda: server.tasks('"stat"'))
        _until(lambda: len(server.posts) == 2)

    bundles = sorted((json.loads(body) for _, body in server.posts), key=lambda bundle: len(bundle["entry"]))
    (alarm,) = bundles[0]["entry"]
    assert (alarm["resource"]["resourceType"], alarm["resource"]["priority"]) == ("Task", "stat")
    assert alarm["resource"]["focus"]["type"] == "Communication"
    assert "Geheimnis" not in json.dumps(alarm)
    question = alarm["resource"]["focus"]["identifier"]["value"]
    others = [entry["fullUrl"] for entry in bundles[1]["entry"]]
    assert f"urn:uuid:{question}" in others
    assert alarm["fullUrl"] not in others


@pytest.mark.parametrize("kind", ["Communication", "Provenance", "AuditEvent"])
def test_no_other_resource_that_a_server_refuses_holds_a_red_flag_back(
    kind: str, ward: Ward, server: OddServer
) -> None:
    server.odd = {f'"resourceType":"{kind}"': "not there"}
    with ward.delivering():
        ward.say("c1", "declined")
        for number in range(2, 5):
            ward.say("c1", number=number)
            _until(partial(_told, server, number - 1))


@pytest.mark.parametrize(
    "answer", ["login page", "login page as JSON", "another resource", "forbidden", "cut", "empty"]
)
def test_only_the_resource_itself_proves_that_a_transaction_has_arrived(
    answer: str, records: SqlRecords, server: OddServer
) -> None:
    ward = Ward(records, FhirAccess(url=server.url, ids="client"))
    ward.say("c1", wake=False)
    server.odd = {"POST": "trickled body"}
    ward.servers[0]._patience = Patience(attempts=1, timeout_s=0.5, total_s=2.0)
    ward.red_flags.look()
    assert ward.red_flags.join(10)
    server.odd = {"GET": answer}

    with ward.delivering():
        _until(server.tasks, within_s=20)
        _until(lambda: ward.outbox.backlog().urgent == 0, within_s=20)

    assert server.looks
    assert len(server.writes) == len(set(server.writes))


def test_a_red_flag_that_arrived_unnoticed_is_not_written_again(records: SqlRecords, server: OddServer) -> None:
    ward = Ward(records, FhirAccess(url=server.url, ids="client"))
    ward.say("c1", wake=False)
    ward.red_flags._raise_new()
    claimed = ward.outbox.claim(at=ward.now() - timedelta(hours=1))
    assert claimed is not None
    ward.servers[0].send(claimed.bundle)  # and here the process dies
    (task,) = server.tasks()
    task["status"] = "completed"

    with ward.delivering():
        _until(lambda: ward.outbox.backlog().urgent == 0)

    assert [each["status"] for each in server.tasks()] == ["completed"]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def test_each_red_flag_is_written_once_by_many_workers_and_through_interruptions(
    kind: str, records: SqlRecords, server: OddServer, request: pytest.FixtureRequest
) -> None:
    from tests.postgresql import emptied

    url = str(records.engine.url)
    url = url if kind == "sqlite" else emptied(request.getfixturevalue("postgresql"))
    opened = [SqlRecords.open(url) for _ in range(3)]
    server.odd = {'"c7"': "cut"}
    wards = [Ward(each, FhirAccess(url=server.url)) for each in opened]
    with wards[0].delivering(), wards[1].delivering(), wards[2].delivering():
        for number in range(20):
            wards[number % 3].say(f"c{number}")
        _until(lambda: len(server.tasks()) == 19, within_s=30)
        server.odd.clear()
        _until(lambda: len(server.tasks()) == 20, within_s=30)
        _until(lambda: wards[0].outbox.backlog().urgent == 0, within_s=30)
        # What was sent is reported after it is taken out of the outbox.
        _until(lambda: sum(sent for ward in wards for _, sent, _ in ward.reports) >= 20, within_s=30)

    posted = [body for _, body in server.posts if '"stat"' in body and '"c7"' not in body]
    assert len(posted) == len(set(posted)) == 19
    assert sum(sent for ward in wards for _, sent, _ in ward.reports) == 20
    for each in opened:
        each.close()


def test_what_waits_is_told_in_the_log_but_not_every_second(
    ward: Ward, server: OddServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.odd = {"POST": "forbidden"}
    late = ward.now() - timedelta(minutes=3)
    ward.records.begin(StoredConversation("c1", late, "de", "api"))
    exchange = Exchange(1, "t1", "Frage", "{}", "{}")
    ward.records.add_turn(StoredTurn("c1", late, "de", "Geheimnis", "urgent", None, 0.5, "small@1", exchange))

    with caplog.at_level(logging.INFO), ward.delivering():
        _until(lambda: ward.red_flags.waiting.fault)
        time.sleep(2.5)
        told = [record for record in caplog.records if record.getMessage() == "red flags wait for the FHIR server"]
        server.odd.clear()
        _until(lambda: "no red flag waits any more" in caplog.messages, within_s=20)

    (line,) = told
    assert line.__dict__["fields"]["waiting"] == 1
    assert line.__dict__["fields"]["oldest_s"] >= 180
    assert "Geheimnis" not in caplog.text


def test_a_red_flag_that_cannot_even_be_put_in_counts_as_waiting(ward: Ward) -> None:
    make = ward.red_flags.handover

    def handover(conversation: str) -> Handover:
        if conversation == "a-broken":
            raise ValueError("Geheimnis")
        return make(conversation)

    ward.red_flags.handover = handover
    ward.say("a-broken", wake=False)
    with ward.delivering():
        ward.say("c1")
        _until(lambda: ward.outbox.entries("c1") and ward.outbox.entries("c1")[0].accepted_at)
        _until(lambda: ward.red_flags.waiting.backlog.urgent == 1)


def test_an_unreadable_entry_holds_up_no_other(ward: Ward, server: OddServer) -> None:
    from sqlalchemy import text

    for number in range(3):
        ward.say(f"c{number}", wake=False)
    ward.red_flags._raise_new()
    with ward.records.engine.begin() as connection:
        connection.execute(text("update outbox set bundle = cast(x'ff' as text) where conversation = 'c0'"))

    with ward.delivering():
        _until(lambda: len(server.tasks()) == 2)
        _until(lambda: ward.red_flags.waiting.backlog.urgent == 1)


@pytest.mark.parametrize("oddity", [each for each in ODDITIES if each not in NEVER_ANSWERS and each != "endless body"])
def test_a_push_from_the_command_line_goes_on_after_any_answer(
    oddity: str, records: SqlRecords, server: OddServer
) -> None:
    ward = Ward(records, FhirAccess(url=server.url))
    for name in ("odd-0", "odd-1", "sound-0", "sound-1"):
        ward.say(name, wake=False)
    ward.red_flags._raise_new()
    server.odd = {"odd-": oddity}

    pushed = push(ward.outbox, ward.servers[0], clock=ward.now)

    assert (pushed.sent, pushed.waiting) == (2, 2)
    assert len(server.tasks("sound")) == 2
    assert all("odd-" not in reason for reason in pushed.reasons)


def test_a_server_without_transactions_is_told_and_everything_waits(
    records: SqlRecords, server: OddServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.statement = {**server.statement, "rest": []}
    server.odd = {"POST": "not there"}
    ward = Ward(records, FhirAccess(url=server.url))
    with caplog.at_level(logging.INFO), ward.delivering():
        ward.say("c1")
        _until(lambda: ward.rest.fault and ward.red_flags.waiting.fault)
        _until(lambda: ward.red_flags.waiting.backlog.waiting == 2)

    assert "offers no transactions" in ward.rest.fault
    assert "offers no transactions" in caplog.text
    assert server.held == {}
