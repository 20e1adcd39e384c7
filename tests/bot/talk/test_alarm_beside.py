"""Whoever says "I don't know", "I won't say", yes or no, and more, is heard: an emergency may stand beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.reading.yesno import beside_silence
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import Interface
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from bot.talk.messages import chest_pressure
from tests.bot.interview.resources import coding, form, item
from tests.bot.talk.test_alarm_exits import NOW

EVERYDAY = Path(__file__).parents[2] / "data" / "safety"
KINDS = ("boolean", "integer", "quantity", "date", "dateTime", "time", "choice", "string")
SILENCES = {
    "de": ("weiß nicht, {}", "weiß ich nicht {}", "keine Ahnung, {}", "das geht Sie nichts an, {}", "{}, weiß nicht",
           "möchte ich nicht sagen, {}", "kann mich nicht erinnern, {}"),
    "en": ("don't know, {}", "no idea. {}", "I'd prefer not to say, {}", "can't remember, {}"),
}  # fmt: skip
COMPLAINTS = {
    "de": ("ich kriege keine Luft mehr", "ich blute ganz stark", "habe Atemnot und Brustschmerzen"),
    "en": ("I can't breathe", "I bleed very much", "I coughed blood"),
}
SAID = [
    (language, silence.format(complaint))
    for language, silences in SILENCES.items()
    for complaint in COMPLAINTS[language]
    for silence in silences
]


def _open(assistant: Assistant, records: SqlRecords, language: str, kind: str) -> Conversation:
    options = (
        {"answerOption": [coding("a", display="Links"), coding("b", display="Rechts")]} if kind == "choice" else {}
    )
    asked = form(item("first", kind, text="Was?", **options), item("second", "string", text="Und?"), title="Fragen")
    opened = StoredConversation(f"{language}-{kind}", NOW, language, "api")
    interviewer = Interviewer(dump(asked), SqlInterviews(records.engine), opened.id)
    conversation = Conversation.open(assistant, records, opened, interviewer=interviewer)
    conversation.turn("/interview", at=NOW)
    return conversation


@pytest.mark.parametrize("kind", KINDS)
def test_an_emergency_beside_not_answering_is_heard_at_every_question(
    small: Assistant, records: SqlRecords, kind: str
) -> None:
    for language in SILENCES:
        conversation = _open(small, records, language, kind)
        for text in [text for of, text in SAID if of == language][::2]:
            conversation.turn(text, at=NOW)
            assert records.kept(f"{language}-{kind}")[-1].turn.decision == "urgent", text
            conversation.turn("nein" if language == "de" else "no", at=NOW)


@pytest.mark.parametrize(("language", "text"), SAID)
def test_it_is_heard_outside_the_questions_too(small: Assistant, records: SqlRecords, language: str, text: str) -> None:
    conversation = Conversation.open(small, records, StoredConversation("c", NOW, language, "api"))

    conversation.turn(text, at=NOW)

    assert records.kept("c")[-1].turn.decision == "urgent"


@pytest.mark.parametrize(
    ("language", "text", "beside"),
    [
        ("de", "weiß nicht", ""),
        ("de", "Keine Ahnung!", ""),
        ("de", "möchte ich nicht sagen", ""),
        ("de", "vierzig", ""),
        ("de", "weiß nicht, ist lange her", "ist lange her"),
        ("de", "bin adoptiert, keine Ahnung", "bin adoptiert"),
        ("de", "ich weiß nicht, ob ich Atemnot hatte", ""),
        ("de", "ich möchte nicht ersticken", ""),
        ("en", "I don't know if I had a stroke", ""),
        ("en", "no idea, ages ago", "ages ago"),
    ],
)
def test_what_stands_beside_not_knowing_is_all_that_is_left_and_not_what_it_governs(
    language: str, text: str, beside: str
) -> None:
    assert beside_silence(text, language=language) == beside


@pytest.mark.proof
def test_harmless_words_beside_not_knowing_raise_no_more_alarms_than_by_themselves(
    small: Assistant, records: SqlRecords
) -> None:
    listed = (EVERYDAY / "everyday-en.tsv").read_text(encoding="utf-8").splitlines()
    lines = [line.partition("\t")[2] for line in listed if "\t" in line and not line.startswith("#")]
    conversation = _open(small, records, "en", "date")

    def is_urgent(text: str) -> bool:
        reply = conversation.turn(text, at=NOW)
        urgent = any(isinstance(part, Interface) and part.key.startswith("urgent") for part in reply.parts)
        conversation.turn("no", at=NOW)
        conversation.turn("/interview", at=NOW)
        return urgent

    for line in [line for line in lines if len(line.split()) > 3][::9]:
        for silence in ("don't know, {}", "no idea. {}", "{}, not sure"):
            assert is_urgent(line) >= is_urgent(silence.format(line)), line


@pytest.mark.parametrize("around", ["{}", "don't know, {}", "{}, no idea", "i not know {}"])
@pytest.mark.parametrize(
    "said",
    ["heavy bleeding now", "i bleed very much", "I am bleeding heavily", "very much blood coming", "bleeding a lot now",
     "much bleeding now", "i bleed and it not stop", "big bleeding now", "i am bleed strong", "strong blood now please"],
)  # fmt: skip
def test_heavy_bleeding_is_heard_in_few_words_of_english(
    small: Assistant, records: SqlRecords, said: str, around: str
) -> None:
    conversation = _open(small, records, "en", "quantity")

    conversation.turn(around.format(said), at=NOW)

    assert records.kept("en-quantity")[-1].turn.decision == "urgent"


@pytest.mark.parametrize(
    "said", ["starke Blutung jetzt", "weiß nicht, Blutung ist stark jetzt", "Hilfe schwere Blutung"]
)
def test_heavy_bleeding_is_heard_in_few_words_of_german(small: Assistant, records: SqlRecords, said: str) -> None:
    _open(small, records, "de", "quantity").turn(said, at=NOW)

    assert records.kept("de-quantity")[-1].turn.decision == "urgent"


@pytest.mark.parametrize("said", ["no heavy bleeding now", "heavy bleeding after my first birth", "not much blood now",
                                  "much better now", "big knee now"])  # fmt: skip
def test_what_is_denied_or_long_past_is_no_bleeding_now(small: Assistant, records: SqlRecords, said: str) -> None:
    reply = _open(small, records, "en", "quantity").turn(said, at=NOW)

    assert not [part for part in reply.parts if isinstance(part, Interface) and part.key.startswith("urgent")]


@pytest.mark.parametrize("kind", ["integer", "choice", "date"])
@pytest.mark.parametrize("text", ["weiß nicht", "weiss nicht, ist lange her", "keine Ahnung, bin adoptiert",
                                  "ich weiß nicht, ob ich Atemnot hatte", "möchte ich nicht sagen, ist privat"])  # fmt: skip
def test_plainly_not_knowing_raises_no_alarm(small: Assistant, records: SqlRecords, kind: str, text: str) -> None:
    conversation = _open(small, records, "de", kind)

    reply = conversation.turn(text, at=NOW)

    assert not [part for part in reply.parts if isinstance(part, Interface) and part.key.startswith("urgent")]
    assert all(each.turn.decision != "urgent" for each in records.kept(f"de-{kind}"))


PRESSING = {
    "de": ("es drückt immer noch auf der brust", "immer noch druck auf der brust", "die brust drückt so", "drückt auf brust",
           "es drückt in der brust", "habe druck auf brust", "auf meiner brust drückt was", "schwer auf der brust",
           "es drückt wieder auf der bruscht"),
    "en": ("it is still pressing on my chest", "it presses on my breast inside", "something presses on my chest",
           "my chest still feels tight", "it still presses on chest"),
}  # fmt: skip
FROM_OUTSIDE = (
    "drückt das sehr auf die Brust bei der Untersuchung?", "drückt die platte auf die brust?", "drückt es sehr auf der brust?",
    "mein bh drückt auf die brust", "der druck auf die brust macht mir angst", "warum drückt man die brust so",
    "letztes mal hat es sehr auf die brust gedrückt", "ist der druck auf der brust schädlich", "Wie fest wird gedrückt?",
    "es drückt nicht mehr auf der brust", "does it press hard on the chest?", "will the machine press on my chest",
    "my bra presses on my chest", "is there pressure on the breast during the exam", "no pressure on my chest",
)  # fmt: skip


@pytest.mark.parametrize(("language", "said"), [(key, said) for key, texts in PRESSING.items() for said in texts])
def test_pressure_on_the_chest_is_asked_about_in_whatever_words(
    small: Assistant, records: SqlRecords, language: str, said: str
) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, language, "page"))

    reply = conversation.turn(said, at=NOW)

    assert [part.key for part in reply.parts if isinstance(part, Interface)][:2] == [
        "urgent_chest_pain",
        "chest_question",
    ]
    assert records.kept("c")[-1].turn.decision == "urgent"


@pytest.mark.parametrize("said", FROM_OUTSIDE)
def test_what_presses_from_outside_or_is_asked_about_is_no_pressure_on_the_chest(said: str) -> None:
    assert chest_pressure(said) == ""


def test_pain_that_goes_on_after_the_question_about_the_chest_is_the_alarm_again(
    small: Assistant, records: SqlRecords
) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    first = conversation.turn("es drückt immer noch auf der brust", at=NOW)

    for said in ("wer hilft mir jetzt? immer noch druck", "es tut noch weh", "immer noch druck"):
        assert conversation.turn(said, at=NOW) == first
