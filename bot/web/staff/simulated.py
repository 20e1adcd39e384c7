"""How well simulated patients foretold real ones: rates of the last run of tests beside those of real questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, Literal

from scipy.stats import binomtest

from bot.editorial.figures import AskedText, Kind
from bot.matching.simple_words import SURE, plainness

FILE = "simulated.json"  # in the data folder; tests of simulated patients leave it there
MOST_BYTES = 100_000
COMPARED: tuple[Kind, ...] = ("answered", "clarify", "declined", "urgent")
Group = Literal["plain", "other"]
GROUPS: tuple[Group, ...] = ("plain", "other")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many, with the ends of its 95 % interval (Wilson)."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        found = binomtest(self.hits, self.of).proportion_ci(method="wilson")
        return float(found.low), float(found.high)


@dataclass(frozen=True, slots=True)
class Compared:
    """One rate of one group, simulated and real.

    Attributes:
        group: Whose messages: ``plain`` ones, as of people with little of the language, or ``other``.
        kind: How they were answered.
        verdict: Whether the interval of the difference (Newcombe) holds 0: ``fits``, ``higher`` or ``lower`` where
            real questions were so answered more or less often than was foretold, or ``too few``.
    """

    group: Group
    kind: Kind
    simulated: Rate
    real: Rate

    @property
    def difference(self) -> tuple[float, float]:
        """The ends of the interval of real less simulated."""
        here, there = self.real.value or 0.0, self.simulated.value or 0.0
        (low, high), (low_there, high_there) = self.real.interval, self.simulated.interval
        below = sqrt((here - low) ** 2 + (high_there - there) ** 2)
        above = sqrt((high - here) ** 2 + (there - low_there) ** 2)
        return here - there - below, here - there + above

    @property
    def verdict(self) -> Literal["fits", "higher", "lower", "too few"]:
        if min(self.real.of, self.simulated.of) < 20:
            return "too few"
        low, high = self.difference
        return "higher" if low > 0 else "lower" if high < 0 else "fits"


@dataclass(frozen=True, slots=True)
class Simulated:
    """What the last run found.

    Attributes:
        run: Its name.
        at: When it ended, as it says.
        counts: By group, how many questions were answered how.
        exam: That was asked, by the name of its catalog; empty where the run does not say it.
    """

    run: str
    at: str
    counts: Mapping[Group, Mapping[Kind, int]]
    exam: str = ""


def read_simulated(data: Path) -> Simulated | None:
    """Return what the last run left; None where there is none, or where it cannot be read."""
    path = data / FILE
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        read: Any = json.loads(path.read_text(encoding="utf-8"))
        counts = {
            group: {kind: _count(read["groups"].get(group, {}).get(kind, 0)) for kind in COMPARED} for group in GROUPS
        }
        return Simulated(str(read["run"])[:100], str(read["at"])[:40], counts, str(read.get("exam", ""))[:100])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def counted(questions: Iterable[AskedText]) -> dict[Group, dict[Kind, int]]:
    """Count real questions by group as the run counts simulated ones: by their words alone, which is not who wrote."""
    found: dict[Group, dict[Kind, int]] = {group: dict.fromkeys(COMPARED, 0) for group in GROUPS}
    for each in questions:
        if each.kind in COMPARED:
            found[group_of(each.text, each.language)][each.kind] += 1
    return found


def group_of(text: str, language: str) -> Group:
    """Return whose message it is by its words: the measure by which the run groups, too."""
    return "plain" if plainness(text, language) >= SURE else "other"


def compared(simulated: Simulated, real: Mapping[Group, Mapping[Kind, int]]) -> list[Compared]:
    """Return all rates of all groups side by side."""
    found = []
    for group in GROUPS:
        theirs, ours = simulated.counts[group], real[group]
        all_there, all_here = sum(theirs.values()), sum(ours.values())
        found += [Compared(group, kind, Rate(theirs[kind], all_there), Rate(ours[kind], all_here)) for kind in COMPARED]
    return found


def _count(said: object) -> int:
    if not isinstance(said, int) or isinstance(said, bool) or said < 0:
        raise ValueError
    return said
