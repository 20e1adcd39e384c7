"""Raters who agree decide, raters who differ leave a question open, and nobody's label is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from pydantic import ValidationError

from bot import BadData
from harness.labelling.labels import (
    VERDICTS,
    Label,
    NovelScore,
    Rater,
    Verdict,
    Verdicts,
    append_label,
    load_labels,
    load_reasons,
    now,
    score_novel,
)
from harness.running.outcomes import Outcome

MakeOutcome = Callable[..., Outcome]


def label(
    rater: str,
    verdict: Verdict,
    *,
    question: str = "q",
    pair: str = "pain",
    kind: Literal["person", "model"] = "person",
) -> Label:
    return Label(question_id=question, pair_id=pair, label=verdict, rater=Rater(kind=kind, name=rater))


def test_without_labels_a_question_is_open() -> None:
    assert Verdicts([]).of("q", "pain") == "open"


def test_one_rater_decides_alone() -> None:
    assert Verdicts([label("a", "partial")]).of("q", "pain") == "partial"


def test_raters_who_agree_decide() -> None:
    assert Verdicts([label("a", "correct"), label("b", "correct")]).of("q", "pain") == "correct"


def test_raters_who_differ_dispute() -> None:
    assert Verdicts([label("a", "correct"), label("b", "partial")]).of("q", "pain") == "disputed"


def test_a_raters_later_label_replaces_the_earlier_one() -> None:
    labels = [label("a", "incorrect"), label("b", "correct"), label("a", "correct")]

    assert Verdicts(labels).of("q", "pain") == "correct"


def test_a_label_speaks_only_of_its_question_and_pair() -> None:
    verdicts = Verdicts([label("a", "correct")])

    assert verdicts.of("q", "costs") == "open"
    assert verdicts.of("other", "pain") == "open"


def test_a_star_stands_for_every_pair_without_a_label_of_its_own() -> None:
    verdicts = Verdicts([label("a", "incorrect", pair="*"), label("a", "correct")])

    assert verdicts.of("q", "pain") == "correct"
    assert verdicts.of("q", "costs") == "incorrect"


def test_a_star_of_one_rater_meets_the_other_raters_label() -> None:
    verdicts = Verdicts([label("a", "incorrect", pair="*"), label("b", "correct"), label("b", "incorrect", pair="*")])

    assert verdicts.of("q", "pain") == "disputed"
    assert verdicts.of("q", "costs") == "incorrect"


def test_verdicts_know_who_rated_and_what_they_are() -> None:
    verdicts = Verdicts(
        [label("m", "correct", kind="model"), label("a", "correct"), label("m", "partial", kind="model")]
    )

    assert verdicts.raters == (("model", "m"), ("person", "a"))


def test_novel_questions_are_counted_by_verdict(make_outcome: MakeOutcome) -> None:
    outcomes = [make_outcome(str(number), pair_id=None) for number in range(6)]
    outcomes += [make_outcome("6", pair_id=None, answered_with=None), make_outcome("paraphrase")]
    verdicts: list[Verdict] = ["incorrect", "partial", "correct", "correct"]
    labels = [label("a", verdict, question=str(number)) for number, verdict in enumerate(verdicts)]
    labels += [label("a", "correct", question="4"), label("b", "partial", question="4")]

    assert score_novel(outcomes, Verdicts(labels)) == NovelScore(
        n=7, incorrect=1, partial=1, correct=2, unanswered=1, open=2
    )


def test_labels_come_back_as_they_were_stored(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    stored = Label(
        question_id="q",
        pair_id="*",
        label="partial",
        rater=Rater(kind="person", name="Zoë"),
        comment="a\u2028b",
        time=now(),
    )

    append_label(file, stored)
    append_label(file, label("m", "correct", kind="model"))

    assert load_labels([file, tmp_path / "missing.jsonl"]) == [stored, label("m", "correct", kind="model")]
    assert stored.time is not None
    assert stored.time <= datetime.now(UTC)


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        "{}",
        '{"question_id": "q", "pair_id": "p", "label": "wrong", "rater": {"kind": "person", "name": "a"}}',
        '{"question_id": "q", "pair_id": "p", "label": "correct", "rater": {"kind": "robot", "name": "a"}}',
    ],
)
def test_a_line_that_is_no_label_is_named_with_its_number(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "labels.jsonl"
    append_label(file, label("a", "correct"))
    file.write_text(file.read_text(encoding="utf-8") + "\n" + broken + "\n", encoding="utf-8")

    with pytest.raises(BadData, match=r"labels\.jsonl:3 is no label: .+\. Mend the line"):
        load_labels([file])


def test_a_rater_is_a_person_or_a_model() -> None:
    with pytest.raises(ValidationError, match="'person' or 'model'"):
        Rater.model_validate({"kind": "expert", "name": "a"})


def test_the_reference_lists_the_reasons_that_raters_can_give() -> None:
    reference = (Path(__file__).parents[3] / "docs" / "reference.md").read_text(encoding="utf-8")
    numbers = {verdict: f"`{number}`" for number, verdict in enumerate(VERDICTS, 1)}

    listed = re.search(r"\| key \| reason \| after \| meaning \|\n\|[-|]+\n((?:\|.*\n)+)", reference)

    assert listed is not None
    assert listed[1].splitlines() == [
        f"| `{one.key}` | `{one.code}` | {', '.join(numbers[label] for label in one.labels)} | {one.text} |"
        for one in load_reasons()
    ]
