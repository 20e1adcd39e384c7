"""The labels of the page: one file per language, with the same keys in each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from bot.errors import BadData

FOLDER = Path(__file__).parent / "texts"
Labels = Mapping[str, str]


def load_labels(folder: Path = FOLDER) -> dict[str, Labels]:
    """Return the labels by language.

    Raises:
        BadData: A language lacks a key, or has one that the others lack.
    """
    found: dict[str, Labels] = {}
    for path in sorted(folder.glob("*.yaml")):
        labels = yaml.safe_load(path.read_text(encoding="utf-8"))
        first = next(iter(found.values()), labels)
        odd = set(labels) ^ set(first)
        if odd:
            raise BadData(f"{path}: the keys {', '.join(sorted(odd))} are not in every language. Add or remove them.")
        found[path.stem] = {key: str(value).strip() for key, value in labels.items()}
    return found
