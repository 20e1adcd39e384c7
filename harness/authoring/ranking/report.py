"""What a ranking leaves in its folder: all of it as JSON, a page for the curator, the form for raters.

The page's tables are those of seed paper 002: ranks of the texts (figure 3), with control cases (figure 4), score of
the evaluators beside how they rank (table 1), accuracy by task (tables 10 to 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from harness.authoring.ranking.raters import Compared, Correlation, Form, correlation
from harness.authoring.ranking.study import (
    BASELINE,
    CONTROLS,
    EVALUATORS,
    EXPERT,
    EXPERT_TRAINED,
    MODEL_TRAINED,
    Outcome,
    Solved,
    Study,
)
from harness.authoring.ranking.tasks import TASKS
from harness.console import chance, counted, share
from harness.files import as_document, without_markup, writing
from harness.statistics import Interval

RESULT, PAGE, FORM, GUIDE = "result.json", "result.md", "form.csv", "form.md"
NOTICE = "Drafts, written by a language model or by others. No clinician has approved them; patients must not see them."
READING = {EXPERT_TRAINED: "trained with the expert's texts", MODEL_TRAINED: "trained with the other texts"}


@dataclass(frozen=True)
class Ranked:
    """All that came of a ranking.

    Attributes:
        study: What was compared.
        outcome: What the evaluators found.
        compared: What people said; None where nobody ranked.
        incomplete: Pairs left out since a system has no text for them.
        provenance: Who answered which prompt, and what the work depends on.
    """

    study: Study
    outcome: Outcome
    compared: Compared | None
    incomplete: Sequence[str]
    provenance: Mapping[str, Any]


def write_result(folder: Path, ranked: Ranked, form: Form | None) -> None:
    """Write all files of a ranking; raise BadData when that is not possible."""
    with writing(folder / RESULT, "Choose another `--out`."):
        (folder / RESULT).write_text(as_document(as_json(ranked)), encoding="utf-8")
        (folder / PAGE).write_text("\n".join(_page(ranked)) + "\n", encoding="utf-8")
        if form is not None and ranked.compared is None:
            # Spreadsheets read UTF-8 by its mark only.
            (folder / FORM).write_text("\ufeff" + form.as_csv(), encoding="utf-8")
            (folder / GUIDE).write_text(form.heading + "\n", encoding="utf-8")


def as_json(ranked: Ranked) -> dict[str, Any]:
    """Return everything that was found."""
    study, outcome, people = ranked.study, ranked.outcome, ranked.compared
    return {
        "status": "draft",
        "notice": NOTICE,
        "language": study.catalog.language,
        "systems": list(study.systems),
        "controls": list(CONTROLS),
        "pairs": {
            pair_id: {
                "question": study.catalog.pair(pair_id).question,
                "fold": study.fold_of[pair_id],
                "texts": {system: study.candidates[system][pair_id] for system in study.systems},
                "mean_rank": _ranks_of(outcome, pair_id, study.systems),
            }
            for pair_id in study.pair_ids
        },
        "left_out_pairs": list(ranked.incomplete),
        "items": [item.as_json() for item in study.items if item.pair_id in study.fold_of],
        "evaluator": outcome.by,
        "folds": study.folds,
        "seed": study.seed,
        "skipped_tasks": dict(outcome.skipped),
        "trained_on": dict(outcome.trained_on),
        "near_copies_left_out": dict(outcome.left_out),
        "solved": [_solved(one, outcome) for one in outcome.solved],
        "scores": {evaluator: {task: _score(outcome, evaluator, task) for task in TASKS} for evaluator in EVALUATORS},
        "true_statements_copied": {system: study.copied(system) for system in study.systems},
        "length": {name: one.as_json() for name, one in _length(ranked).items()},
        "raters": people and _people(people),
        "provenance": dict(ranked.provenance),
    }


def _solved(one: Solved, outcome: Outcome) -> dict[str, Any]:
    test, adjusted = outcome.tests()[one.evaluator, one.task]
    accuracy = {name: one.accuracy(column) for column, name in enumerate(one.columns)}
    return {
        "evaluator": one.evaluator,
        "task": one.task,
        "items": len(one.items),
        "pairs": len(one.scores),
        "accuracy": {name: {"value": value, "ci95": ci and ci.as_json()} for name, (value, ci) in accuracy.items()},
        "mean_chance": dict(zip(one.columns, one.chances.mean(axis=0).tolist(), strict=True)),
        "ranks": _by_pair(one, controls=False),
        "ranks_with_controls": _by_pair(one, controls=True),
        "mean_rank": dict(zip(one.columns, one.ranks(controls=False).mean(axis=0).tolist(), strict=False)),
        "mean_rank_with_controls": dict(zip(one.columns, one.ranks(controls=True).mean(axis=0).tolist(), strict=True)),
        "friedman": {"p": test.p, "p_holm": adjusted, "chi2": test.statistic, "pairs": test.blocks, "note": test.note},
        "misled_by": {control: list(before) for control, before in one.misled_by.items()},
    }


def _by_pair(one: Solved, *, controls: bool) -> dict[str, dict[str, float]]:
    """Return the rank of each text in each pair, from which Friedman's test and agreement are computed."""
    rows = one.ranks(controls=controls).tolist()
    return {pair_id: dict(zip(one.columns, row, strict=False)) for pair_id, row in zip(one.scores, rows, strict=True)}


def _score(outcome: Outcome, evaluator: str, task: Any) -> dict[str, Any] | None:
    """Return the mean accuracy over the competing texts and the best of them: the two sides of the paper's table 1."""
    one = outcome.of(evaluator, task)
    if one is None:
        return None
    values = {one.columns[column]: one.accuracy(column)[0] for column in range(one.primary)}
    best = max(values, key=lambda name: values[name])
    return {"mean": fmean(values.values()), "best": values[best], "best_text": best}


def _ranks_of(outcome: Outcome, pair_id: str, systems: Sequence[str]) -> dict[str, float]:
    """Return the rank of each text of a pair, over the tasks and the two evaluators that learned from texts."""
    rows = [
        one.ranks(controls=False)[list(one.scores).index(pair_id)]
        for one in outcome.solved
        if one.evaluator != BASELINE and pair_id in one.scores
    ]
    return dict(zip(systems, np.mean(rows, axis=0).tolist(), strict=True)) if rows else {}


def _length(ranked: Ranked) -> dict[str, Correlation]:
    """Return how far evaluators prefer what is longer: 1 would be the longest first in every pair."""
    study = ranked.study
    words = {
        pair_id: np.array([-float(len(study.candidates[name][pair_id].split())) for name in study.systems])
        for pair_id in study.pair_ids
    }
    return {
        f"{one.evaluator}/{one.task}": correlation(
            [(row, words[pair_id]) for pair_id, row in zip(one.scores, one.ranks(controls=False), strict=True)]
        )
        for one in ranked.outcome.solved
    }


def _people(people: Compared) -> dict[str, Any]:
    return {
        "names": list(people.raters),
        "ranks": {name: {pair: dict(ranks) for pair, ranks in given.items()} for name, given in people.given.items()},
        "alpha": {name: one.as_json() for name, one in people.alpha.items()},
        "mean_rank": dict(zip(people.systems, people.mean_ranks.tolist(), strict=True)),
        "clearly_wrong": dict(people.clearly_wrong),
        "friedman": {"p": people.test.p, "chi2": people.test.statistic, "examples": people.test.blocks},
        "raters_agree": {name: one.as_json() for name, one in people.raters_agreement.items()},
        "evaluators_agree": [
            {"evaluator": evaluator, "task": task, **one.as_json()}
            for (evaluator, task), one in people.agreement.items()
        ],
    }


def _page(ranked: Ranked) -> Iterator[str]:
    study, outcome = ranked.study, ranked.outcome
    yield f"# Ranking of {counted(len(study.systems), 'text')} for {counted(len(study.pair_ids), 'pair')}\n"
    yield f"> {NOTICE}\n"
    yield (
        "A text is the better, the more it helps a small evaluator to solve tasks on its pair: choose the right answer "
        "of a quiz, tell true statements from false ones, tell what follows from the answer. This measures what a text "
        "tells, not whether it is right, kind or easy to read; whoever releases a text reads it.\n"
    )
    yield from _verdict(ranked)
    yield "\n## Ranks of the texts (1 is the best; mean over pairs)\n"
    yield from _rank_table(outcome, study.systems, controls=False)
    yield "\n## With control cases, which should come last\n"
    yield from _rank_table(outcome, study.columns, controls=True)
    yield "\n## Share of tasks solved with each text (95 % interval; items of one pair fare alike)\n"
    yield (
        "Wilson's score interval, clustered by pair: it counts the items as so many independent ones as they are worth "
        "(Kish's design effect, widened where pairs are few), since items of one pair share its text. Each bounds its "
        "own share; none bounds the difference between two texts, which share their items."
    )
    for task in TASKS:
        yield from _accuracy_table(outcome, task)
    yield "\n## Score of the evaluators\n"
    yield (
        "| evaluator | "
        + " | ".join(f"{task}, mean" for task in TASKS)
        + " | "
        + " | ".join(f"{task}, best text" for task in TASKS)
        + " |"
    )
    yield "|---" * (2 * len(TASKS) + 1) + "|"
    for evaluator in EVALUATORS:
        scores = [_score(outcome, evaluator, task) for task in TASKS]
        means = [share(one["mean"]) if one else "–" for one in scores]
        bests = [f"{share(one['best'])} ({one['best_text']})" if one else "–" for one in scores]
        yield f"| {evaluator} | " + " | ".join([*means, *bests]) + " |"
    yield "\nThe evaluator with the highest score need not be the one that ranks as people do."
    if ranked.compared is not None:
        yield from _raters(ranked.compared)
    yield from _pairs(ranked)
    yield from _method(ranked)


def _verdict(ranked: Ranked) -> Iterator[str]:
    """Yield which evaluator is misled by which control case."""
    yield "## Which evaluator is misled by which control case\n"
    for one in ranked.outcome.solved:
        wrong = {control: before for control, before in one.misled_by.items() if before}
        if not wrong:
            yield f"- {one.evaluator}, {one.task}: by none, all four come last."
            continue
        said = "; ".join(
            f"**{control}** is ranked before " + ("all texts" if len(before) == one.primary else ", ".join(before))
            for control, before in wrong.items()
        )
        yield f"- {one.evaluator}, {one.task}: {said}."
    for task, why in ranked.outcome.skipped.items():
        yield f"- {task}: not ranked ({why})."


def _rank_table(outcome: Outcome, columns: Sequence[str], *, controls: bool) -> Iterator[str]:
    last = [] if controls else ["Friedman p (Holm)"]
    yield "| evaluator | task | " + " | ".join([*columns, *last]) + " |"
    yield "|---" * (2 + len(columns) + len(last)) + "|"
    tests = outcome.tests()
    for one in outcome.solved:
        means = one.ranks(controls=controls).mean(axis=0)
        cells = [f"{mean:.2f}" for mean in means]
        first = int(np.argmin(means))
        cells[first] = f"**{cells[first]}**"
        if not controls:
            test, adjusted = tests[one.evaluator, one.task]
            cells.append(test.note if test.p is None or adjusted is None else f"{chance(test.p)} ({chance(adjusted)})")
        yield f"| {one.evaluator} | {one.task} | " + " | ".join(cells) + " |"


def _accuracy_table(outcome: Outcome, task: Any) -> Iterator[str]:
    rows = [one for one in outcome.solved if one.task == task]
    if not rows:
        return
    yield f"\n{task}, {counted(len(rows[0].items), 'item')} of {counted(len(rows[0].scores), 'pair')}\n"
    yield "| evaluator | " + " | ".join(rows[0].columns) + " |"
    yield "|---" * (1 + len(rows[0].columns)) + "|"
    for one in rows:
        cells = [one.accuracy(column) for column in range(len(one.columns))]
        yield f"| {one.evaluator} | " + " | ".join(f"{share(value)} {_bounds(ci)}" for value, ci in cells) + " |"


def _bounds(interval: Interval | None) -> str:
    return "" if interval is None else f"({share(interval.low, digits=2)}–{interval.high:.2f})".replace("–0.", "–.")


def _raters(people: Compared) -> Iterator[str]:
    yield f"\n## {counted(len(people.raters), 'person', 'people')} ranked\n"
    yield "| text | mean rank | clearly wrong (5) |\n|---|---|---|"
    for name, mean in zip(people.systems, people.mean_ranks, strict=True):
        yield f"| {name} | {mean:.2f} | {people.clearly_wrong[name]} |"
    tested = people.test.note if people.test.p is None else f"p = {chance(people.test.p)}"
    yield f"\nFriedman's test over {counted(people.test.blocks, 'example')}: {tested}."
    for name, alpha in people.alpha.items():
        value = "undefined" if alpha.value is None else f"{alpha.value:.2f}"
        ci = "" if alpha.interval is None else f" ({alpha.interval.low:.2f} to {alpha.interval.high:.2f})"
        said = f"; {alpha.note}" if alpha.note else ""
        yield f"\nKrippendorff's alpha (ordinal), {name}: {value}{ci}, {counted(alpha.n, 'text')}{said}."
    if any(alpha.interval for alpha in people.alpha.values()):
        yield (
            "\nIn brackets: 95 % by leaving out one example at a time (jackknife on Fisher's scale), since the texts "
            "of an example are not independent; with few examples even that is rather too narrow."
        )
    if len(people.raters) < 2:
        yield "\nOne person: whether the task can be ranked at all (Krippendorff's alpha) takes two."
    yield "\nHow each ranks beside the people, averaged over examples (95 % interval):\n"
    yield "| ranks | task | Kendall's tau-b | Spearman's rho | examples |\n|---|---|---|---|---|"
    for name, one in people.raters_agreement.items():
        taus, rhos = _with(one.tau, one.tau_interval), _with(one.spearman, one.spearman_interval)
        yield f"| {name} | – | {taus} | {rhos} | {one.n} |"
    for (evaluator, task), one in people.agreement.items():
        taus, rhos = _with(one.tau, one.tau_interval), _with(one.spearman, one.spearman_interval)
        yield f"| {evaluator} | {task} | {taus} | {rhos} | {one.n} |"


def _with(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "undefined"
    value += 0.0  # never "-0.00"
    return f"{value:.2f}" + ("" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})")


def _pairs(ranked: Ranked) -> Iterator[str]:
    study = ranked.study
    yield "\n## Pair by pair\n"
    yield "Mean rank over the tasks, by the evaluators that learned from texts. Few items a pair: a hint, no verdict.\n"
    yield "| pair | " + " | ".join(study.systems) + " |\n|---" + "|---" * len(study.systems) + "|"
    for pair_id in study.pair_ids:
        ranks = _ranks_of(ranked.outcome, pair_id, study.systems)
        best = min(ranks.values(), default=0.0)
        cells = [f"**{value:.1f}**" if value == best else f"{value:.1f}" for value in ranks.values()]
        yield f"| {pair_id} | " + " | ".join(cells or ["–"] * len(study.systems)) + " |"
    for pair_id in study.pair_ids:
        yield f"\n<details><summary>{without_markup(study.catalog.pair(pair_id).question)}</summary>\n"
        for system in study.systems:
            text = study.candidates[system][pair_id]
            yield f"- **{system}** ({counted(len(text.split()), 'word')}): {without_markup(text)}"
        yield "\n</details>"


def _method(ranked: Ranked) -> Iterator[str]:
    study, outcome = ranked.study, ranked.outcome
    yield "\n## How it was done\n"
    yield f"- Evaluator: {outcome.by}. Trained on all folds of pairs but one, tested on that ({study.folds} folds)."
    dropped = sum(outcome.left_out.values())
    yield (
        f"- No pair is in training and test at once. {counted(dropped, 'case')} of training were left out as near "
        "copies of the test."
    )
    if ranked.incomplete:
        yield f"- Left out, since a text is missing: {', '.join(ranked.incomplete)}."
    makers: dict[str, int] = {}
    for item in study.items:
        makers[item.by] = makers.get(item.by, 0) + 1
    said = ", ".join(f"{number} by {maker}" for maker, number in sorted(makers.items()))
    yield f"- Items: {said}. Those by rule are sentences of the whole answer and changed ones."
    words = {name: fmean(len(text.split()) for text in study.candidates[name].values()) for name in study.systems}
    yield "- Mean words: " + ", ".join(f"{name} {mean:.0f}" for name, mean in words.items()) + "."
    copied = ", ".join(f"{name} {share(study.copied(name), none='–')}" for name in study.systems)
    yield f"- True statements that stand nearly so in the texts (such tasks measure copying): {copied}."
    length = ", ".join(f"{name} {_with(one.tau, None)}" for name, one in _length(ranked).items())
    yield f"- The longer the better? Kendall's tau-b between length and rank: {length}."
    yield f"- The expert's text ({EXPERT}) competes with the others; tasks are made from the pair's whole answer."
