"""A turn of ours as events of Rasa's tracker: slots that mirror the interview, the form, and that Rasa is to listen.

https://rasa.com/docs/rasa/action-server/events
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from bot.interview.values.answer import Answer
from bot.sentences.reply import Content
from bot.talk.conversation import Taken
from bot.talk.interviewing import Filled
from bot.web.rasa import slots

FORMAT = 1
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Marker:
    """What a project says of itself in a slot that comes with every message.

    Attributes:
        exam: Whose content it is.
        sample: Whether it was exported with drafts.
        form: What Rasa calls the form; empty where nothing is asked.
        mode: Who decides in it.
        format: Of this marker.
    """

    exam: str
    sample: bool
    form: str
    mode: str
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, stored: Any) -> Marker | None:
        """Return the marker in a slot; None where it is none of ours."""
        try:
            return cls(**stored)
        except TypeError:
            return None


@dataclass(frozen=True, slots=True)
class Tracker:
    """What Rasa knows before a turn.

    Attributes:
        slots: Their values, by name; what is not there, the project does not have.
        loop: The active form; empty for none.
    """

    slots: Mapping[str, Any]
    loop: str = ""


def events(taken: Taken, filled: Filled | None, tracker: Tracker) -> list[Event]:
    """Return what brings a tracker to where the conversation stands after a turn.

    The last of them says that Rasa listens now: without it, its rules say that nobody was reached.
    """
    marker = Marker.read(tracker.slots.get(slots.PROJECT))
    wanted = dict(_wanted(taken, filled))
    found = [
        {"event": "slot", "name": name, "value": value}
        for name, value in wanted.items()
        if name in tracker.slots and tracker.slots[name] != value
    ]
    named = slots.form_name(filled.form) if filled is not None else ""
    asks = filled is not None and filled.asking and marker is not None and named == marker.form
    if asks and filled is not None:
        found += [] if tracker.loop == named else [{"event": "active_loop", "name": named}]
        # A form that asks for nothing would go on by itself, and say nothing.
        asked = slots.slot_names(filled.form).get(filled.open, slots.AGREED)
        found.append({"event": "slot", "name": slots.REQUESTED, "value": asked})
    elif tracker.loop:
        found += [
            {"event": "active_loop", "name": None},
            {"event": "slot", "name": slots.REQUESTED, "value": None},
        ]
    return [*found, {"event": "followup", "name": "action_listen"}]


def _wanted(taken: Taken, filled: Filled | None) -> Iterator[tuple[str, Any]]:
    shown = [part.pair_id for part in taken.reply.parts if isinstance(part, Content)]
    yield slots.LANGUAGE, taken.reply.language
    yield slots.DECISION, taken.turn.decision
    yield slots.PAIR, shown[0] if shown else None
    if filled is not None:
        for link_id, name in slots.slot_names(filled.form).items():
            yield name, _value(filled.answers.get(link_id, ()), repeats=link_id in filled.repeating)
        yield slots.AGREED, True if filled.agreed else None


def _value(answers: Sequence[Answer], *, repeats: bool) -> Any:
    """Return answers as a slot holds them: FHIR's value, or a list of them where there may be several; None: none."""
    if not answers:
        return None
    values = [_plain(each.value) for each in answers]
    return values if repeats else values[0]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
