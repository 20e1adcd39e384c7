"""A rater labels in the terminal, one key each; every label is stored before the next item is shown."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from bot import BadData
from harness.labelling import label_in_terminal
from harness.labels import Label, Rater, append_label, load_labels
from harness.run import Outcome

Label_ = Callable[..., str]


@pytest.fixture
def run(make_outcome: Callable[..., Outcome], tmp_path: Path) -> Path:
    """A run with three answered novel questions, one declined one and a paraphrase."""
    outcomes = [
        make_outcome("n1", pair_id=None, text="Spürt man [/b] danach [red]noch[/red] etwas?"),
        make_outcome("p1"),
        make_outcome("n2", pair_id=None, answered_with="costs"),
        make_outcome("n3", pair_id=None, answered_with=None),
        make_outcome("n4", pair_id=None, answered_with="duration"),
    ]
    (tmp_path / "outcomes.jsonl").write_text("".join(o.as_line() for o in outcomes), encoding="utf-8")
    return tmp_path


@pytest.fixture
def label(run: Path, small_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Label_:
    """Label the run with these typed lines and return what the terminal showed."""

    def session(typed: str, *, rater: str = "anna") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        screen = io.StringIO()
        label_in_terminal(run, rater=rater, catalog=str(small_folder), console=Console(file=screen, width=100))
        return screen.getvalue()

    return session


def stored(run: Path) -> list[tuple[str, str, str, str, str]]:
    labels = load_labels([run / "labels.jsonl"])
    return [(x.question_id, x.pair_id, x.label, x.rater.kind, x.rater.name) for x in labels]


def test_each_key_stores_its_label_as_a_persons(label: Label_, run: Path) -> None:
    screen = label("1\n2\n3\n")

    assert stored(run) == [
        ("n1", "pain", "incorrect", "person", "anna"),
        ("n2", "costs", "partial", "person", "anna"),
        ("n4", "duration", "correct", "person", "anna"),
    ]
    assert "All labelled. Thank you." in screen


def test_the_rater_sees_question_and_answer_as_they_were(label: Label_) -> None:
    screen = label("1\nq\n")

    assert "Spürt man [/b] danach [red]noch[/red] etwas?" in screen
    assert "Tut die Untersuchung weh? (pain, de)" in screen
    assert "1 of 3" in screen


@pytest.mark.parametrize("end", ["q\n", ""], ids=["q", "end of input"])
def test_a_session_goes_on_where_it_was_left(label: Label_, run: Path, end: str) -> None:
    left = label("3\n" + end)
    resumed = label("s\n2\n")

    assert "The rest stays in the queue" in left
    assert "1 of 2" in resumed
    assert [(question, verdict) for question, _, verdict, _, _ in stored(run)] == [("n1", "correct"), ("n4", "partial")]
    assert "1 of 1" in label("q\n")  # what was skipped comes again


def test_wrong_keys_are_asked_again(label: Label_, run: Path) -> None:
    label("4\nyes\n2\nq\n")

    assert [verdict for _, _, verdict, _, _ in stored(run)] == ["partial"]


def test_raters_do_not_see_each_others_labels(label: Label_, run: Path) -> None:
    label("1\n1\n1\n", rater="anna")

    screen = label("3\n3\n3\n", rater="ben")

    assert "incorrect" not in screen.replace("1 incorrect, 2 partially correct", "")
    assert len(stored(run)) == 6


def test_when_nothing_is_left_nobody_is_asked(label: Label_, run: Path) -> None:
    for question, pair in (("n1", "pain"), ("n2", "*"), ("n4", "duration")):
        rater = Rater(kind="person", name="anna")
        append_label(run / "labels.jsonl", Label(question_id=question, pair_id=pair, label="correct", rater=rater))

    assert label("") == "Nothing left to label.\n"


def test_a_pair_that_the_catalog_does_not_have_is_one_clear_line(
    label: Label_, run: Path, make_outcome: Callable[..., Outcome]
) -> None:
    outcome = make_outcome("n1", pair_id=None, answered_with="zebra")
    (run / "outcomes.jsonl").write_text(outcome.as_line(), encoding="utf-8")

    with pytest.raises(BadData, match=r"There is no pair 'zebra' in small@1 \(de\)"):
        label("1\n")
