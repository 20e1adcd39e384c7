"""Whatever a patient writes, in whatever order: no exception, every reply approved, and an end once they cooperate."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.interview.manners.interview import Open
from bot.interview.values.fhir_json import dump
from bot.interview.walk.engine import Done
from bot.testing import HOSTILE_TEXTS
from tests.bot.interview.chat import Chat, mammography
from tests.bot.interview.random_forms import questionnaires
from tests.bot.interview.resources import Json
from tests.conftest import examples

MOST_TURNS = 1500
# Conditions that R4 and its validators read in different ways: the engine decides, the check lets both pass.
UNCLEAR = ('"!="', "answerDate")
NONSENSE = {
    "de": (
        "zurück", "warum?", "überspringen", "weiss nicht", "möchte ich nicht sagen", "Zusammenfassung", "Pause",
        "weitermachen", "hilfe", "noch einmal", "Alter ändern", "Item 2 ändern", "ändern", "ja", "nein", "vielleicht",
        "ja, nein", "1", "2", "3", "7", "99", "asdf", "Tut das weh?", "Wie lange dauert die Untersuchung?", "1 und 2",
        "3. März 1975", "gestern", "31. Februar 2020", "etwa 70 Kilo", "70 kg", "5,25", "2 bis 3", "14:30", "a", "B",
        "nein danke, das war alles", "ja, 5", "absenden", "https://example.org/x", "", "  ", "\x00",
    ),
    "en": (
        "back", "why?", "skip", "I don't know", "I'd rather not say", "summary", "pause", "continue", "help", "repeat",
        "change age", "change Item 2", "change", "yes", "no", "maybe", "yes, no", "1", "2", "3", "7", "99", "asdf",
        "Does it hurt?", "How long does it take?", "1 and 2", "3 March 1975", "yesterday", "30 February 2020",
        "about 70 kilos", "70 kg", "5.25", "2 to 3", "2:30 pm", "a", "B", "no thanks, that's all", "yes, 5", "send",
        "https://example.org/x", "", "  ", "\x00",
    ),
}  # fmt: skip
YES = {"de": "ja", "en": "yes"}
SKIP = {"de": "überspringen", "en": "skip"}
NO = {"de": "nein", "en": "no"}
GOOD = {
    "boolean": ("ja", "nein", "1"), "integer": ("5", "7"), "decimal": ("5,5", "2"), "time": ("14:30",),
    "date": ("2001-06-15", "1975"), "dateTime": ("2001-06-15 10:00",), "string": ("yes", "no one"), "text": ("yes",),
    "url": ("https://example.org",), "choice": ("1", "A", "b"), "open-choice": ("1", "B", "anders"),
    "attachment": ("https://example.org/a.pdf",), "reference": ("Patient/1",), "quantity": ("70 kg", "5 kg"),
}  # fmt: skip


def cooperative(chat: Chat, random: Random) -> str:
    """What somebody says who wants to get to the end: mostly an answer, else to skip."""
    waiting: Open = chat.interview.open_question(chat.session)
    if waiting.kind in ("summary", "checking", "read-back", "proposal"):
        return YES[chat.language]
    if waiting.kind in ("paused", "choosing"):
        return {"de": "weitermachen", "en": "continue"}[chat.language]
    if waiting.kind == "another":
        return NO[chat.language]
    item = chat.interview.form.by_link_id[waiting.link_id]
    if random.random() < 0.3 or chat.session.talk.tries:
        return SKIP[chat.language]
    return random.choice(GOOD[item.type])


def talk(chat: Chat, random: Random, *, stubborn: int, turns: int) -> list[str]:
    """Let a patient talk: `turns` turns of nonsense now and then, then cooperation to the end. Return what was said."""
    said: list[str] = []
    while chat.open != "finished":
        assert len(said) < MOST_TURNS, f"no end: {chat.open}"
        odd = len(said) < turns and random.randint(1, 10) <= stubborn
        said.append(random.choice(NONSENSE[chat.language]) if odd else cooperative(chat, random))
        chat.say(said[-1])
    return said


def check_end(chat: Chat) -> None:
    errors = chat.errors()
    if chat.status == "completed":
        assert errors == []
    else:
        assert chat.status == "in-progress"
        assert errors == []  # what is missing is no error yet
        assert chat.interview.engine.open_problems(chat.session.filling)
    if any(word in dump(chat.questionnaire) for word in UNCLEAR):
        return
    assert chat.interview.engine.next(chat.session.filling) == Done()
    assert chat.session.filling.waiting == {}


languages = st.sampled_from(("de", "en"))
seeds = st.integers(0, 2**32)


@pytest.mark.proof
@settings(max_examples=150)
@given(questionnaires(), languages, seeds, st.sampled_from((0, 4, 8, 10)))
def test_every_talk_about_any_form_ends(questionnaire: Json, language: str, seed: int, stubborn: int) -> None:
    chat = Chat(questionnaire, language)

    talk(chat, Random(seed), stubborn=stubborn, turns=60)

    check_end(chat)


@pytest.mark.proof
@settings(max_examples=25)
@given(languages, seeds, st.sampled_from((0, 3, 6, 9)))
def test_every_talk_about_the_shipped_form_ends(language: str, seed: int, stubborn: int) -> None:
    random = Random(seed)
    chat = Chat(mammography(), language).say("1", "1", str(random.randint(16, 90)))

    talk(chat, random, stubborn=stubborn, turns=120)

    check_end(chat)


@pytest.mark.proof
@settings(max_examples=60)
@given(questionnaires(), languages, seeds, st.data())
def test_a_kill_at_any_point_changes_nothing(questionnaire: Json, language: str, seed: int, data: Any) -> None:
    unharmed = Chat(questionnaire, language)
    said = talk(unharmed, Random(seed), stubborn=4, turns=40)
    killed_before = data.draw(st.integers(0, len(said)))
    chat = Chat(questionnaire, language)

    chat.say(*said[:killed_before]).killed().say(*said[killed_before:])

    assert chat.response() == unharmed.response()
    assert chat.session == unharmed.session
    assert chat.said == unharmed.said or killed_before == len(said)


@examples(8, 40)
@given(
    questionnaires(most=6), languages, st.lists(st.text(st.characters(exclude_categories=()), max_size=40), max_size=8)
)
def test_any_text_gets_a_reply(questionnaire: Json, language: str, texts: list[str]) -> None:
    chat = Chat(questionnaire, language)

    for text in texts:
        chat.say(text)
        assert chat.said or chat.open in {"finished", "paused"}


@pytest.mark.proof
@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
@pytest.mark.parametrize("language", ["de", "en"])
def test_hostile_texts_get_a_reply_at_every_kind_of_question(hostile: str, language: str) -> None:
    chat = Chat(mammography(), language)
    for kind in ("1", "1", "45"):
        chat.say(hostile).say(kind)

    for _ in range(40):
        chat.say(hostile)
        assert chat.said or chat.open == "finished"
        if chat.open != "finished":
            chat.say(cooperative(chat, Random(1)))
