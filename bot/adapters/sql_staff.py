"""Calls for staff in the database of the conversations, and what staff did about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, DateTime, ForeignKey, func, or_, select, update
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_tables import Base, ConversationRow, PatientText, TurnRow, in_utc, talking_to
from bot.errors import CallReason, CallRefused
from bot.ports import StoredTurn
from bot.staff.calls import FOR_PATIENTS, OPEN, Action, Call, CallKind, CallState, Deed, Tally


class CallRow(Base):
    """The call of one conversation; it goes with the conversation."""

    __tablename__ = "staff_calls"

    conversation: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    name: Mapped[str | None] = mapped_column(PatientText("staff_calls.name"))
    language: Mapped[str]
    opened: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    told: Mapped[int]
    held_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    shown: Mapped[int]  # the last action that a channel returned which shows each thing once
    taken_at: Mapped[int | None]


class ActionRow(Base):
    """One thing that somebody did about a call."""

    __tablename__ = "staff_actions"

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    name: Mapped[str | None] = mapped_column(PatientText("staff_actions.name"))
    what: Mapped[str]
    text: Mapped[str | None] = mapped_column(PatientText("staff_actions.text"))
    turn: Mapped[int]


def open_call(session: Session, turn: StoredTurn, kind: CallKind) -> None:
    """Add to a turn's transaction that it calls for a person; who has the call already is not lost."""
    at = turn.at.astimezone(UTC)
    row = session.get(CallRow, turn.conversation, with_for_update=True)
    if row is None:
        row = CallRow(conversation=turn.conversation, kind=kind, state="returned", told=0, shown=0)
        session.add(row)
    if row.state == "returned":
        row.opened, row.state, row.name, row.taken_at = at, "waiting", None, None
    if row.since is None:
        row.since, row.kind, row.told, row.held_until = at, kind, 0, None
        if row.state == "acknowledged":  # of an earlier turn
            row.state, row.name = "waiting", None
    elif kind == "urgent" and row.kind != "urgent":
        row.kind, row.told, row.held_until = kind, 0, None  # whoever was told that it is less is told again
    row.language = turn.language


class SqlCalls:
    """Fulfils `bot.staff.calls.Calls`. Every write is committed before it returns."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def call(self, conversation: str) -> Call | None:
        with talking_to(self._engine) as session:
            row = session.get(CallRow, conversation)
            return _call(row) if row is not None else None

    def open(self) -> list[Call]:
        wanted = select(CallRow).where(CallRow.state.in_(OPEN))
        order = (CallRow.since.is_(None), CallRow.since, CallRow.opened, CallRow.conversation)
        with talking_to(self._engine) as session:
            return [_call(row) for row in session.scalars(wanted.order_by(*order))]

    def actions(self, conversation: str, *, after: int = 0) -> list[Action]:
        wanted = select(ActionRow).where(ActionRow.conversation == conversation, ActionRow.id > after)
        with talking_to(self._engine) as session:
            return [_action(row) for row in session.scalars(wanted.order_by(ActionRow.id))]

    def acknowledge(self, conversation: str, name: str, *, at: datetime) -> Call:
        with talking_to(self._engine) as session:
            # Of a call that is taken, the name stays: it is still that person who writes.
            seen = {**_SEEN, "name": name, "state": "acknowledged"}
            done = self._change(session, conversation, [CallRow.state == "waiting"], seen) or self._change(
                session, conversation, [CallRow.state == "taken", CallRow.since.is_not(None)], _SEEN
            )
            return self._did(session, conversation, "acknowledge", done, at=at, name=name)

    def take(self, conversation: str, name: str, *, at: datetime) -> Call:
        with talking_to(self._engine) as session:
            free = [CallRow.state.in_(("waiting", "acknowledged"))]
            taken = {**_SEEN, "name": name, "state": "taken", "taken_at": _last_turn(conversation)}
            done = self._change(session, conversation, free, taken)
            return self._did(session, conversation, "take", done, at=at, name=name)

    def write(self, conversation: str, text: str, *, at: datetime) -> Call:
        with talking_to(self._engine) as session:
            done = self._change(session, conversation, [CallRow.state == "taken"], _SEEN)
            return self._did(session, conversation, "message", done, at=at, text=text)

    def hand_back(self, conversation: str, *, at: datetime) -> Call:
        back = {"state": "returned", "held_until": None}
        with talking_to(self._engine) as session:
            seen = CallRow.since.is_(None)
            if self._change(session, conversation, [CallRow.state == "taken", seen], back):
                return self._did(session, conversation, "return", True, at=at)
            done = self._change(session, conversation, [CallRow.state == "acknowledged"], back)
            return self._did(session, conversation, "close", done, at=at)

    def not_shown(self, conversation: str) -> list[Action]:
        with talking_to(self._engine) as session:
            row = session.get(CallRow, conversation, with_for_update=True)
            if row is None:
                return []
            wanted = select(ActionRow).where(ActionRow.conversation == conversation, ActionRow.id > row.shown)
            found = [_action(each) for each in session.scalars(wanted.order_by(ActionRow.id))]
            if found:
                row.shown = found[-1].number
                session.commit()
            return [action for action in found if action.what in FOR_PATIENTS]

    def unacknowledged(self, *, at: datetime) -> list[Call]:
        wanted = select(CallRow).where(CallRow.since.is_not(None), _free(at)).order_by(CallRow.since)
        with talking_to(self._engine) as session:
            return [_call(row) for row in session.scalars(wanted)]

    def hold(self, call: Call, *, at: datetime, until: datetime) -> bool:
        with talking_to(self._engine) as session:
            held = self._change(session, call.conversation, [*_as_it_was(call), _free(at)], {"held_until": _utc(until)})
            session.commit()
            return held

    def release(self, call: Call, *, until: datetime) -> None:
        with talking_to(self._engine) as session:
            self._change(session, call.conversation, _as_it_was(call), {"held_until": _utc(until)})
            session.commit()

    def note(self, call: Call, *, what: Deed, at: datetime) -> None:
        with talking_to(self._engine) as session:
            told = {"told": call.told + 1, "held_until": None}
            self._change(session, call.conversation, _as_it_was(call), told)
            if session.get(ConversationRow, call.conversation) is None:
                return  # it was erased meanwhile
            self._add(session, call.conversation, what, at=at, name=f"contact {call.told + 1}")
            session.commit()

    def tally(self) -> Tally:
        counted = select(CallRow.state, func.count()).group_by(CallRow.state)
        with talking_to(self._engine) as session:
            by_state: dict[CallState, int] = {state: number for state, number in session.execute(counted)}  # type: ignore[misc]  # noqa: C416
            oldest = session.scalar(select(func.min(CallRow.since)))
            return Tally(by_state, in_utc(oldest) if oldest is not None else None)

    def _change(
        self, session: Session, conversation: str, where: Sequence[ColumnElement[bool]], values: Mapping[str, Any]
    ) -> bool:
        """Change a call if it stands so; the condition is checked again where it is written."""
        own = update(CallRow).where(CallRow.conversation == conversation, *where).values(**values)
        done = session.execute(own, execution_options={"synchronize_session": False})
        return isinstance(done, CursorResult) and done.rowcount == 1

    def _did(  # noqa: PLR0913 - what was done, by whom
        self,
        session: Session,
        conversation: str,
        what: Deed,
        done: bool,
        *,
        at: datetime,
        name: str = "",
        text: str = "",
    ) -> Call:
        """Store who did what, with what it changed; raise CallRefused where it changed nothing."""
        row = session.get(CallRow, conversation)
        if not done or row is None:
            raise CallRefused(_reason(row, what))
        self._add(session, conversation, what, at=at, name=name or row.name or "", text=text)
        session.commit()
        return _call(row)

    def _add(  # noqa: PLR0913
        self, session: Session, conversation: str, what: Deed, *, at: datetime, name: str, text: str = ""
    ) -> None:
        turn = session.scalar(select(_last_turn(conversation))) or 0
        session.add(
            ActionRow(conversation=conversation, at=_utc(at), name=name, what=what, text=text or None, turn=turn)
        )


_SEEN: Mapping[str, Any] = {"since": None, "told": 0, "held_until": None}


def _reason(row: CallRow | None, what: Deed) -> CallReason:
    if row is None or row.state == "returned":
        return "none"
    if what == "message":
        return "not_taken"
    if what == "take":
        return "taken"
    return "acknowledged" if what == "acknowledge" else "unacknowledged"


def _last_turn(conversation: str) -> Any:
    """Select the number of the last turn."""
    newest = select(func.coalesce(func.max(TurnRow.number), 0)).where(TurnRow.conversation == conversation)
    return newest.scalar_subquery()


def _as_it_was(call: Call) -> list[ColumnElement[bool]]:
    since = _utc(call.since) if call.since is not None else None
    return [CallRow.since == since, CallRow.told == call.told]


def _free(at: datetime) -> ColumnElement[bool]:
    return or_(CallRow.held_until.is_(None), CallRow.held_until <= _utc(at))


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _call(row: CallRow) -> Call:
    return Call(
        conversation=row.conversation,
        kind=row.kind,  # type: ignore[arg-type]  # written by this module only
        state=row.state,  # type: ignore[arg-type]
        name=row.name or "",
        language=row.language,
        opened=in_utc(row.opened),
        since=in_utc(row.since) if row.since is not None else None,
        told=row.told,
        taken_at=row.taken_at,
    )


def _action(row: ActionRow) -> Action:
    return Action(
        number=row.id,
        at=in_utc(row.at),
        name=row.name or "",
        what=row.what,  # type: ignore[arg-type]  # written by this module only
        text=row.text or "",
        turn=row.turn,
    )
