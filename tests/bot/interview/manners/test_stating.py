"""What somebody tells of their own body or work counts without a name that is listed; what everybody says does not."""

from __future__ import annotations

import pytest

from bot.interview.load import load_form
from bot.interview.manners.decisions import Decisions
from tests.bot.interview.chat import Chat
from tests.bot.interview.manners.test_said_anywhere import MRI, at, until, words_of

DECISIONS = Decisions.of(load_form(MRI))
TOLD = """
Ich hab ein Enterra
Hab vergessen zu sagen: Mirataz
Nachtrag: Eclipse 3
Im Handgelenk sitzt noch ein Dings von damals
mir haben sie in der Leiste was reingeschoben
man hat mir die Aorta ausgeflickt
ich hab gestern eine Murmel verschluckt
mein Lebensretter-Ding bleibt an
mein Endotine
hinterm Ohr klebt ein Klecks
In meinem Fuß ist noch ein Stachel
i hob a Ponto am Schädl
I have an Enterra
I wear a Zoll vest
Forgot: Eclipse 3
oh and my Remunity
they closed something in my groin
I swallowed a marble
my Ponto stays on
there's something stuck in my foot
I've a Ponto behind my ear
I make boilers for a living
j'ai un Enterra
j'ai oublié de dire : Senza
on m'a posé un Obalon
""".strip().split("\n")
CALM = """
ich hab noch eine Frage
Ich habe noch zwei Fragen zum Termin
ich hab Angst
Ich habe alles verstanden
ich hab keine Zeit mehr
ich hab einen Parkplatz gefunden
Ich trage eine Brille
Ich habe meine Versichertenkarte vergessen
hab vergessen, wann ich kommen soll
ich stehe im Stau
meine Tochter trägt ein Remunity
mein Auto hat eine neue Batterie
das Fahrrad ist aus Titan
morgen Termin beim Nierenarzt meiner Mutter
ich arbeite im Büro
danke, bis Dienstag
I have another question
I've answered all of it
I have a car and will drive myself
I'm late
I forgot my insurance card
my new car has a metal roof
my name is Miller
see you Tuesday
I work in an office
j'ai encore une question
je porte des lunettes
""".strip().split("\n")


def test_the_sentence_counts_and_not_the_name() -> None:
    def tells(said: str) -> bool:
        own = DECISIONS.of_patient(said, None, "")
        return DECISIONS.states_something(said, "") or (bool(own) and DECISIONS.lexicon.names_something(own))

    assert [said for said in TOLD if not tells(said)] == []
    assert [said for said in CALM if tells(said)] == []


@pytest.mark.parametrize(("language", "said"), [("de", "Hab vergessen: Mirataz"), ("en", "oh and my Remunity")])
def test_it_is_kept_and_read_back_after_the_end(language: str, said: str) -> None:
    chat = until(language, "finished").say(said)
    assert words_of(chat)[-1:] == [said]
    assert "noted_too" in chat.keys
    assert words_of(chat.say("danke, bis Dienstag", "thanks, see you"))[-1:] == [said]


def test_it_is_kept_beside_a_refusal_and_at_a_question_that_does_not_take_it() -> None:
    refusal = "nein, das geht niemanden an, aber ich hab ein Enterra"
    assert refusal in words_of(Chat(MRI, "de").say(refusal))
    assert "ich hab ein Enterra" in words_of(at("de", "weight", "ich hab ein Enterra"))


@pytest.mark.parametrize("said", ["Inspire gegen Schnarchen", "Ich komme mit dem Rollator", "moja corka ma pytanie"])
def test_whatever_is_written_where_there_is_room_for_it_is_read(said: str) -> None:
    found = at("de", "note", said)
    assert [each.said for each in found.interview.to_decide(found.session) if each.link_id == "note"] == [(said,)]


def test_thanks_and_a_no_where_there_is_room_for_anything_are_no_reason() -> None:
    for said in ("nein danke", "nichts", "Nein, vielen Dank, bis Montag", "no thanks, bye", "alles gut, danke"):
        assert words_of(at("de", "note", said)) == [], said


@pytest.mark.parametrize(
    "said", ["noch nie unterm Messer gelegen", "unters Messer musste ich noch nie", "nie unter dem Messer"]
)
def test_a_no_to_an_operation_never_reopens_the_consent(said: str) -> None:
    chat = at("de", "operations", said)
    assert chat.open == "question operation-recent"
    assert said not in words_of(chat)


@pytest.mark.parametrize(
    ("link_id", "said"),
    [("metal-work", "nein, ich sitze im Büro"), ("patches", "nein, bin kein Diabetiker"),
     ("bone-implants", "Nein, alle Knochen heil"), ("vessel-implants", "nein, die Adern sind frei"),
     ("heart-device", "Nein, mein Herz ist topfit"), ("heart-device", "nicht die Bohne"),
     ("operation-recent", "nein, auch keine Spiegelung"), ("contrast-before", "hab ich gut vertragen")],
)  # fmt: skip
def test_a_denial_with_an_explanation_is_a_denial(link_id: str, said: str) -> None:
    assert said not in words_of(at("de", link_id, said))


@pytest.mark.parametrize("said", ["80 Pfund zu viel", "20 Kilo zuviel"])
def test_how_much_too_much_is_no_weight(said: str) -> None:
    assert at("de", "weight", said).open == "question weight"
