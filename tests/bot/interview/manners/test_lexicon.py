"""Words of the safety form: what names something, what is a plain denial, what only looks like one; what is of others."""

from __future__ import annotations

import pytest

from bot.interview.load import load_form
from bot.interview.manners.decisions import Decisions
from bot.interview.manners.lexicon import Lexicon
from bot.interview.manners.terms import Terms
from tests.bot.interview.mri_patients import mri_safety

LEXICON = Decisions.of(load_form(mri_safety())).lexicon


DENIALS = """
nee, nix am Herz
noi
hob i ned
i ha nüt
nö gar nix
nicht dass ich wüsste
net dass i wüsst
nie ned
ach wo
hab ich nicht, Gott sei Dank
mei Herz is gsund
alles gut mit den Nieren
die Nieren sind in Ordnung
nein, die Nieren sind ok
nie Probleme damit gehabt
kein Stent oder Clip
nope never
not that I know of
nothing like that
no, my heart is fine
none thank god
I haven't got one
no heart valve
never had any kidney trouble
non, rien du tout
nur eine Brille
""".strip().splitlines()
NO_DENIALS = """
nicht gut
noch nicht
not yet
jetzt nicht mehr
hob i nimmer
no longer
die Nieren sind gar nicht gut
kidneys not fine
keine Probleme mit dem Schrittmacher
no problems with my stent
alles gut mit dem Stent
han no en Stent
i hab no an Clip
nie ohne meinen Defi
never without my pump
never mind that, I have one
nein, hab ich
none except gadolinium
nein bis auf den Port
koane, bloß a Schirmchen
nothing apart from my pain pump
nur eine Niere
no, had it removed
nix am Herz seit der Operation
""".strip().splitlines()


def test_a_denial_in_dialect_or_idiom_is_plain() -> None:
    assert [text for text in DENIALS if not LEXICON.denies(text)] == []


def test_what_goes_on_from_a_denial_or_is_none_is_not() -> None:
    assert [text for text in NO_DENIALS if LEXICON.is_plain(text)] == []


NAMING = """
hob an Stentgraft in da Bauchschlagader
I have got a Micra
a leadless one
wearing a TENS machine
hab noch ein Langzeit-EKG dran
Paukenröhrchen beidseits
grommets in both ears
bin überfällig
wir erwarten ein Kind
bun in the oven
I'm late this month
ich bin 12. Woche
Magnetwimpern
j'ai un stimulateur cardiaque
je suis enceinte
un éclat dans l'œil
""".strip().splitlines()
HARMLESS = """
Metallica Fan
Ich komme mit der Eisenbahn
bis nächste Woche
see you next week
Ich trage eine Brille
Ich arbeite im Büro
I'm a huge Iron Maiden fan
Die Assistentin war nett
bin doch ein Mann
""".strip().splitlines()


def test_devices_and_idioms_name_something_and_what_looks_like_them_does_not() -> None:
    assert [text for text in NAMING if not LEXICON.names_something(text)] == []
    assert [text for text in HARMLESS if LEXICON.names_something(text)] == []


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("Meine Nachbarin hat einen Schrittmacher", ""),
        ("Mein alter Hund hat einen Chip", ""),
        ("my sister has a pacemaker", ""),
        ("nein, aber meine Schwester hat einen", "nein"),
        ("My sister has one, so do I", None),
        ("Mein Bruder und ich haben beide einen Stent", None),
        ("ich hab einen Schrittmacher wie meine Nachbarin", None),
        ("my sister's kidney is in me", None),
        ("die Niere ist von meiner Schwester", None),
        ("my wife says a clip", None),
    ],
)
def test_what_is_said_of_others_is_left_out_unless_the_patient_may_be_meant(said: str, own: str | None) -> None:
    assert LEXICON.without_others(said) == (said if own is None else own)


def test_what_is_excepted_from_a_denial() -> None:
    assert LEXICON.excepted("none except gadolinium") == "gadolinium"
    assert LEXICON.excepted("Keine, außer Pollen") == "Pollen"
    assert LEXICON.excepted("nein, aber einen Defi") == "einen Defi"
    assert [LEXICON.excepted("nur Pollen"), LEXICON.excepted("keine"), Lexicon().excepted("none but nuts")] == [""] * 3


def test_terms_are_words_parts_of_words_and_phrases_with_numbers() -> None:
    terms = Terms.of(["stent, *pump, *magnet*, titan*", "# weeks gone, stent graft*"])

    def within(text: str) -> bool:
        return terms.within(text.split())

    assert all(map(within, ["a stent", "insulinpump", "ohrmagnete", "titanplatte", "12 weeks gone", "stent grafts"]))
    assert not any(map(within, ["stents", "pumps", "mytitan", "some weeks gone", "12 weeks", "graft"]))
