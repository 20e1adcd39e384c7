"""What is under test: what every system gives, and this assistant, in process; the other modules hold the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from bot import Assistant, BadData, Method, Response

IN_PROCESS = "klartext"
Matched = Literal["id", "text", "similarity", "none"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate of a system outside this process."""

    pair_id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system outside this process made of a question; `Outcome` says what the fields mean."""

    decision: str
    pair_id: str | None
    score: float
    candidates: tuple[Ranked, ...]
    choices: tuple[str, ...]
    matched: Matched | None
    elapsed_ms: float


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

    @classmethod
    def open(cls, opening: Opening, language: str) -> InProcess:
        """Open the assistant in sample mode for one language."""
        assistant = Assistant.open(
            opening.catalog,
            data=opening.data,
            encoder=opening.encoder,
            sample=True,
            languages=[language],
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


def require_known(name: str) -> None:
    """Raise BadData for what is neither this assistant nor a file that describes a system."""
    if name != IN_PROCESS and not Path(name).is_file():
        raise BadData(f"There is no system {name!r}. Use `--system {IN_PROCESS}`, or a YAML file that describes one.")
