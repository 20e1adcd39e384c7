"""Tell words that no form here can read: in another script, or in a language that nobody taught the program. Pure.

Safe where in doubt, and cheap: by letters, and by common words of other languages (`unread.yaml`) against those of the
languages that are spoken here. Whoever names the language itself asks `bot.matching.foreign`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import regex
import yaml

from bot.interview.reading.vocabulary import words_for
from bot.languages.files import known

SPOKEN = frozenset({"de", "en"})  # read whether or not they are spoken at a site: forms and lists hold both
MIN_LETTERS = 2  # of another script: one alone is a sign, like "β"
_OTHER_SCRIPT = regex.compile(r"(?!\p{Script=Latin})[\p{L}]")
# Latin letters that German, English and French lack, as far as they are not in names that people here often have.
_FOREIGN_LETTERS = regex.compile(r"[ąćęłńśźżğışőűřěčžšďťňľĺŕůãõñđțţăģķļņėįųāēīūð]")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans({"ı": "i", "ł": "l", "đ": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d"})


def is_unread(text: str) -> bool:
    """Say whether a message is in a script or language that no form here can read."""
    if len(_OTHER_SCRIPT.findall(text)) >= MIN_LETTERS:
        return True
    said, lists = _bare_words(text), _common()
    ours = SPOKEN | ({"fr"} & set(known()))
    read = max((sum(word in lists[language] for word in said) for language in ours), default=0)
    best = max(
        (sum(word in common for word in said) for language, common in lists.items() if language not in ours), default=0
    )
    # A name may have such letters, too: "Dr. Şahin hat mich operiert".
    lettered = sum(_FOREIGN_LETTERS.search(word) is not None for word in text.lower().split())
    return best + lettered > read


def _bare_words(text: str) -> list[str]:
    """Return the words of a text without accents and umlauts: keyboards abroad write "gozum" for "gözüm"."""
    plain = unicodedata.normalize("NFD", text.lower().translate(_LETTERS))
    return _WORD.findall("".join(mark for mark in plain if not unicodedata.combining(mark)))


@lru_cache(maxsize=1)
def _common() -> dict[str, frozenset[str]]:
    """Return the common words by language, those of other languages without what is a word in German or English."""
    path = Path(__file__).with_name("unread.yaml")
    raw: dict[str, str] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    lists = {language: frozenset(_bare_words(listed)) for language, listed in raw.items()}
    spoken = {word for phrases in _phrases() for word in _bare_words(phrases)}
    spoken.update(*(lists[language] for language in SPOKEN))
    return {language: listed if language in SPOKEN else listed - spoken for language, listed in lists.items()}


def _phrases() -> Iterator[str]:
    for language in SPOKEN:
        for phrases in words_for(language).lists.values():
            yield from phrases
