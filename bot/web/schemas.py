"""What goes in and out of the JSON API. Pydantic stays here; inside there are frozen dataclasses."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from bot.catalog.countries import Country
from bot.catalog.quiz import QuizStep, Quizzed
from bot.matching.complaints import Urgency
from bot.ports import FlagReason, StoredConversation, StoredFlag
from bot.sentences.reply import Content, Entry, FormText, OtherExam, Part, Reply, SiteText, emergency_notice
from bot.staff.calls import Action, CallState
from bot.talk.conversation import Taken
from bot.talk.dialogue import told_urgency

# A language of the service; which ones it has, it says with the catalog.
Language = Annotated[str, Field(pattern=r"^[a-z]{2}$")]
MAX_COMMENT = 1000
EXAM = r"^[a-z0-9][a-z0-9_-]{0,63}$"
TURN_ID = r"^[A-Za-z0-9_-]{1,64}$"


def _without_surrogates(value: Any) -> Any:
    """JSON may hold half a character ("\\ud800"); patients' keyboards send such things."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


PatientText = Annotated[str, BeforeValidator(_without_surrogates)]
BY_PORTALS = "Only with a portal's key, as `Authorization: Bearer KEY`."
# What may stand in a link; empty: not known.
Identifier = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._:/-]{0,63})?$")]
# `true` is the only value that begins a conversation.
Agreed = Annotated[bool, WithJsonSchema({"type": "boolean"})]


class In(BaseModel):
    """What clients send: unknown fields are mistakes, and types are not guessed."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewConversation(In):
    """Begin a conversation. Without consent nothing is stored, so nothing begins."""

    consent: Agreed = Field(description="The patient agreed that the conversation is stored.")
    language: Language | None = Field(None, description="Of the greeting; default: the catalog's first.")
    anonymous: Literal[True] = Field(True, description="The only mode so far: nobody is asked for a name.")
    exam: str | None = Field(
        None,
        pattern=EXAM,
        description="Its name, of those in `/exams`; left out: where there are several, the patient is asked.",
    )
    patient: Identifier = Field("", description=f"Pseudonym; no name. {BY_PORTALS}")
    appointment: Identifier = Field("", description=f"As your calendar calls it. {BY_PORTALS}")
    order: Identifier = Field("", description=f"As your order system calls it. {BY_PORTALS}")
    accession: Identifier = Field("", description=f"The accession number of the images. {BY_PORTALS}")

    @property
    def names_somebody(self) -> bool:
        """Whether it says whose conversation it is, or for which visit: only portals may."""
        return any((self.patient, self.appointment, self.order, self.accession))


# What `NewTurn` checks, for the document.
EITHER: Any = {
    "oneOf": [
        {"required": ["text"], "properties": {"text": {"type": "string"}}},
        {"required": ["choice"], "properties": {"choice": {"type": "integer"}}},
    ]
}


class NewTurn(In):
    """A message of the patient: `text`, or the number of a `choice` that the last reply offered."""

    model_config = ConfigDict(json_schema_extra=EITHER)

    turn_id: str = Field(pattern=TURN_ID, description="Made by the client; a resend with the same id is harmless.")
    text: PatientText | None = None
    choice: int | None = Field(None, ge=1, le=99)

    @model_validator(mode="after")
    def _one_of_both(self) -> NewTurn:
        if (self.text is None) == (self.choice is None):
            raise ValueError("send either text or choice")
        return self


class NewFlag(In):
    """What the patient says about an answer that is wrong or too complicated."""

    comment: PatientText = Field("", max_length=MAX_COMMENT)


class PartView(BaseModel):
    """A text of the reply: `content` of a pair, fact of the `site` or `interface` sentence (`key` says which), text of
    the `form`, or `entry` (a line of a summary). `link_id` names the item of the form."""

    kind: Literal["content", "site", "interface", "form", "entry"]
    text: str
    key: str | None = None
    pair_id: str | None = None
    field: str | None = None
    link_id: str | None = None
    exam: str | None = Field(
        default=None,
        exclude_if=lambda exam: exam is None,
        description="Whose `content` it is, where it is another exam's than the conversation's.",
    )
    # Left out where it says nothing: what is exported of most conversations stays as it was.
    language: str | None = Field(
        default=None,
        exclude_if=lambda language: language is None,
        description="Of the text, where it is another than the reply's.",
    )


class ChoiceView(BaseModel):
    """Something to choose; `pair_id` is null for "none of these" and the like."""

    number: int
    text: str
    pair_id: str | None = None


class ReplyView(BaseModel):
    """What the patient is shown, in reading order."""

    language: str
    parts: list[PartView]
    choices: list[ChoiceView]
    notice: str = Field(description="Whom to call in an emergency: to be shown with every reply, of whatever kind.")


class QuizView(BaseModel):
    """A quiz that was offered, asked or answered. `option` is what was chosen, as the quiz lists them: 0 is right."""

    pair_id: str
    quiz: str = Field(description="The hash of what patients see of it.")
    step: QuizStep
    option: int | None = None


class TurnView(BaseModel):
    """A turn that was taken."""

    turn_id: str
    number: int = Field(description="Place in the conversation, from 1.")
    at: datetime
    decision: Literal["answered", "clarify", "declined", "urgent", "talk"]
    # Left out where it says nothing, as in parts.
    urgency: Urgency | None = Field(
        default=None,
        exclude_if=lambda urgency: urgency is None,
        description="How soon a patient with a complaint was told to ask somebody.",
    )
    release: str | None = Field(
        default=None,
        exclude_if=lambda release: release is None,
        description="That answered: `number@hash`; left out in sample mode.",
    )
    quiz: QuizView | None = Field(
        default=None,
        exclude_if=lambda quiz: quiz is None,
        description="What the turn was to a quiz that checks the explanation of a pair.",
    )
    reply: ReplyView


class PastTurnView(TurnView):
    """A turn with what the patient sent."""

    said: str


class FlagView(BaseModel):
    """A complaint as it is stored."""

    turn_id: str
    reason: FlagReason
    comment: str
    at: datetime


class ConversationView(BaseModel):
    """A conversation that has just begun. The token is said once: it opens the conversation, and cannot be restored."""

    id: str
    token: str
    language: str
    sample: bool = Field(description="Answers are sample content that no clinician approved.")
    release: str | None = Field(
        None,
        exclude_if=lambda release: release is None,
        description="That answers: `number@hash`; null in sample mode.",
    )
    exam: str | None = Field(
        None,
        exclude_if=lambda exam: exam is None,
        description="That it is about; left out while the patient has not said so.",
    )
    welcome: ReplyView


class ExamView(BaseModel):
    """An exam that this service answers questions about."""

    name: str = Field(description="To begin a conversation with.")
    titles: dict[str, str] = Field(description="What patients are told that it is called, by language.")


class StaffLineView(BaseModel):
    """What a member of staff did: came, wrote, or went. It is no reply of the program, and stands behind a `turn`."""

    number: int
    at: datetime
    name: str
    what: Literal["take", "message", "return", "close", "away"]
    text: str
    turn: int


class StaffView(BaseModel):
    """Where a call for staff stands, and what they wrote after the number that was asked for."""

    state: CallState | None = Field(description="Null where nobody was called.")
    lines: list[StaffLineView]


class TranscriptView(BaseModel):
    """A conversation so far. Answers that were withdrawn since are replaced by a sentence that says so."""

    id: str
    begun: datetime
    language: str
    consented: bool
    sample: bool
    turns: list[PastTurnView]
    staff: list[StaffLineView] = Field(
        default_factory=list, exclude_if=lambda lines: not lines, description="What members of staff wrote."
    )


class ExportView(TranscriptView):
    """Everything that is stored of a conversation and concerns the patient."""

    flags: list[FlagView]
    files: dict[str, str] = Field(
        default_factory=dict, description="Files that were sent, in base64, by the id in `url`."
    )


class HealthView(BaseModel):
    """Whether the service runs. With a FHIR server, also how that is: it does not change the status."""

    status: Literal["ready", "starting", "no database", "cannot write", "alive"]
    release: str | None = Field(default=None, description="The release in force: `number@hash`; none in sample mode.")
    chat: Literal["open", "closed"] | None = Field(
        default=None, description="Closed: nothing is answered but emergencies. It does not change the status."
    )
    chat_closed: Literal["stopped", "sentences_expired"] | None = Field(
        default=None, description="Why: somebody closed it, or the approval of its own sentences has ended."
    )
    expired: list[Literal["sentences", "questionnaire", "site"]] | None = Field(
        default=None, description="What patients miss because its approval has ended; pairs are not listed."
    )
    stops_lost: list[str] | None = Field(
        default=None,
        description="Emergency stops that hold in this process only, because the database has lost them: ids of pairs, "
        "and `the chat`.",
    )
    names: Literal["verified", "not verified"] | None = Field(
        default=None,
        description="Whether everybody who signed what the release shows had logged in to an account for it, or names "
        "were only typed.",
    )
    outbox_waiting: int | None = Field(default=None, description="Entries that the FHIR server has not taken yet.")
    urgent_waiting_s: float | None = Field(
        default=None, description="Age of the oldest red flag that it has not taken; or 0."
    )
    fhir_server: str | None = Field(
        default=None, description="Why it takes nothing at the moment; missing while it does."
    )
    delivery: Literal["ok", "late", "failing", "off"] | None = Field(
        default=None, description="How delivery to the FHIR server stands; off: there is none."
    )
    oldest_urgent_s: float | None = Field(default=None, description="Age of the oldest red flag nobody has got; or 0.")
    reason: str | None = Field(
        default=None, description="Why delivery is late or failing: a cause of `klartext_outbox_oldest_seconds`."
    )


def reply_view(reply: Reply, country: Country | None) -> ReplyView:
    choices = [
        ChoiceView(number=number, text=part.text, pair_id=_asked(part)) for number, part in enumerate(reply.choices, 1)
    ]
    parts = [_part_view(part) for part in reply.parts]
    notice = emergency_notice(reply.language, country).text
    return ReplyView(language=reply.language, parts=parts, choices=choices, notice=notice)


def turn_view(taken: Taken, country: Country | None) -> TurnView:
    return TurnView(**_turn(taken, country))


def past_turn_view(taken: Taken, country: Country | None) -> PastTurnView:
    said = taken.turn.exchange.said if taken.turn.exchange else ""
    return PastTurnView(**_turn(taken, country), said=said)


def staff_line_view(action: Action) -> StaffLineView:
    return StaffLineView.model_validate(asdict(action))


def transcript_view(
    opened: StoredConversation,
    turns: list[Taken],
    staff: list[Action],
    *,
    sample: bool,
    country: Country | None,
) -> TranscriptView:
    return TranscriptView(
        id=opened.id,
        begun=opened.begun,
        language=opened.language,
        consented=opened.consented,
        sample=sample,
        turns=[past_turn_view(taken, country) for taken in turns],
        staff=[staff_line_view(action) for action in staff],
    )


def flag_view(flag: StoredFlag) -> FlagView:
    return FlagView(turn_id=flag.turn_id, reason=flag.reason, comment=flag.comment, at=flag.at)


def _asked(part: Part) -> str | None:
    """Return the pair whose question a choice is; None for all others, options of a quiz among them."""
    return part.pair_id if isinstance(part, Content) and part.field == "question" else None


def _part_view(part: Part) -> PartView:
    if isinstance(part, Content):
        return PartView(kind="content", text=part.text, pair_id=part.pair_id, field=part.field)
    if isinstance(part, OtherExam):
        return PartView(kind="content", text=part.text, pair_id=part.pair_id, field=part.field, exam=part.exam)
    if isinstance(part, SiteText):
        return PartView(kind="site", text=part.text, key=f"site_{part.fact}")
    if isinstance(part, FormText):
        return PartView(kind="form", text=part.text, field=part.field, link_id=part.link_id)
    if isinstance(part, Entry):
        return PartView(kind="entry", text=part.text, key=part.value.key, link_id=part.label.link_id)
    return PartView(kind="interface", text=part.text, key=part.key, language=part.language or None)


def _quiz_view(written: str) -> QuizView | None:
    known = Quizzed.read(written)
    return QuizView(pair_id=known.pair_id, quiz=known.quiz, step=known.step, option=known.option) if known else None


def _turn(taken: Taken, country: Country | None) -> dict[str, Any]:
    turn, exchange = taken.turn, taken.turn.exchange
    return {
        "turn_id": exchange.turn_id if exchange else "",
        "number": exchange.number if exchange else 0,
        "at": turn.at,
        "decision": turn.decision,
        "urgency": told_urgency(taken.reply),
        "release": turn.release or None,
        "quiz": _quiz_view(turn.quizzed),
        "reply": reply_view(taken.reply, country),
    }
