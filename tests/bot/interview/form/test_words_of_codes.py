"""What options are called in the language of the chat: by the form, its value sets, and supplements to code systems."""

from __future__ import annotations

from typing import Any

import pytest

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.load import load_form
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, Json, form, item

GENDER = "http://hl7.org/fhir/administrative-gender"
YES_NO = "http://terminology.hl7.org/CodeSystem/v2-0136"
SNOMED = "http://snomed.info/sct"


def coded(system: str, code: str, display: str = "") -> Json:
    return {"valueCoding": {"system": system, "code": code, **({"display": display} if display else {})}}


def translated(text: str, language: str) -> Json:
    parts = [{"url": "lang", "valueCode": language}, {"url": "content", "valueString": text}]
    return {"extension": [{"url": CORE + "translation", "extension": parts}]}


def choice(*options: Json, **head: Any) -> Json:
    return form(item("q", "choice", text="Q", required=True, answerOption=list(options)), **head)


def test_an_english_form_is_answered_in_german_by_the_words_of_its_codes() -> None:
    sexes = choice(coded(GENDER, "female", "Female"), coded(GENDER, "male", "Male"), language="en")

    assert Chat(sexes, "de").choices == ["Weiblich", "Männlich"]
    assert Chat(sexes, "en").choices == ["Female", "Male"]
    for language, words in (("de", ("weiblich", "Frau", "female", "Female")), ("en", ("female", "woman", "weiblich"))):
        for said in words:
            chat = Chat(sexes, language).say(said)
            assert chat.open == "summary", (language, said)
            assert chat.answers("q") == [{"system": GENDER, "code": "female", "display": "Female"}]
            assert chat.say("ja" if language == "de" else "yes").status == "completed"
            assert chat.errors() == []


def test_a_german_form_is_answered_in_english_by_the_words_of_its_codes() -> None:
    asked = choice(coded(SNOMED, "373066001", "Ja"), coded(SNOMED, "373067005", "Nein"), language="de")

    assert Chat(asked, "en").choices == ["Yes", "No"]
    assert Chat(asked, "en").say("nein").answers("q") == Chat(asked, "de").say("no").answers("q")
    assert Chat(asked, "en").say("No").answers("q")[0]["display"] == "Nein"


@pytest.mark.parametrize(
    ("value_set", "german"),
    [
        ("http://hl7.org/fhir/ValueSet/administrative-gender", ["Männlich", "Weiblich", "Divers", "Unbekannt"]),
        ("http://hl7.org/fhir/ValueSet/reaction-event-severity", ["Leicht", "Mittel", "Schwer"]),
    ],
)
def test_value_sets_that_are_shipped_are_shown_in_german(value_set: str, german: list[str]) -> None:
    asked = form(item("q", "choice", text="Q", answerValueSet=value_set), language="en")

    assert Chat(asked, "de").choices == german


def test_a_label_that_says_more_than_its_code_stays_but_is_understood_by_the_code_s_word() -> None:
    options = (coded(YES_NO, "Y", "Yes, on both sides"), coded(YES_NO, "N", "No"))
    chat = Chat(choice(*options, language="en"), "de")

    assert chat.choices == ["Yes, on both sides", "Nein"]
    assert chat.say("ja").open == "summary"
    assert chat.answers("q")[0]["code"] == "Y"


def test_a_code_without_display_is_shown_by_its_word() -> None:
    asked = choice(coded(YES_NO, "Y"), coded(YES_NO, "N"))

    assert Chat(asked, "de").choices == ["Ja", "Nein"]
    assert Chat(asked, "en").choices == ["Yes", "No"]


def test_the_translation_of_the_form_comes_before_all_others() -> None:
    own = coded(GENDER, "female", "Female")
    own["valueCoding"]["_display"] = translated("Frau", "de")

    assert Chat(choice(own, coded(GENDER, "male", "Male"), language="en"), "de").choices == ["Frau", "Männlich"]


def test_a_supplement_that_comes_with_the_form_comes_before_the_shipped_one() -> None:
    supplement = {
        "resourceType": "CodeSystem",
        "url": "http://example.org/words",
        "status": "active",
        "content": "supplement",
        "supplements": GENDER,
        "concept": [{"code": "female", "designation": [{"language": "de", "value": "Patientin"}]}],
    }
    asked = choice(coded(GENDER, "female", "Female"), language="en", contained=[supplement])

    assert Chat(asked, "de").choices == ["Patientin"]
    assert Chat(asked, "de").say("weiblich").open == "summary"


def test_the_preferred_designation_is_shown_and_the_others_are_understood() -> None:
    full = {"system": SNOMED, "code": "900000000000003001"}
    concept = {
        "code": "lump",
        "display": "Lump",
        "designation": [
            {"language": "de", "use": full, "value": "Knoten (Befund)"},
            {"language": "de", "use": {"code": "synonym"}, "value": "Geschwulst"},
            {"language": "de", "use": {"code": "display"}, "value": "Knoten"},
        ],
    }
    include = {"system": "http://example.org/signs", "concept": [concept, {"code": "pain", "display": "Pain"}]}
    signs = {"resourceType": "ValueSet", "id": "signs", "status": "active", "compose": {"include": [include]}}
    asked = form(item("q", "choice", text="Q", answerValueSet="#signs"), language="en", contained=[signs])

    assert Chat(asked, "de").choices == ["Knoten", "Pain"]
    assert Chat(asked, "de").say("Geschwulst").answers("q") == Chat(asked, "en").say("lump").answers("q")


def test_words_that_are_lent_make_no_form_one_of_two_languages() -> None:
    asked = choice(coded(GENDER, "female", "Female"), coded(GENDER, "male", "Male"), language="en")

    assert load_form(asked, known=shipped_terminology()).languages == ("en",)


def test_prefixes_and_headings_are_in_the_language_of_the_chat() -> None:
    inner = item("q", "boolean", text="Pain?", _text=translated("Schmerzen?", "de"), prefix="Item 1",
                 _prefix=translated("Frage 1", "de"))  # fmt: skip
    asked = form(item("g", "group", inner, text="Signs", _text=translated("Zeichen", "de")), language="en")

    assert Chat(asked, "de").said[1:3] == ["Zeichen", "Frage 1 Schmerzen?"]
    assert Chat(asked, "en").said[1:3] == ["Signs", "Item 1 Pain?"]


def test_a_unit_is_called_as_people_of_the_language_call_it() -> None:
    years = {"url": CORE + "questionnaire-unit", "valueCoding": {"system": "http://unitsofmeasure.org", "code": "a", "display": "years"}}  # fmt: skip
    asked = form(item("q", "quantity", text="Since when?", extension=[years]), language="en")

    chat = Chat(asked, "de").say("drei Jahre", "ja")

    assert "3 Jahre" in " ".join(chat.said)
    assert chat.answers("q")[0]["unit"] == "years"
