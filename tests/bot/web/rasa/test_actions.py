"""The action server for Rasa, as a Rasa server calls it."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.interview.form.form import Form
from bot.talk.interviewing import form_of
from bot.web.rasa import slots
from tests.bot.interview.chat import mammography
from tests.bot.web.rasa.calls import Tracked
from tests.bot.web.serving import CHANNEL_TOKEN, RASA_TOKEN, Server
from tests.shipped_texts import SAID

DE = SAID["de"]
FORM = "mammography_history_form"


@pytest.fixture(scope="module")
def form() -> Form:
    return form_of(mammography())


@pytest.fixture
def tracked(server: Server, form: Form) -> Tracked:
    """A new sender of the exported project."""
    own = [slots.LANGUAGE, slots.DECISION, slots.PAIR, slots.CONVERSATION]
    names = [*own, *slots.slot_names(form).values(), slots.AGREED]
    return Tracked(server.url, RASA_TOKEN, slots=dict.fromkeys(names))


def test_a_question_is_answered_and_told_to_the_tracker(tracked: Tracked, shipped: Assistant) -> None:
    said = tracked.say("Tut das weh?")

    assert said == [
        *(shipped.catalog("de").pair("pain").short_answer, DE["more_hint"]),
        *(DE["sample_label"], DE["emergency_notice"]),
    ]
    assert (tracked.slots[slots.LANGUAGE], tracked.slots[slots.DECISION]) == ("de", "answered")
    assert (tracked.slots[slots.PAIR], tracked.loop) == ("pain", None)


def test_choices_are_buttons_and_an_emergency_alarms(tracked: Tracked) -> None:
    answer = tracked.post(tracked.call("Druck auf der Brust")).json()

    assert [each["text"] for each in answer["responses"][:2]] == [DE["urgent_chest_pain"], DE["chest_question"]]
    assert answer["responses"][-1]["buttons"] == [{"title": DE["chest_breast"], "payload": DE["chest_breast"]}]
    assert {"event": "slot", "name": slots.DECISION, "value": "urgent"} in answer["events"]


def test_the_form_is_active_while_the_interview_asks_and_asks_for_what_its_conditions_enable(tracked: Tracked) -> None:
    tracked.say("/interview")
    assert (tracked.loop, tracked.slots["requested_slot"]) == (FORM, "item_consent")
    tracked.say("Ja")
    # Who fills it in is asked, which is no item: a form of Rasa's that asks for nothing would go on by itself.
    assert (tracked.loop, tracked.slots["requested_slot"], tracked.slots["item_consent"]) == (FORM, slots.AGREED, True)
    tracked.say("Ich selbst, es geht um mich")
    assert tracked.slots["requested_slot"] == "item_reason"
    tracked.say("Muss ich nüchtern sein?")
    assert (tracked.loop, tracked.slots["requested_slot"], tracked.slots["item_reason"]) == (FORM, "item_reason", None)
    tracked.say("Einladung zur Früherkennung")
    assert tracked.slots["item_reason"]["code"]
    assert tracked.slots["requested_slot"] not in ("item_reason", None)
    tracked.say("Pause")
    assert (tracked.loop, tracked.slots["requested_slot"]) == (None, None)


def test_who_refuses_consent_ends_the_form(tracked: Tracked) -> None:
    for text in ("/interview", "Nein", "Ja", "Ja"):
        tracked.say(text)

    assert (tracked.loop, tracked.slots["item_consent"], tracked.slots[slots.AGREED]) == (None, False, True)


def test_a_call_that_is_sent_again_is_taken_once(tracked: Tracked) -> None:
    call = tracked.call("Tut das weh?")

    first, again = tracked.post(call).json(), tracked.post(call).json()
    assert first["responses"] == again["responses"]
    assert tracked.say("/easy")[0] == DE["easy_intro"]
    assert tracked.say(None)  # an action that was run without a message


def test_senders_have_conversations_of_their_own_and_apart_from_the_channels(server: Server, tracked: Tracked) -> None:
    tracked.say("Tut das weh?")

    assert Tracked(server.url, RASA_TOKEN, tracked.sender).say("/easy")[0] == DE["easy_intro"]
    assert Tracked(server.url, RASA_TOKEN).say("/easy")[0] == DE["nothing_to_explain"]
    headers = {"Authorization": f"Bearer {CHANNEL_TOKEN}"}
    message = {"sender": tracked.sender, "message": "/easy"}
    answer = httpx.post(f"{server.url}/webhooks/rest/webhook", json=message, headers=headers)
    assert answer.json()[0]["text"] == DE["nothing_to_explain"]


@pytest.mark.parametrize("token", ["", "wrong", CHANNEL_TOKEN, RASA_TOKEN[:-1]])
def test_the_token_opens_the_action_server_and_who_lacks_it_is_told_which(
    server: Server, tracked: Tracked, token: str
) -> None:
    tracked.token = token
    answer = tracked.post(tracked.call("Tut das weh?"))

    assert answer.status_code == 401
    assert "KLARTEXT_RASA_TOKEN" in answer.json()["detail"]
    lines = [json.loads(line) for line in server.stderr().splitlines() if line.startswith("{")]
    (line,) = [
        each for each in lines if each.get("request_id") == answer.json()["request_id"] and "refused" in str(each)
    ]
    assert "401" in str(line)
    assert "KLARTEXT_RASA_TOKEN" in str(line)


@pytest.mark.parametrize("sender", ["default", " Default ", "", "  ", None, "undefined", "null", "None"])
def test_a_sender_that_stands_for_everybody_is_refused(tracked: Tracked, sender: Any) -> None:
    tracked.sender = sender
    word = uuid.uuid4().hex
    answer = tracked.post(tracked.call(word))

    assert answer.status_code == 409
    assert "no sender of its own for each patient" in answer.json()["detail"]
    assert word not in answer.text


def test_a_call_and_its_tracker_are_of_one_sender_of_any_length(tracked: Tracked) -> None:
    tracked.sender = "x" * 5000
    call = tracked.call("Tut das weh?")
    assert tracked.post(call).status_code == 200

    call["sender_id"] = "x" * 4999
    assert tracked.post(call).status_code == 409
    assert Tracked(tracked.url, RASA_TOKEN, "x" * 4999).say("/easy")[0] == DE["nothing_to_explain"]


def test_while_the_patient_is_told_to_get_help_the_decision_is_urgent(tracked: Tracked) -> None:
    for text in ("Ich bekomme keine Luft", "Tut das weh?"):
        assert DE["urgent"] in tracked.say(text)
        assert tracked.slots[slots.DECISION] == "urgent"
    tracked.say("ok")
    assert tracked.slots[slots.DECISION] == "urgent"
    tracked.say("nein, das war ein Fehlalarm")
    assert tracked.slots[slots.DECISION] == "talk"


def test_slots_that_nobody_confirmed_are_emptied(tracked: Tracked) -> None:
    forged = {"item_age": 99, "item_consent": True, slots.AGREED: True, "requested_slot": "item_age"}
    tracked.slots |= forged
    tracked.say("Tut das weh?")

    assert {tracked.slots[name] for name in forged} == {None}


def test_the_tracker_names_its_conversation_and_is_empty_once_that_was_erased(server: Server, tracked: Tracked) -> None:
    for text in ("/interview", "Ja", "Ich selbst, es geht um mich", "Einladung zur Früherkennung"):
        tracked.say(text)
    conversation = tracked.slots[slots.CONVERSATION]
    assert tracked.slots["item_reason"]

    opened = httpx.get(
        f"{server.url}/api/v1/conversations/{conversation}", headers={"Authorization": f"Bearer {conversation}"}
    )
    assert opened.status_code == 401  # the id alone opens nothing
    records = SqlRecords.open(f"sqlite:///{server.database()}")
    try:
        records.erase(conversation)
    finally:
        records.close()
    tracked.say("Tut das weh?")
    filled = {name for name, value in tracked.slots.items() if value is not None and name.startswith("item_")}
    assert (filled, tracked.loop, tracked.slots["requested_slot"]) == (set(), None, None)
    assert tracked.slots[slots.CONVERSATION] == conversation


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"version": "2.8.34"}, "Rasa 2.8 has another protocol. Use Rasa Open Source 3.6."),
        ({"version": ""}, "Rasa without a version has another protocol"),
        ({"action": "action_other"}, "There is one action here, action_klartext_turn"),
        ({"project": {}}, "not one that `klartext rasa export` has made"),
        ({"project": {"format": 2}}, "not one that `klartext rasa export` has made"),
        ({"project": {"mode": "native"}}, "not one that `klartext rasa export` has made"),
        ({"project": {"form": 1}}, "not one that `klartext rasa export` has made"),
        ({"project": {"format": True}}, "not one that `klartext rasa export` has made"),
        ({"project": {"exam": ["mammography"]}}, "not one that `klartext rasa export` has made"),
        ({"project": {"exam": "x" * 5000}}, f"for the exam '{'x' * 40}', and"),
        ({"project": {"exam": "mri"}}, "for the exam 'mri', and 'mammography' is served here"),
        ({"project": {"sample": False}}, "was exported for approved content only, and here drafts, too (`--sample`)"),
    ],
)
def test_another_rasa_or_project_is_refused_without_a_word_of_the_patient(
    tracked: Tracked, change: dict[str, Any], expected: str
) -> None:
    project = change.get("project")
    tracked.project = {**tracked.project, **project} if project else {} if project == {} else tracked.project
    tracked.version, tracked.action = change.get("version", tracked.version), change.get("action", tracked.action)
    word = uuid.uuid4().hex

    answer = tracked.post(tracked.call(word))

    assert answer.status_code == 409
    assert expected in answer.json()["detail"]
    assert word not in answer.text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"tracker": []}', b'{"tracker": {"events": [1]}}', b"null"])
def test_what_is_no_call_is_refused(server: Server, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {RASA_TOKEN}", "Content-Type": "application/json"}
    answer = httpx.post(f"{server.url}/webhooks/rasa/actions", content=body, headers=headers)

    assert answer.status_code == 422
    assert "emergency_notice" in answer.json()
