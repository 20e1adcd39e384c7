"""Outcomes are stored whole or not at all, in one format a folder, by one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant, BadData
from harness.patients.suites import Suite, load_suite, open_suite
from harness.running import parquet
from harness.running.outcomes import ERROR, Outcome
from harness.running.parquet import ParquetStore
from harness.running.run import Counted, RunPlan, ask_suite, load_counted, load_outcomes, load_run, run_suite
from harness.running.store import PARTS
from harness.systems.system import Failure
from tests.harness.conftest import ByCosine

MakeOutcome = Callable[..., Outcome]


@pytest.fixture
def store(tmp_path: Path) -> ParquetStore:
    return ParquetStore(tmp_path / PARTS)


def test_a_parquet_run_holds_what_a_run_of_json_lines_holds(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    expected = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "lines")
    ask_suite(suite, by_cosine, small.catalog("de"), tmp_path / "parts", RunPlan(format="parquet"))

    found = load_outcomes(tmp_path / "parts")

    assert [replace(o, elapsed_ms=0.0) for o in found] == [replace(o, elapsed_ms=0.0) for o in expected]
    assert load_run(tmp_path / "parts").outcomes == tuple(found)
    assert load_counted(tmp_path / "parts") == load_counted(tmp_path / "lines")
    assert load_counted(tmp_path / "parts") == Counted.of(load_run(tmp_path / "lines"))
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [PARTS, "run.json", "run.lock"]


def test_a_finished_parquet_run_asks_nothing_again(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    for _ in range(2):
        ask_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run", RunPlan(format="parquet"))

    assert len(by_cosine.asked) == 4
    assert [path.name for path in (tmp_path / "run" / PARTS).iterdir()] == ["part-000001.parquet"]


def test_what_failed_is_asked_again_and_no_question_is_stored_twice(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    class Flaky(ByCosine):
        def ask(self, texts, language):
            answers = list(super().ask(texts, language))
            return [*answers[:1], *(Failure("status 500", 1.0) for _ in answers[1:3]), *answers[3:]]

    plan, catalog, out = RunPlan(format="parquet"), small.catalog("de"), tmp_path / "run"
    ask_suite(suite, Flaky(small), catalog, out, plan)
    failed = [outcome.id for outcome in load_outcomes(out) if outcome.decision == ERROR]
    assert load_counted(out).failure == "status 500"
    ask_suite(suite, by_cosine, catalog, out, plan)

    outcomes = load_outcomes(out)
    assert failed == [question.id for question in suite.questions[1:3]]
    assert by_cosine.asked == [question.text for question in suite.questions[1:3]]
    assert [outcome.id for outcome in outcomes] == [question.id for question in suite.questions]
    assert not [outcome for outcome in outcomes if outcome.decision == ERROR]


def test_a_part_of_failures_alone_goes_away(store: ParquetStore, make_outcome: MakeOutcome) -> None:
    store.append(parquet.encode([(0, make_outcome("1", decision=ERROR))]))
    store.append(parquet.encode([(1, make_outcome("2"))]))

    assert store.resume() == {"2"}
    assert [path.name for path in store.folder.iterdir()] == ["part-000002.parquet"]
    store.append(parquet.encode([(0, make_outcome("1"))]))
    assert [outcome.id for outcome in store.outcomes()] == ["1", "2"]


def test_what_a_kill_left_half_written_is_cleared_away(store: ParquetStore, make_outcome: MakeOutcome) -> None:
    payload = parquet.encode([(0, make_outcome("1"))])
    store.append(payload)
    (store.folder / ".part-000002.parquet.partial").write_bytes(payload[:40])

    assert [outcome.id for outcome in store.outcomes()] == ["1"]
    assert store.resume() == {"1"}
    assert [path.name for path in store.folder.iterdir()] == ["part-000001.parquet"]


def test_a_broken_part_is_named(store: ParquetStore, make_outcome: MakeOutcome) -> None:
    store.append(parquet.encode([(0, make_outcome("1"))])[:-30])

    with pytest.raises(BadData, match=r"part-000001\.parquet holds no outcomes\. Remove it"):
        store.resume()
    with pytest.raises(BadData, match=r"outcomes cannot be read\. Run the suite again"):
        store.tally()


def test_a_folder_with_brackets_and_quotes_is_a_folder(tmp_path: Path, make_outcome: MakeOutcome) -> None:
    store = ParquetStore(tmp_path / "it's [a]*?" / PARTS)
    store.append(parquet.encode([(0, make_outcome("1"))]))

    assert [count.n for count in store.tally()] == [1]


def test_one_folder_holds_one_format(suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    with pytest.raises(BadData, match=r"holds a run with --format jsonl\. Go on with that"):
        ask_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run", RunPlan(format="parquet"))


def test_a_second_process_is_kept_out(suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path) -> None:
    said: list[str] = []

    class Intruder(ByCosine):
        def ask(self, texts, language):
            with pytest.raises(BadData, match="Another process is running in") as caught:
                run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
            said.append(str(caught.value))
            return super().ask(texts, language)

    run_suite(suite, Intruder(small), small.catalog("de"), tmp_path / "run")

    assert len(said) == 1
    assert not by_cosine.asked


def test_a_folder_that_is_in_use_is_kept_even_if_its_description_is_replaced(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    described = tmp_path / "run" / "run.json"
    said: list[str] = []

    class Intruder(ByCosine):
        def ask(self, texts, language):
            # As a second process did that saw none when both began.
            copy = described.with_name("copy.json")
            copy.write_bytes(described.read_bytes())
            copy.replace(described)
            with pytest.raises(BadData, match="Another process is running in") as caught:
                run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
            said.append(str(caught.value))
            return super().ask(texts, language)

    run_suite(suite, Intruder(small), small.catalog("de"), tmp_path / "run")

    assert len(said) == 1
    assert not by_cosine.asked


def test_a_suite_on_disk_is_asked_like_one_in_memory(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    on_disk = open_suite(tmp_path / "suite")

    assert (on_disk.meta, len(on_disk.questions)) == (suite.meta, 4)
    assert tuple(on_disk.questions) == tuple(on_disk.questions) == load_suite(tmp_path / "suite").questions
    assert suite.questions[2] in on_disk.questions
    outcomes = run_suite(on_disk, by_cosine, small.catalog("de"), tmp_path / "run")
    assert [outcome.id for outcome in outcomes] == [question.id for question in suite.questions]
