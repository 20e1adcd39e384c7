"""What of a release may be shown at this moment: approvals expire to the minute, and pairs are withdrawn at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, get_args

from bot.catalog.approval import FORM, SITE, SPOKEN
from bot.release.release import Release
from bot.release.stops import Stops

ClosedBecause = Literal["", "stopped", "sentences_expired"]
# What of a release is approved as a whole, by the first word of its name; pairs go one by one.
Whole = Literal["sentences", "questionnaire", "site"]


@dataclass(frozen=True, slots=True)
class ChatState:
    """How the chat stands.

    Attributes:
        closed: Why nothing is answered but emergencies; empty while the chat is open.
        expired: What patients miss because its approval has ended: the chat, the questions, or what the site tells.
        pairs: Names of the pairs that are not shown because theirs has, each with its language.
        lost: Stops that hold in this process only: the database has lost them.
    """

    closed: ClosedBecause = ""
    expired: tuple[Whole, ...] = ()
    pairs: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def together(states: Sequence[ChatState]) -> ChatState:
    """Return how the chats of several exams stand: whatever patients of one of them miss."""
    if len(states) == 1:
        return states[0]
    closed: ClosedBecause = next((state.closed for state in states if state.closed), "")
    expired = tuple(part for part in get_args(Whole) if any(part in state.expired for state in states))
    pairs = dict.fromkeys(each for state in states for each in state.pairs)
    lost = dict.fromkeys(each for state in states for each in state.lost)
    return ChatState(closed, expired, tuple(pairs), tuple(lost))


@dataclass(frozen=True)
class InForce:
    """A release as it counts now.

    Attributes:
        release: The release.
        stops: Returns what is stopped now.
        now: The clock.
    """

    release: Release
    stops: Callable[[], Stops]
    now: Callable[[], datetime]

    @cached_property
    def name(self) -> str:
        """Return what turns, logs and exports call the release; every turn asks for it."""
        return self.release.name

    @cached_property
    def _content(self) -> Mapping[str, Any]:
        return self.release.content

    @cached_property
    def shown(self) -> Mapping[str, frozenset[str]]:
        """Ids of the pairs that the release was made to show, by language."""
        return {language: frozenset(pairs) for language, pairs in self._content["shown"].items()}

    @cached_property
    def _until(self) -> Mapping[str, datetime]:
        return {what: datetime.fromisoformat(at) for what, at in self._content["until"].items()}

    @cached_property
    def first_expiry(self) -> datetime:
        """When the first approval ends."""
        return min(self._until.values())

    def stopped(self, language: str) -> frozenset[str]:
        """Return the pairs that are withdrawn from it."""
        stops = self.stops().in_exam(self._content["exam"])
        return stops.pairs(self.release.number, self.release.made, self._content, language)

    def withheld(self, language: str) -> frozenset[str]:
        """Return the pairs that may not be shown just now: withdrawn, or their approval has expired."""
        stopped = self.stopped(language)
        now = self.now()
        if now < self.first_expiry:
            return stopped
        return stopped | {pair for pair in self.shown.get(language, ()) if self._has_expired(f"pair {pair} {language}")}

    def approved(self, pair_id: str, language: str) -> tuple[str, date]:
        """Return who approved a pair that is shown, and on which day it was complete."""
        found = self._content["approved"][f"pair {pair_id} {language}"]
        return str(found["by"]), date.fromisoformat(found["on"])

    @property
    def asks(self) -> bool:
        """Whether the Questionnaire may be asked now."""
        return not self._has_expired(FORM)

    @property
    def tells(self) -> bool:
        """Whether what the site says of itself may be told now."""
        return not self._has_expired(SITE)

    @property
    def is_closed(self) -> bool:
        """Whether the chat answers nothing but emergencies: somebody closed it, or its own sentences have expired."""
        return bool(self.state.closed)

    @property
    def state(self) -> ChatState:
        """How the chat stands now."""
        parts = get_args(Whole)
        expired = tuple(part for part in parts if any(self._has_expired(each) for each in self._names(part)))
        closed: ClosedBecause = "sentences_expired" if "sentences" in expired else ""
        pairs = [what for what in self._until if what.startswith("pair ") and self._has_expired(what)]
        stops, missed = self.stops().in_exam(self._content["exam"]), tuple(each.removeprefix("pair ") for each in pairs)
        return ChatState("stopped" if stops.closed else closed, expired, missed, stops.lost)

    def _names(self, part: Whole) -> list[str]:
        """Return under which names a part was approved; all that the program says is one, a site's own language too."""
        return [part] if part != "sentences" else [what for what in self._until if what.split()[0] in SPOKEN]

    def _has_expired(self, what: str) -> bool:
        until = self._until.get(what)
        return until is not None and self.now() >= until
