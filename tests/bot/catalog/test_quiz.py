"""A quiz as part of a pair: what is signed of it, how it is named, and what a country's patients see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.catalog.approval import pair_subject
from bot.catalog.catalog import Catalog, CountryText, Pair, load_catalog
from bot.catalog.quiz import QUIZ_STEPS, Quiz, Quizzed
from bot.sentences.spelling import released
from tests.bot.quizzes import a_quiz, write_quizzed_catalog

QUIZ = Quiz.model_validate(a_quiz("de"))


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return load_catalog(write_quizzed_catalog(tmp_path_factory.mktemp("quizzed")), "de")


def test_what_a_pair_without_quiz_is_signed_as_has_not_changed(small_folder: Path) -> None:
    plain = load_catalog(small_folder, "de")

    # As it was before quizzes had a type: signatures that were given then still hold.
    assert pair_subject(plain, plain.pair("pain")).text == PLAIN


PLAIN = "e7cd445819ef4f857e7606c6f75b7b934988b02190ed406b17fecdf2e98246f5"


@pytest.mark.parametrize("field", ["context", "question", "answer", "distractors"])
def test_whatever_patients_see_of_a_quiz_is_signed_with_its_pair(catalog: Catalog, field: str) -> None:
    pair = catalog.pair("pain")
    value = ("Anders",) if field == "distractors" else "Anders"
    quiz = pair.quizzes[0].model_copy(update={field: value})
    changed = pair.model_copy(update={"quizzes": (quiz,)})

    assert pair_subject(catalog, changed).text != pair_subject(catalog, pair).text
    assert quiz.hash != pair.quizzes[0].hash


def test_a_quiz_keeps_its_name_in_the_spelling_of_switzerland(catalog: Catalog) -> None:
    quiz = QUIZ.model_copy(update={"question": "Wie groß ist es?"})
    pair = catalog.pair("pain").model_copy(update={"quizzes": (quiz,)})
    there = released(_with(catalog, pair), "CH").pair("pain").quizzes[0]

    assert there.question == "Wie gross ist es?"
    assert there.hash == quiz.hash


def test_where_a_country_has_an_answer_of_its_own_no_quiz_is_asked_on_the_other(catalog: Catalog) -> None:
    own = {"AT": CountryText(answer="Anders.")}
    pair = catalog.pair("pain").model_copy(update={"countries": own})

    assert released(_with(catalog, pair), "AT").pair("pain").quizzes == ()
    assert released(_with(catalog, pair), "AT").pair("costs").quizzes
    assert released(_with(catalog, pair), "DE").pair("pain").quizzes


def _with(catalog: Catalog, pair: Pair) -> Catalog:
    return replace(catalog, pairs=tuple(pair if each.id == pair.id else each for each in catalog.pairs))


@pytest.mark.parametrize("step", QUIZ_STEPS)
@pytest.mark.parametrize("option", [None, 0, 3])
def test_what_is_kept_of_a_turn_is_read_back(step: str, option: int | None) -> None:
    kept = Quizzed(f"pain@{QUIZ.hash}", step, option)  # type: ignore[arg-type]

    assert Quizzed.read(str(kept)) == kept
    assert (kept.pair_id, kept.quiz) == ("pain", QUIZ.hash)


@pytest.mark.parametrize("written", ["", "pain", "pain right", "pain@1 perfect", "@ "])
def test_what_was_not_kept_so_is_nothing(written: str) -> None:
    assert Quizzed.read(written) is None
