"""What a board reads: a verdict that the gate would give, in both languages, and many runs over time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import yaml

from bot import BadData
from harness.labelling.labels import Label, Rater, Verdict, Verdicts
from harness.reporting.board import TEMPLATES, board_of, words
from harness.reporting.facts import Context, facts_of
from harness.reporting.history import render_history, runs_below
from harness.reporting.page import render
from harness.running.outcomes import Outcome
from harness.running.run import Run
from tests.harness.inprocess import harness
from tests.harness.reporting.conftest import NOW, Page
from tests.harness.runs import write_run

TITLES = {"high-health-literacy": "Gut informiert", "low-health-literacy": "Wenig informiert"}


def slots(found: object) -> object:
    """Return the keys of texts, and the slots of each."""
    if isinstance(found, dict):
        return {key: slots(value) for key, value in found.items()}
    return len(found) if isinstance(found, list) else sorted(re.findall(r"\$\w+", str(found)))


def test_both_languages_say_the_same_things() -> None:
    german, english = (
        yaml.safe_load((TEMPLATES / f"board-{language}.yaml").read_text(encoding="utf-8")) for language in ("de", "en")
    )

    assert slots(german) == slots(english)
    assert words("de")["heading"] != words("en")["heading"]
    assert words("tr")["heading"] == words("en")["heading"]


def test_the_top_of_the_page_says_what_a_board_must_know(run: Run, baseline: Run) -> None:
    facts = facts_of(run, baseline, Context(Verdicts([]), titles=TITLES, approved=(0, 33)))

    board = board_of(facts, language="de", baseline=baseline)

    said = " ".join(board.paragraph)
    right = 100 * facts.summary.total.accuracy
    assert board.verdict == "failed"  # one question failed, and the shipped limit is none
    assert f"Bei {right:.0f} von 100 Fragen wurde der richtige geprüfte Text gezeigt" in said
    assert "Am schlechtesten verstanden wurde die Gruppe «" in said
    assert "informiert» mit" in said
    assert board.lead.startswith("Nicht eingehalten: Störungen")
    assert "keine Ärztin und kein Arzt hat sie freigegeben" in said
    assert "Wer die Fragen geschrieben hat, ist nicht festgehalten." in said
    assert [row[0] for row in board.latency] == ["klartext (dieser Lauf)", "klartext (Vergleichslauf)"]
    page = Page(render(facts, made=NOW, board=board, language="de"))
    assert page.texts.index("Auf einen Blick") < page.texts.index("What the run shows")


def test_who_agrees_with_whom_is_said(run: Run) -> None:
    given: list[tuple[Literal["person", "model"], str, Verdict]] = [
        ("person", "anna", "correct"),
        ("person", "ben", "correct"),
        ("model", "m", "partial"),
    ]
    labels = [
        Label(question_id="novel", pair_id="costs", label=verdict, rater=Rater(kind=kind, name=name))
        for kind, name, verdict in given
    ]
    facts = facts_of(run, None, Context(Verdicts(labels)))

    board = board_of(facts, language="en")

    assert board.labelled == "Judged: person:anna 1, person:ben 1, model:m 1."
    assert board.labels[0][:3] == ("person:anna, person:ben", "1", "100 %")


def release(
    folder: Path, make_outcome: Callable[..., Outcome], right: int, begun: str, suite_hash: str = "a" * 64
) -> None:
    outcomes = [
        make_outcome(
            f"q{n}",
            pair_id=f"p{n % 20}",
            answered_with=f"p{n % 20}" if n < right else None,
            vignette=("high-health-literacy", "low-health-literacy")[n % 2],
        )
        for n in range(100)
    ]
    write_run(folder, outcomes, suite_hash=suite_hash)
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**record, "begun": begun}), encoding="utf-8")


@pytest.fixture
def history(make_outcome: Callable[..., Outcome], tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    release(tmp_path / "runs" / "2026.2", make_outcome, 95, "2026-06-01T10:00:00+00:00")
    release(tmp_path / "runs" / "2026.1", make_outcome, 80, "2026-01-01T10:00:00+00:00")
    release(tmp_path / "runs" / "other", make_outcome, 90, "2026-03-01T10:00:00+00:00", suite_hash="b" * 64)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{", encoding="utf-8")
    return tmp_path / "runs"


def test_runs_are_compared_over_time_with_those_of_the_same_questions(history: Path) -> None:
    runs, unread = runs_below(history)

    assert [one.name for one in runs] == ["2026.1", "other", "2026.2"]
    assert unread == ["broken"]
    page = Page(render_history(history, language="de", made=NOW))
    text = " ".join(page.texts)
    assert "3 Läufe aus runs" in text
    assert "mine (aaaaaaaa)" in text
    assert "mine (bbbbbbbb)" in text
    assert "Ohne auswertbaren Lauf und weggelassen: broken." in text
    assert text.index("80,0 %") < text.index("95,0 %")
    assert page.html.count("<circle") == 2  # the suite that two runs answered
    assert not re.search(r"https?://|url\(|@import|<script", page.html)


def test_runs_of_two_exams_stand_in_sections_of_their_own_and_one_can_be_chosen(
    make_outcome: Callable[..., Outcome], history: Path
) -> None:
    for name, catalog, hash_ in (("2026.1", "mri@1", "a"), ("other", "ct@1", "b"), ("2026.3", "ct@2", "b")):
        if name == "2026.3":
            release(history / name, make_outcome, 92, "2026-07-01T10:00:00+00:00", suite_hash=hash_ * 64)
        record = json.loads((history / name / "run.json").read_text(encoding="utf-8"))
        (history / name / "run.json").write_text(json.dumps({**record, "catalog": catalog}), encoding="utf-8")

    text = " ".join(Page(render_history(history, language="en", made=NOW)).texts)
    assert text.index("ct: mine (bbbbbbbb)") < text.index("mri: mine (aaaaaaaa)")
    page = Page(render_history(history, language="en", made=NOW, exam="mri"))
    assert "mri: mine" in " ".join(page.texts)
    assert "ct: mine" not in " ".join(page.texts)
    assert "2 runs of runs" in " ".join(page.texts)  # one does not say its exam, and answered the same suite
    with pytest.raises(BadData, match=r"no run about 'xray'. There are: ct, mri"):
        render_history(history, language="en", made=NOW, exam="xray")


def test_a_run_that_an_older_release_wrote_is_shown_too(make_outcome: Callable[..., Outcome], history: Path) -> None:
    outcomes = [replace(make_outcome("q"), elapsed_ms=0.0)]
    write_run(history / "old", outcomes)
    (history / "old" / "run.json").write_text("{}", encoding="utf-8")

    assert "old" in {one.name for one in runs_below(history)[0]}


def test_the_command_writes_the_history(history: Path) -> None:
    done = harness("report", "--history", history, "--lang", "en")
    both = harness("report", history / "other", "--history", history)
    empty = harness("report", "--history", history / "2026.1" / "nothing")

    assert done.exit_code == 0, done.output
    assert "<title>History</title>" in (history / "history.html").read_text(encoding="utf-8")
    assert (both.exit_code, empty.exit_code) == (2, 2)
    assert "holds no run" in empty.stderr
