"""Let the database know how far the audit log goes, so that whoever cuts off its end is found out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bot.errors import KlartextError
from bot.ports import SeenAudit, Witness

if TYPE_CHECKING:
    from bot.adapters.audit_log import AuditLog

log = logging.getLogger("klartext")


@dataclass
class AuditWatch:
    """Lets the database know how far the audit log goes; what was seen is never taken back by a log that is shorter."""

    log: AuditLog
    witness: Witness
    now: Callable[[], datetime]
    _known: tuple[int, int, int] | None = None

    def look(self) -> None:
        """Look once; what is wrong is logged, once for each change of the log."""
        sign = self.log.sign()
        if sign == self._known:
            return
        try:
            trail, seen = self.log.read(), self.witness.seen()
        except KlartextError:
            log.warning("the audit log cannot be looked at")
            return
        self._known = sign
        whole = [line for line in trail.lines if not line.flaw]
        if trail.lacks(seen):
            log.error("the end of the audit log is missing; see `klartext records audit --verify`")
        elif seen is None:
            if trail.lines:  # not seen anew: who took the row away may have cut off the log, too
                log.error("the database has not seen the audit log; see `klartext records audit --verify`")
            else:  # that of a machine that is new here
                self.witness.see(SeenAudit(0, "", self.now()))
        elif whole and whole[-1] is trail.lines[-1] and seen.lines < len(trail.lines):
            self.witness.see(SeenAudit(len(trail.lines), trail.last_hash, self.now()))
