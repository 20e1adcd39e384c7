"""The languages that are shipped: complete, opened only for a catalog that has them, and a site's own stands in their place."""

from __future__ import annotations

import pytest

from bot.languages.check import problems_of
from bot.languages.files import FILES, forget, further, known, load, packaged, shipped
from bot.languages.opening import open_languages
from bot.release.contents import Contents
from tests.bot.languages.samples import LANGUAGES, THORAX


@pytest.mark.parametrize("language", shipped())
def test_a_shipped_language_is_complete_with_all_that_is_learned_from(language: str) -> None:
    files = further(None, [language])[language]

    assert list(problems_of(language, files)) == []
    assert [name for name in FILES if name not in files] == ["simple_words.tsv"]


def test_it_is_known_from_when_a_catalog_wants_it_without_a_sites_folder() -> None:
    open_languages(None, ["de"])
    assert known() == packaged()

    open_languages(None, ["de", "fr"])

    assert known() == (*packaged(), "fr")
    forget()


def test_a_sites_own_stands_in_its_place_whole() -> None:
    open_languages(LANGUAGES, ["fr"])

    assert load("fr", "background.yaml")["talk"][-1] == "Vous êtes un robot ?"
    assert load("fr", "difficult_words.yaml") is None  # the shipped ones are not put beside it
    forget()


def test_what_is_shown_of_a_shipped_language_is_signed_and_held_by_a_release_as_a_sites_is() -> None:
    contents = Contents.gather(THORAX, site=None, questionnaire=None)

    assert "language fr" in {subject.what for subject in contents.subjects()}
    assert "languages/fr/red_flags.yaml" in contents.files
    forget()
