"""Who fills the form in: asked once, after the agreement, kept, and told to the team."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.manners.session import Filler
from bot.interview.values.fhir_json import dump
from bot.interview.walk.assemble import FILLED_IN_BY
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import form, item

FORM = form(item("consent", "boolean", text="OK?"), item("age", "integer", text="Alter? / Age?"))


class Asked(Chat):
    """A patient of a house that asks who fills the form in."""

    def __init__(self, language: str) -> None:
        super().__init__(FORM, language)
        self._took(self.interview.begin(language, asks_who=True))


@pytest.mark.parametrize(
    ("language", "said", "filler"),
    [
        ("de", "1", "patient"),
        ("de", "ich selbst", "patient"),
        ("de", "ich bin die Tochter", "relative"),
        ("de", "Ich übersetze oder helfe nur", "helper"),
        ("de", "mein Mann hilft mir", "helper"),
        ("en", "it's me", "patient"),
        ("en", "2", "relative"),
        ("en", "I am her interpreter", "helper"),
        ("en", "skip", "unsaid"),
    ],
)
def test_it_is_asked_once_after_the_agreement(language: str, said: str, filler: Filler, told: Any) -> None:
    yes = {"de": "ja", "en": "yes"}[language]
    chat = Asked(language)
    assert chat.open == "question consent"
    assert chat.say(yes).open == "who"
    assert len(chat.choices) == 3

    chat.killed().say(said)

    assert (chat.open, chat.session.filler) == ("question age", filler)
    assert chat.killed().say("52").open == "summary"
    assert (f"filled_by_{filler}" in chat.keys) is (filler != "unsaid")


def test_what_is_not_understood_is_asked_again_once_and_keeps_nobody(language: str, told: Any) -> None:
    chat = Asked(language).say("1", "xyzzy")
    assert told["who_again"] in chat.said

    assert chat.say("xyzzy").open == "question age"
    assert chat.session.filler == "unsaid"


def test_whoever_does_not_agree_is_not_asked(language: str) -> None:
    chat = Asked(language).say("2")

    assert chat.open != "who"
    assert "filler" not in dump(chat.response())


def test_a_pause_comes_back_to_it(language: str, say: Any) -> None:
    chat = Asked(language).say("1", say["pause"]).killed().resume()

    assert chat.open == "who"


@pytest.mark.parametrize(("said", "code"), [("1", "patient"), ("2", "relative"), ("3", "helper")])
def test_the_response_says_who_and_names_a_relative_as_its_source(said: str, code: str) -> None:
    chat = Asked("de").say("ja", said, "52", "ja")

    response = chat.response()

    assert response["extension"] == [{"url": FILLED_IN_BY, "valueCode": code}]
    assert response.get("source", {}).get("type") == ("RelatedPerson" if code == "relative" else None)
    assert (chat.status, chat.errors()) == ("completed", [])


def test_elsewhere_nobody_is_asked(language: str) -> None:
    chat = Chat(FORM, language).say("1", "52", "1")

    assert "extension" not in chat.response()
