"""Places in a filling: which exist, what stands there, and what moves when a group is added or removed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeVar

from bot.errors import BadData
from bot.interview.form.form import Form, Item, Path
from bot.interview.values.answer import Answer
from bot.interview.walk.filling import Filling

NO_ANSWERS: tuple[Answer, ...] = ()


def below(path: Path, link_id: str, number: int = 0) -> Path:
    """Return the path of an item inside another."""
    return (*path, (link_id, number))


def first(path: Path) -> Path:
    """Return the path of the first instance: what a repeating group, or a question with answers, is known by."""
    return path if path[-1][1] == 0 else (*path[:-1], (path[-1][0], 0))


def answers_at(filling: Filling, path: Path) -> tuple[Answer, ...]:
    """Return the answers at a question: those given, else what was calculated."""
    found = filling.answers.get(path)
    return filling.computed.get(path, NO_ANSWERS) if found is None else found


def count_at(filling: Filling, item: Item, path: Path) -> int:
    """Return how many instances a group has; `path` is that of its first."""
    if not item.repeats:
        return 1
    # What an answer opened, or the form demands, is asked without asking first whether there is any.
    return filling.counts.get(path, max(item.least, int(item.has_rule)))


def numbers(filling: Filling, item: Item, path: Path) -> int:
    """Return how often what is inside an item stands: per instance of a group, per answer of a question."""
    return count_at(filling, item, path) if item.type == "group" else len(answers_at(filling, path))


def instances(form: Form, filling: Filling, item: Item, within: Path = (), *, least: int = 0) -> Iterator[Path]:
    """Yield every place where an item stands, below the path `within` of an item around it.

    A repeating group counts as standing `least` times where it stands less often.
    """
    paths = [within]
    for link_id in item.line[len(within) : -1]:
        around = form.by_link_id[link_id]
        paths = [
            below(path, link_id, number)
            for path in paths
            for number in range(numbers(filling, around, below(path, link_id)))
        ]
    for path in paths:
        own = below(path, item.link_id)
        amount = max(least, count_at(filling, item, own)) if item.type == "group" else 1
        yield from (below(path, item.link_id, number) for number in range(amount))


def exists(form: Form, filling: Filling, path: Path, *, next_too: bool = False) -> bool:
    """Say whether a path leads somewhere as things stand; `next_too`: or to a group instance that could be added."""
    item = form.by_link_id.get(path[-1][0]) if path else None
    if item is None or tuple(link_id for link_id, _ in path) != item.line:
        return False
    around = all(_has_number(form, filling, path[:depth]) for depth in range(1, len(path)))
    if item.type != "group":
        return around and path[-1][1] == 0
    return around and (_has_number(form, filling, path) or (next_too and item.repeats))


def _has_number(form: Form, filling: Filling, path: Path) -> bool:
    """Say whether a group has this instance, or a question this answer."""
    return 0 <= path[-1][1] < numbers(filling, form.by_link_id[path[-1][0]], first(path))


def is_enabled(form: Form, filling: Filling, path: Path) -> bool:
    """Say whether an item is asked for, given all rules on it and around it."""
    if not filling.disabled:
        return True
    for depth, (link_id, _) in enumerate(path, start=1):
        item = form.by_link_id[link_id]
        if item.has_rule:
            own = path[:depth]
            if (own if item.type == "group" else first(own)) in filling.disabled:
                return False
    return True


def child_items(form: Form, path: Path) -> tuple[Item, ...]:
    """Return the items directly inside what `path` leads to; the outermost ones for the empty path."""
    return form.by_link_id[path[-1][0]].children if path else form.items


V = TypeVar("V")
# Where something that stood at the first number stands now; None where it is gone.
_Move = Callable[[int], int | None]


def add_instance(filling: Filling, item: Item, path: Path) -> Filling:
    """Return the state with one more instance of a repeating group; `path` must name the next one."""
    own = first(path)
    count = count_at(filling, item, own)
    if not item.repeats or path[-1][1] != count:
        raise BadData(f"The group {item.link_id!r} has {count} instances; number {path[-1][1] + 1} cannot be added.")
    return replace(filling, counts={**filling.counts, own: count + 1}, closed=filling.closed - {own})


def remove_instance(filling: Filling, item: Item, path: Path) -> Filling:
    """Return the state without one instance of a repeating group; those after it move up."""
    own, gone = first(path), path[-1][1]
    count = count_at(filling, item, own)
    if not item.repeats or not 0 <= gone < count:
        raise BadData(f"The group {item.link_id!r} has no instance {gone + 1} to remove.")
    moved = _moved(filling, own, lambda number: None if number == gone else number - (number > gone), of_group=True)
    return replace(moved, counts={**moved.counts, own: count - 1})


def move_with_answers(filling: Filling, item: Item, path: Path, answers: Sequence[Answer]) -> Filling:
    """Return the state in which what was said about an answer stands at that answer's new number."""
    before = answers_at(filling, path)
    if not item.children or not item.repeats or not before:
        return filling
    # Equal answers keep their own places; what is left of them goes to the first free place.
    new = {number: number for number, pair in enumerate(zip(before, answers, strict=False)) if pair[0] == pair[1]}
    for number, answer in enumerate(before):
        free = (place for place, other in enumerate(answers) if other == answer and place not in new.values())
        if number not in new and (place := next(free, None)) is not None:
            new[number] = place
    if all(number == new.get(number) for number in range(len(before))):
        return filling
    return _moved(filling, path, new.get, of_group=False)


def _moved(filling: Filling, own: Path, move: _Move, *, of_group: bool) -> Filling:
    depth, link_id = len(own) - 1, own[-1][0]

    def place(path: Path) -> Path | None:
        inside = len(path) > depth and path[:depth] == own[:-1] and path[depth][0] == link_id
        # Of a question, only what is inside its answers moves; of a group, the instance too.
        if not inside or (len(path) == len(own) and not of_group):
            return path
        number = move(path[depth][1])
        return None if number is None else (*path[:depth], (link_id, number), *path[depth + 1 :])

    def at_group(path: Path) -> Path | None:
        return path if path == own else place(path)

    return replace(
        filling,
        answers=_table(filling.answers, place),
        computed=_table(filling.computed, place),
        disabled=_set(filling.disabled, place),
        skipped=_set(filling.skipped, place),
        marked=_table(filling.marked, place),
        noted=_table(filling.noted, place),
        accepted=_set(filling.accepted, place),
        edited=_set(filling.edited, place),
        counts=_table(filling.counts, at_group),
        closed=_set(filling.closed, at_group),
        shown=_set(filling.shown, place),
        summaries={},
    )


def _set(paths: Set[Path], place: Callable[[Path], Path | None]) -> frozenset[Path]:
    return frozenset(new for path in paths if (new := place(path)) is not None)


def _table(paths: Mapping[Path, V], place: Callable[[Path], Path | None]) -> Mapping[Path, V]:
    return {new: value for path, value in paths.items() if (new := place(path)) is not None}
