"""What an import would mean for a catalog, before anything is written."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bot.catalog.catalog import language_files, load_catalog
from bot.catalog.exchange.exchange import Imported
from bot.catalog.exchange.placing import write_catalog
from bot.catalog.lint import lint
from bot.text import NearCopies

SHOWN_COPIES = 20  # near copies that are listed; all are counted


@dataclass(frozen=True, slots=True)
class Copy:
    """A text of a pair that says nearly what another pair's does; `label`: where that stands."""

    pair: str
    language: str
    text: str
    other: str
    label: str

    def __str__(self) -> str:
        return f"{self.pair} ({self.language}): {self.text!r} is nearly {self.other!r} of {self.label}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What an import would mean.

    Attributes:
        clashes: Ids that the catalog has already, with the language.
        copies: Questions and variants that are near copies of another pair's.
        findings: What lint would say of the imported pairs: how many findings there are, of which severity and rule.
    """

    clashes: tuple[str, ...]
    copies: tuple[Copy, ...]
    findings: tuple[tuple[int, str, str], ...]

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        if self.clashes:
            yield f"{len(self.clashes)} ids are taken: {', '.join(self.clashes)}"
        yield f"{len(self.copies)} near copies of other pairs' wordings"
        yield from (f"  {each}" for each in self.copies[:SHOWN_COPIES])
        said = ", ".join(f"{count} {severity} {rule}" for count, severity, rule in self.findings)
        yield f"lint would say: {said or 'nothing'}"


def expect(imported: Imported, folder: Path | None, *, today: date) -> Expected:
    """Compare drafts with a catalog (or with each other only), and lint them as if they were a catalog."""
    have = language_files(folder) if folder is not None and folder.is_dir() else {}
    clashes: list[str] = []
    copies: list[Copy] = []
    for language, pairs in imported.pairs.items():
        near = NearCopies()
        if folder is not None and language in have:
            catalog = load_catalog(folder, language)
            clashes += [f"{pair.id} ({language})" for pair in pairs if pair.id in catalog.by_id]
            for pair in catalog.pairs:
                for text in (pair.question, *(variant.text for variant in pair.variants)):
                    near.add(text, pair.id)
        for pair in pairs:
            texts = (pair.question, *(variant.text for variant in pair.variants))
            for text in texts:
                if found := near.find(text):
                    copies.append(Copy(pair.id, language, text, found.text, found.label))
            for text in texts:
                near.add(text, pair.id)
    with tempfile.TemporaryDirectory() as place:
        write_catalog(imported, Path(place) / "drafts", name="drafts")
        counts = Counter((each.severity, each.rule) for each in lint(Path(place) / "drafts", today=today))
    order = ("error", "warning", "info")
    said = sorted(counts.items(), key=lambda each: (order.index(each[0][0]), -each[1]))
    return Expected(tuple(clashes), tuple(copies), tuple((count, severity, rule) for (severity, rule), count in said))
