"""What is under test: what every system gives, and this assistant, in process; the other modules hold the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from bot import Assistant, BadData, Method, Response

if TYPE_CHECKING:
    from bot.talk.chats import Chat as PatientChat

IN_PROCESS = "klartext"
NO_LINE = "the file has no answer to this question"  # of a system that is a file: not down, and none the better later
Matched = Literal["id", "text", "similarity", "none"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate of a system outside this process."""

    pair_id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system outside this process made of a question, or any system of a message in a chat.

    `Outcome` says what most fields mean.

    Attributes:
        shown: Pairs whose texts were shown as an answer, in order.
        texts: Which of a pair's texts were shown (``answer``, ``easy_answer``), where that is said.
        keys: Of the fixed sentences that were said; None where the system does not tell.
        reason: Why nothing was answered, such as ``complaint``, where that is said.
        urgency: How soon to see somebody: today, days or appointment; None where nothing was advised.
        language: That the patient was answered in; None where that is not said.
        said: The text that was shown, where it is not word for word a pair's.
    """

    decision: str
    pair_id: str | None
    score: float
    candidates: tuple[Ranked, ...]
    choices: tuple[str, ...]
    matched: Matched | None
    elapsed_ms: float
    shown: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    keys: tuple[str, ...] | None = None
    reason: str = ""
    urgency: str | None = None
    language: str | None = None
    said: str | None = None

    @property
    def own_words(self) -> bool:
        """Whether what was shown is text of the system's own, in which nothing says whether it is right."""
        return own_words(self.decision, self.matched, self.said)


def own_words(decision: str, matched: Matched | None, said: str | None) -> bool:
    """Say whether an answer is in words of the system's own.

    An id beside them is a claim: it tells which pair the system means, and nothing of what the patient reads.
    """
    return decision == "answered" and said is not None and matched in ("id", "none")


@dataclass(frozen=True, slots=True)
class Failure:
    """A system that did not answer a question. `reason` never quotes the question."""

    reason: str
    elapsed_ms: float


SystemReply = Response | Reply


class System(Protocol):
    """Answers questions; what it is must not change within a run."""

    @property
    def identity(self) -> dict[str, str]:
        """Name, version and settings: a run is resumed only by the same system."""
        ...

    def ask(self, texts: Sequence[str], language: str) -> Iterable[SystemReply | Failure]:
        """Answer questions of one language, in order; a slow system yields each answer as it comes."""
        ...


class Chat(Protocol):
    """One patient's conversation with a system, which remembers what was said in it."""

    def say(self, text: str) -> Reply | Failure:
        """Say the next thing."""
        ...


Begin = Callable[[], AbstractContextManager[Chat]]


@runtime_checkable
class Conversing(Protocol):
    """A system that can be talked with."""

    @property
    def turns(self) -> bool:
        """Whether it remembers within a chat what was said before."""
        ...

    def chats(self, language: str) -> AbstractContextManager[Begin]:
        """Yield what begins chats in a language; one at a time."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """Which assistant is opened: catalog name or folder, encoder, method, data folder, and with which pairs (all)."""

    catalog: str
    encoder: str
    method: Method
    data: Path | None
    only: tuple[str, ...] | None = None


@dataclass(frozen=True)
class InProcess:
    """The assistant of this installation."""

    assistant: Assistant
    method: Method
    identity: dict[str, str]
    turns: bool = True

    @classmethod
    def open(cls, opening: Opening, language: str, *, spoken: bool = False) -> InProcess:
        """Open the assistant in sample mode: for one language, or, to talk with it, in all that the catalog has."""
        assistant = Assistant.open(
            opening.catalog,
            data=opening.data,
            encoder=opening.encoder,
            sample=True,
            languages=None if spoken else [language],
            only=opening.only,
        )
        content = assistant.catalog(language)
        identity = {
            "system": IN_PROCESS,
            "method": opening.method,
            "encoder": opening.encoder,
            "catalog": content.ref,
            "catalog_hash": content.content_hash,
        }
        if opening.only is not None:
            identity["only"] = " ".join(sorted(opening.only))
        return cls(assistant, opening.method, identity)

    def ask(self, texts: Sequence[str], language: str) -> list[Response]:
        return self.assistant.answer_all(texts, language, method=self.method)

    @contextmanager
    def chats(self, language: str) -> Iterator[Begin]:
        """Yield what begins chats as patients do on the page, in a database that goes with this block."""
        from bot.talk.chats import open_chats  # what a chat needs takes a second to import

        with open_chats(self.assistant, method=self.method) as chats:
            yield lambda: nullcontext(InProcessChat(chats.begin(language)))


@dataclass(frozen=True)
class InProcessChat:
    """A patient's chat with the assistant of this installation."""

    chat: PatientChat

    def say(self, text: str) -> Reply:
        started = time.perf_counter()
        turn = self.chat.say(text)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        response = turn.response
        # Only where it decided on the message; assistants of older releases do not say all of this.
        record = response.as_json() if response is not None and turn.decision != "talk" else {}
        advice, fixed = record.get("advice") or {}, record.get("fixed") or {}
        advised = advice.get("pair_id") if turn.decision != "answered" else None
        shown = [(pair_id, name) for pair_id, name in turn.shown if pair_id != advised]
        pairs = tuple(dict.fromkeys(pair_id for pair_id, _ in shown))
        return Reply(
            decision=turn.decision,
            pair_id=pairs[0] if pairs else None,
            score=response.score if response is not None else 0.0,
            candidates=tuple(Ranked(one.pair_id) for one in response.candidates) if response is not None else (),
            choices=turn.choices,
            matched="id" if pairs else None,
            elapsed_ms=elapsed_ms,
            shown=pairs,
            texts=tuple(name for _, name in shown),
            keys=turn.keys,
            reason=str(record.get("reason") or ""),
            urgency=advice.get("urgency"),
            language=fixed.get("language") or turn.language,
        )


def require_known(name: str) -> None:
    """Raise BadData for what is neither this assistant nor a file that describes a system."""
    if name != IN_PROCESS and not Path(name).is_file():
        raise BadData(f"There is no system {name!r}. Use `--system {IN_PROCESS}`, or a YAML file that describes one.")
