"""The content as files and back: check out what is released and drafted, check changed files in as drafts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from bot.catalog.approval import pair_subject, text_hash
from bot.catalog.catalog import Catalog, Pair, Review, load_catalog, pair_hash
from bot.editorial.candidate import Candidate
from bot.editorial.site_draft import flaw_of_site
from bot.editorial.workbench import SITE_DRAFT, Draft
from bot.errors import BadData
from bot.release.contents import EXAMS, SITE_FILE

RECORD = "checkout.json"  # beside the files: what they were written from
_WHERE = "Check out anew with `klartext qa checkout`, and carry your changes over."


@dataclass(frozen=True, slots=True)
class Change:
    """One text that a file has otherwise than the console.

    Attributes:
        kind: What checking it in does.
        language: Of the pair; empty for the site's file.
        name: The pair's id, or `SITE_DRAFT`.
        draft: As it is to be stored.
        conflict: Whether somebody changed it in the console since it was checked out.
    """

    kind: Literal["new", "changed", "removed"]
    language: str
    name: str
    draft: Draft
    conflict: bool

    @property
    def what(self) -> str:
        return f"pair {self.name} {self.language}" if self.language else SITE_FILE


def check_out(candidate: Candidate, folder: Path, *, catalog: str, now: datetime) -> int:
    """Write base and drafts into an empty folder, with a record of what they were; return how many drafts there are.

    Raises:
        BadData: There is something in the folder, or a file cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadData(f"{folder} is not empty. Name a new folder, so that nothing of yours is overwritten.")
    folder.mkdir(parents=True, exist_ok=True)
    candidate.write(folder, now=now, drafts=list(candidate.drafts.values()))
    exam = folder / EXAMS / candidate.exam
    written = {language: load_catalog(exam, language) for language in candidate.base.catalogs}
    record = {
        "catalog": catalog,
        "exam": candidate.exam,
        "source": candidate.source,
        "files": {path: _digest(folder / path) for path in _files(folder)},
        "pairs": {
            f"{language} {pair.id}": [pair_hash(pair), _state(candidate, language, pair.id)]
            for language, each in written.items()
            for pair in each.pairs
        },
        "removed": {
            f"{language} {name}": _state(candidate, language, name)
            for (language, name), draft in candidate.drafts.items()
            if draft.content is None and language
        },
        "site": _state(candidate, "", SITE_DRAFT),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return len(candidate.drafts)


def read_record(folder: Path) -> Mapping[str, Any]:
    """Return what was noted at the checkout; raise BadData where there was none."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        _ = record["catalog"], record["exam"], record["files"], record["pairs"], record["removed"], record["site"]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadData(f"{folder} has no {RECORD} of a checkout. Begin with `klartext qa checkout EXAM DIR`.") from None
    return record  # type: ignore[no-any-return]


def changes_in(candidate: Candidate, folder: Path, *, today: datetime) -> list[Change]:
    """Return what the files of a checkout have otherwise than when they were written.

    Raises:
        BadCatalog, BadData: A file cannot be used.
    """
    record = read_record(folder)
    if record["exam"] != candidate.exam:
        raise BadData(f"{folder} was checked out of {record['exam']!r}, not of {candidate.exam!r}. {_WHERE}")
    exam = folder / EXAMS / candidate.exam
    found: list[Change] = []
    for language in candidate.base.catalogs:
        found += _of_language(candidate, load_catalog(exam, language), record)
    return [*found, *_of_site(candidate, folder, record, today)]


def other_files(folder: Path, exam: str, languages: Iterable[str]) -> list[str]:
    """Return the files that were changed and are not read back: only language files and the site's file are."""
    known = read_record(folder)["files"]
    read = {f"{EXAMS}/{exam}/{language}.yaml" for language in languages} | {SITE_FILE}
    now = {path: _digest(folder / path) for path in _files(folder)}
    return sorted(path for path in {*known, *now} - read if known.get(path) != now.get(path))


def _of_language(candidate: Candidate, read: Catalog, record: Mapping[str, Any]) -> Iterator[Change]:
    language, known = read.language, record["pairs"]
    for pair in read.pairs:
        there = known.get(f"{language} {pair.id}")
        if there is not None and there[0] == pair_hash(pair):
            continue
        state = there[1] if there is not None else record["removed"].get(f"{language} {pair.id}", "0:")
        current = candidate.pair(language, pair.id)
        draft = _drafted(candidate, language, pair.id, _unapproved(pair, current, read))
        if current is not None and draft.pair == current:
            continue
        kind: Literal["new", "changed"] = "changed" if there is not None else "new"
        yield Change(kind, language, pair.id, draft, _state(candidate, language, pair.id) != state)
    for key, (_, state) in known.items():
        code, name = key.split(" ")
        if code == language and name not in read.by_id and candidate.pair(language, name) is not None:
            conflict = _state(candidate, language, name) != state
            yield Change("removed", language, name, _drafted(candidate, language, name, None), conflict)


def _of_site(candidate: Candidate, folder: Path, record: Mapping[str, Any], today: datetime) -> Iterator[Change]:
    file = folder / SITE_FILE
    if not file.is_file():
        return
    if record["files"].get(SITE_FILE) == _digest(file):
        return
    text = file.read_bytes().decode("utf-8", "replace")
    if text == candidate.site_text:
        return
    if flaw := flaw_of_site(text, candidate.base, today=today.date()):
        raise flaw
    released = candidate.released_site_text
    draft = candidate.site_draft or Draft(candidate.exam, "", SITE_DRAFT, None, text_hash(released) if released else "")
    conflict = _state(candidate, "", SITE_DRAFT) != record["site"]
    kind: Literal["new", "changed"] = "changed" if SITE_FILE in record["files"] else "new"
    yield Change(kind, "", SITE_DRAFT, replace(draft, content={"text": text}), conflict)


def _drafted(candidate: Candidate, language: str, name: str, pair: Pair | None) -> Draft:
    released = candidate.released_pair(language, name)
    known = candidate.drafts.get((language, name))
    base = pair_hash(released) if released is not None else ""
    draft = known or Draft(candidate.exam, language, name, None, base)
    return replace(draft, content=pair.model_dump(mode="json") if pair is not None else None)


def _unapproved(pair: Pair, current: Pair | None, catalog: Catalog) -> Pair:
    """Return a pair as a draft: what a file says of its approval counts only as the console knows it."""
    review = Review()
    if current is not None and pair_subject(catalog, pair) == pair_subject(catalog, current):
        review = current.review
    return pair.model_copy(update={"review": review.model_copy(update={"valid_until": pair.review.valid_until})})


def _state(candidate: Candidate, language: str, name: str) -> str:
    """Return by what it is known that nobody changed a text: the version of its draft, and what is released."""
    draft = candidate.drafts.get((language, name))
    if name == SITE_DRAFT:
        released = text_hash(candidate.released_site_text) if candidate.released_site_text else ""
    else:
        pair = candidate.released_pair(language, name)
        released = pair_hash(pair) if pair is not None else ""
    return f"{draft.version if draft is not None else 0}:{released}"


def _files(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found if path.name != RECORD)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
