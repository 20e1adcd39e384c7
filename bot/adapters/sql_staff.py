"""Calls for staff in the database of the conversations, and what staff did about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, DateTime, ForeignKey, Select, and_, case, exists, func, null, or_, select, update
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, mapped_column

from bot.adapters.sql_acts import add_act
from bot.adapters.sql_tables import Base, ConversationRow, PatientText, TurnRow, in_utc, talking_to
from bot.editorial.acts import Act
from bot.errors import CallReason, CallRefused
from bot.outbox_ports import pseudonym
from bot.ports import StoredTurn
from bot.staff.calls import (
    FOR_PATIENTS,
    OPEN,
    PRESSING,
    Action,
    Call,
    CallState,
    Deed,
    Deleted,
    Outcome,
    Pressing,
    Stir,
    Tally,
)

# Channels that a patient ends by giving up the secret; others have none.
WITH_SECRET = ("page", "api")


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
    pressing: Mapped[str]
    rings: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    unanswered: Mapped[int]
    hands: Mapped[int]  # how often somebody has taken it: names may be encrypted, and cannot be compared here


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


class DeletedRow(Base):
    """What stays of a call that was open when the patient deleted the conversation."""

    __tablename__ = "staff_deleted"

    pseudonym: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    told: Mapped[bool]  # or nobody has to be told
    held_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


def stir_call(session: Session, turn: StoredTurn, stir: Stir) -> None:
    """Add to a turn's transaction what it means to staff; who has the call already is not lost."""
    at = turn.at.astimezone(UTC)
    row = session.get(CallRow, turn.conversation, with_for_update=True)
    if stir in ("message", "language"):
        if row is None or row.state not in OPEN:
            return  # it was handed back meanwhile
        row.language = turn.language
        if stir == "message" and row.state == "taken":
            row.unanswered += 1
            _press(row, "message", at)
        return
    if row is None:
        row = CallRow(conversation=turn.conversation, kind=stir, state="returned", shown=0, hands=0, **_SEEN)
        session.add(row)
    if row.state == "returned":
        row.opened, row.state, row.name, row.taken_at, row.kind = at, "waiting", None, None, stir
    elif stir == "urgent":
        row.kind = stir  # and stays so, whatever is asked later
    if row.state == "acknowledged":  # what came before
        row.state, row.name = "waiting", None
    elif row.state == "taken":
        row.unanswered += 1
    _press(row, "urgent" if stir == "urgent" else "asked", at)
    row.language = turn.language


def _press(row: CallRow, pressing: Pressing, at: datetime) -> None:
    """Let a turn wait; whoever was told that it is less is told again."""
    row.since = row.since or at
    if PRESSING.index(pressing) > PRESSING.index(_pressing(row)):
        row.pressing, row.rings, row.told, row.held_until = pressing, at, 0, None


def note_deleted(session: Session, conversation: str, *, at: datetime) -> Deleted | None:
    """Add to the transaction that erases a conversation what stays of its call; None where none is open."""
    row = session.get(CallRow, conversation, with_for_update=True, populate_existing=True)
    if row is None or row.state not in OPEN:
        return None
    # The patient may have begun anew under the same id, on a channel that has no secrets.
    known = session.get(DeletedRow, pseudonym(conversation))
    gone = known or DeletedRow(pseudonym=pseudonym(conversation))
    unseen = row.kind == "urgent" and row.since is not None
    gone.kind, gone.at, gone.since, gone.told, gone.held_until = row.kind, _utc(at), row.since, not unseen, None
    session.add(gone)
    return _deleted(gone)


def let_go(
    session: Session,
    name: str,
    *,
    at: datetime,
    conversation: str = "",
    request_id: Callable[[], str] | None = None,
) -> list[str]:
    """Add to a transaction that what somebody has taken waits for anybody again, and return the conversations."""
    wanted = select(CallRow).where(CallRow.state == "taken")
    if conversation:
        wanted = wanted.where(CallRow.conversation == conversation)
    rows = [row for row in session.scalars(wanted.with_for_update()) if _is_name(row, name)]
    for row in rows:
        row.state, row.name, row.since = "waiting", None, row.since or _utc(at)
        row.pressing = "urgent" if row.kind == "urgent" else "asked"
        row.rings, row.told, row.held_until = _utc(at), 0, None  # the contacts hear of it anew
        _add_action(session, row.conversation, "away", at=at, name=name)
        if request_id is not None:
            about = f"conversation {pseudonym(row.conversation)}"
            after = {"state": row.state}
            add_act(session, Act(_utc(at), name, "away", about, {"name": name}, after, request_id()))
    return [row.conversation for row in rows]


class SqlCalls:
    """Fulfils `bot.staff.calls.Calls`. Every write is committed before it returns."""

    def __init__(self, engine: Engine, request_id: Callable[[], str] | None = None) -> None:
        """`request_id`: where names are of people who have logged in. What they do then goes into the trail, too."""
        self._engine = engine
        self._request_id = request_id

    def call(self, conversation: str) -> Call | None:
        with talking_to(self._engine) as session:
            return next(iter(_found(session, _wanted().where(CallRow.conversation == conversation))), None)

    def open(self) -> list[Call]:
        urgent = CallRow.kind == "urgent"
        # Of who has left, nobody hears any more whether they were helped: it waits until somebody says so.
        waits = or_(CallRow.state == "waiting", CallRow.pressing == "urgent", _HAS_LEFT)
        rank = case((and_(urgent, waits), 0), (urgent, 1), else_=2)
        order = (rank, CallRow.since.is_(None), CallRow.since, CallRow.opened, CallRow.conversation)
        with talking_to(self._engine) as session:
            return _found(session, _wanted().where(CallRow.state.in_(OPEN)).order_by(*order))

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

    def take(self, conversation: str, name: str, *, at: datetime, from_: str = "") -> Call:
        with talking_to(self._engine) as session:
            row = session.get(CallRow, conversation)
            taken = {"name": name, "state": "taken", "taken_at": _last_turn(conversation), "hands": CallRow.hands + 1}
            if from_ and row is not None and row.state == "taken":
                if not _is_name(row, from_):
                    raise CallRefused("taken", row.name or "")
                mine = [CallRow.state == "taken", CallRow.hands == row.hands]
                done = self._change(session, conversation, mine, {**_unanswered(at), **taken})
            else:
                free = [CallRow.state.in_(("waiting", "acknowledged"))]
                done = self._change(session, conversation, free, {**_SEEN, **taken})
            return self._did(session, conversation, "take", done, at=at, name=name, from_=from_)

    def write(self, conversation: str, name: str, text: str, *, at: datetime) -> Call:
        with talking_to(self._engine) as session:
            holder = self._holder(session, conversation, name, "message")
            if _left(session, conversation):
                raise CallRefused("left")
            done = self._change(session, conversation, _held_by(holder), _SEEN)
            return self._did(session, conversation, "message", done, at=at, name=holder.name or name, text=text)

    def hand_back(
        self,
        conversation: str,
        name: str,
        *,
        at: datetime,
        left_open: int | None = None,
        outcome: Outcome | None = None,
    ) -> Call:
        back = {**_SEEN, "state": "returned"}
        with talking_to(self._engine) as session:
            row = session.get(CallRow, conversation)
            if row is not None and row.state == "taken":
                holder = self._holder(session, conversation, name, "return")
                seen = [*_held_by(holder), CallRow.pressing != "urgent"]
                if holder.pressing != "urgent" and left_open is not None and holder.unanswered > left_open:
                    raise CallRefused("unanswered")
                known = [CallRow.unanswered <= left_open] if left_open is not None else []
                done = self._change(session, conversation, [*seen, *known], back)
                by = holder.name or name
                return self._did(session, conversation, "return", done, at=at, name=by, text=outcome or "")
            done = self._change(session, conversation, [CallRow.state == "acknowledged"], back)
            return self._did(session, conversation, "close", done, at=at, name=name, text=outcome or "")

    def closed(self, *, since: datetime, most: int) -> list[tuple[Call, Action]]:
        newest = select(func.max(ActionRow.id)).where(ActionRow.what.in_(_CLOSING)).group_by(ActionRow.conversation)
        wanted = (
            select(CallRow, _HAS_LEFT, ConversationRow.exam, ActionRow)
            .join(ConversationRow, ConversationRow.id == CallRow.conversation)
            .join(ActionRow, ActionRow.conversation == CallRow.conversation)
            .where(CallRow.state == "returned", ActionRow.id.in_(newest), ActionRow.at >= _utc(since))
        )
        with talking_to(self._engine) as session:
            found = session.execute(wanted.order_by(ActionRow.id.desc()).limit(most))
            return [
                (_call(row, left=bool(left), seen_to=True, exam=exam), _action(action))
                for row, left, exam, action in found
            ]

    def reopen(self, conversation: str, name: str, *, at: datetime) -> Call:
        with talking_to(self._engine) as session:
            again = {**_SEEN, "state": "acknowledged", "name": name}
            done = self._change(session, conversation, [CallRow.state == "returned"], again)
            return self._did(session, conversation, "reopen", done, at=at, name=name)

    def let_go(self, name: str, *, at: datetime, conversation: str = "") -> list[str]:
        with talking_to(self._engine) as session:
            found = let_go(session, name, at=at, conversation=conversation, request_id=self._request_id)
            session.commit()
            return found

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
        waits = [CallRow.since.is_not(None), CallRow.state.in_(OPEN), _free(CallRow.held_until, at)]
        with talking_to(self._engine) as session:
            return _found(session, _wanted().where(*waits).order_by(CallRow.since))

    def hold(self, call: Call, *, at: datetime, until: datetime) -> bool:
        with talking_to(self._engine) as session:
            free = [*_as_it_was(call), _free(CallRow.held_until, at)]
            held = self._change(session, call.conversation, free, {"held_until": _utc(until)})
            session.commit()
            return held

    def release(self, call: Call, *, until: datetime) -> None:
        with talking_to(self._engine) as session:
            self._change(session, call.conversation, _as_it_was(call), {"held_until": _utc(until)})
            session.commit()

    def note(self, call: Call, *, what: Deed, at: datetime, told: int, contact: int) -> None:
        with talking_to(self._engine) as session:
            self._change(session, call.conversation, _as_it_was(call), {"told": told, "held_until": None})
            if session.get(ConversationRow, call.conversation) is None:
                return  # it was erased meanwhile
            _add_action(session, call.conversation, what, at=at, name=f"contact {contact}")
            session.commit()

    def deleted(self, *, at: datetime) -> list[Deleted]:
        waits = [DeletedRow.told.is_(False), _free(DeletedRow.held_until, at)]
        with talking_to(self._engine) as session:
            return [_deleted(row) for row in session.scalars(select(DeletedRow).where(*waits).order_by(DeletedRow.at))]

    def hold_deleted(self, deleted: Deleted, *, at: datetime, until: datetime) -> bool:
        free = [_free(DeletedRow.held_until, at), DeletedRow.told.is_(False)]
        return self._change_deleted(deleted, free, {"held_until": _utc(until)})

    def note_deleted(self, deleted: Deleted) -> None:
        self._change_deleted(deleted, [], {"told": True})

    def was_deleted(self, conversation: str) -> bool:
        with talking_to(self._engine) as session:
            return _was_deleted(session, conversation)

    def tally(self) -> Tally:
        counted = select(CallRow.state, func.count()).group_by(CallRow.state)
        with talking_to(self._engine) as session:
            by_state: dict[CallState, int] = {state: number for state, number in session.execute(counted)}  # type: ignore[misc]  # noqa: C416
            oldest = session.scalar(select(func.min(CallRow.since)))
            unseen = select(func.count()).where(DeletedRow.kind == "urgent", DeletedRow.since.is_not(None))
            return Tally(by_state, in_utc(oldest) if oldest is not None else None, session.scalar(unseen) or 0)

    def _holder(self, session: Session, conversation: str, name: str, what: Deed) -> CallRow:
        """Return the call that somebody has taken; raise CallRefused to everybody else."""
        row = session.get(CallRow, conversation)
        if row is None or row.state != "taken":
            raise CallRefused(_reason(session, conversation, row, what))
        if not _is_name(row, name):
            raise CallRefused("taken", row.name or "")
        return row

    def _change_deleted(
        self, deleted: Deleted, where: Sequence[ColumnElement[bool]], values: Mapping[str, Any]
    ) -> bool:
        own = update(DeletedRow).where(DeletedRow.pseudonym == deleted.pseudonym, *where).values(**values)
        with talking_to(self._engine) as session:
            done = session.execute(own, execution_options={"synchronize_session": False})
            session.commit()
            return isinstance(done, CursorResult) and done.rowcount == 1

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
        name: str,
        text: str = "",
        from_: str = "",
    ) -> Call:
        """Store who did what, with what it changed; raise CallRefused where it changed nothing."""
        row = session.get(CallRow, conversation, populate_existing=True)
        if not done or row is None:
            named = row.name or "" if row is not None and row.state == "taken" else ""
            raise CallRefused(_reason(session, conversation, row, what), named)
        _add_action(session, conversation, what, at=at, name=name, text=text)
        if self._request_id is not None:
            before = {"name": from_} if from_ else {}
            about = f"conversation {pseudonym(conversation)}"
            add_act(session, Act(_utc(at), name, what, about, before, {"state": row.state}, self._request_id()))
        of = select(_HAS_LEFT, ConversationRow.exam).where(ConversationRow.id == conversation)
        left, exam = session.execute(of).one()
        session.commit()
        return _call(row, left=bool(left), seen_to=True, exam=exam)


def _add_action(  # noqa: PLR0913 - what was done, by whom
    session: Session, conversation: str, what: Deed, *, at: datetime, name: str, text: str = ""
) -> None:
    turn = session.scalar(select(_last_turn(conversation))) or 0
    session.add(ActionRow(conversation=conversation, at=_utc(at), name=name, what=what, text=text or None, turn=turn))


_SEEN: Mapping[str, Any] = {
    **{"since": None, "rings": None, "held_until": None},
    **{"pressing": "", "told": 0, "unanswered": 0},
}


def _unanswered(at: datetime) -> Mapping[str, Any]:
    """Return what still waits when somebody goes on in another's place: what nobody has answered, counted anew."""
    waits = CallRow.unanswered > 0
    return {
        "since": case((waits, CallRow.since), else_=null()),
        "rings": case((waits, _utc(at)), else_=null()),
        "pressing": case((waits, "message"), else_=""),
        **{"told": 0, "held_until": None},
    }


def _reason(session: Session, conversation: str, row: CallRow | None, what: Deed) -> CallReason:
    if row is None:
        return "deleted" if _was_deleted(session, conversation) else "none"
    if row.state == "returned":
        return "none"
    if what == "take":
        return "taken"
    if what == "message":
        return "not_taken"
    if what == "return" and row.pressing != "urgent":
        return "unanswered"  # one came in between
    return "acknowledged" if what == "acknowledge" else "unacknowledged"


def _is_name(row: CallRow, name: str) -> bool:
    return (row.name or "").casefold() == name.casefold()


def _held_by(holder: CallRow) -> list[ColumnElement[bool]]:
    return [CallRow.state == "taken", CallRow.hands == holder.hands]


def _was_deleted(session: Session, conversation: str) -> bool:
    return session.get(DeletedRow, pseudonym(conversation)) is not None


_HAS_LEFT = and_(ConversationRow.channel.in_(WITH_SECRET), ConversationRow.secret_hash.is_(None))


def _left(session: Session, conversation: str) -> bool:
    return bool(session.scalar(select(_HAS_LEFT).where(ConversationRow.id == conversation)))


_CLOSING: tuple[Deed, ...] = ("return", "close")
_SEEN_TO: tuple[Deed, ...] = ("acknowledge", "take", "return", "close")
_WAS_SEEN_TO = exists().where(ActionRow.conversation == CallRow.conversation, ActionRow.what.in_(_SEEN_TO))


def _wanted() -> Select[CallRow, bool, bool, str | None]:
    """Select calls, whether the patient has left, whether somebody has seen to it, and the exam."""
    told = select(CallRow, _HAS_LEFT, _WAS_SEEN_TO, ConversationRow.exam)
    return told.join(ConversationRow, ConversationRow.id == CallRow.conversation)


def _found(session: Session, wanted: Select[CallRow, bool, bool, str | None]) -> list[Call]:
    found = session.execute(wanted)
    return [_call(row, left=bool(left), seen_to=bool(seen), exam=exam) for row, left, seen, exam in found]


def _last_turn(conversation: str) -> Any:
    """Select the number of the last turn."""
    newest = select(func.coalesce(func.max(TurnRow.number), 0)).where(TurnRow.conversation == conversation)
    return newest.scalar_subquery()


def _as_it_was(call: Call) -> list[ColumnElement[bool]]:
    since, rings = (_utc(at) if at is not None else None for at in (call.since, call.rings))
    return [CallRow.since == since, CallRow.rings == rings, CallRow.told == call.told]


def _free(held_until: InstrumentedAttribute[datetime | None], at: datetime) -> ColumnElement[bool]:
    return or_(held_until.is_(None), held_until <= _utc(at))


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _pressing(row: CallRow) -> Pressing:
    return row.pressing or ""  # type: ignore[return-value]  # written by this module only


def _deleted(row: DeletedRow) -> Deleted:
    since = in_utc(row.since) if row.since is not None else None
    return Deleted(row.pseudonym, row.kind, in_utc(row.at), since)  # type: ignore[arg-type]


def _call(row: CallRow, *, left: bool, seen_to: bool, exam: str | None) -> Call:
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
        pressing=_pressing(row),
        rings=in_utc(row.rings) if row.rings is not None else None,
        unanswered=row.unanswered,
        patient_left=left,
        again=seen_to and row.state == "waiting",
        exam=exam or "",
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
