"""An offered or open quiz swallows no emergency and no complaint, whatever words it expects stand beside them."""

from __future__ import annotations

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.talk.quiz_words import declines_check
from tests.bot.quizzes import with_quiz
from tests.bot.talk.test_teach_back import Asked

PAIN = {"de": "Tut die Mammographie weh?", "en": "Does a mammogram hurt?"}
EMERGENCIES = [
    ("de", "Ich habe starke Brustschmerzen, Frage nochmal"),
    ("de", "Atemnot! Die Frage bitte nochmal"),
    ("de", "Ich blute stark frage bitte nochmal"),
    ("de", "kann nicht sprechen, Frage nochmal"),
    ("de", "mein Gesicht hängt, frage bitte nochmal"),
    ("de", "Ich habe alle Tabletten genommen, frage nochmal"),
    ("de", "nein, ich bekomme keine Luft"),
    ("de", "Ja, ich habe Brustschmerzen"),
    ("de", "keine Zeit, ich habe Herzschmerzen"),
    ("de", "ich weiß nicht, ich will nicht mehr leben"),
    ("de", "2, mir wird schwarz vor Augen"),
    ("de", "b) und ich bekomme keine Luft"),
    ("de", "Es drückt kurz und ich kriege keine Luft"),
    ("de", "Das erste, aber ich kann nicht mehr atmen"),
    ("en", "I cannot breathe question once again"),
    ("en", "can't breathe! question again please"),
    ("en", "I swallowed all my pills question again"),
    ("en", "no, I took all my pills"),
    ("en", "don't know, I have chest pain"),
    ("en", "yes I feel faint"),
    ("en", "It presses for a moment and I cannot breathe"),
]
TROUBLE = [
    ("de", "Mir ist schwindlig, bitte Frage wiederholen"),
    ("de", "ich bin gestürzt, die frage nochmal"),
    ("de", "habe knoten ertastet frage nochmal"),
    ("de", "knoten brust rot frage nochmal"),
    ("de", "Herzinfarkt, Frage wiederholen"),
    ("de", "Was war die Frage Atemnot Ohnmacht"),
    ("de", "nein danke, mein Arm ist taub"),
    ("de", "nein mir geht es nicht gut"),
    ("de", "Nein danke, aber ich habe einen Knoten getastet"),
    ("de", "kein Quiz, mein Brustkorb tut weh"),
    ("de", "kein Quiz, Brustkorb tut weh"),
    ("de", "keine Tests, ich brauche einen Arzt"),
    ("de", "keine Lust, Knoten in der Brust"),
    ("de", "Nein, ich will mit einem Menschen sprechen"),
    ("de", "nein, bitte einen Arzt"),
    ("de", "keine Ahnung, ich habe Blut aus der Brustwarze"),
    ("de", "mir ist schlecht"),
    ("de", "schwindlig"),
    ("en", "no thanks my nipple is bleeding"),
    ("en", "no quiz, nipple bleeding"),
    ("en", "no, heart attack"),
    ("en", "heart attack, repeat question"),
    ("en", "no tests, I need a doctor"),
    ("en", "skip, my arm is numb"),
    ("en", "my breast is red and hot, question again"),
    ("en", "dizzy"),
]
ASKED_AGAIN = [
    ("de", "was war die frage nochmal?"),
    ("de", "Frage nochmal"),
    ("de", "bitte die Frage wiederholen"),
    ("de", "können Sie die Frage wiederholen"),
    ("de", "ich hab die Frage vergessen, Frage nochmal"),
    ("de", "ich weiß die Frage nicht mehr, bitte nochmal"),
    ("de", "wie war die Frage"),
    ("de", "nochmal bitte"),
    ("en", "question again please"),
    ("en", "could you repeat the question please"),
    ("en", "what was the question again"),
    ("en", "repeat"),
]
OPENS = ("teach_declined", "teach_choose", "teach_unclear", "teach_right", "teach_offer")


@pytest.fixture(scope="module")
def quizzed(shipped: Assistant) -> Assistant:
    return with_quiz(shipped, "pain")


def at(step: str, language: str, assistant: Assistant, records: SqlRecords) -> Asked:
    """Return a conversation in which a quiz was offered, or is asked."""
    asked = Asked(assistant, records, language)
    asked.say(PAIN[language])
    if step == "asked":
        asked.press(asked.sentence("teach_yes"))
    assert asked.quizzed == step
    return asked


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize(("language", "said"), EMERGENCIES)
def test_an_emergency_beside_the_words_that_are_expected_alarms(
    quizzed: Assistant, records: SqlRecords, step: str, language: str, said: str
) -> None:
    asked = at(step, language, quizzed, records)
    asked.say(said)

    assert (asked.turn.decision, asked.quizzed) == ("urgent", "")


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize(("language", "said"), TROUBLE)
def test_trouble_beside_the_words_that_are_expected_is_taken_like_any_message(
    quizzed: Assistant, records: SqlRecords, step: str, language: str, said: str
) -> None:
    asked = at(step, language, quizzed, records)
    reply = asked.say(said)

    assert asked.quizzed == ""
    assert not {asked.sentence(key) for key in OPENS}.intersection(part.text for part in reply.parts)
    assert not reply.choices or asked.turn.decision in ("urgent", "clarify")


@pytest.mark.parametrize(("language", "said"), ASKED_AGAIN)
def test_who_only_wants_the_question_again_gets_it(
    quizzed: Assistant, records: SqlRecords, language: str, said: str
) -> None:
    asked = at("asked", language, quizzed, records)
    options = asked.last.choices

    assert asked.say(said).choices == options


@pytest.mark.parametrize(
    "said",
    ["nein, ich habe keine Lust", "nein ich hab genug", "no, I don't like tests", "lassen Sie mich in Ruhe damit"],
)
def test_a_refusal_is_told_from_what_somebody_tells_of_themselves(said: str) -> None:
    assert declines_check(said)
