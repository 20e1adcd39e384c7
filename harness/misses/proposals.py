"""What would mend a group of misses. Pure.

Suites are test data: a proposal never holds a suite's question as a new variant. It says what to write about, and a
curator writes afresh.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.misses.causes import Cause, Confused
from harness.misses.clues import Clues
from harness.misses.distinct import DistinctWords, quoted

BACKGROUND_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """The misses of one cause that one action would mend.

    Attributes:
        pairs: The pair, or the two pairs, that the action is about.
        clues: Of the misses.
        words: Which the missed questions have and the pair's texts lack.
        proposal: What to do, for a curator.
    """

    pairs: tuple[str, ...]
    clues: tuple[Clues, ...]
    words: tuple[str, ...]
    proposal: str


@dataclass(frozen=True, slots=True)
class Known:
    """What proposals are made from, besides the clues."""

    distinct: DistinctWords
    confused: Confused


def entries(cause: Cause, clues: Sequence[Clues], known: Known) -> list[Entry]:
    """Return the entries of one cause, the one with most misses first."""
    grouped: dict[tuple[str, ...], list[Clues]] = defaultdict(list)
    for clue in clues:
        grouped[_pairs(cause, clue)].append(clue)
    found = [_entry(cause, pairs, group, known) for pairs, group in grouped.items()]
    return sorted(found, key=lambda entry: (-len(entry.clues), entry.pairs))


def _pairs(cause: Cause, clue: Clues) -> tuple[str, ...]:
    if cause == "confused":
        return tuple(sorted((clue.miss.pair_id, clue.first)))
    if cause == "mislabelled" and clue.suspect is not None:
        return (clue.suspect.pair_id, clue.miss.pair_id)
    return (clue.miss.pair_id,)


def _entry(cause: Cause, pairs: tuple[str, ...], clues: Sequence[Clues], known: Known) -> Entry:
    words = _words(clues, known.distinct)
    draft = Entry(pairs, tuple(clues), words, "")
    return Entry(pairs, tuple(clues), words, _PROPOSALS[cause](draft, known))


def _words(clues: Sequence[Clues], distinct: DistinctWords) -> tuple[str, ...]:
    texts: dict[str, list[str]] = defaultdict(list)
    for clue in clues:
        texts[clue.miss.pair_id].append(clue.miss.outcome.text)
    found = (word for pair_id, missed in texts.items() for word in distinct.of(missed, pair_id))
    return tuple(dict.fromkeys(found))


def _about(words: Iterable[str]) -> str:
    named = quoted(words)
    return f"about: {named}" if named else "that put its known words in other ways"


def _gap(entry: Entry, _: Known) -> str:
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}."


def _scattered(entry: Entry, _: Known) -> str:
    rivals = Counter(clue.first for clue in entry.clues)
    named = ", ".join(f"{name} ({count})" for name, count in rivals.most_common(3))
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}. Before it came {named}."


def _confused(entry: Entry, known: Known) -> str:
    first, second = entry.pairs
    one = known.confused[frozenset(entry.pairs)]
    both = (
        f"If one answer serves both, merge {first} and {second} or set `same_as`; otherwise write variants of each "
        "that name what the other is not about"
        if one.mutual
        else f"Write variants of {one.first} that {one.second} would not be asked with"
    )
    doubt = "" if one.beyond_chance else " Among so many pairs, this may still be chance."
    return f"{both}, {_about(entry.words)}.{doubt}"


def _threshold(entry: Entry, _: Known) -> str:
    scores = sorted(clue.first_score for clue in entry.clues)
    between = f"{scores[0]:.2f} to {scores[-1]:.2f}" if len(scores) > 1 else f"{scores[0]:.2f}"
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}. Its probability was {between}."


def _background(entry: Entry, _: Known) -> str:
    texts = [near.text for clue in entry.clues for near in clue.nearest if not near.pair_id]
    shown = quoted(dict.fromkeys(texts[:BACKGROUND_SHOWN]))
    review = f"Review whether these background questions are {entry.pairs[0]} after all: {shown}. " if shown else ""
    return f"{review}Write variants of {entry.pairs[0]} {_about(entry.words)}."


def _narrative(entry: Entry, _: Known) -> str:
    return (
        f"Asked alone, the question in these messages is answered. Write variants of {entry.pairs[0]} as short stories "
        "that end in the question."
    )


def _mislabelled(entry: Entry, _: Known) -> str:
    wrong, right = entry.pairs
    texts = quoted(dict.fromkeys(clue.suspect.text for clue in entry.clues if clue.suspect is not None))
    return f"Review these variants of {wrong}, whose neighbours belong to {right}: {texts}."


def _intruding(entry: Entry, _: Known) -> str:
    about = f"about: {quoted(entry.words)}" if entry.words else "that come as near to it"
    return (
        f"Where {entry.pairs[0]} is no answer (raters say so: `klartext harness label`), write background questions "
        f"{about}."
    )


def _alarm(entry: Entry, _: Known) -> str:
    return f"Write harmless examples beside the red flags that ask for {entry.pairs[0]} as frankly as these do."


_PROPOSALS: dict[Cause, Callable[[Entry, Known], str]] = {
    "alarm": _alarm,
    "intruding": _intruding,
    "narrative": _narrative,
    "mislabelled": _mislabelled,
    "threshold": _threshold,
    "confused": _confused,
    "gap": _gap,
    "background": _background,
    "scattered": _scattered,
}
