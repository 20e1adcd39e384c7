"""An exam of eight pairs that two groups ask about in words of their own, and a suite of what they ask."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import yaml

from bot import load_catalog
from harness.patients.suites import Question, QuestionSource, Recording, save_suite
from tests.bot.release.exams import EASY

# What it is about, how most people say it, and a word that only one group has for it.
MATTERS = {
    "pain": ("die Schmerzen beim Drücken", "Zwurbel"),
    "costs": ("den Preis und die Rechnung", "Gerschtl"),
    "duration": ("die Dauer in Minuten", "Weilchem"),
    "clothes": ("die Kleidung und den Pullover", "Häsli"),
    "parking": ("den Parkplatz für das Auto", "Karrnstell"),
    "result": ("den Befund und das Ergebnis", "Pfundling"),
    "rays": ("die Strahlung der Röntgenröhre", "Gestrahms"),
    "children": ("die Betreuung der Kinder", "Gschropp"),
}
USUAL = ("wie ist das mit {}", "erklären Sie mir {}", "ich möchte etwas über {} wissen", "sagen Sie mir etwas zu {}")
DIALECT = ("wos is mit da {}", "{} wia?", "i wui wos zu {} wissn", "de {} bittschen")
ASKED = {
    "high-health-literacy": ("Können Sie mir vorab Auskunft geben über {}?", "Mich beschäftigt vor dem Termin {}."),
    "low-language-literacy": ("ja servus und de {} nacha?", "{} hob i no a frog"),
}
SUITE = "two-groups"


def write_exam(folder: Path) -> Path:
    """Write the exam; its pairs are approved, its signatures are still to be given."""
    pairs = [
        {
            "id": name,
            "question": f"Was muss ich über {words} wissen?",
            "answer": f"Hier steht alles über {words}.",
            "easy_answer": EASY["de"],
            "review": {"status": "approved", "by": "Dr. Test", "on": "2026-01-01"},
            "variants": [
                *(one.format(words) for one in USUAL),
                *(one.format(own) for one in DIALECT),
            ],
        }
        for name, (words, own) in MATTERS.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    document = {"catalog": "small", "language": "de", "version": "1", "pairs": pairs}
    (folder / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return folder


def write_suite(folder: Path, exam: Path, *, novel: int = 6) -> Path:
    """Write a suite: each group asks twice about each matter, and about what no pair answers."""
    source = QuestionSource(kind="model", model="scripted", answered="offline")
    questions = [
        Question(
            id=f"{group}/{name}/{number}",
            text=said.format(own if group == "low-language-literacy" else words),
            lang="de",
            vignette=group,
            pair_id=name,
            kind="paraphrase",
            source=source,
        )
        for group, asked in ASKED.items()
        for name, (words, own) in MATTERS.items()
        for number, said in enumerate(asked)
    ]
    questions += [
        Question(
            id=f"novel/{number}",
            text=f"Sagen Sie mir etwas zu {what}",
            lang="de",
            vignette="high-health-literacy",
            pair_id=None,
            kind="novel",
            source=source,
        )
        for number, what in enumerate(
            ("den Hunden im Haus", "dem Essen am Abend", "der Rechnung vom letzten Jahr", "dem Auto meiner Frau",
             "den Minuten danach", "dem Pullover von gestern")[:novel]
        )
    ]  # fmt: skip
    recording = Recording(tuple(questions), (), {})
    save_suite(folder, catalog=load_catalog(exam, "de"), note="", recording=recording, today=date(2026, 1, 1))
    return folder
