"""A run belongs to one suite and one system, and says plainly what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bot import Assistant, BadData
from harness.patients.suites import Question, Suite
from harness.running.run import load_outcomes, run_suite
from harness.running.store import OUTCOMES
from tests.harness.conftest import ByCosine

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


@pytest.mark.parametrize("broken", ["{}", "nonsense", '{"id": "x"}', "[]"])
def test_a_broken_line_in_the_middle_is_named(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path, broken: str
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    file = tmp_path / "run" / OUTCOMES
    file.write_text(broken + "\n" + file.read_text(encoding="utf-8"), encoding="utf-8")

    with pytest.raises(BadData, match=r"outcomes\.jsonl:1 is no outcome"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


@pytest.mark.parametrize(("key", "other"), [("method", "hybrid"), ("encoder", "use-4"), ("catalog_hash", "abc")])
def test_another_system_may_not_go_on_in_the_same_folder(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path, key: str, other: str
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    by_cosine.identity[key] = other

    with pytest.raises(BadData, match=rf"holds a run with {key} .*{other!r}\. Choose another folder with `--out`"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


def test_another_suite_may_not_go_on_in_the_same_folder(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    other = Suite(suite.meta.model_copy(update={"sha256": "0" * 64}), suite.questions)

    with pytest.raises(BadData, match="holds a run with suite_hash"):
        run_suite(other, by_cosine, small.catalog("de"), tmp_path / "run")


def test_a_folder_that_does_not_say_what_it_holds_is_refused(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text("{", encoding="utf-8")

    with pytest.raises(BadData, match=r"run\.json does not say which run this is"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path)


def test_a_folder_that_cannot_be_written_is_one_clear_line(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadData, match=r"cannot be written \(.+\)\. Choose another folder with `--out`"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "file" / "run")


def test_a_suite_for_another_catalog_is_refused(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    other = Suite(suite.meta.model_copy(update={"catalog": "mri"}), suite.questions)

    with pytest.raises(BadData, match=r"asks about 'mri', but the catalog is 'small'\. Run it with `--catalog mri`"):
        run_suite(other, by_cosine, small.catalog("de"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_pairs_that_the_catalog_does_not_have_are_refused(
    make_suite: MakeSuite, make_question: MakeQuestion, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    suite = make_suite([make_question(1, "Und nun?", "zebra"), make_question(2, "Und nun?", "ape")])

    with pytest.raises(BadData, match=r"asks for 2 pairs that small@1 does not have, for example 'ape'"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


def test_an_empty_suite_is_refused(
    make_suite: MakeSuite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=r"'suite' has no questions"):
        run_suite(make_suite([]), by_cosine, small.catalog("de"), tmp_path / "run")


def test_a_folder_without_a_run_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"holds no complete run\. Run `klartext harness run"):
        load_outcomes(tmp_path)
