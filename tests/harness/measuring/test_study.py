"""The studies, on a catalog of three pairs by four authors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from bot import BadData, load_catalog
from bot.testing import HashEncoder
from harness.measuring.enough import TRAININGS, Enough, enough
from harness.measuring.learning_curve import CurvePlan, Smaller, learning_curve, steps, unseen_questions
from harness.measuring.matchers import STEPS, WITHOUT, ablation, confusion, encoders
from harness.measuring.study import RememberingEncoder, Study, StudyTable, mean_and_range
from tests.harness.authored import VOICES, write_authored_catalog, write_authored_suite

Command = Callable[..., CompletedProcess[str]]
pytestmark = pytest.mark.usefixtures("few_alarm_examples")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_authored_catalog(tmp_path_factory.mktemp("study") / "catalog")


@pytest.fixture(scope="module")
def suite(catalog: Path) -> Path:
    write_authored_suite(catalog.parent / "suite", catalog)
    return catalog.parent / "suite"


@pytest.fixture
def study(catalog: Path, suite: Path, tmp_path: Path) -> Study:
    return Study.open(catalog, "de", suite=suite, encoder=HashEncoder(), data=tmp_path / "data")


def test_more_variants_are_worth_it_while_held_out_voices_gain_half_a_point_from_ten() -> None:
    rising, flat = Enough(50, 0.70, 0.62, 400), Enough(200, 0.95, 0.94, 400)

    assert (rising.enough, flat.enough) == (False, True)
    assert rising.gain == pytest.approx(0.021, abs=0.001)


@pytest.mark.proof
def test_held_out_voices_are_asked_with_all_variants_and_with_half(catalog: Path) -> None:
    told: list[int] = []

    found = enough(load_catalog(catalog, "de"), HashEncoder(), lambda: told.append(1))

    assert len(told) == TRAININGS
    assert 0 <= found.half <= 1
    assert 0 <= found.now <= 1
    assert found.asked > 0


@pytest.mark.proof
def test_the_learning_curve_has_a_row_per_size_and_draws_of_its_own(study: Study) -> None:
    plan, told = CurvePlan(sizes=(2,), draws=2, seed=7), []

    table = learning_curve(study, plan, lambda: told.append(1))

    assert [row[0] for row in table.rows] == ["2", "all"]
    assert [(len(row["suite"]), len(row["held_out_top1"])) for row in table.figures] == [(2, 2), (1, 2)]
    assert all(0 <= top1 <= 1 for row in table.figures for top1 in row["held_out_top1"])
    assert table.figures[-1]["suite"][0]["top1"] == 1
    assert len(told) == steps(plan) == 1 + 2 * 1 + 2 * 2
    assert learning_curve(study, plan) == table


def test_every_author_is_held_out_once_and_then_taught_nothing(study: Study, tmp_path: Path) -> None:
    content = study.whole.catalog("de")
    smaller = Smaller(content, study.whole.encoder, tmp_path)
    unseen = [frozenset(sorted(VOICES)[draw::2]) for draw in range(2)]

    asked = [{text for _, text in unseen_questions(content, group)} for group in unseen]
    taught = [
        {variant.text for order in smaller.orders(group, 1, draw).values() for variant in order}
        for draw, group in enumerate(unseen)
    ]

    assert not asked[0] & taught[0]
    assert not asked[1] & taught[1]
    assert len(asked[0] | asked[1]) == 48


def test_a_catalog_without_authors_has_no_held_out_figures(
    small_folder: Path, tmp_path: Path, catalog: Path, suite: Path
) -> None:
    plain = Study.open(small_folder, "de", suite=suite, encoder=HashEncoder(), data=tmp_path / "data")

    table = learning_curve(plain, CurvePlan(sizes=(1,), draws=1))

    assert [row["held_out_top1"] for row in table.figures] == [[], []]
    assert [row[-1] for row in table.rows] == ["–", "–"]


@pytest.mark.proof
def test_the_ablation_leaves_out_one_part_a_row(study: Study) -> None:
    told: list[int] = []

    table = ablation(study, lambda: told.append(1))

    assert len(table.rows) == len(told) == STEPS == len(WITHOUT) + 2
    rows = {row["row"]: row for row in table.figures}
    assert rows["everything"]["top1"] == 1
    assert rows["everything"]["top1"] > rows["the published method (`cosine`)"]["accuracy"]
    assert rows["without the calibration set"] == {**rows["everything"], "row": "without the calibration set"}


def test_the_confused_pairs_are_those_that_came_first_wrongly(catalog: Path, tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    write_authored_suite(folder, catalog, [("Wer zahlt am Ende den Preis?", "pain"), ("Wer bezahlt alles?", "pain")])
    study = Study.open(catalog, "de", suite=folder, encoder=HashEncoder(), data=tmp_path / "data")

    table = confusion(study)

    assert table.rows[0][:3] == ("pain / costs", "2", "0")
    assert "2 questions had a wrong first candidate" in table.note


@pytest.mark.proof
def test_encoders_are_measured_with_time_and_memory(catalog: Path, suite: Path, tmp_path: Path) -> None:
    def open_with(name: str) -> Study:
        return Study.open(catalog, "de", suite=suite, encoder=name, data=tmp_path / "data")

    table = encoders(["embedded"], open_with)

    (figures,) = table.figures
    assert table.rows[0][0] == "embedded"
    assert figures["top1"] == 1
    assert figures["dimensions"] == 512
    assert 0 < figures["encode_ms"] < figures["decide_ms"]
    assert figures["peak_mb"] > 50


def test_no_text_is_encoded_twice() -> None:
    inner = HashEncoder()
    encoder = RememberingEncoder(inner)

    first, second = encoder.encode(["a", "b", "a"]), encoder.encode(["c", "b"])

    assert inner.encoded == 3
    assert (first[0] == first[2]).all()
    assert (second[1] == first[1]).all()
    assert encoder.encode([]).shape == (0, 64)
    assert encoder.name == inner.name


def test_a_suite_about_something_else_is_refused(catalog: Path, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"'mammography-de' asks in 'de' about 'mammography', which is not 'small' in"):
        Study.open(catalog, "de", suite="mammography-de", encoder=HashEncoder(), data=tmp_path / "data")
    with pytest.raises(BadData, match="There is no suite 'small-de'"):
        Study.open(catalog, "de", suite=None, encoder=HashEncoder(), data=tmp_path / "data")


def test_a_table_is_markdown_for_people_and_json_for_programs(tmp_path: Path) -> None:
    table = StudyTable("Title", "Note.", ("row", "a|b"), (("x", "1"),), ({"row": "x", "a": 1.0},))

    table.write(tmp_path / "new" / "table.md")

    written = (tmp_path / "new" / "table.md").read_text(encoding="utf-8")
    assert written == "**Title**\n\n| row | a\\|b |\n| --- | ---: |\n| x | 1 |\n\nNote.\n"
    assert json.loads((tmp_path / "new" / "table.json").read_text(encoding="utf-8")) == {
        "title": "Title",
        "note": "Note.",
        "rows": [{"row": "x", "a": 1.0}],
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], "–"), ([0.5], "0.500"), ([0.5, 0.5], "0.500"), ([0.25, 0.75], "0.500 (0.250 to 0.750)")],
)
def test_draws_are_shown_with_their_range(values: list[float], expected: str) -> None:
    assert mean_and_range(values) == expected


def test_the_command_prints_the_table_and_writes_it(
    command: Command, catalog: Path, suite: Path, tmp_path: Path
) -> None:
    out = tmp_path / "curve.md"
    options = ("--catalog", catalog, "--suite", suite, "--size", "2", "--draws", "1", "--out", out)

    done = command("study", "learning-curve", "--lang", "de", *options)

    assert done.returncode == 0, done.stderr
    assert done.stdout == out.read_text(encoding="utf-8")
    assert done.stdout.startswith("**Learning curve (de)**\n\n| variants a pair |")
    assert len(json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["rows"]) == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("study confusion --suite nope", "There is no suite 'nope'"),
        ("study ablation --catalog nope", "No catalog at 'nope'"),
        ("study encoders --catalog {catalog} --suite {suite} --encoder magic", "There is no encoder 'magic'"),
        ("study confusion --catalog {catalog} --suite {suite} --out {suite}/suite.yaml/x.md", "cannot be written"),
    ],
)
def test_bad_input_is_one_line(command: Command, catalog: Path, suite: Path, arguments: str, expected: str) -> None:
    done = command(*(word.format(catalog=catalog, suite=suite) for word in arguments.split()))

    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
