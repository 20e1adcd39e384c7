"""The JSON API of a running service."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from bot.testing import HOSTILE_TEXTS
from tests.bot.web.serving import Patient, Server, texts
from tests.shipped_texts import SAID

DE, EN = SAID["de"], SAID["en"]
PROBLEM = "application/problem+json"


def test_a_conversation_begins_with_who_answers_and_whom_to_call(patient: Patient) -> None:
    shown = [part["text"] for part in patient.welcome["parts"]]

    assert shown[:-1] == [DE["welcome"], DE["emergency_notice"], DE["sample_label"], DE["help_plain"]]
    assert shown[-1] == SENTENCES["de"]["interview_offer"]
    assert [choice["text"] for choice in patient.welcome["choices"]] == ["Ja", "Nein"]


def test_a_question_is_answered_with_the_approved_text(patient: Patient, shipped: Assistant) -> None:
    answer = patient.send("t1", text="Tut das weh?")

    turn = answer.json()
    assert answer.status_code == 200
    assert (turn["turn_id"], turn["number"], turn["decision"]) == ("t1", 1, "answered")
    assert turn["reply"]["parts"][0] == {
        "kind": "content",
        "key": None,
        "pair_id": "pain",
        "field": "short_answer",
        "link_id": None,
        "text": shipped.catalog("de").pair("pain").short_answer,
    }
    assert texts(answer)[1:] == [shipped.catalog("de").pair("pain").answer, DE["sample_label"]]


@pytest.mark.parametrize(
    "text", ["", "\u200b", "wie " * 3000, "danke", "Tut das weh?", "Zebra?", "/interview", "/staff"]
)
def test_every_reply_says_whom_to_call(patient: Patient, text: str) -> None:
    assert patient.send(text=text).json()["reply"]["notice"] == DE["emergency_notice"]


def test_an_emergency_behind_a_long_text_is_seen(patient: Patient) -> None:
    story = "Ich wollte noch nach dem Termin und dem Parkplatz fragen. " * 120

    assert patient.send(text=story + "Mein Mann ist gerade bewusstlos umgefallen.").json()["decision"] == "urgent"


def test_an_emergency_comes_first(patient: Patient) -> None:
    answer = patient.send(text="Ich kriege keine Luft")

    assert answer.json()["decision"] == "urgent"
    assert texts(answer) == [DE["urgent"]]


def test_the_chest_question_is_answered_by_choice(patient: Patient) -> None:
    asked = patient.send(text="Druck auf der Brust")
    after = patient.send(choice=1)

    assert [choice["text"] for choice in asked.json()["reply"]["choices"]] == [DE["chest_breast"]]
    assert after.json()["decision"] != "urgent"


def _unclear(patient: Patient) -> httpx.Response:
    """Ask until the service asks back: what is unclear depends on the catalog."""
    for text in ("Ergebnis und Schmerzen", "Brust", "krank", "Angst vor dem Ergebnis und Termin", "wann", "darf ich"):
        answer = patient.send(text=text)
        if answer.json()["decision"] == "clarify":
            return answer
    raise AssertionError("nothing was unclear")


def test_an_unclear_question_is_asked_back_and_a_choice_answers_it(patient: Patient) -> None:
    asked = _unclear(patient).json()["reply"]["choices"]

    chosen = patient.send("pick", choice=2)
    again = patient.send("pick", choice=2)

    assert asked[-1] == {"number": len(asked), "text": DE["none_of_these"], "pair_id": None}
    assert chosen.json()["reply"]["parts"][0]["pair_id"] == asked[1]["pair_id"]
    assert again.content == chosen.content
    assert patient.send("pick", choice=1).status_code == 409
    assert patient.request("GET").json()["turns"][-1]["said"] == asked[1]["text"]


def test_a_choice_that_is_not_on_offer_is_told(patient: Patient) -> None:
    patient.say("Tut das weh?")

    refused = patient.send(choice=1)

    assert (refused.status_code, refused.json()["detail"]) == (409, "This choice is not on offer any more.")


def test_a_resend_gets_the_same_reply_and_is_stored_once(patient: Patient) -> None:
    first = patient.send("same", text="Tut das weh?")
    patient.say("Was kostet das?")

    again = patient.send("same", text="Tut das weh?")

    assert again.content == first.content
    assert [turn["turn_id"] for turn in patient.request("GET").json()["turns"]].count("same") == 1


def test_a_turn_id_is_not_for_two_messages(patient: Patient) -> None:
    patient.send("same", text="Tut das weh?")

    refused = patient.send("same", text="Ich kriege keine Luft")

    assert refused.status_code == 409
    assert "turn_id" in refused.json()["detail"]
    assert "112" in refused.json()["emergency_notice"]["de"]
    assert "Luft" not in refused.text


def test_resends_at_once_are_one_turn(patient: Patient) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: patient.send("same", text="Wie lange dauert das?"), range(24)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len(patient.request("GET").json()["turns"]) == 1


def test_different_turns_at_once_are_all_taken_in_some_order(patient: Patient) -> None:
    ids = [f"t{number}" for number in range(12)]

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda id_: patient.send(id_, text="Was kostet das?"), ids))

    turns = patient.request("GET").json()["turns"]
    assert {answer.status_code for answer in answers} == {200}
    assert {turn["turn_id"] for turn in turns} == set(ids)
    assert [turn["number"] for turn in turns] == list(range(1, 13))


def test_the_transcript_holds_what_was_said_and_shown(patient: Patient) -> None:
    answers = [patient.send(f"t{number}", text=text) for number, text in enumerate(["Hallo", "Tut das weh?", "warum?"])]

    transcript = patient.request("GET").json()

    assert [turn["said"] for turn in transcript["turns"]] == ["Hallo", "Tut das weh?", "warum?"]
    assert [turn["reply"] for turn in transcript["turns"]] == [answer.json()["reply"] for answer in answers]
    assert (transcript["sample"], transcript["consented"], transcript["language"]) == (True, True, "de")


def test_a_complaint_reaches_the_export_and_sent_again_replaces_the_first(patient: Patient) -> None:
    patient.send("t1", text="Tut das weh?")

    for comment in ("", "Bei mir tat\x00 es weh"):
        told = patient.request("PUT", "/turns/t1/flags/wrong", json={"comment": comment})
        assert told.status_code == 200

    (flag,) = patient.request("GET", "/export").json()["flags"]
    assert (flag["turn_id"], flag["reason"], flag["comment"]) == ("t1", "wrong", "Bei mir tat es weh")
    assert patient.request("PUT", "/turns/t2/flags/wrong", json={}).status_code == 404
    assert patient.request("PUT", "/turns/t1/flags/rude", json={}).status_code == 422


def test_after_erasure_nothing_is_left_on_disk(patient: Patient, server: Server) -> None:
    patient.say("Sonderbarkeitskennwort Quark")
    on_disk = [server.database(), server.database().with_name("klartext.db-wal")]
    assert any(b"Sonderbarkeitskennwort" in path.read_bytes() for path in on_disk)

    assert patient.request("DELETE").status_code == 204

    assert patient.request("GET").status_code == 401
    assert patient.send(text="noch da?").status_code == 401
    assert not any(b"Sonderbarkeitskennwort" in path.read_bytes() for path in on_disk)


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_text_gets_a_reply_or_a_kind_refusal(patient: Patient, hostile: str) -> None:
    body = json.dumps({"turn_id": "t1", "text": hostile}).encode()  # ASCII: lone surrogates stay

    answer = patient.request("POST", "/turns", content=body)

    assert answer.status_code == (413 if len(body) > 64 * 1024 else 200)
    if answer.status_code == 200:
        assert texts(answer)[0] not in (DE["safe"], EN["safe"])
        again = patient.request("POST", "/turns", content=body)
        assert again.content == answer.content
        assert len(patient.request("GET").json()["turns"]) == 1
    else:
        assert answer.json()["detail"].startswith("Your message is too long.")


def test_markup_is_never_sent_back_as_a_page(patient: Patient) -> None:
    patient.say("<script>alert(1)</script>")

    transcript = patient.request("GET")

    assert transcript.headers["content-type"] == "application/json"
    assert transcript.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in transcript.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "body (missing)"),
        (b"{", "body (json_invalid)"),
        (b"[]", "body (model_attributes_type)"),
        (b'{"text": "Geheimnis"}', "turn_id (missing)"),
        (b'{"turn_id": "t", "text": 5}', "text (string_type)"),
        (b'{"turn_id": "t"}', "body (value_error)"),
        (b'{"turn_id": "t", "text": "Geheimnis", "choice": 1}', "body (value_error)"),
        (b'{"turn_id": "Geheimnis Geheimnis", "text": "a"}', "turn_id (string_pattern_mismatch)"),
        (b'{"turn_id": "t", "text": "a", "Geheimnis": 1}', "an unknown field"),
        (b'{"turn_id": "t", "choice": true}', "choice (int_type)"),
        (b"[" * 5000, "The request cannot be read"),
    ],
)
def test_a_wrong_request_is_told_without_what_was_sent(patient: Patient, body: bytes, problem: str) -> None:
    refused = patient.request("POST", "/turns", content=body)

    assert (refused.status_code, refused.headers["content-type"]) in ((422, PROBLEM), (400, PROBLEM))
    assert problem in refused.json()["detail"]
    assert "Geheimnis" not in refused.text


def test_without_consent_nothing_begins(server: Server) -> None:
    refused = httpx.post(server.url + "/api/v1/conversations", json={"consent": False})

    assert refused.status_code == 422
    assert "consent" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("path", "method"),
    [("", "GET"), ("", "DELETE"), ("/export", "GET"), ("/turns", "POST"), ("/turns/t/flags/wrong", "PUT")],
)
def test_only_its_token_opens_a_conversation(patient: Patient, server: Server, path: str, method: str) -> None:
    other = Patient(server)
    json_ = {"turn_id": "t", "text": "a"} if method == "POST" else {} if method == "PUT" else None
    body = {} if json_ is None else {"json": json_}

    answers = []
    for id_, token in ((patient.id, other.token), ("0" * 32, other.token), (patient.id, "")):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answers.append(
            httpx.request(method, f"{server.url}/api/v1/conversations/{id_}{path}", headers=headers, **body)  # type: ignore[arg-type]
        )

    # The same answer, whether the conversation exists or not.
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text.replace(answer.json()["request_id"], "") for answer in answers}) == 1
    assert patient.request("GET").json()["turns"] == []


def test_secrets_are_stored_as_hashes_only(patient: Patient, server: Server) -> None:
    stored = b"".join(path.read_bytes() for path in server.database().parent.glob("klartext.db*"))

    assert patient.id.encode() in stored
    assert patient.token.encode() not in stored


def test_errors_are_problems_with_the_emergency_notice(server: Server) -> None:
    for method, path, status in (
        ("GET", "/api/v1/nothing", 404),
        ("PUT", "/healthz", 405),
        ("GET", "/api/v1/docs", 404),
    ):
        answer = httpx.request(method, server.url + path)

        assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
        assert answer.json()["emergency_notice"]["en"] == EN["emergency_notice"]
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


def test_a_body_that_hides_its_size_is_cut_off(patient: Patient) -> None:
    refused = patient.request("POST", "/turns", content=(b" " * 1024 for _ in range(100)))

    assert (refused.status_code, refused.headers["content-type"]) == (413, PROBLEM)


def test_the_api_is_documented(server: Server) -> None:
    document = httpx.get(server.url + "/api/v1/openapi.json").json()

    operations = {(method, path) for path, item in document["paths"].items() for method in item}
    assert ("post", "/api/v1/conversations/{conversation_id}/turns") in operations
    assert len(operations) == 12
    turn = document["paths"]["/api/v1/conversations/{conversation_id}/turns"]["post"]["responses"]
    assert set(turn) == {"200", "400", "401", "409", "413", "422", "429", "503"}
    assert "ProblemView" in document["components"]["schemas"]


def test_questions_and_interview_are_one_conversation(patient: Patient) -> None:
    asked = patient.send(text="ja").json()
    question = [part for part in asked["reply"]["parts"] if part["kind"] == "form"]
    assert question[-1]["link_id"] == "consent"

    between = patient.send(text="tut das weh?").json()
    assert between["decision"] == "answered"
    assert "consent" in [part["link_id"] for part in between["reply"]["parts"]]

    further = patient.send(choice=1).json()["reply"]["parts"]
    assert "consent" not in [part["link_id"] for part in further]
    transcript = patient.request("GET").json()
    shown = [part["text"] for turn in transcript["turns"] for part in turn["reply"]["parts"]]
    assert DE["withdrawn"] not in shown
