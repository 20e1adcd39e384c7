"""Nothing counts without a read-back unless it was said in so many words; and what was not said is not proposed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bot.interview.reading.reading import Ambiguous, Asked, NotUnderstood, Option, Read, Unit
from bot.interview.reading.yesno import read_yes_no
from bot.interview.values.answer import Answer
from tests.bot.interview.reading.replies import CM, KG, codes, options, reply

NOW = datetime(2026, 11, 18, 10, 30, tzinfo=UTC)

YES_NO = Asked("choice", options=options("Ja", "Nein", "Weiß ich nicht"))
ENGLISH_YES_NO = Asked("choice", options=options("Yes", "No", "I don't know"))
PREGNANT = Asked("choice", options=options("Nein, nicht schwanger", "Ja, schwanger", "Vielleicht, ich weiß es nicht"))
LETTERS = Asked("choice", options=options("A", "B", "C"), repeats=True)
HELP = Asked(
    "choice",
    options=options(
        "Ich kann nicht lange stehen", "Ich höre schlecht", "Ich sehe schlecht", "Ich habe Angst vor der Untersuchung"
    ),
    repeats=True,
)
SIGNS = Asked("choice", options=options("Atemnot", "Husten", "Fieber"), repeats=True)
SEX = Asked("choice", options=options("männlich", "weiblich", "divers"))
SIDE = Asked("choice", options=options("Links", "Rechts", "Auf beiden Seiten"))
DRUGS = Asked("choice", options=options("Aspirin", "Marcumar", "Metformin"), repeats=True)
NUMBERED = Asked(
    "choice", options=options("0 Not at all", "1 Several days", "2 More than half the days", "3 Nearly every day")
)
SMOKING = Asked("choice", options=options("Ich rauche täglich", "Ich rauche nicht", "Ich rauche manchmal"))
BOOLEAN = Asked("boolean")


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("de", YES_NO, "Ja"),
        ("de", YES_NO, "ja!"),
        ("de", YES_NO, "nein."),
        ("de", YES_NO, "weiss ich nicht"),
        ("de", YES_NO, "2"),
        ("en", ENGLISH_YES_NO, "no"),
        ("en", ENGLISH_YES_NO, "i dont know"),
        ("en", LETTERS, "a"),
        ("en", LETTERS, "A, C"),
        ("en", LETTERS, "1 and 3"),
        ("de", SIGNS, "Atemnot und Fieber"),
        ("en", NUMBERED, "1 several days"),
        ("de", BOOLEAN, "nein"),
        ("en", BOOLEAN, "Yes."),
        ("de", Asked("integer"), "3"),
        ("de", Asked("integer"), "1.200"),
        ("de", Asked("decimal"), "2,5"),
        ("en", Asked("decimal"), "-2.5"),
        ("de", Asked("decimal", unit=KG), "70,5 kg"),
        ("de", Asked("quantity", unit=KG), "70 kg"),
        ("de", Asked("date"), "03.03.1975"),
        ("de", Asked("date"), "3. März 1975"),
        ("de", Asked("date"), "1975"),
        ("en", Asked("date"), "1975-03-03"),
        ("de", Asked("time"), "14:30 Uhr"),
        ("de", Asked("string"), "Amina Yılmaz"),
    ],
)
def test_what_equals_a_label_a_code_or_a_value_counts_at_once(language: str, question: Asked, text: str) -> None:
    reading = reply(text, question, language=language)

    assert isinstance(reading, Read), reading
    assert (reading.literal, reading.remainder) == (True, "")


@pytest.mark.parametrize(
    ("language", "question", "text", "value"),
    [
        ("de", BOOLEAN, "natürlich nicht", False),
        ("de", BOOLEAN, "selbstverständlich nicht", False),
        ("en", BOOLEAN, "of course not", False),
        ("de", BOOLEAN, "noch nie", False),
        ("de", BOOLEAN, "klar", True),
        ("de", BOOLEAN, "ja genau", True),
        ("en", BOOLEAN, "right", True),
        ("en", BOOLEAN, "never", False),
        ("de", Asked("integer"), "drei", 3),
        ("de", Asked("integer"), "ich habe 3", 3),
        ("de", Asked("integer"), "3?", 3),
        ("de", Asked("decimal"), "fünf Komma sechs", Decimal("5.6")),
        ("de", Asked("decimal"), "eins komma acht null", Decimal("1.80")),
        ("de", Asked("decimal"), "eins achtzig", Decimal("1.80")),
        ("de", Asked("decimal"), "5 Komma 6", Decimal("5.6")),
        ("en", Asked("decimal"), "one point two", Decimal("1.2")),
        ("en", Asked("decimal"), "sixty point seventy five", Decimal("60.75")),
        ("de", Asked("date"), "am 3. März 1975", "1975-03-03"),
        ("de", Asked("date"), "3.3.75", "1975-03-03"),
        ("de", Asked("date"), "letztes Jahr", "2025"),
        ("de", Asked("date", now=NOW), "vor drei Stunden", "2026-11-18"),
        ("de", Asked("time"), "halb drei nachmittags", "14:30:00"),
        ("en", Asked("time"), "2 pm", "14:00:00"),
        ("de", Asked("time", now=NOW), "vor drei Stunden", "07:30:00"),
        ("de", Asked("time", now=NOW), "vor einer halben Stunde", "10:00:00"),
        ("en", Asked("time", now=NOW), "an hour and a half ago", "09:00:00"),
        ("en", Asked("dateTime", now=NOW, zone=UTC), "about 20 minutes ago", "2026-11-18T10:10:00+00:00"),
        ("de", Asked("dateTime", now=NOW, zone=UTC), "vor 12 Stunden", "2026-11-17T22:30:00+00:00"),
    ],
)
def test_what_was_understood_otherwise_is_read_back(language: str, question: Asked, text: str, value: object) -> None:
    reading = reply(text, question, language=language)

    assert isinstance(reading, Read), reading
    assert [answer.value for answer in reading.answers] == [value]
    assert not reading.literal


@pytest.mark.parametrize(
    ("language", "question", "text", "expected"),
    [
        ("de", YES_NO, "natürlich nicht", ["c2"]),
        ("de", YES_NO, "ich nehme das nicht", ["c2"]),
        ("de", YES_NO, "ja weiß ich", ["c1"]),
        ("de", YES_NO, "keine Ahnung", ["c3"]),
        ("en", ENGLISH_YES_NO, "I don't take that", ["c2"]),
        ("en", ENGLISH_YES_NO, "ja bitte", ["c1"]),
        ("de", PREGNANT, "ja ich weiß", ["c2"]),
        ("de", PREGNANT, "ich bin nicht schwanger", ["c1"]),
        ("de", PREGNANT, "schwanger", ["c2"]),
        ("de", PREGNANT, "weiß ich nicht", ["c3"]),
        ("de", HELP, "Angst", ["c4"]),
        ("de", HELP, "hab ziemlich Angst", ["c4"]),
        ("de", HELP, "lange stehen kann ich nicht", ["c1"]),
        ("de", SIGNS, "Fieber, sonst nichts", ["c3"]),
        ("de", SIGNS, "Husten, aber kein Fieber", ["c2"]),
        ("de", SIGNS, "Husten, tut nicht weh", ["c2"]),
        ("en", SIGNS, "cough and fever", ["c2", "c3"]),
        ("de", SEX, "ich bin ein Mann", ["c1"]),
        ("de", SEX, "Frau", ["c2"]),
        ("en", SEX, "I'm a woman", ["c2"]),
        ("de", SEX, "male", ["c1"]),
        ("de", SIDE, "left", ["c1"]),
        ("en", SIDE, "both", ["c3"]),
        ("de", SIDE, "auf beiden", ["c3"]),
        ("de", SIDE, "links, nicht rechts", ["c1"]),
        ("en", NUMBERED, "4", ["c4"]),
    ],
)
def test_an_option_that_was_meant_is_proposed(language: str, question: Asked, text: str, expected: list[str]) -> None:
    reading = reply(text, question, language=language)

    assert codes(reading) == expected
    assert isinstance(reading, Read)
    assert not reading.literal


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("de", YES_NO, "ich weiß"),
        ("de", YES_NO, "einmal"),
        ("de", YES_NO, "früher ja"),
        ("de", YES_NO, "ja, früher"),
        ("de", YES_NO, "kein Problem"),
        ("en", ENGLISH_YES_NO, "once"),
        ("en", ENGLISH_YES_NO, "I used to"),
        ("en", ENGLISH_YES_NO, "everything but that"),
        ("de", HELP, "ich sehe gut"),
        ("de", HELP, "ich sehe"),
        ("de", HELP, "ich höre gut"),
        ("de", HELP, "keine Angst"),
        ("de", HELP, "ich kann lange stehen"),
        ("de", SIGNS, "alles ausser Atemnot"),
        ("de", SIGNS, "alles bis auf Husten"),
        ("en", SIGNS, "all except cough"),
        ("de", SIGNS, "Fieber hatte ich nie"),
        ("de", SIGNS, "ohne Fieber"),
        ("de", SEX, "kein Mann"),
        ("de", SIDE, "rechts nicht"),
        ("de", SIDE, "weder links noch rechts"),
        ("de", DRUGS, "Aspirin, das nehme ich nicht"),
        ("de", DRUGS, "Aspirin nehme ich nicht mehr"),
        ("en", DRUGS, "aspirin? I never take it"),
        ("de", BOOLEAN, "früher ja"),
        ("de", BOOLEAN, "ja, außer nachts"),
        ("de", BOOLEAN, "alles außer links"),
        ("en", BOOLEAN, "yes, except on Sundays"),
        ("en", BOOLEAN, "in the past, yes"),
        ("de", BOOLEAN, "kein Problem"),
        ("de", BOOLEAN, "natürlich weiß ich das nicht"),
        ("de", Asked("integer"), "3 sind es nicht"),
        ("de", Asked("time"), "vor drei Stunden"),
    ],
)
def test_what_was_not_said_is_not_proposed(language: str, question: Asked, text: str) -> None:
    assert isinstance(reply(text, question, language=language), NotUnderstood)


@pytest.mark.parametrize(
    ("language", "question", "text", "labels"),
    [
        ("en", NUMBERED, "2", ["1 Several days", "2 More than half the days"]),
        ("en", NUMBERED, "1", ["0 Not at all", "1 Several days"]),
        ("de", SMOKING, "ich rauche", ["Ich rauche täglich", "Ich rauche nicht", "Ich rauche manchmal"]),
        ("de", Asked("choice", options=options("Ja, links", "Ja, rechts", "Nein")), "ja", ["Ja, links", "Ja, rechts"]),
    ],
)
def test_what_may_be_several_options_is_asked_back(
    language: str, question: Asked, text: str, labels: list[str]
) -> None:
    reading = reply(text, question, language=language)

    assert isinstance(reading, Ambiguous), reading
    assert [option.labels[0] for option in reading.options] == labels


def test_the_number_of_a_code_that_nobody_sees_is_a_place_but_read_back() -> None:
    listed = tuple(
        Option(Answer("coding", {"code": str(n), "display": name}), (name, str(n)), unseen=(str(n),))
        for n, name in enumerate(("Never", "Sometimes", "Often"))
    )

    reading = reply("2", Asked("choice", options=listed), language="en")

    assert isinstance(reading, Read)
    assert (codes(reading), reading.literal) == (["1"], False)


def test_listed_synonyms_count_as_labels() -> None:
    listed = (Option(Answer("coding", {"code": "x"}), ("Aspirin", "ASS 100"), unseen=("ASS 100",)),)

    reading = reply("ass 100", Asked("choice", options=listed))

    assert isinstance(reading, Read)
    assert (codes(reading), reading.literal) == (["x"], True)


def test_a_confirmation_knows_of_course_not() -> None:
    for text, language in (("natürlich nicht", "de"), ("of course not", "en"), ("klar nicht", "de")):
        reading = read_yes_no(text, language=language)
        assert isinstance(reading, Read)
        assert reading.answers[0].value is False


TALL = {"de": "Wie groß sind Sie?", "en": "How tall are you?"}
HEAVY = {"de": "Wie viel wiegen Sie?", "en": "How much do you weigh?"}


@pytest.mark.parametrize(
    ("language", "unit", "prompts", "text", "value"),
    [
        ("de", CM, TALL, "1,80 m", "180"),
        ("de", CM, TALL, "1,80", "180"),
        ("de", CM, TALL, "180", "180"),
        ("de", CM, TALL, "eins achtzig", "180"),
        ("de", CM, TALL, "einsachtzig", "180"),
        ("de", CM, TALL, "einen Meter achtzig", "180"),
        ("de", CM, TALL, "5 Fuß 11", "180.3"),
        ("en", CM, TALL, "5'11\"", "180.3"),
        ("en", CM, TALL, "five foot eleven", "180.3"),
        ("en", CM, TALL, "five eleven", "180.3"),
        ("en", CM, TALL, "one metre eighty", "180"),
        ("de", Unit("m", "m"), TALL, "180", "1.8"),
        ("de", KG, HEAVY, "154 Pfund", "77"),
        ("en", KG, HEAVY, "154 pounds", "69.9"),
        ("en", KG, HEAVY, "11 stone 4", "71.7"),
        ("en", KG, HEAVY, "11st 4lb", "71.7"),
        ("de", KG, HEAVY, "siebzig komma fünf", "70.5"),
        ("en", Unit("Cel", "°C"), {"en": "Body temperature"}, "98.6 F", "37"),
        ("en", Unit("Cel", "°C"), {"en": "Body temperature"}, "98.6", "37"),
        ("en", Unit("Cel", "°C"), {"en": "Body temperature"}, "98.6 degrees", "37"),
        ("de", Unit("mm[Hg]", "mmHg"), {"de": "Systolischer Blutdruck"}, "120 zu 80", "120"),
        ("en", Unit("mm[Hg]", "mmHg"), {"en": "Diastolic blood pressure"}, "120 over 80", "80"),
    ],
)
@pytest.mark.parametrize("kind", ["decimal", "quantity"])
def test_amounts_come_in_the_unit_of_the_question(
    kind: str, language: str, unit: Unit, prompts: dict[str, str], text: str, value: str
) -> None:
    reading = reply(text, Asked(kind, unit=unit, prompt=prompts[language]), language=language)

    assert isinstance(reading, Read), reading
    found: Any = reading.answers[0].value
    amount = found["value"] if kind == "quantity" else found
    assert (str(amount.normalize() if amount % 1 else amount.quantize(Decimal(1))), reading.literal) == (value, False)


@pytest.mark.parametrize(
    ("prompt", "text", "value"),
    [
        ("Körpergröße (cm)", "1,80 m", 180),
        ("Körpergröße in cm", "1,80", 180),
        ("Gewicht kg", "154 Pfund", 77),
        ("Wie viele Monate?", "zwei Jahre", 24),
        ("Größe des Knotens (cm)", "20 mm", 2),
        ("Größe des Knotens (cm)", "2", 2),
    ],
)
def test_a_unit_that_stands_only_in_the_text_counts(prompt: str, text: str, value: int) -> None:
    reading = reply(text, Asked("integer", prompt=prompt))

    assert reading == Read((Answer("integer", value),), literal=False)


@pytest.mark.parametrize(
    ("question", "text", "why"),
    [
        (Asked("integer", unit=CM, prompt="Wie groß sind Sie?"), "1800", "implausible"),
        (Asked("integer", unit=CM, prompt="Wie groß sind Sie?"), "180 m", "implausible"),
        (Asked("integer", unit=CM, prompt="Wie groß sind Sie?"), "70 Liter", "unit"),
        (Asked("decimal", unit=KG, prompt="Wie viel wiegen Sie?"), "7000", "implausible"),
        (Asked("integer", prompt="Wie alt sind Sie?"), "250", "implausible"),
        (Asked("decimal", prompt="Kreatinin"), "1,80 m", "unit"),
        (Asked("decimal", unit=Unit("kg/m2", "kg/m²"), prompt="BMI"), "475308", "implausible"),
        (Asked("integer", unit=Unit("mm[Hg]", "mmHg"), prompt="Blutdruck"), "120 zu 80", "several"),
        (Asked("quantity", unit=Unit("d", "Tage")), "5 Monate", "unit"),
    ],
)
def test_what_cannot_be_or_cannot_be_converted_is_refused(question: Asked, text: str, why: str) -> None:
    reading = reply(text, question)

    assert isinstance(reading, NotUnderstood), reading
    assert reading.why == why


def test_both_values_of_a_blood_pressure_are_taken_where_both_are_wanted() -> None:
    question = Asked("quantity", unit=Unit("mm[Hg]", "mmHg"), prompt="Blutdruck", repeats=True)

    reading = reply("120/80 mmHg", question)

    assert isinstance(reading, Read)
    values: list[Any] = [answer.value for answer in reading.answers]
    assert ([value["value"] for value in values], reading.literal) == ([120, 80], False)


@pytest.mark.parametrize(
    ("language", "prompt", "text", "kept"),
    [
        ("en", "What is your name?", "my name is Amina", "Amina"),
        ("en", "What is your name?", "Hi, I'm Amina O'Neil.", "Amina O'Neil"),
        ("en", "What is your name?", "Amina is my name", "Amina"),
        ("de", "Wie heißen Sie?", "ich heiße Amina Yılmaz", "Amina Yılmaz"),
        ("de", "Wie heißen Sie?", "Mein Name ist Dr. med. Meier-Müller", "Dr. med. Meier-Müller"),
        ("de", "Wie heißt Ihr Hausarzt?", "mein Hausarzt ist Dr. Müller", "Dr. Müller"),
        ("de", "Wie heißt Ihr Hausarzt?", "also das ist Frau Keller", "Frau Keller"),
        ("de", "Versicherungsnummer", "die Nummer ist 756.1234", "756.1234"),
    ],
)
def test_the_sentence_around_a_text_is_left_out_and_the_text_read_back(
    language: str, prompt: str, text: str, kept: str
) -> None:
    reading = reply(text, Asked("string", prompt=prompt), language=language)

    assert reading == Read((Answer("string", kept),), literal=False)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "hab ich nicht"),
        ("de", "keine"),
        ("de", "nein"),
        ("de", "ich habe keine Nummer"),
        ("de", "-"),
        ("en", "none"),
        ("en", "I don't have one"),
        ("en", "n/a"),
    ],
)
def test_having_none_is_no_text(language: str, text: str) -> None:
    assert reply(text, Asked("string", prompt="Nummer"), language=language) == Read((), literal=False)


@pytest.mark.parametrize("text", ["keine", "none", "nichts"])
def test_in_a_long_text_none_may_be_what_the_team_wants_to_know(text: str) -> None:
    assert reply(text, Asked("text", prompt="Allergien?")) == Read((Answer("string", text),), literal=False)
