"""What patients say in their own words: read by synonyms, else kept for the team, and said so."""

from __future__ import annotations

import json

import pytest

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, string
from bot.interview.walk.assemble import OWN_WORDS
from bot.sentences.reply import reply_of
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.resources import Json, extended, form, item


def _at(link_id: str, language: str = "de") -> Chat:
    """A patient at a question of the shipped form, which is asked again."""
    yes, skip = {"de": ("ja", "überspringen"), "en": ("yes", "skip")}[language]
    chat = Chat(mammography(), language).say("1", "52")
    for _ in range(60):
        if chat.open == f"question {link_id}":
            return chat
        kind = chat.open.split()[0]
        chat.say(yes if kind in ("read-back", "proposal") or link_id.startswith(chat.open.split()[-1][:6]) else skip)
    pytest.fail(f"{link_id} was not reached")


def _code(answer: Answer) -> str:
    return string(as_object(answer.value), "code")


@pytest.mark.parametrize(
    ("language", "link_id", "said", "code"),
    [
        ("de", "procedures", "da hams mal eine probe genommen", "biopsy"),
        ("en", "procedures", "they took a sample once", "biopsy"),
        ("de", "family-cancer", "meine tante und die oma", "373066001"),
        ("en", "family-cancer", "my gran had it", "373066001"),
        ("de", "blood-thinner", "ass 100 nehm ich", "373066001"),
        ("de", "blood-thinner", "Xarelto, seit zwei Jahren", "373066001"),
        ("de", "support", "ich hab schon ziemlich angst", "anxious"),
        ("en", "support", "I'm quite scared", "anxious"),
        ("de", "devices", "ich hab nen Schrittmacher", "pacemaker"),
    ],
)
def test_plain_words_are_read_as_the_option_that_they_mean(language: str, link_id: str, said: str, code: str) -> None:
    chat = _at(link_id, language).say(said)
    if chat.open.startswith("read-back"):
        chat.say("ja" if language == "de" else "yes")

    filling = chat.session.filling
    known = (*filling.answers.items(), *filling.waiting.items())
    stored = [answer for path, answers in known if path[-1][0] == link_id for answer in answers]
    assert [dict(answer.value)["code"] for answer in stored] == [code]  # type: ignore[arg-type]


@pytest.mark.parametrize("said", ["meine tante nicht", "kein aspirin", "keine angst"])
def test_a_synonym_that_is_denied_names_no_option(said: str) -> None:
    for link_id in ("family-cancer", "blood-thinner", "support"):
        chat = _at(link_id).say(said)
        filling = chat.session.filling
        known = (*filling.answers.items(), *filling.waiting.items())
        given = [answers for path, answers in known if path[-1][0] == link_id]
        assert not any(_code(answer) in ("373066001", "anxious") for each in given for answer in each)
        assert not any(_code(answer) in ("373066001", "anxious") for answer in chat.session.talk.pending or ())


FORM = form(item("consent", "boolean", text="Einverstanden?"), item("since", "date", text="Seit wann?"),
            item("name", "string", text="Name?"))  # fmt: skip


def test_what_cannot_be_coded_is_kept_said_and_sent() -> None:
    chat = Chat(FORM).say("ja", "seit es so kalt war")

    assert chat.keys == ["not_understood", "noted"]
    assert chat.said[1:] == ["Für das Team habe ich es so aufgeschrieben: „seit es so kalt war“.", "Seit wann?"]

    chat.say("überspringen")  # it stays with the team
    assert chat.open == "question name"
    assert chat.session.filling.marked
    chat.killed().say("Anna")
    assert "„seit es so kalt war“ (für das Team notiert)" in " ".join(chat.said)
    chat.say("ja")
    kept = next(each for each in chat.response()["item"] if each["linkId"] == "since")
    assert kept["extension"] == [{"url": OWN_WORDS, "valueString": "seit es so kalt war"}]
    assert chat.errors() == []


def test_words_stay_beside_an_answer_that_was_read_from_them() -> None:
    chat = Chat(FORM).say("ja", "das war so um 2019 rum, da ist mein Vater gestorben, und der Hund")

    assert "noted" in chat.keys or "noted_too" in chat.keys


@pytest.mark.parametrize("said", ["weiß der Himmel was das soll", "blau"])
def test_nothing_is_kept_before_the_patient_agrees_to_it(said: str) -> None:
    chat = Chat(FORM).say(said)

    assert chat.session.events == ()


@pytest.mark.parametrize("said", ["7", "!!", "ja"])
def test_what_holds_no_words_is_not_kept(said: str) -> None:
    assert not Chat(FORM).say("ja", said).session.filling.noted


@pytest.mark.parametrize(
    ("language", "denied", "said"),
    [
        ("en", "nope, never ever", "hang on, I had one in 2019"),
        ("en", "nope, never ever", "wait, there was one at the other hospital"),
        ("de", "nö, nie", "moment, doch, 2019 war eins"),
        ("de", "nö, nie", "ach warten Sie, einmal in Kassel"),
    ],
)
def test_second_thoughts_at_a_read_back_take_it_back(language: str, denied: str, said: str) -> None:
    chat = _at("mammogram-before", language).say(denied)
    assert "waits" in chat.keys

    chat.say(said)

    assert chat.open == "question mammogram-before"
    assert any(said in text for text in chat.said)
    assert not any(path[-1][0] == "mammogram-before" for path in chat.session.filling.answers)


def test_what_raised_an_alarm_and_answers_nothing_is_kept_for_the_team() -> None:
    chat = _at("mammogram-before")
    held = "links unten brennt es wie Feuer und drückt"

    turn = chat.interview.called_off(chat.session, held)

    assert any(held in texts for texts in turn.session.filling.noted.values())
    assert any(held in part.text for part in reply_of(turn.said, chat.interview.form).parts)


def test_words_beside_an_answer_stand_in_the_summary() -> None:
    chat = _at("mammogram-before").say("nö, nie", "moment, doch, 2019 war eins", "ja")

    listed = " ".join(part.text for part in reply_of(chat.interview.answers(chat.session), chat.interview.form).parts)

    assert "moment, doch, 2019 war eins" in listed


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (item("q", "string", text="Phone?", maxLength=8), "07700 900123"),
        (
            item(
                "q",
                "string",
                text="Code?",
                extension=extended(("http://hl7.org/fhir/StructureDefinition/regex", {"valueString": "[A-Z]{2}"})),
            ),
            "a1 b2",
        ),
        (
            item(
                "q",
                "integer",
                text="How many?",
                extension=extended(("http://hl7.org/fhir/StructureDefinition/maxValue", {"valueInteger": 10})),
            ),
            "72",
        ),
        (item("q", "integer", text="How many?"), "7-8"),
        (item("q", "decimal", text="How much?"), "> 100"),
    ],
)
def test_an_optional_answer_that_does_not_fit_is_kept_for_the_team(asked: Json, said: str) -> None:
    chat = Chat(form(asked, item("next", "string", text="Next?"), language="en"), "en").say(said)
    assert chat.value("q") is None

    chat.say("skip")

    assert chat.open == "question next"
    assert said in json.dumps(chat.response())
