"""The type of columns that hold what patients wrote, or what tells of it: encrypted where a key is configured."""

from __future__ import annotations

from sqlalchemy import Dialect, String
from sqlalchemy.engine import Engine
from sqlalchemy.types import TypeDecorator

from bot.adapters.text_cipher import TextCipher

_CIPHER = "klartext_cipher"  # on an engine's dialect, of which every engine has its own


def use_cipher(engine: Engine, cipher: TextCipher) -> None:
    """From now on, encrypt and decrypt on this engine."""
    setattr(engine.dialect, _CIPHER, cipher)


class PatientText(TypeDecorator[str]):
    """A text of a patient. Rules and queries see it as it was written; comparing it in SQL is not possible."""

    impl = String
    cache_ok = True

    def __init__(self, place: str) -> None:
        """Take the column's table and name, which are authenticated: they must stay when the column is renamed."""
        super().__init__()
        self.place = place

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        cipher: TextCipher | None = getattr(dialect, _CIPHER, None)
        # That there is no text is no secret; and what was sent is emptied.
        return cipher.encrypt(value, self.place) if cipher is not None and value else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        cipher: TextCipher | None = getattr(dialect, _CIPHER, None)
        return cipher.decrypt(value, self.place) if cipher is not None and value else value
