"""The shipped question-answer pairs keep what is promised about them."""

from collections.abc import Mapping

import pytest

from bot import Catalog
from bot.catalog.catalog import CountryText, Pair, Source
from bot.catalog.countries import Country
from bot.text import NearCopies
from harness.commands.options import read_list
from harness.patients.suites import load_suite

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
    "warning-signs",
    "lump-and-invitation",
    "biopsy",
    "after-breast-cancer",
    "family-risk",
    "taking-part",
    "my-result",
    "disability",
    "fear",
    "chat-and-data",
]
SUITES = ["", "-blind", "-six", "-ten"]
PUBLISHED = 33  # of these, from the front: those that the published method was compared on

OUT_OF_HOURS: dict[Country, str] = {"DE": "116 117", "AT": "1450", "GB": "111"}

pytestmark = pytest.mark.parametrize("language", ["de", "en"])


def test_it_has_exactly_these_pairs(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert sorted(pair.id for pair in shipped_catalogs[language].pairs) == sorted(IDS)


def test_the_list_of_the_published_comparison_names_its_pairs(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    listed = read_list("published-33")

    assert sorted(listed) == sorted(IDS[:PUBLISHED])
    assert set(listed) <= set(shipped_catalogs[language].by_id)


def test_every_pair_has_at_least_a_hundred_variants(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert {pair.id for pair in shipped_catalogs[language].pairs if len(pair.variants) < 100} == set()


def test_every_answer_and_easy_answer_keeps_near_its_length(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    said = [
        (pair.id, answer, easy, pair.words_target or 0)
        for pair in shipped_catalogs[language].pairs
        for answer, easy in ((one.answer, one.easy_answer) for one in _texts(pair))
    ]

    assert [pair_id for pair_id, _, easy, target in said if not target or not easy] == []
    assert [pair_id for pair_id, answer, _, target in said if len(answer.split()) > 1.5 * target] == []


def test_everything_is_a_draft_that_names_no_approver(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    reviews = [pair.review for pair in shipped_catalogs[language].pairs]

    assert {(review.status, review.by, review.on) for review in reviews} == {("draft", None, None)}


def test_every_pair_has_a_source_and_what_was_checked_tells_where_and_what(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    pairs = shipped_catalogs[language].pairs
    sources = [source for pair in pairs for source in (*pair.sources, *_of_countries(pair))]

    assert {pair.id for pair in pairs if not pair.sources} == set()
    assert [source.title for source in sources if source.checked and not source.passage] == []
    assert [source.title for source in sources if source.checked and not (source.url or "docs/" in source.title)] == []
    assert any(source.checked for source in sources)


@pytest.mark.parametrize("country", ["DE", "AT", "CH", "GB"])
def test_no_answer_names_another_countrys_number(
    shipped_catalogs: Mapping[str, Catalog], language: str, country: Country
) -> None:
    """A number that nobody answers costs time; without a country the kind of service is named, not its number."""
    others = {number for other, number in OUT_OF_HOURS.items() if other != country}
    said = [pair.countries[country] for pair in shipped_catalogs[language].pairs if country in pair.countries]
    texts = [text for one in said for text in (one.answer, one.easy_answer or "")]
    plain = [text for pair in shipped_catalogs[language].pairs for text in (pair.answer, pair.easy_answer or "")]

    assert [text for text in texts if any(number in text for number in others)] == []
    assert [text for text in plain if any(number in text for number in OUT_OF_HOURS.values())] == []


def test_every_variant_says_that_a_model_wrote_it(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    authors = [variant.by for pair in shipped_catalogs[language].pairs for variant in pair.variants]

    assert {author.kind if author else None for author in authors} == {"model"}


def test_there_are_background_questions(shipped_catalogs: Mapping[str, Catalog], language: str) -> None:
    assert len(shipped_catalogs[language].background) > 100


def test_training_calibration_and_suites_share_no_near_copy(
    shipped_catalogs: Mapping[str, Catalog], language: str
) -> None:
    catalog = shipped_catalogs[language]
    trained = [variant.text for pair in catalog.pairs for variant in pair.variants] + list(catalog.background)
    asked = [question.text for name in SUITES for question in load_suite(f"mammography{name}-{language}").questions]
    learned, kept_apart = NearCopies(), NearCopies()
    for text in trained:
        learned.add(text, "")
    for text in asked:
        kept_apart.add(text, "")
    calibrated = [question.text for question in catalog.calibration]

    assert [text for text in calibrated if learned.find(text) or kept_apart.find(text)] == []
    assert [text for text in trained if kept_apart.find(text)] == []


def _of_countries(pair: Pair) -> list[Source]:
    return [source for text in pair.countries.values() for source in text.sources]


def _texts(pair: Pair) -> list[Pair | CountryText]:
    return [pair, *pair.countries.values()]
