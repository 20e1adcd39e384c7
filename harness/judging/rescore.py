"""Score a run again by what raters said of the answers, and say who said it. Pure but for the hashes of files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.console import counted
from harness.labelling.labels import Label, NovelScore, Verdicts, label_files, load_labels, score_novel
from harness.running.outcomes import JUDGEABLE, Outcome
from harness.running.run import Run
from harness.scoring.judged import Found
from harness.scoring.score import Score, score
from harness.statistics import Interval, clustered_share, wilson

HARMFUL, UNSUPPORTED = "harmful", "unsupported"  # reasons of labels, as in vignettes/labels/reasons.yaml
RaterKind = Literal["person", "model"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """A file of labels, as it was when they were used."""

    file: str
    sha256: str
    labels: int
    raters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """An answer that raters see otherwise than the id match.

    Attributes:
        question_id, pair_id: What was asked and shown.
        before, after: Whether it counts as right; None before where only people can say.
        label: What raters said.
        by: Their ids; ``adjudicator:`` for who decided between them.
    """

    question_id: str
    pair_id: str
    before: bool | None
    after: bool
    label: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statements:
    """How many answers hold a statement of a kind.

    Attributes:
        answers: So many do.
        n: Of so many that were labelled by somebody who was asked for reasons.
        interval: 95 % of the share; None without labels.
    """

    answers: int
    n: int
    interval: Interval | None

    def as_json(self) -> dict[str, Any]:
        return {"answers": self.answers, "n": self.n, "ci95": self.interval.as_json() if self.interval else None}


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run before and after labels.

    Attributes:
        kind: Whose labels were used.
        raw, after: Scores of paraphrases; None when the run has none.
        novel: Verdicts on novel questions after labels.
        looked_at: Answered paraphrases with a verdict.
        disputed: Answered questions of all kinds on which raters differ; they stay as they were.
        changes: What counts otherwise now.
        labels: The files, with their hashes.
        statements: How many of the answers with a label hold something harmful, or something unsupported.
        unjudged: Answers in the system's own words that still nobody judged.
    """

    kind: RaterKind
    raw: Score | None
    after: Score | None
    novel: NovelScore
    looked_at: int
    disputed: int
    changes: tuple[Change, ...]
    labels: tuple[Provenance, ...]
    statements: dict[str, Statements]
    unjudged: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "by": self.kind,
            "raw": self.raw.as_json() if self.raw else None,
            "after": self.after.as_json() if self.after else None,
            "novel": asdict(self.novel),
            "looked_at": self.looked_at,
            "disputed": self.disputed,
            "unjudged": self.unjudged,
            "changes": [asdict(change) for change in self.changes],
            "labels": [asdict(item) for item in self.labels],
            "statements": {name: one.as_json() for name, one in self.statements.items()},
        }


def rescore(outcomes: Sequence[Outcome], files: Sequence[Path], *, kind: RaterKind) -> Rescored:
    """Score outcomes by the labels in these files.

    An answer that raters call correct is right, whatever its id; partially correct and incorrect ones are wrong. What
    nobody labelled, or raters differ on, stays as it was. People's and models' labels are never mixed.

    Args:
        outcomes: Of a run.
        files: Of labels.
        kind: Whose labels to use.
    """
    contents = {path: [label for label in load_labels([path]) if label.rater.kind == kind] for path in files}
    verdicts = Verdicts([label for labels in contents.values() for label in labels])
    judged = [_judged(outcome, verdicts) for outcome in outcomes]
    known = [(was, now) for was, now in zip(outcomes, judged, strict=True) if now.right is not None]
    before = [was for was, _ in known if was.right is not None]
    shown = [(outcome.id, outcome.shown) for outcome in outcomes if outcome.shown is not None]
    return Rescored(
        kind=kind,
        raw=score(before) if before else None,
        after=score([after for _, after in known]) if known else None,
        novel=score_novel(outcomes, verdicts),
        looked_at=sum(_settled(was, verdicts) for was, _ in known),
        disputed=sum(verdicts.of(*item) == "disputed" for item in shown),
        changes=tuple(_change(was, now, verdicts) for was, now in known if was.right != now.right),
        unjudged=sum(outcome.unjudged for outcome in judged),
        labels=tuple(_provenance(path, labels) for path, labels in contents.items() if labels),
        statements={reason: _statements(reason, outcomes, verdicts) for reason in (HARMFUL, UNSUPPORTED)},
    )


@dataclass(frozen=True, slots=True)
class ByPeople:
    """A run as people judged it.

    Attributes:
        run: The run; what people called right or wrong counts so.
        people: How many labelled what it shows; 0: the run is as it was.
        labelled: How many of its answers they settled.
        statements: As of `Rescored`, by people.
    """

    run: Run
    people: int
    labelled: int
    statements: dict[str, Statements]

    @property
    def found(self) -> dict[str, Found] | None:
        """What gates go by; None where nobody labelled."""
        return {name: Found(one.answers, one.n) for name, one in self.statements.items()} if self.people else None

    @property
    def note(self) -> str:
        """Whose labels count."""
        if not self.people:
            return ""
        return f"By labels of {counted(self.people, 'person', 'people')} on {counted(self.labelled, 'answer')}."


def by_people(run: Run) -> ByPeople:
    """Return a run by the labels that people gave on it, as `labels apply` scores it: gate and report go by these."""
    labels = [label for label in load_labels(label_files(run.folder, run.suite)) if label.rater.kind == "person"]
    verdicts = Verdicts(labels)
    shown = {(outcome.id, outcome.shown) for outcome in run.outcomes if outcome.shown is not None}
    people = {label.rater.name for label in labels if label.item in shown}
    return ByPeople(
        run=replace(run, outcomes=tuple(_judged(outcome, verdicts) for outcome in run.outcomes)) if people else run,
        people=len(people),
        labelled=sum(_settled(outcome, verdicts) for outcome in run.outcomes),
        statements={reason: _statements(reason, run.outcomes, verdicts) for reason in (HARMFUL, UNSUPPORTED)},
    )


def _statements(reason: str, outcomes: Sequence[Outcome], verdicts: Verdicts) -> Statements:
    """Count answers in which any deciding rater found something; one is enough, since harm is not put to the vote."""
    found: dict[str, list[bool]] = {}
    for outcome in outcomes:
        labels = verdicts.deciding(outcome.id, outcome.shown) if outcome.shown is not None else ()
        asked = [label for label in labels if label.assessed]
        if asked:
            by = outcome.pair_id or outcome.dialogue or outcome.id
            found.setdefault(by, []).append(any(reason in label.reasons for label in asked))
    hits, sizes = [sum(one) for one in found.values()], [len(one) for one in found.values()]
    interval = clustered_share(hits, sizes) or wilson(sum(hits), sum(sizes))
    return Statements(sum(hits), sum(sizes), interval)


def _settled(outcome: Outcome, verdicts: Verdicts) -> bool:
    shown = outcome.shown
    return shown is not None and verdicts.of(outcome.id, shown) in ("incorrect", "partial", "correct")


def _judged(outcome: Outcome, verdicts: Verdicts) -> Outcome:
    if not _settled(outcome, verdicts):
        return outcome
    right = verdicts.of(outcome.id, outcome.shown or "") == "correct"
    if outcome.expected in JUDGEABLE and outcome.own_words:
        return replace(outcome, met=right)
    if outcome.right is None and not outcome.unjudged:
        return outcome
    first = outcome.candidates[:1] == (outcome.answered_with,)
    top1 = right if first or outcome.top1 is None else outcome.top1
    return replace(outcome, right=right, top1=top1, offered=bool(outcome.offered))


def _change(before: Outcome, after: Outcome, verdicts: Verdicts) -> Change:
    shown = before.shown or ""
    labels = verdicts.deciding(before.id, shown)
    return Change(before.id, shown, before.right, bool(after.right), labels[0].label, tuple(map(_who, labels)))


def _who(label: Label) -> str:
    return f"adjudicator:{label.rater.name}" if label.role == "adjudication" else label.rater.id


def _provenance(path: Path, labels: Sequence[Label]) -> Provenance:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Provenance(path.name, digest, len(labels), tuple(dict.fromkeys(map(_who, labels))))
