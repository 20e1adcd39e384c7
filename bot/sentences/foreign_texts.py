"""Fixed sentences in languages that no catalog has, by ISO 639-1 code: what this program is, and whom to call.

The sentences stand in `texts/foreign.yaml`. Each is made once for every set of languages that a catalog may have and
for every country; the guard compares these, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from bot.catalog.countries import LINES
from bot.languages.files import Live, known, load

# Keys of the sentences; those of a country end in its code (`foreign_ch`), as elsewhere.
URGENT = "foreign_urgent"
_NAMED = {("de", "en"): "foreign", ("de",): "foreign_german", ("en",): "foreign_english"}
# Where no country is set: the number that works in most of them, and those of the countries where it is another.
_ANYWHERE = "112 (CH: 144, GB: 999)"


def _load() -> Mapping[str, Mapping[str, Any]]:
    path = Path(__file__).parent / "texts" / "foreign.yaml"
    found: Mapping[str, Mapping[str, Any]] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


_FILE = _load()
RIGHT_TO_LEFT = frozenset(language for language, own in _FILE.items() if own.get("rtl"))


def _sets(languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(languages) + 1):
        yield from combinations(languages, size)


def _spoken(language: str, own: Mapping[str, Any], reader: str) -> str:
    """Return how readers of a language say "in German"; where nobody wrote that, the other language's own name."""
    said = load(language, "language.yaml")
    return str(own.get(language) or (said.get("abroad") or {}).get(reader) or said["name"])


def _listed(named: Sequence[str], word: str) -> str:
    return word.join((", ".join(named[:-1]), named[-1])) if named[1:] else named[0]


def _said(reader: str, own: Mapping[str, Any], about: str, spoken: Sequence[str]) -> dict[str, str]:
    numbers = {"": _ANYWHERE, **{f"_{country.lower()}": lines.emergency for country, lines in LINES.items()}}
    # Every language was written so that it may be left out, with the space before it.
    told = own["foreign"].replace("{about}", about) if about else re.sub(r" ?\{about\}", "", own["foreign"])
    found = {}
    for suffix, number in numbers.items():
        found[URGENT + suffix] = own["urgent"].format(emergency=number)
        for languages in _sets(spoken):
            named = [_spoken(language, own, reader) for language in languages]
            ways = {"both": _listed(named, own["and"]), "either": _listed(named, own["or"])}
            found[foreign_key(languages) + suffix] = told.format(emergency=number, **ways)
    return found


def foreign_texts(abroad: Mapping[str, str], spoken: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return all of them, by language and key.

    Args:
        abroad: What the program informs about, by language.
        spoken: The languages that a catalog may have; there is a sentence for every set of them.
    """
    return {
        language: _said(language, own, abroad.get(language, ""), spoken)
        for language, own in _FILE.items()
        if "as" not in own
    }


# As they speak of no exam.
FOREIGN_TEXTS: Mapping[str, Mapping[str, str]] = Live(lambda: foreign_texts({}, known()))


def foreign_key(languages: Collection[str]) -> str:
    """Return the key of the sentence that names the languages of a catalog."""
    those = tuple(language for language in known() if language in languages)
    return _NAMED.get(those, "foreign_in_" + "_".join(those))


def written_in(language: str, otherwise: str) -> str:
    """Return the language whose sentences speakers of `language` read; `otherwise` when there are none."""
    named = str(_FILE.get(language, {}).get("as", language))
    return named if named in FOREIGN_TEXTS else otherwise
