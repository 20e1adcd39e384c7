"""What has to be decided before the exam reaches staff as a Task, and the patient is asked to call: the real chat."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot import Assistant
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.catalog.fhir_files import shipped_terminology
from bot.handover.handover import Context, Handover, hand_over_rest
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import dump
from bot.interview.values.finding import has_errors
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, Reply
from bot.settings import FhirAccess
from bot.talk.conversation import Conversation
from bot.talk.interviewing import House, Interviewer
from tests.bot.handover.exports import NOW
from tests.bot.interview.mri_patients import MriPatient, mri_safety

Json = dict[str, Any]
MRI = dict(mri_safety())


class MriVisit:
    """A patient in the chat who answers the questions before an MRI, with an outbox behind."""

    def __init__(self, assistant: Assistant, records: SqlRecords, language: str) -> None:
        self.interviews, self.outbox = SqlInterviews(records.engine), SqlOutbox(records.engine)
        context = Context(FhirAccess(url="http://127.0.0.1:9/fhir"))
        self.handover = Handover("c1", context, records, self.outbox)
        self.interviewer = Interviewer(dump(MRI), self.interviews, "c1", House(self.handover.finished))
        opened = StoredConversation("c1", NOW, language, "terminal")
        self.conversation = Conversation.open(assistant, records, opened, interviewer=self.interviewer)
        self.records, self.language = records, language
        self.at = NOW
        self.reply = self.say("/interview")

    def say(self, text: str) -> Reply:
        self.at += timedelta(seconds=1)
        self.reply = self.conversation.turn(text, at=self.at)
        return self.reply

    def answer(self, **told: str) -> Reply:
        """Answer all questions, and agree to the answers."""
        patient = MriPatient(self.language, **told)
        for _ in range(60):
            session = self.interviewer.session
            assert session is not None
            if not self.interviewer.is_asking:
                break
            self.say(patient.reply(self.interviewer.interview(NOW).open_question(session)))
        assert self.interviewer.is_finished
        return self.reply

    def bundles(self) -> list[Json]:
        with self.records.engine.connect() as connection:
            rows = connection.exec_driver_sql("select bundle from outbox order by id").all()
        return [json.loads(row[0]) for row in rows]


def tasks(bundle: Json) -> list[Json]:
    found = [entry["resource"] for entry in bundle["entry"] if entry["resource"]["resourceType"] == "Task"]
    return [task for task in found if task["code"]["coding"][0]["code"] == "decision-before-exam"]


def reasons(task: Json) -> list[tuple[str, str]]:
    return [(each["type"]["coding"][0]["code"], each["valueString"]) for each in task["input"]]


def texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


@pytest.mark.parametrize("language", ["de", "en"])
def test_who_has_nothing_to_report_gets_no_task_and_is_not_asked_to_call(
    small: Assistant, records: SqlRecords, language: str
) -> None:
    visit = MriVisit(small, records, language)
    visit.answer()

    (bundle,) = visit.bundles()
    assert tasks(bundle) == []
    assert SENTENCES[language]["decision"] not in texts(visit.reply)


@pytest.mark.parametrize(
    ("language", "told", "expected"),
    [
        ("de", {"heart_device": "1"}, ("answer", "Haben Sie ein Gerät am Herzen? – Herzschrittmacher")),
        ("en", {"heart_device": "none of these, LVAD"},
         ("words", "Do you have a device at your heart? – „none of these, LVAD“")),
        ("en", {"heart_device": "skip"}, ("not-answered", "Do you have a device at your heart?")),
        ("de", {"note": "У меня кардиостимулятор"},
         ("unread", "Möchten Sie uns noch etwas sagen? – „У меня кардиостимулятор“")),
        ("de", {"kidneys": "nein, GFR 28"}, ("words", "Haben Sie eine Krankheit der Nieren? – „nein, GFR 28“")),
        ("en", {"summary": "yes, but wait, I have a pump"},
         ("words", "Is there anything else you would like to tell us? – „yes, but wait, I have a pump“")),
        ("de", {"weight": "160 kg"}, ("answer", "Für das Team: mehr als 150 kg – true")),
    ],
)  # fmt: skip
def test_what_has_to_be_decided_is_a_task_with_its_reasons(
    small: Assistant, records: SqlRecords, language: str, told: dict[str, str], expected: tuple[str, str]
) -> None:
    visit = MriVisit(small, records, language)
    visit.answer(**told)

    (bundle,) = visit.bundles()
    (task,) = tasks(bundle)
    assert expected in reasons(task)
    assert (task["status"], task["priority"]) == ("requested", "urgent")
    (sent,) = (
        each["resource"] for each in bundle["entry"] if each["resource"]["resourceType"] == "QuestionnaireResponse"
    )
    focus = [each["fullUrl"] for each in bundle["entry"] if each["resource"] is sent]
    assert [task["focus"]["reference"]] == focus
    assert SENTENCES[language]["decision"] in texts(visit.reply)
    for entry in bundle["entry"]:
        get_fhir_model_class(entry["resource"]["resourceType"]).model_validate(entry["resource"])
    assert not has_errors(check_response(sent, index_questionnaire(MRI), known=shipped_terminology()))


@pytest.mark.parametrize("confirms", [True, False])
def test_what_is_remembered_after_the_end_goes_out_even_if_nobody_agrees_to_it_any_more(
    small: Assistant, records: SqlRecords, confirms: bool
) -> None:
    visit = MriVisit(small, records, "en")
    visit.answer()
    said = texts(visit.say("Oh, I forgot: I do have an insulin pump"))
    if confirms:
        said = texts(visit.answer())
    hand_over_rest(visit.handover, visit.interviews, at=NOW + timedelta(minutes=5))

    assert (SENTENCES["en"]["decision"] in said) == confirms
    first, *later = visit.bundles()
    assert tasks(first) == []
    assert any("insulin pump" in line for bundle in later for task in tasks(bundle) for _, line in reasons(task))


@pytest.mark.parametrize(
    ("said", "kind"),
    [("I have got a Micra", "words"), ("noszę rozrusznik serca", "unread"), ("kalp pilim var", "unread")],
)
def test_what_is_said_after_the_end_is_a_reason_and_the_patient_is_asked_to_call(
    small: Assistant, records: SqlRecords, said: str, kind: str
) -> None:
    visit = MriVisit(small, records, "en")
    visit.answer()
    told = texts(visit.say(said))
    hand_over_rest(visit.handover, visit.interviews, at=NOW + timedelta(minutes=5))

    assert SENTENCES["en"]["decision"] in told
    (_, later) = visit.bundles()
    assert any(each == kind and said in line for task in tasks(later) for each, line in reasons(task))


def test_a_device_named_after_a_no_to_the_questions_reaches_staff_once_and_the_patient_is_told_to_call_again(
    small: Assistant, records: SqlRecords
) -> None:
    visit = MriVisit(small, records, "en")
    refused = texts(visit.say("no"))[0]
    said = texts(visit.say("I have a pacemaker though"))
    visit.say("yes")
    late = texts(visit.say("I also have a cochlear implant"))
    hand_over_rest(visit.handover, visit.interviews, at=NOW + timedelta(minutes=5))

    assert refused in said
    assert SENTENCES["en"]["decision"] in late
    (*_, last) = visit.bundles()
    lines = [line for task in tasks(last) for _, line in reasons(task)]
    assert sum("pacemaker though" in line for line in lines) == 1
    assert sum("cochlear" in line for line in lines) == 1


def test_a_word_that_another_part_of_the_chat_answered_is_kept_all_the_same(
    small: Assistant, records: SqlRecords
) -> None:
    visit = MriVisit(small, records, "en")
    for said in ("yes", "66", "70 kg", "170 cm", "1"):
        visit.say(said)
    visit.say("I am so scared because of my pacemaker")
    visit.answer()

    (bundle,) = visit.bundles()
    assert any("pacemaker" in line for task in tasks(bundle) for _, line in reasons(task))


def test_what_a_patient_asked_of_their_own_device_before_the_questions_is_a_reason(
    small: Assistant, records: SqlRecords
) -> None:
    visit = MriVisit(small, records, "en")
    visit.say("pause")
    visit.say("Can I have the scan with my pacemaker?")
    visit.say("Do pacemakers matter in general?")
    visit.say("go on")
    visit.answer(heart_device="6")

    (bundle,) = visit.bundles()
    said = [line for task in tasks(bundle) for _, line in reasons(task)]
    assert any("with my pacemaker" in line for line in said)
    assert any("in general" in line for line in said)  # nobody answered it, and it names a device


def test_sent_twice_the_same_reasons_are_one_task_and_others_another(small: Assistant, records: SqlRecords) -> None:
    visit = MriVisit(small, records, "de")
    visit.answer(heart_device="1")
    first = visit.handover.finished(_stored(visit), 0)
    again = visit.handover.finished(_stored(visit), 0)
    assert first is not None
    assert again is not None

    assert _identifiers(json.loads(first.bundle)) == _identifiers(json.loads(again.bundle))
    visit.say("ich habe auch noch eine Insulinpumpe")
    other = visit.handover.finished(_stored(visit), 0)
    assert other is not None
    assert _identifiers(json.loads(first.bundle)) != _identifiers(json.loads(other.bundle))


def _stored(visit: MriVisit) -> Any:
    found = visit.interviews.interview("c1")
    assert found is not None
    return found


def _identifiers(bundle: Json) -> list[str]:
    return [task["identifier"][0]["value"] for task in tasks(bundle)]


@pytest.mark.parametrize(
    ("language", "asks", "no", "yes"),
    [("en", "what happens if I say no?", "no then", "yes"), ("en", "what happens if I say no?", "then no", "yes"),
     ("de", "was passiert wenn ich nein sage?", "dann nein", "ja"), ("de", "was ist wenn nicht?", "nee dann nein", "ja")],
)  # fmt: skip
def test_a_refusal_after_a_question_is_no_pick_and_never_becomes_a_yes(
    small: Assistant, records: SqlRecords, language: str, asks: str, no: str, yes: str
) -> None:
    visit = MriVisit(small, records, language)
    visit.say(asks)
    visit.say(no)
    visit.say(yes)

    session = visit.interviewer.session
    assert session is not None
    assert not any(answer.value is True for given in session.filling.answers.values() for answer in given)


def test_what_is_named_before_consent_is_told_to_staff_and_the_patient_is_asked_to_call(
    small: Assistant, records: SqlRecords
) -> None:
    visit = MriVisit(small, records, "en")
    said = texts(visit.say("I have got a pacemaker"))
    visit.say("stop")
    hand_over_rest(visit.handover, visit.interviews, at=NOW + timedelta(days=5))

    assert SENTENCES["en"]["decision"] in said
    assert any(
        "got a pacemaker" in line for each in visit.bundles() for task in tasks(each) for _, line in reasons(task)
    )


def test_late_words_of_oneself_that_nobody_answered_are_a_reason_and_pleasantries_are_not(
    small: Assistant, records: SqlRecords
) -> None:
    visit = MriVisit(small, records, "en")
    visit.answer()
    for said in ("thanks", "see you on Monday", "I will take the bus", "ok bye"):
        assert SENTENCES["en"]["decision"] not in texts(visit.say(said)), said
    assert SENTENCES["en"]["decision"] in texts(visit.say("my belly was opened by a surgeon and something stayed"))
    assert SENTENCES["en"]["decision"] in texts(visit.say("they tied off a bulge in my brain in 1992"))
