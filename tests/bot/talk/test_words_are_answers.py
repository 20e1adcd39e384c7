"""Where any words are an answer, words that are pleasantries elsewhere are the answer: nothing a patient says is lost."""

from __future__ import annotations

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import Interface
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from tests.bot.interview.resources import Json, coding, form, item
from tests.bot.talk.test_alarm_exits import NOW

TEXT = item("first", "text", text="How does it look, and how do you feel?")
STRING = item("first", "string", text="Which colour?")
OPEN = item("first", "open-choice", text="How is it?", answerOption=[coding("w", display="Swollen")])
LAST = item("second", "date", text="Since when?")


def _asking(assistant: Assistant, records: SqlRecords, language: str, question: Json) -> Conversation:
    opened = StoredConversation("c", NOW, language, "api")
    interviewer = Interviewer(dump(form(question, LAST, title="Questions")), SqlInterviews(records.engine), "c")
    conversation = Conversation.open(assistant, records, opened, interviewer=interviewer)
    conversation.turn("/interview", at=NOW)
    return conversation


def _given(conversation: Conversation) -> list[object]:
    who = conversation._interviewer
    assert who is not None
    assert who.session is not None
    return [answer.value for answers in who.session.filling.answers.values() for answer in answers]


@pytest.mark.parametrize("question", [TEXT, STRING, OPEN])
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "red"), ("de", "good"), ("de", "red skin"), ("de", "gut"), ("de", "schön"), ("de", "alles gut"),
        ("de", "rede mit meiner Schwester darüber"), ("de", "interessant"), ("de", "vielleicht"),
        ("en", "good"), ("en", "not so bad"), ("en", "tricky"), ("en", "I'm fine"), ("en", "perfect"),
        ("en", "I'll ask my doctor about it"),
    ],
)  # fmt: skip
def test_what_is_a_pleasantry_elsewhere_is_the_answer(
    small: Assistant, records: SqlRecords, question: Json, language: str, said: str
) -> None:
    conversation = _asking(small, records, language, question)

    conversation.turn(said, at=NOW)
    if not _given(conversation):  # what has a "not" in it is read back
        conversation.turn("ja" if language == "de" else "yes", at=NOW)

    assert _given(conversation) == [said]


@pytest.mark.parametrize(
    ("language", "said", "key"),
    [
        ("de", "vielen Dank", "thanks"), ("en", "thanks a lot", "thanks"), ("de", "Moment mal", "take_your_time"),
        ("en", "let me think", "take_your_time"), ("de", "Hilfe", "how_to"), ("en", "pause", "paused"),
        ("de", "überspringen", "skipped"), ("en", "don't know", "dont_know"), ("de", "weiß nicht", "dont_know"),
        ("de", "ja", "go_ahead"), ("en", "ok", "go_ahead"), ("en", "no thanks", ""), ("de", "kein Notfall", "on_with"),
    ],
)  # fmt: skip
def test_thanks_commands_and_not_knowing_are_none(
    small: Assistant, records: SqlRecords, language: str, said: str, key: str
) -> None:
    conversation = _asking(small, records, language, TEXT)

    reply = conversation.turn(said, at=NOW)

    assert _given(conversation) == []
    assert not key or key in [part.key for part in reply.parts if isinstance(part, Interface)]


def test_a_pleasantry_is_still_met_as_one_where_words_are_no_answer(small: Assistant, records: SqlRecords) -> None:
    conversation = _asking(small, records, "en", item("first", "integer", text="How many?"))

    reply = conversation.turn("good", at=NOW)

    assert next(part.key for part in reply.parts if isinstance(part, Interface)) == "all_right"
