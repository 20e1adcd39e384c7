"""Read what a judge answered, defensively: what cannot be read is counted, and never scored 0. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.judging.judge_prompts import HIGHEST
from harness.labels import Verdict

Better = Literal["a", "b", "tie"]
_VERDICTS: dict[str, Verdict] = {
    "incorrect": "incorrect",
    "wrong": "incorrect",
    "partial": "partial",
    "partially correct": "partial",
    "partly correct": "partial",
    "correct": "correct",
}
_SCORE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(?:/\s*(\d+)\s*)?(?:\D.*)?$", re.DOTALL)
_CHOICE = re.compile(r"^\W*(?:text|answer|option)?\W*([012])\W*$", re.IGNORECASE)
_TIE = ("tie", "none", "neither", "equal", "both", "same")
_CHARACTERS = 4000  # an answer is short; what comes after is rambling


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """A label as a model gave it; the reason is empty when it is none that we know."""

    verdict: Verdict
    reason: str
    comment: str


def read_label(answer: str, *, reasons: Collection[str]) -> ReadLabel | None:
    """Return the label in an answer; None when there is none, or more than one."""
    data = _object(answer)
    if data is None:
        verdict = _plain_verdict(answer)
        return ReadLabel(verdict, "", "") if verdict else None
    verdict = _VERDICTS.get(_text(data.get("label")).lower())
    if verdict is None:
        return None
    reason = _text(data.get("reason"))
    return ReadLabel(verdict, reason if reason in reasons else "", _text(data.get("comment"))[:500])


def _plain_verdict(answer: str) -> Verdict | None:
    """Read a bare word, such as ``Label: partially correct.``; a sentence about labels is no label."""
    text = re.sub(r"^\W*(?:label|verdict)\W*", "", answer.strip(), flags=re.IGNORECASE)
    return _VERDICTS.get(text.strip(" \n\t.!*[]\"'`").lower())


def read_scores(answer: str, *, aspects: Collection[str]) -> dict[str, float]:
    """Return the scores in an answer by aspect, 0 to `HIGHEST`; what is missing or out of range is left out."""
    data = _object(answer)
    if data is None:
        data = _lines(answer, aspects)
    for inner in ("scores", "ratings", "aspects"):
        if isinstance(data.get(inner), dict):
            data = data[inner]
    by_id = {_slug(key): value for key, value in data.items()}
    scores = {aspect: _score(by_id[aspect]) for aspect in aspects if aspect in by_id}
    return {aspect: score for aspect, score in scores.items() if score is not None}


def _lines(answer: str, aspects: Collection[str]) -> dict[str, Any]:
    """Read lines such as ``- on-topic: 4/5, it says so``."""
    found: dict[str, Any] = {}
    for line in answer[:_CHARACTERS].splitlines():
        name, colon, value = line.partition(":")
        key = _slug(re.sub(r"^[\s\-*•\d.)]+", "", name))
        if colon and key in aspects:
            found.setdefault(key, value.strip(" *"))
    return found


def _score(value: object) -> float | None:
    if isinstance(value, dict):
        value = value.get("score")
    if isinstance(value, bool) or value is None:
        return None
    match = _SCORE.match(str(value))
    if match is None:
        return None
    score = float(match[1])
    if match[2] is not None and int(match[2]) != HIGHEST:
        return None  # out of ten, say: not the scale that was asked for
    return score if score <= HIGHEST else None


def read_choice(answer: str, *, order: str) -> Better | None:
    """Return which text is better: the first shown is A in order ``ab``, B in ``ba``; None when it is not said."""
    data = _object(answer)
    said = _text(data.get("better", data.get("preference"))) if data is not None else answer
    match = _CHOICE.match(said)
    if match is None:
        return "tie" if said.strip(" .!*\"'\n").lower() in _TIE else None
    if match[1] == "0":
        return "tie"
    return "a" if (match[1] == "1") == (order == "ab") else "b"


def _object(answer: str) -> Mapping[str, Any] | None:
    """Return the first JSON object in an answer, wherever it stands."""
    decoder = json.JSONDecoder()
    text = answer[:_CHARACTERS]
    start = text.find("{")
    while start >= 0:
        try:
            data, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return data if isinstance(data, dict) else None
    return None


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _slug(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower()).strip("-")
