"""The interview of one conversation: it tells what a turn changes, to be stored before the reply is shown."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache
from importlib.metadata import version

from bot.catalog.fhir_files import resources_in, shipped_synonyms, shipped_terminology
from bot.errors import BadData
from bot.interview.form.form import Form, Path
from bot.interview.form.modular import roots
from bot.interview.load import Beside, compile_form
from bot.interview.manners.agreement import asks_consent
from bot.interview.manners.decisions import Reason
from bot.interview.manners.interview import Interview
from bot.interview.manners.page_turn import PageTurn
from bot.interview.manners.session import Said, Session, Talk, head_to_json, session_from_json, with_answers
from bot.interview.manners.turn import Turn
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, NotJson, as_object, dump, parse, string
from bot.interview.walk.filling import (
    STATE_VERSION,
    Filling,
    Given,
    Noted,
    Renewed,
    Shown,
    answers_from_json,
    event_to_json,
    filling_from_json,
    filling_to_json,
    value_to_json,
)
from bot.interview.walk.migration import Begun, Migration, agreement_path, carry_over
from bot.interview.walk.plan import Plan, make_plan
from bot.outbox_ports import Outgoing
from bot.ports import InterviewChange, Interviews, StoredFile, StoredInterview
from bot.sentences.reply import Heard
from bot.talk.uploads import FileLimits, FileRefused, SentFile, file_id, file_ids

log = logging.getLogger("klartext")
_RENEWED = dump({"event": Renewed.__name__})[:-1]  # what such an event begins with as it is stored
# Makes the Bundle of a conversation from its interview and how many events were there when it was agreed to before.
HandOver = Callable[[StoredInterview, int], Outgoing | None]
MOST_IN_A_NAME = 2  # words


def form_of(document: JsonObject, *more: JsonObject, launch: Collection[str] = ()) -> Form:
    """Compile a Questionnaire, or a Bundle of one with its value sets and its parts.

    Args:
        document: What holds the Questionnaire.
        more: Further value sets.
        launch: Names of the launch context that are handed in.

    Raises:
        BadData: There is not just one Questionnaire.
        UnsupportedQuestionnaire: It cannot be asked as it is meant.
    """
    resources = [each for every in (document, *more) for each in resources_in(every)]
    forms = roots([each for each in resources_in(document) if each.get("resourceType") == "Questionnaire"])
    if len(forms) != 1:
        raise BadData(f"There are {len(forms)} Questionnaires in the file. Give `--questionnaire` a file with one.")
    beside = Beside(resources, shipped_terminology(), shipped_synonyms(), frozenset(launch))
    return compile_form(forms[0], beside)


def launch_of(stored: StoredInterview) -> dict[str, JsonObject]:
    """Return the launch context of a stored interview: resources by name."""
    found = as_object(parsed(stored.head).get("launch"))
    return {name: as_object(resource) for name, resource in found.items()}


def known_in(stored: StoredInterview) -> dict[str, tuple[Answer, ...]]:
    """Return what a stored interview knows from an earlier one, by linkId."""
    found = as_object(parsed(stored.head).get("known"))
    return {link_id: answers_from_json(answers) for link_id, answers in found.items()}


def _as_json(launch: Mapping[str, JsonObject]) -> dict[str, JsonValue]:
    return {name: dict(launch[name]) for name in sorted(launch)}


@dataclass(frozen=True, slots=True)
class House:
    """What an interview gets from where it is held.

    Attributes:
        hand_over: Makes what leaves the house when the patient has agreed to the summary.
        launch: Resources that formulas may use, by name.
        files: What files the site lets patients send; None where it lets them send none.
        migrations: How interviews that were begun with earlier versions of the form go on with it.
        asks_who: Whether it is asked once who fills the form in.
        known: Returns what the patient answered earlier that a form may propose, by linkId.
    """

    hand_over: HandOver | None = None
    launch: Mapping[str, JsonObject] = field(default_factory=dict)
    files: FileLimits | None = None
    migrations: Sequence[Migration] = ()
    asks_who: bool = False
    known: Callable[[Form], Mapping[str, tuple[Answer, ...]]] = field(default=lambda _: {})


@dataclass(frozen=True, slots=True)
class Filled:
    """How far an interview is, for who shows it elsewhere.

    Attributes:
        form: What is asked.
        answers: What was given and confirmed, or calculated, by linkId: for each place where the question stands (one,
            or as many as the group around it was filled in), nothing where it is not asked for just now.
        open: The linkId of what is asked; empty where that is no single item.
        asking: Whether messages are for the interview.
        agreed: Whether the patient has agreed to all of it as it stands.
    """

    form: Form
    answers: Mapping[str, tuple[tuple[Answer, ...], ...]]
    open: str
    asking: bool
    agreed: bool


class Interviewer:
    """Asks one form in one conversation."""

    def __init__(
        self,
        document: str,
        interviews: Interviews,
        conversation: str,
        house: House = House(),  # it is frozen
    ) -> None:
        """Take the form, as JSON text, for an interview that begins.

        One that was begun goes on with its own, until `renew` carries it over where there is a migration for that.

        Args:
            document: The Questionnaire, or a Bundle with its value sets.
            interviews: Where interviews are kept.
            conversation: Its id.
            house: What surrounds it.

        Raises:
            UserFixable: The form cannot be asked.
        """
        self._interviews = interviews
        self._conversation = conversation
        self._hand_over = house.hand_over
        self._limits = house.files
        self._asks_who, self._know = house.asks_who, house.known
        stored = interviews.interview(conversation)
        self._document = asked_form(stored) if stored else document
        self._later, self._migrations = document, house.migrations
        self._launch = launch_of(stored) if stored else dict(house.launch)
        self._known: Mapping[str, tuple[Answer, ...]] = known_in(stored) if stored else {}
        self._form, self._plan = _compiled(self._document, frozenset(self._launch))
        self._asking: tuple[date, Interview] | None = None
        self._stored = stored
        self._session: Session | None = None
        self._files: dict[str, StoredFile] = {}  # that came in this turn
        self._agreed: Session | None = None  # as it was before the patient agreed to it in this turn

    @property
    def begun(self) -> bool:
        return self._stored is not None

    @property
    def session(self) -> Session | None:
        """The state, once the interview was begun or resumed in this process."""
        return self._session

    def asks_for_a_name(self, text: str, at: datetime) -> bool:
        """Say whether the form asks for what is else a wish: "English", of which language one speaks."""
        if self.session is None or not self.is_asking or text.strip().startswith("/"):
            return False
        listener = self.interview(at).listener(self.session)
        return listener.hears_just_an_answer(text) or (listener.wants_words and len(text.split()) <= MOST_IN_A_NAME)

    @property
    def is_asking(self) -> bool:
        """Whether messages are for the interview."""
        return self._session is not None and self._session.talk.phase not in ("paused", "finished")

    @property
    def asks_consent(self) -> bool:
        """Whether the patient is asked just now whether they agree to the questions."""
        if not self.is_asking or self._session is None or self._asking is None:
            return False
        link_id = self._asking[1].open_question(self._session).link_id
        return bool(link_id) and asks_consent(self._form.by_link_id[link_id])

    @property
    def is_paused(self) -> bool:
        return self._session is not None and self._session.talk.phase == "paused"

    @property
    def is_finished(self) -> bool:
        """Whether the patient has agreed to the summary: corrections are still taken."""
        return self._session is not None and self._session.talk.phase == "finished"

    @property
    def form(self) -> Form:
        return self._form

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many parts of the form are done, and how many it has; None unless questions are asked."""
        if not self.is_asking or self._session is None or self._asking is None:
            return None
        parts = self._asking[1].engine.parts
        return min(self._session.talk.reached, parts), parts

    @property
    def heard(self) -> Heard:
        """What may be repeated to the patient."""
        if self._session is None or self._asking is None:
            return Heard(self._form)
        return Heard(self._form, self._asking[1].heard(self._session))

    def interview(self, at: datetime) -> Interview:
        """Return the interview as of today: formulas and dates depend on the day."""
        if self._asking is None or self._asking[0] != at.date():
            asked = Interview(self._form, now=at, launch=self._launch, plan=self._plan, known=self._known)
            self._asking = (at.date(), asked)
            if self._session is not None:
                self._session = self._asking[1].open(self._session)  # formulas may give something else today
        return self._asking[1]

    def reopen(self, *, at: datetime) -> None:
        """Take up what was stored, without a word."""
        if self._stored is not None and self._session is None:
            session, asking = session_of(self._stored), self.interview(at)
            filling = self._filling(self._stored, at)
            self._session = asking.open(session) if filling is None else replace(session, filling=filling)

    @property
    def is_outdated(self) -> bool:
        """Whether a later version of the form is asked by now, and what was answered can be carried over to it."""
        return self._session is not None and self._migration is not None

    @property
    def is_complete(self) -> bool:
        """Whether the response is complete, and nothing was changed since the patient agreed to it."""
        session = self._session
        if session is None or session.status == "in-progress":
            return False
        return session.talk.sent == len(session.past) + len(session.events)

    @property
    def _migration(self) -> Migration | None:
        if not self._migrations or self._document == self._later:
            return None
        ends = _canonical(self._document), _canonical(self._later)
        ways = {
            ((each.questionnaire, each.earlier), (each.questionnaire, each.later)): each for each in self._migrations
        }
        return ways.get(ends)

    def filled(self, *, at: datetime) -> Filled | None:
        """Return how far the interview is; None before it was begun."""
        if self._session is None:
            return None
        session, form = self._session, self._form
        filling = session.filling
        answers = {
            item.link_id: tuple(
                tuple(filling.at(place)) if filling.is_enabled(form, place) else ()
                for place in filling.instances(form, item)
            )
            for item in form.by_link_id.values()
            if item.is_question
        }
        waiting = self.interview(at).open_question(session)
        return Filled(form, answers, waiting.link_id, self.is_asking, self.is_complete)

    def renew(self, *, at: datetime) -> Turn:
        """Go on with the later version of the form, where the interview is outdated: say so, and ask what is open.

        Raises:
            BadData: It is not outdated.
        """
        migration, asked = self._migration, self.interview(at)
        if migration is None or self._session is None:
            raise BadData("There is no later version of the form for this interview. Go on with it as it is.")
        before, begun_at = self._session, self._stored.begun_at if self._stored is not None else at
        hours = (at - begun_at).total_seconds() / 3600 if begun_at is not None else math.inf
        begun = Begun(self._form, before.filling, before.events, before.language, hours)
        self._document = self._later
        self._form, self._plan = _compiled(self._document, frozenset(self._launch))
        self._known = {}  # it was for the questions of before
        self._asking, self._session = None, None
        asked = self.interview(at)
        talk = Talk(sent=before.talk.sent, earlier=before.talk.earlier)
        past = (*before.past, *before.events, Renewed((), self._document))
        fresh = Session(before.language, (), talk, before.status, past)
        turn = asked.renewed(fresh, carry_over(migration, begun, asked.engine))
        self._session = turn.session
        return turn

    def _filling(self, stored: StoredInterview, at: datetime) -> Filling | None:
        """Return the stored state; None where events must be replayed: it is damaged, or of another day or program."""
        state = as_object(parsed(stored.head).get("state"))
        if state.get("of") != self._state_of(at):
            return None
        try:
            return filling_from_json(as_object(state.get("filling")))
        except BadData as error:
            log.warning("state of an interview worked out anew: %s", error)
            return None

    def _state_of(self, at: datetime) -> str:
        """Return what a state depends on besides its events: the form, the day, and who works it out."""
        launch = dump(_as_json(self._launch)) if self._launch else ""
        known = f"{_own_version()} {STATE_VERSION} {at.date()} {self._document}{launch}"
        return hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()[:32]

    def start(self, language: str, *, at: datetime) -> Turn:
        """Begin, or go on where the patient stopped."""
        asked = self.interview(at)
        self.reopen(at=at)
        if self.is_outdated and not self.is_complete:
            return self.renew(at=at)
        if self._session is None:
            self._known, self._asking = self._know(self._form), None
            asked = self.interview(at)
        turn = asked.begin(language, asks_who=self._asks_who) if self._session is None else asked.resume(self._session)
        self._session = turn.session
        return turn

    def pages(self, language: str, *, at: datetime) -> PageTurn:
        """Return the interview as pages of a form, whether it was begun or not."""
        return self.interview(at).pages(self._session, language, asks_who=self._asks_who)

    def take(self, turn: Turn) -> None:
        """Go on from a turn of this interview."""
        before, self._session = self._session, turn.session
        after = turn.session.talk
        agreed = after.phase == "finished" and before is not None
        if before is not None and agreed and (before.talk.phase != "finished" or before.talk.sent != after.sent):
            self._agreed = before
            if turn.session.status == "in-progress" and self._asking is not None:
                self._log_refusals(self._asking[1].refusals(turn.session))

    def keep_words(  # noqa: PLR0913 - what was said, and what it came to
        self, before: Session | None, text: str, *, unanswered: bool, about: str, alarms: bool, at: datetime
    ) -> Said | None:
        """Keep what a message says that leaves something to decide, whoever answered it; return what is said of it.

        While a question is open, the form itself has said what became of the message: nothing then.

        Args:
            before: As things stood when it was said; None before the interview began.
            text: The message.
            unanswered: Whether it got no answer of its own.
            about: The question that it was answered as; empty for none.
            alarms: Whether it raised an alarm.
            at: The moment.
        """
        if before is None or self._session is None:
            return None
        known = self._session
        self._session = self.interview(at).keep_words(
            before, known, text, unanswered=unanswered, about=about, alarms=alarms
        )
        noted = self._session.events[-1] if self._session.events != known.events else None
        if not isinstance(noted, Noted) or before.talk.phase == "asking":
            return None
        told = with_answers("noted_too", noted.path[-1][0], (Answer("string", noted.text),))
        return Said(known.language, (told,))

    def to_decide(self, *, at: datetime) -> tuple[Reason, ...]:
        """Return what staff have to decide before the exam, once the patient has agreed to the answers.

        What is named at the question for consent is told at once: nobody knows whether an answer to it comes.
        """
        if self._session is None or not (self.is_finished or self.asks_consent):
            return ()
        found = self.interview(at).to_decide(self._session)
        return found if self.is_finished else tuple(each for each in found if each.kind in ("words", "unread"))

    @property
    def takes_files(self) -> bool:
        """Whether the site lets patients send files."""
        return self._limits is not None

    @property
    def wanted_file(self) -> FileLimits | None:
        """What files the open question takes, of those that the site does; None where none would do."""
        if not self.is_asking or self._session is None or self._asking is None or self._limits is None:
            return None
        asked, session = self._asking[1], self._session
        if not asked.wants_file(session):
            return None
        samples = {kind: Answer("attachment", {"contentType": kind}) for kind in self._limits.kinds}
        kinds = [kind for kind, sample in samples.items() if "mime-type" not in asked.file_problems(session, sample)]
        wanted = asked.most_bytes_wanted(session)
        most = self._limits.most_bytes if wanted is None else min(wanted, self._limits.most_bytes)
        return FileLimits(tuple(kinds), most) if kinds and most > 0 else None

    @property
    def files(self) -> tuple[tuple[str, Answer], ...]:
        """The files that were sent and stand as answers, by their ids, in the order in which they came."""
        if self._session is None or self._asking is None:
            return ()
        return tuple((id_, each) for each in self._asking[1].files(self._session) for id_ in file_ids([each]))

    @property
    def sent_files(self) -> tuple[int, int]:
        """How many files stand as answers, and how many bytes they have."""
        sizes = [as_object(each.value).get("size") for _, each in self.files]
        return len(sizes), sum(size for size in sizes if isinstance(size, int))

    def attach(self, file: SentFile, turn_id: str, *, at: datetime) -> Turn:
        """Answer the open question by a file.

        Raises:
            FileRefused: None is asked for, or it does not fit the question.
        """
        asked = self.interview(at)
        limits = self.wanted_file
        if self._session is None or limits is None:
            raise FileRefused("not_asked")
        answer = file.answer(file_id(self._conversation, turn_id), at=at)
        turn = asked.attach(self._session, answer)
        if turn is None:
            wrong = asked.file_problems(self._session, answer)
            # What is right with the file itself is one too many.
            raise FileRefused("size" if "too-big" in wrong else "type" if wrong else "full", limits)
        id_ = file_id(self._conversation, turn_id)
        self._files[id_] = StoredFile(id_, len(file.content), file.encoded())
        self.take(turn)
        return turn

    def remove(self, id_: str, *, at: datetime) -> Turn:
        """Take a file out of the answers.

        Raises:
            FileRefused: There is no such file.
        """
        asked = self.interview(at)
        file = dict(self.files).get(id_)
        turn = asked.remove_file(self._session, file) if self._session is not None and file is not None else None
        if turn is None:
            raise FileRefused("gone")
        self.take(turn)
        return turn

    def _attachments(self) -> list[Answer]:
        given = self._session.filling.answers.values() if self._session is not None else ()
        return [answer for answers in given for answer in answers if answer.type == "attachment"]

    def _log_refusals(self, refusals: tuple[str, ...]) -> None:
        """Tell whoever runs this that a form cannot be completed as it is; linkIds and rules, no answers."""
        if refusals:
            log.warning("response left in progress, the validator refuses it: %s", "; ".join(refusals))

    def speak(self, language: str) -> None:
        """Go on in another language."""
        if self._session is not None:
            self._session = replace(self._session, language=language)

    def change(self, *, at: datetime) -> InterviewChange | None:
        """Return what has changed since it was stored, with what leaves the house; None when nothing has."""
        if self._session is None:
            return None
        known = len(self._stored.events) if self._stored is not None else None
        change = self._as_stored(self._session, at)
        if self._stored is not None and (change.head, change.events) == (self._stored.head, self._stored.events):
            return None
        outgoing = None
        if self._hand_over is not None and self._agreed is not None:
            outgoing = self._hand_over(change, self._agreed.talk.sent)
        files = tuple(self._files.values())
        # What was sent before can be taken back only as long as it is known what it was.
        if self._was_refused(self._session) and (self._agreed or not self._session.talk.sent or not self._hand_over):
            dropped = self._dropped()
            self._session = self._forgotten(self._session, at)
            change = self._as_stored(self._session, at, anew=True)
            return InterviewChange(change, known, outgoing, files, dropped, anew=True)
        return InterviewChange(change, known, outgoing, files, self._dropped())

    def _was_refused(self, session: Session) -> bool:
        """Say whether the patient, asked again on a later version, does not agree to what was answered before."""
        path = self._agreement(session)
        return path is not None and session.filling.answers.get(path) == (Answer("boolean", False),)

    def _agreement(self, session: Session) -> Path | None:
        if not session.past:
            return None
        now = _canonical(self._document)
        names = (each.agreement for each in self._migrations if (each.questionnaire, each.later) == now)
        return agreement_path(self._form, next(names, ""))

    def _forgotten(self, session: Session, at: datetime) -> Session:
        """Return a session without anything that was ever said, but for the no."""
        path = self._agreement(session)
        events = tuple(each for each in session.events if isinstance(each, Shown) or each.path == path)
        talk = replace(session.talk, sent=len(events) if self._agreed else 0, earlier=())
        return self.interview(at).open(replace(session, events=events, past=(), talk=talk))

    def stored(self, change: InterviewChange) -> None:
        """Note that a change was stored."""
        self._stored, self._agreed = change.interview, None
        self._files.clear()

    def _dropped(self) -> tuple[str, ...]:
        """Return the files that were answers once and are no more."""
        events = (*self._session.past, *self._session.events) if self._session is not None else ()
        given = (answer for event in events if isinstance(event, Given) for answer in event.answers)
        ever = [answer for answer in given if answer.type == "attachment"]
        return tuple(sorted(file_ids(ever) - file_ids(self._attachments()))) if ever else ()

    def _as_stored(self, session: Session, at: datetime, *, anew: bool = False) -> StoredInterview:
        stored = None if anew else self._stored
        there = stored.events if stored else ()
        new = (dump(event_to_json(event)) for event in (*session.past, *session.events)[len(there) :])
        day = self._asking[0] if self._asking is not None else None
        state: dict[str, JsonValue] = {"filling": filling_to_json(session.filling)}
        if day == at.date():
            state["of"] = self._state_of(at)
        launch: dict[str, JsonValue] = {"launch": _as_json(self._launch)} if self._launch else {}
        known: dict[str, JsonValue] = {}
        if self._known and session.talk.phase != "finished":
            known["known"] = {link_id: value_to_json(answers) for link_id, answers in self._known.items()}
        head = dump({**head_to_json(session), **launch, **known, "state": state})
        form = stored.form if stored else self._document
        begun_at = stored.begun_at if stored else at
        return StoredInterview(self._conversation, form, head, (*there, *new), at, begun_at)


# Compiling a form costs much more than a turn; its text, and what of the launch context is there, is all that counts.
@lru_cache(maxsize=1)
def _own_version() -> str:
    return version("klartext")  # reads and parses a file of the installation


@lru_cache(maxsize=64)
def _compiled(document: str, launch: frozenset[str]) -> tuple[Form, Plan]:
    form = form_of(parsed(document), launch=launch)
    return form, make_plan(form)


@lru_cache(maxsize=64)
def _canonical(document: str) -> tuple[str, str]:
    """Return url and version of the Questionnaire in a document; empty where there is not just one."""
    resources = resources_in(parsed(document))
    forms = roots([each for each in resources if each.get("resourceType") == "Questionnaire"])
    return (string(forms[0], "url"), string(forms[0], "version")) if len(forms) == 1 else ("", "")


def asked_form(stored: StoredInterview) -> str:
    """Return the document whose questions a stored interview asks: that of its last renewal, or of its beginning."""
    renewals = (event for event in reversed(stored.events) if event.startswith(_RENEWED))
    last = next(renewals, None)
    return string(parsed(last), "form") if last is not None else stored.form


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
