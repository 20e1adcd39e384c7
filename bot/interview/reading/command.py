"""Messages that steer the interview instead of answering: "zurück", "Geburtsdatum ändern", "why do you ask?". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from bot.interview.reading.load_words import words_for
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
    if not reply.said:
        return Command("help") if {token.text for token in reply.tokens} == {"?"} else None
    if len(reply.said) > MAX_WORDS:
        return None
    kind = _kind(reply.said, words.commands)
    return Command(kind) if kind else _change(reply, words)


def _kind(texts: Sequence[str], names: CommandWords) -> CommandKind | None:
    core = tuple(text for text in texts if text not in names.padding) or tuple(texts)
    kinds = [kind for kind, phrases in names.kinds.items() if tuple(texts) in phrases or core in phrases]
    if not kinds and len(core) == 1 and len(core[0]) >= MIN_CORRECTED:
        slips = [
            kind
            for kind, phrases in names.kinds.items()
            if near(core[0], [phrase[0] for phrase in phrases.all if len(phrase) == 1])
        ]
        kinds = slips if len(slips) == 1 else []
    return cast(CommandKind, kinds[0]) if kinds else None


def _change(reply: Reply, words: Words) -> Command | None:
    """Read "ich möchte die Medikamente ändern", "change date of birth": the verb, and what else is named."""
    names, tokens = words.commands, reply.tokens
    places = [place for place, token in enumerate(tokens) if token.kind != "mark"]
    kept = [place for place in places if tokens[place].text not in names.padding | names.change_padding]
    verbs = [place for place in kept if tokens[place].text in names.change]
    asks = any(token.text in (",", ";") for token in tokens)
    if len(verbs) != 1 or asks or verbs[0] not in (kept[0], kept[-1] if names.change_last else kept[0]):
        return None
    verb = verbs[0]
    target = [place for place in kept if place != verb]
    following = [place for place in places if place > verb][:1] + target[:1]
    if any(tokens[place].text in names.no_verb_before for place in following):
        return None  # "a change in my breast", "change my mind"
    if len(target) > MAX_TARGET or (not target and (tokens[verb].text,) in words.agreement.yes):
        return None  # "correct" alone agrees
    return Command("change", reply.between(target[0], target[-1] + 1) if target else "")
