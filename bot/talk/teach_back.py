"""Check whether an answer explained well (teach-back): offer it, ask the quiz of the pair, take what is chosen.

It checks the explanation and never the patient: who is wrong, or does not know, gets the easy answer. All that is shown
of a quiz is signed with its pair. The offer stands below an answer and takes nothing from it; whatever else is said to
it is a message like any other.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

from bot.assistant import Assistant
from bot.catalog.catalog import Pair
from bot.catalog.quiz import Quiz, QuizStep
from bot.interview.reading.reading import Read
from bot.interview.reading.yesno import is_unknown, read_yes_no
from bot.sentences.reply import Content, Interface, Part, Reply, content, interface, quiz_option, quiz_parts
from bot.talk.danger import red_flag_in
from bot.talk.dialogue import Check, State, known
from bot.talk.messages import nothing_asked, picks, yes_or_no_in
from bot.talk.reactions import YES, Reaction
from bot.talk.remarks import with_contact
from bot.text import words

MOST_OFFERED = 2  # in a conversation
# What may stand beside the answer that a check is offered for: whatever else is said, the patient has that to read.
_BESIDE = ("sample_label", "simple_intro")
_NUMBER = re.compile(r"\d")


class TeachBack:
    """Checks the answers of one conversation; `seed` decides the order of options: always the same."""

    def __init__(self, assistant: Assistant, seed: str) -> None:
        self._assistant = assistant
        self._seed = seed

    def take(self, state: State, text: str, choice: int | None) -> Reaction | None:
        """Take what is said to the offer or to the quiz; None when it is something else.

        `choice`: the number of the button that was pressed; None when the text was typed.
        """
        check, language = state.check, state.language
        if check.step == "offered":
            wanted = _wanted(text, language) if choice is None else choice == 1
            if wanted is False:
                after = replace(check, step="declined", over=True)
                return _said(state, after, interface(language, "teach_declined"))
            if wanted is None:
                return None
            return self._withheld(state) or self._ask(state)
        quiz = self._open(state)
        if check.step != "asked" or quiz is None:
            return None
        options = quiz[1].shuffled(self._seed)
        place = choice if choice is not None else self._place(text, options, language)
        if place is None:
            return None
        return self._withheld(state) or self._judge(state, *quiz, options[place - 1] if place <= len(options) else "")

    def offer(self, reaction: Reaction, check: Check) -> Reaction | None:
        """Return a reaction with the offer below its answer; None where none is made.

        `check`: how far checking is after the reaction.
        """
        found, reply = self._offerable(reaction, check), reaction.reply
        if found is None:
            return None
        pair, quiz = found
        choices = (interface(reply.language, "teach_yes"), interface(reply.language, "teach_no"))
        told = Reply(reply.language, (*reply.parts, interface(reply.language, "teach_offer")), choices)
        check = replace(check, step="offered", offered=(*check.offered, f"{pair.id}@{quiz.hash}"), rests=True)
        return replace(reaction, reply=told, after=replace(reaction.after, check=check))

    def _offerable(self, reaction: Reaction, check: Check) -> tuple[Pair, Quiz] | None:
        """Return the pair that was answered with, and one of its quizzes; None where no check is offered."""
        reply = reaction.reply
        own = {part.pair_id for part in reply.parts if isinstance(part, Content)}
        alone = all(isinstance(part, Content) or _begins(part, _BESIDE) for part in reply.parts)
        if check.over or check.rests or len(check.offered) >= MOST_OFFERED or reply.choices or not alone:
            return None
        pair_id = own.pop() if len(own) == 1 else ""
        if pair_id not in self._assistant.shown(reply.language) or pair_id in map(_pair_of, check.offered):
            return None
        pair = self._assistant.catalog(reply.language).pair(pair_id)
        return (pair, random.Random(f"{self._seed} {pair_id}").choice(pair.quizzes)) if pair.quizzes else None

    def _open(self, state: State) -> tuple[Pair, Quiz] | None:
        """Return the pair and the quiz that are open; None where there is no such quiz any more."""
        name = state.check.offered[-1] if state.check.offered else ""
        pair = self._assistant.catalog(state.language).by_id.get(_pair_of(name))
        quizzes = pair.quizzes if pair is not None else ()
        return next(((pair, each) for each in quizzes if pair is not None and name.endswith(f"@{each.hash}")), None)

    def _withheld(self, state: State) -> Reaction | None:
        """Return what is said of a pair that was stopped meanwhile; None where it may be shown."""
        if _pair_of(state.check.offered[-1]) not in self._assistant.withheld(state.language):
            return None
        reaction = _said(state, replace(state.check, step=None, over=True), interface(state.language, "withheld"))
        return replace(reaction, reply=with_contact(reaction.reply, self._assistant.site, writes=state.writes))

    def _ask(self, state: State) -> Reaction | None:
        found = self._open(state)
        if found is None:
            return None
        pair, quiz = found
        options: tuple[Part, ...] = tuple(quiz_option(pair, text) for text in quiz.shuffled(self._seed))
        asked = _said(state, replace(state.check, step="asked"), *quiz_parts(pair, quiz), *self._label(state))
        choices = (*options, interface(state.language, "teach_unknown"))
        return replace(asked, reply=replace(asked.reply, choices=choices))

    def _judge(self, state: State, pair: Pair, quiz: Quiz, option: str) -> Reaction:
        """Say what came of an answer; `option`: what was chosen, or empty where the patient does not know."""
        language = state.language
        step: QuizStep = "right" if option == quiz.answer else "wrong" if option else "unknown"
        check = replace(state.check, step=step, option=quiz.options.index(option) if option else None)
        if step == "right":
            return _said(state, check, interface(language, "teach_right"))
        again = content(pair, "easy_answer" if pair.easy_answer is not None else "answer")
        answer = (interface(language, "teach_answer"), quiz_option(pair, quiz.answer))
        return _said(state, check, interface(language, "teach_unclear"), again, *answer, *self._label(state))

    def _place(self, text: str, options: tuple[str, ...], language: str) -> int | None:
        """Return which option typed words choose, from 1; one more for "I don't know", None for something else."""
        said, folded = words(text), [words(each) for each in options]
        silent = len(options) + 1
        if number := _NUMBER.fullmatch(" ".join(said)):
            return {0: silent}.get(int(number[0]), int(number[0])) if int(number[0]) <= silent else None
        place, whole = picks(text), said in folded
        unknown = said == words(interface(language, "teach_unknown").text) or is_unknown(text, language=language)
        parts = [] if "?" in text or not said else [n for n, each in enumerate(folded, 1) if set(said) <= set(each)]
        # Words of an option may be a cry for help: then they are no answer.
        closed = whole or unknown or place is not None
        if not closed and len(parts) != 1:
            return None
        if red_flag_in(self._assistant, text, language, rules_only=closed) is not None:
            return None
        if whole:
            return folded.index(said) + 1
        if unknown or place == 0:
            return silent
        if place is None:
            return parts[0]
        return (place if place > 0 else len(options)) if place <= silent else None

    def _label(self, state: State) -> tuple[Part, ...]:
        return (interface(state.language, "sample_label"),) if self._assistant.sample else ()


def _wanted(text: str, language: str) -> bool | None:
    """Return whether a whole message takes the offer; None for anything else: "ok" is said to the answer above it."""
    said = words(text)
    for wanted, key, number in ((True, "teach_yes", "1"), (False, "teach_no", "2")):
        if said in (words(interface(language, key).text), [number]):
            return wanted
    if bare := nothing_asked(text):  # in whatever language
        return bare != "stop"
    read = read_yes_no(yes_or_no_in(language, text), language=language) if "?" not in text else None
    if not isinstance(read, Read) or read.remainder:
        return None
    return None if read.answers[0].value is True and YES.isdisjoint(said) else read.answers[0].value is True


def _said(state: State, check: Check, *parts: Part) -> Reaction:
    after = replace(known(state), writes=state.writes, check=check)
    return Reaction(Reply(state.language, parts), after)


def _begins(part: Part, keys: tuple[str, ...]) -> bool:
    return isinstance(part, Interface) and part.key.startswith(keys)


def _pair_of(name: str) -> str:
    return name.partition("@")[0]
