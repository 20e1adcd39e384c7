"""Conversations are served from the release that they began with, in every process, whatever lies on the disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from bot.adapters.release_keys import Trust
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases
from bot.errors import BadData, UserFixable
from bot.ports import StoredConversation
from bot.release import contents, release
from bot.release.release import Release, Releases, Switch
from bot.release.stops import Stop
from bot.sentences.reply import SENTENCES
from bot.sentences.wording import NEUTRAL
from bot.settings import Settings
from bot.talk.conversation import Message, Taken
from bot.talk.exams import Serving
from bot.talk.reception import Reception
from bot.testing import HashEncoder
from bot.web.app import Service, build_app
from bot.web.background import Telling, _keep_up
from bot.web.editions import ByRelease, Editions
from bot.web.metrics import Metrics
from bot.web.page.rendering import load_labels
from bot.web.pulse import Pulse
from bot.web.server import Serving as Serve
from bot.web.server import _require_no_release, run_server
from bot.wiring import make_presence
from tests.bot.release.exams import NOW, UNTIL, Site, change_pairs, sign, write_exam
from tests.bot.web.alerting import firing, names, parsed

DE = SENTENCES["de"]
PAIN = "Tut die Untersuchung weh?"
OLD, NEW = f"{PAIN} (pain, de)", "Es dauert vier Stunden."


@dataclass
class Process:
    """One process of a service."""

    editions: Editions
    reception: Reception
    sent: int = field(default=0)

    @classmethod
    def start(cls, settings: Settings, site: Site, clock: list[datetime]) -> Process:
        records = SqlRecords.in_folder(settings.data)
        trust = Trust.of([site.public], None)
        editions = Editions(settings, records, SqlReleases(records.engine), trust, lambda: clock[0], HashEncoder())

        def serving(number: int | None) -> Serving:
            edition = editions.of(number)
            return Serving(edition.assistant, edition.interviewers.of, edition.topics, edition.number)

        first = editions.of(None)
        return cls(editions, Reception(first.assistant, records, lambda: clock[0], releases=serving))

    def begin(self) -> StoredConversation:
        return self.reception.open(channel="api", language="de", consented=True).conversation

    def say(self, opened: StoredConversation, text: str = PAIN) -> Taken:
        self.sent += 1
        return self.reception.take(opened, Message(f"{id(self)}-{self.sent}", text))

    def hears(self, opened: StoredConversation, text: str = PAIN) -> list[str]:
        return [part.text for part in self.say(opened, text).reply.parts]

    def ask_anew(self) -> None:
        """Forget what was known of stops: half a second has passed."""
        self.editions._stops = (float("-inf"), self.editions._stops[1])


@dataclass
class Hospital:
    """A department with its exam, its key and its database."""

    folder: Path
    settings: Settings
    site: Site
    clock: list[datetime] = field(default_factory=lambda: [NOW])

    def release(self, *, ends_soon: str = "", **texts: object) -> int:
        """Sign all and make a release of it; `ends_soon`: begins the names of what is signed for five minutes only."""
        if texts:
            change_pairs(self.folder, "de", only="pain", **texts)
        contents = sign(self.folder, "A", "B", at=self.clock[0])
        if ends_soon:
            contents = sign(self.folder, "A", "B", what=ends_soon, until=self.clock[0] + timedelta(minutes=5))
        return self.site.make(contents, now=self.clock[0]).number

    def activate(self, number: int) -> None:
        self.site.releases.switch(Switch(self.clock[0], "Anna", "activate", number))

    def process(self) -> Process:
        return Process.start(self.settings, self.site, self.clock)


@pytest.fixture
def hospital(tmp_path: Path, few_alarm_examples: None) -> Iterator[Hospital]:
    settings = Settings.from_environment({}, data=tmp_path / "data")
    settings.writable_data()
    records = SqlRecords.in_folder(settings.data)
    yield Hospital(write_exam(tmp_path / "exam"), settings, Site(tmp_path, SqlReleases(records.engine)))
    records.close()


def test_without_a_release_nothing_is_served(hospital: Hospital) -> None:
    with pytest.raises(UserFixable, match=r"No release is in force.*klartext release make CATALOG"):
        hospital.process()


def test_a_sample_is_not_served_from_a_database_in_which_a_release_is_in_force(hospital: Hospital) -> None:
    sample = Serve("127.0.0.1", 0, (str(hospital.folder),), hospital.settings.data, sample=True)
    _require_no_release(sample, hospital.settings)  # as any demo begins
    hospital.activate(hospital.release())

    with pytest.raises(UserFixable, match=r"Release 1 is in force in this database, and `--sample` .* stopped"):
        run_server(sample)


def test_what_was_begun_with_a_sample_goes_on_in_no_release_nor_the_other_way_round(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    released = hospital.process().reception
    sample = Reception(released.assistant, released.records, released.now)
    begun = [(each, each.open(channel="page", language="de", consented=True)) for each in (released, sample)]

    for begun_by, opened in begun:
        for asked, _ in begun:
            found = asked.admitted(opened.conversation.id, opened.secret)
            assert (found is not None) is (asked is begun_by)


def test_all_processes_switch_at_one_moment_and_running_conversations_stay(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    one, other = hospital.process(), hospital.process()
    running = one.begin()
    assert OLD in one.hears(running)

    hospital.activate(hospital.release(answer=NEW))

    for process in (one, other, hospital.process()):  # the last one was killed and started again
        assert OLD in process.hears(running)
        assert NEW in process.hears(process.begin())
    assert {turn.turn.release for turn in one.reception.transcript(running.id)} == {
        hospital.site.releases.all()[0].name
    }


def test_what_lies_on_the_disk_is_shown_to_nobody(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    change_pairs(hospital.folder, "de", only="pain", answer="Halb geschrieben")

    process = hospital.process()

    assert OLD in process.hears(process.begin())


def test_going_back_serves_new_conversations_from_the_earlier_release(hospital: Hospital) -> None:
    first = hospital.release()
    hospital.activate(first)
    hospital.activate(hospital.release(answer=NEW))
    process = hospital.process()
    hospital.site.releases.switch(Switch(NOW, "Anna", "rollback", first))

    assert OLD in process.hears(process.begin())


def test_a_process_gets_ready_for_what_is_asked_for_before_it_is_in_force(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    assert process.editions.keep_up()
    assert process.editions.prepared == 1
    second = hospital.release(answer=NEW)
    assert not process.editions.keep_up()

    hospital.site.releases.switch(Switch(NOW, "Anna", "prepare", second))

    assert process.editions.keep_up()
    assert process.editions.prepared == second
    assert OLD in process.hears(process.begin())


def test_an_approval_that_expires_takes_its_answer_with_it_while_patients_write(hospital: Hospital) -> None:
    hospital.activate(hospital.release(ends_soon="pair pain"))
    process = hospital.process()
    opened = process.begin()
    assert OLD in process.hears(opened)

    hospital.clock[0] += timedelta(minutes=5)

    taken = process.say(opened)
    assert [part.text for part in taken.reply.parts] == [DE["withheld"]]
    assert taken.turn.decision == "declined"
    assert process.reception.transcript(opened.id)[0].reply.parts[0].text == DE["withdrawn"]


def test_one_person_withdraws_a_pair_in_all_processes_and_running_conversations(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    processes = [hospital.process(), hospital.process()]
    opened = processes[0].begin()
    assert OLD in processes[0].hears(opened)

    hospital.site.withdraw("pain")

    for process in processes:
        process.ask_anew()
        assert process.hears(opened) == [DE["withheld"]]
        assert process.hears(process.begin()) == [DE["withheld"]]
    hospital.clock[0] += timedelta(hours=1)
    hospital.activate(hospital.release(answer=NEW))  # signed again after that
    assert NEW in processes[0].hears(processes[0].begin())


def test_a_closed_chat_answers_emergencies_and_nothing_else(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    opened = process.begin()
    hospital.site.releases.stop(Stop(NOW, "Anna", "close"))
    process.ask_anew()

    assert process.hears(opened) == [DE["chat_closed"]]
    assert process.say(opened, "Ich bekomme keine Luft mehr").turn.decision == "urgent"

    hospital.site.releases.stop(Stop(NOW, "Anna, Bert", "open"))
    process.ask_anew()
    assert OLD in process.hears(process.begin())


def test_a_release_that_was_changed_in_the_database_is_not_served(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    made = hospital.site.releases.all()[0]

    class Planted(SqlReleases):
        def get(self, number: int) -> Release:
            return replace(made, manifest=made.manifest.replace('"shown"', '"hidden"'))

    records = SqlRecords.in_folder(hospital.settings.data)
    trust = Trust.of([hospital.site.public], None)
    editions = Editions(hospital.settings, records, Planted(records.engine), trust, lambda: NOW, HashEncoder())
    with pytest.raises(UserFixable, match="not signed by a key"):
        editions.of(None)
    records.close()


def test_an_export_after_a_later_release_has_the_text_that_was_shown(hospital: Hospital) -> None:
    hospital.settings = replace(
        hospital.settings,
        fhir=replace(hospital.settings.fhir, url="http://127.0.0.1:9/fhir"),
    )
    hospital.activate(hospital.release())
    process = hospital.process()
    opened = process.begin()
    process.say(opened)
    hospital.activate(hospital.release(answer=NEW))

    ByRelease(process.editions).left(opened.id, at=NOW)

    (entry,) = process.editions.of(None).interviewers.outbox.entries(opened.id)
    assert OLD in entry.bundle
    assert NEW not in entry.bundle
    assert f"Release {hospital.site.releases.all()[0].name}" in entry.bundle


def test_a_release_that_is_not_there_is_named(hospital: Hospital) -> None:
    hospital.activate(hospital.release())

    with pytest.raises((UserFixable, BadData), match="There is no release 7"):
        hospital.process().editions.of(7)


def test_another_version_of_the_program_does_not_say_what_nobody_approved(
    hospital: Hospital, monkeypatch: pytest.MonkeyPatch
) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    running = process.begin()
    later = {language: dict(own) for language, own in SENTENCES.items()}
    later["de"]["urgent"] = "Rufen Sie 112."
    monkeypatch.setattr(release, "wording_of", lambda exam, spoken: replace(NEUTRAL, sentences=later))

    with pytest.raises(UserFixable, match=r"says other sentences by itself \(de\) than were approved for release 1@"):
        hospital.process()

    monkeypatch.setattr(contents, "wording_of", lambda exam, spoken: replace(NEUTRAL, sentences=later))
    hospital.activate(hospital.release(answer=NEW))
    assert NEW in hospital.process().hears(running)


def test_a_release_is_served_in_the_country_that_it_was_made_for(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    hospital.settings = replace(hospital.settings, country="CH")

    with pytest.raises(UserFixable, match="was made for KLARTEXT_COUNTRY=, which is CH here"):
        hospital.process()


def test_a_process_never_says_that_it_is_ready_for_a_release_that_it_cannot_serve(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    process.editions.keep_up()
    abroad = hospital.site.make(replace(sign(hospital.folder, "A", "B"), country="CH"))
    hospital.site.releases.switch(Switch(NOW, "Anna", "prepare", abroad.number))

    assert not process.editions.keep_up()
    assert process.editions.prepared == 1
    assert OLD in process.hears(process.begin())


SOON = {"KlartextApprovalEndsIn30Days", "KlartextApprovalEndsIn7Days"}
APPROVALS = {*SOON, "KlartextApprovalEnded"}
LABELS = load_labels()["de"]


def _alerts(process: Process, hospital: Hospital, wanted: float) -> set[str]:
    """Let the thread that keeps up with releases tell what it sees, and return the alerts on approvals that fire."""
    metrics, stopping = Metrics(), threading.Event()
    assert names(firing(parsed(metrics.as_text().decode()))) & APPROVALS == set()  # before it knows of a release
    telling = Telling(metrics, Pulse(metrics), lambda: hospital.clock[0], None)
    presence = make_presence(hospital.settings)
    keeping = threading.Thread(target=_keep_up, args=((process.editions,), presence, telling, stopping))
    keeping.start()
    end = time.monotonic() + 30
    while (said := parsed(metrics.as_text().decode())).value("klartext_release_first_expiry_seconds") != wanted:
        assert time.monotonic() < end
        time.sleep(0.02)
    stopping.set()
    keeping.join()
    return names(firing(said)) & APPROVALS


def test_an_approval_that_ends_soon_is_told_a_month_and_a_week_before(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    fired = {}
    for days in (31, 29, 8, 6):
        hospital.clock[0] = UNTIL - timedelta(days=days)
        fired[days] = _alerts(process, hospital, days * 86400.0)

    month = {"KlartextApprovalEndsIn30Days"}
    assert fired == {31: set(), 29: month, 8: month, 6: SOON}
    hospital.clock[0] = UNTIL + timedelta(days=1)
    assert _alerts(process, hospital, -86400.0) == SOON | {"KlartextApprovalEnded"}


def test_sentences_that_expire_are_told_in_the_log_in_health_and_before_consent(
    hospital: Hospital, caplog: pytest.LogCaptureFixture
) -> None:
    hospital.activate(hospital.release(ends_soon="sentences"))
    process = hospital.process()
    editions = process.editions
    service = Service(process.reception, hospital.settings, release=lambda: "1@x", chat=lambda: editions.state)
    service.prepared.set()
    browser = TestClient(build_app(service))
    editions.look()
    health, start = browser.get("/healthz").json(), browser.get("/").text
    assert (health["chat"], "chat_closed" in health) == ("open", False)
    assert (LABELS["closed_heading"] in start, LABELS["can_1"] in start) == (False, True)

    hospital.clock[0] += timedelta(minutes=5)
    with caplog.at_level("INFO", "klartext"):
        editions.look()
        editions.look()

    said = [record.getMessage() for record in caplog.records if "patients miss" in record.getMessage()]
    assert len(said) == 1
    assert "the approval of its own sentences has ended" in said[0]
    health, start = browser.get("/healthz"), browser.get("/").text
    assert health.status_code == 200  # a load balancer must not cut patients off from emergency numbers
    assert {
        "chat": "closed",
        "chat_closed": "sentences_expired",
        "expired": ["sentences"],
    }.items() <= health.json().items()
    assert (LABELS["closed_heading"] in start, LABELS["can_1"] in start) == (True, False)
    assert start.index(LABELS["closed_heading"]) < start.index(LABELS["consent_box"])


def test_a_pair_whose_approval_has_ended_is_told_and_named_and_nothing_else_is_said_to_be_well(
    hospital: Hospital, caplog: pytest.LogCaptureFixture
) -> None:
    hospital.activate(hospital.release(ends_soon="pair pain"))
    process = hospital.process()
    process.begin()
    hospital.site.releases.stop(Stop(NOW, "Anna", "close"))
    process.editions.look()
    hospital.clock[0] += timedelta(minutes=5)
    hospital.site.releases.stop(Stop(NOW, "Anna", "open"))
    process.ask_anew()

    with caplog.at_level("INFO", "klartext"):
        process.editions.look()
        process.editions.look()

    said = [record.getMessage() for record in caplog.records if record.name == "klartext"]
    assert [each for each in said if "nothing of the release has expired" in each] == []
    assert [each for each in said if "patients miss" in each] == [
        "patients miss something: the approval of 1 pair (pain de) has ended: have it signed, and make a release"
    ]


def test_who_begins_while_the_chat_is_closed_is_told_so_with_the_first_words(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    service = Service(process.reception, hospital.settings)
    service.prepared.set()
    browser = TestClient(build_app(service))

    def welcomed() -> list[str]:
        begun = browser.post("/api/v1/conversations", json={"consent": True, "language": "de"}).json()
        return [part["text"] for part in begun["welcome"]["parts"]]

    assert DE["chat_closed"] not in welcomed()
    running = process.begin()
    hospital.site.releases.stop(Stop(NOW, "Anna", "close"))
    process.ask_anew()

    said = welcomed()
    assert said[-1] == DE["chat_closed"]
    assert DE["emergency_notice"] in said
    assert DE["help"] not in said  # how to write a question that nobody answers
    page = [part.text for part in process.reception.look(running).greeting().parts]
    assert (page[-1], DE["interview_offer"] in page) == (DE["chat_closed"], False)


def test_a_page_offers_the_languages_and_the_questions_that_there_are(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    service = Service(hospital.process().reception, hospital.settings)
    service.prepared.set()

    start = TestClient(build_app(service)).get("/", headers={"Accept-Language": "en"}).text

    assert '<html lang="de"' in start
    assert 'value="en"' not in start
    assert LABELS["can_2"] not in start  # this exam has no Questionnaire


def test_who_stops_and_why_stands_in_the_log_of_each_process(
    hospital: Hospital, caplog: pytest.LogCaptureFixture
) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    process.hears(process.begin())
    hospital.site.releases.stop(Stop(NOW, "Anna", "withdraw", "pain", why="wrong number"))
    process.ask_anew()

    with caplog.at_level("WARNING", "klartext"):
        process.editions.stops()

    (told,) = [record.fields for record in caplog.records if record.getMessage() == "emergency stop"]  # type: ignore[attr-defined]
    assert told == {"kind": "withdraw", "pair": "pain", "by": "Anna", "why": "wrong number"}


def test_a_stop_whose_row_vanishes_stays_in_force_is_told_once_and_ends_as_any_other(
    hospital: Hospital, caplog: pytest.LogCaptureFixture
) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    editions, releases = process.editions, hospital.site.releases
    service = Service(process.reception, hospital.settings, release=lambda: "1@x", chat=lambda: editions.state)
    service.prepared.set()
    browser = TestClient(build_app(service))

    def hears() -> list[str]:
        process.ask_anew()
        return process.hears(process.begin())

    def lost() -> object:
        process.ask_anew()
        editions.look()
        return browser.get("/healthz").json().get("stops_lost")

    assert OLD in hears()
    stop = releases.stop(Stop(NOW, "Anna", "withdraw", "pain", why="wrong number"))
    withheld = hears()
    assert OLD not in withheld
    assert lost() is None

    _forget_stops(releases)
    with caplog.at_level("ERROR", "klartext"):
        assert [hears(), hears()] == [withheld, withheld]
    (told,) = [record for record in caplog.records if "are gone from the database" in record.getMessage()]
    assert "withdraw pain" in told.getMessage()
    assert lost() == ["pain"]

    releases.stop(stop)  # as `records after-restore` does
    assert (hears(), lost()) == (withheld, None)
    _forget_stops(releases)
    assert hears() == withheld
    releases.stop(Stop(NOW, "Anna", "lift", "pain"))
    assert (OLD in hears(), lost()) == (True, None)


def test_a_closed_chat_stays_closed_without_its_row_and_a_lost_stop_ends_with_a_new_text(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process = hospital.process()
    releases = hospital.site.releases
    releases.stop(Stop(NOW, "Anna", "close"))
    releases.stop(Stop(NOW, "Anna", "withdraw", "pain"))
    process.ask_anew()
    assert process.hears(process.begin()) == [DE["chat_closed"]]

    _forget_stops(releases)
    process.ask_anew()
    assert process.hears(process.begin()) == [DE["chat_closed"]]

    releases.stop(Stop(NOW, "Anna, Bert", "open"))
    hospital.clock[0] += timedelta(hours=1)
    hospital.activate(hospital.release())  # the same text again
    process.ask_anew()
    assert OLD not in process.hears(process.begin())
    hospital.activate(hospital.release(answer=NEW))
    assert NEW in process.hears(process.begin())


def test_an_act_that_ends_a_stop_and_vanishes_ends_it_no_more(hospital: Hospital) -> None:
    hospital.activate(hospital.release())
    process, releases = hospital.process(), hospital.site.releases
    for kind in ("withdraw", "lift"):
        releases.stop(Stop(NOW, "Anna", kind, "pain"))
    process.ask_anew()
    assert OLD in process.hears(process.begin())

    _forget_stops(releases, "lift")
    process.ask_anew()

    assert OLD not in process.hears(process.begin())


def _forget_stops(releases: Releases, kind: str = "%") -> None:
    assert isinstance(releases, SqlReleases)
    with releases.engine.begin() as connection:
        connection.execute(text("DELETE FROM stops WHERE kind LIKE :kind"), {"kind": kind})
