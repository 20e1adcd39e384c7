"""Meaning drift: who is suspected, what raters see, and the arithmetic of corrected accuracies."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot import BadData, Catalog
from bot.adapters.embedded_encoder import EmbeddedEncoder
from harness.judging.meaning import (
    LABELS,
    PLAN,
    QUEUE,
    Drawing,
    MeaningLabel,
    check_meaning,
    decide,
    load_meaning_labels,
)
from harness.judging.meaning_figures import MARGIN, AccuracyEstimate, correct, estimate, margins, truth
from harness.labelling.labels import Rater
from harness.running.outcomes import Outcome
from tests.harness.runs import write_run

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeOutcome = Callable[..., Outcome]
DRIFTED = "Was muss ich für die Mammographie bezahlen, und zahlt das die Kasse?"
SOUND = ["Tut die Mammographie sehr weh?", "Habe ich bei der Mammographie Schmerzen?", "Ist das schmerzhaft?"]


def alone(pair_id: str) -> frozenset[str]:
    return frozenset({pair_id})


def unit(*rows: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    found = np.array(rows, dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def test_the_margin_is_that_of_the_three_nearest_texts() -> None:
    texts = unit([1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1])
    owners = ["a", "a", "a", "b", "b", "b", "b"]

    near, far, between = margins(unit([1, 0], [0, 1], [1, 1]), [alone("a")] * 3, texts, owners)

    assert (round(near.value, 4), round(far.value, 4), round(between.value, 4)) == (1.0, -1.0, 0.0)
    assert near.others == far.others == ("b",)


def test_a_pair_with_fewer_texts_is_judged_by_those_it_has() -> None:
    (found,) = margins(unit([1, 0]), [alone("a")], unit([1, 0], [0.6, 0.8]), ["a", "b"])

    assert found.value == pytest.approx(0.4)


def test_pairs_that_curators_declared_the_same_are_no_other_pairs() -> None:
    texts, owners = unit([1, 0], [0, 1], [0.6, 0.8]), ["a", "b", "c"]

    (found,) = margins(unit([0, 1]), [frozenset({"a", "b"})], texts, owners)

    assert found.value == pytest.approx(0.2)
    assert found.others == ("c",)


def test_one_pair_alone_has_no_margin() -> None:
    with pytest.raises(ValueError, match="two pairs"):
        margins(unit([1, 0]), [alone("a")], unit([1, 0]), ["a"])


def test_a_paraphrase_that_asks_for_another_pair_is_suspected_and_sound_ones_are_not(
    shipped_catalogs: Mapping[str, Catalog], embedded_encoder: EmbeddedEncoder
) -> None:
    catalog = shipped_catalogs["de"]
    pairs = [catalog.pair(name) for name in ("pain", "costs", "duration", "radiation")]
    texts = [(v.text, pair.id) for pair in pairs for v in pair.variants]
    vectors = embedded_encoder.encode([text for text, _ in texts])

    found = margins(embedded_encoder.encode([DRIFTED, *SOUND]), [alone("pain")] * 4, vectors, [o for _, o in texts])

    assert found[0].value < MARGIN
    assert "costs" in found[0].others
    assert all(one.value > MARGIN for one in found[1:])


@pytest.mark.parametrize(
    ("answered_with", "asks", "expected"),
    [
        ("pain", "own", "right"),
        ("costs", "own", "wrong"),
        ("costs", "costs", "right"),
        ("pain", "costs", "wrong"),
        (None, "costs", "wrong"),
        ("pain", "none", "out"),
        (None, "none", "out"),
    ],
)
def test_what_a_label_makes_of_an_answer(
    make_outcome: MakeOutcome, answered_with: str | None, asks: str, expected: str
) -> None:
    assert truth(make_outcome("1", answered_with=answered_with), asks, alone) == expected


def test_corrected_accuracy_and_its_bounds(make_outcome: MakeOutcome) -> None:
    """Ten questions, six right. By hand: two labelled, one leaves, two suspects stay open."""
    outcomes = [make_outcome(str(n), answered_with="pain" if n < 6 else "costs") for n in range(10)]
    decided = {"6": "costs", "7": "none"}

    found = correct(outcomes, decided, {"0", "6", "7", "8"}, alone)

    assert found.raw == 0.6
    assert found.corrected == pytest.approx(7 / 9)  # 6 becomes right, 7 leaves
    assert found.low == pytest.approx(6 / 9)  # 0 was right only by mistake, 8 stays wrong
    assert found.high == pytest.approx(8 / 9)  # 8 is right after all
    assert (found.n, found.other, found.none, found.open) == (10, 1, 1, 2)


def test_without_suspects_and_labels_nothing_changes(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(n), answered_with="pain" if n < 3 else None) for n in range(4)]

    found = correct(outcomes, {}, set(), alone)

    assert (found.raw, found.corrected, found.low, found.high) == (0.75, 0.75, 0.75, 0.75)


def test_a_group_in_which_every_question_asks_for_nothing_has_no_accuracy(make_outcome: MakeOutcome) -> None:
    found = correct([make_outcome("1")], {"1": "none"}, set(), alone)

    assert (found.raw, found.corrected, found.low, found.high) == (1.0, None, None, None)


def noisy_run(make: MakeOutcome, rng: np.random.Generator, n: int) -> tuple[list[Outcome], dict[str, str]]:
    """A system that is right in 90 % of what is asked, and paraphrases of which 15 % ask for another pair."""
    outcomes, truly = [], {}
    for number in range(n):
        asks = "costs" if rng.random() < 0.15 else "pain"
        answered = asks if rng.random() < 0.9 else "duration"
        outcomes.append(make(str(number), answered_with=answered))
        truly[str(number)] = "own" if asks == "pain" else asks
    return outcomes, truly


def test_the_estimate_finds_the_true_accuracy_where_the_raw_one_is_far_off(make_outcome: MakeOutcome) -> None:
    rng = np.random.default_rng(1)
    values, covered, raw = [], 0, []
    for _ in range(60):
        outcomes, truly = noisy_run(make_outcome, rng, 600)
        wrong = [one.id for one in outcomes if not one.right]
        right = [one.id for one in outcomes if one.right]
        sample = {*rng.permutation(wrong)[:40], *rng.permutation(right)[:40]}
        found = estimate(outcomes, sample, {id_: truly[id_] for id_ in sample}, alone, rng=rng)
        assert found is not None
        values.append(found.value)
        true = sum(truth(one, truly[one.id], alone) == "right" for one in outcomes) / len(outcomes)
        covered += found.interval.low <= true <= found.interval.high
        raw.append(sum(bool(one.right) for one in outcomes) / len(outcomes))

    assert np.mean(raw) == pytest.approx(0.9 * 0.85, abs=0.012)
    assert np.mean(values) == pytest.approx(0.9, abs=0.015)
    assert covered >= 53  # of 60; over many seeds 95 % are


def test_an_interval_has_a_width_even_where_all_labels_agree(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(n), answered_with="pain" if n < 80 else None) for n in range(100)]
    labels = {str(n): "own" for n in range(70, 90)}

    found = estimate(outcomes, set(labels), labels, alone, rng=np.random.default_rng(0))

    assert found is not None
    assert found.value == 0.8
    assert 0.6 < found.interval.low < 0.78
    assert 0.8 < found.interval.high < 0.9


def test_there_is_no_estimate_while_nothing_is_known_of_the_wrong_ones(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome("1"), make_outcome("2"), make_outcome("3", answered_with=None)]
    rng = np.random.default_rng(0)

    assert estimate(outcomes, {"1", "3"}, {"1": "own"}, alone, rng=rng) is None
    assert estimate(outcomes, {"1"}, {"1": "own", "3": "own"}, alone, rng=rng) is None  # not drawn at random
    found = estimate(outcomes, {"1", "3"}, {"1": "own", "3": "own"}, alone, rng=rng)
    assert isinstance(found, AccuracyEstimate)
    assert found.value == pytest.approx(2 / 3)


def test_a_run_without_errors_can_be_estimated_too(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(n)) for n in range(8)]
    labels = {"0": "own", "1": "own", "2": "none", "3": "costs"}

    found = estimate(outcomes, set(labels), labels, alone, rng=np.random.default_rng(0))

    assert found is not None
    assert found.value == pytest.approx(2 / 3)


def label(id_: str, asks: str, rater: str = "anna") -> MeaningLabel:
    return MeaningLabel(question_id=id_, asks=asks, rater=Rater(kind="person", name=rater))


def test_raters_who_agree_decide_and_who_differ_leave_it_open(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(n)) for n in range(6)]
    labels = [
        *(label("0", "own"), label("0", "own", "ben")),
        *(label("1", "costs"), label("1", "none", "ben")),
        *(label("2", "unclear"), label("3", "none"), label("3", "costs")),  # a second thought counts
        label("4", "pain"),  # the id of its own pair
    ]

    decided = decide(labels, outcomes)

    assert decided.asks == {"0": "own", "3": "costs", "4": "own"}
    assert decided.disputed == {"1", "2"}
    assert decided.raters == (("person", "anna"), ("person", "ben"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", r"f\.jsonl:2 is no JSON"),
        ('{"question_id": "1", "asks": "own"}', r"f\.jsonl:2 is no label: rater: is missing"),
        (
            '{"question_id": "1", "asks": "own", "rater": {"kind": "person", "name": ""}}',
            r"f\.jsonl:2 is no label: rater\.name",
        ),
        (
            '{"question_id": "1", "asks": "price", "rater": {"kind": "person", "name": "a"}}',
            r"f\.jsonl:2: `asks` is 'price'",
        ),
        ("[]", r"f\.jsonl:2 is no label"),
    ],
)
def test_lines_that_are_no_labels_are_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "f.jsonl").write_text(f'{{"question_id": "1", "asks": null}}\n{line}\n', encoding="utf-8")

    with pytest.raises(BadData, match=problem):
        load_meaning_labels([tmp_path / "f.jsonl"], pairs=["pain"])


@pytest.fixture
def run(make_outcome: MakeOutcome, tmp_path: Path) -> Path:
    """Twenty paraphrases about pain, of which one asks for the costs and was answered so."""
    sound = [make_outcome(f"q{n}", text=f"{SOUND[n % 3]} Nummer {n}") for n in range(17)]
    wrong = [make_outcome(f"w{n}", text=f"Wie weh tut das? {n}", answered_with=None) for n in range(2)]
    drifted = make_outcome("drifted", text=DRIFTED, answered_with="costs")
    folder = write_run(tmp_path / "run", [*sound, *wrong, drifted])
    (folder / "summary.json").write_text(json.dumps({"total": {"n": 20}}), encoding="utf-8")
    return folder


def test_from_suspicion_by_a_label_to_the_corrected_accuracy(
    run: Path, small_folder: Path, embedded_encoder: EmbeddedEncoder
) -> None:
    drawing = Drawing(sample=6)
    first = check_meaning(run, catalog=str(small_folder), drawing=drawing, labels=(), encoder=embedded_encoder)

    assert first.plan.suspects == {"drifted"}
    assert first.total.corrected == first.total.raw == 0.85
    assert (first.total.low, first.total.high) == (0.85, 0.9)
    items = [json.loads(line) for line in (run / QUEUE).read_text(encoding="utf-8").splitlines()]
    assert len(items) == first.queued == len({"drifted", *first.plan.sample})
    assert {"q", "w", "d"} == {item["question_id"][0] for item in items}
    for item in items:  # raters see neither the answer nor why they are asked
        assert set(item) == {
            "question_id",
            "question",
            "pair_id",
            "pair_question",
            "nearest",
            "asks",
            "rater",
            "comment",
        }

    for item in items:
        item |= {"asks": "costs" if item["question"] == DRIFTED else "own", "rater": {"kind": "person", "name": "anna"}}
    (run / LABELS).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    second = check_meaning(run, catalog=str(small_folder), drawing=Drawing(), labels=(), encoder=embedded_encoder)

    assert second.plan == first.plan
    assert second.queued == 0
    assert (second.total.other, second.total.open) == (1, 0)
    assert second.total.corrected == second.total.low == second.total.high == pytest.approx(0.9)
    assert second.estimate is not None
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert summary["total"] == {"n": 20}
    assert summary["meaning"]["total"]["corrected"] == pytest.approx(0.9)


def test_a_plan_is_not_drawn_anew_by_other_options(
    run: Path, small_folder: Path, embedded_encoder: EmbeddedEncoder
) -> None:
    check_meaning(run, catalog=str(small_folder), drawing=Drawing(sample=4), labels=(), encoder=embedded_encoder)

    with pytest.raises(BadData, match=r"was planned with 4, not 8.+remove meaning-plan\.json"):
        check_meaning(run, catalog=str(small_folder), drawing=Drawing(sample=8), labels=(), encoder=embedded_encoder)
    (run / PLAN).write_text("{}", encoding="utf-8")
    with pytest.raises(BadData, match="no plan of a meaning check"):
        check_meaning(run, catalog=str(small_folder), drawing=Drawing(), labels=(), encoder=embedded_encoder)


def test_the_command_prints_the_table_and_refuses_what_is_no_run(
    command: Command, run: Path, small_folder: Path, tmp_path: Path
) -> None:
    done = command("labels", "meaning", run, "--catalog", small_folder)
    again = command("labels", "meaning", run, "--catalog", small_folder, "--json")
    nothing = command("labels", "meaning", tmp_path / "nothing")

    assert done.returncode == 0, done.stderr
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "Wenig informiert 20 0.850 0.850 0.850 to 0.900 0 0 1" in rows
    assert "1 questions wait for raters" in done.stdout
    assert json.loads(again.stdout)["total"]["open"] == 1
    assert (nothing.returncode, nothing.stderr.count("\n")) == (2, 1)
