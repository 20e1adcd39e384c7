"""An alarm stands until it is called off, whatever else is said; and called off, a word brings it back."""

from __future__ import annotations

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES, Interface, Reply, shows_alarm
from bot.talk.conversation import Conversation
from bot.talk.danger import happens_after, is_back
from bot.talk.interviewing import Interviewer
from bot.talk.messages import calls_off
from tests.bot.interview.resources import form, item
from tests.bot.talk.test_alarm_exits import NOW

DE, EN = SENTENCES["de"], SENTENCES["en"]
ALARM = {"de": "Mein Mann ist bewusstlos", "en": "My husband is unconscious"}
SAID = {
    "de": ("ok", "gut", "mach ich", "danke", "okay danke", "weiß nicht", "vielleicht", "alles klar", "nein danke", "tschüss", "72",
           "45", "70 kg", "wo muss ich anrufen?", "ich hab kein Telefon", "es wird schlimmer", "das war gestern", "dauer und kosten?",
           "/interview", "/help", "", "weiss ned", "hmm", "und dann?", "einfacher"),
    "en": ("ok", "thanks", "I will", "don't know", "maybe", "all right", "no thanks", "bye", "72", "who do I call?", "no problem",
           "it is getting worse", "that was yesterday", "how much does it cost?"),
}  # fmt: skip
OVER = ("nein", "nei", "alles gut, war nur ein Beispiel", "Fehlalarm", "hab mich vertippt", "das war vor 5 Jahren", "isch scho verbi",
        "war nur ein Test", "it was just an example", "1")  # fmt: skip
BACK = (
    "jetzt wieder", "kommt wieder", "es fängt wieder an", "doch, es ist schlimm", "nein doch", "wird wieder schlimmer",
    "ich hab gelogen, es geht mir schlecht", "nein stimmt nicht, ich tu es heute", "doch ich will", "naja eigentlich schon",
    "eigentlich doch", "ich hab gelogen", "es drückt wieder", "doch, im Arm auch", "jetzt strahlt es aus", "gerade wieder",
    "nein doch nicht, es drückt wieder", "nein, jetzt auch", "äh jetzt doch", "es tut wieder weh", "ist wieder da",
    "it's back", "again", "it hurts again", "no wait it hurts now", "it is getting worse", "actually it is bad", "I lied",
    "I'm not fine", "it came back", "ça recommence", "de nouveau", "encore",
)  # fmt: skip
NOT_BACK = (
    "danke", "ok", "mir geht es wieder gut", "es geht wieder", "alles wieder gut", "wann kann ich wieder arbeiten", "tut das weh?",
    "kann ich wieder kommen?", "doch nicht", "ist doch alles gut", "Termin wieder absagen", "can you say that again",
    "explain again", "when do I have to come back", "it is fine again", "nicht mehr schlimm", "ja", "nein", "kosten", "Brustschmerzen",
    "es ist wieder weg", "encore une question", "I am better", "was kostet das", "doch lieber eine Frage",
)  # fmt: skip


def _alarming(reply: Reply) -> bool:
    keys = [part.key for part in reply.parts if isinstance(part, Interface)]
    return shows_alarm(reply) or "is_emergency" in keys


@pytest.mark.parametrize(("language", "said"), [(key, said) for key, texts in SAID.items() for said in texts])
def test_nothing_but_an_all_clear_ends_an_alarm(
    small: Assistant, records: SqlRecords, language: str, said: str
) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, language, "page"))
    first = conversation.turn(ALARM[language], at=NOW)
    assert shows_alarm(first)

    for _ in range(3):
        reply = conversation.turn(said, at=NOW)

        assert _alarming(reply), [part.text for part in reply.parts]
        assert said in ("", "/help") or "112" in reply.parts[0].text
        assert reply.choices == first.choices
    again = conversation.turn("danke", at=NOW)
    assert shows_alarm(again)


@pytest.mark.parametrize(
    "said", ["45", "ok", "weiß nicht", "danke", "überspringen", "Pause", "70 kg", "zurück", "/interview"]
)
def test_the_form_waits_while_an_alarm_is_open(small: Assistant, records: SqlRecords, said: str) -> None:
    asked = form(item("age", "integer", text="Wie alt?"), item("notes", "string", text="Was noch?"), title="Fragen")
    interviewer = Interviewer(dump(asked), SqlInterviews(records.engine), "c")
    opened = StoredConversation("c", NOW, "de", "page")
    conversation = Conversation.open(small, records, opened, interviewer=interviewer)
    conversation.turn("/interview", at=NOW)
    conversation.turn(ALARM["de"], at=NOW)

    reply = conversation.turn(said, at=NOW)

    assert shows_alarm(reply)
    assert [part.text for part in reply.choices] == [DE["no_emergency"]]
    assert interviewer.session is not None
    assert not interviewer.session.events
    assert "Wie alt?" in [part.text for part in conversation.turn("nein", at=NOW).parts]


@pytest.mark.parametrize("said", OVER)
def test_clear_words_end_it(small: Assistant, records: SqlRecords, said: str) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    conversation.turn(ALARM["de"], at=NOW)

    assert not shows_alarm(conversation.turn(said, at=NOW))
    assert not _alarming(conversation.turn("danke", at=NOW))


@pytest.mark.parametrize("said", ["alles klar", "no problem", "ok", "danke"])
def test_assent_calls_off_nothing(said: str) -> None:
    assert not calls_off(said)


@pytest.mark.parametrize("said", BACK)
def test_words_that_say_it_is_back(said: str) -> None:
    assert is_back(said)


@pytest.mark.parametrize("said", NOT_BACK)
def test_words_that_do_not(said: str) -> None:
    assert not is_back(said)


@pytest.mark.parametrize("between", [(), ("danke",), ("dauer und kosten?", "danke")])
def test_an_alarm_that_was_called_off_comes_back(
    small: Assistant, records: SqlRecords, between: tuple[str, ...]
) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    first = conversation.turn("Ich kriege keine Luft", at=NOW)
    conversation.turn("nein", at=NOW)
    for said in between:
        conversation.turn(said, at=NOW)

    again = conversation.turn("jetzt wieder", at=NOW)

    assert (again.parts, again.choices) == (first.parts, first.choices)
    assert records.kept("c")[-1].turn.decision == "urgent"
    assert shows_alarm(conversation.turn("danke", at=NOW))
    assert not shows_alarm(conversation.turn("nein", at=NOW))


def test_the_same_kind_of_alarm_comes_back(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    conversation.turn("Ich will nicht mehr leben", at=NOW)
    conversation.turn("das war ein Scherz, alles gut", at=NOW)

    reply = conversation.turn("nein stimmt nicht, ich tu es heute", at=NOW)

    assert [part.text for part in reply.parts] == [DE["urgent_suicide"]]


def test_long_after_an_alarm_the_words_mean_nothing_any_more(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    conversation.turn("Ich kriege keine Luft", at=NOW)
    conversation.turn("nein", at=NOW)
    for _ in range(5):
        conversation.turn("danke", at=NOW)

    assert not shows_alarm(conversation.turn("jetzt wieder", at=NOW))


def test_a_danger_that_was_asked_about_and_happens_now_is_an_alarm(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.begin(small, records, StoredConversation("c", NOW, "de", "page"))
    asked = conversation.turn(small.catalog("de").pairs[0].question, at=NOW)
    assert not shows_alarm(asked)
    told = (
        ("can contrast cause an allergy", "that's happening to me now"),
        ("Kann man vom Kontrastmittel einen Schock bekommen?", "das hab ich gerade"),
        ("Welche Nebenwirkungen gibt es?", "ja und das passiert mir jetzt"),
        ("Was für Reaktionen gibt es?", "ich glaub ich hab so eine gerade"),
        ("what side effects are there", "I think I'm having one right now"),
        ("Verträgt man Gadolinium?", "genau so geht es mir grad"),
    )
    calm = (
        ("can contrast cause an allergy", "I have that, a long time ago"),
        ("Kann man allergisch sein?", "das habe ich"),
        ("Was ist ein MRT?", "das hab ich jetzt"),
        ("Nebenwirkungen?", "ok, das hab ich jetzt verstanden"),
        ("ist das gefährlich", "das ist gerade die Frage"),
        ("side effects", "what's happening now?"),
        ("side effects", "that's good to know now"),
        (None, "that's happening to me now"),
    )

    assert [said for before, said in told if not happens_after(before, said)] == []
    assert [said for before, said in calm if happens_after(before, said)] == []
