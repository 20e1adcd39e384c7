"""Which of several questions a patient means by some words: to change its answer, or because it is wrong. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.interview.form.form import Form, Path
from bot.interview.manners.listening import WORDS, Listener, likeness, tells
from bot.text import words

MIN_NAMING = 4  # letters of a word that names a line: "any" is in too many questions


def questions_meant(form: Form, paths: Sequence[Path], target: str, language: str) -> list[Path]:
    """Return the questions that a patient means by some words: the best matches, in order; none if nothing matches."""
    wanted = [word for word in words(target) if word not in WORDS["empty_words"]]
    for texts_of in (_own_texts, _near_texts):
        scores = {path: _score(wanted, texts_of(form, path, language)) for path in paths}
        best = max(scores.values(), default=0)
        if best:
            return [path for path, score in scores.items() if score == best]
    return []


def questions_complained_of(listener: Listener, paths: Sequence[Path], complaint: str) -> list[Path]:
    """Return the listed questions that share most content words with what a patient says is wrong, in order.

    A line of a list is known by what it is called and by the answer in it; none if no word is in any line.
    """
    unsaid = WORDS["agreeing_words"] | WORDS["correcting_words"] | WORDS["right_words"]
    wanted = [word for word in words(complaint) if tells(word) and len(word) >= MIN_NAMING and word not in unsaid]
    scores = dict[Path, tuple[int, int]]()
    for path in paths:
        item, filling = listener.item(path), listener.session.filling
        stands = filling.waiting.get(path, listener.answers(path))
        labels = [option.label.into(listener.language) for option in item.options if option.answer in stands]
        there = {
            word for text in (*_own_texts(listener.form, path, listener.language), *labels) for word in words(text)
        }
        grades = [max((likeness(word, other) for other in there if tells(other)), default=0) for word in wanted]
        scores[path] = sum(map(bool, grades)), sum(grades)
    best = max(scores.values(), default=(0, 0))
    return [path for path, score in scores.items() if score == best] if best[0] else []


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
    there = {word for text in texts for word in words(text)} - WORDS["empty_words"]
    grades = [max((likeness(word, other) for other in there), default=0) for word in wanted]
    return sum(grades) if grades and all(grades) else 0
