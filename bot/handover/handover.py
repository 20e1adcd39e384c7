"""Hand a conversation over to FHIR: gather what was kept of it, build the Bundle, say whether something is new."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version

from bot.catalog.catalog import Catalog
from bot.catalog.look import OURS, Namespaces
from bot.errors import BadData, UserFixable
from bot.handover.bundle import make_bundle, make_red_flag_bundle
from bot.handover.subject import ACCESSIONS, APPOINTMENTS, ORDERS, Exchange, Export, Interview, Software
from bot.interview.manners.decisions import Reason
from bot.interview.manners.interview import Interview as Asking
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, dump
from bot.interview.walk.assemble import Heading
from bot.interview.walk.filling import Noted
from bot.outbox_ports import Outbox, Outgoing, RedFlag
from bot.ports import UNBOOKED, Booking, History, Interviews, KeptTurn, StoredInterview, StoredTurn
from bot.settings import FhirAccess
from bot.talk.interviewing import asked_form, form_of, launch_of, parsed, session_of
from bot.talk.uploads import with_files

log = logging.getLogger("klartext")


@dataclass(frozen=True, slots=True)
class Context:
    """What an export needs besides what was said.

    Attributes:
        catalogs: The releases that answers came from; an answer of another release is exported without its text.
        patient_id: The patient's identifier in the configured system; empty for an anonymous conversation.
        release: That answered, as ``number@hash``; empty where there are none.
        booking: What the hospital calls the visit.
        namespaces: Of what is exported.
    """

    access: FhirAccess
    catalogs: Sequence[Catalog] = ()
    patient_id: str = ""
    release: str = ""
    booking: Booking = UNBOOKED
    namespaces: Namespaces = OURS


@dataclass(frozen=True, slots=True)
class Handover:
    """Makes what goes into the outbox for one conversation."""

    conversation: str
    context: Context
    history: History
    outbox: Outbox

    def red_flag(self, flag: RedFlag) -> Outgoing:
        """Return the Task of an urgent turn. Nothing else of the conversation is read, so nothing there can fail it."""
        turn = Exchange(flag.number, flag.at, "", "", "urgent", None, "")
        found = Export(
            conversation=self.conversation,
            at=flag.at,
            software=Software("Klartext", version("klartext")),
            exchanges=(turn,),
            patient=_patient(self.context),
            ids=self.context.access.ids,
            requests=_requests(self.context),
            appointment=_appointment(self.context),
            namespaces=self.context.namespaces,
        )
        return Outgoing(self.conversation, dump(make_red_flag_bundle(found)), flag.at, turn=flag.number)

    def finished(self, stored: StoredInterview, sent_events: int) -> Outgoing | None:
        """Return the Bundle of an interview that the patient has just agreed to.

        Args:
            stored: The interview.
            sent_events: How many events there were when the patient agreed before; 0 before the first time.
        """
        try:
            return self._outgoing(stored, sent_events, stored.changed_at)
        except Exception as error:
            # The patient's answers must be stored whatever happens here; they can be exported later.
            log.error("conversation not handed over: %s", type(error).__name__)
            return None

    def rest(self, stored: StoredInterview | None, *, at: datetime) -> Outgoing | None:
        """Return the Bundle of what is new since the last time when the patient leaves; None when nothing is."""
        last = self.outbox.last_put(self.conversation)
        kept = self.history.kept(self.conversation)
        if last is None:
            return self._outgoing(stored, 0, at) if kept or stored is not None else None
        asked = kept != self.history.kept(self.conversation, until=last)
        talk = session_of(stored).talk if stored is not None else None
        # Answers that were changed and not agreed to again stay here, but not what staff have to decide by them.
        open_ = talk is not None and (talk.sent == 0 or talk.phase == "finished")
        answered = stored is not None and open_ and stored.changed_at > last
        agreed = talk.sent if talk is not None and not answered else 0
        told = stored is not None and stored.changed_at > last and not answered and _told_since(stored, agreed)
        return self._outgoing(stored, agreed, at) if asked or answered or told else None

    def _outgoing(self, stored: StoredInterview | None, sent_events: int, at: datetime) -> Outgoing:
        now = export_of(self.history, self.conversation, self.context, stored, at=at)
        last = self.outbox.last_put(self.conversation)
        before = None
        if last is not None:
            old = _filled(stored, self.history, sent_events) if stored is not None and sent_events else None
            sent = _export(self.history, self.conversation, self.context, until=last)
            earlier = _earlier(stored, self.history, sent_events) if stored is not None and sent_events else ()
            before = replace(sent, interview=old, launch=_launch(stored), at=last, earlier=earlier)
        return Outgoing(self.conversation, dump(make_bundle(now, before, red_flags=False).bundle), at)


def hand_over_rest(handover: Handover, interviews: Interviews, *, at: datetime) -> None:
    """Put what is new since the last time into the outbox, when the patient leaves."""
    outgoing = handover.rest(interviews.interview(handover.conversation), at=at)
    if outgoing is not None:
        handover.outbox.put(outgoing)


def hand_over_new(handover: Handover, interviews: Interviews, *, at: datetime) -> bool:
    """Put what is new into the outbox while the patient is still there, or after they fell silent.

    Args:
        handover: Of the conversation.
        interviews: Where interviews are kept.
        at: The moment of the last change: whoever notices it at the same time puts it in only once.
    """
    outgoing = handover.rest(interviews.interview(handover.conversation), at=at)
    return outgoing is not None and handover.outbox.put_new(outgoing)


def export_of(
    history: History,
    conversation: str,
    context: Context,
    stored: StoredInterview | None = None,
    *,
    at: datetime | None = None,
) -> Export:
    """Return a conversation as it is exported.

    Args:
        history: What was kept of questions.
        conversation: Its id.
        context: What else is needed.
        stored: Its interview, if there is one.
        at: The moment it ended; default: of its last turn, so that nothing depends on the moment of the export.

    Raises:
        BadData: There is no such conversation.
    """
    found = _export(history, conversation, context)
    moments = [each.at for each in found.exchanges] + ([stored.changed_at] if stored is not None else [])
    if not moments:
        raise BadData(f"There is no conversation {conversation!r} in the database. Check the code and `--data`.")
    interview = _filled(stored, history) if stored is not None else None
    earlier = _earlier(stored, history) if stored is not None else ()
    return replace(found, interview=interview, launch=_launch(stored), at=at or max(moments), earlier=earlier)


def before_of(found: Export) -> Export | None:
    """Return a conversation as it was when the patient agreed before; None where that is not known."""
    return replace(found, interview=found.earlier[-1], earlier=found.earlier[:-1]) if found.earlier else None


def _earlier(stored: StoredInterview, history: History, until: int = 0) -> tuple[Interview, ...]:
    """Return the interview each time the patient agreed to it before the last time, or before `until` events."""
    times = session_of(stored).talk.earlier
    return tuple(_filled(stored, history, events) for events in times if not until or events < until)


def _export(history: History, conversation: str, context: Context, *, until: datetime | None = None) -> Export:
    kept = history.kept(conversation, until=until)
    used = {(turn.turn.catalog, turn.turn.language) for turn in kept}
    return Export(
        conversation=conversation,
        at=datetime.min,
        software=Software("Klartext", version("klartext")),
        exchanges=tuple(_exchange(each, context.catalogs) for each in kept),
        patient=_patient(context),
        catalogs={
            f"{catalog.ref} ({catalog.language})": catalog.content_hash
            for catalog in context.catalogs
            if (catalog.ref, catalog.language) in used
        },
        ids=context.access.ids,
        base=context.access.url or "",
        release=context.release,
        requests=_requests(context),
        appointment=_appointment(context),
        namespaces=context.namespaces,
    )


def _launch(stored: StoredInterview | None) -> dict[str, JsonObject]:
    return launch_of(stored) if stored is not None else {}


def _filled(stored: StoredInterview, history: History, events: int = 0) -> Interview:
    """Return form and response of an interview as agreed to, or as it stood after so many events."""
    # Formulas that look at the clock see the moment of the last change, so the response is always the same.
    launch = launch_of(stored)
    session = session_of(stored)
    # What the patient has changed since, without agreeing to it, stays out.
    agreed = events or (session.talk.sent if session.talk.phase != "finished" else 0)
    said = session.events  # what staff have to decide does not wait until the patient agrees to it
    if agreed:
        # Then it may have been another version of the form that was asked.
        stored = replace(stored, events=stored.events[:agreed])
        session = session_of(stored)
    document = parsed(asked_form(stored))
    asking = Asking(form_of(document, launch=launch), now=stored.changed_at, launch=launch)
    session = asking.open(session)
    authored = stored.changed_at.isoformat(timespec="seconds")
    # What the patient corrected later was complete at first, and a correction itself the times after that.
    if agreed in session.talk.earlier:
        session = replace(session, status="completed" if agreed == session.talk.earlier[0] else "amended")
    response = asking.response(session, Heading(status=session.status, authored=authored))
    with_files(response, lambda: history.files(stored.conversation))
    marked = [(path[-1][0], reason) for path, reason in session.filling.marked.items()]
    open_ = {each.path[-1][0] for each in asking.engine.open_problems(session.filling) if each.path}
    left_out = [(each, "the chat cannot ask it") for each in sorted(open_) if asking.form.by_link_id[each].left_out]
    decided = asking.to_decide(session if events else replace(session, events=said))
    if asking.decisions and not events:
        # What a patient asked of their own device counts, whatever they answered to the form.
        asked = (kept.turn.question for kept in history.kept(stored.conversation))
        told = (text for text in asked if asking.decisions.tells(text, None, asks=True, filler=session.filler))
        known = {text for reason in decided for text in reason.said}
        decided += tuple(Reason("words", "", "Chat", (text,)) for text in dict.fromkeys(told) if text not in known)
    return Interview(asking.form.raw, response, (*marked, *left_out), decided)


def _told_since(stored: StoredInterview, agreed: int) -> bool:
    """Say whether words were kept after so many events: they may leave something to decide."""
    return any(isinstance(event, Noted) for event in session_of(replace(stored, events=stored.events[agreed:])).events)


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


_ACCESSION: dict[str, JsonValue] = {
    "coding": [{"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "ACSN", "display": "Accession ID"}]
}


def _requests(context: Context) -> tuple[JsonObject, ...]:
    """Return references to the order of an exam, by the numbers that order system and archive know it under."""
    access, booking, found = context.access, context.booking, list[JsonObject]()
    if booking.order:
        order: dict[str, JsonValue] = {"system": access.order_system or ORDERS, "value": booking.order}
        found.append({"type": "ServiceRequest", "identifier": order})
    if booking.accession:
        system = access.accession_system or ACCESSIONS
        accession: dict[str, JsonValue] = {"type": _ACCESSION, "system": system, "value": booking.accession}
        found.append({"type": "ServiceRequest", "identifier": accession})
    return tuple(found)


def _appointment(context: Context) -> JsonObject | None:
    if not context.booking.appointment:
        return None
    system = context.access.appointment_system or APPOINTMENTS
    return {"type": "Appointment", "identifier": {"system": system, "value": context.booking.appointment}}
