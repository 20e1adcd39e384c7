"""Text that is stored as it was written, web addresses, and what can stand for a file or a person. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from bot.interview.reading.reading import Asked, Context, NotUnderstood, Read, Reading
from bot.interview.reading.tokens import Reply
from bot.interview.values.answer import Answer, JsonValue
from bot.text import MAX_CHARACTERS, sanitise

MOST_POINTED = 8  # words; a longer sentence is told as it is
# A whole reply made of these says that there is nothing to say.
_NO = frozenset({
    "nein", "nee", "ne", "na", "noe", "nö", "nix", "nichts", "mehr", "sonst", "danke",
    "no", "nope", "nothing", "else", "thanks", "thank", "you",
})  # fmt: skip
_NOTHING = frozenset({"nichts", "nix", "nothing"})  # alone, it may be an answer
_OPENING = frozenset({"ja", "yes", "hallo", "hello", "hi"})
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


def read_words(raw: str, reply: Reply, context: Context) -> Reading:
    """Return the text that a reply holds, without the sentence around it, or that there is none.

    A short answer ("string") that says "I don't have one" is none; in a long one ("text") such words may be what the
    team wants to know. Whatever is not just what was written is to be read back.
    """
    asked, none, texts = context.asked, context.words.frames.none, reply.said
    about_it = tuple(text for text in texts if text not in context.prompt_words)  # "ich habe keinen Hausarzt"
    if asked.type == "text" and _NO.issuperset(texts) and not _NOTHING.issuperset(texts):
        return Read((), literal=True)
    crossed_out = not texts and all(token.text in ("-", "/") for token in reply.tokens)
    denied = tuple(texts) in none or about_it in none or crossed_out
    if denied and asked.type == "string":
        return Read((), literal=False)
    start, end = _framed(reply, context)
    whole = denied or (start, end) == (0, len(reply.tokens))
    kept = read_text(raw if whole else reply.between(start, end), asked)
    if denied and not isinstance(kept, Read):
        return Read((), literal=False)
    doubted = denied or not whole or (asked.type == "string" and context.words.negates(texts))
    return replace(kept, literal=False) if isinstance(kept, Read) and doubted else kept


def _framed(reply: Reply, context: Context) -> tuple[int, int]:
    """Return where the text that was asked for begins and ends among the tokens."""
    closers, opening = context.words.frames.closers, context.words.agreement.openers | _OPENING
    places = [place for place, token in enumerate(reply.tokens) if token.kind != "mark"]
    texts = reply.said
    padding = 0
    while padding < len(texts) - 1 and texts[padding] in opening:
        padding += 1
    first = next((end for start in range(padding + 1) if (end := _opened(texts, start, context))), 0)
    closed = max((length for length in range(1, closers.longest + 1) if tuple(texts[-length:]) in closers), default=0)
    last = len(texts) - closed
    if first >= last or not (first or closed):
        return 0, len(reply.tokens)
    return places[first], places[last] if closed else len(reply.tokens)


def _opened(texts: Sequence[str], start: int, context: Context) -> int:
    """Return where a frame that begins at a word ends; 0 when none does."""
    frames, prompt, left = context.words.frames, context.prompt_words, texts[start:]
    length = frames.openers.length_at(texts, start)
    if not length and frames.names & prompt:
        length = frames.named.length_at(texts, start)
    if not length and context.asked.type == "string":
        # "Mein Hausarzt ist …", where the question asks for just that.
        whose = len(left) >= 4 and left[0] in frames.whose and left[1] in prompt and left[2] in frames.verbs
        length = 3 if whose else 0
        if not length and len(left) <= MOST_POINTED:
            length = frames.pointing.length_at(texts, start)
    return start + length if length else 0


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
