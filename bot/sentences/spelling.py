"""German as Switzerland spells it: without ß. Derived from the approved texts, and part of their identity. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from bot.catalog.catalog import Catalog, Pair
from bot.sentences.emergency_texts import Country


def swiss(text: str) -> str:
    return text.replace("ß", "ss").replace("ẞ", "SS")


def spelt(text: str, language: str, country: Country | None) -> str:
    """Return a text of ours in the spelling of a country."""
    return swiss(text) if is_swiss(language, country) else text


def is_swiss(language: str, country: Country | None) -> bool:
    return language == "de" and country == "CH"


def released(catalog: Catalog, country: Country | None) -> Catalog:
    """Return a catalog as patients of a country are shown it; its hash then names the spelling too.

    Titles of sources stay as they were published; patients' own wordings, which nobody is shown, stay too.
    """
    if not is_swiss(catalog.language, country):
        return catalog
    digest = hashlib.sha256(f"{catalog.content_hash}\0de-CH".encode()).hexdigest()
    return replace(catalog, pairs=tuple(_pair(pair) for pair in catalog.pairs), content_hash=digest)


def _pair(pair: Pair) -> Pair:
    easy = swiss(pair.easy_answer) if pair.easy_answer is not None else None
    return pair.model_copy(update={"question": swiss(pair.question), "answer": swiss(pair.answer), "easy_answer": easy})
