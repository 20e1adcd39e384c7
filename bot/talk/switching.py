"""Conversations about one of several exams: who is in the wrong one gets out of it.

Who says that it is another exam may choose that one: the turn that does makes the conversation one about it. Not where
questions of the form have begun, which are that exam's, nor where an invitation named the exam: these are told to
begin anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Self

from bot.sentences.reply import Interface, Reply, interface
from bot.staff.calls import Call
from bot.talk.conversation import Conversation, Message, Taken
from bot.talk.dialogue import State, chosen, is_open_alarm, known, rest_of, show_pair
from bot.talk.exams import exam_of
from bot.talk.following import follow
from bot.talk.matters import pair_for
from bot.talk.messages import ails
from bot.talk.naming import asks_here, means_all, means_none, names_third
from bot.talk.neighbours import (
    Neighbour,
    Said,
    agrees,
    back,
    matters_elsewhere,
    not_now,
    offering,
    taken,
    unsaid,
    without_opposite,
)
from bot.talk.reaction import Reaction, fixed
from bot.talk.remarks import with_contact
from bot.talk.withholding import Decided
from bot.text import words

ANEW = ("exam_invited", "exam_new_chat")  # what sends to a conversation of its own
Enter = Callable[[str, State, str], Conversation]


class Among(Conversation):
    """A conversation about one of several exams."""

    _enter: Enter | None = None
    _is_invited = False
    _said: Said | None = None  # in this turn

    def entering(self, enter: Enter, *, invited: bool = False) -> Self:
        """Return the conversation with what goes on with it as one of another exam; `invited`: to this one."""
        self._enter, self._is_invited = enter, invited
        return self

    @property
    def _leaving(self) -> Enter | None:
        """What goes on with the conversation as another exam's; None where that takes a new one."""
        begun = self._interviewer is not None and self._interviewer.begun
        return None if begun or self._is_invited else self._enter

    def _is_free(self, message: Message, call: Call | None) -> bool:
        return message.is_said and call is None

    def _hear(self, own: Neighbour, state: State, text: str, at: datetime) -> Said:
        if self._said is None or self._said.text != text:
            self._said = Said(own, text, partial(self._reactions.in_emergency, state, text, at))
        return self._said

    def take(self, message: Message, *, at: datetime) -> Taken:
        """Take one turn; the one that chooses another exam is the first of that exam's."""
        own, state, self._said = self._assistant, self._standing.state, None
        enter = self._leaving if _is_switch(state) else None
        call = self._desk.call(self._id) if enter is not None and self._desk is not None else None
        if isinstance(own, Neighbour) and enter is not None and self._is_free(message, call):
            text = message.text if message.choice is None else self._choice(message.choice)
            said = self._hear(own, state, text, at)
            exam = _switched_to(said, state)
            if exam in own.others and not own.others[exam].is_closed and not said.is_emergency:
                return enter(exam, state, text).take(message, at=at)
        return super().take(message, at=at)

    def _react(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        before, state = state, replace(state, elsewhere=(), pending="")
        own = self._assistant
        if not isinstance(own, Neighbour) or not self._is_free(message, call):
            return super()._react(message, text, state, call, at)
        said, told = self._hear(own, state, text, at), None
        if own.is_closed:
            others = own.open_others(_meant_instead(said, asking=False)) if message.choice is None else ()
            if others and not is_open_alarm(state) and not said.is_emergency:
                language = self._reactions.language_of(text, state.language)
                return self._switch(own, others, rest_of(state, language)), text
            return super()._react(message, text, state, call, at)
        if _is_switch(before):
            told = fixed(state, "all_right") if _stays(said, before) else self._neither(said, state)
        elif before.elsewhere:
            told = taken(said, state, before.elsewhere, before.pending)
        offered = bool(before.elsewhere)
        if told is None and message.choice is None:
            told = self._asked_here(said, state, offered=offered)
            told = told or self._elsewhere(said, state, at) or self._followed(said, state)
        if told is not None:
            return told, text
        if offered:
            state = replace(state, beside=())  # it was offered, and never shown
        reaction, kept = super()._react(message, text, state, call, at)
        reaction = back(own, state, reaction)
        if not self._is_interviewing and not state.alarmed and state.complaint is None:
            return offering(said, reaction, state), kept
        return without_opposite(said, reaction, state), kept

    def _asked_here(self, said: Said, state: State, *, offered: bool) -> Reaction | None:
        """React to "and here?", after another exam's answer or its offer: what was asked there is asked of this one."""
        own, named = said.own, said.named
        here = asks_here(said.text) if not named.meant else named.leans and named.meant == (exam_of(own),)
        if not here or not state.beside or state.last_pair is not None or self._is_interviewing or state.alarmed:
            return None
        language, (_, same, asked) = state.language, state.beside
        pair_id = same if same in own.learned(language) else pair_for(own, asked, language)
        if pair_id is None or said.is_emergency:
            return None
        if pair_id not in own.shown(language):
            return fixed(unsaid(known(state)), "withheld")
        reply, after = show_pair(known(state), pair_id, own.catalog(language), sample=own.sample)
        decided = Decided(language, asked, "answered", pair_id, 1.0, own.catalog(language).ref)
        after = replace(after, writes=state.writes, last_question=asked)
        reaction = Reaction(reply, after, decided)
        return reaction if offered else back(own, state, reaction)

    def _followed(self, said: Said, state: State) -> Reaction | None:
        """React to what is said of another exam's answer, shown last; None where this exam has to react to it."""
        if not state.beside or state.last_pair is not None or self._is_interviewing or state.alarmed:
            return None
        is_command, language = said.text.startswith("/"), state.language
        return follow(said, state, language if is_command else self._reactions.language_of(said.text, language))

    def _neither(self, said: Said, state: State) -> Reaction | None:
        """React to who has none of the exams, or all of them; None for everything else, an emergency above all."""
        named, text = said.named, said.text
        key = "exam_both" if means_all(text) or (named.alone and len(named.meant) > 1) else ""
        none = len(named.denied) > len(said.own.others) or means_none(text)
        if not named.meant and (none or (names_third(text) and "?" not in text)):
            key = "exam_neither"
        if not key or ails(text) or said.is_emergency:
            return None
        told = fixed(rest_of(state, state.language), key)
        return replace(told, reply=with_contact(told.reply, said.own.site, writes=state.writes))

    def _elsewhere(self, said: Said, state: State, at: datetime) -> Reaction | None:
        """React to who says that it is another exam; None for everything else, an emergency above all."""
        own, named, text = said.own, said.named, said.text
        # After an answer, "in the tube as well" asks the same of it.
        asks_the_same = named.leans and (state.last_question is not None or bool(state.beside))
        if not named.changes and not named.denied and matters_elsewhere(own, text, state.language):
            asks_the_same = True  # "watch in the MRI"
        others = () if asks_the_same else _meant_instead(said, asking=self._is_interviewing)
        denies = exam_of(own) in named.denied and (names_third(text) or len(named.denied) > len(own.others))
        if denies and not self._is_interviewing:
            return self._neither(said, state)
        here = named.alone and named.meant == (exam_of(own),) and not named.denied and not self._is_interviewing
        if not others and (not here or asks_the_same or "?" in text):
            return None
        picked = chosen(state, text, own.catalog(state.language))
        if is_open_alarm(state) or ails(text) or picked is not None or said.is_emergency:
            return None
        language = self._reactions.language_of(text, state.language)
        rest = rest_of(state, language)
        if not others:
            return fixed(rest, "exam_is", "exam_ask_away")
        can = own.open_others(others)
        if not can:
            return self._reactions.then_question(Reaction(not_now(said, others[0], rest), rest), at)
        told = self._switch(own, can, rest)
        return told if self._leaving is not None else self._reactions.then_question(told, at)

    def _switch(self, own: Neighbour, others: tuple[str, ...], rest: State) -> Reaction:
        """Offer to go on with another exam, or tell to begin anew."""
        language = rest.language
        if self._leaving is None:
            return fixed(rest, ANEW[0] if self._is_invited else ANEW[1])
        buttons = tuple(own.button(exam, language) for exam in others if language in own.others[exam].languages)
        told = fixed(replace(rest, elsewhere=(others[0] if len(others) == 1 else "", "")), "exam_switch")
        return replace(told, reply=replace(told.reply, choices=(*buttons, interface(language, "exam_stay"))))


def tells_to_begin_anew(reply: Reply) -> bool:
    """Say whether a reply tells the patient to begin a new conversation for another exam."""
    return any(isinstance(part, Interface) and part.key in ANEW for part in reply.parts)


def _is_switch(state: State) -> bool:
    """Say whether what was offered last is to go on with another exam, and not one answer of it."""
    return len(state.elsewhere) > 1 and not state.elsewhere[1]


def _meant_instead(said: Said, *, asking: bool) -> tuple[str, ...]:
    """Return the exams of which a message may say that they are the patient's, and this one is not; none: of no exam.

    `asking`: whether questions of the form are asked, whose answers may name exams.
    """
    own, named, asks = said.own, said.named, "?" in said.text
    if exam_of(own) in named.meant:
        return ()
    others = tuple(exam for exam in named.meant if exam in own.others)
    rather = exam_of(own) in named.denied and (others or named.alone)
    if named.changes or rather:
        return (others or tuple(own.others)) if named.alone or (others and not asks) else ()
    return others if others and named.alone and not asks and not asking else ()


def _switched_to(said: Said, state: State) -> str:
    """Return the exam that a reply to the offer to go on with another one chooses; empty: none."""
    for exam in said.own.others:
        if words(said.own.button(exam, state.language).text) == words(said.text):
            return exam
    if said.named.alone and len(said.named.meant) == 1:
        return said.named.meant[0]
    return state.elsewhere[0] if agrees(said.text, state.language) else ""


def _stays(said: Said, state: State) -> bool:
    """Say whether a reply to the same offer wants none of it."""
    pressed = words(said.text) == words(interface(state.language, "exam_stay").text)
    names_own = said.named.alone and said.named.meant == (exam_of(said.own),)
    return pressed or names_own or agrees(said.text, state.language) is False
