"""Sentences as a place says them: with its country's numbers, and without commands where there are buttons. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.ports import Channel
from bot.sentences.emergency_texts import Country
from bot.sentences.reply import SENTENCES, Interface, Part, Reply, interface


@dataclass(frozen=True, slots=True)
class Place:
    """Where a patient is.

    Attributes:
        channel: How the patient talks to us.
        country: Whose emergency numbers are said; None: those of all.
    """

    channel: Channel = "terminal"
    country: Country | None = None


def worded(reply: Reply, place: Place) -> Reply:
    """Return the reply in the sentences of a place; they are fixed sentences too, and pass the same guard."""
    return replace(reply, parts=tuple(_worded(part, reply.language, place) for part in reply.parts))


def emergency_notice(language: str, country: Country | None) -> Interface:
    """Return the sentence that says whom to call in a country; None: the numbers of all."""
    key = f"emergency_notice_{country.lower()}" if country else "emergency_notice"
    return interface(language, key)


def _worded(part: Part, language: str, place: Place) -> Part:
    if not isinstance(part, Interface) or part.slots:
        return part
    key, known = part.key, SENTENCES.get(language, {})
    plain = "plain" if place.channel != "terminal" and f"{key}_{place.channel}" not in known else ""
    for suffix in (place.channel, plain, place.country.lower() if place.country else ""):
        key = f"{key}_{suffix}" if f"{key}_{suffix}" in known else key
    return part if key == part.key else interface(language, key)
