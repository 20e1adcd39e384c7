"""Reading ease, against values computed by hand."""

import pytest

from bot.catalog.readability import Readability, measure, syllables
from bot.catalog.statements import sentences


@pytest.mark.parametrize(
    ("word", "language", "count"),
    [
        ("Brust", "de", 1),
        ("Mammographie", "de", 4),
        ("Untersuchung", "de", 4),
        ("Röntgen", "de", 2),
        ("Arzt", "de", 1),
        ("keine", "de", 2),
        ("Deutschland", "de", 2),
        ("Abend", "de", 2),
        ("e-card", "de", 2),
        ("breast", "en", 1),
        ("pain", "en", 1),
        ("machine", "en", 2),
        ("table", "en", 2),
        ("the", "en", 1),
        ("examination", "en", 5),
        ("x", "en", 1),
    ],
)
def test_syllables_are_counted(word: str, language: str, count: int) -> None:
    assert syllables(word, language) == count


def test_german_reading_ease_is_amstads() -> None:
    # 6 words of one syllable in 2 sentences.
    found = measure("Tut das weh? Es geht rasch.", "de")

    assert (found.words, found.words_per_sentence) == (6, 3.0)
    assert found.reading_ease == pytest.approx(180 - 3 - 58.5)


def test_english_reading_ease_is_fleschs() -> None:
    # 8 words in 2 sentences; with pain-ful and ta-ble 10 syllables.
    found = measure("It is not painful. The table is low.", "en")

    assert (found.words, found.words_per_sentence) == (8, 4.0)
    assert found.reading_ease == pytest.approx(206.835 - 1.015 * 4 - 84.6 * 10 / 8)


def test_numbers_count_as_words_of_a_text_but_have_no_syllables() -> None:
    assert measure("Es dauert 10 Minuten.", "de").words == 4


@pytest.mark.parametrize("text", ["", "   ", "12 34", "…"])
def test_text_without_words_measures_zero(text: str) -> None:
    assert measure(text, "de") == Readability(0, 0, 0.0)


@pytest.mark.parametrize("text", ["Wichtig: Kein Deo. Kommen Sie um 10.30 Uhr!", "Ja. 5 von 100 Frauen. Sonst nicht."])
def test_sentences_are_those_that_lint_names_and_their_mean_and_number_make_all_words(text: str) -> None:
    found = measure(text, "de")

    assert found.sentences == len(sentences(text))
    assert found.words_per_sentence * found.sentences == pytest.approx(found.words)
