"""What a Rasa 3.6 server sends to its action server, taken from one; and a tracker that applies what comes back."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

from bot.web.rasa.project import ACTION

Json = dict[str, Any]


@dataclass
class Tracked:
    """One sender's tracker, as far as an action server sees and changes it."""

    url: str
    token: str
    sender: str = field(default_factory=lambda: uuid.uuid4().hex)
    project: Json = field(
        default_factory=lambda: {
            **{"exam": "mammography", "sample": True, "form": "mammography_history_form"},
            **{"mode": "delegate", "format": 1},
        }
    )
    slots: Json = field(default_factory=dict)
    loop: str | None = None
    events: list[Json] = field(default_factory=list)
    version: str = "3.6.21"
    action: str = ACTION

    def call(self, text: str | None) -> Json:
        """Return what Rasa would send for a message."""
        said: Json = {
            "intent": {"name": "faq", "confidence": 0.6},
            "entities": [],
            "text": text,
            "message_id": uuid.uuid4().hex,
        }
        self.events.append({"event": "user", "timestamp": time.time(), "text": text, "parse_data": said})
        loop = {"name": self.loop, "is_interrupted": False, "rejected": True} if self.loop else {}
        tracker = {
            **{
                "sender_id": self.sender,
                "slots": {"klartext_project": self.project, "requested_slot": None, **self.slots},
            },
            **{"latest_message": {**said, "metadata": {}}, "latest_event_time": time.time(), "followup_action": None},
            **{"paused": False, "events": self.events, "latest_input_channel": "rest", "active_loop": loop},
            **{"latest_action": {"action_name": "action_listen"}, "latest_action_name": "action_listen"},
        }
        return {"next_action": self.action, "sender_id": self.sender, "tracker": tracker, "version": self.version}

    def post(self, call: Json) -> httpx.Response:
        """Send a call."""
        return self.post_bytes(json.dumps(call).encode())

    def post_bytes(self, body: bytes, encoding: str = "") -> httpx.Response:
        """Send the bytes of a call, compressed as `encoding` says."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"Content-Type": "application/json"} | ({"Content-Encoding": encoding} if encoding else {})
        return httpx.post(f"{self.url}/webhooks/rasa/actions", content=body, headers=headers, timeout=60)

    def say(self, text: str | None) -> list[str]:
        """Say something, apply the events, and return what is said back."""
        answer = self.post(self.call(text))
        assert answer.status_code == 200, answer.text
        for event in answer.json()["events"]:
            if event["event"] == "slot":
                self.slots[event["name"]] = event.get("value")
            elif event["event"] == "active_loop":
                self.loop = event.get("name")
        assert answer.json()["events"][-1] == {"event": "followup", "name": "action_listen"}
        return [each["text"] for each in answer.json()["responses"]]
