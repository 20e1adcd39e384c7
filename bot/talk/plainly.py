"""Ask once more, in fewer or plainer words, what nobody could answer as it was written.

Without the wish for simple words ("in plain words please"), without a turn of phrase ("I'd kill for a coffee, can I
have one?"), without a dialect's words, or of a story that raised an alarm only what is asked in it. The alarm and the
complaints have heard the message as it was written before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from bot.assistant import Assistant
from bot.interview.manners.listening import question_like
from bot.languages.files import cached, joint
from bot.response import Response
from bot.sentences.reply import SiteText
from bot.talk.dialogue import State, rest_of
from bot.talk.matters import answered_by_words
from bot.talk.reaction import Reaction
from bot.talk.remarks import promise_simple_words, with_interpreter
from bot.talk.situation import wants_simple, without_wish
from bot.text import sentences, words

MOST_WORDS = 24  # of a message that is put in other words
FEWEST = 2  # words of what is asked


def other_words(text: str, language: str) -> Iterator[str]:
    """Yield what a message asks in other words, the likeliest first; nothing where it is plain, or long."""
    if len(text.split()) > MOST_WORDS:
        return
    if (without := without_wish(text, language)) is not None:
        yield from (each for each in without if len(words(each)) >= FEWEST)
    said = " ".join(words(text))
    plain = _idioms().sub(" ", said)
    for word, known in _dialect().items():
        plain = re.sub(rf"\b{word}\b", known, plain)
    plain = " ".join(plain.split())
    if plain != said and len(plain.split()) >= FEWEST:
        yield f"{plain}?" if "?" in text else plain


def in_other_words(
    assistant: Assistant, state: State, text: str, told: Reaction, ask: Callable[[str], Reaction]
) -> Reaction:
    """Return a reaction, or the one to the same in plainer words (by `ask`) where nobody could answer it."""
    if told.decided is None or told.decided.decision not in ("declined", "clarify", "talk"):
        return told
    language, found, complains = told.reply.language, told, told.after.complaint is not None
    if state.simple != "asked" and any(isinstance(part, SiteText) for part in told.reply.parts[:1]):
        return told  # "I'd give my right arm for an earlier appointment" is answered with the number
    for said in () if complains else other_words(text, language):
        again = ask(said)
        decision = again.decided.decision if again.decided is not None else ""
        better = decision == "answered" or (decision == "clarify" and found is told)
        if again.decided is not None and better:
            found = replace(again, decided=replace(again.decided, question=told.decided.question))
        if decision == "answered":
            break
    if state.simple != "asked" or not wants_simple(text, state.language):
        return found
    asks = found is not told or (told.decided.decision == "clarify" and asks_within(text, language))
    if asks or complains:
        return replace(found, reply=with_interpreter(assistant, found.reply))
    return Reaction(*promise_simple_words(assistant, rest_of(told.after, state.language)))


def asks_within(text: str, language: str) -> bool:
    """Say whether a message, or one of its sentences, asks something."""
    return any(question_like(each, language) != "no" for each in (text, *sentences(text)))


def answered_calmly(assistant: Assistant, text: str, language: str) -> Response:
    """Decide on what raised an alarm that was called off: what it asks is answered, whatever else it tells."""

    def decided(said: str) -> Response:
        return answered_by_words(assistant, assistant.answer(said, language, ignore_flags=True))

    whole = decided(text)
    if whole.decision == "answered" or whole.fixed is not None:
        return whole
    asked = [each for each in sentences(text) if each != text and question_like(each, language) != "no"]
    found = [decided(each) for each in reversed(asked)]
    likely = [each for each in found if each.decision == "answered"] or [
        each for each in found if each.decision == "clarify"
    ]
    return next(iter(likely), whole)


@cached
def _idioms() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(joint('messages.yaml')['errands']['idioms'])})")


@cached
def _dialect() -> dict[str, str]:
    listed = (each.partition("=") for each in joint("messages.yaml")["errands"]["dialect"])
    return {word: known for word, _, known in listed}
