"""An exam that may go into a release: three sound pairs a language, signed by two people; and the site's key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml

from bot.adapters.release_keys import Signer, new_key
from bot.catalog.approval import write_approvals
from bot.release.contents import Contents
from bot.release.release import Release, Releases, make_manifest, pack
from bot.release.stops import Stop
from bot.testing import write_small_catalog

NOW = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)
UNTIL = datetime(2027, 11, 26, 10, 0, tzinfo=UTC)
EASY = {"de": "Es geht ganz schnell. Sie sind bald fertig.", "en": "It is quick. You will be done soon."}


def write_exam(folder: Path, *, languages: Sequence[str] = ("de",)) -> Path:
    """Write the exam, approved by nobody yet."""
    write_small_catalog(folder, languages=languages, status="approved")
    for language in languages:
        change_pairs(folder, language, easy_answer=EASY[language])
    return folder


def change_pairs(folder: Path, language: str, *, only: str = "", **texts: object) -> None:
    """Change fields of all pairs, or of one."""
    path = folder / f"{language}.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    for pair in document["pairs"]:
        if only in ("", pair["id"]):
            pair.update(texts)
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")


def gather(folder: Path) -> Contents:
    return Contents.gather(folder, site=None, questionnaire=None)


def sign(
    folder: Path,
    *names: str,
    what: str | tuple[str, ...] = "",
    at: datetime = NOW,
    until: datetime = UNTIL,
    gathered: Contents | None = None,
) -> Contents:
    """Sign everything, or what begins with `what`, in these names."""
    contents = gathered or gather(folder)
    approvals = contents.approvals
    subjects = [subject for subject in contents.subjects() if subject.what.startswith(what)]
    for name in names:
        approvals = approvals.sign(subjects, name=name, at=at, until=until)
    write_approvals(folder, approvals)
    return gather(folder)


class Site:
    """A key, and releases in a database."""

    def __init__(self, folder: Path, releases: Releases) -> None:
        self.key = folder / "release-key.pem"
        self.public = new_key(self.key)
        self.releases = releases

    def make(self, contents: Contents, *, now: datetime = NOW, note: str = "") -> Release:
        """Make a release as `klartext release make` does."""
        manifest = make_manifest(contents, now=now, stops=self.releases.stops(), program="test")
        return self.releases.add(
            lambda number: Signer.of(self.key).sign(Release(number, now, "Anna", note, manifest, "")),
            pack(contents.files),
        )

    def withdraw(self, pair_id: str, *, at: datetime = NOW) -> None:
        self.releases.stop(Stop(at, "Anna", "withdraw", pair_id))
