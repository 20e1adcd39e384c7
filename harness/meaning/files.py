"""The files of a meaning check: what was planned, what raters see, and what they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot import BadData, Catalog
from harness.labels import Rater
from harness.meaning.correction import NONE, OWN, UNCLEAR
from harness.run import Outcome

PLAN, QUEUE, LABELS = "meaning-plan.json", "meaning-queue.jsonl", "meaning-labels.jsonl"


class Plan(BaseModel):
    """Which questions raters are asked about; drawn once, so that labels keep their worth.

    Attributes:
        encoder: That measured the margins.
        margin: Suspects lie below it.
        seed: Of the random sample.
        margins: By question id.
        others: The nearest other pairs, by question id.
        sample: Drawn at random, half among those scored right, half among those scored wrong.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoder: str
    margin: float
    seed: int
    margins: dict[str, float]
    others: dict[str, tuple[str, ...]]
    sample: tuple[str, ...]

    @property
    def suspects(self) -> frozenset[str]:
        return frozenset(id_ for id_, value in self.margins.items() if value < self.margin)


class MeaningLabel(BaseModel):
    """What one rater says a question asks: ``own`` (its pair), another pair's id, ``none``, or ``unclear``.

    Other keys are let pass, so that a filled-in queue can be handed back as it is.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    question_id: str
    asks: str
    rater: Rater
    comment: str = ""
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What raters agree on.

    Attributes:
        asks: By question id: own, none, or another pair's id.
        disputed: Questions on which raters differ, or are unclear.
        raters: Kind and name.
    """

    asks: Mapping[str, str]
    disputed: frozenset[str]
    raters: tuple[tuple[str, str], ...]


def load_plan(folder: Path) -> Plan | None:
    """Read the plan of a run, if there is one; raise BadData when it is broken."""
    path = folder / PLAN
    if not path.is_file():
        return None
    try:
        return Plan.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadData(f"{path} is no plan of a meaning check. Remove it, and it is made anew.") from error


def save_plan(folder: Path, plan: Plan) -> None:
    """Write the plan, whole or not at all."""
    partial = (folder / PLAN).with_suffix(".partial")
    partial.write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
    partial.replace(folder / PLAN)


def write_queue(folder: Path, outcomes: Sequence[Outcome], plan: Plan, catalog: Catalog, decided: Decided) -> int:
    """Write what raters still have to see, and return how many.

    Raters see the question, the pair it was generated from and the nearest other ones; not what the system answered,
    nor which questions are suspected and which were drawn at random: both stand mixed, sorted by pair.
    """
    asked_about = {*plan.suspects, *plan.sample} - set(decided.asks)
    by_id = {outcome.id: outcome for outcome in outcomes}
    order = sorted(asked_about & set(by_id), key=lambda id_: (by_id[id_].pair_id or "", by_id[id_].text))
    lines = [_item(by_id[id_], plan.others.get(id_, ()), catalog) for id_ in order]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        (folder / QUEUE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadData(f"{folder / QUEUE} cannot be written ({error.strerror}). Free the folder, then again.") from error
    return len(lines)


def _item(outcome: Outcome, others: Sequence[str], catalog: Catalog) -> dict[str, Any]:
    own = outcome.pair_id or ""
    return {
        "question_id": outcome.id,
        "question": outcome.text,
        "pair_id": own,
        "pair_question": catalog.pair(own).question,
        "nearest": {pair_id: catalog.pair(pair_id).question for pair_id in others if pair_id in catalog.by_id},
        "asks": None,
        "rater": {"kind": "person", "name": ""},
        "comment": "",
    }


def load_meaning_labels(files: Iterable[Path], *, pairs: Iterable[str]) -> list[MeaningLabel]:
    """Read labels; lines whose `asks` is null are still to be filled in.

    Raises:
        BadData: A file cannot be read, a line is no label, names no rater or an unknown pair.
    """
    allowed = {OWN, NONE, UNCLEAR, *pairs}
    labels = []
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{file} cannot be read. Give labels as JSON lines with `--labels`.") from error
        for number, line in enumerate(lines, 1):
            label = _label(line, f"{file}:{number}") if line.strip() else None
            if label is None:
                continue
            if label.asks not in allowed:
                raise BadData(
                    f"{file}:{number}: `asks` is {label.asks!r}. Give own, none, unclear, or the id of a pair."
                )
            labels.append(label)
    return labels


def _label(line: str, place: str) -> MeaningLabel | None:
    try:
        record = json.loads(line)
        if isinstance(record, dict) and "asks" in record and record["asks"] is None:
            return None
        label = MeaningLabel.model_validate(record)
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise BadData(f"{place} is no label: {where}: {error.errors()[0]['msg']}. Mend the line.") from error
    except ValueError as error:
        raise BadData(f"{place} is no JSON. Mend the line.") from error
    return label


def decide(labels: Sequence[MeaningLabel], outcomes: Sequence[Outcome]) -> Decided:
    """Let raters who agree decide; a rater's later label replaces the earlier one. Labels of own pairs mean ``own``."""
    own = {outcome.id: outcome.pair_id for outcome in outcomes}
    given: dict[str, dict[str, str]] = {}
    for label in labels:
        asks = OWN if label.asks == own.get(label.question_id) else label.asks
        given.setdefault(label.question_id, {})[label.rater.name] = asks
    agreed = {id_: set(by.values()) for id_, by in given.items()}
    decided = {id_: next(iter(values)) for id_, values in agreed.items() if len(values) == 1 and UNCLEAR not in values}
    raters = tuple(dict.fromkeys((label.rater.kind, label.rater.name) for label in labels))
    return Decided(decided, frozenset(agreed) - frozenset(decided), raters)
