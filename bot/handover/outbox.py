"""Send what waits: red flags first, each once, and nothing is lost when the server is away."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.errors import NotSent
from bot.handover.reduction import reduced
from bot.outbox_ports import Claimed, FhirServer, Lane, Outbox, Wanted

log = logging.getLogger("klartext")

# So many in a row that the server could not make up its mind on: then it is the server, not the conversation.
TROUBLES = 3
# Until an entry that was not taken is due again: doubled each time. Staff look at a red flag's Task any minute.
FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE: dict[Lane, timedelta] = {"urgent": timedelta(seconds=30), "rest": timedelta(minutes=5)}


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push achieved.

    Attributes:
        sent: Accepted now.
        waiting: Still waiting, whatever the reason.
        reasons: Why what was tried now was not taken, in the order tried.
        is_down: Whether the server took nothing and would take nothing else now.
    """

    sent: int
    waiting: int
    reasons: tuple[str, ...]
    is_down: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Manner:
    """What a push sends.

    Attributes:
        lanes: Red flags, all else, or both.
        due: Only what is due again.
        check: Whether the server is first asked what it can do.
    """

    lanes: Sequence[Lane] = ("urgent", "rest")
    due: bool = False
    check: bool = True


EVERYTHING = Manner()


def push(
    outbox: Outbox,
    server: FhirServer,
    *,
    clock: Callable[[], datetime],
    manner: Manner = EVERYTHING,
) -> Pushed:
    """Send what waits, as far as the server takes it.

    Red flags are sent whatever the server says of itself: each is a transaction of one resource.

    Raises:
        UserFixable: The server is none that we can send to, or the settings are wrong.
    """
    found = _Round(outbox, server, clock, manner.due)
    waiting = outbox.backlog()
    if "urgent" in manner.lanes and waiting.urgent:
        found.run("urgent")
    if "rest" in manner.lanes and waiting.waiting > waiting.urgent and not found.is_down:
        try:
            if manner.check:
                server.check()
            found.run("rest")
        except NotSent as error:
            found.reasons.append(error.reason)
            found.is_down = True
    return Pushed(found.sent, outbox.waiting(), tuple(found.reasons), is_down=found.is_down)


def send(outbox: Outbox, server: FhirServer, claimed: Claimed, clock: Callable[[], datetime]) -> NotSent | None:
    """Send one entry and note what became of it; return why it was not taken. No error of it concerns any other."""
    try:
        _send(server, claimed)
    except NotSent as error:
        failure = error
    except Exception as error:
        log.exception("a delivery failed")
        failure = NotSent(f"failed ({type(error).__name__})", verdict="trouble")
    except BaseException:
        outbox.release(claimed, "interrupted")
        raise
    else:
        outbox.accept(claimed, at=clock())
        fields = {"entry": claimed.number, "urgent": claimed.is_urgent}
        log.info("delivered to the FHIR server", extra={"fields": fields})
        return None
    outbox.release(claimed, failure.reason, retry_at=clock() + pause(claimed))
    return failure


def _send(server: FhirServer, claimed: Claimed) -> None:
    """Send an entry; if the server refuses it, without what a form asks of what the server holds."""
    try:
        server.send(claimed.bundle, again=claimed.again)
    except NotSent as error:
        smaller = reduced(claimed.bundle) if error.verdict == "refused" else None
        if smaller is None:
            raise
        bundle, left_out = smaller
        try:
            server.send(bundle, again=claimed.again)
        except NotSent:
            raise error from None
        log.warning(
            "a transaction was %s; it was taken without %d entries that its form words itself", error.reason, left_out
        )


def pause(claimed: Claimed) -> timedelta:
    """Return how long an entry waits that was not taken."""
    longest = LONGEST_PAUSE["urgent" if claimed.is_urgent else "rest"]
    return min(FIRST_PAUSE * (1 << min(claimed.attempts, 16)), longest)


@dataclass(slots=True)
class _Round:
    """One go through what waits."""

    outbox: Outbox
    server: FhirServer
    clock: Callable[[], datetime]
    due: bool
    sent: int = 0
    reasons: list[str] = field(default_factory=list)
    is_down: bool = False
    _tried: set[int] = field(default_factory=set)

    def run(self, lane: Lane) -> None:
        """Send until nothing is left, or until it is clear that the server takes nothing."""
        troubles = 0
        while troubles < TROUBLES and not self.is_down:
            claimed = self.outbox.claim(at=self.clock(), wanted=Wanted(lane, self._tried, due=self.due))
            if claimed is None:
                return
            self._tried.add(claimed.number)
            failure = send(self.outbox, self.server, claimed, self.clock)
            if failure is None:
                self.sent, troubles = self.sent + 1, 0
                continue
            self.reasons.append(failure.reason)
            # What a server says to one red flag is not believed of the next before it has said so several times.
            self.is_down = failure.verdict == "down" and lane == "rest"
            troubles = 0 if failure.verdict == "refused" else troubles + 1
        self.is_down = True
