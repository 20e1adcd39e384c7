"""Two small catalogs beside each other, as one service shows them: each says in every answer whose it is."""

from __future__ import annotations

from pathlib import Path

import yaml

from bot.testing import write_small_catalog

NAMES = {"mammo": ("Mammographie", "Mammogram"), "mri": ("MRT", "MRI")}
CALLED = {
    "mammo": {"de": ["Mammo", "Brust röntgen"], "en": ["breast x-ray"]},
    "mri": {"de": ["Magnet", "Kernspin", "Röhre"], "en": ["the tube", "magnet"]},
}
HINTS = {"mammo": {"de": ["Brust", "Busen"], "en": ["breast"]}, "mri": {}}
ONLY_NAMED = {"mammo": ["own-mammo"], "mri": []}
# Pairs that only one of them has.
OWN = {
    "mammo": {
        "de": ["Muss ich mich oben ausziehen?", "oberkörper frei?", "bh ausziehen"],
        "en": ["Do I have to undress?", "bra off?", "take off my top"],
    },
    "mri": {
        "de": [
            "Bekomme ich Ohrstöpsel gegen Lärm?",
            "laut?",
            "krach",
            "lärm beim klopfen",
            "gehörschutz",
            "ohrstöpsel",
        ],
        "en": ["Do I get earplugs against noise?", "loud?", "noise", "earplugs", "knocking noise"],
    },
}


def write_exam(folder: Path, name: str, *, status: str = "draft") -> Path:
    """Write one of them into a folder of its name, and return that."""
    place = write_small_catalog(folder / name, status=status)
    for number, language in enumerate(("de", "en")):
        file = place / f"{language}.yaml"
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        document["catalog"] = name
        question, *variants = OWN[name][language]
        first = document["pairs"][0]
        document["pairs"].append({**first, "id": f"own-{name}", "question": question, "variants": variants})
        for pair in document["pairs"]:
            pair["answer"] = f"{NAMES[name][number]}: {pair['question']}"
        file.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    phrases = {"de": {"exam": NAMES[name][0]}, "en": {"exam": NAMES[name][1]}}
    exam = {"review": {"status": "draft"}, "phrases": phrases, "called": CALLED[name], "hints": HINTS[name]}
    exam["only_named"] = ONLY_NAMED[name]
    (place / "exam.yaml").write_text(yaml.safe_dump(exam, allow_unicode=True), encoding="utf-8")
    return place
