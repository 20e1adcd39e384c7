"""A small catalog whose pairs have quizzes, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bot.testing import write_small_catalog

RIGHT = {"de": "Es drückt kurz", "en": "It presses for a moment"}
WRONG = {
    "de": ["Es dauert eine Stunde", "Man schläft dabei", "Es drückt den ganzen Tag"],
    "en": ["It takes an hour", "You sleep through it", "It presses all day"],
}
ABOUT: dict[str, dict[str, Any]] = {
    "de": {"context": "Frau Berger fragt vor der Aufnahme.", "question": "Was merkt Frau Berger?"},
    "en": {"context": "Ms Berger asks before the image.", "question": "What does Ms Berger notice?"},
}


def a_quiz(language: str, about: str = "") -> dict[str, Any]:
    """Return a quiz as a file has it; `about` makes its question another."""
    said = ABOUT[language]
    question = f"{said['question']} {about}".strip()
    return {**said, "question": question, "answer": RIGHT[language], "distractors": WRONG[language]}


def write_quizzed_catalog(folder: Path, *, status: str = "draft") -> Path:
    """Write the small catalog with a quiz on each pair, and return its folder."""
    write_small_catalog(folder, status=status)
    for language in ("de", "en"):
        path = folder / f"{language}.yaml"
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for pair in document["pairs"]:
            pair["quizzes"] = [a_quiz(language, f"({pair['id']})")]
        path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    return folder
