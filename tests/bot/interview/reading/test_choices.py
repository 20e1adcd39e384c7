"""Options by number, label, code, or part of a label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Option, Read, Refused
from bot.interview.values.answer import Answer
from bot.text import words
from tests.bot.interview.reading.replies import codes, options, reply

SIDE = Asked("choice", options=options("Linke Brust", "Rechte Brust", "Beide Brüste"))
ILLNESS = Asked(
    "choice",
    options=options("Diabetes", "Bluthochdruck", "Asthma", "Marcumar", "Keine der genannten", exclusive=(5,)),
    repeats=True,
)
PLAIN = Asked("choice", options=options("Diabetes", "Bluthochdruck", "Asthma"), repeats=True)
YES_NO = Asked("choice", options=options("Ja", "Nein", "Weiß ich nicht"))
WARD = Asked("choice", options=options("allgemein", "halbprivat", "privat"))
STATUS = Asked("choice", options=options("ledig", "verheiratet", "verwitwet", "geschieden", "unverheiratet"))
TIMES = Asked("choice", options=options("1-2 mal", "3 bis 5 mal", "mehr als 5 mal"))
TENS = Asked("choice", options=options("10", "20", "30"))
MIXED = Asked("choice", options=options("2", "1", "3"))
PHQ = Asked(
    "choice",
    options=options(
        ("Not at all", "LA6568-5", "0"),
        ("Several days", "LA6569-3", "1"),
        ("More than half the days", "LA6570-1", "2"),
        ("Nearly every day", "LA6571-9", "3"),
    ),
)
WORDS = Asked("choice", options=options("Seven", "Eight", "Nine"))
PRESSURE = Asked("choice", options=options("Hypertonie", "Hypotonie"))
PREGNANT = Asked("choice", options=options("schwanger", "nicht schwanger"))
ARM = Asked("choice", options=options("Nein", "Links", "Rechts", "Auf beiden Seiten", "Ja, aber nicht am Arm"))
ENGLISH_ARM = Asked("choice", options=options("No", "Left", "Right"))
SEX = Asked("choice", options=options(("Female", "female"), ("Male", "male"), ("Unknown", "unknown")))
CLOTHES = Asked("choice", options=options("Underwear or less", "Street clothes, no shoes", "Street clothes & shoes"))
DOCTOR = Asked("open-choice", options=options("Hausarzt", "Gynäkologin", "Internet"))
DOCTORS = Asked("open-choice", options=options("Hausarzt", "Gynäkologin", "Internet"), repeats=True)


@pytest.mark.parametrize(
    ("language", "question", "text", "expected"),
    [
        ("de", SIDE, "2", ["c2"]),
        ("de", SIDE, "2.", ["c2"]),
        ("de", SIDE, "zwei", ["c2"]),
        ("de", SIDE, "die zweite", ["c2"]),
        ("de", SIDE, "Nr. 3", ["c3"]),
        ("de", SIDE, "Nummer drei bitte", ["c3"]),
        ("de", SIDE, "die letzte", ["c3"]),
        ("de", SIDE, "linke Brust", ["c1"]),
        ("de", SIDE, "LINKE BRUST", ["c1"]),
        ("de", SIDE, "die linke", ["c1"]),
        ("de", SIDE, "beide Brueste", ["c3"]),
        ("de", SIDE, "beide Bruste", ["c3"]),
        ("de", ILLNESS, "1,3", ["c1", "c3"]),
        ("de", ILLNESS, "2 und 3", ["c2", "c3"]),
        ("de", ILLNESS, "1 3", ["c1", "c3"]),
        ("de", ILLNESS, "1/3", ["c1", "c3"]),
        ("de", ILLNESS, "3 + 1", ["c3", "c1"]),
        ("de", ILLNESS, "Diabetes und Asthma", ["c1", "c3"]),
        ("de", ILLNESS, "ja, Asthma", ["c3"]),
        ("de", ILLNESS, "keine der genannten", ["c5"]),
        ("de", YES_NO, "jo", ["c1"]),
        ("de", YES_NO, "nö", ["c2"]),
        ("de", YES_NO, "weiss ich nicht", ["c3"]),
        ("de", WARD, "privat", ["c3"]),
        ("de", STATUS, "verheiratet", ["c2"]),
        ("de", STATUS, "unverheiratet", ["c5"]),
        ("de", STATUS, "ich bin geschieden", ["c4"]),
        ("de", TIMES, "1", ["c1"]),
        ("de", TIMES, "mehr als 5", ["c3"]),
        ("de", TENS, "20", ["c2"]),
        ("de", MIXED, "3", ["c3"]),
        ("de", PREGNANT, "schwanger", ["c1"]),
        ("de", PREGNANT, "bin schwanger", ["c1"]),
        ("de", PREGNANT, "nicht schwanger", ["c2"]),
        ("de", ARM, "ja, links", ["c2"]),
        ("en", PHQ, "0", ["c1"]),
        ("en", PHQ, "several", ["c2"]),
        ("en", PHQ, "LA6569-3", ["c2"]),
        ("en", PHQ, "the second one", ["c2"]),
        ("en", PHQ, "the last one", ["c4"]),
        ("en", WORDS, "seven", ["c1"]),
        ("en", WORDS, "7", ["c1"]),
        ("en", WORDS, "the first", ["c1"]),
        ("en", SEX, "male", ["c2"]),
        ("en", CLOTHES, "street clothes no shoes", ["c2"]),
        ("en", ENGLISH_ARM, "right", ["c3"]),
        ("en", ENGLISH_ARM, "yes, left", ["c2"]),
        ("de", DOCTOR, "mein Hausarzt", ["c1"]),
    ],
)
def test_options_are_understood(language: str, question: Asked, text: str, expected: list[str]) -> None:
    reading = reply(text, question, language=language)

    assert codes(reading) == expected
    assert isinstance(reading, Read)
    assert reading.remainder == ""


@pytest.mark.parametrize(
    ("language", "question", "text", "expected", "remainder"),
    [
        ("de", SIDE, "links", ["c1"], ""),
        ("de", SIDE, "beides", ["c3"], ""),
        ("de", SIDE, "beidseits", ["c3"], ""),
        ("de", SIDE, "Linke Brsut", ["c1"], ""),
        ("de", SIDE, "ich glaube links", ["c1"], ""),
        ("de", SIDE, "2?", ["c2"], ""),
        ("de", SIDE, "links, seit zwei Wochen", ["c1"], "seit zwei Wochen"),
        ("de", ILLNESS, "Diabetis", ["c1"], ""),
        ("de", ILLNESS, "macumar", ["c4"], ""),
        ("de", ILLNESS, "keine", ["c5"], ""),
        ("de", ILLNESS, "nein", ["c5"], ""),
        ("de", ILLNESS, "nicht dass ich wüsste", ["c5"], ""),
        ("de", ILLNESS, "alle", ["c1", "c2", "c3", "c4"], ""),
        ("de", ILLNESS, "ja, zwei: 1 und 3", ["c1", "c3"], ""),
        ("de", ILLNESS, "Diabetes seit 2010, und Rheuma", ["c1"], "seit 2010; Rheuma"),
        ("de", PLAIN, "keine davon", [], ""),
        ("de", PLAIN, "nein, nichts davon", [], ""),
        ("de", YES_NO, "keine Ahnung", ["c3"], ""),
        ("de", YES_NO, "ich glaube nicht", ["c2"], ""),
        ("de", YES_NO, "ja, aber nur links", ["c1"], "aber nur links"),
        ("de", WARD, "das ist privat", ["c3"], ""),
        ("de", STATUS, "verh", ["c2"], ""),
        ("de", TENS, "2", ["c2"], ""),
        ("de", ARM, "ja, Grippe, links", ["c2"], "Grippe"),
        ("de", ARM, "l", ["c2"], ""),
        ("en", SEX, "f", ["c1"], ""),
        ("en", SEX, "I don't know", ["c3"], ""),
        ("de", DOCTOR, "eine Hausärztin", ["c1"], ""),
        ("de", DOCTORS, "Internet und Nachbarin", ["c3", "Nachbarin"], ""),
    ],
)
def test_options_that_were_inferred_are_read_back(
    language: str, question: Asked, text: str, expected: list[str], remainder: str
) -> None:
    reading = reply(text, question, language=language)

    assert codes(reading) == expected
    assert isinstance(reading, Read)
    assert (reading.literal, reading.remainder) == (False, remainder)


@pytest.mark.parametrize(
    ("language", "question", "text", "labels"),
    [
        ("de", SIDE, "Brust", ["Linke Brust", "Rechte Brust"]),
        ("de", SIDE, "links und rechts", ["Linke Brust", "Rechte Brust"]),
        ("de", SIDE, "1, 2", ["Linke Brust", "Rechte Brust"]),
        ("de", ILLNESS, "Diabetes oder Asthma", ["Diabetes", "Asthma"]),
        ("de", TIMES, "2", ["1-2 mal", "3 bis 5 mal"]),
        ("de", PRESSURE, "Hyprtonie", ["Hypertonie", "Hypotonie"]),
        ("en", PHQ, "2", ["Several days", "More than half the days"]),
        ("de", MIXED, "2", ["2", "1"]),
        ("en", CLOTHES, "clothes and shoes", ["Street clothes, no shoes", "Street clothes & shoes"]),
        ("en", CLOTHES, "clothes", ["Street clothes, no shoes", "Street clothes & shoes"]),
    ],
)
def test_what_fits_several_options_is_ambiguous(language: str, question: Asked, text: str, labels: list[str]) -> None:
    assert codes(reply(text, question, language=language)) == ["?", *labels]


@pytest.mark.parametrize(
    ("question", "text", "why"),
    [
        (SIDE, "7", "not-listed"),
        (SIDE, "0", "not-listed"),
        (SIDE, "Achsel", "not-listed"),
        (SIDE, "nicht links", "negated"),
        (PLAIN, "kein Diabetes", "negated"),
        (STATUS, "nicht verheiratet", "negated"),
        (PLAIN, "1-3", "not-listed"),
        (PLAIN, "1 und 7", "not-listed"),
        (ILLNESS, "1 und keine der genannten", "exclusive"),
        (SIDE, "alle", "not-listed"),
        (Asked("choice"), "eins", "not-listed"),
    ],
)
def test_what_is_no_option_is_not_understood(question: Asked, text: str, why: str) -> None:
    reading = reply(text, question)

    assert isinstance(reading, NotUnderstood)
    assert (reading.why, bool(reading.reason)) == (why, True)


def test_not_knowing_and_not_saying_are_no_option_where_none_says_so() -> None:
    assert reply("weiss nicht", SIDE) == DontKnow()
    assert reply("möchte ich nicht sagen", SIDE) == Refused()
    assert reply("weiss nicht", DOCTOR) == DontKnow()


@pytest.mark.parametrize(
    "text",
    ["Nachbarin", "meine Nachbarin hat es mir gesagt", "privat", "5", "kein Internet"],
)
def test_own_words_are_read_back(text: str) -> None:
    assert reply(text, DOCTOR) == Read((Answer("string", text),), literal=False)


def test_own_words_respect_the_longest_text() -> None:
    question = Asked("open-choice", options=DOCTORS.options, repeats=True, max_length=5)

    assert reply("Nachbarin", question) == NotUnderstood("longer than 5 characters", "too-long")
    assert reply("Internet und Nachbarin", question) == NotUnderstood("longer than 5 characters", "too-long")


def test_answers_other_than_codings_are_returned_as_they_are() -> None:
    years = (Option(Answer("integer", 2023), ("2023",)), Option(Answer("date", "2024-01"), ("Januar 2024",)))

    assert reply("2023", Asked("choice", options=years)) == Read((Answer("integer", 2023),), literal=True)
    assert reply("2", Asked("choice", options=years)) == Read((Answer("date", "2024-01"),), literal=False)
    assert reply("2024", Asked("choice", options=years)) == Read((Answer("date", "2024-01"),), literal=False)


NUMERALS = {
    "null",
    "ein",
    "eins",
    "eine",
    "zwei",
    "drei",
    "vier",
    "funf",
    "fuenf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
}
LABELS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyzäöüß ", min_size=3, max_size=20).filter(
        # "null" and "drei" are numbers of the label's own.
        lambda label: len(label.strip()) > 2 and not NUMERALS & set(words(label))
    ),
    min_size=2,
    max_size=8,
)


@given(LABELS, st.data())
def test_any_label_is_read_or_is_ambiguous_but_never_another_option(labels: list[str], data: st.DataObject) -> None:
    listed = options(*labels)
    place = data.draw(st.integers(0, len(labels) - 1))

    reading = reply(labels[place].upper(), Asked("choice", options=listed))

    if isinstance(reading, Ambiguous):
        assert listed[place] in reading.options
    else:
        assert reading == Read((listed[place].answer,), literal=True)


@given(LABELS, st.data())
def test_any_position_is_read_where_labels_hold_no_numbers(labels: list[str], data: st.DataObject) -> None:
    listed = options(*(f"{label.strip()} xyz" for label in labels))
    place = data.draw(st.integers(1, len(labels)))

    for text, said in ((f"{place}", True), (f"Nr. {place}", False), (f"{place}.", True)):
        assert reply(text, Asked("choice", options=listed)) == Read((listed[place - 1].answer,), literal=said)


def test_a_number_beyond_the_list_after_yes_is_a_comment() -> None:
    reading = reply("ja, 2025", YES_NO)

    assert isinstance(reading, Read)
    assert (codes(reading), reading.literal) == (["c1"], False)


PERIOD = Asked(
    "choice",
    options=options(
        "Ja", "Im Moment nicht, zum Beispiel durch Stillen", "Nicht mehr, meine Gebärmutter wurde entfernt"
    ),
)


def test_the_words_of_one_label_are_more_than_a_no() -> None:
    reading = reply("im Moment nicht", PERIOD)

    assert isinstance(reading, Read)
    assert codes(reading) == ["c2"]


def test_a_no_that_may_be_one_of_two_options_is_asked_about() -> None:
    reading = reply("nein", PERIOD)

    assert isinstance(reading, Ambiguous)
    assert [option.labels[0][:5] for option in reading.options] == ["Im Mo", "Nicht"]


def test_not_knowing_is_no_way_to_say_none() -> None:
    allergies = Asked("choice", options=options("Latex", "No allergies", "I don't know"), repeats=True)

    reading = reply("none", allergies, language="en")

    assert isinstance(reading, Read)
    assert codes(reading) == ["c2"]
