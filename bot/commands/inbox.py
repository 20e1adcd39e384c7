"""Questions that wait for curators, as rows for people, CSV for spreadsheets and JSON."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.catalog.exchange.tables import no_formula
from bot.commands.moments import local_zone, moment
from bot.outbox_ports import pseudonym
from bot.ports import Complaint, KeptTurn
from bot.settings import Settings
from bot.wiring import make_records

State = Literal["unanswered", "asked back", "flagged wrong", "flagged complicated"]
_DECIDED: dict[str, State] = {"declined": "unanswered", "clarify": "asked back"}
_FLAGGED: dict[Complaint, State] = {"wrong": "flagged wrong", "complicated": "flagged complicated"}
COLUMNS = ("id", "at", "language", "states", "pair_id", "in_logs", "question")


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A question with what is open about it.

    Attributes:
        id: Number of the turn in this database.
        at: When, in the time of the place.
        states: What is open; more than one where an unanswered question was flagged as well.
        pair_id: The pair that answered; empty where none did.
        in_logs: Pseudonym of the conversation, for `klartext records find --pseudonym`; empty where the question was
            kept without it.
    """

    id: int
    at: datetime
    language: str
    states: tuple[State, ...]
    pair_id: str
    in_logs: str
    question: str

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in COLUMNS} | {"at": self.at.isoformat(), "states": [*self.states]}


def read_inbox(settings: Settings, since: str | None) -> list[InboxItem]:
    """Return what is open, oldest first.

    Raises:
        UserFixable: `since` is no moment.
    """
    zone = local_zone(settings)
    first = moment(since, "--since", zone) if since is not None else None

    def item(kept: KeptTurn) -> InboxItem:
        turn = kept.turn
        return InboxItem(
            id=kept.number,
            at=turn.at.astimezone(zone),
            language=turn.language,
            states=tuple(_states(kept)),
            pair_id=turn.pair_id or "",
            in_logs=pseudonym(turn.conversation) if turn.conversation else "",
            question=turn.question,
        )

    return [item(each) for each in make_records(settings).inbox(since=first)]


def _states(kept: KeptTurn) -> Iterator[State]:
    if kept.turn.decision in _DECIDED:
        yield _DECIDED[kept.turn.decision]
    yield from (_FLAGGED[flag] for flag in kept.flags)


def as_rows(items: Sequence[InboxItem]) -> Iterator[str]:
    for each in items:
        state = ", ".join(each.states) + (f": {each.pair_id}" if each.pair_id else "")
        about = f"{each.at:%Y-%m-%d %H:%M %Z}  {each.language}  {each.in_logs:12}  {state:12}"
        yield f"{each.id:6}  {about}  {each.question}"


def counted(items: Sequence[InboxItem]) -> str:
    """Return how many are open, and how many of each state."""
    counts = Counter(state for each in items for state in each.states)
    return ", ".join([f"{len(items)} open", *(f"{count} {state}" for state, count in counts.items())])


def as_csv(items: Sequence[InboxItem]) -> str:
    """Return a table; what a spreadsheet would take for a formula stands behind an apostrophe."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for each in items:
        values = {**each.as_json(), "states": ", ".join(each.states)}
        table.writerow([no_formula(str(values[name])) for name in COLUMNS])
    return file.getvalue()
