"""Made-up questions with made-up personal data, to measure the scrubber with. Pure.

Sentences and values lie in `scrub_cases/`. Every other sentence and every other value is held out: whoever wrote the
rules looked at what the other half missed, and measured on this half only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

CASES = Path(__file__).parent / "scrub_cases"
STYLES = ("as written", "small letters", "no punctuation")
_SLOT = re.compile(r"\{(\w+)\}")
_KINDS = {
    "first": "name",
    "last": "name",
    "full": "name",
    "initial": "name",
    "birth": "date",
    "date": "date",
    "phone": "phone",
    "mail": "email",
    "address": "address",
    "insurance": "number",
    "ahv": "number",
    "nhs": "number",
    "ni": "number",
    "iban": "number",
    "case": "number",
    "web": "web",
    "user": "user",
    "age": "age",
}


@dataclass(frozen=True, slots=True)
class Spliced:
    """A question with where personal data stands in it.

    Attributes:
        text: As a patient might type it.
        style: How it is typed.
        secrets: Kind, start and end of each.
    """

    text: str
    style: str
    secrets: tuple[tuple[str, int, int], ...]


@lru_cache(maxsize=2)
def _read(language: str) -> tuple[tuple[str, ...], Mapping[str, Sequence[str]]]:
    said = yaml.safe_load((CASES / f"{language}.yaml").read_text(encoding="utf-8"))
    return tuple(said["sentences"]), said["values"]


def spliced(language: str, *, each: int = 10, held_out: bool = True, seed: int = 1) -> Iterator[Spliced]:
    """Yield every sentence `each` times with other values, typed well and badly in turn."""
    sentences, values = _read(language)
    half = int(held_out)
    rng = random.Random(seed)
    for sentence in sentences[half::2]:
        for number in range(each):
            yield _filled(sentence, {name: each[half::2] for name, each in values.items()}, STYLES[number % 3], rng)


def _filled(sentence: str, values: Mapping[str, Sequence[str]], style: str, rng: random.Random) -> Spliced:
    text, secrets, at = "", [], 0
    for slot in _SLOT.finditer(sentence):
        text += _typed(sentence[at : slot.start()], style)
        name = slot[1]
        value = (
            f"{rng.choice(values['first'])} {rng.choice(values['last'])}"
            if name == "full"
            else rng.choice(values[name])
        )
        if style != STYLES[0] and name not in ("web", "iban"):
            value = value.lower()
        secrets.append((_KINDS[name], len(text), len(text) + len(value)))
        text, at = text + value, slot.end()
    return Spliced(text + _typed(sentence[at:], style), style, tuple(secrets))


def _typed(said: str, style: str) -> str:
    if style == STYLES[0]:
        return said
    return re.sub(r"[,.!?:;]", "", said.lower()) if style == STYLES[2] else said.lower()
