"""Which prompts a judge gets for a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot import BadData
from harness.judging.judge_prompts import Duel, JudgePrompt, Mode, duel_prompts, item_prompts
from harness.labelling.queues import Kinds, items_to_label
from harness.labelling.session import shown_answers
from harness.labels import Item
from harness.run import Outcome, load_outcomes


def plan(run: Path, mode: Mode, *, beside: Path | None, items: Kinds, catalog: str) -> list[JudgePrompt]:
    """Return the prompts of a mode.

    Args:
        run: Folder of the run.
        mode: ``compare`` takes questions that both runs answered differently; ``rate`` with `beside` both answers.
        beside: Folder of another run of the suite.
        items: Which answers.
        catalog: Where the texts are.

    Raises:
        BadData: There is nothing to judge, or no run to compare with.
    """
    outcomes = load_outcomes(run)
    ours = items_to_label(run, outcomes, items)
    theirs = _others(ours, outcomes, beside, items)
    if mode == "compare":
        if beside is None:
            raise BadData("A comparison needs two runs. Give the other one with `--beside RUN`.")
        duels = _duels(ours, theirs)
        prompts = duel_prompts(duels, shown_answers([*ours, *theirs], outcomes, catalog), outcomes[0].lang)
    else:
        both = list(dict.fromkeys((*ours, *theirs)))
        prompts = item_prompts(mode, both, shown_answers(both, outcomes, catalog), outcomes[0].lang)
    if not prompts:
        raise BadData(f"{run} holds nothing to judge. Choose other answers with `--items`, or another run.")
    return prompts


def _others(ours: Sequence[Item], outcomes: Sequence[Outcome], beside: Path | None, items: Kinds) -> list[Item]:
    """Return what the run beside showed for questions of this run: the novel ones, and those asked of ours."""
    if beside is None:
        return []
    wanted = {item.outcome.id for item in ours} | {o.id for o in outcomes if o.kind == "novel" and items != "ambiguous"}
    text = {outcome.id: outcome for outcome in outcomes}
    return [
        Item(text[other.id], other.answered_with)
        for other in load_outcomes(beside)
        if other.id in wanted and other.answered_with is not None and other.text == text[other.id].text
    ]


def _duels(ours: Sequence[Item], theirs: Sequence[Item]) -> list[Duel]:
    shown = {item.outcome.id: item.pair_id for item in theirs}
    return [
        Duel(item.outcome.id, item.outcome.text, item.pair_id, shown[item.outcome.id])
        for item in ours
        if shown.get(item.outcome.id, item.pair_id) != item.pair_id
    ]
