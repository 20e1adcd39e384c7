"""Texts that a draft must not be a near copy of: what a catalog has, and what tests what is learned."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData, Catalog
from harness.files import Record, as_document, read_record, replace_text, writing
from harness.patients.suites import open_suite, suites_in

TAKEN = "there.json"  # in a work's folder


@dataclass(frozen=True, slots=True)
class Taken:
    """Texts that a draft must not be a near copy of.

    Attributes:
        kept_out: Of suites and other files that test what is learned.
        catalog: Of the catalog: questions, variants, calibration questions, near misses.
    """

    kept_out: Sequence[str]
    catalog: Sequence[str]


class _TakenFile(Record):
    catalog: tuple[str, ...]
    kept_out: tuple[str, ...]


def taken_of(folder: Path, catalog: Catalog, keep_out: Sequence[str]) -> Taken:
    """Return what must not be copied: what was there when the work began, and all that was ever to be kept out.

    What the work itself brings into the catalog later is no reason to drop it. Shipped suites of the catalog are kept
    out without being named.

    Raises:
        BadData: What is to be kept out cannot be read.
    """
    file = folder / TAKEN
    before = read_record(file, _TakenFile, f"{file} is broken ({{reason}}). Remove it.") if file.is_file() else None
    there = before.catalog if before else tuple(dict.fromkeys(_texts_of(catalog)))
    out = dict.fromkeys(before.kept_out if before else ())
    for name in keep_out:
        out.update(dict.fromkeys(_texts_to_keep_out(name)))
    for shipped in suites_in().values() if before is None else ():
        suite = open_suite(shipped)
        if (suite.meta.catalog.partition("@")[0], suite.meta.language) == (catalog.name, catalog.language):
            out.update(dict.fromkeys(question.text for question in suite.questions))
    with writing(file, "Choose another `--out`."):
        replace_text(file, as_document({"catalog": there, "kept_out": list(out)}))
    return Taken(tuple(out), there)


def _texts_of(catalog: Catalog) -> Iterator[str]:
    for pair in catalog.pairs:
        yield pair.question
        yield from (each.text for each in pair.variants)
    yield from (each.text for each in catalog.calibration)
    yield from (each.text for each in catalog.near_misses)


def _texts_to_keep_out(name: str) -> list[str]:
    """Return the texts of a suite, of JSON lines with `text`, or of a file with one a line."""
    path = Path(name)
    if not path.is_file():
        return [question.text for question in open_suite(name).questions]
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        if path.suffix == ".jsonl":
            return [str(json.loads(line)["text"]) for line in lines if line]
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise BadData(
            f"{path} cannot be read as texts. Give `--keep-out` a suite, JSON lines with `text`, or a text a line."
        ) from error
    return [line for line in lines if line]
