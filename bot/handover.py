"""Hand a conversation over to FHIR: gather what was kept of it, build the Bundle, put it into the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from bot.catalog import Catalog
from bot.errors import BadData, UserFixable
from bot.fhir_export import Exchange, Export, Interview, Software, make_bundle
from bot.interview.fhir_json import JsonObject, dump
from bot.ports import History, KeptTurn, Outgoing, StoredTurn
from bot.settings import FhirAccess


@dataclass(frozen=True, slots=True)
class Context:
    """What an export needs besides what was said.

    Attributes:
        catalogs: The releases that answers came from; an answer of another release is exported without its text.
        patient_id: The patient's identifier in the configured system; empty for an anonymous conversation.
    """

    access: FhirAccess
    catalogs: Sequence[Catalog] = ()
    patient_id: str = ""


def export_of(history: History, conversation: str, context: Context, interview: Interview | None = None) -> Export:
    """Return a conversation as it is exported. Nothing in it depends on the moment of the export.

    Raises:
        BadData: There is no such conversation.
    """
    kept = history.conversation(conversation)
    if not kept:
        raise BadData(f"There is no conversation {conversation!r} in the database. Check `--data`.")
    used = {(turn.turn.catalog, turn.turn.language) for turn in kept}
    return Export(
        conversation=conversation,
        at=kept[-1].turn.at,
        software=Software("Klartext", version("klartext")),
        exchanges=tuple(_exchange(each, context.catalogs) for each in kept),
        interview=interview,
        patient=_patient(context),
        catalogs={
            f"{catalog.ref} ({catalog.language})": catalog.content_hash
            for catalog in context.catalogs
            if (catalog.ref, catalog.language) in used
        },
        ids=context.access.ids,
    )


def outgoing(export: Export, before: Export | None = None) -> Outgoing:
    """Return what goes into the outbox; see `bot.fhir_export.make_bundle`."""
    return Outgoing(export.conversation, dump(make_bundle(export, before).bundle), export.at)


def _exchange(kept: KeptTurn, catalogs: Sequence[Catalog]) -> Exchange:
    turn = kept.turn
    return Exchange(
        number=kept.number,
        at=turn.at,
        language=turn.language,
        question=turn.question,
        decision=turn.decision,
        pair_id=turn.pair_id,
        catalog=turn.catalog,
        answer=_answer(turn, catalogs),
        flags=kept.flags,
    )


def _answer(turn: StoredTurn, catalogs: Sequence[Catalog]) -> str:
    release = (turn.catalog, turn.language)
    found = next((catalog for catalog in catalogs if (catalog.ref, catalog.language) == release), None)
    pair = found.by_id.get(turn.pair_id or "") if found is not None else None
    return pair.answer if pair is not None else ""


def _patient(context: Context) -> JsonObject | None:
    if not context.patient_id:
        return None
    if context.access.patient_system is None:
        raise UserFixable("KLARTEXT_FHIR_PATIENT_SYSTEM is not set. A patient's identifier needs its system.")
    system = context.access.patient_system
    return {"type": "Patient", "identifier": {"system": system, "value": context.patient_id}}
