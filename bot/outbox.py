"""Send what waits: oldest first, each once, and nothing is lost when the server is away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.errors import NotSent
from bot.ports import Claimed, FhirServer, Outbox

# So many in a row that the server could not make up its mind on: then it is the server, not the conversation.
TROUBLES = 3


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push achieved.

    Attributes:
        sent: Accepted now.
        waiting: Still waiting, whatever the reason.
        reasons: Why what was tried now was not taken, in the order tried.
    """

    sent: int
    waiting: int
    reasons: tuple[str, ...]


def push(outbox: Outbox, server: FhirServer, *, clock: Callable[[], datetime]) -> Pushed:
    """Send everything that waits, as far as the server takes it.

    Raises:
        UserFixable: The server is none that we can send to, or the settings are wrong.
    """
    sent, reasons, troubles, last = 0, list[str](), 0, 0
    if outbox.waiting() == 0:
        return Pushed(0, 0, ())
    try:
        server.check()
    except NotSent as error:
        return Pushed(0, outbox.waiting(), (error.reason,))
    while troubles < TROUBLES and (claimed := outbox.claim(at=clock(), after=last)) is not None:
        last = claimed.number
        failure = _send(outbox, server, claimed, clock)
        if failure is None:
            sent, troubles = sent + 1, 0
            continue
        reasons.append(failure.reason)
        if failure.verdict == "down":
            break
        troubles = troubles + 1 if failure.verdict == "trouble" else 0
    return Pushed(sent, outbox.waiting(), tuple(reasons))


def _send(outbox: Outbox, server: FhirServer, claimed: Claimed, clock: Callable[[], datetime]) -> NotSent | None:
    try:
        server.send(claimed.bundle, again=claimed.again)
    except NotSent as error:
        outbox.release(claimed, error.reason)
        return error
    except BaseException:
        outbox.release(claimed, "interrupted")
        raise
    outbox.accept(claimed, at=clock())
    return None
