"""Patients' texts encrypted at rest: AES-256-GCM with keys that the operator holds.

What is stored of a text is ``k1:KEY:…``: a format, the first 8 hex digits of the key's SHA-256, and nonce, ciphertext
and tag in base64. The place (table and column) is authenticated with it: a text cannot be moved to another column.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from bot.errors import BadData, MissingExtra, UserFixable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FORMAT = "k1"
KEY_BYTES = 32
NONCE_BYTES = 12  # random: good for four billion texts under one key


def new_key() -> str:
    """Return a random key as it stands in ``KLARTEXT_TEXT_KEY``."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()


@dataclass(frozen=True, slots=True)
class TextCipher:
    """Encrypts with the first of its keys, reads with all of them.

    Attributes:
        current: Id of the key that encrypts.
        keys: By id.
    """

    current: str
    keys: Mapping[str, AESGCM] = field(repr=False)

    @classmethod
    def of(cls, written: str) -> Self:
        """Read keys, separated by commas or white space.

        Raises:
            UserFixable: One of them is none. It is not quoted.
            MissingExtra: The library is not installed.
        """
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise MissingExtra(feature="KLARTEXT_TEXT_KEY", extra="encryption") from None
        raw = raw_keys(written)
        if not raw:
            raise UserFixable("KLARTEXT_TEXT_KEY holds no key. Make one with `klartext records new-key`.")
        keys = {_id(each): AESGCM(each) for each in raw}
        return cls(_id(raw[0]), keys)

    def encrypt(self, text: str, place: str) -> str:
        nonce = os.urandom(NONCE_BYTES)
        sealed = nonce + self.keys[self.current].encrypt(nonce, text.encode(), place.encode())
        return f"{FORMAT}:{self.current}:{base64.b64encode(sealed).decode()}"

    def decrypt(self, stored: str, place: str) -> str:
        """Return a text; raise BadData when it is not one that these keys encrypted in this place."""
        from cryptography.exceptions import InvalidTag

        key = self.keys.get(self.key_of(stored))
        if key is None:
            raise BadData(
                "A stored text is not encrypted with any key in KLARTEXT_TEXT_KEY. See `klartext records rekey`."
            )
        try:
            sealed = base64.b64decode(stored.split(":", 2)[2], validate=True)
            return key.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError):
            raise BadData("A stored text was damaged or moved. Restore the database from its backup.") from None

    def key_of(self, stored: str) -> str:
        """Return the id of the key that a stored text was encrypted with; empty when it is not encrypted."""
        parts = stored.split(":", 2)
        return parts[1] if len(parts) == 3 and parts[0] == FORMAT else ""


def raw_keys(written: str) -> list[bytes]:
    """Return the keys as bytes, in their order; raise UserFixable when one of them is none. It is not quoted."""
    return [_raw(number, each) for number, each in enumerate(written.replace(",", " ").split(), 1)]


def _raw(number: int, written: str) -> bytes:
    try:
        found = base64.urlsafe_b64decode(written + "=" * (-len(written) % 4))
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != KEY_BYTES:
        raise UserFixable(
            f"Key {number} in KLARTEXT_TEXT_KEY is not {KEY_BYTES} bytes in base64. "
            "Make one with `klartext records new-key`."
        )
    return found


def _id(key: bytes) -> str:
    return hashlib.sha256(b"klartext text key\0" + key).hexdigest()[:8]
