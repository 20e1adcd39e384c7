"""A catalog as patients of a country are shown it: its own texts there, and German as Switzerland spells it. Pure.

Both are derived from the approved texts, and are part of their identity.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from bot.catalog.catalog import Catalog, Pair
from bot.catalog.countries import Country
from bot.catalog.quiz import Quiz


def swiss(text: str) -> str:
    return text.replace("ß", "ss").replace("ẞ", "SS")


def spelt(text: str, language: str, country: Country | None) -> str:
    """Return a text of ours in the spelling of a country."""
    return swiss(text) if is_swiss(language, country) else text


def is_swiss(language: str, country: Country | None) -> bool:
    return language == "de" and country == "CH"


def released(catalog: Catalog, country: Country | None) -> Catalog:
    """Return a catalog as patients of a country are shown it; where that differs, its hash names the country too.

    A pair that has texts for the country gives those and their sources, whole. Titles of sources stay as they were
    published; patients' own wordings, which nobody is shown, stay too.
    """
    if country is None or not (
        is_swiss(catalog.language, country) or any(country in p.countries for p in catalog.pairs)
    ):
        return catalog
    digest = hashlib.sha256(f"{catalog.content_hash}\0{catalog.language}-{country}".encode()).hexdigest()
    pairs = tuple(_pair(pair, catalog.language, country) for pair in catalog.pairs)
    return replace(catalog, pairs=pairs, content_hash=digest)


def _pair(pair: Pair, language: str, country: Country) -> Pair:
    own = pair.countries.get(country, pair)
    easy, short = own.easy_answer, own.short_answer
    shown = {
        "question": spelt(pair.question, language, country),
        "answer": spelt(own.answer, language, country),
        "short_answer": spelt(short, language, country) if short is not None else None,
        "easy_answer": spelt(easy, language, country) if easy is not None else None,
    }
    # Those of the pair's own answer say nothing of a country's.
    extracts = tuple(each.model_copy(update={"text": spelt(each.text, language, country)}) for each in own.extracts)
    # Nor does a quiz on it.
    quizzes = tuple(_quiz(each, language, country) for each in pair.quizzes if own is pair)
    return pair.model_copy(update={**shown, "extracts": extracts, "sources": own.sources, "quizzes": quizzes})


def _quiz(quiz: Quiz, language: str, country: Country) -> Quiz:
    context = spelt(quiz.context, language, country) if quiz.context is not None else None
    question, *options = (spelt(each, language, country) for each in (quiz.question, *quiz.options))
    shown = {"context": context, "question": question, "answer": options[0], "distractors": tuple(options[1:])}
    return quiz.model_copy(update=shown)
