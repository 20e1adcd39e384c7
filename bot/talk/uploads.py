"""A file that a patient sends: what it is by its bytes, what it may be called, and why it is refused. Pure.

What a browser claims of a file counts for nothing: its kind is told by its first and last bytes, its name is cleaned.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.errors import KlartextError
from bot.interview.values.answer import Answer, JsonValue

Reason = Literal["empty", "size", "type", "unsafe", "unscanned", "full", "not_asked", "busy", "gone"]
SCHEME = "urn:uuid:"  # of the address by which an answer names its file until it is exported
MAX_NAME = 80
MAX_PIXELS = 250_000_000  # of a picture that says its size: larger ones are made to fill somebody's memory
_TAIL = 66_000  # of a file: where the directory of a ZIP archive would end
_PNG = b"\x89PNG\r\n\x1a\n"
_HEIC = (b"heic", b"heix", b"hevc", b"mif1", b"msf1")
EXTENSIONS = {
    "application/pdf": ".pdf",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/heic": ".heic",
    "application/dicom": ".dcm",
}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """What files are taken: by the site, or by the site for one question.

    Attributes:
        kinds: Media types; empty where no file would do.
        most_bytes: That a file may have.
    """

    kinds: tuple[str, ...]
    most_bytes: int

    def __str__(self) -> str:
        return f"at most {self.most_bytes} bytes, {', '.join(self.kinds)}"


class FileRefused(KlartextError):
    """A file that is not taken; `reason` says why, nothing says what is in it. `limits`: what would be taken."""

    def __init__(self, reason: Reason, limits: FileLimits | None = None) -> None:
        taken = f" Taken here: {limits}." if limits is not None and reason in ("size", "type") else ""
        super().__init__(_SAID[reason] + taken)
        self.reason = reason


_SAID: dict[Reason, str] = {
    "empty": "The file is empty.",
    "size": "The file is too large.",
    "type": "Files of this kind are not taken.",
    "unsafe": "The file may be harmful and is not taken.",
    "unscanned": "The file could not be checked. Please try again in a minute.",
    "full": "This conversation has as many files as it can hold.",
    "not_asked": "No file is asked for now.",
    "gone": "This conversation has no such file (any more).",
    "busy": "Other files are being received. Please send it again in a minute.",
}


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that was looked at: its cleaned name, its kind as its bytes show it, its bytes."""

    name: str
    kind: str
    content: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-1 in base64, as FHIR wants it of an attachment: it finds changes, and protects from nobody."""
        return b64encode(hashlib.sha1(self.content, usedforsecurity=False).digest()).decode()

    def answer(self, id_: str, *, at: datetime) -> Answer:
        """Return what stands for the file in an interview: all of an attachment but its data."""
        return Answer(
            "attachment",
            {
                "contentType": self.kind,
                "url": SCHEME + id_,
                "size": len(self.content),
                "hash": self.digest,
                "title": self.name,
                "creation": at.isoformat(timespec="seconds"),
            },
        )

    def encoded(self) -> str:
        return b64encode(self.content).decode()


def look_at(
    content: bytes, name: str, *, limits: FileLimits, is_clean: Callable[[bytes], bool | None] | None
) -> SentFile:
    """Return a file that may be taken.

    Args:
        content: Its bytes.
        name: As the browser says; any text at all.
        limits: What is taken.
        is_clean: Scans it; None where nothing is scanned. Its answer None means that it could not.

    Raises:
        FileRefused: It is empty, too large, of another kind, two things at once, or not clean.
    """
    if not content:
        raise FileRefused("empty")
    if len(content) > limits.most_bytes:
        raise FileRefused("size", limits)
    kind = kind_of(content)
    if kind not in limits.kinds:
        raise FileRefused("type", limits)
    if _is_two_things(content, kind):
        raise FileRefused("unsafe")
    verdict = is_clean(content) if is_clean is not None else True
    if verdict is not True:
        raise FileRefused("unscanned" if verdict is None else "unsafe")
    return SentFile(clean_name(name, kind), kind, content)


def kind_of(content: bytes) -> str:
    """Return the media type that the bytes show; empty for anything that is none of ours."""
    if content.startswith(b"%PDF-") and b"%%EOF" in content[-2048:]:
        return "application/pdf"
    if content.startswith(_PNG) and content[12:16] == b"IHDR" and len(content) > 33:
        return "image/png"
    if content.startswith(b"\xff\xd8\xff") and len(content) > 100:
        return "image/jpeg"
    if content[4:8] == b"ftyp" and content[8:12] in _HEIC:
        return "image/heic"
    return "application/dicom" if content[128:132] == b"DICM" else ""


def _is_two_things(content: bytes, kind: str) -> bool:
    """Say whether a file is also something else, or a picture that would fill a viewer's memory."""
    if b"PK\x05\x06" in content[-_TAIL:]:
        return True  # an archive behind it: some programs would open that
    if kind == "application/dicom":
        return content[:2] in (b"MZ", b"PK", b"#!") or content[:4] in (b"\x7fELF", b"II*\0", b"MM\0*", b"%PDF")
    if kind != "image/png":
        return False
    width, height = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
    return not 0 < width * height <= MAX_PIXELS or not content.endswith(b"IEND\xaeB`\x82")


def clean_name(name: str, kind: str) -> str:
    """Return a name without folders, control and direction marks, with the ending of its kind."""
    plain = unicodedata.normalize("NFKC", name.encode("utf-8", "replace").decode())
    plain = re.split(r"[/\\]", plain)[-1]
    plain = "".join(each for each in plain if unicodedata.category(each)[0] not in "CZ" or each == " ")
    plain = re.sub(r"[<>:\"|?*{}\[\]`„“”]", "", plain).strip(" .")
    stem = plain.rpartition(".")[0] or plain
    return (stem.strip(" .")[:MAX_NAME] or "file") + EXTENSIONS[kind]


def file_id(conversation: str, turn_id: str) -> str:
    """Return the id of the file of a turn: sent again, it is the same."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"klartext:file:{conversation}:{turn_id}"))


def removal_turn(id_: str) -> str:
    """Return the id of the turn that takes a file out: asked for again, it is the same."""
    return f"remove-{id_}"


def file_ids(answers: Sequence[Answer]) -> set[str]:
    """Return the ids of the files that answers name."""
    values = (answer.value for answer in answers if answer.type == "attachment")
    addresses = (str(value.get("url")) for value in values if isinstance(value, dict))
    return {url.removeprefix(SCHEME) for url in addresses if url.startswith(SCHEME)}


def with_files(response: dict[str, JsonValue], stored: Callable[[], Mapping[str, str]]) -> None:
    """Put the bytes of files into the answers of a response that name them; `stored` is asked only where one does.

    A file that is gone (another was sent instead) leaves all but its bytes.
    """
    found = list(_named(response))
    data = stored() if found else {}
    for attachment in found:
        content = data.get(str(attachment.pop("url")).removeprefix(SCHEME))
        if content is not None:
            attachment["data"] = content


def _named(node: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(node, list):
        for child in node:
            yield from _named(child)
    elif isinstance(node, dict):
        own = node.get("valueAttachment")
        if isinstance(own, dict) and str(own.get("url", "")).startswith(SCHEME):
            yield own
        for name in ("item", "answer"):
            yield from _named(node.get(name))
