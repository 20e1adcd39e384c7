"""Import and export: files of other makers become drafts, all of them or none; content leaves in any maker's format."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.responses import Response

from bot.catalog.catalog import Catalog, load_catalog
from bot.catalog.exchange.entries import Remark
from bot.catalog.exchange.exchange import (
    ONE_LANGUAGE,
    WRITTEN,
    Imported,
    ReadOptions,
    Report,
    read_foreign,
    write_foreign,
    zipped_folder,
)
from bot.catalog.exchange.expecting import SHOWN_COPIES, expect
from bot.catalog.exchange.tables import for_excel
from bot.editorial.candidate import Candidate
from bot.editorial.jobs import Job
from bot.editorial.workbench import Draft, Stale
from bot.errors import BadData
from bot.private_files import make_private_folder
from bot.web.staff.area import MOST_FILE_BYTES, Address, Area, Work
from bot.web.staff.rendering import StaffProblem, go_to
from bot.web.staff.visit import StaffVisit, whole_number
from bot.web.staff.wording import Said

CHECK = "import"  # kind of job
FOLDER = "imports"  # in the data folder: files that wait for somebody to confirm them
KEPT_S = 24 * 3600
MOST_PREFIX = 24
_PREFIX = re.compile(r"[a-z0-9][a-z0-9-]*")
TABLES, WINDOWS = (".csv", ".tsv", ".txt"), "cp1252"
ENDINGS = {"rasa": "zip", "dialogflow": "zip", "csv": "csv"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants imported: a file that lies in the data folder, and what they said of it."""

    place: str
    name: str
    language: str
    prefix: str

    @classmethod
    def of(cls, job: Job) -> Asked:
        said = job.wanted
        return cls(str(said["place"]), str(said["name"]), str(said["language"]), str(said["prefix"]))


class ExchangePages(Area):
    """What curators bring in and take out."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/exchange", self.overview, "edit", menu="menu_exchange"),
            Address("POST", "/exchange/file", self.upload, "edit", takes_file=True),
            Address("GET", "/exchange/export", self.export, "edit"),
            Address("GET", "/exchange/{id}", self.report, "edit"),
            Address("POST", "/exchange/{id}", self.confirm, "edit"),
        ]

    def works(self) -> Mapping[str, Work]:
        return {CHECK: self._check}

    def overview(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        return self.renderer.page(
            "exchange",
            visit,
            status=status,
            line=line,
            formats=WRITTEN,
            one_language=ONE_LANGUAGE,
            codes=sorted(self.tools.candidate().base.catalogs),
            most_mb=MOST_FILE_BYTES // 1024 // 1024,
            said=dict(visit.form) or visit.query,
            jobs=self.tools.jobs.newest(CHECK, most=5),
        )

    def upload(self, visit: StaffVisit) -> Response:
        """Put a file where the job finds it that says what importing it would mean."""
        labels, prefix = self.renderer.labels(visit.language), visit.said("prefix").strip()
        name, content = visit.file or ("", b"")
        if not content:
            return self.overview(visit, line=labels["exchange_no_file"], status=400)
        if len(content) > MOST_FILE_BYTES:
            raise StaffProblem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if prefix and (len(prefix) > MOST_PREFIX or not _PREFIX.fullmatch(prefix)):
            return self.overview(visit, line=labels["exchange_bad_prefix"], status=400)
        folder, now_s = self.tools.settings.writable_data() / FOLDER, time.time()
        make_private_folder(folder)
        for old in folder.iterdir():
            if now_s - old.stat().st_mtime > KEPT_S:
                shutil.rmtree(old, ignore_errors=True)
        # Under its own name, which drafts give as their source, in a folder that nobody can guess.
        asked = Asked(secrets.token_hex(16), _safe_name(name), visit.said("language"), prefix)
        make_private_folder(folder / asked.place)
        self._path(asked).write_bytes(content)
        wanted = asdict(asked)
        job = self.tools.jobs.ask(CHECK, wanted, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{job.id}")

    def _check(self, job: Job, tell: Callable[[float, str], None]) -> Mapping[str, Any]:
        """Read a file and say what importing it would mean; nothing is stored."""
        tell(0.1, "")
        candidate, imported = self.tools.candidate(), self._read(Asked.of(job))
        tell(0.3, "")
        with TemporaryDirectory() as folder:
            place = candidate.write(Path(folder), now=self.tools.now(), drafts=_new_pairs(candidate))
            expected = expect(imported, place.exam, today=self.tools.now().date())
        return {
            "to": f"/exchange/{job.id}",
            "said": [asdict(each) for each in _said(imported.report)],
            "clashes": _clashes(imported, candidate),
            "copies": len(expected.copies),
            "copied": [asdict(each) for each in expected.copies[:SHOWN_COPIES]],
            "findings": list(expected.findings),
            "pairs": {language: [pair.id for pair in pairs] for language, pairs in imported.pairs.items()},
        }

    def report(self, visit: StaffVisit, *, line: str = "", status: int = 200) -> Response:
        job = self._job(visit)
        asked = Asked.of(job)
        there = self._path(asked).is_file()
        return self.renderer.page(
            "exchange_report",
            visit,
            status=status,
            line=line,
            job=job,
            file=asked.name,
            there=there,
            total=sum(len(ids) for ids in job.result["pairs"].values()),
        )

    def confirm(self, visit: StaffVisit) -> Response:
        """Make drafts of all pairs of a file, in one transaction."""
        job = self._job(visit)
        asked, labels = Asked.of(job), self.renderer.labels(visit.language)
        path = self._path(asked)
        if not path.is_file():
            return self.report(visit, line=labels["exchange_gone"], status=HTTPStatus.CONFLICT)
        if visit.said("give_up"):
            shutil.rmtree(path.parent, ignore_errors=True)
            return go_to("/exchange", told="exchange_given_up")
        candidate, imported = self.tools.candidate(), self._read(asked)
        clashes = set(_clashes(imported, candidate))
        if clashes and not visit.said("without"):
            return self.report(visit, line=labels["exchange_clash"].format(n=len(clashes)), status=HTTPStatus.CONFLICT)
        drafts = [
            Draft(candidate.exam, language, pair.id, pair.model_dump(mode="json"))
            for language, pairs in imported.pairs.items()
            for pair in pairs
            if f"{pair.id} ({language})" not in clashes
        ]
        if not drafts:
            return self.report(visit, line=labels["exchange_nothing"], status=HTTPStatus.CONFLICT)
        try:
            self.tools.workbench.add_all(drafts, by=visit.who, now=self.tools.now())
        except Stale:  # somebody was faster with one of them
            return self.report(visit, line=labels["exchange_clash"].format(n=1), status=HTTPStatus.CONFLICT)
        shutil.rmtree(path.parent, ignore_errors=True)
        return go_to("/exchange", told="exchange_done")

    def export(self, visit: StaffVisit) -> Response:
        """Return content in a maker's format, as it was released or as it is drafted."""
        format_, code = visit.query.get("format", ""), visit.query.get("language", "")
        candidate = self.tools.candidate()
        with TemporaryDirectory() as folder:
            catalogs = self._catalogs(candidate, Path(folder), drafted=visit.query.get("what") == "drafted")
            chosen = [each for language, each in sorted(catalogs.items()) if code in ("", language)]
            out = Path(folder) / "out"
            try:
                if not chosen:
                    raise StaffProblem(HTTPStatus.NOT_FOUND)
                write_foreign(chosen, format_, out)
            except BadData as error:
                return self.overview(visit, line=self.renderer.told_of(error, visit.language), status=400)
            raw = zipped_folder(out) if out.is_dir() else out.read_bytes()
        if format_ == "csv" and visit.query.get("excel"):
            raw = for_excel(raw.decode("utf-8"))
        is_zip = raw.startswith(b"PK")
        ending = "zip" if is_zip else "json" if raw[:1] in (b"{", b"[") else ENDINGS.get(format_, "tsv")
        name = f"{candidate.exam}-{code or 'all'}-{format_}.{ending}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        kind = "application/zip" if is_zip else "application/octet-stream"
        return Response(raw, media_type=kind, headers=headers)

    def _catalogs(self, candidate: Candidate, folder: Path, *, drafted: bool) -> Mapping[str, Catalog]:
        if not drafted:
            return candidate.base.catalogs
        drafts = [each for each in candidate.drafts.values() if each.language]
        place = candidate.write(folder / "content", now=self.tools.now(), drafts=drafts)
        return {language: load_catalog(place.exam, language) for language in candidate.base.catalogs}

    def _read(self, asked: Asked) -> Imported:
        path = self._path(asked)
        if not path.is_file():
            raise BadData("The file is not here any more. Send it again.", code="file-gone")
        codes = self.tools.candidate().base.catalogs
        languages = [asked.language] if asked.language in codes else sorted(codes)
        try:
            options = ReadOptions(prefix=asked.prefix, today=self.tools.now().date())
            try:
                return read_foreign(path, languages, options)
            except BadData as error:
                if error.code != "encoding" or path.suffix.lower() not in TABLES:
                    raise
            # As Excel saves tables on German Windows; what it looks like is said, so that somebody looks at it.
            imported = read_foreign(path, languages, replace(options, encoding=WINDOWS))
            notes = (Remark(f"read as {WINDOWS}", "windows"), *imported.report.notes)
            return replace(imported, report=replace(imported.report, notes=notes))
        except BadData as error:
            line = str(error).replace(str(path), asked.name)
            raise BadData(line, code=error.code, values={**error.values, "file": asked.name}) from None

    def _job(self, visit: StaffVisit) -> Job:
        written = visit.parts["id"]
        number = whole_number(written) or 0
        job = self.tools.jobs.get(number)
        if job is None or job.kind != CHECK or job.state != "done":
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        return job

    def _path(self, asked: Asked) -> Path:
        return self.tools.settings.writable_data() / FOLDER / asked.place / asked.name


def _safe_name(name: str) -> str:
    """Return the name of a file without folders, and without what no file should be called."""
    last = re.split(r"[\\/]", name)[-1]
    return re.sub(r"[^\w.() -]", "_", last).strip(". ")[-80:] or "file"


def _new_pairs(candidate: Candidate) -> list[Draft]:
    """Return drafts of pairs: what is imported is compared with them, too."""
    return [each for each in candidate.drafts.values() if each.pair is not None and each.language]


def _said(report: Report) -> Iterator[Said]:
    """Yield what became of a file, for pages."""
    for language, count in report.pairs.items():
        values = {"maker": report.maker, "n": count, "variants": report.variants[language]}
        yield Said("import_pairs", {**values, "here": language})
    yield Said("import_background", {"n": report.background, "duplicates": report.duplicates})
    if report.placeholders:
        yield Said("import_placeholders", {"n": report.placeholders})
    yield from (Said(_label(each), each.values) for each in (*report.notes, *report.renamed))
    if report.stripped:
        yield Said("import_stripped", {"n": len(report.stripped), "pairs": ", ".join(report.stripped)})
    if report.left:
        yield Said("import_left", {"n": len(report.left), "flows": report.flows})
    for one in report.left:
        about = f"{one.at}: {one.what}" if one.what else one.at
        yield Said("import_left_one", {"about": about, "why": _label(one.why)})


def _label(remark: Remark) -> str:
    return f"import_{remark.code.replace('-', '_')}"


def _clashes(imported: Imported, candidate: Candidate) -> list[str]:
    """Return the ids that are taken, by what was released or by a draft, also one that removes a pair."""
    return [
        f"{pair.id} ({language})"
        for language, pairs in imported.pairs.items()
        for pair in pairs
        if candidate.released_pair(language, pair.id) is not None or (language, pair.id) in candidate.drafts
    ]
