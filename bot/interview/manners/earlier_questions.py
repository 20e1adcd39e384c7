"""Earlier questions: which were asked, how their answers are listed, and which one a patient means. Pure.

A question is meant by what it is called, by its number, or by the answer that is said to be wrong: "ich bin übrigens 62
nicht 61", "die Biopsie war 2020", "I forgot a lump".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from bot.interview.form.form import Form, Item, Path
from bot.interview.manners.listening import OWN_WORDS, Listener
from bot.interview.manners.said import ListEntry, Quote, Saying, Sentence, name_of, with_answers
from bot.interview.manners.words import ADDING_WORDS, COMMON_WORDS, CORRECTING_WORDS, EMPTY_WORDS
from bot.interview.reading.reading import Read
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import AskItem
from bot.interview.walk.filling import Filling, Given, MarkedForStaff, Skipped, below
from bot.text import words

MIN_STEM = 5  # letters that a word and its compound share: "Mammographie", "Mammographien"
MIN_SHORT, MOST_ENDING = 3, 2  # letters of a short word, and of what may be added to it
MIN_TELLING = 3
LONGEST = 500  # characters; longer messages tell a story, and are compared with every question asked
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


def questions(form: Form, filling: Filling, *, shown_too: bool = False) -> Iterator[Path]:
    """Yield the questions that are asked as things stand; `shown_too`: with values that nobody is asked for."""
    yield from _within(form, filling, form.items, (), shown_too)


def _within(form: Form, filling: Filling, items: Sequence[Item], around: Path, shown_too: bool) -> Iterator[Path]:
    for item in items:
        own = below(around, item.link_id)
        if item.hidden or item.type == "display":
            continue
        if item.type == "group":
            for number in range(filling.count(item, own)):
                path = below(around, item.link_id, number)
                if path not in filling.disabled:
                    yield from _within(form, filling, item.children, path, shown_too)
        elif own not in filling.disabled:
            answers = filling.at(own)
            asked = item.asked and (item.formulas.calculated is None or filling.settled(own))
            if asked or (shown_too and answers):
                yield own
            for number in range(len(answers)):
                yield from _within(form, filling, item.children, below(around, item.link_id, number), shown_too)


def settled_questions(form: Form, filling: Filling) -> list[Path]:
    """Return the questions that were answered, skipped or left to staff."""
    return [path for path in questions(form, filling) if filling.settled(path)]


def question_before(listener: Listener) -> Path | None:
    """Return the question before the open one: before one that was gone back to, that in the form's order."""
    form, session, revisit = listener.form, listener.session, listener.talk.revisit
    if not revisit:
        settled = settled_questions(form, session.filling)
        events = (event for event in reversed(session.events) if isinstance(event, Given | Skipped | MarkedForStaff))
        return next((event.path for event in events if event.path in settled), None)
    earlier = list(takewhile(lambda path: path != revisit, questions(form, session.filling)))
    return next((path for path in reversed(earlier) if session.filling.settled(path)), None)


def list_answers(listener: Listener, paths: Sequence[Path]) -> tuple[list[Saying], tuple[Path, ...]]:
    """Return questions with their answers as lines of a list, and those that have a number, in its order."""
    said: list[Saying] = []
    listed: list[Path] = []
    group: Path = ()
    for path in paths:
        around = tuple(step for step in path[:-1] if listener.form.by_link_id[step[0]].repeats)
        if around and around != group and listener.form.by_link_id[around[-1][0]].type == "group":
            link_id, number = around[-1]
            said += [Quote(link_id, "question"), Sentence("instance", {"number": number + 1})]
        group = around
        item = listener.item(path)
        if not is_named(item, listener.language):
            continue
        said.append(ListEntry(len(listed) + 1 if item.asked else 0, name_of(item.link_id), _standing(listener, path)))
        if item.asked:
            listed.append(path)
        if listener.answers(path) and path in listener.session.filling.noted:
            said.append(ListEntry(0, name_of(item.link_id), _noted(listener, path)))  # said beside the answer
    return said, tuple(listed)


def is_named(item: Item, language: str) -> bool:
    """Say whether there is anything that an item is called."""
    return bool(item.presentation.short.into(language) or item.prefix.strip() or item.text.into(language))


def _standing(listener: Listener, path: Path) -> Sentence:
    """Return what stands at a question."""
    session = listener.session
    answers = listener.answers(path)
    if answers:
        return with_answers("summary_answer", path[-1][0], answers)
    if path in session.filling.noted:
        return _noted(listener, path)
    if path in session.filling.marked:
        return Sentence("summary_marked")
    if path not in session.filling.skipped:
        return Sentence("summary_open")
    skips = (event for event in reversed(session.events) if isinstance(event, Skipped) and event.path == path)
    last = next(skips, None)
    return Sentence("summary_none" if last is not None and last.reason == "none" else "summary_skipped")


def _noted(listener: Listener, path: Path) -> Sentence:
    texts = listener.session.filling.noted[path]
    return with_answers("summary_noted", path[-1][0], tuple(Answer("string", text) for text in texts))


def questions_meant(form: Form, paths: Sequence[Path], target: str, language: str) -> list[Path]:
    """Return the questions that a patient means by some words: the best matches, in order; none if nothing matches."""
    wanted = [word for word in words(target) if word not in EMPTY_WORDS]
    for texts_of in (_own_texts, _near_texts):
        scores = {path: _score(wanted, texts_of(form, path, language)) for path in paths}
        best = max(scores.values(), default=0)
        if best:
            return [path for path, score in scores.items() if score == best]
    return []


def _own_texts(form: Form, path: Path, language: str) -> list[str]:
    item = form.by_link_id[path[-1][0]]
    short = item.presentation.short.into(language)
    return [item.text.into(language), short, item.link_id.replace("-", " "), *item.synonyms]


def _near_texts(form: Form, path: Path, language: str) -> list[str]:
    """Return what stands around a question: its answers, its explanation, the groups that it is in."""
    item = form.by_link_id[path[-1][0]]
    groups = [form.by_link_id[link_id].text.into(language) for link_id in item.line[:-1]]
    return [*(option.label.into(language) for option in item.options), form.help(item, language), *groups]


def _score(wanted: Sequence[str], texts: Sequence[str]) -> int:
    """Return how well all wanted words occur; 0 when one of them does not."""
    there = {word for text in texts for word in words(text)} - EMPTY_WORDS
    grades = [max((_likeness(word, other) for other in there), default=0) for word in wanted]
    return sum(grades) if grades and all(grades) else 0


def _likeness(word: str, other: str) -> int:
    if word == other:
        return 3
    short, long_ = sorted((word, other), key=len)
    if len(short) >= MIN_SHORT and long_.startswith(short) and len(long_) - len(short) <= MOST_ENDING:
        return 2  # "Alter" for "alt"
    if len(short) >= MIN_STEM and (short in long_ or long_.startswith(short[:-1])):
        return 2
    return 1 if len(short) > MIN_STEM and short[:MIN_STEM] == long_[:MIN_STEM] else 0


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be changed; without `answers` the question is asked again. `adds`: besides what stands there."""

    path: Path
    answers: tuple[Answer, ...] = ()
    adds: bool = False


def find_correction(listener: Listener, text: str, *, plainly: bool = False) -> Correction | None:
    """Return the correction of another answer than the open one that a message is, if it is one.

    `plainly`: only where the message sets a new answer against the old one.
    """
    if len(text) > LONGEST:
        return None
    return _contrasted(listener, text) or (None if plainly else _named(listener, text))


def _contrasted(listener: Listener, text: str) -> Correction | None:
    """Return the correction of an answer that a message says is wrong: "62, nicht 61"."""
    for pattern in _CONTRASTS:
        halves = pattern.fullmatch(text.strip().rstrip("."))
        if halves is None:
            continue
        found = list[Correction]()
        for path in _correctable(listener):
            old = listener.read(listener.question(path), halves["old"])
            stands = isinstance(old, Read) and old.answers and old.answers == listener.answers(path)
            if stands and (answers := _new_answers(listener, path, halves["new"])):
                found.append(Correction(path, answers))
        if len(found) > 1:  # "62, nicht 61", where two answers are 61
            found = [each for each in found if _called(listener, each.path, text)]
        if len(found) == 1:
            return found[0]
    return None


def _named(listener: Listener, text: str) -> Correction | None:
    """Return the correction of the answer to a question that a message calls by its name."""
    said = set(words(text))
    adds, corrects = bool(said & ADDING_WORDS), bool(said & CORRECTING_WORDS)
    if listener.talk.phase == "asking" and not (adds or corrects):
        return None  # "pacemaker, left side": a word of another question makes no correction of it
    best, found = 0, list[Correction]()
    for path in _correctable(listener):
        called = _called(listener, path, text)
        answers = _new_answers(listener, path, text) if called else ()
        score = 2 * called + bool(answers) * 3
        if not called or not (answers or adds or corrects) or score < best:
            continue
        found = [*(found if score == best else ()), Correction(path, answers, adds)]
        best = score
    return found[-1] if found and (len(found) == 1 or adds) else None


def _correctable(listener: Listener) -> list[Path]:
    """Return the questions that can be corrected: those asked so far, but for the open one."""
    step, filling = listener.step, listener.session.filling
    own = step.path if isinstance(step, AskItem) and listener.talk.phase == "asking" else ()
    over = listener.talk.phase in ("summary", "choosing", "finished")
    return [path for path in questions(listener.form, filling) if path != own and (over or filling.settled(path))]


def _new_answers(listener: Listener, path: Path, text: str) -> tuple[Answer, ...]:
    """Return the answer to a question that words give, if it is another than stands there; not just any words."""
    reading = listener.read(listener.question(path), text)
    if not isinstance(reading, Read) or any(each.type in OWN_WORDS for each in reading.answers):
        return ()
    same = set(map(repr, reading.answers)) <= set(map(repr, listener.answers(path)))
    return () if same or listener.problems(path, reading.answers) else reading.answers


def _called(listener: Listener, path: Path, text: str) -> int:
    """Return how well a message calls a question by its name: by its synonyms, else by telling words of its own."""
    item, language, said = listener.item(path), listener.language, words(text)
    names = [words(name) for name in (*item.synonyms, item.presentation.short.into(language))]
    # "Since" or "when" alone is in too many sentences to call a question by.
    telling = [name for name in names if not COMMON_WORDS.issuperset(name)]
    known = max((len(name) for name in telling if set(name) <= set(said)), default=0)
    if known or item.synonyms:
        return 2 * known
    own = {word for word in words(f"{item.text.into(language)} {item.link_id.replace('-', ' ')}") if _tells(word)}
    return int(any(_likeness(word, other) > 1 for word in said if _tells(word) for other in own))


def _tells(word: str) -> bool:
    return len(word) >= MIN_TELLING and word not in EMPTY_WORDS and word not in COMMON_WORDS
