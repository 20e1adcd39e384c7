"""Conversations go from the outbox to a real FHIR server, whatever the network does in between."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.sql_outbox import LEASE, SqlOutbox
from bot.adapters.sql_records import SqlRecords
from bot.errors import NotSent
from bot.handover.outbox import Pushed, push
from bot.handover.subject import Export, Ids
from bot.outbox_ports import Patience
from bot.settings import FhirAccess
from tests.bot.handover.exports import NOW, answered, export, form, mixed_export, outgoing, response
from tests.bot.handover.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from tests.bot.handover.fhir_process import emptied, fhir_process, stored

KINDS = {
    "QuestionnaireResponse": 1,
    "Observation": 1,
    "Consent": 1,
    "Communication": 5,
    "Task": 3,
    "Provenance": 1,
    "AuditEvent": 1,
}
HASTE = Patience(attempts=4, first_wait_s=0.01, timeout_s=5)
BOTH: tuple[Ids, ...] = ("server", "client")


@pytest.fixture(scope="module")
def one_server() -> Iterator[str]:
    with fhir_process() as url:
        yield url


@pytest.fixture
def server(one_server: str) -> str:
    """An empty server."""
    return emptied(one_server)


@pytest.fixture
def proxy(server: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(server) as running:
        yield running


@pytest.fixture
def outbox(records: SqlRecords) -> SqlOutbox:
    return SqlOutbox(records.engine)


def _push(outbox: SqlOutbox, url: str, *, at: datetime = NOW, patience: Patience = HASTE) -> Pushed:
    server = HttpFhirServer(FhirAccess(url=url), patience=patience)
    try:
        return push(outbox, server, clock=lambda: at)
    finally:
        server.close()


def _held(url: str) -> dict[str, int]:
    return {kind: len(stored(url, kind)) for kind in KINDS}


def _times(number: int) -> dict[str, int]:
    return {kind: count * number for kind, count in KINDS.items()}


@pytest.mark.parametrize("ids", BOTH)
def test_a_conversation_arrives_whole_and_the_outbox_forgets_it(ids: Ids, outbox: SqlOutbox, server: str) -> None:
    outbox.put(outgoing(mixed_export(ids=ids)))

    pushed = _push(outbox, server)

    assert pushed == Pushed(1, 0, ())
    assert _held(server) == KINDS
    (made,) = stored(server, "QuestionnaireResponse")
    (observation,) = stored(server, "Observation")
    assert observation["derivedFrom"] == [{"reference": f"QuestionnaireResponse/{made['id']}"}]
    assert observation["valueQuantity"] == {"value": 70.5}
    (provenance,) = stored(server, "Provenance")
    targets: Any = provenance["target"]
    assert Counter(target["reference"].partition("/")[0] for target in targets) == {
        kind: count for kind, count in KINDS.items() if kind not in {"Provenance", "AuditEvent"}
    }


@pytest.mark.parametrize("ids", BOTH)
@pytest.mark.parametrize(
    "faults",
    [
        ["cut before"],
        ["cut after"],
        ["busy"],
        ["broken"],
        ["cut after", "cut after", "busy"],
        ["cut before", "broken", "cut after"],
    ],
    ids=" ".join,
)
def test_a_short_outage_loses_nothing_and_doubles_nothing(
    faults: list[Fault], ids: Ids, outbox: SqlOutbox, proxy: FaultyProxy
) -> None:
    proxy.faults += faults
    outbox.put(outgoing(mixed_export(ids=ids)))

    pushed = _push(outbox, proxy.url)

    assert pushed == Pushed(1, 0, ())
    # With ids of ours a repetition looks first whether it has arrived, and meets no further fault.
    assert proxy.faults == [] or (ids == "client" and "cut after" in faults)
    assert _held(proxy.target) == KINDS


@pytest.mark.parametrize("ids", BOTH)
@pytest.mark.parametrize("fault", ["cut before", "cut after", "broken", "slow", "nonsense"])
def test_a_long_outage_keeps_everything_until_the_next_push(
    fault: Fault, ids: Ids, outbox: SqlOutbox, proxy: FaultyProxy
) -> None:
    impatient = Patience(attempts=2, first_wait_s=0.01, timeout_s=0.8)
    proxy.faults += [fault] * 2 * 3
    for number in range(3):
        outbox.put(outgoing(mixed_export(f"c{number}", ids=ids)))

    first = _push(outbox, proxy.url, patience=impatient)
    proxy.faults.clear()
    second = _push(outbox, proxy.url)

    assert first.waiting + first.sent == 3
    assert first.reasons or (ids == "client" and fault in {"cut after", "slow"})
    assert second == Pushed(3 - first.sent, 0, ())
    assert _held(proxy.target) == _times(3)


def test_a_server_that_is_away_keeps_everything(outbox: SqlOutbox, server: str) -> None:
    with faulty_proxy(server) as gone:
        url = gone.url
    outbox.put(outgoing(mixed_export()))

    pushed = _push(outbox, url, patience=Patience(attempts=2, first_wait_s=0.01))

    assert pushed == Pushed(0, 1, ("unreachable (ConnectError)",))
    assert _push(outbox, server) == Pushed(1, 0, ())


def test_a_busy_server_is_given_the_time_it_asks_for(server: str, outbox: SqlOutbox) -> None:
    slept: list[float] = []
    outbox.put(outgoing(mixed_export()))
    with faulty_proxy(server) as proxy:
        proxy.faults, proxy.retry_after = ["busy", "broken", "broken"], "7"
        fhir = HttpFhirServer(FhirAccess(url=proxy.url), patience=Patience(first_wait_s=0.5), sleep=slept.append)

        pushed = push(outbox, fhir, clock=lambda: NOW)
        fhir.close()

    assert pushed.sent == 1
    assert slept == [7, 1, 2]


def test_a_server_that_asks_for_an_hour_is_left_alone(outbox: SqlOutbox, proxy: FaultyProxy) -> None:
    proxy.faults += ["busy long"]
    for number in range(3):
        outbox.put(outgoing(mixed_export(f"c{number}")))

    pushed = _push(outbox, proxy.url)

    assert pushed == Pushed(0, 3, ("busy (429)",))
    assert proxy.writes == 1


def test_what_the_server_refuses_holds_nobody_else_up(outbox: SqlOutbox, server: str) -> None:
    outbox.put(outgoing(export(given=response(hobby="sailing"), conversation="bad")))
    outbox.put(outgoing(mixed_export("good")))

    pushed = _push(outbox, server)

    assert (pushed.sent, pushed.waiting) == (1, 1)
    assert pushed.reasons[0].startswith("refused (400)")
    assert outbox.reasons() == [("bad", pushed.reasons[0])]
    assert _held(server) == KINDS


def test_a_conversation_that_always_breaks_the_server_stops_nobody_else(outbox: SqlOutbox, proxy: FaultyProxy) -> None:
    patience = Patience(attempts=1)
    proxy.faults += ["broken", "broken"]
    for number in range(4):
        outbox.put(outgoing(mixed_export(f"c{number}")))

    pushed = _push(outbox, proxy.url, patience=patience)

    assert pushed == Pushed(2, 2, ("busy (500)", "busy (500)"))


def test_states_of_one_conversation_are_sent_in_order(outbox: SqlOutbox, proxy: FaultyProxy) -> None:
    before = mixed_export()
    after = _corrected(before)
    proxy.faults += ["broken"]
    outbox.put(outgoing(before))
    outbox.put(outgoing(after, before))

    held_up = _push(outbox, proxy.url, patience=Patience(attempts=1))
    caught_up = _push(outbox, proxy.url)

    assert (held_up.sent, held_up.waiting) == (0, 2)
    assert caught_up == Pushed(2, 0, ())
    (made,) = stored(proxy.target, "QuestionnaireResponse")
    assert made["status"] == "amended"


def _corrected(before: Export) -> Export:
    assert before.interview is not None
    given = response(answered("consent", {"valueBoolean": True}), status="amended")
    return export(
        *before.exchanges,
        asked=dict(before.interview.questionnaire),
        given=given,
        at=NOW + timedelta(hours=1),
        ids=before.ids,
    )


@pytest.mark.parametrize("ids", BOTH)
def test_a_correction_replaces_the_response_withdraws_observations_and_leaves_tasks_alone(
    ids: Ids, outbox: SqlOutbox, server: str
) -> None:
    before = mixed_export(ids=ids)
    outbox.put(outgoing(before))
    _push(outbox, server)

    outbox.put(outgoing(_corrected(before), before))
    pushed = _push(outbox, server)

    assert pushed == Pushed(1, 0, ())
    assert _held(server) == KINDS | {"Provenance": 2, "AuditEvent": 2}
    assert [made["status"] for made in stored(server, "QuestionnaireResponse")] == ["amended"]
    assert [made["status"] for made in stored(server, "Observation")] == ["entered-in-error"]


@pytest.mark.parametrize("ids", BOTH)
def test_a_crash_between_sending_and_noting_it_is_harmless(ids: Ids, outbox: SqlOutbox, server: str) -> None:
    outbox.put(outgoing(mixed_export(ids=ids)))
    claimed = outbox.claim(at=NOW)
    assert claimed is not None
    fhir = HttpFhirServer(FhirAccess(url=server))
    fhir.send(claimed.bundle)  # and here the process dies

    meanwhile = _push(outbox, server)
    later = _push(outbox, server, at=NOW + LEASE + timedelta(seconds=1))

    fhir.close()
    assert meanwhile == Pushed(0, 1, ())
    assert later == Pushed(1, 0, ())
    assert _held(server) == KINDS


@pytest.mark.parametrize("ids", BOTH)
def test_what_staff_did_with_a_task_is_not_undone_by_a_repetition(ids: Ids, outbox: SqlOutbox, server: str) -> None:
    outbox.put(outgoing(mixed_export(ids=ids)))
    claimed = outbox.claim(at=NOW)
    assert claimed is not None
    fhir = HttpFhirServer(FhirAccess(url=server))
    fhir.send(claimed.bundle)
    for task in stored(server, "Task"):
        done = httpx.put(f"{server}/Task/{task['id']}", json={**task, "status": "completed"}, trust_env=False)
        assert done.status_code == 200

    pushed = _push(outbox, server, at=NOW + LEASE + timedelta(seconds=1))

    fhir.close()
    assert pushed.sent == 1
    assert {task["status"] for task in stored(server, "Task")} == {"completed"}


def test_concurrent_pushes_send_each_conversation_once(tmp_path: Path, proxy: FaultyProxy) -> None:
    records = SqlRecords.in_folder(tmp_path)
    outbox = SqlOutbox(records.engine)
    for number in range(12):
        outbox.put(outgoing(mixed_export(f"c{number}")))
    command = [
        sys.executable,
        "-c",
        "from bot.commands.main import main; main()",
        "fhir",
        "push",
        "--server",
        proxy.url,
    ]

    pushes = [
        subprocess.Popen([*command, "--data", str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [push.communicate(timeout=120)[0] for push in pushes]

    assert sum(int(line.split()[0]) for line in said) == 12
    assert proxy.writes == 12
    assert outbox.waiting() == 0
    assert _held(proxy.target) == _times(12)
    records.close()


def test_a_transaction_is_all_or_nothing(server: str) -> None:
    # The last entry but one is wrong: all before it are fine.
    bundle = outgoing(mixed_export()).bundle.replace('"recorded":"', '"recorded":7,"was":"', 1)
    fhir = HttpFhirServer(FhirAccess(url=server), patience=HASTE)

    with pytest.raises(NotSent, match=r"refused \(4\d\d\)"):
        fhir.send(bundle)

    fhir.close()
    assert _held(server) == _times(0)


def test_medplums_own_transactions_take_our_ids(outbox: SqlOutbox) -> None:
    with fhir_process("native") as native:
        outbox.put(outgoing(mixed_export("ours", ids="client")))
        assert _push(outbox, native) == Pushed(1, 0, ())
        assert _held(native) == KINDS

        # They refuse more than eight conditional creates: this is told, and nothing is lost.
        outbox.put(outgoing(mixed_export("theirs", ids="server")))
        refused = _push(outbox, native)

        assert (refused.sent, refused.waiting) == (0, 1)
        assert _held(native) == KINDS


@pytest.mark.parametrize("fault", ["broken", "cut after", "nonsense"])
def test_nothing_a_patient_wrote_is_logged_or_told(
    fault: Fault, outbox: SqlOutbox, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "Geheimnis"
    told = mixed_export()
    asked = form({"linkId": "a", "type": "string"})
    bad = export(asked=asked, given=response(answered("a", {"valueString": secret, "valueInteger": secret})))
    outbox.put(outgoing(bad))
    outbox.put(outgoing(told))
    proxy.faults += [fault, fault]

    with caplog.at_level(logging.DEBUG):
        pushed = _push(outbox, proxy.url, patience=Patience(attempts=1))

    assert pushed.reasons
    assert secret not in repr(pushed) + caplog.text + repr(outbox.reasons())
    assert "Frage" not in repr(pushed) + caplog.text


def test_an_empty_outbox_asks_no_server(outbox: SqlOutbox) -> None:
    assert _push(outbox, "http://127.0.0.1:9/fhir") == Pushed(0, 0, ())
