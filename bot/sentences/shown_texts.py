"""Which texts of which pairs a reply showed, each named by a hash: to find later whom a text was shown to. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from bot.sentences.reply import Content, ContentField, OtherExam, Reply

SHOWN_DIGITS = 12  # of a hash, where people read it


def text_hash(text: str) -> str:
    """Return the name of a shown text: the SHA-256 of it in UTF-8, 64 hex digits, of which the first 12 do."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of a pair as a patient saw it."""

    pair_id: str
    field: ContentField
    language: str
    text: str

    @property
    def hash(self) -> str:
        return text_hash(self.text)

    @property
    def name(self) -> str:
        """The pair with the hash, as `klartext records find --shown` takes it."""
        return f"{self.pair_id}@{self.hash[:SHOWN_DIGITS]}"


def shown_texts(reply: Reply) -> Iterator[ShownText]:
    """Yield the texts of pairs in a reply, in reading order, with those that were offered as choices."""
    for part in (*reply.parts, *reply.choices):
        if isinstance(part, (Content, OtherExam)):
            yield ShownText(part.pair_id, part.field, reply.language, part.text)
