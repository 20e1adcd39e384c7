"""What `klartext harness meaning` does: plan once, queue for raters, take labels back, correct the accuracy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot import BadData, Catalog, Encoder, Settings, load_catalog, locate, make_encoder
from harness.labels import shipped_labels
from harness.meaning.correction import Corrected, Estimate, correct, estimate
from harness.meaning.files import LABELS, Decided, Plan, decide, load_meaning_labels, load_plan, save_plan, write_queue
from harness.meaning.suspects import MARGIN, margins
from harness.run import RUN, Outcome, accepted_pairs, load_outcomes
from harness.score import SEED

SUMMARY = "summary.json"
KEY = "meaning"


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

    plan: Plan
    decided: Decided
    total: Corrected
    vignettes: dict[str, Corrected]
    estimate: Estimate | None
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
    _add_to_summary(run / SUMMARY, report)
    return report


def _shipped(run: Path) -> Path | None:
    """Return where meaning labels lie that are shipped with the run's suite."""
    try:
        suite = json.loads((run / RUN).read_text(encoding="utf-8"))["suite"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    path = shipped_labels(str(suite))
    return path.parent / "meaning" / path.name


def _plan(run: Path, outcomes: Sequence[Outcome], catalog: Catalog, drawing: Drawing, encoder: Encoder | None) -> Plan:
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


def _drawn(outcomes: Sequence[Outcome], catalog: Catalog, drawing: Drawing, encoder: Encoder | None) -> Plan:
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
    return Plan(
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


def _report(outcomes: Sequence[Outcome], plan: Plan, decided: Decided, catalog: Catalog, queued: int) -> MeaningReport:
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


def _add_to_summary(path: Path, report: MeaningReport) -> None:
    """Put the report under its own key into the run's summary; other keys stay as they are."""
    try:
        summary = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        summary[KEY] = report.as_json()
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
        partial.replace(path)
    except (OSError, ValueError, TypeError) as error:
        raise BadData(f"{path} cannot be extended. Run `klartext harness run` once more.") from error
