"""Texts that a draft must not be a near copy of: what a catalog has, and what tests what is learned."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData, Catalog, decoded
from harness.authoring.filled import read_form_rows
from harness.files import Record, as_document, read_record, replace_text, writing
from harness.patients.suites import open_suite, suites_in

TAKEN = "there.json"  # in a work's folder
TABLES = (".csv", ".tsv")


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


def taken_of(folder: Path, catalog: Catalog, keep_out: Mapping[str, Sequence[str]]) -> Taken:
    """Return what must not be copied: what was there when the work began, and all that was ever to be kept out.

    What the work itself brings into the catalog later is no reason to drop it. Shipped suites of the catalog are kept
    out without being named. `keep_out`: texts to keep out now, by where they are from.

    Raises:
        BadData: What the folder keeps of this cannot be read or written.
    """
    file = folder / TAKEN
    before = read_record(file, _TakenFile, f"{file} is broken ({{reason}}). Remove it.") if file.is_file() else None
    there = before.catalog if before else tuple(dict.fromkeys(_texts_of(catalog)))
    out = dict.fromkeys(before.kept_out if before else ())
    for texts in keep_out.values():
        out.update(dict.fromkeys(texts))
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


def texts_to_keep_out(name: str) -> list[str]:
    """Return the texts of a suite, of JSON lines with `text`, of a table with that column, or of one text a line.

    Raises:
        BadData: It cannot be read, or holds no text.
    """
    path = Path(name)
    if not path.exists():
        return [question.text for question in open_suite(name).questions]
    if path.suffix in TABLES:
        texts = [row["text"].strip() for _, row in read_form_rows(path, ("text",), "a table with a column `text`")]
    else:
        remedy = "Give `--keep-out` a suite, JSON lines with `text`, a table (.csv) with that column, or a text a line."
        try:
            lines = [line.strip() for line in decoded(path.read_bytes()).splitlines()]
            texts = [str(json.loads(line)["text"]) for line in lines if line] if path.suffix == ".jsonl" else lines
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadData(f"{path} cannot be read as texts. {remedy}") from error
    if not (found := [text for text in texts if text]):
        raise BadData(f"{path} holds no text to keep out. Give another file with `--keep-out`.")
    return found
