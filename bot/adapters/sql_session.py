"""Sessions on the database: errors in our words, and how long a locked database is waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event
from sqlalchemy.engine import Engine, ExceptionContext
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from bot.errors import AlreadyStored, Unreachable

LOCKED_S = 5.0  # after one has waited in vain for a locked SQLite, others hardly wait for so long
HARDLY_MS = 200


@contextmanager
def talking_to(engine: Engine) -> Iterator[Session]:
    """Open a session; what goes wrong with the database is raised as AlreadyStored or Unreachable."""
    try:
        with Session(engine) as session:
            yield session
    except IntegrityError as error:
        raise AlreadyStored("Another request stored this first.") from error
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise Unreachable(
            f"The database does not answer ({type(error).__name__}). Check that it runs and has space."
        ) from error


class SqlitePatience:
    """Lets the first wait for another writer to SQLite, and those that come while it is locked hardly.

    Else everybody who asks something waits as long as the first, and all threads of the service with them.
    """

    def __init__(self, engine: Engine, *, wait_s: float) -> None:
        self._usual_ms = int(wait_s * 1000)
        self._lock = threading.Lock()
        self._locked_until_s = 0.0
        event.listen(engine, "checkout", self._set)
        event.listen(engine, "handle_error", self._note)

    def _set(self, connection: object, _: object, __: object) -> None:
        with self._lock:
            is_locked = time.monotonic() < self._locked_until_s
        wait_ms = min(HARDLY_MS, self._usual_ms) if is_locked else self._usual_ms
        connection.execute(f"PRAGMA busy_timeout = {wait_ms}")  # type: ignore[attr-defined]

    def _note(self, context: ExceptionContext) -> None:
        if "locked" in str(context.original_exception):
            with self._lock:
                self._locked_until_s = time.monotonic() + LOCKED_S
