"""Red flags: what a patient writes that needs a human now. Pure; the rules are data in ``bot/red_flags``.

A rule is a regular expression over folded words (no umlauts, no accents, no punctuation), matched between word bounds.
A rule's `unless` takes the match back, for example when it happened years ago or is a question about the exam.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from bot.errors import BadData
from bot.matching.text import words

FLAGS = ("breathing", "chest-pain", "collapse", "bleeding", "allergy", "stroke", "overdose", "suicide")


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    flag: str
    any: list[str] = Field(min_length=1)
    unless: list[str] = []


class _RuleFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: dict[str, str] = {}
    never: list[str] = []
    rules: list[_Rule]


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule."""

    flag: str
    matches: re.Pattern[str]
    unless: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class RedFlags:
    """The rules of one language, most specific first."""

    rules: tuple[Rule, ...]
    never: re.Pattern[str] | None

    def check(self, text: str) -> str | None:
        """Return the red flag in a text, one of `FLAGS`, or None."""
        folded = " ".join(words(text))
        for rule in self.rules:
            if not rule.matches.search(folded):
                continue
            if rule.unless is not None and rule.unless.search(folded):
                continue
            if self.never is not None and self.never.search(folded):
                continue
            return rule.flag
        return None


@lru_cache(maxsize=8)
def load_red_flags(language: str) -> RedFlags:
    """Load the rules of a language; raise BadData when there are none: no chat without red flags."""
    path = Path(__file__).parent / "red_flags" / f"{language}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(other.stem for other in path.parent.glob("*.yaml")))
        raise BadData(
            f"There are no red-flag rules for the language {language!r} (only for {known}). "
            f"Write bot/red_flags/{path.name}, or remove the catalog's {path.name}."
        )
    raw: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    file = _RuleFile.model_validate(raw)
    rules = tuple(
        Rule(rule.flag, _pattern(rule.any, file.words), _pattern(rule.unless, file.words) if rule.unless else None)
        for rule in file.rules
    )
    return RedFlags(rules, _pattern(file.never, file.words) if file.never else None)


class _ExampleFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    urgent: dict[str, list[str]]
    harmless: list[str]


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts that show what is urgent and what only sounds so."""

    urgent: tuple[tuple[str, str], ...]
    harmless: tuple[str, ...]


def load_examples(language: str) -> Examples:
    """Load the examples of a language."""
    path = Path(__file__).parent / "red_flags" / "examples" / f"{language}.yaml"
    raw: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    file = _ExampleFile.model_validate(raw)
    urgent = tuple((flag, text) for flag, texts in file.urgent.items() for text in texts)
    return Examples(urgent, tuple(file.harmless))


def _pattern(alternatives: list[str], named: dict[str, str]) -> re.Pattern[str]:
    """Compile alternatives between word bounds; ``{name}`` stands for a named group of words."""
    filled = [_fill(text, named) for text in alternatives]
    return re.compile(r"\b(?:" + "|".join(filled) + r")\b")


def _fill(text: str, named: dict[str, str]) -> str:
    for _ in range(3):  # named groups may name others
        for name, words_ in named.items():
            text = text.replace("{" + name + "}", f"(?:{words_})")
    return text
