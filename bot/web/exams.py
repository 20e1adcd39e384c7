"""Serve several exams in one process: each opened by itself, all with one encoder, and conversations by their exam."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from bot.catalog.catalog import locate
from bot.catalog.fhir_files import shipped_form
from bot.errors import UserFixable
from bot.handover.handover import Handover
from bot.interview_wiring import Interviewers
from bot.ports import Encoder, Interviews, Records
from bot.release.in_force import ChatState, together
from bot.resources import data_folder
from bot.settings import Settings
from bot.talk.exams import Exams, Serving, exam_of
from bot.web.editions import ByRelease, Edition, Editions, make_editions, open_edition
from bot.wiring import make_encoder, make_releases

log = logging.getLogger("klartext")


@dataclass(frozen=True, slots=True)
class ByExam:
    """Interviewers and handovers of all conversations, each of the exam that its conversation is about.

    Attributes:
        records: Where conversations are kept.
        of: Those of each exam.
        nobody: Of conversations whose exam is not known, or not served: nothing is asked, an emergency is handed over.
    """

    records: Records
    of: Mapping[str, Interviewers | ByRelease]
    nobody: Interviewers

    @property
    def interviews(self) -> Interviews:
        return self.nobody.interviews

    def of_conversation(self, conversation: str) -> Interviewers:
        stored = self.records.conversation(conversation)
        found = self.of.get(stored.exam or "") if stored is not None else None
        if isinstance(found, ByRelease):
            return found.of_conversation(conversation)
        return found if found is not None else self.nobody

    def handover(self, conversation: str) -> Handover | None:
        return self.of_conversation(conversation).handover(conversation)

    def left(self, conversation: str, *, at: datetime) -> None:
        self.of_conversation(conversation).left(conversation, at=at)


def open_exams(catalogs: Sequence[str], settings: Settings, records: Records) -> dict[str, Edition]:
    """Open several exams in sample mode, by their names, in the order in which they are offered.

    Raises:
        UserFixable: One of them cannot be served, or two have one name.
    """
    require_apart(catalogs)
    encoder = make_encoder("embedded", settings)  # one for all: it holds a model
    found: dict[str, Edition] = {}
    for catalog in catalogs:
        # By its folder, too, a shipped exam asks what it asks by its name.
        form = shipped_form(locate(catalog).resolve().name)
        edition = open_edition(catalog, settings, records, sample=True, encoder=encoder, questionnaire=form)
        name = exam_of(edition.assistant)
        if name in found:
            raise UserFixable(
                f"Two catalogs are called {name!r}, and conversations, links and figures go by the name. Change "
                f"`catalog:` in the files of {locate(catalog)}."
            )
        found[name] = edition
    return found


def require_apart(catalogs: Sequence[str]) -> None:
    """Raise UserFixable where one catalog is named twice."""
    folders = [locate(catalog).resolve() for catalog in catalogs]
    twice = next((catalog for catalog, folder in zip(catalogs, folders, strict=True) if folders.count(folder) > 1), "")
    if twice:
        raise UserFixable(f"`--catalog` names {twice!r} twice. Name every exam once.")


def require_own_forms(catalogs: Sequence[str], questionnaire: Path | None) -> None:
    """Raise UserFixable where one Questionnaire is named for several exams."""
    if questionnaire is not None and len(catalogs) > 1:
        raise UserFixable(
            f"`--questionnaire` names one form, and {len(catalogs)} exams are served: each asks its own. Leave it out."
        )


@dataclass(frozen=True, slots=True)
class Served:
    """What a service answers from: exams in sample mode, or releases.

    Attributes:
        edition: That conversations begin with; of several exams the first's.
        interviewers: Of all conversations.
        editions: Of releases, one for each exam; none in sample mode.
        exams: None where there is one exam.
    """

    edition: Edition
    interviewers: Interviewers | ByRelease | ByExam
    editions: Sequence[Editions] = ()
    exams: Exams | None = None

    @property
    def releases(self) -> Callable[[int | None], Serving] | None:
        """Return what serves conversations of a release, where there are any; of several exams this is the first's."""
        return partial(released, self.editions[0]) if self.editions else None

    @property
    def state(self) -> ChatState:
        """How the chats stand, as far as is known without asking the database."""
        return together([each.state for each in self.editions]) if self.editions else ChatState()

    @property
    def in_force(self) -> str:
        """The names of the releases in force; empty in sample mode."""
        return ", ".join(each.serving.name for each in self.editions if each.serving is not None)

    @property
    def names_verified(self) -> bool:
        """Whether everybody who signed what is in them had logged in."""
        known = [each.serving for each in self.editions]
        return bool(known) and all(each is not None and each.release.has_verified_names for each in known)


def serve_sample(
    catalogs: Sequence[str], settings: Settings, records: Records, *, questionnaire: Path | None = None
) -> Served:
    """Open exams in sample mode.

    Raises:
        UserFixable: One of them cannot be served, or two have one name.
    """
    if len(catalogs) == 1:
        edition = open_edition(catalogs[0], settings, records, sample=True, questionnaire=questionnaire)
        _tell_read(catalogs[0], edition)
        return Served(edition, edition.interviewers)
    opened = open_exams(catalogs, settings, records)
    for catalog, edition in zip(catalogs, opened.values(), strict=True):
        _tell_read(catalog, edition)
    exams = Exams({name: partial(_served, _sample_serving(edition)) for name, edition in opened.items()})
    interviewers = {name: edition.interviewers for name, edition in opened.items()}
    by_exam = ByExam(records, interviewers, _nobody(list(opened.values())))
    return Served(next(iter(opened.values())), by_exam, exams=exams)


def _tell_read(catalog: str, edition: Edition) -> None:
    """Log which folder an exam was read from: one that is called like a shipped exam goes before that."""
    folder, assistant = locate(catalog).resolve(), edition.assistant
    fields = {"exam": exam_of(assistant), "folder": str(folder), "languages": list(assistant.languages)}
    log.info("exam read", extra={"fields": fields})
    shipped = data_folder("qa_pairs") / catalog
    if len(Path(catalog).parts) == 1 and shipped.is_dir() and shipped.resolve() != folder:
        log.warning("%s is a folder here, and is served in the place of the shipped exam of that name", folder)


def serve_releases(
    catalogs: Sequence[str],
    settings: Settings,
    records: Records,
    now: Callable[[], datetime],
    *,
    encoder: str | Encoder = "embedded",
) -> Served:
    """Open the releases in force: that of the database, or where it holds several exams, those of the ones named.

    Raises:
        UserFixable: There is none in force, or it may not be shown.
    """
    released_exams = make_releases(settings).exams()
    named = [Path(catalog).resolve().name for catalog in catalogs]
    if len(named) == 1:
        alone = named[0] if len(released_exams) > 1 and named[0] in released_exams else ""
        editions = make_editions(settings, records, now, exam=alone, encoder=encoder)
        return Served(editions.of(None), ByRelease(editions), (editions,))
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise UserFixable(f"`--catalog` names {twice!r} twice. Name every exam once.")
    shared = make_encoder(encoder, settings) if isinstance(encoder, str) else encoder
    each_of = [make_editions(settings, records, now, exam=name, encoder=shared) for name in named]
    first = [editions.of(None) for editions in each_of]
    called = [exam_of(edition.assistant) for edition in first]
    exams = Exams({name: partial(released, editions) for name, editions in zip(called, each_of, strict=True)})
    interviewers = {name: ByRelease(editions) for name, editions in zip(called, each_of, strict=True)}
    return Served(first[0], ByExam(records, interviewers, _nobody(first)), each_of, exams)


def released(editions: Editions, number: int | None) -> Serving:
    """Return what serves conversations of a release."""
    edition = editions.of(number)
    return Serving(edition.assistant, edition.interviewers.of, edition.topics, edition.number)


def editions_of(interviewers: Interviewers | ByRelease | ByExam) -> Sequence[Editions]:
    """Return the releases that interviewers are of; none in sample mode."""
    if isinstance(interviewers, ByRelease):
        return (interviewers.editions,)
    each_of = interviewers.of.values() if isinstance(interviewers, ByExam) else ()
    return tuple(each.editions for each in each_of if isinstance(each, ByRelease))


def _sample_serving(edition: Edition) -> Serving:
    return Serving(edition.assistant, edition.interviewers.of, edition.topics)


def _nobody(editions: Sequence[Edition]) -> Interviewers:
    """Return who asks nothing, and hands over emergencies, in conversations whose exam is not known."""
    own = [edition.interviewers for edition in editions]
    catalogs = tuple(catalog for each in own for catalog in each.catalogs)
    return replace(own[0], document=None, catalogs=catalogs, migrations=(), files=None, release="")


def _served(serving: Serving, release: int | None) -> Serving:
    """Return what serves a conversation in sample mode, where there are no releases."""
    return serving
