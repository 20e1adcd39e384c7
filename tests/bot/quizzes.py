"""A small catalog whose pairs have quizzes, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from bot import Assistant
from bot.catalog.quiz import Quiz
from bot.testing import write_small_catalog
from bot.wiring import Opened

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


def with_quiz(assistant: Assistant, pair_id: str) -> Assistant:
    """Return the same assistant, trained as it is, with a quiz on one pair in each language."""
    return with_quizzes(assistant, {pair_id: {language: a_quiz(language) for language in ABOUT}})


def with_quizzes(assistant: Assistant, quizzes: Mapping[str, Mapping[str, dict[str, Any]]]) -> Assistant:
    """Return the same assistant, trained as it is, with quizzes as a file has them: by pair, then by language."""

    def quizzed(opened: Opened) -> Opened:
        catalog = opened.catalog
        given = {
            pair_id: Quiz.model_validate(own[catalog.language])
            for pair_id, own in quizzes.items()
            if catalog.language in own
        }
        pairs = [
            pair.model_copy(update={"quizzes": (given[pair.id],)}) if pair.id in given else pair
            for pair in catalog.pairs
        ]
        return replace(
            opened,
            catalog=replace(catalog, pairs=tuple(pairs)),
            build_trained=lambda: opened.trained,
            build_index=lambda: opened.index,
            build_remarks=lambda: opened.remarks,
        )

    languages = {language: quizzed(opened) for language, opened in assistant._opened.items()}
    return Assistant(languages, assistant.encoder, sample=assistant.sample, house=assistant.house)


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
