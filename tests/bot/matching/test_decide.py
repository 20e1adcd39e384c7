"""Answer, ask back, or decline."""

import numpy as np
import pytest

from bot.matching.decide import (
    Answered,
    Candidate,
    Clarify,
    Declined,
    Thresholds,
    decide,
    decide_by_cosine,
    decide_message,
    last_questions,
    offer_asked,
    read_stories,
    says_nothing,
    word_for_word,
)
from bot.text import sanitise

THRESHOLDS = Thresholds(answer=0.6, clarify=0.7, cosine=0.5)


def _ranked(*scores: float) -> list[Candidate]:
    return [Candidate(f"pair-{number}", score) for number, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.9, 0.05), "answer"),
        ((0.6, 0.3), "answer"),  # the threshold itself is enough
        ((0.59, 0.2, 0.1), "clarify 2"),
        ((0.4, 0.2, 0.1, 0.1), "clarify 3"),
        ((0.4, 0.2, 0.05, 0.2), "decline"),  # only three are ever offered
        ((0.3, 0.1), "decline"),
        ((0.59,), "decline"),  # one pair is no choice
        ((), "decline"),
    ],
)
def test_decide_follows_the_thresholds(scores: tuple[float, ...], expected: str) -> None:
    ranked = _ranked(*scores)

    decision = decide(ranked, THRESHOLDS)

    match decision:
        case Answered(best):
            assert (expected, best) == ("answer", ranked[0])
        case Clarify(choices):
            assert (expected, list(choices)) == (f"clarify {len(choices)}", ranked[: len(choices)])
        case Declined():
            assert expected == "decline"


def test_decide_offers_the_likeliest_pairs_in_order() -> None:
    assert decide(_ranked(0.4, 0.2, 0.15), THRESHOLDS) == Clarify(tuple(_ranked(0.4, 0.2, 0.15)))


def test_decide_says_why_it_declines() -> None:
    decision = decide(_ranked(0.3, 0.1), THRESHOLDS)

    assert decision == Declined("best pair 0.300 < 0.600, the 2 best together 0.400 < 0.700")


def test_decide_declines_when_nothing_may_be_shown() -> None:
    assert decide([], THRESHOLDS) == Declined("the catalog has no pair that may be shown")
    assert decide_by_cosine("tut das weh", [], THRESHOLDS) == Declined("the catalog has no pair that may be shown")


@pytest.mark.parametrize(
    ("text", "cosine", "expected"),
    [
        ("tut das weh?", 0.5, Answered(Candidate("pair-0", 0.5))),
        ("tut das weh?", 0.499, Declined("cosine 0.499 < 0.500")),
        ("weh?", 0.99, Declined("1 words < 3")),
        ("tut's", 0.99, Declined("2 words < 3")),
        ("", 0.99, Declined("0 words < 3")),
    ],
)
def test_the_published_method_wants_three_words_and_the_threshold(
    text: str, cosine: float, expected: Answered | Declined
) -> None:
    assert decide_by_cosine(text, _ranked(cosine), THRESHOLDS) == expected


def test_the_published_method_has_a_threshold_of_one_half_by_default() -> None:
    assert Thresholds().cosine == 0.5


@pytest.mark.parametrize("text", ["ßßßßßßßßßß", "ẞẞẞ", "sssss sssss", "zzz ... mmmm!", "1111111", "???", ""])
def test_one_key_held_down_asks_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize("text", ["ßßß schwanger?", "deo", "mrt", "op", "aa", "aaaaua", "was kosssstet das"])
def test_words_ask_something(text: str) -> None:
    assert not says_nothing(text)


def test_a_sentence_that_asks_lifts_its_pair_above_what_the_whole_story_is_about() -> None:
    whole = [0.4, 0.3, 0.05]
    asks, tells = [0.02, 0.95, 0.01], [0.02, 0.02, 0.02]
    short = [0.1, 0.2, 0.6]

    story, alone, as_it_was = read_stories(np.array([whole, whole, short, asks, tells, tells], np.float32), [2, 1, 0])

    assert story.argmax() == 1
    assert story[1] > alone[1]  # a sentence that only tells something lifts none
    assert as_it_was.tolist() == pytest.approx(short)  # no story
    assert 0 < story.sum() < 1  # the rest is "none of these"
    assert alone.max() < max(whole)


def test_a_story_is_asked_back_about_sooner_than_a_short_question() -> None:
    assert isinstance(decide(_ranked(0.2, 0.1, 0.05), THRESHOLDS), Declined)
    assert decide(_ranked(0.2, 0.1, 0.05), THRESHOLDS, story=True) == Clarify(tuple(_ranked(0.2, 0.1)))
    assert isinstance(decide(_ranked(0.1, 0.1, 0.05), THRESHOLDS, story=True), Declined)


def test_what_a_story_asks_at_last_is_asked_back_about_where_all_of_it_is_declined() -> None:
    scores = np.array([[0.0, 0.0, 0.0]] * 2 + [[0.1, 0.0, 0.9], [0.8, 0.1, 0.0], [0.0, 0.1, 0.0]], np.float32)

    first, second = last_questions(scores, [("Es war kalt.", "Tut es weh?", "Danke."), ()])

    assert first is not None
    assert second is None
    assert first.tolist() == pytest.approx([0.8, 0.1, 0.0])
    pairs = ("pair-0", "pair-1", "pair-2")
    offered = offer_asked(first, pairs, THRESHOLDS)
    assert offered is not None
    assert [one.pair_id for one in offered.choices] == ["pair-0", "pair-1", "pair-2"]
    assert offer_asked(np.array([0.3, 0.1, 0.0], np.float32), pairs, THRESHOLDS) is None
    long = sanitise("Es war kalt. Tut es weh? Danke. " + "Und dann war noch etwas mit dem Bus und dem Regen. " * 3)
    assert decide_message(long, _ranked(0.1, 0.05), THRESHOLDS, last=offered) == offered
    assert decide_message(long, _ranked(0.9, 0.05), THRESHOLDS, last=offered) == Answered(Candidate("pair-0", 0.9))


def test_a_pairs_own_question_word_for_word_is_that_pairs() -> None:
    ranked = _ranked(0.3, 0.2)
    questions = {"pair-0": "Was kostet das?", "pair-1": "Wie lange dauert das?"}

    asked = word_for_word("wie lange dauert das", ranked, questions.__getitem__)

    assert asked == ranked[1]
    assert decide_message(sanitise("wie lange dauert das"), ranked, THRESHOLDS, asked=asked) == Answered(ranked[1])
    assert word_for_word("wie lange dauert das denn", ranked, questions.__getitem__) is None
    assert word_for_word("Was kostet das?", ranked, lambda _: "Was kostet das?") is None  # two pairs have it
    assert word_for_word("?", ranked, lambda _: "??") is None
