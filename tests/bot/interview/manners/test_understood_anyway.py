"""Nothing that is said is lost: rough times, units that cannot be taken, rows of lists, words about the question."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.walk.assemble import OWN_WORDS
from bot.text import sanitise
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, UCUM, Json, coding, extended, form, item

NEXT = item("next", "string", text="Next?")
WHEN = item("q", "date", text="When was it?")


def _units(*codes: str) -> list[Json]:
    return [
        {"url": CORE + "questionnaire-unitOption", "valueCoding": {"system": UCUM, "code": code, "display": code}}
        for code in codes
    ]


def _limits(low: int, high: int) -> list[Json]:
    return extended((CORE + "minValue", {"valueInteger": low}), (CORE + "maxValue", {"valueInteger": high}))


def _noted(chat: Chat) -> list[str]:
    return [text for texts in chat.session.filling.noted.values() for text in texts]


@pytest.mark.parametrize(
    ("language", "said", "value", "is_noted"),
    [
        ("de", "vor drei Jahren im Frühling", "2023", True),
        ("de", "im Herbst vor zwei Jahren", "2024", True),
        ("de", "Frühling 2023", "2023", True),
        ("de", "Anfang 2023", "2023", True),
        ("de", "im Winter vor fünf Jahren", "2021", True),
        ("de", "März vor drei Jahren", "2023-03", False),
        ("de", "im Mai vor zwei Jahren", "2024-05", False),
        ("en", "three years ago in spring", "2023", True),
        ("en", "March three years ago", "2023-03", False),
        ("en", "early 2023", "2023", True),
        ("en", "in summer, two years ago", "2024", True),
        ("de", "2023", "2023", False),
    ],
)
def test_what_no_date_can_say_is_kept_beside_it(language: str, said: str, value: str, is_noted: bool) -> None:
    chat = Chat(form(WHEN, NEXT), language).say(said)
    if chat.open == "read-back q":
        chat.say("ja" if language == "de" else "yes")

    assert chat.value("q") == value
    assert _noted(chat) == ([said] if is_noted else [])
    assert chat.errors() == []


def test_a_year_beside_a_yes_is_kept() -> None:
    yes_no = [coding("Y", display="Ja"), coding("N", display="Nein")]
    chat = Chat(form(item("q", "choice", text="Operiert?", answerOption=yes_no), NEXT)).say("ja 2019")

    assert _noted(chat) == ["ja 2019"]
    assert "noted_too" in chat.keys


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (item("q", "decimal", text="Kreatinin (mg/dL)?"), "88 µmol/l"),
        (item("q", "quantity", text="Wie weit?", extension=_units("km")), "zwei Tagesmärsche"),
        (item("q", "quantity", text="Wie groß?", extension=_units("cm", "m")), "5 Liter"),
    ],
)
def test_an_amount_in_a_unit_that_cannot_be_taken_is_kept_and_the_units_are_said(question: Json, said: str) -> None:
    chat = Chat(form(question, NEXT)).say(said)

    assert chat.open == "question q"
    assert _noted(chat) == [sanitise(said).text]
    assert "units" in chat.keys or "Tagesm" in said
    chat.say("überspringen")
    assert {"url": OWN_WORDS, "valueString": sanitise(said).text} in chat.response()["item"][0]["extension"]


@pytest.mark.parametrize(
    ("language", "code", "said", "amount"),
    [
        ("en", "L/min", "2 liters per minute", "2"),
        ("en", "L/min", "2 litres a minute", "2"),
        ("de", "L/min", "zwei Liter pro Minute", "2"),
        ("en", "umol/L", "88 micromol per liter", "88"),
        ("en", "mL/h", "40 ml an hour", "40"),
        ("de", "mL/h", "40 Milliliter in der Stunde", "40"),
        ("en", "ng/mL", "3 nanograms per millilitre", "3"),
        ("en", "d", "2 weeks and 3 days", "17"),
        ("de", "wk", "12 Wochen und 3 Tage", "12.43"),
        ("de", "km", "10 Meilen", "16.09"),
    ],
)
def test_units_are_known_by_their_names(language: str, code: str, said: str, amount: str) -> None:
    chat = Chat(form(item("q", "quantity", text="?", extension=_units(code)), NEXT), language).say(said)
    if chat.open == "read-back q":
        chat.say("ja" if language == "de" else "yes")

    assert str(chat.value("q")["value"]) == amount
    assert chat.value("q")["code"] == code
    assert chat.errors() == []


def test_a_bare_number_is_in_the_one_unit_in_which_it_is_likely() -> None:
    height = item("q", "quantity", text="Height", extension=_units("cm", "[ft_i]", "[in_i]"))
    for language in ("de", "en"):
        chat = Chat(form(height), language).say("168")
        assert chat.open == "read-back q"
        assert chat.say("ja" if language == "de" else "yes").value("q")["code"] == "cm"
    assert Chat(form(item("q", "quantity", text="Length", extension=_units("cm", "m"))), "en").say("3").keys[0] == (
        "why_unit_missing"
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "gar nicht"), ("de", "tut nicht weh"), ("de", "tut gar nicht mehr weh"), ("de", "keine Schmerzen"),
     ("de", "schmerzfrei"), ("en", "not at all"), ("en", "it doesn't hurt"), ("en", "no pain"), ("en", "does not hurt")],
)  # fmt: skip
def test_no_pain_is_zero_and_read_back(language: str, said: str) -> None:
    texts = {"de": "Wie stark sind die Schmerzen?", "en": "How strong is the pain today?"}
    for asked_in in ("de", "en") if language == "de" else ("en",):
        scale = item("q", "integer", text=texts[asked_in], extension=_limits(0, 10))
        chat = Chat(form(scale, NEXT), language).say(said)
        assert (chat.open, chat.value("q")) == ("read-back q", None)
        assert chat.say("ja" if language == "de" else "yes").value("q") == 0


@pytest.mark.parametrize(("kind", "text", "low"), [("integer", "Wie stark?", 1), ("integer", "Wie alt sind Sie?", 0)])
def test_a_denial_is_no_zero_where_there_is_none(kind: str, text: str, low: int) -> None:
    chat = Chat(form(item("q", kind, text=text, extension=_limits(low, 120)), NEXT)).say("gar nicht")

    assert chat.open == "question q"


def test_a_number_beyond_a_scale_is_too_much_and_a_day_too_late() -> None:
    scale = item("q", "integer", text="Wie stark?", extension=_limits(0, 10))
    day = item("q", "date", text="Wann?", extension=extended((CORE + "maxValue", {"valueDate": "2024-01-01"})))

    assert (
        Chat(form(scale)).say("11").said[0]
        == "Das passt hier noch nicht ganz. Mögliche Antworten gehen bis 10. Ungefähr genügt."
    )
    assert Chat(form(day)).say("3. März 2025").said[0] == "Das ist zu spät. Möglich ist: bis 1. Januar 2024."


MEDICINES = form(
    item("m", "group",
         item("name", "string", text="Name of the medicine", required=True),
         item("dose", "string", text="Dose and how often"),
         item("since", "date", text="Since when"),
         item("side", "choice", text="Does it help?", answerOption=[coding("a", display="Well"), coding("b", display="Ill")]),
         text="Medicine", repeats=True, required=True),
    NEXT, language="en",
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "one more"), ("en", "another one"), ("en", "I take one more medicine"), ("en", "add another medicine"),
     ("de", "noch eins"), ("de", "ich habe noch ein Medikament"), ("de", "und noch eine Tablette")],
)  # fmt: skip
@pytest.mark.parametrize("before", [("Aspirin",), ("Aspirin", "1"), ("Aspirin", "1", "2019")])
def test_one_more_in_the_middle_of_a_row_finishes_that_first(language: str, said: str, before: tuple[str, ...]) -> None:
    chat = Chat(MEDICINES, language).say(*before)
    where = chat.open

    chat.say(said)

    assert (chat.open, chat.keys[0]) == (where, "row_first")
    assert len([path for path in chat.session.filling.answers if path[0][1]]) == 0
    skip, yes = {"de": ("überspringen", "noch eins"), "en": ("skip", "one more")}[language]
    while chat.open != "another m":
        chat.say(skip)
    assert chat.say(yes).open == "question name"
    assert chat.say(said).keys[0] == "go_ahead"
    assert chat.say("Ramipril").answers(("m", 1), ("name", 0)) == ["Ramipril"]


@pytest.mark.parametrize(("language", "said"), [("en", ("skip",)), ("de", ("überspringen",)), ("en", ("none", "yes")),
                                                ("de", ("keine", "ja"))])  # fmt: skip
def test_nobody_is_kept_in_an_empty_row(language: str, said: tuple[str, ...]) -> None:
    yes, skip, no = {"de": ("ja", "überspringen", "nein"), "en": ("yes", "skip", "no")}[language]
    chat = Chat(MEDICINES, language).say("Aspirin", skip, skip, skip, yes)
    assert chat.open == "question name"

    chat.say(*said)

    assert (chat.open, chat.keys[0]) == ("another m", "row_left")
    assert chat.say(no).open == "question next"
    assert len(chat.response()["item"]) == 1


def test_the_first_row_that_the_form_demands_stays() -> None:
    chat = Chat(MEDICINES, "en").say("skip")

    assert chat.keys[0] == "kindly"
    assert chat.say("skip").open == "question dose"


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "was heißt dose"), ("de", "was bedeutet das"), ("de", "wie meinen Sie das"), ("de", "was heißt dose and"),
     ("en", "was heißt dose"), ("en", "what does dose mean"), ("en", "what is dose"), ("en", "what does that mean"), ("en", "what means dose")],
)  # fmt: skip
def test_a_question_about_the_question_is_no_answer_even_without_its_mark(language: str, said: str) -> None:
    chat = Chat(MEDICINES, language).say("Aspirin", said)

    assert chat.open == "question dose"
    assert chat.keys[0] == "why_unknown"
    assert chat.answers("m", "dose") == []


@pytest.mark.parametrize(("language", "said"), [("de", "was ich so vertrage"), ("en", "what the doctor said, 5 mg"),
                                                ("en", "what my mother takes")])  # fmt: skip
def test_words_that_only_begin_like_that_are_an_answer(language: str, said: str) -> None:
    chat = Chat(MEDICINES, language).say("Aspirin", said)

    assert chat.answers("m", "dose") == [said] or chat.aside != "no"


@pytest.mark.parametrize(("language", "said"), [("de", "normal"), ("de", "norma"), ("en", "normal"), ("en", "reserve")])
def test_a_word_that_is_like_a_command_is_an_answer(language: str, said: str) -> None:
    assert Chat(form(item("q", "text", text="How?"), NEXT), language).say(said).value("q") == said
    assert _noted(Chat(form(item("q", "integer", text="How many?"), NEXT), language).say(said)) == [said]


COUNTRIES = [{"valueCoding": {"system": "urn:iso:std:iso:3166", "code": code, "display": name}}
             for code, name in (("NO", "Norway"), ("DE", "Germany"), ("YE", "Yemen"), ("KN", "Saint Kitts"))]  # fmt: skip


@pytest.mark.parametrize(("language", "said"), [("en", "no"), ("en", "no I don't know"), ("de", "nein weiss nicht"),
                                                ("de", "nein"), ("en", "no, not sure"), ("de", "no")])  # fmt: skip
def test_a_no_is_never_a_country(language: str, said: str) -> None:
    chat = Chat(form(item("q", "choice", text="Country?", answerOption=COUNTRIES), NEXT), language).say(said)

    assert chat.value("q") is None
    assert not any("Norway" in text for text in chat.said)


def test_a_code_is_still_a_name_of_what_it_stands_for() -> None:
    chat = Chat(form(item("q", "choice", text="Country?", answerOption=COUNTRIES), NEXT), "en").say("DE")

    assert (chat.value("q") or chat.say("yes").value("q"))["code"] == "DE"


@pytest.mark.parametrize(("language", "said"), [("de", "da hat man was rausgenommen"), ("de", "das weiß man ja nie"),
                                                ("en", "they took something out")])  # fmt: skip
def test_a_pronoun_is_no_guess_at_somebodys_sex(language: str, said: str) -> None:
    sex = item("q", "choice", text="Sex?", answerValueSet="http://hl7.org/fhir/ValueSet/administrative-gender")
    chat = Chat(form(sex, NEXT), language).say(said)

    assert (chat.open, chat.value("q")) == ("question q", None)


@pytest.mark.parametrize(("language", "said"), [("de", "mein Mann lebt nicht mehr"), ("de", "meine Frau ist gestorben"),
                                                ("en", "my husband died last year")])  # fmt: skip
def test_a_loss_is_proposed_and_not_rebuked(language: str, said: str) -> None:
    status = item("q", "choice", text="Status?", answerValueSet="http://hl7.org/fhir/ValueSet/marital-status")
    chat = Chat(form(status, NEXT), language).say(said)

    assert chat.open == "read-back q"
    assert chat.say("ja" if language == "de" else "yes").value("q")["code"] == "W"


@pytest.mark.parametrize("said", ["i not know", "no know", "me not know", "I no remember", "i not sure"])
@pytest.mark.parametrize("kind", ["integer", "date", "string", "boolean"])
def test_not_knowing_is_heard_in_little_english(said: str, kind: str) -> None:
    assert Chat(form(item("q", kind, text="What?"), NEXT, language="en"), "en").say(said).open == "question next"


def _listing(**values: Any) -> Json:
    return item(
        "q", "choice", text="Which?", answerOption=[{name: each} for name, given in values.items() for each in given]
    )


@pytest.mark.parametrize(
    ("language", "listed", "said", "value"),
    [
        ("en", _listing(valueDate=["2026-12-01", "2026-12-03"]), "the 3rd of December", "2026-12-03"),
        ("de", _listing(valueDate=["2026-12-01", "2026-12-03"]), "3.12.", "2026-12-03"),
        ("de", _listing(valueDate=["2026-12-01", "2026-12-03"]), "1.12.2026", "2026-12-01"),
        ("de", _listing(valueDate=["2026-12-01", "2026-12-03"]), "2", "2026-12-03"),
        ("en", _listing(valueTime=["08:00:00", "14:30:00"]), "half past two", "14:30:00"),
        ("de", _listing(valueTime=["08:00:00", "14:30:00"]), "halb drei", "14:30:00"),
        ("de", _listing(valueTime=["08:00:00", "14:30:00"]), "8 Uhr", "08:00:00"),
        ("de", _listing(valueTime=["08:00:00", "14:30:00"]), "14:30", "14:30:00"),
    ],
)
def test_days_and_times_of_a_list_are_shown_and_said_in_words(
    language: str, listed: Json, said: str, value: str
) -> None:
    chat = Chat(form(listed, NEXT), language)
    assert not any(":00:00" in choice or "2026-" in choice for choice in chat.choices)

    chat.say(said)
    if chat.open == "read-back q":
        assert value not in " ".join(chat.said)
        chat.say("ja" if language == "de" else "yes")

    assert chat.value("q") == value


def test_another_day_than_those_listed_is_none_of_them() -> None:
    listed = _listing(valueDate=["2026-12-01", "2026-12-03"])

    assert Chat(form(listed, NEXT)).say("1.12.2027").value("q") is None


@pytest.mark.parametrize(("language", "said"), [("en", "no"), ("de", "nein")])
def test_no_to_the_first_of_several_times_is_none(language: str, said: str) -> None:
    chat = Chat(form(item("q", "time", text="When?", repeats=True), NEXT), language).say(said)

    assert chat.keys == ["read_back_has_none"]
    assert chat.say("ja" if language == "de" else "yes").open == "question next"


@pytest.mark.parametrize(("said", "value"), [("no", False), ("no, I had coffee", False), ("yes", True)])
def test_no_to_a_suggested_yes_is_the_other_answer(said: str, value: bool) -> None:
    fasting = item("q", "boolean", text="Did you fast?", initial=[{"valueBoolean": True}])
    chat = Chat(form(fasting, NEXT), "en")
    assert chat.open == "proposal q"

    chat.say(said)
    if chat.open == "read-back q":
        chat.say("yes")

    assert chat.value("q") is value


def test_yes_and_no_to_an_open_list_are_no_words_of_the_patients_own() -> None:
    allergy = item("q", "open-choice", text="What are you allergic to?", answerOption=[coding("p", display="Pollen")])
    for language, yes, no in (("de", "ja", "nein"), ("en", "yes", "no")):
        assert Chat(form(allergy, NEXT), language).say(yes).keys[0] == "which_one"
        assert Chat(form(allergy, NEXT), language).say(no).keys == ["read_back_none"]


@pytest.mark.parametrize(
    ("text", "example"),
    [("Date of your last period", "2. November 2026"), ("Geburtsdatum", "3. März 1975"),
     ("Wann war die Operation?", "2. November 2026")],
)  # fmt: skip
def test_the_example_of_a_day_fits_the_question(text: str, example: str) -> None:
    chat = Chat(form(item("q", "date", text=text))).say("blau", "grün")

    assert any(example in each for each in chat.said)


def test_the_example_of_an_amount_is_known_in_whatever_language_the_form_asks() -> None:
    for text, unit, example in (("Height", "cm", "170 cm"), ("Weight", "kg", "70 kg")):
        chat = Chat(form(item("q", "quantity", text=text, extension=_units(unit, "[in_i]"))), "de").say("blau", "grün")
        assert any(example in each for each in chat.said)


def test_not_knowing_is_promised_no_note_that_is_not_there() -> None:
    for language in ("de", "en"):
        chat = Chat(form(item("q", "date", text="When?"), NEXT, language="en"), language)
        chat.say("weiß nicht" if language == "de" else "don't know")
        assert "notier" not in chat.said[0]
        assert "note" not in chat.said[0]
        assert "item" not in chat.response()
