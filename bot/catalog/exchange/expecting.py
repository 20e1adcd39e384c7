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
class Expected:
    """What an import would mean.

    Attributes:
        clashes: Ids that the catalog has already, with the language.
        copies: Pairs whose question or variants are near copies of another pair's, as sentences.
        findings: What lint would say of the imported pairs: how many findings of each rule and severity.
    """

    clashes: tuple[str, ...]
    copies: tuple[str, ...]
    findings: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        if self.clashes:
            yield f"{len(self.clashes)} ids are taken: {', '.join(self.clashes)}"
        yield f"{len(self.copies)} near copies of other pairs' wordings"
        yield from (f"  {each}" for each in self.copies[:SHOWN_COPIES])
        yield f"lint would say: {', '.join(self.findings) or 'nothing'}"


def expect(imported: Imported, folder: Path | None, *, today: date) -> Expected:
    """Compare drafts with a catalog (or with each other only), and lint them as if they were a catalog."""
    have = language_files(folder) if folder is not None and folder.is_dir() else {}
    clashes: list[str] = []
    copies: list[str] = []
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
                    copies.append(f"{pair.id} ({language}): {text!r} is nearly {found.text!r} of {found.label}")
            for text in texts:
                near.add(text, pair.id)
    with tempfile.TemporaryDirectory() as place:
        write_catalog(imported, Path(place) / "drafts", name="drafts")
        counts = Counter((each.severity, each.rule) for each in lint(Path(place) / "drafts", today=today))
    order = ("error", "warning", "info")
    said = sorted(counts.items(), key=lambda each: (order.index(each[0][0]), -each[1]))
    return Expected(
        tuple(clashes), tuple(copies), tuple(f"{count} {severity} {rule}" for (severity, rule), count in said)
    )
