"""One interview as it is kept: the events of the engine, where the talk stands, and what a turn says, as data. Pure.

What is said are sentences by key, texts of the form by place, and answers: `bot.sentences` puts them into words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.errors import BadData
from bot.interview.form.form import Path
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.walk.filling import (
    Event,
    Filling,
    Renewed,
    answers_from_json,
    event_from_json,
    path_from_json,
    value_to_json,
)

Phase = Literal["asking", "paused", "who", "checking", "summary", "choosing", "finished"]
Status = Literal["in-progress", "completed", "amended"]
# Who fills the form in; empty where that is not asked, open before it is asked.
Filler = Literal["", "open", "patient", "relative", "helper", "unsaid"]


@dataclass(frozen=True, slots=True)
class Talk:
    """Where the talk about the open question stands.

    Attributes:
        phase: asking; paused; who (fills the form in); checking (what was understood is shown, to be confirmed);
            summary (shown, to be agreed to); choosing (which answer to change); finished.
        revisit: The question that is open again, instead of the next one; empty for the next one.
        more: Whether the open question takes one more answer besides those it has.
        tries: How often the open question was not understood.
        kindly: Whether it was explained that the open question should be answered.
        pending: What was understood, to be confirmed; empty with `nothing` for "none of these"; else None.
        nothing: Whether "none of these" waits to be confirmed.
        proposed: Whether `pending` is what the form proposes.
        declined: Whether the patient does not want what the form proposes.
        between: The options that a reply could have meant.
        listed: The questions that were listed, to be named by number.
        heading: The group that was announced last.
        reached: The part of the form that was reached, from 0; it never goes back.
        kept: An answer that waits to be confirmed while another one is corrected, and the question that it is to.
        kept_for: That question.
        taken: The question whose answer was shown with the open one, to be changed by one word; empty for none.
        sent: How many events there were, of all versions, when the patient agreed to the summary; 0 before.
        earlier: How many there were each time before that, since the response was complete.
    """

    phase: Phase = "asking"
    revisit: Path = ()
    more: bool = False
    tries: int = 0
    kindly: bool = False
    pending: tuple[Answer, ...] | None = None
    nothing: bool = False
    proposed: bool = False
    declined: bool = False
    between: tuple[Answer, ...] = ()
    listed: tuple[Path, ...] = ()
    heading: Path = ()
    reached: int = 0
    kept: tuple[Answer, ...] | None = None
    kept_for: Path = ()
    taken: Path = ()
    sent: int = 0
    earlier: tuple[int, ...] = ()

    def onward(self) -> Talk:
        """Return the talk at the beginning of another question."""
        return Talk(
            heading=self.heading,
            reached=self.reached,
            sent=self.sent,
            earlier=self.earlier,
            kept=self.kept,
            kept_for=self.kept_for,
        )


@dataclass(frozen=True, slots=True)
class Session:
    """The state of an interview.

    Attributes:
        language: In which the patient is asked.
        events: What happened on the form as it is asked now, in order; they only ever grow.
        past: What happened on earlier versions of it, with the last renewal: stored before `events`.
        talk: Where the talk stands.
        status: Of the response.
        filler: Who fills the form in.
        filling: What the events amount to; worked out again when a session is opened.
    """

    language: str
    events: tuple[Event, ...] = ()
    talk: Talk = Talk()
    status: Status = "in-progress"
    past: tuple[Event, ...] = ()
    filler: Filler = ""
    filling: Filling = field(default_factory=Filling, compare=False, repr=False)


def head_to_json(session: Session) -> dict[str, JsonValue]:
    """Return a session without its events, as JSON."""
    talk, fresh = session.talk, Talk()
    kept = {name: getattr(talk, name) for name in Talk.__slots__ if getattr(talk, name) != getattr(fresh, name)}
    return {
        "language": session.language,
        "status": session.status,
        "talk": {name: value_to_json(value) for name, value in kept.items()},
        **({"filler": session.filler} if session.filler else {}),
    }


# How what is no plain value is read.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "pending": answers_from_json,
    "between": answers_from_json,
    "kept": answers_from_json,
    "revisit": path_from_json,
    "heading": path_from_json,
    "kept_for": path_from_json,
    "taken": path_from_json,
    "earlier": tuple,
    "listed": lambda paths: tuple(path_from_json(path) for path in paths),
}


def session_from_json(stored: JsonObject) -> Session:
    """Read a session; its filling is still empty (`Interview.open` works it out).

    Raises:
        BadData: It is none.
    """
    try:
        head: Any = stored
        events = tuple(event_from_json(event) for event in head["events"])
        begins = max((number for number, event in enumerate(events, 1) if isinstance(event, Renewed)), default=0)
        kept = dict(head["talk"])
        talk = Talk(**{name: _READERS[name](value) if name in _READERS else value for name, value in kept.items()})
        filler = head.get("filler", "")
        return Session(str(head["language"]), events[begins:], talk, head["status"], events[:begins], filler)
    except (KeyError, TypeError, ValueError) as error:
        raise BadData("A stored interview cannot be read. Start the interview again.") from error


FormField = Literal[
    "title", "question", "short", "instruction", "help", "format", "option", "constraint", "low", "high", "open_label",
    "unit", "link", "media",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answers:
    """What stands in a slot: answers to one question."""

    link_id: str
    answers: tuple[Answer, ...]


Slot = int | Answers


@dataclass(frozen=True, slots=True)
class Sentence:
    """A fixed sentence of the program.

    Attributes:
        key: Its name.
        slots: Numbers, or answers of this patient.
        otherwise: The key of what is said where there is no sentence `key`; empty where there is one.
    """

    key: str
    slots: Mapping[str, Slot] = field(default_factory=dict)
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of the Questionnaire; nothing where it has none.

    Attributes:
        link_id: Its item; empty for the form itself.
        field: Which of its texts.
        number: Which of several (option, help text), from 0.
        otherwise: What is said where there is no such text.
    """

    link_id: str
    field: FormField
    number: int = 0
    otherwise: Sentence | Quote | None = None


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One line of a list: what a question is called, and what was answered; `number` is what it is called by, or 0."""

    number: int
    label: Quote
    value: Sentence


Saying = Sentence | Quote | ListEntry


@dataclass(frozen=True, slots=True)
class Said:
    """All that is said in one turn, in reading order, and what may be chosen by number."""

    language: str
    parts: tuple[Saying, ...]
    choices: tuple[Saying, ...] = ()


def with_answers(key: str, link_id: str, answers: tuple[Answer, ...]) -> Sentence:
    """Return a fixed sentence with answers to a question in it."""
    return Sentence(key, {"answer": Answers(link_id, answers)})


def name_of(link_id: str) -> Quote:
    """Return what an item is called: its short name, else its text."""
    return Quote(link_id, "short", otherwise=Quote(link_id, "question"))
