"""Releases: immutable, numbered, hashed and signed copies of what patients may be shown."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol

from bot.catalog.approval import FOREIGN, LANGUAGE, PAGE, SENTENCES, SITE, Approvals, Signed, pair_subject
from bot.catalog.catalog import Catalog, Pair
from bot.catalog.countries import Country
from bot.catalog.exam import load_exam
from bot.errors import BadData, UserFixable
from bot.interview.values.fhir_json import dump
from bot.release.contents import EXAMS, FORMS, LANGUAGES, SITE_FILE, Contents, pages_of, program_subjects
from bot.release.stops import Stop, Stops
from bot.sentences.wording import wording_of

FORMAT = 1
SHOWN_HASH = 12  # digits of a hash that people are shown
SET_REVIEW = "set `review: {{status: approved, by: NAME, on: DATE}}` of the pair in {file}, signatures stay"
NOT_VERIFIED = "names not verified"
MOST_NAMED = 3  # of what is in the way, in one line
NOBODY = Approvals()
# What patients see of a pair, in the order in which a comparison lists it.
FIELDS = ("question", "short_answer", "answer", "easy_answer", "extracts", "countries", "quizzes")
Move = Literal["prepare", "activate", "rollback"]


@dataclass(frozen=True, slots=True)
class Release:
    """One release.

    Attributes:
        number: From 1, never used twice.
        made: When.
        by: Who made it.
        note: What it is for.
        manifest: What is in it, as JSON: exam, country, versions, approved pairs, those of them that stay stopped, and
            the SHA-256 of every file.
        signature: Of all this, by the site's key (Ed25519, base64).
    """

    number: int
    made: datetime
    by: str
    note: str
    manifest: str
    signature: str

    @property
    def hash(self) -> str:
        """SHA-256 of the manifest: the identity of what patients may be shown."""
        return hashlib.sha256(self.manifest.encode()).hexdigest()

    @property
    def name(self) -> str:
        """Return what turns, logs and exports call it: ``3@0123456789ab``."""
        return f"{self.number}@{self.hash[:SHOWN_HASH]}"

    @property
    def content(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.manifest)
        return read

    @property
    def exam(self) -> str:
        return str(self.content["exam"])

    @property
    def has_verified_names(self) -> bool:
        """Whether everybody who signed one of its texts had logged in, and the site's key vouches for it."""
        return self.content.get("names") == "accounts"

    @property
    def after_reset(self) -> dict[str, list[str]]:
        """Who signed shortly after somebody else had given their account a password, by what they signed."""
        return dict(self.content.get("after_reset", {}))

    @property
    def signed(self) -> bytes:
        """Return what the signature is of; the purpose stands in front, so that the key vouches for nothing else."""
        said = [str(self.number), self.made.isoformat(), self.by, self.note, self.manifest]
        return b"klartext release 1\0" + "\0".join(said).encode()


@dataclass(frozen=True, slots=True)
class Switch:
    """One moment at which another release came into force, or all processes were asked to prepare it."""

    at: datetime
    by: str
    move: Move
    number: int


class Releases(Protocol):
    """Where releases are kept; nothing in it is ever changed or deleted."""

    def add(self, make: Callable[[int], Release], files: bytes) -> Release:
        """Keep a release under the next number, which `make` is given."""
        ...

    def all(self) -> list[Release]:
        """Return all releases, first to last."""
        ...

    def newest(self) -> Release | None:
        """Return the release that was made last; None before the first."""
        ...

    def get(self, number: int) -> Release | None: ...

    def files(self, number: int) -> bytes:
        """Return the files of a release, as `pack` packed them."""
        ...

    def switch(self, switch: Switch) -> None:
        """Put a release into force for every conversation that begins from now on; or have it prepared."""
        ...

    def switches(self) -> list[Switch]: ...

    def of_exam(self, exam: str) -> Releases:
        """Return those of one exam: whatever else is in force there, and was before, is not told."""
        ...

    def exams(self) -> list[str]:
        """Return the exams that a release was ever in force of, by their folders' names."""
        ...

    def in_force(self) -> int | None:
        """Return the number of the release in force; None before the first."""
        ...

    def stop(self, stop: Stop) -> Stop:
        """Do an act of the stop at once, and return it with the last release and the texts that it withdraws."""
        ...

    def stops(self) -> list[Stop]: ...


def own_releases(releases: Releases, exam: str) -> Releases:
    """Return those of an exam where releases of several were in force, and all of them where there is one exam."""
    exams = releases.exams()
    return releases.of_exam(exam) if len(exams) > 1 and exam in exams else releases


def make_manifest(
    contents: Contents, *, now: datetime, stops: list[Stop], program: str, proven: Approvals = NOBODY
) -> str:
    """Return what a release of these contents holds: of the pairs, those that are approved.

    Those of them that were stopped and have no new text stay stopped in it: patients who ask for them are told so.

    `proven`: those of its approvals that people gave who had logged in.

    Raises:
        UserFixable: Something that has to be approved is not, or no pair is.
    """
    standings, drafts = contents.standings(now), contents.drafts(now)
    unapproved = [what for what, each in standings.items() if not what.startswith("pair ") and each != "approved"]
    if unapproved:
        named = [f"{_spoken(what)} cannot go into a release: {_IN_THE_WAY[standings[what]]}" for what in unapproved]
        raise UserFixable(f"{'. '.join(named)}. Have two people sign with {_approve(unapproved)}.")
    shown: dict[str, list[str]] = {}
    left_out: dict[str, dict[str, str]] = {}
    stopped: dict[str, dict[str, str]] = {}
    withdrawn = Stops.of(stops).in_exam(contents.exam).withdrawn
    for language, catalog in contents.catalogs.items():
        shown[language], left_out[language], stopped[language] = [], {}, {}
        for pair in catalog.pairs:
            subject = pair_subject(catalog, pair)
            draft = drafts.get(subject.what, "") if contents.approvals.is_signed(subject, now=now) else ""
            reason = draft or _IN_THE_WAY.get(standings[subject.what], "")
            if reason:
                left_out[language][pair.id] = reason
                continue
            shown[language].append(pair.id)
            stop, approval = withdrawn.get(pair.id), contents.approvals.signed[subject.what].valid(now)
            if stop is not None and stop.keeps(subject.text, min(at for _, at in approval.by)):
                stopped[language][pair.id] = "it was withdrawn, see `klartext stop list`"
    if not all(len(pairs) > len(stopped[language]) for language, pairs in shown.items()):
        lacking = next(language for language, pairs in shown.items() if len(pairs) == len(stopped[language]))
        missing = {**stopped[lacking], **left_out[lacking]}
        some = "; ".join(f"{pair}: {why}" for pair, why in list(missing.items())[:MOST_NAMED])
        sign = "Have two people sign them with `klartext qa approve`."
        if all("review" in why for why in missing.values()):
            sign = f"They are signed; {SET_REVIEW.format(file=f'{lacking}.yaml')}."
        raise UserFixable(f"No pair of {contents.exam} ({lacking}) may be shown ({some}). {sign}")
    kept = {f"pair {pair_id} {language}" for language, pairs in shown.items() for pair_id in pairs}
    texts = {
        each.what: each.text for each in contents.subjects() if not each.what.startswith("pair ") or each.what in kept
    }
    signed = {what: each.valid(now) for what, each in contents.approvals.signed.items()}
    ends = contents.review_ends(now)
    manifest = {
        "format": FORMAT,
        "exam": contents.exam,
        "country": contents.country,
        "program": program,
        "versions": {language: catalog.version for language, catalog in contents.catalogs.items()},
        "shown": shown,
        "left_out": left_out,
        "texts": texts,
        "stopped": {language: list(pairs) for language, pairs in stopped.items() if pairs},
        "until": {what: min(signed[what].until, ends.get(what, signed[what].until)).isoformat() for what in texts},
        "approved": {
            what: {"by": signed[what].names, "on": max(at for _, at in signed[what].by).date().isoformat()}
            for what in texts
        },
        "names": "accounts" if all(_is_whole(signed[what], proven.signed.get(what)) for what in texts) else "typed",
        "after_reset": {what: signed[what].after_reset for what in texts if signed[what].after_reset},
        "files": {path: hashlib.sha256(raw).hexdigest() for path, raw in sorted(contents.files.items())},
    }
    return json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=None, separators=(",", ":"))


def _is_whole(signed: Signed, proven: Signed | None) -> bool:
    return proven is not None and set(signed.by) <= set(proven.by)


_IN_THE_WAY = {
    "unsigned": "nobody approved it",
    "one signature": "only one person approved it",
    "changed": "it was changed after it was approved",
    "expired": "its approval has expired",
}


def _approve(names: Iterable[str]) -> str:
    kinds = dict.fromkeys(what.split()[0] for what in names)
    return f"`klartext qa approve {' '.join(f'--what {kind}' for kind in kinds)}`"


def _spoken(what: str) -> str:
    kind, *rest = what.split()
    if kind == LANGUAGE:
        return f"What the language {rest[0]} is made of"
    if kind == SENTENCES:
        return f"What the program says by itself ({rest[0]}), in emergencies too,"
    if kind == PAGE:
        return f"What the page says ({rest[0]}), the words of consent among it,"
    if kind == FOREIGN:
        return "What is said to readers of languages that the catalog has not"
    return "What the site says of itself" if kind == SITE else "The Questionnaire"


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return files in one piece."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, raw in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path), raw)
    return packed.getvalue()


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A release's files on the disk."""

    exam: Path
    site: Path | None
    questionnaire: Path | None
    languages: Path | None


def unpack(release: Release, packed: bytes, folder: Path) -> Unpacked:
    """Write a release's files into an empty folder, each only if it is what was signed.

    Raises:
        BadData: A file is missing, was changed, or belongs to none.
    """
    wanted: Mapping[str, str] = release.content["files"]
    for path, raw in _verified(release, packed, wanted):
        place = folder / PurePosixPath(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(raw)
    forms = [path for path in wanted if path.startswith(f"{FORMS}/") and path.endswith(".json")]
    return Unpacked(
        folder / EXAMS / release.exam,
        folder / SITE_FILE if SITE_FILE in wanted else None,
        folder / forms[0] if forms else None,
        folder / LANGUAGES if any(path.startswith(f"{LANGUAGES}/") for path in wanted) else None,
    )


def require_servable(release: Release, exam: Path, country: Country | None) -> None:
    """Raise UserFixable unless a release is of this country, and the program says by itself what was approved for it.

    `exam`: its folder.
    """
    own = release.content["country"]
    if own != country:
        raise UserFixable(
            f"Release {release.name} was made for KLARTEXT_COUNTRY={own or ''}, which is {country or 'not set'} here. "
            "Set it to the same, or make a release for this country."
        )
    shown = tuple(release.content["shown"])
    approved, wording = release.content["texts"], wording_of(load_exam(exam), shown)
    says = {each.what: each.text for each in program_subjects(wording, pages_of(exam, shown))}
    wrong = [what for what, text in says.items() if approved.get(what) != text]
    if not wrong:
        return
    # Releases of earlier versions have fewer names: what is asked for anew is told apart from what has changed.
    new = [
        f"{_spoken(what).rstrip(',')} has to be approved since this version, too"
        for what in wrong
        if what not in approved
    ]
    changed = [_CHANGED[what.split()[0]].format(*what.split()[1:]) for what in wrong if what in approved]
    other = f"This version of Klartext says {' and '.join(changed)} than were approved for release {release.name}"
    why = ". ".join([*([other] if changed else []), *new])
    raise UserFixable(f"{why}. Have two people sign with {_approve(wrong)}, make a release and put it into force.")


_CHANGED = {
    SENTENCES: "other sentences by itself ({})",
    PAGE: "other words on its page ({})",
    FOREIGN: "other sentences to readers of languages that the catalog has not",
}


def contents_of(release: Release, packed: bytes) -> Contents:
    """Read a release's files back; raise BadData when they are not what was signed."""
    with TemporaryDirectory() as folder:
        place = unpack(release, packed, Path(folder))
        country = release.content["country"]
        return Contents.gather(
            place.exam,
            site=place.site,
            questionnaire=place.questionnaire,
            languages=place.languages,
            country=country,
        )


def _verified(release: Release, packed: bytes, wanted: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    broken = BadData(
        f"The files of release {release.number} in the database are not those that were signed. "
        "Restore the database from its backup, or make a new release."
    )
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            if set(archive.namelist()) != set(wanted):
                raise broken
            for path, digest in wanted.items():
                raw = archive.read(path)
                if hashlib.sha256(raw).hexdigest() != digest or ".." in path or path.startswith("/"):
                    raise broken
                yield path, raw
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError):
        raise broken from None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: contents, and which of their pairs are shown, by language."""

    contents: Contents
    shown: Mapping[str, list[str]]


def differences(old: Side | None, new: Side) -> Iterator[str]:
    """Yield what patients would see differently, line by line: pairs that come, go and change, with both texts."""
    for language, catalog in new.contents.catalogs.items():
        before = old.contents.catalogs.get(language) if old is not None else None
        was = set(old.shown.get(language, ())) if old is not None else set[str]()
        now = set(new.shown.get(language, ()))
        yield from (f"- {pair_id} ({language})" for pair_id in sorted(was - now))
        yield from (f"+ {pair_id} ({language}): {catalog.by_id[pair_id].question}" for pair_id in sorted(now - was))
        if before is not None:
            for pair_id in sorted(was & now):
                yield from _changed(before, before.by_id[pair_id], catalog.by_id[pair_id])
    if (dump(old.contents.form) if old and old.contents.form else "") != (
        dump(new.contents.form) if new.contents.form else ""
    ):
        yield "~ questionnaire"
    if (old.contents.site if old is not None else None) != new.contents.site:
        yield "~ site"
    for code, own in new.contents.languages.items():
        if (old.contents.languages.get(code) if old is not None else None) != own:
            yield f"~ language {code}"


def _changed(catalog: Catalog, was: Pair, now: Pair) -> Iterator[str]:
    for name in FIELDS:
        old, new = getattr(was, name), getattr(now, name)
        if old != new:
            yield f"~ {now.id} ({catalog.language}) {name}"
            if isinstance(old, str | None) and isinstance(new, str | None):
                yield f"    - {old or ''}"
                yield f"    + {new or ''}"
