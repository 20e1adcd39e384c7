"""Each shipped alert fires when what it is for has really happened, and none does while all is well."""

from __future__ import annotations

import json
import re
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from bot.adapters.staff_contacts import Mail, Webhook
from bot.errors import NotTold
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.staff.escalation import Contact, Notice
from bot.web.metrics import Metrics
from tests.bot.handover.fhir_process import fhir_process
from tests.bot.handover.odd_fhir_server import OddServer, odd_fhir_server
from tests.bot.handover.token_endpoint import token_endpoint
from tests.bot.staff.sinks import Sink, mail_server, webhook
from tests.bot.web.alerting import (
    FOLDER,
    INSTALL,
    RULES,
    Scrape,
    firing,
    names,
    promtool,
    require_same_by_promtool,
    rules,
    scrape,
)
from tests.bot.web.serving import Patient, Server

URGENT = "Ich kriege keine Luft"
# What goes wrong inside the process, at a signal: a thread dies, another waits for ever, all pairs are withdrawn.
FAULTS = """
import ctypes, gc, signal, threading
import bot.web.pulse
bot.web.pulse.STALLED_S = {**bot.web.pulse.STALLED_S, "red-flags": 3.0}
def die(*_):
    (thread,) = [each for each in threading.enumerate() if each.name == "delivery"]
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
def hang(*_):
    from bot.handover.urgent import RedFlagDelivery
    (delivery,) = [each for each in gc.get_objects() if isinstance(each, RedFlagDelivery)]
    delivery._lock.acquire()
def withdraw(*_):
    from bot import Assistant
    Assistant.shown = lambda self, language: frozenset()
for number, fault in ((signal.SIGUSR1, die), (signal.SIGUSR2, hang), (signal.SIGHUP, withdraw)):
    signal.signal(number, fault)
"""
# By what the server does with a red flag: its cause, and the alert that tells of the cause.
ODD = {
    "forbidden": ("unauthorised", "KlartextFhirSignInFails"),
    "not there": ("no_endpoint", "KlartextFhirRefuses"),
    "unprocessable": ("refused", "KlartextFhirRefuses"),
    "partly": ("incomplete", "KlartextFhirRefuses"),
    "login page": ("odd_answer", "KlartextFhirRefuses"),
    "away": ("server_error", ""),
    "cut": ("unreachable", ""),
}
MINUTES = 60


def _until(holds: Callable[[], object], within_s: float = 60) -> None:
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.2)


def _aged(server: Server, minutes: int, *columns: str) -> None:
    """Let moments in the database have been so long ago."""
    with closing(sqlite3.connect(server.database(), timeout=20)) as database, database:
        for column in columns:
            table, name = column.split(".")
            # The same for a turn and its entry in the outbox: they know each other by it.
            earlier = f"strftime('%Y-%m-%d %H:%M:%f000', {name}, '-{minutes} minutes')"
            database.execute(f"UPDATE {table} SET {name} = {earlier} WHERE {name} IS NOT NULL")


@pytest.fixture(scope="module")
def fhir() -> Iterator[OddServer]:
    with odd_fhir_server() as running:
        yield running


@pytest.fixture(scope="module")
def hook() -> Iterator[Sink]:
    with webhook() as sink:
        yield sink


@pytest.fixture(scope="module")
def ward(
    shipped: Assistant, shipped_data: Path, fhir: OddServer, hook: Sink, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A service with a FHIR server and a contact; the tests of this file break it one after the other."""
    assert shipped.sample
    environ = {
        "KLARTEXT_FHIR_URL": fhir.url,
        "KLARTEXT_STAFF_TOKEN": "t" * 32,
        "KLARTEXT_STAFF_NEXT": hook.url,
        "KLARTEXT_IDLE_MINUTES": "1",
    }
    running = Server(tmp_path_factory.mktemp("ward"), shipped_data, environ, faults=FAULTS)
    running.start()
    yield running
    running.kill()


def _health(server: Server) -> dict[str, object]:
    answer = httpx.get(server.url + "/healthz", timeout=2)
    assert answer.status_code == 200  # whatever happens to delivery: patients are served
    found: dict[str, object] = answer.json()
    return found


def test_a_service_under_way_raises_no_alert(ward: Server, tmp_path: Path) -> None:
    Patient(ward).say("Tut das weh?")
    _until(lambda: scrape(ward.url).value("klartext_task_running", task="delivery") == 1)

    now = scrape(ward.url)

    assert firing(now) == set()
    require_same_by_promtool(tmp_path, now)
    assert (_health(ward)["delivery"], _health(ward)["oldest_urgent_s"]) == ("ok", 0.0)


@pytest.mark.proof
def test_each_way_a_server_fails_red_flags_is_told_by_its_cause(
    ward: Server, fhir: OddServer, hook: Sink, tmp_path: Path
) -> None:
    before, hook.status = scrape(ward.url), 500
    patients = {oddity: Patient(ward) for oddity in ODD}
    fhir.odd = {patient.id: oddity for oddity, patient in patients.items()}
    for patient in patients.values():
        patient.say(URGENT)
    causes = {cause for cause, _ in ODD.values()}

    def stuck() -> set[str]:
        waits = scrape(ward.url).of("klartext_outbox_entries")
        return {dict(labels)["cause"] for labels, value in waits if value and dict(labels)["lane"] == "urgent"}

    _until(lambda: stuck() == causes)
    assert _health(ward)["delivery"] == "failing"
    _aged(ward, 40, "turns.at", "outbox.put_at", "staff_calls.since", "staff_calls.opened")
    _until(lambda: _health(ward)["oldest_urgent_s"] > 30 * MINUTES)  # type: ignore[operator]
    assert _health(ward)["reason"] in causes
    _until(lambda: scrape(ward.url).value("klartext_staff_unacknowledged_oldest_seconds") > 10 * MINUTES)
    failed = ("klartext_staff_contact_failures_total", {"channel": "webhook", "reason": "refused"})
    _until(lambda: scrape(ward.url).value(failed[0], **failed[1]) > 0)
    _until(lambda: "KlartextConversationsLate" in names(firing(scrape(ward.url))))

    now = scrape(ward.url)
    found = firing(now, before=before)

    late = {dict(labels)["cause"] for alert, labels in found if alert == "KlartextRedFlagsLate"}
    assert late == causes
    for cause, alert in ODD.values():
        told = [dict(labels)["cause"] for name, labels in found if name == alert]
        assert not alert or cause in told, (cause, alert)
    assert {"KlartextStaffNotTold", "KlartextStaffCallWaits", "KlartextErrorsLogged"} <= names(found)
    assert "KlartextFhirServerUnusable" in names(found)
    require_same_by_promtool(tmp_path, now, before=before)

    fhir.odd, hook.status = {}, 200
    _until(lambda: not stuck())
    _until(lambda: not names(firing(scrape(ward.url))) & {"KlartextRedFlagsLate", "KlartextFhirRefuses"})


@pytest.mark.proof
def test_a_conversation_that_cannot_be_handed_over_counts_though_it_is_not_in_the_outbox(
    ward: Server, tmp_path: Path
) -> None:
    patient = Patient(ward)
    with closing(sqlite3.connect(ward.database(), timeout=20)) as database, database:
        # Its patient is known by a pseudonym, and no system is set in which: nothing can be made of it.
        database.execute("UPDATE conversations SET patient = 'P-1' WHERE id = ?", [patient.id])

    patient.say(URGENT)

    _until(lambda: scrape(ward.url).value("klartext_outbox_entries", lane="urgent", cause="invalid"))
    _until(lambda: scrape(ward.url).value("klartext_outbox_entries", lane="rest", cause="invalid"))
    now = scrape(ward.url)
    assert "KlartextCannotHandOver" in names(firing(now))
    require_same_by_promtool(tmp_path, now)
    assert (_health(ward)["delivery"], _health(ward)["reason"]) == ("failing", "invalid")
    with closing(sqlite3.connect(ward.database(), timeout=20)) as database, database:
        database.execute("UPDATE conversations SET patient = NULL WHERE id = ?", [patient.id])
    _until(lambda: not scrape(ward.url).value("klartext_outbox_entries", lane="urgent", cause="invalid"))


def test_a_reply_that_the_guard_keeps_back_counts_and_dead_and_hanging_threads_are_seen(
    ward: Server, tmp_path: Path
) -> None:
    before = scrape(ward.url)
    ward.send_signal(signal.SIGHUP)
    assert Patient(ward).say("Tut das weh?") == [INTERFACE_TEXTS["de"]["safe"]]
    ward.send_signal(signal.SIGUSR1)
    _until(lambda: scrape(ward.url).value("klartext_task_running", task="delivery") == 0)
    assert (_health(ward)["delivery"], _health(ward)["reason"]) == ("failing", "dead_thread")
    dead = scrape(ward.url)

    assert {"KlartextGuardViolation", "KlartextTaskDead"} <= names(firing(dead, before=before))
    assert ("KlartextTaskDead", frozenset({("task", "delivery")})) in firing(dead)
    ward.send_signal(signal.SIGUSR2)
    time.sleep(3)  # it finishes the look that it is at, and hangs in the next
    hung = scrape(ward.url)
    time.sleep(3)
    now = scrape(ward.url)
    beat = "klartext_task_success_timestamp_seconds"
    assert now.value(beat, task="red-flags") == hung.value(beat, task="red-flags")
    assert now.value(beat, task="staff-calls") > hung.value(beat, task="staff-calls")
    # What does not beat will not have beaten later, either.
    later = firing(now, later_s=31 * MINUTES)
    assert ("KlartextTaskStalled", frozenset({("task", "red-flags")})) in later
    assert "KlartextDeliveryStalled" in names(later)
    require_same_by_promtool(tmp_path, now, before=before, later_s=31 * MINUTES)


@pytest.fixture(scope="module")
def alone(
    shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Scrape]]:
    """A service without FHIR server and staff, which cannot delete what is too old; and its first scrape."""
    assert shipped.sample
    running = Server(tmp_path_factory.mktemp("alone"), shipped_data, {})
    running.start()
    patient = Patient(running)
    patient.say("Tut das weh?")
    running.kill()
    _aged(running, 60 * 24 * 60, "turns.at", "conversations.begun")
    with closing(sqlite3.connect(running.database())) as database, database:
        database.execute(
            "CREATE TRIGGER kept BEFORE DELETE ON conversations BEGIN SELECT RAISE(ABORT, 'not here'); END"
        )
    before = len(running.stdout())
    first: list[Scrape] = []

    def scraped() -> bool:
        if len(running.stdout()) > before and not first:
            first.append(scrape(running.stdout()[before:].split("listens on ")[1].split()[0]))
        return bool(first) and first[0].value("up", job="klartext") == 1

    running.start(until=scraped)
    yield running, first[0]
    running.kill()


@pytest.mark.proof
def test_a_service_that_starts_is_not_ready(alone: tuple[Server, Scrape]) -> None:
    server, first = alone

    assert "KlartextNotReady" in names(firing(first))
    _until(lambda: "KlartextNotReady" not in names(firing(scrape(server.url))))


@pytest.mark.proof
def test_what_cannot_be_deleted_is_told_at_once_and_again_after_two_days(
    alone: tuple[Server, Scrape], tmp_path: Path
) -> None:
    server, _ = alone
    _until(lambda: "KlartextPurgeFailed" in names(firing(scrape(server.url))))

    now = scrape(server.url)

    assert "KlartextPurgeLate" not in names(firing(now, later_s=47 * 60 * MINUTES))
    assert "KlartextPurgeLate" in names(firing(now, later_s=49 * 60 * MINUTES))
    require_same_by_promtool(tmp_path, now, later_s=49 * 60 * MINUTES)


@pytest.mark.proof
def test_a_red_flag_that_nobody_gets_is_told_and_a_disk_that_is_full_and_a_service_that_is_gone(
    alone: tuple[Server, Scrape], tmp_path: Path
) -> None:
    server, _ = alone
    Patient(server).say(URGENT)
    _aged(server, 5, "turns.at")
    _until(lambda: "KlartextNobodyGetsRedFlags" in names(firing(scrape(server.url))))
    assert (_health(server)["delivery"], _health(server)["reason"]) == ("off", "no_server")
    assert server._process is not None
    before = resource.prlimit(server._process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server._process.pid, resource.RLIMIT_FSIZE, (1, before[1]))  # nothing more can be written

    _until(lambda: "KlartextDatabaseNotWritable" in names(firing(scrape(server.url))))  # nobody asked for /healthz

    require_same_by_promtool(tmp_path, scrape(server.url))
    resource.prlimit(server._process.pid, resource.RLIMIT_FSIZE, before)
    _until(lambda: "KlartextDatabaseNotWritable" not in names(firing(scrape(server.url))))
    server.kill()
    now = scrape(server.url)
    assert names(firing(now)) == {"KlartextDown"}
    require_same_by_promtool(tmp_path, now)


@pytest.mark.proof
def test_a_client_that_gets_no_token_and_a_real_server_that_is_gone_are_told(
    shipped: Assistant, shipped_data: Path, tmp_path: Path
) -> None:
    assert shipped.sample
    with token_endpoint() as tokens, fhir_process() as url:
        environ = {
            "KLARTEXT_FHIR_URL": url,
            "KLARTEXT_FHIR_TOKEN_URL": tokens.url,
            "KLARTEXT_FHIR_CLIENT_ID": "klartext",
            "KLARTEXT_FHIR_CLIENT_SECRET": "changed since",
        }
        server = Server(tmp_path, shipped_data, environ)
        server.start()
        Patient(server).say(URGENT)
        _until(lambda: scrape(server.url).value("klartext_outbox_entries", lane="urgent", cause="token"))
        assert "KlartextFhirSignInFails" in names(firing(scrape(server.url)))
        assert "KlartextFhirServerUnusable" in names(firing(scrape(server.url)))
    server.kill()
    server._environ = {key: value for key, value in server._environ.items() if key[:18] != "KLARTEXT_FHIR_CLIE"}
    server._environ.pop("KLARTEXT_FHIR_TOKEN_URL")
    server.start()  # its FHIR server has gone
    _until(lambda: scrape(server.url).value("klartext_outbox_entries", lane="urgent", cause="unreachable"))
    assert _health(server)["reason"] == "unreachable"
    server.kill()


@pytest.mark.proof
def test_contacts_that_were_not_told_count_by_channel_and_reason() -> None:
    metrics, notice = Metrics(), Notice("c", "urgent", 1, "http://127.0.0.1/staff/inbox")
    with webhook() as hook, mail_server() as mail:
        hook.status = mail.status = 500
        port = int(mail.url.rsplit(":", 1)[1])
        contacts: list[Contact] = [Webhook(hook.url), Mail("a@example.org", ("127.0.0.1", port), "b@example.org")]
        for contact in contacts:
            with pytest.raises(NotTold) as refused:
                contact.tell(notice)
            metrics.not_told(refused.value.reason)
    for contact in contacts:  # nobody listens there any more
        with pytest.raises(NotTold) as refused:
            contact.tell(notice)
        metrics.not_told(refused.value.reason)

    counted = [line for line in metrics.as_text().decode().splitlines() if line.endswith(" 1.0")]
    found = {line.split("{")[1] for line in counted if line.startswith("klartext_staff_contact_failures_total")}
    assert found == {
        f'channel="{channel}",reason="{reason}"}} 1.0'
        for channel in ("webhook", "mail")
        for reason in ("refused", "unreachable")
    }


@pytest.mark.proof
def test_every_alert_is_caused_by_a_test() -> None:
    here = Path(__file__)
    files = (here, here.parent / "test_workers.py", here.parent / "test_editions.py")
    text = "".join(each.read_text(encoding="utf-8") for each in files)

    assert {alert for alert in rules() if f'"{alert}"' not in text} == set()


def _metrics_in(text: str) -> set[str]:
    return {re.sub(r"_(bucket|count|sum)$", "", name) for name in re.findall(r"\bklartext_[a-z_]+", text)}


@pytest.mark.proof
def test_every_metric_that_rules_and_dashboard_name_exists_and_every_rule_says_what_to_do() -> None:
    exposed = Metrics().as_text().decode()
    exist = {re.sub(r"_total$", "", name) for name in re.findall(r"# TYPE (\S+) ", exposed)}
    named = _metrics_in(RULES.read_text(encoding="utf-8"))
    dashboard = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    shown = _metrics_in(json.dumps(dashboard))
    guide = (FOLDER.parent / "operations.md").read_text(encoding="utf-8")

    assert len(named) >= 10
    assert len(shown) >= 15
    assert {name for name in named | shown if re.sub(r"_total$", "", name) not in exist} == set()
    for alert, rule in rules().items():
        assert rule["labels"]["severity"] in {"critical", "warning"}, alert
        assert all(len(rule["annotations"][name]) > 20 for name in ("summary", "description", "runbook")), alert
        assert f"### {alert}\n" in guide
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{alert.lower()}"


@pytest.mark.proof
def test_prometheus_takes_the_rules() -> None:
    program = promtool()
    if program is None:
        pytest.skip(f"promtool is missing: run `{INSTALL}`, or install Prometheus")

    done = subprocess.run([program, "check", "rules", str(RULES)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules())} rules found" in done.stdout
