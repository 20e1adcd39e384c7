"""Each rater's own files in a run: the queue of what to label, and the labels.

Queues are assigned, and shuffled for each rater by their name. Labels are written by one process at a time, durable
line by line, and undone line by line.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import combinations, cycle
from pathlib import Path
from random import Random
from typing import IO, Literal

from pydantic import ValidationError

from bot import BadData
from harness.files import Record, as_lines, cut_unfinished, held, numbered_lines, writing
from harness.labelling.ambiguous import load_ambiguous
from harness.labelling.labels import RATERS, Item, Label, Rater, as_line, load_labels
from harness.running.outcomes import Outcome

ADJUDICATOR = "adjudicator"


def file_name(rater: Rater, *, adjudicator: bool = False) -> str:
    """Return ``person-anna.jsonl``; names that no file name can hold as they are get a short hash."""
    plain = re.sub(r"[^a-z0-9.]+", "-", rater.name.casefold()).strip("-.")[:40]
    if plain != rater.name:
        plain = f"{plain}-{hashlib.sha256(rater.name.encode()).hexdigest()[:8]}".lstrip("-")
    return f"{ADJUDICATOR if adjudicator else rater.kind}-{plain}.jsonl"


@dataclass
class RaterFile:
    """The labels of one rater, open for more."""

    path: Path
    stream: IO[bytes]
    labels: list[Label] = field(default_factory=list)

    def append(self, label: Label) -> None:
        """Store a label durably before the next item is shown."""
        self.stream.seek(0, os.SEEK_END)
        self.stream.write(as_line(label).encode())
        self._sync()
        self.labels.append(label)

    def undo(self) -> Label | None:
        """Take the last label back, from this session or an earlier one; None when there is none."""
        if not self.labels:
            return None
        self.stream.seek(0)
        raw = self.stream.read()
        self.stream.truncate(raw.rstrip(b"\n").rfind(b"\n") + 1)
        self._sync()
        return self.labels.pop()

    def _sync(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())


@contextmanager
def open_rater_file(run: Path, rater: Rater, *, adjudicator: bool = False, wait_s: float = 0) -> Iterator[RaterFile]:
    """Open a rater's file in a run for reading and appending; a line that a kill left unfinished is cut off.

    `wait_s`: for another one who has it open.

    Raises:
        BadData: The file cannot be written, holds something else, or is open in another terminal.
    """
    path = run / RATERS / file_name(rater, adjudicator=adjudicator)
    busy = f"{rater.name!r} is labelling in another terminal ({path} is in use). Go on there, or end it first."
    with ExitStack() as stack:
        with writing(path, "Make the run's folder writable."):
            stack.enter_context(held(path.with_name(f".{path.stem}.lock"), busy, wait_s=wait_s))
            stream = stack.enter_context(path.open("a+b"))
        cut_unfinished(stream)
        opened = RaterFile(path, stream, load_labels([path]))
        strangers = {label.rater.id for label in opened.labels} - {rater.id}
        if strangers:
            raise BadData(f"{path} holds labels of {min(strangers)}, not of {rater.id}. Choose another `--rater`.")
        yield opened


QUEUES = "queues"
Kinds = Literal["novel", "ambiguous", "all"]


class Assigned(Record):
    """One line of a queue. It says nothing of why the item is in it: raters are blind to that too."""

    question_id: str
    pair_id: str


def items_to_label(run: Path, outcomes: Sequence[Outcome], kinds: Kinds = "all") -> list[Item]:
    """Return what was shown and needs people: answers to novel questions, ambiguous ones, and free texts."""
    doubtful = load_ambiguous(run) if kinds != "novel" else set()
    return [
        Item(outcome, outcome.shown)
        for outcome in outcomes
        if outcome.shown is not None
        and ((outcome.kind == "novel" and kinds != "ambiguous") or outcome.id in doubtful or outcome.said is not None)
    ]


def shuffled(items: Sequence[Item], rater: str) -> list[Item]:
    """Return items in this rater's own order: raters tire at different items, and cannot compare notes by number."""
    seed = int.from_bytes(hashlib.sha256(rater.encode()).digest()[:8], "big")
    ordered = sorted(items, key=lambda item: item.key)
    Random(seed).shuffle(ordered)
    return ordered


def assign(items: Sequence[Item], raters: Sequence[str], *, each: int) -> dict[str, list[Item]]:
    """Give every item to `each` raters; all groups of raters get equally many, so that all pairs can be compared.

    Raises:
        BadData: There are fewer raters than labels wanted for each item.
    """
    if len(set(raters)) < each:
        raise BadData(f"{each} labels for each item need {each} raters, but there are {len(set(raters))}.")
    groups = cycle(combinations(dict.fromkeys(raters), each))
    queues: dict[str, list[Item]] = {rater: [] for rater in raters}
    for item, group in zip(shuffled(items, "all raters"), groups, strict=False):
        for rater in group:
            queues[rater].append(item)
    return {rater: shuffled(own, rater) for rater, own in queues.items()}


def queue_file(run: Path, rater: str) -> Path:
    return run / QUEUES / file_name(Rater(kind="person", name=rater))


def write_queues(run: Path, queues: dict[str, list[Item]]) -> list[Path]:
    """Write each rater's queue to a file of their own, all or none.

    Raises:
        BadData: A queue exists already, or the folder cannot be written.
    """
    files = {rater: queue_file(run, rater) for rater in queues}
    existing = [file for file in files.values() if file.exists()]
    if existing:
        raise BadData(f"{existing[0]} exists. Delete it to assign anew; labels already given are kept.")
    for rater, file in files.items():
        lines = ({"question_id": item.outcome.id, "pair_id": item.pair_id} for item in queues[rater])
        with writing(file, "Make the run's folder writable."):
            file.write_text(as_lines(lines), encoding="utf-8")
    return list(files.values())


def queue_of(run: Path, outcomes: Sequence[Outcome], rater: str) -> list[Item]:
    """Return what this rater shall label, in their order: their assigned queue, else all novel, then all ambiguous.

    Raises:
        BadData: The queue is broken or names what the run does not hold.
    """
    file = queue_file(run, rater)
    if not file.is_file():
        novel = items_to_label(run, outcomes, "novel")
        others = [item for item in items_to_label(run, outcomes) if item not in novel]
        return [*shuffled(novel, rater), *shuffled(others, rater)]  # of a poor system hundreds may be ambiguous
    by_id = {outcome.id: outcome for outcome in outcomes}
    items = []
    for number, line in numbered_lines(file):
        try:
            assigned = Assigned.model_validate_json(line)
            items.append(Item(by_id[assigned.question_id], assigned.pair_id))
        except (ValidationError, KeyError) as error:
            raise BadData(
                f"{file}:{number} names no question of this run. Delete it and run `klartext harness labels queue`."
            ) from error
    return items
