"""Read scores out of what a model wrote, for critics and judges. Pure.

Asked for a JSON object, models also send one in a fence, with remarks around it, nested, with "4/5" for a number, or a
list with the scores at the ends of lines. What is not clearly a score from 0 to 5 of an aspect is no score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot import fold, plain_text

TOP = 5.0
MOST_STARTS = 40  # brackets tried as the beginning of JSON: hostile answers must not take long
MOST_CHARACTERS = 20_000
_OF_FIVE = re.compile(r"(?<![\d.,])(\d+(?:[.,]\d+)?)\s*(?:/|von|of|out of)\s*(\d+)(?![\d.,])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\d.,/-])(\d+(?:[.,]\d+)?)(?![\d.,]*\d|\s*(?:/|von|of|out of|%)\s*)")
_SCORE_KEYS = ("score", "punkte", "wert", "wertung", "bewertung", "note", "rating", "value", "points")
_PAIR = re.compile(r'"([^"\n]{1,60})"\s*:\s*("[^"\n]*"|-?\d+(?:[.,]\d+)?)')
_LEAD = re.compile(r"^[\s>*_#|`\-•–\d.)(]+")


def scores_in_json(answer: str, names: Mapping[str, str]) -> dict[str, float]:
    """Return the scores in JSON objects, also in those that were cut off; `names` are folded, with their keys."""
    found: dict[str, float] = {}
    answer = answer[:MOST_CHARACTERS]
    for document in json_objects(answer):
        for name, value in _flat(document):
            key, score = names.get(fold(name)), _score(value)
            if key is not None and score is not None:
                found.setdefault(key, score)
    for name, value in _PAIR.findall(answer):  # of an object that was cut off
        key, score = names.get(fold(name)), score_in_text(value.strip('"')) if not value.startswith("-") else None
        if key is not None and score is not None:
            found.setdefault(key, score)
    return found


def json_objects(answer: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that stand in a text, outermost first."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(MOST_STARTS):
        start = answer.find("{", at)
        if start < 0:
            return
        try:
            document, at = decoder.raw_decode(answer, start)
            yield _plain(document)
        except (ValueError, RecursionError):
            at = start + 1


def json_blocks(answer: str) -> int:
    """Return how many blocks of JSON stand in a text: objects, or lists of objects, each with what is in it."""
    decoder, at, found = json.JSONDecoder(), 0, 0
    for _ in range(MOST_STARTS):
        start = re.compile(r"[{\[]").search(answer, at)
        if start is None:
            break
        try:
            document, at = decoder.raw_decode(answer, start.start())
        except (ValueError, RecursionError):
            at = start.end()
            continue
        found += isinstance(document, dict) or any(isinstance(each, dict) for each in document)
    return found


def _plain(value: Any) -> Any:
    """Return a value without the control characters that JSON had hidden in escapes."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {plain_text(key): _plain(each) for key, each in value.items()}
    return value


def _flat(document: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield names and values, also of nested objects and of lists of {"aspect": …, "score": …}."""
    if depth > 6:
        return
    if isinstance(document, list):
        for item in document:
            yield from _flat(item, depth + 1)
        return
    if not isinstance(document, dict):
        return
    named = next((value for key, value in document.items() if fold(key) in ("aspect", "aspekt", "name", "key")), None)
    if isinstance(named, str):
        yield named, document
    for key, value in document.items():
        yield key, value
        yield from _flat(value, depth + 1)


def _score(value: Any) -> float | None:
    if isinstance(value, dict):
        inner = [item for key, item in value.items() if fold(key) in _SCORE_KEYS]
        return _score(inner[0]) if len(inner) == 1 else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return score_in_text(value) if isinstance(value, str) else None


def score_in_text(text: str) -> float | None:
    """Return the score in a short text: "4", "4/5", "4 von 5", "Score: 4"; None when it is not clear."""
    of = [(float(value.replace(",", ".")), int(top)) for value, top in _OF_FIVE.findall(text)]
    if of:
        values = {value for value, top in of if top == int(TOP)}
        return values.pop() if len(values) == 1 else None
    numbers = {float(number.replace(",", ".")) for number in _NUMBER.findall(text)}
    return numbers.pop() if len(numbers) == 1 else None


def scores_in_lines(answer: str, names: Mapping[str, str]) -> dict[str, float]:
    """Read a list: each aspect's name at the start of a line, its score on that line or before the next name."""
    found: dict[str, float] = {}
    for key, lines in _sections(answer[:MOST_CHARACTERS], names):
        text = " ".join(lines)
        score = score_in_text(text)
        if score is None:
            score = _at_an_end(lines[0])
        if score is not None:
            found.setdefault(key, score)
    return found


def _sections(answer: str, names: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    key, lines = None, []
    for line in answer.splitlines():
        bare = _LEAD.sub("", line).strip()
        folded = fold(bare)
        name = next(
            (name for name in sorted(names, key=len, reverse=True) if f"{folded} ".startswith(f"{name} ")), None
        )
        if name is not None:
            if key is not None:
                yield key, lines
            key, lines = names[name], [_after(bare, name)]
        elif key is not None:
            lines.append(line)
    if key is not None:
        yield key, lines


def _after(line: str, name: str) -> str:
    """Return what follows a name of so many words."""
    words = list(re.finditer(r"[^\W_]+", line))
    return line[words[len(name.split()) - 1].end() :]


def _at_an_end(text: str) -> float | None:
    """Return a number that stands right after the name or at the very end: ": 4 (wegen 2 Fehlern)", "… gut. 4"."""
    for pattern in (
        r"^[\s:*|=–-]*(\d+(?:[.,]\d+)?)(?![\d.,]*\d)",
        r"(?<![\d.,])(\d+(?:[.,]\d+)?)[\s.*|)]*$",
    ):
        match = re.search(pattern, text)
        if match:
            return float(match[1].replace(",", "."))
    return None
