"""Combined questions and follow-ups, asked of the shipped catalog."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.ports import StoredConversation
from bot.sentences.reply import Content
from bot.talk.conversation import Conversation

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("Tut es weh und wie lange dauert es?", "pain", "duration"),
        ("does it hurt and who pays for it", "pain", "costs"),
    ],
)
def test_both_parts_of_a_combined_question_are_answered(shipped: Assistant, text: str, first: str, second: str) -> None:
    response = shipped.answer(text)

    assert (response.decision, response.pair_id, response.candidates[0].pair_id) == ("answered", first, first)
    assert [part.pair_id for part in response.also] == [second]
    assert response.as_json()["also"][0]["answer"] == shipped.catalog(response.lang).pair(second).answer


def test_a_question_with_one_topic_has_no_further_part(shipped: Assistant) -> None:
    response = shipped.answer("Was ist mit Deo und Creme?", "de")

    assert (response.decision, response.pair_id, response.also) == ("answered", "deodorant", ())


def test_the_chat_shows_every_part_and_asks_on_from_the_last_answer(shipped: Assistant, tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'records.db'}")
    conversation = Conversation.begin(shipped, records, StoredConversation("c1", NOW, "de", "terminal"))

    both = conversation.turn("Tut es weh und wie lange dauert es?", at=NOW)
    conversation.turn("Warum wird die Brust zusammengedrückt?", at=NOW)
    follow_up = conversation.turn("warum?", at=NOW)
    records.close()

    assert [part.pair_id for part in both.parts if isinstance(part, Content)] == ["pain", "duration"]
    assert [part.pair_id for part in follow_up.parts if isinstance(part, Content)] == ["compression"]


@pytest.mark.parametrize(
    ("text", "key"), [("Hallo", "greeting"), ("Vielen Dank!", "thanks"), ("Hilfe", "help"), ("stopp", "stop")]
)
def test_small_talk_gets_its_fixed_reply(shipped: Assistant, tmp_path: Path, text: str, key: str) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'records.db'}")
    conversation = Conversation.begin(shipped, records, StoredConversation("c1", NOW, "de", "terminal"))

    reply = conversation.turn(text, at=NOW)
    records.close()

    assert [getattr(part, "key", None) for part in reply.parts][:1] == [key]


def test_pain_in_the_chest_shows_the_number_and_asks_one_question(shipped: Assistant) -> None:
    response = shipped.answer("Schmerzen in der Brust", "de")

    assert (response.decision, response.flag, response.answer) == ("urgent", "chest-pain", None)


def test_an_emergency_behind_the_cut_of_a_long_text_is_seen(shipped: Assistant) -> None:
    response = shipped.answer("bla " * 300 + "ich kriege keine Luft", "de")

    assert (response.decision, response.flag) == ("urgent", "breathing")
