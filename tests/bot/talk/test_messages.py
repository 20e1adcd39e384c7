"""Short reactions are recognised as a whole, and nothing that asks or complains is taken for one."""

from __future__ import annotations

import time

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.ports import StoredConversation
from bot.sentences.reply import SENTENCES
from bot.talk.conversation import Conversation
from bot.talk.dialogue import State
from bot.talk.messages import refuses, remarks, short_reaction, small_talk, tells_language
from bot.talk.reactions import Reactions
from tests.bot.talk.test_conversation_interview import NOW, texts

DE = SENTENCES["de"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Uff. Danke für die Ehrlichkeit.", "thanks"),
        ("Ah, jetzt ist der Groschen gefallen.", "relief"),
        ("gut, dann frag ich die Ärztin", "announcement"),
        ("danke tschüss", "farewell"),
        ("alles klar danke", "thanks"),
        ("danke sie waren sehr nett", "thanks"),
        ("ich will nicht mehr zur mammographie", "refusal"),
        ("i don't want to go anymore", "refusal"),
        ("ok, I'll ask the doctor then", "announcement"),
        ("phew, good to know", "relief"),
        ("hm, weiß nicht so recht", "hesitation"),
        ("na gut, dann ruf ich morgen mal an", "announcement"),
        ("fair enough", "relief"),
        ("Alright, thank you, bye!", "farewell"),
        ("in Ordnung, so machen wir das", "agreement"),
    ],
)
def test_reactions_are_recognised(text: str, kind: str) -> None:
    assert short_reaction(text) == kind


@pytest.mark.parametrize(
    "text",
    ["danke, aber tut das weh?", "danke aber tut das weh", "ok und was kostet das", "ich frage mich ob das weh tut",
     "gut, wie lange dauert es", "deo vorher", "kosten", "danke, ich krieg keine luft", "ich will nicht mehr",
     "ich kann nicht mehr", "dann bring ich mich um", "i don't want to live anymore", "ok brust tut weh", "ja", "nein",
     "2019 glaub ich", "danke ich habe noch eine frage", "ok?", "ich nehme tamoxifen", "", "???", "44"],
)  # fmt: skip
def test_what_asks_or_complains_is_no_reaction(text: str) -> None:
    assert short_reaction(text) is None


@pytest.mark.parametrize("word", ["gut", "ok", "danke", "na gut", "all good", "nicht", "i m fine", "ich will"])
def test_long_rows_of_ambiguous_words_cost_little(word: str) -> None:
    began = time.process_time()
    for _ in range(20):
        short_reaction(f"{word} " * 12 + "xx")

    assert time.process_time() - began < 2


@pytest.mark.parametrize("word", ["a", "1", "ok", "b r u s t", "danke dann frag ich"])
def test_what_is_as_long_as_a_request_may_be_costs_little(word: str) -> None:
    assert remarks("ok, verstanden. kein Deo.")
    began = time.process_time()

    assert not remarks(f"{word} " * (60_000 // (len(word) + 1)))

    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("text", ["Uff. Danke für die Ehrlichkeit.", "gut, dann frag ich die Ärztin", "danke tschüss"])
def test_a_reaction_gets_a_fixed_reply_and_no_leaflet(small: Assistant, records: SqlRecords, text: str) -> None:
    conversation = Conversation.open(small, records, StoredConversation("c", NOW, "de", "terminal"))

    reply = conversation.turn(text, at=NOW)

    assert texts(reply)[0] in (DE["thanks"], DE["all_right"], DE["goodbye"])
    assert records.turns("c")[-1].decision == "talk"


def test_real_danger_after_thanks_is_an_alarm(small: Assistant, records: SqlRecords) -> None:
    conversation = Conversation.open(small, records, StoredConversation("c", NOW, "de", "terminal"))

    conversation.turn("danke, ich kriege keine Luft", at=NOW)

    assert records.turns("c")[-1].decision == "urgent"


@pytest.mark.parametrize(
    "said",
    [
        "hab jetzt woanders was bekommen, euer termin kann weg",
        "Mit 81 brauch ich das wirklich nicht mehr, danke der Nachfrage",
        "I've thought it over and I don't want the mammogram, thank you.",
        "Work won't give me the morning off so I'll have to leave it this time round.",
    ],
)
def test_who_refuses_with_a_reason_gets_no_leaflet(shipped: Assistant, said: str) -> None:
    assert refuses(said)
    reaction = Reactions(shipped).react(State("de"), said, NOW)
    assert reaction.decided is None or reaction.decided.decision != "answered"


@pytest.mark.parametrize(
    "said",
    [
        "Wie kann ich den Termin absagen",
        "how do I cancel my appointment",
        "I don't want it to hurt",
        "ich will nicht dass es weh tut",
        "was passiert wenn ich nicht mehr komme",
        "muss ich den Termin absagen wenn ich krank bin",
    ],
)
def test_a_question_about_calling_off_is_no_refusal(said: str) -> None:
    assert not refuses(said)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Termin absagen", "cancelling"),
        ("ich möchte meinen Termin stornieren", "cancelling"),
        ("cancel my appointment", "cancelling"),
        ("I need to cancel", "cancelling"),
        ("count me out", "refusal"),
        ("kein Interesse", "refusal"),
    ],
)
def test_calling_off_the_appointment_is_no_refusal_of_the_exam(said: str, kind: str) -> None:
    assert short_reaction(said) == kind


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("ich muss leider morgen absagen weil meine Tochter krank ist", "cancelling"),
        ("something came up so I have to cancel", "cancelling"),
        ("don't cancel the radio, I like it", None),
        ("Muss ich absagen, wenn ich erkältet bin?", None),
    ],
)
def test_calling_off_is_heard_in_a_longer_message(said: str, kind: str | None) -> None:
    assert refuses(said) == kind


@pytest.mark.parametrize(
    "said", ["WhatsApp?", "<script>alert(1)</script>", "'; DROP TABLE patients; --", "https://a.example"]
)
def test_code_and_names_tell_no_language(said: str) -> None:
    assert not tells_language(said)
    assert tells_language("bitte, geht das?")


def test_whoever_shouts_for_help_asks_for_no_explanation() -> None:
    assert [small_talk(text) for text in ("Hilfe", "help", "HILFE!!!", "help !!")] == ["help", "help", None, None]
