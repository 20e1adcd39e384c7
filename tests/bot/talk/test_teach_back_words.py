"""What is said to an offered or open quiz: taken only if it clearly answers it, else a message like any other."""

from __future__ import annotations

from typing import Any

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.catalog.quiz import Quiz, QuizStep, quiz_name
from bot.talk.dialogue import Check, State
from bot.talk.teach_back import TeachBack
from tests.bot.quizzes import with_quizzes
from tests.bot.talk.test_teach_back import Asked

DEODORANT = {
    "question": "Was macht Frau Lehmann mit dem Deo?",
    "answer": "Sie wischt es ab, weil Reste im Bild stören können.",
    "distractors": [
        "Sie lässt es dran, weil nur Creme an der Brust stört.",
        "Sie gibt Puder darüber, weil Puder im Bild nicht stört.",
        "Sie macht einen neuen Termin aus, weil Wischen nicht reicht.",
    ],
}
RADIATION = {
    "question": "Was sagen wir zu ihrem Risiko durch die Strahlung?",
    "answer": "Es ist klein, aber es ist nicht null.",
    "distractors": [
        "Es ist null, so wie beim Ultraschall.",
        "Es ist klein, aber nur mit Bleischürze.",
        "Es ist null, wenn sie danach viel trinkt.",
    ],
}
RESULT = {
    "question": "Was hilft Frau Berger jetzt, ihr Ergebnis zu bekommen?",
    "answer": "Ein Anruf dort, wo die Bilder gemacht wurden.",
    "distractors": [
        "Ein Anruf bei der Kasse, die den Brief schreibt.",
        "Etwas Geduld, denn 4 Wochen sind ganz üblich.",
        "Ein neuer Termin, bei dem man es ihr gleich sagt.",
    ],
}
ENGLISH = {
    "question": "What does Ms Lehmann do with the deodorant?",
    "answer": "She wipes it off, because traces can show in the image.",
    "distractors": ["She leaves it, because only cream on the breast matters.", "She puts powder on top of it."],
}
QUIZZES: dict[str, dict[str, dict[str, Any]]] = {
    "deodorant": {"de": DEODORANT, "en": ENGLISH},
    "radiation": {"de": RADIATION},
    "results-when": {"de": RESULT},
}
DEO = {"de": "Darf ich Deo benutzen?", "en": "May I use deodorant?"}

# Said to an offer and to a quiz: none of it is an answer to either.
OTHERWISE = [
    *("brustwarze nässt", "brust nässt", "brust creme nässt", "brustwarze stört", "es stört an der brustwarze"),
    *("an der brustwarze", "brustwarze", "brust stört", "brustabszess", "brustentzündung", "brustkrebs", "bleich"),
    *("brustoperation", "keineluft", "keinluft", "keinenluft", "notarzt", "112", "suizid", "es tut so weh"),
    *("starke schmerzen", "alles dreht sich", "herzrasen", "puls 180", "fieber", "ausschlag am busen", "bin schwanger"),
    *("herzschrittmacher", "ich werde gerade geschlagen", "помогите", "yardım", "tengo un bulto", "aiuto", "120"),
    *("nein danke, notarzt", "nein 112", "nein es tut so weh", "nein danke, fieber", "no thanks, fever", "nein herz"),
    *("nein ausschlag", "nein bin schwanger", "nein ich pack das nicht mehr", "gern, aber mir ist schlecht"),
    *("ja gern, hab fieber", "ja 😭", "nein danke 😭", "2 😭", "ok, ich zittere", "weiß nicht, hab fieber", "drückt"),
    *("keine ahnung, alles taub", "nein, die rechte ist dick", "ich will nicht mehr", "ja, und die Brust ist rot"),
    *(
        "b und mir ist schwindelig",
        "die 2 blutet",
        "das zweite Mal Blut",
        "creme brennt an der brust",
        "egal, ich sterbe",
    ),
    *("rash", "can't feel my arm", "no feeling in my arm", "yes, but I feel sick", "no thanks, my chest hurts"),
    *("cream on the breast itches", "breast", "my breast matters to me", "not sure, I am bleeding", "no lump", "help"),
]
REFUSED = [
    *("nein", "nein danke", "nein danke, kein interesse", "nein, will nicht", "nein, nicht jetzt", "nein, passt schon"),
    *("egal", "mir egal", "kein interesse", "kein bedarf", "nope, not now", "no thank you", "not interested"),
    *("nein nein", "danke nein", "👎", "no, I'm fine", "ich hasse Tests", "keine Fragen bitte"),
]
AGREED = ["jep", "👍", "nur zu", "prüf ruhig", "ja natürlich gerne", "eins", "ja bitte", "of course", "go ahead please"]
UNCLEAR = [
    *("nicht gut erklärt", "schlecht erklärt", "nicht so gut", "geht so", "nein, das war nicht gut erklärt"),
    *("ich hab nix verstanden", "ich versteh nur bahnhof", "nicht verstanden", "zu schwer", "too difficult"),
    *("ich versteh die frage nicht", "not well explained", "I didn't understand it"),
]
CHOSEN = [
    ("deodorant", "abwischen", 0),
    ("deodorant", "wisch es ab", 0),
    ("deodorant", "lässt es dran weil nur Creme stört", 1),
    ("radiation", "klein, aber nicht null", 0),
    ("radiation", "null wie beim Ultraschall", 1),
    ("radiation", "klein mit Bleischürze", 2),
    ("results-when", "dort wo die Bilder gemacht wurden", 0),
    ("results-when", "Anruf bei der Kasse", 1),
    ("results-when", "geduld", 2),
]
NOT_CHOSEN = [
    *(("radiation", said) for said in ("es ist nicht klein", "klein ist es nicht", "klein aber null", "klein", "null")),
    *(("radiation", said) for said in ("es ist klein aber es ist null", "nicht klein aber nicht null", "nicht null")),
    *(("radiation", said) for said in ("nicht klein, nicht null", "bleich", "gering", "ist es klein aber nicht null")),
    *(("results-when", said) for said in ("wo wurden die bilder gemacht", "anruf", "kein Anruf dort", "4 Wochen")),
    *(("deodorant", said) for said in ("wischen", "nicht abwischen", "stört", "Creme stört", "brust", "bild")),
]
PLACES = [
    *(("4", 4), ("vier", 4), ("viertens", 4), ("ich glaub 3", 3), ("ich nehm die 2", 2), ("Antwort zwei bitte", 2)),
    *(("das 2te", 2), ("ja b", 2), ("b)", 2), ("c?", 3), ("3 glaube ich", 3), ("I think 1", 1), ("b stimmt", 2)),
]


@pytest.fixture(scope="module")
def quizzed(shipped: Assistant) -> Assistant:
    return with_quizzes(shipped, QUIZZES)


def taken(
    assistant: Assistant, step: QuizStep, said: str, pair: str = "deodorant", language: str = "de"
) -> Check | None:
    """Return what a message is to the quiz of a pair at a step; None where it is a message like any other."""
    name = quiz_name(pair, Quiz.model_validate(QUIZZES[pair][language]))
    state = State(language, last_pair=pair, check=Check(step, (name,)))
    reaction = TeachBack(assistant, "c1").take(state, said, None)
    return reaction.after.check if reaction is not None else None


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("said", OTHERWISE)
def test_what_does_not_answer_is_taken_for_no_answer(
    quizzed: Assistant, step: QuizStep, language: str, said: str
) -> None:
    assert taken(quizzed, step, said, language=language) is None


@pytest.mark.parametrize("pair", ["radiation", "results-when"])
def test_nor_is_it_to_other_quizzes(quizzed: Assistant, pair: str) -> None:
    assert [said for said in OTHERWISE if taken(quizzed, "asked", said, pair) is not None] == []


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize("said", REFUSED)
def test_a_refusal_in_known_words_alone_is_one(quizzed: Assistant, step: QuizStep, said: str) -> None:
    check = taken(quizzed, step, said)

    assert check is not None
    assert check.step == "declined"


def test_numbers_answer_the_offer_in_words_too(quizzed: Assistant) -> None:
    given = [taken(quizzed, "offered", said) for said in ("eins", "zwei", "skip", "überspringen")]

    assert [check.step if check is not None else None for check in given] == ["asked", *["declined"] * 3]


@pytest.mark.parametrize("said", AGREED)
def test_consent_in_known_words_alone_is_one(quizzed: Assistant, said: str) -> None:
    check = taken(quizzed, "offered", said)

    assert check is not None
    assert check.step == "asked"


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize("said", UNCLEAR)
def test_who_understood_nothing_gets_the_easy_answer(quizzed: Assistant, step: QuizStep, said: str) -> None:
    check = taken(quizzed, step, said)

    assert check is not None
    assert check.step == "unknown"


@pytest.mark.parametrize(("pair", "said", "option"), CHOSEN)
def test_most_words_of_one_option_choose_it(quizzed: Assistant, pair: str, said: str, option: int) -> None:
    check = taken(quizzed, "asked", said, pair)

    assert check is not None
    assert check.option == option


@pytest.mark.parametrize(("pair", "said"), NOT_CHOSEN)
def test_few_or_denied_words_and_questions_choose_none(quizzed: Assistant, pair: str, said: str) -> None:
    assert taken(quizzed, "asked", said, pair) is None


@pytest.mark.parametrize(("said", "place"), PLACES)
def test_a_number_or_letter_chooses_in_whatever_words(quizzed: Assistant, said: str, place: int) -> None:
    quiz = Quiz.model_validate(DEODORANT)
    check = taken(quizzed, "asked", said)

    assert check is not None
    assert check.option == quiz.options.index(quiz.shuffled("c1")[place - 1])


@pytest.mark.parametrize("step", ["offered", "asked"])
@pytest.mark.parametrize(
    ("language", "said", "alone"),
    [
        ("de", "nein danke, mir ist schlecht", "mir ist schlecht"),
        ("de", "ja gern, hab fieber", "hab fieber"),
        ("de", "nein wie lange dauert das?", "wie lange dauert das?"),
        ("en", "no thanks, I have a fever", "I have a fever"),
    ],
)
def test_what_stands_behind_yes_or_no_is_answered_by_itself(
    quizzed: Assistant, records: SqlRecords, step: str, language: str, said: str, alone: str
) -> None:
    asked, other = at(step, language, quizzed, records, "c1"), at(step, language, quizzed, records, "c2")

    assert asked.say(said).parts == other.say(alone).parts
    assert asked.turn.exchange is not None
    assert asked.turn.exchange.said == said
    assert asked.quizzed == ""


@pytest.mark.parametrize("between", [["3"], ["Wie lange dauert die Untersuchung?"], ["3", "c"]])
def test_a_letter_that_comes_too_late_is_no_question(
    quizzed: Assistant, records: SqlRecords, between: list[str]
) -> None:
    asked = at("asked", "de", quizzed, records, "c1")
    for said in between:
        asked.say(said)
    reply = asked.say("d")

    assert [part.text for part in reply.parts] == [asked.sentence("teach_declined")]
    assert asked.quizzed == ""


def test_at_the_offer_what_was_not_understood_is_said_easily_without_an_answer_to_a_quiz(
    quizzed: Assistant, records: SqlRecords
) -> None:
    asked = at("offered", "de", quizzed, records, "c1")
    said = [part.text for part in asked.say("nicht gut erklärt").parts]

    assert said[0] == asked.sentence("teach_unclear")
    assert asked.sentence("teach_answer") not in said


def at(step: str, language: str, assistant: Assistant, records: SqlRecords, id_: str) -> Asked:
    """Return a conversation in which the quiz about deodorant was offered, or is asked."""
    asked = Asked(assistant, records, language, id_)
    asked.say(DEO[language])
    if step == "asked":
        asked.press(asked.sentence("teach_yes"))
    assert asked.quizzed == step
    return asked
