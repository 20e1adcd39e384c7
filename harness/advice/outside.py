"""What a system did instead of answering right, seen from outside: all that can be said of systems of other makers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.console import counted
from harness.running.outcomes import ERROR, Outcome

SHORT = 120  # characters of what a system said


@dataclass(frozen=True, slots=True)
class Instead:
    """What came of some questions that were missed, or that nobody judged.

    Attributes:
        what: A pair, a decision, a failure, or the system's own words.
        n: How often.
        example: One of the questions.
    """

    what: str
    n: int
    example: str


def is_ours(identity: Mapping[str, str]) -> bool:
    """Say whether a run is of an assistant that answers from the catalog: this one, here or on a server."""
    return identity.get("kind", "klartext-api") == "klartext-api"


def said_instead(outcomes: Sequence[Outcome]) -> list[Instead]:
    """Group what was missed, or waits for people, by what was said, the most frequent first."""
    missed = [one for one in outcomes if one.unjudged or False in (one.right, one.met) or one.decision == ERROR]
    examples: dict[str, str] = {}
    for one in missed:
        examples.setdefault(_what(one), one.text)
    return [Instead(what, n, examples[what]) for what, n in Counter(map(_what, missed)).most_common()]


def _what(outcome: Outcome) -> str:
    if outcome.decision == ERROR:
        return f"failed: {outcome.error}"
    if outcome.own_words and outcome.said:
        said = " ".join(outcome.said.split())
        said = said if len(said) <= SHORT else f"{said[:SHORT]} …"
        return f"in own words{', not judged' if outcome.unjudged else ''}: {said}"
    if outcome.decision == "answered":
        return f"answered with {outcome.answered_with or 'text of no pair'}"
    known = {"clarify": "asked back", "declined": "declined", "urgent": "sent to a human"}
    return known.get(outcome.decision, outcome.decision)


def what_came(outcomes: Sequence[Outcome]) -> str:
    """Return how many questions failed, were declined, or wait to be judged, in a sentence; empty where none did."""
    counts = Counter(outcome.decision for outcome in outcomes)
    waiting = sum(outcome.unjudged for outcome in outcomes)
    parts = [
        f"{counts[ERROR]} failed" if counts[ERROR] else "",
        f"{counts['declined']} declined" if counts["declined"] else "",
        f"{counts['clarify']} asked back" if counts["clarify"] else "",
        f"{waiting} in own words that nobody has judged" if waiting else "",
    ]
    said = ", ".join(filter(None, parts))
    return f"Of {counted(len(outcomes), 'question')}: {said}." if said else ""
