"""Where things stand in a form that is being filled: instances of items, their answers, whether they count. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.interview.answer import Answer
from bot.interview.filling import Filling
from bot.interview.form import Form, Item, Path

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
