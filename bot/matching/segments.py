"""Split a message that asks two things. Pure."""

from __future__ import annotations

import re

from bot.matching.text import words

MIN_WORDS = 2
MAX_SEGMENTS = 3

_ASKS = (
    "wie|was|wann|wo|wohin|wer|wem|wen|warum|wieso|weshalb|womit|welche[rsn]?|darf|dürfen|kann|können|könnte|muss|müssen|"
    "tut|ist|sind|gibt|brauch(?:e|t)?|soll(?:te)?|bekomm(?:e|t)|wird|werden|hat|habe|macht|zahlt|bezahlt|dauert|kostet|"
    "how|what|when|where|who|why|which|may|can|could|must|do|does|did|is|are|will|would|should|shall"
)
_BOUNDARY = re.compile(
    rf"(?<=[?!.])\s+|[,;]?\s+(?:und|sowie|außerdem|ausserdem|and|also)\s+(?=(?:auch\s+|also\s+)?(?:{_ASKS})\b)",
    re.IGNORECASE,
)


def segments(text: str) -> tuple[str, ...]:
    """Return the parts of a message that each ask something; empty when it asks one thing only.

    "Tut es weh und wie lange dauert es?" has two, "Was ist mit Deo und Creme?" has none: a conjunction splits only
    in front of a word that begins a question.
    """
    parts = [part.strip(" ,;") for part in _BOUNDARY.split(text)]
    asking = [part for part in parts if len(words(part)) >= MIN_WORDS]
    return tuple(asking[:MAX_SEGMENTS]) if len(asking) >= 2 else ()
