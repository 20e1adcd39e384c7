"""The JSON API: conversations that their token opens."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated

from fastapi import Path, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from bot.errors import BadData, NoSuchExam
from bot.ports import Booking, FlagReason, StoredConversation, StoredFlag
from bot.talk.conversation import Message
from bot.talk.exams import title
from bot.talk.reception import Reception
from bot.talk.uploads import FileRefused, file_id
from bot.text import sanitise
from bot.web.limits import FULL_FILES, RateLimit
from bot.web.metrics import Metrics
from bot.web.page.app import FILE
from bot.web.problems import Problem, no_access, too_many
from bot.web.schemas import (
    TURN_ID,
    ConversationView,
    ExamView,
    ExportView,
    FlagView,
    NewConversation,
    NewFlag,
    NewTurn,
    StaffView,
    TranscriptView,
    TurnView,
    flag_view,
    reply_view,
    staff_line_view,
    transcript_view,
    turn_view,
)
from bot.web.staff_lines import actions_for_patient

log = logging.getLogger("klartext")
# Tokens travel in a header: addresses end in logs and histories.
Token = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, scheme_name="conversation", description="The conversation's token.")),
]
ConversationId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
TurnId = Annotated[str, Path(pattern=TURN_ID)]


class ConversationApi:
    """The operations of the API. FastAPI runs them in threads: they block while deciding and storing."""

    def __init__(
        self,
        reception: Reception,
        metrics: Metrics,
        turns: RateLimit,
        *,
        most_bytes: int = 0,
        portals: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`most_bytes`: of a file; 0 where none are taken. `portals`: their keys by name."""
        self._portals = portals
        self._reception = reception
        self._most_bytes = most_bytes
        self._metrics = metrics
        self._turns = turns

    def begin(self, body: NewConversation, request: Request) -> ConversationView:
        """Begin a conversation. The answer holds the token that opens it.

        Whose it is, and for which visit, only a portal may say: with its key as `Authorization: Bearer KEY`.
        """
        portal = self._portal(request)
        if body.names_somebody and portal is None:
            raise Problem(HTTPStatus.FORBIDDEN, "Only a portal may say who a patient is: send its key as a bearer.")
        if not body.consent:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY, "Without consent nothing may be stored, so no conversation begins."
            )
        try:
            opened = self._reception.open(
                channel="api",
                language=body.language,
                consented=True,
                patient=body.patient or None,
                booking=Booking(body.appointment, body.order, body.accession),
                exam=body.exam,
            )
        except NoSuchExam as error:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        except BadData:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "This catalog does not have that language.") from None
        self._metrics.conversation("api")
        serving = self._reception.serving(opened.conversation)
        if portal is not None:
            log.info("conversation begun by a portal", extra={"fields": {"portal": portal}})
        return ConversationView(
            id=opened.conversation.id,
            token=opened.secret,
            language=opened.conversation.language,
            sample=serving.assistant.sample,
            release=serving.assistant.release or None,
            exam=opened.conversation.exam,
            welcome=reply_view(opened.welcome, serving.assistant.country),
        )

    def exams(self) -> list[ExamView]:
        """Tell which exams this service answers questions about."""
        return [
            ExamView(name=name, titles={language: title(each, language) for language in each.languages})
            for name, each in self._reception.served.items()
        ]

    def _portal(self, request: Request) -> str | None:
        """Return the name of the portal whose key came with a request; all keys are compared, in the same time."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        sent = hashlib.sha256(given.strip().encode("utf-8", "replace")).digest()
        known = {name: hashlib.sha256(key.encode()).digest() for name, key in self._portals.items()}
        found = [name for name, key in known.items() if hmac.compare_digest(key, sent)]
        return found[0] if found and scheme.lower() == "bearer" else None

    def turn(self, conversation_id: ConversationId, body: NewTurn, token: Token) -> TurnView:
        """Send a message. It is stored before this answers. Sent again with its turn_id, it gets the same answer."""
        opened = self._admit(conversation_id, token)
        started_s = time.perf_counter()
        taken = self._reception.take(opened, Message(body.turn_id, body.text or "", body.choice))
        self._metrics.turn("api", taken, time.perf_counter() - started_s)
        return turn_view(taken, self._reception.serving(opened).assistant.country)

    def file(self, conversation_id: ConversationId, turn_id: TurnId, request: Request, token: Token) -> TurnView:
        """Send a file as the answer to the open question: its bytes are the body, its name is in Content-Disposition.

        Sent again with its turn_id, it gets the same answer.
        """
        opened = self._admit(conversation_id, token)
        file = request.scope.get(FILE) or FileRefused("not_asked")
        if isinstance(file, FileRefused):
            raise file
        started_s = time.perf_counter()
        taken = self._reception.take_file(opened, turn_id, file, most_bytes=FULL_FILES * self._most_bytes)
        self._metrics.turn("api", taken, time.perf_counter() - started_s)
        return turn_view(taken, self._reception.serving(opened).assistant.country)

    def remove_file(self, conversation_id: ConversationId, turn_id: TurnId, token: Token) -> TurnView:
        """Take the file of a turn out of the answers, and delete it. Sent again, it gets the same answer.

        Where the answers were handed over before, they are handed over again without it.
        """
        opened = self._admit(conversation_id, token)
        started_s = time.perf_counter()
        taken = self._reception.remove_file(opened, file_id(opened.id, turn_id))
        self._metrics.turn("api", taken, time.perf_counter() - started_s)
        return turn_view(taken, self._reception.serving(opened).assistant.country)

    def transcript(self, conversation_id: ConversationId, token: Token) -> TranscriptView:
        """Return the conversation so far."""
        opened = self._admit(conversation_id, token)
        turns = self._reception.transcript(opened.id)
        assistant = self._reception.serving(opened).assistant
        staff = actions_for_patient(self._reception, opened.id)
        return transcript_view(opened, turns, staff, sample=assistant.sample, country=assistant.country)

    def staff(self, conversation_id: ConversationId, token: Token, after: Annotated[int, Query(ge=0)] = 0) -> StaffView:
        """Tell where a call for staff stands, and what they wrote: while it is open, ask every few seconds."""
        opened = self._admit(conversation_id, token)
        call = self._reception.desk.call(opened.id) if self._reception.desk is not None else None
        actions = actions_for_patient(self._reception, opened.id, after=after)
        lines = [staff_line_view(action) for action in actions]
        return StaffView(state=call.state if call is not None else None, lines=lines)

    def export(self, conversation_id: ConversationId, token: Token) -> ExportView:
        """Return everything that is stored of the conversation."""
        transcript = self.transcript(conversation_id, token)
        flags = self._reception.records.flags(conversation_id)
        files = self._reception.records.files(conversation_id)
        return ExportView(**dict(transcript), flags=[flag_view(flag) for flag in flags], files=files)

    def flag(
        self, conversation_id: ConversationId, turn_id: TurnId, reason: FlagReason, body: NewFlag, token: Token
    ) -> FlagView:
        """Say that an answer is wrong or too complicated. Sent again, it replaces what was said before."""
        opened = self._admit(conversation_id, token)
        flag = StoredFlag(turn_id, reason, sanitise(body.comment).text, self._reception.now())
        try:
            self._reception.flag(opened.id, flag)
        except BadData:
            raise Problem(HTTPStatus.NOT_FOUND, "This conversation has no such turn.") from None
        self._metrics.flag(reason)
        return flag_view(flag)

    def erase(self, conversation_id: ConversationId, token: Token) -> None:
        """Delete the conversation and everything in it."""
        self._reception.erase(self._admit(conversation_id, token))

    def _admit(self, id_: str, token: HTTPAuthorizationCredentials | None) -> StoredConversation:
        opened = self._reception.admitted(id_, token.credentials) if token else None
        if opened is None:
            raise no_access()
        if wait_s := self._turns.wait_s(id_):
            raise too_many(wait_s)
        return opened
