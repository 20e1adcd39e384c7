"""Patients' chats for who tests the assistant: context is kept within one, and nothing is stored for good."""

import tempfile
from pathlib import Path

import pytest

from bot import Assistant
from bot.talk.chats import open_chats


def test_a_chat_remembers_what_was_said_in_it_and_others_do_not(shipped: Assistant) -> None:
    with open_chats(shipped) as chats:
        first, other = chats.begin("de"), chats.begin("de")
        told = first.say("Tut die Mammographie weh?")
        easier = first.say("einfacher bitte")
        elsewhere = other.say("einfacher bitte")
        thanks = first.say("danke")

    assert (told.decision, told.shown) == ("answered", (("pain", "short_answer"), ("pain", "answer")))
    assert told.response is not None
    assert told.response.pair_id == "pain"
    assert ("pain", "easy_answer") in easier.shown
    assert elsewhere.shown == ()
    assert (thanks.decision, thanks.shown, thanks.response) == ("talk", (), None)
    assert thanks.language == "de"
    assert thanks.keys


def test_an_alarm_and_choices_are_told(shipped: Assistant) -> None:
    with open_chats(shipped) as chats:
        alarm = chats.begin("en").say("I cannot breathe and my chest is so tight, help")
        asked_back = chats.begin("de").say("dauer oder kosten")

    assert (alarm.decision, alarm.shown) == ("urgent", ())
    assert asked_back.decision == "clarify"
    assert {"duration", "costs"} <= set(asked_back.choices)


def test_nothing_is_kept_and_the_database_of_patients_is_left_alone(
    shipped: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients = tmp_path / "patients.db"
    monkeypatch.setenv("KLARTEXT_DATABASE_URL", f"sqlite:///{patients}")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    with open_chats(shipped) as chats:
        chats.begin("de").say("Tut die Mammographie weh?")
        assert list((tmp_path / "temporary").glob("klartext-chats-*/klartext.db"))

    assert list((tmp_path / "temporary").iterdir()) == []
    assert not patients.exists()


def test_another_method_decides_in_a_chat_too(shipped: Assistant) -> None:
    with open_chats(shipped, method="cosine") as chats:
        turn = chats.begin("en").say("what should I know about pain during the examination of my breasts")

    assert turn.response is not None
    assert turn.response.method == "cosine"
