"""Plan once which paraphrases may ask something else, queue them for raters, take labels back, correct the accuracy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from bot import BadData, Catalog, Encoder, Settings, load_catalog, locate, make_encoder
from harness.files import Record, as_lines, first_fault, numbered_lines, replace_text, writing
from harness.judging.meaning_figures import (
    MARGIN,
    NONE,
    OWN,
    UNCLEAR,
    AccuracyEstimate,
    Corrected,
    correct,
    estimate,
    margins,
)
from harness.labelling.labels import Rater, shipped_labels
from harness.running.outcomes import Outcome, accepted_pairs
from harness.running.run import load_outcomes
from harness.running.store import RUN
from harness.scoring.score import SEED

PLAN, QUEUE, LABELS = "meaning-plan.json", "meaning-queue.jsonl", "meaning-labels.jsonl"
SUMMARY = "summary.json"
KEY = "meaning"


class MeaningPlan(Record):
    """Which questions raters are asked about; drawn once, so that labels keep their worth.

    Attributes:
        encoder: That measured the margins.
        margin: Suspects lie below it.
        seed: Of the random sample.
        margins: By question id.
        others: The nearest other pairs, by question id.
        sample: Drawn at random, half among those scored right, half among those scored wrong.
    """

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


def load_plan(folder: Path) -> MeaningPlan | None:
    """Read the plan of a run, if there is one; raise BadData when it is broken."""
    path = folder / PLAN
    if not path.is_file():
        return None
    try:
        return MeaningPlan.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadData(f"{path} is no plan of a meaning check. Remove it, and it is made anew.") from error


def save_plan(folder: Path, plan: MeaningPlan) -> None:
    """Write the plan, whole or not at all."""
    replace_text(folder / PLAN, plan.model_dump_json(indent=1) + "\n")


def write_queue(
    folder: Path, outcomes: Sequence[Outcome], plan: MeaningPlan, catalog: Catalog, decided: Decided
) -> int:
    """Write what raters still have to see, and return how many.

    Raters see the question, the pair it was generated from and the nearest other ones; not what the system answered,
    nor which questions are suspected and which were drawn at random: both stand mixed, sorted by pair.
    """
    asked_about = {*plan.suspects, *plan.sample} - set(decided.asks)
    by_id = {outcome.id: outcome for outcome in outcomes}
    order = sorted(asked_about & set(by_id), key=lambda id_: (by_id[id_].pair_id or "", by_id[id_].text))
    lines = [_item(by_id[id_], plan.others.get(id_, ()), catalog) for id_ in order]
    with writing(folder / QUEUE, "Free the folder, then again."):
        (folder / QUEUE).write_text(as_lines(lines), encoding="utf-8")
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
            lines = numbered_lines(file)
        except (OSError, UnicodeDecodeError) as error:
            raise BadData(f"{file} cannot be read. Give labels as JSON lines with `--labels`.") from error
        for number, line in lines:
            label = _label(line, f"{file}:{number}")
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
        raise BadData(f"{place} is no label: {first_fault(error)}. Mend the line.") from error
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


@dataclass(frozen=True, slots=True)
class Drawing:
    """How suspects and sample are drawn; None keeps what an earlier plan says.

    Attributes:
        encoder: Name, as for the assistant; one that the system under test does not use is the better witness.
        margin: Suspects lie below it.
        sample: Questions drawn at random.
    """

    encoder: str | None = None
    margin: float | None = None
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class MeaningReport:
    """The meaning check of a run."""

    plan: MeaningPlan
    decided: Decided
    total: Corrected
    vignettes: dict[str, Corrected]
    estimate: AccuracyEstimate | None
    queued: int

    def as_json(self) -> dict[str, Any]:
        return {
            "encoder": self.plan.encoder,
            "margin": self.plan.margin,
            "suspects": len(self.plan.suspects),
            "sample": len(self.plan.sample),
            "labelled": len(self.decided.asks),
            "disputed": len(self.decided.disputed),
            "raters": [{"kind": kind, "name": name} for kind, name in self.decided.raters],
            "total": self.total.as_json(),
            "vignettes": {name: one.as_json() for name, one in self.vignettes.items()},
            "estimate": self.estimate.as_json() if self.estimate else None,
        }


def check_meaning(
    run: Path, *, catalog: str, drawing: Drawing, labels: Sequence[Path], encoder: Encoder | None = None
) -> MeaningReport:
    """Check a run, write the queue for raters, and put the corrected accuracy into its summary.

    Args:
        run: Folder of a finished run.
        catalog: Shipped exam or catalog folder.
        drawing: How suspects and sample are drawn, the first time.
        labels: Further files of labels; those in the run's folder and those shipped with the suite always count.
        encoder: Instead of the one that `drawing` names.

    Raises:
        BadData: There is no run, it holds no paraphrase, or labels or plan are broken.
    """
    outcomes = [outcome for outcome in load_outcomes(run) if outcome.right is not None]
    if not outcomes:
        raise BadData(f"{run} holds no paraphrase whose meaning could be checked. Run a suite that has some.")
    content = load_catalog(locate(catalog), outcomes[0].lang)
    unknown = sorted({outcome.pair_id or "" for outcome in outcomes} - set(content.by_id))
    if unknown:
        raise BadData(f"{run} asks for pairs that {content.ref} lacks, for example {unknown[0]!r}. Give `--catalog`.")
    plan = _plan(run, outcomes, content, drawing, encoder)
    own = [file for file in (run / LABELS, _shipped(run)) if file is not None and file.is_file()]
    decided = decide(load_meaning_labels([*own, *labels], pairs=content.by_id), outcomes)
    report = _report(outcomes, plan, decided, content, write_queue(run, outcomes, plan, content, decided))
    # Put the report under its own key into the run's summary; other keys stay as they are.
    path = run / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        summary[KEY] = report.as_json()
        replace_text(path, json.dumps(summary, indent=2) + "\n")
    except (OSError, ValueError, TypeError) as error:
        raise BadData(f"{path} cannot be extended. Run `klartext harness run` once more.") from error
    return report


def _shipped(run: Path) -> Path | None:
    """Return where meaning labels lie that are shipped with the run's suite."""
    try:
        suite = json.loads((run / RUN).read_text(encoding="utf-8"))["suite"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    path = shipped_labels(str(suite))
    return path.parent / "meaning" / path.name


def _plan(
    run: Path, outcomes: Sequence[Outcome], catalog: Catalog, drawing: Drawing, encoder: Encoder | None
) -> MeaningPlan:
    before = load_plan(run)
    if before is None:
        plan = _drawn(outcomes, catalog, drawing, encoder)
        save_plan(run, plan)
        return plan
    wanted = (drawing.encoder, drawing.margin, drawing.sample)
    drawn = (before.encoder, before.margin, len(before.sample))
    changed = [(had, want) for had, want in zip(drawn, wanted, strict=True) if want is not None and want != had]
    if changed:
        raise BadData(
            f"{run} was planned with {changed[0][0]!r}, not {changed[0][1]!r}. Leave the options out to go on, "
            "or remove meaning-plan.json to draw anew."
        )
    return before


def _drawn(outcomes: Sequence[Outcome], catalog: Catalog, drawing: Drawing, encoder: Encoder | None) -> MeaningPlan:
    name = drawing.encoder or "embedded"
    encoder = encoder or make_encoder(name, Settings.from_environment())
    texts = [(text, pair.id) for pair in catalog.pairs for text in (pair.question, *(v.text for v in pair.variants))]
    if len(catalog.pairs) < 2:
        raise BadData(f"{catalog.ref} has one pair only: no question can ask for another one.")
    found = margins(
        encoder.encode([outcome.text for outcome in outcomes]),
        [accepted_pairs(catalog, outcome.pair_id) for outcome in outcomes],
        encoder.encode([text for text, _ in texts]),
        [owner for _, owner in texts],
    )
    return MeaningPlan(
        encoder=name,
        margin=MARGIN if drawing.margin is None else drawing.margin,
        seed=SEED,
        margins={outcome.id: round(one.value, 4) for outcome, one in zip(outcomes, found, strict=True)},
        others={outcome.id: one.others for outcome, one in zip(outcomes, found, strict=True)},
        sample=_sample(outcomes, drawing.sample or 0),
    )


def _sample(outcomes: Sequence[Outcome], size: int) -> tuple[str, ...]:
    """Draw half of the sample among those scored wrong, who are fewer and matter as much; the rest among the right."""
    rng = np.random.default_rng(SEED)
    wrong = [outcome.id for outcome in outcomes if not outcome.right]
    right = [outcome.id for outcome in outcomes if outcome.right]
    of_wrong = min(len(wrong), max(size // 2, size - len(right)))
    of_right = min(len(right), size - of_wrong)
    chosen = [*rng.permutation(wrong)[:of_wrong], *rng.permutation(right)[:of_right]]
    return tuple(str(id_) for id_ in chosen)


def _report(
    outcomes: Sequence[Outcome], plan: MeaningPlan, decided: Decided, catalog: Catalog, queued: int
) -> MeaningReport:
    def accepted(pair_id: str) -> frozenset[str]:
        return accepted_pairs(catalog, pair_id)

    def corrected(group: Sequence[Outcome]) -> Corrected:
        return correct(group, decided.asks, plan.suspects, accepted)

    names = dict.fromkeys(outcome.vignette for outcome in outcomes)
    return MeaningReport(
        plan=plan,
        decided=decided,
        total=corrected(outcomes),
        vignettes={name: corrected([one for one in outcomes if one.vignette == name]) for name in names},
        estimate=estimate(
            outcomes, frozenset(plan.sample), decided.asks, accepted, rng=np.random.default_rng(plan.seed)
        ),
        queued=queued,
    )
