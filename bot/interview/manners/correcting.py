"""Corrections in passing: "ich bin übrigens 62 nicht 61", "die Biopsie war 2020", "I forgot a lump". Pure.

The question that is meant is found by what it is called, or by the answer that is said to be wrong. What can be read as
its new answer is read back; otherwise the question is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.interview.form.form import Item, Path
from bot.interview.manners.answering import OWN_WORDS, read, read_back, without_repetition
from bot.interview.manners.asking import go_on
from bot.interview.manners.exchange import Exchange
from bot.interview.manners.steering import revisit
from bot.interview.manners.summary import called, questions
from bot.interview.reading.reading import Read
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import AskItem
from bot.interview.walk.filling import GroupAdded
from bot.interview.walk.places import count_at, first
from bot.sentences.interview_texts import ADDING_WORDS, CORRECTING_WORDS
from bot.text import words

# How patients set a right answer against a wrong one, in either language.
_CONTRASTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:.* )?(?:nicht|kein\w*) (?P<old>.+?),? sondern (?P<new>.+)",
        r"(?P<new>.+?),? (?:an)?statt (?P<old>.+)",
        r"(?:an)?statt (?P<old>\S+),? (?P<new>.+)",
        r"(?P<new>.+?),? (?:und )?nicht (?P<old>.+)",
        r"(?:.* )?not (?P<old>.+?),? but (?P<new>.+)",
        r"(?P<new>.+?),? (?:and )?(?:not|rather than|instead of) (?P<old>.+)",
    )
)


LONGEST = 500  # characters; longer messages tell a story, and are compared with every question asked


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be changed; without `answers` the question is asked again. `adds`: besides what stands there."""

    path: Path
    answers: tuple[Answer, ...] = ()
    adds: bool = False


def correct(x: Exchange, text: str) -> bool:
    """Take a message as the correction of another answer than the open one; say whether it was one."""
    return _begun(x, text, contrasted, named)


def correct_plainly(x: Exchange, text: str) -> bool:
    """Do the same only where the message sets a new answer against the old one."""
    return _begun(x, text, contrasted)


def _begun(x: Exchange, text: str, *finders: Callable[[Exchange, str], Correction | None]) -> bool:
    """Begin the first correction that is found, and say whether one was."""
    if len(text) > LONGEST:
        return False
    found = next((each for find in finders if (each := find(x, text))), None)
    if found is not None:
        _begin(x, found)
    return found is not None


def contrasted(x: Exchange, text: str) -> Correction | None:
    """Return the correction of an answer that a message says is wrong: "62, nicht 61"."""
    for pattern in _CONTRASTS:
        halves = pattern.fullmatch(text.strip().rstrip("."))
        if halves is None:
            continue
        found = [
            Correction(path, answers)
            for path in _others(x)
            if _stands(x, path, halves["old"]) and (answers := _read(x, path, halves["new"]))
        ]
        if len(found) > 1:  # "62, nicht 61", where two answers are 61
            found = [each for each in found if called(x.form.by_link_id[each.path[-1][0]], text, x.language)]
        if len(found) == 1:
            return found[0]
    return None


def named(x: Exchange, text: str) -> Correction | None:
    """Return the correction of the answer to a question that a message calls by its name."""
    said = set(words(text))
    adds, corrects = bool(said & ADDING_WORDS), bool(said & CORRECTING_WORDS)
    if x.talk.phase == "asking" and not (adds or corrects):
        return None  # "pacemaker, left side": a word of another question makes no correction of it
    best, found = 0, list[Correction]()
    for path in _others(x):
        item = x.form.by_link_id[path[-1][0]]
        score = called(item, text, x.language)
        answers = _read(x, path, text) if score else ()
        score = 2 * score + bool(answers) * 3
        if not score or not (answers or adds or corrects):
            continue
        if score > best:
            best, found = score, []
        if score == best:
            found.append(Correction(path, answers, adds))
    return found[-1] if found and (len(found) == 1 or adds) else None


def _others(x: Exchange) -> list[Path]:
    """Return the questions that can be corrected: those asked so far, but for the open one."""
    step, filling = x.step, x.session.filling
    own = step.path if isinstance(step, AskItem) and x.talk.phase == "asking" else ()
    over = x.talk.phase in ("summary", "choosing", "finished")
    return [path for path in questions(x.form, filling) if path != own and (over or filling.settled(path))]


def _stands(x: Exchange, path: Path, old: str) -> bool:
    """Say whether words are the answer that stands at a question."""
    reading = read(x, x.engine.ask(x.session.filling, path), old)
    return isinstance(reading, Read) and bool(reading.answers) and reading.answers == x.answers(path)


def _read(x: Exchange, path: Path, text: str) -> tuple[Answer, ...]:
    """Return the answer to a question that words give, if it is another than stands there; not just any words."""
    step = x.engine.ask(x.session.filling, path)
    reading = read(x, step, text)
    if not isinstance(reading, Read) or any(each.type in OWN_WORDS for each in reading.answers):
        return ()
    wrong = x.engine.problems(x.session.filling, path, reading.answers)
    same = set(map(repr, reading.answers)) <= set(map(repr, x.answers(path)))
    return () if same or any(problem.severity == "error" for problem in wrong) else reading.answers


def _begin(x: Exchange, found: Correction) -> None:
    """Open the question, with its new answer to be confirmed; an answer that waits to be confirmed waits on."""
    step, talk = x.step, x.talk
    if talk.phase == "asking" and isinstance(step, AskItem) and talk.pending and not talk.proposed:
        x.note(kept=talk.pending, kept_for=step.path)
    path = _another_instance(x, found.path) if found.adds else found.path
    if not found.answers:
        revisit(x, path)
        return
    x.onward()
    answers = found.answers if path != found.path else _with_others(x, path, found.answers)
    x.note(revisit=path, pending=answers)
    x.read_name(path[-1][0])
    asked = x.step
    if isinstance(asked, AskItem):
        read_back(x, asked)
    else:
        go_on(x)


def _with_others(x: Exchange, path: Path, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return new answers besides those that stand at a question with several, but for "none of these"."""
    item = x.form.by_link_id[path[-1][0]]
    if not item.repeats:
        return tuple(answers)
    alone = [option.answer for option in item.options if option.exclusive]
    if any(answer in alone for answer in answers):
        return tuple(answers)
    return tuple(without_repetition([*(each for each in x.answers(path) if each not in alone), *answers]))


def _another_instance(x: Exchange, path: Path) -> Path:
    """Return the place of a question in one more instance of the group around it, where there can be one."""
    for depth in range(len(path) - 1, 0, -1):
        group = x.form.by_link_id[path[depth - 1][0]]
        own = first(path[:depth])
        count = count_at(x.session.filling, group, own) if _repeats(group) else 0
        if count and (group.most is None or count < group.most) and x.answers(path):
            new = (*own[:-1], (group.link_id, count))
            x.apply(GroupAdded(new))
            return (*new, *path[depth:])
    return path


def _repeats(group: Item) -> bool:
    return group.type == "group" and group.repeats
