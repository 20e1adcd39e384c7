"""The languages that are shipped: complete, opened only for a catalog that has them, and a site's own stands in their place."""

from __future__ import annotations

import pytest

from bot.interview.reading.numbers import with_numbers
from bot.interview.reading.vocabulary import cut, words_for
from bot.languages.check import problems_of
from bot.languages.files import FILES, forget, further, known, load, packaged, shipped
from bot.languages.opening import open_languages
from bot.matching.red_flags import load_red_flags
from bot.release.contents import Contents
from bot.talk.messages import asks_easier, switches_to
from tests.bot.languages.samples import LANGUAGES, THORAX


@pytest.mark.parametrize("language", shipped())
def test_a_shipped_language_is_complete_with_all_that_is_learned_from(language: str) -> None:
    files = further(None, [language])[language]

    assert list(problems_of(language, files)) == []
    # Whole messages of all shipped languages stand together in one file.
    assert [name for name in FILES if name not in files] == ["plain.yaml", "simple_words.tsv"]


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


def test_french_alarms_are_heard_as_patients_type_them_and_everyday_talk_is_none() -> None:
    open_languages(None, ["fr"])
    rules = load_red_flags("fr")
    urgent = {
        "jpeu plu respirer": "breathing",
        "j'ai de la peine à respirer depuis tantôt": "breathing",
        "ca me serre dans la poitrine et le bras gauche": "chest-pain",
        "mon mari a la bouche de travers": "stroke",
        "jai pris toute la boite": "overdose",
        "jveux mourir": "suicide",
        "ma langue gonfle": "allergy",
        "ma biopsie saigne à travers le pansement": "bleeding",
        "il est tombé dans les pommes": "collapse",
        "39 de fièvre et des frissons, je suis sous chimio": "acute",
    }
    calm = ["j'ai eu un infarctus il y a 6 ans", "je suis morte de trouille", "on étouffe ici", "ça fait mal ?"]

    assert {text: rules.check(text) for text in urgent} == urgent
    assert [text for text in calm if rules.check(text)] == []
    forget()


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("soixante-dix-huit", 78),
        ("quatre-vingt-deux", 82),
        ("septante-trois", 73),
        ("vingt et un", 21),
        ("cent deux", 102),
    ],
)
def test_french_numbers_of_several_words_are_one(said: str, number: int) -> None:
    open_languages(None, ["fr"])
    words = words_for("fr")

    assert [token.value for token in with_numbers(cut(said, words.fold), words).tokens] == [number]
    assert [token.text for token in cut("l'année d'aujourd'hui", words.fold).tokens] == [
        "l",
        "annee",
        "d",
        "aujourdhui",
    ]
    forget()


def test_languages_are_asked_for_by_name_in_each_others_words() -> None:
    open_languages(None, ["fr"])
    asked = {
        "de": ["Deutsch bitte", "allemand", "auf deutsch", "In German, please"],
        "en": ["Can we speak English please?", "anglais", "I speak only English", "Englisch bitte"],
        "fr": ["français", "parlez français s'il vous plaît", "Französisch bitte", "in French please"],
    }

    wrong = {
        text: switches_to(text) for language, texts in asked.items() for text in texts if switches_to(text) != language
    }

    assert wrong == {}
    assert [text for text in ("plus simple svp", "Plus simple, s'il vous plaît") if not asks_easier(text)] == []
    forget()
