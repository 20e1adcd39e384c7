"""The inbox of curators: questions without an answer, put together by meaning, and what is decided about them. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, get_args

from bot.editorial.people import Person
from bot.editorial.workbench import Origin
from bot.text import MAX_CHARACTERS

Kind = Literal["urgent", "complaint", "wrong", "complicated", "unanswered", "asked back"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Standing = Literal["open", "variant", "near miss", "new pair", "not ours", "staff", "done"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
# What can be decided without writing a text.
SIMPLE: tuple[Standing, ...] = ("not ours", "staff", "done")
Sort = Literal["size", "newest", "oldest", "probability"]
SORTS: tuple[Sort, ...] = get_args(Sort)
# A mark that stands for personal data, in both languages of `bot.curation.scrub`, and what looks like one.
MARK = re.compile(r"\[[A-ZÄÖÜ][\w-]*\]")


class Decided(Exception):
    """Somebody else has decided some of the items meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question that waits for curators.

    Attributes:
        id: Number in the inbox, never used again.
        turn: Number of its turn, as `klartext qa inbox` says it.
        at: When it was asked; the day only, once it is kept without its conversation.
        language: That it was asked in.
        kind: What is open about it.
        text: What was asked, scrubbed by rules.
        cluster: Questions that mean the same have the same; 0: not looked at yet.
        place: In the cluster, the representative first.
        pair: The pair that fits best; empty where none does.
        probability: Of that, as the assistant states it.
        state: What was decided.
        batch: Of the decision: what was decided at once is taken back at once.
        by: Who decided.
        decided: When.
        target: The pair that the decision is about.
        note: To staff; it goes with the item.
        exam: That it was asked of, by its name; `-` before that was known.
    """

    id: int
    turn: int
    at: datetime
    language: str
    kind: Kind
    text: str
    cluster: int = 0
    place: int = 0
    pair: str = ""
    probability: float = 0.0
    state: Standing = "open"
    batch: str = ""
    by: str = ""
    decided: datetime | None = None
    target: str = ""
    note: str = ""
    exam: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of an item without its text: enough to filter, count and sort twenty thousand of them."""

    id: int
    at: datetime
    language: str
    kind: Kind
    cluster: int
    place: int
    probability: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn that is not in the inbox yet."""

    turn: int
    language: str
    kind: Kind
    question: str
    exam: str = ""


@dataclass(frozen=True, slots=True)
class Sorted:
    """Where an item belongs."""

    cluster: int
    place: int
    pair: str = ""
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items are looked for; what is empty does not narrow.

    `ids` and `pairs` widen each other: items that a search finds, and those for which it finds the pair. `without`:
    exams that are left out; what was asked before the exam was known stays.
    """

    kind: str = ""
    language: str = ""
    state: str = "open"
    since: datetime | None = None
    cluster: int | None = None
    ids: frozenset[int] | None = None
    pairs: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Group:
    """A cluster, as far as its items are looked for.

    Attributes:
        cluster: Its number; below 0: an item that is in none.
        first: The number of the representative.
        size: How many items.
        newest: When the last was asked.
        kinds: How many of each kind.
        pair: The pair that fits one of them best; empty where none does.
        probability: Of that, as the assistant states it: what "surest suggestion" sorts by.
        members: Numbers of the first few others.
    """

    cluster: int
    first: int
    size: int
    newest: datetime
    kinds: Mapping[Kind, int]
    pair: str = ""
    probability: float = 0.0
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Some groups, of so many with so many items."""

    groups: tuple[Group, ...] = ()
    clusters: int = 0
    items: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided about items at once.

    Attributes:
        state: What becomes of them.
        batch: Names the decision.
        items: Their numbers.
        target: The pair it is about.
        note: To staff.
        added: What was added to the content, by number of the item.
    """

    state: Standing
    batch: str
    items: Sequence[int]
    target: str = ""
    note: str = ""
    added: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undone:
    """A decision that was taken back."""

    state: Standing
    target: str
    language: str
    items: tuple[int, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """A text of the content whose conversation is gone."""

    id: int
    origin: Origin
    gone: datetime
    why: str


class Inbox(Protocol):
    """The inbox as it is kept. What is decided is stored with its act, which holds no word of a patient."""

    def missing(self, *, before: datetime, most: int) -> list[Asked]:
        """Return turns that are not in it yet, oldest first; what was asked back counts once nobody took a choice up
        to a moment.
        """
        ...

    def add(self, items: Sequence[tuple[Asked, str, Sorted]]) -> int:
        """Take turns in, each with its scrubbed text; those that are gone or there already are left out."""
        ...

    def sort(self, places: Mapping[int, Sorted]) -> None:
        """Store where items belong, by their numbers."""
        ...

    def rows(self, wanted: Wanted) -> list[Row]: ...

    def page(self, wanted: Wanted, sort: Sort, *, most: int, skip: int) -> Page:
        """Return clusters with items that are looked for, in order; what is in none stands alone."""
        ...

    def items(self, ids: Sequence[int]) -> list[Item]:
        """Return items with their texts, in this order; without those that are gone."""
        ...

    def count(self) -> int:
        """Return how many items there are."""
        ...

    def numbers(self) -> frozenset[int]:
        """Return the numbers of all items."""
        ...

    def texts(self, *, after: int = 0) -> dict[int, str]:
        """Return the scrubbed texts of items with a larger number."""
        ...

    def representatives(self) -> list[Item]:
        """Return the first item of every cluster."""
        ...

    def unsorted(self) -> int:
        """Return how many items are in no cluster yet."""
        ...

    def open(self) -> int:
        """Return how many wait."""
        ...

    def decide(self, decision: Decision, *, by: Person, now: datetime) -> None:
        """Store a decision; raise `Decided` when one of the items is not open any more."""
        ...

    def passed_on(self) -> list[Item]:
        """Return what was handed to the team and is not done yet, newest first."""
        ...

    def answer(self, id_: int, said: str, *, done: bool, by: Person, now: datetime) -> bool:
        """Write an answer below the note of what was handed to the team, or say that it is done; False: it is not (any
        more) with the team.
        """
        ...

    def last_batch(self, by: str) -> str:
        """Return the newest decision of somebody that still stands; empty where there is none."""
        ...

    def undo(self, batch: str, *, by: Person, now: datetime) -> Undone | None:
        """Open the items of a decision again; None where there is none."""
        ...

    def pseudonyms(self, ids: Sequence[int]) -> dict[int, str]:
        """Return what logs call the conversations of items; without those that are kept without one."""
        ...

    def lost(self) -> list[Lost]:
        """Return texts of the content whose conversations are gone, and about which nobody has decided."""
        ...

    def keep(self, id_: int, *, by: Person, now: datetime) -> None:
        """Let such a text stay."""
        ...


def named_as_before(groups: Sequence[Sequence[int]], before: Mapping[int, int]) -> list[int]:
    """Return a number for each group of items: that of the cluster most of it comes from, so that numbers stay.

    Args:
        groups: Numbers of items, the representative first.
        before: The cluster of each item until now; 0 or nothing: none.
    """
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for number, group in enumerate(groups):
        for item in group:
            if before.get(item):
                shared[number, before[item]] += 1
    names: dict[int, int] = {}
    taken: set[int] = set()
    for (number, cluster), _ in sorted(shared.items(), key=lambda each: (-each[1], each[0])):
        if number not in names and cluster not in taken:
            names[number] = cluster
            taken.add(cluster)
    free = max(before.values(), default=0) + 1
    for number in range(len(groups)):
        if number not in names:
            names[number], free = free, free + 1
    return [names[number] for number in range(len(groups))]


MOST_MEMBERS = 10  # of a group, in a list
MOST_NAMED = 500  # clusters or items, in one address or form
Flaw = Literal["", "empty", "long", "mark", "personal", "name"]


def flaw_of(text: str) -> Flaw:
    """Return in a word why a text may not become content: it must be said by nobody in particular."""
    if not text.strip():
        return "empty"
    if len(text) > MAX_CHARACTERS:
        return "long"
    return "mark" if MARK.search(text) else ""


def chosen_of(inbox: Inbox, written: str) -> list[Item]:
    """Return the open items that an address or a form names: clusters by number and commas; below 0: single items."""
    ids = list[int]()
    for each in written.split(",")[:MOST_NAMED]:
        digits = each.removeprefix("-")
        if digits.isascii() and digits.isdecimal() and len(digits) < 10:
            rows = inbox.rows(Wanted(cluster=int(each)))
            ids += [row.id for row in sorted(rows, key=lambda row: (row.place, row.id))]
    return [item for item in inbox.items(list(dict.fromkeys(ids))) if item.state == "open"]


def asked_of(inbox: Inbox, items: Sequence[Item]) -> dict[str, dict[str, str]]:
    """Return what a new pair begins with: the scrubbed texts by language, each with its conversation."""
    names, found = inbox.pseudonyms([item.id for item in items]), dict[str, dict[str, str]]()
    for item in items:
        found.setdefault(item.language, {})[item.text] = names.get(item.id, "")
    return found
