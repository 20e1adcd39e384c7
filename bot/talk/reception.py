"""Conversations over channels without memory: each request finds its conversation in the records and takes one turn."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from bot.assistant import Assistant
from bot.catalog.topics import Topics
from bot.errors import AlreadyStored, BadData, GuardViolation, Reused, Unreachable
from bot.interview.form.form import Form
from bot.ports import (
    UNBOOKED,
    Audit,
    AuditEvent,
    Booking,
    Channel,
    Records,
    StoredConversation,
    StoredFlag,
    StoredTurn,
)
from bot.sentences.reply import Heard, Interface, Reply, guard, interface, read_reply, repeated
from bot.staff.desk import Desk
from bot.talk.choosing import Choosing, Chosen, Gone
from bot.talk.conversation import GREETED, Conversation, Message, Taken, first_language
from bot.talk.dialogue import State
from bot.talk.exams import Exams, Serving, Undecided, exam_of, is_undecided, nobody, require_exam
from bot.talk.interviewing import Interviewer
from bot.talk.neighbours import neighbour
from bot.talk.switching import Among
from bot.talk.uploads import FileRefused, SentFile, removal_turn
from bot.text import sanitise

MOST_FILES = 10  # of one conversation
WITHDRAWN = "withdrawn"  # the sentence that stands for what may be shown no more
Kind = TypeVar("Kind", bound=Conversation)
CHOSE = "exam_chosen"  # the sentence that the reply to who has said which exam it is begins with
RETRIES = 20  # of a turn that crossed others of the same conversation


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation that has just begun; `secret` is said once and stored only as a hash."""

    conversation: StoredConversation
    secret: str
    welcome: Reply


@dataclass(frozen=True, slots=True)
class Reception:
    """What every channel needs: begin, take a turn, look back, complain, erase.

    Attributes:
        assistant: Decides, where there are no releases.
        records: The only memory.
        now: The clock.
        interviewer: Returns who asks the questions of the radiology team in a conversation; None where nobody does.
        topics: As of `Serving`, where there are no releases.
        releases: Returns what serves conversations of a release, by its number; of the one in force for None.
        alarm: Called after an urgent turn was stored; must return at once.
        page_session: How long after its beginning a conversation on the page can be opened; None: always.
        desk: Where patients' calls for a person arrive; None where nobody reads them.
        audit: Is told of what patients delete; None: nobody is.
        exams: What serves each exam, where there are several; None: there is one.
    """

    assistant: Assistant
    records: Records
    now: Callable[[], datetime]
    interviewer: Callable[[str], Interviewer | None] = field(default=lambda _: None)
    alarm: Callable[[], None] = field(default=lambda: None)
    page_session: timedelta | None = None
    desk: Desk | None = None
    topics: Topics = field(default_factory=Topics)
    releases: Callable[[int | None], Serving] | None = None
    audit: Audit | None = None
    exams: Exams | None = None

    def serving(self, opened: StoredConversation | None = None) -> Serving:
        """Return what serves a conversation: its exam, of the release it began with. None: what serves new ones."""
        if self.exams is not None:
            return self._beside_others(self.exams.serving(opened))
        if self.releases is not None:
            if opened is not None and opened.exam not in (None, exam_of(self.assistant)):
                # Of another exam than the service began with: that one is served now, or nobody answers for it here.
                now = self.releases(None)
                if opened.exam != now.exam:
                    return nobody((now.assistant,))
            return self.releases(opened.release if opened is not None else None)
        own = Serving(self.assistant, self.interviewer, self.topics)
        # Nobody who was asking about one exam goes on in another.
        return own if opened is None or opened.exam in (None, own.exam) else nobody((self.assistant,))

    @property
    def several(self) -> tuple[str, ...]:
        """The names of the exams, where there are several; else none."""
        return tuple(self.exams.of) if self.exams is not None else ()

    @property
    def served(self) -> Mapping[str, Assistant]:
        """Who answers conversations that begin now, by exam, in the order in which exams are offered."""
        if self.exams is not None:
            return {exam: serve(None).assistant for exam, serve in self.exams.of.items()}
        serving = self.serving()
        return {serving.exam: serving.assistant}

    def _beside_others(self, serving: Serving) -> Serving:
        """Return what serves a conversation, with what the other exams could say where this one has no answer."""
        if isinstance(serving.assistant, Undecided):
            return serving
        others = tuple(each for name, each in self.served.items() if name != serving.exam)
        return replace(serving, assistant=neighbour(serving.assistant, others))

    def begun(self, exam: str | None) -> tuple[Serving, str | None]:
        """Return what serves a conversation that begins now, and which exam it is about, as far as that is known.

        Raises:
            BadData: That exam is not served.
        """
        if self.exams is not None:
            return self._beside_others(self.exams.begun(exam)), exam
        serving = self.serving()
        if exam is not None:
            require_exam(exam, (serving.exam,))
        return serving, serving.exam

    @property
    def asks(self) -> bool:
        """Whether the questions of the radiology team can be asked in a conversation that begins now."""
        serving = self.serving()
        return serving.assistant.asks and serving.interviewer("") is not None

    def open(  # noqa: PLR0913 - what a conversation is begun with
        self,
        *,
        channel: Channel,
        language: str | None,
        consented: bool,
        patient: str | None = None,
        booking: Booking = UNBOOKED,
        exam: str | None = None,
    ) -> Opened:
        """Begin a conversation with a new id and a new secret.

        Args:
            channel: How the patient talks to us.
            language: To begin in; None: the catalog's first.
            consented: Whether the patient agreed to what is stored.
            patient: The hospital's pseudonym.
            booking: What the hospital calls the visit.
            exam: That it is about; None: the patient is asked, where there are several.

        Raises:
            BadData: The catalog has no such language, or there is no such exam.
        """
        serving, exam = self.begun(exam)
        language = language or first_language(serving.assistant)
        serving.assistant.catalog(language)  # raises when it is not open
        secret = secrets.token_urlsafe(32)
        stored = StoredConversation(
            id=secrets.token_hex(16),
            begun=self.now(),
            language=language,
            channel=channel,
            secret_hash=hash_of(secret),
            consented=consented,
            patient=patient,
            release=serving.release,
            booking=booking,
            exam=exam,
        )
        asking = serving.interviewer(stored.id) if serving.assistant.asks else None
        kind = Choosing if exam is None else Conversation
        conversation = kind.begin(serving.assistant, self.records, stored, interviewer=asking)
        return Opened(stored, secret, conversation.greet(at=self.now()))

    def known_as(self, id_: str, *, channel: Channel, exam: str | None = None) -> StoredConversation:
        """Return the conversation of an id that another system's user stands behind; begin it if need be."""
        known = self.records.conversation(id_)
        if known is not None:
            return known
        serving, exam = self.begun(exam)
        language = first_language(serving.assistant)
        stored = StoredConversation(id_, self.now(), language, channel, release=serving.release, exam=exam)
        try:
            self.records.begin(stored)
        except AlreadyStored:  # two first messages at once
            return self.records.conversation(id_) or stored
        return stored

    def admitted(self, id_: str, secret: str) -> StoredConversation | None:
        """Return the conversation if the secret opens it (still); None does not tell whether it exists."""
        stored = self.records.conversation(id_)
        expected = (stored and stored.secret_hash) or ""
        if stored is None or not hmac.compare_digest(expected, hash_of(secret)):
            return None
        asked = self.exams is not None or self._was_asked(stored)
        undecided = stored.exam is None and stored.release is None and asked
        if (stored.release is None) is not (self.releases is None) and not undecided:
            # Begun with a sample where releases are served, or the other way round: what was shown is not approved
            # here, or what was stopped is shown there. It goes on where it began, or not at all.
            return None
        return None if self._has_expired(stored) else stored

    def _has_expired(self, stored: StoredConversation) -> bool:
        return self.page_session is not None and has_expired(stored, self.page_session, self.now())

    def take(self, opened: StoredConversation, message: Message) -> Taken:
        """Take one turn, or repeat the reply to a turn that was taken before.

        Raises:
            Reused: The turn id was used for another message.
            NoSuchChoice: The message takes a choice that is not on offer.
            Erased: The conversation was deleted meanwhile.
            Outdated: The answers have changed since the page of the form was shown.
        """
        for _ in range(RETRIES):
            known = self.records.turn(opened.id, message.turn_id)
            if known is not None:
                return self._again(known, message)
            try:
                taken = self._resume(opened).take(message, at=self.now())
            except AlreadyStored:
                continue  # another request was faster: either it was this turn, or the state has changed
            if taken.turn.decision == "urgent":
                self.alarm()
            return taken
        raise Unreachable("Too many turns of one conversation crossed each other. Send them one after the other.")

    def take_file(self, opened: StoredConversation, turn_id: str, file: SentFile, *, most_bytes: int) -> Taken:
        """Take a file as the answer to the open question; `most_bytes`: of all files of the conversation.

        Raises:
            FileRefused: None is asked for, it does not fit, or there are too many.
            Reused, Erased: As in `take`.
        """
        count, size = self._resume(opened).sent_files
        if count >= MOST_FILES or size + len(file.content) > most_bytes:
            raise FileRefused("full")
        return self.take(opened, Message(turn_id, file.name, file=file))

    def remove_file(self, opened: StoredConversation, id_: str) -> Taken:
        """Take a file out of the answers, whether they were agreed to or not; asked again, the same reply is given.

        Raises:
            FileRefused: There is no such file.
            Reused, Erased: As in `take`.
        """
        return self.take(opened, Message(removal_turn(id_), removes=id_))

    def transcript(self, id_: str) -> list[Taken]:
        """Return the turns of a conversation as the patient may see them today."""
        opened = self.records.conversation(id_)
        serving, form = self.serving(opened), self._form(id_, opened)
        turns = self.records.turns(id_)
        return [Taken(turn, self._shown_again(turn, serving.assistant, form)) for turn in turns if turn.exchange]

    def look(self, opened: StoredConversation) -> Conversation:
        """Return the conversation as it stands, to look at; turns go through `take`."""
        return self._resume(opened)

    def flag(self, id_: str, flag: StoredFlag) -> None:
        """Note a complaint; raise BadData when there is no such turn."""
        self.records.flag(id_, flag)

    def erase(self, opened: StoredConversation) -> None:
        """Delete a conversation, as its patient wishes.

        Raises:
            Unreachable: Nothing was deleted: the audit log or the database does not take it.
        """
        if self.audit is not None:
            # First: what was deleted and is not in the log would come back with a backup.
            counts = {"conversations": 1}
            self.audit.note(AuditEvent("erase", "patient", [opened.id], patient=opened.patient, counts=counts))
        self.records.erase(opened.id, by_patient_at=self.now())

    def has_left(self, opened: StoredConversation) -> bool:
        """Say whether the patient can open the conversation no more; on some channels that is never known."""
        if opened.channel not in GREETED:
            return False
        return opened.secret_hash is None or self._has_expired(opened)

    def _resume(self, opened: StoredConversation) -> Conversation:
        # Another request may have said which it is, or that it is another one.
        if opened.exam is None or self.exams is not None:
            opened = self.records.conversation(opened.id) or opened
        serving = self.serving(opened)
        if opened.exam is None and self.exams is None and self._was_asked(opened):
            # Whoever was asked which of several exams it is shall not be taken for a patient of the one that is left.
            serving = nobody((serving.assistant,))

        def enter(exam: str, before: State, pressed: str) -> Chosen:
            chosen, _ = self.begun(exam)
            known = replace(opened, exam=exam, release=chosen.release)
            return self._resumed(Chosen, chosen, known).joining(exam, chosen.release).after(before, pressed)

        if isinstance(serving.assistant, Undecided):
            if opened.exam is not None:
                return self._resumed(Gone, serving, opened)
            return self._resumed(Choosing, serving, opened).entering(enter)
        if self.exams is not None:
            return self._resumed(Among, serving, opened).entering(enter, invited=self._is_invited(opened))
        resumed = self._resumed(Conversation, serving, opened)
        # One from before conversations had exams belongs to the one that there is.
        return resumed if opened.exam is not None else resumed.joining(serving.exam, opened.release)

    def _was_asked(self, opened: StoredConversation) -> bool:
        """Say whether a conversation of no exam is one whose patient was asked which it is."""
        last = self.records.last_turn(opened.id)
        return is_undecided(last.catalog) if last is not None else opened.channel in GREETED

    def _is_invited(self, opened: StoredConversation) -> bool:
        """Say whether a hospital's link or portal, which knows the patient, named the exam, and not the patient."""
        if opened.patient is None and opened.booking == UNBOOKED:
            return False
        turns = self.records.turns(opened.id)
        return not any(turn.exchange is not None and f'"{CHOSE}"' in turn.exchange.reply for turn in turns)

    def _resumed(self, kind: type[Kind], serving: Serving, opened: StoredConversation) -> Kind:
        if opened.language not in serving.assistant.languages:  # not every exam has every language
            opened = replace(opened, language=first_language(serving.assistant))
        asking = serving.interviewer(opened.id) if serving.assistant.asks else None
        resumed = kind.resume(serving.assistant, self.records, opened, at=self.now(), interviewer=asking)
        return resumed.staffed(self.desk)

    def _form(self, id_: str, opened: StoredConversation | None) -> Form | None:
        interviewer = self.serving(opened).interviewer(id_)
        return interviewer.form if interviewer is not None else None

    def _again(self, turn: StoredTurn, message: Message) -> Taken:
        exchange = turn.exchange
        same_text = message.choice is not None or (exchange and exchange.said == sanitise(message.text).text)
        if message.file is not None and exchange is not None:
            same_text = message.file.digest in exchange.reply
        if message.removes and exchange is not None:
            same_text = '"file_removed"' in exchange.reply and message.removes in exchange.reply
        if message.page is not None and exchange is not None:
            same_text = True  # its turn is named for all that stands in it
        # To answer another question with the old reply would be wrong, and might hide an emergency.
        if exchange is None or exchange.choice != message.choice or not same_text:
            raise Reused("This turn_id was used for another message. Give every new message a turn_id of its own.")
        opened = self.records.conversation(turn.conversation)
        assistant = self.serving(opened).assistant
        return Taken(turn, self._shown_again(turn, assistant, self._form(turn.conversation, opened)))

    def _shown_again(self, turn: StoredTurn, assistant: Assistant, form: Form | None) -> Reply:
        """Return a stored reply; what was said before the exam was known speaks of none, and is still said so.

        What was said of another exam, before the patient said that it is this one, is still said as that one's.
        """
        exam = turn.catalog.partition("@")[0]
        if is_undecided(turn.catalog) and not isinstance(assistant, Undecided):
            assistant = self.exams.undecided().assistant if self.exams is not None else nobody((assistant,)).assistant
        shown = _shown_again(turn, assistant, form)
        if self.exams is None or not is_withdrawn(shown) or exam not in self.exams.of or exam == exam_of(assistant):
            return shown
        number = turn.release.partition("@")[0]
        other = self._beside_others(self.exams.of[exam](int(number) if number else None))
        return _shown_again(turn, other.assistant, form)


def _shown_again(turn: StoredTurn, assistant: Assistant, form: Form | None) -> Reply:
    """Return a stored reply if a patient may still see it: texts are withdrawn, and databases edited."""
    language = turn.language if turn.language in assistant.languages else first_language(assistant)
    try:
        reply = read_reply(turn.exchange.reply if turn.exchange else "")
        if isinstance(assistant, Undecided):
            reply = assistant.without_old_buttons(reply)
        # What was repeated then may have been changed since; every sentence must still be the form's or ours.
        heard = Heard(form, repeated([reply])) if form is not None else None
        catalog, shown = assistant.catalog(reply.language), assistant.shown(reply.language)
        return guard(reply, catalog, shown=shown, heard=heard, house=assistant.house)
    except (GuardViolation, BadData):
        return Reply(language, (interface(language, WITHDRAWN),))


def is_withdrawn(reply: Reply) -> bool:
    """Say whether a stored reply is shown no more, but the sentence that says so."""
    return any(isinstance(part, Interface) and part.key == WITHDRAWN for part in reply.parts)


def has_expired(stored: StoredConversation, page_session: timedelta, now: datetime) -> bool:
    """Say whether the page opens a conversation no more: browsers forget their cookie; who copied it does not."""
    return stored.channel == "page" and now >= stored.begun + page_session


def hash_of(secret: str) -> str:
    """Return what is stored of a secret; 256 random bits need no salt."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
