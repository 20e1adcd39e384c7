"""Find out why a run missed what it missed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bot import Assistant, BadData
from harness.advice.causes import (
    CAUSES,
    KINDS,
    Cause,
    Clues,
    Detective,
    DistinctWords,
    Entry,
    Known,
    causes,
    entries,
    is_confused,
    misses_of,
)
from harness.advice.thresholds import Move, moves
from harness.files import as_document, writing
from harness.labelling.labels import verdicts_on
from harness.running.outcomes import ERROR
from harness.running.run import Run, load_run, nothing_answered
from harness.running.store import RUN, find_store
from harness.scoring.confusions import Confusion, confusions, mistakes_of

ERRORS = "errors.json"


def load_explainable(folder: Path) -> Run:
    """Read a run of the hybrid method; raise BadData when there is none, or when it cannot be explained."""
    find_store(folder)  # raises when there is none
    run = load_run(folder)
    if not run.identity:
        raise BadData(f"{folder / RUN} does not say which run this is. Run the suite again.")
    if not run.outcomes:
        raise BadData(f"{folder} holds no outcomes. Run `klartext harness run --suite NAME --out {folder}`.")
    if all(outcome.decision == ERROR for outcome in run.outcomes):
        raise nothing_answered(folder, run.outcomes)
    if run.identity.get("method") != "hybrid":
        raise BadData(
            f"{folder} is a run of the method {run.identity.get('method')!r}, and only `hybrid` can be explained. "
            "Run the suite with `--method hybrid`."
        )
    return run


@dataclass(frozen=True, slots=True)
class Found:
    """One miss with its clues and causes, the one that it is grouped under first."""

    clues: Clues
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """All that is known of the misses of a run.

    Attributes:
        run: The run.
        stale: Whether the catalog has changed since: causes are then those of today's catalog.
        found: The misses, in the order of the run.
        groups: By cause, in the order of `CAUSES`; only causes that occur.
        confusions: Pairs of pairs, the least likely by chance first.
        moves: What other thresholds would have done.
    """

    run: Run
    stale: bool
    found: tuple[Found, ...]
    groups: dict[Cause, list[Entry]]
    confusions: tuple[Confusion, ...]
    moves: tuple[Move, ...]

    def as_json(self) -> dict[str, Any]:
        causes_by_id = {one.clues.miss.outcome.id: one.causes for one in self.found}
        return {
            "run": self.run.as_json(),
            "stale": self.stale,
            "questions": len(self.run.outcomes),
            "misses": len(self.found),
            "kinds": dict(Counter(one.clues.miss.kind for one in self.found)),
            "groups": [
                {
                    "cause": cause,
                    "title": CAUSES[cause],
                    "misses": sum(len(entry.clues) for entry in group),
                    "entries": [
                        {
                            "pairs": entry.pairs,
                            "misses": len(entry.clues),
                            "proposal": entry.proposal,
                            "words": entry.words,
                            "questions": [
                                _question(clues, causes_by_id[clues.miss.outcome.id]) for clues in entry.clues
                            ],
                        }
                        for entry in group
                    ],
                }
                for cause, group in self.groups.items()
            ],
            "confusions": [
                {**asdict(one), "mutual": one.mutual, "beyond_chance": one.beyond_chance} for one in self.confusions
            ],
            "thresholds": [{**asdict(move), "keeps_limit": move.keeps_limit} for move in self.moves],
        }

    def write(self) -> Path:
        """Write `errors.json` beside the run and return its path."""
        path = self.run.folder / ERRORS
        with writing(path, "Copy the run to a folder of yours."):
            path.write_text(as_document(self.as_json()), encoding="utf-8")
        return path


def browse(run: Run, assistant: Assistant, progress: Callable[[int, int], None] = lambda *_: None) -> Findings:
    """Explain every miss of a run.

    Args:
        run: The run.
        assistant: With the catalog and the encoder of the run.
        progress: Called with the number of misses explained so far, and of all.

    Raises:
        BadData: The assistant's catalog is not that of the run.
    """
    catalog = assistant.catalog(run.language)
    if run.identity.get("catalog", "").partition("@")[0] != catalog.name:
        raise BadData(
            f"{run.folder} is a run against {run.identity.get('catalog')!r}, but the catalog is {catalog.ref!r}. "
            "Choose it with `--catalog`."
        )
    mistaken = tuple(confusions(mistakes_of(run.outcomes), len(catalog.pairs)))
    confused = {frozenset({one.first, one.second}): one for one in mistaken if is_confused(one)}
    detective = Detective(assistant, run.language)
    far = detective.far_below([outcome for outcome in run.outcomes if outcome.right])
    verdicts = verdicts_on(run.folder, run.suite)
    misses = misses_of(run.outcomes, catalog, verdicts)
    found: list[Found] = []
    for miss in misses:
        clues = detective.clues(miss)
        found.append(Found(clues, causes(clues, far, confused)))
        progress(len(found), len(misses))
    return Findings(
        run=run,
        stale=run.identity.get("catalog_hash") != catalog.content_hash,
        found=tuple(found),
        groups=_groups(found, Known(DistinctWords(catalog), confused)),
        confusions=mistaken,
        moves=tuple(moves(run.outcomes, assistant.thresholds(run.language).answer, verdicts)),
    )


def _groups(found: Sequence[Found], known: Known) -> dict[Cause, list[Entry]]:
    by_cause: dict[Cause, list[Clues]] = defaultdict(list)
    for one in found:
        by_cause[one.causes[0]].append(one.clues)
    return {cause: entries(cause, by_cause[cause], known) for cause in CAUSES if cause in by_cause}


def _question(clues: Clues, found: Sequence[Cause]) -> dict[str, Any]:
    outcome = clues.miss.outcome
    return {
        "id": outcome.id,
        "text": outcome.text,
        "vignette": outcome.vignette,
        "pair_id": outcome.pair_id,
        "kind": clues.miss.kind,
        "said": KINDS[clues.miss.kind],
        "first": clues.first,
        "score": clues.first_score,
        "none_of_these": clues.none_of_these,
        "nearness": asdict(clues.nearness) if clues.nearness else None,
        "nearest": [asdict(near) for near in clues.nearest],
        "part": clues.part,
        "causes": list(found),
    }
