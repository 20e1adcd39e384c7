"""What has been answered so far, where, and the small events it is made of. Immutable and pure.

Events are what is stored: applying them again from the start gives an equal `Filling`, so a killed process loses none.
The state may be stored beside them, to spare that work; raise `STATE_VERSION` when events come to mean something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from bot.errors import BadData
from bot.interview.form.form import Form, Item, Path
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject

STATE_VERSION = 1
NO_ANSWERS: tuple[Answer, ...] = ()


def below(path: Path, link_id: str, number: int = 0) -> Path:
    """Return the path of an item inside another."""
    return (*path, (link_id, number))


def first(path: Path) -> Path:
    """Return the path of the first instance: what a repeating group, or a question with answers, is known by."""
    return path if path[-1][1] == 0 else (*path[:-1], (path[-1][0], 0))


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
class Waiting:
    """What was read from words that do not say just that: it does not count until the patient confirms it."""

    path: Path
    answers: tuple[Answer, ...]


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


@dataclass(frozen=True, slots=True)
class Reopened:
    """There may be more in a list than what stands at it: it has grown since the patient chose from it."""

    path: Path


@dataclass(frozen=True, slots=True)
class Renewed:
    """From here on another version of the form is asked; what follows is about that one.

    Attributes:
        path: Always empty.
        form: The document of the version, as JSON text.
    """

    path: Path
    form: str


Event = (
    Given
    | Waiting
    | Skipped
    | MarkedForStaff
    | Noted
    | Cleared
    | Shown
    | GroupAdded
    | GroupRemoved
    | NoMore
    | Reopened
    | Renewed
)
_EVENTS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}


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


# What to do, and where: ask a question, ask whether there is another answer or instance, show a text.
Pointer = tuple[Literal["ask", "another", "show"], Path]


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands open below one place of the form.

    Attributes:
        step: What to do next there; None when all is done.
        late: A required value that nothing calculated, asked for when all else is done.
    """

    step: Pointer | None = None
    late: Pointer | None = None


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
        waiting: What was understood and waits to be confirmed: no formula, condition or response sees it.
        accepted: Answers that were proposed and confirmed.
        edited: Calculated values that the patient changed.
        counts: How many instances repeating groups have, by the path of their first; only where it was changed.
        closed: Repeating groups and questions of which there are no more.
        reopened: Lists that were chosen from and have grown since: whether there is more is asked.
        shown: Texts that were shown.
        summaries: Worked out before; follows from the rest.
    """

    answers: Mapping[Path, tuple[Answer, ...]] = field(default_factory=dict)
    computed: Mapping[Path, tuple[Answer, ...]] = field(default_factory=dict)
    disabled: Set[Path] = frozenset()
    skipped: frozenset[Path] = frozenset()
    marked: Mapping[Path, str] = field(default_factory=dict)
    noted: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    waiting: Mapping[Path, tuple[Answer, ...]] = field(default_factory=dict)
    accepted: frozenset[Path] = frozenset()
    edited: frozenset[Path] = frozenset()
    counts: Mapping[Path, int] = field(default_factory=dict)
    closed: frozenset[Path] = frozenset()
    reopened: frozenset[Path] = frozenset()
    shown: frozenset[Path] = frozenset()
    summaries: dict[Path, Summary] = field(default_factory=dict, compare=False, repr=False)

    def settled(self, path: Path) -> bool:
        """Say whether a question need not be asked again."""
        return path in self.answers or path in self.skipped or path in self.marked or path in self.waiting

    def at(self, path: Path) -> tuple[Answer, ...]:
        """Return the answers at a question: those given, else what was calculated."""
        found = self.answers.get(path)
        return self.computed.get(path, NO_ANSWERS) if found is None else found

    def count(self, group: Item, path: Path) -> int:
        """Return how many instances a group has; `path` is that of its first."""
        if not group.repeats:
            return 1
        # What an answer opened, or the form demands, is asked without asking first whether there is any.
        return self.counts.get(path, max(group.least, int(group.has_rule)))

    def _numbers(self, item: Item, path: Path) -> int:
        """Return how often what is inside an item stands: per instance of a group, per answer of a question."""
        return self.count(item, path) if item.type == "group" else len(self.at(path))

    def instances(self, form: Form, item: Item, within: Path = (), *, least: int = 0) -> Iterator[Path]:
        """Yield every place where an item stands, below the path `within` of an item around it.

        A repeating group counts as standing `least` times where it stands less often.
        """
        paths = [within]
        for link_id in item.line[len(within) : -1]:
            around = form.by_link_id[link_id]
            paths = [
                below(path, link_id, number)
                for path in paths
                for number in range(self._numbers(around, below(path, link_id)))
            ]
        for path in paths:
            own = below(path, item.link_id)
            amount = max(least, self.count(item, own)) if item.type == "group" else 1
            yield from (below(path, item.link_id, number) for number in range(amount))

    def exists(self, form: Form, path: Path, *, next_too: bool = False) -> bool:
        """Say whether a path leads somewhere; `next_too`: or to a group instance that could be added."""
        item = form.by_link_id.get(path[-1][0]) if path else None
        if item is None or tuple(link_id for link_id, _ in path) != item.line:
            return False

        def stands(path: Path) -> bool:
            return 0 <= path[-1][1] < self._numbers(form.by_link_id[path[-1][0]], first(path))

        if not all(stands(path[:depth]) for depth in range(1, len(path))):
            return False
        if item.type != "group":
            return path[-1][1] == 0
        return stands(path) or (next_too and item.repeats)

    def is_enabled(self, form: Form, path: Path) -> bool:
        """Say whether an item is asked for, given all rules on it and around it."""
        if not self.disabled:
            return True
        for depth, (link_id, _) in enumerate(path, start=1):
            item = form.by_link_id[link_id]
            if item.has_rule:
                own = path[:depth]
                if (own if item.type == "group" else first(own)) in self.disabled:
                    return False
        return True

    def without(self, path: Path) -> Filling:
        """Return the state with nothing said about a question."""
        return replace(
            self,
            answers={key: value for key, value in self.answers.items() if key != path},
            skipped=self.skipped - {path},
            marked={key: value for key, value in self.marked.items() if key != path},
            waiting={key: value for key, value in self.waiting.items() if key != path},
            accepted=self.accepted - {path},
            edited=self.edited - {path},
            reopened=self.reopened - {path},
        )

    def forgetting(self, changed: Iterable[Path]) -> Filling:
        """Return the state without the summaries around changed places."""
        left = dict(self.summaries)
        for path in changed:
            for depth in range(len(path)):
                left.pop(path[:depth], None)
        return replace(self, summaries=left)

    def with_instance(self, group: Item, path: Path) -> Filling:
        """Return the state with one more instance of a repeating group; `path` must name the next one."""
        own = first(path)
        count = self.count(group, own)
        if not group.repeats or path[-1][1] != count:
            which = f"The group {group.link_id!r} has {count} instances"
            raise BadData(f"{which}; number {path[-1][1] + 1} cannot be added.")
        return replace(self, counts={**self.counts, own: count + 1}, closed=self.closed - {own})

    def without_instance(self, group: Item, path: Path) -> Filling:
        """Return the state without one instance of a repeating group; those after it move up."""
        own, gone = first(path), path[-1][1]
        count = self.count(group, own)
        if not group.repeats or not 0 <= gone < count:
            raise BadData(f"The group {group.link_id!r} has no instance {gone + 1} to remove.")
        moved = self._moved(own, lambda number: None if number == gone else number - (number > gone), of_group=True)
        return replace(moved, counts={**moved.counts, own: count - 1})

    def moved_with(self, question: Item, path: Path, answers: Sequence[Answer]) -> Filling:
        """Return the state in which what was said about an answer stands at its number among the new `answers`."""
        before = self.at(path)
        if not question.children or not question.repeats or not before:
            return self
        # Equal answers keep their own places; what is left of them goes to the first free place.
        new = {number: number for number, pair in enumerate(zip(before, answers, strict=False)) if pair[0] == pair[1]}
        for number, answer in enumerate(before):
            free = (place for place, other in enumerate(answers) if other == answer and place not in new.values())
            if number not in new and (place := next(free, None)) is not None:
                new[number] = place
        if all(number == new.get(number) for number in range(len(before))):
            return self
        return self._moved(path, new.get, of_group=False)

    def _moved(self, own: Path, move: Callable[[int], int | None], *, of_group: bool) -> Filling:
        """Renumber what stands in `own`: `move` gives the new number of an old one, None where it is gone."""
        depth, link_id = len(own) - 1, own[-1][0]

        def place(path: Path) -> Path | None:
            inside = len(path) > depth and path[:depth] == own[:-1] and path[depth][0] == link_id
            # Of a question, only what is inside its answers moves; of a group, the instance too.
            if not inside or (len(path) == len(own) and not of_group):
                return path
            number = move(path[depth][1])
            return None if number is None else (*path[:depth], (link_id, number), *path[depth + 1 :])

        changes: dict[str, Any] = {}
        for name in _STORED:
            stood = getattr(self, name)
            # How many instances there are, and whether there are more, is known by the path of the first.
            known_by_first = {own} if name in ("counts", "closed") else ()
            moved = ((path if path in known_by_first else place(path), path) for path in stood)
            if isinstance(stood, Mapping):
                changes[name] = {new: stood[path] for new, path in moved if new is not None}
            else:
                changes[name] = frozenset(new for new, _ in moved if new is not None)
        return replace(self, **changes, summaries={})


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
    "waiting": answers_from_json,
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
