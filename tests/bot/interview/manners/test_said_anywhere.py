"""What a technologist must know is kept wherever it is said: late, in a check, at the question for consent."""

from __future__ import annotations

import pytest

from bot.interview.load import load_form
from bot.interview.manners.decisions import Decisions
from tests.bot.interview.chat import Chat
from tests.bot.interview.mri_patients import MriPatient, mri_safety

MRI = mri_safety()
LEXICON = Decisions.of(load_form(MRI)).lexicon

NAMED = """
im Kopf liegt ein Röhrchen, das läuft in den Bauch
ein Röhrchen geht vom Kopf in den Bauch
vom Grind lauft so a Schlüchli in Buuch abe
da geht ein dünner Schlauch aus dem Schädel nach unten
there's a tube from my brain to my tummy
die haben mir beim Schlaganfall so ein Drahtkörbchen dagelassen
beim Infarkt haben sie mir so ein Gitterli inegmacht
in der Halsschlagader ist was aufgespannt
after the stroke they left a wee wire basket in the artery
they propped open an artery in my neck
they tied off a bulge in my brain in 1992
a vessel in my head was clamped when I was twenty
a weak spot in the brain was patched up and clipped
I am on the machine Mon Wed Fri
I get hooked on the machine three times a week
ich häng dreimal die Woche an der Maschine
i hang drümol i de Wuche a de Maschine
Montag, Mittwoch und Freitag bin ich an der Maschine
seit drei Wochen drüber, und mir ist morgens schlecht
ich bin zwei Wochen drüber
mir ist jeden Morgen übel
I'm three weeks late and sick in the mornings
I keep throwing up every morning
beim letzten Mal bin ich nach der Spritze umgekippt
nach der Sprütze isch mer schlecht worde
beim Kontrastzeug hats mich am ganzen Körper gejuckt
I keeled over after the dye
last time they gave me the jab I came up in welts
I couldn't breathe after the injection
ich hatte bei der Spritze letztes Mal Erstickungsgefühle, das wollt ich noch sagen
ich wieg übrigens 160
ich wiege 160 Kilo
3 Zentner 20
I weigh twenty five stone
my weight is 172 kg
no and I might be pregnant
no I might be pregnant
nein und vielleicht bin ich schwanger
nein ich bin schwanger
no and I have a pacemaker
nope and my hip is titanium
""".strip().split("\n")
HARMLESS = """
ich habe einen Ohrwurm im Kopf
mir raucht der Kopf vor lauter Fragen
ich komme mit dem Schlauchboot
I have a song stuck in my head
I am on the bus Monday
ich arbeite Montag bis Freitag an der Kasse
die Waschmaschine kommt am Montag
ich komme drei Minuten später
I'm ten minutes late
ich bin morgens am liebsten dran
the mornings suit me best
die Spritze bekomme ich am Arm
I don't like needles
ich wiege 80 Kilo
my weight is 72 kg
ich wohne 160 km entfernt
it took me 200 minutes
beim letzten Mal war es laut
last time went well
danke, dann bis Montag
no and I never had one
no pacemaker and I have no stent
kein Schrittmacher und ich habe auch keinen Stent
weder habe ich Schrittmacher noch Defi
nein und mein Herz ist gesund
""".strip().split("\n")


def test_kinds_are_known_in_other_words_and_what_looks_like_them_is_not() -> None:
    assert [said for said in NAMED if not LEXICON.names_something(said)] == []
    assert [said for said in HARMLESS if LEXICON.names_something(said)] == []
    assert not LEXICON.names_something("macht mich die Spritze schlecht?", asks=True)


def words_of(chat: Chat) -> list[str]:
    found = chat.interview.to_decide(chat.session)
    return [text for each in found if each.kind == "words" for text in each.said]


def until(language: str, phase: str) -> Chat:
    patient, chat = (
        MriPatient(language, body_items="one ring" if language == "en" else "einen Ring"),
        Chat(MRI, language),
    )
    while not chat.open.startswith(phase):
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    return chat


@pytest.mark.parametrize("phase", ["checking", "summary"])
def test_whatever_patients_say_of_themselves_while_a_list_is_open_is_noted(phase: str) -> None:
    chat = until("de", phase).say("bei mir ist damals alles zugeschwollen nach dem Zeug")
    assert "noted_too" in chat.keys
    chat.say("das müssen Sie wissen, ich vertrage das nicht")
    assert len(words_of(chat)) >= 2

    for harmless in ("Moment bitte", "und nun?", "ja", "nichts", "was heißt das denn alles?", "meine Schwester ist da"):
        calm = until("de", phase).say(harmless)
        assert harmless not in words_of(calm)


def test_what_is_named_at_the_question_for_consent_is_kept_without_a_yes_or_no() -> None:
    for language, said in (
        ("de", "ich hab aber einen Defi"),
        ("en", "I have got a pacemaker"),
        ("de", "i ha en Stent"),
    ):
        chat = Chat(MRI, language).say(said)
        assert words_of(chat) == [said]
        assert "noted_too" in chat.keys
    for said in ("lassts mich in Ruh", "worum geht es denn überhaupt", "was soll das"):
        assert words_of(Chat(MRI, "de").say(said)) == []


@pytest.mark.parametrize(
    "said", ["no and I might be pregnant", "no, and I might be pregnant", "nope and I could be pregnant"]
)
def test_what_follows_a_no_in_the_same_line_is_kept(said: str) -> None:
    patient, chat = MriPatient("en"), Chat(MRI, "en")
    while chat.interview.open_question(chat.session).link_id != "device-removed":
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    assert said in words_of(chat.say(said))


def test_an_alarm_that_was_called_off_is_never_the_answer_to_a_list() -> None:
    patient, chat = MriPatient("en"), Chat(MRI, "en")
    while chat.interview.open_question(chat.session).link_id != "other-devices":
        chat.say(patient.reply(chat.interview.open_question(chat.session)))

    turn = chat.interview.called_off(chat.session, "my chest is thumping like mad and I feel faint")

    assert turn.session.talk.pending is None
    assert chat.interview.open_question(turn.session).link_id == "other-devices"
    assert not any("thumping" in str(each) for each in turn.session.filling.answers.values())


def at(language: str, link_id: str, said: str) -> Chat:
    """Return the chat of who says something to a question, and had nothing to report before."""
    patient, chat = MriPatient(language, age="30"), Chat(MRI, language)
    while chat.interview.open_question(chat.session).link_id != link_id:
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    return chat.say(said)


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [("de", "pregnant", "meine Schwester ist schwanger"), ("de", "metal-work", "mein Sohn ist Schweißer"),
     ("en", "pregnant", "my sister is pregnant"), ("en", "kidneys", "my dad is on dialysis"),
     ("de", "kidneys", "mein Vater ist an der Dialyse")],
)  # fmt: skip
def test_what_is_said_of_others_picks_no_answer_and_stays_a_reason(language: str, link_id: str, said: str) -> None:
    chat = at(language, link_id, said)

    assert chat.session.talk.pending is None
    assert said in words_of(chat)


def test_a_no_with_words_is_said_to_the_open_question_and_not_to_the_answer_before() -> None:
    chat = at("de", "body-items", "nein, ich trag nicht mal nen Ring")

    assert "nein, ich trag nicht mal nen Ring" in words_of(chat)
    assert "corrected" not in chat.keys


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [("en", "allergic-shock", "yes no"), ("en", "asthma", "no yes"), ("de", "asthma", "ja nein"),
     ("de", "hear-and-understand", "ohne meine Geräte nix"), ("en", "hear-and-understand", "without my aids nothing")],
)  # fmt: skip
def test_yes_and_no_at_once_or_nothing_without_something_is_a_reason(language: str, link_id: str, said: str) -> None:
    assert said in words_of(at(language, link_id, said))


def test_a_list_may_hold_words_that_later_ones_have_just_pushed_out() -> None:
    chat = until("de", "finished").say("ich trage einen Herzschrittmacher")
    assert chat.open == "read-back heart-device"
    for told in ("Clip", "Stent", "Port", "Shunt", "Coil"):
        chat.ask(f"meinen {told} darf ich auch behalten, oder was meinen Sie?")  # answered by the chat
    for missed in ("am Bein ist eine Platte", "am Arm sind Schrauben"):
        chat.say(missed)

    chat.say("in der Hand steckt ein Draht")  # every reply passes the guard

    assert chat.open == "summary"
    assert len(words_of(chat)) >= 8
