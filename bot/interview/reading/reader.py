"""Read free text as typed answers, or as a command, by rules: the entry. Pure: no I/O, clock or randomness.

Each type of question has its reader: `read_choice`, `read_boolean`, `read_amount` and so on. What is stored as it was
written (text, addresses, references) is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal, cast
from urllib.parse import urlsplit

from bot.interview.reading.choices import asks_yes_no, read_choice
from bot.interview.reading.labels import alike, is_relative
from bot.interview.reading.moments import read_age, read_date, read_moment, read_time
from bot.interview.reading.quantities import read_amount, read_quantity, stated_unit
from bot.interview.reading.reading import (
    Ambiguous,
    Asked,
    Context,
    DontKnow,
    NotUnderstood,
    Read,
    Reading,
    Refused,
    own_words,
)
from bot.interview.reading.vocabulary import Reply, Token, Words, cut, near, words_for
from bot.interview.reading.yesno import hints_at_silence, read_boolean, read_how_often, read_leave, read_silence
from bot.interview.values.answer import Answer, JsonValue
from bot.text import MAX_CHARACTERS, sanitise

_READERS: dict[str, Callable[[Reply, Context], Reading]] = {
    "boolean": lambda reply, context: read_boolean(reply, context.words),
    "integer": lambda reply, context: read_age(reply, context) or read_amount(reply, context),
    "decimal": read_amount,
    "quantity": read_quantity,
    "date": read_date,
    "dateTime": read_moment,
    "time": read_time,
}
_NUMBERS = frozenset({"integer", "decimal", "quantity"})
_OWN_WORDS = frozenset({"string", "text", "url", "attachment", "reference"})

# "20 kilos too much" tells how much it is above something, and not how much it is.
_TOO_MUCH = re.compile(
    r"\d\s*[^\W\d]*\s+(?:zu\s?viel|zviel|too (?:much|many|heavy)|overweight|de trop)\b", re.IGNORECASE
)
MOST_REPEATED = 5  # words of the question that are said again: "in meinem Alter?"
_PARTING = frozenset(".,;:!()-")


def read(text: str, question: Asked, *, language: str, today: date) -> Reading:
    """Return what a reply answers to a question.

    Args:
        text: As the patient typed it; anything at all.
        question: What is asked.
        language: Tag of the conversation's language, for example "de-CH". English where there are no words for it.
        today: For relative dates and two-digit years.

    Returns:
        Answers of the question's type, or why there are none. Nothing is invented: whatever was not said in so many
        words has ``literal`` False and must be read back.
    """
    words = words_for(language)
    context = Context.of(question, words, today)
    if question.type in _NUMBERS and not question.allowed_units:
        context = replace(context, asked=replace(question, unit=stated_unit(context.prompt, words)))
    reading = _read_parts(text, context)
    if isinstance(reading, NotUnderstood) and reading.why in ("nothing", "not-listed") and asks_yes_no(question, words):
        return replace(reading, why="yes-no")
    return reading


def _read_parts(text: str, context: Context) -> Reading:
    """Read a reply, but for the question said again in it, and reasons for not knowing."""
    reply = cut(text, context.words.fold)
    if context.asked.type in _NUMBERS and _TOO_MUCH.search(text):
        return NotUnderstood("how much too much, and not how much", "nothing")
    if context.asked.type in _OWN_WORDS or not reply.tokens:
        return _read(text, context)
    tail = _after_echo(reply, context.words)
    after = _read(tail, context) if tail else None
    if isinstance(after, DontKnow | Refused):
        return after
    if isinstance(after, Read) and not _in_own_words(after):
        return replace(after, literal=False)
    unknown, others = _without_not_knowing(reply, context.words)
    if unknown and others and not _answers(others, context):
        reading = _read(unknown, context)
        return replace(reading, literal=False, remainder=others) if isinstance(reading, Read) else reading
    return _read(text, context)


def _after_echo(reply: Reply, words: Words) -> str:
    """Return what follows the question that a patient says again first: "Implantate? Nee, nie"; empty for no such."""
    mark = max((place for place, token in enumerate(reply.tokens) if token.text == "?"), default=0)
    echo = Reply(reply.text, reply.tokens[:mark]).said
    answers = any(words[name].within(echo) for name in ("yes", "no", "negators", "unclear"))
    return reply.between(mark + 1, len(reply.tokens)) if 0 < len(echo) <= MOST_REPEATED and not answers else ""


def _without_not_knowing(reply: Reply, words: Words) -> tuple[str, str]:
    """Return the clauses that say one does not know, and the rest: "bin adoptiert, keine Ahnung"; each may be empty."""
    connecting = words["connecting"]
    # "Weiß es deshalb nicht", "deshalb keine Ahnung".
    for parting in (connecting - words["silence_padding"], connecting):
        parts: dict[bool, list[str]] = {True: [], False: []}
        for first, end in _clauses(reply.tokens, parting):
            clause = Reply(reply.text, reply.tokens[first:end])
            unknown = bool(clause.said) and isinstance(read_silence(clause, words), DontKnow)
            parts[unknown].append(reply.between(first, end))
        if parts[True] and parts[False]:
            return ", ".join(filter(None, parts[True])), ", ".join(filter(None, parts[False]))
    return "", ""


def _clauses(tokens: Sequence[Token], parting: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where clauses begin and end: between marks and words such as "so" and "weil"."""
    start = 0
    for place, token in enumerate(tokens):
        number = token.text in ".,:-" and token.glued and place + 1 < len(tokens) and tokens[place + 1].glued
        if (token.kind == "mark" and token.text in _PARTING and not number) or token.text in parting:
            if start < place:
                yield start, place
            start = place + 1
    if start < len(tokens):
        yield start, len(tokens)


def _answers(text: str, context: Context) -> bool:
    """Say whether words beside "I don't know" answer the question after all, and are no mere sentence with a "not"."""
    reading, words = _read(text, context), context.words
    if not isinstance(reading, Read):
        return isinstance(reading, Refused | Ambiguous)
    said, beside = cut(text, words.fold).said, cut(reading.remainder, words.fold).said
    # "Kein Kontakt zur Familie": all but the "kein" stands beside the no.
    reason = words.negates(said) and len(beside) >= len(said) - 1 and words["plain_no"].isdisjoint(said)
    return bool(reading.answers) and not reason and not _in_own_words(reading)


def _in_own_words(reading: Read) -> bool:
    return any(answer.type == "string" for answer in reading.answers)


def _read(text: str, context: Context) -> Reading:
    asked, clean = context.asked, sanitise(text)
    if clean.too_long:
        return NotUnderstood(f"longer than {MAX_CHARACTERS} characters", "too-long")
    if not clean.text:
        return NotUnderstood("no text", "empty")
    reply = cut(text, context.words.fold)
    if asked.type in ("choice", "open-choice"):
        return _read_dated_option(reply, context) or read_choice(text, reply, asked, context.words)
    own, context = context, context.with_echo()
    words, yes_no = context.words, asked.type == "boolean"
    silence = read_silence(reply, words)
    if yes_no and words["asks_leave"].within(context.prompt.said):
        given = read_leave(reply, words)
        unclear = isinstance(read_boolean(reply, words), NotUnderstood)
        hint = silence or (hints_at_silence(reply, words) if unclear else None)
        if given or isinstance(hint, Refused):
            return given or Read((Answer("boolean", False),), literal=False)
    # A single word may as well be an answer: "privat" of an insurance.
    one_refusing_word = isinstance(silence, Refused) and len(reply.said) == 1
    if asked.type in ("string", "text") and (silence is None or one_refusing_word):
        return _read_text(text, reply, own)
    if silence:
        return silence
    if asked.type in _READERS_AS_WRITTEN:
        return _READERS_AS_WRITTEN[asked.type](text, asked)
    if asked.type not in _READERS:
        return NotUnderstood("an answer of this type cannot be given in chat", "not-in-chat")
    reading = _READERS[asked.type](reply, context)
    if not isinstance(reading, NotUnderstood) or reading.why not in ("nothing", "vague"):
        return reading
    if none := _none_of_it(reply, own):
        return none
    if _names_what_means_yes(reply, context):
        return Read((Answer("boolean", True),), literal=False, remainder=clean.text)
    return (yes_no and read_how_often(reply, words)) or hints_at_silence(reply, words) or reading


def _read_dated_option(reply: Reply, context: Context) -> Reading | None:
    """Return the one listed day or time that a reply names in words; None where it may be its place in the list."""
    asked = context.asked
    kinds = {option.answer.type for option in asked.options}
    if len(kinds) != 1 or not kinds <= {"date", "dateTime", "time"} or len(reply.said) < 2:
        return None
    (kind,) = kinds
    plain = replace(asked, type=kind, options=(), prompt="", repeats=False, minimum=None, maximum=None)
    reading = _READERS[kind](reply, replace(context, asked=plain, prompt=Reply("", ())))
    if not isinstance(reading, Read) or len(reading.answers) != 1:
        return None
    value = str(reading.answers[0].value)
    listed = [(str(option.answer.value), option.answer) for option in asked.options]
    # A day without a year is one of those that are listed.
    said_so = [answer for each, answer in listed if each == value or each[:16] == value[:16] != ""]
    same_day = [answer for each, answer in listed if kind != "time" and each[4:10] == value[4:10] != ""]
    found = said_so or ([] if reading.literal else same_day)
    if len(found) == 1:
        return Read((found[0],), reading.literal and bool(said_so), reading.remainder)
    return NotUnderstood("a day or time that is not in the list", "not-listed") if reading.literal else None


def _none_of_it(reply: Reply, context: Context) -> Read | None:
    """Return zero, or that there is none, for a reply that denies all that is asked for: "tut nicht weh", "no"."""
    kind, bare = context.asked.type, read_boolean(reply, context.words)
    if _is_zero(reply, context):
        return Read((Answer(kind, 0 if kind == "integer" else Decimal(0)),), literal=False)
    denies = isinstance(bare, Read) and bare.answers[0].value is False and not bare.remainder
    return Read((), literal=False) if context.asked.repeats and denies else None  # the first of several times


def _is_zero(reply: Reply, context: Context) -> bool:
    """Say whether a reply to a question for a number from 0 on denies all of it: "tut nicht weh", "gar nicht"."""
    asked, words, said = context.asked, context.words, reply.said
    from_zero = asked.minimum == 0 or "0" in context.prompt.said
    if asked.type not in ("integer", "decimal") or not from_zero or context.asks("age") or not words.negates(said):
        return False
    if " ".join(said) in words["no"] | words["maybe_no"]:
        return True
    silent = words["weak"] | words["articles"] | words["openers"] | words["silence_padding"] | words["harmless"]
    rest = [text for text in words.without_negation(said) if text not in silent]
    return all(any(text == name or alike(text, name) for name in context.prompt.names) for text in rest)


def _names_what_means_yes(reply: Reply, context: Context) -> bool:
    """Say whether a reply names what is asked about, and denies nothing: "I've got a lump"."""
    said, words = reply.said, context.words
    if not context.asked.yes_said or words.negates(said) or any(map(is_relative, said)):
        return False
    names = (" ".join(token.text for token in cut(name, words.fold).tokens) for name in context.asked.yes_said)
    return any(f" {name} " in f" {' '.join(said)} " for name in names)


MOST_POINTED = 8  # words; a longer sentence is told as it is
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


def _read_text(raw: str, reply: Reply, context: Context) -> Reading:
    """Return the text that a reply holds, without the sentence around it, or that there is none.

    A short answer ("string") that says "I don't have one" is none; in a long one ("text") such words may be what the
    team wants to know. Whatever is not just what was written is to be read back.
    """
    asked, words, texts = context.asked, context.words, reply.said
    if asked.type == "text" and words["nothing_more"].issuperset(texts) and not words["nothing"].issuperset(texts):
        return Read((), literal=True)
    about_it = (text for text in texts if text not in context.prompt.names)  # "ich habe keinen Hausarzt"
    crossed_out = not texts and all(token.text in ("-", "/") for token in reply.tokens)
    denied = not words["having_none"].isdisjoint((" ".join(texts), " ".join(about_it))) or crossed_out
    says_none = not (words["plain_no"] | words["nothing"]).isdisjoint(texts)
    denied = denied or (len(texts) > 1 and says_none and words["nothing_more"].issuperset(texts))  # "no thanks"
    if denied and asked.type == "string":
        return Read((), literal=False)
    start, end = _framed(reply, context)
    whole = denied or (start, end) == (0, len(reply.tokens))
    kept = own_words(raw if whole else reply.between(start, end), asked)
    if denied and not isinstance(kept, Read):
        return Read((), literal=False)
    doubted = denied or not whole or (asked.type == "string" and words.negates(texts))
    return replace(kept, literal=False) if isinstance(kept, Read) and doubted else kept


def _framed(reply: Reply, context: Context) -> tuple[int, int]:
    """Return where the text that was asked for begins and ends among the tokens."""
    closers, opening = context.words["text_closers"], context.words["openers"] | context.words["greetings"]
    places = [place for place, token in enumerate(reply.tokens) if token.kind != "mark"]
    texts = reply.said
    padding = 0
    while padding < len(texts) - 1 and texts[padding] in opening:
        padding += 1
    first = next((end for start in range(padding + 1) if (end := _opened(texts, start, context))), 0)
    lengths = range(closers.longest, 0, -1)
    closed = next((length for length in lengths if " ".join(texts[-length:]) in closers), 0)
    last = len(texts) - closed
    if first >= last or not (first or closed):
        return 0, len(reply.tokens)
    return places[first], places[last] if closed else len(reply.tokens)


def _opened(texts: Sequence[str], start: int, context: Context) -> int:
    """Return where a frame that begins at a word ends; 0 when none does."""
    words, left = context.words, texts[start:]
    length = words["text_openers"].length_at(texts, start)
    if not length and context.asks("names"):
        length = words["name_openers"].length_at(texts, start)
    if not length and context.asked.type == "string":
        # "Mein Hausarzt ist …", where the question asks for just that.
        about_it = len(left) >= 4 and left[1] in context.prompt.names
        length = 3 if about_it and left[0] in words["whose"] and left[2] in words["verbs"] else 0
        if not length and len(left) <= MOST_POINTED:
            length = words["pointing"].length_at(texts, start)
    return start + length if length else 0


def _read_url(raw: str, asked: Asked) -> Reading:
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


def _read_attachment(raw: str, asked: Asked) -> Reading:
    """Return the address of a file: files themselves cannot come with a message."""
    reading = _read_url(raw, asked)
    if not isinstance(reading, Read):
        return NotUnderstood("no address of a file", "not-in-chat")
    address = str(reading.answers[0].value)
    kind = _KINDS.get(address.rpartition(".")[2].lower())
    value: dict[str, JsonValue] = {**({"contentType": kind} if kind else {}), "url": address}
    return replace(reading, answers=(Answer("attachment", value),))


def _read_reference(raw: str, asked: Asked) -> Reading:
    """Return a reference to a record where one is written, else the name of whom or what is meant."""
    reading = own_words(raw, asked)
    if not isinstance(reading, Read):
        return reading
    text = str(reading.answers[0].value)
    name = "reference" if _REFERENCE.fullmatch(text) or _absolute(text) else "display"
    return replace(reading, answers=(Answer("reference", {name: text}),))


_READERS_AS_WRITTEN = {"url": _read_url, "attachment": _read_attachment, "reference": _read_reference}


def _absolute(address: str) -> bool:
    if _URN.fullmatch(address):
        return True
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:  # brackets that hold no IPv6 address
        return False
    return parts.scheme in ("http", "https") and bool(host.strip("."))


CommandKind = Literal["back", "change", "skip", "why", "help", "pause", "resume", "summary", "repeat"]

MAX_WORDS = 10
MAX_TARGET = 6  # words; a longer message with "ändern" in it tells a story
MIN_CORRECTED = 6


@dataclass(frozen=True, slots=True)
class Command:
    """What the patient wants done; `target` says what is to be changed, as written."""

    kind: CommandKind
    target: str = ""


def read_command(text: str, *, language: str) -> Command | None:
    """Return the command that a whole message is ("zurück", "Geburtsdatum ändern"), None when it is anything else."""
    words = words_for(language)
    reply = cut(text, words.fold)
    if not reply.said:
        return Command("help") if {token.text for token in reply.tokens} == {"?"} else None
    if len(reply.said) > MAX_WORDS:
        return None
    kind = _command_kind(reply.said, words)
    return Command(cast(CommandKind, kind)) if kind else _change(reply, words)


def _command_kind(texts: Sequence[str], words: Words) -> str:
    core = [text for text in texts if text not in words["command_padding"]] or texts
    kinds = [kind for kind, phrases in words.commands.items() if {" ".join(texts), " ".join(core)} & phrases]
    if not kinds and len(core) == 1 and len(core[0]) >= MIN_CORRECTED and core[0] not in words["judging"]:
        # "Normal" is an answer, and no slip of "nomal".
        kinds = [
            kind
            for kind, phrases in words.commands.items()
            if near(core[0], (each for each in phrases.single if len(each) >= MIN_CORRECTED))
        ]
        kinds = kinds if len(kinds) == 1 else []
    return kinds[0] if kinds else ""


def _change(reply: Reply, words: Words) -> Command | None:
    """Read "ich möchte die Medikamente ändern", "change date of birth": the verb, and what else is named."""
    tokens, padding = reply.tokens, words["command_padding"] | words["change_padding"]
    places = [place for place, token in enumerate(tokens) if token.kind != "mark"]
    kept = [place for place in places if tokens[place].text not in padding]
    verbs = [place for place in kept if tokens[place].text in words["change"]]
    asks = any(token.text in (",", ";") for token in tokens)
    if len(verbs) != 1 or asks or verbs[0] not in (kept[0], kept[-1] if "change_last" in words.flags else kept[0]):
        return None
    verb = verbs[0]
    target = [place for place in kept if place != verb]
    following = [place for place in places if place > verb][:1] + target[:1]
    if any(tokens[place].text in words["no_verb_before"] for place in following):
        return None  # "a change in my breast", "change my mind"
    if len(target) > MAX_TARGET or (not target and tokens[verb].text in words["yes"]):
        return None  # "correct" alone agrees
    return Command("change", reply.between(target[0], target[-1] + 1) if target else "")
