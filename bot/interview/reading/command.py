"""Messages that steer the interview instead of answering: "zurück", "Geburtsdatum ändern", "why do you ask?". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from bot.interview.reading.languages import words_for
from bot.interview.reading.tokens import Reply, cut, near
from bot.interview.reading.vocabulary import CommandWords, Words

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
    """Return the command that a whole message is, or None when it is anything else."""
    words = words_for(language)
    reply = cut(text, words.fold)
    places = [place for place, token in enumerate(reply.tokens) if token.kind != "mark"]
    texts = [reply.tokens[place].text for place in places]
    if not texts:
        marks = {token.text for token in reply.tokens}
        return Command("help") if marks == {"?"} else None
    if len(texts) > MAX_WORDS:
        return None
    kind = _kind(texts, words.commands)
    return Command(kind) if kind else _change(reply, places, words)


def _kind(texts: Sequence[str], names: CommandWords) -> CommandKind | None:
    core = tuple(text for text in texts if text not in names.padding) or tuple(texts)
    for kind, phrases in names.kinds.items():
        if tuple(texts) in phrases or core in phrases:
            return cast(CommandKind, kind)
    if len(core) > 1 or len(core[0]) < MIN_CORRECTED:
        return None
    slips = [
        kind
        for kind, phrases in names.kinds.items()
        if near(core[0], [phrase[0] for phrase in phrases.all if len(phrase) == 1])
    ]
    return cast(CommandKind, slips[0]) if len(slips) == 1 else None


def _change(reply: Reply, places: Sequence[int], words: Words) -> Command | None:
    """Read "ich möchte die Medikamente ändern", "change date of birth": the verb, and what else is named."""
    names = words.commands
    kept = [place for place in places if reply.tokens[place].text not in names.change_padding]
    verbs = [place for place in kept if reply.tokens[place].text in names.change]
    asks = any(token.text in (",", ";") for token in reply.tokens)
    if len(verbs) != 1 or asks or verbs[0] not in (kept[0], kept[-1] if names.change_last else kept[0]):
        return None
    target = [place for place in kept if place != verbs[0]]
    following = [reply.tokens[place].text for place in places if place > verbs[0]]
    if names.no_verb_before & {*following[:1], *(reply.tokens[place].text for place in target[:1])}:
        return None  # "a change in my breast", "change my mind"
    means_yes = (reply.tokens[verbs[0]].text,) in words.agreement.yes
    if len(target) > MAX_TARGET or (means_yes and not target):
        return None  # "correct" alone agrees
    return Command("change", reply.between(target[0], target[-1] + 1) if target else "")
