"""A model that answers the prompts of quizzes by a script, in the forms in which models answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bot.testing import HashEncoder
from harness.authoring.quiz.asking import Case, QuizPrompts, load_texts
from harness.authoring.quiz.bank import LateInteraction, load_bank, load_outline
from harness.authoring.quiz.making import QuizMaking, Track
from harness.authoring.quiz.rubric import Component, Kind, load_rubric
from harness.authoring.working import Advanced, Ask, Work, advance
from harness.llm.batch_files import ModelAnswer

CASE = Case(
    "deo",
    "Bitte benutzen Sie am Tag der Untersuchung kein Deo. Wischen Sie es sonst 5 Minuten vorher ab.",
    "Wie man sich vorbereitet",
    "Deo abwischen",
)
Reply = Callable[[Ask[Any]], str]


def making(kind: Kind = "teach-back", language: str = "de", **how: Any) -> QuizMaking:
    """Return a making with the shipped words and an encoder without a model."""
    prompts = QuizPrompts(load_texts(language), load_rubric(kind, language), load_bank(kind, language))
    return QuizMaking(prompts, load_outline(kind, language), LateInteraction(HashEncoder()), **how)


def scores(component: Component, score: float, kind: Kind = "teach-back", language: str = "de") -> str:
    """Return a critique that gives every aspect of a component one score."""
    aspects = load_rubric(kind, language).of(component)
    return json.dumps({key: {"feedback": f"Grund {key}", "score": score} for key in aspects})


def scripted(ask: Ask[Any], *, score: Callable[[int], float] = lambda round_: 3, **said: str) -> str:
    """Answer one prompt: `score` by round, `said` in place of what is usual, by the step."""
    step, _, rest = ask.id.partition("/")
    if step in said:
        return said[step]
    if step == "critique":
        *_, number, component = rest.split("/")
        return scores(component, score(int(number)))  # type: ignore[arg-type]
    if step == "correct":
        number = rest.rsplit("/", maxsplit=1)[1]
        return (
            f"Kontext: Fassung {number} nach der Kritik.\nFrage: Was macht sie jetzt?\n"
            "**Richtige Antwort:** Sie wischt es ab.\nFalsche Antworten:\n- Sie lässt es.\n- Sie geht heim.\n- Sie fragt."
        )
    shown = ask.messages[-1]["content"]
    return {
        "topics": '{"topics": ["Was man mitbringt", "Wie man sich vorbereitet", "Erfundenes"]}',
        "point": '{"key_point": "Deo abwischen"}',
        "context": "Kontext: Frau Berger hat am Morgen Deo benutzt. Sie ist auf dem langen Weg zu uns.",
        "question": "Frage: Was macht Frau Berger jetzt?",
        "answer": "Richtige Antwort: Sie wischt es ab.",
        "distractors": "Falsche Antworten:\na) Sie lässt es.\nb) Sie sagt ab.\nc) Sie wischt es ab.\nd) Sie lässt es.",
        "attempt": f"Antwort: {_letter(shown, 'Sie wischt es ab.')}\nBegründung: Das hilft.",
        "judge": json.dumps(
            {
                "better": "a" if shown.find("Fassung 3") < shown.find("langen Weg") else "b",
                "difficulty_a": "leicht",
                "difficulty_b": "medium",
                "errors_a": [],
                "errors_b": ["lang"],
                "reason": "klarer",
            }
        ),
    }[step]


def _letter(shown: str, option: str) -> str:
    lettered = (line for line in reversed(shown.splitlines()) if line[1:] == f": {option}")
    return next(lettered, "?")[0]


def finished(work: Callable[[], Work[list[Track]]], reply: Reply) -> Advanced[list[Track]]:
    """Do a work to its end with what a script answers."""
    answers: dict[str, ModelAnswer] = {}
    while (advanced := advance(work(), answers)).waiting:
        answers.update((one.id, ModelAnswer(one.id, reply(one), "scripted", "")) for one in advanced.waiting)
    return advanced


def made(reply: Reply = scripted, **how: Any) -> list[Track]:
    """Return what becomes of the one case."""
    quizzes = making(**how)
    tracks = finished(lambda: quizzes.all([CASE]), reply).result
    assert tracks is not None
    return tracks
