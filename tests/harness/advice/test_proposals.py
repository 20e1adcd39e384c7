"""Which outcomes are misses, why, and what other thresholds would have done: rules without an assistant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot import Assistant
from harness.advice.causes import (
    Cause,
    Clues,
    CuratedText,
    DistinctWords,
    Known,
    Miss,
    MissKind,
    Nearness,
    causes,
    entries,
    is_confused,
    misses_of,
    sentences,
)
from harness.advice.thresholds import best_move, moves
from harness.labelling.labels import Label, Rater, Verdicts
from harness.running.outcomes import Outcome
from harness.scoring.confusions import Confusion

MakeOutcome = Callable[..., Outcome]

FAR = Nearness(0.5, 0.3)
CONFUSED = Confusion("pain", "costs", forth=3, back=1, expected=0.2, p_value=0.001, q_value=0.01)
TEXT = CuratedText("costs", "Wer bezahlt das?")


@pytest.fixture
def make_clues(make_outcome: MakeOutcome) -> Callable[..., Clues]:
    """A question about pain that costs came before, with near variants; tests change what they are about."""

    def make(kind: MissKind = "wrong", text: str = "Tut das weh?", **changes: Any) -> Clues:
        outcome = make_outcome("q", pair_id=None if kind == "intruding" else "pain", answered_with="costs", text=text)
        accepted = frozenset[str]() if kind == "intruding" else frozenset({"pain"})
        clues = Clues(
            miss=Miss(outcome, kind, accepted),
            first="costs",
            first_score=0.6,
            none_of_these=0.1,
            nearness=Nearness(0.9, 0.9),
            nearest=(TEXT,),
            part=None,
            suspect=None,
        )
        return replace(clues, **changes)

    return make


def test_every_way_to_miss_has_its_kind(make_outcome: MakeOutcome, small: Assistant) -> None:
    outcomes = [
        make_outcome("right"),
        make_outcome("wrong", answered_with="costs"),
        make_outcome("offered", answered_with=None, decision="clarify", choices=("costs", "pain")),
        replace(make_outcome("unsure", answered_with=None), candidates=("pain", "costs"), top1=True),
        make_outcome("lost", answered_with=None),
        make_outcome("alarm", answered_with=None, decision="urgent"),
        make_outcome("intruding", pair_id=None),
        make_outcome("declined", pair_id=None, answered_with=None),
        make_outcome("labelled", pair_id=None),
    ]
    rater = Rater(kind="person", name="anna")
    verdicts = Verdicts([Label(question_id="labelled", pair_id="pain", label="correct", rater=rater)])

    found = misses_of(outcomes, small.catalog("de"), verdicts)

    assert {miss.outcome.id: miss.kind for miss in found} == {
        name: name for name in ("wrong", "offered", "unsure", "lost", "alarm", "intruding")
    }
    assert [miss.pair_id for miss in found] == ["pain"] * 6
    assert found[-1].accepted == frozenset()


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        ("alarm", {"part": "Tut es weh?"}, ("alarm",)),
        ("intruding", {"none_of_these": 0.9}, ("intruding",)),
        ("wrong", {"part": "Tut es weh?"}, ("narrative",)),
        ("wrong", {"suspect": TEXT}, ("mislabelled",)),
        ("unsure", {"first": "pain"}, ("threshold",)),
        ("unsure", {"first": "pain", "none_of_these": 0.7}, ("background",)),
        ("lost", {"nearness": Nearness(0.4, 0.2)}, ("gap",)),
        ("lost", {"nearness": Nearness(0.4, 0.4)}, ("scattered",)),
        ("lost", {"nearness": None}, ("gap",)),
        ("lost", {"nearness": Nearness(0.4, 0.2), "none_of_these": 0.7}, ("gap", "background")),
        ("unsure", {"first": "pain", "nearness": Nearness(0.1, 0.1)}, ("threshold",)),
        ("wrong", {}, ("scattered",)),
        ("offered", {"part": "Tut es weh?", "none_of_these": 0.7}, ("narrative", "background")),
    ],
)
def test_causes(
    make_clues: Callable[..., Clues], kind: MissKind, changes: dict[str, Any], expected: tuple[Cause, ...]
) -> None:
    assert causes(make_clues(kind, **changes), FAR, {}) == expected


def test_a_confused_pair_is_a_cause_for_its_own_questions_only(make_clues: Callable[..., Clues]) -> None:
    confused = {frozenset({"pain", "costs"}): CONFUSED}

    assert causes(make_clues(), FAR, confused) == ("confused",)
    assert causes(make_clues(first="duration"), FAR, confused) == ("scattered",)
    assert causes(make_clues("unsure", first="pain"), FAR, confused) == ("threshold",)


def test_where_nothing_was_understood_nobody_knows_what_near_means(make_clues: Callable[..., Clues]) -> None:
    assert causes(make_clues(nearness=Nearness(0, 0)), None, {}) == ("scattered",)


def test_one_question_is_no_confusion() -> None:
    assert is_confused(CONFUSED)
    assert not is_confused(replace(CONFUSED, forth=1, back=0))
    assert not is_confused(replace(CONFUSED, p_value=0.06))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meine Nachbarin war da. Tut es sehr weh? Ja!", ["Meine Nachbarin war da.", "Tut es sehr weh?"]),
        ("tut es weh", ["tut es weh"]),
        ("Ach. So.", []),
        ("", []),
    ],
)
def test_sentences_are_what_could_be_asked_alone(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_distinct_words_are_those_that_the_pair_lacks(small: Assistant) -> None:
    distinct = DistinctWords(small.catalog("de"))

    found = distinct.of(["Brennen die Platten?", "Schmerzen die Platten bei der Untersuchung?"], "pain")

    # "Schmerzen" is known to the pair, "Untersuchung" to all pairs; what more questions share comes first.
    assert found == ("Platten", "Brennen")


def test_forms_of_a_known_word_are_known(small: Assistant) -> None:
    assert DistinctWords(small.catalog("de")).of(["bezahlten bezahle kostenlos"], "costs") == ()


def test_a_word_with_an_apostrophe_is_one_word(small: Assistant) -> None:
    assert DistinctWords(small.catalog("en")).of(["Why aren't they nice?"], "pain") == ("aren't", "nice", "they")


def test_moving_the_threshold_counts_what_would_be_answered(make_outcome: MakeOutcome) -> None:
    def scored(name: str, score: float, **options: Any) -> Outcome:
        return replace(make_outcome(name, **options), score=score)

    outcomes = [
        scored("answered", 0.9),
        replace(scored("unsure", 0.65, answered_with=None), candidates=("pain",), top1=True),
        scored("wrong below", 0.55, answered_with=None),
        scored("novel below", 0.55, pair_id=None, answered_with=None),
        scored("alarm", 0.99, answered_with=None, decision="urgent"),
    ]

    found = {move.answer: move for move in moves(outcomes, 0.7, Verdicts([]))}

    assert [(level, move.right, move.wrong, move.novel) for level, move in found.items()] == [
        (0.5, 2, 1, 1),
        (0.55, 2, 1, 1),
        (0.6, 2, 0, 0),
        (0.65, 2, 0, 0),
        (0.7, 1, 0, 0),
        (0.75, 1, 0, 0),
        (0.8, 1, 0, 0),
    ]
    assert found[0.7].current
    assert found[0.5].worst == pytest.approx(0.4)
    assert best_move(list(found.values())) == found[0.6]


def test_novel_answers_that_raters_called_correct_are_no_harm(make_outcome: MakeOutcome) -> None:
    rater = Rater(kind="person", name="anna")
    verdicts = Verdicts([Label(question_id="n", pair_id="pain", label="correct", rater=rater)])

    assert all(move.novel == 0 for move in moves([make_outcome("n", pair_id=None)], 0.5, verdicts))


def test_no_move_is_advised_where_nothing_is_gained(make_outcome: MakeOutcome) -> None:
    assert best_move(moves([make_outcome("right")], 0.6, Verdicts([]))) is None


@pytest.mark.parametrize(
    ("cause", "changes", "expected"),
    [
        ("gap", {}, "Write variants of pain about: “Brennt”, “Platten”."),
        ("scattered", {}, "Before it came costs (1)."),
        ("confused", {}, "merge costs and pain or set `same_as`"),
        ("threshold", {"first": "pain"}, "Its probability was 0.60."),
        ("background", {"nearest": (CuratedText("", "Guten Tag"),)}, "Review whether these background questions are"),
        ("narrative", {"part": "x"}, "short stories that end in the question"),
        ("mislabelled", {"suspect": TEXT}, "Review these variants of costs, whose neighbours belong to pain"),
        ("alarm", {}, "Write harmless examples"),
        ("intruding", {}, "Where pain is no answer"),
    ],
)
def test_each_cause_has_a_proposal(
    make_clues: Callable[..., Clues], small: Assistant, cause: Cause, changes: dict[str, Any], expected: str
) -> None:
    known = Known(DistinctWords(small.catalog("de")), {frozenset({"pain", "costs"}): CONFUSED})
    clues = make_clues(text="Brennt das mit den Platten so?", **changes)

    (entry,) = entries(cause, [clues], known)

    assert expected in entry.proposal
    assert "Brennt das mit den Platten so?" not in entry.proposal


def test_entries_with_most_misses_come_first(make_clues: Callable[..., Clues], small: Assistant) -> None:
    known = Known(DistinctWords(small.catalog("de")), {})
    one, two = make_clues("wrong"), make_clues("intruding")

    found = entries("gap", [one, two, two], known)

    assert [(entry.pairs, len(entry.clues)) for entry in found] == [(("costs",), 2), (("pain",), 1)]


def test_a_one_sided_confusion_that_may_be_chance_says_so(make_clues: Callable[..., Clues], small: Assistant) -> None:
    weak = replace(CONFUSED, back=0, q_value=0.5)
    known = Known(DistinctWords(small.catalog("de")), {frozenset({"pain", "costs"}): weak})

    (entry,) = entries("confused", [make_clues()], known)

    assert entry.proposal.startswith("Write variants of pain that costs would not be asked with")
    assert entry.proposal.endswith("Among so many pairs, this may still be chance.")
