"""What a curator decides: the drafted texts of a work with the blind check's verdict, and the decisions on them."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from bot import BadData
from harness.authoring.filled import read_form_rows
from harness.files import (
    Record,
    append_durably,
    as_lines,
    private_opener,
    read_lines,
    replace_text,
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
QUEUE, DECISIONS, HEARD = "queue.jsonl", "decisions.jsonl", "heard.jsonl"
WRITTEN = "written.jsonl"
COLUMNS = ("id", "decision", "pair", "proposal", "check", "answered_by", "facet", "voice", "patient", "text")
READ = ("id", "decision", "pair", "text")  # of those, what is taken from a table
TEXT = "t"  # before the id in a table: a spreadsheet takes digits with an e among them for a number
BOM = "\ufeff"  # spreadsheets take a file without it for another encoding


class Queued(Record):
    """A text to decide on.

    Attributes:
        pair: For which it was written.
        verdict: What the blind check says: agreed; move?: another pair answers it better; drift: no pair does;
            answered: a near miss that a pair answers; unchecked: nobody said.
        answered_by: The pairs that answer it, best first, as the check says.
        kind: Who wrote it.
        source: The catalog that it is borrowed from; empty: it was written for this one.
    """

    id: str
    text: str
    pair: str
    voice: str
    facet: str | None = None
    stratum: str = ""
    patient: str = ""
    verdict: Verdict
    answered_by: tuple[str, ...] = ()
    kind: Literal["person", "model"] = "model"
    source: str = ""


class Decision(Record):
    """What a curator decided; the last one on a text counts."""

    id: str
    act: Act
    pair: str = ""  # where it is moved to


class Heard(Record):
    """What the alarm hears in a text; empty: nothing."""

    id: str
    ear: str
    sign: str


class Written(Record):
    """An accepted text that stood in a catalog's files. Without a catalog: decided anew, notes before end."""

    id: str
    catalog: str = ""
    pair: str = ""


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
        alarming: The sign of an emergency that the alarm hears in a text, by its id: such a text is accepted by itself,
            never together with others.
        trained: Whether the alarm has learned this catalog; else only the rules have listened.
    """

    folder: Path
    texts: Sequence[Queued]
    decisions: Mapping[str, Decision]
    alarming: Mapping[str, str] = field(default_factory=dict)
    trained: bool = False
    written: frozenset[tuple[str, str, str]] = frozenset()  # catalog folder, id and pair of what stood in its files

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
        noted = folder / WRITTEN
        notes = read_lines(noted, Written, problem) if noted.is_file() else []
        return cls(folder, read_lines(file, Queued, problem), _standing(given), written=_stood(notes))

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

    def listening(self, emergencies: Callable[[Sequence[str]], Sequence[str]], ear: str) -> Queue:
        """Return the queue with what the alarm hears in the texts that wait; what it heard once is kept beside.

        `emergencies` says for each text what it is heard as; `ear` is a name for all that this depends on.
        """
        file = self.folder / HEARD
        kept = read_lines(file, Heard, ": is no note of the alarm ({reason}). Remove it.") if file.is_file() else []
        known = {each.id: each.sign for each in kept if each.ear == ear}
        new = [text for text in self.waiting if text.id not in known]
        signs = emergencies([text.text for text in new])
        noted = [Heard(id=text.id, ear=ear, sign=sign) for text, sign in zip(new, signs, strict=True)]
        self._append(HEARD, noted)
        known |= {each.id: each.sign for each in noted}
        return replace(self, alarming={id_: sign for id_, sign in known.items() if sign})

    def note_written(self, catalog: str, texts: Iterable[Decided]) -> Queue:
        """Note which accepted texts stand in a catalog's files: what is gone from them later was taken out by hand."""
        new = sorted({(catalog, each.text.id, each.pair) for each in texts} - self.written)
        self._append(WRITTEN, [Written(catalog=where, id=id_, pair=pair) for where, id_, pair in new])
        return replace(self, written=self.written | {*new})

    @property
    def latest(self) -> Queued | None:
        """The text that was decided on last."""
        by_id = {text.id: text for text in self.texts}
        return next((by_id[id_] for id_ in reversed(list(self.decisions)) if id_ in by_id), None)

    def counts(self) -> Counter[str]:
        """Return how many texts have each decision, and how many wait."""
        return Counter(self.decisions[text.id].act if text.id in self.decisions else "waiting" for text in self.texts)

    def decide(self, decisions: Sequence[Decision]) -> Queue:
        """Keep decisions, durably, and return the queue as it is then."""
        self._append(DECISIONS, decisions)
        anew = {each.id for each in decisions}
        self._append(WRITTEN, [Written(id=id_) for id_ in sorted(anew & {id_ for _, id_, _ in self.written})])
        return replace(
            self,
            decisions=_standing([*self.decisions.values(), *decisions]),
            written=frozenset(each for each in self.written if each[1] not in anew),
        )

    def _append(self, name: str, records: Sequence[Record]) -> None:
        file = self.folder / name
        if records:
            with writing(file, "Choose another `--out`."), open(file, "ab", opener=private_opener) as stream:
                append_durably(stream, as_lines(each.model_dump() for each in records).encode())

    @property
    def agreed(self) -> list[Queued]:
        """What waits, the check agreed with, and the alarm hears nothing in: what may be accepted together."""
        return [text for text in self.waiting if text.verdict == "agreed" and text.id not in self.alarming]

    def sample(self, number: int) -> list[Queued]:
        """Return some of what may be accepted together, always the same ones, to see how good the check's word is."""
        agreed = sorted(self.agreed, key=lambda text: text.id)
        return random.Random(number).sample(agreed, min(number, len(agreed)))

    def write_sheet(self, path: Path) -> int:
        """Write what waits as a table for a spreadsheet, but for what has to be decided on one by one.

        No row is decided: what the check agrees with has a proposal beside, so that a table that nobody has read
        changes nothing.

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
        listed = [text for text in self.waiting if text.id not in self.alarming]
        for text in listed:
            row = {
                "id": f"{TEXT}{text.id}",
                "decision": "",
                "pair": text.pair,
                "proposal": "accept" if text.verdict == "agreed" else "",
                "check": text.verdict,
                "answered_by": " ".join(text.answered_by),
                "facet": text.facet or "",
                "voice": text.voice,
                "patient": text.patient,
                "text": text.text,
            }
            writer.writerow({name: formula_safe(value) for name, value in row.items()})
        with writing(path, "Choose another file with `--sheet`."):
            path.write_text(BOM + stream.getvalue(), encoding="utf-8", newline="")
        return len(listed)

    def read_sheet(self, path: Path, pairs: Collection[str]) -> list[Decision]:
        """Read the decisions of a table; rows without one wait on. A changed `pair` moves the text there.

        Raises:
            BadData: It is no such table, or a row names a text, decision or pair that there is not, says anything of a
                text that another row decides on, changed a text, or accepts what has to be decided on one by one.
        """
        known = {text.id: text for text in self.texts}
        lines: dict[str, int] = {}
        decisions = []
        for number, row in read_form_rows(path, READ, "the table that `--sheet` wrote"):
            id_, act, pair = (row[name].strip().lower() for name in ("id", "decision", "pair"))
            id_, at = id_.removeprefix(TEXT), f"{path}:{number}"
            if id_ in lines:
                raise BadData(
                    f"{at}: the text {TEXT}{id_} stands in line {lines[id_]}, too. Leave one of the two rows."
                )
            lines[id_] = number
            if not act:
                continue
            if id_ not in known:
                raise BadData(f"{at}: there is no text {id_!r} in this queue. Give the table of this work.")
            if act not in ACTS:
                raise BadData(f"{at}: {act!r} is no decision. Write {', '.join(ACTS)}, or nothing.")
            if act != "drop" and pair not in pairs:
                raise BadData(f"{at}: there is no pair {pair!r}. Run `klartext qa list` to see the ids.")
            text = known[id_]
            if act != "drop" and _as_stored(row["text"]) != _as_stored(text.text):
                raise BadData(
                    f"{at}: its text is not the one that was checked. Put it back or write drop; a wording of your own "
                    f"goes under `variants` of its pair in the catalog's file."
                )
            if act != "drop" and id_ in self.alarming and self.decisions.get(id_) is None:
                raise BadData(
                    f"{at}: the alarm hears an emergency in this text ({self.alarming[id_]}), and such a text "
                    "is accepted at the screen only. Write drop or nothing, and run `klartext author review` "
                    "without `--decided`."
                )
            # What a pair answers after all may be moved to the pair that it was written beside.
            moved = act != "drop" and (pair != text.pair or (act == "move" and text.verdict == "answered"))
            if act == "move" and not moved:
                raise BadData(f"{at}: move to where? Change the row's `pair`, or write accept.")
            decision = Decision(id=id_, act="drop" if act == "drop" else "move" if moved else "accept")
            decision = decision.model_copy(update={"pair": pair}) if moved else decision
            if self.decisions.get(id_) != decision:
                decisions.append(decision)
        return decisions


def _as_stored(text: str) -> str:
    """Return what is left of a text when a spreadsheet has stored it, also in Windows-1252."""
    return " ".join(text.removeprefix("'").encode("cp1252", "replace").decode("cp1252").split())  # of `formula_safe`


def _standing(decisions: Sequence[Decision]) -> dict[str, Decision]:
    """Return the last decision on each text, where it was not taken back; the latest stands last."""
    last: dict[str, Decision] = {}
    for each in decisions:
        last.pop(each.id, None)
        last[each.id] = each
    return {id_: each for id_, each in last.items() if each.act != "wait"}


def _stood(notes: Sequence[Written]) -> frozenset[tuple[str, str, str]]:
    """Return what is noted as written, where it was not decided on anew since."""
    found: set[tuple[str, str, str]] = set()
    for note in notes:
        if note.catalog:
            found.add((note.catalog, note.id, note.pair))
        else:
            found = {each for each in found if each[1] != note.id}
    return frozenset(found)


def write_queue(folder: Path, texts: Iterable[Queued]) -> None:
    """Write the texts of a work to decide on."""
    with writing(folder / QUEUE, "Choose another `--out`."):
        replace_text(folder / QUEUE, as_lines(each.model_dump() for each in texts))
