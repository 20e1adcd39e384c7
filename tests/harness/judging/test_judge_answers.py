"""What models write instead of what they were asked: read where it is clear, counted where it is not, never scored 0."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.judge import ReadLabel, read_choice, read_label, read_scores

REASONS = ("other-topic", "part-missing")
ASPECTS = ("on-topic", "to-the-point", "plain")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"label": "correct", "reason": "", "comment": ""}', ReadLabel("correct", "", "")),
        (
            'Sure!\n```json\n{"label": "Partially correct", "reason": "part-missing", "comment": "dose"}\n```',
            ReadLabel("partial", "part-missing", "dose"),
        ),
        ('{"label": "incorrect", "reason": "bad mood"}', ReadLabel("incorrect", "", "")),
        ("**Correct**", ReadLabel("correct", "", "")),
        ("Label: partially correct.", ReadLabel("partial", "", "")),
        ('{broken {"label": "wrong"}', ReadLabel("incorrect", "", "")),
        ("It is not correct", None),
        ("correct or incorrect", None),
        ('{"label": "maybe"}', None),
        ('{"label": ["correct"]}', None),
        ('["correct"]', ReadLabel("correct", "", "")),
        ("I'm sorry, but I cannot judge this.", None),
        ("", None),
    ],
)
def test_labels(answer: str, expected: ReadLabel | None) -> None:
    assert read_label(answer, reasons=REASONS) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"on-topic": 5, "to-the-point": 0, "plain": 3}', {"on-topic": 5, "to-the-point": 0, "plain": 3}),
        ('{"scores": {"On topic": "4/5", "plain": 2.5}}', {"on-topic": 4, "plain": 2.5}),
        ('{"on-topic": {"score": 3, "why": "…"}}', {"on-topic": 3}),
        ("1. On-topic: 4/5, it says so\n- **plain**: 2\nTotal: 6/10", {"on-topic": 4, "plain": 2}),
        ('{"on-topic": 6, "plain": -1, "to-the-point": "8/10"}', {}),
        ('{"on-topic": true, "plain": null, "to-the-point": "high"}', {}),
        ('{"on-topic": NaN, "plain": 1e9}', {}),
        ("All aspects are excellent.", {}),
        ('{"scores": [5, 5, 5]}', {}),
        ('[{"aspect": "on-topic", "score": 4}, {"aspect": "plain", "score": 7}]', {"on-topic": 4}),
        ('{"plain": "3,5", "on-topic": "4 because of 2 things"}', {"plain": 3.5}),
    ],
)
def test_scores(answer: str, expected: dict[str, float]) -> None:
    assert read_scores(answer, aspects=ASPECTS) == expected


@pytest.mark.parametrize(
    ("answer", "in_order_ab"),
    [
        ('{"better": 1}', "a"),
        ('{"better": "2"}', "b"),
        ('{"better": 0}', "tie"),
        ('{"preference": "Text 2"}', "b"),
        ("Text 1.", "a"),
        ("tie", "tie"),
        ("Neither", "tie"),
        ('{"better": 3}', None),
        ("1 or 2", None),
        ("I prefer the one on top", None),
        ("12", None),
        ('{"better": true}', None),
    ],
)
def test_choices(answer: str, in_order_ab: str | None) -> None:
    other = {"a": "b", "b": "a"}.get(in_order_ab or "", in_order_ab)

    assert read_choice(answer, order="ab") == in_order_ab
    assert read_choice(answer, order="ba") == other


@given(
    st.text(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(st.sampled_from(["label", "better", "scores", "on-topic", "plain"]), x, max_size=3)
        ),
    ).map(json.dumps)
)
def test_no_answer_whatever_raises_and_no_score_leaves_the_scale(answer: str) -> None:
    read_label(answer, reasons=REASONS)
    read_choice(answer, order="ab")

    assert all(0 <= score <= 5 for score in read_scores(answer, aspects=ASPECTS).values())
