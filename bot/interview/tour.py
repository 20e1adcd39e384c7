"""All questions of a form as they stand, in the order they are asked, and the one that a patient means. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.interview.filling import Filling
from bot.interview.form import Form, Item, Path
from bot.interview.places import answers_at, below, count_at
from bot.matching.text import words

MIN_STEM = 5  # letters that a word and its compound share: "Mammographie", "Mammographien"
MIN_SHORT, MOST_ENDING = 3, 2  # letters of a short word, and of what may be added to it
# Words that name nothing.
_EMPTY_WORDS = """
    der die das den dem des ein eine einen einer eines und oder ist sind war im in am an zu zum zur von mit bei fuer
    mein meine meinen meiner ihr ihre ihren sie ich frage antwort angabe the a an and or is are was of to in at on for
    my your you i question answer about
    """
MIN_TELLING = 3
# Words that stand in many questions.
_COMMON_WORDS = """
    haben hatten hatte habe wurde wurden wird sind waren wann welche welcher welches schon einmal jetzt nehmen bitte
    nicht kein keine noch auch dass seit viel viele etwas have been were what when which whom your with this that does
    ever taken anything would like now since many much some other item frage question
    """
_COMMON = frozenset(_COMMON_WORDS.split())
_EMPTY = frozenset(_EMPTY_WORDS.split())


def questions(form: Form, filling: Filling, *, shown_too: bool = False) -> Iterator[Path]:
    """Yield the questions that are asked as things stand; `shown_too`: with values that nobody is asked for."""
    yield from _within(form, filling, form.items, (), shown_too)


def _within(form: Form, filling: Filling, items: Sequence[Item], around: Path, shown_too: bool) -> Iterator[Path]:
    for item in items:
        own = below(around, item.link_id)
        if item.hidden or item.type == "display":
            continue
        if item.type == "group":
            for number in range(count_at(filling, item, own)):
                path = below(around, item.link_id, number)
                if path not in filling.disabled:
                    yield from _within(form, filling, item.children, path, shown_too)
        elif own not in filling.disabled:
            answers = answers_at(filling, own)
            if _asked(item, filling, own) or (shown_too and answers):
                yield own
            for number in range(len(answers)):
                yield from _within(form, filling, item.children, below(around, item.link_id, number), shown_too)


def _asked(item: Item, filling: Filling, path: Path) -> bool:
    return item.asked and (item.formulas.calculated is None or filling.settled(path))


def settled_questions(form: Form, filling: Filling) -> list[Path]:
    """Return the questions that were answered, skipped or left to staff."""
    return [path for path in questions(form, filling) if filling.settled(path)]


def before(form: Form, filling: Filling, path: Path | None) -> Path | None:
    """Return the question settled last before `path` in the form's order; before the end where `path` is None."""
    found = None
    for place in questions(form, filling):
        if place == path:
            break
        if filling.settled(place):
            found = place
    return found


def meant(form: Form, paths: Sequence[Path], target: str, language: str) -> list[Path]:
    """Return the questions that a patient means by some words: the best matches, in order; none if nothing matches."""
    wanted = [word for word in words(target) if word not in _EMPTY]
    for texts_of in (_own_texts, _near_texts):
        scores = {path: _score(wanted, texts_of(form, path, language)) for path in paths}
        best = max(scores.values(), default=0)
        if best:
            return [path for path, score in scores.items() if score == best]
    return []


def called(item: Item, text: str, language: str) -> int:
    """Return how well a message calls a question by its name: by its synonyms, else by telling words of its own."""
    said = words(text)
    names = [words(name) for name in (*item.synonyms, item.presentation.short.into(language))]
    # "Since" or "when" alone is in too many sentences to call a question by.
    telling = [name for name in names if not _COMMON.issuperset(name)]
    known = max((len(name) for name in telling if set(name) <= set(said)), default=0)
    if known or item.synonyms:
        return 2 * known
    own = {word for word in words(f"{item.text.into(language)} {item.link_id.replace('-', ' ')}") if _tells(word)}
    return int(any(_likeness(word, other) > 1 for word in said if _tells(word) for other in own))


def _tells(word: str) -> bool:
    return len(word) >= MIN_TELLING and word not in _EMPTY and word not in _COMMON


def _own_texts(form: Form, path: Path, language: str) -> list[str]:
    item = form.by_link_id[path[-1][0]]
    return [
        item.text.into(language),
        item.presentation.short.into(language),
        item.link_id.replace("-", " "),
        *item.synonyms,
    ]


def _near_texts(form: Form, path: Path, language: str) -> list[str]:
    """Return what stands around a question: its answers, its explanation, the groups that it is in."""
    item = form.by_link_id[path[-1][0]]
    groups = [form.by_link_id[link_id].text.into(language) for link_id in item.line[:-1]]
    return [*(option.label.into(language) for option in item.options), form.help(item, language), *groups]


def _score(wanted: Sequence[str], texts: Sequence[str]) -> int:
    """Return how well all wanted words occur; 0 when one of them does not."""
    there = {word for text in texts for word in words(text)} - _EMPTY
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
