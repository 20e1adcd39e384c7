"""A run with something to label, and raters who have labelled it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from harness.labelling.labels import Label, Rater, Verdict
from harness.running.outcomes import Outcome

Screen = Callable[..., str]


@pytest.fixture
def run(make_outcome: Callable[..., Outcome], tmp_path: Path) -> Path:
    """A run with three answered novel questions, one declined one and a paraphrase."""
    folder = tmp_path / "run"
    folder.mkdir()
    outcomes = [
        make_outcome("n1", pair_id=None, text="Spürt man [/b] danach [red]noch[/red] etwas?"),
        make_outcome("p1"),
        make_outcome("n2", pair_id=None, answered_with="costs", text="Zahlt das die Kasse?"),
        make_outcome("n3", pair_id=None, answered_with=None),
        make_outcome("n4", pair_id=None, answered_with="duration", text="Wann bin ich fertig?"),
    ]
    (folder / "outcomes.jsonl").write_text("".join(o.as_line() for o in outcomes), encoding="utf-8")
    return folder


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Console]:
    """Put lines on standard input, as a pipe does, and return a console to read the screen from."""

    def put(lines: str) -> Console:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return Console(file=io.StringIO(), width=100)

    return put


def screen_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def make_label(name: str, question: str, pair: str, verdict: Verdict, reason: str = "", comment: str = "") -> Label:
    rater = Rater(kind="model" if name.startswith("gpt") else "person", name=name)
    return Label(question_id=question, pair_id=pair, label=verdict, rater=rater, reason=reason, comment=comment)
