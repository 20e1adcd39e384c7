"""Add and remove instances of repeating groups; let what hangs on an answer move with it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeVar

from bot.errors import BadData
from bot.interview.answer import Answer
from bot.interview.filling import Filling
from bot.interview.form import Item, Path
from bot.interview.places import answers_at, count_at, first

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
