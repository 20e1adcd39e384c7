"""Staff: who they are, what their roles let them do, and the rules of passwords and failed attempts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol, get_args

Role = Literal["curator", "approver", "rater", "frontdesk", "admin", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
# What somebody may do. Every address of the console names the one that it asks for.
Task = Literal[
    "look",  # own account, overview, figures without patients' texts
    "inbox",  # read scrubbed questions and decide about them
    "edit",  # drafts of pairs and site facts; import and export
    "review",  # the first of two signatures
    "approve",  # the second
    "release",  # make, activate and roll back releases; the emergency stop
    "desk",  # patients who wait for a person, with their names and words
    "rate",  # label answers of suites
    "runs",  # tests and their reports
    "people",  # accounts and roles
    "trail",  # who did what
]
TASKS: tuple[Task, ...] = get_args(Task)
TASKS_OF: Mapping[Role, frozenset[Task]] = {
    "curator": frozenset({"look", "inbox", "edit", "review", "runs"}),
    "approver": frozenset({"look", "inbox", "review", "approve", "release", "runs"}),
    "rater": frozenset({"look", "rate"}),
    "frontdesk": frozenset({"look", "desk"}),
    # Whoever hands out roles signs and reads nothing with them: that would be one person doing it all.
    "admin": frozenset({"look", "people"}),
    "auditor": frozenset({"look", "trail", "runs"}),
}
# What leads to what patients are shown. Whoever hands out roles does none of it, else one person could be two.
SIGNING: frozenset[Task] = frozenset({"review", "approve", "release"})
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 200
MOST_NAME = 80
# Wrong passwords in a row, after which an account is closed for a while to where they came from; and from anywhere,
# after which it is closed to all devices that its owner never logged in with. A stranger must not lock the owner out.
MOST_WRONG, MOST_WRONG_ANYWHERE = 5, 25
CLOSED_FOR = timedelta(minutes=15)
FRESH = timedelta(hours=24)  # since somebody else gave an account a password, and knew it
IDLE = timedelta(minutes=30)  # a session that nobody uses ends
LONGEST_SESSION = timedelta(hours=12)
# Parts that make a password one of the first to be tried.
GUESSED_FIRST = ("password", "passwort", "klartext", "radiolog", "1234", "qwert", "hospital", "krankenhaus", "spital")


@dataclass(frozen=True, slots=True)
class Person:
    """One member of staff.

    Attributes:
        id: Number in this database, never used again.
        login: What is typed to log in; unique.
        name: How signatures and the trail name this person; unique, since two signatures must be of two people.
        roles: What this person may do is the union of what they may.
        language: Of the console.
        has_code: Whether a one-time code is asked for besides the password.
        closed: Whether the account was closed by an administrator.
        outside: Whether the hospital's identity provider vouches for this person, who has no password here.
        one_time: Whether the password was given by somebody else: until it is changed, nothing else can be done.
        reset_at: When somebody else gave the account a password or took its one-time codes away; None: never.
    """

    id: int
    login: str
    name: str
    roles: frozenset[Role]
    language: str = "de"
    has_code: bool = False
    closed: bool = False
    outside: bool = False
    one_time: bool = False
    reset_at: datetime | None = None

    def may(self, task: Task) -> bool:
        if "admin" in self.roles and task in SIGNING:  # accounts that had both before that was refused
            return False
        return any(task in TASKS_OF[role] for role in self.roles)

    def was_reset(self, now: datetime) -> bool:
        """Say whether somebody else could log in as this person until a short while ago."""
        return self.reset_at is not None and now < self.reset_at + FRESH


@dataclass(frozen=True, slots=True)
class Whence:
    """Where an attempt to log in comes from.

    Attributes:
        address: Of the network; empty: this machine.
        device: The secret that a browser was given when somebody logged in with it; empty: it has none.
    """

    address: str = ""
    device: str = field(default="", repr=False)


HERE = Whence()


# What came of an attempt to log in. All but `in` look alike from outside: nobody learns which logins exist.
Entry = Literal["in", "code", "wrong", "closed", "too often"]


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is logged in.

    Attributes:
        person: Who.
        begun: When.
        waits_for_code: Whether the password was right and the one-time code is still to come; nothing is shown then.
    """

    person: Person
    begun: datetime
    waits_for_code: bool = False


class People(Protocol):
    """Accounts and sessions. Every change is written with its act in one transaction.

    What has to do with a password raises `Busy` where others wait to have theirs hashed, one after the other.
    """

    def all(self) -> list[Person]:
        """Return all accounts, by name."""
        ...

    def by_login(self, login: str) -> Person | None: ...

    def add(self, person: Person, password: str | None, *, by: str) -> Person:
        """Make an account; `password`: for the first login only; None: it is vouched for from outside.

        Raises:
            BadData: Login or name is taken, or one of them or the password cannot be used.
        """
        ...

    def change(self, person: Person, *, by: str, password: str | None = None) -> Person:
        """Store name, roles, language and whether it is closed, and a new password; all its sessions end if more than
        the language changed. A password that is not by the person whose account it is, is for one login only.

        Raises:
            BadData: Name or password cannot be used, or nobody would be left who may hand out roles.
        """
        ...

    def enter(self, login: str, password: str, *, now: datetime, whence: Whence = HERE) -> tuple[Entry, str]:
        """Try to log in; return what came of it, and the session's secret where it is `in` or `code`."""
        ...

    def enter_code(self, secret: str, code: str, *, now: datetime, whence: Whence = HERE) -> Entry:
        """Give the one-time code of a session that waits for it."""
        ...

    def enter_from_outside(self, issuer: str, subject: str, person: Person, *, now: datetime) -> tuple[Entry, str]:
        """Log in somebody whom the identity provider vouches for; the account is made at the first time, and its name
        and roles follow what is said now.
        """
        ...

    def session(self, secret: str, *, now: datetime) -> Session | None:
        """Return whose session it is, and keep it alive; None where it has ended."""
        ...

    def leave(self, secret: str) -> None:
        """End a session."""
        ...

    def new_code(self) -> str:
        """Return a fresh secret for one-time codes (base32); it counts from `confirm_code` on."""
        ...

    def address_of_code(self, person: Person, secret: str) -> str:
        """Return a secret as authenticator apps read it (``otpauth:``)."""
        ...

    def confirm_code(self, person: Person, secret: str, code: str, *, now: datetime) -> bool:
        """Ask for one-time codes from now on, if this one is right."""
        ...


def may_not_go_together(roles: frozenset[Role]) -> str:
    """Return the role that nobody may have who hands out roles; empty where none of these is in the way."""
    signing = [role for role in ROLES if role in roles and TASKS_OF[role] & SIGNING]
    return signing[0] if "admin" in roles and signing else ""


def flaw_of_password(password: str, *, login: str, name: str) -> str:
    """Return in a word what is wrong with a password: ``short``, ``long``, ``guessed``; empty where nothing is."""
    if len(password) < SHORTEST_PASSWORD:
        return "short"
    if len(password) > LONGEST_PASSWORD:
        return "long"
    folded = password.casefold()
    own = [part for part in (login.casefold(), *name.casefold().split()) if len(part) > 3]
    if any(part in folded for part in (*GUESSED_FIRST, *own)) or len(set(folded)) < 6:
        return "guessed"
    return ""
