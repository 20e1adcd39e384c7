"""Replies and states of the dialogue as JSON, to be stored with a turn and read back. Pure.

What is read back is no more trusted than anything else: a reply passes the guard again before it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from bot.dialogue import State
from bot.errors import BadData
from bot.reply import Content, Interface, Part, Reply


def write_reply(reply: Reply) -> str:
    """Return a reply as JSON; raise BadData for parts of an interview, which is kept elsewhere."""
    return json.dumps(
        {
            "language": reply.language,
            "parts": [_part(part) for part in reply.parts],
            "choices": [_part(part) for part in reply.choices],
        }
    )


def read_reply(text: str) -> Reply:
    """Return the reply that `write_reply` wrote; raise BadData when it is damaged."""
    try:
        stored = json.loads(text)
        parts, choices = (tuple(_read_part(part) for part in stored[name]) for name in ("parts", "choices"))
        return Reply(str(stored["language"]), parts, choices)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadData("A stored reply cannot be read. Restore the database from its backup.") from error


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
    if isinstance(part, Content | Interface):
        return {"kind": type(part).__name__.lower(), **asdict(part)}
    raise BadData(f"A part of kind {type(part).__name__} cannot be stored with a turn.")


def _read_part(stored: dict[str, Any]) -> Part:
    kinds: dict[str, type[Content] | type[Interface]] = {"content": Content, "interface": Interface}
    fields = dict(stored)
    return kinds[fields.pop("kind")](**fields)
