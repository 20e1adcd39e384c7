"""Blind indexes: keyed hashes (HMAC-SHA256) by which a patient or a conversation is found without being named.

Each purpose has values of its own, so that an index in the database and the audit log cannot be laid side by side. A
key of a blind index is derived from a key of the settings, which is not used for anything here itself.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

BLIND_DIGITS = 32  # hex digits of a blind value: 128 bits
ID_DIGITS = 8


@dataclass(frozen=True, slots=True)
class BlindKey:
    """One key; `id` names it where something was made with it, and tells nothing of it."""

    id: str
    secret: bytes = field(repr=False)

    @classmethod
    def derived(cls, source: bytes) -> Self:
        """Derive a key from one that has another purpose."""
        return cls.of(hmac.new(source, b"klartext blind index 1", hashlib.sha256).digest())

    @classmethod
    def of(cls, secret: bytes) -> Self:
        return cls(hashlib.sha256(b"klartext blind key\0" + secret).hexdigest()[:ID_DIGITS], secret)

    def blind(self, purpose: str, value: str) -> str:
        """Return what stands for a value; under another purpose something else does."""
        content = purpose.encode() + b"\0" + value.encode("utf-8", "replace")
        return hmac.new(self.secret, content, hashlib.sha256).hexdigest()[:BLIND_DIGITS]

    def marked(self, purpose: str, value: str) -> str:
        """Return the same with the key's id before it."""
        return f"{self.id}:{self.blind(purpose, value)}"

    def mac(self, content: bytes) -> str:
        """Return what only who has the key can make of a content."""
        return hmac.new(self.secret, b"mac\0" + content, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class BlindKeys:
    """The key that is written with, and all that are known, that one first."""

    known: tuple[BlindKey, ...]

    @classmethod
    def derived(cls, sources: Sequence[bytes]) -> Self:
        return cls(tuple(BlindKey.derived(source) for source in sources))

    @property
    def current(self) -> BlindKey:
        return self.known[0]
