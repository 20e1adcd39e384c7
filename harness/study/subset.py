"""Catalogs with fewer variants, written as folders: they open like any other."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.random import Generator

from bot import Catalog, Pair


@dataclass(frozen=True, slots=True)
class Written:
    """A variant and who wrote it.

    Attributes:
        number: Of the variant within its pair.
        text: Of the variant.
        author: Profile or name of the author; empty when nobody is named.
    """

    number: int
    text: str
    author: str


def written(pair: Pair) -> list[Written]:
    """Return the variants of a pair with their authors."""
    return [
        Written(number, variant.text, (variant.by.profile or variant.by.name or "") if variant.by else "")
        for number, variant in enumerate(pair.variants)
    ]


def authors_of(catalog: Catalog) -> tuple[str, ...]:
    """Return the authors of a catalog's variants, in alphabetical order."""
    return tuple(sorted({variant.author for pair in catalog.pairs for variant in written(pair)} - {""}))


def in_turns(variants: Sequence[Written], rng: Generator) -> list[Written]:
    """Return the variants in random order, authors taking turns: whatever is taken from the front is even over them."""
    queues: dict[str, list[Written]] = defaultdict(list)
    for number in rng.permutation(len(variants)):
        queues[variants[number].author].append(variants[number])
    authors = [list(queues)[number] for number in rng.permutation(len(queues))]
    rounds = max(map(len, queues.values()), default=0)
    return [queues[author][turn] for turn in range(rounds) for author in authors if turn < len(queues[author])]


def write_subset(catalog: Catalog, kept: Mapping[str, Sequence[Written]], folder: Path) -> Path:
    """Write a catalog that keeps only some variants; background and calibration questions are copied.

    Args:
        catalog: The whole.
        kept: The variants of each pair, by pair id.
        folder: To write; it must not exist.

    Returns:
        The folder.
    """
    pairs = []
    for pair in catalog.pairs:
        numbers = {variant.number for variant in kept.get(pair.id, ())}
        variants = tuple(variant for number, variant in enumerate(pair.variants) if number in numbers)
        pairs.append(pair.model_copy(update={"variants": variants}).model_dump(mode="json", exclude_none=True))
    document = {"catalog": catalog.name, "language": catalog.language, "version": catalog.version, "pairs": pairs}
    folder.mkdir(parents=True)
    # JSON is YAML, and is written and read much faster.
    (folder / catalog.path.name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    for beside in (f"background/{catalog.language}.yaml", f"calibration/{catalog.language}.jsonl"):
        source = catalog.path.parent / beside
        if source.is_file():
            (folder / beside).parent.mkdir()
            shutil.copyfile(source, folder / beside)
    return folder
