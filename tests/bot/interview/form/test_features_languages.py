"""A form in German asked in English: translated texts, local value sets, exclusive options and counts, all at once."""

from __future__ import annotations

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, Json, form, item

CODES = "http://example.org/codes"


def translated(content: str) -> Json:
    parts = [{"url": "lang", "valueCode": "en"}, {"url": "content", "valueString": content}]
    return {"extension": [{"url": CORE + "translation", "extension": parts}]}


def concept(code: str, german: str, english: str) -> Json:
    return {"code": code, "display": german, "designation": [{"language": "en", "value": english}]}


def local_value_set() -> Json:
    none = concept("none", "nichts davon", "none of these")
    none["extension"] = [{"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True}]
    listed = [concept("lump", "Knoten", "lump"), concept("pain", "Schmerzen", "pain"), concept("red", "Rötung", "redness"), none]  # fmt: skip
    compose = {"include": [{"system": CODES, "concept": listed}]}
    return {"resourceType": "ValueSet", "id": "signs", "status": "active", "compose": compose}


def questionnaire() -> Json:
    counts = [
        {"url": CORE + "questionnaire-minOccurs", "valueInteger": 1},
        {"url": CORE + "questionnaire-maxOccurs", "valueInteger": 2},
    ]
    signs = item("signs", "choice", text="Was bemerken Sie?", _text=translated("What do you notice?"),
                 required=True, repeats=True, answerValueSet="#signs", extension=counts)  # fmt: skip
    return form(signs, language="de", contained=[local_value_set()])


def test_translations_exclusive_options_counts_and_local_value_sets_work_together() -> None:
    chat = Chat(questionnaire(), "en")
    assert chat.said[1] == "What do you notice?"
    assert chat.choices == ["lump", "pain", "redness", "none of these"]

    assert chat.say("lump and none of these").keys[0] == "why_exclusive"
    assert "problem_too-many" in chat.say("1, 2 and 3").keys
    assert chat.say("lump and pain").open == "summary"
    assert chat.say("yes").status == "completed"
    assert chat.errors() == []


def test_the_response_keeps_the_words_of_the_questionnaire() -> None:
    chat = Chat(questionnaire(), "en").say("redness")

    (answered,) = chat.response()["item"]

    assert answered["text"] == "Was bemerken Sie?"
    assert answered["answer"] == [{"valueCoding": {"system": CODES, "code": "red", "display": "Rötung"}}]


def test_a_label_is_understood_in_either_language() -> None:
    assert Chat(questionnaire(), "en").say("Rötung").answers("signs") == Chat(questionnaire(), "en").say("redness").answers("signs")  # fmt: skip


def test_without_a_translation_the_words_of_the_questionnaire_are_shown() -> None:
    chat = Chat(form(item("q", "boolean", text="Schwanger?"), language="de"), "en")

    assert "Schwanger?" in chat.said
