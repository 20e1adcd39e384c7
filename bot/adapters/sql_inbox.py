"""The inbox of curators in the SQL database: an item lives as long as its turn does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    DateTime,
    ForeignKey,
    Select,
    and_,
    case,
    cast,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import Mapped, Session, aliased, mapped_column

from bot.adapters.sql_acts import add_act
from bot.adapters.sql_origins import OriginRow
from bot.adapters.sql_tables import Base, FlagRow, PatientText, TurnRow, answered_from, in_utc, talking_to
from bot.editorial.acts import Act
from bot.editorial.inbox import (
    MOST_MEMBERS,
    Asked,
    Decided,
    Decision,
    Group,
    Item,
    Kind,
    Lost,
    Page,
    Row,
    Sort,
    Sorted,
    Undone,
    Wanted,
)
from bot.editorial.people import Person
from bot.editorial.workbench import Origin
from bot.errors import AlreadyStored
from bot.outbox_ports import pseudonym

AT_ONCE = 500  # numbers in one statement: databases take some thousands at most
URGENT, DECLINED, CLARIFY = "urgent", "declined", "clarify"


class ItemRow(Base):
    """One item. When and in what language it was asked stands in its turn only: what goes there goes here."""

    __tablename__ = "inbox_items"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    turn: Mapped[int] = mapped_column(ForeignKey("turns.id", ondelete="CASCADE"), unique=True)
    kind: Mapped[str]
    text: Mapped[str] = mapped_column(PatientText("inbox_items.text"))
    cluster: Mapped[int] = mapped_column(index=True)
    place: Mapped[int]
    pair: Mapped[str]
    probability: Mapped[float]
    state: Mapped[str] = mapped_column(index=True)
    batch: Mapped[str] = mapped_column(index=True)
    by: Mapped[str]
    decided: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    target: Mapped[str]
    added: Mapped[str] = mapped_column(PatientText("inbox_items.added"))
    note: Mapped[str] = mapped_column(PatientText("inbox_items.note"))


@dataclass(frozen=True, slots=True)
class SqlInbox:
    """Fulfils `bot.editorial.inbox.Inbox`."""

    engine: Engine
    request_id: Callable[[], str] = field(default=lambda: "")

    def missing(self, *, before: datetime, most: int) -> list[Asked]:
        with talking_to(self.engine) as session:
            rows = session.execute(_missing(before.astimezone(UTC)).order_by(TurnRow.id).limit(most)).all()
            return [
                Asked(id_, lang, _kind(how, flag, state), said, catalog.partition("@")[0])
                for id_, lang, said, how, catalog, state, flag in rows
            ]

    def add(self, items: Sequence[tuple[Asked, str, Sorted]]) -> int:
        try:
            with talking_to(self.engine) as session:
                # Those whose conversation is being erased meanwhile are left out, not put back.
                wanted = select(TurnRow.id).where(TurnRow.id.in_([asked.turn for asked, _, _ in items]))
                there = set(session.scalars(wanted.with_for_update(key_share=True, read=True)))
                session.add_all(
                    ItemRow(
                        turn=asked.turn,
                        kind=asked.kind,
                        text=text,
                        cluster=belongs.cluster,
                        place=belongs.place,
                        pair=belongs.pair,
                        probability=belongs.probability,
                        **_OPEN,
                    )
                    for asked, text, belongs in items
                    if asked.turn in there
                )
                session.commit()
                return len(there)
        except AlreadyStored:
            return 0  # another process was faster

    def sort(self, places: Mapping[int, Sorted]) -> None:
        with talking_to(self.engine) as session:
            for id_, belongs in places.items():
                mine = update(ItemRow).where(ItemRow.id == id_)
                suggestion = {ItemRow.pair: belongs.pair, ItemRow.probability: belongs.probability}
                session.execute(
                    mine.values({ItemRow.cluster: belongs.cluster, ItemRow.place: belongs.place, **suggestion})
                )
            session.commit()

    def rows(self, wanted: Wanted) -> list[Row]:
        columns = (ItemRow.id, TurnRow.at, TurnRow.language, ItemRow.kind, ItemRow.cluster, ItemRow.place)
        found = select(*columns, ItemRow.probability).join(TurnRow, TurnRow.id == ItemRow.turn).where(*_of(wanted))
        with talking_to(self.engine) as session:
            rows = session.execute(found.order_by(ItemRow.id)).all()
        return [
            Row(id_, in_utc(at), language, kind, cluster, place, probability)  # type: ignore[arg-type]  # see `add`
            for id_, at, language, kind, cluster, place, probability in rows
        ]

    def page(self, wanted: Wanted, sort: Sort, *, most: int, skip: int) -> Page:
        count, sure = func.count().label("size"), func.max(ItemRow.probability)
        key, first = _KEY.label("key"), func.min(cast(ItemRow.place, BigInteger) * _FIRST + ItemRow.id)
        orders: dict[Sort, tuple[ColumnElement[Any], ...]] = {
            "size": (count.desc(), key),
            "newest": (func.max(TurnRow.at).desc(), key),
            "oldest": (func.min(TurnRow.at), key),
            "probability": (sure.desc(), count.desc(), key),
        }
        totals = (func.count().over(), func.sum(func.count()).over())
        found = select(key, first, count, *totals).where(*_of(wanted)).group_by(key)
        if (
            wanted.language or wanted.without or wanted.since is not None or sort in ("newest", "oldest")
        ):  # turns are large
            found = found.join(TurnRow, TurnRow.id == ItemRow.turn)
        # Statements that hold numbers are never met again: they would fill the cache of statements.
        cached = {"compiled_cache": None} if wanted.ids is not None else {}
        with talking_to(self.engine) as session:
            session.connection(execution_options=cached)
            # Whoever may be in danger is read first, whatever is sorted by.
            urgent = func.max(case((ItemRow.kind == "urgent", 1), else_=0)).desc()
            rows = session.execute(found.order_by(urgent, *orders[sort]).limit(most).offset(skip)).all()
            keys = [row[0] for row in rows]
            told = select(key, ItemRow.kind, count, func.max(TurnRow.at)).join(TurnRow, TurnRow.id == ItemRow.turn)
            of_these = [*_of(wanted), or_(ItemRow.cluster.in_(keys), and_(ItemRow.cluster == 0, _KEY.in_(keys)))]
            kinds: dict[int, dict[Kind, int]] = {each: {} for each in keys}
            newest: dict[int, datetime] = {}
            for cluster, kind, many, at in session.execute(told.where(*of_these).group_by(key, ItemRow.kind)):
                kinds[cluster][kind] = many
                newest[cluster] = max(newest.get(cluster, in_utc(at)), in_utc(at))
            best, members = _members(session, of_these)
        groups = tuple(
            Group(cluster, number % _FIRST, size, newest[cluster], kinds[cluster], *best[cluster], members[cluster])
            for cluster, number, size, *_ in rows
            if cluster in newest and cluster in best  # not erased in between
        )
        return Page(groups, rows[0][3], int(rows[0][4])) if rows else Page()

    def items(self, ids: Sequence[int]) -> list[Item]:
        found: dict[int, Item] = {}
        with talking_to(self.engine) as session:
            for start in range(0, len(ids), AT_ONCE):
                wanted = _whole().where(ItemRow.id.in_(ids[start : start + AT_ONCE]))
                found |= {row.id: _item(row, at, spoken, of) for row, at, spoken, of in session.execute(wanted)}
        return [found[id_] for id_ in ids if id_ in found]

    def count(self) -> int:
        with talking_to(self.engine) as session:
            return session.scalar(select(func.count()).select_from(ItemRow)) or 0

    def numbers(self) -> frozenset[int]:
        with talking_to(self.engine) as session:
            return frozenset(session.scalars(select(ItemRow.id)))

    def texts(self, *, after: int = 0) -> dict[int, str]:
        with talking_to(self.engine) as session:
            rows = session.execute(select(ItemRow.id, ItemRow.text).where(ItemRow.id > after))
            return {id_: text for id_, text in rows}  # noqa: C416  # rows are no pairs to mypy

    def representatives(self) -> list[Item]:
        first = select(ItemRow.cluster, func.min(ItemRow.place).label("place")).where(ItemRow.cluster > 0)
        best = first.group_by(ItemRow.cluster).subquery()
        same = and_(ItemRow.cluster == best.c.cluster, ItemRow.place == best.c.place)
        with talking_to(self.engine) as session:
            rows = session.execute(_whole().join(best, same).order_by(ItemRow.id.desc()))
            by_cluster = {row.cluster: _item(row, at, spoken, of) for row, at, spoken, of in rows}
        return [by_cluster[cluster] for cluster in sorted(by_cluster)]

    def unsorted(self) -> int:
        with talking_to(self.engine) as session:
            return session.scalar(select(func.count()).select_from(ItemRow).where(ItemRow.cluster == 0)) or 0

    def open(self) -> int:
        with talking_to(self.engine) as session:
            return session.scalar(select(func.count()).select_from(ItemRow).where(ItemRow.state == "open")) or 0

    def decide(self, decision: Decision, *, by: Person, now: datetime) -> None:
        values = {"state": decision.state, "batch": decision.batch, "by": by.name, "decided": now.astimezone(UTC)}
        values |= {"target": decision.target, "note": decision.note}
        with talking_to(self.engine) as session:
            for id_ in decision.items:
                mine = update(ItemRow).where(ItemRow.id == id_, ItemRow.state == "open")
                done = session.execute(mine.values(**values, added=decision.added.get(id_, "")))
                if isinstance(done, CursorResult) and done.rowcount == 0:
                    raise Decided
            after = {"items": sorted(decision.items), "batch": decision.batch}
            after |= {"pair": decision.target} if decision.target else {}
            act = Act(now, by.name, decision.state, "inbox", after=after, request_id=self.request_id())
            add_act(session, act)
            session.commit()

    def passed_on(self) -> list[Item]:
        wanted = _whole().where(ItemRow.state == "staff").order_by(ItemRow.decided.desc(), ItemRow.id)
        with talking_to(self.engine) as session:
            return [_item(row, at, spoken, of) for row, at, spoken, of in session.execute(wanted)]

    def answer(self, id_: int, said: str, *, done: bool, by: Person, now: datetime) -> bool:
        with talking_to(self.engine) as session:
            row = session.get(ItemRow, id_, with_for_update=True)
            if row is None or row.state != "staff":
                return False
            if said:
                row.note = f"{row.note}\n{by.name}, {now:%d.%m.%Y %H:%M}: {said}".strip()
            if done:
                row.state = "done"
            action = "done" if done else "answer"
            after = {"items": [id_], "batch": row.batch}
            add_act(session, Act(now, by.name, action, "inbox", after=after, request_id=self.request_id()))
            session.commit()
            return True

    def last_batch(self, by: str) -> str:
        wanted = select(ItemRow.batch).where(ItemRow.by == by, ItemRow.state != "open")
        with talking_to(self.engine) as session:
            return session.scalar(wanted.order_by(ItemRow.decided.desc(), ItemRow.id.desc()).limit(1)) or ""

    def undo(self, batch: str, *, by: Person, now: datetime) -> Undone | None:
        mine = ItemRow.batch == batch
        with talking_to(self.engine) as session:
            rows = session.execute(_whole().where(mine, ItemRow.state != "open").order_by(ItemRow.id)).all()
            if not rows or not batch:
                return None
            first: ItemRow = rows[0][0]
            items, added = tuple(row.id for row, *_ in rows), tuple(row.added for row, *_ in rows if row.added)
            undone = Undone(first.state, first.target, rows[0][2], items, added)  # type: ignore[arg-type]  # as above
            session.execute(update(ItemRow).where(mine).values(decided=None, **_OPEN))
            before = {"state": undone.state, "items": list(items), "batch": batch}
            add_act(session, Act(now, by.name, "undo", "inbox", before=before, request_id=self.request_id()))
            session.commit()
            return undone

    def pseudonyms(self, ids: Sequence[int]) -> dict[int, str]:
        wanted = select(ItemRow.id, TurnRow.conversation).join(TurnRow, TurnRow.id == ItemRow.turn)
        with talking_to(self.engine) as session:
            rows = session.execute(wanted.where(ItemRow.id.in_(ids), TurnRow.conversation != "")).all()
            return {id_: pseudonym(conversation) for id_, conversation in rows}

    def lost(self) -> list[Lost]:
        wanted = select(OriginRow).where(OriginRow.gone.is_not(None), OriginRow.kept_by == "").order_by(OriginRow.id)
        with talking_to(self.engine) as session:
            return [_lost(row) for row in session.scalars(wanted)]

    def keep(self, id_: int, *, by: Person, now: datetime) -> None:
        with talking_to(self.engine) as session:
            row = session.get(OriginRow, id_, with_for_update=True)
            if row is None or row.gone is None or row.kept_by:
                return
            row.kept_by = by.name
            what = f"pair {row.pair} {row.language}"
            add_act(session, Act(now, by.name, "keep", what, after={"text": row.text}, request_id=self.request_id()))
            session.commit()


def _members(
    session: Session, of_these: Sequence[ColumnElement[bool]]
) -> tuple[dict[int, tuple[str, float]], dict[int, tuple[int, ...]]]:
    """Return of each group the pair that fits one of its items best, with how well, and the first of its items."""
    place = func.row_number().over(partition_by=_KEY, order_by=(ItemRow.place, ItemRow.id)).label("place")
    surest = (
        func.row_number().over(partition_by=_KEY, order_by=(ItemRow.probability.desc(), ItemRow.id)).label("surest")
    )
    columns = (_KEY.label("key"), ItemRow.id.label("id"), ItemRow.pair, ItemRow.probability, place, surest)
    each = select(*columns).join(TurnRow, TurnRow.id == ItemRow.turn).where(*of_these).subquery()
    few = select(each).where(or_(each.c.place <= MOST_MEMBERS + 1, each.c.surest == 1)).order_by(each.c.place)
    best: dict[int, tuple[str, float]] = {}
    members: dict[int, tuple[int, ...]] = {}
    for row in session.execute(few):
        if row.surest == 1:
            best[row.key] = (row.pair, row.probability)
        members.setdefault(row.key, ())
        if 1 < row.place <= MOST_MEMBERS + 1:
            members[row.key] += (row.id,)
    return best, members


# What is in no cluster stands for itself.
_KEY = case((ItemRow.cluster == 0, -ItemRow.id), else_=ItemRow.cluster)
_FIRST = 10**11  # larger than any number: the smallest of place and number together is the representative
_OPEN = {"state": "open", "batch": "", "by": "", "target": "", "added": "", "note": ""}


def _missing(before: datetime) -> Select[int, str, str, str, str, str | None, str | None]:
    """Select turns that wait for curators and have no item: their texts, and what they are judged by."""
    following = aliased(TurnRow)
    same = following.conversation == TurnRow.conversation
    taken_up = exists().where(same, following.number == TurnRow.number + 1, following.decision == "answered")
    gone_on = exists().where(same, following.number > TurnRow.number)
    abandoned = and_(TurnRow.decision == CLARIFY, ~taken_up, or_(gone_on, TurnRow.at < before))
    complaint = select(func.max(FlagRow.reason)).where(FlagRow.turn_id == TurnRow.id)
    flag = complaint.where(FlagRow.reason.in_(("wrong", "complicated"))).scalar_subquery()
    known = exists().where(ItemRow.turn == TurnRow.id)
    # A flag may come long after its turn: nothing but the item itself says that a turn was seen.
    waits = or_(TurnRow.decision.in_((DECLINED, URGENT)), abandoned, flag.is_not(None))
    state = case((TurnRow.decision == DECLINED, TurnRow.state), else_=None)
    columns = (TurnRow.id, TurnRow.language, TurnRow.question, TurnRow.decision, TurnRow.catalog)
    return select(*columns, state.label("state"), flag.label("flag")).where(waits, ~known)


def _kind(decision: str, flag: str | None, state: str | None) -> Kind:
    if decision == URGENT:
        return "urgent"
    if _complains(state):
        return "complaint"
    if flag in ("wrong", "complicated"):
        return "wrong" if flag == "wrong" else "complicated"
    return "asked back" if decision == CLARIFY else "unanswered"


def _complains(state: str | None) -> bool:
    """Say whether a patient was told how soon to ask somebody about a complaint."""
    try:
        return bool(state) and bool(json.loads(state or "{}").get("complaint"))
    except (ValueError, AttributeError):
        return False  # of another version


def _of(wanted: Wanted) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.kind:
        conditions.append(ItemRow.kind == wanted.kind)
    if wanted.language:
        conditions.append(TurnRow.language == wanted.language)
    if wanted.state:
        conditions.append(ItemRow.state == wanted.state)
    if wanted.since is not None:
        conditions.append(TurnRow.at >= wanted.since.astimezone(UTC))
    conditions += [~answered_from(exam) for exam in sorted(wanted.without)]
    if wanted.ids is not None:
        # Written into the statement: they are our numbers, and binding thousands takes longer than finding them.
        numbers = ", ".join(map(str, sorted(wanted.ids))) or "NULL"
        among: ColumnElement[bool] = literal_column(f"inbox_items.id IN ({numbers})", Boolean())
        about = or_(ItemRow.pair.in_(wanted.pairs), ItemRow.target.in_(wanted.pairs))
        conditions.append(or_(among, about) if wanted.pairs else among)
    if wanted.cluster is not None:  # what is in none stands for itself
        conditions.append(ItemRow.cluster == wanted.cluster if wanted.cluster > 0 else ItemRow.id == -wanted.cluster)
    return conditions


def _whole() -> Select[ItemRow, datetime, str, str]:
    return select(ItemRow, TurnRow.at, TurnRow.language, TurnRow.catalog).join(TurnRow, TurnRow.id == ItemRow.turn)


def _item(row: ItemRow, at: datetime, language: str, catalog: str) -> Item:
    return Item(
        id=row.id,
        turn=row.turn,
        at=in_utc(at),
        language=language,
        kind=row.kind,  # type: ignore[arg-type]  # written by `add` only
        text=row.text,
        cluster=row.cluster,
        place=row.place,
        pair=row.pair,
        probability=row.probability,
        state=row.state,  # type: ignore[arg-type]  # written by `decide` only
        batch=row.batch,
        by=row.by,
        decided=in_utc(row.decided) if row.decided is not None else None,
        target=row.target,
        note=row.note,
        exam=catalog.partition("@")[0],
    )


def _lost(row: OriginRow) -> Lost:
    origin = Origin(row.exam, row.language, row.pair, row.text, row.pseudonym)
    return Lost(row.id, origin, in_utc(row.gone) if row.gone is not None else datetime.now(UTC), row.gone_why)
