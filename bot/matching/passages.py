"""Cut a message into passages short enough to be judged one by one. Pure."""

from __future__ import annotations

import re

LONGEST = 24  # words: a text up to this length is one passage
STEP = 12  # words between the beginnings of passages of a run-on sentence

_SENTENCE_END = re.compile(r"(?<=[.!?…;])\s+(?=\S)")


def passages(text: str) -> tuple[str, ...]:
    """Return overlapping passages of at most about `LONGEST` words, in order, each once; together they cover the text.

    Neighbouring sentences stay together as long as they fit, so that "He fell. He does not answer." is seen as one.
    Sentences without an end are cut every `STEP` words. A short text is one passage.
    """
    if len(text.split()) <= LONGEST:
        return (text,)
    sentences = [piece for sentence in _SENTENCE_END.split(text) for piece in _cut(sentence.split())]
    found: list[str] = []
    reached = 0  # sentences before this one are in a passage already
    for first in range(len(sentences)):
        taken, last = len(sentences[first]), first + 1
        while last < len(sentences) and taken + len(sentences[last]) <= LONGEST:
            taken += len(sentences[last])
            last += 1
        if last > reached:
            found.append(" ".join(word for sentence in sentences[first:last] for word in sentence))
            reached = last
    return tuple(dict.fromkeys(found))


def _cut(words: list[str]) -> list[list[str]]:
    if len(words) <= LONGEST:
        return [words]
    return [words[start : start + LONGEST] for start in range(0, len(words) - LONGEST + STEP, STEP)]
