"""What a curator decides: the drafted texts of a work with the blind check's verdict, and the decisions on them."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from bot import BadData
from harness.files import (
    Record,
    append_durably,
    as_lines,
    private_opener,
    read_lines,
    replace_text,
    unreadable,
    writing,
)
from harness.labelling.exchange import formula_safe

Verdict = Literal["agreed", "move?", "drift", "answered", "unchecked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MEANING: Mapping[Verdict, str] = {
    "agreed": "agrees",
    "move?": "another pair answers better",
    "drift": "no pair answers",
    "answered": "a pair answers it",
    "unchecked": "says nothing",
}
Act = Literal["accept", "move", "drop", "wait"]  # wait: a decision is taken back
ACTS: tuple[Act, ...] = ("accept", "move", "drop")
QUEUE, DECISIONS = "queue.jsonl", "decisions.jsonl"
COLUMNS = ("id", "decision", "pair", "check", "answered_by", "facet", "voice", "stratum", "text")
TEXT = "t"  # before the id in a table: a spreadsheet takes digits with an e among them for a number
BOM = "\ufeff"  # spreadsheets take a file without it for another encoding


class Queued(Record):
    """A text to decide on.

    Attributes:
        pair: For which it was written.
        verdict: What the blind check says: agreed; move?: another pair answers it better; drift: no pair does;
            answered: a near miss that a pair answers; unchecked: nobody said.
        answered_by: The pairs that answer it, best first, as the check says.
    """

    id: str
    text: str
    pair: str
    voice: str
    facet: str | None = None
    stratum: str = ""
    verdict: Verdict
    answered_by: tuple[str, ...] = ()


class Decision(Record):
    """What a curator decided; the last one on a text counts."""

    id: str
    act: Act
    pair: str = ""  # where it is moved to


@dataclass(frozen=True, slots=True)
class Decided:
    """A text that is accepted, for the pair that it was accepted for, and whether a curator moved it there."""

    text: Queued
    pair: str
    moved: bool


@dataclass(frozen=True)
class Queue:
    """The queue of a work folder.

    Attributes:
        folder: Of the work.
        texts: In their order.
        decisions: By the id of the text.
    """

    folder: Path
    texts: Sequence[Queued]
    decisions: Mapping[str, Decision]

    @classmethod
    def of(cls, folder: Path) -> Queue:
        """Read the queue of a work folder; raise BadData where there is none yet."""
        file = folder / QUEUE
        if not file.is_file():
            raise BadData(
                f"{folder} has no queue yet: texts have to be drafted and checked first. "
                f"Run `klartext author variants --out {folder}` to see what is missing."
            )
        problem = f": this is no line of a queue ({{reason}}). Run `klartext author variants --out {folder}` again."
        decisions = folder / DECISIONS
        given = read_lines(decisions, Decision, problem) if decisions.is_file() else []
        return cls(folder, read_lines(file, Queued, problem), _standing(given))

    @property
    def waiting(self) -> list[Queued]:
        """What nobody decided yet: first what the check doubts least."""
        left = [text for text in self.texts if text.id not in self.decisions]
        return sorted(left, key=lambda text: VERDICTS.index(text.verdict))

    @property
    def accepted(self) -> list[Decided]:
        """What was accepted or moved."""
        found = []
        for text in self.texts:
            decision = self.decisions.get(text.id)
            if decision is not None and decision.act != "drop":
                found.append(Decided(text, decision.pair or text.pair, decision.act == "move"))
        return found

    def counts(self) -> Counter[str]:
        """Return how many texts have each decision, and how many wait."""
        return Counter(self.decisions[text.id].act if text.id in self.decisions else "waiting" for text in self.texts)

    def decide(self, decisions: Sequence[Decision]) -> Queue:
        """Keep decisions, durably, and return the queue as it is then."""
        file = self.folder / DECISIONS
        with writing(file, "Choose another `--out`."), open(file, "ab", opener=private_opener) as stream:
            append_durably(stream, as_lines(each.model_dump() for each in decisions).encode())
        return Queue(self.folder, self.texts, _standing([*self.decisions.values(), *decisions]))

    def agreed(self) -> list[Decision]:
        """Return the decision to accept what waits and the check agreed with."""
        return [Decision(id=text.id, act="accept") for text in self.waiting if text.verdict == "agreed"]

    def sample(self, number: int) -> list[Queued]:
        """Return some of what waits and the check agreed with, always the same ones, to see how good its word is."""
        agreed = sorted((text for text in self.waiting if text.verdict == "agreed"), key=lambda text: text.id)
        return random.Random(number).sample(agreed, min(number, len(agreed)))

    def write_sheet(self, path: Path) -> int:
        """Write what waits as a table for a spreadsheet; `decision` is suggested only where the check agreed.

        Raises:
            BadData: It is no CSV file's name, is there already, or cannot be written.
        """
        if path.suffix != ".csv":
            raise BadData(f"{path} is no .csv. Give `--sheet queue.csv`; every spreadsheet program opens and saves it.")
        if path.exists():
            raise BadData(f"{path} exists, and may hold decisions. Choose another file with `--sheet`.")
        stream = io.StringIO()
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\r\n")
        writer.writeheader()
        for text in self.waiting:
            row = {
                "id": f"{TEXT}{text.id}",
                "decision": "accept" if text.verdict == "agreed" else "",
                "pair": text.pair,
                "check": text.verdict,
                "answered_by": " ".join(text.answered_by),
                "facet": text.facet or "",
                "voice": text.voice,
                "stratum": text.stratum,
                "text": text.text,
            }
            writer.writerow({name: formula_safe(value) for name, value in row.items()})
        with writing(path, "Choose another file with `--sheet`."):
            path.write_text(BOM + stream.getvalue(), encoding="utf-8", newline="")
        return len(self.waiting)

    def read_sheet(self, path: Path, pairs: Collection[str]) -> list[Decision]:
        """Read the decisions of a table; rows without one wait on. A changed `pair` moves the text there.

        Raises:
            BadData: It is no such table, or a row names a text, decision or pair that there is not.
        """
        known = {text.id: text for text in self.texts}
        try:
            raw = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            said = f"{path} cannot be read ({unreadable(error)}). Save it as CSV in UTF-8."
            raise BadData(said) from error
        head = raw.split("\n", 1)[0]
        rows = csv.DictReader(io.StringIO(raw), delimiter=";" if head.count(";") > head.count(",") else ",")
        if not {"id", "decision", "pair"} <= set(rows.fieldnames or ()):
            raise BadData(f"{path} has no columns id, decision and pair. Give the table that `--sheet` wrote.")
        decisions = []
        for number, row in enumerate(rows, 2):
            id_, act, pair = ((row.get(name) or "").strip().lower() for name in ("id", "decision", "pair"))
            id_ = id_.removeprefix(TEXT)
            if not act:
                continue
            if id_ not in known:
                raise BadData(f"{path}:{number}: there is no text {id_!r} in this queue. Give the table of this work.")
            if act not in ACTS:
                raise BadData(f"{path}:{number}: {act!r} is no decision. Write {', '.join(ACTS)}, or nothing.")
            if act != "drop" and pair not in pairs:
                raise BadData(f"{path}:{number}: there is no pair {pair!r}. Run `klartext qa list` to see the ids.")
            text = known[id_]
            # What a pair answers after all may be moved to the pair that it was written beside.
            moved = act != "drop" and (pair != text.pair or (act == "move" and text.verdict == "answered"))
            if act == "move" and not moved:
                raise BadData(f"{path}:{number}: move to where? Change the row's `pair`, or write accept.")
            decision = Decision(id=id_, act="drop" if act == "drop" else "move" if moved else "accept")
            decision = decision.model_copy(update={"pair": pair}) if moved else decision
            if self.decisions.get(id_) != decision:
                decisions.append(decision)
        return decisions


def _standing(decisions: Sequence[Decision]) -> dict[str, Decision]:
    """Return the last decision on each text, where it was not taken back."""
    last = {each.id: each for each in decisions}
    return {id_: each for id_, each in last.items() if each.act != "wait"}


def write_queue(folder: Path, texts: Iterable[Queued]) -> None:
    """Write the texts of a work to decide on."""
    with writing(folder / QUEUE, "Choose another `--out`."):
        replace_text(folder / QUEUE, as_lines(each.model_dump() for each in texts))
