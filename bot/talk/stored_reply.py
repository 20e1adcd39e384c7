"""Replies and states of the dialogue as JSON, to be stored with a turn and read back. Pure.

What is read back is no more trusted than anything else: a reply passes the guard again before it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from bot.errors import BadData
from bot.interview.manners.said import Answers, Slot
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import NotJson, as_object, dump, parse
from bot.sentences.reply import Content, Entry, FormText, Interface, Part, Reply
from bot.talk.dialogue import State


def write_reply(reply: Reply) -> str:
    """Return a reply as JSON; numbers keep their digits."""
    stored: dict[str, Any] = {
        "language": reply.language,
        "parts": [_part(part) for part in reply.parts],
        "choices": [_part(part) for part in reply.choices],
    }
    return dump(stored)


def read_reply(text: str) -> Reply:
    """Return the reply that `write_reply` wrote; raise BadData when it is damaged."""
    try:
        stored: Any = as_object(parse(text).value)
        parts, choices = (tuple(_read_part(part) for part in stored[name]) for name in ("parts", "choices"))
        return Reply(str(stored["language"]), parts, choices)
    except (NotJson, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadData("A stored reply cannot be read. Restore the database from its backup.") from error


def repeated(replies: Sequence[Reply]) -> dict[str, list[Answer]]:
    """Return the answers that stored replies repeat, by linkId."""
    known: dict[str, list[Answer]] = {}
    for slot in (slot for reply in replies for part in (*reply.parts, *reply.choices) for slot in _slots(part)):
        known.setdefault(slot.link_id, []).extend(slot.answers)
    return known


def _slots(part: Part) -> Iterator[Answers]:
    sentence = part.value if isinstance(part, Entry) else part
    if isinstance(sentence, Interface):
        yield from (slot for slot in sentence.slots.values() if isinstance(slot, Answers))


def write_state(state: State) -> str:
    return json.dumps(asdict(state))


def read_state(text: str, *, shown: Mapping[str, frozenset[str]]) -> State:
    """Return the state that `write_state` wrote, without pairs that may no longer be shown.

    Args:
        text: The JSON.
        shown: Ids of the pairs that may be shown, by language.

    Raises:
        BadData: It is damaged.
    """
    try:
        stored = json.loads(text)
        state = State(**{**stored, "choices": tuple(stored["choices"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BadData("The stored state of a conversation cannot be read.") from error
    if state.language not in shown:
        return State(next(iter(shown)))
    allowed = shown[state.language]
    # Choices are numbered: when one of them was withdrawn, none of the numbers can be trusted.
    choices = state.choices if set(state.choices) <= allowed else ()
    return replace(state, choices=choices, last_pair=state.last_pair if state.last_pair in allowed else None)


def _part(part: Part) -> dict[str, Any]:
    kind = type(part).__name__
    if isinstance(part, Entry):
        return {"kind": kind, "number": part.number, "label": _part(part.label), "value": _part(part.value)}
    stored = {"kind": kind, **{each.name: getattr(part, each.name) for each in fields(part)}}
    if isinstance(part, Interface):
        stored["slots"] = {name: _slot(slot) for name, slot in part.slots.items()}
    return stored


def _slot(slot: Slot) -> Any:
    if not isinstance(slot, Answers):
        return slot
    return {
        "link_id": slot.link_id,
        "answers": [{"type": answer.type, "value": answer.value} for answer in slot.answers],
    }


def _read_part(stored: Mapping[str, Any]) -> Part:
    values = {name: value for name, value in stored.items() if name != "kind"}
    if stored["kind"] == "Entry":
        label, value = _read_part(values["label"]), _read_part(values["value"])
        if not isinstance(label, FormText) or not isinstance(value, Interface):
            raise TypeError("a line of a summary is a label and a value")
        return Entry(values["number"], label, value)
    if stored["kind"] == "Interface":
        values["slots"] = {name: _read_slot(slot) for name, slot in values["slots"].items()}
    kinds: dict[str, type[Content] | type[Interface] | type[FormText]] = {
        each.__name__: each for each in (Content, Interface, FormText)
    }
    return kinds[stored["kind"]](**values)


def _read_slot(stored: Any) -> Slot:
    if isinstance(stored, Mapping):
        answers = tuple(Answer(each["type"], each["value"]) for each in stored["answers"])
        return Answers(str(stored["link_id"]), answers)
    return int(stored)
