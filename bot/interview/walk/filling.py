"""What has been answered so far, and the small events it is made of. Immutable and pure.

Events are what is stored: applying them again from the start gives an equal `Filling`, so a killed process loses none.
The state may be stored beside them, to spare that work; raise `STATE_VERSION` when events come to mean something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields
from typing import Any

from bot.errors import BadData
from bot.interview.form.form import Path
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject

STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Given:
    """All answers to a question. `proposed`: the patient took what was proposed, as it was."""

    path: Path
    answers: tuple[Answer, ...]
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Asked, and not answered. `reason`: dont_know or refused, where the patient said so."""

    path: Path
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MarkedForStaff:
    """Asked, not understood, and left to a person."""

    path: Path
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """What a patient said to a question and nobody could code: kept in their words, for the team."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """Taken back: the question is open again; a value that the patient had edited is calculated again."""

    path: Path


@dataclass(frozen=True, slots=True)
class Shown:
    """A text of the form was shown."""

    path: Path


@dataclass(frozen=True, slots=True)
class GroupAdded:
    """One more instance of a repeating group; the path names the new one."""

    path: Path


@dataclass(frozen=True, slots=True)
class GroupRemoved:
    """One instance of a repeating group is taken out; those after it move up."""

    path: Path


@dataclass(frozen=True, slots=True)
class NoMore:
    """No more instances of a repeating group, or no more answers to a repeating question."""

    path: Path


Event = Given | Skipped | MarkedForStaff | Noted | Cleared | Shown | GroupAdded | GroupRemoved | NoMore
_EVENTS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Given, Skipped, MarkedForStaff, Noted, Cleared, Shown, GroupAdded, GroupRemoved, NoMore)
}


def event_to_json(event: Event) -> dict[str, JsonValue]:
    """Return an event as JSON; write it with `fhir_json.dump`, which keeps the digits of decimals."""
    made: dict[str, JsonValue] = {"event": type(event).__name__, "path": _path_to_json(event.path)}
    for name in (each.name for each in fields(event) if each.name != "path"):
        value = getattr(event, name)
        if value or name == "answers":
            made[name] = value_to_json(value)
    return made


def event_from_json(stored: JsonObject) -> Event:
    """Read a stored event (parse it with `fhir_json.parse`).

    Raises:
        BadData: It is none.
    """
    try:
        values: dict[str, Any] = {name: value for name, value in stored.items() if name != "event"}
        values["path"] = path_from_json(values["path"])
        if "answers" in values:
            values["answers"] = answers_from_json(values["answers"])
        event: Event = _EVENTS[str(stored["event"])](**values)
    except (KeyError, TypeError, ValueError) as error:
        raise BadData("A stored event of an interview cannot be read. Start the interview again.") from error
    return event


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands open below one place of the form.

    Attributes:
        step: What to do next there: its kind and path; None when all is done.
        late: A required value that nothing calculated, asked for when all else is done.
        answered: Questions answered or skipped.
        of: Questions asked in all, as it stands.
    """

    step: tuple[str, Path] | None
    late: tuple[str, Path] | None
    answered: int
    of: int


@dataclass(frozen=True, slots=True)
class Filling:
    """The state of an interview.

    Attributes:
        answers: What the patient gave. What is no longer asked stays here, for it may be asked again.
        computed: Values that formulas calculated, and fixed values that nobody is asked for.
        disabled: Items whose own rule switches them off.
        skipped: Asked, not answered.
        marked: Left to staff, with the reason.
        noted: What patients said in words that could not be coded.
        accepted: Answers that were proposed and confirmed.
        edited: Calculated values that the patient changed.
        counts: How many instances repeating groups have, by the path of their first; only where it was changed.
        closed: Repeating groups and questions of which there are no more.
        shown: Texts that were shown.
        summaries: Worked out before; follows from the rest.
    """

    answers: Mapping[Path, tuple[Answer, ...]] = field(default_factory=dict)
    computed: Mapping[Path, tuple[Answer, ...]] = field(default_factory=dict)
    disabled: Set[Path] = frozenset()
    skipped: frozenset[Path] = frozenset()
    marked: Mapping[Path, str] = field(default_factory=dict)
    noted: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    accepted: frozenset[Path] = frozenset()
    edited: frozenset[Path] = frozenset()
    counts: Mapping[Path, int] = field(default_factory=dict)
    closed: frozenset[Path] = frozenset()
    shown: frozenset[Path] = frozenset()
    summaries: dict[Path, Summary] = field(default_factory=dict, compare=False, repr=False)

    def settled(self, path: Path) -> bool:
        """Say whether a question need not be asked again."""
        return path in self.answers or path in self.skipped or path in self.marked


def filling_to_json(filling: Filling) -> dict[str, JsonValue]:
    """Return a state as JSON, so that nobody need replay its events; what is empty is left out."""
    made: dict[str, JsonValue] = {}
    for name in _STORED:
        value = getattr(filling, name)
        if isinstance(value, Mapping):
            made[name] = [[_path_to_json(path), value_to_json(each)] for path, each in value.items()]
        else:
            made[name] = [_path_to_json(path) for path in sorted(value)]
    return {name: value for name, value in made.items() if value}


def filling_from_json(stored: JsonObject) -> Filling:
    """Read a state that `filling_to_json` wrote.

    Raises:
        BadData: It is none.
    """
    try:
        values: dict[str, Any] = {}
        for name, entries in stored.items():
            listed: Any = entries
            if name in _TABLES:
                values[name] = {path_from_json(path): _TABLES[name](value) for path, value in listed}
            else:
                values[name] = frozenset(path_from_json(path) for path in listed)
        return Filling(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise BadData("The stored state of an interview cannot be read.") from error


def answers_from_json(stored: Any) -> tuple[Answer, ...]:
    return tuple(Answer(each["type"], each["value"]) for each in stored)


_STORED = tuple(each.name for each in fields(Filling) if each.name != "summaries")
_TABLES: Mapping[str, Callable[[Any], Any]] = {
    "answers": answers_from_json,
    "computed": answers_from_json,
    "marked": str,
    "noted": tuple,
    "counts": int,
}


def value_to_json(value: Any) -> JsonValue:
    """Return an answer, a path, or tuples of them as JSON."""
    if isinstance(value, Answer):
        return {"type": value.type, "value": value.value}
    return [value_to_json(each) for each in value] if isinstance(value, tuple) else value


def _path_to_json(path: Path) -> JsonValue:
    return [[link_id, number] for link_id, number in path]


def path_from_json(stored: Any) -> Path:
    return tuple((str(link_id), int(number)) for link_id, number in stored)
