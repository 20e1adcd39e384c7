"""Which words are names of people, and which of them are ordinary words, too: lists, and how they are made.

The names are those of Faker (https://github.com/joke2k/faker, MIT licence, 40.63), of its locales in Latin script; the
ordinary words are those of this project's own texts. Names were taken from among the ordinary words, and words from
among the names, by hand: `decided.yaml`. To make the lists anew: `pip install faker`, then
`python -m bot.curation.name_lists`.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from bot.catalog.catalog import load_catalog, locate
from bot.text import fold, words

WORDS = Path(__file__).parent / "words"
MATCHING = Path(__file__).parents[1] / "matching"  # whose rules learn from texts, too
SHORTEST = 3  # letters of a name that is known by itself
OFTEN = 2  # times that a word stands in the project's texts to count as ordinary
# Their lists hold thousands of names that are rare where German and English are written, and many are words there.
_LEFT_OUT = ("is_IS", "id_ID", "zu_ZA", "et_EE", "lv_LV", "lt_LT", "sw", "la")


@dataclass(frozen=True, slots=True)
class NameLists:
    """Folded words.

    Attributes:
        first: First names.
        last: Family names.
        ordinary: Words of the language; a name among them may be a word as well.
        both: First names that are ordinary words, and still names where a cue announces one.
        eponyms: Names that are meant as diseases, signs, procedures, places or products.
    """

    first: frozenset[str]
    last: frozenset[str]
    ordinary: frozenset[str]
    both: frozenset[str]
    eponyms: frozenset[str]


@lru_cache(maxsize=2)
def name_lists(language: str) -> NameLists:
    decided = _decided()
    ordinary = _read(f"ordinary_{language}")
    both, eponyms = frozenset(decided["both"]), frozenset(decided["eponyms"])
    return NameLists(_read("first_names"), _read("last_names"), ordinary, both, eponyms)


def _read(name: str) -> frozenset[str]:
    lines = (WORDS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _decided() -> dict[str, list[str]]:
    return {
        key: said.split() for key, said in yaml.safe_load((WORDS / "decided.yaml").read_text(encoding="utf-8")).items()
    }


def _of_faker() -> tuple[set[str], set[str]]:
    """Return the folded first and family names of Faker's locales."""
    first: set[str] = set()
    last: set[str] = set()
    folder = Path(importlib.import_module("faker.providers.person").__file__ or "").parent
    for locale in sorted(each.name for each in folder.iterdir() if "_" in each.name and each.name not in _LEFT_OUT):
        if locale.startswith("__"):
            continue
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for listed in dir(provider):
            values = getattr(provider, listed)
            if isinstance(values, tuple | list | dict):
                names = last if "last_name" in listed else first if "first_name" in listed else set()
                names.update(_parts(map(str, values)))
    return first, last


def _parts(names: Iterable[str]) -> Iterator[str]:
    for part in (fold(part) for name in names for part in re.split(r"[\s\-]+", name)):
        if re.fullmatch(r"[a-z]{2,}", part):
            yield part


def _of_project(language: str) -> Counter[str]:
    """Count the words of the shipped catalog: what patients ask, what is beside the point, and the answers."""
    catalog = load_catalog(locate("mammography"), language)
    texts = [text for pair in catalog.pairs for text in (pair.question, pair.answer, pair.easy_answer or "")]
    texts += [variant.text for pair in catalog.pairs for variant in pair.variants]
    texts += [question.text for question in catalog.calibration] + list(catalog.background)
    for learned in sorted(MATCHING.glob(f"*/**/{language}.tsv")):
        texts += [line.rpartition("\t")[2] for line in learned.read_text(encoding="utf-8").splitlines()]
    return Counter(word for text in texts for word in words(text) if word.isalpha())


def main() -> None:
    decided = _decided()
    first, last = _of_faker()
    _write("first_names", first, "First names")
    _write("last_names", last, "Family names")
    for language in ("de", "en"):
        often = {word for word, count in _of_project(language).items() if count >= OFTEN}
        ordinary = often - set(decided[f"names_{language}"]) | set(decided[f"words_{language}"])
        _write(f"ordinary_{language}", ordinary, "Words of the project's texts")


def _write(name: str, listed: set[str], what: str) -> None:
    source = "Faker 40.63, MIT licence" if name.endswith("names") else "this project"
    head = f"# {what}, folded. Source: {source}. Made by `python -m bot.curation.name_lists`.\n"
    (WORDS / f"{name}.txt").write_text(head + "\n".join(sorted(listed)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
