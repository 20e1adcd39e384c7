"""Who and what a Bundle is about: patient, appointment, and the ids of its entries. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from bot.catalog.look import OUR_CANONICAL, OURS, Namespaces
from bot.interview.manners.decisions import Reason
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject

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
        to_decide: What staff have to decide before the exam.
    """

    questionnaire: JsonObject
    response: JsonObject
    marked: tuple[tuple[str, str], ...] = ()
    to_decide: tuple[Reason, ...] = ()


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
        launch: What the surroundings handed in for formulas, by name: ``patient``, ``encounter``, ``user``.
        earlier: The interview as the patient agreed to it before, each time since it was complete, oldest first.
        base: Base URL of the server that it is for; empty where that is not known.
        release: That answered, as ``number@hash``, for the record of provenance; empty where there are none.
        requests: References to what the exam was ordered with, by identifier: order, accession number.
        appointment: A Reference to the appointment, by identifier.
        namespaces: Of the site; all that is made here is in ours until the Bundle is whole.
    """

    conversation: str
    at: datetime
    software: Software
    exchanges: tuple[Exchange, ...] = ()
    interview: Interview | None = None
    patient: JsonObject | None = None
    catalogs: Mapping[str, str] = field(default_factory=dict)
    ids: Ids = "server"
    launch: Mapping[str, JsonObject] = field(default_factory=dict)
    earlier: tuple[Interview, ...] = ()
    base: str = ""
    release: str = ""
    requests: tuple[JsonObject, ...] = ()
    appointment: JsonObject | None = None
    namespaces: Namespaces = OURS

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
class Request:
    """What a form says of the request for one of its resources; wins over ours.

    Attributes:
        method: PUT or PATCH; empty for what is created.
        url: Which resource: ``Patient/1``, or a search for it.
        conditions: ``ifMatch`` and the like by name.
    """

    method: str = ""
    url: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource on its way into the Bundle.

    Attributes:
        urn: Its ``urn:uuid``: others refer to it by this.
        body: The resource, without id unless the form gives one.
        replaces: Whether a later state of it replaces the earlier one on the server.
        request: What the form says of the request.
        place: The linkId it was extracted at; empty for the form itself and for what is not extracted.
    """

    urn: str
    body: dict[str, JsonValue]
    replaces: bool = False
    request: Request = Request()
    place: str = ""

    @property
    def type(self) -> str:
        return str(self.body["resourceType"])

    @property
    def reference(self) -> dict[str, JsonValue]:
        # A patch is no resource itself: what it changes is meant.
        return {"reference": self.request.url if self.request.method == "PATCH" else self.urn}


BASE = OUR_CANONICAL
RESOURCE_IDS = f"{BASE}/sid/resource"
SOFTWARE_IDS = f"{BASE}/sid/software"
CATALOG_HASHES = f"{BASE}/sid/catalog-hash"
RELEASES = f"{BASE}/sid/release"
CONVERSATIONS = f"{BASE}/sid/conversation"
# Where a site names no systems of its own.
APPOINTMENTS = f"{BASE}/sid/appointment"
ORDERS = f"{BASE}/sid/order"
ACCESSIONS = f"{BASE}/sid/accession-number"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, BASE)

Json = dict[str, JsonValue]


def urn(export: Export, *parts: object) -> str:
    """Return the same ``urn:uuid`` for the same part of the same conversation, always."""
    return urn_of(export.conversation, *parts)


def urn_of(conversation: str, *parts: object) -> str:
    return uuid.uuid5(_NAMESPACE, "\0".join([conversation, *map(str, parts)])).urn


def bare(urn_: str) -> str:
    """Return the UUID in a ``urn:uuid``."""
    return urn_.removeprefix("urn:uuid:")


def identifier(urn_: str) -> Json:
    return {"system": RESOURCE_IDS, "value": bare(urn_)}


def tag(urn_: str) -> Json:
    """Return what marks resources of types that have no identifier, so that they can be searched for."""
    return {"system": RESOURCE_IDS, "code": bare(urn_)}


def device(export: Export) -> Json:
    """Return a logical reference to the software."""
    name = f"{export.software.name} {export.software.version}"
    return {"type": "Device", "identifier": {"system": SOFTWARE_IDS, "value": name}, "display": name}


def patient(export: Export) -> Json:
    """Return a reference to the patient: an anonymous one is whoever had this conversation."""
    if export.patient:
        return dict(export.patient)
    return {"type": "Patient", "identifier": {"system": CONVERSATIONS, "value": export.conversation}}


def based_on(export: Export) -> list[JsonValue]:
    """Return references to what the exam was ordered with."""
    return [dict(each) for each in export.requests]


def code_system(name: str) -> str:
    return f"{BASE}/CodeSystem/{name}"


def concept(system: str, code: str, display: str = "", version: str = "") -> Json:
    """Return a CodeableConcept with one coding."""
    coding: Json = {"system": system}
    if version:
        coding["version"] = version
    coding["code"] = code
    if display:
        coding["display"] = display
    return {"coding": [coding]}


def moment(at: datetime) -> str:
    """Return a FHIR instant in UTC; equal moments are written equally."""
    if at.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def references_in(value: JsonValue | JsonObject) -> Iterator[str]:
    """Yield where the References in a resource lead to."""
    if isinstance(value, list):
        for each in value:
            yield from references_in(each)
    elif isinstance(value, Mapping):
        if isinstance(value.get("reference"), str):
            yield str(value["reference"])
        for each in value.values():
            yield from references_in(each)
