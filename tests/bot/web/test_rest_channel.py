"""The REST channel of Rasa."""

from __future__ import annotations

import uuid
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from tests.bot.web.serving import CHANNEL_TOKEN, Server
from tests.shipped_texts import SAID

DE = SAID["de"]


def _post(server: Server, sender: str, message: str, token: str = CHANNEL_TOKEN) -> httpx.Response:
    return httpx.post(
        server.url + "/webhooks/rest/webhook",
        json={"sender": sender, "message": message, "metadata": {"from": "a widget"}},
        headers={b"Authorization": f"Bearer {token}".encode()} if token else {},
    )


def test_a_message_gets_bubbles_with_label_and_emergency_notice(server: Server, shipped: Assistant) -> None:
    answer = _post(server, "anna", "Tut das weh?")

    assert answer.json() == [
        {"recipient_id": "anna", "text": shipped.catalog("de").pair("pain").short_answer},
        {"recipient_id": "anna", "text": DE["more_hint"]},
        {"recipient_id": "anna", "text": DE["sample_label"]},
        {"recipient_id": "anna", "text": DE["emergency_notice"]},
    ]


def test_choices_are_buttons_that_send_what_they_say(server: Server) -> None:
    sender = uuid.uuid4().hex

    asked = _post(server, sender, "Druck auf der Brust").json()
    (button,) = asked[-1]["buttons"]
    after = _post(server, sender, button["payload"]).json()

    assert [bubble["text"] for bubble in asked[:2]] == [DE["urgent_chest_pain"], DE["chest_question"]]
    assert button == {"title": DE["chest_breast"], "payload": DE["chest_breast"]}
    assert after[0]["text"] not in (DE["urgent_chest_pain"], DE["urgent"])


def test_senders_have_conversations_of_their_own(server: Server) -> None:
    anna, berta = uuid.uuid4().hex, uuid.uuid4().hex
    _post(server, anna, "Tut das weh?")

    assert _post(server, anna, "/easy").json()[0]["text"] == DE["easy_intro"]
    assert _post(server, berta, "/easy").json()[0]["text"] == DE["nothing_to_explain"]
    stored = b"".join(path.read_bytes() for path in server.database().parent.glob("klartext.db*"))
    assert anna.encode() not in stored


@pytest.mark.parametrize("token", ["", "wrong", CHANNEL_TOKEN[:-1], CHANNEL_TOKEN + "ü"])
def test_the_token_opens_the_channel(server: Server, token: str) -> None:
    assert _post(server, "anna", "Tut das weh?", token).status_code == 401


def test_without_a_token_the_channel_is_off(own_server: Server) -> None:
    assert _post(own_server, "anna", "Tut das weh?").status_code == 404
    assert "/webhooks/rest/webhook" not in httpx.get(own_server.url + "/api/v1/openapi.json").json()["paths"]


def test_a_short_token_is_refused_and_not_quoted(klartext: object, tmp_path: Path) -> None:
    done = klartext("serve", environ={"KLARTEXT_CHANNEL_TOKEN": "tooshort"})  # type: ignore[operator]

    assert done.returncode == 2
    assert b"KLARTEXT_CHANNEL_TOKEN has 8 characters and needs 20" in done.stderr
    assert b"tooshort" not in done.stderr


@pytest.mark.parametrize("sender", ["\\ud800", "anna\\udfff", "\\udc00\\ud800"])
def test_a_sender_with_half_a_character_is_refused_and_not_merged_with_another(server: Server, sender: str) -> None:
    answer = httpx.post(
        server.url + "/webhooks/rest/webhook",
        content=f'{{"sender": "{sender}", "message": "Tut das weh?"}}',
        headers={"Authorization": f"Bearer {CHANNEL_TOKEN}", "Content-Type": "application/json"},
    )

    assert answer.status_code == 422
    assert "weh" not in answer.text
    assert _post(server, "?", "Tut das weh?").status_code == 200  # into which such senders were merged
