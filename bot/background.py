"""Questions that no catalog answers: small talk, insults, orders for pizza. For catalogs with few of their own."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from bot.catalog import Catalog

FEW = 200  # a catalog with fewer background questions than this gets the general ones too


def background(catalog: Catalog) -> tuple[tuple[str, ...], int]:
    """Return the background questions to learn from, and how many of them, from the front, are the catalog's own."""
    own = catalog.background
    return (own if len(own) >= FEW else own + general_background(catalog.language)), len(own)


@lru_cache(maxsize=8)
def general_background(language: str) -> tuple[str, ...]:
    """Return the general background questions of a language; empty when none were written in it."""
    path = Path(__file__).parent / "background_texts" / f"{language}.yaml"
    if not path.is_file():
        return ()
    raw: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return tuple(text for texts in raw.values() for text in texts)
