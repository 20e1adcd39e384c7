"""What is said to errands that this program does not run: to cancel, to pass something on, to show what others wrote.

Nobody shall believe that an appointment is cancelled, or that the team knows of a pacemaker, because it was written
here. Threats are met here, too. An alarm, and how soon to ask whom about a complaint, go before all of it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.assistant import Assistant
from bot.languages.files import cached, joint
from bot.matching.remarks import Remark
from bot.response import Response
from bot.sentences.reply import Interface, Reply, interface
from bot.talk.dialogue import State, known, rest_of, show_pair
from bot.talk.matters import matters_in
from bot.talk.messages import Kind, refuses, remarks
from bot.talk.naming import tells_symptom
from bot.talk.reaction import REPLIES, Reaction, fixed
from bot.talk.remarks import meet
from bot.text import fold

MOST_WORDS = 40  # of an errand, or of a threat
_NAMES = ("passing_on", "others", "threats", "joking", "worn_out", "heavy")
_TEARS = frozenset("😢😭😿🥺😞😔😟😩☹💔😥😓")


def reacted(assistant: Assistant, state: State, kind: Kind) -> Reaction:
    """Return what is said to a short reaction of a kind."""
    rest, met = rest_of(state, state.language), kind in ("cancelling", "refusal")
    return Reaction(*meet(assistant, rest, kind, (), state.said)) if met else fixed(rest, REPLIES[kind])


def instead(assistant: Assistant, state: State, text: str, told: Reaction) -> Reaction:
    """Return what is said to an errand, a threat or a refusal in the place of what was made of it; else that."""
    first = next(iter(told.reply.parts), None)
    begins = first.key if isinstance(first, Interface) else ""
    if told.after.alarmed or (told.decided is not None and told.decided.decision == "urgent") or _is_foreign(first):
        return told
    said, complains = fold(text), begins.startswith("complaint")
    if len(said.split()) > MOST_WORDS:
        return told
    spoken = replace(state, language=told.reply.language)
    asks = "?" in text
    key = "threat" if not asks and _any("threats").search(said) else ""
    key = key or ("others_unseen" if _any("others").search(said) else "")
    if key:
        return _talked(told, fixed(rest_of(spoken, spoken.language), key))
    kind = refuses(text)
    if kind == "cancelling" and not (complains and tells_symptom(text)):
        return _talked(told, reacted(assistant, spoken, kind))
    if _any("passing_on").search(said):
        return _not_passed_on(assistant, spoken, text, told, complains=complains)
    # Who says "ok, noted", or will not come, wants no leaflet.
    kind = "agreement" if remarks(text) else kind
    answered = told.decided is not None and told.decided.decision == "answered"
    return reacted(assistant, state, kind) if kind is not None and answered else told


def felt(response: Response) -> Response:
    """Return a decision, or the feeling that the words of a message name where no pair answers and nobody complains.

    What may be a complaint all the same is still told below it.
    """
    text, said = response.question, fold(response.question)
    if response.decision not in ("declined", "clarify") or response.fixed is not None or response.level == "now":
        return response
    if len(said.split()) > MOST_WORDS:
        return response
    heavy = (not said and not _TEARS.isdisjoint(text)) or _any("heavy").fullmatch(said.removesuffix(" qqq"))
    tired = response.level in (None, "other") and "?" not in text
    tired = tired and not tells_symptom(_any("joking").sub(" ", said))
    kind = "sadness" if heavy or (tired and _any("worn_out").search(said)) else ""
    kind = kind or ("chatter" if tired and _any("joking").search(said) else "")
    if not kind:
        return response
    rest = response if heavy else replace(response, level=None, advice=None)
    return replace(rest, decision="declined", choices=(), remarks=(Remark(kind, 1.0),))


def _not_passed_on(assistant: Assistant, state: State, text: str, told: Reaction, *, complains: bool) -> Reaction:
    """Say that nothing is passed on, with what the exam says of a device that is named."""
    language, decided = state.language, told.decided
    lead = interface(language, "not_passed_on")
    found = [each for each in matters_in(assistant, text, language) if each in assistant.shown(language)]
    answered = decided is not None and decided.decision == "answered"
    if found and not answered and not complains:
        reply, after = show_pair(known(state), found[0], assistant.catalog(language), sample=assistant.sample)
        told = Reaction(reply, replace(after, last_question=text), decided)
        decided = replace(decided, decision="answered", pair_id=found[0]) if decided is not None else None
    elif decided is None or decided.decision == "declined":
        kept = told.reply.parts if complains else ()
        return _talked(told, Reaction(Reply(language, (lead, *kept)), told.after))
    return replace(told, reply=replace(told.reply, parts=(lead, *told.reply.parts)), decided=decided)


def _talked(told: Reaction, reaction: Reaction) -> Reaction:
    """Return a reaction to a message that is no open question any more."""
    decided = told.decided
    return replace(reaction, decided=None if decided is None else replace(decided, decision="talk", pair_id=None))


def _is_foreign(part: object) -> bool:
    return isinstance(part, Interface) and bool(part.language)


@cached
def _errands() -> dict[str, re.Pattern[str]]:
    listed = joint("messages.yaml")["errands"]
    return {name: re.compile(rf"\b(?:{'|'.join(listed[name])})") for name in _NAMES}


def _any(name: str) -> re.Pattern[str]:
    return _errands()[name]
