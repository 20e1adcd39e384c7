"""Free text becomes typed answers, by rules. Pure: no I/O, clock or randomness."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from bot.interview.reading.choices import asks_yes_no, read_choice
from bot.interview.reading.dates import read_age, read_date
from bot.interview.reading.exactness import OWN_WORDS, said_just_so
from bot.interview.reading.languages import words_for
from bot.interview.reading.no_answer import after_echo, hints_at_silence, one_word, read_silence, without_not_knowing
from bot.interview.reading.plain_text import read_attachment, read_reference, read_url, read_words
from bot.interview.reading.quantities import read_amount, read_quantity
from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.synonyms import is_relative
from bot.interview.reading.times import read_moment, read_time
from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.units import stated_unit
from bot.interview.reading.vocabulary import Words
from bot.interview.reading.yesno import asks_leave, negates, read_boolean, read_how_often, read_leave
from bot.interview.values.answer import Answer
from bot.text import MAX_CHARACTERS, sanitise


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
    if question.type in ("integer", "decimal", "quantity") and not question.allowed_units:
        question = replace(question, unit=stated_unit(question.prompt, words))
    reading = _read_parts(text, question, language, today)
    if isinstance(reading, Read) and reading.literal:
        return replace(reading, literal=said_just_so(reading, cut(text, words.fold), question, words))
    if isinstance(reading, NotUnderstood) and reading.why in ("nothing", "not-listed") and asks_yes_no(question, words):
        return replace(reading, why="yes-no")
    return reading


def _read_parts(text: str, question: Asked, language: str, today: date) -> Reading:
    """Read a reply, but for the question said again in it, and reasons for not knowing."""
    words = words_for(language)
    reply = cut(text, words.fold)
    if question.type in OWN_WORDS or not reply.tokens:
        return _read(text, question, language, today)
    tail = after_echo(reply, words)
    if tail:
        after = _read(tail, question, language, today)
        if isinstance(after, DontKnow | Refused) or (isinstance(after, Read) and not _in_own_words(after)):
            return replace(after, literal=False) if isinstance(after, Read) else after
    parts = without_not_knowing(reply, words)
    if parts and not _answers(parts[1], question, language, today):
        unknown = _read(parts[0], question, language, today)
        return replace(unknown, literal=False, remainder=parts[1]) if isinstance(unknown, Read) else unknown
    return _read(text, question, language, today)


def _answers(text: str, question: Asked, language: str, today: date) -> bool:
    """Say whether words beside "I don't know" answer the question after all, and are no mere sentence with a "not"."""
    reading = _read(text, question, language, today)
    if not isinstance(reading, Read):
        return isinstance(reading, Refused | Ambiguous)
    words = words_for(language)
    said = [token.text for token in cut(text, words.fold).tokens if token.kind != "mark"]
    beside = [token for token in cut(reading.remainder, words.fold).tokens if token.kind != "mark"]
    # "Kein Kontakt zur Familie": all but the "kein" stands beside the no.
    reason = negates(said, words) and len(beside) >= len(said) - 1 and not words.agreement.plain_no & set(said)
    return bool(reading.answers) and not reason and not _in_own_words(reading)


def _in_own_words(reading: Read) -> bool:
    return any(answer.type == "string" for answer in reading.answers)


def _read(text: str, question: Asked, language: str, today: date) -> Reading:
    clean = sanitise(text)
    if clean.too_long:
        return NotUnderstood(f"longer than {MAX_CHARACTERS} characters", "too-long")
    if not clean.text:
        return NotUnderstood("no text", "empty")
    words = _with_echo(words_for(language), question)
    reply = cut(text, words.fold)
    if question.type in ("choice", "open-choice"):
        return read_choice(text, reply, question, words_for(language))
    silence = read_silence(reply, words)
    if question.type == "boolean" and asks_leave(cut(question.prompt, words.fold), words):
        given = read_leave(reply, words)
        unclear = isinstance(read_boolean(reply, words), NotUnderstood)
        hint = silence or (hints_at_silence(reply, words) if unclear else None)
        if given or isinstance(hint, Refused):
            return given or Read((Answer("boolean", False),), literal=False)
    if question.type in ("string", "text") and (silence is None or _may_be_text(silence, reply)):
        return read_words(text, reply, question, words_for(language))
    if silence:
        return silence
    reading = _value(text, reply, question, words, today)
    if isinstance(reading, NotUnderstood) and reading.why in ("nothing", "vague"):
        if _says_yes(reply, question, words):
            return Read((Answer("boolean", True),), literal=False, remainder=clean.text)
        often = read_how_often(reply, words) if question.type == "boolean" else None
        return often or hints_at_silence(reply, words) or reading
    return reading


def _says_yes(reply: Reply, question: Asked, words: Words) -> bool:
    """Say whether a reply names what is asked about, and denies nothing: "I've got a lump"."""
    said = [token.text for token in reply.tokens if token.kind != "mark"]
    if not question.yes_said or negates(said, words) or any(is_relative(word) for word in said):
        return False
    line = f" {' '.join(said)} "
    names = (" ".join(token.text for token in cut(name, words.fold).tokens) for name in question.yes_said)
    return any(f" {name} " in line for name in names)


def _with_echo(words: Words, question: Asked) -> Words:
    """Return the words with those added to the harmless ones that only echo the question: "3 Kinder"."""
    asked = {token.text for token in cut(question.prompt, words.fold).tokens if token.kind == "word"}
    years = {word for word, span in words.dates.spans.items() if span == "a"} if asked & words.numbers.age else set()
    negators = {phrase[0] for phrase in words.agreement.negators.all}
    extra = asked - negators - words.around.date_limits | years
    extra |= words.numbers.pads if question.type in ("integer", "decimal") else set()
    return replace(words, around=replace(words.around, harmless=words.around.harmless | extra)) if extra else words


def _may_be_text(silence: DontKnow | Refused, reply: Reply) -> bool:
    return isinstance(silence, Refused) and one_word(reply)


def _value(text: str, reply: Reply, question: Asked, words: Words, today: date) -> Reading:
    if question.type == "boolean":
        return read_boolean(reply, words)
    if question.type in ("integer", "decimal"):
        age = read_age(reply, question, words, today) if question.type == "integer" else None
        return age or read_amount(reply, question, words)
    if question.type == "date":
        return read_date(reply, question, words, today)
    if question.type == "dateTime":
        return read_moment(reply, question, words, today)
    if question.type == "time":
        return read_time(reply, question, words)
    if question.type == "quantity":
        return read_quantity(reply, question, words)
    if question.type == "url":
        return read_url(text, question)
    if question.type == "attachment":
        return read_attachment(text, question)
    if question.type == "reference":
        return read_reference(text, question)
    return NotUnderstood("an answer of this type cannot be given in chat", "not-in-chat")
