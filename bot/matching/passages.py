"""Cut a message into passages short enough to be judged one by one. Pure."""

from __future__ import annotations

import re

LONGEST = 24  # words: a text up to this length is one passage
WIDEST = 80  # characters without a space
STEP = 12  # words between the beginnings of passages of a run-on sentence

_SENTENCE_END = re.compile(r"(?<=[.!?…;])\s+(?=\S)")


def passages(text: str) -> tuple[str, ...]:
    """Return overlapping passages of at most about `LONGEST` words, in order, each once; together they cover the text.

    Neighbouring sentences stay together as long as they fit, so that "He fell. He does not answer." is seen as one.
    Sentences without an end are cut every `STEP` words. A short text is one passage.
    """
    if len(text) <= LONGEST * WIDEST and len(text.split()) <= LONGEST:
        return (text,)
    sentences_ = [piece for sentence in sentences(text) for piece in _cut(sentence.split())]
    found: list[str] = []
    reached = 0  # sentences_ before this one are in a passage already
    for first in range(len(sentences_)):
        taken, last = len(sentences_[first]), first + 1
        while last < len(sentences_) and taken + len(sentences_[last]) <= LONGEST:
            taken += len(sentences_[last])
            last += 1
        if last > reached:
            found.append(" ".join(word for sentence in sentences_[first:last] for word in sentence))
            reached = last
    return tuple(dict.fromkeys(found))


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text; what has no end is one."""
    return tuple(_SENTENCE_END.split(text))


def _cut(words: list[str]) -> list[list[str]]:
    # What has no spaces may still be many words: "a.b.c".
    words = [word[start : start + WIDEST] for word in words for start in range(0, len(word), WIDEST)]
    if len(words) <= LONGEST:
        return [words]
    return [words[start : start + LONGEST] for start in range(0, len(words) - LONGEST + STEP, STEP)]
