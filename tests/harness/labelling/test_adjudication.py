"""Who decides, on what, and what a decision does to verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from bot import BadData
from harness.labelling.labels import Label, Rater, Verdict, Verdicts, label_files, load_labels
from harness.labelling.rater_files import open_rater_file
from harness.labelling.session import adjudicate_in_terminal
from tests.harness.labelling.conftest import make_label, screen_of

Decide = Callable[..., str]


def give(run: Path, name: str, **verdicts: Verdict) -> None:
    pairs = {"n1": "pain", "n2": "costs", "n4": "duration"}
    for question, verdict in verdicts.items():
        label = make_label(name, question, pairs[question], verdict)
        with open_rater_file(run, label.rater) as own:
            own.append(label)


@pytest.fixture
def decide(run: Path, small_folder: Path, typed: Callable[[str], Console]) -> Decide:
    def session(lines: str, *, rater: str = "carla") -> str:
        console = typed(lines)
        adjudicate_in_terminal(run, rater=rater, catalog=str(small_folder), console=console)
        return screen_of(console)

    return session


def verdict(run: Path, question: str, pair: str) -> str:
    return Verdicts(load_labels(label_files(run))).of(question, pair)


def test_a_decision_ends_the_dispute_and_says_that_it_is_one(decide: Decide, run: Path) -> None:
    give(run, "anna", n1="correct", n2="correct", n4="incorrect")
    give(run, "ben", n1="incorrect", n2="correct", n4="partial")

    screen = decide("2d beides richtig\nq\n")

    assert "1 von 2" in screen
    assert verdict(run, "n1", "pain") == "partial"
    assert verdict(run, "n4", "duration") == "disputed"
    decision = load_labels([run / "labels" / "adjudicator-carla.jsonl"])[0]
    assert (decision.role, decision.rater.id, decision.reason) == ("adjudication", "person:carla", "part-missing")
    assert decision.comment == "beides richtig"


def test_the_adjudicator_goes_on_and_takes_back_on_another_day(decide: Decide, run: Path) -> None:
    give(run, "anna", n1="correct", n4="incorrect")
    give(run, "ben", n1="incorrect", n4="partial")
    decide("2\nq\n")

    screen = decide("u\n3\n1\n")

    assert "2 von 2" in screen
    assert (verdict(run, "n1", "pain"), verdict(run, "n4", "duration")) == ("correct", "incorrect")
    assert decide("") == "Es gibt nichts mehr zu entscheiden.\n"


def test_who_labelled_does_not_decide(decide: Decide, run: Path) -> None:
    give(run, "anna", n1="correct")
    give(run, "ben", n1="incorrect")

    with pytest.raises(BadData, match=r"'anna' labelled all 1 disputed items\. Let a third person decide"):
        decide("1\n", rater="anna")


def test_people_outrank_models_and_models_among_themselves_may_be_decided(decide: Decide, run: Path) -> None:
    give(run, "anna", n1="correct")
    give(run, "gpt-a", n1="incorrect", n2="correct")
    give(run, "gpt-b", n1="incorrect", n2="incorrect")

    assert verdict(run, "n1", "pain") == "correct"
    screen = decide("1\n")

    assert "(Modell)" in screen
    assert "1 von 1" in screen
    assert verdict(run, "n2", "costs") == "incorrect"


def test_a_model_never_adjudicates() -> None:
    with pytest.raises(ValueError, match="only a person adjudicates"):
        Label(
            question_id="n1",
            pair_id="pain",
            label="correct",
            rater=Rater(kind="model", name="gpt"),
            role="adjudication",
        )
