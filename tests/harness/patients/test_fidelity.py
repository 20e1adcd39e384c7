"""What is counted in a question, and how much chance a short one is allowed."""

from __future__ import annotations

import math
import re

import pytest

from bot import BadData, fold, measure, syllables
from harness.patients.fidelity import SYLLABLE_DEVIATION, chance, count, ease_error, misses
from harness.patients.lexicon import load_lexicon, tokens
from harness.patients.suites import load_suite
from harness.patients.vignettes import Targets


def targets(**given: tuple[float, float]) -> Targets:
    """Ranges that leave open what is not given."""
    return Targets.model_validate({"words": (0, 100), "reading_ease": (-500, 300), "jargon_share": (0, 1), **given})


@pytest.mark.parametrize(
    ("text", "jargon"),
    [
        ("Tut die Mammographie weh?", 0),
        ("Wie hoch ist die Strahlenexposition in mSv?", 2),
        ("Wie oft kommen falsch-positive Befunde vor?", 2),
        ("Wann erhalte ich meinen BI-RADS-Befund?", 2),
        ("Brauche ich bei DCIS eine Vakuumbiopsie?", 2),
        ("Wird die Brust vorher abgetastet?", 0),
        ("Ist der CC-Aufnahme eine MLO-Projektion beigefügt?", 3),
    ],
)
def test_german_jargon_is_counted_by_word(text: str, jargon: int) -> None:
    assert count(text, load_lexicon("de", "en")).jargon == jargon


@pytest.mark.parametrize(
    ("text", "jargon"),
    [
        ("Does a mammogram hurt?", 0),
        ("What is the false-positive rate and the breast density?", 4),
        ("Is pregnancy a contraindication?", 1),
        ("Is the dose measured in mSv?", 2),
    ],
)
def test_english_jargon_is_counted_by_word(text: str, jargon: int) -> None:
    assert count(text, load_lexicon("en", "de")).jargon == jargon


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Muss ich für die Brustuntersuchung nüchtern sein?", []),
        ("Muß ich fuer die Untersuchung nuechtern sein?", []),  # old and Swiss spellings are no mistakes
        ("Wird mein Brustdrüsengewebe durchleuchtet?", []),
        ("mus ich zur Mamografi den Schritmacher zeign", ["mamografi", "schritmacher", "zeign"]),
        ("Termin am 12.3. um 9:30, geht das?", []),
    ],
)
def test_words_in_no_list_are_found_and_compounds_are_not(text: str, unknown: list[str]) -> None:
    lexicon = load_lexicon("de", "en")

    assert [token for token in tokens(text) if lexicon.kind(token) == "unknown"] == unknown
    assert count(text, lexicon).typos == len(unknown)


@pytest.mark.parametrize(
    ("language", "other", "text", "foreign"),
    [
        ("de", "en", "Muss ich fasting sein before the Untersuchung?", ["fasting", "before", "the"]),
        ("de", "en", "Hat das Baby ein Problem mit dem Port?", []),  # both languages have these
        ("en", "es", "Do I come en ayunas for the mammogram, o puedo desayunar?", ["ayunas", "puedo", "desayunar"]),
        ("en", "de", "Does the Krankenkasse pay?", ["krankenkasse"]),
    ],
)
def test_words_of_another_language_are_told_from_shared_ones(
    language: str, other: str, text: str, foreign: list[str]
) -> None:
    lexicon = load_lexicon(language, other)

    found = [token for token in tokens(text) if lexicon.kind(token) == "foreign"]

    assert [token for token in found if len(token) > 2] == foreign


def test_tokens_are_folded_as_the_assistant_folds_and_word_lists_agree() -> None:
    assert tokens("Größe, weiß, Café, don't, BI-RADS") == ["groesse", "weiss", "cafe", "dont", "bi", "rads"]
    for word in ("größe", "weiß", "für", "überweisung", "café"):
        assert fold(word) in load_lexicon("de", "en").own or word == "café"


def test_counts_and_shares() -> None:
    counts = count("Hallo, ist die Dosis HOCH??", load_lexicon("de", "en"))

    assert (counts.words, counts.tokens, counts.capitals, counts.marks) == (5, 5, 3, 3)
    assert counts.values["capital_share"] == pytest.approx(0.6)
    assert counts.values["marks_per_word"] == pytest.approx(0.6)
    assert counts.values["jargon_share"] == pytest.approx(0.2)
    assert counts.values["reading_ease"] == measure("Hallo, ist die Dosis HOCH??", "de").reading_ease


@pytest.mark.parametrize("text", ["", "???", "12 34", "🙂"])
def test_a_text_without_words_breaks_nothing(text: str) -> None:
    counts = count(text, load_lexicon("de", "en"))

    assert all(math.isfinite(value) for value in counts.values.values())
    assert counts.typos == 0


def test_a_language_without_word_list_is_one_clear_line() -> None:
    with pytest.raises(BadData, match=r"no word list for 'fr'\. Write .+fr\.yaml"):
        load_lexicon("fr", "en")


def test_one_technical_term_in_a_short_question_is_no_outlier_and_three_are() -> None:
    ranges = targets(jargon_share=(0.0, 0.1))
    lexicon = load_lexicon("de", "en")

    one = count("Was ist eine Biopsie?", lexicon)
    three = count("Ist die Biopsie der Läsion indiziert?", lexicon)

    assert one.values["jargon_share"] > 0.1
    assert misses(one, ranges, "de") == []
    assert [(miss.measure, miss.side) for miss in misses(three, ranges, "de")] == [("jargon_share", "too high")]


def test_a_lower_end_is_missed_only_by_texts_long_enough_to_show_it() -> None:
    ranges = targets(jargon_share=(0.1, 0.5))
    lexicon = load_lexicon("de", "en")
    plain = "Ich komme nächste Woche mit meiner Tochter zu Ihnen und möchte wissen, ob wir beide zusammen "

    assert misses(count("Tut das weh?", lexicon), ranges, "de") == []
    long = count(plain + "in das Zimmer gehen dürfen, weil ich etwas Angst habe und mich dann wohler fühle.", lexicon)
    assert [miss.side for miss in misses(long, ranges, "de")] == ["too low"]


def test_words_are_exact_and_readability_is_allowed_its_error() -> None:
    lexicon = load_lexicon("de", "en")
    easy = count("Tut das weh?", lexicon)

    assert [m.measure for m in misses(easy, targets(words=(4, 9)), "de")] == ["words"]
    near = easy.reading_ease - 0.9 * 1.645 * ease_error(3, "de")
    far = easy.reading_ease - 1.1 * 1.645 * ease_error(3, "de")
    assert misses(easy, targets(reading_ease=(-300.0, near)), "de") == []
    assert [m.side for m in misses(easy, targets(reading_ease=(-300.0, far)), "de")] == ["too high"]


@pytest.mark.parametrize(
    ("hits", "n", "rate", "above", "expected"),
    [
        (2, 2, 0.5, True, 0.25),
        (0, 3, 0.5, False, 0.125),
        (0, 5, 0.3, True, 1.0),
        (1, 4, 0.1, True, 1 - 0.9**4),
        (1, 4, 0.0, True, 0.0),
    ],
)
def test_chance_is_that_of_the_binomial(hits: int, n: int, rate: float, above: bool, expected: float) -> None:
    assert chance(hits, n, rate, above=above) == pytest.approx(expected)


def test_marks_may_outnumber_words() -> None:
    assert chance(2, 1, 0.5, above=True, poisson=True) == pytest.approx(1 - 1.5 * math.exp(-0.5))


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_spread_of_syllables_is_that_of_the_recorded_questions(language: str) -> None:
    """The error of readability rests on a constant; it must be the one that the shipped suites show."""
    texts = [q.text for name in ("", "blind-") for q in load_suite(f"mammography-{name}{language}").questions]
    counted = [syllables(word, language) for text in texts for word in re.findall(r"[^\W\d_]+", text)]
    mean = sum(counted) / len(counted)

    deviation = math.sqrt(sum((value - mean) ** 2 for value in counted) / len(counted))

    assert deviation == pytest.approx(SYLLABLE_DEVIATION[language], abs=0.03)
