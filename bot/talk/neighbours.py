"""What another exam that is served here answers, and this one declines: offered, and shown on demand under its name.

Not beside emergencies and complaints, nor while the interview asks; and not where this exam has a pair of the same id:
both may say something else of it. Who names the other exam ("with a pacemaker into the tube?") is not answered with
what this one says of the same matter: that may be the opposite. There the other exam's pair is offered in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial

from bot.assistant import Assistant
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import read_yes_no
from bot.sentences.reply import Interface, Reply, interface, of_other_exam, sentence_of
from bot.sentences.wording import Wording
from bot.staff.calls import Call
from bot.talk.conversation import Conversation, Message
from bot.talk.dialogue import State
from bot.talk.exams import exam_of, names, title
from bot.talk.messages import ails, in_trouble
from bot.talk.reactions import Reaction
from bot.talk.withholding import Decided
from bot.text import words

SENTENCES = ("exam_offer", "exam_show", "exam_from")
# Probabilities, of the other exam's pair and of the own exam's best. Set by hand: no suite has offers in it.
CERTAIN, NOTHING_NEAR = 0.55, 0.25


class Neighbour(Assistant):
    """An opened assistant that knows what the other exams of the service could say; alone it decides as ever."""

    def __init__(self, own: Assistant, others: tuple[Assistant, ...]) -> None:
        self.__dict__.update(own.__dict__)  # it shares all that was opened and trained
        self.others: Mapping[str, Assistant] = {exam_of(each): each for each in others}
        answers: dict[str, Callable[[str], Mapping[str, str]]]
        answers = {name: partial(_answers, each) for name, each in self.others.items()}
        self._house = replace(self._house, wording=_naming(self._house.wording, self.others), others=answers)

    def sentence(self, key: str, exam: str, language: str) -> Interface:
        """Return a sentence that names another exam."""
        return sentence_of(self.wording.sentences, language, named_key(key, exam))


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
        found[language] = {**own, **named}
    return replace(wording, sentences=found)


def _answers(other: Assistant, language: str) -> Mapping[str, str]:
    """Return the answers of an exam that may be shown now, by pair."""
    if language not in other.languages or other.is_closed:
        return {}
    catalog = other.catalog(language)
    return {pair_id: catalog.by_id[pair_id].answer for pair_id in other.shown(language)}


class Among(Conversation):
    """A conversation about one of several exams."""

    def _react(
        self, message: Message, text: str, state: State, call: Call | None, at: datetime
    ) -> tuple[Reaction, str]:
        offered, asked = state.elsewhere, state.pending
        state = replace(state, elsewhere=(), pending="")
        free = message.is_said and call is None and not self._assistant.is_closed
        own = self._assistant
        if isinstance(own, Neighbour) and free:
            if offered and (told := _taken(own, state, text, offered, asked)) is not None:
                return told, text
            reaction, kept = super()._react(message, text, state, call, at)
            if not self._is_interviewing and not state.alarmed and state.complaint is None:
                return _offering(own, reaction), kept
            return reaction, kept
        return super()._react(message, text, state, call, at)


def _taken(own: Neighbour, state: State, text: str, offered: tuple[str, ...], asked: str) -> Reaction | None:
    """React to what is said to the offer; None where it is something else."""
    exam, pair_id = offered
    other, language = own.others.get(exam), state.language
    if other is None:
        return None
    pressed = words(text) == words(own.sentence("exam_show", exam, language).text)
    said = read_yes_no(text, language=language)
    agreed = said.answers[0].value if isinstance(said, Read) and not said.remainder else None
    if not pressed and agreed is None:
        return None
    if not pressed and agreed is False:
        return Reaction(Reply(language, (interface(language, "all_right"),)), state)
    answer = of_other_exam(exam, pair_id, _answers(other, language))
    if answer is None:  # it was withdrawn meanwhile
        return Reaction(Reply(language, (interface(language, "withheld"),)), state)
    parts = (own.sentence("exam_from", exam, language), answer)
    label = (interface(language, "sample_label"),) if other.sample else ()
    decided = Decided(language, asked or text, "answered", pair_id, 1.0, other.catalog(language).ref)
    return Reaction(Reply(language, (*parts, *label)), state, decided)


def _offering(own: Neighbour, reaction: Reaction) -> Reaction:
    """Return a reaction with the offer of another exam's answer, where it declines and one answers with certainty."""
    decided, after, first = reaction.decided, reaction.after, next(iter(reaction.reply.parts), None)
    if decided is not None and decided.decision == "answered" and not after.alarmed and after.complaint is None:
        meant = _meant_elsewhere(own, decided, reaction.reply.language)
        return reaction if meant is None else _offer(own, reaction, decided, meant)
    declined = isinstance(first, Interface) and first.key.startswith("declined")
    calm = not after.alarmed and after.complaint is None
    if decided is None or decided.decision != "declined" or not declined or not calm:
        return reaction
    question, language = decided.question, reaction.reply.language
    if ails(question) or in_trouble(question):
        return reaction
    best: tuple[float, str, str] | None = None
    for exam, other in own.others.items():
        if language not in other.languages or other.is_closed:
            continue
        response = other.answer(question, language)
        pair_id = response.pair_id
        answers = response.decision == "answered" and not response.also and response.answer is not None
        if not answers or pair_id is None or pair_id in own.catalog(language).by_id:
            continue
        # A question that names no exam is one about the patient's own, unless nothing there comes near to it.
        foreign = decided.score < NOTHING_NEAR and response.score >= CERTAIN
        if not foreign and not names(question, other):
            continue
        if best is None or response.score > best[0]:
            best = (response.score, exam, pair_id)
    return reaction if best is None else _offer(own, reaction, decided, best[1:])


def _meant_elsewhere(own: Neighbour, decided: Decided, language: str) -> tuple[str, str] | None:
    """Return the exam and pair that a question names which this exam answers with its own pair of the same id."""
    question, pair_id = decided.question, decided.pair_id
    if pair_id is None or names(question, own):
        return None
    named = [exam for exam, other in own.others.items() if names(question, other)]
    return next(((exam, pair_id) for exam in named if pair_id in _answers(own.others[exam], language)), None)


def _offer(own: Neighbour, reaction: Reaction, decided: Decided, meant: tuple[str, str]) -> Reaction:
    exam, language = meant[0], reaction.reply.language
    choices = (own.sentence("exam_show", exam, language), interface(language, "no"))
    return replace(
        reaction,
        reply=Reply(language, (own.sentence("exam_offer", exam, language),), choices),
        after=replace(reaction.after, elsewhere=meant, pending=decided.question),
        decided=replace(decided, decision="clarify", pair_id=None),
    )
