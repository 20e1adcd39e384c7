"""What the audit log and the database know of stops and releases, and the other does not.

The log lies outside the database: it knows what a restored backup took back. A stop is done first and noted then, so
that no log is in its way; one that was interrupted in between is in the database alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.release.release import Switch
from bot.release.stops import Stop, StopKind

# Followed by the pair's id; all stops by the exam, too, where they are for one alone.
STOP_PAIR, LIFT = "stop-pair ", "stop-lift "
ENDED = "stop-ended "  # by a release with a new text; followed by the pair's id
STOP_CHAT, STOP_END = "stop-chat", "stop-end"
ACTIVATE, ROLLBACK, GIVEN_UP = "release-activate", "release-rollback", "release-given-up"


@dataclass(frozen=True, slots=True)
class Noted:
    """An act as the audit log tells of it.

    Attributes:
        at: When it was done.
        by: Who.
        action: What.
        release: The number of the release that it is about, or 0.
        why: The reason that was given, or none.
        texts: Hashes of the texts that were withdrawn.
        done_first: Whether it was noted after it was done, so that `at` is its very moment.
    """

    at: datetime
    by: str
    action: str
    release: int = 0
    why: str = ""
    texts: tuple[str, ...] = ()
    done_first: bool = False


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What the audit log tells of, and the database does not.

    Attributes:
        stops: To be done again, in order: pairs that were withdrawn, and the chat where it was closed last.
        opened: Who opened the chat again where the database holds it closed: it stays closed, two people open it.
        in_force: The release that was put into force last, where another one, or none, is.
        unnoted: The other way round: stops in the database that the audit log does not tell of.
    """

    stops: tuple[Stop, ...] = ()
    opened: Noted | None = None
    in_force: Noted | None = None
    unnoted: tuple[Stop, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stops or self.opened or self.in_force)


def taken_back(noted: Sequence[Noted], acts: Sequence[Stop], switches: Sequence[Switch]) -> TakenBack:
    """Compare the acts that the audit log tells of, in order, with those in the database.

    What is done again keeps its moment, so that it is found the next time.
    """
    again = list[Stop]()
    for number, each in enumerate(noted):
        about = each.action.removeprefix(STOP_PAIR)
        pair_id, _, exam = about.partition(" ")
        later = (act for act in acts if act.at >= each.at)
        if about == each.action or any((act.pair_id, act.exam) == (pair_id, exam) for act in later):
            continue
        if not any(later.action == f"{LIFT}{about}" for later in noted[number:]):
            again.append(_again(each, "withdraw", pair_id, exam))
    opened, last_of_chat = None, dict[str, tuple[Noted, str]]()
    for each in noted:
        what, _, exam = each.action.partition(" ")
        if what in (STOP_CHAT, STOP_END):
            last_of_chat[exam] = each, what
    for exam, (last, what) in last_of_chat.items():
        in_database = [act for act in acts if act.kind in ("close", "open") and act.exam == exam]
        if in_database and in_database[-1].at >= last.at:
            continue
        closed = bool(in_database) and in_database[-1].kind == "close"
        if what == STOP_CHAT and not closed:
            again.append(_again(last, "close", exam=exam))
        elif what == STOP_END and closed:
            opened = last
    unnoted = tuple(act for act in acts if act.kind in ("withdraw", "close") and not _is_noted(act, noted))
    return TakenBack(tuple(again), opened, _other_in_force(noted, switches), unnoted)


def action_of(stop: Stop) -> str:
    """Return what the audit log calls a stop, or the end of one."""
    called = {"withdraw": STOP_PAIR, "lift": LIFT, "close": STOP_CHAT, "open": STOP_END}[stop.kind]
    return f"{called}{stop.pair_id}{f' {stop.exam}' if stop.exam else ''}"


def _is_noted(act: Stop, noted: Sequence[Noted]) -> bool:
    action = action_of(act)
    return any(
        each.action == action and (each.at == act.at or (not each.done_first and each.at <= act.at)) for each in noted
    )


def _again(each: Noted, kind: StopKind, pair_id: str = "", exam: str = "") -> Stop:
    again = "done again: the database had lost it"
    why = f"{each.why} ({again})" if each.why else again
    return Stop(each.at, each.by, kind, pair_id, why=why, texts=each.texts, exam=exam)


def _other_in_force(noted: Sequence[Noted], switches: Sequence[Switch]) -> Noted | None:
    """Return what was put into force last, where it is not in force, and nothing was put into force after it."""
    last: Noted | None = None
    for each in noted:
        if each.action in (ACTIVATE, ROLLBACK):
            before, last = last, each
        elif each.action == GIVEN_UP and last is not None and last.release == each.release:
            last = before  # processes were not ready in time: it never came into force
    known = [each for each in switches if each.move != "prepare"]
    if last is None or (known and (known[-1].number == last.release or known[-1].at > last.at)):
        return None
    return last
