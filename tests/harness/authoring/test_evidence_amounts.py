"""Numbers of a sentence with their units, held against those of the segments that it cites."""

from __future__ import annotations

import pytest

from harness.authoring.evidence.amounts import unstated

SEGMENTS = [
    "Trinken Sie 2 Liter Wasser. Bleiben Sie 48 Stunden nüchtern.",
    "Gabe von 0,1 mmol pro kg, bei Fieber über 38,5 °C nicht. Dauer zwanzig Minuten, davon 10 bis 15 Minuten Ruhe.",
    "Nach einer Woche sehen wir Sie wieder.",
    "Wartezeit in Tagen – 3.",
]


@pytest.mark.parametrize(
    "text",
    [
        "zweihundert Liter",
        "tаusend Liter",  # with a Cyrillic letter
        "½ Liter",
        "1½ Stunden",
        "Ⅻ Stunden",
        "１００ Liter",
        "ein Dutzend Tage",
        "a dozen days",
        "anderthalb Wochen",
        "zweieinhalb Liter",
        "nach einem halben Tag",
        "in half an hour",
        "doppelt so viel wie sonst",
        "twice as much",
        "vierzig statt zwanzig Minuten",
        "two hundred litres",
        "twenty-five minutes",
        "zwanzigtausend Liter",
        "2.000 Liter",
        "nach einer Stunde",
        "within a year",
        "2 ml",
        "48 Tage",
        "48-tägig",
        "0,1 mol pro kg",
        "0,1 mg pro kg",
        "0,1 mmol pro g",
        "0,1 mmol",
        "38,5 °F",
        "2 Tassen",
        "Fieber über 48 °C",
        "3 Wochen",
        "Raum 7",
    ],
)
def test_an_amount_that_no_segment_states_is_found(text: str) -> None:
    assert len(unstated(text, SEGMENTS)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "2,0 Liter",
        "zwei Liter",
        "2 l",
        "2.000 ml",
        "zwei volle Liter",
        "0,1 mmol/kg",
        "0.1 mmol je Kilogramm",
        "38,5°C",
        "38.5 Grad",
        "10–15 Minuten",
        "eine Viertelstunde",
        "48 h",
        "achtundvierzig Stunden",
        "48-stündig",
        "in einer Woche",
        "3 Tage",
        "die 2 Fachleute",
        "Eine Ärztin kommt an einem Tag, twice a day, lieben Sie halbwegs m²",
    ],
)
def test_the_same_amount_in_other_words_is_stated(text: str) -> None:
    assert unstated(text, SEGMENTS) == []


@pytest.mark.parametrize(
    ("text", "segment"),
    [
        ("Melden Sie sich in Raum 3 l.", "Treffpunkt: Raum 3L, Anmeldung links."),
        ("Der Zug fährt von Gleis 2 g.", "Gleis 2, Abschnitt g"),
        ("Das 5 g Netz stört nicht.", "Mobilfunk (5G) stört nicht."),
        ("Your ward is room 12 s.", "Room 12S"),
        ("A 4 g phone does no harm.", "Phones (4G) do no harm."),
        ("À l'étage 3 l'accueil vous attend, salle 2 m.", "Accueil : étage 3, salle 2M"),
        ("Trinken Sie im Raum 3 l Wasser bei 38 °C.", "Drei Liter Wasser, 38 Grad"),
    ],
)
def test_a_letter_that_names_a_place_is_no_unit(text: str, segment: str) -> None:
    assert unstated(text, [segment]) == []


def test_what_is_measured_behind_a_place_keeps_its_unit() -> None:
    assert unstated("Trinken Sie im Raum 3 l Wasser.", ["Raum 3"]) == ["3 l"]
