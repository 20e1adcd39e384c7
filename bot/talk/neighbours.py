"""Conversations about one of several exams: the others' answers are offered, and who is wrong here gets out of it.

What another exam answers, and this one does not or with much less certainty, is offered to who names that exam or what
points to it, and shown on demand under its name. Without that never: metal is safe in the one, and dangerous in the
other. Where it is only pointed to ("breast"), neither where this exam has a pair of the same id, nor what the other one
keeps to who names it (`only_named` in its `exam.yaml`). Not beside emergencies and complaints, nor while the interview
asks.

Who names the other exam ("with a pacemaker into the tube?") is not answered with what this one says of the same matter:
that may be the opposite. There the other exam's pair is offered in its place.

Who says that it is another exam may choose that one: the turn that does makes the conversation one about it. Not where
questions of the form have begun, which are that exam's, nor where an invitation named the exam: these are told to
begin anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Self

from bot.assistant import Assistant
from bot.catalog.catalog import Pair
from bot.interview.manners.listening import question_like
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.sentences.reply import Interface, Reply, SiteText, interface, of_other_exam, sentence_of
from bot.sentences.wording import Wording
from bot.staff.calls import Call
from bot.talk.conversation import Conversation, Message, Taken
from bot.talk.dialogue import State, chosen, is_open_alarm, known, rest_of
from bot.talk.exams import button_key, called, exam_of, title
from bot.talk.following import LEANS, follow
from bot.talk.messages import ails, in_trouble
from bot.talk.naming import Named, means_all, means_none, names_third, read_names
from bot.talk.reaction import Reaction
from bot.talk.remarks import with_contact
from bot.talk.withholding import Decided
from bot.text import words

SENTENCES = ("exam_offer", "exam_show", "exam_from", "exam_was")
ANEW = ("exam_invited", "exam_new_chat")  # what sends to a conversation of its own
# By how much likelier another exam's pair must be than what this exam finds, where it is only pointed to: the least
# tenth at which fewer than 1 % of the calibration questions of an exam would get an offer of the other by the margin
# alone (docs/accuracy.md).
AHEAD = 0.3
PICKED = 1.0  # the probability of what the patient chose
# How replies begin that answer nothing, and send nobody to a doctor this day.
DECLINING = ("declined", "not_sure", "complaint_days", "complaint_appointment", "complaint_other")


class Neighbour(Assistant):
    """An opened assistant that knows what the other exams of the service could say; alone it decides as ever."""

    def __init__(self, own: Assistant, others: tuple[Assistant, ...]) -> None:
        self.__dict__.update(own.__dict__)  # it shares all that was opened and trained
        self.others: Mapping[str, Assistant] = {exam_of(each): each for each in others}
        pairs: dict[str, Callable[[str], Mapping[str, Pair]]]
        pairs = {name: partial(_pairs, each) for name, each in self.others.items()}
        self._house = replace(self._house, wording=_naming(self._house.wording, self.others), others=pairs)

    def sentence(self, key: str, exam: str, language: str) -> Interface:
        """Return a sentence that names another exam."""
        return sentence_of(self.wording.sentences, language, named_key(key, exam))

    def button(self, exam: str, language: str) -> Interface:
        """Return what is pressed to go on with another exam."""
        return sentence_of(self.wording.sentences, language, button_key(exam))

    def named_in(self, text: str) -> Named:
        """Return which exams of the service a message names."""
        others = {name: called(each) for name, each in self.others.items()}
        return read_names(text, {exam_of(self): called(self), **others})


@lru_cache(maxsize=8)
def neighbour(own: Assistant, others: tuple[Assistant, ...]) -> Neighbour:
    """Return an assistant that knows of the others."""
    return Neighbour(own, others)


def named_key(key: str, exam: str) -> str:
    """Return the key of a sentence that names an exam."""
    return f"{key}:{exam}"


def _naming(wording: Wording, others: Mapping[str, Assistant]) -> Wording:
    """Return the sentences of an exam with those that name the others."""
    found = dict(wording.sentences)
    for language in wording.phrases:
        own = found[language]
        named = {
            named_key(key, exam): own[key].replace("{other}", title(other, language))
            for key in SENTENCES
            for exam, other in others.items()
        }
        buttons = {button_key(exam): title(other, language) for exam, other in others.items()}
        found[language] = {**own, **named, **buttons}
    return replace(wording, sentences=found)


def _pairs(other: Assistant, language: str) -> Mapping[str, Pair]:
    """Return the pairs of an exam that may be shown now, by id."""
    if language not in other.languages or other.is_closed:
        return {}
    catalog = other.catalog(language)
    return {pair_id: catalog.by_id[pair_id] for pair_id in other.shown(language)}


class Among(Conversation):
    """A conversation about one of several exams."""

    _enter: Callable[[str, State, str], Conversation] | None = None
    _is_invited = False

    def entering(self, enter: Callable[[str, State, str], Conversation], *, invited: bool = False) -> Self:
        """Return the conversation with what goes on with it as one of another exam; `invited`: to this one."""
        self._enter, self._is_invited = enter, invited
        return self

    def take(self, message: Message, *, at: datetime) -> Taken:
        """Take one turn; the one that chooses another exam is the first of that exam's."""
        own, state = self._assistant, self._standing.state
        if isinstance(own, Neighbour) and self._enter is not None and is_switch(state) and self._may_switch(message):
            text = message.text if message.choice is None else self._choice(message.choice)
            exam = _switched_to(own, state, text)
            if exam is not None and exam in own.others and self._reactions.in_emergency(state, text, at) is None:
                return self._enter(exam, state, text).take(message, at=at)
        return super().take(message, at=at)

    def _may_switch(self, message: Message) -> bool:
        call = self._desk.call(self._id) if self._desk is not None else None
        begun = self._interviewer is not None and self._interviewer.begun
        return message.is_said and call is None and not self._assistant.is_closed and not begun and not self._is_invited

    def _react(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        before, offered, asked = state, state.elsewhere, state.pending
        state = replace(state, elsewhere=(), pending="")
        free = message.is_said and call is None and not self._assistant.is_closed
        own = self._assistant
        if not isinstance(own, Neighbour) or not free:
            return super()._react(message, text, state, call, at)
        if is_switch(before):
            if _stays(own, before, text):
                return Reaction(Reply(state.language, (interface(state.language, "all_right"),)), state), text
            if (told := self._neither(own, state, text, at)) is not None:
                return told, text
        elif offered and (told := _taken(own, state, text, offered, asked)) is not None:
            return told, text
        if message.choice is None and (told := self._elsewhere(own, message, state, text, at)) is not None:
            return told, text
        if message.choice is None and (told := self._followed(own, state, text, at)) is not None:
            return told, text
        reaction, kept = super()._react(message, text, state, call, at)
        reaction = _back(own, state, reaction)
        if not self._is_interviewing and not state.alarmed and state.complaint is None:
            return _offering(own, reaction, state.last_pair or ""), kept
        return reaction, kept

    def _followed(self, own: Neighbour, state: State, text: str, at: datetime) -> Reaction | None:
        """React to what is said of another exam's answer, shown last; None where this exam has to react to it."""
        if not state.beside or state.last_pair is not None or self._is_interviewing or state.alarmed:
            return None
        (exam, pair_id, asked), language = state.beside, state.language
        language = language if text.startswith("/") else self._reactions.language_of(text, language)
        other, named = own.others.get(exam), own.named_in(text)
        if other is None or pair_id not in _pairs(other, language) or (named.meant and not named.hinted):
            return None
        if self._reactions.in_emergency(state, text, at) is not None:
            return None
        told = follow(own, other, state, text, language)
        if told is None:
            return None
        shown, response = told.shows, told.response
        if shown is not None and shown not in _pairs(other, language):
            return Reaction(Reply(language, (interface(language, "withheld"),)), state)
        first = (own.sentence("exam_from", exam, language),) if shown is not None else ()
        after = replace(state, language=language, complaint=None)
        if told.simple:
            after = replace(after, simple="asked" if state.simple == "wished" else state.simple or "wished")
        if response is None or shown is None:
            return Reaction(Reply(language, (*first, *told.parts)), after)
        ref = other.catalog(language).ref
        decided = Decided(language, response.question, "answered", shown, response.score, ref)
        asked = asked if shown == pair_id else response.question
        return Reaction(Reply(language, (*first, *told.parts)), _beside(after, exam, shown, asked), decided)

    def _neither(self, own: Neighbour, state: State, text: str, at: datetime) -> Reaction | None:
        """React to who has none of the exams, or all of them; None for everything else, an emergency above all."""
        named = own.named_in(text)
        key = "exam_both" if means_all(text) or (named.alone and len(named.meant) > 1) else ""
        if not named.meant and (means_none(text) or (names_third(text) and "?" not in text)):
            key = "exam_neither"
        if not key or ails(text) or self._reactions.in_emergency(state, text, at) is not None:
            return None
        reply = with_contact(Reply(state.language, _fixed(state.language, key)), own.site, writes=state.writes)
        return Reaction(reply, rest_of(state, state.language))

    def _elsewhere(self, own: Neighbour, message: Message, state: State, text: str, at: datetime) -> Reaction | None:
        """React to who says that it is another exam; None for everything else, an emergency above all."""
        named = own.named_in(text)
        others = _meant_instead(own, named, text, asking=self._is_interviewing)
        if exam_of(own) in named.denied and names_third(text) and not self._is_interviewing:
            return self._neither(own, state, text, at)
        here = named.alone and named.meant == (exam_of(own),) and not named.denied and not self._is_interviewing
        if not others and (not here or "?" in text):
            return None
        picked = chosen(state, text, self._assistant.catalog(state.language))
        if is_open_alarm(state) or ails(text) or picked is not None:
            return None
        if self._reactions.in_emergency(state, text, at) is not None:
            return None
        language = self._reactions.language_of(text, state.language)
        rest = rest_of(state, language)
        if not others:
            return Reaction(Reply(language, _fixed(language, "exam_is", "exam_ask_away")), rest)
        if self._may_switch(message) and self._enter is not None:
            buttons = tuple(own.button(exam, language) for exam in others if language in own.others[exam].languages)
            likely = others[0] if len(others) == 1 else ""
            reply = Reply(language, _fixed(language, "exam_switch"), (*buttons, interface(language, "exam_stay")))
            return Reaction(reply, replace(rest, elsewhere=(likely, "")))
        key = ANEW[0] if self._is_invited else ANEW[1]
        return self._reactions.then_question(Reaction(Reply(language, _fixed(language, key)), rest), at)


def is_switch(state: State) -> bool:
    """Say whether what was offered last is to go on with another exam, and not one answer of it."""
    return len(state.elsewhere) > 1 and not state.elsewhere[1]


def tells_to_begin_anew(reply: Reply) -> bool:
    """Say whether a reply tells the patient to begin a new conversation for another exam."""
    return any(isinstance(part, Interface) and part.key in ANEW for part in reply.parts)


def _fixed(language: str, *keys: str) -> tuple[Interface, ...]:
    return tuple(interface(language, key) for key in keys)


def _meant_instead(own: Neighbour, named: Named, text: str, *, asking: bool) -> tuple[str, ...]:
    """Return the exams of which a message may say that they are the patient's, and this one is not; none: of no exam.

    `asking`: whether questions of the form are asked, whose answers may name exams.
    """
    if exam_of(own) in named.meant:
        return ()
    others = tuple(exam for exam in named.meant if exam in own.others)
    rather = exam_of(own) in named.denied and (others or named.alone)
    if named.changes or rather:
        return (others or tuple(own.others)) if named.alone or (others and "?" not in text) else ()
    return others if others and named.alone and "?" not in text and not asking else ()


def _switched_to(own: Neighbour, state: State, text: str) -> str | None:
    """Return the exam that a reply to the offer to go on with another one chooses."""
    for exam in own.others:
        if words(own.button(exam, state.language).text) == words(text):
            return exam
    named = own.named_in(text)
    if named.alone and len(named.meant) == 1:
        return named.meant[0]
    return state.elsewhere[0] if _agrees(state, text) and state.elsewhere[0] else None


def _stays(own: Neighbour, state: State, text: str) -> bool:
    """Say whether a reply to the same offer wants none of it."""
    pressed = words(text) == words(interface(state.language, "exam_stay").text)
    named = own.named_in(text)
    return pressed or _agrees(state, text) is False or (named.alone and named.meant == (exam_of(own),))


def _agrees(state: State, text: str) -> bool | None:
    said = read_yes_no(text, language=state.language)
    return said.answers[0].value is True if isinstance(said, Read) and not said.remainder else None


def _taken(own: Neighbour, state: State, text: str, offered: tuple[str, ...], asked: str) -> Reaction | None:
    """React to what is said to the offer; None where it is something else."""
    exam, pair_id = offered
    other, language = own.others.get(exam), state.language
    if other is None:
        return None
    pressed = words(text) == words(own.sentence("exam_show", exam, language).text)
    agreed = _agrees(state, text)
    if not pressed and agreed is None:
        return None
    if not pressed and agreed is False:
        return Reaction(Reply(language, (interface(language, "all_right"),)), state)
    answer = of_other_exam(exam, pair_id, _pairs(other, language))
    if answer is None:  # it was withdrawn meanwhile
        return Reaction(Reply(language, (interface(language, "withheld"),)), state)
    parts = (own.sentence("exam_from", exam, language), answer)
    label = (interface(language, "sample_label"),) if other.sample else ()
    decided = Decided(language, asked or text, "answered", pair_id, 1.0, other.catalog(language).ref)
    return Reaction(Reply(language, (*parts, *label)), _beside(state, exam, pair_id, asked or text), decided)


def _beside(state: State, exam: str, pair_id: str, asked: str) -> State:
    """Return what is known after another exam's answer: what was shown of this one before is not the last any more."""
    after = replace(known(state), last_pair=None, last_question=None, folded=False, beside=(exam, pair_id, asked))
    return replace(after, check=replace(state.check, step=None, option=None), writes=state.writes)


def _back(own: Neighbour, before: State, reaction: Reaction) -> Reaction:
    """Return a reaction that says first that the answer before was another exam's, where this one is answered from."""
    decided, reply = reaction.decided, reaction.reply
    shown = before.beside[0] if before.beside and before.last_pair is None else ""
    answers = decided is not None and decided.decision in ("answered", "clarify")
    if not answers or shown not in own.others or is_open_alarm(reaction.after) or reaction.after.complaint is not None:
        return reaction
    told = own.sentence("exam_was", shown, reply.language)
    return replace(reaction, reply=replace(reply, parts=(told, *reply.parts)))


def _offering(own: Neighbour, reaction: Reaction, before: str) -> Reaction:
    """Return a reaction with the offer of another exam's answer, where that is what the question is about.

    `before`: the pair of this exam whose answer was shown last.
    """
    decided, first = reaction.decided, next(iter(reaction.reply.parts), None)
    if decided is None or decided.score >= PICKED or reaction.after.alarmed:
        return reaction
    question, language = decided.question, reaction.reply.language
    said = first.key if isinstance(first, Interface) else ""
    complains = reaction.after.complaint is not None or said.startswith("complaint")
    calm = not ails(question) and not in_trouble(question)
    replied = {
        "answered": not complains,
        "clarify": calm and not complains,
        "declined": calm and said.startswith(DECLINING),
        "talk": isinstance(first, SiteText),  # "from what age to the mammogram?" is no question of the place
    }.get(decided.decision, False)
    # A complaint is told where to go; what is asked is none where the exam that knows the matter better hears none.
    if not replied or (complains and "?" not in question and question_like(question, language) == "no"):
        return reaction
    meant = _meant_elsewhere(own, decided, question, language, (before, *reaction.after.choices))
    return reaction if meant is None else _offer(own, reaction, decided, meant)


def _meant_elsewhere(
    own: Neighbour, decided: Decided, question: str, language: str, about: Sequence[str]
) -> tuple[str, str] | None:
    """Return the exam and its pair that a question is about rather than about anything of this exam.

    `about`: the pair whose answer was shown last, or nothing, and what is asked back.
    """
    read = own.named_in(question)
    said = read.meant
    named = tuple(exam for exam in said if exam in own.others) if exam_of(own) not in said else ()
    if not named:  # metal, or feeding a baby, is safe in the one exam and dangerous in the other
        return None
    firmly = not read.hinted  # "breast implants" is asked of an MRI, too
    for exam in named if firmly else ():  # what this exam says of the same matter may be the opposite
        if decided.decision == "answered" and decided.pair_id in _pairs(own.others[exam], language):
            return exam, decided.pair_id or ""
        leans = own.context(language).stands_alone(question) < LEANS  # "and into the tube?", of a pacemaker
        if leans and about[0] in _pairs(own.others[exam], language):
            return exam, about[0]
    least = decided.score + (0.0 if firmly else AHEAD)
    if least >= 1:
        return None
    best: tuple[float, str, str] | None = None
    for exam, other in own.others.items():
        if language not in other.languages or other.is_closed or exam not in named:
            continue
        response = other.answer(question, language)
        pair_id = response.pair_id if response.decision == "answered" and not response.also else None
        if pair_id is None and firmly and response.decision == "clarify":
            pair_id = response.choices[0]
        if pair_id is None or response.level is not None or response.score < least:
            continue
        if not firmly and (pair_id in own.catalog(language).by_id or pair_id in _only_named(other)):
            continue
        if best is None or response.score > best[0]:
            best = (response.score, exam, pair_id)
    if best is not None:
        return best[1:]
    # What this exam would ask back, the one that is named can answer.
    same = (
        (exam, each) for exam in named if firmly for each in about[1:] if each in _pairs(own.others[exam], language)
    )
    return next(same, None)


def _only_named(other: Assistant) -> Sequence[str]:
    """Return the pairs of an exam that are offered only where it is named."""
    exam = other.wording.exam
    return exam.only_named if exam is not None else ()


def _offer(own: Neighbour, reaction: Reaction, decided: Decided, meant: tuple[str, str]) -> Reaction:
    exam, language = meant[0], reaction.reply.language
    choices = (own.sentence("exam_show", exam, language), interface(language, "no"))
    return replace(
        reaction,
        reply=Reply(language, (own.sentence("exam_offer", exam, language),), choices),
        after=replace(reaction.after, elsewhere=meant, pending=decided.question),
        decided=replace(decided, decision="clarify", pair_id=None),
    )
