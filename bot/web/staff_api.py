"""The staff API: who waits, what was said, and taking over. Served on this machine only, until staff have logins."""

from __future__ import annotations

import hmac
import re
import time
from dataclasses import asdict
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from bot.errors import CallRefused
from bot.settings import LOOPBACK_HOSTS
from bot.staff.calls import MAX_NAME, MAX_TEXT, Action, Call, CallKind, Calls, CallState, Deed, Pressing
from bot.talk.reception import Reception
from bot.text import sanitise
from bot.web.limits import RateLimit
from bot.web.problems import Problem, too_many
from bot.web.schemas import EXAM, In, PastTurnView, PatientText, past_turn_view

REQUESTS_PER_MINUTE = 600  # of all who have the token
GUESSES_PER_MINUTE = 10  # with another one
# What proxies add; the name of each begins with one of these.
FORWARDED = (
    "forwarded", "via", "x-forwarded", "x-real-ip", "x-original-", "x-rewrite-url", "x-host", "x-client-ip",
    "x-cluster-client-ip", "x-envoy-", "x-proxy", "true-client-ip", "client-ip", "cf-", "cdn-loop", "fastly-",
    "x-azure-", "x-appengine-", "x-amzn-", "x-arr-", "x-varnish",
)  # fmt: skip
HERE = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
CURSOR = r"^\d{1,9}\.\d{1,18}$"

Token = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, scheme_name="staff", description="KLARTEXT_STAFF_TOKEN.")),
]
CalledId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


class StaffName(In):
    """Who acts. Patients see the name when the call is taken."""

    name: PatientText = Field(min_length=1, max_length=MAX_NAME)


class StaffTaking(StaffName):
    """Who takes a call; `from`: whose it is now, to take it over from them."""

    from_: PatientText = Field(default="", alias="from", max_length=MAX_NAME)


class StaffText(StaffName):
    """What who has taken the call writes to the patient. White space is collapsed."""

    text: PatientText = Field(min_length=1, max_length=MAX_TEXT)


class CallView(BaseModel):
    """A call, without anything that the patient wrote."""

    conversation: str
    kind: CallKind
    state: CallState
    name: str = Field(description="Who acknowledged or took it; empty for nobody.")
    language: str
    opened: datetime
    since: datetime | None = Field(
        description="Of the oldest turn that nobody has acknowledged or answered; null when there is none."
    )
    pressing: Pressing = Field(description="The most pressing of what nobody has acknowledged; empty for nothing.")
    unanswered: int = Field(description="Messages since somebody took the call that nobody has answered.")
    patient_left: bool = Field(description="The patient has ended the conversation, and reads nothing any more.")
    exam: str | None = Field(
        None,
        exclude_if=lambda exam: exam is None,
        description="That the conversation is about; told in the list of calls, where there are several.",
    )


class InboxView(BaseModel):
    """Open calls: urgent ones that wait, other urgent ones, the rest; each oldest first."""

    at: datetime
    calls: list[CallView]


class ActionView(BaseModel):
    """What somebody did; `turn` is the number of the last turn then."""

    number: int
    at: datetime
    name: str
    what: Deed
    text: str
    turn: int


class LiveView(BaseModel):
    """A conversation as it goes on. `next` asks for what comes after: `?after=`."""

    call: CallView
    patient_left: bool = Field(description="The patient has ended the conversation, and reads nothing any more.")
    turns: list[PastTurnView]
    actions: list[ActionView]
    next: str


class StaffApi:
    """The operations for staff."""

    def __init__(self, reception: Reception, calls: Calls, *, token: str) -> None:
        self._reception = reception
        self._calls = calls
        self._token = token.encode()
        self._requests = RateLimit(REQUESTS_PER_MINUTE, clock_s=time.monotonic)
        self._guesses = RateLimit(GUESSES_PER_MINUTE, clock_s=time.monotonic)

    def inbox(self, exam: Annotated[str | None, Query(pattern=EXAM)] = None) -> InboxView:
        """Return who waits, who is seen to, and by whom; no text.

        `exam`: leave out who waits about another exam of the service; who has not said which one is in every list.
        """
        served = self._reception.several
        # What another exam is about that is not served any more would else be in no list.
        others = set(served) - {exam} if exam is not None else set()
        calls = [call for call in self._calls.open() if call.exam not in others]
        views = [_call_view(call, (call.exam or None) if served else None) for call in calls]
        return InboxView(at=self._reception.now(), calls=views)

    def live(self, conversation_id: CalledId, after: Annotated[str, Query(pattern=CURSOR)] = "0.0") -> LiveView:
        """Return a conversation that waits for a person, or what has come since `after`. Others are closed to staff."""
        call = self._calls.call(conversation_id)
        opened = self._reception.records.conversation(conversation_id)
        if call is None or opened is None or not call.is_open:
            raise CallRefused("deleted" if self._calls.was_deleted(conversation_id) else "none")
        known, seen = map(int, after.split("."))
        # What staff did is read first: what stands behind a turn must not come before it.
        actions = self._calls.actions(conversation_id, after=seen)
        taken = self._reception.transcript(conversation_id)
        country = self._reception.serving(opened).assistant.country
        turns = [past_turn_view(each, country) for each in taken]
        new = [turn for turn in turns if turn.number > known]
        reached = (max([known, *(turn.number for turn in turns)]), max([seen, *(each.number for each in actions)]))
        return LiveView(
            call=_call_view(call),
            patient_left=self._reception.has_left(opened),
            turns=new,
            actions=[_action_view(each) for each in actions],
            next=f"{reached[0]}.{reached[1]}",
        )

    def acknowledge(self, conversation_id: CalledId, body: StaffName) -> CallView:
        """Say that somebody has seen what waits: no further contact is told of it."""
        return _call_view(self._calls.acknowledge(conversation_id, _name(body.name), at=self._reception.now()))

    def take(self, conversation_id: CalledId, body: StaffTaking) -> CallView:
        """Write in place of the program, which is silent from now on, but for emergencies. One person can.

        With `from`, in place of the colleague of this name.
        """
        held_by = _name(body.from_) if body.from_ else ""
        return _call_view(self._calls.take(conversation_id, _name(body.name), at=self._reception.now(), from_=held_by))

    def message(self, conversation_id: CalledId, body: StaffText) -> CallView:
        """Write to the patient; whoever has taken the call, and nobody else."""
        name, text = _name(body.name), _text(body.text)
        return _call_view(self._calls.write(conversation_id, name, text, at=self._reception.now()))

    def hand_back(self, conversation_id: CalledId, body: StaffName) -> CallView:
        """Let the program answer again, or close a call that nobody had to take."""
        return _call_view(self._calls.hand_back(conversation_id, _name(body.name), at=self._reception.now()))

    def admit(self, request: Request, token: Token) -> None:
        """Raise Problem unless a request is from this machine and has the token."""
        if not _is_near(request):
            raise Problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
        given = token.credentials.encode("utf-8", "replace") if token else b""
        known = hmac.compare_digest(given, self._token)
        if wait_s := (self._requests if known else self._guesses).wait_s(""):
            raise too_many(wait_s)
        if not known:
            raise Problem(
                HTTPStatus.UNAUTHORIZED,
                "Send KLARTEXT_STAFF_TOKEN as `Authorization: Bearer TOKEN`.",
                headers={"WWW-Authenticate": "Bearer"},
            )


def _action_view(action: Action) -> ActionView:
    return ActionView(**asdict(action))


def _call_view(call: Call, exam: str | None = None) -> CallView:
    return CallView(
        conversation=call.conversation,
        kind=call.kind,
        state=call.state,
        name=call.name,
        language=call.language,
        opened=call.opened,
        since=call.since,
        pressing=call.pressing,
        unanswered=call.unanswered,
        patient_left=call.patient_left,
        exam=exam,
    )


def _name(written: str) -> str:
    found = sanitise(written).text
    if len(found) > MAX_NAME or not any(each.isalpha() for each in found):
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"Send a `name` with letters, of at most {MAX_NAME} characters.")
    return found


def _text(written: str) -> str:
    found = sanitise(written)
    if not found.text or found.too_long:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"Send a `text` of 1 to {MAX_TEXT} characters.")
    return found.text


def _is_near(request: Request) -> bool:
    """Whether a request was made on this machine, to this machine, and not passed on by a proxy in front."""
    client = request.client.host if request.client is not None else ""
    hosts = request.headers.getlist("host")
    passed_on = any(name.startswith(FORWARDED) for name in request.headers)
    return client in LOOPBACK_HOSTS and len(hosts) == 1 and bool(HERE.fullmatch(hosts[0])) and not passed_on
