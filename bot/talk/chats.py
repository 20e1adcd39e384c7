"""Patients' chats within this process, for who tests the assistant: messages in, what was shown out, nothing is kept.

They go through the same reception as those of the page, with a database of their own that goes when they do; nobody
asks the questions of the radiology team in them.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.assistant import Assistant
from bot.ports import StoredConversation
from bot.response import Method, Response
from bot.sentences.reply import Content, Interface, SiteText
from bot.settings import Settings
from bot.talk.conversation import Message
from bot.talk.reception import Reception
from bot.text import AUTO
from bot.wiring import make_records


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """What a patient got for one message.

    Attributes:
        decision: answered, clarify, declined or urgent; ``talk`` for what was no question.
        language: Of the reply.
        shown: Texts of pairs, in reading order: the pair's id, and which of its texts.
        keys: Of the fixed sentences that were said, and ``site_FACT`` for a fact of the place.
        choices: Pair ids on offer.
        response: What the assistant decided last on the message; None where it was not asked.
    """

    decision: str
    language: str
    shown: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    choices: tuple[str, ...]
    response: Response | None


class _Overheard(Assistant):
    """An opened assistant whose last response can be asked for, and which may match by another method."""

    def __init__(self, assistant: Assistant, method: Method) -> None:
        self.__dict__.update(assistant.__dict__)  # it shares all that was opened and trained
        self.last: Response | None = None
        self._method: Method = method

    def answer(
        self, text: str, lang: str = AUTO, *, method: Method | None = None, ignore_flags: bool = False
    ) -> Response:
        self.last = super().answer(text, lang, method=method or self._method, ignore_flags=ignore_flags)
        return self.last


class Chat:
    """One patient's chat."""

    def __init__(self, reception: Reception, opened: StoredConversation, assistant: _Overheard) -> None:
        self._reception = reception
        self._opened = opened
        self._assistant = assistant

    def say(self, text: str) -> ChatTurn:
        """Take a message, any text at all, and return what the patient got."""
        self._assistant.last = None
        taken = self._reception.take(self._opened, Message(uuid.uuid4().hex, text))
        reply = taken.reply
        return ChatTurn(
            decision=taken.turn.decision,
            language=reply.language,
            shown=tuple((part.pair_id, part.field) for part in reply.parts if isinstance(part, Content)),
            keys=tuple(_key(part) for part in reply.parts if isinstance(part, Interface | SiteText)),
            choices=_pairs(reply.choices),
            response=self._assistant.last,
        )


def _key(part: Interface | SiteText) -> str:
    return part.key if isinstance(part, Interface) else f"site_{part.fact}"


def _pairs(parts: Sequence[object]) -> tuple[str, ...]:
    return tuple(part.pair_id for part in parts if isinstance(part, Content) and part.field == "question")


class Chats:
    """Begins chats with one assistant; use `open_chats`. Not for several threads at once."""

    def __init__(self, reception: Reception, heard: _Overheard) -> None:
        self._reception = reception
        self._heard = heard

    def begin(self, language: str) -> Chat:
        """Begin a chat on the page in a language; raise BadData when the catalog does not have it."""
        opened = self._reception.open(channel="page", language=language, consented=True)
        return Chat(self._reception, opened.conversation, self._heard)


@contextmanager
def open_chats(assistant: Assistant, *, method: Method = "hybrid") -> Iterator[Chats]:
    """Yield what begins chats; their database is deleted afterwards, and no other is touched."""
    with tempfile.TemporaryDirectory(prefix="klartext-chats-") as folder:
        # Not as the environment says: the database that it names is that of real patients.
        records = make_records(Settings(data=Path(folder)))
        heard = _Overheard(assistant, method)
        yield Chats(Reception(heard, records, lambda: datetime.now(UTC)), heard)
