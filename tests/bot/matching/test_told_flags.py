"""Emergencies told in other words are found by rule; hearsay, turns of phrase and what turned out fine raise none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bot.matching.red_flags import load_red_flags

with (Path(__file__).parent / "magnet" / "told.tsv").open(encoding="utf-8", newline="") as file:
    LINES = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("language", ["de", "en"])
def test_emergencies_in_other_words_are_heard_and_what_sounds_like_them_is_not(language: str) -> None:
    rules = load_red_flags(language)
    said = [line for line in LINES if line["language"] == language]
    missed = [line["text"] for line in said if line["alarm"] and rules.check(line["text"]) is None]
    alarmed = [line["text"] for line in said if not line["alarm"] and rules.check(line["text"]) is not None]

    assert len(missed) <= 1, missed
    assert alarmed == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich stecke im Aufzug fest und krieg keine Luft"),
        ("de", "Meine Mutter soll zusammengebrochen sein"),
        ("de", "Eine Frau im Wartezimmer sagt ihr Mann kriegt keine Luft"),
        ("de", "Hilfe!! Ich finde den Eingang nicht und kriege keine Luft"),
        ("de", "Hilfe ich finde meine Tochter nicht, sie hat Tabletten geschluckt"),
        ("de", "Mein Hals schnürt sich nach der Spritze zu, vielleicht vor Aufregung"),
        ("de", "Ich dachte es geht, aber ich kriege keine Luft"),
        ("en", "I'm stuck in the lift and can't breathe"),
        ("en", "a man at work collapsed and stopped breathing"),
        ("en", "the leaflet says press the buzzer if you can't breathe, I can't breathe"),
        ("en", "I ate prawns and my lips swell and I can't breathe"),
        ("en", "Help! I can't find my daughter she swallowed pills"),
        ("en", "my throat is tight since the injection, maybe nerves"),
        ("en", "I thought it was nothing but I can't breathe"),
    ],
)
def test_what_excuses_a_story_excuses_nobody_who_has_it_now(language: str, text: str) -> None:
    assert load_red_flags(language).check(text) is not None


@pytest.mark.parametrize(
    ("language", "text", "alone"),
    [
        ("de", "Ich bin allergisch auf Nüsse und habe einen EpiPen dabei", True),
        ("de", "Ich habe eine Nussallergie und den EpiPen in der Tasche", True),
        ("de", "Ich bin allergisch auf Nüsse und habe Nüsse gegessen, EpiPen dabei", False),
        ("en", "I'm allergic to nuts and carry an EpiPen", True),
        ("en", "I'm allergic to nuts and just ate one, I have an EpiPen", False),
    ],
)
def test_whoever_carries_a_pen_is_judged_by_rules_alone(language: str, text: str, alone: bool) -> None:
    assert load_red_flags(language).alone(text) is alone
