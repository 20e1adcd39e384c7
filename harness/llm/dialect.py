"""Which parameters an endpoint takes: learnt from its refusals, so that nobody has to configure it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NOTES = {
    "response_format": "The endpoint has no structured output; answers were read as plain text.",
    "seed": "The endpoint takes no seed; the same questions may not come again.",
    "max_tokens": "The endpoint wants `max_completion_tokens`; it got that.",
}


class Dialect:
    """What one endpoint has refused so far."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, for people."""
        return tuple(_NOTES[name] for name in sorted(self._refused))

    def adapt(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body as this endpoint takes it."""
        adapted = {name: value for name, value in body.items() if name not in self._refused}
        if "max_tokens" in self._refused and "max_tokens" in body:
            adapted["max_completion_tokens"] = body["max_tokens"]
        return adapted

    def learn(self, refused: str, sent: Mapping[str, Any]) -> bool:
        """Take note of a refusal; return whether the request is worth another try."""
        if refused not in _NOTES or refused not in sent:
            return False
        self._refused.add(refused)
        return True
