"""The shipped question-answer pairs keep what is promised about them."""

from collections.abc import Mapping

import pytest

from bot import Catalog

IDS = [
    "what-is-mammography",
    "purpose",
    "procedure",
    "duration",
    "pain",
    "compression",
    "radiation",
    "preparation",
    "deodorant",
    "undressing",
    "jewellery",
    "cycle-timing",
    "pregnancy",
    "breastfeeding",
    "implants",
    "pacemaker",
    "age",
    "frequency",
    "costs",
    "referral",
    "documents",
    "companion",
    "staff",
    "results-when",
    "results-recipient",
    "abnormal-finding",
    "accuracy",
    "ultrasound",
    "mri",
    "tomosynthesis",
    "dense-tissue",
    "men",
    "aftercare",
]

pytestmark = pytest.mark.parametrize("language", ["de", "en"])


def test_it_has_exactly_the_thirty_three_pairs(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert sorted(pair.id for pair in shipped_catalogs[language].pairs) == sorted(IDS)
    assert len(IDS) == 33


def test_every_pair_has_at_least_twenty_variants(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert {pair.id for pair in shipped_catalogs[language].pairs if len(pair.variants) < 20} == set()


def test_answers_have_fifty_to_a_hundred_and_twenty_words(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    outside = {pair.id for pair in shipped_catalogs[language].pairs if not 50 <= len(pair.answer.split()) <= 120}

    assert outside == set()


def test_every_pair_has_an_easy_answer_below_sixty_words(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    lengths = {pair.id: len((pair.easy_answer or "").split()) for pair in shipped_catalogs[language].pairs}

    assert {pair_id for pair_id, words in lengths.items() if not 0 < words < 60} == set()


def test_everything_is_a_draft_that_names_no_approver(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    reviews = [pair.review for pair in shipped_catalogs[language].pairs]

    assert {(review.status, review.by, review.on) for review in reviews} == {("draft", None, None)}


def test_every_pair_has_a_source_that_nobody_claims_to_have_checked(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    pairs = shipped_catalogs[language].pairs

    assert {pair.id for pair in pairs if not pair.sources} == set()
    assert {source.checked for pair in pairs for source in pair.sources} == {None}


def test_every_variant_says_that_a_model_wrote_it(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    authors = [variant.by for pair in shipped_catalogs[language].pairs for variant in pair.variants]

    assert {author.kind if author else None for author in authors} == {"model"}


def test_there_are_background_questions(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert len(shipped_catalogs[language].background) > 100
