"""Releases of two exams that are in force beside each other: each exam's conversations are served from its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import delete

from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases, StopRow
from bot.errors import BadData, UserFixable
from bot.release.release import Switch
from bot.release.stops import Stops
from bot.sentences.reply import SENTENCES
from bot.settings import Settings
from bot.talk.conversation import Message
from bot.talk.reception import Reception
from bot.testing import HashEncoder
from bot.web import editions
from bot.web.exams import ByExam, Served, serve_releases
from bot.web.server import exams_known
from bot.web.staff.wiring import make_publisher, stop_again, stops_taken_back
from bot.wiring import make_audit, make_releases
from tests.bot.release.exams import NOW, Site, change_pairs, sign, write_exam

ENCODER = HashEncoder()
DE = SENTENCES["de"]


class Department:
    """Two exams, with one key and one database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = Settings.from_environment({}, data=folder / "data")
        settings.writable_data()
        self.records = SqlRecords.in_folder(settings.data)
        self.site = Site(folder, SqlReleases(self.records.engine))
        self.settings = Settings.from_environment(
            {"KLARTEXT_RELEASE_TRUST": self.site.public, "KLARTEXT_RELEASE_KEY_FILE": str(self.site.key)},
            data=folder / "data",
        )
        for name in ("mammo", "mri"):
            place = write_exam(folder / name)
            document = yaml.safe_load((place / "de.yaml").read_text(encoding="utf-8"))
            (place / "de.yaml").write_text(
                yaml.safe_dump({**document, "catalog": name}, allow_unicode=True), encoding="utf-8"
            )

    def release(self, name: str, answer: str) -> int:
        """Make a release of an exam, and put it into force."""
        change_pairs(self.folder / name, "de", only="costs", answer=answer)
        number = self.site.make(sign(self.folder / name, "A", "B")).number
        self.site.releases.switch(Switch(NOW, "Anna", "activate", number))
        return number

    def serve(self, *names: str) -> tuple[Served, Reception]:
        served = serve_releases(names, self.settings, self.records, lambda: NOW, encoder=ENCODER)
        reception = Reception(
            served.edition.assistant, self.records, lambda: NOW, releases=served.releases, exams=served.exams
        )
        return served, reception


@pytest.fixture
def department(tmp_path: Path, few_alarm_examples: None) -> Iterator[Department]:
    found = Department(tmp_path)
    yield found
    found.records.close()


def hears(reception: Reception, exam: str, text: str = "kosten?") -> list[str]:
    opened = reception.open(channel="api", language="de", consented=True, exam=exam).conversation
    return [part.text for part in reception.take(opened, Message("t", text)).reply.parts]


class Patient:
    """One conversation."""

    def __init__(self, reception: Reception, exam: str) -> None:
        self.reception, self.turns = reception, 0
        self.opened = reception.open(channel="api", language="de", consented=True, exam=exam).conversation

    def says(self, text: str) -> list[str]:
        self.turns += 1
        taken = self.reception.take(self.opened, Message(f"t{self.turns}", text))
        return [part.text for part in taken.reply.parts]

    @property
    def exam(self) -> str | None:
        stored = self.reception.records.conversation(self.opened.id)
        return stored.exam if stored is not None else None


def test_each_exam_is_served_from_its_own_release(department: Department) -> None:
    department.release("mammo", "Mammographie: nichts.")
    department.release("mri", "MRT: nichts.")

    served, reception = department.serve("mammo", "mri")
    assert hears(reception, "mammo") == ["Mammographie: nichts."]
    assert hears(reception, "mri") == ["MRT: nichts."]
    undecided = reception.open(channel="api", language="de", consented=True).conversation
    assert undecided.release is None
    first = reception.take(undecided, Message("t1", "kosten?")).reply
    assert [part.text for part in first.parts] == [DE["exam_noted"], DE["exam_question"]]
    assert "MRT: nichts." in [part.text for part in reception.take(undecided, Message("t2", "mri")).reply.parts]
    known = department.records.conversation(undecided.id)
    assert known is not None
    assert (known.exam, known.release) == ("mri", 2)
    assert served.in_force.count("@") == 2
    # A new release of one exam changes nothing for the other, nor for who has begun.
    assert department.release("mammo", "Mammographie: 30 Euro.") == 3
    assert hears(reception, "mammo") == ["Mammographie: 30 Euro."]
    assert hears(reception, "mri") == ["MRT: nichts."]
    assert isinstance(served.interviewers, ByExam)
    assert served.interviewers.of_conversation(undecided.id).release.startswith("2@")


def test_one_exam_of_several_is_served_alone_by_its_name(department: Department) -> None:
    department.release("mammo", "Mammographie: nichts.")
    _, both = department.serve("mammo")  # as long as there is one, whatever it is called
    assert hears(both, "mammo") == ["Mammographie: nichts."]
    department.release("mri", "MRT: nichts.")

    _, alone = department.serve("mammo")
    assert hears(alone, "mammo") == ["Mammographie: nichts."]
    with pytest.raises(BadData, match="There is no exam 'mri' here"):
        hears(alone, "mri")
    with pytest.raises(UserFixable, match="No release of 'ct' is in force"):
        department.serve("mammo", "ct")


def test_conversations_of_an_exam_that_another_service_answers_for_are_told_so(department: Department) -> None:
    department.release("mammo", "Mammographie: nichts.")
    department.release("mri", "MRT: nichts.")
    _, both = department.serve("mammo", "mri")
    begun = {
        exam: both.open(channel="api", language="de", consented=True, exam=exam).conversation
        for exam in ("mammo", "mri")
    }
    both.take(begun["mri"], Message("t1", "kosten?"))

    served, alone = department.serve("mammo")
    told = [part.text for part in alone.take(begun["mri"], Message("t2", "kosten?")).reply.parts]
    assert told[0] == DE["exam_gone"]
    assert not any("nichts" in text for text in told)
    urgent = alone.take(begun["mri"], Message("t3", "Ich kriege keine Luft"))
    assert urgent.turn.decision == "urgent"
    assert [part.text for part in alone.take(begun["mammo"], Message("t1", "kosten?")).reply.parts] == [
        "Mammographie: nichts."
    ]
    # Staff go on to see which exam each thing is about; a folder's name is no further exam.
    releases = make_releases(department.settings)
    assert list(exams_known(served, alone, releases)) == ["mammo", "mri"]
    assert exams_known(served, alone, releases)["mri"] is None


def test_who_goes_back_says_of_which_exam(department: Department) -> None:
    for name, answer in (("mammo", "Eins."), ("mammo", "Zwei."), ("mri", "MRT: nichts.")):
        department.release(name, answer)
    publisher = make_publisher(department.settings, lambda: NOW)

    with pytest.raises(BadData, match=r"Releases of several exams are in force: mammo, mri\. Name one with `--exam`"):
        publisher.before()
    assert publisher.before("mammo") == 1
    with pytest.raises(BadData, match="No other release was ever in force"):
        publisher.before("mri")
    with pytest.raises(BadData, match="of which no release was in force"):
        publisher.before("ct")


def test_a_stop_of_one_exam_leaves_the_others_alone_and_is_ended_as_it_was_made(
    department: Department, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editions, "STOPS_GOOD_FOR_S", -1)
    department.release("mammo", "Mammographie: nichts.")
    department.release("mri", "MRT: nichts.")
    _, reception = department.serve("mammo", "mri")
    publisher = make_publisher(department.settings, lambda: NOW)

    publisher.withdraw("COSTS", by="Anna", why="falsch", exam="MRI")
    assert hears(reception, "mri") == [DE["withheld"]]
    assert hears(reception, "mammo") == ["Mammographie: nichts."]
    with pytest.raises(BadData, match=r"'costs' is not withdrawn \(costs with `--exam mri`\)"):
        publisher.lift("costs", by="Anna", why="doch richtig")
    assert publisher.lift("costs", by="Anna", why="doch richtig", exam="mri") == "costs"
    assert hears(reception, "mri") == ["MRT: nichts."]

    publisher.close(by="Anna", why="Vorfall", exam="mri")
    assert DE["chat_closed"] in hears(reception, "mri")
    assert hears(reception, "mammo") == ["Mammographie: nichts."]
    undecided = reception.open(channel="api", language="de", consented=True).conversation
    assert DE["exam_question"] in [part.text for part in reception.take(undecided, Message("t", "hallo")).reply.parts]
    publisher.close(by="Anna", why="alles")
    publisher.open_again("Anna", "Bert", why="")  # what was closed for all
    assert hears(reception, "mammo") == ["Mammographie: nichts."]
    assert DE["chat_closed"] in hears(reception, "mri")
    with pytest.raises(BadData, match="closed for one exam only: name it, `--exam mri`"):
        publisher.open_again("Anna", "Bert", why="")
    publisher.open_again("Anna", "Bert", why="", exam="mri")
    assert hears(reception, "mri") == ["MRT: nichts."]
    with pytest.raises(BadData, match="No release of an exam 'ct' was ever in force"):
        publisher.close(by="Anna", why="", exam="ct")
    for blank in ("", "  "):  # a variable that is not set would stop all of them
        with pytest.raises(BadData, match=r"No release of an exam '(  )?' was ever in force"):
            publisher.stoppable(blank)

    noted = [line.action for line in make_audit(department.settings).read().lines]
    assert [each for each in noted if each.startswith("stop-")] == [
        "stop-pair costs mri", "stop-lift costs mri", "stop-chat mri", "stop-chat", "stop-end", "stop-end mri",
    ]  # fmt: skip


def test_what_is_stopped_in_one_exam_is_neither_offered_nor_answered_otherwise_in_the_chat_of_another(
    department: Department, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editions, "STOPS_GOOD_FOR_S", -1)
    department.release("mammo", "Mammographie: nichts.")
    department.release("mri", "MRT: nichts.")
    _, reception = department.serve("mammo", "mri")
    publisher = make_publisher(department.settings, lambda: NOW)
    patient = Patient(reception, "mammo")
    assert patient.says("was kostet das mri?")[0].startswith("Dazu finde ich etwas bei „MRI“")

    publisher.withdraw("costs", by="Anna", why="falsch", exam="mri")
    assert patient.says("ja") == [DE["withheld"]]  # it was offered before
    for asked in ("was kostet das mri?", "kosten beim mri?", "und was muss ich beim mri zahlen? kosten?"):
        own = Patient(reception, "mammo")
        own.says("kosten?")
        assert own.says(asked) == [DE["withheld"]], asked
        for leans in ("einfacher", "/easy", "simpler"):  # as in the chat of that exam
            assert own.says(leans) == [DE["withheld"]], leans

    publisher.close(by="Anna", why="Vorfall", exam="mri")
    shut = "Zu „MRI“ beantworte ich im Moment keine Fragen"
    assert patient.says("was kostet das mri?")[0].startswith(shut)
    assert patient.says("falsche Untersuchung, ich habe MRI")[0].startswith(shut)
    assert patient.says("kosten?") == ["Mammographie: nichts."]
    assert patient.exam == "mammo"


def test_who_is_in_a_chat_that_is_closed_is_told_which_it_is_and_gets_out_of_it(
    department: Department, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editions, "STOPS_GOOD_FOR_S", -1)
    department.release("mammo", "Mammographie: nichts.")
    department.release("mri", "MRT: nichts.")
    _, reception = department.serve("mammo", "mri")
    publisher = make_publisher(department.settings, lambda: NOW)
    patients = [Patient(reception, "mri") for _ in range(2)]
    publisher.close(by="Anna", why="Vorfall", exam="mri")

    for patient, said in zip(patients, ("falsche Untersuchung", "ich habe eine Mammo"), strict=True):
        closed = patient.says("kosten?")
        assert closed[0] == DE["chat_closed"]
        assert closed[1].startswith("Geschlossen ist nur der Chat zu: ")
        assert patient.says("Ich kriege keine Luft")[0] != DE["chat_closed"]
        assert patient.says("nein, kein Notfall, mir geht es gut")[0]
        assert patient.says(said)[0].startswith("Hier geht es bisher um: "), said
        assert patient.says("mammo")[0].startswith("Gut, es geht um: ")
        assert (patient.exam, patient.says("kosten?")) == ("mammo", ["Mammographie: nichts."])
    opened = reception.open(channel="api", language="de", consented=True, exam="mri")
    assert any(part.text.startswith("Geschlossen ist nur der Chat zu: ") for part in opened.welcome.parts)
    publisher.close(by="Anna", why="Vorfall", exam="mammo")
    assert hears(reception, "mri") == [DE["chat_closed"]]  # nothing else is open


def test_a_stop_of_one_exam_that_a_restored_backup_has_lost_comes_back_for_that_exam(department: Department) -> None:
    for name in ("mammo", "mri"):
        department.release(name, f"{name}: nichts.")
    publisher = make_publisher(department.settings, lambda: NOW)
    publisher.close(by="Anna", why="Vorfall", exam="mri")
    publisher.withdraw("costs", by="Anna", why="falsch", exam="mammo")
    with department.records.engine.begin() as connection:
        connection.execute(delete(StopRow))

    lost = stops_taken_back(department.settings)
    stop_again(department.settings, lost)

    assert {(stop.kind, stop.pair_id, stop.exam) for stop in lost.stops} == {
        ("close", "", "mri"), ("withdraw", "costs", "mammo"),
    }  # fmt: skip
    stops = Stops.of(department.site.releases.stops())
    assert (stops.closed, stops.withdrawn) == (False, {})
    assert stops.in_exam("mri").closed
    assert list(stops.in_exam("mammo").withdrawn) == ["costs"]
    assert not stops_taken_back(department.settings)
