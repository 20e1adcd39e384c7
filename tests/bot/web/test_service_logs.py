"""Whatever is sent, wherever, no word of it is in the output or the metrics of a real service."""

from __future__ import annotations

import json
import uuid

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.outbox_ports import pseudonym
from tests.bot.web.serving import CHANNEL_TOKEN, Patient, Server

# Nothing of the service is called like this.
WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=12, max_size=40).map(lambda word: f"qz{word}")
AROUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PLACES = ("text", "long", "turn_id", "unknown", "type", "body", "comment", "path", "query", "header", "token", "sender")


def _send(server: Server, patient: Patient, place: str, word: str, text: str) -> int:
    """Send a word in one of the places where clients may put something, and return the status."""
    turn, url = {"turn_id": uuid.uuid4().hex, "text": text}, server.url
    bodies: dict[str, object] = {
        "text": turn,
        "long": turn | {"text": text * 2000},
        "turn_id": turn | {"turn_id": text},
        "unknown": turn | {word: text},
        "type": {"turn_id": [text], "text": {word: text}},
    }
    if place in bodies:
        return patient.request("POST", "/turns", content=json.dumps(bodies[place]).encode()).status_code
    if place == "body":
        return patient.request("POST", "/turns", content=text.encode()).status_code
    if place == "comment":
        first = patient.send(text=text).json()["turn_id"]
        return patient.request("PUT", f"/turns/{first}/flags/wrong", json={"comment": text * 20}).status_code
    if place == "sender":
        headers, body = {"Authorization": f"Bearer {CHANNEL_TOKEN}"}, {"sender": word, "message": text}
        return httpx.post(f"{url}/webhooks/rest/webhook", headers=headers, json=body, timeout=60).status_code
    if place == "path":
        return httpx.get(f"{url}/{word}/{word}").status_code
    if place == "query":
        return httpx.get(f"{url}/api/v1/conversations/{patient.id}", params={word: text}).status_code
    value = f"Bearer {word}" if place == "token" else word
    name = "Authorization" if place == "token" else "Content-Type"
    return httpx.post(f"{url}/api/v1/conversations/{patient.id}/turns", headers={name: value}, content="{}").status_code


def test_no_word_of_a_patient_is_in_the_output_or_the_metrics(server: Server) -> None:
    patient = Patient(server)
    sent: list[str] = []
    statuses: set[int] = set()

    @settings(max_examples=4)
    @given(word=WORDS, before=AROUND, after=AROUND)
    def send(place: str, word: str, before: str, after: str) -> None:
        sent.append(f"{word}x{len(sent)}x")
        statuses.add(_send(server, patient, place, sent[-1], f"{before} {sent[-1]} {after}"))

    for place in PLACES:
        send(place)
    seen = (server.stdout() + server.stderr() + httpx.get(server.url + "/metrics").text).lower()

    assert len(sent) >= 4 * len(PLACES)
    assert statuses >= {200, 401, 404, 413, 422}
    assert [word for word in sent if word in seen] == []
    assert len(server.stderr().splitlines()) >= len(sent)


def test_an_erasure_is_logged_under_a_name_that_does_not_lead_back(server: Server) -> None:
    patient = Patient(server)
    patient.say("Tut das weh?")

    assert patient.request("DELETE").status_code == 204

    lines = [json.loads(line) for line in server.stderr().splitlines()]
    assert [line["event"] for line in lines if line.get("conversation") == pseudonym(patient.id)] == ["erased"]
    assert patient.id not in server.stderr()
