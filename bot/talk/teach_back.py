"""Check whether an answer explained well (teach-back): offer it, ask the quiz of the pair, take what is chosen.

It checks the explanation and never the patient: who is wrong, or does not know, gets the easy answer. All that is shown
of a quiz is signed with its pair. The offer stands below an answer and takes nothing from it; whatever else is said to
it is a message like any other.
"""

from __future__ import annotations

import random
from dataclasses import replace

from bot.assistant import Assistant
from bot.catalog.catalog import Pair
from bot.catalog.quiz import Quiz, QuizStep, pair_of, quiz_name
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import is_unknown, read_yes_no
from bot.sentences.reply import Content, Interface, Part, Reply, content, interface, quiz_option, quiz_parts
from bot.talk.danger import red_flag_in
from bot.talk.dialogue import Check, State, known
from bot.talk.messages import asks_plainly, nothing_asked, picks, yes_or_no_in
from bot.talk.quiz_words import (
    agrees_to_check,
    asks_check_again,
    beside_yes_or_no,
    declines_check,
    finds_unclear,
    is_label,
    labelled,
    meant,
    signs_are_kind,
    skips_check,
)
from bot.talk.reaction import YES, Reaction
from bot.talk.remarks import with_contact
from bot.text import words

MOST_OFFERED = 2  # in a conversation
# What may stand beside the answer that a check is offered for: whatever else is said, the patient has that to read.
_BESIDE = ("sample_label", "simple_intro")


class TeachBack:
    """Checks the answers of one conversation; `seed` decides the order of options: always the same."""

    def __init__(self, assistant: Assistant, seed: str) -> None:
        self._assistant = assistant
        self._seed = seed

    def take(self, state: State, text: str, choice: int | None) -> Reaction | None:
        """Take what is said to the offer or to the quiz, or too late to either; None when it is something else.

        `choice`: the number of the button that was pressed; None when the text was typed.
        """
        state = replace(state, check=replace(state.check, again=False, late=False))
        if choice is None and not signs_are_kind(text):
            return None
        if not state.check.is_open:
            return self._take_late(state, text)
        if choice is None and red_flag_in(self._assistant, text, state.language, rules_only=True) is not None:
            return None  # an emergency comes before everything, whatever words stand beside it
        taken = self._take_offered if state.check.step == "offered" else self._take_asked
        reaction = taken(state, text, choice)
        if reaction is None and choice is None and beside_yes_or_no(text) != text:
            return self._take_late(state, beside_yes_or_no(text))
        return reaction

    def heard(self, state: State, text: str) -> str:
        """Return what a message that is taken by nobody here says beside a "yes" or "no" to what is open."""
        left = beside_yes_or_no(text) if state.check.is_open else text
        return text if left == text or red_flag_in(self._assistant, text, state.language) is not None else left

    def _take_offered(self, state: State, text: str, choice: int | None) -> Reaction | None:
        if choice is None and finds_unclear(text):
            found = self._open(state)
            return self._withheld(state) or (self._explained(state, *found) if found is not None else None)
        wanted = _wanted(text, state.language) if choice is None else choice == 1
        if wanted is False:
            return _declined(state)
        if wanted is None:
            # One letter says nothing that anybody could answer.
            return self._again(state, interface(state.language, "teach_offer")) if is_label(text) else None
        return self._withheld(state) or self._ask(state)

    def _take_asked(self, state: State, text: str, choice: int | None) -> Reaction | None:
        quiz = self._open(state)
        if quiz is None:
            return None
        options = quiz[1].shuffled(self._seed)
        place = choice if choice is not None else self._place(text, options, state.language)
        if place is not None:
            chosen = options[place - 1] if place <= len(options) else ""
            return self._withheld(state) or self._judge(state, *quiz, chosen)
        if asks_check_again(text):
            return self._withheld(state) or self._ask(state, again=True)
        if declines_check(text) or nothing_asked(text) == "stop":
            return _declined(state)
        return self._again(state, interface(state.language, "teach_choose")) if is_label(text) else None

    def _take_late(self, state: State, text: str) -> Reaction | None:
        """Take one letter or number that comes after the quiz was closed; nothing else."""
        if state.alarmed or state.offered or not is_label(text):
            return None
        check = replace(state.check, step=None, option=None, late=True)
        return _said(state, check, interface(state.language, "teach_declined"))

    def _again(self, state: State, *parts: Part) -> Reaction:
        """Let the patient choose by number; the second time the check is dropped."""
        if state.check.missed:
            return _declined(state)
        check = replace(state.check, again=True, missed=True)
        return self._withheld(state) or self._with_choices(_said(state, check, *parts))

    def _is_trouble(self, text: str, language: str) -> bool:
        """Say whether words of an option may be an emergency or a complaint: then they are no answer."""
        if red_flag_in(self._assistant, text, language) is not None:
            return True
        response = self._assistant.answer(text, language)
        return response.decision == "urgent" or response.level in ("now", "today")

    def offer(self, reaction: Reaction, check: Check, text: str) -> Reaction | None:
        """Return a reaction with the offer below its answer; None where none is made.

        It is made to plain questions alone: rather never than beside a fear that nobody heard.

        Args:
            reaction: What was answered.
            check: How far checking is after it.
            text: What was asked.
        """
        found, reply = self._offerable(reaction, check), reaction.reply
        if found is None:
            return None
        pair, quiz = found
        if not asks_plainly(text, pair.question, (each.text for each in pair.variants)):
            return None
        parts = (*reply.parts, interface(reply.language, "teach_offer"))
        told = Reply(reply.language, parts, _yes_or_no(reply.language))
        check = replace(check, step="offered", missed=False, rests=True)
        check = replace(check, offered=(*check.offered, quiz_name(pair.id, quiz)))
        return replace(reaction, reply=told, after=replace(reaction.after, check=check))

    def _offerable(self, reaction: Reaction, check: Check) -> tuple[Pair, Quiz] | None:
        """Return the pair that was answered with, and one of its quizzes; None where no check is offered."""
        reply = reaction.reply
        own = {part.pair_id for part in reply.parts if isinstance(part, Content)}
        alone = all(isinstance(part, Content) or _begins(part, _BESIDE) for part in reply.parts)
        if check.over or check.rests or len(check.offered) >= MOST_OFFERED or reply.choices or not alone:
            return None
        pair_id = own.pop() if len(own) == 1 else ""
        if pair_id not in self._assistant.shown(reply.language) or pair_id in map(pair_of, check.offered):
            return None
        pair = self._assistant.catalog(reply.language).pair(pair_id)
        return (pair, random.Random(f"{self._seed} {pair_id}").choice(pair.quizzes)) if pair.quizzes else None

    def _open(self, state: State) -> tuple[Pair, Quiz] | None:
        """Return the pair and the quiz that are open; None where there is no such quiz any more."""
        name = state.check.offered[-1] if state.check.offered else ""
        pair = self._assistant.catalog(state.language).by_id.get(pair_of(name))
        quizzes = pair.quizzes if pair is not None else ()
        return next(((pair, each) for each in quizzes if pair is not None and name == quiz_name(pair.id, each)), None)

    def _withheld(self, state: State) -> Reaction | None:
        """Return what is said of a pair that was stopped meanwhile; None where it may be shown."""
        if pair_of(state.check.offered[-1]) not in self._assistant.withheld(state.language):
            return None
        reaction = _said(state, replace(state.check, step=None, over=True), interface(state.language, "withheld"))
        return replace(reaction, reply=with_contact(reaction.reply, self._assistant.site, writes=state.writes))

    def _ask(self, state: State, *, again: bool = False) -> Reaction | None:
        found = self._open(state)
        if found is None:
            return None
        check = replace(state.check, step="asked", again=again, missed=again and state.check.missed)
        return self._with_choices(_said(state, check, *quiz_parts(*found), *self._label(state)))

    def _with_choices(self, reaction: Reaction) -> Reaction:
        """Return a reaction with what can be chosen of the open offer or quiz."""
        state, found = reaction.after, self._open(reaction.after)
        choices: tuple[Part, ...] = _yes_or_no(state.language)
        if state.check.step == "asked" and found is not None:
            pair, quiz = found
            options = tuple(quiz_option(pair, text) for text in quiz.shuffled(self._seed))
            choices = (*options, interface(state.language, "teach_unknown"))
        return replace(reaction, reply=replace(reaction.reply, choices=choices))

    def _judge(self, state: State, pair: Pair, quiz: Quiz, option: str) -> Reaction:
        """Say what came of an answer; `option`: what was chosen, or empty where the patient does not know."""
        if option != quiz.answer:
            chosen = quiz.options.index(option) if option else None
            return self._explained(state, pair, quiz, chosen)
        check = replace(state.check, step="right", option=quiz.options.index(option))
        return _said(state, check, interface(state.language, "teach_right"))

    def _explained(self, state: State, pair: Pair, quiz: Quiz, chosen: int | None = None) -> Reaction:
        """Explain once more, and name the right option where the quiz was asked; `chosen`: the wrong option."""
        language = state.language
        step: QuizStep = "unknown" if chosen is None else "wrong"
        # The easy answer may begin with "no": it answers the question of the pair, not that of the quiz.
        question = content(pair, "question")
        again = content(pair, "easy_answer" if pair.easy_answer is not None else "answer")
        named = (interface(language, "teach_answer"), quiz_option(pair, quiz.answer))
        answer = named if state.check.step == "asked" else ()
        parts = (interface(language, "teach_unclear"), question, again, *answer, *self._label(state))
        return _said(state, replace(state.check, step=step, option=chosen), *parts)

    def _place(self, text: str, options: tuple[str, ...], language: str) -> int | None:
        """Return which option typed words choose, from 1; one more for "I don't know", None for something else."""
        said, silent, number = words(text), len(options) + 1, labelled(text)
        if number is not None:
            return silent if number == 0 else number if number <= silent else None
        if (whole := [words(each) for each in options]).count(said):
            trouble = red_flag_in(self._assistant, text, language) is not None
            return None if trouble else whole.index(said) + 1
        unknown = said == words(interface(language, "teach_unknown").text) or is_unknown(text, language=language)
        place = picks(text)
        if unknown or skips_check(text) or finds_unclear(text) or place == 0:
            return silent
        if place is not None:
            return (place if place > 0 else len(options)) if place <= silent else None
        found = meant(text, options)
        return None if found is None or self._is_trouble(text, language) else found

    def _label(self, state: State) -> tuple[Part, ...]:
        return (interface(state.language, "sample_label"),) if self._assistant.sample else ()


def _wanted(text: str, language: str) -> bool | None:
    """Return whether a whole message takes the offer; None for anything else: "danke" is said to the answer above."""
    said = words(text)
    for wanted, key, number in ((True, "teach_yes", "1"), (False, "teach_no", "2")):
        if said in (words(interface(language, key).text), [number]):
            return wanted
    if bare := nothing_asked(text):  # in whatever language
        return bare != "stop"
    if (place := picks(text)) in (1, 2):
        return place == 1
    if "?" in text:
        return None
    if (declined := declines_check(text)) or agrees_to_check(text):
        return not declined
    read = read_yes_no(yes_or_no_in(language, text), language=language)
    if not isinstance(read, Read) or read.remainder:
        return None
    return None if read.answers[0].value is True and YES.isdisjoint(said) else read.answers[0].value is True


def _yes_or_no(language: str) -> tuple[Part, Part]:
    return interface(language, "teach_yes"), interface(language, "teach_no")


def _declined(state: State) -> Reaction:
    after = replace(state.check, step="declined", over=True)
    return _said(state, after, interface(state.language, "teach_declined"))


def _said(state: State, check: Check, *parts: Part) -> Reaction:
    after = replace(known(state), writes=state.writes, check=check)
    return Reaction(Reply(state.language, parts), after)


def _begins(part: Part, keys: tuple[str, ...]) -> bool:
    return isinstance(part, Interface) and part.key.startswith(keys)
