"""What is done with messages of authors that nothing was fitted on: the table behind the limits, and the limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bot.catalog.catalog import Catalog
from bot.matching.context import OFFERED, Context, Guess, Limits, Move, Weights
from bot.matching.context_fit import Corpus, Row, fit, held_out, stands_alone

# What is wanted at least, and by how much falling short of it counts.
WANTED: Mapping[str, tuple[float, float]] = {
    "same": (0.8, 1.0),
    "other": (0.92, 1.5),
    "nothing": (0.97, 1.0),
    "wishes": (0.8, 0.5),
    "kept": (0.994, 20.0),
    "not wrongly same": (0.957, 10.0),
    "new": (0.98, 1.0),
}
STEPS: Mapping[str, tuple[float, ...]] = {
    "alone": (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "alone_answered": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
    "wish": (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6),
    "reaction": (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6),
    "same": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75),
    "other": (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7),
    "offer": (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6),
    "silent": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}
START = Limits(0.55, 0.3, 0.4, 0.45, 0.55, 0.5, 0.35, 0.6, 9.0)
ROUNDS = 3
WRONG_EXTRACTS = 0.02  # of messages that ask nothing the answer holds, at the most
NO_EXTRACT = 9.0


@dataclass(frozen=True)
class Study:
    """What was fitted on all authors, and what the models make of each author without having seen them.

    Attributes:
        corpora: The texts, by language.
        guesses: For each row, held out.
        fitted: The weights of each language, with the limits chosen.
    """

    corpora: tuple[Corpus, ...]
    guesses: tuple[tuple[Guess, ...], ...]
    fitted: tuple[Weights, ...]

    def lines(self) -> Iterator[str]:
        """Yield the table: a row an author, with the shares of messages that were taken as wanted, and how many."""
        yield f"{'':14}" + "".join(f"{name:>18}" for name in WANTED)
        for corpus, guesses, weights in zip(self.corpora, self.guesses, self.fitted, strict=True):
            for author in [*sorted({row.author for row in corpus.rows}), None]:
                chosen = [number for number, row in enumerate(corpus.rows) if author in (None, row.author)]
                found = shares(
                    [corpus.rows[at] for at in chosen], [guesses[at] for at in chosen], weights.limits, corpus.ids
                )
                name = "all" if author is None else author or "alone"
                cells = (
                    f"{np.mean(found[each]):9.3f} of {len(found[each]):5}" if found[each] else f"{'–':>18}"
                    for each in WANTED
                )
                yield f"{corpus.language} {name:11}" + "".join(cells)


def study_context(
    corpora: Sequence[Corpus], contexts: Sequence[Context], catalogs: Sequence[Catalog], encoder: str
) -> Study:
    """Fit, choose the limits on held-out authors, and fit again on all."""
    guesses = held_out(corpora, [START] * len(corpora), encoder)
    extract = _extract_limit(corpora, contexts, catalogs)
    limits = [replace(choose_limits(*each), extract=extract) for each in zip(corpora, guesses, strict=True)]
    everything = [np.ones(len(corpus.rows), dtype=bool) for corpus in corpora]
    return Study(
        tuple(corpora), tuple(tuple(each) for each in guesses), tuple(fit(corpora, everything, limits, encoder))
    )


def choose_limits(corpus: Corpus, guesses: Sequence[Guess]) -> Limits:
    """Return the limits at which least is missing from what is wanted."""

    def missing(limits: Limits) -> float:
        total, found = 0.0, shares(corpus.rows, guesses, limits, corpus.ids)
        for name, (least, weight) in WANTED.items():
            reached = float(np.mean(found[name])) if found[name] else 1.0
            # What is more than enough still counts a little, so that there is always a way to go.
            total += weight * max(0.0, least - reached) - 0.02 * min(weight, 1.0) * reached
        return total

    best, least = START, missing(START)
    for _ in range(ROUNDS):
        for name, steps in STEPS.items():
            for step in steps:
                limits = replace(best, **{name: step})
                if limits != best and (lacks := missing(limits)) < least:
                    best, least = limits, lacks
    return best


def shares(rows: Sequence[Row], guesses: Sequence[Guess], limits: Limits, ids: Sequence[str]) -> dict[str, list[bool]]:
    """Return for each thing wanted whether messages were taken so."""
    found: dict[str, list[bool]] = {name: [] for name in WANTED}
    for row, guess in zip(rows, guesses, strict=True):
        move = guess.move(limits, ids)
        shown, offered = outcome(row, move)
        if not row.author:
            found["kept"].append(keeps(row, move))
            continue
        if row.kind == "same":
            found["same"].append(row.said.shown in shown)
            continue
        wish = row.kind in ("easier", "shorter", "again", "more")
        if not wish:
            found["not wrongly same"].append(move.action != "show" or row.said.shown not in shown)
        if wish:
            found["wishes"].append(move.action == row.kind)
        elif row.kind in ("none", "reaction"):
            found["nothing"].append(not shown)
        else:
            found["new" if stands_alone(row) else "other"].append(row.target in {*shown, *offered})
    return found


def outcome(row: Row, move: Move) -> tuple[frozenset[str], frozenset[str]]:
    """Return which pairs are shown after a message, and which offered."""
    if move.action in ("show", "alone"):
        decision, pair_ids = row.alone if move.action == "alone" else ("answered", move.pair_ids)
        shown = frozenset(pair_ids if decision == "answered" else ())
        return shown, frozenset(pair_ids) - shown
    wished = move.action in ("easier", "shorter", "again")
    return frozenset((row.said.shown,) if wished else ()), frozenset(move.pair_ids)


def keeps(row: Row, move: Move) -> bool:
    """Say whether a message that stands alone comes to what it came to alone."""
    decision, pair_ids = row.alone
    if move.action == "alone":
        return True
    if move.action in ("show", "offer"):
        wanted = "answered" if move.action == "show" else "clarify"
        return decision == wanted and frozenset(move.pair_ids) == frozenset(pair_ids) and len(pair_ids) <= OFFERED
    return move.action == "none" and decision == "declined"


def _extract_limit(corpora: Sequence[Corpus], contexts: Sequence[Context], catalogs: Sequence[Catalog]) -> float:
    """Return the similarity that few messages reach which ask for nothing that the answer holds."""
    near: list[float] = []
    for corpus, context, catalog in zip(corpora, contexts, catalogs, strict=True):
        for row in corpus.rows:
            pair = catalog.pair(row.said.shown)
            if row.author and row.kind != "same" and pair.extracts:
                near += [float(max(context.extract_nearness(pair, row.said.text)[:-1], default=0.0))]
    return float(np.quantile(near, 1 - WRONG_EXTRACTS)) if near else NO_EXTRACT
