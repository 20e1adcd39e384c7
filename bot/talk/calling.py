"""What a patient is told who calls for a person, and who asks whether anybody is there. Pure."""

from __future__ import annotations

from datetime import datetime

from bot.catalog.site import Site
from bot.sentences.reply import Interface, Part, interface, site_text
from bot.staff.calls import Call
from bot.staff.desk import Desk
from bot.text import words

CALLS_STAFF = ("/staff", "/personal")  # commands
# Words of a message that asks whether anybody is there, and what may stand beside one of them.
_SOMEBODY = frozenset(["jemand", "niemand", "keiner", "anybody", "anyone", "somebody", "someone", "nobody"])
_BESIDE = frozenset(
    ["hallo", "ist", "da", "dort", "noch", "denn", "hier", "bitte", "hello", "hi", "is", "there", "here", "please"]
)


def told_who_calls(
    desk: Desk | None, site: Site | None, language: str, at: datetime, *, writes: bool = False
) -> tuple[Part, ...]:
    """Return what is said to somebody who asks for a person: where nobody reads calls, that; else whom to call, too.

    Outside the hours of the site that is whoever helps then.
    """
    if desk is None:
        return (interface(language, "staff_called"),)
    said = [interface(language, key, **slots) for key, slots in desk.answer(at)]
    number = whom_to_call(desk, site, language, at, writes=writes)
    return (*said, number) if number is not None else tuple(said)


def whom_to_call(desk: Desk, site: Site | None, language: str, at: datetime, *, writes: bool = False) -> Part | None:
    """Return the number of the site while somebody is there, else who helps at night; None where neither is known.

    `writes`: where to write to instead, since the patient cannot telephone.
    """
    if writes:
        return site_text(site, "written", language) if site is not None else None
    if desk.opens(at) is None:
        return site_text(site, "phone", language) if site is not None else None
    night = site_text(site, "night", language) if site is not None else None
    return night or interface(language, "staff_night")


def how_it_stands(call: Call, language: str) -> Interface:
    """Return the sentence that says whether anybody has seen a call that nobody has taken."""
    return interface(language, "staff_seen" if call.state == "acknowledged" else "staff_unseen")


def asks_who_is_there(text: str) -> bool:
    """Whether a message asks whether anybody is there, and nothing else: "Hallo? Ist da jemand?"."""
    said = set(words(text))
    return bool(said & _SOMEBODY) and said <= _SOMEBODY | _BESIDE
