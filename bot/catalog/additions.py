"""Add pairs, variants, calibration questions and near misses to a catalog folder; nothing is added twice."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.catalog.catalog import (
    CalibrationQuestion,
    Catalog,
    Pair,
    Variant,
    calibration_file,
    load_catalog,
    near_misses_file,
    read_catalog,
)
from bot.catalog.checked import Checked
from bot.catalog.edge import Author
from bot.catalog.yaml_edit import edit_pairs, new_file
from bot.errors import BadData
from bot.text import fold

_COLUMNS = ("author", "pair", "level", "text")


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that a curator accepted.

    Attributes:
        pair: It asks what this pair answers; a near miss must not be taken for it. Empty: no pair answers it, of a
            calibration question.
        text: As a patient might write it.
        profile: The voice that wrote it; empty: nobody says.
        facet: Of the pair, of a variant.
        stratum: All patients that are alike in literacy, of a calibration question.
        patient: Which of them asks it.
        also: Other pairs whose answers are as good, of a calibration question.
        kind: Whether a model wrote it, or a person.
        source: The catalog that it is borrowed from; empty: it was written for this one.
    """

    pair: str
    text: str
    profile: str
    facet: str | None = None
    stratum: str = ""
    patient: str = ""
    also: tuple[str, ...] = ()
    kind: Literal["person", "model"] = "model"
    source: str = ""

    @property
    def by(self) -> Author:
        return Author(kind=self.kind, name=self.source or None, profile=self.profile or None)


def add_variants(folder: Path, language: str, additions: Sequence[Addition]) -> int:
    """Add variants to their pairs, other bytes of the file stay; return how many were new.

    Raises:
        BadData: A pair is not there, or the file cannot be edited or written.
    """
    catalog = load_catalog(folder, language)
    grown: dict[str, Pair] = {}
    known = {pair.id: {fold(pair.question), *(fold(each.text) for each in pair.variants)} for pair in catalog.pairs}
    added = 0
    for each in additions:
        pair = grown.get(each.pair) or catalog.pair(each.pair)
        if fold(each.text) in known[pair.id]:
            continue
        known[pair.id].add(fold(each.text))
        facet = each.facet if each.facet in pair.facets else None
        variant = Variant(text=each.text, facet=facet, by=each.by)
        grown[pair.id] = pair.model_copy(update={"variants": (*pair.variants, variant)})
        added += 1
    if added:
        with catalog.path.open(encoding="utf-8", newline="") as file:
            _replace(catalog.path, edit_pairs(file.read(), changed=list(grown.values())))
    return added


def places_of_variants(folder: Path, language: str) -> list[tuple[str, str, str, str]]:
    """Return the pair, text, voice, and file and line of every variant that a voice wrote."""
    read = read_catalog(folder, language, [])
    if read is None:
        return []
    checked = Checked(*read)
    return [
        (
            pair.id,
            variant.text,
            variant.by.profile or "",
            f"{checked.path}:{checked.line('pairs', n, 'variants', place)}",
        )
        for n, pair in enumerate(checked.catalog.pairs)
        for place, variant in enumerate(pair.variants)
        if variant.by is not None
    ]


def places_of_lines(folder: Path, language: str, *, near_misses: bool) -> dict[str, str]:
    """Return the file and line of every near miss, or else of every calibration question, by its folded text."""
    path = near_misses_file(folder, language) if near_misses else calibration_file(folder, language)
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.is_file() else (), 1):
        if line.strip():
            text = line.rpartition("\t")[2] if near_misses else str(json.loads(line)["text"])
            found[fold(text)] = f"{path}:{number}"
    return found


def add_pairs(folder: Path, language: str, pairs: Sequence[Pair], *, name: str) -> int:
    """Add pairs to a language of a catalog, which is made where there is none; return how many were new.

    Pairs whose id is there stay as they are: somebody may have worked on them. Raises as `add_variants`.
    """
    path = folder / f"{language}.yaml"
    if not path.is_file():
        _replace(path, new_file(name, language, pairs))
        return len(pairs)
    known = load_catalog(folder, language).by_id
    new = [pair for pair in pairs if pair.id not in known]
    if new:
        with path.open(encoding="utf-8", newline="") as file:
            _replace(path, edit_pairs(file.read(), changed=new))
    return len(new)


def add_calibration(folder: Path, language: str, additions: Sequence[Addition]) -> int:
    """Add calibration questions; return how many were new. Raises as `add_variants`."""
    catalog = load_catalog(folder, language)
    known = {fold(each.text) for each in catalog.calibration}
    lines = []
    for each in _new(catalog, additions, known):
        also = tuple(other for other in each.also if other != each.pair)
        question = CalibrationQuestion(
            text=each.text,
            pair_id=each.pair or None,
            also=also,
            stratum=each.stratum or each.profile,
            patient=each.patient,
            by=each.by,
        )
        lines.append(question.model_dump_json(exclude_defaults=True))
    _append(calibration_file(folder, language), "", lines)
    return len(lines)


def add_near_misses(folder: Path, language: str, additions: Sequence[Addition]) -> int:
    """Add near misses; return how many were new. Raises as `add_variants`."""
    catalog = load_catalog(folder, language)
    known = {fold(each.text) for each in catalog.near_misses}
    path = near_misses_file(folder, language)
    lines = [
        "\t".join((each.profile, each.pair, "", " ".join(each.text.split())))
        for each in _new(catalog, additions, known)
    ]
    _append(path, "\t".join(_COLUMNS), lines)
    return len(lines)


def _new(catalog: Catalog, additions: Sequence[Addition], known: set[str]) -> list[Addition]:
    found = []
    for each in additions:
        if each.pair:
            catalog.pair(each.pair)
        if fold(each.text) not in known:
            known.add(fold(each.text))
            found.append(each)
    return found


def _append(path: Path, head: str, lines: Sequence[str]) -> None:
    """Add lines at the end of a file, which begins with a head where it is new."""
    if not lines:
        return
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            before = file.read()
        if head and next(csv.reader([before.split("\n", 1)[0].rstrip("\r")], delimiter="\t"), []) != list(_COLUMNS):
            raise BadData(f"{path} does not begin with {', '.join(_COLUMNS)}. Mend it: `klartext qa lint`.")
        before += "" if before.endswith("\n") else "\n"
    else:
        before = f"{head}\n" if head else ""
    _replace(path, before + "".join(f"{line}\n" for line in lines))


def _replace(path: Path, text: str) -> None:
    """Write a file aside, and put it into its place: whoever reads it finds it whole."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(partial).chmod(path.stat().st_mode & 0o777 if path.is_file() else 0o644)
            os.replace(partial, path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadData(f"{path} cannot be written ({error.strerror}). Check its folder.") from error
