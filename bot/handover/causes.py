"""Say why something has not reached the FHIR server, in a fixed list of causes, and how delivery stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.outbox_ports import Group, Lane

Cause = Literal[
    "unreachable",  # no connection, or no answer in time
    "certificate",  # TLS failed
    "server_error",  # 429 or 5xx
    "refused",  # any other 4xx, of this entry
    "incomplete",  # it took the transaction for a batch, and some of it
    "unauthorised",  # 401 or 403
    "token",  # the token endpoint gives none
    "no_endpoint",  # redirects, 404, 405: there is no FHIR server at this address
    "odd_answer",  # an answer that says neither
    "settings",  # ours, or the server is none that we can send to
    "invalid",  # nothing can be made of the conversation
    "unreadable",  # the entry cannot be decrypted
    "failed",  # a defect of ours
    "interrupted",  # the service ended meanwhile
    "held",  # claimed: being sent for the first time, or whoever sent it has died
    "not_tried",  # nobody has tried yet
    "no_server",  # there is no FHIR server, and nobody reads calls for staff
    "other",
]
NOT_BUILT = "cannot be built"
NO_SERVER = "no FHIR server"
# By how the reasons of `NotSent` begin; the first that fits counts.
_BEGINNINGS: tuple[tuple[str, Cause], ...] = (
    (r"unreachable \(TLS\)", "certificate"),
    (r"unreachable|timeout|not tried|no answer", "unreachable"),
    (r"busy", "server_error"),
    (r"refused", "refused"),
    (r"incomplete", "incomplete"),
    (r"unauthorised", "unauthorised"),
    (r"no token|token endpoint", "token"),
    (r"no FHIR endpoint", "no_endpoint"),
    (r"odd answer|the reply is no|nobody can tell", "odd_answer"),
    (NOT_BUILT, "invalid"),
    (r"unreadable", "unreadable"),
    (r"settings|failed \((UserFixable|MissingExtra)\)", "settings"),
    (r"failed", "failed"),
    (r"interrupted|stopped", "interrupted"),
    (NO_SERVER, "no_server"),
)
CAUSES: tuple[Cause, ...] = (*dict.fromkeys(cause for _, cause in _BEGINNINGS), "held", "not_tried", "other")
# Of these nobody has said that the server took nothing: it may be that it has only just been put in.
_QUIET = frozenset[Cause]({"held", "not_tried", "interrupted"})
LATE: Mapping[Lane, timedelta] = {"urgent": timedelta(seconds=10), "rest": timedelta(minutes=15)}

Verdict = Literal["ok", "late", "failing", "off"]


@dataclass(frozen=True, slots=True)
class Since:
    """How many wait for one cause, and since when the oldest does."""

    count: int
    oldest: datetime

    def oldest_s(self, now: datetime) -> float:
        return max(0.0, (now - self.oldest).total_seconds())


Undelivered = Mapping[tuple[Lane, Cause], Since]


@dataclass(frozen=True, slots=True)
class Standing:
    """How delivery stands.

    Attributes:
        verdict: `failing`: the server does not take what it is sent, or nobody sends; `late`: something waits for
            longer than it should, and nobody knows why; `off`: there is no FHIR server.
        oldest_urgent_s: Age of the oldest red flag that nobody has got; 0 where there is none.
        reason: The cause; empty where all is well.
    """

    verdict: Verdict
    oldest_urgent_s: float = 0.0
    reason: str = ""


def cause_of(reason: str, *, held: bool = False) -> Cause:
    """Return the cause that a reason belongs to: reasons hold status codes and names, and are never labels."""
    if not reason:
        return "held" if held else "not_tried"
    return next((cause for beginning, cause in _BEGINNINGS if re.match(beginning, reason)), "other")


def undelivered(groups: Sequence[Group], *, trouble: str = "") -> Undelivered:
    """Return what waits, by lane and cause.

    Args:
        groups: What waits.
        trouble: Why the server took nothing lately: ordinary entries are then not even tried.
    """
    found: dict[tuple[Lane, Cause], Since] = {}
    for each in groups:
        reason = each.reason or (trouble if each.lane == "rest" and not each.held else "")
        key = (each.lane, cause_of(reason, held=each.held))
        before = found.get(key, Since(0, each.oldest))
        found[key] = Since(before.count + each.count, min(before.oldest, each.oldest))
    return found


def standing(waits: Undelivered, now: datetime, *, broken: str = "") -> Standing:
    """Return how delivery stands.

    Args:
        waits: What waits, by lane and cause.
        now: The moment.
        broken: What is wrong with who should deliver; empty where nothing is.
    """
    urgent_s = max((since.oldest_s(now) for (lane, _), since in waits.items() if lane == "urgent"), default=0.0)
    if broken:
        return Standing("failing", urgent_s, broken)
    # Red flags first, then what is known to fail, then the oldest.
    order = sorted(waits.items(), key=lambda item: (item[0][0] != "urgent", item[0][1] in _QUIET, item[1].oldest))
    failing = [cause for (_, cause), _ in order if cause not in _QUIET]
    if failing:
        return Standing("failing", urgent_s, failing[0])
    late = [cause for (lane, cause), since in order if since.oldest_s(now) >= LATE[lane].total_seconds()]
    return Standing("late", urgent_s, late[0]) if late else Standing("ok", urgent_s)
