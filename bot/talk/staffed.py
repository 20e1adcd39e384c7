"""A conversation that staff are called to: while one of them writes, the program is silent, but for emergencies."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.sentences.reply import FormText, Interface, Part, Reply, interface
from bot.staff.calls import Call
from bot.talk.calling import CALLS_STAFF, asks_who_is_there, how_it_stands
from bot.talk.dialogue import State, known, way_out
from bot.talk.interviewing import Interviewer
from bot.talk.messages import switches_to
from bot.talk.reaction import Reaction
from bot.talk.reactions import Reactions

SAVED = ("form_saved", "form_more")


def beside_staff(
    reactions: Reactions, interviewer: Interviewer | None, state: State, text: str, at: datetime
) -> Reaction:
    """React to a message while staff write: to emergencies as ever, and to who calls again; the rest is theirs."""
    command = text.strip().lower()
    if command in CALLS_STAFF:
        called = reactions.call_staff(state, at)
        return replace(called, reply=replace(called.reply, choices=_way_out(state)))
    told = reactions.in_emergency(state, text, at)
    if told is not None:
        return told
    said: tuple[Part, ...] = ()
    switched = switches_to(text)
    language = switched or reactions.language_of(text, state.language)
    if language != state.language:
        state = replace(state, language=language)
        if interviewer is not None and interviewer.session is not None:
            interviewer.speak(language)
        said = (interface(language, "language_switched"),) if switched else ()
    return Reaction(Reply(language, (*said, interface(language, "staff_reads")), _way_out(state)), state)


def asks_nothing(reaction: Reaction, interviewer: Interviewer | None, at: datetime) -> Reaction:
    """Return what is said, while staff write, to a page of the form or a file: it is taken, and nothing is asked."""
    if reaction.decided is not None and reaction.decided.decision == "urgent":
        return replace(reaction, after=set_aside(interviewer, reaction.after, at))
    parts = reaction.reply.parts
    saved = tuple(part for part in parts if isinstance(part, Interface) and part.key in SAVED)
    asked = next((number for number, part in enumerate(parts) if isinstance(part, FormText)), len(parts))
    told = saved or parts[:asked] or (interface(reaction.reply.language, "staff_reads"),)
    after = set_aside(interviewer, reaction.after, at)
    return replace(reaction, reply=Reply(reaction.reply.language, told, _way_out(after)), after=after)


def while_called(  # noqa: PLR0913 - what was said, and how the call stands
    reactions: Reactions, state: State, text: str, call: Call, at: datetime, *, number: Part | None
) -> Reaction:
    """React to who has called for a person: where the program has no answer, it says how the call stands.

    Who asks whether anybody is there is told nothing else, but for the `number` to call and what is open.
    """
    stands = how_it_stands(call, state.language)
    if asks_who_is_there(text) and not state.alarmed:
        told = (stands, number) if number is not None else (stands,)
        return reactions.then_question(Reaction(Reply(state.language, told), replace(state, choices=())), at)
    reaction = reactions.react(state, text, at)
    if reaction.decided is None or reaction.decided.decision != "declined":
        return reaction
    reply = reaction.reply
    return replace(reaction, reply=replace(reply, parts=(how_it_stands(call, reply.language), *reply.parts)))


def while_closed(reactions: Reactions, state: State, text: str, at: datetime, *, more: tuple[Part, ...]) -> Reaction:
    """React to a message while the chat is closed: to emergencies as ever, to all else with whom to call."""
    told = reactions.in_emergency(state, text, at)
    if told is not None:
        return told
    state = replace(state, language=reactions.language_of(text, state.language))
    return Reaction(closed_reply(state, more=more), state)


def closed_reply(state: State, *, more: tuple[Part, ...]) -> Reply:
    """Return what is said while the chat is closed; `more`: which one it is, and how to reach the place."""
    notice = interface(state.language, "chat_closed")
    return Reply(state.language, (notice, *more), _way_out(state))


def set_aside(interviewer: Interviewer | None, state: State, at: datetime) -> State:
    """Return what is still open once staff have written: an alarm, and no question of the program.

    A "no" to what staff asked must not become an answer to the form.
    """
    if interviewer is not None and interviewer.is_asking and interviewer.session is not None:
        interviewer.take(interviewer.interview(at).turn(interviewer.session, "pause"))
    return state if state.alarmed else known(state)


def _way_out(state: State) -> tuple[Part, ...]:
    """Return the way out of an open alarm, which must not be gone."""
    return way_out(state) if state.alarmed and state.held_back is not None else ()
