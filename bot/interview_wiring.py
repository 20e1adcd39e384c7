"""Put together who asks the questions of the radiology team, and what puts a conversation into the outbox."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from bot.adapters.terminology_server import fetch_value_sets
from bot.assistant import Assistant
from bot.catalog.catalog import Catalog
from bot.catalog.fhir_files import (
    as_bundle,
    migrations_beside,
    read_json,
    resources_in,
    shipped_form,
    shipped_questionnaires,
    shipped_terminology,
)
from bot.catalog.look import OURS, Namespaces
from bot.handover.handover import Context, Handover, hand_over_new
from bot.interview.form.form import Form
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, as_object, dump, parse
from bot.interview.values.terminology import Terminology
from bot.interview.walk.migration import Migration
from bot.outbox_ports import Outbox
from bot.ports import History, Interviews, Records, StoredConversation
from bot.sentences.spelling import swiss
from bot.settings import FhirAccess, Settings
from bot.talk.interviewing import House, Interviewer
from bot.talk.prefill import known_before
from bot.talk.uploads import FileLimits
from bot.wiring import make_history, make_interviews, make_outbox

log = logging.getLogger("klartext")


def for_terminology(settings: Settings, url: str | None) -> Settings:
    """Return the settings with another terminology server, where one is named."""
    return settings if url is None else replace(settings, terminology_url=url)


def with_value_sets(
    settings: Settings, document: JsonObject, *more: JsonObject, tell: Callable[[str], None]
) -> JsonObject:
    """Return a Questionnaire, or a Bundle with one, with the value sets that only the terminology server knows.

    Args:
        settings: Say which server that is.
        document: What holds the Questionnaire.
        more: What else is at hand.
        tell: Takes what staff should know, line by line.

    Raises:
        UserFixable: The address of the server cannot be used.
    """
    own = resources_in(document)
    known = Terminology(
        [each for every in (document, *more) for each in resources_in(every)], base=shipped_terminology()
    )
    forms = [each for each in own if each.get("resourceType") == "Questionnaire"]
    fetched = fetch_value_sets(settings, forms, known)
    for note in fetched.notes:
        tell(note)
    return as_bundle([*fetched.value_sets, *own]) if fetched.value_sets else document


@dataclass(frozen=True, slots=True)
class Interviewers:
    """Interviewers and handovers of all conversations, on one connection each.

    Attributes:
        document: The Questionnaire, or a Bundle with its value sets, as JSON text; None where nothing is asked.
        interviews: Where interviews are kept.
        history: Where questions are kept.
        outbox: What waits for a FHIR server.
        access: Which server that is; without an address nothing is kept for one.
        catalogs: That answers come from.
        release: Which release they are of, as ``number@hash``; empty where there are none.
        files: What files patients may send; None where they may send none.
        namespaces: Of what is handed over.
        begun: Returns a conversation as it was begun: whose it is, and for which visit; None where nothing is known.
        launch: Resources that formulas may use, by name, in every interview that begins.
        migrations: How interviews that were begun with earlier versions of the document go on with it.
        asks_who: Whether it is asked once who fills the form in.
        prefills: Whether what a patient answered in an earlier interview is proposed again.
    """

    document: str | None
    interviews: Interviews
    history: History
    outbox: Outbox
    access: FhirAccess
    catalogs: Sequence[Catalog] = ()
    files: FileLimits | None = None
    namespaces: Namespaces = OURS
    begun: Callable[[str], StoredConversation | None] = field(default=lambda _: None)
    launch: Mapping[str, JsonObject] = field(default_factory=dict)
    migrations: Sequence[Migration] = ()
    asks_who: bool = False
    prefills: bool = False
    release: str = ""

    @classmethod
    def open(
        cls,
        settings: Settings,
        assistant: Assistant,
        *,
        exam: str,
        questionnaire: Path | None = None,
        records: Records | None = None,
    ) -> Self:
        """Take the questionnaire, by default the shipped one of the exam.

        Raises:
            UserFixable: The file cannot be read, or the form cannot be asked.
        """
        path = questionnaire or shipped_form(exam)
        document = as_object(read_json(path).value) if path is not None else None
        is_shipped = document in shipped_questionnaires()
        migrations = migrations_beside(path) if path is not None else ()
        if document is not None and settings.country == "CH":
            document = as_object(parse(swiss(dump(document))).value)
        if document is not None:
            document = with_value_sets(settings, document, tell=log.warning)
        uploads = settings.uploads
        return cls(
            dump(document) if document is not None else None,
            make_interviews(settings),
            make_history(settings),
            make_outbox(settings),
            settings.fhir,
            tuple(assistant.catalog(language) for language in assistant.languages),
            files=FileLimits(uploads.kinds, uploads.most_bytes) if uploads is not None else None,
            namespaces=assistant.site.namespaces if assistant.site is not None else OURS,
            begun=records.conversation if records is not None else lambda _: None,
            migrations=migrations,
            asks_who=settings.ask_who if settings.ask_who is not None else is_shipped,
            prefills=settings.prefill,
            release=assistant.release,
        )

    def of(self, conversation: str) -> Interviewer | None:
        """Return who asks in a conversation; raise UserFixable when the form cannot be asked."""
        if self.document is None:
            return None
        handover = self.handover(conversation)
        hand_over = handover.finished if handover is not None else None
        house = House(hand_over, self.launch, self.files, self.migrations, self.asks_who)
        if self.prefills:
            house = replace(house, known=lambda form: self._known_before(conversation, form))
        return Interviewer(self.document, self.interviews, conversation, house)

    def _known_before(self, conversation: str, form: Form) -> Mapping[str, tuple[Answer, ...]]:
        begun = self.begun(conversation)
        return known_before(self.interviews, conversation, begun.patient if begun is not None else None, form)

    def handover(self, conversation: str) -> Handover | None:
        """Return what puts a conversation into the outbox; None without a FHIR server."""
        if self.access.url is None:
            return None
        begun = self.begun(conversation)
        context = Context(self.access, self.catalogs, release=self.release, namespaces=self.namespaces)
        if begun is not None:
            context = replace(context, patient_id=begun.patient or "", booking=begun.booking)
        return Handover(conversation, context, self.history, self.outbox)

    def left(self, conversation: str, *, at: datetime) -> None:
        """Put into the outbox what is new when a patient has ended a conversation; it ends whatever happens here."""
        try:
            handover = self.handover(conversation)
            if handover is not None:
                hand_over_new(handover, self.interviews, at=at)
        except Exception as error:
            log.error("conversation not handed over: %s", type(error).__name__)
