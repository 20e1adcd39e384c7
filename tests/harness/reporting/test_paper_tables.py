"""The paper's two tables fit a terminal of 80 columns, with every number in them."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from bot import data_folder
from harness.commands.running import is_of_paper
from harness.labelling.labels import VERDICTS, Label, Rater, Verdicts
from harness.patients.suites import open_suite
from harness.patients.vignettes import Vignette, load_vignettes
from harness.reporting.paper_tables import NOTE_1, NOTE_PAPER, Titles, note_2, table_1, table_2
from harness.running.outcomes import Outcome
from harness.scoring.score import summarise

MakeOutcome = Callable[..., Outcome]
MakeRun = Callable[..., list[Outcome]]


def rendered(table: Table) -> list[str]:
    screen = io.StringIO()
    Console(file=screen, width=80).print(table)
    return [line.rstrip() for line in screen.getvalue().splitlines()]


def row(lines: list[str], title: str) -> list[str]:
    return next(line for line in lines if line.startswith(title)).removeprefix(title).split()


def titles_of(vignettes: tuple[Vignette, ...]) -> Titles:
    return Titles({vignette.id: vignette.title for vignette in vignettes})


@pytest.fixture(params=["de", "en"])
def vignettes(request: pytest.FixtureRequest) -> tuple[Vignette, ...]:
    return load_vignettes(request.param)


@pytest.fixture
def full_run(make_outcome: MakeOutcome, vignettes: tuple[Vignette, ...]) -> MakeRun:
    """A run as large as the paper's: 330 paraphrases of 33 pairs and 100 novel questions for each vignette."""

    def make(wrong: int) -> list[Outcome]:
        outcomes = []
        for vignette in vignettes:
            for number in range(330):
                pair_id = f"pair-{number % 33}"
                shown = None if number < wrong else pair_id
                outcomes.append(make_outcome(f"{number}", pair_id=pair_id, answered_with=shown, vignette=vignette.id))
            novel = [make_outcome(f"n{number}", pair_id=None, vignette=vignette.id) for number in range(100)]
            outcomes += novel
        return outcomes

    return make


@pytest.mark.parametrize("wrong", [0, 101, 330])
def test_table_1_fits_with_every_number(full_run: MakeRun, vignettes: tuple[Vignette, ...], wrong: int) -> None:
    summary = summarise(full_run(wrong))

    lines = rendered(table_1(summary, summary, titles_of(vignettes)))

    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    for vignette in vignettes:
        cells = row(lines, vignette.title)
        assert cells[:2] == ["330", str(wrong)]
        assert len(cells) == (9 if wrong < 330 else 8)  # nothing answered: no precision
    assert row(lines, "Total")[:2] == ["990", str(3 * wrong)]


def test_table_1_prints_the_scores(full_run: MakeRun, vignettes: tuple[Vignette, ...]) -> None:
    summary = summarise(full_run(101))

    cells = row(rendered(table_1(summary, None, titles_of(vignettes))), vignettes[0].title)

    score = summary.vignettes[vignettes[0].id]
    assert score.clustered is not None
    by_pair = f"{score.clustered.low:.2f}-{score.clustered.high:.2f}".replace("0.", ".")
    assert cells == ["330", "101", ".69", by_pair, "101", ".00", "1.00", ".69"]


def test_table_2_fits_with_every_number(full_run: MakeRun, vignettes: tuple[Vignette, ...]) -> None:
    outcomes = full_run(0)

    lines = rendered(table_2(outcomes, outcomes, Verdicts([]), titles_of(vignettes)))

    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    papers = dict(zip([vignette.title for vignette in vignettes], ["5/5/0", "8/0/2", "5/0/5"], strict=True))
    for title, paper in papers.items():
        assert row(lines, title) == ["100", "0", "0", "0", "0", "100", "0/0/0/0/100", paper]
    assert row(lines, "Total") == ["300", "0", "0", "0", "0", "300", "0/0/0/0/300", "18/5/7"]


def test_the_published_figures_stand_beside_nothing_that_the_paper_did_not_ask(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome("1"), make_outcome("2", pair_id=None)]

    first = " ".join(rendered(table_1(summarise(outcomes), None, Titles({}), paper=False)))
    second = " ".join(rendered(table_2(outcomes, None, Verdicts([]), Titles({}), paper=False)))

    for text in (first, second, NOTE_1, note_2(Verdicts([]), paper=False)):
        assert not any(word in text for word in ("paper", "sine", ".75", "18/5/7"))


@pytest.mark.parametrize(
    ("name", "beside"), [("mammography-en", True), ("mammography-de", True), ("chat-everyday-en", False)]
)
def test_the_paper_stands_beside_shipped_suites_of_mammography(name: str, beside: bool) -> None:
    assert is_of_paper(open_suite(name)) is beside


def test_a_suite_of_the_same_name_elsewhere_is_another(tmp_path: Path) -> None:
    shutil.copytree(data_folder("vignettes") / "suites" / "mammography-en", tmp_path / "mammography-en")

    assert not is_of_paper(open_suite(tmp_path / "mammography-en"))


def test_table_2_counts_verdicts(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(number), pair_id=None) for number in range(4)]
    outcomes += [make_outcome("4", pair_id=None, answered_with=None)]
    rater = Rater(kind="person", name="anna")
    labels = [
        Label(question_id=str(number), pair_id="pain", label=verdict, rater=rater)
        for number, verdict in enumerate(VERDICTS)
    ]

    lines = rendered(table_2(outcomes, None, Verdicts(labels), Titles({})))

    assert row(lines, "low-health-literacy") == ["5", "1", "1", "1", "1", "1", "8/0/2"]


def test_vignettes_that_the_paper_did_not_have_stand_without_its_figures(make_outcome: MakeOutcome) -> None:
    summary = summarise([make_outcome("1", vignette="deaf"), make_outcome("2", vignette="deaf", pair_id="costs")])

    lines = rendered(table_1(summary, None, Titles({"deaf": "Gehörlos"})))

    assert ".69" not in " ".join(row(lines, "Gehörlos"))
    assert row(lines, "Gehörlos")[:3] == ["2", "1", ".50"]


def test_the_notes_say_what_is_beside_what_and_who_rated() -> None:
    model = Label(question_id="q", pair_id="p", label="correct", rater=Rater(kind="model", name="model-a"))

    assert "Raters: model-a (model)." in note_2(Verdicts([model]))
    assert "Raters: none yet." in note_2(Verdicts([]))
    assert "not a comparison of like with like" in NOTE_PAPER
    assert all(len(line) <= 80 for note in (NOTE_1, NOTE_PAPER) for line in note.splitlines())
    assert re.search(r"asking back counts as wrong", NOTE_1)
