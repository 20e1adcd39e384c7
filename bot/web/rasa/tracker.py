"""A turn of ours as events of Rasa's tracker: slots that mirror the interview, the form, and that Rasa is to listen.

https://rasa.com/docs/rasa/action-server/events
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from bot.interview.form.form import Form
from bot.interview.values.answer import Answer
from bot.sentences.reply import Content, shows_alarm
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
            marker = cls(**stored)
        except TypeError:
            return None
        texts = (marker.exam, marker.form, marker.mode)
        fits = all(isinstance(each, str) for each in texts) and isinstance(marker.sample, bool)
        return marker if fits and type(marker.format) is int else None


@dataclass(frozen=True, slots=True)
class Tracker:
    """What Rasa knows before a turn.

    Attributes:
        slots: Their values, by name; what is not there, the project does not have.
        loop: The active form; empty for none.
    """

    slots: Mapping[str, Any]
    loop: str = ""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a conversation stands after a turn.

    Attributes:
        conversation: Its id.
        taken: The turn.
        filled: How far the interview is; None where there is none.
    """

    conversation: str
    taken: Taken
    filled: Filled | None


def events(stand: Stand, tracker: Tracker) -> list[Event]:
    """Return what brings a tracker to where the conversation stands after a turn.

    The last of them says that Rasa listens now: without it, its rules say that nobody was reached.
    """
    filled = stand.filled
    marker = Marker.read(tracker.slots.get(slots.PROJECT))
    # Of an interview that is over, was deleted or never was, nothing stays.
    wanted = {name: None for name in tracker.slots if name.startswith(slots.OF_ITEMS) or name == slots.AGREED}
    wanted |= dict(_wanted(stand))
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
    else:
        found += [{"event": "active_loop", "name": None}] if tracker.loop else []
        if tracker.loop or tracker.slots.get(slots.REQUESTED) is not None:
            found.append({"event": "slot", "name": slots.REQUESTED, "value": None})
    return [*found, {"event": "followup", "name": "action_listen"}]


def _wanted(stand: Stand) -> Iterator[tuple[str, Any]]:
    reply, filled = stand.taken.reply, stand.filled
    shown = [part.pair_id for part in reply.parts if isinstance(part, Content)]
    yield slots.LANGUAGE, reply.language
    # What is said to an alarm is often no question; while the patient is told to get help, that is what counts.
    yield slots.DECISION, "urgent" if shows_alarm(reply) else stand.taken.turn.decision
    yield slots.PAIR, shown[0] if shown else None
    yield slots.CONVERSATION, stand.conversation
    if filled is not None:
        for link_id, name in slots.slot_names(filled.form).items():
            yield name, _value(filled.form, link_id, filled.answers.get(link_id, ()))
        yield slots.AGREED, True if filled.agreed else None


def _value(form: Form, link_id: str, places: Sequence[Sequence[Answer]]) -> Any:
    """Return the answers to a question as a slot holds them: FHIR's value, or a list of them where it repeats.

    In groups that repeat it is a list with one entry for each of them, in the same order for all their questions; null
    for none. Null also where there is no answer at all.
    """
    if not any(places):
        return None
    item = form.by_link_id[link_id]
    values = [_of_place(each, repeats=item.repeats) for each in places]
    in_groups = any(form.by_link_id[each].repeats for each in item.line[:-1])
    return values if in_groups else values[0]


def _of_place(answers: Sequence[Answer], *, repeats: bool) -> Any:
    values = [_plain(each.value) for each in answers]
    return (values or None) if repeats else next(iter(values), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
