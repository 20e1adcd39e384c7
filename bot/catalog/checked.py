"""What the checks of lint walk over: a catalog with the lines of its file, and the texts that its pairs say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.catalog.catalog import Catalog, Document, Extract, Pair
from bot.errors import Finding

# Where something stands in a file: keys and numbers from its top.
Place = tuple[str | int, ...]
# What stands in a finding, by name, as JSON has it.
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Checked:
    """A catalog with the lines of its file."""

    catalog: Catalog
    document: Document

    @property
    def path(self) -> Path:
        return self.catalog.path

    def line(self, *location: str | int) -> int:
        return self.document.line(location)

    def found(  # noqa: PLR0913 - one place that turns a problem into a finding
        self,
        pair: Pair,
        at: Place,
        problem: str,
        remedy: str,
        rule: str,
        severity: str = "warning",
        *,
        code: str,
        values: Values | None = None,
    ) -> Finding:
        """Return a finding; `code` and `values` say it once more, for the console, which has words of its own."""
        return Finding(self.path, self.line(*at), pair.id, problem, remedy, severity, rule, code, values or {})


@dataclass(frozen=True, slots=True)
class PairText:
    """An answer with its easy answer: a pair's own, or that for a country.

    Attributes:
        at: Where they stand in the pair.
        name: As findings call them: empty for the pair's own, else `` for AT``.
        country: Of the texts; empty for the pair's own.
        short: What answers the question by itself.
        extracts: What the answer says of single facets.
    """

    at: tuple[str, ...]
    name: str
    answer: str
    easy: str | None
    short: str | None = None
    extracts: tuple[Extract, ...] = ()

    @property
    def country(self) -> str:
        return self.at[-1] if self.at else ""


def texts_of(pair: Pair) -> Iterator[PairText]:
    """Yield a pair's own texts, then those for each country; a blank easy answer is none."""
    yield PairText((), "", pair.answer, pair.easy_answer or None, pair.short_answer, pair.extracts)
    for country, text in pair.countries.items():
        own = (text.answer, text.easy_answer or None, text.short_answer, text.extracts)
        yield PairText(("countries", country), f" for {country}", *own)
