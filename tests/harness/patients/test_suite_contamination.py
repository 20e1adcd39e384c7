"""Test questions that are also training texts are found; the shipped suites hold none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from bot import Assistant, Catalog
from harness.commands.options import read_list
from harness.patients.suites import Question, Suite, contamination, load_suite

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


def test_a_variant_asked_in_a_test_is_found_under_its_pair(
    small: Assistant, make_suite: MakeSuite, make_question: MakeQuestion
) -> None:
    suite = make_suite(
        [make_question(1, "HABE ich dabei Schmerzen!", "costs"), make_question(2, "Ganz etwas anderes?")]
    )

    found = contamination(suite, small.catalog("de"))

    assert [(item.question.text, item.text, item.pair_id, item.similarity) for item in found] == [
        ("HABE ich dabei Schmerzen!", "Habe ich dabei Schmerzen?", "pain", 1.0)
    ]


def test_the_pairs_own_question_may_be_asked(
    small: Assistant, make_suite: MakeSuite, make_question: MakeQuestion
) -> None:
    suite = make_suite([make_question(1, "Tut die Untersuchung weh?")])

    assert contamination(suite, small.catalog("de")) == []


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Muss ich vor der Untersuchung meiner Brust am Montag wirklich nüchtern sein oder nicht bitte danke", True),
        ("Muss ich vor der Untersuchung meiner Brust am Dienstag oder am Mittwoch wirklich nüchtern sein?", False),
    ],
)
def test_long_questions_with_nearly_the_same_words_are_found(
    shipped_catalogs: Mapping[str, Catalog],
    make_suite: MakeSuite,
    make_question: MakeQuestion,
    text: str,
    near: bool,
) -> None:
    training = "Muss ich vor der Untersuchung meiner Brust am Montag wirklich nüchtern sein oder nicht bitte?"
    catalog = shipped_catalogs["de"]
    pair = catalog.pairs[0].model_copy(
        update={"variants": (catalog.pairs[0].variants[0].model_copy(update={"text": training}),)}
    )
    one_pair = replace(catalog, pairs=(pair,), background=())

    assert bool(contamination(make_suite([make_question(1, text)]), one_pair)) is near


def test_a_background_question_asked_in_a_test_is_found(
    shipped_catalogs: Mapping[str, Catalog], make_suite: MakeSuite, make_question: MakeQuestion
) -> None:
    background = shipped_catalogs["de"].background[0]

    found = contamination(make_suite([make_question(1, background)]), shipped_catalogs["de"])

    assert [(item.text, item.pair_id) for item in found] == [(background, "")]


@pytest.mark.parametrize(("language", "paraphrases", "novel", "per_pair"), [("de", 990, 60, 10), ("en", 495, 30, 5)])
def test_shipped_suites_are_complete_and_clean(
    shipped_catalogs: Mapping[str, Catalog], language: str, paraphrases: int, novel: int, per_pair: int
) -> None:
    suite = load_suite(f"mammography-{language}")

    assert Counter(question.kind for question in suite.questions) == {"paraphrase": paraphrases, "novel": novel}
    assert suite.meta.counts == {"paraphrase": paraphrases, "novel": novel}
    assert contamination(suite, shipped_catalogs[language]) == []
    groups = Counter((question.vignette, question.pair_id) for question in suite.paraphrases)
    assert set(groups.values()) == {per_pair}
    assert {pair_id for _, pair_id in groups} == set(read_list("published-33"))


@pytest.mark.parametrize("language", ["de", "en"])
def test_shipped_suites_say_that_a_model_wrote_them(language: str) -> None:
    suite = load_suite(f"mammography-{language}")

    assert "same model family" in suite.meta.note
    assert {(q.source.kind, q.source.answered, q.lang) for q in suite.questions} == {("model", "offline", language)}
    assert all(question.source.model and question.source.prompt for question in suite.questions)
    assert len({question.id for question in suite.questions}) == len(suite.questions)
