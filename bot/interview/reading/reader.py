"""Free text becomes typed answers, by rules: the one entry. Pure: no I/O, clock or randomness.

Each type of question has its reader: `read_choice`, `read_words`, `read_boolean`, `read_amount` and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from bot.interview.reading.choices import asks_yes_no, read_choice
from bot.interview.reading.dates import read_age, read_date
from bot.interview.reading.exactness import OWN_WORDS, said_just_so
from bot.interview.reading.labels import is_relative
from bot.interview.reading.load_words import words_for
from bot.interview.reading.no_answer import after_echo, hints_at_silence, one_word, read_silence, without_not_knowing
from bot.interview.reading.plain_text import read_attachment, read_reference, read_url, read_words
from bot.interview.reading.quantities import read_amount, read_quantity
from bot.interview.reading.reading import Ambiguous, Asked, Context, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.times import read_moment, read_time
from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.units import stated_unit
from bot.interview.reading.yesno import asks_leave, read_boolean, read_how_often, read_leave
from bot.interview.values.answer import Answer
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
_READERS_AS_WRITTEN = {"url": read_url, "attachment": read_attachment, "reference": read_reference}


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
    if question.type in ("integer", "decimal", "quantity") and not question.allowed_units:
        question = replace(question, unit=stated_unit(context.prompt, words))
        context = replace(context, asked=question)
    reading = _read_parts(text, context)
    if isinstance(reading, Read) and reading.literal:
        return replace(reading, literal=said_just_so(reading, cut(text, words.fold), question, words))
    if isinstance(reading, NotUnderstood) and reading.why in ("nothing", "not-listed") and asks_yes_no(question, words):
        return replace(reading, why="yes-no")
    return reading


def _read_parts(text: str, context: Context) -> Reading:
    """Read a reply, but for the question said again in it, and reasons for not knowing."""
    reply = cut(text, context.words.fold)
    if context.asked.type in OWN_WORDS or not reply.tokens:
        return _read(text, context)
    tail = after_echo(reply, context.words)
    after = _read(tail, context) if tail else None
    if isinstance(after, DontKnow | Refused):
        return after
    if isinstance(after, Read) and not _in_own_words(after):
        return replace(after, literal=False)
    parts = without_not_knowing(reply, context.words)
    if parts and not _answers(parts[1], context):
        unknown = _read(parts[0], context)
        return replace(unknown, literal=False, remainder=parts[1]) if isinstance(unknown, Read) else unknown
    return _read(text, context)


def _answers(text: str, context: Context) -> bool:
    """Say whether words beside "I don't know" answer the question after all, and are no mere sentence with a "not"."""
    reading, words = _read(text, context), context.words
    if not isinstance(reading, Read):
        return isinstance(reading, Refused | Ambiguous)
    said, beside = cut(text, words.fold).said, cut(reading.remainder, words.fold).said
    # "Kein Kontakt zur Familie": all but the "kein" stands beside the no.
    reason = words.negates(said) and len(beside) >= len(said) - 1 and not words.agreement.plain_no & set(said)
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
        return read_choice(text, reply, asked, context.words)
    own, context = context, context.with_echo()
    words, yes_no = context.words, asked.type == "boolean"
    silence = read_silence(reply, words)
    if yes_no and asks_leave(context.prompt, words):
        given = read_leave(reply, words)
        unclear = isinstance(read_boolean(reply, words), NotUnderstood)
        hint = silence or (hints_at_silence(reply, words) if unclear else None)
        if given or isinstance(hint, Refused):
            return given or Read((Answer("boolean", False),), literal=False)
    if asked.type in ("string", "text") and (silence is None or (isinstance(silence, Refused) and one_word(reply))):
        return read_words(text, reply, own)
    if silence:
        return silence
    if asked.type in _READERS_AS_WRITTEN:
        reading = _READERS_AS_WRITTEN[asked.type](text, asked)
    elif asked.type in _READERS:
        reading = _READERS[asked.type](reply, context)
    else:
        return NotUnderstood("an answer of this type cannot be given in chat", "not-in-chat")
    if not isinstance(reading, NotUnderstood) or reading.why not in ("nothing", "vague"):
        return reading
    if _says_yes(reply, context):
        return Read((Answer("boolean", True),), literal=False, remainder=clean.text)
    return (yes_no and read_how_often(reply, words)) or hints_at_silence(reply, words) or reading


def _says_yes(reply: Reply, context: Context) -> bool:
    """Say whether a reply names what is asked about, and denies nothing: "I've got a lump"."""
    said, words = reply.said, context.words
    if not context.asked.yes_said or words.negates(said) or any(map(is_relative, said)):
        return False
    names = (" ".join(token.text for token in cut(name, words.fold).tokens) for name in context.asked.yes_said)
    return any(f" {name} " in f" {' '.join(said)} " for name in names)
