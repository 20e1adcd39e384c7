"""Disguised letters are read; plain text is left alone."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.matching.red_flags import MAX_READINGS, Speller, load_examples, load_red_flags, readings
from bot.text import passages, sanitise, seen, words

GERMAN = Speller.of(text for _, text in load_examples("de").urgent)
UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u180e\u034f\u3164\u2063\U000e0061\u115f\u17b4\ufe0f\u202e\ufff9\x08\x00"
EMERGENCIES = {
    "de": (
        "ich kriege keine Luft mehr",
        "ich will mich umbringen",
        "er ist bewusstlos",
        "starke Blutung hört nicht auf",
    ),
    "en": ("i can't breathe", "i want to kill myself", "she is unconscious", "the bleeding won't stop"),
}


def _inside(text: str, mark: str) -> str:
    """Put a mark into every word, after its second letter."""
    return " ".join(word[:2] + mark + word[2:] if len(word) > 3 else word for word in text.split())


DISGUISES: dict[str, Callable[[str], str]] = {
    "cyrillic": lambda text: text.translate(str.maketrans("aeopcxy", "аеорсху")),
    "greek": lambda text: text.translate(str.maketrans("aoiun", "αοιυη")),
    "full width": lambda text: "".join(chr(ord(mark) + 0xFEE0) if "a" <= mark <= "z" else mark for mark in text),
    "mathematical": lambda text: "".join(
        chr(0x1D41A + ord(mark) - 97) if "a" <= mark <= "z" else mark for mark in text
    ),
    "spelled": lambda text: " ".join(text.replace(" ", "").replace("'", "")),
    "dotted": lambda text: " ".join(".".join(word) for word in text.replace("'", "").split()),
    "dashes": lambda text: _inside(text, "-"),
    "stars": lambda text: _inside(text, "*"),
    "digits": lambda text: text.translate(str.maketrans("eio", "310")),
    "stretched": lambda text: "".join(mark * 3 if mark in "aou" else mark for mark in text),
    "accents": lambda text: "".join(mark + "\u0336\u0489" if mark.isalpha() else mark for mark in text),
    "upper": str.upper,
}


@pytest.mark.parametrize("mark", UNSEEN, ids=[f"U+{ord(mark):04X}" for mark in UNSEEN])
def test_what_no_screen_shows_splits_no_word(mark: str) -> None:
    assert sanitise(f"Lu{mark}ft um{mark}bringen").text == "Luft umbringen"


@pytest.mark.parametrize("language", EMERGENCIES)
@pytest.mark.parametrize("mark", UNSEEN, ids=[f"U+{ord(mark):04X}" for mark in UNSEEN])
def test_invisible_characters_hide_no_emergency(language: str, mark: str) -> None:
    rules = load_red_flags(language)

    assert [text for text in EMERGENCIES[language] if rules.check(seen(mark.join(text))) is None] == []


@pytest.mark.parametrize("language", EMERGENCIES)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_disguised_letters_hide_no_emergency(language: str, disguise: str) -> None:
    rules, undo = load_red_flags(language), DISGUISES[disguise]

    assert [text for text in EMERGENCIES[language] if rules.check(seen(undo(text))) is None] == []


@pytest.mark.parametrize("language", EMERGENCIES)
def test_emergencies_are_found_behind_any_length_of_other_text(language: str) -> None:
    rules = load_red_flags(language)
    before = {"de": "Ich habe noch eine Frage zum Termin. ", "en": "I have another question about the date. "}[language]

    for times in (30, 130, 1500):
        assert rules.check(seen(before * times + EMERGENCIES[language][0])) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Kann ich am 12.5. um 8 Uhr kommen?",
        "Ich bin 1,65 m und 70 kg.",
        "Termin am Fr, 3. Mai",
        "z. B. Deo, Creme usw.",
        "don't, can't, we'll",
        "Schmerzen nein, Knoten nein",
    ],
)
def test_plain_text_has_no_other_reading(text: str) -> None:
    assert readings(text, GERMAN) == ()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "ich kriege keine Luuuuuuft mehr"),
        ("de", "ich will mich &uuml;brigens umbringen"),
        ("de", "&#105;ch will mich umbringen"),
        ("de", "ichkriegekeineluft"),
        ("en", "i caaaaan't breeeeathe"),
        ("en", "i can&#39;t breathe"),
        ("en", "icantbreathe"),
    ],
)
def test_drawn_out_letters_entities_and_words_run_together_hide_no_emergency(language: str, text: str) -> None:
    rules, speller = load_red_flags(language), Speller.of(text for _, text in load_examples(language).urgent)

    found = [rules.check(each) for each in readings(sanitise(text).text, speller)]
    assert any(found)


def test_letters_without_spaces_become_the_words_of_the_language() -> None:
    assert GERMAN.split("ichkriegekeineluft") == "ich kriege keine luft"


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_few_readings_that_can_be_folded(text: str) -> None:
    found = readings(sanitise(text).text, GERMAN)

    assert len(found) <= MAX_READINGS
    assert all(isinstance(words(said), list) for said in found)


@pytest.mark.parametrize(
    "piece",
    ["x", "a ", "k. ", "luft", "1e", "ä", ". ", "Lu\u00adft ", "a1 ", "\U0001f170"],
    ids=ascii,
)
def test_the_longest_text_that_the_service_takes_is_looked_at_in_reasonable_steps(piece: str) -> None:
    text = seen(piece * (60_000 // len(piece)))

    assert all(len(words(passage)) <= 60 for passage in passages(text))  # rules may take the square of this
    assert load_red_flags("de").check(text + ". Ich kriege keine Luft") == "breathing"
