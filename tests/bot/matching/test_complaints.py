"""Complaints: a level by probabilities, the most urgent that is likely enough; learned from authors not seen."""

from __future__ import annotations

import numpy as np
import pytest

from bot.catalog.catalog import load_catalog, locate
from bot.matching.complaints import LEVELS, URGENCY, level_of
from bot.matching.training import beside, health_texts
from bot.text import NearCopies


@pytest.mark.parametrize(
    ("likely", "level"),
    [
        ((0.02, 0.03, 0.9, 0.03, 0.02), "days"),
        ((0.0, 0.4, 0.5, 0.1, 0.0), "today"),  # the likeliest is "days", but "today" is likely enough
        ((0.1, 0.3, 0.5, 0.1, 0.0), "today"),
        ((0.7, 0.1, 0.1, 0.0, 0.1), "now"),
        ((0.0, 0.1, 0.2, 0.1, 0.6), "other"),
        ((0.0, 0.0, 0.1, 0.8, 0.1), "appointment"),
    ],
)
def test_a_level_counts_as_soon_as_it_and_all_that_is_more_urgent_is_likely_enough(
    likely: tuple[float, ...], level: str
) -> None:
    assert level_of(np.array([0.0, *likely])) == level


def test_what_is_now_and_raised_no_alarm_is_told_to_ask_today() -> None:
    assert [URGENCY.get(level) for level in LEVELS] == ["today", "today", "days", "appointment", None]


@pytest.mark.parametrize("language", ["de", "en"])
def test_complaints_are_of_many_authors_and_of_all_levels(language: str) -> None:
    found = [one for one in health_texts(language) if one.author.startswith("complaints")]

    assert len({one.author for one in found}) >= 5
    assert {LEVELS[one.level] for one in found} == set(LEVELS)


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_what_no_pair_answers_is_no_near_copy_of_a_calibration_question(language: str) -> None:
    catalog = load_catalog(locate("mammography"), language)
    known = NearCopies()
    for one in beside(catalog):
        known.add(one.text, one.author)

    assert [question.text for question in catalog.calibration if known.find(question.text)] == []


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_pair_has_near_misses_of_six_authors(language: str) -> None:
    catalog = load_catalog(locate("mammography"), language)
    authors: dict[str, set[str]] = {}
    for one in catalog.near_misses:
        if one.pair:  # posts are near to no pair in particular
            authors.setdefault(one.pair, set()).add(one.author)

    assert set(authors) == set(catalog.by_id)
    assert min(len(each) for each in authors.values()) >= 6
