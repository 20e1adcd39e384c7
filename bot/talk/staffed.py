"""A conversation in which a member of staff writes: the program is silent, but for emergencies."""

from __future__ import annotations

from datetime import datetime

from bot.sentences.reply import Reply, interface
from bot.talk.dialogue import State, known, way_out
from bot.talk.interviewing import Interviewer
from bot.talk.reactions import Reaction, Reactions


def beside_staff(reactions: Reactions, state: State, text: str, at: datetime) -> Reaction:
    """React to a message while staff write: to emergencies as ever; the rest is theirs to answer."""
    told = reactions.in_emergency(state, text, at)
    if told is not None:
        return told
    # The way out of an open alarm must not be gone.
    choices = way_out(state) if state.alarmed and state.held_back is not None else ()
    return Reaction(Reply(state.language, (interface(state.language, "staff_reads"),), choices), state)


def set_aside(interviewer: Interviewer | None, state: State, at: datetime) -> State:
    """Return what is still open once staff have written: an alarm, and no question of the program.

    A "no" to what staff asked must not become an answer to the form.
    """
    if interviewer is not None and interviewer.is_asking and interviewer.session is not None:
        interviewer.take(interviewer.interview(at).turn(interviewer.session, "pause"))
    return state if state.alarmed else known(state)
