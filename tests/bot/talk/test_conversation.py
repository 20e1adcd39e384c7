"""A patient's turns, with a real catalog and a real database."""

import logging
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.errors import BadData
from bot.ports import InterviewChange, StoredConversation, StoredTurn
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import Reply, guard, read_reply
from bot.staff.calls import Stir
from bot.talk.conversation import Conversation
from bot.talk.dialogue import State, read_state
from bot.testing import HOSTILE_TEXTS

NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
DE, EN = INTERFACE_TEXTS["de"], INTERFACE_TEXTS["en"]
Say = Callable[[str], Reply]


def _opened(id_: str = "c1") -> StoredConversation:
    return StoredConversation(id_, NOW, "de", "terminal")


@pytest.fixture
def conversation(small: Assistant, records: SqlRecords) -> Conversation:
    return Conversation.begin(small, records, _opened())


@pytest.fixture
def say(conversation: Conversation) -> Say:
    return lambda text: conversation.turn(text, at=NOW)


def _texts(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts]


PAIN = "Tut die Untersuchung weh? (pain, de)"
COSTS = "Was kostet die Untersuchung? (costs, de)"
DURATION = "Wie lange dauert die Untersuchung? (duration, de)"


def test_the_welcome_holds_the_emergency_notice_and_the_sample_label(conversation: Conversation) -> None:
    assert _texts(conversation.welcome()) == [DE["welcome"], DE["emergency_notice"], DE["sample_label"], DE["help"]]


def test_a_question_is_answered_with_the_curated_text(say: Say) -> None:
    assert _texts(say("tut das weh?")) == [PAIN, DE["sample_label"]]


@pytest.mark.parametrize(
    ("pick", "expected"),
    [("2", DURATION), ("Was kostet die Untersuchung?", COSTS)],
)
def test_an_unclear_question_is_asked_back_and_the_choice_answered(say: Say, pick: str, expected: str) -> None:
    asked = say("dauer und kosten?")

    answered = say(pick)

    assert [choice.text for choice in asked.choices] == [
        "Was kostet die Untersuchung?",
        "Wie lange dauert die Untersuchung?",
        DE["none_of_these"],
    ]
    assert _texts(answered)[0] == expected


@pytest.mark.parametrize("pick", ["3", "Nichts davon"])
def test_none_of_the_choices_is_a_choice(say: Say, pick: str) -> None:
    say("dauer und kosten?")

    assert _texts(say(pick)) == [DE["none_chosen"]]
    assert _texts(say("/easy")) == [DE["nothing_to_explain"]]


def test_a_new_question_may_follow_an_offer(say: Say) -> None:
    say("dauer und kosten?")

    assert _texts(say("tut das weh?"))[0] == PAIN


@pytest.mark.parametrize("command", ["/easy", "/einfach", " /EASY "])
def test_easier_words_on_request(say: Say, command: str) -> None:
    say("tut das weh?")

    assert _texts(say(command)) == [DE["easy_intro"], "pain, de.", DE["sample_label"]]


@pytest.mark.parametrize("command", ["/help", "/hilfe", "/?"])
def test_help_on_request(say: Say, command: str) -> None:
    assert _texts(say(command)) == [DE["help"]]


@pytest.mark.parametrize("nothing", ["", "   ", "\x00", "\ud800", "\u200b"])
def test_an_empty_turn_is_answered_and_changes_nothing(say: Say, nothing: str) -> None:
    say("dauer und kosten?")

    assert _texts(say(nothing)) == [DE["empty"], DE["emergency_notice"]]
    assert _texts(say("2"))[0] == DURATION


def test_too_long_a_turn_is_answered_with_the_limit(say: Say) -> None:
    assert "höchstens 1000 Zeichen" in _texts(say("Wie lange dauert die Untersuchung? " * 40))[0]


def test_flagging_an_answer_puts_it_before_the_curators(say: Say, records: SqlRecords) -> None:
    assert _texts(say("/flag")) == [DE["nothing_to_flag"]]
    say("tut das weh?")
    assert records.open_questions() == []

    assert _texts(say("/flag ist falsch")) == [DE["flagged"]]

    assert [turn.question for turn in records.open_questions()] == ["tut das weh?"]


def test_chest_pain_shows_the_number_and_no_emergency_shows_the_answer(say: Say) -> None:
    urgent = say("Druck auf der Brust, habe ich dabei Schmerzen?")

    after = say("nein")

    assert _texts(urgent) == [DE["urgent_chest_pain"], DE["chest_question"]]
    assert [choice.text for choice in urgent.choices] == [DE["chest_breast"]]
    assert _texts(after) == [DE["look_today_chest"], DE["calmed_breast"], PAIN, DE["sample_label"]]


def test_another_emergency_after_chest_pain_is_still_an_emergency(say: Say) -> None:
    say("Druck auf der Brust, habe ich dabei Schmerzen?")

    assert _texts(say("ich kriege keine Luft"))[0] == DE["urgent"]
    assert _texts(say("nein"))[0] != PAIN  # nothing is held back any more


def test_the_language_may_change_mid_conversation(say: Say, conversation: Conversation) -> None:
    say("tut das weh?")

    answered = say("does insurance pay")

    assert answered.language == "en"
    assert _texts(answered) == ["What does the examination cost? (costs, en)", EN["sample_label"]]
    assert _texts(say("/easy"))[0] == EN["easy_intro"]
    assert _texts(say("Was kostet das?"))[0] == COSTS
    assert conversation.language == "de"


class _Noting(SqlRecords):
    """Records that look, from another connection, at what is on disk after each turn."""

    on_disk: ClassVar[list[list[str]]] = []

    def add_turn(self, turn: StoredTurn, *, interview: InterviewChange | None = None, call: Stir | None = None) -> None:
        super().add_turn(turn, interview=interview, call=call)
        engine = create_engine(self._engine.url)
        with engine.connect() as connection:  # it sees committed rows only
            self.on_disk.append([row[0] for row in connection.execute(text("select question from turns"))])
        engine.dispose()


def test_each_turn_is_on_disk_before_its_reply(small: Assistant, tmp_path_factory: pytest.TempPathFactory) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('noting') / 'turns.db'}"
    noting = _Noting.open(url)
    conversation = Conversation.begin(small, noting, _opened())

    for turn in ("tut das weh?", "dauer und kosten?", "1", "Ich kriege keine Luft"):
        conversation.turn(turn, at=NOW)

    noting.close()
    assert noting.on_disk[-1] == ["tut das weh?", "dauer und kosten?", "1", "Ich kriege keine Luft"]
    assert [len(rows) for rows in noting.on_disk] == [1, 2, 3, 4]


def test_what_is_stored_is_sanitised_and_complete(say: Say, records: SqlRecords) -> None:
    say("dauer\x00 und \ud800kosten?")

    (stored,) = records.open_questions()

    assert 0 < stored.score < 1
    assert replace(stored, score=0.5, exchange=None) == StoredTurn(
        "c1", NOW, "de", "dauer und kosten?", "clarify", None, 0.5, "small@1"
    )
    assert stored.exchange is not None
    assert (stored.exchange.number, stored.exchange.said) == (1, "dauer und kosten?")


def test_text_that_is_not_approved_never_reaches_the_patient(
    small: Assistant, records: SqlRecords, caplog: pytest.LogCaptureFixture
) -> None:
    class Tampered(Assistant):
        """An assistant whose shown pairs were withdrawn after it decided."""

        def __init__(self) -> None:
            """Take everything from the small assistant."""
            self.__dict__.update(small.__dict__)

        def shown(self, language: str) -> frozenset[str]:
            return frozenset()

    conversation = Conversation.begin(Tampered(), records, _opened())

    with caplog.at_level(logging.ERROR, logger="klartext"):
        reply = conversation.turn("tut das weh?", at=NOW)

    assert _texts(reply) == [DE["safe"]]
    assert "refused by the guard" in caplog.text
    assert "weh" not in caplog.text


@given(
    st.lists(
        st.text(st.characters(exclude_categories=()), max_size=30)
        | st.sampled_from(["1", "2", "nein", "/easy", "/flag"]),
        max_size=4,
    )
)
def test_any_turns_get_a_reply_that_passes_the_guard(small: Assistant, records: SqlRecords, turns: list[str]) -> None:
    conversation = Conversation.begin(small, records, _opened(uuid.uuid4().hex))

    replies = [conversation.turn(turn, at=NOW) for turn in turns]

    for reply in replies:
        assert reply.parts
        assert reply.parts[0].text not in (DE["safe"], EN["safe"])
        assert guard(reply, small.catalog(reply.language), shown=small.shown(reply.language)) is reply


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_turns_get_a_reply_and_can_be_stored(say: Say, hostile: str) -> None:
    reply = say(hostile)

    assert reply.parts[0].text not in (DE["safe"], EN["safe"])


def test_nothing_a_patient_wrote_is_repeated(say: Say) -> None:
    reply = say("Ich heiße Meier-Müller, tut das weh?")

    assert "Meier" not in repr(replace(reply))


def _resumed(small: Assistant, records: SqlRecords) -> Conversation:
    opened = records.conversation("c1")
    assert opened is not None
    return Conversation.resume(small, records, opened, at=NOW)


@pytest.mark.parametrize(
    ("before", "then", "expected"),
    [
        (["dauer und kosten?"], "2", DURATION),
        (["dauer und kosten?", "Hallo"], "Nichts davon", DE["none_chosen"]),
        (["tut das weh?"], "/easy", DE["easy_intro"]),
        (["tut das weh?", "danke"], "/flag", DE["flagged"]),
        (["Druck auf der Brust, habe ich dabei Schmerzen?"], "nein", DE["look_today_chest"]),
        (["Druck auf der Brust, habe ich dabei Schmerzen?"], "ja", DE["urgent"]),
        (["tut das weh?"], "warum?", PAIN),
        ([], "/easy", DE["nothing_to_explain"]),
    ],
)
def test_a_conversation_goes_on_from_what_is_stored(
    small: Assistant, records: SqlRecords, before: list[str], then: str, expected: str
) -> None:
    Conversation.begin(small, records, _opened())
    for text_ in before:
        _resumed(small, records).turn(text_, at=NOW)

    assert _texts(_resumed(small, records).turn(then, at=NOW))[0] == expected


def test_the_language_of_the_last_turn_is_resumed(small: Assistant, records: SqlRecords) -> None:
    Conversation.begin(small, records, _opened()).turn("does insurance pay", at=NOW)

    assert _resumed(small, records).language == "en"


def test_a_pair_that_was_withdrawn_is_forgotten(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.begin(small, records, _opened())
    conversation.turn("dauer und kosten?", at=NOW)
    last = records.last_turn("c1")
    assert last is not None
    assert last.exchange is not None

    state = read_state(last.exchange.state, shown={"de": frozenset({"costs"})})
    elsewhere = read_state(last.exchange.state, shown={"en": frozenset({"costs"})})

    assert state.choices == ()
    assert elsewhere == State("en")


@pytest.mark.parametrize("damaged", ["", "null", "[]", "{}", '{"language": "de"}', '{"choices": 1}'])
def test_what_is_stored_and_damaged_is_refused(damaged: str) -> None:
    with pytest.raises(BadData, match="cannot be read"):
        read_reply(damaged)
    with pytest.raises(BadData, match="cannot be read"):
        read_state(damaged, shown={"de": frozenset()})


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_replies_are_read_back_as_they_were_written(small: Assistant, records: SqlRecords, said: str) -> None:
    id_ = uuid.uuid4().hex
    reply = Conversation.begin(small, records, _opened(id_)).turn(said, at=NOW)

    (stored,) = records.turns(id_)

    assert stored.exchange is not None
    assert read_reply(stored.exchange.reply) == reply


def test_a_damaged_state_begins_anew_instead_of_locking_the_patient_out(small: Assistant, records: SqlRecords) -> None:
    Conversation.begin(small, records, _opened()).turn("tut das weh?", at=NOW)
    with records._engine.begin() as connection:
        connection.execute(text("UPDATE turns SET state = '{}'"))

    assert _texts(_resumed(small, records).turn("/easy", at=NOW)) == [DE["nothing_to_explain"]]
    assert [turn.exchange and turn.exchange.number for turn in records.turns("c1")] == [1, 2]


def test_yes_and_no_get_an_answer_where_nothing_was_asked(conversation: Conversation) -> None:
    assert _texts(conversation.turn("ja", at=NOW)) == [DE["ask_away"]]
    assert _texts(conversation.turn("nein danke", at=NOW)) == [DE["stop"]]


def test_after_an_alarm_yes_is_an_emergency_and_no_is_none(conversation: Conversation) -> None:
    conversation.turn("Ich kriege keine Luft", at=NOW)
    assert _texts(conversation.turn("ja", at=NOW)) == [DE["urgent"]]
    assert _texts(conversation.turn("nein", at=NOW)) == [DE["look_today"], DE["go_on"]]
    assert _texts(conversation.turn("ja", at=NOW)) == [DE["ask_away"]]


@pytest.mark.parametrize("said", ["einfacher", "Das verstehe ich nicht.", "zu kompliziert!"])
def test_the_easy_answer_can_be_asked_for_in_words(conversation: Conversation, said: str) -> None:
    conversation.turn("tut das weh?", at=NOW)

    assert _texts(conversation.turn(said, at=NOW))[0] == DE["easy_intro"]


def test_one_foreign_word_does_not_change_the_language(shipped: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.begin(shipped, records, _opened())

    assert conversation.turn("Tattoo", at=NOW).language == "de"
    assert conversation.turn("does it hurt?", at=NOW).language == "en"
    assert conversation.turn("Kosten", at=NOW).language == "de"


def test_who_calls_staff_leaves_an_urgent_turn_that_says_so(conversation: Conversation, records: SqlRecords) -> None:
    reply = conversation.turn("/staff", at=NOW)

    (kept,) = records.kept("c1")
    assert _texts(reply) == [DE["staff_called"]]
    assert (kept.turn.decision, kept.turn.question, kept.turn.pair_id) == ("urgent", DE["staff_request"], None)


@pytest.mark.parametrize("said", ["Ich will nicht mehr leben", "Ich habe zu viele Tabletten genommen"])
def test_who_takes_back_a_danger_to_oneself_is_told_whom_to_call(conversation: Conversation, said: str) -> None:
    assert _texts(conversation.turn(said, at=NOW))[0] in (DE["urgent_suicide"], DE["urgent_overdose"])

    assert DE["calmed_harm"] in _texts(conversation.turn("nein", at=NOW))
