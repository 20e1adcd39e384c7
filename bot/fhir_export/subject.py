"""What is exported, and what comes of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.interview.answer import JsonValue
from bot.interview.fhir_json import JsonObject

Ids = Literal["server", "client"]


@dataclass(frozen=True, slots=True)
class Software:
    """The program that spoke with the patient."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of the patient and what became of it.

    Attributes:
        number: Unique in the conversation; later ones are greater.
        at: When, with time zone.
        decision: answered, clarify, declined or urgent.
        catalog: ``name@version`` of the pairs it was matched with.
        answer: The approved text that was shown; empty where it is not at hand.
        flags: What the patient said of the answer: wrong, complicated.
    """

    number: int
    at: datetime
    language: str
    question: str
    decision: str
    pair_id: str | None
    catalog: str
    answer: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interview:
    """A form and what was filled in.

    Attributes:
        questionnaire: The Questionnaire as JSON.
        response: The QuestionnaireResponse; subject, identifier and profile are added here.
        marked: linkId and reason of questions that staff have to see to.
    """

    questionnaire: JsonObject
    response: JsonObject
    marked: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """A conversation that is over, or was stopped.

    Attributes:
        conversation: Its random id: all ids are derived from it.
        at: When it ended, with time zone.
        patient: A Reference to the patient, best a logical one (``identifier``); None for an anonymous
            conversation: then the conversation's id stands for the patient.
        catalogs: Content hash by ``name@version (language)``, for the record of provenance.
        ids: Whether the server gives ids (POST, If-None-Exist) or takes ours (PUT).
    """

    conversation: str
    at: datetime
    software: Software
    exchanges: tuple[Exchange, ...] = ()
    interview: Interview | None = None
    patient: JsonObject | None = None
    catalogs: Mapping[str, str] = field(default_factory=dict)
    ids: Ids = "server"

    @property
    def status(self) -> str:
        """The status of the response; empty without an interview."""
        found = self.interview.response.get("status") if self.interview else None
        return found if isinstance(found, str) else ""

    @property
    def is_final(self) -> bool:
        """Whether facts may be drawn from the answers."""
        return self.status in {"completed", "amended"}


@dataclass(frozen=True, slots=True)
class Made:
    """The transaction Bundle, and what could not be drawn from the answers (no patient text)."""

    bundle: dict[str, JsonValue]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource on its way into the Bundle.

    Attributes:
        urn: Its ``urn:uuid``: others refer to it by this.
        body: The resource, without id.
        replaces: Whether a later state of it replaces the earlier one on the server.
        request: What a template says of the request; wins over ours.
    """

    urn: str
    body: dict[str, JsonValue]
    replaces: bool = False
    request: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> str:
        return str(self.body["resourceType"])

    @property
    def reference(self) -> dict[str, JsonValue]:
        return {"reference": self.urn}
