"""The trail of staff's acts in the SQL database, where the database itself refuses to change or delete it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

from sqlalchemy import Text, event, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_tables import Base, talking_to
from bot.editorial.acts import Act
from bot.errors import KlartextError

AT_ONCE = 500
HEAD = "head of acts"
log = logging.getLogger("klartext")
# Is told the number and the hash of the last act, and who did it, after each transaction that added some.
TellHead = Callable[[int, str, str], None]
_listeners: WeakKeyDictionary[Engine, TellHead] = WeakKeyDictionary()


class HeadRow(Base):
    """How many acts there are, and the hash of the last: whoever adds one waits here for the others."""

    __tablename__ = "staff_acts_head"

    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int]
    hash: Mapped[str]


class ActRow(Base):
    """One act."""

    __tablename__ = "staff_acts"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[str]  # as it was hashed
    by: Mapped[str] = mapped_column(index=True)
    action: Mapped[str]
    what: Mapped[str] = mapped_column(index=True)
    before: Mapped[str] = mapped_column(Text)
    after: Mapped[str] = mapped_column(Text)
    request_id: Mapped[str]
    hash: Mapped[str]


def tell_heads(engine: Engine, tell: TellHead) -> None:
    """Have the end of the trail told after each change; what `tell` cannot write is told with the next one."""
    _listeners[engine] = tell


def _tell(session: Session) -> None:
    head, tell = session.info.pop(HEAD, None), _listeners.get(session.get_bind().engine)
    if head is None or tell is None:
        return
    try:
        tell(*head)
    except KlartextError as error:  # what it tells of is done
        log.error("the end of the trail was not noted", extra={"fields": {"act": head[0], "reason": str(error)}})


def add_act(session: Session, act: Act) -> None:
    """Add an act to the transaction of what it did."""
    if HEAD not in session.info:
        event.listen(session, "after_commit", _tell)
    # A write first: it takes the lock, so that what is read next is the last act.
    raised = update(HeadRow).values(number=HeadRow.number + 1).returning(HeadRow.number, HeadRow.hash)
    number, previous = session.execute(raised).one()
    hashed = act.hashed(previous)
    session.execute(update(HeadRow).values(hash=hashed))
    session.info[HEAD] = (number, hashed, act.by)
    session.add(
        ActRow(
            number=number,
            at=act.at.isoformat(),
            by=act.by,
            action=act.action,
            what=act.what,
            before=json.dumps(dict(act.before), ensure_ascii=False),
            after=json.dumps(dict(act.after), ensure_ascii=False),
            request_id=act.request_id,
            hash=hashed,
        )
    )


@dataclass(frozen=True, slots=True)
class SqlActs:
    """Fulfils `bot.editorial.acts.Acts`."""

    engine: Engine

    def note(self, *acts: Act) -> None:
        with talking_to(self.engine) as session:
            for act in acts:
                add_act(session, act)
            session.commit()

    def read(self, *, what: str = "", by: str = "", before: int | None = None, most: int = 100) -> list[Act]:
        wanted = select(ActRow).order_by(ActRow.number.desc()).limit(most)
        if what:
            wanted = wanted.where(ActRow.what == what)
        if by:
            wanted = wanted.where(ActRow.by == by)
        if before is not None:
            wanted = wanted.where(ActRow.number < before)
        with talking_to(self.engine) as session:
            return [_act(row) for row in session.scalars(wanted)]

    def all(self) -> Iterator[Act]:
        after = 0
        while True:
            with talking_to(self.engine) as session:
                wanted = select(ActRow).where(ActRow.number > after).order_by(ActRow.number).limit(AT_ONCE)
                found = [_act(row) for row in session.scalars(wanted)]
            yield from found
            if len(found) < AT_ONCE:
                return
            after = found[-1].number

    def head(self) -> tuple[int, str]:
        """Return how many acts there are, and the hash of the last: whoever cuts off the end is found out by it."""
        with talking_to(self.engine) as session:
            row = session.execute(select(HeadRow.number, HeadRow.hash)).first()
            return (int(row[0]), str(row[1])) if row is not None else (-1, "")  # somebody took it out


def _act(row: ActRow) -> Act:
    act = Act(datetime.fromisoformat(row.at), row.by, row.action, row.what, request_id=row.request_id)
    stored = {"before": json.loads(row.before), "after": json.loads(row.after)}
    return replace(act, **stored, number=row.number, hash=row.hash)
