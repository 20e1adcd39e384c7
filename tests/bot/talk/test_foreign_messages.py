"""A message in a language that the catalog lacks: told so in that language; the conversation goes on in its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, FormText, Interface
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from bot.testing import HashEncoder, write_small_catalog
from tests.bot.interview.resources import Json, form, item
from tests.bot.talk.test_alarm_exits import NOW
from tests.shipped_texts import SAID

TURKISH = "Yarın randevum var, yanımda ne getirmem gerekiyor acaba"
YES_NO = item("first", "boolean", text="Are you pregnant?")
WORDS = item("first", "string", text="Which medicines do you take?")
LAST = item("second", "date", text="Since when?")


def _talk(assistant: Assistant, records: SqlRecords, language: str, question: Json | None = None) -> Conversation:
    opened = StoredConversation("c", NOW, language, "api")
    if question is None:
        return Conversation.begin(assistant, records, opened)
    interviewer = Interviewer(dump(form(question, LAST, title="Questions")), SqlInterviews(records.engine), "c")
    talk = Conversation.open(assistant, records, opened, interviewer=interviewer)
    talk.turn("/interview", at=NOW)
    return talk


def _given(talk: Conversation) -> list[object]:
    who = talk._interviewer
    assert who is not None
    assert who.session is not None
    return [answer.value for answers in who.session.filling.answers.values() for answer in answers]


@pytest.mark.parametrize("language", ["de", "en"])
def test_it_is_declined_in_its_language_and_the_chat_keeps_its_own(
    shipped: Assistant, records: SqlRecords, language: str
) -> None:
    talk = _talk(shipped, records, language)
    reply = talk.turn(TURKISH, at=NOW)

    assert reply.language == talk.language == language
    assert reply.parts == (Interface("foreign", SAID["tr"]["foreign"], {}, "tr"),)
    last = records.last_turn("c")
    assert last is not None
    assert (last.decision, last.language) == ("declined", language)


def test_the_contract_of_the_batch_door(shipped: Assistant) -> None:
    record = shipped.answer(TURKISH).as_json()

    assert (record["decision"], record["reason"], record["pair_id"], record["answer"]) == (
        "declined", "other-language", None, None,
    )  # fmt: skip
    assert record["fixed"] == {"key": "foreign", "language": "tr", "text": SAID["tr"]["foreign"]}
    ordinary = shipped.answer("Tut das weh?").as_json()
    assert not {"reason", "fixed"} & set(ordinary)


@pytest.mark.parametrize(
    ("text", "language", "flag"),
    [("Annem nefes alamıyor", "tr", "breathing"), ("لا أستطيع التنفس", "ar", "breathing"),
     ("Vreau să mor", "ro", "suicide"), ("Мені здається, це інфаркт", "uk", "chest-pain")],
)  # fmt: skip
def test_an_emergency_raises_the_alarm_in_its_language_first(
    shipped: Assistant, records: SqlRecords, text: str, language: str, flag: str
) -> None:
    talk = _talk(shipped, records, "de")
    reply = talk.turn(text, at=NOW)
    response = shipped.answer(text, "de")

    assert (response.decision, response.flag) == ("urgent", flag)
    assert reply.parts[0] == Interface("foreign_urgent", SAID[language]["foreign_urgent"], {}, language)
    assert reply.parts[1].text.startswith(("Rufen Sie jetzt 112", "Sind Sie in Gefahr"))
    texts = SAID["de"]
    assert [choice.text for choice in reply.choices] == [
        texts["chest_breast" if flag == "chest-pain" else "no_emergency"]
    ]
    after = talk.turn(reply.choices[0].text, at=NOW)
    assert after.language == "de"
    assert not after.choices


def test_what_the_learned_alarm_hears_in_another_language_is_no_alarm(shipped: Assistant) -> None:
    path = Path(__file__).parents[2] / "data" / "foreign" / "everyday.tsv"
    texts = [line.split("\t")[1] for line in path.read_text(encoding="utf-8").splitlines()[1:]]

    decisions = {response.decision for response in shipped.answer_all(texts, "de")}

    assert decisions == {"declined"}


def test_the_number_is_that_of_the_country(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLARTEXT_COUNTRY", "AT")
    folder = write_small_catalog(tmp_path / "catalog", languages=["de"])
    assistant = Assistant.open(folder, data=tmp_path / "data", encoder=HashEncoder(), sample=True)

    english, turkish = assistant.answer("Can I come with my husband tomorrow morning"), assistant.answer(TURKISH)

    assert english.fixed is not None
    assert (english.fixed.language, english.fixed.key) == ("en", "foreign_german")
    assert english.fixed.text == SENTENCES["en"]["foreign_german_at"]
    assert turkish.fixed is not None
    assert "144" in turkish.fixed.text
    urgent = assistant.answer("please help my mother cannot breathe")
    assert urgent.decision == "urgent"
    assert urgent.fixed is not None
    assert urgent.fixed.text == SENTENCES["en"]["foreign_urgent_at"]


def test_the_open_question_is_put_again_below_it(shipped: Assistant, records: SqlRecords) -> None:
    talk = _talk(shipped, records, "en", YES_NO)
    reply = talk.turn(TURKISH, at=NOW)

    assert reply.parts[0] == Interface("foreign", SAID["tr"]["foreign"], {}, "tr")
    assert isinstance(reply.parts[-1], FormText | Interface)
    assert "Are you pregnant?" in [part.text for part in reply.parts]
    assert _given(talk) == []
    assert talk.language == "en"


@pytest.mark.parametrize(
    "said",
    [
        "Ibuprofen",
        "Aspirin, Metformin und Ramipril",
        "Kräutertee von Frau Öztürk",
        "parasetamol",
        "Клинички центар Београд",
        "günde iki kere tansiyon ilacı alıyorum",
    ],
)
def test_what_a_question_for_words_asks_for_stays_an_answer(shipped: Assistant, records: SqlRecords, said: str) -> None:
    talk = _talk(shipped, records, "en", WORDS)
    talk.turn(said, at=NOW)

    assert _given(talk) == [said]


def test_a_question_in_another_language_is_no_answer(shipped: Assistant, records: SqlRecords) -> None:
    talk = _talk(shipped, records, "en", WORDS)
    reply = talk.turn(f"{TURKISH}?", at=NOW)

    assert reply.parts[0] == Interface("foreign", SAID["tr"]["foreign"], {}, "tr")
    assert _given(talk) == []


@pytest.mark.parametrize(("said", "value"), [("no", False), ("nein", False), ("yes", True), ("ja", True)])
def test_yes_and_no_stay_answers(shipped: Assistant, records: SqlRecords, said: str, value: bool) -> None:
    talk = _talk(shipped, records, "en", YES_NO)
    talk.turn(said, at=NOW)

    assert _given(talk) == [value]


def test_an_emergency_is_heard_while_questions_are_asked(shipped: Assistant, records: SqlRecords) -> None:
    talk = _talk(shipped, records, "en", WORDS)
    reply = talk.turn("No puedo respirar", at=NOW)

    assert reply.parts[0] == Interface("foreign_urgent", SAID["es"]["foreign_urgent"], {}, "es")
    assert reply.language == "en"
    assert _given(talk) == []
