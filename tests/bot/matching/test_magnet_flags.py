"""Emergencies around the magnet are found by rule, and questions beforehand, memories and turns of phrase are not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bot.languages.files import forget
from bot.languages.opening import open_languages
from bot.matching.foreign import Foreign
from bot.matching.red_flags import load_red_flags

URGENT = {
    "de": [
        "Meine Zunge schwillt nach dem Gadolinium an",
        "seit der Spritze vorhin im MRT bekomme ich kaum noch Luft",
        "nach dem Kontrastmittel Ausschlag am ganzen Körper und schwindlig",
        "Hilfe ich liege im MRT und keiner hört die Klingel",
        "ich hab schon dreimal geklingelt, es kommt niemand, bin noch in der Röhre",
        "es wird so heiß an meinem Bein, ich liege gerade im Gerät",
        "unter der Elektrode hat sich nach dem MRT eine große Blase gebildet",
        "Brandwunde vom Kabel nach der Kernspin",
        "mein Tattoo brennt wie verrückt in der Röhre",
        "seit dem MRT kann ich auf dem linken Auge kaum noch sehen, da war mal ein Splitter",
        "Mein Auge tut seit der Untersuchung furchtbar weh, ich bin Schlosser",
        "im Scanner hat sich etwas in meinem Knie verschoben, starke Schmerzen",
        "Nach dem MRT bin ich umgekippt, ich habe einen Schrittmacher",
        "mein ICD hat gerade einen Schlag abgegeben, war heute im MRT",
        "Insulinpumpe seit dem MRT tot, mir ist schlecht und ich muss brechen",
        "Panik! bin in der Röhre und kriege keine Luft",
        "unser Sohn ist nach der Narkose fürs MRT nicht wach zu bekommen",
        "meine Tochter reagiert seit der Sedierung heute nicht mehr",
        "holen Sie mich bitte aus der Röhre, mein Herz rast",
        "hab Kontrast bekommen, Lippen und Augen schwellen an",
    ],
    "en": [
        "My tongue is swelling after the gadolinium",
        "since the injection just now in the MRI I can hardly breathe",
        "rash all over after the contrast and feeling dizzy",
        "help im lying in the mri and nobody hears the buzzer",
        "ive rung three times and no one comes, still in the scanner",
        "its getting so hot on my leg, im in the machine right now",
        "a big blister came up under the electrode after my MRI",
        "burn wound from the cable after the scan",
        "my tattoo is burning like crazy in the tube",
        "since the MRI I can barely see with my left eye, there was a splinter once",
        "my eye has hurt terribly since the scan, I'm a metalworker",
        "something in my knee shifted in the scanner, severe pain",
        "I fainted after the MRI, I have a pacemaker",
        "my ICD just gave me a shock, had an MRI today",
        "insulin pump dead since the MRI, I feel sick and I'm vomiting",
        "panic! in the tube and can't breathe",
        "we can't wake our son after the anaesthetic for the MRI",
        "my daughter hasn't responded since the sedation today",
        "please get me out of the tube my heart is racing",
        "had contrast, lips and eyes are swelling",
    ],
}
HARMLESS = {
    "de": [
        "Wird man nach dem Kontrastmittel müde?",
        "Mein Bruder hatte nach dem MRT mal eine Blase am Arm, passiert das oft?",
        "Kann ich mit meinem Herzschrittmacher in die Röhre?",
        "ich habe Angst in der Röhre zu ersticken",
        "Was, wenn keiner auf die Klingel reagiert?",
        "Mein Kind wird nach der Sedierung bei Ihnen überwacht, oder?",
        "vor drei Jahren hatte ich beim MRT eine Panikattacke",
        "Ist im Gerät eine Klingel?",
        "kann mein Auge durch den Splitter blind werden?",
        "Ich drücke die Klingel unten am Haus, aber keiner macht auf",
        "Die Röhre war eng, aber ich hab es geschafft",
        "Mein Defi hat noch nie ausgelöst",
        "bekomme ich in der Röhre genug Luft?",
    ],
    "en": [
        "Does contrast make you tired?",
        "Does the throat often swell with gadolinium?",
        "My brother once had a blister on his arm after an MRI, is that common?",
        "Can I go in the tube with my pacemaker?",
        "I'm afraid of suffocating in the tube",
        "What if nobody answers the buzzer?",
        "My child is monitored after the sedation, right?",
        "three years ago I had a panic attack in the MRI",
        "Is there a bell in the machine?",
        "can my eye go blind from the splinter?",
        "I'm pressing the bell downstairs but nobody opens",
        "The tube was narrow but I managed",
        "My ICD has never gone off",
        "will I get enough air in the tube?",
    ],
}


@pytest.mark.parametrize("language", ["de", "en"])
def test_emergencies_around_the_magnet_are_found_by_rule(language: str) -> None:
    rules = load_red_flags(language)

    missed = [text for text in URGENT[language] if rules.check(text) is None]

    assert len(missed) <= 1, missed


@pytest.mark.parametrize("language", ["de", "en"])
def test_questions_beforehand_memories_and_other_bells_raise_none(language: str) -> None:
    rules = load_red_flags(language)

    assert [text for text in HARMLESS[language] if rules.check(text) is not None] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "ich drück die klingel und keiner kommt"),
        ("de", "Ich liege im MRT und bekomme keine Luft"),
        ("de", "es wird so heiß an meinem Bein, ich liege gerade im Gerät"),
        ("de", "holen Sie mich bitte aus der Röhre, mein Herz rast"),
        ("en", "help im lying in the mri and nobody hears the buzzer"),
        ("en", "I'm in the scanner and my chest hurts"),
        ("en", "its getting so hot on my leg, im in the machine right now"),
        ("en", "please get me out of the tube my heart is racing"),
    ],
)
def test_who_is_in_the_scanner_now_is_told_to_press_the_bell(language: str, text: str) -> None:
    assert load_red_flags(language).check(text) == "scanner"


@pytest.mark.parametrize("language", ["de", "en"])
def test_lines_about_the_magnet_are_heard_and_left_alone(language: str) -> None:
    rules = load_red_flags(language)
    with (Path(__file__).parent / "magnet" / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    urgent = [line["text"] for line in lines if line["flag"]]
    harmless = [line["text"] for line in lines if not line["flag"]]

    assert (len(urgent), len(harmless)) == (75, 102)
    assert sum(rules.check(text) is None for text in urgent) <= 0.05 * len(urgent)
    assert sum(rules.check(text) is not None for text in harmless) <= 0.04 * len(harmless)


@pytest.mark.parametrize("language", ["de", "en", "fr", "other"])
def test_dialect_few_words_and_other_languages_are_heard_around_the_magnet(language: str) -> None:
    if language == "fr":
        open_languages(None, ["fr"])
    foreign = Foreign({"de": frozenset(), "en": frozenset()})
    own = ("de", "en") if language == "other" else (language,)
    with (Path(__file__).parent / "magnet" / "otherwise.tsv").open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.DictReader(file, delimiter="\t") if row["language"] == language]

    def alarms(text: str) -> bool:
        by_rule = any(load_red_flags(each).check(text) for each in own)
        return by_rule or (language == "other" and foreign.emergency(text) is not None)

    try:
        missed = [line["text"] for line in lines if line["flag"] and not alarms(line["text"])]
        alarmed = [line["text"] for line in lines if not line["flag"] and alarms(line["text"])]
    finally:
        if language == "fr":
            forget()
    assert len(missed) <= 0.02 * len(lines), missed
    assert len(alarmed) <= 0.01 * len(lines), alarmed


def test_a_french_stroke_of_years_ago_is_no_romanian_emergency() -> None:
    foreign = Foreign({"de": frozenset(), "fr": frozenset()})

    assert foreign.emergency("J'ai fait un AVC en 2015, je peux passer la mammo ?") is None
    assert foreign.emergency("cred ca face un avc") is not None
