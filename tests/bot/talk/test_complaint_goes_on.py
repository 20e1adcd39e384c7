"""What was told of a complaint or an emergency is not forgotten over the next message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot import Assistant
from bot.talk.chats import Chats, open_chats
from bot.talk.context import hear
from bot.talk.dialogue import State, told_urgency

COMPLAINT = {
    "de": "Meine linke Brust ist rot und heiß und ich habe Fieber",
    "en": "My left breast is red and hot and I have a fever",
}
ABOUT_IT = [
    ("de", "ist das gefährlich?"),
    ("de", "Kann ich damit bis Montag warten?"),
    ("de", "wie lange darf ich warten?"),
    ("en", "is that dangerous?"),
    ("en", "how come?"),
    ("en", "can I wait until Monday?"),
]
QUESTION = {"de": "Muss ich mich für die Mammographie ausziehen?", "en": "Do I have to undress for the mammogram?"}
ALARM = {"de": "Ich bekomme keine Luft und mein Brustkorb ist eng", "en": "My chest is tight and I can't breathe"}
GOES_ON = [("de", "was soll ich machen?"), ("de", "es ist seit 20 Minuten"), ("en", "what should I do?")]


@pytest.fixture
def chats(shipped: Assistant) -> Iterator[Chats]:
    with open_chats(shipped) as opened:
        yield opened


@pytest.mark.parametrize(("language", "said"), ABOUT_IT)
def test_what_is_asked_about_a_complaint_gets_no_leaflet_but_its_urgency_again(
    chats: Chats, language: str, said: str
) -> None:
    chat = chats.begin(language)
    first = chat.say(COMPLAINT[language])

    second = chat.say(said)

    assert first.keys[0].startswith("complaint_today")
    assert second.keys[0].startswith("remember_today")
    assert {pair for pair, _ in second.shown} <= {pair for pair, _ in first.shown}


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_question_of_its_own_is_answered_after_one_reminder(chats: Chats, language: str) -> None:
    chat = chats.begin(language)
    chat.say(COMPLAINT[language])

    reminded, then = chat.say(QUESTION[language]), chat.say(QUESTION[language])

    assert reminded.keys[0].startswith("remember_today")
    assert ("undressing", "answer") in reminded.shown
    assert not any(key.startswith("remember_") for key in then.keys)


def test_thanks_do_not_end_a_complaint(chats: Chats) -> None:
    chat = chats.begin("de")
    chat.say(COMPLAINT["de"])
    chat.say("danke")

    assert chat.say("Kann ich damit bis Montag warten?").keys[0].startswith("remember_today")


def test_a_reminder_does_not_become_a_wall(chats: Chats) -> None:
    chat = chats.begin("de")
    chat.say(COMPLAINT["de"])

    said = [chat.say("Kann ich warten?") for _ in range(3)]

    assert [any(key.startswith("remember_") for key in turn.keys) for turn in said] == [True, True, False]
    assert said[0].shown
    assert not said[1].shown


@pytest.mark.parametrize(("language", "said"), GOES_ON)
def test_an_alarm_is_said_again(chats: Chats, language: str, said: str) -> None:
    chat = chats.begin(language)
    alarm = chat.say(ALARM[language])

    again = chat.say(said)

    assert alarm.decision == "urgent"
    assert again.keys[0].startswith("urgent")


def test_a_reminder_tells_how_urgent_it_is(chats: Chats, shipped: Assistant) -> None:
    first = hear(shipped, State("de"), COMPLAINT["de"], "de")
    second = hear(shipped, first.after, "ist das gefährlich?", "de")

    assert told_urgency(first.reply) == told_urgency(second.reply) == "today"
