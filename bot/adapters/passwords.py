"""Passwords as argon2id hashes. Each takes processor and memory on purpose, so one is made at a time in a process.

Strangers may have as many made as they send forms to log in: patients are answered by the same machine meanwhile.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bot.errors import Busy, MissingExtra

MOST_WAITING = 4  # for their turn: each holds a thread that would serve somebody else
LONGEST_READ = 4 * 1024  # characters of what was typed


class OneAtATime:
    """Lets one thread in, a few wait, and turns others away."""

    def __init__(self, most_waiting: int) -> None:
        self._places = threading.BoundedSemaphore(1 + most_waiting)
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn, and hold it.

        Raises:
            Busy: So many wait already.
        """
        if not self._places.acquire(blocking=False):
            raise Busy("Too many people are logging in. Please try again in a minute.")
        try:
            with self._turn:
                yield
        finally:
            self._places.release()


HASHING = OneAtATime(MOST_WAITING)  # of this process, however many accounts it has opened


class Passwords:
    """Hashes passwords and compares them; whoever does, holds the `turn`, before the database is asked for anything.

    Attributes:
        nobody: The hash of no password: compared where there is no such login, since how long an answer takes must not
            tell who has an account.
    """

    def __init__(self) -> None:
        try:
            from argon2 import PasswordHasher
        except ImportError:
            raise MissingExtra(feature="Accounts of staff", extra="staff") from None
        self.hasher: Any = PasswordHasher()
        self.nobody: str = self.hasher.hash(secrets.token_urlsafe())
        self.turn = HASHING.turn

    def hash(self, password: str) -> str:
        hashed: str = self.hasher.hash(password)
        return hashed

    def is_right(self, stored: str, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return bool(self.hasher.verify(stored, password[:LONGEST_READ])) and stored is not self.nobody
        except (VerificationError, InvalidHashError):
            return False

    def renewed(self, stored: str, password: str) -> str:
        """Return the hash as it would be made today: the same one while it is made so."""
        return self.hash(password) if self.hasher.check_needs_rehash(stored) else stored
