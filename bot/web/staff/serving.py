"""Open what patients would be served from, for tests of it: a release, or files that may become the next one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.assistant import Assistant
from bot.catalog.approval import FILE
from bot.errors import BadData
from bot.ports import Encoder
from bot.release.contents import Contents
from bot.release.in_force import InForce
from bot.release.release import Release, Unpacked, make_manifest, unpack
from bot.release.stops import Stops
from bot.web.staff.tools import Tools


@dataclass(frozen=True, slots=True)
class Serving:
    """What patients would be served from.

    Attributes:
        exam: Its name.
        name: Of the release; empty for what is none yet.
        digest: Of all that decides on replies: files, which pairs are shown, country, version of this program. Who
            approved what is no part of it.
        assistant: Answers as it would; where nothing is approved, in the sample, all drafts are shown.
    """

    exam: str
    name: str
    digest: str
    assistant: Assistant


def open_files(place: Unpacked, tools: Tools, *, encoder: Encoder | None = None) -> Serving:
    """Open files as the release would be that is made of them now.

    Raises:
        UserFixable: Something that has to be approved is not.
    """
    contents = Contents.gather(
        place.exam, site=place.site, questionnaire=place.questionnaire, country=tools.settings.country
    )
    if tools.sample:
        return _opened(place, tools, None, dict(contents.files), encoder)
    manifest = make_manifest(contents, now=tools.now(), stops=tools.releases.stops(), program=tools.publisher.program)
    release = Release(0, tools.now(), "", "", manifest, "")
    return _opened(place, tools, release, dict(contents.files), encoder)


@contextmanager
def open_release(number: int, tools: Tools, *, encoder: Encoder | None = None) -> Iterator[tuple[Serving, Unpacked]]:
    """Open a release as it was made, whatever was stopped since, with its files for this block.

    Raises:
        BadData: There is none of this number, or it is not what was signed.
    """
    release = tools.releases.get(number)
    if release is None:
        raise BadData(f"There is no release {number}. See `klartext release list`.")
    with TemporaryDirectory(dir=tools.settings.writable_data(), prefix=".rehearsal-") as folder:
        place = unpack(release, tools.releases.files(number), Path(folder))
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*.*")}
        yield replace(_opened(place, tools, release, files, encoder), name=release.name), place


def _opened(
    place: Unpacked, tools: Tools, release: Release | None, files: dict[str, bytes], encoder: Encoder | None
) -> Serving:
    shown = release.content["shown"] if release is not None else None
    decides = {path: hashlib.sha256(raw).hexdigest() for path, raw in files.items() if Path(path).name != FILE}
    said = [decides, shown, tools.settings.country, tools.publisher.program]
    # What was stopped since would look like a change for the worse of the texts themselves.
    in_force = InForce(release, Stops, tools.now) if release is not None else None
    assistant = Assistant.open(
        place.exam,
        settings=replace(tools.settings, site=place.site),
        sample=release is None,
        in_force=in_force,
        encoder=encoder or "embedded",
    )
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return Serving(place.exam.name, "", digest, assistant)
