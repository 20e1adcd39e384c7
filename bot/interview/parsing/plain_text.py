"""Text that is stored as it was written, web addresses, and what can stand for a file or a person. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bot.interview.answer import Answer, JsonValue
from bot.interview.parsing.asked import Asked
from bot.interview.parsing.reading import NotUnderstood, Read, Reading
from bot.matching.text import MAX_CHARACTERS, sanitise

_URN = re.compile(r"urn:[a-z0-9][a-z0-9-]{0,31}:\S+", re.IGNORECASE)
_AROUND_URL = ".,;:!?()<>\"'"
# Files that patients have. The standard library's table depends on the machine it runs on.
_KINDS = {
    "pdf": "application/pdf",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "png": "image/png",
    "heic": "image/heic",
    "dcm": "application/dicom",
    "txt": "text/plain",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_REFERENCE = re.compile(r"[A-Z][A-Za-z]{2,63}/[A-Za-z0-9.-]{1,64}")


def read_text(raw: str, asked: Asked) -> Reading:
    """Return the text without control characters, if it is as short as it must be."""
    clean = sanitise(raw)
    limit = min(asked.max_length or MAX_CHARACTERS, MAX_CHARACTERS)
    if clean.too_long or len(clean.text) > limit:
        return NotUnderstood(f"longer than {limit} characters", "too-long")
    if not clean.text:
        return NotUnderstood("no text", "empty")
    return Read((Answer("string", clean.text),), literal=True)


def read_url(raw: str, asked: Asked) -> Reading:
    """Return an absolute web address or URN; one with words around it is to be read back."""
    clean = sanitise(raw).text
    pieces = clean.split(" ")
    stripped = [piece if piece == clean else piece.strip(_AROUND_URL) for piece in pieces]
    found = [piece for piece in stripped if _absolute(piece)]
    if len(found) != 1:
        return NotUnderstood("no single absolute address (http, https or urn)", "several" if found else "url")
    if asked.max_length and len(found[0]) > asked.max_length:
        return NotUnderstood(f"longer than {asked.max_length} characters", "too-long")
    rest = " ".join(piece for piece, address in zip(pieces, stripped, strict=True) if address != found[0])
    return Read((Answer("uri", found[0]),), literal=not rest, remainder=rest)


def read_attachment(raw: str, asked: Asked) -> Reading:
    """Return the address of a file: files themselves cannot come with a message."""
    reading = read_url(raw, asked)
    if not isinstance(reading, Read):
        return NotUnderstood("no address of a file", "not-in-chat")
    address = str(reading.answers[0].value)
    kind = _KINDS.get(address.rpartition(".")[2].lower())
    value: dict[str, JsonValue] = {**({"contentType": kind} if kind else {}), "url": address}
    return Read((Answer("attachment", value),), reading.literal, reading.remainder)


def read_reference(raw: str, asked: Asked) -> Reading:
    """Return a reference to a record where one is written, else the name of whom or what is meant."""
    reading = read_text(raw, asked)
    if not isinstance(reading, Read):
        return reading
    text = str(reading.answers[0].value)
    name = "reference" if _REFERENCE.fullmatch(text) or _absolute(text) else "display"
    return Read((Answer("reference", {name: text}),), literal=True)


def _absolute(address: str) -> bool:
    if _URN.fullmatch(address):
        return True
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:  # brackets that hold no IPv6 address
        return False
    return parts.scheme in ("http", "https") and bool(host.strip("."))
