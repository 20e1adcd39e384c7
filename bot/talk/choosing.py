"""Conversations that no exam answers in: which one it is about is asked first, or it is about one that is not served.

Emergencies are heard in both, before anything else. The guard knows no pair there: no exam's text can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self, cast

from bot.assistant import Assistant
from bot.interview.manners.listening import question_like
from bot.interview.reading.yesno import is_unknown
from bot.languages.files import known as languages
from bot.sentences.reply import Interface, Part, Reply, SiteText, foreign_sentence, interface
from bot.staff.calls import Call
from bot.staff.desk import Desk
from bot.talk.conversation import Conversation, Message, Taken
from bot.talk.dialogue import MOST_REMINDED, State, is_open_alarm, known, rest_of, show_pair, way_out
from bot.talk.exams import Undecided
from bot.talk.matters import answered_by_words, matters_in
from bot.talk.messages import CLOSED, ails, short_reaction, small_talk
from bot.talk.naming import (
    means_all,
    means_none,
    names_third,
    only_fills,
    says_unsure,
    speaks_of_exam,
    tells_symptom,
)
from bot.talk.neighbours import Neighbour, Said, neighbour
from bot.talk.plainly import answered_calmly
from bot.talk.reaction import REPLIES, Reaction
from bot.talk.reactions import Reactions
from bot.talk.remarks import placed, reply_to_remark
from bot.talk.situation import fact_named
from bot.talk.switching import Among
from bot.text import MAX_CHARACTERS, sanitise, words

FORM_COMMAND = "/interview"
MOST_NAME = 2  # words of a message that is only the name of an exam
MOST_ASKING = 8  # of one that asks in words that are not known to: "mammo wie lang gaht das"
_CLAUSE = re.compile(r"[,:;.!–—]\s+|\s-\s")
MOST_KEPT = 3  # messages that are answered once the exam is known: the last ones


class Asking(Reactions):
    """Reacts while it is not known which exam a conversation is about: to emergencies, then with that question."""

    def __init__(self, assistant: Undecided, desk: Desk | None = None) -> None:
        super().__init__(assistant, None, desk)
        self._undecided = assistant

    def _react(self, state: State, text: str, at: datetime) -> Reaction:
        shortcut = self._shortcut(state, text, at) if text.strip().lower() != FORM_COMMAND else None
        told = shortcut or self.in_emergency(state, text, at)
        if told is not None and shortcut is None and is_open_alarm(state) and not is_open_alarm(told.after):
            # Called off: what sounded like an emergency, and is none, may have been a question.
            held = state.held_back or ""
            asks = question_like(held, state.language) != "no"
            state = replace(state, pending=held, ruled_out=True) if asks else state
        reaction = told or self.reminded(state) or self._called(state, text, at) or self._noted(state, text)
        after = reaction.after
        if not after.pending:
            after = replace(after, pending=state.pending, ruled_out=state.ruled_out)
        if is_open_alarm(after):
            return replace(reaction, after=after)
        return replace(reaction, reply=asks_for_exam(reaction.reply, self._undecided), after=after)

    def _noted(self, state: State, text: str) -> Reaction:
        """React to what is no emergency: whatever is asked is kept until the exam is known."""
        language = self.language_of(text, state.language)
        rest = replace(rest_of(state, language), pending=state.pending, ruled_out=state.ruled_out)
        if (talk := small_talk(text)) is not None:
            keys = ("help", "emergency_notice") if talk == "help" else (talk,)
            return Reaction(Reply(language, tuple(interface(language, key) for key in keys)), rest)
        named = self._undecided.names_in(text)
        unsure = (len(named.meant) > 1 or named.hinted) and says_unsure(
            text
        )  # "breast MRI or mammogram, I am not sure"
        shared = named.alone and named.hinted and self._undecided.is_shared(text)
        if unsure or shared:
            return Reaction(
                Reply(language, (interface(language, "exam_not_known" if unsure else "exam_several"),)), rest
            )
        if means_all(text) or (len(named.meant) > 1 and named.alone):
            return Reaction(Reply(language, (interface(language, "exam_both"),)), rest)
        denies_all = len(named.denied) == len(self._undecided.exams) and (named.alone or names_third(text))
        third = denies_all and "?" not in text
        if not named.meant and (third or means_none(text) or named.changes):
            return Reaction(Reply(language, (interface(language, "exam_neither"),)), rest)
        no_name = text.strip().isdigit() or named.alone  # a number of no exam; "not the mammogram"
        no_name = no_name or (not named.meant and says_unsure(text) and speaks_of_exam(text) and not ails(text))
        if no_name or any(is_unknown(text, language=each) for each in languages()) or _says(text, "exam_unknown"):
            return Reaction(Reply(language, (interface(language, "exam_not_known"),)), rest)
        if (kind := short_reaction(text)) in CLOSED and kind is not None:
            return Reaction(Reply(language, (interface(language, REPLIES[kind]),)), rest)
        response, complaint = self._undecided.decide(text, language)
        if response.decision == "urgent":
            return self._respond(rest, response)
        if response.fixed is not None:
            return Reaction(Reply(language, (foreign_sentence(response.fixed.language, response.fixed.key),)), rest)
        if response.too_long:
            told = interface(language, "too_long", limit=MAX_CHARACTERS)
            return Reaction(Reply(language, (told, interface(language, "emergency_notice"))), rest)
        response = placed(response)
        matters = any(matters_in(each, text, language) for each in self._exams(language))
        if matters and complaint in ("complaint_days", "complaint_appointment"):
            # "Breast implants" names what is in a breast, and is no complaint of it.
            complaint = complaint if ails(text) or tells_symptom(text) else ""
        first = response.remarks[0] if response.remarks else None
        place = reply_to_remark(self._undecided, rest, response) if first is not None and not first.is_feeling else None
        of_place = place is not None and any(isinstance(part, SiteText) for part in place[0].parts)
        # "I am in my 9th week" is more than a matter of the place, where an exam has an answer to it.
        if place is not None and of_place and (fact_named(text) or not self._is_answered(text, language)):
            return Reaction(place[0], rest)  # where to park is the same for all exams
        if only_fills(text) and not complaint:
            return Reaction(Reply(language, ()), rest)  # "the scan" is nothing to be kept
        rest = replace(rest, pending=_kept(rest, text), ruled_out=False)
        keys = (complaint, "exam_noted") if complaint else ("exam_noted",)
        return Reaction(Reply(language, tuple(interface(language, key) for key in keys)), rest)

    def _exams(self, language: str) -> list[Assistant]:
        return [each for each in self._undecided.exams.values() if language in each.languages]

    def _is_answered(self, text: str, language: str) -> bool:
        """Say whether any of the exams has an answer to a message."""
        asked = ((each, each.answer(text, language)) for each in self._exams(language))
        return any(answered_by_words(each, response).decision == "answered" for each, response in asked)


class Away(Reactions):
    """Reacts in a conversation whose exam is not served any more: to emergencies, then by saying so."""

    def __init__(self, assistant: Undecided, desk: Desk | None = None) -> None:
        super().__init__(assistant, None, desk)

    def _react(self, state: State, text: str, at: datetime) -> Reaction:
        shortcut = self._shortcut(state, text, at) if text.strip().lower() != FORM_COMMAND else None
        reaction = shortcut or self.in_emergency(state, text, at) or self.reminded(state)
        reaction = reaction or self._called(state, text, at)
        if reaction is not None and is_open_alarm(reaction.after):
            return reaction
        language = self.language_of(text, state.language) if reaction is None else reaction.reply.language
        before = reaction.reply.parts if reaction is not None else ()
        after = reaction.after if reaction is not None else rest_of(state, language)
        return replace(
            reaction or Reaction(Reply(language, ()), after),
            reply=Reply(language, (*before, *_gone(language))),
            after=after,
        )


def _kept(state: State, text: str) -> str:
    """Return what is to be answered once the exam is known: a device that was named, as well as what is asked."""
    before = () if state.ruled_out else state.pending.split("\n")
    return "\n".join(dict.fromkeys(filter(None, [*before[1 - MOST_KEPT :], sanitise(text).text])))


def asks_for_exam(reply: Reply, undecided: Undecided) -> Reply:
    """Return a reply that ends with the question which exam it is, and the exams as buttons.

    Where only one is served any more, that is said first: nobody shall take its answers for those of another.
    """
    language = reply.language
    only = (interface(language, "exam_only"),) if len(undecided.exams) == 1 else ()
    parts = (*reply.parts, *only, interface(language, "exam_question"))
    return Reply(language, parts, exam_choices(undecided, language))


def exam_choices(undecided: Undecided, language: str) -> tuple[Part, ...]:
    """Return the exams as buttons, and the one of who does not know."""
    buttons = tuple(undecided.button(name, language) for name in undecided.exams)
    return (*buttons, interface(language, "exam_unknown"))


def _gone(language: str) -> tuple[Part, ...]:
    return (interface(language, "exam_gone"), interface(language, "emergency_notice"))


def _says(text: str, key: str) -> bool:
    return any(text.strip().casefold() == interface(language, key).text.casefold() for language in languages())


class Choosing(Conversation):
    """A conversation of which nobody has said which exam it is about."""

    _enter: Callable[[str, State, str], Conversation]

    def entering(self, enter: Callable[[str, State, str], Conversation]) -> Self:
        """Return the conversation with what goes on with it once the exam is known."""
        self._enter = enter
        return self

    def rules(self, desk: Desk | None) -> Reactions:
        return Asking(self.undecided, desk)

    @property
    def undecided(self) -> Undecided:
        return cast(Undecided, self._assistant)

    @property
    def choices(self) -> tuple[Part, ...]:
        state = self._standing.state
        # What was offered last, even if the exams have changed since: a number means what it meant then.
        shown = self._standing.choices or exam_choices(self.undecided, state.language)
        return way_out(state) if is_open_alarm(state) else shown

    def offer(self, *, at: datetime) -> Reply | None:
        """Ask which exam it is."""
        return None if self._assistant.is_closed else asks_for_exam(Reply(self.language, ()), self.undecided)

    def greeting(self) -> Reply:
        welcome = self.welcome()
        if self._assistant.is_closed:
            return welcome
        return replace(welcome, parts=(*welcome.parts, interface(self.language, "exam_question")))

    def take(self, message: Message, *, at: datetime) -> Taken:
        """Take one turn; the one that names the exam is the first of that exam's."""
        text = message.text if message.choice is None else self._choice(message.choice)
        exam = self._chosen(message, text, at)
        if exam is None:
            return super().take(message, at=at)
        return self._enter(exam, self._standing.state, text).take(message, at=at)

    def _chosen(self, message: Message, text: str, at: datetime) -> str | None:
        """Return the exam that a message chooses; None where it is anything else, an emergency above all."""
        state = self._standing.state
        call = self._desk.call(self._id) if self._desk is not None else None
        elsewhere = (call is not None and call.is_taken) or self._assistant.is_closed
        held = is_open_alarm(state) and not (state.unsure and state.reminded >= MOST_REMINDED)
        if not message.is_said or elsewhere or held:
            return None
        exam = self.undecided.named_in(text, state.language)
        if exam is None or self._reactions.in_emergency(state, text, at) is not None:
            return None
        # "My breast is red" names no exam, whatever this one is called; who names one is heard by that one.
        named = self.undecided.names_in(text)
        says_more = message.choice is None and len(words(text)) > MOST_NAME and named.hinted and not named.alone
        complains = says_more and (ails(text) or self.undecided.decide(text, state.language)[1] != "")
        return None if complains else exam


class _Entering(Reactions):
    """Reacts in a conversation of an exam that was just chosen."""

    def answer_calmly(self, state: State, text: str) -> Reaction:
        """Answer what raised an alarm that the patient has called off."""
        return self._respond(state, answered_calmly(self._assistant, text, self.language_of(text, state.language)))


class Chosen(Among):
    """The conversation of an exam that was just chosen: what was asked before is answered now."""

    _before: State | None = None
    _pressed: str = ""

    def after(self, before: State, pressed: str) -> Self:
        """Return the conversation with what is known of it from before; `pressed`: what chose the exam."""
        self._before, self._pressed = before, pressed
        return self

    def rules(self, desk: Desk | None) -> Reactions:
        return _Entering(self._assistant, self._interviewer, desk)

    def _choice(self, number: int) -> str:
        return self._pressed

    def _react(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        before = self._before or state
        pending, ruled_out = before.pending, before.ruled_out
        # What was shown before was another exam's, if anything: nothing is asked on about it.
        state = replace(rest_of(state, state.language), last_pair=None, last_question=None, last_turn=None, beside=())
        state = replace(state, writes=before.writes, simple=before.simple)
        if self._assistant.is_closed or not pending:
            return self._begun(message, text, state, call, at), text
        if ruled_out and isinstance(self._reactions, _Entering):
            return _told(self._reactions.answer_calmly(state, pending)), text
        found = list[Reaction]()
        for said in [*pending.split("\n"), *([text] if self._says_more(message, text) else [])]:
            reaction, _ = super()._react(Message(message.turn_id, said), said, state, call, at)
            reaction = self._with_matter(reaction, said)
            if is_open_alarm(reaction.after):
                return reaction, text
            asks = question_like(said, state.language) != "no" or (
                reaction.reply.choices and len(words(said)) <= MOST_ASKING
            )
            if asks or not _is_unanswered(reaction):
                found.append(reaction)
        if not found:
            return self._begun(message, text, state, call, at), text
        answered = [each for each in found if not _is_unanswered(each)] or found[-1:]
        return _told(_together(answered)), text

    def _elsewhere(self, said: Said, state: State, at: datetime) -> Reaction | None:
        return None  # it has just been said which exam it is

    def _begun(self, message: Message, text: str, state: State, call: Call | None, at: datetime) -> Reaction:
        """Return what is said where nothing was asked yet: what the radiology team asks is offered, where it does."""
        if self._assistant.is_closed:
            return super()._react(message, text, state, call, at)[0]
        language = state.language
        if self._says_more(message, text):  # "I am afraid of the tube"
            said = self._without_name(text)
            reaction, _ = super()._react(message, said, state, call, at)
            reaction = self._with_matter(reaction, said)
            asks = question_like(text, language) != "no" or (reaction.reply.choices and len(words(text)) <= MOST_ASKING)
            if asks or not _is_unanswered(reaction):
                return _told(reaction)
        if self._interviewer is None:
            return _told(Reaction(Reply(language, (interface(language, "exam_ask_away"),)), state))
        yes_no = (interface(language, "yes"), interface(language, "no"))
        offer = Reply(language, (interface(language, "interview_offer"),), yes_no)
        return _told(Reaction(offer, replace(state, offered=True)))

    def _with_matter(self, reaction: Reaction, said: str) -> Reaction:
        """Return a reaction, or what the exam says of a device that was named: nobody shall hear "all right" of it."""
        own, language = self._assistant, reaction.reply.language
        first = next(iter(reaction.reply.parts), None)
        other = isinstance(first, Interface) and first.key.startswith("complaint_other")
        is_open = (other or _is_unanswered(reaction)) and not tells_symptom(said)
        found = matters_in(own, said, language) if is_open else ()
        if not found or found[0] not in own.shown(language) or reaction.decided is None:
            return reaction
        reply, after = show_pair(known(reaction.after), found[0], own.catalog(language), sample=own.sample)
        answered = replace(reaction.decided, decision="answered", pair_id=found[0])
        return replace(reaction, reply=reply, after=after, decided=answered)

    def _without_name(self, text: str) -> str:
        """Return what stands behind the name of the exam, where that is a clause of its own: "MRI, how long is it?"."""
        own = self._assistant if isinstance(self._assistant, Neighbour) else neighbour(self._assistant, ())
        head, *behind = _CLAUSE.split(text, maxsplit=1)
        is_name = bool(behind) and own.named_in(head).alone and not own.named_in(behind[0]).meant
        return behind[0] if is_name and words(behind[0]) else text

    def _says_more(self, message: Message, text: str) -> bool:
        """Say whether what chose the exam says more than its name."""
        own = self._assistant if isinstance(self._assistant, Neighbour) else neighbour(self._assistant, ())
        return message.choice is None and len(words(text)) > MOST_NAME and not own.named_in(text).alone


def _is_unanswered(reaction: Reaction) -> bool:
    """Say whether a message got no answer; how soon to ask whom about a complaint is one."""
    first = next(iter(reaction.reply.parts), None)
    said = first.key if isinstance(first, Interface) else ""
    if said.startswith("complaint"):
        return False
    if said in REPLIES.values():
        return True
    if reaction.decided is None:
        return False
    return reaction.decided.decision == "clarify" or (reaction.decided.decision == "declined" and said != "")


def _together(reactions: Sequence[Reaction]) -> Reaction:
    """Return what several messages come to, said at once; what is offered is what the last of them offers."""
    *before, last = sorted(reactions, key=lambda each: each.after.complaint is not None)  # a complaint stays known
    parts = list[Part]()
    for part in (part for each in (*before, last) for part in each.reply.parts):
        if part not in parts:
            parts.append(part)
    parts.sort(key=lambda part: isinstance(part, Interface) and part.key == "sample_label")
    return replace(last, reply=replace(last.reply, parts=tuple(parts)))


def _told(reaction: Reaction) -> Reaction:
    """Return a reaction that begins with the exam's name; an alarm goes before it."""
    if is_open_alarm(reaction.after):
        return reaction
    reply = reaction.reply
    return replace(reaction, reply=replace(reply, parts=(interface(reply.language, "exam_chosen"), *reply.parts)))


class Gone(Conversation):
    """A conversation about an exam that is not served any more."""

    def rules(self, desk: Desk | None) -> Reactions:
        return Away(cast(Undecided, self._assistant), desk)

    @property
    def choices(self) -> tuple[Part, ...]:
        state = self._standing.state
        return way_out(state) if is_open_alarm(state) else ()

    def offer(self, *, at: datetime) -> Reply | None:
        return None

    def greeting(self) -> Reply:
        return self._guarded(Reply(self.language, _gone(self.language)))
