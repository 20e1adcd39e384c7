"""What a judge is told: question and texts, in both orders, and nothing that gives away who chose or who labelled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import BadData
from harness.judging.judge import Duel, duel_prompts, item_prompts, load_instructions, plan
from harness.labelling.labels import Item, load_reasons
from harness.running.outcomes import Outcome
from tests.harness.runs import write_run

ANSWERS = {"pain": "Es zieht kurz.", "costs": "Die Kasse $zahlt {alles}."}


def test_both_orders_show_the_same_two_texts_the_other_way_round() -> None:
    one, two = duel_prompts([Duel("n1", "Wie {teuer} $ist das?", "pain", "costs")], ANSWERS, "de")

    assert (one.id, two.id) == ("compare/ab/n1#pain#costs", "compare/ba/n1#pain#costs")
    assert one.task.index(ANSWERS["pain"]) < one.task.index(ANSWERS["costs"])
    assert two.task.index(ANSWERS["costs"]) < two.task.index(ANSWERS["pain"])
    swapped = (
        one.task.replace(ANSWERS["pain"], "X").replace(ANSWERS["costs"], ANSWERS["pain"]).replace("X", ANSWERS["costs"])
    )
    assert swapped == two.task
    assert "Wie {teuer} $ist das?" in one.task
    assert "German" in one.system


@pytest.mark.parametrize("mode", ["label", "rate"])
def test_an_item_is_judged_without_its_vignette_its_pair_id_or_its_score(
    mode, make_outcome: Callable[..., Outcome]
) -> None:
    outcome = make_outcome("n1", pair_id=None, answered_with="costs", text="Wer zahlt?")

    (prompt,) = item_prompts(mode, [Item(outcome, "costs")], ANSWERS, "en")

    said = prompt.system + prompt.task
    assert prompt.id == f"{mode}/n1#costs"
    assert "Wer zahlt?" in said
    assert ANSWERS["costs"] in said
    assert "English" in said
    assert not any(secret in said for secret in ("literacy", "costs", "0.9", "$question"))
    wanted = [r.code for r in load_reasons()] if mode == "label" else [a.id for a in load_instructions().aspects]
    assert all(word in said for word in wanted)


def test_only_questions_that_two_runs_answered_differently_are_compared(
    tmp_path: Path, make_outcome: Callable[..., Outcome], small_folder: Path
) -> None:
    def novel(name: str, shown: str | None, text: str = "Frage?") -> Outcome:
        return make_outcome(name, pair_id=None, answered_with=shown, text=text)

    ours = write_run(
        tmp_path / "a",
        [novel("same", "pain"), novel("other", "pain"), novel("mine", "pain"), novel("text", "pain", "Eine?")],
    )
    theirs = write_run(
        tmp_path / "b",
        [novel("same", "pain"), novel("other", "costs"), novel("mine", None), novel("text", "costs", "Andere?")],
    )

    def ids(mode) -> list[str]:
        return [p.id for p in plan(ours, mode, beside=theirs, items="novel", catalog=str(small_folder))]

    assert ids("compare") == ["compare/ab/other#pain#costs", "compare/ba/other#pain#costs"]
    assert ids("rate") == [
        f"rate/{item}" for item in ("same#pain", "other#pain", "mine#pain", "text#pain", "other#costs")
    ]
    with pytest.raises(BadData, match="needs two runs"):
        plan(ours, "compare", beside=None, items="novel", catalog=str(small_folder))
    with pytest.raises(BadData, match="holds nothing to judge"):
        plan(ours, "compare", beside=ours, items="novel", catalog=str(small_folder))
