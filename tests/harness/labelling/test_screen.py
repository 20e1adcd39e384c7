"""What each key does, and what stays on a small screen."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.labelling.labels import VERDICTS, load_reasons, reasons_for
from harness.labelling.screen import ACTIONS, BACK, ENTER, KEYS, LEFT, NOTHING, Action, Given, TerminalAsker, View
from tests.harness.labelling.conftest import make_label

VIEW = View("anna", 1, 4, "Tut das weh?", "Kaum.")


class Typed:
    """A keyboard on which these keys are pressed, and then the terminal is closed."""

    def __init__(self, *keys: str, line: str = "") -> None:
        self._keys = list(keys)
        self._line = line

    def key(self) -> str:
        if not self._keys:
            raise EOFError
        return self._keys.pop(0)

    def line(self, prompt: str) -> str:
        assert prompt
        return self._line


def ask(*keys: str, line: str = "") -> Given | Action:
    return TerminalAsker(Console(file=io.StringIO(), width=80, height=24), Typed(*keys, line=line)).ask(VIEW)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["3"], Given("correct")),
        (["1", "a"], Given("incorrect", "other-topic")),
        (["2", "d"], Given("partial", "part-missing")),
        (["2", ENTER], Given("partial")),
        (["1", " "], Given("incorrect")),
        (["1", BACK, "3"], Given("correct")),
        (["1", LEFT, "2", "e"], Given("partial", "buried")),
        (["1", "u", "3"], Given("correct")),
        (["1", "2", "d"], Given("partial", "part-missing")),
        (["1", "3", "3"], Given("correct")),  # from a reason, a label without reasons wants its key again
        (["1", "d", NOTHING, "x", "a"], Given("incorrect", "other-topic")),  # d explains partial ones only
        (["?", "?", "x", "3"], Given("correct")),
        (["s"], "skip"),
        (["u"], "undo"),
        ([LEFT], "undo"),
        (["q"], "quit"),
        (["1", "q"], "quit"),
        ([], "quit"),
        (["1"], "quit"),
    ],
)
def test_keys(keys: list[str], expected: Given | Action) -> None:
    assert ask(*keys) == expected


def test_a_comment_is_kept_with_the_label_that_follows() -> None:
    assert ask("c", "1", "a", line="nicht gefragt") == Given("incorrect", "other-topic", "nicht gefragt")
    assert ask("c", "3", line="gut") == Given("correct", "", "gut")


@pytest.mark.parametrize("key", ["u", LEFT])
def test_when_all_is_labelled_the_last_label_can_be_taken_back(key: str) -> None:
    console = Console(file=io.StringIO(), width=80)

    assert TerminalAsker(console, Typed(key)).finished(VIEW) == "undo"
    assert TerminalAsker(console, Typed("x")).finished(VIEW) == "quit"
    assert TerminalAsker(console, Typed()).finished(VIEW) == "quit"


def test_with_a_long_answer_and_two_labels_the_question_stays_on_a_small_screen() -> None:
    labels = (
        make_label("anna", "q", "pain", "partial", "part-missing", "nur vorher"),
        make_label("gpt", "q", "pain", "incorrect", "off-point"),
    )
    view = View("carla", 1, 4, "Wie gut ist das belegt?", "Das ist gut belegt, in vielen Ländern. " * 18, labels)
    file = io.StringIO()

    TerminalAsker(Console(file=file, width=80, height=24), Typed("2")).ask(view)

    *_, page = file.getvalue().split("carla ")
    assert page.count("\n") <= 24
    for text in ("Wie gut ist das belegt?", "nur vorher", "Right topic", "Rater 2 (model)", "part of the question"):
        assert text in " ".join(page.split())


def test_reasons_use_keys_that_do_nothing_else_and_a_correct_answer_may_be_harmful_or_unsupported() -> None:
    assert not {reason.key for reason in load_reasons()} & {*KEYS, *ACTIONS, "c", "?", "+"}
    assert [len(reasons_for(verdict)) > 2 for verdict in VERDICTS] == [True, True, False]
    assert [reason.code for reason in reasons_for("correct")] == ["harmful", "unsupported"]
