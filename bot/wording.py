"""Sentences as a place says them: with its country's numbers, and without commands where there are buttons. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.emergency_texts import Country
from bot.ports import Channel
from bot.reply import SENTENCES, Interface, Part, Reply, interface


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


def _worded(part: Part, language: str, place: Place) -> Part:
    if not isinstance(part, Interface) or part.slots:
        return part
    known = SENTENCES.get(language, {})
    # What is said "plainly", without commands, may have a wording of its own where there are buttons.
    own = f"{part.key.removesuffix('_plain')}_{place.channel}"
    key = own if own in known else part.key
    local = f"{key}_{place.country.lower()}" if place.country else key
    key = local if local in known else key
    return part if key == part.key else interface(language, key)
