"""What the rules need from outside, as Protocols; `bot/adapters` fulfils them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from bot.outbox_ports import Outgoing
from bot.staff.calls import Stir

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors whose cosine tells how close they are in meaning."""

    @property
    def name(self) -> str:
        """Identifies encoder and model: vectors of encoders with different names must not be mixed."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit-length vectors, shape (texts, dimensions). Any text is allowed: adapters sanitise it."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One text in the index; `id` is `entry_id` of its position in the catalog, `pair_id` empty for background."""

    id: str
    pair_id: str
    text: str


def entry_id(number: int) -> str:
    """Return the id of the entry at a position in the catalog."""
    return f"{number:07d}"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry near to a query; `similarity` is the cosine, -1 to 1."""

    pair_id: str
    text: str
    similarity: float


class AnswerIndex(Protocol):
    """Stored vectors of a catalog's texts: complete, or absent."""

    def nearest(self, query: Vectors, *, k: int) -> list[Neighbour]:
        """Return the k entries nearest to one query vector of shape (dimensions,), nearest first."""
        ...

    def vectors(self) -> Vectors:
        """Return all vectors in the order in which the entries were given, shape (entries, dimensions)."""
        ...


class IndexStore(Protocol):
    """Where vectors are stored."""

    def index(self, name: str, entries: Sequence[Entry], encoder: Encoder) -> AnswerIndex:
        """Return the index called `name`, building it first if it does not exist."""
        ...


Channel = Literal["terminal", "page", "api", "rest"]


@dataclass(frozen=True, slots=True)
class Booking:
    """What the hospital's own systems call the visit; what is empty is not known.

    Attributes:
        appointment: Of the calendar.
        order: The request for the exam.
        accession: The number under which the images will be found.
    """

    appointment: str = ""
    order: str = ""
    accession: str = ""


UNBOOKED = Booking()


@dataclass(frozen=True, slots=True)
class PendingLaunch:
    """A launch whose patient is signing in: what has to come back, and what proves that it is ours.

    Attributes:
        issuer: The FHIR server, as the settings write it.
        state: Names the launch; random.
        verifier: Of PKCE: without it the code is worth nothing.
        nonce: Has to stand in the id token.
        exam: That it named; empty for none.
    """

    issuer: str
    state: str
    verifier: str = field(repr=False)
    nonce: str = field(repr=False)
    exam: str = ""


@dataclass(frozen=True, slots=True)
class Launched:
    """What a portal or EHR says of the patient who comes from there.

    Attributes:
        patient: The identifier in the system of the settings.
        languages: That the patient speaks, best first.
        booking: Of the visit, as far as it was launched with.
        user: Type of who has signed in, such as ``Patient``; empty where that is not told.
    """

    patient: str = field(repr=False)
    languages: tuple[str, ...] = ()
    booking: Booking = UNBOOKED
    user: str = ""


class Launcher(Protocol):
    """Signs patients in where the settings allow it: SMART App Launch."""

    def begin(self, issuer: str, launch: str) -> tuple[str, PendingLaunch]:
        """Return the address to send a browser to; `launch`: what an EHR handed in, empty where a patient comes alone.

        Raises:
            LaunchFailed: The issuer is not ours, or cannot be asked.
        """
        ...

    def finish(self, pending: PendingLaunch, code: str, *, issuer: str = "") -> Launched:
        """Return who has signed in; `issuer`: that the answer of the provider names, if it does.

        Raises:
            LaunchFailed: Nobody has, as far as can be proved.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it is kept.

    Attributes:
        id: Random, or derived from a secret: it tells nothing about the patient.
        begun: When, with time zone.
        language: That it began in.
        channel: How the patient talks to us.
        secret_hash: SHA-256 of the secret that opens it from outside; None where nothing opens it.
        consented: Whether the patient agreed to what is stored.
        patient: The hospital's pseudonym of the patient, from the link of the appointment; None: anonymous.
        release: The number of the release that serves it to its end; None where there are none.
        booking: What else the link says of the appointment.
        exam: The catalog that it belongs to; None while that is not known.
    """

    id: str
    begun: datetime
    language: str
    channel: Channel
    secret_hash: str | None = None
    consented: bool = False
    patient: str | None = None
    release: int | None = None
    booking: Booking = UNBOOKED
    exam: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a turn's place in its conversation is, and what is needed to repeat its reply and to go on from it.

    Attributes:
        number: Place in the conversation, from 1.
        turn_id: The client's name for the turn; a resend has the same.
        said: What the patient sent, sanitised.
        reply: The reply, as `bot.sentences.reply` writes it.
        state: The state of the dialogue after it, as `bot.sentences.reply` writes it.
        choice: The number of the offered choice that was taken; None when text was sent.
    """

    number: int
    turn_id: str
    said: str
    reply: str
    state: str
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One patient turn as it is kept.

    Attributes:
        conversation: Id of the conversation.
        at: When, with time zone.
        language: ``de`` or ``en``.
        question: What was looked for, sanitised: what the patient wrote, with its context where it needs some.
        decision: answered, clarify, declined or urgent; ``talk`` for what is no question.
        pair_id: The answering pair, if any.
        score: Calibrated probability, or cosine under that method.
        catalog: ``name@version``.
        exchange: None for turns that were stored before conversations could be resumed.
        release: That answered, as ``number@hash``; empty where there are none.
        quizzed: What it was to a quiz, as `bot.catalog.quiz.Quizzed` is written; empty for nothing.
        joins: Exam and release that its conversation belongs to from now on; None where that stays as it is.
    """

    conversation: str
    at: datetime
    language: str
    question: str
    decision: str
    pair_id: str | None
    score: float
    catalog: str
    exchange: Exchange | None = None
    release: str = ""
    quizzed: str = ""
    joins: tuple[str, int | None] | None = None


FlagReason = Literal["wrong", "complicated", "helpful"]
Complaint = Literal["wrong", "complicated"]
COMPLAINTS: tuple[Complaint, ...] = get_args(Complaint)


@dataclass(frozen=True, slots=True)
class StoredFlag:
    """What a patient says about an answer, mostly a complaint; `turn_id` names the turn."""

    turn_id: str
    reason: FlagReason
    comment: str
    at: datetime


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A stored turn with its number, and what the patient complained of."""

    number: int
    turn: StoredTurn
    flags: tuple[Complaint, ...] = ()


class History(Protocol):
    """What was kept of one conversation."""

    def kept(self, id_: str, *, until: datetime | None = None) -> list[KeptTurn]:
        """Return its questions in order, or as they stood at `until`; none when there is no such conversation."""
        ...

    def files(self, id_: str) -> dict[str, str]:
        """Return the files that the patient sent, by their ids: their bytes in base64."""
        ...


@dataclass(frozen=True, slots=True)
class StoredInterview:
    """An interview as it is kept.

    Attributes:
        conversation: The conversation it belongs to.
        form: The Questionnaire, or a Bundle with its value sets, as JSON text: as it was when the interview began.
        head: Language, status and where the talk stands, as JSON text.
        events: What happened, in order, each as JSON text.
        changed_at: When, with time zone.
        begun_at: When its first event was stored; None where that is not known.
    """

    conversation: str
    form: str
    head: str
    events: tuple[str, ...]
    changed_at: datetime
    begun_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that a patient sent; its answer names it by its id, and has all but the bytes.

    Attributes:
        id: Follows from conversation and turn.
        size: In bytes.
        data: Its bytes in base64.
    """

    id: str
    size: int
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class InterviewChange:
    """What a turn changed in the interview of its conversation.

    Attributes:
        interview: As it is after the turn.
        known: How many of its events are stored; None when the interview is new.
        outgoing: What goes into the outbox with it, where the patient has just agreed: both are stored, or neither.
        files: What came with the turn.
        dropped: Ids of files that no answer names any more.
        anew: Whether all that is stored of it is replaced, form and events: what is gone must not be kept.
    """

    interview: StoredInterview
    known: int | None
    outgoing: Outgoing | None = None
    files: tuple[StoredFile, ...] = ()
    dropped: tuple[str, ...] = ()
    anew: bool = False


class Interviews(Protocol):
    """Interviews, one per conversation. They are written with the turns that change them."""

    def interview(self, conversation: str) -> StoredInterview | None:
        """Return the interview of a conversation, or None."""
        ...

    def latest_of(self, patient: str, *, besides: str) -> StoredInterview | None:
        """Return the interview of a patient, by pseudonym, that was changed last, or None; `besides`: not that one."""
        ...


class Presence(Protocol):
    """Says that a process serves patients, so that nobody takes its texts away."""

    def beat(self, now: datetime, *, prepared: int | None = None) -> Sequence[str]:
        """Give a sign of life; return what others have set up otherwise. `prepared`: the newest release it serves."""
        ...

    def leave(self) -> None:
        """Say that this process ends."""
        ...


class Records(Protocol):
    """What is kept of conversations. Every write is durable before it returns."""

    def begin(self, conversation: StoredConversation) -> None:
        """Store a new conversation; raise AlreadyStored when its id is in use."""
        ...

    def conversation(self, id_: str) -> StoredConversation | None:
        """Return a conversation, or None: never begun, or erased."""
        ...

    def add_turn(self, turn: StoredTurn, *, interview: InterviewChange | None = None, call: Stir | None = None) -> None:
        """Store a turn with what it changed in the interview, and what it means to staff: all of it, or nothing.

        Raises:
            AlreadyStored: Its number or its turn id is in use: another request was faster.
            Erased: Its conversation is gone.
        """
        ...

    def turn(self, conversation: str, turn_id: str) -> StoredTurn | None:
        """Return one turn of a conversation, or None."""
        ...

    def turns(self, conversation: str) -> list[StoredTurn]:
        """Return the turns of a conversation in order."""
        ...

    def last_turn(self, conversation: str) -> StoredTurn | None:
        """Return the last turn of a conversation, or None before the first."""
        ...

    def flag(self, conversation: str, flag: StoredFlag) -> None:
        """Note a complaint; the same reason again replaces it. Raise BadData when there is no such turn."""
        ...

    def flags(self, conversation: str) -> list[StoredFlag]:
        """Return the complaints of a conversation, oldest first."""
        ...

    def files(self, id_: str) -> dict[str, str]:
        """Return the files that the patient sent, by their ids: their bytes in base64."""
        ...

    def close_session(self, id_: str) -> None:
        """Forget the secret of a conversation: it stays stored, and nothing opens it from outside any more."""
        ...

    def erase(self, conversation: str, *, by_patient_at: datetime | None = None) -> None:
        """Delete a conversation with its turns, flags and interview, and what of it waits to be sent.

        `by_patient_at`: when the patient did so. That an open call went with it stays known, without a word of it.
        """
        ...

    def open_questions(self) -> list[StoredTurn]:
        """Return unanswered and flagged turns, oldest first."""
        ...

    def inbox(self, *, since: datetime | None = None) -> list[KeptTurn]:
        """Return the same turns with their numbers and what patients complained of."""
        ...

    def asked(self, *, most: int) -> list[StoredTurn]:
        """Return the newest turns that asked something of the pairs, newest first."""
        ...

    def try_writing(self) -> None:
        """Raise NotWritable when nothing can be stored, Unreachable when the database does not answer, in a second."""
        ...


@dataclass(frozen=True, slots=True)
class Sought:
    """Which conversations are looked for; all that is given must hold.

    Attributes:
        ids: One of these.
        patient: The hospital's pseudonym of the patient.
        pseudonym: That of the conversation in logs.
        since: With a turn at this moment or later.
        until: With a turn before this moment or at it.
    """

    ids: frozenset[str] | None = None
    patient: str | None = None
    pseudonym: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation with how many turns it has, and when the last one was stored; None without any."""

    conversation: StoredConversation
    turns: int
    last_turn: datetime | None


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What a patient was shown by a turn; `reply` as `bot.sentences.reply` writes it."""

    conversation: str
    at: datetime
    reply: str


@dataclass(frozen=True, slots=True)
class Life:
    """The first and the last sign of life of a conversation, or of what is left of one."""

    conversation: str
    first: datetime
    last: datetime


class Finder(Protocol):
    """Finds conversations by what is known of them. It changes nothing, but for `index_patients`."""

    def find(self, sought: Sought) -> list[FoundConversation]:
        """Return conversations, oldest first."""
        ...

    def replies(self, holding: str, *, sought: Sought) -> Iterator[StoredReply]:
        """Yield the stored replies that hold a text, in conversations and at moments that are sought."""
        ...

    def lives(self) -> list[Life]:
        """Return everything that the database holds of conversations."""
        ...

    def index_patients(self) -> int:
        """Write the blind index of patients where it is missing or of another key; return in how many rows."""
        ...


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What somebody did with what is stored of patients. Ids and pseudonyms are clear here, and never in the log.

    Attributes:
        action: erase, erase-again, purge, export, find, …
        actor: The operating system's user, a member of staff by name, ``patient`` or ``retention``.
        conversations: Their ids.
        patient: The hospital's pseudonym, where it was about one patient.
        counts: How many of what.
        why: The reason that was given for a stop, as it was typed.
        done: When it was done, where that comes before it is noted: a stop waits for no log.
        texts: Hashes of the approved texts that it was about.
    """

    action: str
    actor: str
    conversations: Sequence[str] = ()
    patient: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    done: datetime | None = None
    texts: Sequence[str] = ()


class Audit(Protocol):
    """Takes down who did what. What it has taken is durable, and nobody changes it unseen."""

    def note(self, event: AuditEvent) -> None:
        """Write an event, before what it tells of is done unless it says when; raise NotAudited when that fails."""
        ...


@dataclass(frozen=True, slots=True)
class SeenAudit:
    """How far the audit log was seen to go: its lines, the SHA-256 of the last, and when that was."""

    lines: int
    last: str
    at: datetime


class Witness(Protocol):
    """Knows how far the audit log has gone, elsewhere than in the log."""

    def seen(self) -> SeenAudit | None:
        """Return what was seen last, no lines where nobody has looked yet; None where that was taken away."""
        ...

    def see(self, seen: SeenAudit) -> None:
        """Keep it in place of what was seen before."""
        ...


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """What is older than these moments goes."""

    conversations: datetime
    questions: datetime
    comments: datetime
    interviews: datetime
    sent: datetime

    @property
    def questions_stay(self) -> bool:
        """Whether curators keep questions longer than conversations are kept."""
        return self.questions < self.conversations


@dataclass(frozen=True, slots=True)
class Purged:
    """How many of each kind went, or would go.

    Attributes:
        conversations: With their turns, flags and interviews.
        questions, questions_detached: Detached before, and now too old; kept for curators without their conversation.
        comments: Emptied; the flags stay.
        interviews, sent: Of conversations that stay; notes of what was sent.
        summaries: Folders of what models wrote about conversations that are gone.
        unsent_kept: Entries that no FHIR server has taken yet, of an age at which the rest goes: never deleted.
        residue: The database could not be cleaned up because somebody was reading all the time: purge again.
    """

    conversations: int = 0
    questions: int = 0
    questions_detached: int = 0
    comments: int = 0
    interviews: int = 0
    sent: int = 0
    summaries: int = 0
    unsent_kept: int = 0
    residue: bool = False

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the kinds with their counts."""
        for each in fields(self):
            if each.name != "residue":
                yield each.name, int(getattr(self, each.name))


class Keeper(Protocol):
    """Deletes what is too old."""

    def purge(self, cutoffs: Cutoffs, *, dry_run: bool = False) -> Purged:
        """Delete it while the service runs on; with `dry_run` only count."""
        ...

    def purge_again(self, conversations: Sequence[str], cutoffs: Cutoffs) -> int:
        """Delete conversations that had gone before a backup brought them back; return how many."""
        ...
