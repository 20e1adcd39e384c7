"""Accounts and sessions of staff in the SQL database. Passwords are kept as argon2id hashes, sessions as SHA-256."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import regex
from sqlalchemy import DateTime, ForeignKey, UniqueConstraint, delete, func, select
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as SqlSession

from bot.adapters.passwords import Passwords
from bot.adapters.sql_acts import add_act
from bot.adapters.sql_staff import let_go
from bot.adapters.sql_tables import Base, PatientText, in_utc, talking_to
from bot.adapters.sql_workbench import SignatureRow
from bot.catalog.approval import person_key
from bot.editorial.acts import Act
from bot.editorial.people import (
    CLOSED_FOR,
    HERE,
    IDLE,
    LONGEST_PASSWORD,
    LONGEST_SESSION,
    MOST_NAME,
    MOST_WRONG,
    MOST_WRONG_ANYWHERE,
    ROLES,
    SHORTEST_PASSWORD,
    Entry,
    Person,
    Role,
    Session,
    Whence,
    flaw_of_password,
    may_not_go_together,
)
from bot.errors import BadData, MissingExtra

_LOGIN = regex.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._@+-]*[A-Za-z0-9])?")
_NAME = regex.compile(r"[\p{Latin}0-9][\p{Latin}\p{M}0-9 .,'’()-]*")
RESERVED = ("klartext", "the sample", "(command line)")  # what acts of the program itself, and commands, are by
SEEN_EVERY = timedelta(minutes=1)  # no write for each request
CODE_S = 30
ISSUER = "Klartext"


class PersonRow(Base):
    """One account.

    `folded` is the name as signatures compare it, and `former`, a JSON list, what it was before: names stay an
    account's own. `code_at` is the time step of the last code used.
    """

    __tablename__ = "staff_people"
    __table_args__ = (UniqueConstraint("issuer", "subject"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    login: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    folded: Mapped[str] = mapped_column(unique=True)
    roles: Mapped[str]
    language: Mapped[str]
    password: Mapped[str | None]
    code: Mapped[str | None] = mapped_column(PatientText("staff_people.code"))
    code_at: Mapped[int] = mapped_column(default=0)
    closed: Mapped[bool] = mapped_column(default=False)
    wrong: Mapped[int] = mapped_column(default=0)
    closed_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    issuer: Mapped[str | None]
    subject: Mapped[str | None]
    one_time: Mapped[bool] = mapped_column(default=False)
    reset_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    former: Mapped[str] = mapped_column(default="[]")


class PlaceRow(Base):
    """Where attempts to log in to an account came from: an address, or a device that its owner logged in with."""

    __tablename__ = "staff_places"

    person: Mapped[int] = mapped_column(ForeignKey("staff_people.id"), primary_key=True)
    hash: Mapped[str] = mapped_column(primary_key=True)
    is_device: Mapped[bool]
    wrong: Mapped[int] = mapped_column(default=0)
    closed_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    seen: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class SessionRow(Base):
    """One browser that is logged in."""

    __tablename__ = "staff_sessions"

    hash: Mapped[str] = mapped_column(primary_key=True)
    person: Mapped[int] = mapped_column(ForeignKey("staff_people.id"), index=True)
    begun: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    seen: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    waits_for_code: Mapped[bool]


@dataclass
class SqlPeople:
    """Fulfils `bot.editorial.people.People`."""

    engine: Engine
    now: Callable[[], datetime]
    request_id: Callable[[], str] = field(default=lambda: "")
    passwords: Passwords = field(default_factory=Passwords, repr=False)

    def all(self) -> list[Person]:
        with talking_to(self.engine) as session:
            return [_person(row) for row in session.scalars(select(PersonRow).order_by(PersonRow.folded))]

    def by_login(self, login: str) -> Person | None:
        with talking_to(self.engine) as session:
            row = _row(session, login)
            return _person(row) if row is not None else None

    def add(self, person: Person, password: str | None, *, by: str) -> Person:
        self._require_usable(person, password)
        with self._turn(password), talking_to(self.engine) as session:
            self._require_free(session, person)
            row = PersonRow(
                login=person.login,
                name=person.name,
                folded=person_key(person.name),
                roles=_written(person.roles),
                language=person.language,
                password=self.passwords.hash(password) if password is not None else None,
                one_time=password is not None,
                reset_at=self.now().astimezone(UTC) if password is not None else None,
            )
            session.add(row)
            add_act(session, self._act(by, "add", person, after=_told(person)))
            session.commit()
            return _person(row)

    def change(self, person: Person, *, by: str, password: str | None = None) -> Person:
        self._require_usable(person, password)
        with self._turn(password), talking_to(self.engine) as session:
            row = session.get_one(PersonRow, person.id)
            before = _person(row)
            self._require_free(session, person, besides=row.id)
            _rename(row, person.name)
            row.roles = _written(person.roles)
            row.language, row.closed = person.language, person.closed
            is_own = by == before.name
            if password is not None:
                if row.one_time and is_own and self.passwords.is_right(row.password or "", password):
                    raise BadData(
                        "This is the password that you were given. Choose one that nobody else knows.",
                        code="password-given",
                    )
                row.password, row.wrong, row.closed_until = self.passwords.hash(password), 0, None
                row.one_time = not is_own
                session.execute(delete(PlaceRow).where(PlaceRow.person == row.id, PlaceRow.is_device.is_(False)))
            if before.has_code and not person.has_code:
                row.code = None
            is_reset = not is_own and (password is not None or before.has_code is not person.has_code)
            if is_reset:
                row.reset_at = self.now().astimezone(UTC)
            after = _person(row)
            if replace(before, language=after.language) != after or password is not None:
                session.execute(delete(SessionRow).where(SessionRow.person == row.id))
                # Nobody writes to patients in this person's place until somebody takes over.
                let_go(session, before.name, at=self.now(), request_id=self.request_id)
                new = "for one login" if after.one_time else "new"
                changed = {**_told(after), **({"password": new} if password is not None else {})}
                action = "reset" if is_reset else "change"
                add_act(session, self._act(by, action, person, before=_told(before), after=changed))
            if "admin" in before.roles and not before.closed:
                self._require_admin(session)
            session.commit()
            return after

    def enter(self, login: str, password: str, *, now: datetime, whence: Whence = HERE) -> tuple[Entry, str]:
        with self.passwords.turn(), talking_to(self.engine) as session:
            row = _row(session, login, lock=True)
            stored = row.password if row is not None and row.password is not None else self.passwords.nobody
            right = self.passwords.is_right(stored, password)
            if row is None:
                return "wrong", ""
            place = _place(session, row, whence, now)
            if _is_closed(row, place, now):
                return "too often", ""
            if not right:
                self._count_wrong(session, row, place, now)
                return "wrong", ""
            if row.closed:
                return "closed", ""
            row.password = self.passwords.renewed(stored, password)
            if row.code is None:
                _remember(session, row, place, whence, now)
            secret = self._open(session, row, now, waits_for_code=row.code is not None)
            session.commit()
            return ("code" if row.code is not None else "in"), secret

    def _turn(self, password: str | None) -> AbstractContextManager[None]:
        return self.passwords.turn() if password is not None else nullcontext()

    def enter_code(self, secret: str, code: str, *, now: datetime, whence: Whence = HERE) -> Entry:
        with talking_to(self.engine) as session:
            open_ = session.get(SessionRow, _hash(secret), with_for_update=True)
            row = session.get(PersonRow, open_.person, with_for_update=True) if open_ is not None else None
            if open_ is None or row is None or row.code is None or not open_.waits_for_code:
                return "wrong"
            place = _place(session, row, whence, now)
            if _is_closed(row, place, now):
                return "too often"
            step = _step_of(row.code, code, now)
            if step is None or step <= row.code_at:  # a code that was seen over a shoulder is good for nothing
                self._count_wrong(session, row, place, now)
                return "wrong"
            row.code_at = step
            _remember(session, row, place, whence, now)
            open_.waits_for_code = False
            add_act(session, self._act(row.name, "login", _person(row)))
            session.commit()
            return "in"

    def enter_from_outside(self, issuer: str, subject: str, person: Person, *, now: datetime) -> tuple[Entry, str]:
        self._require_usable(person, None)
        with talking_to(self.engine) as session:
            wanted = select(PersonRow).where(PersonRow.issuer == issuer, PersonRow.subject == subject)
            row = session.scalars(wanted).first()
            if row is None:
                self._require_free(session, person)
                row = PersonRow(login=person.login, language=person.language, issuer=issuer, subject=subject)
                row.name, row.folded, row.roles = person.name, person_key(person.name), _written(person.roles)
                session.add(row)
                session.flush()
                add_act(session, self._act(person.name, "add", person, after={**_told(person), "issuer": issuer}))
            elif row.closed:
                return "closed", ""
            elif (row.name, row.roles) != (person.name, _written(person.roles)):
                self._require_free(session, person, besides=row.id)
                before = _told(_person(row))
                _rename(row, person.name)
                row.roles = _written(person.roles)
                add_act(session, self._act(person.name, "change", person, before=before, after=_told(person)))
            secret = self._open(session, row, now, waits_for_code=False)
            session.commit()
            return "in", secret

    def session(self, secret: str, *, now: datetime) -> Session | None:
        with talking_to(self.engine) as session:
            open_ = session.get(SessionRow, _hash(secret)) if secret else None
            if open_ is None:
                return None
            row = session.get_one(PersonRow, open_.person)
            begun, seen = in_utc(open_.begun), in_utc(open_.seen)
            if now - seen > IDLE or now - begun > LONGEST_SESSION or row.closed:
                session.delete(open_)
                session.commit()
                return None
            if now - seen > SEEN_EVERY:
                open_.seen = now.astimezone(UTC)
                session.commit()
            return Session(_person(row), begun, open_.waits_for_code)

    def leave(self, secret: str) -> None:
        with talking_to(self.engine) as session:
            open_ = session.get(SessionRow, _hash(secret))
            if open_ is not None:
                row = session.get_one(PersonRow, open_.person)
                session.delete(open_)
                add_act(session, self._act(row.name, "logout", _person(row)))
                session.commit()

    def new_code(self) -> str:
        return _pyotp().random_base32()  # type: ignore[no-any-return]

    def address_of_code(self, person: Person, secret: str) -> str:
        written: str = _pyotp().TOTP(secret).provisioning_uri(name=person.login, issuer_name=ISSUER)
        return written

    def confirm_code(self, person: Person, secret: str, code: str, *, now: datetime) -> bool:
        step = _step_of(secret, code, now)
        if step is None:
            return False
        with talking_to(self.engine) as session:
            row = session.get_one(PersonRow, person.id)
            row.code, row.code_at = secret, step
            add_act(session, self._act(person.name, "code", person))
            session.commit()
            return True

    def _open(self, session: SqlSession, row: PersonRow, now: datetime, *, waits_for_code: bool) -> str:
        secret, at = secrets.token_urlsafe(32), now.astimezone(UTC)
        session.execute(delete(SessionRow).where(SessionRow.begun < at - LONGEST_SESSION))
        session.add(SessionRow(hash=_hash(secret), person=row.id, begun=at, seen=at, waits_for_code=waits_for_code))
        if not waits_for_code:
            add_act(session, self._act(row.name, "login", _person(row)))
        return secret

    def _count_wrong(self, session: SqlSession, row: PersonRow, place: PlaceRow, now: datetime) -> None:
        at = now.astimezone(UTC)
        old = [PlaceRow.is_device.is_(False), PlaceRow.seen < at - LONGEST_SESSION, PlaceRow.hash != place.hash]
        session.execute(delete(PlaceRow).where(*old).execution_options(synchronize_session=False))
        place = session.merge(place)
        place.wrong, place.seen = place.wrong + 1, at
        row.wrong += 0 if place.is_device else 1
        if place.wrong >= MOST_WRONG:
            place.wrong, place.closed_until = 0, at + CLOSED_FOR
            add_act(session, self._act("", "lock", _person(row)))
        if row.wrong >= MOST_WRONG_ANYWHERE:
            row.wrong, row.closed_until = 0, at + CLOSED_FOR
            add_act(session, self._act("", "lock", _person(row), after={"to": "all but known devices"}))
        session.commit()

    def _act(self, by: str, action: str, person: Person, **values: Any) -> Act:
        return Act(self.now(), by, action, f"account {person.login}", **values, request_id=self.request_id())

    def _require_usable(self, person: Person, password: str | None) -> None:
        for label, value in (("login", person.login), ("name", person.name)):
            if not value.strip() or value != value.strip() or len(value) > MOST_NAME or not value.isprintable():
                raise BadData(
                    f"The {label} {value[:MOST_NAME]!r} cannot be used: 1 to {MOST_NAME} printable characters.",
                    code=f"{label}-long",
                    values={"most": MOST_NAME},
                )
        if not person.outside and not _LOGIN.fullmatch(person.login):
            raise BadData(
                f"The login {person.login!r} cannot be used: letters a to z, digits, and . _ @ + - between them.",
                code="login-letters",
                values={"login": person.login},
            )
        if not _NAME.fullmatch(person.name) or _folded(person.name).endswith(RESERVED):
            raise BadData(
                f"The name {person.name!r} cannot be used: Latin letters, digits, spaces and . , ' - only, so that no "
                "two look alike, and none that the program uses itself.",
                code="name-letters",
                values={"name": person.name},
            )
        if odd := sorted(set(person.roles) - set(ROLES)):
            raise BadData(f"There is no role {odd[0]!r}. There are {', '.join(ROLES)}.")
        if signing := may_not_go_together(person.roles):
            raise BadData(
                f"One account cannot be admin and {signing}: whoever hands out roles and passwords signs no texts. "
                "Make two accounts, for two people.",
                code="admin-signs",
                values={"role": signing},
            )
        if password is None:
            return
        flaw = flaw_of_password(password, login=person.login, name=person.name)
        if flaw:
            why = {
                "short": f"it has fewer than {SHORTEST_PASSWORD} characters",
                "long": "it is too long",
                "guessed": "it would be guessed first (part of a name, one of the usual words, or few letters)",
            }
            raise BadData(
                f"This password cannot be used: {why[flaw]}. Take several words that nobody connects with you.",
                code=f"password-{flaw}",
                values={"least": SHORTEST_PASSWORD, "most": LONGEST_PASSWORD},
            )

    def _require_free(self, session: SqlSession, person: Person, *, besides: int | None = None) -> None:
        key = person_key(person.name)
        for each in session.scalars(select(PersonRow)):
            for label, value, is_taken in (
                ("login", person.login, each.login == person.login),
                ("name", person.name, key in _names(each)),
            ):
                if is_taken and each.id != besides:
                    belongs = "belongs" if value == each.login or key == each.folded else "once belonged"
                    raise BadData(
                        f"The {label} {value!r} {belongs} to another account. Signatures must tell two people apart.",
                        code=f"{label}-taken",
                        values={"taken": value},
                    )

        signed = select(SignatureRow.person).where(SignatureRow.name == person.name, SignatureRow.person != besides)
        if session.scalars(signed).first() is not None:
            raise BadData(
                f"The name {person.name!r} stands under signatures of somebody else. Take another one.",
                code="name-signed",
                values={"taken": person.name},
            )

    def _require_admin(self, session: SqlSession) -> None:
        session.flush()
        everybody = session.scalars(select(PersonRow)).all()
        if everybody and not any("admin" in _roles(row.roles) and not row.closed for row in everybody):
            raise BadData(
                "Nobody would be left who may hand out roles. Give somebody else the role admin first.", code="no-admin"
            )


def is_gone(engine: Engine, name: str, since: datetime) -> bool:
    """Whether this is the name of an account that has shown no sign of life since then, in whatever browser.

    Names that belong to no account are those of programs that use the API: of these nobody knows.
    """
    seen = select(func.max(SessionRow.seen)).where(
        SessionRow.person == PersonRow.id, SessionRow.waits_for_code.is_(False)
    )
    with talking_to(engine) as session:
        found = session.execute(
            select(PersonRow.id, seen.scalar_subquery()).where(PersonRow.folded == person_key(name))
        ).first()
        return found is not None and (found[1] is None or in_utc(found[1]) < since)


def _row(session: SqlSession, login: str, *, lock: bool = False) -> PersonRow | None:
    wanted = select(PersonRow).where(PersonRow.login == login)
    return session.scalars(wanted.with_for_update() if lock else wanted).first()


def _person(row: PersonRow) -> Person:
    return Person(
        id=row.id,
        login=row.login,
        name=row.name,
        roles=_roles(row.roles),
        language=row.language,
        has_code=row.code is not None,
        closed=bool(row.closed),
        outside=row.issuer is not None,
        one_time=bool(row.one_time),
        reset_at=in_utc(row.reset_at) if row.reset_at is not None else None,
    )


def are_there_accounts(engine: Engine) -> bool:
    """Say whether anybody has an account here."""
    with talking_to(engine) as session:
        return session.scalars(select(PersonRow.id).limit(1)).first() is not None


def _place(session: SqlSession, row: PersonRow, whence: Whence, now: datetime) -> PlaceRow:
    """Return where an attempt comes from: the owner's device where it is one, else the address."""
    device = session.get(PlaceRow, (row.id, _hash(f"device {whence.device}"))) if whence.device else None
    hashed = _hash(f"address {whence.address}")
    known = device or session.get(PlaceRow, (row.id, hashed))
    return known or PlaceRow(person=row.id, hash=hashed, is_device=False, wrong=0, seen=now.astimezone(UTC))


def _is_closed(row: PersonRow, place: PlaceRow, now: datetime) -> bool:
    ends = [place.closed_until, *([] if place.is_device else [row.closed_until])]
    return any(end is not None and now < in_utc(end) for end in ends)


def _remember(session: SqlSession, row: PersonRow, place: PlaceRow, whence: Whence, now: datetime) -> None:
    """Begin to count anew, and know the device of who logged in."""
    row.wrong, place.wrong, place.closed_until, place.seen = 0, 0, None, now.astimezone(UTC)
    if whence.device and not place.is_device:
        hashed = _hash(f"device {whence.device}")
        session.add(PlaceRow(person=row.id, hash=hashed, is_device=True, wrong=0, seen=place.seen))


def _names(row: PersonRow) -> list[str]:
    """Return all names that an account has and had, as signatures compare them."""
    return [row.folded, *json.loads(row.former)]


def _rename(row: PersonRow, name: str) -> None:
    key = person_key(name)
    row.former = json.dumps(sorted({*_names(row), key} - {key}), ensure_ascii=False)
    row.name, row.folded = name, key


def _roles(written: str) -> frozenset[Role]:
    return frozenset(role for role in ROLES if role in written.split())


def _written(roles: frozenset[Role]) -> str:
    return " ".join(role for role in ROLES if role in roles)


def _told(person: Person) -> dict[str, Any]:
    roles = [role for role in ROLES if role in person.roles]
    return {"name": person.name, "roles": roles, "closed": person.closed, "code": person.has_code}


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _pyotp() -> Any:
    try:
        import pyotp
    except ImportError:
        raise MissingExtra(feature="One-time codes", extra="staff") from None
    return pyotp


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the time step whose code this is: the present one, or one beside it; None where it is none of them."""
    totp, given = _pyotp().TOTP(secret), "".join(code.split())
    present = int(now.timestamp()) // CODE_S
    fitting = [
        step for step in (present - 1, present, present + 1) if hmac.compare_digest(totp.generate_otp(step), given)
    ]
    return fitting[-1] if fitting else None
