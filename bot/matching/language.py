"""Which of a catalog's languages a text is in. Pure: naive Bayes over the catalog's own words and letter pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from bot.matching.text import words

SMOOTHING = 0.5
MAX_TEXTS = 20_000  # more teach nothing about a language
AUTO = "auto"


class LanguageDetector:
    """Learns from the texts of a catalog, so that it knows just the languages that can be answered."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self.languages = tuple(texts)
        if len(self.languages) < 2:
            self._weight: dict[str, dict[str, float]] = {}
            return
        counts = {
            language: Counter(_signs(examples[:: -(-len(examples) // MAX_TEXTS) or 1]))
            for language, examples in texts.items()
        }
        known = set().union(*counts.values()) if counts else set()
        self._weight = {language: _log_probabilities(count, len(known)) for language, count in counts.items()}

    def detect(self, text: str, *, fallback: str, margin: float = 1.0) -> str:
        """Return the likeliest language; `fallback` unless another one is ahead by `margin` (log-likelihood)."""
        signs = [sign for sign in _signs([text]) if any(sign in weight for weight in self._weight.values())]
        if not signs or len(self.languages) < 2:
            return fallback if fallback in self.languages else self.languages[0]
        scores = {
            language: sum(weight.get(sign, weight[""]) for sign in signs) for language, weight in self._weight.items()
        }
        best = max(self.languages, key=lambda language: scores[language])
        close = fallback in scores and scores[best] - scores[fallback] < margin
        return fallback if close else best


def _signs(texts: Sequence[str]) -> list[str]:
    found = []
    for text in texts:
        for word in words(text):
            padded = f" {word} "
            found.append("=" + word)
            found.extend(padded[start : start + 3] for start in range(len(padded) - 2))
    return found


def _log_probabilities(count: Counter[str], known: int) -> dict[str, float]:
    total = sum(count.values()) + SMOOTHING * (known + 1)
    # Rare signs are left out: they make the file large and tell little.
    table = {sign: math.log((number + SMOOTHING) / total) for sign, number in count.items() if number > 1}
    table[""] = math.log(SMOOTHING / total)
    return table
