"""A session on lines from a pipe: what is stored, what is shown, and what comes back."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from bot import BadData
from harness.labelling.labels import Label, Rater, append_label, label_files, load_labels
from harness.labelling.rater_files import file_name, open_rater_file, queue_of
from harness.labelling.session import label_in_terminal
from harness.running.outcomes import Outcome
from harness.running.run import load_outcomes
from tests.harness.labelling.conftest import make_label, screen_of

ANNA, BEN = (Rater(kind="person", name=name) for name in ("anna", "ben"))
Session = Callable[..., str]


@pytest.fixture
def label(run: Path, small_folder: Path, typed: Callable[[str], Console]) -> Session:
    """Label the run with these typed lines and return what the terminal showed."""

    def session(lines: str, *, rater: str = "anna") -> str:
        console = typed(lines)
        label_in_terminal(run, rater=rater, catalog=str(small_folder), console=console)
        return screen_of(console)

    return session


def stored(run: Path, rater: Rater = ANNA) -> list[Label]:
    return load_labels([run / "labels" / file_name(rater)])


def order(run: Path, rater: str = "anna") -> list[str]:
    return [item.outcome.id for item in queue_of(run, load_outcomes(run), rater)]


def test_each_line_stores_its_label_in_the_raters_own_file_as_a_persons(label: Session, run: Path) -> None:
    screen = label("1\n2d\n3 gut erklärt\n")

    labels = stored(run)
    assert [item.question_id for item in labels] == order(run)
    assert [(item.label, item.reason, item.comment) for item in labels] == [
        ("incorrect", "", ""),
        ("partial", "part-missing", ""),
        ("correct", "", "gut erklärt"),
    ]
    assert {item.rater for item in labels} == {ANNA}
    assert {item.role for item in labels} == {"rating"}
    assert all(item.time is not None for item in labels)
    assert "Alles beurteilt. Vielen Dank." in screen


def test_the_rater_sees_question_and_answer_as_they_were(label: Session, run: Path) -> None:
    screen = label("3\n3\n3\n")

    assert "Spürt man [/b] danach [red]noch[/red] etwas?" in screen
    assert "Tut die Untersuchung weh? (pain, de)" in screen
    assert "1 von 3" in screen
    assert "literacy" not in screen  # a stratum that raters know may colour their labels


@pytest.mark.parametrize("end", ["q\n", ""], ids=["q", "end of input"])
def test_a_session_goes_on_where_it_was_left(label: Session, run: Path, end: str) -> None:
    left = label("3\n" + end)
    resumed = label("s\n2\n")

    first, second, third = order(run)
    assert "Der Rest bleibt in der Liste. Mit demselben Befehl geht es weiter: 2 von 3 übrig." in left
    assert "2 von 3" in resumed
    assert [(item.question_id, item.label) for item in stored(run)] == [(first, "correct"), (third, "partial")]
    assert "1 von 3 übrig" in resumed
    assert label("1\n").count("3 von 3") == 1  # what was skipped comes again
    assert stored(run)[-1].question_id == second


@pytest.mark.parametrize("line", ["4", "yes", "3d", "1x", "12", ""])
def test_a_line_that_says_nothing_is_asked_again(label: Session, run: Path, line: str) -> None:
    screen = label(f"{line}\n2\nq\n")

    assert "Geben Sie 1, 2 oder 3 ein" in screen
    assert [item.label for item in stored(run)] == ["partial"]


def test_undo_takes_back_what_was_done_last_even_from_an_earlier_day(label: Session, run: Path) -> None:
    label("1\n2\nq\n")

    screen = label("u\nu\nu\n3\nq\n")

    assert screen.count("Ihr letztes Urteil ist zurückgenommen.") == 2
    assert screen.count("Es gibt nichts zurückzunehmen.") == 1
    assert [(item.question_id, item.label) for item in stored(run)] == [(order(run)[0], "correct")]


def test_undo_after_a_skip_brings_the_skipped_item_back_first(label: Session, run: Path) -> None:
    screen = label("1\ns\nu\n2\nq\n")

    assert "Zurück zum Übersprungenen." in screen
    assert [(item.question_id, item.label) for item in stored(run)] == list(
        zip(order(run)[:2], ("incorrect", "partial"), strict=True)
    )


def test_raters_see_neither_each_others_labels_nor_a_models(label: Session, run: Path) -> None:
    with open_rater_file(run, Rater(kind="model", name="gpt-x")) as own:
        own.append(make_label("gpt-x", "n1", "pain", "incorrect", "other-topic", "geheim"))
    label("1a schlecht\n1a schlecht\n1a schlecht\n", rater="anna")

    screen = label("3\n3\n3\n", rater="ben")

    shown = screen.replace("1 incorrect, 2 partially correct, 3 correct", "")
    assert "incorrect" not in shown
    assert "schlecht" not in shown
    assert "geheim" not in shown
    assert "1 von 3" in screen
    assert (len(stored(run)), len(stored(run, BEN))) == (3, 3)


def test_raters_have_orders_of_their_own_that_do_not_change(run: Path, make_outcome: Callable[..., Outcome]) -> None:
    outcomes = [make_outcome(f"n{number:02}", pair_id=None) for number in range(40)]

    anna, ben = ([item.outcome.id for item in queue_of(run, outcomes, name)] for name in ("anna", "ben"))

    assert sorted(anna) == sorted(ben)
    assert anna != ben
    assert anna == [item.outcome.id for item in queue_of(run, outcomes[::-1], "anna")]


def test_labels_of_an_older_release_count(label: Session, run: Path) -> None:
    for question, pair in (("n1", "pain"), ("n2", "*"), ("n4", "duration")):
        append_label(run / "labels.jsonl", make_label("anna", question, pair, "correct"))

    assert label("") == "Es ist nichts mehr zu beurteilen.\n"
    assert len(load_labels(label_files(run))) == 3


def test_a_model_of_the_same_name_is_another_rater(label: Session, run: Path) -> None:
    model = Rater(kind="model", name="anna")
    with open_rater_file(run, model) as own:
        own.append(Label(question_id="n1", pair_id="pain", label="correct", rater=model))

    assert "1 von 3" in label("q\n")
    assert file_name(model) != file_name(ANNA)


def test_a_pair_that_the_catalog_does_not_have_is_one_clear_line(
    label: Session, run: Path, make_outcome: Callable[..., Outcome]
) -> None:
    outcome = make_outcome("n1", pair_id=None, answered_with="zebra")
    (run / "outcomes.jsonl").write_text(outcome.as_line(), encoding="utf-8")

    with pytest.raises(BadData, match=r"There is no pair 'zebra' in small@1 \(de\)"):
        label("1\n")


@pytest.mark.parametrize("name", ["", "  ", "a\tb", "\x1b[2J"])
def test_a_name_that_nobody_can_read_is_refused(label: Session, name: str) -> None:
    with pytest.raises(BadData, match="is no name for a rater"):
        label("1\n", rater=name)


def test_bytes_that_are_no_text_do_not_end_the_session(
    run: Path, small_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 caf\xe9 gut\n"), encoding="utf-8"))

    label_in_terminal(run, rater="anna", catalog=str(small_folder), console=Console(file=io.StringIO(), width=100))

    assert len(stored(run)) == 1
