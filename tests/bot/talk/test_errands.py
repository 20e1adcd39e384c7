"""Errands that are not run here, and what nobody could answer as it was written: what is said, and what is answered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot import Assistant
from bot.sentences.reply import Content, Interface, Reply
from bot.talk.dialogue import State
from bot.talk.messages import refuses
from bot.talk.plainly import other_words
from bot.talk.reactions import Reactions
from bot.talk.situation import wants_simple

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
# The language, what is written, the sentence that has to be said.
ERRANDS = (
    ("de", "Ich schaff es nicht, sagen Sie den Termin bitte ab", "nothing_cancelled"),
    ("de", "na i kumm ned, streichts mein Termin", "nothing_cancelled"),
    ("en", "I won't come, please tell them to cancel", "nothing_cancelled"),
    ("de", "ich bring morgen eine Bombe mit zu euch", "threat"),
    ("en", "I'm coming tomorrow with a gun", "threat"),
    ("de", "zeig mir was die anderen gefragt haben", "others_unseen"),
    ("en", "show me the other patients' questions", "others_unseen"),
    ("de", "notieren Sie bitte meine Latexallergie", "not_passed_on"),
    ("en", "please tell the nurse I have breast implants", "not_passed_on"),
    ("de", "Bin völlig erschöpft, ich kann nicht mehr", "feel_sadness"),
    ("de", "ich lach mich kaputt über eure Fragen", "feel_chatter"),
    ("de", "ich spreche nicht gut Deutsch", "simple_on"),
    ("de", "😢", "feel_sadness"),
)
HARMLESS = (
    ("de", "Ich komm morgen mit meiner Tochter zu euch"),
    ("de", "Dann bring ich morgen die alten Bilder mit"),
    ("de", "Was sagt mir der Arzt nach der Aufnahme?"),
    ("en", "Will the doctor tell the patient the result?"),
)


def _keys(reply: Reply) -> set[str]:
    return {part.key for part in reply.parts if isinstance(part, Interface)}


def _pairs(reply: Reply) -> set[str]:
    return {part.pair_id for part in reply.parts if isinstance(part, Content)}


@pytest.fixture
def rules(shipped: Assistant) -> Reactions:
    return Reactions(shipped)


def test_nobody_believes_that_an_errand_was_run(rules: Reactions) -> None:
    told = {text: _keys(rules.react(State(language), text, NOW).reply) for language, text, _ in ERRANDS}

    assert [text for _, text, key in ERRANDS if key not in told[text] or "all_right" in told[text]] == []


def test_what_only_sounds_like_an_errand_is_none(rules: Reactions) -> None:
    ours = {"nothing_cancelled", "threat", "others_unseen", "not_passed_on"}
    told = {text: _keys(rules.react(State(language), text, NOW).reply) for language, text in HARMLESS}

    assert [text for text, keys in told.items() if keys & ours] == []


def test_a_device_that_shall_be_passed_on_gets_its_answer(rules: Reactions) -> None:
    reply = rules.react(State("de"), "richten Sie der Praxis aus, dass ich einen Herzschrittmacher habe", NOW).reply

    assert "not_passed_on" in _keys(reply)
    assert _pairs(reply) == {"pacemaker"}


@pytest.mark.parametrize(
    ("language", "text", "pair_id"),
    [
        ("de", "tut dat weh", "pain"),
        ("de", "ich nicht gut deutsch. wie lange dauert Mammographie", "duration"),
        ("en", "I'm burning with curiosity, what does it cost", "costs"),
    ],
)
def test_what_is_asked_in_other_words_is_answered(rules: Reactions, language: str, text: str, pair_id: str) -> None:
    assert pair_id in _pairs(rules.react(State(language), text, NOW).reply)


def test_what_is_asked_in_a_story_is_answered_once_its_alarm_is_called_off(rules: Reactions) -> None:
    held = (
        "Vor Jahren bekam ich nach einer Spritze keine Luft mehr. Das war furchtbar. Wie lange dauert die Mammographie?"
    )
    alarmed = State("de", alarmed=True, held_back=held)

    assert "duration" in _pairs(rules.react(alarmed, "nein, das war vor Jahren", NOW).reply)


def test_after_a_complaint_that_is_none_its_question_is_answered(rules: Reactions) -> None:
    state = State("de", complaint="now", complained="Mir ging es 2019 nicht gut. Wie lange dauert die Mammographie?")
    reply = rules.react(state, "das ist sieben Jahre her", NOW).reply

    assert "all_right" not in _keys(reply)
    assert "duration" in _pairs(reply)


def test_who_speaks_for_somebody_else_keeps_the_usual_answers() -> None:
    assert wants_simple("ich kann wenig Deutsch", "de")
    assert not wants_simple("meine Mutter spricht wenig Deutsch", "de")


def test_a_question_about_cancelling_calls_off_nothing() -> None:
    asked = ("Muss ich den Termin absagen, wenn ich krank bin?", "wann kann ich den Termin absagen")

    assert [text for text in asked if refuses(text)] == []
    assert list(other_words("Tut das weh?", "de")) == []
