"""Serve several exams in one process: each opened by itself, all with one encoder, and conversations by their exam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from bot.catalog.catalog import locate
from bot.errors import UserFixable
from bot.handover.handover import Handover
from bot.interview_wiring import Interviewers
from bot.ports import Interviews, Records
from bot.settings import Settings
from bot.talk.exams import Exams, Serving
from bot.web.editions import ByRelease, Edition, open_edition
from bot.wiring import make_encoder


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
        edition = open_edition(catalog, settings, records, sample=True, encoder=encoder)
        name = sample_serving(edition).exam
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


def sample_serving(edition: Edition) -> Serving:
    """Return what serves conversations of an exam in sample mode."""
    return Serving(edition.assistant, edition.interviewers.of, edition.topics)


def exams_of(editions: Mapping[str, Edition]) -> Exams:
    """Return what serves several exams in sample mode."""
    return Exams({name: partial(_served, sample_serving(edition)) for name, edition in editions.items()})


def interviewers_of(editions: Mapping[str, Edition], records: Records) -> ByExam:
    """Return who asks in conversations of several exams."""
    first, *_ = own = [edition.interviewers for edition in editions.values()]
    catalogs = tuple(catalog for each in own for catalog in each.catalogs)
    nobody = replace(first, document=None, catalogs=catalogs, migrations=(), files=None)
    return ByExam(records, {name: edition.interviewers for name, edition in editions.items()}, nobody)


def _served(serving: Serving, release: int | None) -> Serving:
    """Return what serves a conversation in sample mode, where there are no releases."""
    return serving
