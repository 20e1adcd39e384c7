"""What logs call a conversation. Pure."""

from __future__ import annotations

import hashlib

DIGITS = 12


def pseudonym(conversation: str) -> str:
    """Return a name that whoever knows the conversation's id can find in logs, and that does not lead back to the id.

    Ids have 128 random bits (or come from a secret), so that they cannot be found by trying.
    """
    return hashlib.sha256(b"klartext conversation\0" + conversation.encode("utf-8", "replace")).hexdigest()[:DIGITS]
