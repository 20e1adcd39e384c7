"""Take personal data out of what patients asked, and keep what they ask. Pure.

Rules and lists never find everything: docs/accuracy.md says what they miss. Whoever shows a scrubbed text says so with
`NOTICE`, and nobody passes it on unread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import regex

from bot.curation.patterns import spans
from bot.curation.people import people_finder

Kind = Literal["name", "date", "phone", "email", "address", "number", "web", "user", "age"]
MARKS: dict[str, dict[Kind, str]] = {
    "de": {
        "name": "[Name]",
        "date": "[Datum]",
        "phone": "[Telefon]",
        "email": "[E-Mail]",
        "address": "[Adresse]",
        "number": "[Nummer]",
        "web": "[Internet]",
        "user": "[Benutzername]",
        "age": "[Alter]",
    },
    "en": {
        "name": "[Name]",
        "date": "[Date]",
        "phone": "[Phone]",
        "email": "[Email]",
        "address": "[Address]",
        "number": "[Number]",
        "web": "[Web]",
        "user": "[User]",
        "age": "[Age]",
    },
}
NOTICE = "Scrubbed by rules, read before you use it."
_MARKED = regex.compile("|".join(regex.escape(mark) for marks in MARKS.values() for mark in marks.values()))
_BETWEEN = regex.compile(r"[\s,.&\-]*")


@dataclass(frozen=True, slots=True)
class Removed:
    """Something personal: where it stood in the text as it was given."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text with marks in place of personal data.

    Attributes:
        text: What may be shown to curators, who read it before they use it.
        removed: What was replaced, in order, never overlapping.
    """

    text: str
    removed: tuple[Removed, ...]


def scrub(text: str, language: str) -> Scrubbed:
    """Replace personal data by marks of its kind; scrubbing twice changes nothing more.

    Args:
        text: As it was typed.
        language: ``de`` (Swiss and Austrian, too) or ``en``; anything else is read as English.
    """
    language = language if language in MARKS else "en"
    claimed: list[Kind | None] = [None] * len(text)
    marked = [found.span() for found in _MARKED.finditer(text)]
    # Marks are no text: spaces of the same length stand for them while rules look.
    seen = _MARKED.sub(lambda found: "[" + "|" * (len(found[0]) - 2) + "]", text)
    for kind, start, end in spans(seen, language):
        _claim(claimed, kind, start, end)  # type: ignore[arg-type]
    for start, end in people_finder(language).find(seen):
        _claim(claimed, "name", start, end)
    for start, end in marked:
        claimed[start:end] = [None] * (end - start)
    removed = _joined(text, claimed)
    parts, at = [], 0
    for each in removed:
        parts += [text[at : each.start], MARKS[language][each.kind]]
        at = each.end
    return Scrubbed("".join([*parts, text[at:]]), removed)


def _claim(claimed: list[Kind | None], kind: Kind, start: int, end: int) -> None:
    """Give what nobody has claimed to a kind."""
    for place in range(start, end):
        claimed[place] = claimed[place] or kind


def _joined(text: str, claimed: list[Kind | None]) -> tuple[Removed, ...]:
    """Return what is claimed as runs; runs of one kind with nothing but spaces and commas between are one."""
    runs: list[Removed] = []
    start = 0
    while start < len(claimed):
        kind, end = claimed[start], start + 1
        while end < len(claimed) and claimed[end] == kind:
            end += 1
        if kind is not None and text[start:end].strip(" \t\n,.;:"):
            stripped = text[start:end]
            left = start + len(stripped) - len(stripped.lstrip())
            right = end - len(stripped) + len(stripped.rstrip())
            previous = runs[-1] if runs else None
            if previous is not None and previous.kind == kind and _BETWEEN.fullmatch(text, previous.end, left):
                runs[-1] = Removed(kind, previous.start, right)
            else:
                runs.append(Removed(kind, left, right))
        start = end
    return tuple(runs)
