"""What one exam shows patients, gathered from its files: catalog, form, site, and who approved which of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from bot.catalog.approval import (
    FILE,
    FOREIGN,
    LANGUAGE,
    PAGE,
    SENTENCES,
    Approvals,
    Standing,
    Subject,
    approvals_in,
    foreign_subject,
    form_subject,
    language_subject,
    page_subject,
    pair_subject,
    sentences_subject,
    site_subject,
)
from bot.catalog.catalog import Catalog, language_files, load_catalog, read_yaml
from bot.catalog.countries import Country
from bot.catalog.exam import EXAM_FILE, load_exam
from bot.catalog.fhir_files import migrations_beside, read_json
from bot.catalog.look import Namespaces, read_logo
from bot.catalog.site import namespaces_of, open_site
from bot.catalog.topics import topic_names
from bot.errors import BadData, Finding
from bot.interview.values.fhir_json import JsonObject, as_object
from bot.languages.files import add, changed, further
from bot.sentences.page_texts import page_texts
from bot.sentences.wording import Wording, said_abroad, wording_of

A_DAY = timedelta(days=1)
EXAMS, SITE_FILE, FORMS, LANGUAGES = "exams", "site.yaml", "questionnaires", "languages"
# What of a catalog's folder is content; whatever else lies there stays out of releases.
_OF_CATALOG = (
    "??.yaml",
    "*/??.yaml",
    "*/??.tsv",
    "*/??.jsonl",
    "complaints.yaml",
    "remarks.yaml",
    "topics.yaml",
    EXAM_FILE,
    FILE,
)


@dataclass(frozen=True)
class Contents:
    """One exam as it lies on the disk.

    Attributes:
        exam: Its name, which is that of the folder.
        country: Whose texts and emergency numbers patients see; None: for no country in particular.
        files: Everything that goes into a release, by its path there.
        catalogs: By language.
        form: The Questionnaire, or a Bundle with its value sets; None where nothing is asked.
        site: What the site's file says, and the hash of its logo; None where there is none.
        wording: The program's own sentences, as they speak of this exam.
        pages: What the page says, by language and by a name for each text.
        namespaces: Of what is handed over.
        languages: Those of the exam that are not always known, the site's own or shipped: their files, by name.
        approvals: Of all of it.
    """

    exam: str
    country: Country | None
    files: Mapping[str, bytes]
    catalogs: Mapping[str, Catalog]
    form: JsonObject | None
    site: Mapping[str, Any] | None
    wording: Wording
    pages: Mapping[str, Mapping[str, str]]
    namespaces: Namespaces
    languages: Mapping[str, Mapping[str, bytes]]
    approvals: Approvals

    @classmethod
    def gather(
        cls,
        folder: Path,
        *,
        site: Path | None,
        questionnaire: Path | None,
        languages: Path | None = None,
        country: Country | None = None,
    ) -> Self:
        """Read an exam's files; from then on its languages are spoken as they are there.

        Raises:
            BadCatalog, BadData: One of them cannot be used.
        """
        exam = folder.resolve().name
        files = {
            f"{EXAMS}/{exam}/{path.relative_to(folder).as_posix()}": path.read_bytes()
            for pattern in _OF_CATALOG
            for path in sorted(folder.glob(pattern))
            if path.is_file()
        }
        catalogs = {language: load_catalog(folder, language) for language in language_files(folder)}
        own = further(languages, catalogs)
        add(changed(own))
        files |= {f"{LANGUAGES}/{code}/{name}": raw for code, each in own.items() for name, raw in each.items()}
        said = None
        if site is not None:
            # What a service would refuse is signed by nobody; whether it is approved is what is asked here.
            open_site(site, exam=folder, languages=tuple(catalogs), sample=True, today=date.min)
            files[SITE_FILE], said = _bytes(site), _site(site)
            if logo := said.get("logo"):
                files[str(logo)] = read_logo(site, str(logo))
                said = {**said, "logo": hashlib.sha256(files[str(logo)]).hexdigest()}
        form = None
        if questionnaire is not None:
            form = as_object(read_json(questionnaire).value)
            migrations_beside(questionnaire)  # raises where one cannot be read
            for path in (questionnaire, *questionnaire.parent.glob(f"{questionnaire.stem}*.migration.yaml")):
                files[f"{FORMS}/{path.name}"] = _bytes(path)
        wording, namespaces = wording_of(load_exam(folder), tuple(catalogs)), namespaces_of(site, folder)
        pages, approvals = pages_of(folder, tuple(catalogs)), approvals_in(folder, country)
        return cls(exam, country, files, catalogs, form, said, wording, pages, namespaces, own, approvals)

    @cached_property
    def pair_subjects(self) -> Mapping[tuple[str, str], Subject]:
        """What has to be approved of the pairs, by language and id."""
        return {
            (language, pair.id): pair_subject(catalog, pair)
            for language, catalog in self.catalogs.items()
            for pair in catalog.pairs
        }

    def subjects(self) -> Iterator[Subject]:
        """Yield all that has to be approved."""
        yield from program_subjects(self.wording, self.pages)
        for language, catalog in self.catalogs.items():
            if language in self.languages:
                yield language_subject(language, self.languages[language])
            yield from (self.pair_subjects[language, pair.id] for pair in catalog.pairs)
        if self.form is not None:
            yield form_subject(self.form)
        if self.site is not None:
            yield site_subject(self.site)

    def said(self, what: str) -> Mapping[str, str] | None:
        """Return all texts that are signed under a name, each with its own; None for pairs, form and site."""
        kind, *rest = what.split()
        if kind == SENTENCES:
            return self.wording.sentences.get(rest[0], {})
        if kind == PAGE:
            return self.pages.get(rest[0], {})
        if kind == FOREIGN:
            return said_abroad(self.wording, tuple(self.catalogs))
        if kind == LANGUAGE:
            return {name: raw.decode("utf-8", "replace") for name, raw in self.languages.get(rest[0], {}).items()}
        return None

    def review_ends(self, now: datetime) -> dict[str, datetime]:
        """Return when the day is over on which a pair's review ends, by the pair's name; those without an end are left
        out.
        """
        return {
            f"pair {pair.id} {language}": datetime.combine(pair.review.valid_until + A_DAY, time(), now.tzinfo)
            for language, catalog in self.catalogs.items()
            for pair in catalog.pairs
            if pair.review.valid_until is not None
        }

    def drafts(self, now: datetime) -> dict[str, str]:
        """Return of each pair whose own review stands in the way, by its name, what its review says."""
        return {
            f"pair {pair.id} {language}": (
                "its review is over" if pair.review.status == "approved" else f"its review says {pair.review.status!r}"
            )
            for language, catalog in self.catalogs.items()
            for pair in catalog.pairs
            if not pair.review.is_approved(now.date())
        }

    def standings(self, now: datetime) -> dict[str, Standing]:
        """Return how each text stands, by its name; a pair whose review says other than approved is unsigned."""
        found = {subject.what: self.approvals.standing(subject, now=now) for subject in self.subjects()}
        drafts = self.drafts(now)
        return {
            what: "unsigned" if what in drafts and standing == "approved" else standing
            for what, standing in found.items()
        }


def pages_of(folder: Path, spoken: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Return what the page says, by language; `folder`: of the catalog, whose topics it shows."""
    return {language: page_texts(language, topic_names(folder, language)) for language in spoken}


def program_subjects(wording: Wording, pages: Mapping[str, Mapping[str, str]]) -> Iterator[Subject]:
    """Yield what has to be approved of what this version of the program says by itself; `pages`: by language."""
    for language, texts in pages.items():
        yield sentences_subject(language, wording.sentences.get(language, {}))
        yield page_subject(language, texts)
    yield foreign_subject(said_abroad(wording, tuple(pages)))


def _site(path: Path) -> Mapping[str, Any]:
    findings: list[Finding] = []
    document = read_yaml(path, findings)
    if document is None or findings or not isinstance(document.data, dict):
        raise BadData(findings[0].as_line() if findings else f"{path}: no facts of a place. See docs/content.md.")
    return document.data


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be read'}.") from None
