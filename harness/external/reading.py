"""Make an outcome's reply of what a system sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonpath import compile as compile_path

from harness.external.file import Paths
from harness.external.recognise import Recognised, Recogniser
from harness.systems import Failure, Ranked, Reply

DECISIONS = ("answered", "clarify", "declined", "urgent")


class JsonReader:
    """Reads replies by JSONPath."""

    def __init__(self, paths: Paths, recogniser: Recogniser, decisions: Mapping[str, str] | None = None) -> None:
        given = {name: path for name in Paths.model_fields if (path := getattr(paths, name)) is not None}
        self._paths = {name: compile_path(path) for name, path in given.items()}
        self._said = ", ".join(given.values())
        self._recogniser = recogniser
        self._decisions = decisions or {}

    def read(self, document: Any, elapsed_ms: float) -> Reply | Failure:
        """Read one document. A null is a system that says nothing; a missing key is a system that failed."""
        found = {name: path.findall(document) for name, path in self._paths.items()}
        if not any(found.values()):
            return Failure(f"nothing at {self._said}", elapsed_ms)
        said = _first(found.get("decision"))
        decision = None if said is None else self._decisions.get(said, said)
        if decision is not None and decision not in DECISIONS:
            return Failure(f"the decision is none of {', '.join(DECISIONS)}", elapsed_ms)
        choices = _texts(found.get("choices"))
        recognised = self._recognise(found, decision, choices)
        candidates = _texts(found.get("candidates")) or ([recognised.pair_id] if recognised.pair_id else choices)
        return make_reply(recognised, choices, elapsed_ms, candidates)

    def _recognise(self, found: dict[str, list[Any]], decision: str | None, choices: list[str]) -> Recognised:
        if decision is not None and decision != "answered":
            return Recognised(decision)
        pair_id, answer = _first(found.get("pair")), _first(found.get("answer"))
        if pair_id in self._recogniser.known:
            return Recognised("answered", pair_id, "id")
        if answer:
            return self._recogniser.recognise(answer)
        if choices:
            return Recognised("clarify")
        # An id that the catalog does not have may be how the system names its refusal.
        return self._recogniser.refusal(pair_id) if pair_id else Recognised("declined")


def read_messages(document: Any, recogniser: Recogniser, elapsed_ms: float) -> Reply | Failure:
    """Read what Rasa's REST channel sent: messages with texts and buttons, in order."""
    if not isinstance(document, list) or not all(isinstance(message, dict) for message in document):
        return Failure("no list of messages", elapsed_ms)
    texts = [recogniser.recognise(text) for message in document if isinstance(text := message.get("text"), str)]
    buttons = [button for message in document for button in message.get("buttons") or () if isinstance(button, dict)]
    offered = [recogniser.choice(str(b.get("title", "")), str(b.get("payload", ""))) for b in buttons]
    choices = [pair_id for pair_id in offered if pair_id]
    for wanted in ("urgent", "answered"):
        for text in texts:
            if text.decision == wanted and text.matched != "none":
                return make_reply(text, [], elapsed_ms, [text.pair_id or ""])
    if choices:
        return make_reply(Recognised("clarify"), choices, elapsed_ms, choices)
    unknown = [text for text in texts if text.matched == "none"]
    return make_reply(unknown[0] if unknown else Recognised("declined"), [], elapsed_ms, [])


def make_reply(recognised: Recognised, choices: list[str], elapsed_ms: float, candidates: list[str]) -> Reply:
    """Return a reply; systems outside rarely tell a score, so it is 1 with a pair and 0 without."""
    return Reply(
        decision=recognised.decision,
        pair_id=recognised.pair_id,
        score=1.0 if recognised.pair_id else 0.0,
        candidates=tuple(Ranked(name) for name in candidates if name),
        choices=tuple(choices) if recognised.decision == "clarify" else (),
        matched=recognised.matched,
        elapsed_ms=elapsed_ms,
    )


def _texts(values: list[Any] | None) -> list[str]:
    """Return the texts found; one list of texts counts as its items."""
    flat = values[0] if values and isinstance(values[0], list) else values or []
    return [value for value in flat if isinstance(value, str)]


def _first(values: list[Any] | None) -> str | None:
    return next((value for value in values or () if isinstance(value, str) and value.strip()), None)
