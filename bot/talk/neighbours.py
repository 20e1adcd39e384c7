"""What the other exams of a service answer: offered, and shown under the other exam's name. Pure.

What another exam answers, and this one does not or with much less certainty, is offered to who names that exam or what
points to it, and shown on demand under its name. Without that never: metal is safe in the one, and dangerous in the
other. Where it is only pointed to ("breast"), neither where this exam has a pair of the same id, nor what the other one
keeps to who names it (`only_named` in its `exam.yaml`). Not beside emergencies and complaints, nor while the interview
asks.

Who names the other exam ("with a pacemaker into the tube?") is not answered with what this one says of the same matter:
that may be the opposite. There the other exam's pair is offered in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import product

from bot.assistant import Assistant
from bot.catalog.catalog import Pair
from bot.interview.manners.listening import question_like
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.sentences.reply import Content, Interface, Reply, SiteText, interface, of_other_exam, sentence_of
from bot.sentences.wording import Wording
from bot.talk.dialogue import State, is_open_alarm, known, show_pair
from bot.talk.exams import button_key, called, exam_of, title
from bot.talk.matters import is_risky, matters_in, pair_for
from bot.talk.messages import ails, in_trouble
from bot.talk.naming import Named, read_names, tells_symptom
from bot.talk.reaction import Reaction, fixed
from bot.talk.remarks import with_contact
from bot.talk.withholding import Decided
from bot.text import words

SENTENCES = ("exam_offer", "exam_show", "exam_from", "exam_was", "exam_shut_there")
LEANS = 0.5  # how likely a message is to stand alone, below which it is taken to be about the answer before
# By how much likelier another exam's pair must be than what this exam finds, where it is only pointed to: the least
# tenth at which fewer than 1 % of the calibration questions of an exam would get an offer of the other by the margin
# alone (docs/accuracy.md).
AHEAD = 0.3
PICKED = 1.0  # the probability of what the patient chose
_OF_ANSWERS = ("same_intro", "again_intro", "whole_answer", "sample_label")  # what stands around one
# How replies begin that answer nothing, and send nobody to a doctor this day.
DECLINING = ("declined", "not_sure", "complaint_days", "complaint_appointment", "complaint_other")


class Neighbour(Assistant):
    """An opened assistant that knows what the other exams of the service could say; alone it decides as ever."""

    def __init__(self, own: Assistant, others: tuple[Assistant, ...]) -> None:
        self.__dict__.update(own.__dict__)  # it shares all that was opened and trained
        self.others: Mapping[str, Assistant] = {exam_of(each): each for each in others}
        pairs = {name: partial(pairs_of, each) for name, each in self.others.items()}
        self._house = replace(self._house, wording=_naming(self._house.wording, self.others), others=pairs)

    def sentence(self, key: str, exam: str, language: str) -> Interface:
        """Return a sentence that names another exam."""
        return sentence_of(self.wording.sentences, language, named_key(key, exam))

    def button(self, exam: str, language: str) -> Interface:
        """Return what is pressed to go on with another exam."""
        return sentence_of(self.wording.sentences, language, button_key(exam))

    def open_others(self, exams: Iterable[str]) -> tuple[str, ...]:
        """Return those of other exams whose chats are not closed."""
        return tuple(exam for exam in exams if not self.others[exam].is_closed)

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
    for language, (exam, other) in product(wording.phrases, others.items()):
        name = title(other, language)
        named = {named_key(key, exam): found[language][key].replace("{other}", name) for key in SENTENCES}
        found[language] = {**found[language], **named, button_key(exam): name}
    return replace(wording, sentences=found)


def pairs_of(other: Assistant, language: str) -> Mapping[str, Pair]:
    """Return the pairs of an exam that may be shown now, by id."""
    if language not in other.languages or other.is_closed:
        return {}
    catalog = other.catalog(language)
    return {pair_id: catalog.by_id[pair_id] for pair_id in other.shown(language)}


@dataclass(frozen=True)
class Said:
    """A message to an exam that knows the others; each thing is read once. `alarm` reacts where it is an emergency."""

    own: Neighbour
    text: str
    alarm: Callable[[], Reaction | None]

    @cached_property
    def named(self) -> Named:
        """Which exams it names, or hints at."""
        return self.own.named_in(self.text)

    @cached_property
    def is_emergency(self) -> bool:
        return self.alarm() is not None


def agrees(text: str, language: str) -> bool | None:
    """Say whether a whole message is a yes, or a no; None where it is something else."""
    said = read_yes_no(text, language=language)
    return said.answers[0].value is True if isinstance(said, Read) and not said.remainder else None


def taken(said: Said, state: State, offered: tuple[str, ...], asked: str) -> Reaction | None:
    """React to what is said to the offer of an answer; None where it is something else."""
    exam, pair_id = offered
    own, language = said.own, state.language
    if exam not in own.others:
        return None
    pressed = words(said.text) == words(own.sentence("exam_show", exam, language).text)
    again = said.named.leans and said.named.meant == (exam,)  # "and in the tube?", to the offer of just that
    agreed = pressed or again or agrees(said.text, language)
    if not agreed:
        return None if agreed is None else fixed(replace(state, beside=()), "all_right")
    other, asked = own.others[exam], asked or said.text
    answer = of_other_exam(exam, pair_id, pairs_of(other, language))
    if answer is None:  # it was withdrawn meanwhile, or the chat of that exam closed
        still = replace(state, elsewhere=offered, pending=asked)
        return Reaction(not_now(said, exam, still), still)
    label = (interface(language, "sample_label"),) if other.sample else ()
    decided = Decided(language, asked, "answered", pair_id, 1.0, other.catalog(language).ref)
    parts = (own.sentence("exam_from", exam, language), answer, *label)
    return Reaction(Reply(language, parts), beside(state, exam, pair_id, asked), decided)


def not_now(said: Said, exam: str, state: State) -> Reply:
    """Return what is said where another exam is asked and may not answer: its chat is closed, or that pair stopped.

    `state`: with what was asked of it in `elsewhere`; nothing where that exam has no pair for it.
    """
    own, language = said.own, state.language
    if own.others[exam].is_closed:
        told = own.sentence("exam_shut_there", exam, language)
    elif state.elsewhere:
        return Reply(language, (interface(language, "withheld"),))  # as it is said in that exam's own chat
    else:
        told = interface(language, "declined")
    return with_contact(Reply(language, (told,)), own.site, writes=state.writes)


def beside(state: State, exam: str, pair_id: str, asked: str) -> State:
    """Return what is known after another exam's answer: what was shown of this one before is not the last any more."""
    after = replace(known(state), last_pair=None, last_question=None, folded=False, beside=(exam, pair_id, asked))
    return replace(after, check=replace(state.check, step=None, option=None), writes=state.writes)


def back(own: Neighbour, before: State, reaction: Reaction) -> Reaction:
    """Return a reaction that says first that the answer before was another exam's, where this one is answered from."""
    decided, reply = reaction.decided, reaction.reply
    shown = before.beside[0] if before.beside and before.last_pair is None else ""
    answers = decided is not None and decided.decision in ("answered", "clarify")
    if not answers or shown not in own.others or is_open_alarm(reaction.after) or reaction.after.complaint is not None:
        return reaction
    told = own.sentence("exam_was", shown, reply.language)
    return replace(reaction, reply=replace(reply, parts=(told, *reply.parts)))


def offering(said: Said, reaction: Reaction, before: State) -> Reaction:
    """Return a reaction with the offer of another exam's answer, where that is what the question is about.

    Where the two may say the opposite, and the other one has no answer that may be shown, neither is.
    """
    decided, first = reaction.decided, next(iter(reaction.reply.parts), None)
    if decided is None or decided.score >= PICKED or reaction.after.alarmed:
        return reaction
    question, language = decided.question, reaction.reply.language
    begins = first.key if isinstance(first, Interface) else ""
    complains = reaction.after.complaint is not None or begins.startswith("complaint")
    calm = not ails(question) and not in_trouble(question)
    # "With an insulin pump into the MRI?" sounds like a complaint here, and tells no symptom.
    named = matters_elsewhere(said.own, question, language) if not tells_symptom(question) else ()
    replied = {
        "answered": not complains,
        "clarify": (calm or bool(named)) and not complains,
        "declined": bool(named) or (calm and begins.startswith(DECLINING)),
        # "From what age to the mammogram?" is no question of the place, and "undress for it?" no shame to be met here.
        "talk": isinstance(first, SiteText)
        or (_shows_pair(reaction.reply) and question_like(question, language) != "no"),
    }.get(decided.decision, False)
    # A complaint is told where to go; what is asked is none where the exam that knows the matter better hears none.
    if not replied or (complains and not named and "?" not in question and question_like(question, language) == "no"):
        return reaction
    own, about = said.own, (before.last_pair or "", *reaction.after.choices)
    read = said.named if question == said.text else own.named_in(question)  # it may be what was asked before
    if read.here and read.meant and decided.decision in ("declined", "clarify") and not complains:
        # "It was fine in the mammogram, so here too?": what this exam says of it stands.
        here = next(iter((*matters_in(own, question, language), before.last_pair or "")))
        if here in own.shown(language):
            reply, after = show_pair(known(before), here, own.catalog(language), sample=own.sample)
            answered = replace(decided, decision="answered", pair_id=here)
            return replace(reaction, reply=reply, after=after, decided=answered)
    asked = _asked_elsewhere(own, decided, read, language, before, about)
    meant = _meant_elsewhere(own, decided, read, language, about) if asked is None else asked
    if meant is None:
        return reaction
    # "And in the tube?" asks what was asked before.
    topic = (before.last_question if asked is not None and read.leans else None) or question
    exam, pair_id = meant
    if pair_id not in pairs_of(own.others[exam], language):
        after = unsaid(replace(known(before), language=language, writes=before.writes))
        if pair_id and not own.others[exam].is_closed:  # who asks on about it is told the same
            after = replace(after, beside=(exam, pair_id, topic), elsewhere=meant, pending=topic)
        reply = not_now(said, exam, after)
        return replace(reaction, reply=reply, after=after, decided=replace(decided, decision="declined", pair_id=None))
    choices = (own.sentence("exam_show", exam, language), interface(language, "no"))
    # What is said to the offer is about what is offered, and not about what this exam said before.
    after = beside(replace(reaction.after, complaint=None), exam, pair_id, topic)
    return replace(
        reaction,
        reply=Reply(language, (own.sentence("exam_offer", exam, language),), choices),
        after=replace(after, elsewhere=meant, pending=topic, choices=()),
        decided=replace(decided, decision="clarify", pair_id=None),
    )


def _shows_pair(reply: Reply) -> bool:
    return any(isinstance(part, Content) for part in reply.parts)


def unsaid(state: State) -> State:
    """Return a state in which no answer was shown that "easier" or "so may I?" could be about."""
    return replace(state, last_pair=None, last_question=None, folded=False, beside=(), choices=())


def matters_elsewhere(own: Neighbour, text: str, language: str) -> tuple[str, ...]:
    """Return the pairs of other exams whose words stand in a message."""
    spoken = [other for other in own.others.values() if language in other.languages]
    return tuple(pair_id for other in spoken for pair_id in matters_in(other, text, language))


def without_opposite(said: Said, reaction: Reaction, before: State) -> Reaction:
    """Return a reaction without this exam's answer where it may be the opposite of what was asked of another exam.

    Where nothing can be offered: an alarm is open, a complaint was told, or the form asks.
    """
    decided, language = reaction.decided, reaction.reply.language
    if decided is None or decided.decision not in ("answered", "urgent", "clarify"):
        return reaction
    read = said.named if decided.question == said.text else said.own.named_in(decided.question)
    shown = [part for part in reaction.reply.parts if isinstance(part, Content)]
    about = (before.last_pair or "", *(part.pair_id for part in shown), *reaction.after.choices)
    if not shown or _asked_elsewhere(said.own, decided, read, language, before, about) is None:
        return reaction
    parts = [part for part in reaction.reply.parts if part not in shown]
    parts = [part for part in parts if not (isinstance(part, Interface) and part.key.startswith(_OF_ANSWERS))]
    place = next((number for number, part in enumerate(reaction.reply.parts) if part in shown), 0)
    parts.insert(min(place, len(parts)), interface(language, "declined"))
    reply = with_contact(replace(reaction.reply, parts=tuple(parts)), said.own.site, writes=before.writes)
    after = replace(reaction.after, last_pair=None, last_question=None, choices=())
    return replace(reaction, reply=reply, after=after)


def _asked_elsewhere(  # noqa: PLR0913 - what was said, and after what
    own: Neighbour, decided: Decided, read: Named, language: str, before: State, about: Sequence[str]
) -> tuple[str, str] | None:
    """Return the exam, and its pair, where a message asks the same of it, or what may be the opposite here.

    Metal, a device, an implant: what this exam says of it is not said of another one, however sure it is of it. The
    pair is empty where the other exam has none that may be shown. `about`: as of `_meant_elsewhere`.
    """
    named = [exam for exam in read.meant if exam in own.others and not read.hinted]
    if exam_of(own) in read.meant:  # "fine for the mammogram, so for my MRI?" asks of the one that is named last
        named = [exam for exam in named if exam == read.last]
    if not named or read.here:
        return None
    exam, question = named[0], decided.question
    other = own.others[exam]
    leans = read.leans and before.last_question is not None
    topic = (before.last_question if leans else None) or question
    found = about[:1] if leans else (decided.pair_id if decided.decision == "answered" else None, *about[1:])
    risky = any(is_risky(own, pair_id) for pair_id in (*found, *matters_in(own, topic, language)))
    if language not in other.languages:
        return (exam, "") if risky else None
    if not read.compares or leans:
        risky = risky or any(is_risky(other, pair_id) for pair_id in matters_in(other, topic, language))
    if not risky and not (leans and exam_of(own) not in read.meant):
        return None
    same = about[0] if leans and about[0] in other.learned(language) else None
    pair_id = pair_for(other, topic, language) if risky or same is None else same
    return (exam, pair_id or same or "") if risky or pair_id else None


def _meant_elsewhere(
    own: Neighbour, decided: Decided, read: Named, language: str, about: Sequence[str]
) -> tuple[str, str] | None:
    """Return the exam and its pair that a question is about rather than about anything of this exam.

    `about`: the pair whose answer was shown last, or nothing, and what is asked back.
    """
    question = decided.question
    named = tuple(exam for exam in read.meant if exam in own.others) if exam_of(own) not in read.meant else ()
    if not named or read.here:  # metal, or feeding a baby, is safe in the one exam and dangerous in the other
        return None
    firmly = not read.hinted  # "breast implants" is asked of an MRI, too
    same = _same_there(own, decided, named, language, about[0]) if firmly else None
    if same is not None:
        return same
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
        only_named = other.wording.exam.only_named if other.wording.exam is not None else ()
        theirs = own.catalog(language).by_id.keys() | set(only_named) | other.withheld(language)
        if not firmly and pair_id in theirs:
            continue
        if best is None or response.score > best[0]:
            best = (response.score, exam, pair_id)
    if best is not None:
        return best[1:]
    # What this exam would ask back, the one that is named can answer.
    asked_back = ((exam, each) for exam in named for each in about[1:] if each in pairs_of(own.others[exam], language))
    return next(asked_back, None) if firmly else None


def _same_there(
    own: Neighbour, decided: Decided, named: Sequence[str], language: str, last: str
) -> tuple[str, str] | None:
    """Return the exam that is named, with the pair by which it answers what this one would; `last`: what was shown.

    What this exam says of the same matter may be the opposite. The pair may be one that is withdrawn: nothing comes in
    its place. It is empty where the chat of that exam is closed, and this one has no answer.
    """
    for exam in (each for each in named if language in own.others[each].languages):
        theirs = own.others[exam].learned(language)
        if decided.decision == "answered" and decided.pair_id in theirs:
            return exam, decided.pair_id or ""
        leans = own.context(language).stands_alone(decided.question) < LEANS  # "and into the tube?", of a pacemaker
        if leans and last in theirs:
            return exam, last
        if own.others[exam].is_closed and decided.decision != "answered":
            return exam, ""
    return None
