"""Short ways to ask one question in tests, and to say what was read."""

from __future__ import annotations

from datetime import date
from typing import Any

from bot.interview.reading.reader import read
from bot.interview.reading.reading import Ambiguous, Asked, Option, Read, Reading, Unit
from bot.interview.values.answer import Answer, JsonValue

TODAY = date(2026, 11, 18)  # a Wednesday

KG, G = Unit("kg", "kg"), Unit("g", "g")
CM, M = Unit("cm", "cm"), Unit("m", "m")
INCH, FOOT = Unit("[in_i]", "in"), Unit("[ft_i]", "ft")


def reply(text: str, question: str | Asked, *, language: str = "de", **facts: Any) -> Reading:
    """Read a reply to a question, given whole or by its type and what else matters."""
    asked = question if isinstance(question, Asked) else Asked(question, **facts)
    return read(text, asked, language=language, today=TODAY)


def literal(reading: Reading) -> JsonValue:
    """Return the one value that was said in so many words."""
    assert isinstance(reading, Read), reading
    assert reading.literal, reading
    assert reading.remainder == ""
    assert len(reading.answers) == 1, reading
    return reading.answers[0].value


def understood(reading: Reading) -> JsonValue:
    """Return the one value that was read, whether or not it must be read back."""
    assert isinstance(reading, Read), reading
    assert reading.remainder == ""
    assert len(reading.answers) == 1, reading
    return reading.answers[0].value


def inferred(reading: Reading) -> JsonValue:
    """Return the one value that must be read back."""
    assert isinstance(reading, Read), reading
    assert not reading.literal, reading
    assert len(reading.answers) == 1, reading
    return reading.answers[0].value


def options(*labels: str | tuple[str, ...], exclusive: tuple[int, ...] = ()) -> tuple[Option, ...]:
    """Return options with codes c1, c2, ...; further labels of an option are codes or prefixes."""
    listed = [(label,) if isinstance(label, str) else label for label in labels]
    return tuple(
        Option(Answer("coding", {"code": f"c{number}", "display": names[0]}), names, number in exclusive)
        for number, names in enumerate(listed, 1)
    )


def codes(reading: Reading) -> list[JsonValue]:
    """Return the codes of the options read, the text of own words, or the labels that a text could mean."""
    if isinstance(reading, Ambiguous):
        return ["?", *(option.labels[0] for option in reading.options)]
    assert isinstance(reading, Read), reading
    return [answer.value["code"] if isinstance(answer.value, dict) else answer.value for answer in reading.answers]
