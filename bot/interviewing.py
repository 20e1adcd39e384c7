"""The interview of one conversation, with its storage: what a turn changes is on disk before its reply is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime

from bot.errors import BadData
from bot.fhir_files import resources_in, shipped_terminology
from bot.interview.definition import load_form
from bot.interview.fhir_json import JsonObject, NotJson, as_object, dump, parse
from bot.interview.filling import event_to_json
from bot.interview.form import Form
from bot.interview.interview import Interview, Turn
from bot.interview.session import Session, head_to_json, session_from_json
from bot.matching.text import sanitise
from bot.ports import Interviews, Outgoing, StoredInterview
from bot.reply import Heard

# Makes the Bundle of a conversation from its interview and how many events were there when it was agreed to before.
HandOver = Callable[[StoredInterview, int], Outgoing | None]


def form_of(document: JsonObject, *more: JsonObject) -> Form:
    """Compile a Questionnaire, or a Bundle of one with its value sets; `more`: further value sets.

    Raises:
        BadData: There is not just one Questionnaire.
        UnsupportedQuestionnaire: It cannot be asked as it is meant.
    """
    resources = [each for every in (document, *more) for each in resources_in(every)]
    forms = [each for each in resources_in(document) if each.get("resourceType") == "Questionnaire"]
    if len(forms) != 1:
        raise BadData(f"There are {len(forms)} Questionnaires in the file. Give `--questionnaire` a file with one.")
    return load_form(forms[0], resources=resources, known=shipped_terminology())


class Interviewer:
    """Asks one form in one conversation."""

    def __init__(
        self, document: JsonObject, interviews: Interviews, conversation: str, *, hand_over: HandOver | None = None
    ) -> None:
        """Take the form for an interview that begins; one that was begun goes on with the form it began with.

        `hand_over` makes what leaves the house when the patient has agreed to the summary.

        Raises:
            UserFixable: The form cannot be asked.
        """
        self._interviews = interviews
        self._conversation = conversation
        self._hand_over = hand_over
        stored = interviews.interview(conversation)
        self._document = parsed(stored.form) if stored else dict(document)
        self._form = form_of(self._document)
        self._asking: tuple[date, Interview] | None = None
        self._stored = stored
        self._session: Session | None = None

    @property
    def begun(self) -> bool:
        return self._stored is not None

    @property
    def session(self) -> Session | None:
        """The state, once the interview was begun or resumed in this process."""
        return self._session

    @property
    def is_asking(self) -> bool:
        """Whether messages are for the interview."""
        return self._session is not None and self._session.talk.phase in ("asking", "summary", "choosing")

    @property
    def is_paused(self) -> bool:
        return self._session is not None and self._session.talk.phase == "paused"

    @property
    def heard(self) -> Heard | None:
        """What may be repeated to the patient."""
        if self._session is None or self._asking is None:
            return Heard(self._form)
        return self._asking[1].heard(self._session)

    def interview(self, at: datetime) -> Interview:
        """Return the interview as of today: formulas and dates depend on the day."""
        if self._asking is None or self._asking[0] != at.date():
            self._asking = (at.date(), Interview(self._form, now=at))
            if self._session is not None:
                self._session = self._asking[1].open(self._session)
        return self._asking[1]

    def start(self, language: str, *, at: datetime) -> Turn:
        """Begin, or go on where the patient stopped."""
        asked = self.interview(at)
        if self._stored is None:
            turn = asked.begin(language)
            self._stored = self._as_stored(turn.session, dump(self._document), at)
            self._interviews.begin_interview(self._stored)
            self._session = turn.session
            return turn
        if self._session is None:
            self._session = asked.open(session_of(self._stored))
        turn = asked.resume(self._session)
        self.keep(turn, "", at=at)
        return turn

    def keep(self, turn: Turn, said: str, *, at: datetime) -> None:
        """Store what a turn changed.

        Raises:
            BadData: Somebody else has gone on with this interview.
        """
        if self._stored is None or turn.session == self._session:
            return
        known = len(self._stored.events)
        change = self._as_stored(turn.session, self._stored.form, at)
        outgoing = self._outgoing(turn.session, change)
        self._interviews.keep_turn(change, known=known, said=sanitise(said).text, outgoing=outgoing)
        self._stored, self._session = change, turn.session

    def _outgoing(self, after: Session, change: StoredInterview) -> Outgoing | None:
        """Return what goes into the outbox with a turn: something where the patient has just agreed."""
        before = self._session
        if self._hand_over is None or before is None or after.talk.phase != "finished":
            return None
        agreed = before.talk.phase != "finished"
        return self._hand_over(change, before.talk.sent) if agreed else None

    def speak(self, language: str) -> None:
        """Go on in another language."""
        if self._session is not None:
            self._session = replace(self._session, language=language)

    def _as_stored(self, session: Session, form: str, at: datetime) -> StoredInterview:
        known = self._stored.events if self._stored else ()
        new = (dump(event_to_json(event)) for event in session.events[len(known) :])
        return StoredInterview(self._conversation, form, dump(head_to_json(session)), (*known, *new), at)


def session_of(stored: StoredInterview) -> Session:
    """Return a stored interview's state; its filling is still empty."""
    events = [parsed(event) for event in stored.events]
    return session_from_json({**parsed(stored.head), "events": [dict(event) for event in events]})


def parsed(text: str) -> JsonObject:
    """Read what was stored as JSON."""
    try:
        return as_object(parse(text).value)
    except NotJson:
        raise BadData("A stored interview cannot be read. Start a new conversation.") from None
